/*
 * Writes sections of a .wet file.  With several threads, the blocks of columns are coded by a pool of
 * them, and the sections are written in order as they become complete.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/pool.h"
#include "wet/file/writer.h"

/*
 * Jobs of the pool: enough for the small columns and ends of sections of some segments, which wait behind a
 * large column.  Memory is bounded by the number of values.
 */
#define JOBS 1024

/* A block of a column, or the end of a section, and the bytes that come before it. */
struct store_job {
	struct buf before, coded;
	uint64_t *v, *key;              /* n values, and their keys or NULL; owned */
	size_t n;
	int level;
	int bad;                        /* memory ran out */
	int ends;                       /* a section, which has: */
	enum wetfile_tag tag;
	uint32_t segment;
	enum store_part part;
	struct store_job *next;         /* in order of the file */
};

int
store_fail(struct fault *f, int input, const char *fmt, ...)
{
	va_list ap;

	f->output = !input;
	f->line = 0;
	f->off = f->rec = UINT64_MAX;
	va_start(ap, fmt);
	vsnprintf(f->err, sizeof f->err, fmt, ap);
	va_end(ap);
	return -1;
}

int
store_fail_replay(struct fault *f, const struct fault *r)
{
	*f = *r;
	return -1;
}

int
store_out_init(struct store_out *t, struct wetfile_writer *w, const struct store_opts *o,
    struct fault *f, unsigned threads)
{
	*t = (struct store_out){ .w = w, .o = o, .f = f, .threads = threads, .work = vc_work_new(1) };
	return t->work ? 0 : -1;
}

static void
out_job_free(struct store_job *j)
{
	buf_free(&j->before);
	buf_free(&j->coded);
	free(j->v);
	free(j->key);
	free(j);
}

void
store_out_free(struct store_out *t)
{
	pool_free(t->pool);
	for (struct store_job *j; (j = t->first) != NULL; out_job_free(j))
		t->first = j->next;
	for (unsigned i = 0; i < STORE_THREADS; i++)
		vc_work_free(t->works[i]);
	vc_work_free(t->work);
	buf_free(&t->b);
	buf_free(&t->section);
}

static int
out_put(struct store_out *t, enum wetfile_tag tag, uint32_t segment, enum store_part part, struct buf *b)
{
	uint64_t before = wetfile_written(t->w);

	if (b->nomem)
		return -1;
	if (wetfile_put(t->w, tag, segment, b->p, b->n) != 0)
		return store_fail(t->f, 0, "%s", wetfile_write_fault(t->w)->err);
	t->stats.part[part] += wetfile_written(t->w) - before;
	b->n = 0;
	return 0;
}

static void
out_work(void *arg, unsigned thread, void *job)
{
	struct store_out *t = arg;
	struct store_job *j = job;
	struct vc_work **w = &t->works[thread];

	if (!j->n)
		return;
	if (!*w)
		*w = vc_work_new(1);
	j->bad = !*w || col_put_block(&j->coded, *w, j->level, j->v, j->key, j->n) != 0;
}

/* Waits for the oldest job, and writes its section if that is complete. */
static int
out_wait(struct store_out *t)
{
	struct store_job *j = pool_wait(t->pool);
	int bad = j->bad;

	t->first = j->next;
	t->queued -= j->n;
	buf_add(&t->section, j->before.p, j->before.n);
	buf_add(&t->section, j->coded.p, j->coded.n);
	if (!bad && j->ends)
		bad = out_put(t, j->tag, j->segment, j->part, &t->section);
	out_job_free(j);
	return bad || t->section.nomem ? -1 : 0;
}

/* Gives the job, and the bytes made so far, to the threads. */
static int
out_submit(struct store_out *t, struct store_job *j)
{
	j->before = t->b;
	t->b = (struct buf)BUF_INIT;
	while (pool_is_full(t->pool) || (t->queued && t->queued + j->n > (size_t)t->threads * VC_MAX))
		if (out_wait(t) != 0) {
			out_job_free(j);
			return -1;
		}
	*(t->first ? &t->last->next : &t->first) = j;
	t->last = j;
	t->queued += j->n;
	pool_submit(t->pool, j);
	return 0;
}

/* Are there threads?  They are started when the first block is there; if that fails, there is one. */
static int
out_threads(struct store_out *t)
{
	if (!t->started && t->threads > 1)
		t->pool = pool_new_room(t->threads, JOBS, out_work, t);
	t->started = 1;
	return t->pool != NULL;
}

static int
out_block(struct store_out *t, const uint64_t *v, const uint64_t *key, size_t n, int level)
{
	struct store_job *j;

	if (!out_threads(t))
		return col_put_block(&t->b, t->work, level, v, key, n);
	if ((j = calloc(1, sizeof *j)) == NULL)
		return -1;
	j->n = n;
	j->level = level;
	j->v = malloc(n * sizeof *v);
	j->key = key ? malloc(n * sizeof *key) : NULL;
	if (!j->v || (key && !j->key)) {
		out_job_free(j);
		return -1;
	}
	memcpy(j->v, v, n * sizeof *v);
	if (key)
		memcpy(j->key, key, n * sizeof *key);
	return out_submit(t, j);
}

static int
out_col(struct store_out *t, const struct col *c, const struct col *key, size_t block, int level)
{
	int bad = c->nomem || (key && key->nomem);

	col_put_number(&t->b, c->n);
	for (size_t i = 0, n; !bad && i < c->n; i += n) {
		n = c->n - i < block ? c->n - i : block;
		bad = out_block(t, c->v + i, key ? key->v + i : NULL, n, level) != 0;
	}
	return bad || t->b.nomem ? -1 : 0;
}

int
store_col_blocks(struct store_out *t, const struct col *c, const struct col *key, size_t block)
{
	return out_col(t, c, key, block, t->o->level);
}

int
store_col_level(struct store_out *t, const struct col *c, const struct col *key, int level)
{
	return out_col(t, c, key, VC_MAX, level);
}

int
store_col(struct store_out *t, const struct col *c, const struct col *key)
{
	return out_col(t, c, key, VC_MAX, t->o->level);
}

int
store_section(struct store_out *t, enum wetfile_tag tag, uint32_t segment, enum store_part part)
{
	struct store_job *j;

	if (!t->pool || t->b.nomem)
		return out_put(t, tag, segment, part, &t->b);
	if ((j = calloc(1, sizeof *j)) == NULL)
		return -1;
	*j = (struct store_job){ .ends = 1, .tag = tag, .segment = segment, .part = part };
	return out_submit(t, j);
}

int
store_drain(struct store_out *t)
{
	while (t->first)
		if (out_wait(t) != 0)
			return -1;
	return 0;
}

int
store_finish(struct store_out *t, const struct ws_early *early)
{
	if (store_drain(t) != 0)
		return -1;
	return (early && wetfile_put_early(t->w, early) != 0) || wetfile_finish(t->w) != 0 ?
	    store_fail(t->f, 0, "%s", wetfile_write_fault(t->w)->err) : 0;
}

int
store_sparse(struct store_out *t, const uint32_t *n, size_t many, int level)
{
	struct col which = { 0 }, number = { 0 };
	size_t last = 0;
	int bad;

	for (size_t i = 0; i < many; i++)
		if (n[i]) {
			col_add(&which, i - last);
			col_add(&number, n[i]);
			last = i;
		}
	bad = store_col_level(t, &which, NULL, level) != 0 || store_col_level(t, &number, NULL, level) != 0;
	col_free(&which);
	col_free(&number);
	return bad ? -1 : 0;
}
