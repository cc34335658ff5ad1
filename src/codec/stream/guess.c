/*
 * Value streams: the layout of records, found from a piece of the stream.
 *
 * The length of records is the one at whose columns of bytes the piece takes the fewest bits.  All
 * fields that a record of this length can have are estimated as numbers, and the cheapest sequence of
 * them that fills a record is taken, from whichever byte it begins: what is before it is a header.
 * Then each field gets a key if its changes since the last record with the same key are smaller.
 *
 * Estimates are entropies, with a price for what they assume to be known.  Whether the layout is worth
 * anything is for the caller to try.
 */
#include "codec/stream/layout.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/varint.h"
#include "codec/column/scale.h"

#define PIECE   32768u          /* bytes looked at */
#define LONGEST (8 * VS_FIELDS) /* bytes of a record */
#define FEW     16              /* records are no longer than one of so many in the piece */
#define SYMBOL  6.0             /* bits for a byte that comes for the first time */
#define FIELD   24.0            /* bits for one more field */
#define SHIFT   0.95            /* records after a header are the best guess if they take less than this... */
#define KEYED   0.85            /* ...and a field gets a key if it takes less than this */
#define RARELY  1.03            /* wider fields cost this much more, in a guess between narrow and wide ones */
#define KEYBITS 12              /* log2 of the different keys that are told apart */

struct guess {
	const uint8_t *p;
	size_t n, len;          /* records, their bytes */
	uint64_t *v[2];         /* owned: n values, for one column each */
	uint32_t *seen;         /* owned: counts of values, by hash: slots */
	uint64_t *what;         /* owned: the values of these */
	size_t slots;
	double *byte;           /* owned: bits of a column of bytes, [len] */
	double (*cost)[4];      /* owned: bits of a field at that byte, by log2 of its width */
};

/* n log2 n */
static double
nlog(size_t n)
{
	return n ? (double)n * log2((double)n) : 0;
}

/* Bits of n bytes at p, each `step` after the one before, as they are or as differences. */
static double
guess_bytes(const uint8_t *p, size_t n, size_t step)
{
	uint32_t count[2][256] = { { 0 } };
	double bits[2] = { nlog(n), nlog(n) };
	uint8_t last = 0;

	for (size_t i = 0; i < n; i++) {
		uint8_t b = p[i * step];

		count[0][b]++;
		count[1][(uint8_t)(b - last)]++;
		last = b;
	}
	for (int k = 0; k < 2; k++)
		for (int b = 0; b < 256; b++)
			bits[k] += count[k][b] ? SYMBOL - nlog(count[k][b]) : 0;
	return bits[0] < bits[1] ? bits[0] : bits[1];
}

static size_t
guess_length(const uint8_t *p, size_t n)
{
	size_t best = 1;
	double least = 0;

	for (size_t len = 1; len <= LONGEST && len * FEW <= n; len++) {
		double bits = 0;
		size_t k = n / len;

		for (size_t j = 0; j < len; j++)
			bits += guess_bytes(p + j, k, len);
		bits /= (double)(k * len);
		/* a multiple of the length is as good, but has more columns */
		if (len == 1 || bits < 0.99 * least) {
			least = bits;
			best = len;
		}
	}
	return best;
}

/* Bits of numbers of which the lengths are coded, by entropy, and the bits below the highest. */
static double
guess_lengths(const uint32_t count[65], size_t n)
{
	double bits = nlog(n);

	for (unsigned k = 0; k <= 64; k++)
		if (count[k])
			bits += SYMBOL - nlog(count[k]) + (k > 1 ? (k - 1) * (double)count[k] : 0);
	return bits;
}

static unsigned
guess_bits(uint64_t v)
{
	return v ? 64 - (unsigned)__builtin_clzll(v) : 0;
}

/* Bits of n values that are told apart, each of which costs its bytes the first time. */
static double
guess_distinct(struct guess *g, const uint64_t *v, size_t n, unsigned width)
{
	double bits = nlog(n);

	memset(g->seen, 0, g->slots * sizeof *g->seen);
	for (size_t i = 0; i < n; i++) {
		size_t h = v[i] * 0x9e3779b97f4a7c15 >> 32 & (g->slots - 1);

		while (g->seen[h] && g->what[h] != v[i])
			h = (h + 1) & (g->slots - 1);
		g->what[h] = v[i];
		g->seen[h]++;
	}
	for (size_t h = 0; h < g->slots; h++)
		bits += g->seen[h] ? 8 * width - nlog(g->seen[h]) : 0;
	return bits;
}

/* Differences of values of that width to those before them with the same key (NULL: to the one before). */
static double
guess_changes(const uint64_t *v, const uint64_t *key, size_t n, unsigned width)
{
	static const unsigned shift = 64 - KEYBITS;
	uint64_t last[1 << KEYBITS] = { 0 };
	uint32_t count[65] = { 0 };

	for (size_t i = 0; i < n; i++) {
		uint64_t *before = &last[key ? key[i] * 0x9e3779b97f4a7c15 >> shift : 0];
		uint64_t d = (v[i] - *before) << (64 - 8 * width);

		count[guess_bits(zigzag((uint64_t)((int64_t)d >> (64 - 8 * width))))]++;
		*before = v[i];
	}
	return guess_lengths(count, n);
}

static double
guess_numbers(struct guess *g, const uint64_t *v, size_t n, unsigned width)
{
	uint32_t count[65] = { 0 };
	double bits, other;

	for (size_t i = 0; i < n; i++)
		count[guess_bits(v[i])]++;
	bits = guess_lengths(count, n);
	other = guess_changes(v, NULL, n, width);
	bits = other < bits ? other : bits;
	other = guess_distinct(g, v, n, width);
	return other < bits ? other : bits;
}

static void
guess_load(const struct guess *g, uint64_t *v, size_t at, unsigned width, size_t n)
{
	for (size_t i = 0; i < n; i++)
		v[i] = get_le(g->p + at + i * g->len, width);
}

/* Bits of the field at that byte; the last record is left out, because the field may reach into the next one. */
static double
guess_field(struct guess *g, size_t at, unsigned width)
{
	size_t n = g->n - 1;
	struct vc_col col = { g->v[0], NULL, n, width, NULL };
	struct vc_scale found[SCALE_FOUND];
	double bits = 0, other;

	for (unsigned b = 0; b < width; b++)
		bits += g->byte[(at + b) % g->len];
	guess_load(g, g->v[0], at, width, n);
	other = guess_numbers(g, g->v[0], n, width);
	bits = other < bits ? other : bits;
	if (width >= 4 && scale_find(&col, found) && found[0].kind != VC_SCALE_INTEGER) {
		scale_origin(&found[0], &col);
		other = 8.0 * width * (double)scale_places(&found[0], &col, g->v[1], NULL);
		other += guess_numbers(g, g->v[1], n, width);
		bits = other < bits ? other : bits;
	}
	return bits;
}

/*
 * The cheapest fields of a record that begins at that byte, if a field costs `price` more. Returns their
 * bits; widths, unless NULL: gets them, and *n their number.
 */
static double
guess_fields(const struct guess *g, size_t from, double price, uint8_t *widths, unsigned *n)
{
	double bits[LONGEST + 1] = { 0 };
	uint8_t last[LONGEST + 1] = { 0 };
	unsigned k = 0;

	for (size_t at = 1; at <= g->len; at++) {
		bits[at] = INFINITY;
		for (unsigned w = 0; w < 4 && 1u << w <= at; w++) {
			size_t before = at - (1u << w);
			double b = bits[before] + g->cost[(from + before) % g->len][w] + price;

			if (b < bits[at]) {
				bits[at] = b;
				last[at] = (uint8_t)(1u << w);
			}
		}
	}
	for (size_t at = g->len; widths && at; at -= last[at])
		k++;
	for (size_t at = g->len, i = k; widths && at; at -= last[at])
		widths[--i] = last[at];
	if (n)
		*n = k;
	return bits[g->len];
}

/* The fields of records that begin at that byte, at most VS_FIELDS. */
static void
guess_split(const struct guess *g, struct vs_layout *y, size_t from)
{
	uint8_t widths[LONGEST];
	double price = FIELD;
	unsigned n = 0;

	do {
		guess_fields(g, from, price, widths, &n);
		price *= 4;
	} while (n > VS_FIELDS);
	memset(y, 0, sizeof *y);
	y->nfield = n;
	memcpy(y->width, widths, n);
}

/* The key of field f, among those before it: the one that helps most. */
static void
guess_key(struct guess *g, struct vs_layout *y, size_t from, unsigned f, size_t at)
{
	size_t n = g->n - 1, other = from;
	double least;

	guess_load(g, g->v[0], at, y->width[f], n);
	least = KEYED * g->cost[at % g->len][guess_bits(y->width[f]) - 1];
	for (unsigned k = 0; k < f; other += y->width[k++]) {
		double bits;

		guess_load(g, g->v[1], other, y->width[k], n);
		bits = guess_changes(g->v[0], g->v[1], n, y->width[f]);
		if (bits < least) {
			least = bits;
			y->key[f] = (uint8_t)(k + 1);
		}
	}
}

static int
guess_open(struct guess *g, const uint8_t *p, size_t n)
{
	memset(g, 0, sizeof *g);
	g->p = p;
	g->len = guess_length(p, n);
	g->n = n / g->len - 1;          /* one may be lost to a header */
	g->slots = 4;
	while (g->slots < 2 * g->n)
		g->slots *= 2;
	g->v[0] = malloc(g->n * sizeof *g->v[0]);
	g->v[1] = malloc(g->n * sizeof *g->v[1]);
	g->seen = malloc(g->slots * sizeof *g->seen);
	g->what = malloc(g->slots * sizeof *g->what);
	g->byte = malloc(g->len * sizeof *g->byte);
	g->cost = malloc(g->len * sizeof *g->cost);
	return g->v[0] && g->v[1] && g->seen && g->what && g->byte && g->cost ? 0 : -1;
}

static void
guess_close(struct guess *g)
{
	free(g->v[0]);
	free(g->v[1]);
	free(g->seen);
	free(g->what);
	free(g->byte);
	free(g->cost);
}

/* The layout of records that begin at that byte, by the estimates as they are now. */
static void
guess_layout(struct guess *g, struct vs_guess *to, size_t from)
{
	size_t at = to->head = from;

	guess_split(g, &to->layout, from);
	for (unsigned f = 0; f < to->layout.nfield; at += to->layout.width[f++])
		guess_key(g, &to->layout, from, f, at);
}

/* The bytes, at most `most`, at which records take the fewest bits: the best first, at most VS_GUESSES. */
static unsigned
guess_begins(const struct guess *g, size_t most, size_t from[VS_GUESSES])
{
	double bits[VS_GUESSES + 1];
	unsigned n = 0;

	for (size_t at = 0; at < g->len && at <= most; at++) {
		double b = guess_fields(g, at, FIELD, NULL, NULL) * (at ? 1 : SHIFT);
		unsigned k = n < VS_GUESSES ? n++ : n;

		for (; k && bits[k - 1] > b; k--)
			if (k < VS_GUESSES) {
				bits[k] = bits[k - 1];
				from[k] = from[k - 1];
			}
		if (k < VS_GUESSES) {
			bits[k] = b;
			from[k] = at;
		}
	}
	return n;
}

/*
 * The bytes of a field are coded from the highest on, each with those above as its context: so a field
 * takes hardly more, some times as much, than its parts would as fields.
 */
static void
guess_widen(struct guess *g, unsigned log2width, double times)
{
	size_t width = 1u << log2width;

	for (size_t j = 0; width <= g->len && j < g->len; j++) {
		double bits[9] = { 0 };

		for (size_t at = 1; at <= width; at++) {
			bits[at] = INFINITY;
			for (unsigned w = 0; w < log2width && 1u << w <= at; w++) {
				size_t before = at - (1u << w);
				double b = bits[before] + g->cost[(j + before) % g->len][w];

				bits[at] = b < bits[at] ? b : bits[at];
			}
		}
		if (times * bits[width] < g->cost[j][log2width])
			g->cost[j][log2width] = times * bits[width];
	}
}

unsigned
vs_layout_guess(struct vs_guess guess[VS_GUESSES], const uint8_t *p, size_t n, size_t most)
{
	struct guess g;
	size_t from[VS_GUESSES] = { 0 };
	unsigned k;

	guess[0] = (struct vs_guess){ { .nfield = 1, .width = { 8 } }, 0 };
	n = n < PIECE ? n : PIECE;
	if (n < 4 * FEW)
		return 1;
	if (guess_open(&g, p, n) != 0) {
		guess_close(&g);
		return 0;
	}
	for (size_t j = 0; j < g.len; j++)
		g.byte[j] = guess_bytes(p + j, g.n, g.len);
	for (size_t j = 0; j < g.len; j++)
		for (unsigned w = 0; w < 4; w++)
			g.cost[j][w] = 1u << w <= g.len ? guess_field(&g, j, 1u << w) : INFINITY;
	guess_begins(&g, most, from);
	guess_layout(&g, &guess[1], from[0]);
	guess_widen(&g, 1, 1);
	guess_widen(&g, 2, RARELY);
	guess_widen(&g, 3, RARELY);
	k = guess_begins(&g, most, from);
	k = k < VS_GUESSES - 3 ? k : VS_GUESSES - 3;
	for (unsigned i = 0; i < k; i++)
		guess_layout(&g, &guess[3 + i], from[i]);
	guess_widen(&g, 2, 1);
	guess_widen(&g, 3, 1);
	guess_begins(&g, most, from);
	guess_layout(&g, &guess[2], from[0]);
	guess_close(&g);
	return 3 + k;
}
