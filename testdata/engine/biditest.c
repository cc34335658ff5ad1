/* Bidirectional compressors: against plain ones, state by state; walks; bytes. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../check.h"
#include "bidiplain.h"
#include "codec/column/block.h"

#define LONG 1500

static uint64_t seed = 1;

static uint64_t
rnd(uint64_t below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return below ? seed % below : seed;
}

enum kind { CONSTANT, RAMP, TWO_RAMPS, PERIOD, FEW, RECENT, RUNS, SMALL, WIDE, EXTREME, PHASES, CHASE,
    NKIND };
static const char *const kind_name[] = { "constant", "ramp", "two ramps", "period", "few", "recent", "runs",
    "small", "wide",
	"extreme", "phases", "chase" };

static void
stream(enum kind kind, uint64_t *v, size_t n)
{
	uint64_t period[37], next[64];

	for (unsigned i = 0; i < 37; i++)
		period[i] = rnd(1u << 20);
	for (unsigned i = 0; i < 64; i++)
		next[i] = rnd(64);
	for (size_t i = 0; i < n; i++)
		switch (kind) {
		case CONSTANT: v[i] = 0x7fff12345678; break;
		case RAMP: v[i] = 1000 + 4 * i; break;
		case TWO_RAMPS: v[i] = i % 2 ? 0x7fff00000000 - 16 * i : 0x400000 + 8 * i; break;
		case PERIOD: v[i] = period[i % 37]; break;
		case FEW: v[i] = UINT64_C(0x1111111111111111) * rnd(5); break;
		case RECENT: v[i] = i && rnd(10) ? v[i - 1 - rnd(i < 20 ? i : 20)] : rnd(0); break;
		case RUNS: v[i] = i && rnd(200) ? v[i - 1] : rnd(3); break;
		case SMALL: v[i] = rnd(256); break;
		case WIDE: v[i] = rnd(0); break;
		case EXTREME: v[i] = rnd(2) ? UINT64_MAX : rnd(2) << 63; break;
		case PHASES: v[i] = i / 400 % 2 ? period[i % 37] : rnd(50) ? 3 * i : rnd(1000); break;
		default: v[i] = i ? 0x5000 + 16 * next[(v[i - 1] - 0x5000) / 16 % 64] + 16 * !rnd(20) :
		    0x5000; break;
		}
	if (kind == CHASE)
		for (size_t i = 0; i < n; i++)
			v[i] |= i % 7 == 0;
}

static void
symbols_of(const struct bidi *b, const uint64_t *v, size_t n, uint64_t *sym)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t d = v[i] - (i ? v[i - 1] : v[0]);

		sym[i] = b->how->stride ? d << 1 ^ -(d >> 63) : v[i] - b->base;
	}
}

/* Both through the same steps: -1 where they differ */
static int
together(const uint64_t *v, size_t n, enum bidi_method m, unsigned tbits)
{
	struct bidi *b = bidi_open(m, v, n, tbits);
	uint64_t *sym = malloc((n + 1) * sizeof *sym), x;
	struct plain p;
	int good = 1;

	if (!b || !sym)
		return -1;
	symbols_of(b, v, n, sym);
	plain_open(&p, b, sym);
	good = plain_same(&p, b);
	for (size_t i = 0; i < n && good; i++)
		good = bidi_next(b, &x) && x == v[i] && plain_forward(&p) == sym[i] && plain_same(&p, b);
	good = good && !bidi_next(b, &x);
	for (size_t i = n; i-- && good;)
		good = bidi_prev(b, &x) && x == v[i] && plain_backward(&p) == sym[i] && plain_same(&p, b);
	good = good && !bidi_prev(b, &x);
	for (size_t i = 0; i < 2 * n && good; i++)
		if (rnd(2)) {
			good = bidi_next(b, &x) == (p.i < n) &&
			    (p.i == n || (x == v[p.i] && plain_forward(&p) == sym[p.i - 1]));
			good = good && plain_same(&p, b);
		} else {
			good = bidi_prev(b, &x) == (p.i > 0) &&
			    (p.i == 0 || (x == v[p.i - 1] && plain_backward(&p) == sym[p.i]));
			good = good && plain_same(&p, b);
		}
	plain_close(&p);
	bidi_close(b);
	free(sym);
	return good ? 0 : -1;
}

/* A number for the whole state; what lies between the sides is no part of it */
static uint64_t
state(const struct bidi *b)
{
	size_t nflag = b->how->engine == &bidi_last ? b->count :
	    b->count + b->how->ctx, gap = nflag - b->count;
	uint64_t h = b->pos ^ b->cur << 20;

#define MIX(x) (h = (h ^ (x)) * UINT64_C(0xff51afd7ed558ccd), h ^= h >> 29)
	for (size_t i = 0; i < nflag; i++)
		if (i < b->pos || i >= b->pos + gap)
			MIX((uint64_t)bit_get(b->s.flag, i) + 2 * i);
	for (size_t i = 0; i < b->s.nslot; i++)
		if (!gap || i < b->s.nfr || i >= b->s.nslot - b->s.nbl)
			MIX(slot_get(&b->s, i) + i);
	for (unsigned i = 0; i < BIDI_CONTEXT_MAX; i++)
		MIX(b->list[i]);
	for (size_t i = 0; gap && i < (size_t)1 << b->tbits; i++) {
		MIX(table(b, b->s.frtb, i));
		MIX(table(b, b->s.bltb, i));
	}
	MIX(b->win[0]);
	MIX(b->win[1]);
	MIX(b->win[2]);
	MIX(b->nhit);
	MIX(b->s.nfr);
	return h;
}

/* Steps one by one and many at once, seeks: values are right, and the state is that of the first walk */
static int
walk(const uint64_t *v, size_t n, enum bidi_method m)
{
	struct bidi *b = bidi_open(m, v, n, 6);
	uint64_t *at = malloc((n + 1) * sizeof *at), *got = malloc((n + 1) * sizeof *got), ctx[4], x;
	int good = b && at && got;

	for (size_t i = 0; good && i <= n; i++) {
		at[i] = state(b);
		good = bidi_tell(b) == i && bidi_next(b, &x) == (i < n);
	}
	for (unsigned i = 0; i < 400 && good; i++) {
		size_t pos = bidi_tell(b), k = rnd(4) ? rnd(40) : rnd(n), r = 0;

		switch (rnd(3)) {
		case 0:
			r = bidi_read(b, got, k);
			good = r == (k < n - pos ? k : n - pos) && !memcmp(got, v + pos, r * sizeof *v);
			pos += r;
			break;
		case 1:
			r = bidi_back(b, got, k);
			for (size_t j = 0; j < r; j++)
				good &= got[j] == v[pos - 1 - j];
			good &= r == (k < pos ? k : pos);
			pos -= r;
			break;
		default:
			bidi_seek(b, pos = rnd(n + 1));
			break;
		}
		good = good && bidi_tell(b) == pos && state(b) == at[pos];
		for (size_t j = bidi_context(b, ctx, 4); j-- && good;)
			good = ctx[j] == v[pos - 1 - j];
	}
	bidi_close(b);
	free(at);
	free(got);
	return good ? 0 : -1;
}

static void
test_states(void)
{
	static uint64_t v[LONG];
	char what[80];

	for (enum kind k = 0; k < NKIND; k++) {
		int plain = 0, walks = 0;

		for (enum bidi_method m = 0; m < BIDI_NMETHOD; m++) {
			for (size_t n = 0; n < 5; n++) {
				stream(k, v, n);
				plain |= together(v, n, m, 1 + (unsigned)rnd(5));
			}
			stream(k, v, LONG);
			plain |= together(v, 150, m, 4) | together(v, 200, m, 0);
			walks |= walk(v, LONG, m);
		}
		snprintf(what, sizeof what, "%s: every state is that of the plain compressors", kind_name[k]);
		CHECK(what, plain == 0);
		snprintf(what, sizeof what, "%s: a state depends on the position only", kind_name[k]);
		CHECK(what, walks == 0);
	}
}

/* Figure 6: a context of three values at four positions, there and back */
static void
test_figure6(void)
{
	static const uint64_t v[] = { 1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 5 };
	struct bidi *b = bidi_open(BIDI_FCM3, v, 12, 8);
	uint64_t ctx[4], there[4], x;
	int good = b != NULL;

	bidi_seek(b, 6);
	for (size_t i = 0; i < 4; i++) {
		good &= bidi_context(b, ctx, 4) == 3 && ctx[2] == v[3 + i] && ctx[1] == v[4 + i] &&
		    ctx[0] == v[5 + i];
		there[i] = state(b);
		bidi_next(b, &x);
	}
	for (size_t i = 4; i--;) {
		bidi_prev(b, &x);
		good &= state(b) == there[i];
	}
	CHECK("figure 6: four positions of a context of three values, both ways", good);
	bidi_close(b);
}

static int
counts(enum bidi_method m, const uint64_t *v, size_t n, size_t hits, size_t misses, unsigned width)
{
	struct bidi *b = bidi_open(m, v, n, 8);
	struct bidi_stats s;
	int good;

	if (!b)
		return 0;
	bidi_stats(b, &s);
	good = s.hits == hits && s.misses == misses && s.width == width;
	if (!good)
		printf("# %zu hits, %zu misses, width %u\n", s.hits, s.misses, s.width);
	good &= s.bytes * 8 >= s.entry_bits + s.table_bits &&
	    s.bytes * 8 <= s.entry_bits + s.table_bits + 6000;
	bidi_close(b);
	return good;
}

/* Numbers that can be found by hand; the extension is among the entries of FCM */
static void
test_counts(void)
{
	uint64_t v[100];

	stream(CONSTANT, v, 100);
	CHECK("a constant is hits only", counts(BIDI_FCM1, v, 100, 101, 0, 0) &&
	    counts(BIDI_STRIDE2, v, 100, 100, 0, 0));
	for (unsigned i = 0; i < 100; i++)
		v[i] = 5 + i;
	/*
	 * strides 0 | 0 1 1 ... 1 | 0 from the right: 0 after 1 is a hit of the empty table; misses: 1
	 * after 1, 1 after 0, 0 after 0
	 */
	CHECK("a ramp: three misses of its strides", counts(BIDI_DFCM1, v, 100, 98, 3, 2));
	CHECK("a ramp: one stride comes in", counts(BIDI_STRIDE2, v, 100, 99, 1, 2));
	CHECK("a ramp: no value comes again", counts(BIDI_LAST32, v, 100, 1, 99, 7));
}

static void
test_pick(void)
{
	static uint64_t v[LONG];
	int m;

	stream(RAMP, v, LONG);
	m = bidi_pick(v, LONG, 500, 0);
	CHECK("selection: strides for a ramp", m >= BIDI_DFCM1 && m <= BIDI_DFCM3);
	stream(PERIOD, v, LONG);
	m = bidi_pick(v, LONG, LONG, 8);
	CHECK("selection: contexts for what repeats", m >= BIDI_FCM1 && m <= BIDI_DFCM3);
	stream(RECENT, v, LONG);
	m = bidi_pick(v, LONG, LONG, 0);
	CHECK("selection: the last values for recent ones", m == BIDI_LAST8 || m == BIDI_LAST32);
	for (size_t i = 200; i < LONG; i++)
		v[i] = i;
	CHECK("selection by a prefix sees no more", bidi_pick(v, LONG, 200, 0) >= BIDI_LAST2 &&
	    bidi_pick(v, LONG, LONG, 0) < BIDI_LAST2);
	m = bidi_pick_size(v, LONG, 0);
	CHECK("selection by memory", m >= 0 && m < BIDI_NMETHOD);
	CHECK("names", bidi_by_name("dfcm2") == BIDI_DFCM2 && bidi_by_name("fcm") == -1 &&
	    !strcmp(bidi_name(BIDI_LAST8), "last8"));
}

/*
 * Through a file: values and the state at the left end; every truncation is refused, every flipped
 * bit survived
 */
static int
bytes(const uint64_t *v, size_t n, enum bidi_method m, unsigned width, int level, int hostile)
{
	struct bidi *a = bidi_open(m, v, n, 4), *b;
	struct buf out = BUF_INIT;
	const char *err;
	int good = a && bidi_save(m, v, n, width, 4, level, &out) == 0;

	b = good ? bidi_load(m, out.p, out.n, n, width, &err) : NULL;
	good = b && bidi_count(b) == n && state(a) == state(b);
	for (size_t i = 0; i < n && good; i++) {
		uint64_t x;

		good = bidi_next(b, &x) && x == v[i];
	}
	bidi_close(a);
	bidi_close(b);
	for (size_t i = 0; i < out.n && good && hostile; i++) {
		uint8_t *part = malloc(i + 1);

		memcpy(part, out.p, i);
		good = bidi_load(m, part, i, n, width, &err) == NULL && err;
		free(part);
	}
	for (size_t i = 0; i < 8 * out.n && good && hostile; i++) {
		out.p[i / 8] ^= (uint8_t)(1 << i % 8);
		bidi_close(bidi_load(m, out.p, out.n, n, width, &err));
		out.p[i / 8] ^= (uint8_t)(1 << i % 8);
	}
	buf_free(&out);
	return good ? 0 : -1;
}

static void
test_bytes(void)
{
	static uint64_t v[LONG];
	int all = 0, some = 0;

	for (enum kind k = 0; k < NKIND; k++) {
		stream(k, v, LONG);
		for (enum bidi_method m = 0; m < BIDI_NMETHOD; m++) {
			all |= bytes(v, LONG, m, 8, 0, 0) | bytes(v, LONG, m, 8, 3, 0);
			for (size_t n = 0; n < 4; n++)
				some |= bytes(v, n, m, 8, 0, 1);
			some |= bytes(v, 60, m, 8, 0, 1) | bytes(v, 60, m, 8, 3, 1);
		}
	}
	CHECK("bytes: the same state again", all == 0);
	CHECK("bytes: truncated ones are refused", some == 0);
}

/* By hand, so that it stays: head, flags of FR, its v, entries of FRTB that are used, these */
static void
test_vectors(void)
{
	static const uint64_t v[] = { 9, 9, 9, 9, 12 };
	/*
	 * the extension's 0 and four more before 0 or 12 - 9, all as in the empty table; 12 - 9 before the
	 * extension's 0 is not
	 */
	static const uint8_t fcm1[] = { 2, 2, 9, 0, 0x1f, 0x00, 0x01, 0x03 };
	/* the fifth comes in */
	static const uint8_t last2[] = { 0, 2, 9, 0, 0x0f, 0x00, 0x03 };
	struct buf out = BUF_INIT;
	const char *err;

	CHECK("bytes of fcm1", bidi_save(BIDI_FCM1, v, 5, 2, 2, 0, &out) == 0 && out.n == sizeof fcm1 &&
	    !memcmp(out.p, fcm1, sizeof fcm1));
	out.p[4] |= 0x40;
	CHECK("bits behind the last flag are 0", out.n == sizeof fcm1 &&
	    !bidi_load(BIDI_FCM1, out.p, out.n, 5, 2, &err));
	out.n = 0;
	CHECK("bytes of last2", bidi_save(BIDI_LAST2, v, 5, 2, 0, 0, &out) == 0 && out.n == sizeof last2 &&
	    !memcmp(out.p, last2, sizeof last2));
	out.p[6] = 4;
	CHECK("symbols have no more bits than is said", out.n == sizeof last2 &&
	    !bidi_load(BIDI_LAST2, out.p, out.n, 5, 2, &err));
	buf_free(&out);
}

/* As methods of a block */
static int
block(struct vc_work *w, struct vc_col *col, enum vc_method m, struct buf *out)
{
	uint64_t *v = malloc((col->n + 1) * sizeof *v);
	const char *err;
	int good;

	out->n = 0;
	v[col->n] = 42;
	good = vc_encode_with(w, NULL, col, m, out) == 0 &&
	    vc_decode(w, NULL, col, m, out->p, out->n, v, &err) == 0 &&
	    !memcmp(v, col->v, col->n * sizeof *v) && v[col->n] == 42;
	for (unsigned i = 0; i < 2000 && good; i++) {
		size_t at = rnd(out->n), len = rnd(8) ? out->n : rnd(out->n);
		uint8_t old = out->p[at];

		out->p[at] = (uint8_t)rnd(256);
		vc_decode(w, NULL, col, m, out->p, len, v, &err);
		out->p[at] = old;
		good = v[col->n] == 42;
	}
	free(v);
	return good ? 0 : -1;
}

static void
test_block(void)
{
	static uint64_t v[LONG];
	struct vc_work *w = vc_work_new(2);
	struct buf out = BUF_INIT;
	int bad = 0;

	for (unsigned width = 1; width <= 8; width *= 2)
		for (enum vc_method m = VC_FCM1; m <= VC_STRIDE32; m++) {
			struct vc_col col = { v, NULL, rnd(8) ? 1 + rnd(300) : 1, width, NULL };

			stream((enum kind)rnd(NKIND), v, col.n);
			for (size_t i = 0; i < col.n; i++)
				v[i] &= UINT64_MAX >> (64 - 8 * width);
			bad |= block(w, &col, m, &out);
		}
	CHECK("methods of a block, and damaged blocks", bad == 0);
	buf_free(&out);
	vc_work_free(w);
}

int
main(void)
{
	test_figure6();
	test_counts();
	test_vectors();
	test_states();
	test_pick();
	test_bytes();
	test_block();
	return check_end();
}
