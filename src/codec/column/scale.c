/*
 * Numbers on a grid.
 *
 * A decimal number with k places becomes, as a double, the quotient of an integer and 10^k, rounded;
 * programs also multiply by 10^-k, which rounds otherwise.  Either is undone exactly: the integer is
 * the nearest one, and what it gives is compared with the value bit by bit.  This is the idea of ALP
 * (Afroozeh, Kuffo, Boncz, 2023) and of pcodec.
 */
#include "codec/column/scale.h"

#include <math.h>
#include <string.h>

#include "base/varint.h"

#define LARGEST 0x1p51          /* places are smaller: so rounding in between does not change them */
#define ROUNDS  0x1.8p52        /* added to a double of that size, it leaves no places */
#define TWOS    60              /* binary places, at most */
#define TRIED   256             /* values on which grids are tried before the whole sample */

static const double ten[VC_SCALE_TENS + 1] = { 1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
	1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22 };

static double
scale_double(uint64_t v, unsigned width)
{
	uint32_t u = (uint32_t)v;
	double x;
	float f;

	if (width == 8) {
		memcpy(&x, &v, sizeof x);
		return x;
	}
	memcpy(&f, &u, sizeof f);
	return f;
}

static uint64_t
scale_bits(double x, unsigned width)
{
	float f = (float)x;
	uint64_t v = 0;

	if (width == 8)
		memcpy(&v, &x, sizeof x);
	else
		memcpy(&v, &f, sizeof f);       /* little-endian, as all machines that this runs on */
	return v;
}

/* The number that a place is multiplied by or divided by. */
static double
scale_unit(const struct vc_scale *s)
{
	return s->kind == VC_SCALE_BINARY ? ldexp(1, (int)s->unit) : s->kind == VC_SCALE_TIMES ? 1 /
	    ten[s->unit] : ten[s->unit];
}

/* The value at place i, which is given as a double */
static inline uint64_t
scale_at(enum vc_scale_kind kind, double unit, unsigned width, double i)
{
	return scale_bits(kind == VC_SCALE_TIMES ? i * unit : i / unit, width);
}

/* Is v a number on the grid of floats?  *i: which one */
static inline int
place_grid(enum vc_scale_kind kind, double unit, unsigned width, uint64_t v, int64_t *i)
{
	double x = scale_double(v, width), near = kind == VC_SCALE_TIMES ? x / unit : x * unit;

	if (!(near > -LARGEST && near < LARGEST))       /* NaN, too */
		return 0;
	near = near + ROUNDS - ROUNDS;
	*i = (int64_t)near;
	return scale_at(kind, unit, width, (double)*i) == v;
}

static inline int
place_float(const struct vc_scale *s, double unit, unsigned width, uint64_t v, uint64_t *d)
{
	int64_t i;

	if (!place_grid(s->kind, unit, width, v, &i))
		return 0;
	*d = (uint64_t)i - s->origin;
	return width == 8 || *d >> 32 == 0;
}

static inline int
place_integer(const struct vc_scale *s, uint64_t v, uint64_t *d)
{
	uint64_t far = v - s->origin, q = far / s->unit;

	*d = q;
	return v >= s->origin && q * s->unit == far;
}

size_t
scale_places(const struct vc_scale *s, const struct vc_col *col, uint64_t *d, struct buf *other)
{
	double unit = s->kind == VC_SCALE_INTEGER ? 0 : scale_unit(s);
	uint64_t last = 0;
	size_t n = 0;

	for (size_t i = 0; i < col->n; i++) {
		uint64_t p;

		if (s->kind == VC_SCALE_INTEGER ? place_integer(s, col->v[i], &p) : place_float(s, unit,
		    col->width, col->v[i], &p)) {
			last = p;
		} else {
			n++;
			if (other)
				buf_add(other, &i, sizeof i);
		}
		d[i] = last;
	}
	return other && other->nomem ? SIZE_MAX : n;
}

void
scale_values(const struct vc_scale *s, unsigned width, uint64_t *v, size_t n)
{
	uint64_t mask = UINT64_MAX >> (64 - 8 * width);
	double unit;

	if (s->kind == VC_SCALE_INTEGER) {
		for (size_t i = 0; i < n; i++)
			v[i] = (v[i] * s->unit + s->origin) & mask;
		return;
	}
	unit = scale_unit(s);
	for (size_t i = 0; i < n; i++)
		v[i] = scale_at(s->kind, unit, width, (double)(int64_t)(v[i] + s->origin));
}

/* The number of n values, from all over the column, that are not on the grid: counted up to one too many. */
static size_t
scale_misses(const struct vc_scale *s, const struct vc_col *col, size_t n)
{
	double unit = scale_unit(s);
	size_t bad = 0, step = col->n / n;
	int64_t at;

	for (size_t i = 0; i < n && !scale_is_bad(bad, n); i++)
		bad += !place_grid(s->kind, unit, col->width, col->v[i * step], &at);
	return bad;
}

/*
 * The coarsest grid of that kind that misses the fewest values, if it is better than *least, the
 * number of values that the best one so far misses.
 */
static void
find_floats(const struct vc_col *col, enum vc_scale_kind kind, unsigned most, size_t *least,
    struct vc_scale *best)
{
	size_t few = col->n < TRIED ? col->n : TRIED;

	for (unsigned k = kind != VC_SCALE_OVER; k <= most && *least; k++) {
		struct vc_scale s = { kind, k, 0 };
		size_t bad;

		if (scale_is_bad(scale_misses(&s, col, few), few))
			continue;
		bad = scale_misses(&s, col, col->n);
		/* values that a finer grid also has are rarely worth its longer numbers */
		if (!scale_is_bad(bad, col->n) && bad + bad / 4 < *least) {
			*least = bad;
			*best = s;
		}
	}
}

static uint64_t
scale_divisor(const struct vc_col *col)
{
	uint64_t g = 0;

	for (size_t i = 1; i < col->n && g != 1; i++) {
		uint64_t a = col->v[i] > col->v[i - 1] ? col->v[i] - col->v[i - 1] : col->v[i - 1] - col->v[i];

		while (a) {
			uint64_t r = g % a;

			g = a;
			a = r;
		}
	}
	return g;
}

unsigned
scale_find(const struct vc_col *col, struct vc_scale found[SCALE_FOUND])
{
	struct vc_scale best = { VC_SCALE_NONE, 0, 0 };
	size_t least = col->n;
	unsigned n = 0;
	uint64_t g;

	if (col->width >= 4 && col->n) {
		unsigned tens = col->width == 8 ? VC_SCALE_TENS - 6 : 8;

		find_floats(col, VC_SCALE_OVER, tens, &least, &best);
		find_floats(col, VC_SCALE_BINARY, col->width == 8 ? TWOS : 24, &least, &best);
		find_floats(col, VC_SCALE_TIMES, tens, &least, &best);
	}
	if (best.kind != VC_SCALE_NONE)
		found[n++] = best;
	g = col->width > 1 && col->n ? scale_divisor(col) : 0;
	if (g > 1)
		found[n++] = (struct vc_scale){ VC_SCALE_INTEGER, g, 0 };
	return n;
}

void
scale_origin(struct vc_scale *s, const struct vc_col *col)
{
	int64_t least = 0, most = 0;
	double unit;

	s->origin = 0;
	if (s->kind == VC_SCALE_INTEGER) {
		s->origin = col->n ? col->v[0] % s->unit : 0;
		return;
	}
	unit = scale_unit(s);
	for (size_t i = 0; i < col->n; i++) {
		int64_t at;

		if (!place_grid(s->kind, unit, col->width, col->v[i], &at))
			continue;
		least = at < least ? at : least;
		most = at > most ? at : most;
	}
	/* later values may be somewhat smaller */
	if (least < 0)
		s->origin = (uint64_t)(least - (most - least) / 4);
}

void
scale_put(const struct vc_scale *s, struct buf *out)
{
	buf_u8(out, (uint8_t)(s->kind - 1));
	buf_varint(out, s->unit);
	buf_varint(out, s->kind == VC_SCALE_INTEGER ? s->origin : zigzag(s->origin));
}

int
scale_get(struct vc_scale *s, unsigned width, const uint8_t **p, const uint8_t *end)
{
	if (*p == end || **p >= VC_SCALE_KINDS - 1)
		return -1;
	s->kind = (enum vc_scale_kind)(*(*p)++ + 1);
	if (varint_get(p, end, &s->unit) != VARINT_OK || varint_get(p, end, &s->origin) != VARINT_OK)
		return -1;
	if (s->kind == VC_SCALE_INTEGER)
		return s->unit < 2 || s->origin >= s->unit ? -1 : 0;
	s->origin = unzigzag(s->origin);
	return width < 4 || s->unit > (s->kind == VC_SCALE_BINARY ? TWOS : VC_SCALE_TENS) ? -1 : 0;
}
