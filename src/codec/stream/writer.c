/* Value streams: the writer, which fills blocks, codes them in threads and writes them in order. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "codec/stream/writer_internal.h"

#define SHORT 2048      /* a block with fewer records is not divided, however long it takes to decode */

/*
 * The first block is coded alone, because the others need its primers. These may be coded in
 * groups, which LZ may make smaller.
 */

int
vs_writer_fail(struct vs_writer *w, const char *what)
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
		return vs_writer_fail(w, strerror(errno));
	w->off += n;
	return 0;
}

static int
sink_buf(struct vs_writer *w, const struct buf *b)
{
	return b->nomem ? vs_writer_fail(w, VS_NOMEM) : stream_sink(w, b->p, b->n);
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
stream_encode(void *arg, struct vc_work *tables, struct vs_job *j, size_t from, size_t n)
{
	struct vs_writer *w = arg;
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

void
vs_writer_work(void *arg, unsigned thread, void *job)
{
	struct vs_writer *w = arg;
	struct vs_job *j = job;
	struct vc_work *tables = vs_job_work(&w->work[thread], &w->m, j);

	if (!tables)
		return;
	j->npart = j->coded.n = 0;
	if (!j->no)
		w->first_work = tables;
	if (j->no && w->group.wide)
		vs_group_encode(w->group, &w->m, tables, j, &w->whole[thread], stream_encode, w);
	else
		stream_encode(w, tables, j, 0, j->raw.n / w->m.record);
}

int
vs_writer_put(struct vs_writer *w, size_t n, size_t before, const uint8_t *p, size_t size)
{
	buf_varint(&w->index, n == before ? 0 : n);
	buf_varint(&w->index, size);
	w->written++;
	return stream_sink(w, p, size);
}

/* Writes a coded block, or adds it to its unit. */
static int
stream_enter(struct vs_writer *w, size_t n, const uint8_t *p, size_t size, struct vs_sum sum)
{
	size_t before = w->before;

	w->sum = vs_sum_cat(w->sum, sum);
	w->before = n;
	w->done++;
	return w->unit.most ? vs_unit_enter(w, n, p, size) : vs_writer_put(w, n, before, p, size);
}

int
vs_writer_collect(struct vs_writer *w, struct vs_job *j)
{
	const uint8_t *columns = j->coded.p;

	if (w->bad)
		return -1;
	if (j->bad)
		return vs_writer_fail(w, j->fault.err);
	for (size_t k = 0; k < j->npart; k++) {
		struct vs_part *q = &j->part[k];

		w->block.n = 0;
		if (vs_put_block(&w->m.info, q, w->before, columns, &w->block) != 0)
			return vs_writer_fail(w, VS_NOMEM);
		if (stream_enter(w, q->head.n, w->block.p, w->block.n, q->sum) != 0)
			return -1;
		columns += q->head.size;
	}
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
	if (w->m.info.block > w->longest)
		w->m.info.block = w->longest;
	if (w->most >= w->m.info.block)
		vs_group_start(&w->group, &w->m, w->most, lz, first->b.n, first->coded.n);
}

size_t
vs_writer_records(const struct vs_writer *w)
{
	return !w->nrec ? w->first : w->group.wide ? w->group.wide : w->m.info.block;
}

int
vs_writer_first(struct vs_writer *w, struct vs_job *j)
{
	if (vs_writer_collect(w, j) != 0)
		return -1;
	choose_block(w, j);
	buf_free(&j->coded);
	w->model = &j->b;
	w->chosen = 1;
	return 0;
}

/* The job to fill: one that is not in use. */
static void
stream_advance(struct vs_writer *w)
{
	w->next = (w->next + 1) % w->njob;
	w->job[w->next].raw.n = 0;
}

/* The primers are made when there is a block after the first one. */
static int
stream_prime(struct vs_writer *w)
{
	if (!w->model)
		return 0;
	if (vs_make_primes(&w->m, w->first_work, w->model) != 0)
		return vs_writer_fail(w, VS_NOMEM);
	vs_block_free(w->model);
	w->model = NULL;
	return 0;
}

/*
 * The job that is full is coded.  Outside units, the first block is coded here: the others have to wait for it.
 */
int
vs_writer_submit(struct vs_writer *w)
{
	struct vs_job *j = &w->job[w->next];
	int first = !w->nrec;

	j->no = first ? 0 : w->done;
	w->nrec += j->raw.n / w->m.record;
	if (first && !w->unit.most) {
		vs_writer_work(w, 0, j);
		if (vs_writer_first(w, j) != 0)
			return -1;
		stream_advance(w);
		return 0;
	}
	if (!first && stream_prime(w) != 0)
		return -1;
	if (!w->par && !(w->par = pool_new(w->threads, vs_writer_work, w)))
		return vs_writer_fail(w, VS_NOMEM);
	if (pool_is_full(w->par) && vs_writer_collect(w, pool_wait(w->par)) != 0)
		return -1;
	pool_submit(w->par, j);
	stream_advance(w);
	return 0;
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
	w->longest = o->block ? o->block : o->most ? o->most : VS_GROUP;
	w->first = o->first ? o->first : o->block;
	w->m.info = (struct vs_info){ .layout = o->layout, .block = o->block, .version = VS_VERSION };
	w->m.record = vs_record_size(&o->layout);
	w->m.level = o->level;
	w->m.method = o->method;
	w->unit.most = o->unit / w->m.record * w->m.record;
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

/* Codes all whole records that there are, and ends what waits. */
static int
stream_flush(struct vs_writer *w)
{
	struct vs_job *j;

	if (w->unit.most)
		return vs_unit_flush(w);
	if (w->job[w->next].raw.n && !w->bad)
		vs_writer_submit(w);
	while (w->par && !w->bad && (j = pool_wait(w->par)))
		vs_writer_collect(w, j);
	return w->bad ? -1 : 0;
}

int
vs_write(struct vs_writer *w, const void *p, size_t n)
{
	const uint8_t *from = p;

	if (w->unit.most) {
		vs_unit_write(w, p, n);
		return w->bad ? -1 : 0;
	}
	while (n && !w->bad) {
		struct buf *b = &w->job[w->next].raw;
		size_t full = vs_writer_records(w) * w->m.record;
		size_t k = full - b->n < n ? full - b->n : n;

		/* a full block stays until there are more records: it may be the last one */
		if (!k) {
			vs_writer_submit(w);
			continue;
		}
		buf_add(b, from, k);
		if (b->nomem)
			return vs_writer_fail(w, VS_NOMEM);
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
	buf_varint(&b, w->written);
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
	struct buf *raw = w->unit.most ? &w->unit.raw : &w->job[w->next].raw;
	uint8_t tail[VS_FIELDS * 8];
	size_t ntail = raw->n % w->m.record;

	if (ntail)
		memcpy(tail, raw->p + raw->n - ntail, ntail);
	raw->n -= ntail;
	return stream_flush(w) != 0 ? -1 : put_index(w, tail, ntail);
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
	for (unsigned i = 0; i < VS_THREADS; i++) {
		vc_work_free(w->work[i]);
		vs_job_free(&w->whole[i]);
	}
	vs_unit_free(w);
	buf_free(&w->block);
	buf_free(&w->index);
	vs_common_free(&w->m);
	free(w);
}
