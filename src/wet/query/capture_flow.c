/* Queries of a capture: control flow, forward and backward, and the instances of one statement. */
#include <stdlib.h>
#include <string.h>

#include "wet/query/capture_internal.h"

/* Groups of windows whose paths are read at a time: paths take little memory, seeking takes time. */
#define TOGETHER 16u

/* Hands over instructions [from, to) of a path.  1: fn wants no more */
static int
flow_emit_path(struct qflow *f, const struct qpath *p, uint32_t from, uint32_t to, int backward)
{
	return query_emit_path(f,
	    (struct query_path){ .id = p->id, .n = p->n, .path = p->number, .from = from, .to = to },
	    backward);
}

static int
flow_forward(struct qflow *f, uint64_t from)
{
	struct qcap *cap = f->q->cap;
	struct visit_batch b;
	uint64_t last = from - 1;
	int got = qcap_seek(cap, from);

	while (got == 1 && (got = qcap_next_batch(cap, &b)) == 1)
		for (const struct visit_run *r = b.run; r < b.run + b.nrun; r++) {
			const struct qpath *p;

			if (r->n <= last || r->at->fact->kind == FACT_SIGNAL)
				continue;
			last = r->n + r->ninsn - 1;
			if ((p = qcap_path(cap, r->at, r->ninsn)) == NULL)
				return -1;
			if (flow_emit_path(f, p, 0, p->n, 0))
				return 0;
		}
	return got;
}

struct trail { const struct qpath **path; size_t n, cap; };

/*
 * Reads the paths from window k up to the one that contains position `end`.  *over: how many
 * instructions of the last path are after `end`.
 */

static int
flow_read_trail(struct qflow *f, struct trail *t, size_t k, uint64_t end, uint32_t *over)
{
	struct qcap *cap = f->q->cap;
	struct visit_batch b;
	uint64_t last = cap->win[k].n - 1;
	int got = qcap_seek(cap, cap->win[k].n);

	t->n = 0;
	while (got == 1 && last < end && (got = qcap_next_batch(cap, &b)) == 1)
		for (const struct visit_run *r = b.run; r < b.run + b.nrun && last < end; r++) {
			const struct qpath *p;

			if (r->n <= last)
				continue;
			last = r->n + r->ninsn - 1;
			if (r->at->fact->kind == FACT_SIGNAL)
				continue;
			if ((p = qcap_path(cap, r->at, r->ninsn)) == NULL ||
			    (t->n == t->cap && buf_grow(&t->path, &t->cap, t->n + 1, sizeof *t->path) < 0))
				return -1;
			t->path[t->n++] = p;
		}
	*over = last > end ? (uint32_t)(last - end) : 0;
	return got < 0 ? -1 : 0;
}

static int
flow_backward(struct qflow *f, uint64_t from)
{
	struct qcap *cap = f->q->cap;
	struct trail t = { 0 };
	uint64_t end = from;
	int enough = 0, bad = 0;

	for (size_t k = qcap_find_window(cap, from) + 1; k > 0 && !enough && !bad;) {
		uint32_t over = 0;

		k -= f->left < cap->window ? 1 : k < TOGETHER * cap->group ? k : TOGETHER * cap->group;
		bad = flow_read_trail(f, &t, k, end, &over) != 0;
		for (size_t i = t.n; i-- > 0 && !enough && !bad; over = 0)
			enough = flow_emit_path(f, t.path[i], 0, t.path[i]->n - over, 1);
		end = cap->win[k].n - 1;
	}
	free(t.path);
	return bad ? -1 : 0;
}

int
qcap_flow(struct query *q, uint64_t from, uint64_t count, int back, query_path_fn *fn, void *arg)
{
	struct qcap *cap = q->cap;
	struct qflow f = { .q = q, .fn = fn, .arg = arg, .left = count };

	if (from == 0 || count == 0 || (cap->surveyed && from > q->length))
		return 0;
	if (qcap_open_trace(cap, VISIT_CONTROL) != 0)
		return -1;
	if (back && cap->nwin == 0)
		return 0;
	return back ? flow_backward(&f, from) : flow_forward(&f, from);
}

/* A query for instances of one statement */
struct insns {
	struct qcap *cap;
	const struct query_stmt *s;
	struct query_insn e;            /* the last instance */
	int held;                       /* e was not handed over yet, because another part may follow */
	uint64_t from, to;              /* the wanted instances */
	uint64_t flags, val[64];
	uint64_t *ref;                  /* owned */
	size_t capref;
};

static int
flow_is_stmt(void *arg, uint64_t pc)
{
	return ((const struct insns *)arg)->s->pc == pc;
}

/* Holds an instance.  again: a further part of it adds references and replaces the values. */
static int
flow_hold_part(struct insns *t, const struct visit_insn *i, const struct visit_batch *b, int again)
{
	const uint64_t *val;

	if (!again)
		t->e.nref = 0;
	if (buf_grow(&t->ref, &t->capref, t->e.nref + i->nref + 1, sizeof *t->ref) < 0)
		return -1;
	memcpy(t->ref + t->e.nref, b->word + i->ref, i->nref * sizeof *t->ref);
	t->e.nref += i->nref;
	t->e.ref = t->ref;
	t->e.nval = qcap_value(t->s, b->word + i->val, &val, &t->flags);
	memcpy(t->val, val, t->e.nval * sizeof *val);
	t->e.val = t->val;
	t->held = 1;
	return 0;
}

static int
flow_next_run(struct insns *t, const struct visit_run *r, const struct visit_batch *b, query_insn_fn *fn,
    void *arg)
{
	struct visit_insn i = visit_insn(r, 0);
	const struct fact *f = i.fact;
	int again = t->held && i.n == t->e.n;

	if (f->pc != t->s->pc || f->len != t->s->len || memcmp(f->b, t->s->b, f->len) != 0)
		return 0;
	if (t->held && !again) {
		t->held = 0;
		if (fn(arg, &t->e) != 0)
			return 1;
	}
	if (!again)
		t->e.instance++;
	t->e.n = i.n;
	if (t->e.instance + 1 <= t->from)
		return 0;
	if (t->e.instance > t->to)
		return 1;
	if (f->kind == FACT_STRING)
		return flow_hold_part(t, &i, b, again);
	t->e.ref = b->word + i.ref;
	t->e.nref = i.nref;
	t->e.nval = qcap_value(t->s, b->word + i.val, &t->e.val, &t->flags);
	return fn(arg, &t->e) != 0;
}

int
qcap_insns(struct query *q, uint32_t id, uint64_t from, uint64_t to, unsigned fields, query_insn_fn *fn,
    void *arg)
{
	struct qcap *cap = q->cap;
	struct query_stmt s = q->stmt[id - 1];
	struct insns t = {
		.cap = cap, .s = &s, .e = { .id = id, .instance = UINT64_MAX }, .from = from, .to = to
	};
	struct visit_batch b;
	int got, e = 0;

	(void)fields;
	if (qcap_open_trace(cap, 0) != 0 || visit_filter(cap->trace, flow_is_stmt, &t) != 0)
		return -1;
	got = qcap_seek(cap, 1);
	while (e == 0 && got == 1 && (got = qcap_next_batch(cap, &b)) == 1)
		for (size_t i = 0; i < b.nrun && e == 0; i++)
			e = flow_next_run(&t, &b.run[i], &b, fn, arg);
	if (e == 0 && got == 0 && t.held)
		fn(arg, &t.e);
	free(t.ref);
	qcap_close_trace(cap);  /* its code is translated for this statement only */
	return e < 0 || got < 0 ? -1 : 0;
}

/* Finds execution `left` of a statement, counted from the beginning of window k.  1; 0: the replay differs */
static int
flow_find_instance(struct qcap *cap, struct insns *t, size_t k, uint64_t left, query_insn_fn *fn, void *arg)
{
	struct visit_batch b;
	uint64_t last = 0;
	int got = qcap_seek(cap, cap->win[k].n);

	while (got == 1 && (got = qcap_next_batch(cap, &b)) == 1)
		for (const struct visit_run *r = b.run; r < b.run + b.nrun; r++) {
			const struct qpath *p;

			if (t->held && r->n != t->e.n) {
				fn(arg, &t->e);
				return 1;
			}
			if (r->at->fact->kind == FACT_SIGNAL || (r->n <= last && !t->held))
				continue;
			if ((p = qcap_path(cap, r->at, r->ninsn)) == NULL)
				return -1;
			for (uint32_t i = 0; i < p->n; i++)
				if (p->id[i] == t->e.id && (t->held || left-- == 0)) {
					struct visit_insn e = visit_insn(r, i);

					t->e.n = e.n;
					if (flow_hold_part(t, &e, &b, t->held) != 0)
						return -1;
					if (e.fact->kind == FACT_STRING)
						continue;
					fn(arg, &t->e);
					return 1;
				}
			last = r->n + r->ninsn - 1;
		}
	if (got == 0 && t->held)
		fn(arg, &t->e);
	return got < 0 ? -1 : t->held;
}

int
qcap_insn_at(struct query *q, uint32_t id, uint64_t instance, unsigned fields, query_insn_fn *fn, void *arg)
{
	struct qcap *cap = q->cap;
	struct insns t = { .cap = cap, .e = { .id = id, .instance = instance } };
	struct query_stmt s;
	size_t k;
	int got;

	(void)fields;
	if (query_survey(q, 0) != 0)
		return -1;
	if ((got = qcap_find_instance(cap, id, &instance, &k)) <= 0)
		return got;
	s = q->stmt[id - 1];
	t.s = &s;
	got = qcap_open_trace(cap, 0) != 0 ? -1 : flow_find_instance(cap, &t, k, instance, fn, arg);
	if (got == 1) {
		cap->foundid = id;
		cap->foundinstance = t.e.instance;
		cap->foundn = t.e.n;
	}
	free(t.ref);
	return got != 0 ? got : query_fail(q, "the replay differs from the one before");
}
