/* Blocks of values: the choice among the methods, by coded size. */
#include "engine/codec/lay.h"

#define SMALL   256             /* values that every method may try */
#define SAMPLE  16384           /* values of a first block that tell whether differences are better */

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

static size_t
sample_size(struct vc_work *w, const struct vc_col *col, enum vc_method m)
{
	struct vc_col part = *col;

	if (part.n > SAMPLE) {
		part.n = SAMPLE;
		part.v += (col->n - part.n) / 2;
	}
	w->best.n = 0;
	return vc_encode_with(w, NULL, &part, m, &w->best) ? SIZE_MAX : w->best.n;
}

/* Context mixing of values or of differences, and LZMA where zstd comes near */
static int
thorough(struct vc_work *w, const struct vc_prime *prime, const struct vc_col *col,
	enum vc_method *method, size_t old, struct buf *out)
{
	enum vc_method m = VC_CM;
	size_t n = col->n < VC_FAST_SAMPLE ? col->n : VC_FAST_SAMPLE, size;
	unsigned kind;

	if (prime && prime->hint == VC_CM_DELTA)
		m = VC_CM_DELTA;
	else if (!(prime && prime->hint == VC_CM) && !col->key && sample_size(w, col, VC_CM_DELTA) < sample_size(w, col, VC_CM))
		m = VC_CM_DELTA;
	if (vc_fast_layout(w, col, &kind, &size) || attempt(w, prime, col, m, method, old, out))
		return -1;
	if ((double)size / (double)n > 1.1 * (double)(out->n - old) / (double)col->n)
		return 0;
	return attempt(w, prime, col, VC_LZ, method, old, out);
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
