/* Value streams: the cursor, which keeps two decoded blocks. See stream.h. */
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "codec/stream/stream_internal.h"

#define KEEP 2                  /* decoded blocks */
#define PIECE 65536u            /* records of a whole block that are values at a time */

struct kept {
	struct vs_job job;
	int there;              /* job has the decoded block job.no */
	uint64_t used;
	uint64_t piece;         /* of a whole block: the first record, in the block, of what job.b has */
};

struct vs_cursor {
	struct vs_reader *r;
	const struct vs_index *x;
	struct vc_work *work;   /* owned; NULL: not allocated yet */
	struct kept kept[KEEP];
	uint64_t clock;
	uint64_t at;            /* records before the cursor */
	const struct vs_block *b;       /* NULL, or the block with records lo to hi - 1 */
	uint64_t lo, hi;
	struct fault fault;
};

struct vs_cursor *
vs_cursor(struct vs_reader *r, struct fault *f)
{
	const struct vs_index *x = vs_index(r, f);
	struct vs_cursor *c = x ? calloc(1, sizeof(*c)) : NULL;

	if (!c) {
		if (x)
			fault_set(f, 0, UINT64_MAX, VS_NOMEM);
		return NULL;
	}
	c->r = r;
	c->x = x;
	return c;
}

void
vs_cursor_free(struct vs_cursor *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < KEEP; i++)
		vs_job_free(&c->kept[i].job);
	vc_work_free(c->work);
	free(c);
}

uint64_t
vs_count(const struct vs_cursor *c)
{
	return c->x->nrec;
}

uint64_t
vs_tell(const struct vs_cursor *c)
{
	return c->at;
}

const struct fault *
vs_cursor_fault(const struct vs_cursor *c)
{
	return &c->fault;
}

int
vs_seek(struct vs_cursor *c, uint64_t rec)
{
	if (rec > c->x->nrec) {
		fault_set(&c->fault, c->x->size, rec, "there are only %llu records",
		    (unsigned long long)c->x->nrec);
		return -1;
	}
	c->at = rec;
	return 0;
}

static const struct vs_entry *
entry_of(const struct vs_index *x, uint64_t rec)
{
	size_t i;

	LOWER_BOUND(i, x->n, x->e[i].rec <= rec);
	return &x->e[i - 1];            /* the first one begins with record 0 */
}

/* Decodes block e into k. The first block is already decoded, for the primers. */
static int
cursor_load(struct vs_cursor *c, struct kept *k, const struct vs_entry *e)
{
	struct vs_job *j = &k->job;

	k->there = 0;
	if (!c->work && !(c->work = vs_work_new(&c->r->m.info))) {
		fault_set(&c->fault, e->off, e->rec, VS_NOMEM);
		return -1;
	}
	if (vs_get_entry(c->r, (size_t)(e - c->x->e), j) == 0 && vs_decode_job(&c->r->m, c->work, j) == 0) {
		k->there = 1;
		return 0;
	}
	c->fault = j->fault;
	return -1;
}

/* Prepares the piece of a whole block that has the record `at` of the block. 0 or -1. */
static int
cursor_piece(struct vs_cursor *c, struct kept *k, uint64_t at)
{
	struct vs_job *j = &k->job;
	size_t record = c->r->m.record, n;

	k->piece = at / PIECE * PIECE;
	n = (size_t)(j->head.n - k->piece < PIECE ? j->head.n - k->piece : PIECE);
	if (vs_split(&c->r->m.info.layout, &j->b, j->raw.p + (size_t)k->piece * record, n) != 0) {
		k->there = 0;
		fault_set(&c->fault, j->off, j->rec, VS_NOMEM);
		return -1;
	}
	c->lo = j->rec + k->piece;
	c->hi = c->lo + n;
	return 0;
}

/* Makes the block with record rec the present one; 0 or -1. */
static int
cursor_enter(struct vs_cursor *c, uint64_t rec)
{
	const struct vs_entry *e = entry_of(c->x, rec);
	size_t no = (size_t)(e - c->x->e);
	struct kept *k = &c->kept[0];

	c->b = NULL;
	if (vs_first(c->r, !no, &c->fault) != 0)
		return -1;
	c->lo = e->rec;
	c->hi = e->rec + e->n;
	if (!no && !c->r->first_whole) {
		c->b = &c->r->first_job.b;
	} else {
		for (size_t i = 0; i < KEEP; i++) {
			struct kept *t = &c->kept[i];

			if (t->there && t->job.no == no) {
				k = t;
				break;
			}
			if (t->used < k->used)
				k = t;
		}
		if ((!k->there || k->job.no != no) && cursor_load(c, k, e) != 0)
			return -1;
		k->used = ++c->clock;
		if (k->job.head.whole && cursor_piece(c, k, rec - e->rec) != 0)
			return -1;
		c->b = &k->job.b;
	}
	return 0;
}

/*
 * Is the record after position `at` in the present block? Walks may have dropped the values of the
 * first one.
 */
static int
cursor_inside(const struct vs_cursor *c, uint64_t at)
{
	return c->b && at >= c->lo && at < c->hi && (c->b != &c->r->first_job.b || c->r->have_first);
}

/* n records from record rec of the present block on, by step 1 or -1. */
static void
cursor_copy(const struct vs_cursor *c, uint64_t rec, int step, uint64_t *v, size_t n)
{
	const struct vs_layout *y = &c->r->m.info.layout;

	for (unsigned f = 0; f < y->nfield; f++) {
		const uint64_t *from = vs_field(y, c->b, f) + (rec - c->lo);
		uint64_t *to = v + f;

		if (y->nfield == 1 && step > 0) {
			memcpy(v, from, n * sizeof(*v));
			return;
		}
		for (size_t i = 0; i < n; i++, from += step, to += y->nfield)
			*to = *from;
	}
}

long
vs_next(struct vs_cursor *c, uint64_t *v, size_t n)
{
	if (c->at == c->x->nrec || !n)
		return 0;
	if (!cursor_inside(c, c->at) && cursor_enter(c, c->at) != 0)
		return -1;
	if (n > c->hi - c->at)
		n = (size_t)(c->hi - c->at);
	cursor_copy(c, c->at, 1, v, n);
	c->at += n;
	return (long)n;
}

long
vs_prev(struct vs_cursor *c, uint64_t *v, size_t n)
{
	if (!c->at || !n)
		return 0;
	if (!cursor_inside(c, c->at - 1) && cursor_enter(c, c->at - 1) != 0)
		return -1;
	if (n > c->at - c->lo)
		n = (size_t)(c->at - c->lo);
	cursor_copy(c, c->at - 1, -1, v, n);
	c->at -= n;
	return (long)n;
}
