/*
 * Blocks of values: the choice among the methods, by coded size.
 *
 * The rule of vc_encode:
 *
 *   level 0           stored
 *   level 1 to 3      fast (zstd), at a level of zstd that grows with the level
 *   level 4 to 9, at most SMALL values
 *                     cm, cm-delta and fast are all tried
 *   level 4 to 9, a first block (or the only one)
 *                     cm or cm-delta, whichever codes a sample smaller.  lz (LZMA) is tried, too, if
 *                     zstd comes near that on the sample: within NEAR of it at level 9, below it at
 *                     the others.  A sample has no repetitions over long distances, so zstd codes the
 *                     whole block as well, as at level 3, unless a quick run shows that this is far
 *                     (HOPE).  Where the sample spoke against lz,
 *                     level 9 asks zstd of the whole block about that (WHOLE, XZ).
 *                     Level 9 takes a longer sample, and codes the block by both kinds where the
 *                     shorter one is for another.
 *   level 4 to 9, a later block
 *                     the kind of context mixing that was better in the first block.  lz is tried, too,
 *                     for one in COIN of the blocks that come out large (more than 1 / BAD of the
 *                     values' bytes), if zstd is at least GAIN better on a sample.
 *
 * The smallest result is kept.  A block is stored uncompressed if none is smaller than its values.
 *
 * The factors trade time for size.  They were tuned on value and address streams of traced programs
 * (gzip and xmllint among them) and on files, by the times and sizes that experiments/bifcm and
 * wetz print, and follow from no theory.  They do not change the format: any choice decodes.
 */
#include "codec/column/byteplanes.h"
#include "codec/column/scale.h"

#include <stdlib.h>
#include <string.h>

#define SMALL   256             /* most values for which every method is tried */
#define BRIEF   4096            /* the same below level 9: a wet file has many short columns */
#define SLICES  8               /* a sample consists of this many runs of values */
#define SURE    0.985           /* signed differences are taken if a sample takes less than this by them */
#define DESCRIBED 16            /* bytes that describe a grid */
#define GRIDDED 16              /* fewer values are not worth a grid */
#define LARGE   (1u << 20)      /* larger buffers are not kept for the next block */

#define NEAR    1.15            /* level 9: lz is tried if zstd is within this factor of cm on a sample */
#define WHOLE   1.05            /* the same on a whole first block where the sample spoke against lz */
#define XZ      1.25            /* the same for zstd of the plain values: LZMA gains less than that */
#define HOPE    1.5             /* fast is tried on a whole first block if a quick run is within this factor */
#define BAD     4               /* a later block is large if it takes 1 / BAD of its values' bytes */
/* lz is tried on a large block if zstd codes a sample in less than this times its share */
#define GAIN    0.95

/*
 * Most streams with large blocks have only large blocks, so it suffices to try lz now and then: if the
 * block's size is a multiple of COIN.  The size serves as a coin because it depends on the block alone,
 * not on what this thread coded before: so the output does not depend on the number of threads.
 */
#define COIN    8

/*
 * The model of decoding time (vc_decode_ns): estimates from timings made while the methods were tuned.
 * Only the order of magnitude matters, as they decide nothing but lengths of blocks.
 */
#define CM_VALUE_NS     50      /* context mixing: a value... */
#define CM_BIT_NS       75      /* ...and each of its coded bits, ... */
#define CM_BITS         6       /* ...up to this many: further bits are coded plainly, which is fast */
#define CM_COPY_NS      35e5    /* copying the primer's state, for the only column; less for others */
#define LZ_BYTE_NS      2.5     /* LZMA and zstd: a byte of values (400 MB a second) */
#define LZMA_BYTE_NS    62      /* LZMA: a coded byte (16 MB a second) */

#define BLOCK_NS        9e6     /* decoding a later block should take less than this */
#define HARD            3       /* with this many times the first block's bits it stays below VC_SLOW */
#define BLOCK_MIN       4u      /* a later block has at least this many times 1024 records... */
#define BLOCK_MAX       512u    /* ...and at most this many */

#define GROUP           (1u << 20)      /* most bytes of records that become one block of LZMA */
#define GROUP_MS        10              /* decoding such a block should take less than this */
#define LZMA_MS_BYTES   16e3            /* coded bytes in a millisecond, as LZMA_BYTE_NS has it */
#define LZ_MS_BYTES     4e5             /* bytes of values in a millisecond, as LZ_BYTE_NS has it */

/* Is m context mixing? */
static int
choose_mixes(enum vc_method m)
{
	return m >= VC_CM && m <= VC_CM_SIGNED2;
}

int
vc_is_noise(size_t len, size_t bytes)
{
	return len >= bytes - bytes / 4096;
}

int
vc_zstd_level(int level)
{
	return level <= 1 ? 7 : level == 2 ? 12 : 19;
}

/*
 * Codes col by method m, and keeps the smaller of that and what is in out after `old`.  *method is
 * the method of that; VC_STORED: there is nothing yet, and it counts as the size of the values.
 */
static int
choose_try(struct vc_work *w, const struct vc_prime *prime, const struct vc_col *col, enum vc_method m,
	enum vc_method *method, size_t old, struct buf *out)
{
	size_t size = *method == VC_STORED ? col->n * col->width : out->n - old;
	int r;

	w->best.n = 0;
	w->limit = size;
	r = vc_encode_with(w, prime, col, m, &w->best);
	w->limit = 0;
	if (r)
		return -1;
	if (w->best.n < size) {
		out->n = old;
		buf_add(out, w->best.p, w->best.n);
		*method = m;
	}
	return out->nomem ? -1 : 0;
}

/* A sample of n values, n a multiple of SLICES, from all over a column. */
static int
sample_take(struct vc_work *w, const struct vc_col *col, size_t n, struct vc_col *sample)
{
	size_t one = n / SLICES;

	*sample = *col;
	if (col->n <= n)
		return 0;
	if (!w->sample)
		w->sample = malloc(2 * VC_SAMPLE * sizeof *w->sample);
	if (!w->sample)
		return -1;
	for (size_t i = 0; i < SLICES; i++) {
		size_t from = (col->n - one) / (SLICES - 1) * i;

		memcpy(w->sample + i * one, col->v + from, one * sizeof *w->sample);
		if (col->key)
			memcpy(w->sample + VC_SAMPLE + i * one, col->key + from, one * sizeof *w->sample);
	}
	*sample = (struct vc_col){ w->sample, col->key ? w->sample + VC_SAMPLE : NULL, n, col->width,
		NULL };
	return 0;
}

int
vc_sample(struct vc_work *w, const struct vc_col *col, struct vc_col *sample)
{
	return sample_take(w, col, VC_SAMPLE, sample);
}

static size_t
sample_size(struct vc_work *w, const struct vc_col *sample, enum vc_method m)
{
	int r;

	w->best.n = 0;
	r = vc_encode_with(w, NULL, sample, m, &w->best);
	if (w->now)
		w->now->used = 0;       /* the next history may replace it */
	return r ? SIZE_MAX : w->best.n;
}

/* The smallest size of a sample by context mixing, and the kind that makes it. */
static size_t
sample_mixed(struct vc_work *w, const struct vc_col *sample, enum vc_method *m)
{
	static const enum vc_method kinds[] = { VC_CM_DELTA, VC_CM_SIGNED, VC_CM_SIGNED2 };
	size_t least = sample_size(w, sample, VC_CM);

	*m = VC_CM;
	for (size_t i = 0; !sample->key && i < (w->extended ? 3 : 1); i++) {
		size_t size = sample_size(w, sample, kinds[i]);

		/* a sample is not sure enough for signed differences: they must be better by some more */
		if ((double)size < (i && *m == VC_CM_DELTA ? SURE : 1) * (double)least) {
			least = size;
			*m = kinds[i];
		} else if (*m == VC_CM) {
			break;          /* where differences do not pay, no other kind of them does */
		}
	}
	return least;
}

/* The smallest size of a sample by the methods of that level. 0, or -1 without memory. */
static int
sample_least(struct vc_work *w, const struct vc_col *sample, int level, size_t *size)
{
	enum vc_method m;
	size_t mixed = level > 3 ? sample_mixed(w, sample, &m) : SIZE_MAX;
	unsigned kind;

	if (vc_fast_layout(w, sample, &kind, size))
		return -1;
	*size = mixed < *size ? mixed : *size;
	return 0;
}

int
vc_choose_scale(struct vc_work *w, const struct vc_col *col, int level, struct vc_scale *s)
{
	struct vc_scale found[SCALE_FOUND];
	struct vc_col sample, places;
	uint64_t *d;
	size_t least, size, other;
	unsigned n;
	int r;

	s->kind = VC_SCALE_NONE;
	if (sample_take(w, col, level > 8 ? VC_SAMPLE : BRIEF, &sample))
		return -1;
	n = scale_find(&sample, found);
	if (!n)
		return 0;
	d = malloc((sample.n + 1) * sizeof *d);
	r = d ? sample_least(w, &sample, level, &least) : -1;
	for (unsigned i = 0; !r && i < n; i++) {
		scale_origin(&found[i], col);
		other = scale_places(&found[i], &sample, d, NULL);
		places = sample;
		places.v = d;
		r = sample_least(w, &places, level, &size);
		size += (other * (sample.width + 1)) + DESCRIBED;
		if (!r && size < least && !scale_is_bad(other, sample.n)) {
			*s = found[i];
			least = size;
		}
	}
	free(d);
	return r;
}

/* A later block that came out large: tries lz for one in COIN of them, if zstd does well on a sample. */
static int
choose_retry_lzma(struct vc_work *w, const struct vc_prime *prime, const struct vc_col *col,
	enum vc_method *method, size_t old, struct buf *out)
{
	size_t coded = *method == VC_STORED ? col->n * col->width : out->n - old, size;
	struct vc_col sample;
	unsigned kind, far;

	if (*method != VC_STORED && (coded < col->n * col->width / BAD || coded % COIN))
		return 0;
	if (vc_sample(w, col, &sample) ||
	    vc_fast_out_of_reach(w, &sample, prime->layout, coded * sample.n / col->n, &far))
		return -1;
	if (far == (VC_FAR | VC_FAR_PLAIN))
		return 0;
	if (vc_fast_layout(w, &sample, &kind, &size))
		return -1;
	if ((double)size / (double)sample.n > GAIN * (double)coded / (double)col->n)
		return 0;
	return choose_try(w, prime, col, VC_LZ, method, old, out);
}

/* A first block: fast is tried as at level 3 unless a quick run shows that zstd will not come near. */
static int
choose_fast(struct vc_work *w, const struct vc_col *col, unsigned kind, enum vc_method *method, size_t old,
    struct buf *out)
{
	size_t size = *method == VC_STORED ? col->n * col->width : out->n - old, quick, plain;
	int r = 0;

	if (vc_quick_size(w, NULL, col, &plain) != 0)
		return -1;
	quick = plain;
	if (kind && vc_fast_size(w, col, kind, 1, &quick))
		return -1;
	w->level = vc_zstd_level(3);
	if (kind && (double)quick < HOPE * (double)size && !vc_is_noise(quick, col->n * col->width))
		r = choose_try(w, NULL, col, VC_FAST, method, old, out);
	w->plain = 1;
	if (!r && (double)plain < HOPE * (double)size && !vc_is_noise(plain, col->n * col->width))
		r = choose_try(w, NULL, col, VC_FAST, method, old, out);
	w->plain = 0;
	return r;
}

/*
 * A first block whose sample spoke against lz: repetitions over long distances are in no sample, so
 * zstd codes the whole block.  If it comes within WHOLE of what was chosen, lz is tried; if only zstd
 * of the plain values comes within XZ, lz is tried only as xz does it, so as not to be larger than xz.
 */
static int
choose_long_range(struct vc_work *w, const struct vc_col *col, unsigned kind, enum vc_method *method,
    size_t old, struct buf *out)
{
	size_t size = *method == VC_STORED ? col->n * col->width : out->n - old, fast, plain;
	unsigned far = 0;
	int r;

	/* single bytes are hardly ever values, but text and code: lz is tried without asking zstd */
	if (col->width > 1 && vc_fast_out_of_reach(w, col, kind, size, &far))
		return -1;
	if (far == (VC_FAR | VC_FAR_PLAIN))
		return 0;
	w->best.n = 0;
	w->level = vc_zstd_level(1);
	if (vc_encode_with(w, NULL, col, VC_FAST, &w->best))
		return -1;
	fast = plain = w->best.n;
	if (w->best.p[0] && (far & VC_FAR_PLAIN))
		plain = SIZE_MAX;
	else if (w->best.p[0] && vc_fast_size(w, col, 0, w->level, &plain))
		return -1;
	if (fast < size) {
		out->n = old;
		buf_add(out, w->best.p, w->best.n);
		*method = VC_FAST;
	}
	if (vc_is_noise(fast, col->n * col->width)
	    || (col->width > 1 && (double)fast >= WHOLE * (double)size && (double)plain >= XZ * (double)size))
		return 0;
	w->plain = (double)fast >= WHOLE * (double)size;
	r = choose_try(w, NULL, col, VC_LZ, method, old, out);
	w->plain = 0;
	return r;
}

/*
 * Level 9, a first block: *m is the kind of context mixing that a sample is for.  If the brief sample of the lower levels
 * is for another one, both are tried, so that no lower level is better.  0, or -1 without memory.
 */
static int
choose_kind(struct vc_work *w, const struct vc_col *col, enum vc_method *m)
{
	struct vc_col sample;
	enum vc_method brief;
	size_t size;

	if (sample_take(w, col, BRIEF, &sample))
		return -1;
	sample_mixed(w, &sample, &brief);
	if (brief == *m)
		return 0;
	size = sample_size(w, col, brief);
	if (size < sample_size(w, col, *m))
		*m = brief;
	return 0;
}

/*
 * Context mixing of values or of differences, whichever the first block or a sample shows to be better,
 * and lz where zstd comes near that on the sample.  lz goes first, because the primer is made of the
 * state that context mixing leaves in w.
 */
static int
choose_by_sample(struct vc_work *w, const struct vc_prime *prime, const struct vc_col *col, int level,
	enum vc_method *method, size_t old, struct buf *out)
{
	enum vc_method m = prime ? prime->hint : VC_STORED;
	struct vc_col sample;
	size_t size, mixed;
	unsigned kind;
	int lz;

	if (choose_mixes(m)) {
		w->chosen = m;
		return choose_try(w, prime, col, m, method, old, out) ? -1 :
		    choose_retry_lzma(w, prime, col, method, old, out);
	}
	for (size_t n = level > 8 ? VC_SAMPLE : BRIEF; ; n = VC_SAMPLE) {
		if (sample_take(w, col, n, &sample))
			return -1;
		mixed = sample_mixed(w, &sample, &m);
		if (vc_fast_layout(w, &sample, &kind, &size))
			return -1;
		lz = !vc_is_noise(size, sample.n * col->width) &&
		    (double)size < (level > 8 ? NEAR : 1.0) * (double)mixed;
		/* context mixing learns too little from a brief sample: only a longer one speaks for lz */
		if (!lz || n == VC_SAMPLE || col->n <= n)
			break;
	}
	if (level > 8 && !prime && choose_kind(w, col, &m))
		return -1;
	w->chosen = m;
	if ((lz && choose_try(w, prime, col, VC_LZ, method, old, out)) ||
	    choose_try(w, prime, col, m, method, old, out))
		return -1;
	w->now->layout = kind;
	if (prime)
		return 0;
	if (!lz && level > 8 && choose_long_range(w, col, kind, method, old, out))
		return -1;
	return choose_fast(w, col, kind, method, old, out);
}

/*
 * A column whose values lie on a grid that makes it smaller, or that did so in the first block: by the
 * method scaled, unless this makes it larger than its values. 1: it is not coded. 0, or -1.
 */
static int
choose_scaled(struct vc_work *w, const struct vc_prime *prime, const struct vc_col *col, int level,
    enum vc_method *method, struct buf *out)
{
	size_t old = out->n;
	int r;

	if (!w->extended || !col->scale || !level)
		return 1;
	if (!prime) {
		col->scale->kind = VC_SCALE_NONE;
		if (col->n < GRIDDED)
			return 1;
		if (vc_choose_scale(w, col, level, col->scale))
			return -1;
	}
	if (prime ? !prime->places : col->scale->kind == VC_SCALE_NONE)
		return 1;
	*method = VC_SCALED;
	r = vc_scaled_code(w, prime, col, level, out);
	if (!r && out->n - old >= col->n * col->width)
		r = 1;
	if (r)
		out->n = old;
	if (r && !prime)
		col->scale->kind = VC_SCALE_NONE;
	return r;
}

int
vc_encode(struct vc_work *w, const struct vc_prime *prime, const struct vc_col *col, int level,
	enum vc_method *method, struct buf *out)
{
	static const enum vc_method any[] = { VC_CM, VC_CM_DELTA, VC_FAST };
	size_t old = out->n;
	int r = choose_scaled(w, prime, col, level, method, out);

	if (r <= 0)
		return r;
	r = 0;
	*method = w->chosen = VC_STORED;
	w->level = vc_zstd_level(level);
	if (level > 0 && level < 4)
		r = choose_try(w, prime, col, VC_FAST, method, old, out);
	else if (level >= 4 && col->n > SMALL)
		r = choose_by_sample(w, prime, col, level, method, old, out);
	else if (level >= 4 && col->n)
		for (size_t i = 0; !r && i < sizeof any / sizeof any[0]; i++)
			r = choose_try(w, prime, col, any[i], method, old, out);
	if (!r && *method == VC_STORED)
		r = vc_encode_with(w, prime, col, VC_STORED, out);
	if (r)
		out->n = old;
	if (w->best.cap > LARGE)
		buf_free(&w->best);
	return r;
}

static double
copy_ns(unsigned columns)
{
	return columns > 2 ? CM_COPY_NS / 4 : columns > 1 ? CM_COPY_NS / 2 : CM_COPY_NS;
}

/* Estimated time to decode the values, without copying, if they take that many bits. */
static double
values_ns(const struct vc_coded *c, double bits)
{
	double n = (double)c->n, bytes = n * c->width;

	if (choose_mixes(c->method) || c->method == VC_SCALED)
		return CM_VALUE_NS * n + CM_BIT_NS * (bits < CM_BITS * n ? bits : CM_BITS * n);
	return LZ_BYTE_NS * bytes + (c->method == VC_LZ ? LZMA_BYTE_NS * (double)c->len : 0);
}

double
vc_decode_ns(const struct vc_coded *c)
{
	return values_ns(c, 8.0 * (double)c->len) +
	    (choose_mixes(c->method) || c->method == VC_SCALED ? copy_ns(c->columns) : 0);
}

size_t
vc_block_values(int level, size_t n, const struct vc_coded *col, unsigned ncol)
{
	double easy = 1, hard = 1, copy = 0, values, most;

	for (unsigned k = 0; k < ncol; k++) {
		struct vc_coded c = col[k];
		double bits = 8.0 * (double)c.len;

		/* later blocks may be coded by context mixing, which is slower; lz has groups of its own */
		if (level > 3 && (c.method == VC_STORED || c.method == VC_LZ))
			c.method = VC_CM;
		easy += values_ns(&c, bits);
		hard += values_ns(&c, HARD * bits + (double)c.n / 2);
		copy += c.n ? copy_ns(c.columns) : 0;
	}
	values = (BLOCK_NS - copy) * (double)n / easy / 1024;
	most = (VC_SLOW - copy) * (double)n / hard / 1024;
	values = values < most ? values : most;
	return values > BLOCK_MAX ? BLOCK_MAX << 10 : values < BLOCK_MIN ? BLOCK_MIN << 10 :
	    (size_t)values << 10;
}

size_t
vc_group_values(size_t n, size_t bytes, size_t len)
{
	double ms = ((double)len / LZMA_MS_BYTES + (double)bytes / LZ_MS_BYTES) / (double)n;
	double most = GROUP * (double)n / (double)bytes;

	return GROUP_MS / ms < most ? (size_t)(GROUP_MS / ms) : (size_t)most;
}
