/*
 * Queries of a capture: forward slices.  One replay from the instance on, with
 * the registers and bytes of memory that an instance of the slice has written
 * last.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/wet/byteset.h"
#include "engine/wet/queryrec.h"

struct spread {
	struct query *q;
	struct query_slice *s;
	struct byteset mem;
	uint64_t taint;                 /* registers with tainted lanes */
	uint8_t lanes[FACT_NREG];
	uint64_t *next;                 /* executions of each statement before; owned; NULL: nobody asks */
	uint64_t last;                  /* position */
	int enough, nomem;
	/* an instance whose references were not known before, until the next comes */
	const struct qinsn *late;
	int in;
	uint64_t n, val[64], *ref;      /* its value so far, its references; ref owned */
	size_t nref, capref;
};

static void
define(struct spread *c, const struct fact *f, int in)
{
	for (unsigned d = 0; d < f->ndef; d++) {
		const struct fact_def *k = &f->def[d];
		uint64_t bit = UINT64_C(1) << k->reg;

		if (k->reg == QRSP && !c->q->rsp)
			continue;
		if (in)
			c->lanes[k->reg] |= k->lanes;
		else
			c->lanes[k->reg] &= (uint8_t)~k->lanes;
		c->taint = c->lanes[k->reg] ? c->taint | bit : c->taint & ~bit;
	}
}

static int
uses(const struct spread *c, const struct qinsn *k)
{
	for (unsigned u = 0; u < k->f->nuse; u++)
		if (k->use >> k->f->use[u].reg & 1 && c->lanes[k->f->use[u].reg] & k->f->use[u].lanes)
			return 1;
	return 0;
}

static void
store(struct spread *c, const uint64_t *ref, size_t nref, int in)
{
	for (size_t i = 0; i < nref; i++) {
		if (!visit_writes(ref[i]))
			continue;
		if (in)
			byteset_add(&c->mem, ref_addr(ref[i]), ref_size(ref[i]));
		else if (c->mem.n)
			byteset_take(&c->mem, ref_addr(ref[i]), ref_size(ref[i]));
	}
}

static int
load(const struct spread *c, const uint64_t *ref, size_t nref)
{
	if (c->mem.n)
		for (size_t i = 0; i < nref; i++)
			if (visit_reads(ref[i]) && byteset_has(&c->mem, ref_addr(ref[i]), ref_size(ref[i])))
				return 1;
	return 0;
}

static void
belongs(struct spread *c, const struct qinsn *k, uint64_t n)
{
	c->s->total++;
	c->s->count[k->id - 1]++;
	query_member(c->q, n);
}

static void
tell(struct spread *c, const struct qinsn *k, uint64_t n, const uint64_t *val, const uint64_t *ref, size_t nref)
{
	const struct query_stmt *s = &c->q->stmt[k->id - 1];
	struct query_insn e = { .id = k->id, .instance = c->next[k->id - 1] - 1, .n = n, .ref = ref, .nref = nref };
	uint64_t flags;

	if (s->port.nval)
		e.nval = query_value(s, val, &e.val, &flags);
	c->enough |= c->s->fn(c->s->arg, &e) != 0;
}

/* The instance that was being collected is over */
static void
late_over(struct spread *c)
{
	if (c->late && c->in && c->next)
		tell(c, c->late, c->n, c->val, c->ref, c->nref);
	c->late = NULL;
}

/* An instance of an instruction with many references, or a part of it: what it stored counts as soon as it belongs to the slice */
static void
late(struct spread *c, const struct qinsn *k, const struct visit_insn *e, const struct visit_batch *b, int in)
{
	const uint64_t *ref = b->word + e->ref;
	uint32_t words = e->fact->nval;

	if (!c->late || c->n != e->n) {
		late_over(c);
		c->late = k;
		c->n = e->n;
		c->nref = 0;
		c->in = 0;
	}
	if (buf_grow(&c->ref, &c->capref, c->nref + e->nref + 1, sizeof *c->ref) < 0) {
		c->nomem = 1;
		return;
	}
	memcpy(c->ref + c->nref, ref, e->nref * sizeof *ref);
	memcpy(c->val, b->word + e->val, (words < 64 ? words : 64) * sizeof *c->val);
	in |= uses(c, k);
	for (uint32_t i = 0; i < e->nref; i++) {
		if (!in && !c->in)
			in = load(c, ref + i, 1);
		if (in && !c->in) {
			c->in = 1;
			belongs(c, k, e->n);
			store(c, c->ref, c->nref + i, 1);
		}
		store(c, ref + i, 1, c->in);
	}
	if (in && !c->in) {
		c->in = 1;
		belongs(c, k, e->n);
	}
	c->nref += e->nref;
	define(c, k->f, c->in);
}

static void
instruction(struct spread *c, const struct qinsn *k, const struct visit_run *r, uint32_t i, const struct visit_batch *b, uint64_t parent)
{
	const uint64_t *word = b->word + r->word, *ref = word + k->ref;
	uint64_t n = r->n + i;
	int in = n == c->s->n || (parent && !(c->s->how & QUERY_DATA) && query_is_member(c->q, parent));

	if (c->next && n > c->last)
		c->next[k->id - 1]++;
	if (n < c->s->n)
		return;
	if (k->late) {
		struct visit_insn e = visit_insn(r, i);

		late(c, k, &e, b, in);
		return;
	}
	late_over(c);
	in = in || (k->use & c->taint && uses(c, k)) || (k->nref && load(c, ref, k->nref));
	if (in)
		belongs(c, k, n);
	if (in || k->def & c->taint)
		define(c, k->f, in);
	store(c, ref, k->nref, in);
	if (in && c->next)
		tell(c, k, n, word + r->at[i].val, ref, k->nref);
}

static void
signal_comes(struct spread *c, const struct visit_run *r)
{
	int in = r->n > c->s->n && query_is_member(c->q, r->n - 1);

	if (in)
		query_member(c->q, r->n);
	define(c, r->at->fact, in);
}

/* The effects of records, in order, which wait for the runs before them */
struct effects {
	struct spread *c;
	struct qeffect *e;              /* owned */
	size_t n, cap, done;
};

static void
on_record(void *arg, const struct ws_rec *rec, size_t run, uint64_t n)
{
	struct effects *t = arg;
	unsigned k;

	if (buf_grow(&t->e, &t->cap, t->n + 4, sizeof *t->e) < 0) {
		t->c->nomem = 1;
		return;
	}
	k = query_effects(rec, n, t->e + t->n);
	for (unsigned i = 0; i < k; i++)
		t->e[t->n++].run = run;
}

static void
effect(struct spread *c, const struct qeffect *e)
{
	unsigned reg = e->kind == QEFFECT_FSBASE ? FACT_FSBASE : FACT_GSBASE;
	int in = e->n >= c->s->n && query_is_member(c->q, e->n);

	switch (e->kind) {
	case QEFFECT_MOVE: byteset_move(&c->mem, e->addr, e->to, e->len); break;
	case QEFFECT_GONE: byteset_clear(&c->mem, e->addr, e->len); break;
	case QEFFECT_WRITE:
		byteset_clear(&c->mem, e->addr, e->len);
		if (in)
			byteset_set(&c->mem, e->addr, e->len);
		break;
	default:
		c->lanes[reg] = (uint8_t)in;
		c->taint = in ? c->taint | UINT64_C(1) << reg : c->taint & ~(UINT64_C(1) << reg);
	}
}

static int
spread_run(struct spread *c, const struct visit_run *r, const struct visit_batch *b, struct control *t)
{
	struct query *q = c->q;
	struct qpath *p;

	if (buf_grow(&q->parent, &q->capparent, r->ninsn, sizeof *q->parent) < 0)
		return query_nomem(q);
	if (t && control_run(t, r, b, q->parent) != 0)
		return query_nomem(q);
	if (r->at->fact->kind == FACT_SIGNAL) {
		late_over(c);
		signal_comes(c, r);
		c->last = r->n;
		return 0;
	}
	if ((p = query_path(q, r->at, r->ninsn)) == NULL || (!p->insn && query_path_insns(q, p) != 0))
		return -1;
	for (uint32_t i = 0; i < p->n; i++)
		instruction(c, &p->insn[i], r, i, b, t ? q->parent[i] : 0);
	if (r->n + r->ninsn - 1 > c->last)
		c->last = r->n + r->ninsn - 1;
	return c->nomem ? query_nomem(q) : 0;
}

static int
spread(struct spread *c, uint64_t from, struct control *t)
{
	struct query *q = c->q;
	struct effects e = { .c = c };
	struct visit_batch b;
	int got = query_goto(q, from), bad = 0;

	visit_onrecord(q->v, on_record, &e);
	while (got == 1 && !bad && !c->enough && (got = query_batch(q, &b)) == 1) {
		e.done = 0;
		for (size_t i = 0; i <= b.nrun && !bad; i++) {
			for (; e.done < e.n && e.e[e.done].run <= i; e.done++)
				effect(c, &e.e[e.done]);
			if (i < b.nrun && !c->enough)
				bad = spread_run(c, &b.run[i], &b, t) != 0;
		}
		e.n = 0;
	}
	late_over(c);
	visit_onrecord(q->v, NULL, NULL);
	free(e.e);
	return bad || got < 0 ? -1 : 0;
}

int
query_forward(struct query *q, struct query_slice *s)
{
	struct spread c = { .q = q, .s = s };
	size_t k = query_window(q, s->n);
	struct control *t = NULL;
	int bad = byteset_init(&c.mem) != 0 ? query_nomem(q) : 0;

	c.last = q->win[k].n - 1;
	if (!bad && s->fn)
		bad = query_counts(q, k, &c.next) != 0;
	if (!bad && !(s->how & QUERY_DATA)) {
		bad = query_states(q, k) != 0;
		if (!bad && ((t = control_new(&q->code)) == NULL || control_load(t, q->win[k].state.p, q->win[k].state.n) != 0))
			bad = query_nomem(q) != 0;
	}
	bad = bad || query_visit(q, 0) != 0 || spread(&c, q->win[k].n, t) != 0;
	control_free(t);
	byteset_free(&c.mem);
	free(c.next);
	free(c.ref);
	return bad ? -1 : 0;
}
