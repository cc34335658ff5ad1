/* Applies the records of a capture. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "base/bytes.h"
#include "isa/x86/decode.h"
#include "replay/guest/replay_internal.h"

#define X_MXCSR  24u            /* offsets in an XSAVE image */
#define X_XMM    160u           /* xmm0 to xmm15 */
#define X_XMM_END 416u
#define X_BV     512u           /* the XSAVE header: which components are present, and their layout */
#define X_HEADER 64u

void
drive_regs(const struct replay *r, struct ws_regs *g)
{
	const struct rp_cpu *c = &r->x.cpu;

	memcpy(g->r, c->r, sizeof g->r);
	g->rip = c->rip;
	g->rflags = c->rflags;
	g->fsbase = c->fsbase;
	g->gsbase = c->gsbase;
}

void
drive_set_regs(struct replay *r, const struct ws_regs *g)
{
	struct rp_cpu *c = &r->x.cpu;

	memcpy(c->r, g->r, sizeof g->r);
	c->rip = g->rip;
	c->rflags = g->rflags;
	c->fsbase = g->fsbase;
	c->gsbase = g->gsbase;
}

/* Rejects an image that the processor would refuse: xrstor faults on reserved bits. */
int
drive_xsave(struct replay *r, const uint8_t *p, size_t n)
{
	uint8_t *x = r->x.cpu.xsave;

	if (n > RP_XSAVE)
		return drive_bad(r, "a processor state of %zu bytes", n);
	if (n)
		memcpy(x, p, n);
	memset(x + n, 0, RP_XSAVE - n);
	if (!n)
		put_le32(x + X_MXCSR, 0x1f80);
	if (get_le32(x + X_MXCSR) & 0xffff0000u)
		return drive_bad(r, "a processor state with reserved bits in mxcsr");
	if (get_le64(x + X_BV) & ~r->x.xcr0)
		return drive_bad(r, "a processor state with parts (0x%llx) that the program could not use",
		    (unsigned long long)(get_le64(x + X_BV) & ~r->x.xcr0));
	for (size_t i = 8; i < X_HEADER; i++)
		if (x[X_BV + i])
			return drive_bad(r, "a processor state with reserved bits in its header");
	return 0;
}

int
drive_state(struct replay *r, const struct ws_rec_state *s)
{
	drive_set_regs(r, &s->regs);
	r->thread = s->thread ? s->thread : 1;
	r->x.icount = s->icount;
	r->uncounted = s->instances == WS_UNKNOWN;
	r->x.again = r->uncounted ? 0 : s->icount - s->instances;
	r->x.half = 0;
	return drive_xsave(r, s->xsave, s->nxsave);
}

/* Reports the files of [addr, addr + len) that have become executable. */
static void
records_notify_mappings(struct replay *r, uint64_t addr, uint64_t len)
{
	for (size_t i = mem_from(&r->mem, addr); r->onmap && i < r->mem.n; i++) {
		const struct ws_rec_map *m = &r->mem.area[i].m;

		if (m->addr > addr + (len - 1))
			break;
		if ((m->prot & PROT_EXEC) && m->name[0])
			r->onmap(r->maparg, m);
	}
}

static int
records_effect(struct replay *r, const struct ws_rec *rec)
{
	int e = 0;

	switch (rec->kind) {
	case WS_MAP:
		e = mem_map(&r->mem, &rec->u.map);
		if (!e)
			records_notify_mappings(r, rec->u.map.addr, rec->u.map.len);
		break;
	case WS_UNMAP:
		e = mem_unmap(&r->mem, rec->u.range.addr, rec->u.range.len);
		break;
	case WS_MOVE:
		e = mem_move(&r->mem, &rec->u.move);
		break;
	case WS_PROT:
		e = mem_protect(&r->mem, rec->u.range.addr, rec->u.range.len, rec->u.range.prot);
		if (!e)
			records_notify_mappings(r, rec->u.range.addr, rec->u.range.len);
		break;
	case WS_MEM:
		e = mem_write(&r->mem, &rec->u.mem);
		break;
	default:
		break;
	}
	return e ? drive_bad_mem(r) : 0;
}

static int
records_watched(struct replay *r, const struct ws_rec *rec)
{
	if (r->watch.record && r->watch.record(r->watch.arg, rec) != 0) {
		r->ended = REPLAY_BAD;
		return REPLAY_BAD;
	}
	return 0;
}

int
drive_set_signal_break(struct replay *r)
{
	int found = !r->cut && r->next.kind == WS_SIG && r->next.u.sig.icount == WS_UNKNOWN;
	uint64_t pc = found ? r->next.u.sig.at.rip : WS_UNKNOWN;
	int mine = 1;

	if (r->sigbreak != WS_UNKNOWN)
		rp_break_if(r->core, r->sigbreak, NULL, 0);
	r->narrow = (struct drive_narrow){ .patience = 2 };
	if (pc == r->sigbreak)
		return 0;
	for (size_t i = 0; i < r->nbrk; i++)
		mine &= r->brk[i] != r->sigbreak;
	if (r->sigbreak != WS_UNKNOWN && mine)
		rp_break(r->core, r->sigbreak, 0);
	r->sigbreak = pc;
	if (pc != WS_UNKNOWN && rp_break(r->core, pc, 1) != 0)
		return drive_bad(r, "no memory");
	return 0;
}

/* Computes the latest instance of the next trigger.  A TIME record before it may say more. */
static void
set_latest(struct replay *r, uint64_t time)
{
	if (r->head->flags & WS_TIMES)
		r->latest = r->from + DRIVE_SLACK + time * DRIVE_PACE;
}

void
drive_set_latest(struct replay *r)
{
	r->from = drive_instances(r);
	set_latest(r, WS_TIME_LEAST);
}

int
drive_next(struct replay *r)
{
	for (;;) {
		int got = ws_next(r->in, &r->next);

		if (got < 0) {
			r->cut = 1;
			return drive_set_signal_break(r);
		}
		if (got == 0)
			return drive_bad(r, "the capture has no end");
		ws_early_rec(&r->early, &r->next);
		switch (r->next.kind) {
		case WS_SYS:
		case WS_SIG:
		case WS_TSC:
		case WS_CPUID:
		case WS_RAND:
		case WS_KEY:
		case WS_END:
			return drive_set_signal_break(r);
		case WS_START:
		case WS_KEYEND:
			return drive_bad(r, "a record %s where none may be", ws_kind_name(r->next.kind));
		case WS_TIME:
			if (records_watched(r, &r->next) != 0)
				return REPLAY_BAD;
			if (r->latest != WS_UNKNOWN)
				set_latest(r, r->next.u.time);
			break;
		default:
			if (records_watched(r, &r->next) != 0 || records_effect(r, &r->next) != 0)
				return REPLAY_BAD;
		}
	}
}

int
drive_rest(struct replay *r)
{
	int got = 1;

	if (r->ended != REPLAY_OK)
		return r->ended == REPLAY_END ? 0 : REPLAY_BAD;
	while (!r->cut) {
		if (r->next.kind == WS_KEY) {
			if (ws_skip_key(r->in) != 1)
				return drive_bad_file(r);
		} else if (records_watched(r, &r->next) != 0) {
			return REPLAY_BAD;
		}
		if (r->next.kind == WS_END) {
			r->ended = REPLAY_END;
			return 0;
		}
		got = ws_next(r->in, &r->next);
		if (got == 0)
			return drive_bad(r, "the capture has no end");
		r->cut = got < 0;
	}
	return drive_bad_file(r);
}

/* Applies the records of a keyframe: the contents, and mappings if `maps`. */
int
drive_key_body(struct replay *r, int maps)
{
	struct ws_rec rec;

	for (;;) {
		if (ws_next(r->in, &rec) != 1)
			return drive_bad_file(r);
		if (rec.kind == WS_KEYEND)
			return 0;
		if (rec.kind != WS_MEM && rec.kind != WS_MAP)
			return drive_bad(r, "a record %s inside a keyframe", ws_kind_name(rec.kind));
		if ((rec.kind == WS_MEM || maps) && records_effect(r, &rec) != 0)
			return REPLAY_BAD;
	}
}

/* A replay that began at a keyframe has only the memory that was needed up to here. */
int
drive_pass_key(struct replay *r)
{
	struct ws_regs g;

	drive_regs(r, &g);
	if (!ws_same(&g, &r->next.u.state.regs))
		return drive_drift(r, "registers are not those of the keyframe");
	if (!r->uncounted && r->next.u.state.instances != WS_UNKNOWN &&
	    r->next.u.state.instances != drive_instances(r))
		return drive_drift(r, "%llu instances, where the keyframe has %llu",
		    (unsigned long long)drive_instances(r), (unsigned long long)r->next.u.state.instances);
	if (r->keyed ? drive_key_body(r, 0) != 0 : ws_skip_key(r->in) != 1)
		return drive_bad_file(r);
	return drive_next(r);
}

static int
take_sys(struct replay *r)
{
	const struct ws_rec_sys *s = &r->next.u.sys;
	static const uint8_t order[6] = { WS_RDI, WS_RSI, WS_RDX, 10, 8, 9 };
	struct rp_cpu *c = &r->x.cpu;
	const char *name = ws_sys_name(s->nr);
	struct ws_regs g;

	c->r[WS_RCX] = c->rip;
	c->r[11] = c->rflags;
	if (c->rip != s->pc + 2)
		return drive_drift(r, "a system call, where the program had its next one at 0x%llx",
		    (unsigned long long)s->pc);
	if (c->r[WS_RAX] != s->nr)
		return drive_drift(r, "system call %llu, where the program had %llu (%s)",
		    (unsigned long long)c->r[WS_RAX], (unsigned long long)s->nr, name ? name : "unknown");
	for (int i = 0; i < 6; i++)
		if (c->r[order[i]] != s->arg[i])
			return drive_drift(r, "argument %d of system call %s is 0x%llx, not 0x%llx", i + 1,
			    name ? name : "(unknown)",
			    (unsigned long long)c->r[order[i]], (unsigned long long)s->arg[i]);
	drive_regs(r, &g);
	if (ws_hash(&g) != s->hash)
		return drive_drift(r, "registers at system call %s are not those of the program",
		    name ? name : "(unknown)");
	return drive_sys(r, s);
}

/* This is called millions of times, and mostly the first bytes differ. */
static int
same_memory(struct replay *r, uint64_t addr, const uint8_t *p, size_t n)
{
	uint8_t b[64];

	for (size_t i = 0, k; i < n; i += k) {
		k = n - i < sizeof b ? n - i : sizeof b;
		if (mem_read(&r->mem, addr + i, b, k) != k || memcmp(b, p + i, k) != 0)
			return 0;
	}
	return 1;
}

static int
same_words(struct replay *r, const struct ws_rec_sig *s)
{
	for (size_t i = 0; i < s->nwords; i++) {
		const uint8_t *w = s->words + i * WS_SIGWORD;

		if (!same_memory(r, get_le64(w), w + 8, 8))
			return 0;
	}
	return 1;
}

/* xmm0 to xmm15 in an XSAVE image, 16 bytes each. */
static const uint8_t *
records_vectors(const uint8_t *xsave)
{
	static const uint8_t initial[X_XMM_END - X_XMM];

	return xsave[X_BV] & 2 ? xsave + X_XMM : initial;
}

/* A fatal signal records the state at its place. */
static int
has_state(const struct ws_rec_sig *s)
{
	return s->nxsave > X_BV && s->sig != WS_SWITCH && ws_same(&s->at, &s->to);
}

/*
 * A gather that faults has loaded the elements before the one that it faults at: the vectors are not those from before it.  Any
 * signal may come there: the kernel brings in a page, and delivers what is pending before the gather goes on.
 */
static int
is_gather(struct replay *r)
{
	ZydisDecodedInstruction z;
	ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
	uint8_t b[15];
	size_t n = mem_read(&r->mem, r->x.cpu.rip, b, sizeof b);

	if (x86_decode(&z, op, b, n, replay_amd(r->head)) != 0)
		return 0;
	for (int i = 0; i < z.operand_count_visible; i++)
		if (op[i].type == ZYDIS_OPERAND_TYPE_MEMORY && op[i].mem.type == ZYDIS_MEMOP_TYPE_VSIB)
			return 1;
	return 0;
}

int
drive_signal_here(struct replay *r)
{
	const struct ws_rec_sig *s = &r->next.u.sig;
	struct ws_regs g;

	drive_regs(r, &g);
	if (s->icount != WS_UNKNOWN) {
		if (r->x.icount < s->icount)
			return 0;
		if (r->x.icount > s->icount || !ws_comes_at(s, &g))
			return drive_drift(r, "registers are not those of %s %u at instruction %llu",
			    s->sig == WS_SWITCH ? "the switch to thread" : "signal",
			    s->sig == WS_SWITCH ? s->thread : s->sig, (unsigned long long)s->icount);
		return 1;
	}
	return ws_comes_at(s, &g) && same_memory(r, g.r[WS_RSP], s->stack, s->nstack) && same_words(r, s) &&
	    (!has_state(s) ||
		memcmp(records_vectors(r->x.cpu.xsave), records_vectors(s->xsave), X_XMM_END - X_XMM) == 0 || is_gather(r));
}

int
drive_signal_due(struct replay *r)
{
	const struct ws_rec_sig *s = &r->next.u.sig;

	if (r->ended != REPLAY_OK || r->cut || r->next.kind != WS_SIG ||
	    (s->icount != WS_UNKNOWN && s->icount != r->x.icount) || drive_signal_here(r) != 1)
		return -1;
	return ws_is_place(s) ? 0 : (int)s->sig;
}

/* Finds a test that holds at the signal's place but not here. 0: there is none. */
static int
records_discriminate(struct replay *r, struct rp_test *t)
{
	const struct ws_rec_sig *s = &r->next.u.sig;
	uint8_t b[8];

	for (int i = 0; i < 16; i++)
		if (r->x.cpu.r[i] != s->at.r[i]) {
			*t = (struct rp_test){ .reg = i, .value = s->at.r[i] };
			return 1;
		}
	/* flags have no test, but where they differ, vectors or memory may differ too */
	for (int i = 0; i < 16 && has_state(s); i++) {
		*t = (struct rp_test){ .reg = RP_TEST_XMM + i,
		    .value = get_le64(records_vectors(s->xsave) + 16 * i) };
		if (get_le64(records_vectors(r->x.cpu.xsave) + 16 * i) != t->value)
			return 1;
	}
	for (size_t i = 0; i + 8 <= s->nstack; i += 8) {
		*t = (struct rp_test){ .reg = -1, .addr = s->at.r[WS_RSP] + i,
		    .value = get_le64(s->stack + i) };
		if (mem_read(&r->mem, t->addr, b, 8) == 8 && get_le64(b) != t->value)
			return 1;
	}
	for (size_t i = 0; i < s->nwords; i++) {
		const uint8_t *w = s->words + i * WS_SIGWORD;

		*t = (struct rp_test){ .reg = -1, .addr = get_le64(w), .value = get_le64(w + 8) };
		if (mem_read(&r->mem, t->addr, b, 8) == 8 && get_le64(b) != t->value)
			return 1;
	}
	return 0;
}

/*
 * After too many visits of the signal's place, adds a test to the breakpoint that this visit
 * fails.  Any difference serves: the complete state is compared at each stop.
 */
void
drive_narrow(struct replay *r)
{
	struct drive_narrow *w = &r->narrow;

	if (r->x.cpu.rip != r->sigbreak || ++w->visits < w->patience)
		return;
	for (size_t i = 0; i < r->nbrk; i++)
		if (r->brk[i] == r->sigbreak)
			return;
	w->visits = 0;
	if (!records_discriminate(r, &w->test[w->n < RP_NTEST ? w->n : w->next])) {
		w->patience *= 2;
		return;
	}
	if (w->n < RP_NTEST) {
		w->n++;
	} else {
		w->next = (w->next + 1) % RP_NTEST;
		w->patience *= 2;
	}
	rp_break_if(r->core, r->sigbreak, w->test, w->n);
}

static int
take_sig(struct replay *r)
{
	const struct ws_rec_sig *s = &r->next.u.sig;

	if (s->sig == WS_SWITCH && drive_park(r, s->thread) != 0)
		return REPLAY_BAD;
	/* the signal is an instance, and so is the part of a string instruction that it interrupts */
	r->x.again -= r->x.half ? 2 : 1;
	r->x.half = 0;
	drive_set_regs(r, &s->to);
	if (s->sig == WS_SWITCH) {
		r->thread = s->thread;
		if (r->telling)
			drive_tell_thread(r);
	}
	return s->nxsave ? drive_xsave(r, s->xsave, s->nxsave) : 0;
}

static int
take_tsc(struct replay *r)
{
	const struct ws_rec_tsc *t = &r->next.u.tsc;

	if (t->has_aux != (r->x.insn == RP_RDTSCP))
		return drive_drift(r, "%s, where the program had %s", t->has_aux ? "rdtsc" : "rdtscp",
		    t->has_aux ? "rdtscp" : "rdtsc");
	r->x.cpu.r[WS_RAX] = (uint32_t)t->value;
	r->x.cpu.r[WS_RDX] = t->value >> 32;
	if (t->has_aux)
		r->x.cpu.r[WS_RCX] = t->aux;
	return 0;
}

static int
take_cpuid(struct replay *r)
{
	const struct ws_cpuid *k = &r->next.u.cpuid;
	uint64_t *g = r->x.cpu.r;

	if (k->leaf != (uint32_t)g[WS_RAX] || k->sub != (uint32_t)g[WS_RCX])
		return drive_drift(r, "cpuid of 0x%x, 0x%x, where the program had 0x%x, 0x%x",
		    (unsigned)g[WS_RAX], (unsigned)g[WS_RCX], k->leaf, k->sub);
	g[WS_RAX] = k->eax;
	g[WS_RBX] = k->ebx;
	g[WS_RCX] = k->ecx;
	g[WS_RDX] = k->edx;
	return 0;
}

static int
take_rand(struct replay *r)
{
	const struct ws_rec_rand *d = &r->next.u.rand;
	uint64_t *g = &r->x.cpu.r[r->x.reg];
	const char *had = ws_random_name(d->insn), *here = ws_random_name(r->x.insn - RP_RDRAND);

	if (d->insn != r->x.insn - RP_RDRAND)
		return drive_drift(r, "%s, where the program had %s", here, had);
	if (r->x.size < 8 && d->value >> (8 * r->x.size))
		return drive_drift(r, "%s of %u bytes, where the program had more", here, r->x.size);
	*g = r->x.size == 2 ? (*g & ~UINT64_C(0xffff)) | d->value : d->value;
	if (d->insn != WS_RDPID)
		r->x.cpu.rflags = (r->x.cpu.rflags & ~UINT64_C(0x8d5)) | !d->failed;
	return 0;
}

int
drive_trigger_apply(struct replay *r)
{
	int e;

	if (records_watched(r, &r->next) != 0)
		return REPLAY_BAD;
	switch (r->next.kind) {
	case WS_SYS: e = take_sys(r); break;
	case WS_SIG: e = take_sig(r); break;
	case WS_TSC: e = take_tsc(r); break;
	case WS_RAND: e = take_rand(r); break;
	default: e = take_cpuid(r); break;
	}
	if (e)
		return e;
	r->triggers++;
	r->exits = r->next.kind == WS_SYS && r->next.u.sys.nr == SYS_exit;
	r->after_sig = r->next.kind == WS_SIG;
	drive_set_latest(r);
	return drive_next(r);
}
