/* Codes events: see coder.h. */
#include "ae/pack/coder.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "codec/column/cm_numbers.h"
#include "format/ae/events.h"

#define COUNTERS   22                   /* bits of an index */
#define FOLLOWS    18
#define WEIGHTS    2048
#define INPUTS     6
#define EVENTROOM  4096                 /* more bytes than an event takes */
/* sets of weights: the first one for a kind of decision */
#define SET_VALUE  0
#define SET_OTHER  512
#define SET_BRANCH 768
#define SET_ITEM   900
#define SET_LENGTH 940
#define SET_BYTE   1024
#define SURE       (UINT32_C(65000) << 16 | 60)
#define HALF       (UINT32_C(1) << 31)  /* a counter that was not used, which is kept as 0: most of the table never is */
#define LIMIT      255
#define EXTRA      4096u                /* sites for parts of an event */

/* What is known of the events of a place */
struct coder_site {
	uint64_t last, prev;            /* values; of a branch: its outcomes */
	uint32_t hist;                  /* outcomes of predictions */
	uint32_t sure;                  /* counter of decisions after many right predictions */
	uint8_t which;                  /* those of other candidates, 2 bits each */
};

int
coder_init(struct coder *c)
{
	memset(c, 0, sizeof *c);
	cm_num_init();
	c->counter = calloc((size_t)1 << COUNTERS, sizeof *c->counter);
	c->follows = calloc((size_t)1 << FOLLOWS, sizeof *c->follows);
	c->weight = malloc(WEIGHTS * sizeof *c->weight);
	c->nsite = EXTRA;
	c->site = calloc(c->nsite, sizeof *c->site);
	c->cap = EVENTROOM;
	c->out = malloc(c->cap);
	if (!c->out || !c->counter || !c->follows || !c->weight || !c->site)
		return -1;
	for (uint32_t i = 0; i < c->nsite; i++)
		c->site[i].sure = SURE;
	for (unsigned i = 0; i < WEIGHTS; i++)
		for (unsigned k = 0; k < 8; k++)
			c->weight[i][k] = 20000;
	return 0;
}

void
coder_release(struct coder *c)
{
	free(c->out);
	free(c->counter);
	free(c->follows);
	free(c->weight);
	free(c->site);
	free(c->func);
	memset(c, 0, sizeof *c);
}

/* Room for what the next event takes; without memory, what was encoded is overwritten. */
static void
coder_room(struct coder *c)
{
	size_t n = c->dec ? 0 : c->range.n;
	uint8_t *p;

	if (c->dec || c->cap - n >= EVENTROOM)
		return;
	p = realloc(c->out, 2 * c->cap);
	if (!p) {
		c->failed = 1;
		c->range.n = 0;
		return;
	}
	c->out = p;
	c->cap *= 2;
	c->range.out = c->out;
}

void
coder_encode(struct coder *c)
{
	c->dec = 0;
	range_enc_init(&c->range, c->out);
}

size_t
coder_end(struct coder *c)
{
	coder_room(c);
	range_end(&c->range);
	return c->range.n;
}

void
coder_decode(struct coder *c, const uint8_t *p, size_t n)
{
	c->dec = 1;
	range_dec_init(&c->range, p, n);
}

static uint64_t
coder_key(unsigned what, uint64_t a, uint64_t b)
{
	return cm_mix(a * 64 + what, b);
}

/*
 * One decision in n contexts, whose keys are hashes, with one of the sets of weights. Integers only, so that all machines
 * agree.
 */
static int
coder_bit(struct coder *c, int bit, const uint64_t *key, unsigned n, unsigned set)
{
	int32_t *w = c->weight[set % WEIGHTS], st[INPUTS];
	uint32_t *at[INPUTS], t[INPUTS], p;
	int64_t sum = 0;
	int err;

	for (unsigned i = 0; i < n; i++) {
		at[i] = c->counter + (key[i] >> (64 - COUNTERS));
		t[i] = *at[i] ^ HALF;
		st[i] = cm_stretch(t[i] >> 16);
		sum += (int64_t)st[i] * w[i];
	}
	sum >>= 16;
	p = cm_squash(sum > CM_ST ? CM_ST : sum < -CM_ST ? -CM_ST : (int)sum);
	bit = range_bit(&c->range, c->dec, bit, p);
	err = ((bit << 12) - (int)(p >> 4)) * 6;
	for (unsigned i = 0; i < n; i++) {
		w[i] += (st[i] * err + 0x8000) >> 16;
		cm_count(t + i, bit, LIMIT);
		*at[i] = t[i] ^ HALF;
	}
	return bit;
}

/*
 * Was the prediction right, at a place where it was right the last 32 times? That is a cheap decision, with a counter of
 * the place.
 */
static int
coder_sure(struct coder *c, struct coder_site *s, int right)
{
	uint32_t p = s->sure >> 16;

	right = range_bit(&c->range, c->dec, right, p > 65535 - 1 ? 65535 - 1 : p < 1 ? 1 : p);
	cm_count(&s->sure, right, 1000);
	return right;
}

static struct coder_site *
coder_site(struct coder *c, uint32_t no)
{
	uint32_t n = c->nsite;
	struct coder_site *p;

	if (no >= c->nsite) {
		while (n <= no)
			n *= 2;
		p = realloc(c->site, n * sizeof *p);
		if (!p) {
			c->failed = 1;
			return c->site;
		}
		memset(p + c->nsite, 0, (n - c->nsite) * sizeof *p);
		for (uint32_t i = c->nsite; i < n; i++)
			p[i].sure = SURE;
		c->site = p;
		c->nsite = n;
	}
	return c->site + no;
}

/* A byte in four contexts */
static unsigned
coder_byte(struct coder *c, unsigned byte, const uint64_t *ctx, unsigned n, unsigned set)
{
	unsigned v = 1;

	for (int i = 7; i >= 0; i--) {
		uint64_t key[INPUTS];

		for (unsigned k = 0; k < n; k++)
			key[k] = coder_key(40 + k, ctx[k], v);
		v = v << 1 | (unsigned)coder_bit(c, byte >> i & 1, key, n, set);
	}
	return v & 255;
}

static uint64_t
coder_low(uint64_t v, unsigned n)
{
	return n == 8 ? v : v & ((UINT64_C(1) << 8 * n) - 1);
}

/* How many of the low bytes of a value of n bytes are not all as in `last`? 1 to n, or 0 */
static unsigned
coder_length(struct coder *c, uint32_t no, unsigned n, uint64_t differ, unsigned which)
{
	unsigned len = 0;

	for (; len < n; len++) {
		uint64_t key[3] = {
			coder_key(24, no, len), coder_key(25, n * 16 + len, which), coder_key(26, no, which * 16 + len)
		};

		if (coder_bit(c, !(differ >> 8 * len), key, 3, SET_LENGTH + n * 8 + len))
			break;
	}
	return len;
}

/* A value of n bytes that nothing foresaw; guess and last are other ones, `before` is what is before it in memory */
static uint64_t
coder_literal(struct coder *c, uint32_t no, unsigned n, uint64_t v, uint64_t guess, uint64_t last, uint64_t before,
    unsigned which)
{
	unsigned len = n == 1 ? 1 : coder_length(c, no, n, v ^ last, which);
	uint64_t r = len == 8 ? 0 : last >> 8 * len;
	int eqg = r == (len == 8 ? 0 : guess >> 8 * len), eql = 1;

	for (unsigned i = len; i-- > 0;) {
		unsigned g = guess >> 8 * i & 255, l = last >> 8 * i & 255, b;
		unsigned as = (eqg ? g : 256) * 257 + (eql ? l : 256);
		uint64_t ctx[5] = {
			coder_key(30, no, (uint64_t)as * 8 + i), coder_key(31, n * 8 + i, as),
			coder_key(32, (uint64_t)no * 8 + i, (r & 255) * 4 + eqg * 2 + eql),
			coder_key(33, n * 8 + i, n == 1 ? before & 0xffff : r & 0xffff),
			coder_key(34, n * 8 + i, n == 1 ? before & 0xffffff : l * 8 + i),
		};

		b = coder_byte(c, v >> 8 * i & 255, ctx, 5, SET_BYTE + (n * 8 + i) * 4 + (unsigned)(eqg * 2 + eql));
		eqg &= b == g;
		eql &= b == l;
		r = r << 8 | b;
	}
	return r;
}

/* A value of n bytes that is not the guess */
static uint64_t
coder_other(struct coder *c, struct coder_site *s, uint32_t no, unsigned n, uint64_t v, uint64_t guess, uint64_t before,
    uint64_t follows)
{
	uint64_t last = coder_low(s->last, n), cand[3] = {follows, coder_low(2 * s->last - s->prev, n), last};

	for (unsigned i = 0; i < 3; i++) {
		uint64_t k[4] = {
			coder_key(6 + i, no, s->which), coder_key(9 + i, c->hits & 15, s->which),
			coder_key(12 + i, no, s->hist & 7), coder_key(15 + i, n, 0)
		};

		if (cand[i] == guess || (i > 0 && cand[i] == cand[0]) || (i > 1 && cand[i] == cand[1]))
			continue;
		if (coder_bit(c, v == cand[i], k, 4, SET_OTHER + i * 64 + s->which % 64)) {
			s->which = (uint8_t)(s->which << 2 | i);
			return cand[i];
		}
	}
	s->which = (uint8_t)(s->which << 2 | 3);
	return coder_literal(c, no, n, v, guess, last, before, s->which);
}

/* Is a value the guess? */
static int
coder_right(struct coder *c, struct coder_site *s, uint32_t no, unsigned n, int right, uint64_t guess, uint64_t addr,
    unsigned set)
{
	uint64_t last = coder_low(s->last, n), stride = coder_low(2 * s->last - s->prev, n);
	unsigned like = (guess == last) * 4u + (guess == stride) * 2u + (guess == 0);
	uint64_t key[5] = {
		coder_key(1, no, s->hist & 0xff), coder_key(2, no, c->hits & 0xfff), coder_key(3, no, addr),
		coder_key(4, no, like + (s->hist & 3) * 8), coder_key(5, s->hist & 0xffff, n),
	};

	return coder_bit(c, right, key, 5, SET_VALUE + set * 16 + (s->hist & 15));
}

/* A value of n bytes at a place; guess is what the model foresees, of memory at addr or 0; set: weights */
static uint64_t
coder_value(struct coder *c, uint32_t no, unsigned n, uint64_t v, uint64_t guess, uint64_t addr, uint64_t before,
    unsigned set)
{
	struct coder_site *s = coder_site(c, no);
	uint64_t *follows = c->follows + (coder_key(20, no * UINT64_C(0x10001) + s->last, s->prev) >> (64 - FOLLOWS));
	int right;

	guess = coder_low(guess, n);
	right = s->hist == UINT32_MAX ? coder_sure(c, s, v == guess) : coder_right(c, s, no, n, v == guess, guess, addr, set);
	v = right ? guess : coder_other(c, s, no, n, v, guess, before, coder_low(*follows, n));
	s->hist = s->hist << 1 | (unsigned)right;
	c->hits = c->hits << 1 | (unsigned)right;
	*follows = v;
	s->prev = s->last;
	s->last = v;
	return v;
}

static int
coder_unsure(struct coder *c, const struct coder_site *s, uint32_t no, unsigned how, int v)
{
	uint64_t key[5] = {
		coder_key(50, no, how * 256 + (s->hist & 0xff)), coder_key(51, no, (c->turns & 0xffff) * 4 + how),
		coder_key(52, no, (s->last & 0xfff) * 4 + how), coder_key(53, no, (c->turns & 0xff) * 4 + how),
		coder_key(54, s->hist & 0xffff, how),
	};

	return coder_bit(c, v, key, 5, SET_BRANCH + how * 16 + (s->hist & 15));
}

static unsigned
coder_branch(struct coder *c, struct follow *f, const struct regen_ask *a, unsigned v)
{
	struct coder_site *s = coder_site(c, EXTRA + a->site);
	unsigned known = f->flags && a->how != INSN_NOCC;
	unsigned guess = known ? (unsigned)follow_branch(f, a->how) : 0, bit;

	if (s->hist == UINT32_MAX && known)
		bit = coder_sure(c, s, v == guess) ? guess : !guess;
	else
		bit = (unsigned)coder_unsure(c, s, a->site, known * 2 + guess, (int)v);
	s->hist = s->hist << 1 | (bit == guess);
	s->last = s->last << 1 | bit;
	c->turns = c->turns << 1 | bit;
	return bit;
}

/* Builds the table of the program's functions by their entries. */
static void
coder_functions(struct coder *c, const struct prog *g)
{
	uint32_t n = 64;

	c->nno = g->nno;
	while (n < 2 * g->nno)
		n *= 2;
	free(c->func);
	c->func = calloc(n, sizeof *c->func);
	c->maskfunc = n - 1;
	if (!c->func) {
		c->failed = 1;
		return;
	}
	for (uint32_t i = 0; i < g->nno; i++) {
		uint64_t entry;
		uint32_t h;

		if (g->byno[i] < 0)
			continue;
		entry = g->func[g->byno[i]].entry;
		for (h = (uint32_t)cm_hash(entry, 32); c->func[h & c->maskfunc].number; h++)
			;
		c->func[h & c->maskfunc].entry = entry;
		c->func[h & c->maskfunc].number = i + 1;
	}
}

/* The number of the function at this address + 1, or 0 */
static uint32_t
coder_function(struct coder *c, const struct follow *f, uint64_t entry)
{
	if (!f->g)
		return 0;
	if (!c->func || c->nno != f->g->nno)
		coder_functions(c, f->g);
	for (uint32_t h = (uint32_t)cm_hash(entry, 32); c->func && c->func[h & c->maskfunc].number; h++)
		if (c->func[h & c->maskfunc].entry == entry)
			return c->func[h & c->maskfunc].number;
	return 0;
}

/* A part of an item that is a value of n bytes, at b */
static void
coder_part(struct coder *c, const struct follow *f, const struct regen_ask *a, unsigned part, uint8_t *b, unsigned n,
    uint64_t base)
{
	int big = f->machine->big;
	uint32_t no = (a->site * 8 + part) % EXTRA;
	uint64_t d = coder_low(base - get_order(b, n, big), n);

	d = coder_low(base - coder_value(c, no, n, d, coder_site(c, no)->last, 0, 0, 24), n);
	for (unsigned i = 0; i < n; i++)
		b[big ? n - 1 - i : i] = (uint8_t)(d >> 8 * i);
}

/* Kinds of items */
enum { I_RETURN, I_FUNC, I_ENTER, I_UNWIND, I_LAND };

static unsigned
coder_itemkind(struct coder *c, const struct regen_ask *a, struct coder_site *s, unsigned target, unsigned kind)
{
	unsigned is = 0, guess = target == 2 ? I_FUNC : I_RETURN;

	if (s->which == 0xff && coder_sure(c, s, kind == guess))
		return guess;
	for (; is < I_LAND; is++) {
		uint64_t key[4] = {
			coder_key(55, a->site, (s->last * 4 + target) * 8 + is), coder_key(56, a->site, (s->prev * 4 + target) * 8 + is),
			coder_key(57, target * 8 + is, s->hist & 7), coder_key(58, a->site, (s->hist & 0x1ff) * 8 + is)
		};

		if (coder_bit(c, kind == is, key, 4, SET_ITEM + is * 8 + target))
			break;
	}
	return is;
}

/* A run item: its site keeps the last two, as 0 or the number of a function + 1, and the kinds of the last ones. */
static unsigned
coder_item(struct coder *c, struct follow *f, const struct regen_ask *a, uint8_t *b)
{
	struct coder_site *s = coder_site(c, EXTRA + a->site);
	unsigned w = f->machine->word, kind, n;
	uint32_t target = f->target ? coder_function(c, f, f->target) : 0, number, guess;
	unsigned known = !f->target ? 0 : target ? 2 : 1;

	kind = c->dec ? 0 : b[0] == EV_RETURN ? I_RETURN : b[0] == EV_ENTER ? I_ENTER : b[0] == EV_UNWIND ? I_UNWIND :
	    b[0] == EV_LAND ? I_LAND : I_FUNC;
	kind = coder_itemkind(c, a, s, known, kind);
	s->which = (uint8_t)(s->which << 1 | (kind == (known == 2 ? I_FUNC : I_RETURN)));
	s->hist = s->hist << 3 | kind;
	number = kind;
	switch (kind) {
	case I_FUNC: {
		uint64_t *follows = c->follows + (coder_key(59, a->site, s->last) >> (64 - FOLLOWS));
		uint32_t v = (uint32_t)b[1] << 8 | b[0], u;

		guess = target ? ev_funcno(target - 1) : (uint32_t)*follows;
		u = (uint32_t)coder_value(c, (a->site * 8) % EXTRA, 2, v, guess, *follows, 0, 25);
		b[0] = (uint8_t)u;
		b[1] = (uint8_t)(u >> 8);
		*follows = u;
		number = u + 8;
		n = 2;
		break;
	}
	case I_ENTER:
	case I_UNWIND:
		b[0] = kind == I_ENTER ? EV_ENTER : EV_UNWIND;
		coder_part(c, f, a, kind, b + 1, w, a->sp);
		n = 1 + w;
		break;
	case I_LAND:
		b[0] = EV_LAND;
		coder_part(c, f, a, kind, b + 1, w, a->sp);
		coder_part(c, f, a, 5, b + 1 + w, 2, 0);
		n = 3 + w;
		break;
	default:
		b[0] = EV_RETURN;
		n = 1;
	}
	s->prev = s->last << 16 | number;
	s->last = number;
	f->target = 0;
	return n;
}

static void
coder_plain(struct coder *c, struct follow *f, const struct regen_ask *a, uint8_t *b)
{
	int big = f->machine->big;
	unsigned n = a->n;
	uint64_t addr = f->moved && !a->alone && a->kind == RK_VALUE ? f->addr : 0, before = 0;
	uint64_t guess = a->kind == RK_NEED || a->reg != REGEN_MEM ? f->var[a->reg] : f->var[f->mem];
	uint64_t v = c->dec ? 0 : get_order(b, n, big);

	if (addr && n == 1)
		before = recall_load(f->recall, addr - 3, 1) | recall_load(f->recall, addr - 2, 1) << 8 |
		    recall_load(f->recall, addr - 1, 1) << 16;
	v = coder_value(c, EXTRA + a->site, n, v, guess, addr, before, a->kind == RK_NEED ? 9 : n);
	for (unsigned i = 0; i < n; i++)
		b[big ? n - 1 - i : i] = (uint8_t)(v >> 8 * i);
	follow_correct(f, a, v);
}

unsigned
coder_event(struct coder *c, struct follow *f, const struct regen_ask *a, uint8_t *b)
{
	struct coder_site *s;

	coder_room(c);
	switch (a->kind) {
	case RK_BRANCH:
		*b = (uint8_t)coder_branch(c, f, a, *b);
		return 1;
	case RK_ITEM:
		return coder_item(c, f, a, b);
	case RK_VALUE:
	case RK_NEED:
		coder_plain(c, f, a, b);
		return a->n;
	case RK_BLOCK:
		s = coder_site(c, EXTRA + a->site);
		put_le16(b + 8, (uint16_t)coder_value(c, EXTRA + a->site, a->n, get_le(b, a->n), s->last, 0, 0, 26));
		memcpy(b, b + 8, a->n);
		return a->n;
	default:
		s = coder_site(c, EXTRA + a->site);
		put_le64(b, coder_value(c, EXTRA + a->site, 8, get_le64(b), s->last, 0, 0, 27));
		b[8] = (uint8_t)coder_value(c, a->site % EXTRA, 1, b[8], 0, 0, 0, 28);
		return 9;
	}
}
