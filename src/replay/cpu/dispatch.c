/* The processor: allocates a core, and runs the loop around translated code. */
#include <asm/prctl.h>
#include <cpuid.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <Zydis/Zydis.h>
#include "isa/x86/decode.h"
#include "replay/cpu/emit_internal.h"

#define NEAR 80u        /* from this many instructions before the limit on, they are run one by one */
/* as NEAR, where a block may have one word for all its instructions */
#define FAR  (NEAR + RP_MAXINST)

static const char *why_not;

const char *
rp_core_why(void)
{
	return why_not ? why_not : "no memory";
}

static void *
dispatch_pages(size_t n, int prot)
{
	void *p = mmap(NULL, n, prot, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

/*
 * An inaccessible area after the window, for accesses that reach over its end.  None is needed
 * before it: only the beginning of an access is folded, and accesses go upwards.
 */
static void *
dispatch_guard(void)
{
	uint8_t *want = (uint8_t *)(uintptr_t)(rp_base + rp_mask) + 1;
	void *p = mmap(want, RP_GUARD, PROT_NONE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);

	if (p == want)
		return p;
	if (p != MAP_FAILED)
		munmap(p, RP_GUARD);
	why_not = "memory of this process lies right after the program's";
	return NULL;
}

/* Finds out what the processor supports. */
static int
dispatch_features(struct rp_core *c)
{
	unsigned a, b, cx, d, i;
	uint32_t lo, hi;

	if (!__get_cpuid(1, &a, &b, &cx, &d) || !(cx >> 27 & 1)) {
		why_not = "the processor has no XSAVE";
		return -1;
	}
	__asm__("xgetbv" : "=a"(lo), "=d"(hi) : "c"(0));
	c->rfbm = lo & 0xe7u;
	c->avx = (lo & 4) != 0;
	c->bmi2 = c->avx && __get_cpuid_count(7, 0, &a, &b, &cx, &d) && (b >> 8 & 1);
	c->avx512bw = (lo & 0xe0) == 0xe0 && __get_cpuid_count(7, 0, &a, &b, &cx, &d) && (b >> 30 & 1);
	c->fsgsbase = (getauxval(AT_HWCAP2) & 2) != 0;
	for (i = 2; i < 63; i++)
		if (__get_cpuid_count(0xd, i, &a, &b, &cx, &d)) {
			rp_xcomp[i].size = a;
			rp_xcomp[i].off = b;
			rp_xcomp[i].align = cx >> 1 & 1;
		}
	(void)hi;
	return 0;
}

static void
frame_init(struct rp_core *c, int mode)
{
	struct rp_frame *f = (struct rp_frame *)(c->region[mode] + RP_STACK);
	int l;

	c->f[mode] = f;
	f->mode = (uint64_t)mode;
	f->mask = rp_mask;
	f->canon = UINT64_C(0xffffffffffff);
	f->sign = UINT64_C(1) << 63;
	f->rfbm = c->rfbm;
	f->code = (uint64_t)(uintptr_t)c->code;
	f->codeend = f->code + RP_CODE;
	for (l = 0; l < 4; l++)
		f->kload[l] = ref_make(REF_LOAD, 0, 1u << l);
	f->kstore[0] = ref_make(REF_STORE, 0, 4);
	f->kstore[1] = ref_make(REF_STORE, 0, 8);
	for (l = 0; l < (int)RP_KSIZES; l++) {
		f->kmore[0][l] = ref_make(REF_LOAD, 0, 1u << l);
		f->kmore[1][l] = ref_make(REF_STORE, 0, 1u << l);
		f->kmore[2][l] = ref_make(REF_MODIFY, 0, 1u << l);
	}
}

struct rp_core *
rp_core_new(void)
{
	struct rp_core *c = calloc(1, sizeof *c);
	struct rp_tr t = { 0 };
	int m;

	why_not = NULL;
	if (c == NULL)
		return NULL;
	if (dispatch_features(c))
		goto fail;
	if (rp_window() != 0) {
		why_not = "memory of this process lies where the program's has to be";
		goto fail;
	}
	why_not = rp_code_new(c);
	c->arena = dispatch_pages(RP_ARENA, PROT_READ | PROT_WRITE);
	for (m = 0; m < (int)RP_NMODES; m++)
		c->region[m] = dispatch_pages(RP_STACK + sizeof(struct rp_frame), PROT_READ | PROT_WRITE);
	for (m = 0; m < (int)RP_NMODES; m++)
		if (c->region[m] == NULL)
			goto fail;
	if (c->code == NULL || c->arena == NULL || (c->guard = dispatch_guard()) == NULL)
		goto fail;
	c->cwarm = c->code;
	c->awarm = c->arena;
	c->cend = c->code + RP_CODE;
	c->aend = c->arena + RP_ARENA;
	for (m = 0; m < (int)RP_NMODES; m++)
		frame_init(c, m);
	t.p = c->code;
	t.bmi2 = c->avx;
	rp_thunks(&t, &c->th);
	c->first = t.p;
	rp_reset(c);
	if (rp_signals_on(c)) {
		why_not = "there is a core already";
		goto fail;
	}
	c->signals = 1;
	c->amd = x86_amd_here();
	return c;
fail:
	rp_core_free(c);
	return NULL;
}

void
rp_core_set_amd(struct rp_core *c, int amd)
{
	c->amd = amd;
}

void
rp_core_free(struct rp_core *c)
{
	unsigned i;

	if (c == NULL)
		return;
	if (c->signals)
		rp_signals_off();
	for (i = 0; i < 4096; i++)
		while (c->pages[i]) {
			struct rp_page *p = c->pages[i];

			c->pages[i] = p->next;
			if (p->guarded)
				(void)mprotect(rp_host(p->addr), 4096, PROT_READ | PROT_WRITE);
			free(p);
		}
	rp_code_free(c);
	if (c->arena)
		munmap(c->arena, RP_ARENA);
	if (c->guard)
		munmap(c->guard, RP_GUARD);
	for (i = 0; i < RP_NMODES; i++)
		if (c->region[i])
			munmap(c->region[i], RP_STACK + sizeof(struct rp_frame));
	if (c->side)
		munmap(c->side, RP_NSIDE * sizeof *c->side);
	facts_free(c->facts);
	free(c->list);
	free(c->brk);
	free(c);
}

struct facts *
rp_facts(struct rp_core *c)
{
	if (c->facts == NULL)
		c->facts = calloc(1, sizeof *c->facts);
	return c->facts;
}

int
rp_values_enable(struct rp_core *c, unsigned what)
{
	if (rp_facts(c) == NULL)
		return -1;
	c->facts->allflags = what & RP_FLAGS;
	c->facts->memory = what & RP_MEMORY;
	if ((what & RP_MEMORY) && c->side == NULL &&
	    (c->side = dispatch_pages(RP_NSIDE * sizeof *c->side, PROT_READ | PROT_WRITE)) == NULL)
		return -1;
	c->f[RP_VALUES]->side = (uint64_t)(uintptr_t)c->side;
	return 0;
}

int
rp_values_filter(struct rp_core *c, int (*pick)(void *arg, uint64_t pc), void *arg)
{
	if (rp_facts(c) == NULL)
		return -1;
	c->facts->pick = pick;
	c->facts->arg = arg;
	rp_reset(c);
	return 0;
}

static void
flush_dirty(struct rp_core *c)
{
	unsigned i;
	struct rp_page *p;

	c->dirty = 0;
	for (i = 0; i < 4096; i++)
		for (p = c->pages[i]; p; p = p->next)
			if (p->dirty)
				rp_page_drop(c, p);
}

/* Once for each thread: nothing else here uses GS, and a system call for each batch takes a third of a replay's time. */
static void
dispatch_window(const struct rp_core *c)
{
	static _Thread_local int done;
	uint64_t base = rp_base;

	if (done)
		return;
	done = 1;
	if (c->fsgsbase)
		__asm__ volatile("wrgsbase %0" :: "r"(base));
	else
		syscall(SYS_arch_prctl, ARCH_SET_GS, base);
}

static void
dispatch_load(struct rp_frame *f, const struct rp_run *x)
{
	int g;

	for (g = 0; g < 16; g++)
		*rp_reg(f, g) = x->cpu.r[g];
	f->rip = x->cpu.rip;
	f->rflags = (x->cpu.rflags & 0x200cd5) | 0x202;
	f->ac = x->cpu.rflags & 0x40000;
	f->fsbase = x->cpu.fsbase;
	f->gsbase = x->cpu.gsbase;
	f->xsave = (uint64_t)(uintptr_t)x->cpu.xsave;
	f->xcr0 = x->xcr0;
	f->limit = x->limit > INT64_MAX ? INT64_MAX : x->limit;
	f->inhelper = 0;
	f->end = (uint64_t)(uintptr_t)x->end;
}

static void
dispatch_store(const struct rp_frame *f, struct rp_run *x)
{
	int g;

	for (g = 0; g < 16; g++)
		x->cpu.r[g] = *rp_reg((struct rp_frame *)(uintptr_t)f, g);
	x->cpu.rip = f->rip;
	x->cpu.rflags = (f->rflags & 0x200cd5) | f->ac | 0x202;
	x->cpu.fsbase = f->fsbase;
	x->cpu.gsbase = f->gsbase;
}

/* Sets the values that the checks at block entries compare with. */
static void
dispatch_bounds(struct rp_frame *f, struct rp_run *x)
{
	uint64_t left = f->limit - x->icount, room;

	f->last = f->mode == RP_TALLY && left > RP_BATCH ? x->icount + RP_BATCH : f->limit;
	f->base = f->mode == RP_REFS ? 0 : f->last - NEAR;
	f->less = f->base - x->again;
	f->half = x->half;
	f->late = 0;
	f->ic = x->icount - f->base;
	if (!rp_has_words((enum rp_mode)f->mode)) {
		f->out = f->mode == RP_TALLY ? rp_packed(f->ic, 0, 0) : f->ic;
		return;
	}
	room = (uint64_t)(x->end - x->out) - RP_SLACK / 2;
	left = left > NEAR ? left - NEAR : UINT64_MAX;
	if (f->mode >= RP_VALUES)
		left /= RP_MAXINST;
	/* there is at least a word for each instruction, or for each block */
	if (f->mode != RP_DATA && left < room)
		room = left;
	f->out = (uint64_t)(uintptr_t)x->out;
	f->negend = -(f->out + 8 * room);
}

/* In the saved state, replaces the host address of the last x87 instruction by the guest's. */
static void
hide_x87(const struct rp_frame *f, uint8_t *xsave)
{
	uint64_t p[2];

	memcpy(p, xsave + 8, sizeof p);
	if (rp_x87(f, &p[0], &p[1]))
		memcpy(xsave + 8, p, sizeof p);
}

/* RP_TALLY: adds what was counted since translated code was entered. */
static void
dispatch_tally(struct rp_frame *f, struct rp_run *x)
{
	x->tally[REF_LOAD] += rp_loads(f->out);
	x->tally[REF_STORE] += rp_stores(f->out);
	for (unsigned k = 0; k < REF_NACCESS; k++) {
		x->tally[k] += f->tally[k];
		f->tally[k] = 0;
	}
}

/* Runs translated code from block b until it returns. */
static void
dispatch_execute(struct rp_core *c, struct rp_frame *f, struct rp_run *x, struct rp_block *b)
{
	void (*enter)(struct rp_frame *);

	memcpy(&enter, &c->th.enter, sizeof enter);
	dispatch_bounds(f, x);
	f->go = (uint64_t)(uintptr_t)(b->step ? b->start : b->entry);
	c->running = (int)f->mode + 1;
	enter(f);
	c->running = 0;
	hide_x87(f, x->cpu.xsave);
	if (rp_has_words((enum rp_mode)f->mode)) {
		x->out = (uint64_t *)(uintptr_t)f->out;
		x->icount = f->base + f->ic;
	} else if (f->mode == RP_TALLY) {
		x->icount = f->base + rp_insts(f->out);
		dispatch_tally(f, x);
	} else
		x->icount = f->base + f->out;
	x->again = f->base - f->less;
	x->half = f->half;
	x->late = (uint64_t *)(uintptr_t)f->late;
}

/* 1: the caller has to handle the stop in *stop; 0: go on. */
static int
dispatch_reason(struct rp_core *c, struct rp_frame *f, struct rp_run *x, enum rp_stop *stop)
{
	struct rp_site *s;
	struct rp_block *b;
	struct rp_page *p;

	switch (f->why) {
	case RW_CHECK: case RW_NEXT:
		return 0;
	case RW_LINK:
		s = (struct rp_site *)(uintptr_t)f->site;
		f->rip = s->pc;
		if ((b = rp_block_find(c, s->pc, (int)f->mode, 0)) == NULL) {
			uint64_t n = c->flushes;

			if ((b = rp_block(c, s->pc, (int)f->mode, 0, 0)) == NULL)
				break;
			if (n != c->flushes)
				return 0;
		}
		rp_link(c, s, b);
		return 0;
	case RW_MISS:
		if ((b = rp_block(c, f->rip, (int)f->mode, 0, 0)) == NULL)
			break;
		rp_index_add(c, b);
		return 0;
	case RW_SMC:
		if ((p = rp_page(c, f->addr, 0)) != NULL)
			rp_page_drop(c, p);
		return 0;
	case RW_SYSCALL: *stop = RP_SYSCALL; return 1;
	case RW_RDTSC: *stop = RP_TSC; x->insn = RP_RDTSC; return 1;
	case RW_RDTSCP: *stop = RP_TSC; x->insn = RP_RDTSCP; return 1;
	case RW_CPUID: *stop = RP_CPUID; return 1;
	case RW_RAND:
		*stop = RP_RAND;
		x->insn = (enum rp_insn)(f->rand & 255);
		x->reg = f->rand >> 8 & 255;
		x->size = (unsigned)(f->rand >> 16);
		return 1;
	case RW_BAD:
		*stop = RP_BAD;
		x->why = (const char *)(uintptr_t)f->msg;
		return 1;
	case RW_BEHIND:
		*stop = RP_TRAP;
		x->sig = (int)f->sig;
		return 1;
	case RW_TRAP: case RW_FAULT:
		*stop = RP_FAULT;
		x->sig = (int)f->sig;
		x->addr = f->addr;
		return 1;
	default:
		break;
	}
	*stop = RP_NOMEM;
	return 1;
}

enum rp_stop
rp_run(struct rp_core *c, struct rp_run *x, enum rp_mode mode)
{
	struct rp_frame *f = c->f[mode];
	struct rp_block *b;
	enum rp_stop stop;
	int first = 1, alone = 0;

	if (c->lost || (mode >= RP_VALUES && rp_facts(c) == NULL))
		return RP_NOMEM;
	x->late = NULL;
	dispatch_load(f, x);
	dispatch_window(c);
	for (;; first = 0) {
		int brk = c->nbrk && rp_break_is_set(c, f->rip), step;

		if (c->dirty)
			flush_dirty(c);
		if (x->icount >= f->limit)
			stop = RP_COUNT;
		else if (rp_has_words(mode) && x->end - x->out < (ptrdiff_t)RP_SLACK)
			stop = RP_FULL;
		else if (brk && !first && !alone)
			stop = RP_BREAK;
		else {
			step = brk || alone || f->limit - x->icount <= (mode >= RP_VALUES ? FAR : NEAR);
			f->maxelem = brk ? 1 : UINT64_MAX;
			if ((b = rp_block(c, f->rip, (int)mode, step, alone)) == NULL)
				stop = RP_NOMEM;
			else {
				dispatch_execute(c, f, x, b);
				if (alone)
					rp_block_drop(c, b);
				alone = f->why == RW_SMC;
				if (!dispatch_reason(c, f, x, &stop))
					continue;
			}
		}
		dispatch_store(f, x);
		return stop;
	}
}
