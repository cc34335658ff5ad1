/* Context mixing: coding of values, the same steps for encoder and decoder. See cm_internal.h. */
#include "codec/column/cm_internal.h"

#include "codec/column/cm_miss_internal.h"
#include "codec/column/cm_numbers.h"
#include "codec/column/cm_vote_internal.h"

#define SURE_LEN 8
#define DEAR    4       /* a value that costs more than this many bytes, plus one, is dear */
#define VAIN    (UINT32_C(700) << 16)   /* of 2^32: a further candidate right less often is not tried */
#define HOPE    128     /* one outcome changes that estimate by 1/128 of the error */
#define TRATE   5               /* rate at which records of candidates learn; those of pairs, too */
#define SETRATE 6               /* that of sets of votes, and of the curves */
#define POS 23          /* bits of a position in mtab and dtab; the other bits are a check */

/* The best candidate of try k, but for those refused: index << 1 | which, or -1. */
static inline __attribute__((always_inline)) int
cm_pick(const struct cm_fix *f, const struct look *l, int k, uint32_t refused)
{
	static const unsigned least[CM_TRIES] = { 0, 16000, 24000 };
	unsigned best, which = votes_best(f, l, k, refused, &best);

	return best < least[k] || (best == least[k] && !which) ? -1 : (int)which;
}

/*
 * Codes a decision whose mixed probability is squash(d), in the middle between that and what it
 * turned out to be before. Returns the bit.
 */
static inline __attribute__((always_inline)) int
cm_corrected(uint16_t *curve, struct range *r, const int dec, int bit, int d)
{
	d = d > CM_ST ? CM_ST : d < -CM_ST ? -CM_ST : d;

	unsigned at = (unsigned)(d + 2048), part = at & 127;
	uint16_t *c = curve + (at >> 7);
	uint32_t seen = (c[0] * (128 - part) + c[1] * part) >> 7;

	bit = range_bit(r, dec, bit, (cm_squash(d) + seen) >> 1);
	cm_move(&c[part >> 6], bit, SETRATE);
	return bit;
}

/* Is cand, for which these candidates are, the value? The probability is mixed from all votes. */
static inline __attribute__((always_inline)) int
cm_decide(struct cm_fix *f, struct range *r, const int dec, int bit, const struct look *l, int k, int which,
    uint64_t cand, uint32_t votes)
{
	static const uint8_t record[4] = { 2, 0, 1, 0 };        /* by which of a predictor's candidates it is */
	uint16_t *t[CM_VOTES], *agree, *pair = &f->pair[k][cm_hash(cm_mix(l->key, cand), 12)];
	int s[CM_VOTES], d;
	unsigned set = votes_set(votes);
	cm_vec x[2];
	unsigned vote = (unsigned)which >> 1;
	int16_t *w = f->w[k][(f->hist & 15) << 4 | vote], *wrank = f->wrank[k][l->hist[CM_RANK]];
	uint32_t *recent = &f->recent[k][cm_hash(cm_mix(l->key, (f->hist & 255) << 5 | vote), 10)], p;

	_Pragma("GCC unroll 16")
	for (int j = 0; j < CM_VOTES; j++) {
		t[j] = &f->t[k][j][l->hist[j]][record[votes >> 2 * j & 3]];
		s[j] = cm_stretch(*t[j]);
	}
	agree = &f->agree[k][set];
	x[0] = cm_set(s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7]);
	x[1] = cm_set(s[8], s[9], s[10], s[11], 256, cm_stretch(*recent >> 16), cm_stretch(*agree),
	    cm_stretch(*pair));
	d = cm_dot(x, w, wrank, 2) >> 14;
	p = cm_squash(d);
	bit = cm_corrected(f->curve[k][(set ^ set >> 4) & 255], r, dec, bit, d);
	cm_train(x, w, wrank, cm_clip16((((bit << 16) - (int)p) >> 4) * 8), 2);
	_Pragma("GCC unroll 16")
	for (int j = 0; j < CM_VOTES; j++)
		cm_move(t[j], bit, TRATE);
	cm_move(agree, bit, SETRATE);
	cm_move(pair, bit, TRATE);
	cm_count(recent, bit, 255);
	return bit;
}

/* After value v[i]: updates matches and positions. */
static inline void
cm_step(struct cm *c, struct cm_key *k, uint64_t key, uint64_t val)
{
	struct cm_fix *f = c->f;

	k->d2 = k->d1;
	k->d1 = val - k->last;
	k->last = val;
	f->g[3] = f->g[2];
	f->g[2] = f->g[1];
	f->g[1] = f->g[0];
	f->g[0] = val;
	f->prevkey = key;
	f->roll = (f->roll << 8) + (val * 0x9e3779b97f4a7c15 >> 40);
}

/* The table is looked up with the 8 values before v[i], so that its entry has time to arrive from memory. */
static inline void
learn_match(struct cm *c, const uint64_t *v, size_t i)
{
	struct cm_fix *f = c->f;
	uint64_t h = f->rollhash;
	uint32_t *m = &c->mtab[h >> (62 - c->bits)], at = *m, n = 0;

	*m = (uint32_t)i | (uint32_t)(h >> 16) << POS;
	f->rollhash = f->roll * 0xd6e8feb86659fd93;
	__builtin_prefetch(&c->mtab[f->rollhash >> (62 - c->bits)]);
	if (f->mlen && v[f->mpos] == v[i]) {
		f->mlen += f->mlen < 65535;
		f->mpos++;
		return;
	}
	f->mlen = 0;
	if ((at ^ *m) >> POS || !(at &= (1u << POS) - 1) || at >= i)
		return;
	while (n < 32 && n <= at && v[at - n] == v[i - n])
		n++;
	if (n >= 4) {
		f->mlen = n;
		f->mpos = at + 1;
	}
}

/*
 * The last four differences before position i, divided by their common power of two: returns a
 * hash, and that power.
 */
static inline uint64_t
cm_shape(const uint64_t *v, size_t i, int32_t *tz)
{
	uint64_t a = v[i - 1] - v[i - 2], b = v[i - 2] - v[i - 3], c = v[i - 3] - v[i - 4],
	    d = v[i - 4] - v[i - 5], all = a | b | c | d;
	int z = all ? __builtin_ctzll(all) : 0;

	*tz = all ? z : -1;
	return cm_mix(cm_mix((uint64_t)((int64_t)a >> z), (uint64_t)((int64_t)b >> z)),
		cm_mix((uint64_t)((int64_t)c >> z), (uint64_t)((int64_t)d >> z))) * 0xd6e8feb86659fd93;
}

static inline void
learn_dmatch(struct cm *c, const struct look *l, const uint64_t *v, size_t i)
{
	struct cm_fix *f = c->f;
	uint64_t h;
	uint32_t *m, at;
	int32_t tz, otz;

	if (f->dlen && l->cand[CM_DMATCH][0] == v[i]) {
		f->dlen += f->dlen < 255;
		f->dpos++;
	} else if (f->dlen && l->cand[CM_DMATCH][1] == v[i] && f->dpos + 1 < i) {
		f->dlen = f->dlen > 8 ? f->dlen / 2 : f->dlen;
		f->dpos += 2;
	} else {
		f->dlen = 0;
	}
	h = f->shapehash;
	tz = f->shapetz;
	m = &c->dtab[h >> (62 - c->bits)];
	at = *m;
	*m = (uint32_t)i | (uint32_t)(h >> 16) << POS;
	f->shapehash = cm_shape(v, i + 1, &f->shapetz);
	__builtin_prefetch(&c->dtab[f->shapehash >> (62 - c->bits)]);
	if (f->dlen || (at ^ *m) >> POS || (at &= (1u << POS) - 1) < 5 || at >= i || tz < 0)
		return;
	if (cm_shape(v, at, &otz) == h && otz >= 0 &&
	    v[i] - v[i - 1] == cm_scaled(v[at] - v[at - 1], tz - otz)) {
		f->dlen = 5;
		f->dpos = at + 1;
		f->dshift = tz - otz;
	}
}

/*
 * One cheap decision when a long match, or a long match of differences, agrees with a context that
 * has not failed recently.
 */
static inline int
cm_sure(const struct cm *c, const struct look *l, const uint64_t *v, uint64_t *cand)
{
	const struct cm_fix *f = c->f;
	const struct cm_slot *s = l->slot[CM_ROLL];

	if (f->mlen >= SURE_LEN && (s->w & 0xffff) == (unsigned)l->chk[CM_ROLL] << 8 && s->v == v[f->mpos]) {
		*cand = s->v;
		return 0;
	}
	s = l->slot[CM_PAIR];
	if (f->dlen >= SURE_LEN && (s->w & 0xffff) == (unsigned)l->chk[CM_PAIR] << 8) {
		*cand = s->v + l->base[CM_PAIR];
		if (*cand == f->g[0] + cm_scaled(v[f->dpos] - v[f->dpos - 1], f->dshift))
			return 1;
	}
	return -1;
}

static inline int
code_certain(struct cm *c, struct range *r, const int dec, const struct look *l, uint64_t *v, size_t i,
    int kind, uint64_t cand)
{
	struct cm_fix *f = c->f;
	uint32_t len = kind ? f->dlen : f->mlen, *t = &f->sure[kind][len > 63 ? 63 : len], p = *t >> 16;
	int bit = range_bit(r, dec, !dec && v[i] == cand, p < 16 ? 16 : p > 65530 ? 65530 : p);

	cm_count(t, bit, 1023);
	if (!bit)
		return 0;
	v[i] = cand;
	cm_step(c, l->k, l->key, cand);
	if (f->mlen && v[f->mpos] == cand) {
		f->mlen += f->mlen < 65535;
		f->mpos++;
	} else {
		f->mlen = 0;
	}
	if (f->dlen && f->g[0] - f->g[1] == cm_scaled(v[f->dpos] - v[f->dpos - 1], f->dshift)) {
		f->dlen += f->dlen < 255;
		f->dpos++;
	} else {
		f->dlen = 0;
	}
	if (!(i & 3))
		c->mtab[f->rollhash >> (62 - c->bits)] = (uint32_t)i | (uint32_t)(f->rollhash >> 16) << POS;
	f->rollhash = f->roll * 0xd6e8feb86659fd93;
	return 1;
}

/*
 * After a value that code_certain coded by a match: the same value at the same key, again and again.
 * Where nothing but the lengths of the matches changes from one to the next, they are coded here.
 * Returns the position after them.  *failed: the decision for the value there is coded, and is no
 */
static inline size_t
code_same(struct cm *c, struct range *r, const int dec, const struct look *l, uint64_t *v, const uint64_t *key,
    size_t i, size_t end, int *failed)
{
	struct cm_fix *f = c->f;
	const uint64_t val = f->g[0], h = f->rollhash;
	const struct cm_slot *s = l->slot[CM_ROLL];
	struct look again = { .key = l->key, .k = l->k };
	uint32_t *m = &c->mtab[h >> (62 - c->bits)], mpos = f->mpos, mlen = f->mlen;

	if (l->k->d1 | l->k->d2 || f->g[1] != val || f->g[2] != val || f->g[3] != val || mlen < SURE_LEN ||
	    f->roll != (f->roll << 8) + (val * 0x9e3779b97f4a7c15 >> 40))
		return i;
	look_first(c, &again, key != NULL);
	if (again.slot[CM_ROLL] != s || again.chk[CM_ROLL] != l->chk[CM_ROLL] || s->v != val ||
	    (s->w & 0xffff) != (unsigned)l->chk[CM_ROLL] << 8)
		return i;
	while (i < end && (!key || (key[i] == l->key && key[mpos] == l->key)) && v[mpos] == val) {
		uint32_t *t = &f->sure[0][mlen > 63 ? 63 : mlen], p = *t >> 16;

		if (!dec && v[i] != val)
			break;
		*failed = !range_bit(r, dec, 1, p < 16 ? 16 : p > 65530 ? 65530 : p);
		cm_count(t, !*failed, 1023);
		if (*failed)
			break;
		v[i] = val;
		if (!(i & 3))
			*m = (uint32_t)i | (uint32_t)(h >> 16) << POS;
		i++;
		mpos++;
		mlen += mlen < 65535;
		if (f->dlen && cm_scaled(v[f->dpos] - v[f->dpos - 1], f->dshift) == 0) {
			f->dlen += f->dlen < 255;
			f->dpos++;
		} else {
			f->dlen = 0;
		}
	}
	f->mpos = mpos;
	f->mlen = mlen;
	return i;
}

/* Votes that were right but not believed in try k gain belief: otherwise they would never be tried again. */
static inline void
learn_right(struct cm_fix *f, const struct look *l, uint64_t val, int k)
{
	for (uint32_t m = votes_equal(l, val); m; m &= m - 1) {
		int j = __builtin_ctz(m) / 2;

		if (l->hist[j] != CM_NONE)
			cm_move(&f->t[k][j][l->hist[j]][__builtin_ctz(m) & 1], 1, 4);
	}
}

static __attribute__((noinline)) uint64_t
miss_enc(struct cm *c, struct range *r, uint64_t v, uint64_t key, uint64_t ref, uint64_t prev)
{
	return miss_value(c, r, 0, v, key, ref, prev);
}

static __attribute__((noinline)) uint64_t
miss_dec(struct cm *c, struct range *r, uint64_t v, uint64_t key, uint64_t ref, uint64_t prev)
{
	return miss_value(c, r, 1, v, key, ref, prev);
}

/* Tries candidates from try k on, but for those refused, one by one, then codes the value's bytes. */
static inline __attribute__((always_inline)) uint64_t
cm_code(struct cm *c, struct range *r, const int dec, struct look *l, uint64_t val, int keyed, int k,
    uint32_t refused)
{
	struct cm_fix *f = c->f;
	const int first = k;

	for (; k < CM_TRIES; k++) {
		uint32_t *hope = &f->hope[k][f->hist & 255], votes;
		uint64_t cand;
		int which, right;

		if (k > first && *hope < VAIN && *hope & 15) {
			--*hope;
			break;
		}
		which = cm_pick(f, l, k, refused);
		if (which < 0)
			break;
		cand = l->cand[which >> 1][which & 1];
		votes = votes_equal(l, cand);
		right = cm_decide(f, r, dec, !dec && val == cand, l, k, which, cand, votes);
		*hope = (*hope - *hope / HOPE + (UINT32_MAX / HOPE & -(uint32_t)right)) | 15;
		if (right) {
			f->hist = f->hist << 2 | (uint32_t)k;
			return cand;
		}
		refused |= votes;
	}
	val = (dec ? miss_dec : miss_enc)(c, r, val, l->key, keyed ? l->k->last : f->lastmiss,
	    keyed ? l->k->last : f->g[0]);
	if ((f->levels & 7) >= DEAR)
		learn_right(f, l, val, k < CM_TRIES ? k : CM_TRIES - 1);
	f->lastmiss = val;
	f->hist = f->hist << 2 | 3;
	return val;
}

static inline void
look_at(struct cm *c, struct look *l, const uint64_t *key, size_t i)
{
	l->key = key ? key[i] : 0;
	l->k = c->key + (key ? cm_hash(cm_mix(l->key, 9), c->bits - 1) : 0);
	look_first(c, l, key != NULL);
}

static inline __attribute__((always_inline)) void
cm_run(struct cm *c, struct range *r, const int dec, uint64_t *v, const uint64_t *key, size_t i, size_t end,
    unsigned width)
{
	struct cm_fix *f = c->f;
	const int keyed = key != NULL;
	struct look look[2], *l = &look[0], *next = &look[1];
	int ready = 0;          /* *l is filled in as far as it can be before its turn */
	int failed = 0;         /* the cheap decision for this value is coded, and is no */

	for (; i < end; i++) {
		uint64_t sure, val;
		int kind, k = 0;

		if (!ready)
			look_at(c, l, key, i);
		if (f->mlen && keyed && key[f->mpos] != l->key)
			f->mlen = 0;
		kind = cm_sure(c, l, v, &sure);
		if (kind >= 0) {
			if (!failed && code_certain(c, r, dec, l, v, i, kind, sure)) {
				if (!kind)
					i = code_same(c, r, dec, l, v, key, i + 1, end, &failed) - 1;
				ready = 0;
				continue;
			}
			failed = 0;
			k = 1;
			if (kind)
				f->dlen = 0;
			else
				f->mlen = 0;
		}
		if (!ready)
			candidates_find_rest(c, l, keyed, keyed || i < 64 ? 0 : v[i - f->period]);
		candidates_find(c, l, v, i, width);
		if ((f->hist & 3) == 3)
			miss_expect(c, l->key);
		val = cm_code(c, r, dec, l, dec ? 0 : v[i], keyed, k, k ? votes_equal(l, sure) : 0);
		v[i] = val;
		if (l->floats)
			learn_float(f, l, val);
		if (!keyed)
			learn_period(f, v, i, val);
		cm_step(c, l->k, l->key, val);
		ready = i + 1 < end;
		if (ready) {
			look_at(c, next, key, i + 1);
			candidates_find_rest(c, next, keyed, keyed || i < 63 ? 0 : v[i + 1 - f->period]);
			_Pragma("GCC unroll 8")
			for (int j = 0; j < CM_SLOTS; j++)
				__builtin_prefetch(next->slot[j]);
		}
		learn_rank(&f->rank, val);
		learn_slots(l, val);
		learn_lines(l, v, i, val);
		learn_match(c, v, i);
		if (i >= 8)
			learn_dmatch(c, l, v, i);
		l = next;
		next = l == look ? &look[1] : &look[0];
	}
}

void
cm_enc(struct cm *c, struct range *r, uint64_t *v, const uint64_t *key, size_t i, size_t end, unsigned width)
{
	if (key)
		cm_run(c, r, 0, v, key, i, end, width);
	else
		cm_run(c, r, 0, v, NULL, i, end, width);
}

void
cm_dec(struct cm *c, struct range *r, uint64_t *v, const uint64_t *key, size_t i, size_t end, unsigned width)
{
	if (key)
		cm_run(c, r, 1, v, key, i, end, width);
	else
		cm_run(c, r, 1, v, NULL, i, end, width);
}
