/* Blocks of values: the choice among the methods, by coded size. */
#include "codec/column/byteplanes.h"

#include <stdlib.h>
#include <string.h>

#define SMALL   256             /* values that every method may try */
#define SAMPLE  16384           /* values that stand for a column */
#define BRIEF   4096            /* the same below the highest level, where columns are many and short */
#define NEAR    1.15            /* how near, at the highest level; LZMA takes its time */
#define SLICES  8               /* in so many runs */
#define GROUP   (1u << 20)      /* bytes of records that become one block of LZMA */
#define LARGE   (1u << 20)      /* bytes that are not kept for the next block */
#define WHOLE   1.05            /* how near zstd must come on all of a first block, where the sample spoke against LZMA */
#define COPY    8e5             /* ns that the primer's state takes, for each column */
#define HARD    3               /* so much harder than the first block may others be, and still be quick */
#define XZ      1.25            /* the same with the values as they are: LZMA is not so much better than it */

/* Context mixing? */
static int
choose_mixes(enum vc_method m)
{
	return m == VC_CM || m == VC_CM_DELTA;
}

int
vc_noise(size_t len, size_t bytes)
{
	return len >= bytes - bytes / 4096;
}

int
vc_zstd_level(int level)
{
	return level <= 1 ? 7 : level == 2 ? 12 : 19;
}

/* Keeps the smaller of what is in out behind `old` (nothing: the stored values that may follow) and a coding by that method */
static int
choose_attempt(struct vc_work *w, const struct vc_prime *prime, const struct vc_col *col, enum vc_method m,
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

/* n values that stand for a column, n a multiple of SLICES */
static int
sample_of(struct vc_work *w, const struct vc_col *col, size_t n, struct vc_col *sample)
{
	size_t one = n / SLICES;

	*sample = *col;
	if (col->n <= n)
		return 0;
	if (!w->sample)
		w->sample = malloc(2 * SAMPLE * sizeof *w->sample);
	if (!w->sample)
		return -1;
	for (size_t i = 0; i < SLICES; i++) {
		size_t from = (col->n - one) / (SLICES - 1) * i;

		memcpy(w->sample + i * one, col->v + from, one * sizeof *w->sample);
		if (col->key)
			memcpy(w->sample + SAMPLE + i * one, col->key + from, one * sizeof *w->sample);
	}
	*sample = (struct vc_col){ w->sample, col->key ? w->sample + SAMPLE : NULL, n, col->width };
	return 0;
}

int
vc_sample(struct vc_work *w, const struct vc_col *col, struct vc_col *sample)
{
	return sample_of(w, col, SAMPLE, sample);
}

static size_t
sample_size(struct vc_work *w, const struct vc_col *sample, enum vc_method m)
{
	int r;

	w->best.n = 0;
	r = vc_encode_with(w, NULL, sample, m, &w->best);
	if (w->now)
		w->now->used = 0;       /* the next history may take its place */
	return r ? SIZE_MAX : w->best.n;
}

/* LZMA for a block that went badly, unlike the stream's first, and where zstd shows that it can be done */
static int
choose_otherwise(struct vc_work *w, const struct vc_prime *prime, const struct vc_col *col,
	enum vc_method *method, size_t old, struct buf *out)
{
	size_t coded = *method == VC_STORED ? col->n * col->width : out->n - old, size;
	struct vc_col sample;
	unsigned kind, far;

	/* most streams that go badly go badly everywhere: now and then is enough, which does not depend on what w had before */
	if (*method != VC_STORED && (out->n - old < col->n * col->width / 4 || (out->n - old) % 8))
		return 0;
	if (vc_sample(w, col, &sample) ||
	    vc_fast_far(w, &sample, prime->layout, coded * sample.n / col->n, &far))
		return -1;
	if (far == (VC_FAR | VC_FAR_PLAIN))
		return 0;
	if (vc_fast_layout(w, &sample, &kind, &size))
		return -1;
	if ((double)size / (double)sample.n > 0.95 * (double)coded / (double)col->n)
		return 0;
	return choose_attempt(w, prime, col, VC_LZ, method, old, out);
}

/*
 * A first block all of which zstd does nearly as well as what was chosen, as
 * what comes again from far is in no sample: LZMA, or if it is not so near
 * only what xz would do, not to be larger.
 */
static int
from_far(struct vc_work *w, const struct vc_col *col, unsigned kind, enum vc_method *method, size_t old,
    struct buf *out)
{
	size_t size = *method == VC_STORED ? col->n * col->width : out->n - old, fast, plain;
	unsigned far = 0;
	int r;

	/* single bytes are hardly ever values: what they are, zstd need not show */
	if (col->width > 1 && vc_fast_far(w, col, kind, size, &far))
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
	if (vc_noise(fast, col->n * col->width)
	    || (col->width > 1 && (double)fast >= WHOLE * (double)size && (double)plain >= XZ * (double)size))
		return 0;
	w->plain = (double)fast >= WHOLE * (double)size;
	r = choose_attempt(w, NULL, col, VC_LZ, method, old, out);
	w->plain = 0;
	return r;
}

/*
 * Context mixing of values or of differences (as in the first block, or by a
 * sample), and LZMA where zstd comes near what context mixing made of the
 * sample.  LZMA is first: what context mixing leaves in w makes the primer.
 */
static int
choose_thorough(struct vc_work *w, const struct vc_prime *prime, const struct vc_col *col, int level,
	enum vc_method *method, size_t old, struct buf *out)
{
	enum vc_method m = prime ? prime->hint : VC_STORED;
	struct vc_col sample;
	size_t size, plain, delta;
	unsigned kind;
	int lz;

	if (choose_mixes(m)) {
		w->chosen = m;
		return choose_attempt(w, prime, col, m, method, old, out) ? -1 : choose_otherwise(w, prime, col, method, old, out);
	}
	for (size_t n = level > 8 ? SAMPLE : BRIEF; ; n = SAMPLE) {
		if (sample_of(w, col, n, &sample))
			return -1;
		plain = sample_size(w, &sample, VC_CM);
		delta = col->key ? SIZE_MAX : sample_size(w, &sample, VC_CM_DELTA);
		if (vc_fast_layout(w, &sample, &kind, &size))
			return -1;
		lz = !vc_noise(size, sample.n * col->width) && (double)size < (level > 8 ? NEAR : 1.0) * (double)(delta < plain ? delta : plain);
		/* what is brief is no reason to try LZMA: context mixing has hardly begun to learn */
		if (!lz || n == SAMPLE || col->n <= n)
			break;
	}
	w->chosen = m = delta < plain ? VC_CM_DELTA : VC_CM;
	if ((lz && choose_attempt(w, prime, col, VC_LZ, method, old, out)) ||
	    choose_attempt(w, prime, col, m, method, old, out))
		return -1;
	w->now->layout = kind;
	return lz || prime || level < 9 ? 0 : from_far(w, col, kind, method, old, out);
}

int
vc_encode(struct vc_work *w, const struct vc_prime *prime, const struct vc_col *col, int level,
	enum vc_method *method, struct buf *out)
{
	static const enum vc_method any[] = { VC_CM, VC_CM_DELTA, VC_FAST };
	size_t old = out->n;
	int r = 0;

	*method = w->chosen = VC_STORED;
	w->level = vc_zstd_level(level);
	if (level > 0 && level < 4)
		r = choose_attempt(w, prime, col, VC_FAST, method, old, out);
	else if (level >= 4 && col->n > SMALL)
		r = choose_thorough(w, prime, col, level, method, old, out);
	else if (level >= 4 && col->n)
		for (size_t i = 0; !r && i < sizeof any / sizeof any[0]; i++)
			r = choose_attempt(w, prime, col, any[i], method, old, out);
	if (!r && *method == VC_STORED)
		r = vc_encode_with(w, prime, col, VC_STORED, out);
	if (r)
		out->n = old;
	if (w->best.cap > LARGE)
		buf_free(&w->best);
	return r;
}

/* That decoding takes, about, without what is the same for each block; beyond 6 bits they are written plainly, which costs little */
static double
values_ns(const struct vc_coded *c, double bits)
{
	double n = (double)c->n, bytes = n * c->width;

	if (choose_mixes(c->method))
		return 50 * n + 75 * (bits < 6 * n ? bits : 6 * n);
	return 2.5 * bytes + (c->method == VC_LZ ? 62 * (double)c->len : 0);
}

double
vc_decode_ns(const struct vc_coded *c)
{
	return values_ns(c, 8.0 * (double)c->len) + (choose_mixes(c->method) ? COPY : 0);
}

size_t
vc_block_values(int level, size_t n, const struct vc_coded *col, unsigned ncol)
{
	double easy = 1, hard = 1, copy = 0, values, most;

	for (unsigned k = 0; k < ncol; k++) {
		struct vc_coded c = col[k];
		double bits = 8.0 * (double)c.len;

		/* what may come, if it is not noise, is hard; and for LZ alone there are groups */
		if (level > 3 && (c.method == VC_STORED || c.method == VC_LZ))
			c.method = VC_CM;
		easy += values_ns(&c, bits);
		hard += values_ns(&c, HARD * bits + (double)c.n / 2);
		copy += c.n ? COPY : 0;
	}
	values = (9e6 - copy) * (double)n / easy / 1024;
	most = (VC_SLOW - copy) * (double)n / hard / 1024;
	values = values < most ? values : most;
	return values > 512 ? 512u << 10 : values < 4 ? 4u << 10 : (size_t)values << 10;
}

size_t
vc_group_values(size_t n, size_t bytes, size_t len)
{
	/* 16 MB of LZMA in a second and 400 MB of what it makes, about */
	double ms = ((double)len / 16e3 + (double)bytes / 4e5) / (double)n, most = GROUP * (double)n / (double)bytes;

	return 10 / ms < most ? (size_t)(10 / ms) : (size_t)most;
}
