/* The executed instructions of a capture, in spans. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <Zydis/Zydis.h>

#include "base/mem.h"
#include "base/opt.h"
#include "base/src.h"
#include "insns/insns.h"
#include "isa/x86/decode.h"

const char *const branch_name[BRANCH_KINDS] = {
	[BRANCH_NONE] = "none", [BRANCH_COND] = "conditional", [BRANCH_JUMP] = "jump",
	[BRANCH_JUMP_IND] = "indirect-jump", [BRANCH_CALL] = "call", [BRANCH_CALL_IND] = "indirect-call",
	[BRANCH_RETURN] = "return",
};

/* What a signal record tells that its run does not */
struct arrival {
	uint64_t rip;                   /* where the program was */
	uint32_t thread;                /* of a switch; 0: it is none */
};

struct walk {
	const struct insns *q;
	struct visit *v;
	uint64_t icount;                /* instructions before the next run */
	uint64_t last;                  /* number of the last instance */
	uint32_t thread;                /* that runs */
	int found, complained;          /* the wanted thread ran; the user knows that there are several */
	struct arrival *sig;            /* the signals of the batch; owned */
	size_t nsig, capsig;
	uint64_t *sys;                  /* numbers of the system calls of the batch; owned */
	size_t nsys, capsys, usedsys;
};

void *
insns_table(void *p, size_t *n, uint32_t id, size_t size)
{
	size_t m = *n ? *n : 1024;

	while (m <= id)
		m *= 2;
	p = xreallocarray(p, m, size);
	memset((char *)p + *n * size, 0, (m - *n) * size);
	*n = m;
	return p;
}

void
insns_decode(const struct fact *f, struct insns_kind *k)
{
	struct x86_inst in;
	unsigned op;
	int rel;

	*k = (struct insns_kind){ .kind = BRANCH_NONE + 1, .per = 1 };
	if (x86_inst_decode(&in, f->b, f->len, f->pc, f->amd) != 0)
		return;
	rel = in.z.raw.imm[0].size && in.z.raw.imm[0].is_relative;
	switch (in.z.meta.category) {
	case ZYDIS_CATEGORY_COND_BR: k->kind = BRANCH_COND + 1; break;
	case ZYDIS_CATEGORY_UNCOND_BR: k->kind = (rel ? BRANCH_JUMP : BRANCH_JUMP_IND) + 1; break;
	case ZYDIS_CATEGORY_CALL: k->kind = (rel ? BRANCH_CALL : BRANCH_CALL_IND) + 1; break;
	case ZYDIS_CATEGORY_RET: k->kind = BRANCH_RETURN + 1; break;
	default: break;
	}
	if (rel)
		k->target = x86_target(&in.z, in.next);
	op = in.z.opcode & 0xfeu;
	if (f->kind == FACT_STRING && (op == 0xa4 || op == 0xa6))       /* movs, cmps */
		k->per = 2;
	k->repeats = f->kind == FACT_STRING && x86_repeated(&in.z);
	k->gathers = in.mem >= 0 && in.op[in.mem].mem.type == ZYDIS_MEMOP_TYPE_VSIB;
	k->syscall = in.z.mnemonic == ZYDIS_MNEMONIC_SYSCALL;
}

const struct insns_kind *
insns_kind_new(struct insns_kinds *t, const struct fact *f)
{
	if (f->id >= t->n)
		t->k = insns_table(t->k, &t->n, f->id, sizeof *t->k);
	insns_decode(f, &t->k[f->id]);
	return &t->k[f->id];
}

static void
insns_record(void *arg, const struct ws_rec *rec, size_t run, uint64_t n)
{
	struct walk *w = arg;

	(void)run;
	(void)n;
	if (rec->kind == WS_SYS) {
		w->sys = mem_xgrow(w->sys, &w->capsys, w->nsys + 1, sizeof *w->sys);
		w->sys[w->nsys++] = rec->u.sys.nr;
	}
	if (rec->kind != WS_SIG)
		return;
	w->sig = mem_xgrow(w->sig, &w->capsig, w->nsig + 1, sizeof *w->sig);
	w->sig[w->nsig++] = (struct arrival){ rec->u.sig.at.rip, rec->u.sig.sig == WS_SWITCH ? rec->u.sig.thread : 0 };
}

/* Leaves in s what lies in the part [lo, hi) of its instructions, each iteration counted. */
static void
insns_cut(struct insns_span *s, uint64_t lo, uint64_t hi)
{
	uint32_t whole = s->run.ninsn - 1u, skip = lo < whole ? (uint32_t)lo : whole;

	if (hi <= whole) {
		s->next = s->run.at[hi].fact->pc;
		s->run.ninsn = (uint16_t)hi;
		s->from = 0;
		s->to = 1;
	} else {
		if (hi - whole < s->to)
			s->next = s->run.at[whole].fact->pc;
		s->from = (uint32_t)(lo - skip);
		s->to = (uint32_t)(hi - whole);
	}
	s->run.at += skip;
	s->run.ninsn = (uint16_t)(s->run.ninsn - skip);
	s->run.n += skip;
}

/* Another thread continues. */
static void
insns_switched(struct walk *w, uint32_t thread)
{
	const struct insns *q = w->q;

	w->thread = thread;
	if (q->thread || q->tells || w->complained || !q->complain)
		return;
	w->complained = 1;
	q->complain("the program has several threads, which this format does not tell apart; --task N writes thread N");
}

/* Gives the wanted part of a run to the format. */
static inline void
insns_give(struct walk *w, struct insns_span *s)
{
	const struct insns *q = w->q;
	const struct fact_at *last = &s->run.at[s->run.ninsn - 1];
	uint64_t icount = w->icount, n;

	s->from = 0;
	s->to = 1;
	s->again = s->run.n + s->run.ninsn - 1u == w->last;
	if (last->fact->kind == FACT_STRING)
		s->to = FACT_ITERS(s->word[s->run.word + last->val - 1u]);
	if (last->fact->mnemonic == ZYDIS_MNEMONIC_SYSCALL && w->usedsys < w->nsys)
		s->sys = w->sys[w->usedsys++];
	w->last = s->run.n + s->run.ninsn - 1u;
	if (s->switches)
		insns_switched(w, s->thread);
	n = insns_signal(s) ? 0 : insns_count(s);
	w->icount += n;
	if (icount < q->from || w->icount > q->to) {
		if (w->icount <= q->from || icount >= q->to)
			return;
		insns_cut(s, icount < q->from ? q->from - icount : 0,
		    q->to - icount < n ? q->to - icount : n);
	}
	if (q->thread && (s->thread != q->thread || s->switches))
		return;
	w->found |= n != 0;
	q->take(q->arg, s);
}

static void
insns_batch(struct walk *w, const struct visit_batch *b)
{
	struct insns_span s = { .word = b->word };
	uint64_t end = replay_regs(visit_replay(w->v))->rip;
	size_t sig = b->nrun && b->run[0].at->fact->kind == FACT_SIGNAL;

	for (size_t i = 0; i < b->nrun && w->icount < w->q->to; i++) {
		struct arrival none = { 0, 0 }, *a = &none;

		s.run = b->run[i];
		if (insns_signal(&s) && sig && sig <= w->nsig)
			a = &w->sig[sig - 1];
		s.rip = a->rip;
		s.switches = a->thread != 0;
		s.thread = a->thread ? a->thread : w->thread;
		if (i + 1 == b->nrun)
			s.next = end;
		else if (b->run[i + 1].at->fact->kind == FACT_SIGNAL)
			s.next = sig < w->nsig ? w->sig[sig++].rip : 0;
		else
			s.next = b->run[i + 1].at->fact->pc;
		insns_give(w, &s);
	}
	w->nsig = w->nsys = w->usedsys = 0;
}

/* Continues from the last keyframe at or before the first instruction that is wanted. */
static int
insns_seek(struct walk *w)
{
	struct replay *r = visit_replay(w->v);
	size_t k = w->q->from ? replay_nkeys(r) : 0;

	while (k && (replay_key_icount(r, k - 1) > w->q->from ||
	    replay_key_instances(r, k - 1) == WS_UNKNOWN))
		k--;
	if (!k)
		return REPLAY_OK;
	w->icount = replay_key_icount(r, k - 1);
	return visit_segments(w->v) ? visit_seek(w->v, k) : REPLAY_BAD;
}

/* The range begins after the end. */
static void
insns_say_range(const struct walk *w)
{
	char *text;

	if (!w->q->complain)
		return;
	text = xasprintf("%s: " OPT_EMPTY_RANGE, src_name(w->q->path), w->icount);
	w->q->complain(text);
	free(text);
}

int
insns_run(const struct insns *q, struct ws_early *early, struct fault *f)
{
	struct walk w = { .q = q };
	struct visit_batch b;
	struct replay *r;
	int got;

	if ((w.v = visit_open(q->path, q->values ? q->what : VISIT_CONTROL, f)) == NULL)
		return -1;
	r = visit_replay(w.v);
	visit_set_record_fn(w.v, insns_record, &w);
	if (q->map)
		replay_set_map_fn(r, q->map, q->arg);
	if (q->begin)
		q->begin(q->arg, r);
	got = insns_seek(&w);
	w.thread = replay_thread(r);
	while (got == REPLAY_OK && w.icount < q->to && (got = visit_batch(w.v, &b)) == REPLAY_OK)
		insns_batch(&w, &b);
	if (q->end)
		q->end(q->arg, r);
	if (got == REPLAY_BAD)
		*f = *replay_fault(r);
	else if (got == REPLAY_END && replay_early(r))
		*early = *replay_early(r);
	if (got == REPLAY_END && w.icount < q->from)
		insns_say_range(&w);
	if (got != REPLAY_BAD && q->thread && !w.found) {
		fault_set(f, WS_UNKNOWN, WS_UNKNOWN, "thread %u executes nothing there", (unsigned)q->thread);
		got = REPLAY_BAD;
	}
	free(w.sig);
	free(w.sys);
	visit_close(w.v);
	return got == REPLAY_BAD ? -1 : 0;
}
