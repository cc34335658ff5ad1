/* Value streams: the writer. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "engine/codec/streampriv.h"

#define NEAR 21                 /* twentieths of what the blocks of a group take: so near must zstd come for LZMA to be tried */

#define FAR  3                  /* halves of it: what a quick look finds so much larger is not near */

/*
 * The first block is coded by itself, as the others need its primers.  These
 * are made in groups if LZ may be best for several of them together: they wait
 * then, coded, until it was tried.
 */

/* A block that waits */
struct held {
	size_t n, size;
	struct vs_sum sum;
};

struct vs_writer {
	struct vs_common m;
	vs_sink *sink;
	void *arg;
	unsigned threads;
	struct vc_work *work[VS_THREADS];       /* owned; NULL: not made */
	struct par *par;                        /* owned */
	struct vs_job *job;                     /* owned: njob */
	size_t njob, next;                      /* the one that is being filled */
	size_t done;                            /* blocks written */
	size_t first;                           /* records in the first block */
	struct vs_block *model;                 /* the first block, until the primers are made */
	size_t before, submitted;               /* in the last one that was written; that was submitted */
	uint64_t off, nrec;
	size_t most;                            /* records of a group, at most; 0: there are no groups */
	size_t group, ngroup;                   /* records of the next group, 0: none; of the present one */
	struct buf grouped, waiting;            /* its bytes; its blocks, coded */
	struct held *held;                      /* owned: nheld of them */
	size_t nheld, heldcap;
	struct vs_job whole;                    /* the group as one block */
	struct buf index;                       /* the entries */
	struct vs_sum sum;
	int bad;
	struct vs_fault fault;
};

static int
fail(struct vs_writer *w, const char *what)
{
	if (!w->bad)
		vs_set_fault(&w->fault, w->off, UINT64_MAX, "%s", what);
	w->bad = 1;
	return -1;
}

static int
sink(struct vs_writer *w, const struct buf *b)
{
	if (b->nomem)
		return fail(w, VS_NOMEM);
	if (w->sink(w->arg, b->p, b->n) != 0)
		return fail(w, strerror(errno));
	w->off += b->n;
	return 0;
}

static void
work(void *arg, unsigned thread, void *job)
{
	struct vs_writer *w = arg;
	struct vs_job *j = job;
	struct vc_work *tables = vs_job_work(&w->work[thread], j);

	if (!tables)
		return;
	if (vs_split(&w->m.info.layout, &j->b, j->raw.p, j->raw.n / w->m.record) != 0) {
		vs_job_fail(j, j->off, VS_NOMEM);
		return;
	}
	if (!j->no)             /* a long one */
		buf_free(&j->raw);
	vs_encode_job(&w->m, tables, j);
}

/* A block of n records that is coded, behind one of w->before */
static void
enter(struct vs_writer *w, size_t n, size_t size, struct vs_sum sum)
{
	vs_put_num(&w->index, n == w->before ? 0 : n);
	vs_put_num(&w->index, size);
	w->sum = vs_sum_cat(w->sum, sum);
	w->before = n;
	w->done++;
}

/* A block that is coded is written, or waits for the others of its group */
static int
take(struct vs_writer *w, struct vs_job *j)
{
	if (w->bad)
		return -1;
	if (j->bad)
		return fail(w, j->fault.err);
	if (!w->group) {
		enter(w, j->b.n, j->coded.n, j->sum);
		return sink(w, &j->coded);
	}
	if (buf_grow(&w->held, &w->heldcap, w->nheld + 1, sizeof(*w->held)) != 0)
		return fail(w, VS_NOMEM);
	w->held[w->nheld++] = (struct held){ j->b.n, j->coded.n, j->sum };
	buf_add(&w->waiting, j->coded.p, j->coded.n);
	return w->waiting.nomem ? fail(w, VS_NOMEM) : 0;
}

/* How long groups are, n records being len bytes as LZMA; how long they might be to be quick */
static size_t
choose_group(struct vs_writer *w, size_t n, size_t len)
{
	size_t quick = vc_group_values(n, n * w->m.record, len);

	w->group = quick < w->m.info.block ? w->m.info.block : quick > w->most ? w->most : quick;
	return quick;
}

/* The group as one block of LZMA: how long the next one should be follows from it.  0, or -1 without memory. */
static int
lump_lzma(struct vs_writer *w, struct vs_common *m)
{
	struct vs_job *j = &w->whole;
	struct buf fast = j->coded;
	int bad;

	j->coded = (struct buf)BUF_INIT;
	m->method = VC_LZ;
	bad = vs_encode_job(m, w->work[0], j);
	if (!bad) {
		size_t quick = choose_group(w, w->ngroup, j->coded.n);

		if (j->coded.n < fast.n && w->ngroup / 3 < quick / 2) {
			buf_free(&fast);
			return 0;
		}
	}
	buf_free(&j->coded);
	j->coded = fast;
	return bad ? -1 : 0;
}

/* Is the group, by a quick look at what LZ would make of it, far from what its blocks are?  -1: no memory */
static int
lump_far(struct vs_writer *w, const struct vs_common *m)
{
	const struct vs_block *b = &w->whole.b;
	size_t all = 0, n;

	for (unsigned c = 0; c < vs_columns(&m->info.layout); c++) {
		if (!b->col[c].n)
			continue;
		if (vc_quick_size(w->work[0], m->prime[c], &b->col[c], &n) != 0)
			return -1;
		all += n;
	}
	return all / FAR > w->waiting.n / 2;
}

/* The group as one block by LZ alone, which finds in it what blocks cannot have: 1 if that is smaller, -1 without memory */
static int
lump(struct vs_writer *w)
{
	struct vs_common m = { .info = w->m.info, .record = w->m.record, .level = 1, .method = -1 };
	struct vs_job *j = &w->whole;
	int far;

	j->head.before = w->before;
	memcpy(m.prime, w->m.prime, sizeof(m.prime));
	if (vs_split(&m.info.layout, &j->b, w->grouped.p, w->ngroup) != 0)
		return -1;
	if (w->m.record > 1 && (far = lump_far(w, &m)) != 0)
		return far < 0 ? -1 : 0;
	if (vs_encode_job(&m, w->work[0], j) != 0)
		return -1;
	if (vc_noise(j->coded.n, w->grouped.n))
		choose_group(w, w->ngroup, 0);
	else if ((j->coded.n / NEAR <= w->waiting.n / 20 || w->m.record == 1) && lump_lzma(w, &m) != 0)
		return -1;
	return j->coded.n < w->waiting.n;
}

/* All blocks of the group are coded: they are written, or the one that they are together */
static int
end_group(struct vs_writer *w)
{
	struct vs_job *j;
	int one = 0;

	while (w->par && (j = par_get(w->par)))
		if (take(w, j) != 0)
			return -1;
	if (w->bad || !w->nheld)
		return w->bad ? -1 : 0;
	one = lump(w);
	if (one < 0)
		return fail(w, VS_NOMEM);
	if (one) {
		enter(w, w->ngroup, w->whole.coded.n, w->whole.sum);
		one = sink(w, &w->whole.coded);
	} else {
		for (size_t i = 0; i < w->nheld; i++)
			enter(w, w->held[i].n, w->held[i].size, w->held[i].sum);
		one = sink(w, &w->waiting);
	}
	w->grouped.n = w->waiting.n = w->nheld = w->ngroup = 0;
	return one;
}

/* Records of the block before the next one to be submitted */
static size_t
before(const struct vs_writer *w)
{
	return w->ngroup ? w->submitted : w->group ? w->before : w->submitted;
}

/* Unless it was told, how long blocks are follows from the first one; so does if there are groups */
static void
choose_block(struct vs_writer *w, const struct vs_job *first)
{
	const struct vs_layout *y = &w->m.info.layout;
	size_t n;
	unsigned widest = 0, lz = w->m.level > 8;

	for (unsigned c = 0; c < vs_columns(y); c++) {
		if (first->b.col[c].width > first->b.col[widest].width)
			widest = c;
		lz |= first->b.col[c].n && first->head.col[c].method == VC_LZ;
	}
	if (!w->m.info.block) {
		n = vc_block_values(w->m.level, (enum vc_method)first->head.col[widest].method, first->b.n, vs_columns(y),
		    first->coded.n);
		w->m.info.block = n < VS_GROUP ? (uint32_t)n : VS_GROUP;
	}
	if (lz && w->most >= w->m.info.block)
		choose_group(w, first->b.n, first->coded.n);
}

/* The first block is coded here, since the others need its primers; they are made when there is another one */
static int
submit(struct vs_writer *w)
{
	struct vs_job *j = &w->job[w->next];
	size_t n = j->raw.n / w->m.record;
	int start = !w->nrec;

	j->no = w->done;
	j->head.before = before(w);
	w->submitted = n;
	if (start) {
		work(w, 0, j);
		w->nrec += n;
		if (take(w, j) != 0)
			return -1;
		choose_block(w, j);
		buf_free(&j->coded);
		w->model = &j->b;
		return 0;
	}
	w->nrec += n;
	if (w->group) {
		w->ngroup += n;
		buf_add(&w->grouped, j->raw.p, j->raw.n);
		if (w->grouped.nomem)
			return fail(w, VS_NOMEM);
	}
	if (w->model) {
		if (vs_make_primes(&w->m, w->work[0], w->model) != 0)
			return fail(w, VS_NOMEM);
		vs_block_free(w->model);
		w->model = NULL;
	}
	if (!w->par && !(w->par = par_new(w->threads, work, w)))
		return fail(w, VS_NOMEM);
	if (par_full(w->par) && take(w, par_get(w->par)) != 0)
		return -1;
	par_put(w->par, j);
	return 0;
}

/* The job to be filled: one that is not under way */
static void
advance(struct vs_writer *w)
{
	w->next = (w->next + 1) % w->njob;
	w->job[w->next].raw.n = 0;
}

struct vs_writer *
vs_create(vs_sink *fn, void *arg, const struct vs_options *o, struct vs_fault *f)
{
	struct vs_writer *w = calloc(1, sizeof(*w));
	struct buf b = BUF_INIT;

	vs_set_fault(f, 0, UINT64_MAX, VS_NOMEM);
	if (!w)
		return NULL;
	w->sink = fn;
	w->arg = arg;
	w->threads = o->threads;
	w->most = o->group;
	w->first = o->first ? o->first : o->block;
	w->m.info = (struct vs_info){ .layout = o->layout, .block = o->block };
	w->m.record = vs_record_size(&o->layout);
	w->m.level = o->level;
	w->m.method = o->method;
	w->njob = o->threads == 1 ? 2 : 2 * o->threads + 1;
	w->job = calloc(w->njob, sizeof(*w->job));
	if (w->job) {
		vs_put_header(&b, o);
		sink(w, &b);
		buf_free(&b);
		*f = w->fault;
	}
	if (!w->job || w->bad) {
		vs_free(w);
		return NULL;
	}
	return w;
}

/* Records of the block that is being filled */
static size_t
records(const struct vs_writer *w)
{
	return w->nrec ? w->m.info.block : w->first;
}

int
vs_write(struct vs_writer *w, const void *p, size_t n)
{
	const uint8_t *from = p;

	while (n && !w->bad) {
		struct buf *b = &w->job[w->next].raw;
		size_t full = records(w) * w->m.record;
		size_t k = full - b->n < n ? full - b->n : n;

		/* a block that is full stays until there is more: the last one may be */
		if (!k) {
			if (submit(w) == 0)
				advance(w);
			if (w->group && w->ngroup + w->m.info.block > w->group)
				end_group(w);
			continue;
		}
		buf_add(b, from, k);
		if (b->nomem)
			return fail(w, VS_NOMEM);
		from += k;
		n -= k;
	}
	return w->bad ? -1 : 0;
}

/* A record at a time, through a buffer of some */
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
	vs_put_num(&b, w->done);
	buf_add(&b, w->index.p, w->index.n);
	b.nomem |= w->index.nomem;
	vs_put_num(&b, ntail);
	buf_add(&b, tail, ntail);
	buf_le64(&b, vs_sum_word(w->sum));
	if (!b.nomem) {
		buf_le32(&b, vs_crc(b.p, b.n, 0));
		buf_le32(&b, (uint32_t)b.n);
		buf_add(&b, vs_magic_end, sizeof(vs_magic_end));
	}
	bad = sink(w, &b);
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
		submit(w);
	while (w->par && !w->bad && (j = par_get(w->par)))
		take(w, j);
	if (w->group)
		end_group(w);
	return w->bad ? -1 : put_index(w, tail, ntail);
}

const struct vs_fault *
vs_write_fault(const struct vs_writer *w)
{
	return &w->fault;
}

void
vs_free(struct vs_writer *w)
{
	if (!w)
		return;
	par_free(w->par);
	for (size_t i = 0; w->job && i < w->njob; i++)
		vs_job_free(&w->job[i]);
	free(w->job);
	for (unsigned i = 0; i < VS_THREADS; i++)
		vc_work_free(w->work[i]);
	vs_job_free(&w->whole);
	buf_free(&w->grouped);
	buf_free(&w->waiting);
	free(w->held);
	buf_free(&w->index);
	vs_common_free(&w->m);
	free(w);
}
