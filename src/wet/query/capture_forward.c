/*
 * Queries of a capture: forward slices, in one replay from the criterion on.  A
 * register or byte of memory is tainted if an instance of the slice wrote it
 * last; an instance that uses a tainted one belongs to the slice.
 */
#include <stdlib.h>
#include <string.h>

#include "wet/model/byteset.h"
#include "wet/query/capture_window_internal.h"

struct spread {
	struct query *q;
	struct qcap *cap;
	struct query_slice *s;
	struct byteset mem;
	struct qlanes taint;
	/* executions of each statement so far; owned; NULL: only counts of the slice are wanted */
	uint64_t *next;
	uint64_t last;                  /* the last position */
	int control, enough, nomem;
	/* QUERY_STEP: only the criterion taints, and who uses that is reported, but is no member */
	int step;
	uint32_t of;                    /* the statement of the criterion; 0: it was not reached yet */
	uint64_t ofinstance;
	uint32_t *port;                 /* ports by which the current instance depends on it; owned */
	size_t nport, capport;
	/* the last instance, if its instruction is dynamic, since another part of it may follow; or NULL */
	const struct qinsn *dynamic;
	int in;                         /* it is in the slice */
	uint64_t n, val[64], *ref;      /* its position, value so far, references so far; ref owned */
	size_t nref, capref;
};

static inline void
taint_define(struct spread *c, const struct qinsn *k, int in)
{
	if (in) {
		c->taint.w[0] |= k->def;
		for (unsigned i = 1; k->wide && i < QLANES; i++)
			c->taint.w[i] |= k->wide->def.w[i];
	} else {
		c->taint.w[0] &= ~k->def;
		for (unsigned i = 1; k->wide && i < QLANES; i++)
			c->taint.w[i] &= ~k->wide->def.w[i];
	}
}

static inline int
taint_uses(const struct spread *c, const struct qinsn *k)
{
	return (k->use & c->taint.w[0]) != 0 || (k->wide && lanes_meet(&k->wide->use, &c->taint));
}

static void
taint_store(struct spread *c, const uint64_t *ref, size_t nref, int in)
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
taint_load(const struct spread *c, const uint64_t *ref, size_t nref)
{
	if (c->mem.n && !(c->s->flags & QUERY_CONTROL))
		for (size_t i = 0; i < nref; i++)
			if (visit_reads(ref[i]) && byteset_has(&c->mem, ref_addr(ref[i]), ref_size(ref[i])))
				return 1;
	return 0;
}

static void
taint_report_member(struct spread *c, const struct qinsn *k, uint64_t n, const uint64_t *val,
    const uint64_t *ref, size_t nref)
{
	struct query_insn e = {
		.id = k->id, .instance = c->next[k->id - 1] - 1, .n = n, .ref = ref, .nref = nref
	};

	c->enough |= qcap_report(c->q, c->s, &e, val);
}

/* The instance that is looked at depends on the criterion by this port. */
static void
taint_port(struct spread *c, uint32_t port)
{
	for (size_t i = 0; i < c->nport; i++)
		if (c->port[i] == port)
			return;
	if (buf_grow(&c->port, &c->capport, c->nport + 1, sizeof *c->port) != 0)
		c->nomem = 1;
	else
		c->port[c->nport++] = port;
}

/* QUERY_STEP: notes the ports by which an instance uses what is tainted.  in: its parent is a member */
static void
taint_ports(struct spread *c, const struct fact *f, const struct wport *port, const uint64_t *ref,
    size_t nref, int in)
{
	uint32_t read = 0;

	if (in)
		taint_port(c, 0);
	for (unsigned i = 0; i < f->nuse; i++) {
		struct qlanes use = { 0 };

		lanes_add(&use, f->use[i].reg, f->use[i].lanes);
		if (qcap_follows(c->s->flags, f, i, port) && lanes_meet(&use, &c->taint))
			taint_port(c, i + 1);
	}
	for (size_t i = 0; i < nref; i++) {
		if (!visit_reads(ref[i]))
			continue;
		if (taint_load(c, &ref[i], 1))
			taint_port(c, f->nuse + 1u + (port->any ? 0 : read));
		read++;
	}
}

/* Reports the instance of statement id with the ports that were noted, and forgets them. */
static void
taint_report_ports(struct spread *c, const struct qinsn *k, uint64_t n, const uint64_t *val,
    const uint64_t *ref, size_t nref)
{
	struct query_edge d = {
		.id = k->id, .instance = c->next[k->id - 1] - 1,
		.on = c->of, .oninstance = c->ofinstance, .onn = c->s->n
	};

	if (!c->nport)
		return;
	for (size_t i = 0; i < c->nport; i++) {
		d.port = c->port[i];
		c->s->edge(c->s->arg, &d);
	}
	c->nport = 0;
	taint_report_member(c, k, n, val, ref, nref);
}

/* The criterion was reached. */
static void
taint_begin(struct spread *c, const struct qinsn *k)
{
	c->of = k->id;
	c->ofinstance = c->next ? c->next[k->id - 1] - 1 : 0;
}

/* The dynamic instance is complete: reports it if it is in the slice. */
static void
taint_end_dynamic(struct spread *c)
{
	if (c->dynamic && c->step && c->n != c->s->n)
		taint_report_ports(c, c->dynamic, c->n, c->val, c->ref, c->nref);
	else if (c->dynamic && c->in && c->next)
		taint_report_member(c, c->dynamic, c->n, c->val, c->ref, c->nref);
	c->dynamic = NULL;
}

/* QUERY_STEP: the ports of a dynamic instance.  What one element writes, the next one may read. */
static void
taint_parts(struct spread *c, const struct visit_insn *e, const uint64_t *ref, int in)
{
	const struct wport *port = &c->q->stmt[c->dynamic->id - 1].port;

	if (!port->any)
		taint_ports(c, e->fact, port, ref, e->nref, in);
	else
		taint_ports(c, e->fact, port, NULL, 0, in);
	for (uint32_t i = 0; i < e->nref; i++) {
		if (port->any && visit_reads(ref[i]) && taint_load(c, &ref[i], 1))
			taint_port(c, e->fact->nuse + 1u);
		taint_store(c, &ref[i], 1, 0);
	}
}

/*
 * An instance of a dynamic instruction, or a part of one.  When it turns out to be in the slice,
 * what it stored before becomes tainted, too.  1: it was not in the slice before
 */
static int
taint_dynamic(struct spread *c, const struct qinsn *k, const struct visit_insn *e,
    const struct visit_batch *b, int in)
{
	const uint64_t *ref = b->word + e->ref;
	uint32_t words = e->fact->nval;
	int was, first = 0;

	if (!c->dynamic || c->n != e->n) {
		taint_end_dynamic(c);
		c->dynamic = k;
		c->n = e->n;
		c->nref = 0;
		c->in = 0;
		first = 1;
	}
	if (buf_grow(&c->ref, &c->capref, c->nref + e->nref + 1, sizeof *c->ref) < 0) {
		c->nomem = 1;
		return 0;
	}
	memcpy(c->ref + c->nref, ref, e->nref * sizeof *ref);
	memcpy(c->val, b->word + e->val, (words < 64 ? words : 64) * sizeof *c->val);
	if (c->step && e->n != c->s->n) {
		taint_parts(c, e, ref, in && first);
		c->nref += e->nref;
		taint_define(c, k, 0);
		return 0;
	}
	in |= taint_uses(c, k);
	was = c->in;
	for (uint32_t i = 0; i < e->nref; i++) {
		if (!in && !c->in)
			in = taint_load(c, ref + i, 1);
		if (in && !c->in) {
			c->in = 1;
			taint_store(c, c->ref, c->nref + i, 1);
		}
		taint_store(c, ref + i, 1, c->in);
	}
	c->in |= in;
	c->nref += e->nref;
	taint_define(c, k, c->in);
	return c->in && !was;
}

/* Instruction i of a run.  in: its control parent is in the slice.  Returns whether it is. */
static inline int
taint_instruction(struct spread *c, const struct qinsn *k, const struct visit_run *r, uint32_t i,
    const struct visit_batch *b, int in)
{
	const uint64_t *word = b->word + r->word, *ref = word + k->ref;
	uint64_t n = r->n + i;
	int decided = in;

	in |= n == c->s->n;
	if (c->next && n > c->last)
		c->next[k->id - 1]++;
	if (n == c->s->n && !c->of)
		taint_begin(c, k);
	if (n < c->s->n)
		return 0;
	if (k->dynamic) {
		struct visit_insn e = visit_insn(r, i);

		return taint_dynamic(c, k, &e, b, in);
	}
	taint_end_dynamic(c);
	in = in || taint_uses(c, k) || (k->nref && taint_load(c, ref, k->nref));
	if (c->step && in && n != c->s->n) {
		taint_ports(c, r->at[i].fact, &c->q->stmt[k->id - 1].port, ref, k->nref, decided);
		taint_report_ports(c, k, n, word + r->at[i].val, ref, k->nref);
		in = 0;
	}
	taint_define(c, k, in);
	taint_store(c, ref, k->nref, in);
	if (in && c->next)
		taint_report_member(c, k, n, word + r->at[i].val, ref, k->nref);
	return in;
}

static void
taint_signal(struct spread *c, const struct visit_run *r, const struct qpath *p)
{
	int in = r->n > c->s->n && query_in_slice(c->q, r->n - 1);

	if (in)
		query_set_in_slice(c->q, r->n);
	for (unsigned i = 0; i < QLANES; i++)
		c->taint.w[i] = in ? c->taint.w[i] | p->all.def.w[i] : c->taint.w[i] & ~p->all.def.w[i];
}

/* Effects of the records in a batch, in order; each is applied after the runs before it. */
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
	k = qrec_effects(rec, n, t->e + t->n);
	for (unsigned i = 0; i < k; i++)
		t->e[t->n++].run = run;
}

static void
taint_effect(struct spread *c, const struct qeffect *e)
{
	struct qlanes reg = { 0 }, none = { 0 };
	int in = e->n >= c->s->n && query_in_slice(c->q, e->n);

	switch (e->kind) {
	case QEFFECT_MOVE: byteset_move(&c->mem, e->addr, e->to, e->len); break;
	case QEFFECT_GONE: byteset_clear(&c->mem, e->addr, e->len); break;
	case QEFFECT_WRITE:
		byteset_clear(&c->mem, e->addr, e->len);
		if (in)
			byteset_set(&c->mem, e->addr, e->len);
		break;
	default:
		lanes_add(&reg, e->kind == QEFFECT_FSBASE ? FACT_FSBASE : FACT_GSBASE, 1);
		lanes_replace(&c->taint, &reg, in ? &reg : &none);
	}
}

/*
 * 1: no instance of a run uses a tainted register or byte; what the run writes is not tainted any
 * more.
 */
static inline int
taint_skips(struct spread *c, const struct qpath *p, const uint64_t *word)
{
	if (lanes_meet(&p->all.use, &c->taint))
		return 0;
	for (uint32_t x = 0; c->mem.n && x < p->nref; x++) {
		uint64_t ref = word[p->ref[x]];

		if (visit_reads(ref) && byteset_has(&c->mem, ref_addr(ref), ref_size(ref)))
			return 0;
	}
	for (unsigned i = 0; i < QLANES; i++)
		c->taint.w[i] &= ~p->all.def.w[i];
	for (uint32_t x = 0; c->mem.n && x < p->nref; x++)
		if (visit_writes(word[p->ref[x]]))
			byteset_take(&c->mem, ref_addr(word[p->ref[x]]), ref_size(word[p->ref[x]]));
	return 1;
}

/* Follows the instructions of a run.  Those in the same piece have the same parent. */
static void
spread_pieces(struct spread *c, struct qpath *p, const struct visit_run *r, const struct visit_batch *b)
{
	const uint64_t *parent = c->cap->parent;
	uint32_t npiece = c->control ? p->control->npiece : 1, i = 0;
	uint64_t mask = 0, from = r->n;
	int decided = 0;

	if (!c->next && from + p->n <= c->s->n)
		return;
	for (uint32_t k = 0; c->control && k < npiece; k++)
		decided |= parent[k] && parent[k] < from && query_in_slice(c->q, parent[k]);
	/*
	 * A parent in the run itself becomes a member only through an earlier instruction of the run,
	 * so a run without tainted uses and without an outside parent in the slice has no member.
	 */
	if (!decided && (!c->next || c->step) && !p->insn[p->n - 1].dynamic && from > c->s->n &&
	    taint_skips(c, p, b->word + r->word)) {
		taint_end_dynamic(c);
		for (uint32_t k = 0; c->next && k < p->n; k++)
			c->next[p->id[k] - 1] += from + k > c->last;
		return;
	}
	for (uint32_t k = 0; k < npiece; k++) {
		uint32_t end = c->control ? p->control->end[k] : p->n;
		int in = c->control && parent[k] && (parent[k] >= from ?
		    (int)(mask >> (parent[k] - from) & 1) : query_in_slice(c->q, parent[k]));

		for (; i < end; i++)
			mask |= (uint64_t)taint_instruction(c, &p->insn[i], r, i, b, in) << i;
	}
	if (mask) {
		query_set_in_slice_mask(c->q, from, mask);
		qcap_count_run(c->s, p, mask);
	}
}

static int
spread_run(struct spread *c, const struct visit_run *r, const struct visit_batch *b)
{
	struct qcap *cap = c->cap;
	const uint64_t *word = b->word + r->word;
	struct qpath *p;

	if ((p = qcap_path(cap, r->at, r->ninsn)) == NULL || (!p->insn && qcap_make_insns(cap, p) != 0))
		return -1;
	if (!p->id) {
		if (c->control && control_signal(cap->control, r->n, word) != 0)
			return -1;
		taint_end_dynamic(c);
		taint_signal(c, r, p);
		c->last = r->n;
		return 0;
	}
	if (c->control &&
	    (qcap_control_path(cap, p) == NULL ||
		buf_grow(&cap->parent, &cap->capparent, r->ninsn, sizeof *cap->parent) < 0 ||
		control_step(cap->control, p->control, r->n, word, cap->parent) != 0))
		return -1;
	spread_pieces(c, p, r, b);
	if (r->n + r->ninsn - 1 > c->last)
		c->last = r->n + r->ninsn - 1;
	return c->nomem ? -1 : 0;
}

/* Is the criterion, or a signal that counts as it, still a parent of what comes? */
struct parents { const struct query *q; int any; };

static void
taint_parent(void *arg, uint64_t n)
{
	struct parents *t = arg;

	t->any |= query_in_slice(t->q, n);
}

/*
 * QUERY_STEP: can nothing depend on the criterion any more?  What a signal writes counts as written by
 * the instance before it, so the last one has to be another.
 */
static int
taint_over(struct spread *c)
{
	struct qlanes none = { 0 };
	struct parents t = { .q = c->q };

	if (!c->step || !c->of || c->last <= c->s->n || query_in_slice(c->q, c->last) || c->dynamic ||
	    c->mem.n || memcmp(&c->taint, &none, sizeof none) != 0)
		return 0;
	if (!c->control)
		return 1;
	control_parents(c->cap->control, taint_parent, &t);
	return !t.any;
}

static int
taint_walk(struct spread *c, uint64_t from)
{
	struct qcap *cap = c->cap;
	struct effects e = { .c = c };
	struct visit_batch b;
	int got = qcap_seek(cap, from), bad = 0;

	visit_set_record_fn(cap->trace, on_record, &e);
	while (got == 1 && !bad && !c->enough && (got = qcap_next_batch(cap, &b)) == 1) {
		e.done = 0;
		for (size_t i = 0; i <= b.nrun && !bad; i++) {
			for (; e.done < e.n && e.e[e.done].run <= i; e.done++)
				taint_effect(c, &e.e[e.done]);
			if (i < b.nrun && !c->enough)
				bad = spread_run(c, &b.run[i], &b) != 0;
		}
		e.n = 0;
		c->enough |= taint_over(c);
	}
	taint_end_dynamic(c);
	visit_set_record_fn(cap->trace, NULL, NULL);
	free(e.e);
	return bad || got < 0 ? -1 : 0;
}

int
qcap_slice_forward(struct qcap *cap, struct query_slice *s)
{
	struct spread c = { .q = cap->q, .cap = cap, .s = s, .control = !(s->flags & QUERY_DATA) };
	size_t k = qcap_find_window(cap, s->n);
	int bad = byteset_init(&c.mem) != 0;

	c.step = (s->flags & QUERY_STEP) != 0;
	c.last = cap->win[k].n - 1;
	bad = bad || qcap_open_trace(cap, 0) != 0 || (s->fn && qcap_counts_before(cap, k, &c.next) != 0) ||
	    (c.control && qcap_load_control(cap, k) != 0) || taint_walk(&c, cap->win[k].n) != 0;
	qcap_flush_counts(cap, s);
	byteset_free(&c.mem);
	free(c.next);
	free(c.ref);
	free(c.port);
	return bad ? -1 : 0;
}
