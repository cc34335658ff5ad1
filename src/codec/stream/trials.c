/*
 * Value streams: trials of LZMA and zstd on the bytes of a unit. LZMA is slow: it is tried if an estimate comes near
 * the size that was reached. The first one is the size by a quick run of zstd over everything, which finds repetitions
 * over all distances, times what LZMA makes of a sample as against such a run. Where that leaves it open, there is a
 * better one: the same with a fast run of LZMA, which is given up where it is far.
 *
 * With several threads, what is certain to be needed begins as soon as the unit's bytes are there, and what is likely
 * when half of its blocks are coded. What is decided, and so what is written, does not depend on that: a run that
 * began with a limit that was too low is made again.
 */
#include "codec/stream/whole_internal.h"

#include <lzma.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define DICT_MIN 4096u          /* that of the format, at least */
#define LEVEL   19              /* of zstd */
#define QUICK   3               /* of zstd in the quick run */
#define WINDOW  27              /* log2 of its window's bytes, at most */
#define SLICES  8               /* of the sample */
#define SLICE   (32u << 10)     /* bytes */
#define NOISE   0.999           /* it cannot be compressed if both take this part of a sample */
#define NEAR    1.75            /* the second estimate is made if the first is at most this times the size */
#define NEARER  1.3             /* they are tried if either is at most this times the size */
/*
 * If the blocks take less than one of so many bytes, there is no first estimate: a quick run then misses
 * long repetitions among the short ones.  Samples have none of these.
 */
#define LITTLE  128
#define FAR     2               /* they are tried there if either run takes less than this times the size */
#define DEPTH   8               /* places that a fast run of LZMA looks at */
#define ZFAR    1.15            /* zstd is not tried if it takes this times as much as LZMA on the sample */
#define LIKELY  0.9             /* what begins early does so by estimates that are so much better */
#define MARGIN  1.1             /* and has a limit that is so much higher */

uint32_t
vs_whole_dict(size_t n)
{
	uint32_t d = DICT_MIN;

	while (d < n && d < VS_DICT_MAX)
		d = d & (d - 1) ? d / 3 * 4 : d / 2 * 3;
	return d;
}

int
vs_whole_quick(const uint8_t *p, size_t n, size_t *size)
{
	ZSTD_CCtx *c = ZSTD_createCCtx();
	size_t room = ZSTD_compressBound(n), r = 0;
	uint8_t *to = malloc(room);
	int bits = 10, bad = !c || !to;         /* zstd's minimum */

	while (bits < WINDOW && (size_t)1 << bits < n)
		bits++;
	if (!bad) {
		ZSTD_CCtx_setParameter(c, ZSTD_c_compressionLevel, QUICK);
		ZSTD_CCtx_setParameter(c, ZSTD_c_windowLog, bits);
		ZSTD_CCtx_setParameter(c, ZSTD_c_enableLongDistanceMatching, 1);
		r = ZSTD_compress2(c, to, room, p, n);
		bad = ZSTD_isError(r) != 0;
	}
	ZSTD_freeCCtx(c);
	free(to);
	*size = r;
	return bad ? -1 : 0;
}

/* Appends what `zstd -19` makes of n bytes, without magic, length and checksum. 0, or -1 without memory. */
static int
whole_zstd(const uint8_t *p, size_t n, struct buf *out)
{
	ZSTD_CCtx *c = ZSTD_createCCtx();
	size_t room = ZSTD_compressBound(n), r = 0;
	uint8_t *to = buf_reserve(out, room);
	int bad = !c || !to;

	if (!bad) {
		ZSTD_CCtx_setParameter(c, ZSTD_c_compressionLevel, LEVEL);
		ZSTD_CCtx_setParameter(c, ZSTD_c_contentSizeFlag, 0);
		r = ZSTD_compress2(c, to, room, p, n);
		bad = ZSTD_isError(r) != 0;
	}
	if (!bad) {
		memmove(to, to + ZMAGIC, r - ZMAGIC);
		out->n += r - ZMAGIC;
	}
	ZSTD_freeCCtx(c);
	return bad ? -1 : 0;
}

/*
 * Appends what xz -9e, or a fast run that reaches as far, makes of n bytes, without its headers. 0; 1 if that
 * takes `limit` bytes or more; -1 without memory.
 */
static int
whole_lzma(const uint8_t *p, size_t n, int fast, size_t limit, struct buf *out)
{
	lzma_options_lzma opt;
	lzma_filter filter[2] = { { LZMA_FILTER_LZMA2, &opt }, { LZMA_VLI_UNKNOWN, NULL } };
	uint8_t *to = buf_reserve(out, limit);
	size_t r = 0;
	lzma_ret ret = LZMA_MEM_ERROR;

	if (to && !lzma_lzma_preset(&opt, 9 | LZMA_PRESET_EXTREME)) {
		opt.dict_size = vs_whole_dict(n);
		if (fast) {
			opt.mode = LZMA_MODE_FAST;
			opt.mf = LZMA_MF_HC4;
			opt.depth = DEPTH;
		}
		ret = lzma_raw_buffer_encode(filter, NULL, p, n, to, &r, limit);
	}
	out->n += ret == LZMA_OK ? r : 0;
	return ret == LZMA_OK ? 0 : ret == LZMA_BUF_ERROR ? 1 : -1;
}

/* The trials, of the unit or of a sample; the first five need nothing but its bytes. */
enum { T_ALL, T_LZMA, T_ZSTD, T_QUICK, T_SHORT, T_EARLY, T_LONG = T_EARLY, T_XZ, T_ZSTD19, TRIALS };

enum trial_how { TRY_QUICK, TRY_FAST, TRY_LZMA, TRY_ZSTD };

struct trial {
	enum trial_how how;
	const uint8_t *p;
	size_t n, limit;        /* of LZMA: more is too much */
	int wanted;             /* not only its size */
	struct buf out;
	size_t size;            /* that it takes; SIZE_MAX: too much */
	int r;
	int begun;
	struct pool_beside beside;
};

struct vs_trials {
	struct par *par;
	const uint8_t *p;
	size_t n;
	uint8_t *sample;        /* owned: PART bytes, if the unit has more */
	struct trial t[TRIALS];
};

#define PART ((size_t)SLICES * SLICE)

static void
trial_work(void *arg, unsigned thread, void *job)
{
	struct trial *t = job;

	(void)arg, (void)thread;
	if (t->how == TRY_QUICK) {
		t->r = vs_whole_quick(t->p, t->n, &t->size);
		return;
	}
	t->r = t->how == TRY_ZSTD ? whole_zstd(t->p, t->n, &t->out) :
	    whole_lzma(t->p, t->n, t->how == TRY_FAST, t->limit, &t->out);
	t->size = t->r ? SIZE_MAX : t->out.n;
	if (t->r || !t->wanted)
		buf_free(&t->out);
}

static void
trial_begin(struct vs_trials *s, unsigned i)
{
	struct trial *t = &s->t[i];

	if (t->begun)
		return;
	t->begun = 1;
	t->beside = (struct pool_beside){ .work = trial_work, .job = t };
	pool_beside(s->par, &t->beside);
}

static void
trial_begin_limited(struct vs_trials *s, unsigned i, size_t limit)
{
	if (!s->t[i].begun)
		s->t[i].limit = limit;
	trial_begin(s, i);
}

static int
trial_is_done(struct vs_trials *s, unsigned i)
{
	return s->t[i].begun && pool_beside_is_done(s->par, &s->t[i].beside);
}

/* Waits for a trial, which begins if it has not; LZMA then has at least that limit. 0, or -1 without memory. */
static int
trial_end(struct vs_trials *s, unsigned i, size_t limit)
{
	struct trial *t = &s->t[i];

	trial_begin_limited(s, i, limit);
	pool_beside_wait(s->par, &t->beside);
	if (t->r == 1 && t->limit < limit) {    /* it began early and was given up, but should not have been */
		t->begun = 0;
		trial_begin_limited(s, i, limit);
		pool_beside_wait(s->par, &t->beside);
	}
	return t->r < 0 ? -1 : 0;
}

/* LZMA of n bytes never takes more. */
static size_t
whole_limit(size_t n, double most)
{
	return most < (double)(n + n / 1024 + 4096) ? (size_t)most + 1 : n + n / 1024 + 4096;
}

/* A sample: pieces from all over n bytes. NULL without memory. */
static uint8_t *
whole_sample(const uint8_t *p, size_t n)
{
	size_t step = (n - SLICE) / (SLICES - 1);
	uint8_t *s = malloc(PART);

	for (size_t k = 0; s && k < SLICES; k++)
		memcpy(s + k * SLICE, p + k * (step & ~(size_t)7), SLICE);
	return s;
}

struct vs_trials *
vs_trials_new(struct par *par, const struct buf *raw)
{
	struct vs_trials *s = calloc(1, sizeof(*s));
	const uint8_t *p = raw->p;
	size_t n = raw->n;

	if (!s)
		return NULL;
	s->par = par;
	s->p = p;
	s->n = n;
	if (n > PART && !(s->sample = whole_sample(p, n))) {
		free(s);
		return NULL;
	}
	s->t[T_ALL] = (struct trial){ .how = TRY_QUICK, .p = p, .n = n };
	s->t[T_QUICK] = (struct trial){ .how = TRY_QUICK, .p = s->sample, .n = PART };
	s->t[T_LZMA] = (struct trial){ .how = TRY_LZMA, .p = s->sample, .n = PART, .limit = 2 * PART };
	s->t[T_ZSTD] = (struct trial){ .how = TRY_ZSTD, .p = s->sample, .n = PART };
	s->t[T_SHORT] = (struct trial){ .how = TRY_FAST, .p = s->sample, .n = PART, .limit = 2 * PART };
	s->t[T_LONG] = (struct trial){ .how = TRY_FAST, .p = p, .n = n };
	s->t[T_XZ] = (struct trial){ .how = TRY_LZMA, .p = p, .n = n, .wanted = 1 };
	s->t[T_ZSTD19] = (struct trial){ .how = TRY_ZSTD, .p = p, .n = n, .wanted = 1 };
	return s;
}

void
vs_trials_wait(struct vs_trials *s)
{
	for (unsigned i = 0; i < TRIALS; i++)
		if (s->t[i].begun)
			pool_beside_wait(s->par, &s->t[i].beside);
}

void
vs_trials_free(struct vs_trials *s)
{
	if (!s)
		return;
	for (unsigned i = 0; i < TRIALS; i++)
		buf_free(&s->t[i].out);
	free(s->sample);
	free(s);
}

void
vs_trials_early(struct vs_trials *s)
{
	for (unsigned i = 0; s->n > PART && i < T_EARLY; i++)
		trial_begin(s, i);
}

/* What the sample and the quick run say. */
struct estimate {
	double first;           /* the first estimate */
	double gain;            /* of LZMA or zstd -19 as against a fast run of LZMA */
	int noise, zstd;        /* zstd: VS_TRY_ZSTD, or 0 */
};

/* All early trials are done. */
static struct estimate
trials_estimate(const struct vs_trials *s)
{
	const struct trial *t = s->t;
	size_t least = t[T_LZMA].size < t[T_ZSTD].size ? t[T_LZMA].size : t[T_ZSTD].size;
	double quick = (double)least / (double)t[T_QUICK].size, fast = (double)least / (double)t[T_SHORT].size;

	return (struct estimate){
		.first = (double)t[T_ALL].size * (quick < 1 ? quick : 1),
		.gain = fast < 1 ? fast : 1,
		.noise = vc_is_noise(t[T_ALL].size, s->n) && quick > NOISE,
		.zstd = (double)t[T_ZSTD].size > ZFAR * (double)t[T_LZMA].size ? 0 : VS_TRY_ZSTD,
	};
}

/* LZMA takes longer: it begins. */
static void
trials_likely(struct vs_trials *s, int zstd, double size)
{
	trial_begin_limited(s, T_XZ, whole_limit(s->n, MARGIN * size));
	if (zstd)
		trial_begin(s, T_ZSTD19);
}

/* A fast run of LZMA begins; if it is done and came near that size, the others do. */
static void
trials_fast(struct vs_trials *s, int zstd, double near, double size)
{
	trial_begin_limited(s, T_LONG, whole_limit(s->n, MARGIN * near));
	if (trial_is_done(s, T_LONG) && s->t[T_LONG].size != SIZE_MAX && (double)s->t[T_LONG].size < LIKELY * near)
		trials_likely(s, zstd, size);
}

void
vs_trials_guess(struct vs_trials *s, double size)
{
	double little = (double)(s->n / LITTLE);
	struct estimate e;

	if (s->n <= PART || (size > LIKELY * little && size < MARGIN * little))
		return;
	for (unsigned i = 0; i < T_EARLY; i++)
		if (!trial_is_done(s, i) || s->t[i].r)
			return;
	e = trials_estimate(s);
	if (size < little)
		trials_fast(s, VS_TRY_ZSTD, FAR * size, size);
	else if (e.noise || e.first > LIKELY * NEAR * size)
		return;
	else if (e.first <= LIKELY * NEARER * size)
		trials_likely(s, e.zstd, size);
	else if (e.first > NEARER * size / LIKELY)
		trials_fast(s, e.zstd, NEARER * size / e.gain, size);
}

/* The same for blocks that take little. -1 without memory. */
static int
trials_little(struct vs_trials *s, size_t size)
{
	size_t limit = whole_limit(s->n, FAR * (double)size);

	trial_begin_limited(s, T_LONG, limit);
	if (trial_end(s, T_ALL, 0) != 0 || trial_end(s, T_LONG, limit) != 0)
		return -1;
	return s->t[T_LONG].size > limit && s->t[T_ALL].size > FAR * size ? 0 : VS_TRY_ALL;
}

int
vs_trials_which(struct vs_trials *s, size_t size)
{
	struct estimate e;
	double most;

	if (s->n <= PART)
		return VS_TRY_ALL;
	if (size < s->n / LITTLE)
		return trials_little(s, size);
	vs_trials_early(s);
	for (unsigned i = 0; i < T_EARLY; i++)
		if (trial_end(s, i, 0) != 0)
			return -1;
	e = trials_estimate(s);
	if (e.noise)            /* zstd stores it with few headers */
		return size > s->t[T_ALL].size ? VS_TRY_ZSTD | VS_TRY_BYTES : 0;
	if (e.first > NEAR * (double)size)
		return 0;
	if (e.first <= NEARER * (double)size)
		return VS_TRY_BYTES | VS_TRY_LZMA | e.zstd;
	most = NEARER * (double)size / e.gain;
	if (trial_end(s, T_LONG, whole_limit(s->n, most)) != 0)
		return -1;
	return (double)s->t[T_LONG].size > most ? VS_TRY_BYTES : VS_TRY_BYTES | VS_TRY_LZMA | e.zstd;
}

int
vs_trials_best(struct vs_trials *s, int which, size_t size, struct buf *best, unsigned *method)
{
	static const struct { unsigned trial, method; int which; } all[] = {
		{ T_XZ, VS_LZMA, VS_TRY_LZMA }, { T_ZSTD19, VS_ZSTD, VS_TRY_ZSTD },
	};

	for (size_t i = 0; i < 2; i++)
		if (which & all[i].which)
			trial_begin_limited(s, all[i].trial, size);
	for (size_t i = 0; i < 2; i++) {
		struct trial *t = &s->t[all[i].trial];

		if (!(which & all[i].which))
			continue;
		if (trial_end(s, all[i].trial, size) != 0)
			return -1;
		if (t->size > (t->how == TRY_LZMA ? size : SIZE_MAX - 1) || (best->n && t->size >= best->n))
			continue;
		buf_free(best);
		*best = t->out;
		t->out = (struct buf)BUF_INIT;
		*method = all[i].method;
	}
	return 0;
}
