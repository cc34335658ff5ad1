/* Blocks of values: the choice among the methods, by coded size. */
#include "engine/codec/lay.h"

#include <stdlib.h>
#include <string.h>

#define SMALL   256             /* values that every method may try */
#define SAMPLE  16384           /* values that stand for a column */
#define SLICES  8               /* in so many runs */

int
vc_zstd_level(int level)
{
	return level <= 1 ? 7 : level == 2 ? 12 : 19;
}

/* Keeps the smaller of what is in out behind `old` and a coding by that method */
static int
attempt(struct vc_work *w, const struct vc_prime *prime, const struct vc_col *col, enum vc_method m,
	enum vc_method *method, size_t old, struct buf *out)
{
	w->best.n = 0;
	if (vc_encode_with(w, prime, col, m, &w->best))
		return -1;
	if (w->best.n < out->n - old) {
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

/*
 * Context mixing of values or of differences (as in the first block, or by a
 * sample), and LZMA where zstd is better than what context mixing made of the sample.
 */
static int
thorough(struct vc_work *w, const struct vc_prime *prime, const struct vc_col *col,
	enum vc_method *method, size_t old, struct buf *out)
{
	enum vc_method m = prime ? prime->hint : VC_STORED;
	struct vc_col sample;
	size_t size, plain = 0, delta = SIZE_MAX;
	unsigned kind;

	if (m == VC_CM || m == VC_CM_DELTA)
		return attempt(w, prime, col, m, method, old, out);
	if (vc_sample(w, col, &sample))
		return -1;
	plain = sample_size(w, &sample, VC_CM);
	if (!col->key)
		delta = sample_size(w, &sample, VC_CM_DELTA);
	if (vc_fast_layout(w, &sample, &kind, &size))
		return -1;
	m = delta < plain ? VC_CM_DELTA : VC_CM;
	if (size < (delta < plain ? delta : plain) && attempt(w, prime, col, VC_LZ, method, old, out))
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
	if (vc_encode_with(w, prime, col, VC_STORED, out))
		return -1;
	if (level > 0 && level < 4)
		r = attempt(w, prime, col, VC_FAST, method, old, out);
	else if (level >= 4 && col->n > SMALL)
		r = thorough(w, prime, col, method, old, out);
	else if (level >= 4 && col->n)
		for (size_t i = 0; !r && i < sizeof any / sizeof any[0]; i++)
			r = attempt(w, prime, col, any[i], method, old, out);
	w->chosen = *method;
	if (r)
		out->n = old;
	return r;
}
