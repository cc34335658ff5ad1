/* The plain decoder: Scaled values of bifcm(5). */
#include <math.h>

struct grid {
	unsigned kind;
	uint64_t u, o;
};

/* A number at *p */
static uint64_t
number_at(const uint8_t **p, const uint8_t *end)
{
	uint64_t v = 0;

	for (unsigned i = 0; i < 10 && *p < end; i++) {
		uint64_t c = *(*p)++;

		if ((i == 9 && c > 1) || (i && !c))
			break;
		v |= (c & 127) << 7 * i;
		if (c < 128)
			return v;
	}
	reject("scaled: not a number");
	return 0;
}

/* Kinds 0 to 2: the value of i */
static uint64_t
grid_value(const struct grid *g, unsigned w, int64_t i)
{
	double ten, x = (double)i;
	uint64_t v = 0;
	float f;
	char text[8];

	snprintf(text, sizeof(text), "1e%u", (unsigned)g->u % 100);
	ten = strtod(text, NULL);
	x = g->kind == 0 ? x / ten : g->kind == 1 ? x * (1 / ten) : x / ldexp(1, (int)g->u);
	f = (float)x;
	memcpy(&v, w == 8 ? (void *)&x : (void *)&f, w);
	return v;
}

static uint64_t
signed_number(uint64_t n)
{
	return n & 1 ? -(n / 2) - 1 : n / 2;
}

static void
grid_read(struct grid *g, const uint8_t **p, const uint8_t *end, unsigned w)
{
	if (*p == end || **p > 3 || (**p < 3 && w < 4))
		reject("kind of a grid");
	g->kind = *(*p)++;
	g->u = number_at(p, end);
	g->o = number_at(p, end);
	if (g->kind == 3 ? g->u < 2 || g->o >= g->u : g->u > (g->kind == 2 ? 60 : 22))
		reject("grid");
	if (g->kind < 3)
		g->o = signed_number(g->o);
}

/* The place of a value; 0: it is not on the grid */
static int
grid_place(const struct grid *g, unsigned w, uint64_t v, uint64_t *place)
{
	double y, t;
	float f;
	int64_t i;

	if (g->kind == 3) {
		*place = (v - g->o) / g->u;
		return v >= g->o && (v - g->o) % g->u == 0;
	}
	memcpy(&y, &v, 8);
	memcpy(&f, &v, 4);      /* the lowest bytes come first */
	y = w == 8 ? y : (double)f;
	t = 1;
	for (uint64_t k = 0; g->kind < 2 && k < g->u; k++)
		t *= 10;        /* exact */
	y = g->kind == 0 ? y * t : g->kind == 1 ? y / (1 / t) : y * ldexp(1, (int)g->u);
	if (!(fabs(y) < ldexp(1, 51)))
		return 0;
	i = (int64_t)nearbyint(y);
	*place = (uint64_t)i - g->o;
	return grid_value(g, w, i) == v && (w == 8 || *place < 1ull << 32);
}

/* The places of the first block */
static struct column *
first_places(struct column *first)
{
	struct column *c = first->places;

	if (!first->grid)
		reject("scaled: the first block is not");
	if (c)
		return c;
	c = first->places = alloc(sizeof(*c));
	*c = (struct column){ .v = alloc((first->n + 1) * sizeof(*c->v)), .k = first->k, .n = first->n,
	    .w = first->w };
	for (size_t i = 0; i < c->n; i++)
		if (!grid_place(first->grid, c->w, first->v[i], &c->v[i]))
			c->v[i] = i ? c->v[i - 1] : 0;
	return c;
}

/* Values that are not on the grid: *p moves behind them; what they are, of *bytes bytes */
static uint8_t *
scaled_others(const uint8_t **p, const uint8_t *end, uint64_t x, unsigned w, size_t *bytes)
{
	uint64_t l = number_at(p, end), z = number_at(p, end), have = z ? z : l;
	uint8_t *raw;

	if (l < x * (w + 1) || l > x * (w + 10) || z >= l || have > (uint64_t)(end - *p))
		reject("scaled: other values");
	raw = alloc(l);
	if (z && ZSTD_decompress(raw, l, *p, z) != l)
		reject("scaled: zstd");
	if (!z)
		memcpy(raw, *p, l);
	*p += have;
	*bytes = l;
	return raw;
}

static void
scaled(const uint8_t *p, size_t len, struct column *c, struct column *first)
{
	const uint8_t *end = p + len, *q, *values;
	struct grid *g = first ? first->grid : (c->grid = alloc(sizeof(*g)));
	struct column *places = first ? first_places(first) : NULL;
	uint64_t x, at = 0;
	size_t bytes = 0;
	uint8_t *raw = NULL;

	if (!first)
		grid_read(g, &p, end, c->w);
	x = number_at(&p, end);
	if (x > c->n)
		reject("scaled: too many other values");
	if (x)
		raw = scaled_others(&p, end, x, c->w, &bytes);
	if (p == end || *p > 8)
		reject("scaled: method");
	decode(*p, p + 1, (size_t)(end - p) - 1, c, places);
	for (size_t i = 0; i < c->n; i++)
		c->v[i] = g->kind == 3 ? (c->v[i] * g->u + g->o) & mask(c->w) :
		    grid_value(g, c->w, (int64_t)(c->v[i] + g->o));
	q = raw;
	values = raw ? raw + bytes - x * c->w : NULL;
	for (uint64_t k = 0; k < x; k++, at++) {
		at += number_at(&q, values);
		if (at >= c->n)
			reject("scaled: place of another value");
		c->v[at] = 0;
		for (unsigned b = 0; b < c->w; b++)
			c->v[at] |= (uint64_t)values[k * c->w + b] << 8 * b;
	}
	if (q != values)
		reject("scaled: bytes behind the places");
	free(raw);
}
