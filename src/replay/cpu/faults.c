/*
 * Signal handlers.  A fault of the guest ends rp_run with the state before the instruction; a write to a guarded page
 * drops its translations; a closed chunk of a large area is opened; any other signal goes to the former handler.
 */
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <Zydis/Zydis.h>
#include "replay/cpu/emit_internal.h"
#include "replay/cpu/guest_read.h"

sigjmp_buf rp_probe;
volatile int rp_probing;

static const int sigs[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP };
#define NSIGS (sizeof sigs / sizeof sigs[0])
static struct sigaction before[NSIGS];
static struct rp_core *active;

/* The index in gregset_t of each host register. */
static const int greg[16] = {
	REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
	REG_R8, REG_R9, REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15
};

static struct rp_page *
faults_guarded(struct rp_core *c, const siginfo_t *si)
{
	uint64_t a = (uint64_t)(uintptr_t)si->si_addr;
	struct rp_page *p;

	if (si->si_signo != SIGSEGV || si->si_code != SEGV_ACCERR || a - rp_base > rp_mask)
		return NULL;
	p = rp_page(c, a - rp_base, 0);
	return p && p->guarded ? p : NULL;
}

static void
faults_reason(struct rp_core *c, struct rp_frame *f, const siginfo_t *si)
{
	f->why = faults_guarded(c, si) ? RW_SMC : RW_FAULT;
	f->sig = (uint64_t)si->si_signo;
	f->addr = ((uint64_t)(uintptr_t)si->si_addr - rp_base) & rp_mask;
}

/*
 * RP_VALUES, RP_CONTROL: the block ended before its instruction n.  A string instruction has its record
 * even if it faulted.
 */
static void
rp_cut(struct rp_frame *f, const struct rp_block *b, unsigned n)
{
	uint64_t *head = (uint64_t *)(uintptr_t)f->block;

	if (f->mode < RP_VALUES || b->silent)
		return;
	if (f->record)
		rp_record(f, 0);
	else
		*head = (*head & 0xffffffffffffu) | (uint64_t)n << 48;
}

/* Without words: what is to be added to r11 for the instructions of the block before this one. */
static uint64_t
faults_done(const struct rp_frame *f, const struct rp_mark *m)
{
	return f->mode == RP_TALLY ? rp_packed(m->idx, m->nload, m->nstore) : m->idx;
}

/* RP_TALLY: the references that were counted before the instruction are not. */
static void
faults_take_back(struct rp_frame *f)
{
	for (unsigned k = 0; k < REF_NACCESS; k++)
		if (f->helped >> k & 1)
			f->tally[k] = f->tally0[k];
}

/* Restores the state before the instruction whose host code faulted. */
static void
faults_unwind(struct rp_frame *f, const struct rp_block *b, const uint8_t *at, gregset_t g)
{
	const struct rp_mark *m = NULL;
	unsigned i;

	for (i = 0; i < b->nmark && b->start + b->mark[i].off <= at; i++)
		m = &b->mark[i];
	if (m == NULL)
		return;
	for (i = 0; i < RP_NSAVE && m->borrowed[i]; i++)
		g[greg[m->borrowed[i] - 1]] = (greg_t)f->save[i];
	f->rip = m->pc;
	if (rp_has_words((enum rp_mode)f->mode)) {
		g[REG_R11] = m->out0 ? (greg_t)f->out0 : g[REG_R11] + 8 * m->words;
		f->ic -= (uint64_t)(b->ninst - m->idx);
		rp_cut(f, b, m->idx);
		return;
	}
	if (m->out0)
		faults_take_back(f);
	g[REG_R11] += (greg_t)faults_done(f, m);
}

/* 1: handled; 0: not ours. */
static int
in_guest(struct rp_core *c, const siginfo_t *si, ucontext_t *uc)
{
	struct rp_frame *f = c->f[c->running - 1];
	gregset_t *g = &uc->uc_mcontext.gregs;
	const uint8_t *at = (const uint8_t *)(uintptr_t)(*g)[REG_RIP];
	struct rp_block *b;

	if (at >= c->first && at < c->cp && (b = rp_block_at(c, at)) != NULL) {
		faults_unwind(f, b, at, *g);
		faults_reason(c, f, si);
		(*g)[REG_RIP] = (greg_t)(uintptr_t)c->th.exit;
		(*g)[REG_RSP] = (greg_t)(uintptr_t)f;
		return 1;
	}
	if (f->inhelper) {
		const struct rp_hinfo *h = (const struct rp_hinfo *)(uintptr_t)f->inhelper;

		f->inhelper = 0;
		f->rip = h->pc;
		if (rp_has_words((enum rp_mode)f->mode)) {
			f->out = f->out0;
			f->ic -= (uint64_t)h->block->ninst - h->idx;
			rp_cut(f, h->block, h->idx);
		} else {
			faults_take_back(f);
			/* those before a string instruction are counted before its helper is called */
			if (h->kind != RH_STRING)
				f->out += faults_done(f, h->block->mark + h->idx);
		}
		faults_reason(c, f, si);
		(*g)[REG_RIP] = (greg_t)(uintptr_t)c->th.leave;
		(*g)[REG_RSP] = (greg_t)(uintptr_t)f;
		return 1;
	}
	return 0;
}

static void
faults_handler(int sig, siginfo_t *si, void *ctx)
{
	struct rp_core *c = active;
	struct rp_page *p;
	size_t i;

	if (sig == SIGSEGV && si->si_code == SEGV_ACCERR && (uint64_t)(uintptr_t)si->si_addr - rp_base <= rp_mask &&
	    rp_touched((uint64_t)(uintptr_t)si->si_addr - rp_base))
		return;
	if (rp_probing && (sig == SIGSEGV || sig == SIGBUS)) {
		rp_probing = 0;
		siglongjmp(rp_probe, 1);
	}
	if (c && c->running && in_guest(c, si, ctx))
		return;
	if (c && (p = faults_guarded(c, si)) != NULL) {
		p->guarded = 0;
		p->dirty = 1;
		c->dirty = 1;
		if (mprotect(rp_host(p->addr), 4096, PROT_READ | PROT_WRITE) == 0)
			return;
	}
	for (i = 0; i < NSIGS; i++)             /* not ours: it occurs again, with the former handler */
		if (sigs[i] == sig)
			sigaction(sig, &before[i], NULL);
	if (si->si_code <= 0)
		raise(sig);
}

int
rp_signals_on(struct rp_core *c)
{
	struct sigaction sa;
	size_t i;

	if (active)
		return -1;
	memset(&sa, 0, sizeof sa);
	sa.sa_sigaction = faults_handler;
	sa.sa_flags = SA_SIGINFO | SA_NODEFER;
	sigemptyset(&sa.sa_mask);
	for (i = 0; i < NSIGS; i++)
		if (sigaction(sigs[i], &sa, &before[i]))
			return -1;
	active = c;
	return 0;
}

void
rp_signals_off(void)
{
	size_t i;

	for (i = 0; i < NSIGS; i++)
		sigaction(sigs[i], &before[i], NULL);
	active = NULL;
}
