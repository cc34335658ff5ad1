/* The plain decoder: Context mixing of bifcm(5). */
#include <string.h>

#define C 0xd6e8feb86659fd93u
#define G 0x9e3779b97f4a7c15u

/* The coder; without bytes (p is NULL) it decodes the values that it is given, as for making a primer. */
struct coder {
	const uint8_t *p;
	size_t len, read;
	uint64_t L, R;
};

struct counter {
	uint32_t c, m;
};

struct slot {
	uint64_t v, f;
	uint8_t check, history;
};

struct line {
	uint64_t pos;
	int lag, shift;
	unsigned history;
};

struct entry {
	uint64_t pos;
	unsigned check;
};

struct cm {
	uint16_t T[3][12][256][3], P[9][6][256], dull[16][64][2];
	uint16_t agree[3][4096], pair[3][4096], curve[3][256][33];
	int16_t W[3][256][16], Q[3][256][16], X[9][256][8], Y[9][64][8];
	struct counter recent[3][1024], sure[2][64], zeros[16][8][8];
	unsigned B;
	struct slot *slot[6];
	struct { uint64_t last, d1, d2; } *key;
	struct line *line[2];
	struct entry *mtab, *dtab;
	uint8_t *M[6], *N[6];           /* slots of bits */
	uint64_t list[32], ranks;
	struct { uint8_t rank, history; } next[65536];
	unsigned nextat;
	uint64_t *V, *K, i;             /* the history; the next position */
	uint64_t g0, g1, g2, g3, roll, prevkey, lastmiss, mpos, mlen, mhash, dpos, dlen, dhash;
	int dshift, dtz;
	uint32_t hist, levels, hope[3][256];
	unsigned op, flhist, period, lag[16];
	int keyed;
	unsigned w;
	struct coder r;
};

/* What is known before a value */
struct look {
	struct slot *slot[6];
	uint8_t check[6], history[12];
	uint64_t base[6], cand[12][2];
	struct line *line[2];
	int floats;
};

static uint64_t
mix(uint64_t a, uint64_t b)
{
	uint64_t x = (a ^ b * 0xc2b2ae3d27d4eb4f) * G;

	return x ^ x >> 31;
}

static uint64_t hash(uint64_t a, unsigned n) { return a * C >> (64 - n); }
static uint64_t shift_right(uint64_t x, int n) { return (uint64_t)((int64_t)x >> n); }
static uint64_t scale(uint64_t d, int s) { return s >= 0 ? d << s : shift_right(d, -s); }

static int
tz(uint64_t x)
{
	int n = 0;

	for (; !(x & 1); x >>= 1)
		n++;
	return n;
}

static int
is_float(uint64_t a)
{
	uint64_t e = a >> 52 & 0x7ff;

	return (e > 0x210 && e < 0x5f0) || !(a << 1);
}

/* The coder */
static uint64_t
word(struct coder *r)
{
	uint64_t v = 0;

	for (int i = 0; i < 4; i++, r->read++)
		v = v << 8 | (r->read < r->len ? r->p[r->read] : 0);
	return v;
}

static void
more(struct coder *r)
{
	if (r->R >> 32)
		return;
	r->R <<= 32;
	r->L = (r->L << 32) + word(r);
}

static int
decision(struct coder *r, uint64_t p, int told)
{
	uint64_t b = (r->R >> 16) * p;
	int bit = r->L < b;

	if (!r->p)
		return told;
	if (bit) {
		r->R = b;
	} else {
		r->L -= b;
		r->R -= b;
	}
	more(r);
	return bit;
}

static unsigned
plain_bits(struct coder *r, int n, unsigned told)
{
	uint64_t q = r->R >> n, v, most = (1u << n) - 1;

	if (!r->p)
		return told;
	v = r->L / q > most ? most : r->L / q;
	r->L -= v * q;
	r->R = q;
	more(r);
	return (unsigned)v;
}

/* Probabilities */
static int
squash(int d)
{
	static const int S[65] = {
		22, 28, 36, 47, 60, 77, 98, 126, 162, 208, 267, 342, 439, 562, 720, 922, 1179, 1506, 1921,
		    2446, 3108, 3938, 4971,
		6249, 7812, 9702, 11955, 14595, 17625, 21025, 24743, 28693, 32768, 36843, 40793, 44511, 47911,
		    50941, 53581, 55834,
		57724, 59287, 60565, 61598, 62428, 63090, 63615, 64030, 64357, 64614, 64816, 64974, 65097,
		    65194, 65269, 65328, 65374,
		65410, 65438, 65459, 65476, 65489, 65500, 65508, 65514,
	};
	int i = (d < -2047 ? -2047 : d > 2047 ? 2047 : d) + 2048, f = i % 64;

	return (S[i / 64] * (64 - f) + S[i / 64 + 1] * f + 32) / 64;
}

static int
stretch(unsigned p)
{
	static int16_t known[4096];
	static int filled;

	for (; filled < 4096; filled++) {
		int d = -2047;

		while (d < 2047 && squash(d) < 16 * filled + 8)
			d++;
		known[filled] = (int16_t)d;
	}
	return known[p / 16];
}

static void
learn(uint16_t *p, int bit, int s)
{
	int by = bit ? 65535 - *p + (1 << s) - 1 : -*p;

	*p = (uint16_t)(*p + (by >> s));
}

static void
count_bit(struct counter *t, int bit, unsigned limit)
{
	int64_t e = ((int64_t)bit << 22) - t->c;

	t->c = (uint32_t)((int64_t)t->c + (e * (655360 / (10 * t->m + 16)) >> 16));
	t->m += t->m < limit;
}

static int
mixed_d(const int *x, const int16_t *w, const int16_t *w2, int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++)
		sum += x[i] * w[i] + x[i] * w2[i];
	return sum >> 14;
}

static int
mixed(const int *x, const int16_t *w, const int16_t *w2, int n)
{
	return squash(mixed_d(x, w, w2, n));
}

static void
mix_learn(const int *x, int16_t *w, int n, int e)
{
	for (int i = 0; i < n; i++) {
		int v = w[i] + (((2 * x[i] * e >> 16) + 1) >> 1);

		w[i] = (int16_t)(v > 32767 ? 32767 : v < -32768 ? -32768 : v);
	}
}

static void
counters(struct counter *t, size_t bytes, uint32_t c)
{
	for (size_t i = 0; i < bytes / sizeof(*t); i++)
		t[i].c = c;
}

static void
weights(void *w, size_t bytes, int16_t v)
{
	int16_t *p = w;

	for (size_t i = 0; i < bytes / 2; i++)
		p[i] = v;
}

/* What histories of bits are worth in the beginning, in n rows */
static void
bit_histories(uint16_t *P, size_t rows)
{
	for (unsigned h = 1; h < 256; h++) {
		unsigned ones = 0, n = 0;

		for (unsigned x = h; x > 1; x >>= 1, n++)
			ones += x & 1;
		for (size_t j = 0; j < rows; j++)
			P[256 * j + h] = (uint16_t)(65535 * (2 * ones + 1) / (2 * n + 2));
	}
}

/* State.  max: values that the history may come to have. */
static struct cm *
cm_new(size_t N, size_t max, int keyed, unsigned w)
{
	static const uint16_t t0[3] = { 40960, 12288, 8192 }, none[3] = { 256, 256, 32768 };
	struct cm *c = alloc(sizeof(*c));
	uint16_t *t = (uint16_t *)c->T;

	for (c->B = 8; c->B < (columns > 32 ? 11 : columns > 16 ? 12 : columns > 8 ? 13 : columns > 2 ? 14 : columns > 1 ? 15 : 16) && (size_t)1 << c->B < N; c->B++)
		;
	for (size_t i = 0; i < sizeof(c->T) / sizeof(*t); i++)
		t[i] = i / 3 % 256 == 255 ? none[i % 3] : t0[i % 3];
	weights(c->W, sizeof(c->W), 2000);
	weights(c->Q, sizeof(c->Q), 2000);
	weights(c->X, sizeof(c->X), 2500);
	weights(c->Y, sizeof(c->Y), 2500);
	bit_histories(c->P[0][0], 9 * 6);
	for (unsigned i = 0; i < 32; i++)
		c->list[i] = i;
	counters((struct counter *)c->recent, sizeof(c->recent), 1 << 21);
	counters((struct counter *)c->sure, sizeof(c->sure), 15 << 18);
	counters((struct counter *)c->zeros, sizeof(c->zeros), 1 << 21);
	for (int j = 0; j < 6; j++) {
		c->slot[j] = alloc(sizeof(struct slot) << c->B);
		for (size_t i = 0; i < (size_t)1 << c->B; i++)
			c->slot[j][i].history = 255;
	}
	c->key = alloc(sizeof(*c->key) << (c->B - 1));
	for (int q = 0; q < 2; q++)
		c->line[q] = alloc(sizeof(struct line) << (c->B - 3));
	c->mtab = alloc(sizeof(*c->mtab) << (c->B + 2));
	c->dtab = alloc(sizeof(*c->dtab) << (c->B + 2));
	for (int m = 0; m < 6; m++) {
		c->M[m] = memset(alloc((size_t)8 << c->B), 1, (size_t)8 << c->B);
		c->N[m] = memset(alloc((size_t)1 << (c->B - 1)), 1, (size_t)1 << (c->B - 1));
	}
	weights(c->agree, sizeof(c->agree), -32768);
	weights(c->pair, sizeof(c->pair), -32768);
	for (size_t i = 0; i < sizeof(c->curve) / 2; i++)
		((uint16_t *)c->curve)[i] = (uint16_t)squash(128 * (int)(i % 33) - 2048);
	memset(c->hope, 255, sizeof(c->hope));
	c->period = 1;
	c->keyed = keyed;
	c->w = w;
	c->V = alloc((max + 1) * sizeof(*c->V));
	c->K = alloc((max + 1) * sizeof(*c->K));
	return c;
}

static void *
again(const void *p, size_t n)
{
	return memcpy(alloc(n), p, n);
}

/* The same state, with room for max values in its history */
static struct cm *
cm_again(const struct cm *from, size_t max)
{
	struct cm *c = again(from, sizeof(*c));

	for (int j = 0; j < 6; j++)
		c->slot[j] = again(from->slot[j], sizeof(struct slot) << c->B);
	c->key = again(from->key, sizeof(*c->key) << (c->B - 1));
	for (int q = 0; q < 2; q++)
		c->line[q] = again(from->line[q], sizeof(struct line) << (c->B - 3));
	c->mtab = again(from->mtab, sizeof(*c->mtab) << (c->B + 2));
	c->dtab = again(from->dtab, sizeof(*c->dtab) << (c->B + 2));
	for (int m = 0; m < 6; m++) {
		c->M[m] = again(from->M[m], (size_t)8 << c->B);
		c->N[m] = again(from->N[m], (size_t)1 << (c->B - 1));
	}
	c->V = alloc((max + 1) * sizeof(*c->V));
	c->K = alloc((max + 1) * sizeof(*c->K));
	memcpy(c->V, from->V, from->i * sizeof(*c->V));
	memcpy(c->K, from->K, from->i * sizeof(*c->K));
	return c;
}

static void
cm_done(struct cm *c)
{
	for (int j = 0; j < 6; j++)
		free(c->slot[j]);
	for (int m = 0; m < 6; m++)
		free(c->M[m]), free(c->N[m]);
	free(c->key), free(c->line[0]), free(c->line[1]), free(c->mtab), free(c->dtab), free(c->V),
	    free(c->K), free(c);
}
