/*
 * Value streams: context mixing of bytes. A table for each of eight contexts has a slot for each half
 * of a byte: cells for the bits of the half, by those before them. A cell has a probability and the last
 * bits. Both, and two models of matches, are the inputs of a mixer.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/varint.h"
#include "codec/column/cm_numbers.h"
#include "codec/column/range.h"
#include "codec/stream/bytes_internal.h"

#define CONTEXTS 8u
#define VECS     3                      /* of eight inputs */
#define INPUTS   (8 * VECS)
#define MATCHES  2u
#define LEVELS   32u                    /* of the length of a match */
#define BACK     6u                     /* units before this one that are known */
#define BITS_MIN 10                     /* log2 of the slots of a table */
#define BITS_MAX 17
#define BYTES_A_SLOT 8                  /* the tables have slots for so many bytes each */
#define PLACES   18                     /* log2 of the places that a match is looked for in */
#define LONG     400u                   /* bytes that are compared to find one */
#define MANY     32u                    /* bytes of a match that make it one, whatever the unit */
#define FRESH    0x80000001             /* a new cell: probability 1/2, no bit; kept as 0 */
#define USES     127u                   /* of a cell, at most: more do not make it slower to change */
#define SURE     255u                   /* the same of a match */
#define ROOM     16u                    /* bytes that a byte takes, at most */
#define CHUNK    4096u                  /* bytes between two looks at the space */
#define NODES    256u                   /* places in a byte: the bits before, with a 1 above them */
#define PHASES   16u                    /* places in a unit that differ */
#define FINE     33u                    /* steps of a correction */
#define AFTER_BITS 12                   /* log2 of the contexts of the second one */
#define AFTER    (1u << AFTER_BITS)

struct slot {
	uint16_t check, none;
	uint32_t cell[15];              /* probability: 16 bits; uses: 8; the last bits: 8. All less FRESH */
};

struct match {
	uint32_t *place;                /* by hash of the units before it */
	size_t at, len;                 /* the byte that is to come next, if len is not 0 */
	unsigned units;                 /* that make a hash */
	uint32_t right[LEVELS];         /* counters */
};

struct bytes {
	struct bytes_shape s;
	int bits;
	uint8_t *base, *p;              /* owned: the bytes, after zeros */
	struct slot *table[CONTEXTS];   /* owned, all in one */
	struct match match[MATCHES];
	uint64_t back[BACK + 1];        /* hashes of the units before; [0] is not used */
	uint64_t up[5];                 /* of those above, from two to the left to two to the right */
	uint64_t up2;                   /* two rows above */
	uint64_t part;                  /* hash of the bytes of this unit so far */
	uint64_t x[CONTEXTS];
	_Alignas(16) int16_t place[PHASES * NODES][INPUTS];     /* weights */
	_Alignas(16) int16_t state[LEVELS * 5 * 2][INPUTS];
	uint16_t history[CONTEXTS][256];
	uint16_t fix[PHASES * NODES][FINE], fix2[AFTER][FINE];
};

static int
bytes_bits(size_t n)
{
	int b = BITS_MIN;

	while (b < BITS_MAX && (size_t)BYTES_A_SLOT << b < n)
		b++;
	return b;
}

static size_t
bytes_pad(const struct bytes_shape *s)
{
	return 2 * s->row + BACK * s->unit;     /* 6 at least, which near bytes need */
}

uint64_t
bytes_memory(size_t n)
{
	const struct bytes_shape most = { .unit = BYTES_UNIT, .row = BYTES_ROW };

	return sizeof(struct bytes) + ((uint64_t)CONTEXTS * sizeof(struct slot) << bytes_bits(n)) +
	    ((uint64_t)MATCHES * sizeof(uint32_t) << PLACES) + n + bytes_pad(&most) + ROOM * CHUNK;
}

static void
bytes_free(struct bytes *b)
{
	free(b->base);
	free(b->table[0]);
	free(b->match[0].place);
	free(b);
}

static void
fill(int16_t *w, size_t n, int16_t v)
{
	while (n--)
		*w++ = v;
}

static void
bytes_start(struct bytes *b)
{
	uint16_t step[FINE];

	for (unsigned h = 0; h < 256; h++) {
		unsigned n = 0, ones = (unsigned)__builtin_popcount(h);

		while (h >> (n + 1))
			n++;
		for (unsigned k = 0; k < CONTEXTS; k++)
			b->history[k][h] = (uint16_t)(h ? 65535 * (2 * ones - 1) / (2 * n + 2) : 0);
	}
	fill(&b->place[0][0], sizeof(b->place) / 2, 2000);
	fill(&b->state[0][0], sizeof(b->state) / 2, 2000);
	for (unsigned i = 0; i < FINE; i++)
		step[i] = (uint16_t)cm_squash(128 * (int)i - 2048);
	for (unsigned i = 0; i < PHASES * NODES; i++)
		memcpy(b->fix[i], step, sizeof(step));
	for (unsigned i = 0; i < AFTER; i++)
		memcpy(b->fix2[i], step, sizeof(step));
	for (unsigned k = 0; k < LEVELS; k++)
		b->match[0].right[k] = b->match[1].right[k] = 1u << 31;
	b->match[0].units = 2;
	b->match[1].units = BACK;
}

/* NULL without memory */
static struct bytes *
bytes_new(const struct bytes_shape *s, size_t n)
{
	struct bytes *b = aligned_alloc(64, (sizeof(*b) + 63) / 64 * 64);
	size_t slots = (size_t)CONTEXTS << bytes_bits(n);

	if (!b)
		return NULL;
	memset(b, 0, sizeof(*b));
	cm_num_init();
	b->s = *s;
	b->bits = bytes_bits(n);
	b->base = calloc(bytes_pad(s) + n + 1, 1);
	b->table[0] = calloc(slots, sizeof(struct slot));
	b->match[0].place = calloc((size_t)MATCHES << PLACES, sizeof(uint32_t));
	if (!b->base || !b->table[0] || !b->match[0].place) {
		bytes_free(b);
		return NULL;
	}
	b->p = b->base + bytes_pad(s);
	for (unsigned k = 1; k < CONTEXTS; k++)
		b->table[k] = b->table[k - 1] + ((size_t)1 << b->bits);
	b->match[1].place = b->match[0].place + ((size_t)1 << PLACES);
	bytes_start(b);
	return b;
}

/* The order in which the bytes of numbers are coded, and back. */
static void
bytes_reverse(uint8_t *p, size_t n, unsigned order)
{
	size_t w = (size_t)1 << order;

	for (; n >= w; p += w, n -= w)
		for (size_t k = 0; k < w / 2; k++) {
			uint8_t x = p[k];

			p[k] = p[w - 1 - k];
			p[w - 1 - k] = x;
		}
}

static uint64_t
chain(uint64_t a, uint64_t b, uint64_t c)
{
	return cm_mix(cm_mix(a, b), c);
}

/* The contexts of byte j of a unit, at q, without rows. */
static void
contexts_line(struct bytes *b, const uint8_t *q, unsigned j)
{
	const uint64_t *u = b->back;
	uint64_t *x = b->x, c = b->part;

	x[0] = cm_mix(c, 1);
	x[1] = cm_mix(c, u[1]);
	x[2] = cm_mix(x[1], u[2]);
	x[3] = chain(x[2], u[3], u[4]);
	x[4] = chain(x[3], u[5], u[6]);
	x[5] = cm_mix(c, u[2]);
	x[6] = cm_mix(q[-(long)b->s.unit] | (uint64_t)q[-1] << 8, j);
	x[7] = cm_mix(get_le32(q - 4), j);
}

/* The same with rows. */
static void
contexts_plane(struct bytes *b, const uint8_t *q, unsigned j)
{
	const uint64_t *u = b->back, *up = b->up;
	const uint8_t *above = q - b->s.row, *left = q - b->s.unit;
	uint64_t *x = b->x, c = b->part, slope;

	/* what continues the slope, and by how much the byte before differs from those left and above */
	slope = (uint8_t)(*left + *above - *(above - b->s.unit));
	if (j)
		slope |= (uint64_t)(uint8_t)(q[-1] - left[-1]) << 8 | (uint64_t)(uint8_t)(q[-1] - above[-1]) << 16;
	x[0] = cm_mix(c, 1);
	x[1] = cm_mix(c, u[1]);
	x[2] = cm_mix(x[1], up[2]);
	x[3] = chain(chain(x[2], up[1], up[3]), u[2], b->up2);
	x[4] = chain(chain(x[3], u[3], u[4]), up[0], up[4]);
	x[5] = chain(c, up[2], up[3]);
	x[6] = chain(chain(x[1], u[2], u[3]), u[4], cm_mix(u[5], u[6]));
	x[7] = cm_mix(slope, j);
}

/* A unit begins at q. */
static void
unit_next(struct bytes *b, const uint8_t *q, size_t i)
{
	const struct bytes_shape *s = &b->s;

	memmove(b->back + 2, b->back + 1, (BACK - 1) * sizeof(*b->back));
	b->back[1] = unit_hash(q - s->unit, s->unit);
	if (!i)
		for (unsigned k = 1; k <= BACK; k++)
			b->back[k] = b->back[1];
	if (s->row) {
		memmove(b->up, b->up + 1, 4 * sizeof(*b->up));
		b->up[4] = unit_hash(q - s->row + 2 * (size_t)s->unit, s->unit);
		if (!i)
			for (unsigned k = 0; k < 4; k++)
				b->up[k] = b->up[4];
		b->up2 = unit_hash(q - 2 * s->row, s->unit);
	}
}

/* Looks for a match of the bytes before i. */
static void
match_find(const struct bytes *b, struct match *m, size_t i)
{
	const uint8_t *p = b->p;
	uint64_t h = 0;
	size_t from, n = 0;

	for (unsigned k = 1; k <= m->units; k++)
		h = cm_mix(h, b->back[k]);
	h = cm_hash(h, PLACES);
	from = m->place[h];
	m->place[h] = (uint32_t)i;
	if (m->len || !from)
		return;
	while (n < LONG && n < from && p[from - 1 - n] == p[i - 1 - n])
		n++;
	if (n >= (size_t)m->units * b->s.unit || n >= MANY) {
		m->len = n;
		m->at = from;
	}
}

/* The level of a match by its length; 0: there is none. */
static unsigned
match_level(const struct bytes *b, const struct match *m)
{
	size_t n = m->len / b->s.unit;

	if (!m->len)
		return 0;
	return n < 16 ? 1 + (unsigned)n : n < 32 ? 17 + (unsigned)(n - 16) / 4 : n < 352 ?
	    21 + (unsigned)(n - 32) / 32 : LEVELS - 1;
}

static struct slot *
slot_find(struct slot *t, int bits, uint64_t x)
{
	uint64_t h = x * 0xd6e8feb86659fd93;
	struct slot *a = &t[h >> (64 - bits)], *b = &t[h >> (64 - bits) ^ 1];
	uint16_t check = (uint16_t)(h >> 16);

	if (a->check == check)
		return a;
	if (b->check == check)
		return b;
	if ((b->cell[0] >> 8 & 255) < (a->cell[0] >> 8 & 255))
		a = b;
	memset(a, 0, sizeof(*a));
	a->check = check;
	return a;
}

/* Of a byte: what predicts it. Of a bit: cells, inputs, what matches want. */
struct bit {
	struct slot *slot[CONTEXTS];
	unsigned level[MATCHES];        /* of the matches, 0 once they were wrong */
	uint8_t wants[MATCHES];         /* the bytes that come next in them */
	unsigned node;                  /* the bits before, with a 1 above them */
	uint32_t *cell[CONTEXTS];
	int want[MATCHES];              /* the bit of a match */
	cm_vec x[VECS];
};

/* The slots of half a byte. */
static void
half_begin(struct bytes *b, struct bit *t)
{
	uint64_t add = t->node == 1 ? 0 : t->node * 0x9e3779b97f4a7c15;

	for (unsigned k = 0; k < CONTEXTS; k++)
		__builtin_prefetch(&b->table[k][((b->x[k] + add) * 0xd6e8feb86659fd93) >> (64 - b->bits)]);
	for (unsigned k = 0; k < CONTEXTS; k++)
		t->slot[k] = slot_find(b->table[k], b->bits, b->x[k] + add);
}

/* Cells of the next bit and of what matches want as inputs. Returns how many contexts 1 to 4 are known. */
static unsigned
bit_inputs(struct bytes *b, struct bit *t, unsigned bitno)
{
	int in[INPUTS] = { 0 }, *x = in;
	unsigned known = 0, half = bitno >= 4 ? t->node : 1u << (3 - bitno) | (t->node & ((1u << (3 - bitno)) - 1));

	for (unsigned k = 0; k < CONTEXTS; k++, x += 2) {
		uint32_t c = *(t->cell[k] = &t->slot[k]->cell[half - 1]) ^ FRESH;

		if (!(c >> 8 & 255))
			continue;
		x[0] = cm_stretch(b->history[k][c & 255]);
		x[1] = cm_stretch(c >> 16);
		known += k >= 1 && k <= 4;
	}
	for (unsigned k = 0; k < MATCHES; k++, x += 2) {
		int p = (int)(b->match[k].right[t->level[k]] >> 16), sign;

		t->want[k] = t->wants[k] >> bitno & 1;
		sign = !t->level[k] ? 0 : t->want[k] ? 1 : -1;
		x[0] = sign * cm_stretch((uint32_t)p);
		x[1] = sign * ((p - 32768) / 16);
	}
	*x = 256;
	x = in;
	for (int i = 0; i < VECS; i++, x += 8)
		t->x[i] = cm_set(x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7]);
	return known;
}

static void
bit_learn(struct bytes *b, struct bit *t, int bit)
{
	for (unsigned k = 0; k < CONTEXTS; k++) {
		uint32_t c = *t->cell[k] ^ FRESH, h = c & 255, n = c >> 8 & 255;
		int p = (int)(c >> 16);

		if (n)
			cm_move(&b->history[k][h], bit, 6);
		p += ((bit ? 65535 : 0) - p) * (int)cm_rate_tab[n] >> 16;
		p = p < 32 ? 32 : p > 65503 ? 65503 : p;
		n += n < USES;
		*t->cell[k] = ((uint32_t)p << 16 | n << 8 | cm_history_tab[bit][h]) ^ FRESH;
	}
	for (unsigned k = 0; k < MATCHES; k++) {
		if (!t->level[k])
			continue;
		cm_count(&b->match[k].right[t->level[k]], t->want[k] == bit, SURE);
		if (t->want[k] != bit)
			t->level[k] = 0;
	}
	t->node = 2 * t->node + (unsigned)bit;
}

/* The probability d, corrected by what came of it. */
static int
fix_value(const uint16_t *z, int d)
{
	int f = d % 128;

	z += d / 128;
	return (z[0] * (128 - f) + z[1] * f) >> 7;
}

static void
fix_learn(uint16_t *z, int d, int bit, int shift)
{
	cm_move(&z[d / 128 + (d % 128 >= 64)], bit, shift);
}

static inline int
bit_code(struct bytes *b, struct range *r, int dec, int bit, struct bit *t, unsigned bitno, unsigned place)
{
	unsigned known = bit_inputs(b, t, bitno), longest = t->level[t->level[1] ? 1 : 0];
	int16_t *w = b->place[place + t->node];
	int16_t *w2 = b->state[(longest * 5 + known) * 2 + (t->level[0] && t->level[1])];
	uint16_t *z = b->fix[place + t->node];
	uint16_t *z2 = b->fix2[cm_hash(b->x[1] + t->node * 0x9e3779b97f4a7c15, AFTER_BITS)];
	/* in two parts, each of which fits 32 bits */
	int d = ((cm_dot(t->x, w, w2, 2) >> 4) + (cm_dot(t->x + 2, w + 16, w2 + 16, 1) >> 4)) >> 11, p, q;

	d = d > CM_ST ? CM_ST : d < -CM_ST ? -CM_ST : d;
	p = (int)cm_squash(d);
	d += 2048;
	q = (2 * p + fix_value(z, d) + fix_value(z2, d)) >> 2;
	bit = range_bit(r, dec, bit, (uint32_t)(q < 16 ? 16 : q > 65520 ? 65520 : q));
	cm_train(t->x, w, w2, cm_clip16(((bit << 16) - p) >> 1), VECS);
	fix_learn(z, d, bit, 6);
	fix_learn(z2, d, bit, 5);
	bit_learn(b, t, bit);
	return bit;
}

/* The byte at i, in a unit's place j. */
static inline void
byte_code(struct bytes *b, struct range *r, int dec, size_t i, unsigned j)
{
	uint8_t *q = b->p + i;
	struct bit t = { .node = 1 };

	if (!j) {
		unit_next(b, q, i);
		b->part = 0;
	}
	(b->s.row ? contexts_plane : contexts_line)(b, q, j);
	for (unsigned k = 0; k < MATCHES; k++) {
		struct match *m = &b->match[k];

		if (!j)
			match_find(b, m, i);
		t.level[k] = match_level(b, m);
		t.wants[k] = m->len ? b->p[m->at] : 0;
	}
	for (unsigned bitno = 8; bitno-- > 0;) {
		if (bitno == 7 || bitno == 3)
			half_begin(b, &t);
		bit_code(b, r, dec, dec ? 0 : *q >> bitno & 1, &t, bitno, j % PHASES * NODES);
	}
	*q = (uint8_t)t.node;
	b->part = unit_add(b->part, *q);
	for (unsigned k = 0; k < MATCHES; k++) {
		struct match *m = &b->match[k];

		if (m->len && b->p[m->at] == *q) {
			m->len += m->len < UINT16_MAX;
			m->at++;
		} else {
			m->len = 0;
		}
	}
}

int
bytes_encode(const uint8_t *p, size_t n, const struct bytes_shape *s, size_t limit, struct buf *out)
{
	struct bytes *b = bytes_new(s, n);
	struct range r;
	size_t old = out->n, start, i;

	if (!b)
		return -1;
	buf_u8(out, (uint8_t)s->unit);
	buf_u8(out, (uint8_t)s->order);
	buf_varint(out, s->row / s->unit);
	start = out->n;
	memcpy(b->p, p, n);
	bytes_reverse(b->p, n, s->order);
	range_enc_init(&r, NULL);
	/* what takes half of the limit for a quarter of the bytes is not worth the time for the others */
	for (i = 0; i < n && !out->nomem && r.n < (i < n / 4 ? limit / 2 : limit); i++) {
		if (i % CHUNK == 0) {
			out->n = start + r.n;
			r.out = buf_reserve(out, ROOM * CHUNK + ROOM) ? out->p + start : NULL;
		}
		if (r.out)
			byte_code(b, &r, 0, i, (unsigned)(i % s->unit));
	}
	bytes_free(b);
	if (i == n && r.out && r.n < limit) {
		range_end(&r);
		out->n = start + r.n;
		if (out->n - old < limit)
			return 0;
	}
	out->n = old;
	return out->nomem ? -1 : 1;
}

/* The shape at *p, which grows. 0, or 1: it is none. */
static int
shape_get(const uint8_t **p, const uint8_t *end, struct bytes_shape *s)
{
	uint64_t row;

	if (end - *p < 3)
		return 1;
	s->unit = *(*p)++;
	s->order = *(*p)++;
	if (varint_get(p, end, &row) != VARINT_OK || !s->unit || s->unit > BYTES_UNIT || s->order > 3
	    || row > BYTES_ROW / s->unit || (row && row < BYTES_UNITS))
		return 1;
	s->row = (size_t)row * s->unit;
	return 0;
}

int
bytes_decode(const uint8_t *p, size_t len, uint8_t *to, size_t n)
{
	const uint8_t *end = p + len;
	struct bytes_shape s;
	struct bytes *b;
	struct range r;

	if (n > BYTES_MAX || shape_get(&p, end, &s) != 0)
		return 1;
	b = bytes_new(&s, n);
	if (!b)
		return -1;
	range_dec_init(&r, p, (size_t)(end - p));
	for (size_t i = 0; i < n; i++)
		byte_code(b, &r, 1, i, (unsigned)(i % s.unit));
	bytes_reverse(b->p, n, s.order);
	memcpy(to, b->p, n);
	bytes_free(b);
	return r.n < r.len;
}
