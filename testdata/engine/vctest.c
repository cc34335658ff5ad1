/*
 * Every method of codec/column/block.h: decode(encode(x)) = x for streams of
 * many shapes, sizes and widths, with keys and primers; damaged bytes may
 * give an error or other values, never touch memory that is not theirs.
 *
 *	vctest [-s seed] [-n rounds]
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "../check.h"
#include "codec/column/block.h"
#include "codec/column/cm_numbers.h"

#define METHODS 64

static uint64_t seed = 1;

static uint64_t
rnd(uint64_t n)
{
	seed = seed * 6364136223846793005 + 1442695040888963407;
	return n ? (seed >> 33 ^ seed << 11) % n : (seed >> 32 | seed << 32) ^ seed >> 7;
}

static double
rnd_double(void)
{
	return ((double)rnd(2000000) - 1e6) / (double)(1 + rnd(1000));
}

/* The grid of a first block: for the encoder, for the decoder */
static struct vc_scale grid[2];

enum { SHAPES = 11 };

/* One value of a stream of that shape; v[0..i) are those before it */
static uint64_t
value(int shape, const uint64_t *v, size_t i, uint64_t key)
{
	static double x;
	uint64_t u;

	switch (shape) {
	case 0:
		return rnd(0);
	case 1:
		return 0x1fff000a20 + 8 * i;
	case 2:
		return i < 20 ? 0x400000 + rnd(300) : v[i - 17] + (rnd(40) == 0);
	case 3:
		return rnd(30) ? key * 0x1000 + i / 7 : rnd(0);
	case 4:
		return i ? v[i - 1] + 3 + rnd(4) * rnd(3) : rnd(1000);
	case 5:
		x = i % 3 == 2 ? x - rnd_double() : rnd_double();
		memcpy(&u, &x, sizeof u);
		return u;
	case 6:
		return i < 3 ? rnd(0) : i % 3 == 2 ? 2 * v[i - 1] - 5 : v[i - 3] + (rnd(9) << rnd(60));
	case 7:
		return UINT64_MAX - rnd(2);
	case 8:
		x = (double)((int64_t)rnd(4000) - 900) / 100;
		if (rnd(20) == 0)
			x *= 1.1;
		memcpy(&u, &x, sizeof u);
		return u;
	case 9:
		return 77 + rnd(5000) * 1000;
	default:
		return i > 64 ? v[i - 64 + rnd(3)] : rnd(5);
	}
}

static void
make(struct vc_col *c, uint64_t *v, uint64_t *key, size_t n, unsigned width, int shape)
{
	uint64_t mask = UINT64_MAX >> (64 - 8 * width);

	for (size_t i = 0; i < n; i++) {
		key[i] = rnd(3) ? 5 + i % 4 : rnd(0) & 31;
		v[i] = value(shape, v, i, key[i]) & mask;
	}
	*c = (struct vc_col){ v, key, n, width, &grid[0] };
}

/* Allocates exactly the bytes that there are, so that a sanitizer sees reads after them. */
static void *
exact(const void *p, size_t n)
{
	void *q = malloc(n ? n : 1);

	if (!q)
		exit(2);
	if (n)
		memcpy(q, p, n);
	return q;
}

static int
decodes(struct vc_work *w, const struct vc_prime *prime, const struct vc_col *c, enum vc_method m,
    const uint8_t *p, size_t len, int good)
{
	uint64_t *v = malloc(c->n * sizeof *v + 1), all = 0;
	uint8_t *q = exact(p, len);
	const char *err = NULL;
	struct vc_col shape = { NULL, c->key, c->n, c->width, &grid[1] };
	int r = vc_decode(w, prime, &shape, m, q, len, v, &err), ret;

	if (r) {
		ret = !good && err && *err;
	} else {
		for (size_t i = 0; i < c->n; i++)
			all |= v[i];
		ret = good ? !c->n || !memcmp(v, c->v, c->n * sizeof *v) : c->width == 8 ||
		    !(all >> 8 * c->width);
	}
	free(v);
	free(q);
	return ret;
}

static int
damaged(struct vc_work *w, const struct vc_prime *prime, const struct vc_col *c, enum vc_method m,
    const struct buf *b)
{
	uint8_t *p = exact(b->p, b->n);
	int good = 1;

	for (int k = 0; k < 3 && b->n; k++) {
		size_t at = (size_t)rnd(b->n);

		good &= decodes(w, prime, c, m, p, at, 0);
		p[at] ^= (uint8_t)(1 + rnd(255));
		good &= decodes(w, prime, c, m, p, b->n, 0);
	}
	free(p);
	return good;
}

/*
 * One column, by one method or (m < 0) by what a level chooses; encoder and decoder have their own
 * work and primer
 */
static int
there_and_back(struct vc_work **w, struct vc_prime **prime, const struct vc_col *c, int m, int level)
{
	struct buf b = BUF_INIT;
	enum vc_method method = m < 0 ? 0 : (enum vc_method)m;
	int r, good;

	if (!prime[0])
		grid[0].kind = grid[1].kind = VC_SCALE_NONE;
	buf_str(&b, "before");
	r = m < 0 ? vc_encode(w[0], prime[0], c, level, &method, &b) :
	    vc_encode_with(w[0], prime[0], c, method, &b);
	good = r ? m >= 0 && b.n == 6 : !memcmp(b.p, "before", 6);
	if (!r) {
		struct buf coded = { b.p + 6, b.n - 6, 0, 0 };

		good = good && decodes(w[1], prime[1], c, method, coded.p, coded.n, 1) &&
		    damaged(w[1], prime[1], c, method, &coded)
			&& decodes(w[1], prime[1], c, method, coded.p, coded.n, 1);
		good = good && (m >= 0 || coded.n <= c->n * c->width);
	}
	if (!prime[0] && method != VC_SCALED)
		grid[0].kind = VC_SCALE_NONE;
	good = good && grid[0].kind == grid[1].kind;
	buf_free(&b);
	if (!good)
		printf("# method %d level %d: %zu values of %u bytes%s%s\n", m, level, c->n, c->width,
			c->key ? ", keys" : "", prime[0] ? ", primer" : "");
	return good;
}

/* A first block, then one with its primer */
static int
round_trip(struct vc_work **w, size_t n, unsigned width, int shape, int keyed, int m, int level)
{
	size_t n2 = (size_t)rnd(n + 3);
	uint64_t *v = malloc((n + n2 + 1) * sizeof *v), *key = malloc((n + n2 + 1) * sizeof *key);
	struct vc_prime *prime[2] = { NULL, NULL };
	struct vc_col c, c2;
	int good;

	make(&c, v, key, n + n2, width, shape);
	c2 = c;
	c.n = n;
	c2.v += n;
	c2.key += n;
	c2.n = n2;
	if (!keyed)
		c.key = c2.key = NULL;
	good = there_and_back(w, prime, &c, m, level);
	prime[0] = vc_prime_make(w[0], &c);
	prime[1] = vc_prime_make(w[1], &(struct vc_col){ c.v, c.key, c.n, c.width, &grid[1] });
	good = good && prime[0] && prime[1] && there_and_back(w, prime, &c2, m, level);
	vc_prime_free(prime[0]);
	vc_prime_free(prime[1]);
	free(v);
	free(key);
	return good;
}

static void
numbers(void)
{
	int good = 1;
	_Alignas(16) int16_t y[2][16];
	int16_t x[16], z[2][16];
	cm_vec in[2];

	cm_num_init();
	CHECK("squash is symmetric at its middle", cm_squash(0) == 32768);
	for (int d = -CM_ST; d < CM_ST; d++)
		good &= cm_squash(d) <= cm_squash(d + 1) && cm_squash(d) > 0 && cm_squash(d) < 65536;
	CHECK("squash grows", good);
	for (uint32_t p = 1000; p < 64000; p += 16)
		good &= cm_squash(cm_stretch(p)) + 200 > p && cm_squash(cm_stretch(p)) < p + 200;
	CHECK("stretch is its inverse", good);
	for (int k = 0; k < 1000; k++) {
		int err = (int)rnd(65535) - 32767, sum = 0;

		for (int i = 0; i < 16; i++) {
			x[i] = (int16_t)((int)rnd(4095) - CM_ST);
			for (int set = 0; set < 2; set++) {
				y[set][i] = z[set][i] = (int16_t)((int)rnd(65536) - 32768);
				sum += x[i] * y[set][i];
			}
		}
		for (int i = 0; i < 2; i++) {
			const int16_t *e = x + 8 * i;

			in[i] = cm_set(e[0], e[1], e[2], e[3], e[4], e[5], e[6], e[7]);
		}
		good &= cm_dot(in, y[0], y[1], 2) == sum;
		cm_train(in, y[0], y[1], err, 2);
		for (int i = 0; i < 32; i++) {
			int v = z[i / 16][i % 16] + (((2 * x[i % 16] * err >> 16) + 1) >> 1);

			good &= y[i / 16][i % 16] == (v > 32767 ? 32767 : v < -32768 ? -32768 : v);
		}
	}
	CHECK("the mixer's sums and steps are what the plain formula says", good);
}

int
main(int argc, char **argv)
{
	static const unsigned widths[] = { 1, 2, 4, 8 };
	struct vc_work *w[2] = { vc_work_new(2), vc_work_new(2) };
	int o, rounds = 150;
	char what[80];

	while ((o = getopt(argc, argv, "s:n:")) != -1)
		if (o == 's')
			seed = strtoull(optarg, NULL, 10);
		else if (o == 'n')
			rounds = atoi(optarg);
		else
			return 2;
	vc_work_extend(w[0]);
	vc_work_extend(w[1]);
	numbers();
	for (int m = -1; m < METHODS; m++) {
		int good = 1;

		if (m >= 0 && !vc_name((unsigned)m))
			continue;
		for (int k = 0; good && k < rounds; k++) {
			size_t n = k < 40 ? (size_t)k / 4 : (size_t)rnd(k % 50 ? 600 : 20000);

			good = round_trip(w, n, widths[k & 3], (int)rnd(SHAPES), (int)rnd(2), m,
			    (int)rnd(10));
		}
		snprintf(what, sizeof what, "%s: round trips, damage", m < 0 ? "levels" :
		    vc_name((unsigned)m));
		CHECK(what, good);
		if (m >= 0)
			CHECK("and found by its name", vc_by_name(vc_name((unsigned)m)) == m);
	}
	CHECK("no such method", vc_by_name("none such") < 0 && !vc_name(METHODS));
	vc_work_free(w[0]);
	vc_work_free(w[1]);
	return check_end();
}
