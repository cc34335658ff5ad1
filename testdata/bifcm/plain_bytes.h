/* The plain decoder: Context mixing of bifcm(5), the bytes of a value. */

/* The entry of 2^s bytes for x in a table of 2^n bytes */
static uint8_t *
find(uint8_t *table, unsigned n, unsigned s, uint64_t x)
{
	uint64_t h = x * C, e = h >> (64 - (n - s));
	uint8_t check = h >> 8 & 255, *a = table + (e << s), *b = table + ((e ^ 1) << s);

	if (a[0] == check)
		return a;
	if (b[0] == check)
		return b;
	if (b[1] < a[1])
		a = b;
	memset(a, 1, (size_t)1 << s);
	a[0] = check;
	return a;
}

/* n decisions; slot: of each context; row: of the tables; o: the bits before */
static unsigned
mixed_bits(struct cm *c, uint8_t **slot, unsigned row, unsigned o, int n, unsigned told, uint64_t *E)
{
	unsigned known = 0, a = 1;

	for (int m = 0; m < 7; m++)
		known |= slot[m][1] == 1 ? 0 : 1u << m;
	while (--n >= 0) {
		int16_t *w = c->X[row][o], *w2 = c->Y[row][known];
		int in[8], p, b, e;

		for (int m = 0; m < 7; m++)
			in[m] = stretch(c->P[row][m][slot[m][a]]);
		in[7] = 256;
		p = mixed(in, w, w2, 8);
		b = decision(&c->r, (uint64_t)p, told >> n & 1);
		e = 6 * ((65536 * b - p) >> 4);
		mix_learn(in, w, 8, e);
		mix_learn(in, w2, 8, e);
		for (int m = 0; m < 7; m++) {
			uint8_t *h = &slot[m][a];

			learn(&c->P[row][m][*h], b, 6);
			*h = (uint8_t)((2 * *h + b) % 256 | (*h & 128));
		}
		a = 2 * a + (unsigned)b;
		o = 2 * o + (unsigned)b;
		*E += (uint64_t)(b ? 65536 - p : p);
	}
	return o;
}

static unsigned
one_byte(struct cm *c, const uint64_t *x, unsigned j, uint16_t *dull, unsigned told)
{
	unsigned o = 1;
	uint8_t *pair[7] = { NULL };

	for (int half = 0; half < 2; half++, dull++) {
		unsigned bits = half ? told & 15 : told >> 4;
		uint8_t *slot[7];
		uint64_t E = 0;

		if (*dull > 31900 && *dull % 16) {
			o = 16 * o + plain_half(&c->r, bits);
			--*dull;
			continue;
		}
		for (int m = 0; m < 4; m++)
			slot[m] = find(c->M[m], c->B + 2, 4, x[m] + o * G);
		for (int m = 4; m < 7; m++) {
			if (!pair[m])
				pair[m] = find(c->M[m], c->B + 2, 5, x[m]);
			slot[m] = pair[m] + 16 * half;
			if (half && slot[m][0] != o) {
				memset(slot[m], 1, 16);
				slot[m][0] = (uint8_t)o;
			}
		}
		o = mixed_bits(c, slot, j, o, 4, bits, &E);
		*dull = (uint16_t)(*dull + ((int)(E / 4) - *dull) / 32) | 15;
	}
	return o & 255;
}

static uint64_t F(uint64_t x) { return is_float(x) ? x >> 48 : x; }

static unsigned
level(struct cm *c, uint64_t y, uint64_t cand, uint64_t told)
{
	uint64_t x[7] = {
		mix(c->levels % 8, y), mix(c->levels % 512, c->hist % 16), mix(F(c->g0), y + 400), mix(c->hist % 256, y + 300),
		mix(F(c->g1), F(c->g0) + 600), mix(c->levels % 32768, 700), mix(F(cand), 500),
	}, E = 0;
	unsigned l = 0;
	uint8_t *slot[7];

	for (; told >> 8; told >>= 8)
		l++;
	for (int m = 0; m < 7; m++)
		slot[m] = find(c->N[m], c->B - 1, 4, x[m]);
	l = mixed_bits(c, slot, 8, 1, 3, l, &E) - 8;
	c->levels = 8 * c->levels + l;
	return l;
}

static uint64_t
bytes_of_value(struct cm *c, uint64_t k, uint64_t last, uint64_t cand, uint64_t told)
{
	uint64_t r = c->keyed ? last : c->lastmiss, s = c->keyed ? last : c->g0, y = mix(k, 77), H;
	unsigned l = level(c, y, cand, told ^ r);

	H = l == 7 ? 0 : r >> 8 * (l + 1);
	for (unsigned j = l; j <= l; j--) {
		uint64_t u = j + 8 * l, f = (j == 7 ? 0 : cand >> 8 * (j + 1)) == H;
		uint64_t x[7] = {
			mix(u, y), mix(H, u), mix(256 * (r >> 8 * j & 255) + u, y + 5), mix(512 * (cand >> 8 * j & 255) + 256 * f + u, y + 6),
			mix(H ^ F(s) * G, u + 200), mix(H ^ F(c->g1) * G, u + 300 + F(c->g0) * 0x2545f4914f6cdd1d), mix(H ^ F(c->g1) * G, u + 300),
		};

		if (l >= 4 && j < l) {
			struct counter *t = &c->zeros[y >> 60][l][j];
			uint32_t p = t->c >> 6;
			int b = decision(&c->r, p < 64 ? 64 : p > 65472 ? 65472 : p, told << (56 - 8 * j) == 0);

			count_bit(t, b, 250);
			if (b)
				return H << 8 * (j + 1);
		}
		H = H << 8 | one_byte(c, x, j, c->dull[y >> 60][u], told >> 8 * j & 255);
	}
	return H;
}
