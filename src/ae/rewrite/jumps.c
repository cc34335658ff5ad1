/*
 * Switches of position-independent code. The table has differences of 4 bytes from its own address, and the jump is
 * through a register:
 *
 *	leaq .Ltable(%rip), %base; movslq (%base,%index,4), %entry; addq %base, %entry; jmp *%entry
 *
 * or, not optimised, with `movl` and `cltq` for the load, and another `leaq` for the sum. Instructions may lie between
 * these, and the base may be that of many switches, but each register must have its value from one instruction.
 */
#include <stdlib.h>
#include <string.h>
#include "ae/machine/machine.h"
#include "ae/rewrite/emit.h"
#include "ae/rewrite/origin.h"
#include "ae/rewrite/slice.h"
#include "base/mem.h"

/* The effect of instruction i that sets register r; NULL: none, or it is one of a macro or of a call */
static const struct op_step *
jumps_effect(const struct afunc *fn, uint32_t i, int r)
{
	const struct ainsn *a = i == NONE ? NULL : &fn->ins[i];
	int k;

	if (!a || a->more || a->nth || a->lands || a->in.ctl != IC_NONE)
		return NULL;
	for (k = 0; k < a->in.neff; k++)
		if (a->in.eff[k].s.dst == r)
			return &a->in.eff[k].s;
	return NULL;
}

static int
is_memory(const struct afunc *fn, const struct op_value *v)
{
	return v->kind == SV_VAR && v->var == (int32_t)machine_mem(fn->m);
}

/* The table whose address register r has before instruction i, by the lea *from; or NONE */
static uint32_t
jumps_base(const struct file *f, struct origin *s, uint32_t i, int r, uint32_t *from)
{
	const struct afunc *fn = s->fn;
	const struct sym *y;

	if (r < 0 || r >= (int)fn->m->nreg)
		return NONE;
	*from = origin_find(s, i, (unsigned)r);
	y = *from == NONE ? NULL : origin_address(f, &fn->ins[*from], (unsigned)r);
	if (!y || y->where != 2 || !y->readonly || y->weak || y->seton || y->table == NONE)
		return NONE;
	return f->tab[y->table].relative && !f->tab[y->table].mixed && &f->fn[f->tab[y->table].func] == fn ? y->table : NONE;
}

/* Is the value of register r before instruction i an entry of table t? Fills in w. */
static int
jumps_entry(const struct file *f, struct origin *s, uint32_t i, int r, uint32_t t, struct relswitch *w)
{
	const struct afunc *fn = s->fn;
	uint32_t at = origin_find(s, i, (unsigned)r);
	const struct op_step *e = jumps_effect(fn, at, r);
	const struct insn *in;
	const struct sch_addr *m;

	w->widen = NONE;
	if (e && e->op == SO_SEXT && e->w == 8 && e->n == 4 && e->a.kind == SV_VAR && e->a.var < (int32_t)fn->m->nreg) {
		w->widen = at;
		r = e->a.var;
		at = origin_find(s, at, (unsigned)r);
		e = jumps_effect(fn, at, r);
		if (!e || !((e->op == SO_MOV && e->w == 4) || (e->op == SO_ZEXT && e->n == 4)))
			return 0;
	} else if (!e || e->op != SO_SEXT || e->w != 8 || e->n != 4) {
		return 0;
	}
	in = &fn->ins[at].in;
	if (!is_memory(fn, &e->a) || in->mref < 0 || in->ref[in->mref].op != SO_LOAD || in->ref[in->mref].n != 4)
		return 0;
	w->load = at;
	m = &in->ref[in->mref].m;
	if (m->sym != SCH_NOSYM || m->fs || m->narrow || m->align || m->disp != 0 || m->base == m->index)
		return 0;
	if ((m->scale == 4 || m->scale == 1) && jumps_base(f, s, at, m->base, &w->lea[0]) == t)
		return 1;
	return m->scale == 1 && jumps_base(f, s, at, m->index, &w->lea[0]) == t;
}

/* The table of the switch at w->jump, or NONE. */
static uint32_t
jumps_table(const struct file *f, struct origin *s, struct relswitch *w)
{
	const struct afunc *fn = s->fn;
	int r = fn->ins[w->jump].in.tgt, k;
	const struct op_step *e;

	w->add = origin_find(s, w->jump, (unsigned)r);
	e = jumps_effect(fn, w->add, r);
	if (!e || e->op != SO_ADD || e->w != 8 || e->a.kind != SV_VAR || e->b.kind != SV_VAR || e->a.var == e->b.var)
		return NONE;
	for (k = 0; k < 2; k++) {
		const struct op_value *base = k ? &e->a : &e->b, *entry = k ? &e->b : &e->a;
		uint32_t t;

		if (entry->var >= (int32_t)fn->m->nreg)
			continue;
		t = jumps_base(f, s, w->add, base->var, &w->lea[1]);
		if (t != NONE && jumps_entry(f, s, w->add, entry->var, t, w))
			return t;
	}
	return NONE;
}

int
jumps_find(struct file *f, uint32_t no)
{
	struct afunc *fn = &f->fn[no];
	struct origin s;
	uint32_t b, t;
	int found = 0;

	if (!fn->m->emit->relative || f->paper || !fn->hasswitch)
		return 0;
	origin_begin(&s, fn);
	for (b = 0; b < fn->nblk; b++) {
		struct relswitch w = { .jump = fn->blk[b].last - 1 };
		struct ainsn *a;

		if (fn->blk[b].term != ST_SWITCH || fn->g->rpo[b] == NO_NODE)
			continue;
		a = &fn->ins[w.jump];
		if (a->in.setsdst != 1 || a->table != NONE || a->more || a->nth || (t = jumps_table(f, &s, &w)) == NONE)
			continue;
		fn->rel = mem_xgrow(fn->rel, &fn->caprel, fn->nrel + 1, sizeof *fn->rel);
		fn->rel[fn->nrel++] = w;
		a->table = t;
		fn->ins[w.add].part = fn->ins[w.load].part = 1;
		if (w.widen != NONE)
			fn->ins[w.widen].part = 1;
		found = 1;
	}
	origin_end(&s);
	return found;
}

struct flood {
	const struct afunc *fn;
	uint8_t *ok;            /* by instruction: may read the value */
	uint8_t *seen;          /* blocks entered at their begin */
	uint32_t *todo, ntodo;
};

/*
 * May register r, as it is after instruction i or from its block's begin on, be read by others than ok[]? A call that does not
 * name r does not count: no compiler passes the address of a switch's table or target.
 */
static int
flood_block(struct flood *w, unsigned r, uint32_t b, uint32_t i)
{
	const struct machine *m = w->fn->m;
	const struct ablock *k = &w->fn->blk[b];
	uint32_t n;

	for (; i < k->last; i++) {
		const struct ainsn *a = &w->fn->ins[i];

		if ((a->in.reads >> r & 1) && !w->ok[i])
			return 1;
		if (origin_changes(m, a, r))
			return 0;
	}
	for (n = 0; n < k->nsucc + (k->pad != NONE); n++) {
		uint32_t to = n < k->nsucc ? k->succ[n] : k->pad;

		if (!w->seen[to]) {
			w->seen[to] = 1;
			w->todo[w->ntodo++] = to;
		}
	}
	return 0;
}

/* Is what instruction i puts into register r read by others than those of ok[]? */
static int
flood_leaks(struct flood *w, uint32_t i, unsigned r)
{
	uint32_t b = w->fn->blkof[i];
	int leaks;

	memset(w->seen, 0, w->fn->nblk);
	w->ntodo = 0;
	leaks = flood_block(w, r, b, i + 1);
	while (w->ntodo && !leaks) {
		b = w->todo[--w->ntodo];
		leaks = flood_block(w, r, b, w->fn->blk[b].first);
	}
	return leaks;
}

static unsigned
jumps_result(const struct afunc *fn, uint32_t i)
{
	unsigned r;

	for (r = 0; r < fn->m->nreg; r++)
		if (fn->ins[i].in.writes >> r & 1)
			break;
	return r;
}

/* Is a result of instruction i recorded? */
static int
jumps_recorded(const struct afunc *fn, uint32_t i)
{
	const struct slice *sl = fn->slice;
	uint32_t d;

	for (d = sl->first[i]; d < sl->first[i + 1]; d++)
		if (sl->def[d].fate == DF_RECORD)
			return 1;
	return 0;
}

/* Is nothing seen of what switch r computes, except of the leas? */
static int
jumps_inside(struct flood *w, const struct relswitch *r)
{
	const uint32_t part[3] = { r->load, r->widen, r->add }, next[3] = { r->widen == NONE ? r->add : r->widen, r->add, r->jump };
	int k, bad = 0;

	for (k = 0; k < 3 && !bad; k++) {
		if (part[k] == NONE)
			continue;
		w->ok[next[k]] = 1;
		bad = jumps_recorded(w->fn, part[k]) || flood_leaks(w, part[k], jumps_result(w->fn, part[k]));
		w->ok[next[k]] = 0;
	}
	return !bad;
}

/* Is the value of the lea at `lea` read by nothing but switches whose own[] is set? */
static int
jumps_lea(struct flood *w, uint32_t lea, const uint8_t *own)
{
	const struct afunc *fn = w->fn;
	size_t k;
	int bad, set;

	if (jumps_recorded(fn, lea))
		return 0;
	for (set = 1, bad = 0; set >= 0; set--) {
		for (k = 0; k < fn->nrel; k++) {
			const struct relswitch *r = &fn->rel[k];

			if (own[k] && r->lea[0] == lea)
				w->ok[r->load] = (uint8_t)set;
			if (own[k] && r->lea[1] == lea)
				w->ok[r->add] = (uint8_t)set;
		}
		if (set)
			bad = flood_leaks(w, lea, jumps_result(fn, lea));
	}
	return !bad;
}

uint8_t *
jumps_own(const struct afunc *fn)
{
	struct flood w = { .fn = fn };
	uint8_t *own, *is;
	size_t k;
	int again = 1;

	if (!fn->nrel)
		return NULL;
	w.ok = xcalloc(fn->nins, 1);
	w.seen = xcalloc(fn->nblk, 1);
	w.todo = xcalloc(fn->nblk, sizeof *w.todo);
	own = xcalloc(fn->nrel, 1);
	is = xcalloc(fn->nins, 1);
	for (k = 0; k < fn->nrel; k++)
		own[k] = (uint8_t)jumps_inside(&w, &fn->rel[k]);
	/* a lea that something else reads stays as it is, and so do the switches that read it, and their other leas */
	while (again)
		for (again = 0, k = 0; k < fn->nrel; k++)
			if (own[k] && !(jumps_lea(&w, fn->rel[k].lea[0], own) && jumps_lea(&w, fn->rel[k].lea[1], own))) {
				own[k] = 0;
				again = 1;
			}
	for (k = 0; k < fn->nrel; k++)
		if (own[k])
			is[fn->rel[k].lea[0]] = is[fn->rel[k].lea[1]] = is[fn->rel[k].jump] = 1;
	free(own);
	free(w.ok);
	free(w.seen);
	free(w.todo);
	return is;
}
