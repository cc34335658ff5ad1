/*
 * Queries of a capture: backward slices.  From the last window backward, each
 * is replayed and recorded, then read from its end with the registers and
 * bytes of memory that are live: whose next use is by an instance of the
 * slice.  What writes one of them belongs to the slice.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/wet/byteset.h"
#include "engine/wet/queryrec.h"

struct scan {
	struct query *q;
	struct query_slice *s;
	struct qrec rec;
	struct byteset mem;
	uint64_t live;                  /* registers with live lanes */
	uint8_t lanes[FACT_NREG];
	uint64_t *next;                 /* executions of each statement up to here; owned; NULL: nobody asks */
	uint64_t *ref;                  /* of a string instruction; owned */
	size_t capref;
	int enough;
};

static inline int
take_registers(struct scan *c, const struct fact *f)
{
	int hit = 0;

	for (unsigned d = 0; d < f->ndef; d++) {
		const struct fact_def *k = &f->def[d];

		if (!(c->lanes[k->reg] & k->lanes))
			continue;
		hit = 1;
		if (!(c->lanes[k->reg] &= (uint8_t)~k->lanes))
			c->live &= ~(UINT64_C(1) << k->reg);
	}
	return hit;
}

static inline void
use_registers(struct scan *c, const struct qinsn *k)
{
	for (unsigned u = 0; u < k->f->nuse; u++) {
		const struct fact_use *x = &k->f->use[u];

		if (k->use >> x->reg & 1) {
			c->lanes[x->reg] |= x->lanes;
			c->live |= UINT64_C(1) << x->reg;
		}
	}
}

/* Instance n belongs to the slice; who decided that it was executed, too */
static inline void
belongs(struct scan *c, const struct qinsn *k, uint64_t n)
{
	uint64_t parent;

	c->s->total++;
	c->s->count[k->id - 1]++;
	query_member(c->q, n);
	use_registers(c, k);
	if (c->s->how & QUERY_DATA)
		return;
	parent = c->rec.parent[n - c->rec.from];
	if (parent)
		query_member(c->q, parent);
}

static void
tell(struct scan *c, const struct qinsn *k, uint64_t n, const uint64_t *val, const uint64_t *ref, size_t nref)
{
	const struct query_stmt *s = &c->q->stmt[k->id - 1];
	struct query_insn e = { .id = k->id, .instance = c->next[k->id - 1], .n = n, .ref = ref, .nref = nref };
	uint64_t flags;

	if (s->port.nval)
		e.nval = query_value(s, val, &e.val, &flags);
	c->enough |= c->s->fn(c->s->arg, &e) != 0;
}

/* Bytes that are loaded are live, bytes that are stored are not any more; element by element, the last first */
static void
elements(struct scan *c, const uint64_t *ref, size_t nref)
{
	while (nref-- > 0) {
		if (visit_writes(ref[nref]))
			byteset_take(&c->mem, ref_addr(ref[nref]), ref_size(ref[nref]));
		if (visit_reads(ref[nref]))
			byteset_add(&c->mem, ref_addr(ref[nref]), ref_size(ref[nref]));
	}
}

/*
 * The last instruction of a run, whose references were not known before, a
 * string instruction perhaps in several parts of which this is the last.
 * Where the first of them is.
 */
static int
late(struct scan *c, size_t j, size_t *first)
{
	const struct qrun *r = &c->rec.run[j];
	uint64_t n = r->n + r->path->n - 1;
	const struct qinsn *k = &r->path->insn[r->path->n - 1];
	struct visit_insn e = qrec_insn(r, r->path->n - 1);
	const uint64_t *val = c->rec.word + r->word + e.val;
	size_t nref = 0;
	int in = query_is_member(c->q, n);

	while (j > 0 && r[-1].n + r[-1].path->n - 1 == n) {
		j--;
		r--;
	}
	*first = j;
	for (;; j++, r++) {
		e = qrec_insn(r, r->path->n - 1);
		if (buf_grow(&c->ref, &c->capref, nref + e.nref + 1, sizeof *c->ref) < 0)
			return query_nomem(c->q);
		memcpy(c->ref + nref, c->rec.word + r->word + e.ref, e.nref * sizeof *c->ref);
		nref += e.nref;
		if (j + 1 == c->rec.nrun || r[1].n != n)
			break;
	}
	in |= take_registers(c, k->f);
	for (size_t i = 0; i < nref && !in; i++)
		in = visit_writes(c->ref[i]) && byteset_has(&c->mem, ref_addr(c->ref[i]), ref_size(c->ref[i]));
	if (c->next)
		c->next[k->id - 1]--;
	if (!in)
		return 0;
	belongs(c, k, n);
	elements(c, c->ref, nref);
	if (c->next)
		tell(c, k, n, val, c->ref, nref);
	return 0;
}

/* The first `end` instructions of a run, from the last one */
static void
scan_run(struct scan *c, const struct qrun *r, uint32_t end)
{
	const struct qpath *p = r->path;
	const uint64_t *word = c->rec.word + r->word;

	for (uint32_t i = end; i-- > 0;) {
		const struct qinsn *k = &p->insn[i];
		const uint64_t *ref = word + k->ref;
		int in = query_is_member(c->q, r->n + i);

		if (c->next)
			c->next[k->id - 1]--;
		if (k->def & c->live)
			in |= take_registers(c, k->f);
		for (uint32_t x = 0; k->stores && x < k->nref; x++)
			if (visit_writes(ref[x]))
				in |= byteset_take(&c->mem, ref_addr(ref[x]), ref_size(ref[x]));
		if (!in)
			continue;
		belongs(c, k, r->n + i);
		for (uint32_t x = 0; k->loads && x < k->nref; x++)
			if (visit_reads(ref[x]))
				byteset_add(&c->mem, ref_addr(ref[x]), ref_size(ref[x]));
		if (c->next)
			tell(c, k, r->n + i, word + p->at[i].val, ref, k->nref);
	}
}

/* What a signal did counts as done by the instance before it */
static void
scan_signal(struct scan *c, const struct qrun *r)
{
	int in = query_is_member(c->q, r->n);

	in |= take_registers(c, r->path->at->fact);
	if (in && r->n > 1)
		query_member(c->q, r->n - 1);
}

static void
effect(struct scan *c, const struct qeffect *e)
{
	unsigned reg = e->kind == QEFFECT_FSBASE ? FACT_FSBASE : FACT_GSBASE;
	int in = 0;

	switch (e->kind) {
	case QEFFECT_GONE: byteset_clear(&c->mem, e->addr, e->len); break;
	case QEFFECT_MOVE: byteset_move(&c->mem, e->to, e->addr, e->len); break;
	case QEFFECT_WRITE: in = byteset_clear(&c->mem, e->addr, e->len) != 0; break;
	default:
		in = c->lanes[reg] != 0;
		c->lanes[reg] = 0;
		c->live &= ~(UINT64_C(1) << reg);
	}
	if (in && e->n)
		query_member(c->q, e->n);
}

static int
scan_window(struct scan *c)
{
	size_t ne = c->rec.neffect;

	for (size_t j = c->rec.nrun; j-- > 0 && !c->enough;) {
		const struct qrun *r = &c->rec.run[j];
		uint32_t end = r->path->n;

		for (; ne && c->rec.effect[ne - 1].run > j; ne--)
			effect(c, &c->rec.effect[ne - 1]);
		if (!r->path->id) {
			scan_signal(c, r);
			continue;
		}
		if (r->path->insn[end - 1].late) {
			if (late(c, j, &j) != 0)
				return -1;
			r = &c->rec.run[j];
			end = r->path->n - 1;
		}
		scan_run(c, r, end);
	}
	for (; ne; ne--)
		effect(c, &c->rec.effect[ne - 1]);
	return 0;
}

/* Executions of each statement up to the end of the window that was recorded */
static int
count(struct scan *c, size_t k)
{
	uint64_t last = 0;

	if (!c->s->fn)
		return 0;
	free(c->next);
	c->next = NULL;
	if (query_counts(c->q, k, &c->next) != 0)
		return -1;
	for (const struct qrun *r = c->rec.run; r < c->rec.run + c->rec.nrun; r++) {
		if (r->path->id && r->n > last)
			for (uint32_t i = 0; i < r->path->n; i++)
				c->next[r->path->id[i] - 1]++;
		last = r->n + r->path->n - 1;
	}
	return 0;
}

int
query_backward(struct query *q, struct query_slice *s)
{
	struct scan c = { .q = q, .s = s, .rec.q = q };
	int bad = byteset_init(&c.mem) != 0 ? query_nomem(q) : 0;
	uint64_t end = s->n;

	query_member(q, s->n);
	for (size_t k = query_window(q, s->n) + 1; k-- > 0 && !bad && !c.enough;) {
		bad = qrec_window(&c.rec, k, end, !(s->how & QUERY_DATA)) != 0 || count(&c, k) != 0 || scan_window(&c) != 0;
		end = q->win[k].n - 1;
	}
	byteset_free(&c.mem);
	qrec_free(&c.rec);
	free(c.next);
	free(c.ref);
	return bad ? -1 : 0;
}
