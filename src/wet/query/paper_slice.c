/*
 * Questions about .wet files of kind paper: slices.  A backward slice asks, in
 * each segment from the last one back, for the edges of those statements only
 * that have instances in the slice, and of others that these lead to; then it
 * reads the paths in order of time.  A forward slice needs all edges.
 */
#include <stdlib.h>
#include <string.h>

#include "wet/query/paper_internal.h"

#define MOST  (1u << 29)        /* dependences of a segment that are known */
#define ALONE 4u                /* times that edges of some statements are asked for; then it is all that are left */

/* What an instance depends on: a list, the last port first */
struct edge { uint32_t next, port; uint64_t who; };

struct scan {
	struct query *q;
	struct qpaper *t;
	struct query_slice *s;
	query_dep_fn *dep;              /* dependences are asked for */
	void *arg;
	/* The segment.  Of statements, all owned: */
	uint32_t *before, *n;           /* instances before it, and in it */
	uint64_t *at;                   /* in `head`, its first */
	uint64_t *val;                  /* in `word`, plus 1 */
	uint8_t *want, *have;           /* edges, of those that are wanted next; that there are */
	uint32_t *nth;                  /* of each path: executions before the one that is looked at; owned */
	uint32_t *head;                 /* of each instance: its edges; owned */
	struct edge *edge;              /* 0 ends a list; owned */
	size_t nedge, capedge;
	uint64_t *word;                 /* values; owned */
	uint64_t *todo, *later;         /* members whose edges have not been followed, as id << 32 | instance; owned */
	size_t ntodo, captodo, nlater, caplater;
	int enough;
};

static uint64_t
number(const struct scan *c, uint64_t who)
{
	return c->t->first[(who >> 32) - 1] + (uint32_t)who;
}

static int
use(void *arg, uint32_t s, uint32_t x, uint32_t port, const uint64_t *who, size_t n)
{
	struct scan *c = arg;
	const struct store_code *code = &c->t->r.code;
	const struct store_stmt *v = &code->stmt[s];
	uint32_t *head = &c->head[c->at[s] + (x - c->before[s])];

	if (port == 0 ? c->s->how & QUERY_DATA : port <= v->nuse && !c->q->rsp && code->reg[v->reg + port - 1] >> 5 == QRSP)
		return 0;
	if (c->nedge + n >= MOST || buf_grow(&c->edge, &c->capedge, c->nedge + n + 1, sizeof *c->edge) != 0)
		return -1;
	for (size_t i = 0; i < n; i++) {
		c->edge[++c->nedge] = (struct edge){ *head, port, who[i] };
		*head = (uint32_t)c->nedge;
	}
	return 0;
}

/* The edges of statements that are wanted, and not there; all: of all that are not there */
static int
edges(struct scan *c, size_t k, int all)
{
	for (size_t s = 0; s < c->q->nstmt; s++) {
		c->want[s] = (all || c->want[s]) && !c->have[s] && c->n[s];
		c->have[s] |= c->want[s];
	}
	if (paper_read_edges(&c->t->r, k, c->want, use, c) != 0)
		return qpaper_bad(c->q);
	memset(c->want, 0, c->q->nstmt);
	return 0;
}

static int
value(void *arg, uint32_t s, unsigned j, const uint32_t *x, const uint64_t *word, size_t n)
{
	struct scan *c = arg;
	uint64_t *to = c->word + c->val[s] - 1 + j;

	for (size_t i = 0; i < n; i++)
		to[(uint64_t)(x[i] - c->before[s]) * c->t->r.code.stmt[s].nval] = word[i];
	return 0;
}

static int
has_members(const struct scan *c, size_t s)
{
	uint64_t at = c->t->first[s] + c->before[s];

	return query_store_any(c->q, at, at + c->n[s]);
}

/* Values of the statements that have members, or of all */
static int
values(struct scan *c, size_t k, int all)
{
	uint64_t n = 0;

	for (size_t s = 0; s < c->q->nstmt; s++) {
		unsigned nval = c->t->r.code.stmt[s].nval;

		c->want[s] = nval && c->n[s] && (all || has_members(c, s));
		c->val[s] = c->want[s] ? n + 1 : 0;
		n += c->want[s] ? (uint64_t)c->n[s] * nval : 0;
	}
	free(c->word);
	if ((c->word = calloc(n + 1, sizeof *c->word)) == NULL)
		return query_nomem(c->q);
	if (paper_read_values(&c->t->r, k, c->want, value, c) != 0)
		return qpaper_bad(c->q);
	memset(c->want, 0, c->q->nstmt);
	return 0;
}

/* Segment k is looked at; does it have members? */
static int
enter(struct scan *c, size_t k, int *any)
{
	const struct paper_read *r = &c->t->r;
	uint64_t n = 0;

	*any = 0;
	for (size_t s = 0; s < c->q->nstmt; s++) {
		qpaper_range(c->t, (uint32_t)s, k, &c->before[s], &c->n[s]);
		c->at[s] = n;
		n += c->n[s];
		*any |= c->n[s] && has_members(c, s);
	}
	memset(c->have, 0, c->q->nstmt);
	memset(c->want, 0, c->q->nstmt);
	memset(c->nth, 0, r->code.npath * sizeof *c->nth);
	for (size_t i = r->first[k]; i < r->first[k + 1]; i++)
		c->nth[r->node[i].path] = r->node[i].before;
	free(c->head);
	c->nedge = 0;
	return (c->head = calloc(n + 1, sizeof *c->head)) == NULL ? query_nomem(c->q) : 0;
}

static int
tell(struct scan *c, uint32_t s, uint32_t x, uint64_t n)
{
	struct query_insn e = { .id = s + 1, .instance = x, .n = n };

	c->s->total++;
	c->s->count[s]++;
	if (!c->s->fn)
		return 0;
	if (c->val[s]) {
		e.nval = c->t->r.code.stmt[s].nval;
		e.val = c->word + c->val[s] - 1 + (uint64_t)(x - c->before[s]) * e.nval;
	}
	return c->s->fn(c->s->arg, &e) != 0;
}

/* Instances of the segment become members; what they depend on is looked at next */
static int
member(struct scan *c, uint64_t who)
{
	uint64_t n = number(c, who);
	size_t s = (who >> 32) - 1;

	if (query_is_member(c->q, n))
		return 0;
	query_member(c->q, n);
	if ((uint32_t)who - c->before[s] >= c->n[s])
		return 0;
	if (buf_grow(&c->todo, &c->captodo, c->ntodo + 1, sizeof *c->todo) != 0)
		return query_nomem(c->q);
	c->todo[c->ntodo++] = who;
	return 0;
}

/* What members depend on, as far as edges are there; the others are put off */
static int
follow(struct scan *c)
{
	while (c->ntodo > 0) {
		uint64_t who = c->todo[--c->ntodo];
		size_t s = (who >> 32) - 1;

		if (!c->have[s]) {
			c->want[s] = 1;
			if (buf_grow(&c->later, &c->caplater, c->nlater + 1, sizeof *c->later) != 0)
				return query_nomem(c->q);
			c->later[c->nlater++] = who;
			continue;
		}
		for (uint32_t e = c->head[c->at[s] + ((uint32_t)who - c->before[s])]; e; e = c->edge[e].next)
			if (member(c, c->edge[e].who) != 0)
				return -1;
	}
	return 0;
}

/* All that the members of segment k depend on become members */
static int
close_over(struct scan *c, size_t k)
{
	for (size_t s = 0; s < c->q->nstmt; s++)
		for (uint32_t x = c->before[s], end = x + c->n[s]; x < end; x++)
			if (query_is_member(c->q, c->t->first[s] + x)) {
				if (buf_grow(&c->todo, &c->captodo, c->ntodo + 1, sizeof *c->todo) != 0)
					return query_nomem(c->q);
				c->todo[c->ntodo++] = (uint64_t)(s + 1) << 32 | x;
			}
	for (unsigned round = 0; ; round++) {
		uint64_t *swap;
		size_t cap;

		if (follow(c) != 0)
			return -1;
		if (!c->nlater)
			return 0;
		if (edges(c, k, round >= ALONE) != 0)
			return -1;
		swap = c->todo;
		cap = c->captodo;
		c->todo = c->later;
		c->ntodo = c->nlater;
		c->captodo = c->caplater;
		c->later = swap;
		c->nlater = 0;
		c->caplater = cap;
	}
}

/* The members of segment k, which ends behind position n, the last first */
static void
tell_back(struct scan *c, size_t k, uint64_t n)
{
	const struct paper_read *r = &c->t->r;

	for (size_t i = r->first[k]; i < r->first[k + 1]; i++)
		c->nth[r->node[i].path] = r->node[i].before + r->node[i].n;
	for (uint64_t time = c->t->time[k + 1]; time-- > c->t->time[k] && !c->enough;) {
		const struct store_path *p = &r->code.path[r->seq[time]];
		uint32_t run = --c->nth[r->seq[time]];

		for (uint32_t j = p->n; j-- > 0 && !c->enough; n--) {
			uint32_t s = r->code.seq[p->first + j], x = paper_instances(r, r->seq[time], j)[run];

			if (query_is_member(c->q, c->t->first[s] + x))
				c->enough = tell(c, s, x, n);
		}
	}
}

/* The path executed at position n has its statement there as a member */
static void
begin(struct scan *c)
{
	const struct paper_read *r = &c->t->r;
	uint64_t before, time = qpaper_time(c->q, c->s->n, &before);
	uint32_t path = r->seq[time], j = (uint32_t)(c->s->n - before - 1);

	query_member(c->q, c->t->first[r->code.seq[r->code.path[path].first + j]] + paper_instances(r, path, j)[qpaper_runs(c->t, path, time)]);
}

static int
backward(struct scan *c, size_t last)
{
	for (size_t k = last + 1; k-- > 0 && !c->enough;) {
		int any;

		if (enter(c, k, &any) != 0)
			return -1;
		if (!any)
			continue;
		if (close_over(c, k) != 0 || (c->s->fn && values(c, k, 0) != 0))
			return -1;
		tell_back(c, k, qpaper_before(c->t, c->t->time[k + 1]));
	}
	return 0;
}

/* The dependences of a member on members */
static void
depends(struct scan *c, uint32_t s, uint32_t x)
{
	uint32_t e = c->head[c->at[s] + (x - c->before[s])], last = 0, next;

	for (; e; e = next) {           /* turned round: the first port first */
		next = c->edge[e].next;
		c->edge[e].next = last;
		last = e;
	}
	for (e = last; e && !c->enough; e = c->edge[e].next)
		if (query_is_member(c->q, number(c, c->edge[e].who))) {
			struct query_dep d = { .id = s + 1, .on = (uint32_t)(c->edge[e].who >> 32), .port = c->edge[e].port,
				.n = c->t->first[s] + x + 1, .onn = number(c, c->edge[e].who) + 1 };

			c->enough = c->dep(c->arg, &d) != 0;
		}
}

/* Instance x of statement s at position n: of a forward slice, or of one that is known */
static void
visit(struct scan *c, uint32_t s, uint32_t x, uint64_t n)
{
	uint64_t me = c->t->first[s] + x;
	uint32_t e = c->head[c->at[s] + (x - c->before[s])];

	if (c->dep) {
		if (query_is_member(c->q, me) && !(c->s->how & QUERY_FORWARD && n == c->s->n))
			depends(c, s, x);
		return;
	}
	if (n < c->s->n)
		return;
	if (n > c->s->n) {
		while (e && !query_is_member(c->q, number(c, c->edge[e].who)))
			e = c->edge[e].next;
		if (!e)
			return;
	}
	query_member(c->q, me);
	c->enough = tell(c, s, x, n);
}

static int
forward(struct scan *c, size_t from, size_t to)
{
	const struct paper_read *r = &c->t->r;

	for (size_t k = from; k < to && !c->enough; k++) {
		uint64_t n = qpaper_before(c->t, c->t->time[k]);
		int any;

		if (enter(c, k, &any) != 0)
			return -1;
		if (c->dep && !any)
			continue;
		for (size_t s = 0; c->dep && s < c->q->nstmt; s++)
			c->want[s] = c->n[s] && has_members(c, s);
		if (edges(c, k, !c->dep) != 0 || (c->s->fn && !c->dep && values(c, k, 1) != 0))
			return -1;
		for (uint64_t time = c->t->time[k]; time < c->t->time[k + 1] && !c->enough; time++) {
			const struct store_path *p = &r->code.path[r->seq[time]];
			uint32_t run = c->nth[r->seq[time]]++;

			for (uint32_t j = 0; j < p->n && !c->enough; j++)
				visit(c, r->code.seq[p->first + j], paper_instances(r, r->seq[time], j)[run], ++n);
		}
	}
	return 0;
}

static int
scan_init(struct scan *c)
{
	size_t n = c->q->nstmt + 1;

	c->before = calloc(n, sizeof *c->before);
	c->n = calloc(n, sizeof *c->n);
	c->at = calloc(n, sizeof *c->at);
	c->val = calloc(n, sizeof *c->val);
	c->want = calloc(n, 1);
	c->have = calloc(n, 1);
	c->nth = calloc(c->t->r.code.npath + 1, sizeof *c->nth);
	return c->before && c->n && c->at && c->val && c->want && c->have && c->nth ? 0 : query_nomem(c->q);
}

static void
scan_free(struct scan *c)
{
	free(c->before);
	free(c->n);
	free(c->at);
	free(c->val);
	free(c->want);
	free(c->have);
	free(c->nth);
	free(c->head);
	free(c->edge);
	free(c->word);
	free(c->todo);
	free(c->later);
}

int
qpaper_slice(struct query *q, struct query_slice *s)
{
	struct qpaper *t = q->store;
	struct scan c = { .q = q, .t = t, .s = s };
	uint64_t before;
	size_t k;
	int bad;

	if (query_store_members(q, q->length, &t->nbit) != 0)
		return -1;
	q->rsp = !!(s->how & QUERY_RSP);
	s->total = 0;
	k = qpaper_segment(t, qpaper_time(q, s->n, &before));
	bad = scan_init(&c) != 0;
	if (!bad) {
		begin(&c);
		bad = (s->how & QUERY_FORWARD ? forward(&c, k, t->r.nsegment) : backward(&c, k)) != 0;
	}
	scan_free(&c);
	return bad ? -1 : 0;
}

int
qpaper_deps(struct query *q, const struct query_slice *s, query_dep_fn *fn, void *arg)
{
	struct qpaper *t = q->store;
	struct query_slice copy = *s;
	struct scan c = { .q = q, .t = t, .s = &copy, .dep = fn, .arg = arg };
	uint64_t before;
	size_t k = qpaper_segment(t, qpaper_time(q, s->n, &before));
	int bad = scan_init(&c) != 0;

	if (!bad)
		bad = (s->how & QUERY_FORWARD ? forward(&c, k, t->r.nsegment) : forward(&c, 0, k + 1)) != 0;
	scan_free(&c);
	return bad ? -1 : 0;
}
