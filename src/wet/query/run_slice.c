/*
 * Slices of a run (run.h), segment by segment, and the dependences within a
 * slice.  The dependences of the segment's instances are put into a table
 * (run_slice_table.c); then the segment is sliced with a worklist or in order
 * of time, depending on the provider of the run.
 */
#include <stdlib.h>
#include <string.h>

#include "wet/query/run_slice_internal.h"

uint64_t
slicer_next_member(const struct query *q, uint64_t at, uint64_t end)
{
	while (at < end) {
		uint64_t w = q->in_slice[at / 64] >> at % 64;

		if (w) {
			at += (unsigned)__builtin_ctzll(w);
			return at < end ? at : end;
		}
		at += 64 - at % 64;
	}
	return end;
}

static int
slicer_has_members(const struct slicer *c, const struct place *p)
{
	uint64_t at = p->first + p->before, end = at + p->n;

	return slicer_next_member(c->q, at, end) < end;
}

int
slicer_set_segment(struct slicer *c, size_t k)
{
	const struct run *r = c->r;
	uint64_t slot = 0;
	int any = 0;

	c->k = k;
	for (size_t s = 0; s < c->q->nstmt; s++)
		c->place[s].before = c->place[s].n = 0;
	for (size_t i = 0; i < k; i++)
		for (size_t j = 0; j < r->seg[i].ncount; j++)
			c->place[r->seg[i].count[j].id - 1].before += r->seg[i].count[j].n;
	for (size_t j = 0; j < r->seg[k].ncount; j++) {
		struct place *p = &c->place[r->seg[k].count[j].id - 1];

		p->n = r->seg[k].count[j].n;
		p->slot = slot;
		slot += p->n;
		any |= slicer_has_members(c, p);
	}
	return any;
}

int
slicer_follows(const struct slicer *c, unsigned flags, const struct store_stmt *v, uint32_t port)
{
	if (port == 0)
		return !(flags & QUERY_DATA) || flags & QUERY_PARENTS;
	if (flags & QUERY_CONTROL)
		return 0;
	if (flags & QUERY_THIN && port <= v->nuse && v->addrs >> (port - 1) & 1 &&
	    (!(c->s->flags & QUERY_ADDRESS) || v != &c->r->code->stmt[c->criterion >> 32]))
		return 0;
	return port > v->nuse || flags & QUERY_RSP || c->r->code->reg[v->reg + port - 1] >> 5 != QRSP;
}

int
slicer_load_values(struct slicer *c)
{
	int e = 0;

	if (c->s->fn && c->r->ops->values && !slicer_is_bare(c)) {
		for (size_t s = 0; s < c->q->nstmt; s++)
			c->want[s] = (uint8_t)slicer_has_members(c, &c->place[s]);
		e = c->r->ops->values(c->r, c->want) != 0 ? qrun_fail(c->q) : 0;
		memset(c->want, 0, c->q->nstmt);
	}
	return e;
}

/* Reports the dependences of a member. */
static void
slicer_report_edges(struct slicer *c, const struct query_insn *e, uint64_t inst, uint64_t slot)
{
	struct query_edge d = { .id = e->id, .instance = e->instance };
	uint64_t w;

	for (struct words t = words_of(c, slot); words_next(c, &t, &w);) {
		if (slicer_foreign(c, inst, w))
			continue;
		d.port = (uint32_t)(w >> DEP_PORT & DEP_PORTS);
		d.on = (uint32_t)((w & DEP_INST) >> 32) + 1;
		d.oninstance = (uint32_t)w;
		c->s->edge(c->s->arg, &d);
	}
}

int
slicer_report_member(struct slicer *c, uint64_t inst, uint64_t n)
{
	uint32_t s = (uint32_t)(inst >> 32), x = (uint32_t)inst;
	struct query_insn e = { .id = s + 1, .instance = x, .n = n };

	c->left--;
	c->s->total++;
	c->s->count[s]++;
	if (!c->s->fn)
		return 0;
	if (slicer_is_bare(c))
		e.nval = c->r->code->stmt[s].nval;
	else
		c->r->ops->insn(c->r, &e, x - c->place[s].before);
	c->enough = c->s->fn(c->s->arg, &e) != 0;
	if (c->s->edge)
		slicer_report_edges(c, &e, inst, slicer_slot(c, inst, n));
	return 0;
}

/* Adds the criterion, which is in the current segment, to the slice.  -1: no need to go on */
static int
slicer_add_criterion(struct slicer *c, uint64_t inst, uint64_t n)
{
	if (n != c->s->n)
		return 0;
	query_set_in_slice(c->q, c->place[inst >> 32].first + (uint32_t)inst);
	c->criterion = inst;
	c->left++;
	return -1;
}

/* Decodes segment c->k and begins the table. */
static int
slicer_enter(struct slicer *c, unsigned flags)
{
	unsigned fields = RUN_DEPS | (c->s->fn && !c->dep && !slicer_is_bare(c) ? RUN_VALUES | RUN_REFS : 0u);

	if (c->r->ops->enter(c->r, c->k, fields) != 0)
		return qrun_fail(c->q);
	return table_begin(c, flags & (QUERY_DATA | QUERY_RSP | QUERY_FORWARD | QUERY_THIN | QUERY_CONTROL |
	    QUERY_PARENTS | QUERY_ADDRESS));
}

int
slicer_segments_backward(struct slicer *c, slicer_segment_fn *fn, void *arg)
{
	size_t first = run_find_segment(c->r, c->s->n);

	for (size_t k = first + 1; k-- > 0 && !c->enough && (k == first || c->left);) {
		if (!slicer_set_segment(c, k) && k < first)
			continue;
		if (k < first)
			query_progress(c->s->n - c->r->seg[k + 1].n, c->s->n);
		if (fn(c, arg) != 0)
			return -1;
	}
	return 0;
}

static int
slicer_backward(struct slicer *c, void *arg)
{
	(void)arg;
	if (slicer_enter(c, c->s->flags) != 0)
		return -1;
	if (c->k == run_find_segment(c->r, c->s->n))
		(void)slicer_walk_forward(c, slicer_add_criterion);
	return c->r->deps_in_time ? in_time_backward(c) : worklist_backward(c);
}

static int
slicer_forward(struct slicer *c)
{
	size_t first = run_find_segment(c->r, c->s->n);

	for (size_t k = first; k < c->r->nseg && !c->enough; k++) {
		slicer_set_segment(c, k);
		query_progress(c->r->seg[k].n, run_length(c->r));
		if (slicer_enter(c, c->r->deps_unordered ? c->s->flags :
		    c->s->flags & ~(unsigned)QUERY_FORWARD) != 0)
			return -1;
		if (k == first)
			(void)slicer_walk_forward(c, slicer_add_criterion);
		if ((c->r->deps_unordered ? worklist_forward(c) : in_time_forward(c)) != 0)
			return -1;
	}
	return 0;
}

/* Reports the dependences of d on members, from the words at c->on[at - 1]. */
static void
deps_emit_words(struct slicer *c, struct query_dep *d, size_t at)
{
	for (size_t i = at - 1, more = 1; more && !c->enough; i++) {
		uint64_t w = c->on[i];

		if (w & DEP_LINK)
			continue;
		more = !(w & DEP_LAST);
		if (!query_in_slice(c->q, slicer_number(c, w & DEP_INST)))
			continue;
		d->port = (uint32_t)(w >> DEP_PORT & DEP_PORTS);
		d->on = (uint32_t)((w & DEP_INST) >> 32) + 1;
		d->oninstance = (uint32_t)w;
		d->onn = slicer_number(c, w & DEP_INST) + 1;
		c->enough = c->dep(c->arg, d) != 0;
	}
}

/* Reports the dependences of a member, the first port first; the list of the table has the last one first. */
static int
deps_emit(struct slicer *c, uint64_t inst, uint64_t n)
{
	struct query_dep d = {
		.id = (uint32_t)(inst >> 32) + 1, .n = slicer_number(c, inst) + 1, .numbered = 1,
		.instance = (uint32_t)inst
	};

	if (!query_in_slice(c->q, d.n - 1) || (c->s->flags & QUERY_FORWARD && n == c->s->n))
		return 0;
	c->ntodo = 0;
	for (uint32_t at = c->head[slicer_slot(c, inst, n)]; at;
	    at = c->on[at - 1] & DEP_LINK ? (uint32_t)c->on[at - 1] : 0)
		if (slicer_push(c, at) != 0)
			return -1;
	while (c->ntodo && !c->enough)
		deps_emit_words(c, &d, c->todo[--c->ntodo]);
	c->ntodo = 0;
	return 0;
}

/* Reports the dependences within the last slice. */
static int
slicer_deps(struct slicer *c)
{
	size_t first = run_find_segment(c->r, c->s->n);
	int forward = c->s->flags & QUERY_FORWARD;

	for (size_t k = forward ? first : 0; k < (forward ? c->r->nseg : first + 1) && !c->enough; k++) {
		if (!slicer_set_segment(c, k))
			continue;
		query_progress(c->r->seg[k].n, forward ? run_length(c->r) : c->s->n);
		if (slicer_enter(c, c->s->flags & ~(unsigned)QUERY_FORWARD) != 0)
			return -1;
		for (size_t s = 0; s < c->q->nstmt; s++)
			c->want[s] = (uint8_t)slicer_has_members(c, &c->place[s]);
		if (table_fill(c, 0, forward ? UINT64_MAX : c->s->n) != 0 ||
		    slicer_walk_forward(c, deps_emit) != 0)
			return -1;
	}
	return 0;
}

/* Frees memory after a query.  If there is only one segment, its table is kept for the next query. */
static void
slicer_release(struct slicer *c)
{
	if (!c->r->deps_unordered) {
		free(c->head);
		free(c->on);
		c->head = NULL;
		c->on = NULL;
		c->capon = c->table = 0;
	}
	free(c->todo);
	free(c->later);
	c->todo = c->later = NULL;
	c->ntodo = c->captodo = c->nlater = c->caplater = 0;
}

/* Prepares q->slicer for a query; NULL: no memory */
static struct slicer *
slicer_new(struct query *q, struct query_slice *s, query_dep_fn *dep, void *arg)
{
	struct slicer *c = q->slicer;

	if (!c) {
		if ((c = q->slicer = calloc(1, sizeof *c)) == NULL)
			return NULL;
		c->q = q;
		c->r = q->run;
		c->place = calloc(q->nstmt + 1, sizeof *c->place);
		c->want = calloc(q->nstmt + 1, 1);
		c->have = calloc(q->nstmt + 1, 1);
		if (!c->place || !c->want || !c->have) {
			qrun_slicer_free(q);
			return NULL;
		}
		for (size_t i = 0; i < q->nstmt; i++)
			c->place[i].first = q->run->first[i];
	}
	c->s = s;
	c->dep = dep;
	c->arg = arg;
	c->enough = 0;
	c->left = 0;
	return c;
}

void
qrun_slicer_free(struct query *q)
{
	struct slicer *c = q->slicer;

	if (!c)
		return;
	free(c->place);
	free(c->want);
	free(c->have);
	free(c->head);
	free(c->on);
	free(c->todo);
	free(c->later);
	free(c);
	q->slicer = NULL;
}

/* Can the slice be made without a table of dependences? */
static int
slicer_is_live(const struct query *q, const struct query_slice *s)
{
	unsigned table = QUERY_PARENTS | QUERY_ADDRESS | (s->flags & QUERY_FORWARD ? 0 : QUERY_STEP);

	return q->run->ops->links && !(s->flags & table) && (!s->edge || s->flags & QUERY_FORWARD);
}

/* The uses of the criterion, of dependences within a slice */
struct uses { const struct query_slice *s; uint64_t criterion; };

static int
slicer_use(void *arg, const struct query_dep *d)
{
	const struct uses *u = arg;
	struct query_insn e = { .id = d->id, .instance = d->instance };

	if (d->on != (u->criterion >> 32) + 1 || d->oninstance != (uint32_t)u->criterion)
		return 0;
	u->s->edge(u->s->arg, &(struct query_edge){ .id = d->id, .instance = d->instance, .port = d->port,
		.on = d->on, .oninstance = d->oninstance });
	return u->s->fn(u->s->arg, &e);
}

/* QUERY_STEP forward without links: the slice, and then the dependences within it that are on the criterion */
static int
slicer_uses(struct query *q, struct query_slice *s)
{
	struct query_slice copy = *s;
	struct uses u = { .s = s };

	copy.fn = NULL;
	copy.edge = NULL;
	if (qrun_slice(q, &copy) != 0)
		return -1;
	u.criterion = q->slicer->criterion;
	return qrun_deps(q, &copy, slicer_use, &u);
}

int
qrun_slice(struct query *q, struct query_slice *s)
{
	struct slicer *c;
	int e;

	if (!(s->flags & QUERY_RSP) && q->run->no_rsp)
		return query_fail(q, "%s", q->run->no_rsp);
	if (s->flags & QUERY_THIN && !q->run->code->roles)
		return query_fail(q,
		    "%s does not tell which registers only form addresses, for a thin slice: "
		    "ask with -t data", q->run->no_rsp ? "a text" : "this file");
	if (s->edge && s->flags & QUERY_FORWARD && !q->run->ops->links)
		return slicer_uses(q, s);
	if ((c = slicer_new(q, s, NULL, NULL)) == NULL || query_clear_slice(q, q->run->first[q->nstmt]) != 0)
		return -1;
	s->total = 0;
	if (slicer_is_live(q, s))
		e = live_slice(c);
	else
		e = s->flags & QUERY_FORWARD ? slicer_forward(c) : slicer_segments_backward(c, slicer_backward, NULL);
	slicer_release(c);
	return e;
}

int
qrun_deps(struct query *q, const struct query_slice *s, query_dep_fn *fn, void *arg)
{
	struct query_slice copy = *s;
	struct slicer *c = slicer_new(q, &copy, fn, arg);
	int e;

	if (!c)
		return -1;
	e = slicer_deps(c);
	slicer_release(c);
	return e;
}
