/* Value streams: walks over consecutive blocks, decoded by several threads. */
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "codec/stream/stream_internal.h"

struct walk {
	struct vs_reader *r;
	unsigned threads;
	vs_sink *sink;
	void *arg;
	struct vc_work *work[VS_THREADS];       /* owned; NULL: not allocated yet */
	struct par *par;                        /* owned */
	struct vs_job *job;                     /* owned: njob */
	size_t njob, next;
	int backward;
	struct vs_sum sum;                      /* of the records passed, in the order of the file */
	struct fault *f;
};

/* The wanted bytes of a decoded whole block, in place. */
static void
walk_render_whole(const struct walk *w, struct vs_job *j)
{
	size_t record = w->r->m.record;
	uint8_t *p = j->raw.p, x[VS_FIELDS * 8];

	memmove(p, p + j->from * record, j->n * record);
	j->raw.n = j->n * record;
	for (size_t i = 0, k = j->n; w->backward && i + 1 < k--; i++) {
		memcpy(x, p + i * record, record);
		memcpy(p + i * record, p + k * record, record);
		memcpy(p + k * record, x, record);
	}
}

/* The wanted bytes of a decoded block. */
static void
walk_render(struct walk *w, struct vs_job *j)
{
	const struct vs_common *m = &w->r->m;
	size_t n = j->n * m->record;

	if (j->head.whole) {
		walk_render_whole(w, j);
		return;
	}
	j->raw.n = 0;
	if (!n)
		return;
	if (!buf_reserve(&j->raw, n)) {
		vs_job_fail(j, j->off, VS_NOMEM);
		return;
	}
	vs_bytes(&m->info.layout, &j->b, j->from, j->n, w->backward, j->raw.p);
	j->raw.n = n;
}

static void
walk_work(void *arg, unsigned thread, void *job)
{
	struct walk *w = arg;
	struct vs_job *j = job;
	struct vc_work *tables = vs_job_work(&w->work[thread], &w->r->m, j);

	if (tables && vs_decode_job(&w->r->m, tables, j) == 0)
		walk_render(w, j);
}

static int
walk_emit(struct walk *w, struct vs_job *j)
{
	if (j->bad) {
		*w->f = j->fault;
		return -1;
	}
	w->sum = w->backward ? vs_sum_cat(j->sum, w->sum) : vs_sum_cat(w->sum, j->sum);
	if (j->raw.n && w->sink(w->arg, j->raw.p, j->raw.n) != 0) {
		w->f->err[0] = '\0';
		return -1;
	}
	return 0;
}

/* The records from start to start + count - 1 that a block has. */
static void
walk_part(struct vs_job *j, uint64_t start, uint64_t count)
{
	uint64_t to = start + count, end = j->rec + j->head.n;

	if (start < j->rec)
		start = j->rec;
	if (to > end)
		to = end;
	j->from = (size_t)(start - j->rec);
	j->n = start < to ? (size_t)(to - start) : 0;
}

static int
walk_begin(struct walk *w)
{
	w->njob = w->threads == 1 ? 1 : 2 * w->threads;
	w->job = calloc(w->njob, sizeof(*w->job));
	w->par = pool_new(w->threads, walk_work, w);
	if (w->job && w->par)
		return 0;
	fault_set(w->f, 0, UINT64_MAX, VS_NOMEM);
	return -1;
}

static void
walk_end(struct walk *w)
{
	pool_free(w->par);
	for (size_t i = 0; w->job && i < w->njob; i++)
		vs_job_free(&w->job[i]);
	free(w->job);
	for (unsigned i = 0; i < VS_THREADS; i++)
		vc_work_free(w->work[i]);
}

/* The next job to fill, after passing the oldest one if all are in use; NULL: failure. */
static struct vs_job *
walk_free_job(struct walk *w)
{
	struct vs_job *j = &w->job[w->next];

	if (pool_is_full(w->par) && walk_emit(w, pool_wait(w->par)) != 0)
		return NULL;
	w->next = (w->next + 1) % w->njob;
	return j;
}

static int
walk_drain(struct walk *w)
{
	struct vs_job *j;

	while ((j = pool_wait(w->par)))
		if (walk_emit(w, j) != 0)
			return -1;
	return 0;
}

/* Decodes and passes a whole block, after all that are on their way: it is large. 0 or -1. */
static int
walk_whole(struct walk *w, struct vs_job *j)
{
	if (walk_drain(w) != 0)
		return -1;
	if (vs_decode_job(&w->r->m, NULL, j) == 0)
		walk_render(w, j);
	buf_free(&j->coded);
	if (walk_emit(w, j) != 0)
		return -1;
	buf_free(&j->raw);
	return 0;
}

/*
 * The first block is decoded with the reader's own tables, because the others need it. Values of
 * fewer than 8 bytes wait as bytes, which take less room.
 */
static int
put_by(struct walk *w)
{
	const struct vs_common *m = &w->r->m;
	struct vs_job *j = &w->r->first_job;
	size_t n = j->b.n * m->record;

	j->raw.n = 0;
	if (!buf_reserve(&j->raw, n + 1)) {
		fault_set(w->f, j->off, j->rec, VS_NOMEM);
		return -1;
	}
	vs_bytes(&m->info.layout, &j->b, 0, j->b.n, 0, j->raw.p);
	j->raw.n = n;
	vs_first_drop(w->r);
	return 0;
}

static int
give_first(struct walk *w, uint64_t start, uint64_t count)
{
	struct vs_job *j = &w->r->first_job;

	if (walk_drain(w) != 0)
		return -1;
	if (!w->r->have_first &&
	    vs_split(&w->r->m.info.layout, &j->b, j->raw.p, j->raw.n / w->r->m.record) != 0) {
		fault_set(w->f, j->off, j->rec, VS_NOMEM);
		return -1;
	}
	w->r->have_first = 1;
	walk_part(j, start, count);
	walk_render(w, j);
	if (walk_emit(w, j) != 0)
		return -1;
	buf_free(&j->raw);
	return 0;
}

int
vs_walk(struct vs_reader *r, uint64_t start, uint64_t count, int backward, unsigned threads,
	vs_sink *fn, void *arg, struct fault *f)
{
	struct walk w = { .r = r, .threads = threads, .sink = fn, .arg = arg, .backward = backward, .f = f };
	const struct vs_index *x = vs_index(r, f);
	size_t lo, hi;
	int bad = -1;

	if (!x)
		return -1;
	if (start > x->nrec)
		start = x->nrec;
	if (count > x->nrec - start)
		count = x->nrec - start;
	if (!count)
		return 0;
	LOWER_BOUND(lo, x->n, x->e[lo].rec <= start);
	lo--;                                   /* the block with start */
	for (hi = lo + 1; hi < x->n && x->e[hi].rec < start + count; hi++)
		;
	if (walk_begin(&w) != 0 || vs_first(r, !lo, f) != 0 ||
	    (!lo && hi > 1 && backward && !r->first_whole && put_by(&w) != 0))
		goto out;
	if (lo)
		vs_first_drop(r);
	for (size_t i = lo; i < hi; i++) {
		size_t no = backward ? hi - 1 - (i - lo) : i;
		struct vs_job *j;

		if (!no && !r->first_whole) {
			if (give_first(&w, start, count) != 0)
				goto out;
			continue;
		}
		j = walk_free_job(&w);
		if (!j)
			goto out;
		if (vs_get_entry(r, no, j) != 0) {
			if (walk_drain(&w) == 0)
				*f = j->fault;
			goto out;
		}
		walk_part(j, start, count);
		if (!j->head.whole)
			pool_submit(w.par, j);
		else if (walk_whole(&w, j) != 0)
			goto out;
	}
	bad = walk_drain(&w);
	if (!bad && x->whole && count == x->nrec && vs_sum_word(w.sum) != r->sum) {
		fault_set(f, 0, UINT64_MAX, "the values are not those that were compressed");
		bad = -1;
	}
out:
	walk_end(&w);
	return bad;
}

/* Reads blocks up to the index, and keeps their positions in e; 0 or -1. */
static int
copy_blocks(struct walk *w, struct vs_entry **e, size_t *n, uint64_t *off)
{
	struct vs_reader *r = w->r;
	uint64_t rec = 0;
	size_t cap = 0;

	for (*off = r->first;; ++*n) {
		struct vs_job *j = *n ? walk_free_job(w) : &r->first_job;
		int k;

		if (!j)
			return -1;
		j->no = *n;
		j->off = *off;
		j->rec = rec;
		j->head.before = *n ? (*e)[*n - 1].n : 0;
		k = vs_get_block(r, j);
		if (k <= 0) {
			if (walk_drain(w) != 0)
				return -1;
			if (k && !vs_index_contradicts(r, *n, *off, w->f))
				*w->f = j->fault;
			return k;
		}
		if (buf_grow(e, &cap, *n + 1, sizeof(**e)) != 0) {
			fault_set(w->f, *off, rec, VS_NOMEM);
			return -1;
		}
		(*e)[*n] = (struct vs_entry){
			.off = *off, .rec = rec, .size = j->head.size, .n = (uint32_t)j->head.n
		};
		walk_part(j, rec, j->head.n);
		*off += j->head.size;
		rec += j->head.n;
		if (j->head.whole) {
			if (walk_whole(w, j) != 0)
				return -1;
			r->first_whole |= !*n;
			r->m.primed |= !*n;
			continue;
		}
		if (*n && !r->m.primed) {
			if (vs_first(r, 1, w->f) != 0)
				return -1;
			vs_first_drop(r);       /* it was passed */
		}
		if (*n) {
			pool_submit(w->par, j);
			continue;
		}
		if (!vs_reader_work(r)) {
			fault_set(w->f, j->off, 0, VS_NOMEM);
			return -1;
		}
		if (vs_decode_job(&r->m, r->work, j) == 0)
			walk_render(w, j);
		if (walk_emit(w, j) != 0)
			return -1;
		buf_free(&j->raw);
		r->have_first = 1;
	}
}

int
vs_copy(struct vs_reader *r, unsigned threads, vs_sink *fn, void *arg, struct fault *f)
{
	struct walk w = { .r = r, .threads = threads, .sink = fn, .arg = arg, .f = f };
	struct vs_entry *e = NULL;
	uint64_t off;
	size_t n = 0;
	int bad = -1;

	if (r->indexed && r->src.seeks) {       /* it is read again */
		free(r->entry);
		free(r->tail);
		r->entry = NULL;
		r->tail = NULL;
		r->indexed = 0;
	}
	if (walk_begin(&w) != 0 || copy_blocks(&w, &e, &n, &off) != 0)
		goto out;
	if (vs_get_index(r, off, e, n, f) != 0) {
		vs_index_contradicts(r, n, off, f);
		goto out;
	}
	if (vs_sum_word(w.sum) != r->sum) {
		fault_set(f, off, UINT64_MAX, "the values are not those that were compressed");
		goto out;
	}
	if (r->index.ntail && fn(arg, r->tail, r->index.ntail) != 0) {
		f->err[0] = '\0';
		goto out;
	}
	bad = 0;
out:
	walk_end(&w);
	free(e);
	return bad;
}
