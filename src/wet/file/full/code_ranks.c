/* Reads what all segments of kinds full and loads need first: their code, and how often each executes what. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "wet/file/full/reader.h"

#define THREADS 4u                      /* that decode columns, at most */
#define SEGMENTS 64u                    /* whose columns are decoded together */

/* CODE and RANK of some segments: sections 2 i and 2 i + 1 are those of segment `from` + i. */
struct ranks { struct buf b[2 * SEGMENTS]; struct col_reader c[2 * SEGMENTS]; size_t from, n; };

/* Threads that decode: kind loads executes instructions later, in a process that has no threads. */
static unsigned
ranks_threads(const struct store_read *r)
{
	long n = r->load ? 1 : sysconf(_SC_NPROCESSORS_ONLN);

	return n < 1 ? 1 : n < THREADS ? (unsigned)n : THREADS;
}

/* Loads CODE and RANK of the next segments, and decodes their columns by threads. */
static int
ranks_load(struct store_read *r, struct ranks *t)
{
	const size_t left = r->nsegment - t->from;

	for (t->n = 0; t->n < 2 * (left < SEGMENTS ? left : SEGMENTS); t->n++) {
		struct buf *b = &t->b[t->n];

		r->sec = (t->from + t->n / 2) * FULL_SECTIONS + (t->n % 2 ? FULL_RANK : FULL_CODE);
		if (wetfile_load(r->file, r->sec, b, &r->fault) != 0)
			return -1;
		t->c[t->n] = (struct col_reader){ .p = b->p, .end = b->p + b->n, .w = r->work };
	}
	col_ahead(t->c, t->n, ranks_threads(r));
	return 0;
}

/* Makes room for the statements from number `from` on. */
static int
ranks_room(struct store_read *r, size_t from)
{
	uint64_t *total = realloc(r->total, (r->code.nstmt + 1) * sizeof *total);
	struct store_place *place;

	if (!total)
		return -1;
	r->total = total;
	if ((place = realloc(r->place, (r->code.nstmt + 1) * sizeof *place)) == NULL)
		return -1;
	r->place = place;
	memset(total + from, 0, (r->code.nstmt - from + 1) * sizeof *total);
	return 0;
}

/* Sets r->place[].n to the executions of each statement, by the columns of RANK. */
static int
ranks_count(struct store_read *r, const struct col *path, const struct col *n)
{
	uint64_t p = 0;

	memset(r->place, 0, (r->code.nstmt + 1) * sizeof *r->place);
	for (size_t i = 0; i < path->n; i++) {
		const struct store_path *q;

		if ((p += path->v[i]) >= r->code.npath || n->v[i] == 0 || (i && !path->v[i]))
			return full_reader_bad(r, "a path that does not exist");
		q = &r->code.path[p];
		for (uint32_t j = 0; j < q->n; j++)
			r->place[r->code.seq[q->first + j]].n += n->v[i];
	}
	return 0;
}

/* Makes r->rank[k] of r->place, and adds it to r->total. */
static int
ranks_keep(struct store_read *r, size_t k)
{
	struct store_rank *rank = &r->rank[k];
	size_t n = 0;

	for (size_t s = 0; s < r->code.nstmt; s++) {
		n += r->place[s].n != 0;
		if ((r->total[s] += r->place[s].n) >= UINT32_MAX)
			return full_reader_bad(r, "a statement is executed too often");
	}
	if ((rank->v = malloc((n + 1) * sizeof *rank->v)) == NULL)
		return full_reader_bad(r, NULL);
	for (size_t s = 0; s < r->code.nstmt; s++)
		if (r->place[s].n)
			rank->v[rank->n++] = (struct store_count){ (uint32_t)s + 1, (uint32_t)r->place[s].n };
	return 0;
}

static int
ranks_rank(struct store_read *r, size_t k, struct col_reader *c)
{
	struct col path = { 0 }, n = { 0 };
	int e = 0;

	r->sec = k * FULL_SECTIONS + FULL_RANK;
	if (col_get_upto(c, &path, r->code.npath, UINT32_MAX, NULL) != 0 ||
	    col_get(c, &n, path.n, STORE_SEGMENT, NULL) != 0 || c->p != c->end)
		e = full_reader_bad(r, c->err ? c->err : "bytes after the last column");
	e = e || ranks_count(r, &path, &n) != 0 || ranks_keep(r, k) != 0 ? -1 : 0;
	col_free(&path);
	col_free(&n);
	return e;
}

static int
ranks_segment(struct store_read *r, size_t k, struct col_reader *code, struct col_reader *rank)
{
	size_t have = r->code.nstmt;

	r->sec = k * FULL_SECTIONS + FULL_CODE;
	if (store_code_decode(&r->code, code) != 0)
		return full_reader_bad(r, code->err);
	r->nstmt[k] = r->code.nstmt;
	if (ranks_room(r, have) != 0)
		return full_reader_bad(r, NULL);
	return ranks_rank(r, k, rank);
}

static int
ranks_some(struct store_read *r, struct ranks *t)
{
	int e = ranks_load(r, t);

	for (size_t i = 0; i < t->n && !e; i += 2)
		e = ranks_segment(r, t->from + i / 2, &t->c[i], &t->c[i + 1]);
	for (size_t i = 0; i < t->n; i++)
		col_ahead_free(&t->c[i]);
	return e;
}

int
full_reader_ranks(struct store_read *r)
{
	struct ranks *t = calloc(1, sizeof *t);
	int e = 0;

	r->nstmt = calloc(r->nsegment + 1, sizeof *r->nstmt);
	r->rank = calloc(r->nsegment + 1, sizeof *r->rank);
	if (!t || !r->nstmt || !r->rank || ranks_room(r, 0) != 0)
		e = fault_nomem(&r->fault);
	for (; !e && t->from < r->nsegment; t->from += SEGMENTS)
		e = ranks_some(r, t);
	for (size_t i = 0; t && i < 2 * SEGMENTS; i++)
		buf_free(&t->b[i]);
	free(t);
	return e;
}
