/*
 * Queries of a capture: backward slices.  Windows are replayed and recorded,
 * the last one first, and each is read from its end.  A register or byte of
 * memory is live if its next use is by an instance of the slice; an instance
 * that writes a live one belongs to the slice.
 */
#include <stdlib.h>
#include <string.h>

#include "wet/model/byteset.h"
#include "wet/query/capture_window_internal.h"

struct scan {
	struct query *q;
	struct qcap *cap;
	struct query_slice *s;
	struct qrec rec;
	struct byteset mem;
	struct qlanes live;
	/* executions of each statement up to here; owned; NULL: only counts of the slice are wanted */
	uint64_t *next;
	uint64_t *ref;                  /* references of a dynamic instruction; owned */
	size_t capref;
	int control, enough;
};

/* Does the instruction define a register that is live? */
static inline int
backward_defines_live(const struct scan *c, const struct qinsn *k)
{
	return (k->def & c->live.w[0]) != 0 || (k->wide && lanes_meet(&k->wide->def, &c->live));
}

/* The instruction belongs to the slice: registers that it uses are live, those that it defines are not. */
static inline void
backward_replace_live(struct scan *c, const struct qinsn *k)
{
	if (k->wide)
		lanes_replace(&c->live, &k->wide->def, &k->wide->use);
	else
		c->live.w[0] = (c->live.w[0] & ~k->def) | k->use;
}

/*
 * Adds the control parent of a piece to the slice.  If it is one of the 64 instances from n on, it
 * is added to mask, which is returned; else to the set.
 */
static inline uint64_t
backward_set_parent(struct scan *c, uint64_t parent, uint64_t n, uint64_t mask)
{
	if (parent >= n)
		return mask | UINT64_C(1) << (parent - n);
	if (parent)
		query_set_in_slice(c->q, parent);
	return mask;
}

static void
backward_report_member(struct scan *c, const struct qinsn *k, uint64_t n, const uint64_t *val,
    const uint64_t *ref, size_t nref)
{
	struct query_insn e = {
		.id = k->id, .instance = c->next[k->id - 1], .n = n, .ref = ref, .nref = nref
	};

	c->enough |= qcap_report(c->q, c->s, &e, val);
}

/*
 * Follows the references of a member, the last one first: bytes that it stores are no longer live,
 * bytes that it loads are live.
 */
static void
backward_elements(struct scan *c, const uint64_t *ref, size_t nref)
{
	while (nref-- > 0) {
		if (visit_writes(ref[nref]))
			byteset_take(&c->mem, ref_addr(ref[nref]), ref_size(ref[nref]));
		if (visit_reads(ref[nref]))
			byteset_add(&c->mem, ref_addr(ref[nref]), ref_size(ref[nref]));
	}
}

/*
 * The last instruction of run j if it is dynamic.  A string instruction may
 * have several parts, each at the end of a run, of which this is the last.
 * Sets *first to the run of the first part.
 */
static int
backward_dynamic(struct scan *c, size_t j, size_t *first)
{
	const struct qrun *r = &c->rec.run[j];
	uint64_t n = c->rec.from + r->n + r->path->n - 1;
	const struct qinsn *k = &r->path->insn[r->path->n - 1];
	struct visit_insn e = qrec_insn(r, r->path->n - 1);
	const uint64_t *val = c->rec.word + r->word + e.val;
	size_t nref = 0;
	int in = query_in_slice(c->q, n);

	while (j > 0 && c->rec.from + r[-1].n + r[-1].path->n - 1 == n) {
		j--;
		r--;
	}
	*first = j;
	for (;; j++, r++) {
		e = qrec_insn(r, r->path->n - 1);
		if (buf_grow(&c->ref, &c->capref, nref + e.nref + 1, sizeof *c->ref) < 0)
			return -1;
		memcpy(c->ref + nref, c->rec.word + r->word + (c->next ? e.ref : r->path->nref),
		    e.nref * sizeof *c->ref);
		nref += e.nref;
		if (j + 1 == c->rec.nrun || c->rec.from + r[1].n != n)
			break;
	}
	in |= backward_defines_live(c, k);
	for (size_t i = 0; i < nref && !in; i++)
		in = visit_writes(c->ref[i]) &&
		    byteset_has(&c->mem, ref_addr(c->ref[i]), ref_size(c->ref[i]));
	if (c->next)
		c->next[k->id - 1]--;
	if (!in)
		return 0;
	backward_replace_live(c, k);
	query_set_in_slice(c->q, n);
	backward_elements(c, c->ref, nref);
	if (c->next)
		backward_report_member(c, k, n, val, c->ref, nref);
	return 0;
}

/* 1: no instance of a run can be in the slice: none is a member yet, and nothing live is defined. */
static inline int
backward_skips(const struct scan *c, const struct qpath *p, const uint64_t *ref, uint64_t mask)
{
	if (mask || lanes_meet(&p->all.def, &c->live))
		return 0;
	if (c->mem.n)
		for (uint32_t x = 0; x < p->nref; x++)
			if (visit_writes(ref[x]) && byteset_has(&c->mem, ref_addr(ref[x]), ref_size(ref[x])))
				return 0;
	return 1;
}

#define INLINE static inline __attribute__((always_inline))

/*
 * Reads instructions [from, end) of a run, the last one first.  mask: those that are members
 * already; returns it with those that become members.  brief: members are not reported.
 */
INLINE uint64_t
scan_piece(struct scan *c, const struct qpath *p, const uint64_t *word, uint64_t n, uint32_t from,
    uint32_t end, uint64_t mask, int brief)
{
	for (uint32_t i = end; i-- > from;) {
		const struct qinsn *k = &p->insn[i];
		const uint64_t *ref = word + (brief ? k->brief : k->ref);
		int in = (mask >> i & 1) | backward_defines_live(c, k);

		if (!brief)
			c->next[k->id - 1]--;
		if (k->stores)
			for (uint32_t x = 0; x < k->nref; x++)
				if (visit_writes(ref[x]))
					in |= byteset_take(&c->mem, ref_addr(ref[x]), ref_size(ref[x]));
		if (!in)
			continue;
		mask |= UINT64_C(1) << i;
		backward_replace_live(c, k);
		if (k->loads)
			for (uint32_t x = 0; x < k->nref; x++)
				if (visit_reads(ref[x]))
					byteset_add(&c->mem, ref_addr(ref[x]), ref_size(ref[x]));
		if (!brief)
			backward_report_member(c, k, n + i, word + p->at[i].val, ref, k->nref);
	}
	return mask;
}

/* Reads the first `end` instructions of a run, the last one first. */
INLINE void
scan_run(struct scan *c, const struct qrun *r, uint32_t end, int brief)
{
	struct qpath *p = r->path;
	uint64_t n = c->rec.from + r->n, all = ~UINT64_C(0) >> (64 - p->n);
	uint64_t was = query_in_slice_mask(c->q, n) & all, mask = was;
	const uint64_t *word = c->rec.word + r->word;

	if (brief && backward_skips(c, p, word, mask))
		return;
	if (!c->control)
		mask = scan_piece(c, p, word, n, 0, end, mask, brief);
	else
		for (uint32_t i = p->control->npiece; i-- > 0;) {
			uint32_t to = p->control->end[i], from = i ? p->control->end[i - 1] : 0;

			mask = scan_piece(c, p, word, n, from, to < end ? to : end, mask, brief);
			if (mask >> from << from << (63 - (to - 1)))
				mask = backward_set_parent(c, c->rec.parent[r->piece + i], n, mask);
		}
	if (mask != was)
		query_set_in_slice_mask(c->q, n, mask);
	qcap_count_run(c->s, p, mask);
}

/* What a signal writes counts as written by the instance before it. */
static void
scan_signal(struct scan *c, const struct qrun *r)
{
	uint64_t n = c->rec.from + r->n;
	const struct qlanes none = { 0 };
	int in = query_in_slice(c->q, n) || lanes_meet(&r->path->all.def, &c->live);

	lanes_replace(&c->live, &r->path->all.def, &none);
	if (in && n > 1)
		query_set_in_slice(c->q, n - 1);
}

static void
backward_effect(struct scan *c, const struct qeffect *e)
{
	const struct qlanes none = { 0 };
	struct qlanes reg = { 0 };
	int in = 0;

	switch (e->kind) {
	case QEFFECT_GONE: byteset_clear(&c->mem, e->addr, e->len); break;
	case QEFFECT_MOVE: byteset_move(&c->mem, e->to, e->addr, e->len); break;
	case QEFFECT_WRITE: in = byteset_clear(&c->mem, e->addr, e->len) != 0; break;
	default:
		lanes_add(&reg, e->kind == QEFFECT_FSBASE ? FACT_FSBASE : FACT_GSBASE, 1);
		in = lanes_meet(&reg, &c->live);
		lanes_replace(&c->live, &reg, &none);
	}
	if (in && e->n)
		query_set_in_slice(c->q, e->n);
}

static int
scan_window(struct scan *c)
{
	size_t ne = c->rec.neffect;

	for (size_t j = c->rec.nrun; j-- > 0 && !c->enough;) {
		const struct qrun *r = &c->rec.run[j];
		uint32_t end = r->path->n;

		for (; ne && c->rec.effect[ne - 1].run > j; ne--)
			backward_effect(c, &c->rec.effect[ne - 1]);
		if (!r->path->id) {
			scan_signal(c, r);
			continue;
		}
		if (r->path->insn[end - 1].dynamic) {
			if (backward_dynamic(c, j, &j) != 0)
				return -1;
			r = &c->rec.run[j];
			end = r->path->n - 1;
		}
		if (c->next)
			scan_run(c, r, end, 0);
		else
			scan_run(c, r, end, 1);
	}
	for (; ne; ne--)
		backward_effect(c, &c->rec.effect[ne - 1]);
	return 0;
}

/* Sets c->next to the executions of each statement up to the end of the window that was recorded. */
static int
backward_count_window(struct scan *c, size_t k)
{
	uint64_t last = 0;

	if (!c->s->fn)
		return 0;
	free(c->next);
	c->next = NULL;
	if (qcap_counts_before(c->cap, k, &c->next) != 0)
		return -1;
	for (const struct qrun *r = c->rec.run; r < c->rec.run + c->rec.nrun; r++) {
		uint64_t n = c->rec.from + r->n;

		if (r->path->id && n > last)
			for (uint32_t i = 0; i < r->path->n; i++)
				c->next[r->path->id[i] - 1]++;
		last = n + r->path->n - 1;
	}
	return 0;
}

int
qcap_slice_backward(struct qcap *cap, struct query_slice *s)
{
	struct scan c = {
		.q = cap->q, .cap = cap, .s = s, .rec = { .cap = cap, .brief = !s->fn },
		.control = !(s->flags & QUERY_DATA)
	};
	int bad = byteset_init(&c.mem) != 0;
	uint64_t end = s->n;

	query_set_in_slice(c.q, s->n);
	for (size_t k = qcap_find_window(cap, s->n) + 1; k-- > 0 && !bad && !c.enough;) {
		k = qcap_group_start(cap, k);
		progress_piece(cap->win[k].n, s->n - end, s->n);
		bad = qrec_window(&c.rec, k, end, c.control) != 0 || backward_count_window(&c, k) != 0 ||
		    scan_window(&c) != 0;
		end = cap->win[k].n - 1;
	}
	qcap_flush_counts(cap, s);
	byteset_free(&c.mem);
	qrec_free(&c.rec);
	free(c.next);
	free(c.ref);
	return bad ? -1 : 0;
}
