/*
 * Returns through a register. Where a call leaves the return address in a register, a return looks
 * like any jump through that register, and a compiler that has saved the return address may use the
 * register for the target of a computed goto or of a switch as well: gcc does so on MIPS with
 * -frename-registers.
 *
 * The stack pointer tells them apart. The return address was saved in the frame, so at such a jump
 * the frame still exists; at a return the stack pointer is what it was at the entry.
 */
#include <stdlib.h>
#include "ae/rewrite/file.h"
#include "base/mem.h"

/* How far the stack pointer is from its value at the entry; or one of these */
#define UNSEEN  INT64_MIN
#define UNKNOWN (INT64_MIN + 1) /* a frame of unknown size exists */

struct walk {
	struct afunc *fn;
	int64_t *at;            /* before each instruction */
	uint32_t *todo, n;      /* instructions whose successors have to be visited */
};

/* The distance after an instruction. */
static int64_t
returns_step(const struct walk *w, const struct insn *in, int64_t off)
{
	int sp = w->fn->m->sp;

	for (int k = 0; k < in->neff; k++) {
		const struct op_step *s = &in->eff[k].s;
		int64_t add;

		if (s->dst != sp)
			continue;
		if ((s->op == SO_ADD || s->op == SO_SUB) && s->a.kind == SV_VAR && s->a.var == sp && s->b.kind == SV_IMM)
			add = s->op == SO_ADD ? s->b.imm : -s->b.imm;
		else if (s->op == SO_LEA && s->m.base == sp && s->m.index == SCH_NOVAR && s->m.sym == SCH_NOSYM)
			add = s->m.disp;
		else if (s->op == SO_ADD && s->a.kind == SV_VAR && s->a.var == sp)
			return 0;       /* a large frame is given back by a register */
		else
			return UNKNOWN;
		/* the last step that gives a frame of unknown size back is an addition */
		off = off != UNKNOWN ? off + add : add > 0 ? 0 : UNKNOWN;
	}
	return off;
}

/* ... and when the transfer of control at k happens, which may be after a delay slot. */
static int64_t
returns_leave(const struct walk *w, uint32_t k, int64_t off)
{
	off = returns_step(w, &w->fn->ins[k].in, off);
	return w->fn->ins[k].in.slot && k + 1 < w->fn->nins ? returns_step(w, &w->fn->ins[k + 1].in, off) : off;
}

/*
 * Two ways that differ come together only in code after a call that does not return; a call needs a
 * frame, so the way without one is the real one.
 */
static void
returns_reach(struct walk *w, uint32_t k, int64_t off)
{
	int64_t was;

	if (k >= w->fn->nins || off > 0)
		return;
	was = w->at[k];
	if (was == off || was == 0 || (was == UNKNOWN && off != 0))
		return;
	w->at[k] = was == UNSEEN || off == 0 ? off : UNKNOWN;
	w->todo[w->n++] = k;
}

/* Does the indirect jump at k stay inside the function? Without a frame it is a return or a tail call. */
static int
returns_inside(const struct walk *w, uint32_t k, int64_t off)
{
	const struct ainsn *a = &w->fn->ins[k];

	return (a->in.ctl == IC_RETURN || a->in.ctl == IC_SWITCH) && off < 0;
}

static void
returns_visit(struct walk *w, uint32_t k)
{
	const struct afunc *fn = w->fn;
	const struct ainsn *a = &fn->ins[k];
	int64_t off = w->at[k], jumped = returns_leave(w, k, off);

	if ((a->in.ctl == IC_JUMP || a->in.ctl == IC_BRANCH) && a->target != NONE)
		returns_reach(w, a->target, jumped);
	if (returns_inside(w, k, jumped))
		for (uint32_t i = 0; i < fn->nins; i++)
			if (fn->ins[i].taken)
				returns_reach(w, i, jumped);
	if (a->in.ctl == IC_JUMP || a->in.ctl == IC_SWITCH || a->in.ctl == IC_RETURN || a->in.ctl == IC_STOP)
		return;
	returns_reach(w, k + 1, returns_step(w, &a->in, off));
}

/* Does the instruction store the register of the return address in the frame? */
static int
returns_saves(const struct afunc *fn, const struct insn *in)
{
	for (int k = 0; k < in->nref; k++)
		if (in->reads >> fn->m->link & 1 &&
		    (in->ref[k].m.base == fn->m->sp || in->ref[k].m.base == fn->m->fp))
			return 1;
	return 0;
}

void
returns_find(struct afunc *fn)
{
	struct walk w = { .fn = fn };
	int labels = 0, saved = 0;
	uint32_t k;

	if (fn->m->link < 0)
		return;
	for (k = 0; k < fn->nins; k++) {
		labels |= fn->ins[k].taken;
		saved |= returns_saves(fn, &fn->ins[k].in);
	}
	if (!labels || !saved)
		return;
	w.at = xreallocarray(NULL, fn->nins, sizeof *w.at);
	/* what is known of an instruction changes three times at most: known, unknown, 0 */
	w.todo = xreallocarray(NULL, 3 * fn->nins + 1, sizeof *w.todo);
	for (k = 0; k < fn->nins; k++)
		w.at[k] = UNSEEN;
	returns_reach(&w, 0, 0);
	while (w.n)
		returns_visit(&w, w.todo[--w.n]);
	for (k = 0; k < fn->nins; k++) {
		struct insn *in = &fn->ins[k].in;

		if (w.at[k] == UNSEEN || in->ctl != IC_RETURN ||
		    !returns_inside(&w, k, returns_leave(&w, k, w.at[k])))
			continue;
		in->ctl = IC_SWITCH;
		in->setsdst = 1;
		in->tgt = (int16_t)fn->m->link;
		fn->hasswitch = 1;
	}
	free(w.at);
	free(w.todo);
}
