/* The plain decoder: Context mixing of bifcm(5), the steps of a value. */

/* Step 2 */
static void
look_slots(struct cm *c, struct look *l, uint64_t k, uint64_t last, uint64_t d1, uint64_t d2)
{
	uint64_t lagged = c->i < 64 ? 0 : c->V[c->i - c->period];
	uint64_t ctx[2][6] = {
		{ mix(c->g0, 1), mix(c->g0, c->g1), mix(c->g0 - c->g1, c->g1 - c->g2),
		mix(c->g1 - c->g3, c->g0 - c->g2), mix(lagged, 0x77),
		    mix(mix(c->roll, k), c->roll >> 32) },
		{ mix(k, last), mix(k, c->prevkey), mix(mix(k, d1), d2), mix(k, d1 ^ 0x1234),
		mix(mix(k, c->g0), c->g1),
		    mix(mix(c->roll, k), c->roll >> 32) },
	};
	uint64_t base[2][6] = { { 0, 0, c->g0, c->g1, 0, 0 }, { 0, c->g0, last, last, 0, 0 } };

	for (int j = 0; j < 6; j++) {
		uint64_t h = ctx[c->keyed][j] * C;

		l->slot[j] = &c->slot[j][h >> (64 - c->B)];
		l->check[j] = (uint8_t)(h >> 16);
		l->base[j] = base[c->keyed][j];
		l->history[j] = l->slot[j]->check == l->check[j] ? l->slot[j]->history : 255;
	}
}

static double
as_double(uint64_t a)
{
	double x;

	memcpy(&x, &a, sizeof(x));
	return x;
}

static uint64_t
operate(unsigned op, double x, double y)
{
	double z = op == 0 ? x - y : op == 1 ? y - x : op == 2 ? x + y : x * y;
	uint64_t a;

	memcpy(&a, &z, sizeof(a));
	return a;
}

/* Step 4 */
static void
candidates_find(struct cm *c, struct look *l, uint64_t k)
{
	const uint64_t *V = c->V;
	uint64_t at[2];

	for (int j = 0; j < 6; j++) {
		l->cand[j][0] = l->base[j] + l->slot[j]->v;
		l->cand[j][1] = l->cand[j][0] + shift_right(l->slot[j]->f << 16, 16);
	}
	for (int j = 6; j < 12; j++) {
		l->cand[j][0] = l->cand[j][1] = 0;
		l->history[j] = 255;
	}
	if (c->mlen) {
		l->cand[6][0] = l->cand[6][1] = V[c->mpos];
		l->history[6] = (uint8_t)(c->mlen > 31 ? 31 : c->mlen);
	}
	if (c->dlen) {
		uint64_t b = V[c->dpos - 1];

		l->cand[7][0] = l->cand[7][1] = c->g0 + scale(V[c->dpos] - b, c->dshift);
		if (c->dpos + 1 < c->i)
			l->cand[7][1] = c->g0 + scale(V[c->dpos + 1] - b, c->dshift);
		l->history[7] = (uint8_t)((c->dlen > 31 ? 31 : c->dlen) + (c->dshift ? 32 : 0));
	}
	at[0] = c->keyed ? k + 3 * c->prevkey : (c->g0 >> 16) + 77 * (c->g1 >> 16);
	at[1] = c->keyed ? 5 * k + 1 : 5 * (c->g1 >> 14) + 3 * (c->g0 >> 14);
	for (unsigned q = 0; q < 2; q++) {
		const struct line *n = l->line[q] = &c->line[q][hash(mix(at[q], q + 1), c->B - 3)];

		if (!n->pos)
			continue;
		l->cand[8 + q][0] = l->cand[8 + q][1] =
		    V[n->pos] + scale(V[c->i - (unsigned)n->lag] - V[n->pos - (unsigned)n->lag], n->shift);
		l->history[8 + q] = (uint8_t)n->history;
	}
	l->floats = c->w == 8 && is_float(c->g0) && is_float(c->g1);
	if (l->floats) {
		l->cand[10][0] = l->cand[10][1] = operate(c->op, as_double(c->g0), as_double(c->g1));
		l->history[10] = (uint8_t)c->flhist;
	}
	if (c->next[c->nextat].history) {
		l->cand[11][0] = l->cand[11][1] = c->list[c->next[c->nextat].rank];
		l->history[11] = c->next[c->nextat].history;
	}
}

/* Step 5: a candidate, 2j + z; -1: none */
static int
choose(const struct cm *c, const struct look *l, int t, const uint64_t *refused)
{
	uint32_t best = t == 0 ? 0 : t == 1 ? 512000 : 768000;
	int which = t ? -1 : 0;

	for (int j = 0; j < 12; j++) {
		for (int z = 0; z < 2; z++) {
			uint32_t P = 32u * c->T[t][j][l->history[j]][z] + 2u * (unsigned)j + (unsigned)z;

			for (int s = 0; s < t; s++)
				if (l->cand[j][z] == refused[s])
					P = 0;
			if (P > best) {
				best = P;
				which = 2 * j + z;
			}
		}
	}
	return which;
}

static int
try_candidate(struct cm *c, const struct look *l, int t, int j, uint64_t cand, uint64_t k, uint64_t told)
{
	struct counter *r = &c->recent[t][hash(mix(k, 32 * (c->hist % 256) + (unsigned)j), 10)];
	int16_t *w = c->W[t][16 * (c->hist % 16) + (unsigned)j], *w2 = c->Q[t][l->history[11]];
	uint16_t *T[12], *pair = &c->pair[t][hash(mix(k, cand), 12)], *agree, *curve;
	int x[16] = { 0 }, p, b, e, d, set = 0;

	for (int i = 0; i < 12; i++) {
		T[i] = &c->T[t][i][l->history[i]][l->cand[i][0] == cand ? 0 : l->cand[i][1] == cand ? 1 : 2];
		x[i] = stretch(*T[i]);
		if (l->cand[i][0] == cand || l->cand[i][1] == cand)
			set += 1 << i;
	}
	agree = &c->agree[t][set];
	x[12] = 256;
	x[13] = stretch(r->c >> 6);
	x[14] = stretch(*agree);
	x[15] = stretch(*pair);
	d = mixed_d(x, w, w2, 16);
	p = squash(d);
	d = d < -2047 ? 1 : d > 2047 ? 4095 : d + 2048;
	curve = &c->curve[t][(set ^ set >> 4) % 256][d / 128];
	b = decision(&c->r,
	    (uint64_t)((p + (curve[0] * (128 - d % 128) + curve[1] * (d % 128)) / 128) / 2), told == cand);
	learn(&curve[d % 128 / 64], b, 6);
	e = 8 * ((65536 * b - p) >> 4);
	e = e > 32767 ? 32767 : e < -32767 ? -32767 : e;
	mix_learn(x, w, 16, e);
	mix_learn(x, w2, 16, e);
	for (int i = 0; i < 12; i++)
		learn(T[i], b, 5);
	learn(agree, b, 6);
	learn(pair, b, 5);
	count_bit(r, b, 255);
	return b;
}

/* Is it not worth to try another candidate? */
static int
hopeless(struct cm *c, int t, int first)
{
	uint32_t *h = &c->hope[t][c->hist % 256];

	if (t == first || *h >= 45875200 || *h % 16 == 0)
		return 0;
	--*h;
	return 1;
}

static void
learn_hope(struct cm *c, int t, int right)
{
	uint32_t *h = &c->hope[t][c->hist % 256];

	*h = (*h - *h / 128 + (right ? 33554431 : 0)) | 15;
}

/* Step 6: predictors that were right and not asked */
static void
learn_right(struct cm *c, const struct look *l, int t, uint64_t v)
{
	for (int j = 0; j < 12; j++)
		for (int z = 0; z < 2; z++)
			if (l->history[j] != 255 && l->cand[j][z] == v)
				learn(&c->T[t > 2 ? 2 : t][j][l->history[j]][z], 1, 4);
}

/* Step 8 */
static void
learn_period(struct cm *c, uint64_t v)
{
	const uint64_t *V = c->V;
	uint64_t i = c->i;

	if (c->keyed || i < 64 || i & 192)
		return;
	for (unsigned q = 2; q < 16; q++)
		if (V[i - q] == v || V[i - q] - V[i - 2 * q] == v - V[i - q])
			c->lag[q] += 64;
	if (i % 64 != 63)
		return;
	c->period = 1;
	for (unsigned q = 2; q < 16; q++)
		if (c->lag[q] > (c->period == 1 ? 0 : c->lag[c->period]))
			c->period = q;
	for (unsigned q = 2; q < 16; q++)
		c->lag[q] -= c->lag[q] / 4;
}

/* Step 9 */
static void
advance(struct cm *c, size_t e, uint64_t k, uint64_t v)
{
	c->key[e].d2 = c->key[e].d1;
	c->key[e].d1 = v - c->key[e].last;
	c->key[e].last = v;
	c->g3 = c->g2, c->g2 = c->g1, c->g1 = c->g0, c->g0 = v;
	c->prevkey = k;
	c->roll = (c->roll << 8) + (v * G >> 40);
}

/* Step 14 */
static void
learn_ranks(struct cm *c, uint64_t v)
{
	unsigned r = 0, ok, h;

	while (r < 32 && c->list[r] != v)
		r++;
	ok = c->next[c->nextat].rank == r;
	h = c->next[c->nextat].history;
	c->next[c->nextat].history = (uint8_t)((2 * h + ok) % 64 + 64);
	if (r < 32)
		c->next[c->nextat].rank = (uint8_t)r;
	for (unsigned m = r < 32 ? r : 31; m > 0; m--)
		c->list[m] = c->list[m - 1];
	c->list[0] = v;
	c->ranks = (64 * c->ranks + r) & 0x3ffffffffff;
	c->nextat = (unsigned)hash(mix(c->ranks, 5), 16);
}

/* Step 10 */
static void
learn_slots(const struct look *l, uint64_t v)
{
	for (int j = 0; j < 6; j++) {
		struct slot *s = l->slot[j];
		uint64_t u = v - l->base[j];

		if (l->history[j] == 255) {
			s->f = 0;
			s->history = 254;
		} else if (s->v == u) {
			s->history = (uint8_t)(4 * s->history);
		} else {
			s->f = (s->v - u) & 0xffffffffffff;
			s->history = (uint8_t)(4 * s->history + (l->cand[j][1] == v ? 1 : 2));
		}
		s->v = u;
		s->check = l->check[j];
	}
}

/* Step 11 */
static void
learn_lines(const struct cm *c, const struct look *l, uint64_t v)
{
	const uint64_t *V = c->V;
	uint64_t i = c->i;

	for (unsigned q = 0; i > 16 && q < 2; q++) {
		struct line *n = l->line[q];
		uint64_t P = n->pos, d = v - V[P], lag = (uint64_t)n->lag;
		int ok = l->cand[8 + q][0] == v;

		n->pos = i;
		if (!P) {
			n->lag = 1 + (int)q;
			continue;
		}
		if (!ok || V[i - lag] != V[P - lag])
			n->history = (2 * n->history + (unsigned)ok) % 64;
		if (ok || !d || (!n->history && i % 4))
			continue;
		for (unsigned m = 1; m <= 8; m++) {
			uint64_t x = V[i - m] - V[P - m];
			int s = x ? tz(d) - tz(x) : 99;

			if (s < -5 || s > 5 || shift_right(d, tz(d)) != shift_right(x, tz(x)))
				continue;
			n->lag = (int)m;
			n->shift = s;
			break;
		}
	}
}

/* Step 12 */
static void
learn_match(struct cm *c, uint64_t v)
{
	const uint64_t *V = c->V;
	uint64_t h = c->mhash, i = c->i, m = 0;
	struct entry *t = &c->mtab[h >> (62 - c->B)], old = *t;

	t->pos = i;
	t->check = h >> 16 & 511;
	c->mhash = c->roll * C;
	if (c->mlen && V[c->mpos] == v) {
		c->mlen += c->mlen < 65535;
		c->mpos++;
		return;
	}
	c->mlen = 0;
	if (old.check != t->check || !old.pos || old.pos >= i)
		return;
	while (m < 32 && m < old.pos + 1 && V[old.pos - m] == V[i - m])
		m++;
	if (m >= 4) {
		c->mlen = m;
		c->mpos = old.pos + 1;
	}
}

static uint64_t
shape(const uint64_t *V, uint64_t p, int *z)
{
	uint64_t d[4], all = 0;
	int s;

	for (unsigned n = 0; n < 4; n++)
		all |= d[n] = V[p - 1 - n] - V[p - 2 - n];
	*z = all ? tz(all) : -1;
	s = all ? *z : 0;
	return mix(mix(shift_right(d[0], s), shift_right(d[1], s)),
	    mix(shift_right(d[2], s), shift_right(d[3], s))) * C;
}

/* Step 13 */
static void
learn_differences(struct cm *c, const struct look *l, uint64_t v)
{
	const uint64_t *V = c->V;
	uint64_t i = c->i, h = c->dhash;
	struct entry *t = &c->dtab[h >> (62 - c->B)], old = *t;
	int z = c->dtz, y;

	if (i < 8)
		return;
	if (c->dlen && l->cand[7][0] == v) {
		c->dlen += c->dlen < 255;
		c->dpos++;
	} else if (c->dlen && l->cand[7][1] == v && c->dpos + 1 < i) {
		c->dlen = c->dlen > 8 ? c->dlen / 2 : c->dlen;
		c->dpos += 2;
	} else {
		c->dlen = 0;
	}
	t->pos = i;
	t->check = h >> 16 & 511;
	c->dhash = shape(V, i + 1, &c->dtz);
	if (c->dlen || old.check != t->check || old.pos < 5 || old.pos >= i || z == -1)
		return;
	if (shape(V, old.pos, &y) != h || y == -1 ||
	    v - V[i - 1] != scale(V[old.pos] - V[old.pos - 1], z - y))
		return;
	c->dlen = 5;
	c->dpos = old.pos + 1;
	c->dshift = z - y;
}

static void
sure_value(struct cm *c, size_t e, uint64_t k, uint64_t v)
{
	const uint64_t *V = c->V;

	c->V[c->i] = v;
	advance(c, e, k, v);
	if (c->mlen && V[c->mpos] == v) {
		c->mlen += c->mlen < 65535;
		c->mpos++;
	} else {
		c->mlen = 0;
	}
	if (c->dlen && c->g0 - c->g1 == scale(V[c->dpos] - V[c->dpos - 1], c->dshift)) {
		c->dlen += c->dlen < 255;
		c->dpos++;
	} else {
		c->dlen = 0;
	}
	if (c->i % 4 == 0) {
		c->mtab[c->mhash >> (62 - c->B)].pos = c->i;
		c->mtab[c->mhash >> (62 - c->B)].check = c->mhash >> 16 & 511;
	}
	c->mhash = c->roll * C;
}

/* Step 3: the kind of the sure candidate, or -1 */
static int
sure_kind(const struct cm *c, const struct look *l, uint64_t *v)
{
	*v = l->slot[5]->v;
	if (c->mlen >= 8 && l->history[5] == 0 && *v == c->V[c->mpos])
		return 0;
	*v = l->slot[2]->v + l->base[2];
	if (c->dlen >= 8 && l->history[2] == 0 &&
	    *v == c->g0 + scale(c->V[c->dpos] - c->V[c->dpos - 1], c->dshift))
		return 1;
	return -1;
}

/* The value at position c->i, whose key is k; told: the value, if it is known. */
static uint64_t
value(struct cm *c, uint64_t k, uint64_t told)
{
	size_t e = c->keyed ? hash(mix(k, 9), c->B - 1) : 0;
	uint64_t refused[3], v = 0;
	struct look l;
	int kind, t = 0, first, which, found = 0;

	c->K[c->i] = k;
	if (c->keyed && c->mlen && c->K[c->mpos] != k)
		c->mlen = 0;
	look_slots(c, &l, k, c->key[e].last, c->key[e].d1, c->key[e].d2);
	kind = sure_kind(c, &l, &v);
	if (kind >= 0) {
		uint64_t len = kind ? c->dlen : c->mlen;
		struct counter *s = &c->sure[kind][len > 63 ? 63 : len];
		uint32_t p = s->c >> 6;
		int b = decision(&c->r, p < 16 ? 16 : p > 65530 ? 65530 : p, told == v);

		count_bit(s, b, 1023);
		if (b) {
			sure_value(c, e, k, v);
			c->i++;
			return v;
		}
		*(kind ? &c->dlen : &c->mlen) = 0;
		refused[t++] = v;
	}
	candidates_find(c, &l, k);
	for (first = t; t < 3 && !found; t++) {
		if (hopeless(c, t, first) || (which = choose(c, &l, t, refused)) < 0)
			break;
		v = refused[t] = l.cand[which / 2][which % 2];
		found = try_candidate(c, &l, t, which / 2, v, k, told);
		learn_hope(c, t, found);
		if (found)
			c->hist = 4 * c->hist + (unsigned)t;
	}
	if (!found) {
		v = c->lastmiss = bytes_of_value(c, k, c->key[e].last, told);
		if (c->levels % 8 >= 4)
			learn_right(c, &l, t, v);
		c->hist = 4 * c->hist + 3;
	}
	c->V[c->i] = v;
	if (l.floats) {
		double x = as_double(c->g0), y = as_double(c->g1);
		int ok = l.cand[10][0] == v;

		c->flhist = (2 * c->flhist + (unsigned)ok) % 128;
		for (unsigned op = 4; !ok && op-- > 0;)
			if (operate(op, x, y) == v)
				c->op = op;
	}
	learn_period(c, v);
	advance(c, e, k, v);
	learn_slots(&l, v);
	learn_lines(c, &l, v);
	learn_match(c, v);
	learn_differences(c, &l, v);
	learn_ranks(c, v);
	c->i++;
	return v;
}
