/* The plain decoder: Context mixing of bytes of bifcm(5). */

struct cell {
	int p;
	unsigned c;
	uint8_t history;
};

struct cells {
	unsigned check;
	struct cell cell[15];
};

struct units {
	struct coder r;
	uint8_t *b;             /* after zeros: b[-1], ... */
	long U, W;
	unsigned E;
	struct cells *D[8];
	uint16_t P[8][256], Z1[16][256][33], Z2[4096][33];
	int16_t W1[16][256][24], W2[32][5][2][24];
	struct counter R[2][32];
	size_t *place[2], at[2], len[2];
};

static uint64_t
hash_of(const uint8_t *p, long n)
{
	uint64_t h = 0;

	for (long i = 0; i < n; i++)
		h = (h + p[i] + 1) * G;
	return h;
}

static void
cells_new(struct cells *s, unsigned check)
{
	s->check = check;
	for (int i = 0; i < 15; i++)
		s->cell[i] = (struct cell){ 32768, 0, 1 };
}

static struct cells *
cells_find(struct units *t, int k, uint64_t x)
{
	uint64_t h = x * C, f = h >> (64 - t->E);
	unsigned check = h >> 16 & 65535;
	struct cells *s = &t->D[k][f], *other = &t->D[k][f ^ 1];

	if (s->check == check)
		return s;
	if (other->check == check)
		return other;
	if (other->cell[0].c < s->cell[0].c)
		s = other;
	cells_new(s, check);
	return s;
}

static void
unit_contexts(const struct units *t, size_t i, uint64_t *x)
{
	long U = t->U, W = t->W, j = (long)i % U;
	const uint8_t *b = t->b + i, *s = b - j;
	uint64_t c = hash_of(s, j), u[7], r[5], above = 0, g;

	for (int k = 1; k <= 6; k++)
		u[k] = hash_of(s - k * U, U);
	x[0] = mix(c, 1);
	x[1] = mix(c, u[1]);
	if (!W) {
		uint64_t y = b[-4] | b[-3] << 8 | b[-2] << 16 | (uint64_t)b[-1] << 24;

		x[2] = mix(x[1], u[2]);
		x[3] = mix(mix(x[2], u[3]), u[4]);
		x[4] = mix(mix(x[3], u[5]), u[6]);
		x[5] = mix(c, u[2]);
		x[6] = mix(b[-U] + 256u * b[-1], (uint64_t)j);
		x[7] = mix(y, (uint64_t)j);
		return;
	}
	for (int k = -2; k <= 2; k++)
		r[k + 2] = hash_of(s - W + k * U, U);
	above = hash_of(s - 2 * W, U);
	g = (b[-U] + b[-W] - b[-W - U]) & 255;
	if (j)
		g += ((b[-1] - b[-1 - U]) & 255) * 256u + ((b[-1] - b[-1 - W]) & 255) * 65536u;
	x[2] = mix(x[1], r[2]);
	x[3] = mix(mix(mix(mix(x[2], r[1]), r[3]), u[2]), above);
	x[4] = mix(mix(mix(mix(x[3], u[3]), u[4]), r[0]), r[4]);
	x[5] = mix(mix(c, r[2]), r[3]);
	x[6] = mix(mix(mix(mix(x[1], u[2]), u[3]), u[4]), mix(u[5], u[6]));
	x[7] = mix(g, (uint64_t)j);
}

static void
unit_match(struct units *t, int q, size_t i)
{
	long m = q ? 6 : 2;
	uint64_t a = 0;
	size_t P, l = 0, *where;

	for (long k = 1; k <= m; k++)
		a = mix(a, hash_of(t->b + i - k * t->U, t->U));
	where = &t->place[q][hash(a, 18)];
	P = *where;
	*where = i;
	if (t->len[q] || !P)
		return;
	while (l < 400 && l < P && t->b[P - l - 1] == t->b[i - l - 1])
		l++;
	if (l >= (size_t)(m * t->U) || l >= 32) {
		t->len[q] = l;
		t->at[q] = P;
	}
}

static unsigned
unit_level(const struct units *t, int q)
{
	size_t e = t->len[q] / (size_t)t->U;

	if (!t->len[q])
		return 0;
	e = e < 16 ? e + 1 : e < 32 ? 17 + (e - 16) / 4 : 21 + (e - 32) / 32;
	return e > 31 ? 31 : (unsigned)e;
}

static int
unit_sum(const int *in, const int16_t *w, const int16_t *w2, int from, int to)
{
	int sum = 0;

	for (int i = from; i < to; i++)
		sum += in[i] * (w[i] + w2[i]);
	return sum >> 4;
}

static void
cell_learn(struct cell *s, uint16_t *P, int bit)
{
	if (s->c)
		learn(&P[s->history], bit, 6);
	s->p += (int)((int64_t)(65535 * bit - s->p) * (655360 / (10 * (int)s->c + 16)) >> 16);
	s->p = s->p < 32 ? 32 : s->p > 65503 ? 65503 : s->p;
	s->history = (uint8_t)((2 * s->history + bit) % 256 | (s->history & 128));
	s->c += s->c < 127;
}

/* One bit, after the bits a of its byte; half: those of its half. */
static int
unit_bit(struct units *t, struct cells **slot, unsigned *L, size_t j, unsigned a, unsigned half, int place, uint64_t x1)
{
	int in[24] = { 0 }, d, p, bit, z;
	unsigned v = 0, e, f;
	int16_t *w, *w2;
	uint16_t *Z[2];
	struct cell *s[8];

	for (int k = 0; k < 8; k++) {
		s[k] = &slot[k]->cell[half - 1];
		if (!s[k]->c)
			continue;
		in[2 * k] = stretch(t->P[k][s[k]->history]);
		in[2 * k + 1] = stretch((unsigned)s[k]->p);
		v += k >= 1 && k <= 4;
	}
	for (int q = 0; q < 2; q++) {
		int sign = t->b[t->at[q]] >> place & 1 ? 1 : -1, r = (int)(t->R[q][L[q]].c >> 6);

		if (!L[q])
			continue;
		in[16 + 2 * q] = sign * stretch((unsigned)r);
		in[17 + 2 * q] = sign * ((r - 32768) / 16);
	}
	in[20] = 256;
	w = t->W1[j % 16][a];
	w2 = t->W2[L[1] ? L[1] : L[0]][v][L[0] && L[1]];
	d = (unit_sum(in, w, w2, 0, 16) + unit_sum(in, w, w2, 16, 24)) >> 11;
	d = d < -2047 ? -2047 : d > 2047 ? 2047 : d;
	p = squash(d);
	e = (unsigned)(d + 2048) / 128;
	f = (unsigned)(d + 2048) % 128;
	Z[0] = t->Z1[j % 16][a] + e;
	Z[1] = t->Z2[hash(x1 + a * G, 12)] + e;
	z = 2 * p;
	for (int k = 0; k < 2; k++)
		z += (int)((Z[k][0] * (128 - f) + Z[k][1] * f) >> 7);
	z >>= 2;
	bit = decision(&t->r, (uint64_t)(z < 16 ? 16 : z > 65520 ? 65520 : z), 0);
	mix_learn(in, w, 24, (65536 * bit - p) >> 1);
	mix_learn(in, w2, 24, (65536 * bit - p) >> 1);
	for (int k = 0; k < 2; k++)
		learn(&Z[k][f >= 64], bit, 6 - k);
	for (int k = 0; k < 8; k++)
		cell_learn(s[k], t->P[k], bit);
	for (int q = 0; q < 2; q++) {
		int right = (t->b[t->at[q]] >> place & 1) == bit;

		if (!L[q])
			continue;
		count_bit(&t->R[q][L[q]], right, 255);
		if (!right)
			L[q] = 0;
	}
	return bit;
}

static void
unit_byte(struct units *t, size_t i)
{
	size_t j = i % (size_t)t->U;
	uint64_t x[8];
	unsigned L[2], a = 1, half = 1;
	struct cells *slot[8];

	unit_contexts(t, i, x);
	for (int q = 0; q < 2; q++) {
		if (!j)
			unit_match(t, q, i);
		L[q] = unit_level(t, q);
	}
	for (int place = 7; place >= 0; place--) {
		int bit;

		if (place == 7 || place == 3) {
			for (int k = 0; k < 8; k++)
				slot[k] = cells_find(t, k, x[k] + (place == 7 ? 0 : a * G));
			half = 1;
		}
		bit = unit_bit(t, slot, L, j, a, half, place, x[1]);
		a = 2 * a + (unsigned)bit;
		half = 2 * half + (unsigned)bit;
	}
	t->b[i] = (uint8_t)a;
	for (int q = 0; q < 2; q++) {
		if (t->len[q] && t->b[t->at[q]] == t->b[i]) {
			t->len[q] += t->len[q] < 65535;
			t->at[q]++;
		} else {
			t->len[q] = 0;
		}
	}
}

static void
units_start(struct units *t, size_t n)
{
	for (t->E = 10; t->E < 17 && (size_t)8 << t->E < n; t->E++)
		;
	for (int k = 0; k < 8; k++) {
		t->D[k] = alloc(sizeof(**t->D) << t->E);
		for (size_t f = 0; f < (size_t)1 << t->E; f++)
			cells_new(&t->D[k][f], 0);
	}
	bit_histories(t->P[0], 8);
	weights(t->W1, sizeof(t->W1), 2000);
	weights(t->W2, sizeof(t->W2), 2000);
	for (size_t i = 0; i < sizeof(t->Z1) / 2; i++)
		((uint16_t *)t->Z1)[i] = (uint16_t)squash(128 * (int)(i % 33) - 2048);
	for (size_t i = 0; i < sizeof(t->Z2) / 2; i++)
		((uint16_t *)t->Z2)[i] = (uint16_t)squash(128 * (int)(i % 33) - 2048);
	counters((struct counter *)t->R, sizeof(t->R), 1 << 21);
	for (int q = 0; q < 2; q++)
		t->place[q] = alloc(sizeof(size_t) << 18);
}

static void
whole_bytes(const uint8_t *p, size_t len, uint8_t *to, size_t n)
{
	struct units *t = alloc(sizeof(*t));
	uint8_t *zeros;
	size_t row = 0, k = 2;
	unsigned o;

	if (n > 16777216 || len < 3 || p[0] < 1 || p[0] > 64 || p[1] > 3)
		reject("bytes: head");
	t->U = p[0];
	o = 1u << p[1];
	for (int shift = 0;; shift += 7) {
		if (k == len || shift > 21 || (shift && !p[k]))
			reject("bytes: row");
		row |= (size_t)(p[k] & 127) << shift;
		if (p[k++] < 128)
			break;
	}
	t->W = (long)row * t->U;
	if (t->W > 1048576 || (row && row < 4))
		reject("bytes: row");
	zeros = alloc((size_t)(2 * t->W + 6 * t->U) + n);
	t->b = zeros + 2 * t->W + 6 * t->U;
	t->r = (struct coder){ .p = p + k, .len = len - k, .R = UINT64_MAX };
	t->r.L = word(&t->r) << 32;
	t->r.L |= word(&t->r);
	units_start(t, n);
	for (size_t i = 0; i < n; i++)
		unit_byte(t, i);
	if (t->r.read < t->r.len)
		reject("bytes: more than needed");
	for (size_t i = 0; i < n; i++)
		to[i] = t->b[i - i % o + o > n ? i : i - i % o + (o - 1 - i % o)];
	for (int q = 0; q < 8; q++)
		free(t->D[q]);
	free(t->place[0]), free(t->place[1]), free(zeros), free(t);
}
