/*
 * Slices of a run (run.h), segment by segment.  What the instances of a
 * segment depend on is put into a table; then all that members of the slice
 * depend on are members, too, until nothing is added (backward), or instances
 * in order of time are if they depend on one (forward).  A provider that can
 * tell the dependences of single statements is asked for those of statements
 * that have members only.  Where what is later may be depended on, a forward
 * slice is a backward one over a table that is turned round.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "wet/query/run_internal.h"

#define ALONE 4u                /* times that dependences of some statements are asked for; then of all */

/*
 * A dependence: port << PORT | what it is on, id less 1 << 32 | instance.
 * Those of an instance are words one after the other, up to one with LAST.
 * What comes later of the same instance begins with the word LINK | its
 * `head` before.
 */
#define LAST (UINT64_C(1) << 63)
#define LINK (UINT64_C(1) << 62)
#define PORT 58u
#define PORTS 15u               /* and more: all the same */
#define WHO  ((UINT64_C(1) << PORT) - 1)

/* A statement, in the segment */
struct place {
	uint64_t first;                 /* number of its instance 0 */
	uint64_t slot;                  /* in `head`, of its first instance in the segment */
	uint32_t before, n;             /* instances before the segment, and in it */
	uint32_t x;                     /* the next one, while the paths are walked */
};

struct slicer {
	struct query *q;
	struct run *r;
	struct query_slice *s;
	query_dep_fn *dep;              /* dependences are asked for */
	void *arg;
	size_t k;                       /* the segment */
	struct place *place;            /* of each statement; owned */
	uint8_t *want, *have;           /* dependences of each, that are wanted next; that are in the table; owned */
	uint32_t *head;                 /* of each instance (slot): the first of its words, plus 1; owned */
	uint64_t *on;                   /* owned */
	size_t non, capon;
	uint64_t slot;                  /* of the last word */
	uint64_t nslot;                 /* instances whose dependences came, in order of time */
	size_t table;                   /* the segment of the table, plus 1; 0: there is none */
	unsigned how;                   /* it is made for */
	uint64_t *todo, *later;         /* members whose dependences have not been followed, as in `on`; owned */
	size_t ntodo, captodo, nlater, caplater;
	uint64_t left;                  /* members that have not been told */
	size_t nmember;                 /* bytes of q->member; 0: there are none */
	int enough;
};

static uint64_t
slicer_number(const struct slicer *c, uint64_t who)
{
	return c->place[who >> 32].first + (uint32_t)who;
}

/* The members of the slice: none */
static int
no_members(struct slicer *c)
{
	size_t n = (c->r->first[c->q->nstmt] / 64 + 2) * sizeof *c->q->member;

	if (!c->nmember) {
		void *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

		if (p == MAP_FAILED)
			return query_nomem(c->q);
		c->q->member = p;
		c->nmember = n;
	} else
		(void)madvise(c->q->member, n, MADV_DONTNEED);
	return 0;
}

/* The first member of [at, end), or end */
static uint64_t
next_member(const struct query *q, uint64_t at, uint64_t end)
{
	while (at < end) {
		uint64_t w = q->member[at / 64] >> at % 64;

		if (w) {
			at += (unsigned)__builtin_ctzll(w);
			return at < end ? at : end;
		}
		at += 64 - at % 64;
	}
	return end;
}

static int
has_members(const struct slicer *c, const struct place *p)
{
	uint64_t at = p->first + p->before, end = at + p->n;

	return next_member(c->q, at, end) < end;
}

/* Segment k is looked at; is an instance of it a member? */
static int
slicer_look(struct slicer *c, size_t k)
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
		any |= has_members(c, p);
	}
	return any;
}

/* Where an instance is in `head`: in order of time (n: its position), if they come so; else by statements */
static inline uint64_t
slicer_slot(const struct slicer *c, uint64_t who, uint64_t n)
{
	const struct place *p = &c->place[who >> 32];

	return c->r->in_time ? n - c->r->seg[c->k].n - 1 : p->slot + ((uint32_t)who - p->before);
}

/* Instance `slot` depends on n others by this port */
static int
slicer_add(struct slicer *c, uint64_t slot, uint32_t port, const uint64_t *who, size_t n)
{
	if (c->non + n >= UINT32_MAX)
		return -1;
	if (c->non + n >= c->capon && buf_grow(&c->on, &c->capon, c->non + n + 1, sizeof *c->on) != 0)
		return -1;
	if (c->slot == slot && c->non)
		c->on[c->non - 1] &= ~LAST;
	else {
		uint32_t before = c->r->in_time ? 0 : c->head[slot];

		c->head[slot] = (uint32_t)c->non + 1;
		if (before)
			c->on[c->non++] = LINK | before;
	}
	for (size_t i = 0; i < n; i++)
		c->on[c->non++] = (uint64_t)port << PORT | (who[i] - (UINT64_C(1) << 32));
	c->on[c->non - 1] |= LAST;
	c->slot = slot;
	return 0;
}

/* Does the slice follow this port? */
static int
slicer_follows(const struct slicer *c, const struct store_stmt *v, uint32_t port)
{
	if (port == 0)
		return !(c->how & QUERY_DATA);
	return port > v->nuse || c->how & QUERY_RSP || c->r->code->reg[v->reg + port - 1] >> 5 != QRSP;
}

/* A use port, into the table */
static int
slicer_use(void *arg, uint32_t s, uint32_t x, uint32_t port, const uint64_t *who, size_t n)
{
	struct slicer *c = arg;
	const struct place *me = &c->place[s];
	uint64_t user = (uint64_t)(s + 1) << 32 | x;

	c->nslot += port == 0;
	if (!n || !slicer_follows(c, &c->r->code->stmt[s], port))
		return 0;
	if (port > PORTS)
		port = PORTS;
	if (!(c->how & QUERY_FORWARD))
		return slicer_add(c, c->r->in_time ? c->nslot - 1 : me->slot + (x - me->before), port, who, n);
	for (size_t i = 0; i < n; i++) {
		const struct place *p = &c->place[(who[i] >> 32) - 1];

		if (slicer_add(c, p->slot + ((uint32_t)who[i] - p->before), port, &user, 1) != 0)
			return -1;
	}
	return 0;
}

/* A table of the segment, with nothing in it; how: QUERY_FORWARD means that it is turned round */
static int
slicer_table(struct slicer *c, unsigned how)
{
	uint64_t n = c->r->seg[c->k + 1].n - c->r->seg[c->k].n;

	if (c->table == c->k + 1 && c->how == how)
		return 0;
	c->table = 0;
	c->how = how;
	c->non = c->nslot = 0;
	memset(c->have, 0, c->q->nstmt);
	memset(c->want, 0, c->q->nstmt);
	free(c->head);
	if ((c->head = calloc(n + 1, sizeof *c->head)) == NULL)
		return query_nomem(c->q);
	c->table = c->k + 1;
	return 0;
}

/* The dependences of statements that are wanted (all: of all) and not there, of instances up to position last */
static int
slicer_fill(struct slicer *c, int all, uint64_t last)
{
	uint64_t seg = c->r->seg[c->k].n;
	int any = 0;

	for (size_t s = 0; s < c->q->nstmt; s++) {
		c->want[s] = (all || !c->r->partial || c->want[s]) && !c->have[s] && c->place[s].n;
		c->have[s] |= c->want[s];
		any |= c->want[s];
	}
	if (any && c->r->ops->deps(c->r, c->want, last - seg, slicer_use, c) != 0) {
		c->table = 0;
		return qrun_bad(c->q);
	}
	memset(c->want, 0, c->q->nstmt);
	return 0;
}

static int
slicer_push(struct slicer *c, uint64_t who)
{
	if (buf_grow(&c->todo, &c->captodo, c->ntodo + 1, sizeof *c->todo) != 0)
		return query_nomem(c->q);
	c->todo[c->ntodo++] = who;
	return 0;
}

/* An instance is a member; what it depends on is looked at next, if it is of the segment */
static int
slicer_member(struct slicer *c, uint64_t who)
{
	const struct place *p = &c->place[who >> 32];
	uint64_t n = p->first + (uint32_t)who;

	if (query_is_member(c->q, n))
		return 0;
	query_member(c->q, n);
	c->left++;
	return (uint32_t)who - p->before < p->n ? slicer_push(c, who) : 0;
}

/* The words of an instance that are still to come: w, and then those at `link`, plus 1 */
struct words { const uint64_t *w; uint32_t link; };

static inline struct words
slicer_words(const struct slicer *c, uint64_t slot)
{
	return (struct words){ NULL, c->head[slot] };
}

static inline int
next_word(const struct slicer *c, struct words *t, uint64_t *w)
{
	if (!t->w) {
		if (!t->link)
			return 0;
		t->w = c->on + t->link - 1;
		t->link = 0;
		if (*t->w & LINK)
			t->link = (uint32_t)*t->w++;
	}
	*w = *t->w;
	t->w = *w & LAST ? NULL : t->w + 1;
	return 1;
}

/* What members depend on, as far as that is in the table; the others are put off */
static int
slicer_follow(struct slicer *c)
{
	while (c->ntodo > 0) {
		uint64_t who = c->todo[--c->ntodo], w;

		if (!c->have[who >> 32]) {
			c->want[who >> 32] = 1;
			if (buf_grow(&c->later, &c->caplater, c->nlater + 1, sizeof *c->later) != 0)
				return query_nomem(c->q);
			c->later[c->nlater++] = who;
			continue;
		}
		for (struct words t = slicer_words(c, slicer_slot(c, who, 0)); next_word(c, &t, &w);)
			if (slicer_member(c, w & WHO) != 0)
				return -1;
	}
	return 0;
}

/* All that the members of the segment depend on are members */
static int
close_over(struct slicer *c, uint64_t last)
{
	for (size_t s = 0; s < c->q->nstmt; s++) {
		const struct place *p = &c->place[s];
		uint64_t at = p->first + p->before, end = at + p->n;

		for (at = next_member(c->q, at, end); at < end; at = next_member(c->q, at + 1, end))
			if (slicer_push(c, (uint64_t)s << 32 | (at - p->first)) != 0)
				return -1;
	}
	for (unsigned round = 0; c->ntodo; round++) {
		uint64_t *swap;
		size_t cap;

		if (slicer_follow(c) != 0 || (c->nlater && slicer_fill(c, round >= ALONE, last) != 0))
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
	return 0;
}

/* Values of members can be told */
static int
slicer_values(struct slicer *c)
{
	int e = 0;

	if (c->s->fn && c->r->ops->values) {
		for (size_t s = 0; s < c->q->nstmt; s++)
			c->want[s] = (uint8_t)has_members(c, &c->place[s]);
		e = c->r->ops->values(c->r, c->want) != 0 ? qrun_bad(c->q) : 0;
		memset(c->want, 0, c->q->nstmt);
	}
	return e;
}

static void
slicer_tell(struct slicer *c, uint32_t s, uint32_t x, uint64_t n)
{
	struct query_insn e = { .id = s + 1, .instance = x, .n = n };

	c->left--;
	c->s->total++;
	c->s->count[s]++;
	if (!c->s->fn)
		return;
	c->r->ops->insn(c->r, &e, x - c->place[s].before);
	c->enough = c->s->fn(c->s->arg, &e) != 0;
}

/* What an instance depends on becomes members */
static void
slicer_members(struct slicer *c, uint64_t slot)
{
	uint64_t w;

	for (struct words t = slicer_words(c, slot); next_word(c, &t, &w);) {
		uint64_t n = slicer_number(c, w & WHO);

		c->left += !query_is_member(c->q, n);
		query_member(c->q, n);
	}
}

/* The members of the segment, the last first; in time, what they depend on becomes members on the way */
static void
tell_back(struct slicer *c)
{
	uint64_t seg = c->r->seg[c->k].n, n = c->r->seg[c->k + 1].n;

	for (size_t s = 0; s < c->q->nstmt; s++)
		c->place[s].x = c->place[s].before + c->place[s].n;
	for (size_t i = c->r->npath; i-- > 0 && c->left && !c->enough;) {
		struct query_path p;

		c->r->ops->path(c->r, i, &p);
		for (uint32_t j = p.to; j-- > p.from && !c->enough; n--) {
			struct place *t = &c->place[p.id[j] - 1];

			if (!query_is_member(c->q, t->first + --t->x))
				continue;
			if (c->r->in_time)
				slicer_members(c, n - seg - 1);
			slicer_tell(c, p.id[j] - 1, t->x, n);
		}
	}
}

/* The instance that the slice is of becomes a member */
static void
slicer_begin(struct slicer *c)
{
	uint64_t n = c->r->seg[c->k].n;

	for (size_t s = 0; s < c->q->nstmt; s++)
		c->place[s].x = c->place[s].before;
	for (size_t i = 0; i < c->r->npath; i++) {
		struct query_path p;

		c->r->ops->path(c->r, i, &p);
		for (uint32_t j = p.from; j < p.to; j++) {
			struct place *t = &c->place[p.id[j] - 1];

			if (++n == c->s->n) {
				query_member(c->q, t->first + t->x);
				c->left++;
				return;
			}
			t->x++;
		}
	}
}

/* What an instance that is a member depends on in the slice is handed over, the first port first */
static int
slicer_emit(struct slicer *c, uint64_t who, uint64_t slot)
{
	struct query_dep d = { .id = (uint32_t)(who >> 32) + 1, .n = slicer_number(c, who) + 1 };
	uint32_t at = c->head[slot];

	for (c->ntodo = 0; at; at = c->on[at - 1] & LINK ? (uint32_t)c->on[at - 1] : 0)
		if (slicer_push(c, at) != 0)
			return -1;
	while (c->ntodo && !c->enough)
		for (size_t i = c->todo[--c->ntodo] - 1, more = 1; more && !c->enough; i++) {
			uint64_t w = c->on[i];

			if (w & LINK)
				continue;
			more = !(w & LAST);
			if (!query_is_member(c->q, slicer_number(c, w & WHO)))
				continue;
			d.port = (uint32_t)(w >> PORT & PORTS);
			d.on = (uint32_t)((w & WHO) >> 32) + 1;
			d.onn = slicer_number(c, w & WHO) + 1;
			c->enough = c->dep(c->arg, &d) != 0;
		}
	c->ntodo = 0;
	return 0;
}

/* Does an instance depend on a member? */
static int
slicer_depends(const struct slicer *c, uint64_t slot)
{
	uint64_t w;

	for (struct words t = slicer_words(c, slot); next_word(c, &t, &w);)
		if (query_is_member(c->q, slicer_number(c, w & WHO)))
			return 1;
	return 0;
}

/* What is done with each instance of the segment, in order of time: w is its statement (id less 1) << 32 | instance */
static int
slicer_mark(struct slicer *c, uint64_t w, uint64_t n)
{
	if (!query_is_member(c->q, slicer_number(c, w)) && slicer_depends(c, slicer_slot(c, w, n))) {
		query_member(c->q, slicer_number(c, w));
		c->left++;
	}
	return 0;
}

static int
tell_on(struct slicer *c, uint64_t w, uint64_t n)
{
	if (query_is_member(c->q, slicer_number(c, w)))
		slicer_tell(c, (uint32_t)(w >> 32), (uint32_t)w, n);
	return 0;
}

static int
mark_tell(struct slicer *c, uint64_t w, uint64_t n)
{
	return slicer_mark(c, w, n) != 0 ? -1 : tell_on(c, w, n);
}

static int
emit_on(struct slicer *c, uint64_t w, uint64_t n)
{
	if (!query_is_member(c->q, slicer_number(c, w)) || (c->s->how & QUERY_FORWARD && n == c->s->n))
		return 0;
	return slicer_emit(c, w, slicer_slot(c, w, n));
}

static inline int
slicer_walk(struct slicer *c, int (*fn)(struct slicer *c, uint64_t w, uint64_t n))
{
	uint64_t n = c->r->seg[c->k].n;

	for (size_t s = 0; s < c->q->nstmt; s++)
		c->place[s].x = c->place[s].before;
	for (size_t i = 0; i < c->r->npath; i++) {
		struct query_path p;

		c->r->ops->path(c->r, i, &p);
		for (uint32_t j = p.from; j < p.to; j++) {
			uint64_t s = p.id[j] - 1;

			if (fn(c, s << 32 | c->place[s].x++, ++n) != 0)
				return -1;
			if (c->enough)
				return 0;
		}
	}
	return 0;
}

/* The segment has been looked at and becomes that of the table */
static int
slicer_enter(struct slicer *c, unsigned how)
{
	unsigned want = RUN_DEPS | (c->s->fn && !c->dep ? RUN_VALUES | RUN_REFS : 0u);

	if (c->r->ops->enter(c->r, c->k, want) != 0)
		return qrun_bad(c->q);
	return slicer_table(c, how & (QUERY_DATA | QUERY_RSP | QUERY_FORWARD));
}

static int
slicer_backward(struct slicer *c)
{
	size_t first = run_find(c->r, c->s->n);

	for (size_t k = first + 1; k-- > 0 && !c->enough && (k == first || c->left);) {
		if (!slicer_look(c, k) && k < first)
			continue;
		if (slicer_enter(c, c->s->how) != 0)
			return -1;
		if (k == first)
			slicer_begin(c);
		if (c->r->in_time ? slicer_fill(c, 1, c->s->n) != 0 : close_over(c, c->s->n) != 0 || slicer_values(c) != 0)
			return -1;
		tell_back(c);
	}
	return 0;
}

static int
slicer_forward(struct slicer *c)
{
	size_t first = run_find(c->r, c->s->n);

	for (size_t k = first; k < c->r->nseg && !c->enough; k++) {
		slicer_look(c, k);
		if (slicer_enter(c, c->r->loose ? c->s->how : c->s->how & ~(unsigned)QUERY_FORWARD) != 0)
			return -1;
		if (k == first)
			slicer_begin(c);
		if (c->r->loose ? close_over(c, UINT64_MAX) != 0 : slicer_fill(c, 1, UINT64_MAX) != 0)
			return -1;
		if (!c->r->loose && slicer_walk(c, c->r->in_time ? mark_tell : slicer_mark) != 0)
			return -1;
		if (!c->r->in_time && c->left && (slicer_values(c) != 0 || slicer_walk(c, tell_on) != 0))
			return -1;
	}
	return 0;
}

/* The dependences of a slice that is known */
static int
slicer_known(struct slicer *c)
{
	size_t first = run_find(c->r, c->s->n);
	int forward = c->s->how & QUERY_FORWARD;

	for (size_t k = forward ? first : 0; k < (forward ? c->r->nseg : first + 1) && !c->enough; k++) {
		if (!slicer_look(c, k))
			continue;
		if (slicer_enter(c, c->s->how & ~(unsigned)QUERY_FORWARD) != 0)
			return -1;
		for (size_t s = 0; s < c->q->nstmt; s++)
			c->want[s] = (uint8_t)has_members(c, &c->place[s]);
		if (slicer_fill(c, 0, forward ? UINT64_MAX : c->s->n) != 0 || slicer_walk(c, emit_on) != 0)
			return -1;
	}
	return 0;
}

/* What a question leaves: a table that the next one may need, where it is the only one */
static void
slicer_over(struct slicer *c)
{
	if (!c->r->loose) {
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

/* For a question; NULL: no memory */
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
	if (c->nmember)
		munmap(q->member, c->nmember);
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

int
qrun_slice(struct query *q, struct query_slice *s)
{
	struct slicer *c;
	int e;

	if (!(s->how & QUERY_RSP) && q->run->no_rsp)
		return query_bad(q, "%s", q->run->no_rsp);
	if ((c = slicer_new(q, s, NULL, NULL)) == NULL)
		return query_nomem(q);
	if (no_members(c) != 0)
		return -1;
	s->total = 0;
	e = s->how & QUERY_FORWARD ? slicer_forward(c) : slicer_backward(c);
	slicer_over(c);
	return e;
}

int
qrun_deps(struct query *q, const struct query_slice *s, query_dep_fn *fn, void *arg)
{
	struct query_slice copy = *s;
	struct slicer *c = slicer_new(q, &copy, fn, arg);
	int e;

	if (!c)
		return query_nomem(q);
	e = slicer_known(c);
	slicer_over(c);
	return e;
}
