/*
 * Queries of a capture: backward slices.  Windows are replayed and recorded,
 * the last one first, and each is read from its end.  A register or byte of
 * memory is live if its next use is by an instance of the slice; an instance
 * that writes a live one belongs to the slice.
 */
#include <stdlib.h>
#include <string.h>

#include "wet/query/capture_edges_internal.h"
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
	struct qedges *edges;           /* NULL: not wanted */
	uint64_t parent;                /* control parent of the piece that is read */
	struct qpath **passed;          /* paths of runs that were passed over; owned */
	size_t npassed, cappassed;
	int control, enough, nomem;
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


/* An instance that the scan reached; ref: all of its references */
static struct qfound
backward_found(const struct scan *c, const struct fact *f, uint32_t id, uint64_t n, const uint64_t *ref,
    size_t nref)
{
	return (struct qfound){
		.fact = f, .n = n, .instance = c->next[id - 1], .id = id, .ref = ref, .nref = nref
	};
}

/* With edges: does this instance belong to the slice, or is it only depended on? */
static int
backward_joins(struct scan *c, const struct qfound *e)
{
	int follow = qedges_found(c->edges, e);

	c->nomem |= follow < 0;
	c->enough |= follow <= 0 && !c->edges->left;
	return follow > 0;
}

/* With QUERY_ADDRESS, the registers that the criterion's addresses are formed from are live, too. */
static void
backward_addresses(struct scan *c, const struct qfound *f)
{
	const struct wport *port = &c->q->stmt[f->id - 1].port;
	unsigned flags = qcap_flags_of(c->s, f->n);

	for (unsigned i = 0; flags != c->s->flags && i < f->fact->nuse; i++)
		if (qcap_follows(flags, f->fact, i, port))
			lanes_add(&c->live, f->fact->use[i].reg, f->fact->use[i].lanes);
}

static void
backward_report_member(struct scan *c, const struct qfound *f, const uint64_t *val)
{
	struct query_insn e = {
		.id = f->id, .instance = f->instance, .n = f->n, .ref = f->ref, .nref = f->nref
	};

	c->enough |= qcap_report(c->q, c->s, &e, val);
	if (!c->edges)
		return;
	backward_addresses(c, f);
	c->nomem |= qedges_follow(c->edges, f, &c->q->stmt[f->id - 1].port, c->parent) != 0;
	c->enough |= !c->edges->left;
}

/* The registers that a leaf defines are no longer live. */
static void
backward_drop(struct scan *c, const struct qinsn *k)
{
	const struct qlanes none = { 0 };

	if (k->wide)
		lanes_replace(&c->live, &k->wide->def, &none);
	else
		c->live.w[0] &= ~k->def;
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
		if (visit_reads(ref[nref]) && !(c->s->flags & QUERY_CONTROL))
			byteset_add(&c->mem, ref_addr(ref[nref]), ref_size(ref[nref]));
	}
}

/* Passes over a run of all of a path: its statements are counted later. */
static int
backward_pass(struct scan *c, struct qpath *p)
{
	if (p->count++ == 0) {
		if (buf_grow(&c->passed, &c->cappassed, c->npassed + 1, sizeof(struct qpath *)) != 0)
			return -1;
		c->passed[c->npassed++] = p;
	}
	return 0;
}

/* Counts what was passed over, so that c->next is exact. */
static inline void
backward_count_passed(struct scan *c)
{
	while (c->npassed) {
		struct qpath *p = c->passed[--c->npassed];

		for (uint32_t i = 0; i < p->n; i++)
			c->next[p->id[i] - 1] -= p->count;
		p->count = 0;
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
	struct qfound found;
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
	if (c->next) {
		backward_count_passed(c);
		c->next[k->id - 1]--;
	}
	if (!in)
		return 0;
	if (c->next)
		found = backward_found(c, e.fact, k->id, n, c->ref, nref);
	if (c->edges && !backward_joins(c, &found)) {
		backward_drop(c, k);
		for (size_t i = 0; i < nref; i++)
			if (visit_writes(c->ref[i]))
				byteset_take(&c->mem, ref_addr(c->ref[i]), ref_size(c->ref[i]));
		query_drop_from_slice(c->q, n);
		return 0;
	}
	backward_replace_live(c, k);
	query_set_in_slice(c->q, n);
	backward_elements(c, c->ref, nref);
	if (c->next)
		backward_report_member(c, &found, val);
	return 0;
}

#define INLINE static inline __attribute__((always_inline))

/* 1: no instance of a run can be in the slice: none is a member yet, and nothing live is defined. */
INLINE int
backward_skips(const struct scan *c, const struct qpath *p, const uint64_t *word, uint64_t mask, int brief)
{
	if (mask || lanes_meet(&p->all.def, &c->live))
		return 0;
	if (c->mem.n)
		for (uint32_t x = 0; x < p->nref; x++) {
			uint64_t ref = word[brief ? x : p->ref[x]];

			if (visit_writes(ref) && byteset_has(&c->mem, ref_addr(ref), ref_size(ref)))
				return 0;
		}
	return 1;
}

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
		struct qfound found;
		int in = (mask >> i & 1) | backward_defines_live(c, k);

		if (!brief)
			c->next[k->id - 1]--;
		if (k->stores)
			for (uint32_t x = 0; x < k->nref; x++)
				if (visit_writes(ref[x]))
					in |= byteset_take(&c->mem, ref_addr(ref[x]), ref_size(ref[x]));
		if (!in)
			continue;
		if (!brief)
			found = backward_found(c, p->at[i].fact, k->id, n + i, ref, k->nref);
		if (!brief && c->edges && !backward_joins(c, &found)) {
			backward_drop(c, k);
			mask &= ~(UINT64_C(1) << i);
			continue;
		}
		mask |= UINT64_C(1) << i;
		backward_replace_live(c, k);
		if (k->loads)
			for (uint32_t x = 0; x < k->nref; x++)
				if (visit_reads(ref[x]))
					byteset_add(&c->mem, ref_addr(ref[x]), ref_size(ref[x]));
		if (!brief)
			backward_report_member(c, &found, word + p->at[i].val);
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

	if (backward_skips(c, p, word, mask, brief) && (brief || end == p->n)) {
		if (!brief)
			c->nomem |= backward_pass(c, p) != 0;
		return;
	}
	if (!brief)
		backward_count_passed(c);
	if (!c->control)
		mask = scan_piece(c, p, word, n, 0, end, mask, brief);
	else
		for (uint32_t i = p->control->npiece; i-- > 0;) {
			uint32_t to = p->control->end[i], from = i ? p->control->end[i - 1] : 0;

			c->parent = c->rec.parent[r->piece + i];
			mask = scan_piece(c, p, word, n, from, to < end ? to : end, mask, brief);
			if (mask >> from << from << (63 - (to - 1)) && !(c->s->flags & QUERY_PARENTS))
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
	if (in && c->edges)
		c->nomem |= qedges_signal(c->edges, r->path->at->fact, n) != 0;
}

static int
backward_effect_edges(struct qedges *g, const struct qeffect *e)
{
	switch (e->kind) {
	case QEFFECT_GONE: return qedges_written(g, e->addr, e->len, 0);
	case QEFFECT_MOVE: return qedges_moved(g, e->addr, e->to, e->len);
	case QEFFECT_WRITE: return qedges_written(g, e->addr, e->len, e->n);
	default: return qedges_register(g, e->kind == QEFFECT_FSBASE ? FACT_FSBASE : FACT_GSBASE, e->n);
	}
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
	if (c->edges)
		c->nomem |= backward_effect_edges(c->edges, e) != 0;
}

static int
scan_window(struct scan *c)
{
	size_t ne = c->rec.neffect;

	for (size_t j = c->rec.nrun; j-- > 0 && !c->enough && !c->nomem;) {
		const struct qrun *r = &c->rec.run[j];
		uint32_t end = r->path->n;

		for (; ne && c->rec.effect[ne - 1].run > j; ne--)
			backward_effect(c, &c->rec.effect[ne - 1]);
		if (!r->path->id) {
			scan_signal(c, r);
			continue;
		}
		c->parent = c->control && c->edges ? c->rec.parent[r->piece + r->path->control->npiece - 1] :
		    0;
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
	return c->nomem ? -1 : 0;
}

/* Sets c->next to the executions of each statement up to the end of the window that was recorded. */
static int
backward_count_window(struct scan *c, size_t k)
{
	uint64_t last = 0;

	if (!c->s->fn)
		return 0;
	if (c->next)
		backward_count_passed(c);
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

/*
 * Reads windows, the last one first, from position `end` on, in groups; but first the one with `end`
 * alone, as what is asked is often near.  len: these bytes are live there
 */
static int
backward_windows(struct scan *c, uint64_t end, uint64_t addr, uint64_t len)
{
	struct qcap *cap = c->cap;
	uint64_t all = end;
	int bad = byteset_init(&c->mem) != 0;

	if (!bad && len)
		byteset_set(&c->mem, addr, len);
	if (c->edges)
		c->control |= (c->s->flags & QUERY_PARENTS) != 0;
	for (size_t last = qcap_find_window(cap, end), k = last + 1; k-- > 0 && !bad && !c->enough;) {
		if (k < last)
			k = qcap_group_start(cap, k);
		progress_piece(cap->win[k].n, all - end, all);
		bad = qrec_window(&c->rec, k, end, c->control) != 0 || backward_count_window(c, k) != 0 ||
		    scan_window(c) != 0;
		end = cap->win[k].n - 1;
	}
	byteset_free(&c->mem);
	qrec_free(&c->rec);
	for (size_t i = 0; i < c->npassed; i++)
		c->passed[i]->count = 0;
	free(c->passed);
	free(c->next);
	free(c->ref);
	return bad ? -1 : 0;
}

int
qcap_slice_backward(struct qcap *cap, struct query_slice *s)
{
	struct scan c = {
		.q = cap->q, .cap = cap, .s = s, .rec = { .cap = cap, .brief = !s->fn },
		.control = !(s->flags & QUERY_DATA)
	};
	int bad;

	if (s->edge && (c.edges = malloc(sizeof *c.edges)) == NULL)
		return -1;
	if (c.edges)
		qedges_init(c.edges, s);
	query_set_in_slice(c.q, s->n);
	bad = backward_windows(&c, s->n, 0, 0);
	qcap_flush_counts(cap, s);
	if (c.edges)
		qedges_free(c.edges);
	free(c.edges);
	return bad;
}

static int
backward_none(void *arg, const struct query_insn *e)
{
	(void)arg;
	(void)e;
	return 0;
}

/* The first writer that the scan reaches is the last one. */
static void
backward_writer(void *arg, const struct query_edge *d)
{
	struct query_edge *e = arg;

	if (!e->on)
		*e = *d;
}

int
qcap_writer(struct query *q, uint64_t n, uint64_t addr, uint64_t len, struct query_edge *e)
{
	struct query_slice s = { .flags = QUERY_DATA, .fn = backward_none, .edge = backward_writer, .arg =
	    e };
	struct scan c = {
		.q = q, .cap = q->cap, .s = &s, .rec = { .cap = q->cap }, .edges = malloc(sizeof *c.edges)
	};
	int bad = !c.edges || (s.count = calloc(q->nstmt + 1, sizeof *s.count)) == NULL ||
	    qcap_slice_begin(q, &s) != 0;

	*e = (struct query_edge){ 0 };
	if (!bad) {
		qedges_init(c.edges, &s);
		bad = (len ? qedges_bytes(c.edges, addr, len) : qedges_lanes(c.edges, (unsigned)addr)) != 0;
	}
	if (!bad && !len)
		lanes_add(&c.live, (unsigned)addr, fact_lanes((unsigned)addr));
	if (!bad && n > 1)
		bad = backward_windows(&c, n - 1, addr, len) != 0;
	qcap_flush_counts(q->cap, &s);
	free(s.count);
	if (c.edges)
		qedges_free(c.edges);
	free(c.edges);
	return bad ? -1 : e->on != 0;
}
