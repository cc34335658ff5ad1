/*
 * Records the results of rdrand, rdseed and rdpid, which cannot be made to fault, and of rdtsc and cpuid
 * where the kernel cannot make them fault: stops at the instructions in memory that becomes
 * executable.  Debug registers can watch four addresses, whatever is there.
 * At others a breakpoint is written, but only where an instruction is certain to be.
 */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <unistd.h>
#include <elf.h>
#include <x86intrin.h>

#include "base/bytes.h"
#include "base/diag.h"
#include "base/mem.h"
#include "base/search.h"
#include "gen/wscap/fast.h"
#include "gen/wscap/point.h"
#include "gen/wscap/scan.h"
#include "gen/wscap/signal.h"
#include "gen/wscap/thread.h"
#include "gen/wscap/wscap.h"
#include "isa/x86/decode.h"

#define BREAKPOINT 0xcc

static int
random_watch(struct cap *c, int slot, uint64_t addr)
{
	unsigned long on = 0;
	const size_t reg = offsetof(struct user, u_debugreg);

	for (size_t i = 0; i < c->nsite; i++)
		if (c->site[i].slot >= 0)
			on |= 1ul << 2 * c->site[i].slot;
	if (addr)
		on |= 1ul << 2 * slot;
	else
		on &= ~(1ul << 2 * slot);
	if (ptrace(PTRACE_POKEUSER, c->t.pid, reg + 7 * sizeof(long), on & ~(1ul << 2 * slot)) ||
	    ptrace(PTRACE_POKEUSER, c->t.pid, reg + (size_t)slot * sizeof(long), addr))
		return -1;
	return ptrace(PTRACE_POKEUSER, c->t.pid, reg + 7 * sizeof(long), on) ? -1 : 0;
}

static int
random_plant(struct cap *c, struct site *s)
{
	uint8_t trap = BREAKPOINT;

	s->slot = -1;
	return s->sure && tracee_read(&c->t, s->addr, &s->was, 1) == 1 &&
	    tracee_write(&c->t, s->addr, &trap, 1) == 1 ? 0 : -1;
}

static int
free_slot(const struct cap *c)
{
	unsigned used = tracee_has_watchpoints() ? 0 : ~0u;

	for (size_t i = 0; i < c->nsite; i++)
		if (c->site[i].slot >= 0)
			used |= 1u << c->site[i].slot;
	for (int k = 0; k < NDEBUG_REGS; k++)
		if (!(used >> k & 1))
			return k;
	return -1;
}

/*
 * Frees a debug register for s by writing a breakpoint at its place, or where a cpuid may be, which matters less than
 * what else is watched.  -1: not possible.
 */
static int
give_way(struct cap *c, const struct site *s)
{
	for (size_t i = 0; i < c->nsite; i++) {
		int slot = c->site[i].slot;

		if (slot >= 0 && c->site[i].sure && !fast_covers(c, c->site[i].addr) && random_plant(c, &c->site[i]) == 0)
			return slot;
	}
	for (size_t i = 0; i < c->nsite && s->d.insn != TRACEE_CPUID; i++) {
		int slot = c->site[i].slot;

		if (slot >= 0 && c->site[i].d.insn == TRACEE_CPUID) {
			c->site[i] = c->site[--c->nsite];
			return slot;
		}
	}
	return -1;
}

static int
random_cover(struct cap *c, struct site *s)
{
	int slot = free_slot(c);

	if (slot < 0 && !s->sure)
		slot = give_way(c, s);
	s->slot = (int8_t)slot;
	if (slot >= 0 && random_watch(c, slot, s->addr) == 0)
		return 0;
	return random_plant(c, s);
}

static void
random_unsaid(struct cap *c, const struct site *s, const char *name)
{
	char text[256];

	if (c->unsaid)
		return;
	c->unsaid = 1;
	snprintf(text, sizeof(text), "%s at 0x%llx (%.150s) cannot be stopped at: %s",
	    s->d.insn == TRACEE_TSC ? "rdtsc" : s->d.insn == TRACEE_CPUID ? "cpuid" : ws_random_name(s->d.insn),
	    (unsigned long long)s->addr, name[0] ? name : "no file",
	    s->d.insn == TRACEE_CPUID ? "it tells of this processor there" : "a replay ends where it is executed");
	warn("%s", text);
	put_note(c, text);
}

/* quiet: the instruction is none that the user must hear of if it cannot be stopped at */
static void
random_add(struct cap *c, struct site *s, const char *name, int quiet)
{
	for (size_t i = 0; i < c->nsite; i++)
		if (c->site[i].addr == s->addr)
			return;
	/* debug registers are for those that are not certain */
	if (s->d.insn == TRACEE_CPUID && s->sure ? random_plant(c, s) : random_cover(c, s)) {
		if (!quiet)
			random_unsaid(c, s, name);
		return;
	}
	c->site = mem_xgrow(c->site, &c->capsite, c->nsite + 1, sizeof(*c->site));
	c->site[c->nsite++] = *s;
}

/* A breakpoint at an instruction that is one for certain: 0 or -1 */
static int
random_break(struct cap *c, uint64_t addr, uint32_t insn, unsigned len)
{
	struct site s = {.addr = addr, .d = {.insn = insn, .len = len}, .sure = 1};

	for (size_t i = 0; i < c->nsite; i++)
		if (c->site[i].addr == addr)
			return c->site[i].d.insn == insn ? 0 : -1;
	if (random_plant(c, &s))
		return -1;
	c->site = mem_xgrow(c->site, &c->capsite, c->nsite + 1, sizeof(*c->site));
	c->site[c->nsite++] = s;
	return 0;
}

int
random_point(struct cap *c, uint64_t addr)
{
	return random_break(c, addr, POINT, 0);
}

void
random_pause(struct cap *c, uint64_t addr, unsigned len)
{
	/* a jump may be written there later */
	if (!c->fast || (!fast_site_of(c->fast, addr) && !fast_site_of(c->fast, addr + len - 1)))
		(void)random_break(c, addr, PAUSE, len);
}

void
random_pauses(struct cap *c, int on)
{
	const uint8_t trap = BREAKPOINT;

	tracee_batch(&c->t);
	for (size_t i = 0; i < c->nsite; i++)
		if (c->site[i].d.insn == PAUSE)
			tracee_write(&c->t, c->site[i].addr, on ? &trap : &c->site[i].was, 1);
	tracee_batch_end(&c->t);
}

/* The program is at a point, before its instruction. */
static void
random_point_hit(struct cap *c, struct site *s, struct user_regs_struct *g)
{
	int sig;

	g->rip = s->addr;
	g->orig_rax = UINT64_MAX;
	tracee_setregs(&c->t, g);
	c->behind = 0;
	if (point_hit(c, s, &sig)) {
		c->placed = 1;
		point_end(c->all);
	} else if (sig && !c->hasended) {
		c->later = sig;
	}
}

static int
random_wanted(const struct cap *c, const struct scan_found *f)
{
	/*
	 * It matters little which processor cpuid tells of, unless it is another one than this, but it also tells which of
	 * its cores this is, and that may stay in a register.
	 */
	if (f->d.insn == TRACEE_CPUID)
		return f->is > 0 || (f->is == 0 && (c->all->cpu != CPU_NATIVE || (!f->unlikely && free_slot(c) >= 0)));
	/* constants often contain the two bytes of rdtsc; uncertain places are watched only while a debug register is free */
	return f->is >= 0 || (f->d.insn != TRACEE_TSC && free_slot(c) >= 0);
}

void
random_scan(struct cap *c, const struct region *r, const char *name)
{
	const struct scan *s;

	if (!(r->prot & PROT_EXEC) || r->prot & PROT_WRITE || r->shared || name[0] == '[')
		return;
	fast_code_mapped(c);
	s = scan_region(c, r, name);
	tracee_batch(&c->t);
	for (size_t i = 0; i < s->n; i++) {
		const struct scan_found *f = &s->found[i];
		struct site site = {.addr = r->lo + f->at, .d = f->d, .sure = f->is > 0};

		if (random_wanted(c, f))
			random_add(c, &site, name, f->unlikely);
	}
	tracee_batch_end(&c->t);
}

static void
put_back(const struct site *s, struct tracee *t)
{
	if (s->slot < 0)
		tracee_write(t, s->addr, &s->was, 1);
}

void
random_remove(struct cap *c, uint64_t lo, uint64_t hi, int there)
{
	tracee_batch(&c->t);
	for (size_t i = 0; i < c->nsite; i++) {
		struct site *s = &c->site[i];

		if (s->addr < lo || s->addr >= hi)
			continue;
		if (s->slot >= 0)
			(void)random_watch(c, s->slot, 0);
		else if (there)
			put_back(s, &c->t);
		*s = c->site[--c->nsite];
		i--;
	}
	tracee_batch_end(&c->t);
}

void
random_moved(struct cap *c, uint64_t lo, uint64_t hi, uint64_t to)
{
	tracee_batch(&c->t);
	for (size_t i = 0; i < c->nsite; i++) {
		const struct site *s = &c->site[i];

		if (s->slot < 0 && s->addr >= lo && s->addr < hi)
			tracee_write(&c->t, s->addr - lo + to, &s->was, 1);
	}
	tracee_batch_end(&c->t);
	random_remove(c, lo, hi, 0);
}

int
random_trap(struct cap *c, const siginfo_t *si)
{
	struct user_regs_struct g;
	struct ws_rec r = {.kind = WS_RAND};
	struct ws_regs w;

	if (tracee_regs(&c->t, &g))
		return 0;
	for (size_t i = 0; i < c->nsite; i++) {
		struct site *s = &c->site[i];

		if (s->slot >= 0 ? si->si_code != TRAP_HWBKPT || g.rip != s->addr :
			si->si_code == TRAP_HWBKPT || g.rip != s->addr + 1)
			continue;
		if (s->d.insn == POINT) {
			random_point_hit(c, s, &g);
			return 1;
		}
		if (s->d.insn == PAUSE) {
			spin_hit(c, s, &g);
			return 1;
		}
		g.rip = s->addr;
		if (s->d.insn == TRACEE_TSC) {
			if (!put_tsc(c, &g, s->d.len))
				fast_tsc_made(c, s->addr);
		} else if (s->d.insn == TRACEE_CPUID) {
			put_cpuid(c, &g);
			if (!c->nocpuid)
				fast_cpuid_made(c, s->addr);
		} else {
			tracee_from_user(&w, &g, g.rax);
			tracee_execute_random(&s->d, &r.u.rand);
			tracee_set_random(&s->d, &r.u.rand, &w);
			tracee_to_user(&g, &w);
			put_emulated(c, &r, &g);
		}
		return 1;
	}
	return 0;
}

uint64_t
random_trapped(const struct cap *c, uint64_t rip)
{
	for (size_t i = 0; i < c->nsite; i++)
		if (c->site[i].slot < 0 && c->site[i].d.insn != POINT && rip == c->site[i].addr + 1)
			return rip - 1;
	return rip;
}

void
random_hide(const struct cap *c, uint64_t addr, uint8_t *p, size_t n)
{
	for (size_t i = 0; i < c->nsite; i++)
		if (c->site[i].slot < 0 && c->site[i].addr - addr < n)
			p[c->site[i].addr - addr] = c->site[i].was;
	fast_hide(c, addr, p, n);
}

void
random_child(const struct cap *c, struct tracee *t)
{
	tracee_batch(t);
	for (size_t i = 0; i < c->nsite; i++)
		put_back(&c->site[i], t);
	tracee_batch_end(t);
}

void
random_restore(struct cap *c)
{
	const uint8_t trap = BREAKPOINT;

	tracee_batch(&c->t);
	for (size_t i = 0; i < c->nsite; i++)
		if (c->site[i].slot < 0 && !fast_covers(c, c->site[i].addr))
			tracee_write(&c->t, c->site[i].addr, &trap, 1);
	tracee_batch_end(&c->t);
}

void
random_lend(struct cap *c, uint64_t addr, int away)
{
	const uint8_t trap = BREAKPOINT;

	for (size_t i = 0; i < c->nsite; i++) {
		const struct site *s = &c->site[i];

		if (s->addr != addr)
			continue;
		if (s->slot >= 0)
			(void)random_watch(c, s->slot, away ? 0 : addr);
		else if (!away)
			tracee_write(&c->t, addr, &trap, 1);
	}
}

void
random_fork(struct cap *c)
{
	/* a thread may still watch what was removed while another one had the turn */
	if (c->th)
		ptrace(PTRACE_POKEUSER, c->t.pid, offsetof(struct user, u_debugreg) + 7 * sizeof(long), 0);
	for (size_t i = 0; i < c->nsite; i++)
		if (c->site[i].slot >= 0 && !fast_covers(c, c->site[i].addr))
			(void)random_watch(c, c->site[i].slot, c->site[i].addr);
}

void
random_off(struct cap *c)
{
	random_remove(c, 0, UINT64_MAX, 1);
}
