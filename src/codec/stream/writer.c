/* Value streams: the writer, which fills blocks, codes them in threads and writes them in order. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "codec/stream/group_internal.h"

#define SHORT 2048      /* a block with fewer records is not divided, however long it takes to decode */

/*
 * The first block is coded alone, because the others need its primers. These are coded in groups if
 * LZ may be best for several together.
 */

struct vs_writer {
	struct vs_common m;
	vs_sink *sink;
	void *arg;
	unsigned threads;
	struct vc_work *work[VS_THREADS];       /* owned; NULL: not allocated yet */
	struct par *par;                        /* owned */
	struct vs_job *job;                     /* owned: njob */
	size_t njob, next;                      /* next: the one being filled */
	size_t done;                            /* blocks written */
	size_t first;                           /* records in the first block */
	struct vs_block *model;                 /* the first block, until the primers are made */
	size_t before;                          /* records in the last block written */
	int free;                               /* the length of blocks is derived from their coded size */
	struct buf block;                       /* the block being written */
	uint64_t off, nrec;
	size_t most;                            /* records of a group, at most; 0: no groups */
	struct vs_group group;
	struct buf index;                       /* the index entries */
	struct vs_sum sum;
	int bad;
	struct fault fault;
};

static int
stream_fail(struct vs_writer *w, const char *what)
{
	if (!w->bad)
		fault_set(&w->fault, w->off, UINT64_MAX, "%s", what);
	w->bad = 1;
	return -1;
}

static int
stream_sink(struct vs_writer *w, const uint8_t *p, size_t n)
{
	if (w->sink(w->arg, p, n) != 0)
		return stream_fail(w, strerror(errno));
	w->off += n;
	return 0;
}

static int
sink_buf(struct vs_writer *w, const struct buf *b)
{
	return b->nomem ? stream_fail(w, VS_NOMEM) : stream_sink(w, b->p, b->n);
}

/* The columns with values, of the last part of a job; returns their number. */
static unsigned
coded_columns(const struct vs_writer *w, const struct vs_job *j, struct vc_coded col[VS_COLUMNS])
{
	unsigned n = 0;

	for (unsigned c = 0; c < vs_columns(&w->m.info.layout); c++) {
		const struct vs_stat *s = &j->part[j->npart - 1].head.col[c];

		if (s->n)
			col[n++] = (struct vc_coded){ (enum vc_method)s->method, s->n, s->size,
				j->b.col[c].width, vs_columns(&w->m.info.layout) };
	}
	return n;
}

/* The number of blocks that the last part of a job should become, so that none takes too long to decode. */
static size_t
stream_blocks(const struct vs_writer *w, const struct vs_job *j)
{
	struct vc_coded col[VS_COLUMNS];
	double ns = 0;

	if (!j->no || !w->free || j->b.n < SHORT)
		return 1;
	for (unsigned c = coded_columns(w, j, col); c-- > 0;)
		ns += vc_decode_ns(&col[c]);
	return (size_t)(ns / VC_SLOW) + 1;
}

/* Codes n records of a job as one block, or as several of equal difficulty. */
static void
stream_encode(const struct vs_writer *w, struct vc_work *tables, struct vs_job *j, size_t from, size_t n)
{
	size_t old = j->coded.n, k;

	if (vs_split(&w->m.info.layout, &j->b, j->raw.p + from * w->m.record, n) != 0)
		vs_job_fail(j, j->off, VS_NOMEM);
	if (!j->no)             /* a long one */
		buf_free(&j->raw);
	if (j->bad || vs_encode_part(&w->m, tables, j) != 0)
		return;
	k = stream_blocks(w, j);
	if (k == 1)
		return;
	j->npart--;
	j->coded.n = old;
	for (size_t to = from + n; k; k--) {
		stream_encode(w, tables, j, from, (to - from) / k);
		from += (to - from) / k;
	}
}

static void
stream_work(void *arg, unsigned thread, void *job)
{
	struct vs_writer *w = arg;
	struct vs_job *j = job;
	struct vc_work *tables = vs_job_work(&w->work[thread], &w->m, j);

	if (!tables)
		return;
	j->npart = j->coded.n = 0;
	stream_encode(w, tables, j, 0, j->raw.n / w->m.record);
}

/* Writes a coded block. */
static int
stream_enter(struct vs_writer *w, size_t n, const uint8_t *p, size_t size, struct vs_sum sum)
{
	buf_varint(&w->index, n == w->before ? 0 : n);
	buf_varint(&w->index, size);
	w->sum = vs_sum_cat(w->sum, sum);
	w->before = n;
	w->done++;
	return stream_sink(w, p, size);
}

/* Writes what is coded, or adds it to its group. */
static int
stream_collect(struct vs_writer *w, struct vs_job *j)
{
	const uint8_t *columns = j->coded.p;

	if (w->bad)
		return -1;
	if (j->bad)
		return stream_fail(w, j->fault.err);
	for (size_t k = 0; k < j->npart; k++) {
		struct vs_part *q = &j->part[k];

		w->block.n = 0;
		if (w->group.m ? vs_group_add_block(&w->group, q, columns, w->before) != 0
		    : vs_put_block(&w->m.info, q, w->before, columns, &w->block) != 0)
			return stream_fail(w, VS_NOMEM);
		if (!w->group.m && stream_enter(w, q->head.n, w->block.p, w->block.n, q->sum) != 0)
			return -1;
		columns += q->head.size;
	}
	return 0;
}

/* Ends a narrow group, whose blocks are coded; if it is the last one of a wide group, writes that. */
static int
end_group(struct vs_writer *w, int wide)
{
	struct vs_group *g = &w->group;
	struct vs_job *j;

	while (w->par && (j = pool_wait(w->par)))
		if (stream_collect(w, j) != 0)
			return -1;
	if (w->bad)
		return -1;
	if (vs_group_end_narrow(g, w->work[0], w->before) != 0 ||
	    (wide && vs_group_end_wide(g, w->work[0], w->before) != 0))
		return stream_fail(w, VS_NOMEM);
	if (!wide)
		return 0;
	for (size_t i = 0, at = 0; i < g->nheld; at += g->held[i++].size)
		if (stream_enter(w, g->held[i].n, g->coded.p + at, g->held[i].size, g->held[i].sum) != 0)
			return -1;
	vs_group_clear(g);
	return 0;
}

/*
 * Unless options set it, the length of blocks is derived from the first one, and so is whether
 * there are groups.
 */
static void
choose_block(struct vs_writer *w, const struct vs_job *first)
{
	struct vc_coded col[VS_COLUMNS];
	unsigned n = coded_columns(w, first, col), lz = w->m.level > 8;

	for (unsigned c = 0; c < n; c++)
		lz |= col[c].method == VC_LZ;
	if (w->free)
		w->m.info.block = (uint32_t)vc_block_values(w->m.level, first->b.n, col, n);
	if (lz && w->most >= w->m.info.block)
		vs_group_start(&w->group, &w->m, w->most, first->b.n, first->coded.n);
}

/*
 * Codes the first block here, because the others need its primers, which are made when there is
 * another block.
 */
static int
stream_submit(struct vs_writer *w)
{
	struct vs_job *j = &w->job[w->next];
	size_t n = j->raw.n / w->m.record;
	int start = !w->nrec;

	j->no = w->done;
	if (start) {
		stream_work(w, 0, j);
		w->nrec += n;
		if (stream_collect(w, j) != 0)
			return -1;
		choose_block(w, j);
		buf_free(&j->coded);
		w->model = &j->b;
		return 0;
	}
	w->nrec += n;
	if (w->group.m && vs_group_add_records(&w->group, &j->raw) != 0)
		return stream_fail(w, VS_NOMEM);
	if (w->model) {
		if (vs_make_primes(&w->m, w->work[0], w->model) != 0)
			return stream_fail(w, VS_NOMEM);
		vs_block_free(w->model);
		w->model = NULL;
	}
	if (!w->par && !(w->par = pool_new(w->threads, stream_work, w)))
		return stream_fail(w, VS_NOMEM);
	if (pool_is_full(w->par) && stream_collect(w, pool_wait(w->par)) != 0)
		return -1;
	pool_submit(w->par, j);
	return 0;
}

/* The job to fill: one that is not in use. */
static void
stream_advance(struct vs_writer *w)
{
	w->next = (w->next + 1) % w->njob;
	w->job[w->next].raw.n = 0;
}

struct vs_writer *
vs_create(vs_sink *fn, void *arg, const struct vs_options *o, struct fault *f)
{
	struct vs_writer *w = calloc(1, sizeof(*w));
	struct buf b = BUF_INIT;

	fault_set(f, 0, UINT64_MAX, VS_NOMEM);
	if (!w)
		return NULL;
	w->sink = fn;
	w->arg = arg;
	w->threads = o->threads;
	w->most = o->group;
	w->free = !o->block;
	w->first = o->first ? o->first : o->block;
	w->m.info = (struct vs_info){ .layout = o->layout, .block = o->block };
	w->m.record = vs_record_size(&o->layout);
	w->m.level = o->level;
	w->m.method = o->method;
	w->njob = o->threads == 1 ? 2 : 2 * o->threads + 1;
	w->job = calloc(w->njob, sizeof(*w->job));
	if (w->job) {
		vs_put_header(&b, o);
		sink_buf(w, &b);
		buf_free(&b);
		*f = w->fault;
	}
	if (!w->job || w->bad) {
		vs_free(w);
		return NULL;
	}
	return w;
}

/* Records of the block that is being filled. */
static size_t
stream_records(const struct vs_writer *w)
{
	return w->nrec ? w->m.info.block : w->first;
}

/* Ends the groups that have no room for another block. */
static void
end_groups(struct vs_writer *w)
{
	const struct vs_group *g = &w->group;
	int wide = g->n + w->m.info.block > g->wide;

	if (g->m && (wide || g->n - g->done.n + w->m.info.block > g->narrow))
		end_group(w, wide);
}

int
vs_write(struct vs_writer *w, const void *p, size_t n)
{
	const uint8_t *from = p;

	while (n && !w->bad) {
		struct buf *b = &w->job[w->next].raw;
		size_t full = stream_records(w) * w->m.record;
		size_t k = full - b->n < n ? full - b->n : n;

		/* a full block stays until there are more records: it may be the last one */
		if (!k) {
			if (stream_submit(w) == 0)
				stream_advance(w);
			end_groups(w);
			continue;
		}
		buf_add(b, from, k);
		if (b->nomem)
			return stream_fail(w, VS_NOMEM);
		from += k;
		n -= k;
	}
	return w->bad ? -1 : 0;
}

/* Buffers single records. */
int
vs_put(struct vs_writer *w, const uint64_t *v, size_t n)
{
	const struct vs_layout *y = &w->m.info.layout;
	uint8_t b[4096], *p = b;

	for (; n && !w->bad; n--) {
		for (unsigned f = 0; f < y->nfield; f++) {
			uint64_t x = *v++;

			for (unsigned i = 0; i < y->width[f]; i++, x >>= 8)
				*p++ = (uint8_t)x;
		}
		if (n == 1 || (size_t)(p - b) + w->m.record > sizeof(b)) {
			vs_write(w, b, (size_t)(p - b));
			p = b;
		}
	}
	return w->bad ? -1 : 0;
}

static int
put_index(struct vs_writer *w, const uint8_t *tail, size_t ntail)
{
	struct buf b = BUF_INIT;
	int bad;

	buf_u8(&b, 0);
	buf_varint(&b, w->done);
	buf_add(&b, w->index.p, w->index.n);
	b.nomem |= w->index.nomem;
	buf_varint(&b, ntail);
	buf_add(&b, tail, ntail);
	buf_le64(&b, vs_sum_word(w->sum));
	if (!b.nomem) {
		buf_le32(&b, vs_crc(b.p, b.n, 0));
		buf_le32(&b, (uint32_t)b.n);
		buf_add(&b, vs_magic_end, sizeof(vs_magic_end));
	}
	bad = sink_buf(w, &b);
	buf_free(&b);
	return bad;
}

int
vs_finish(struct vs_writer *w)
{
	struct buf *raw = &w->job[w->next].raw;
	uint8_t tail[VS_FIELDS * 8];
	size_t ntail = raw->n % w->m.record;
	struct vs_job *j;

	if (ntail)
		memcpy(tail, raw->p + raw->n - ntail, ntail);
	raw->n -= ntail;
	if (raw->n && !w->bad)
		stream_submit(w);
	while (w->par && !w->bad && (j = pool_wait(w->par)))
		stream_collect(w, j);
	if (w->group.m)
		end_group(w, 1);
	return w->bad ? -1 : put_index(w, tail, ntail);
}

const struct fault *
vs_write_fault(const struct vs_writer *w)
{
	return &w->fault;
}

void
vs_free(struct vs_writer *w)
{
	if (!w)
		return;
	pool_free(w->par);
	for (size_t i = 0; w->job && i < w->njob; i++)
		vs_job_free(&w->job[i]);
	free(w->job);
	for (unsigned i = 0; i < VS_THREADS; i++)
		vc_work_free(w->work[i]);
	vs_group_free(&w->group);
	buf_free(&w->block);
	buf_free(&w->index);
	vs_common_free(&w->m);
	free(w);
}
