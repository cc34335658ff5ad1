/*
 * Slices of a run that has the dependences of a segment as arrays (links.h).
 * Backward, a register's lane is live if its next use is by a member; an
 * instance that defines a live one is a member.  Members that others read from
 * memory, or are the control parents of, have their bits in q->in_slice when
 * they are reached.  Forward, a lane is live if a member defined it last.
 */
#include <stdlib.h>
#include <string.h>

#include "wet/query/lanes.h"
#include "wet/query/run_slice_internal.h"

/* A statement, for this slice: it has the lanes that the slice follows */
struct live_stmt {
	uint64_t def, use;              /* word 0 of the lanes that it defines and uses */
	const struct qwide *wide;       /* all words; NULL: it has no lanes in words 1 and up */
	uint32_t nmem;                  /* memory ports */
};

struct live {
	struct slicer *c;
	struct live_stmt *stmt;         /* owned */
	struct qwide *wide;             /* owned */
	/* of each statement, the number of its next instance; backward that is the number before this; owned */
	uint64_t *number;
	struct qlanes live;
	int control, memory;            /* follow these dependences */
	struct links const *l;
	/* what is left of these, of exceptions and slow paths: backward the end, forward the beginning */
	const uint64_t *mem, *parent;
	size_t nexc, nslow;
	uint64_t n;                     /* position of the instance that was reached last */
	uint64_t begin;                 /* instances before the segment */
	uint64_t criterion, who;        /* its number plus 1; id << 32 | instance */
	/* with edges, forward: the ports by which the instance that is looked at depends on the criterion */
	uint32_t port[1 + FACT_MAXUSE + STORE_MEM], nport;
	int entered, bad;               /* values of the segment are decoded; that failed */
};

/* The lanes of registers i to end - 1 of a statement, of uses those that the slice follows */
static struct qlanes
live_lanes(const struct slicer *c, const struct store_stmt *v, uint32_t i, uint32_t end)
{
	const uint16_t *reg = c->r->code->reg + v->reg;
	struct qlanes l = { 0 };

	for (; i < end; i++)
		if (i >= v->nuse || slicer_follows(c, c->s->flags, v, i + 1))
			lanes_add(&l, reg[i] >> 5, reg[i] & 31);
	return l;
}

static int
live_is_wide(const struct qlanes *l)
{
	return (l->w[1] | l->w[2] | l->w[3]) != 0;
}

static int
live_init(struct live *t, struct slicer *c)
{
	const struct store_code *code = c->r->code;
	struct qwide *w;

	*t = (struct live){ .c = c, .stmt = calloc(code->nstmt + 1, sizeof *t->stmt),
		.wide = w = malloc((code->nstmt + 1) * sizeof *w),
		.number = malloc((code->nstmt + 1) * sizeof *t->number),
		.control = !(c->s->flags & QUERY_DATA), .memory = !(c->s->flags & QUERY_CONTROL) };
	if (!t->stmt || !t->wide || !t->number)
		return -1;
	for (size_t s = 0; s < code->nstmt; s++) {
		const struct store_stmt *v = &code->stmt[s];

		*w = (struct qwide){ .def = live_lanes(c, v, v->nuse, v->nuse + v->ndef),
			.use = live_lanes(c, v, 0, v->nuse) };
		t->stmt[s] = (struct live_stmt){ .def = w->def.w[0], .use = w->use.w[0], .nmem = v->nmem };
		if (live_is_wide(&w->def) || live_is_wide(&w->use))
			t->stmt[s].wide = w++;
	}
	return 0;
}

static void
live_free(struct live *t)
{
	free(t->stmt);
	free(t->wide);
	free(t->number);
}

static inline void
live_add(struct live *t, uint64_t on)
{
	struct query *q = t->c->q;

	if (!on || query_in_slice(q, on - 1))
		return;
	query_set_in_slice(q, on - 1);
	t->c->left++;
}

/* Adds an instance, or those of a list, to the slice: a number plus 1, or as LINKS_LIST says. */
static inline void
live_add_links(struct live *t, uint64_t on)
{
	const uint64_t *p;

	if (!(on & LINKS_LIST)) {
		live_add(t, on);
		return;
	}
	p = t->l->list + (on & ~LINKS_LIST);
	for (uint64_t n = *p++; n; n--)
		live_add(t, *p++);
}

static inline int
live_defined(const struct live *t, const struct live_stmt *v)
{
	return v->def & t->live.w[0] || (v->wide && lanes_meet(&v->wide->def, &t->live));
}

/* Values are decoded for the first member of a segment. */
static void
live_report_instance(struct live *t, uint32_t s, uint64_t number)
{
	struct slicer *c = t->c;

	if (!t->entered && !slicer_is_bare(c) && c->r->ops->enter(c->r, c->k, RUN_VALUES | RUN_REFS) != 0) {
		t->bad = c->enough = 1;
		qrun_fail(c->q);
		return;
	}
	t->entered = 1;
	(void)slicer_report_member(c, (uint64_t)s << 32 | (number - c->place[s].first), t->n);
}

/* Counts and reports a member, which has its number already if `marked`. */
static inline void
live_report(struct live *t, uint32_t s, uint64_t number, int marked)
{
	struct slicer *c = t->c;

	if (!marked)
		query_set_in_slice(c->q, number);
	c->left += !marked;
	if (c->s->fn) {
		live_report_instance(t, s, number);
		return;
	}
	c->left--;
	c->s->total++;
	c->s->count[s]++;
}

/* Reads a path, the last statement first; counted: members are only counted. */
static inline __attribute__((always_inline)) void
live_path(struct live *t, const struct store_path *p, const uint8_t *step, const int counted)
{
	struct slicer *c = t->c;
	const uint32_t *seq = c->r->code->seq + p->first;
	uint64_t *const in_slice = c->q->in_slice, *const numbers = t->number, *const count = c->s->count;
	const struct live_stmt *const stmt = t->stmt;
	const uint64_t *mem = t->mem, *parent = t->parent;
	const int control = t->control, memory = t->memory;
	uint64_t total = 0;
	int any = 0;                    /* the piece has a member */

	for (uint32_t k = p->n; k-- > 0 && (counted || !c->enough); t->n -= !counted) {
		const struct live_stmt *v = &stmt[seq[k]];
		uint64_t number = --numbers[seq[k]], *at = &in_slice[number / 64];
		int marked = *at >> number % 64 & 1;

		mem -= v->nmem;
		if (marked || live_defined(t, v)) {
			if (v->wide)
				lanes_replace(&t->live, &v->wide->def, &v->wide->use);
			else
				t->live.w[0] = (t->live.w[0] & ~v->def) | v->use;
			for (uint32_t i = 0; memory && i < v->nmem; i++)
				live_add_links(t, mem[i]);
			if (counted) {
				*at |= UINT64_C(1) << number % 64;
				c->left -= (unsigned)marked;
				count[seq[k]]++;
				total++;
			} else
				live_report(t, seq[k], number, marked);
			any = 1;
		}
		if (!(step[k] & LINKS_PIECE))
			continue;
		parent--;
		if (any && control)
			live_add(t, *parent);
		any = 0;
	}
	c->s->total += total;
	t->mem = mem;
	t->parent = parent;
	t->n -= counted ? p->n : 0;
}

/* The registers of a statement that has exceptions, the last port first; in: it is a member */
static void
live_exceptions(struct live *t, uint32_t s, int in)
{
	const struct slicer *c = t->c;
	const struct store_stmt *v = &c->r->code->stmt[s];
	const struct qlanes none = { 0 };

	for (uint32_t i = v->nuse; i-- > 0;) {
		struct qlanes reg = live_lanes(c, v, i, i + 1), all = { 0 };
		const struct links_exception *x = t->nexc ? &t->l->exc[t->nexc - 1] : NULL;

		if (!x || t->begin + x->n + 1 != t->n || x->port != i + 1) {
			if (in)
				lanes_replace(&t->live, &none, &reg);
			continue;
		}
		t->nexc--;
		lanes_add(&all, c->r->code->reg[v->reg + i] >> 5, c->r->code->reg[v->reg + i] & 31);
		if (x->only && lanes_meet(&all, &t->live)) {
			lanes_replace(&t->live, &all, &none);
			live_add_links(t, x->on);
		}
		if (in && slicer_follows(c, c->s->flags, v, i + 1))
			live_add_links(t, x->on);
	}
}

/* Reads a path that has exceptions, in which each statement is a piece. */
static void
live_slow_path(struct live *t, const struct store_path *p)
{
	struct slicer *c = t->c;
	const uint32_t *seq = c->r->code->seq + p->first;
	const struct qlanes none = { 0 };

	for (uint32_t k = p->n; k-- > 0 && !c->enough; t->n--) {
		const struct live_stmt *v = &t->stmt[seq[k]];
		uint64_t number = --t->number[seq[k]];
		int marked = query_in_slice(c->q, number), in = marked || live_defined(t, v);

		t->mem -= v->nmem;
		t->parent--;
		if (in && v->wide)
			lanes_replace(&t->live, &v->wide->def, &none);
		else if (in)
			t->live.w[0] &= ~v->def;
		live_exceptions(t, seq[k], in);
		if (!in)
			continue;
		for (uint32_t i = 0; t->memory && i < v->nmem; i++)
			live_add_links(t, t->mem[i]);
		if (t->control)
			live_add(t, *t->parent);
		live_report(t, seq[k], number, marked);
	}
}

/* Adds the criterion, which is in the current segment, to the slice. */
static void
live_add_criterion(struct live *t, const struct col *path)
{
	const struct slicer *c = t->c;
	uint64_t n = c->s->n - t->begin;        /* statements up to the criterion */

	for (size_t i = 0; n && i < path->n; i++) {
		const struct store_path *p = &c->r->code->path[path->v[i]];

		for (uint32_t k = 0; n && k < p->n; k++, n--) {
			uint32_t s = c->r->code->seq[p->first + k];

			if (n == 1) {
				t->criterion = t->number[s] + 1;
				t->who = (uint64_t)(s + 1) << 32 | (t->number[s] - c->place[s].first);
			}
			t->number[s]++;
		}
	}
	live_add(t, t->criterion);
}

/* Sets t to the segment and its links.  *path: its paths.  1: nothing there depends on the criterion, if that is all */
static int
live_enter(struct live *t, size_t k, const struct col **path)
{
	const struct slicer *c = t->c;
	size_t first = run_find_segment(c->r, c->s->n);

	if (c->r->ops->links(c->r, k, c->s->flags & QUERY_STEP && k != first ? t->who : 0, &t->l, path) != 0)
		return qrun_fail(c->q);
	if (!t->l)
		return 1;
	t->begin = c->r->seg[k].n;
	t->entered = 0;
	for (int i = k != first; i < 2; i++) {
		for (size_t s = 0; s < c->q->nstmt; s++)
			t->number[s] = c->place[s].first + c->place[s].before;
		if (i == 0)
			live_add_criterion(t, *path);
	}
	return 0;
}

/* At the beginning of a segment: the last writers of live lanes are added to the slice. */
static void
live_end(struct live *t)
{
	for (unsigned reg = 0; reg < FACT_NREG; reg++)
		for (unsigned j = 0; j < FACT_NLANE; j++) {
			struct qlanes lane = { 0 };

			if (!(fact_lanes(reg) >> j & 1))
				continue;
			lanes_add(&lane, reg, 1u << j);
			if (lanes_meet(&lane, &t->live))
				live_add(t, t->l->lane[reg][j]);
		}
	t->live = (struct qlanes){ 0 };
}

static int
live_backward(struct slicer *c, void *arg)
{
	struct live *t = arg;
	size_t k = c->k;
	const struct col *path;

	if (live_enter(t, k, &path) < 0)
		return -1;
	for (size_t s = 0; s < c->q->nstmt; s++)
		t->number[s] += c->place[s].n;
	t->n = c->r->seg[k + 1].n;
	t->mem = t->l->mem + t->l->nmem;
	t->parent = t->l->parent + t->l->nparent;
	t->nexc = t->l->nexc;
	t->nslow = t->l->nslow;
	for (size_t i = path->n; i-- > 0 && (c->left || lanes_meet(&t->live, &t->live)) && !c->enough;) {
		const struct store_path *p = &c->r->code->path[path->v[i]];

		if (t->nslow && t->l->slow[t->nslow - 1] == i) {
			t->nslow--;
			live_slow_path(t, p);
		} else if (c->s->fn)
			live_path(t, p, t->l->step + p->first, 0);
		else
			live_path(t, p, t->l->step + p->first, 1);
	}
	live_end(t);
	return t->bad ? -1 : 0;
}

/* Forward: is this instance, or one of a list, one that others are in the slice for? */
static inline int
live_has(const struct live *t, uint64_t on)
{
	if (t->c->s->flags & QUERY_STEP)
		return on == t->criterion;
	return on && query_in_slice(t->c->q, on - 1);
}

static inline int
live_has_links(const struct live *t, uint64_t on)
{
	const uint64_t *p;
	int in = 0;

	if (!(on & LINKS_LIST))
		return live_has(t, on);
	p = t->l->list + (on & ~LINKS_LIST);
	for (uint64_t n = *p++; n; n--)
		in |= live_has(t, *p++);
	return in;
}

/* Reports an instance that depends on the criterion by the ports that were noted. */
static void
live_report_uses(struct live *t, uint32_t s, uint64_t number)
{
	struct slicer *c = t->c;
	struct query_insn e = {
		.id = s + 1, .instance = number - c->place[s].first, .n = t->n
	};
	struct query_edge d = {
		.id = e.id, .instance = e.instance, .on = (uint32_t)(t->who >> 32), .oninstance = (uint32_t)t->who,
		.onn = c->s->n
	};

	for (uint32_t i = 0; i < t->nport; i++) {
		d.port = t->port[i] > DEP_PORTS ? DEP_PORTS : t->port[i];
		c->s->edge(c->s->arg, &d);
	}
	c->enough = c->s->fn(c->s->arg, &e) != 0;
}

static inline void
live_note(struct live *t, uint32_t port, int depends)
{
	if (depends && t->nport < sizeof t->port / sizeof *t->port)     /* a damaged file may name one often */
		t->port[t->nport++] = port;
}

/* Notes the ports by which a statement depends on the criterion; parent: by its control parent */
static void
live_note_all(struct live *t, uint32_t s, int parent)
{
	const struct slicer *c = t->c;
	const struct store_stmt *v = &c->r->code->stmt[s];

	live_note(t, 0, parent);
	for (uint32_t i = 0; i < v->nuse; i++) {
		struct qlanes reg = live_lanes(c, v, i, i + 1);

		live_note(t, i + 1, lanes_meet(&reg, &t->live));
	}
	for (uint32_t i = 0; i < v->nmem && t->memory; i++)
		live_note(t, v->nuse + 1 + i, live_has_links(t, t->mem[i]));
}

/* Forward: registers of an instance that is the next one of its statement; depends: it depends on a member */
static inline void
live_define(struct live *t, uint32_t s, int depends)
{
	const struct live_stmt *v = &t->stmt[s];
	const struct qlanes none = { 0 };
	uint64_t number = t->number[s]++;
	int is = number + 1 == t->criterion, in = depends || is, live = t->c->s->flags & QUERY_STEP ? is : in;

	if (v->wide)
		lanes_replace(&t->live, &v->wide->def, live ? &v->wide->def : &none);
	else
		t->live.w[0] = live ? t->live.w[0] | v->def : t->live.w[0] & ~v->def;
	if (in && !t->c->s->edge)
		live_report(t, s, number, query_in_slice(t->c->q, number));
	else if (depends && !is)
		live_report_uses(t, s, number);
	t->nport = 0;
}

/* Forward: reads a path. */
static inline void
taint_path(struct live *t, const struct store_path *p, const uint8_t *step)
{
	const uint32_t *seq = t->c->r->code->seq + p->first;
	int parent = 0;                 /* that of the piece is a member */

	for (uint32_t k = 0; k < p->n && !t->c->enough; k++) {
		const struct live_stmt *v = &t->stmt[seq[k]];
		int in;

		t->n++;
		if (step[k] & LINKS_PIECE)
			parent = live_has(t, *t->parent++) && t->control;
		in = parent || v->use & t->live.w[0] || (v->wide && lanes_meet(&v->wide->use, &t->live));
		for (uint32_t i = 0; i < v->nmem && t->memory && !in; i++)
			in = live_has_links(t, t->mem[i]);
		if (in && t->c->s->edge)
			live_note_all(t, seq[k], parent);
		t->mem += v->nmem;
		live_define(t, seq[k], in);
	}
}

/* Forward: does a statement with exceptions depend on a member by a register?  The first port first */
static int
taint_exceptions(struct live *t, uint32_t s)
{
	const struct slicer *c = t->c;
	const struct store_stmt *v = &c->r->code->stmt[s];
	const struct qlanes none = { 0 };
	int in = 0;

	for (uint32_t i = 0; i < v->nuse; i++) {
		struct qlanes reg = live_lanes(c, v, i, i + 1), all = { 0 };
		const struct links_exception *x = t->nexc < t->l->nexc ? &t->l->exc[t->nexc] : NULL;
		int on;

		if (!x || t->begin + x->n + 1 != t->n || x->port != i + 1) {
			on = lanes_meet(&reg, &t->live);
			live_note(t, i + 1, on);
			in |= on;
			continue;
		}
		t->nexc++;
		lanes_add(&all, c->r->code->reg[v->reg + i] >> 5, c->r->code->reg[v->reg + i] & 31);
		if (x->only)
			lanes_replace(&t->live, &all, live_has_links(t, x->on) ? &all : &none);
		on = slicer_follows(c, c->s->flags, v, i + 1) && live_has_links(t, x->on);
		live_note(t, i + 1, on);
		in |= on;
	}
	return in;
}

/* Forward: reads a path that has exceptions. */
static void
taint_slow_path(struct live *t, const struct store_path *p)
{
	const uint32_t *seq = t->c->r->code->seq + p->first;

	for (uint32_t k = 0; k < p->n && !t->c->enough; k++) {
		const struct live_stmt *v = &t->stmt[seq[k]];
		int in;

		t->n++;
		in = live_has(t, *t->parent++) && t->control;
		live_note(t, 0, in);
		in |= taint_exceptions(t, seq[k]);
		for (uint32_t i = 0; i < v->nmem && t->memory; i++) {
			int on = live_has_links(t, t->mem[i]);

			live_note(t, t->c->r->code->stmt[seq[k]].nuse + 1 + i, on);
			in |= on;
		}
		t->mem += v->nmem;
		live_define(t, seq[k], in);
	}
}

/* Forward, at the beginning of a segment: lanes that a member defined last are live. */
static void
taint_begin(struct live *t)
{
	t->live = (struct qlanes){ 0 };
	for (unsigned reg = 0; reg < FACT_NREG; reg++)
		for (unsigned j = 0; j < FACT_NLANE; j++)
			if (fact_lanes(reg) >> j & 1 && live_has(t, t->l->lane[reg][j]))
				lanes_add(&t->live, reg, 1u << j);
}

static int
live_forward(struct live *t)
{
	struct slicer *c = t->c;

	for (size_t k = run_find_segment(c->r, c->s->n); k < c->r->nseg && !c->enough; k++) {
		const struct col *path;
		int e;

		slicer_set_segment(c, k);
		query_progress(c->r->seg[k].n, run_length(c->r));
		if ((e = live_enter(t, k, &path)) < 0)
			return -1;
		if (e)
			continue;
		t->n = t->begin;
		t->mem = t->l->mem;
		t->parent = t->l->parent;
		t->nexc = t->nslow = 0;
		taint_begin(t);
		for (size_t i = 0; i < path->n && !c->enough; i++) {
			const struct store_path *p = &c->r->code->path[path->v[i]];

			if (t->nslow < t->l->nslow && t->l->slow[t->nslow] == i) {
				t->nslow++;
				taint_slow_path(t, p);
			} else
				taint_path(t, p, t->l->step + p->first);
		}
		if (t->bad)
			return -1;
	}
	return 0;
}

int
live_slice(struct slicer *c)
{
	struct live t;
	int e = live_init(&t, c);

	if (!e)
		e = c->s->flags & QUERY_FORWARD ? live_forward(&t) : slicer_segments_backward(c, live_backward, &t);
	live_free(&t);
	return e;
}
