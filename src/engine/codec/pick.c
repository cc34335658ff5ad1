/* Blocks of values: the choice among the methods, by coded size. */
#include "engine/codec/lay.h"

#include <stdlib.h>
#include <string.h>

#define SMALL   256             /* values that every method may try */
#define SAMPLE  16384           /* values that stand for a column */
#define NEAR    1.15            /* how near, at the highest level; LZMA takes its time */
#define SLICES  8               /* in so many runs */

int
vc_zstd_level(int level)
{
	return level <= 1 ? 7 : level == 2 ? 12 : 19;
}

/* Keeps the smaller of what is in out behind `old` (nothing: the stored values that may follow) and a coding by that method */
static int
attempt(struct vc_work *w, const struct vc_prime *prime, const struct vc_col *col, enum vc_method m,
	enum vc_method *method, size_t old, struct buf *out)
{
	w->best.n = 0;
	if (vc_encode_with(w, prime, col, m, &w->best))
		return -1;
	if (w->best.n < (*method == VC_STORED ? col->n * col->width : out->n - old)) {
		out->n = old;
		buf_add(out, w->best.p, w->best.n);
		*method = m;
	}
	return out->nomem ? -1 : 0;
}

int
vc_sample(struct vc_work *w, const struct vc_col *col, struct vc_col *sample)
{
	size_t one = SAMPLE / SLICES;

	*sample = *col;
	if (col->n <= SAMPLE)
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
	*sample = (struct vc_col){ w->sample, col->key ? w->sample + SAMPLE : NULL, SAMPLE, col->width };
	return 0;
}

static size_t
sample_size(struct vc_work *w, const struct vc_col *sample, enum vc_method m)
{
	w->best.n = 0;
	return vc_encode_with(w, NULL, sample, m, &w->best) ? SIZE_MAX : w->best.n;
}

/* LZMA for a block that went badly, unlike the stream's first, and where zstd shows that it can be done */
static int
otherwise(struct vc_work *w, const struct vc_prime *prime, const struct vc_col *col,
	enum vc_method *method, size_t old, struct buf *out)
{
	struct vc_col sample;
	size_t size;
	unsigned kind;

	if (*method != VC_STORED && (out->n - old < col->n * col->width / 4 || w->poor++ % 8))
		return 0;               /* most streams that go badly go badly everywhere: now and then is enough */
	if (vc_sample(w, col, &sample) || vc_fast_layout(w, &sample, &kind, &size))
		return -1;
	if ((double)size / (double)sample.n > 0.95 * (double)(out->n - old + (*method == VC_STORED) * col->n * col->width) / (double)col->n)
		return 0;
	w->poor = 0;
	return attempt(w, prime, col, VC_LZ, method, old, out);
}

/*
 * Context mixing of values or of differences (as in the first block, or by a
 * sample), and LZMA where zstd comes near what context mixing made of the sample.
 */
static int
thorough(struct vc_work *w, const struct vc_prime *prime, const struct vc_col *col, int level,
	enum vc_method *method, size_t old, struct buf *out)
{
	enum vc_method m = prime ? prime->hint : VC_STORED;
	struct vc_col sample;
	size_t size, plain = 0, delta = SIZE_MAX;
	unsigned kind;

	if (m == VC_CM || m == VC_CM_DELTA)
		return attempt(w, prime, col, m, method, old, out) ? -1 : otherwise(w, prime, col, method, old, out);
	if (vc_sample(w, col, &sample))
		return -1;
	plain = sample_size(w, &sample, VC_CM);
	if (!col->key)
		delta = sample_size(w, &sample, VC_CM_DELTA);
	if (vc_fast_layout(w, &sample, &kind, &size))
		return -1;
	m = delta < plain ? VC_CM_DELTA : VC_CM;
	if ((double)size < (level > 8 ? NEAR : 1.0) * (double)(delta < plain ? delta : plain) && attempt(w, prime, col, VC_LZ, method, old, out))
		return -1;
	return attempt(w, prime, col, m, method, old, out);
}

int
vc_encode(struct vc_work *w, const struct vc_prime *prime, const struct vc_col *col, int level,
	enum vc_method *method, struct buf *out)
{
	static const enum vc_method any[] = { VC_CM, VC_CM_DELTA, VC_FAST };
	size_t old = out->n;
	int r = 0;

	*method = VC_STORED;
	w->level = vc_zstd_level(level);
	if (level > 0 && level < 4)
		r = attempt(w, prime, col, VC_FAST, method, old, out);
	else if (level >= 4 && col->n > SMALL)
		r = thorough(w, prime, col, level, method, old, out);
	else if (level >= 4 && col->n)
		for (size_t i = 0; !r && i < sizeof any / sizeof any[0]; i++)
			r = attempt(w, prime, col, any[i], method, old, out);
	if (!r && *method == VC_STORED)
		r = vc_encode_with(w, prime, col, VC_STORED, out);
	if (level >= 4)                 /* one by the fast methods, for comparison, is no model for the blocks that follow */
		w->chosen = *method;
	if (r)
		out->n = old;
	return r;
}

size_t
vc_block_values(int level, enum vc_method method, size_t n, unsigned ncol, size_t len)
{
	/* In ns a value, about; beyond 6 bits a value they are written plainly, which costs little more */
	double bits = n ? 8.0 * (double)len / (double)n : 0, ns = 40.0 * ncol + 110 * (bits < 6.0 * ncol ? bits : 6.0 * ncol);

	if (method == VC_LZ)
		return VC_MAX;          /* solid or nothing */
	if (method == VC_STORED || method == VC_FAST || level < 4)
		return (512u << 10) / (ncol ? ncol : 1);
	ns = 7e6 / ns / 1024;
	return ns > 128 ? 128u << 10 : ns < 8 ? 8u << 10 : (size_t)ns << 10;
}
