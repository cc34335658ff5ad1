/* The instrumented copy of a function: the part that does not depend on the machine. See emit.h. */
#include <stdlib.h>
#include "ae/rewrite/emit.h"
#include "ae/rewrite/landing.h"
#include "ae/rewrite/live.h"
#include "ae/rewrite/slice.h"
#include "base/mem.h"

#define MAXPEND 100     /* displacements of one byte are shorter */

int
twin_carry(struct twin *t, uint32_t i, uint32_t to)
{
	const struct ablock *k = &t->fn->blk[to];
	const uint32_t *pred = &t->fn->g->pred.at[to];

	if (t->pend > MAXPEND || to == 0 || k->first == k->last || k->first <= i || pred[1] - pred[0] != 1)
		return 0;
	t->pendin[to] = t->pend;
	return 1;
}

static void
twin_record(struct twin *t, unsigned var, unsigned n, unsigned ext)
{
	if (ext == EXT_SHORT)
		t->fn->m->emit->record_short(t, var);
	else
		t->fn->m->emit->record(t, var, n);
}

void
twin_mask(struct twin *t, uint64_t regs)
{
	unsigned v;

	for (v = 0; v < t->fn->m->nreg; v++)
		if (regs >> v & 1)
			twin_record(t, v, t->fn->m->word, word_ext(t->fn, v));
}

void
twin_results(struct twin *t, uint32_t i, int call)
{
	const struct slice *sl = t->fn->slice;
	uint32_t d;

	for (d = sl->first[i]; d < sl->first[i + 1]; d++) {
		const struct def *f = &sl->def[d];
		const struct insn_effect *e = f->eff == DEF_CALL ? NULL : &t->fn->ins[i].in.eff[f->eff];
		uint8_t ext;

		if (call != (f->eff == DEF_CALL))
			continue;
		if (e && e->s.op == SO_REP) {
			if (f->var == t->fn->ins[i].in.tgt && (e->s.cc == SR_CMPS || e->s.cc == SR_SCAS))
				t->fn->m->emit->rep(t, i);
		} else if (f->fate == DF_RECORD) {
			unsigned n = def_bytes(t->fn, f, &ext);

			twin_record(t, f->var, n, ext);
		}
	}
}

int
twin_records(const struct twin *t, uint32_t i)
{
	const struct slice *sl = t->fn->slice;
	uint32_t d;

	for (d = sl->first[i]; d < sl->first[i + 1]; d++)
		if (sl->def[d].eff != DEF_CALL && sl->def[d].fate == DF_RECORD)
			return 1;
	return 0;
}

static const struct landing_names twin_names = { 'b', 'r', 'g', 't', 1 };

/* Alignment that the compiler requested between two instructions. */
static void
twin_alignment(struct twin *t, uint32_t from, uint32_t to)
{
	for (; from < to; from++) {
		const struct stmt *st = &t->f->text.st[from];

		if (st->kind == ST_DIRECTIVE && text_directive(st->s, ".p2align"))
			buf_printf(t->o, "\t%s\n", st->s);
	}
}

static void
twin_instructions(struct twin *t)
{
	const struct emitter *e = t->fn->m->emit;
	uint32_t i, n;

	for (i = 0; i < t->fn->nins; i += n) {
		uint32_t b = t->fn->blkof[i];

		if (i && t->fn->ins[i].frag == t->fn->ins[i - 1].frag) {
			landing_between(t->o, t->f, t->no, t->fn->ins[i - 1].stmt + 1, t->fn->ins[i].stmt, &twin_names);
			twin_alignment(t, t->fn->ins[i - 1].stmt + 1, t->fn->ins[i].stmt);
		} else if (i) {
			landing_end(t->o, t->f, t->no, 0, &twin_names);
			landing_begin(t->o, t->f, t->no, 1, &twin_names);
		}
		if (t->fn->ins[i].leader)
			buf_printf(t->o, LBL2 ":\n", 't', t->no, i);
		if (i == t->fn->blk[b].first) {
			t->pend = t->pendin[b];
			if (t->fn->blk[b].mark)
				e->mark(t, b);
		}
		n = e->insn(t, i);
		if (t->pend && i + n == t->fn->blk[b].last &&
		    !(t->fn->blk[b].nsucc == 1 && twin_carry(t, i + n - 1, t->fn->blk[b].succ[0])))
			e->settle(t);
	}
}

void
emit_twin(struct buf *o, struct file *f, uint32_t no)
{
	struct twin t = { .o = o, .f = f, .fn = &f->fn[no], .no = no };
	const struct emitter *e = f->m->emit;
	uint32_t b;

	t.live = live_out(t.fn);
	t.own = jumps_own(t.fn);
	t.after = f->m->lent ? live_after(t.fn) : NULL;
	buf_printf(o, "\t.p2align 4\n" LBL ":\n", 'f', no);
	landing_begin(o, f, no, 0, &twin_names);
	twin_mask(&t, t.fn->slice->entryrec);
	if (t.fn->blk[0].first == t.fn->blk[0].last)
		e->settle(&t);
	t.pendin = xcalloc(t.fn->nblk, sizeof *t.pendin);
	t.pendin[0] = t.pend;
	twin_instructions(&t);
	landing_end(o, f, no, t.fn->nfrag - 1, &twin_names);
	buf_printf(o, "\t%s\n", e->trap);
	for (b = 0; b < t.fn->nblk; b++) {
		const struct ablock *k = &t.fn->blk[b];

		if (k->first != k->last || (k->term != ST_TAIL && k->term != ST_TAILX))
			continue;
		buf_printf(o, LBL2 ":\n", 's', no, b);
		t.pend = 0;
		if (k->mark)
			e->mark(&t, b);
		e->outlying(&t, b);
	}
	e->tables(&t);
	landing_tables(o, f, no, t.fn->nfrag, &twin_names);
	free(t.live);
	free(t.own);
	free(t.after);
	free(t.pendin);
	free(t.large);
}
