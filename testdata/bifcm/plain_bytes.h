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
	int in[4][8] = { 0 }, bit[4], e[4];
	unsigned known = 0, a = 1, first = o;

	for (int m = 0; m < 6; m++)
		known |= slot[m][1] == 1 ? 0 : 1u << m;
	for (int i = 0; i < n; i++) {
		int p;

		for (int m = 0; m < 6; m++)
			in[i][m] = stretch(c->P[row][m][slot[m][a]]);
		in[i][6] = 256;
		p = mixed(in[i], c->X[row][o], c->Y[row][known], 8);
		bit[i] = decision(&c->r, (uint64_t)p, told >> (n - 1 - i) & 1);
		e[i] = 6 * ((65536 * bit[i] - p) >> 4);
		a = 2 * a + (unsigned)bit[i];
		o = 2 * o + (unsigned)bit[i];
		*E += (uint64_t)(bit[i] ? 65536 - p : p);
	}
	a = 1;
	for (int i = 0; i < n; i++) {
		mix_learn(in[i], c->X[row][first], 8, e[i]);
		mix_learn(in[i], c->Y[row][known], 8, e[i]);
		for (int m = 0; m < 6; m++) {
			uint8_t *h = &slot[m][a];

			learn(&c->P[row][m][*h], bit[i], 7);
			*h = (uint8_t)((2 * *h + bit[i]) % 256 | (*h & 128));
		}
		a = 2 * a + (unsigned)bit[i];
		first = 2 * first + (unsigned)bit[i];
	}
	return o;
}

static uint64_t F(uint64_t x) { return is_float(x) ? x >> 48 : x; }

static unsigned
level(struct cm *c, uint64_t y, uint64_t told)
{
	uint64_t x[6] = {
		mix(c->levels % 512, c->hist % 16), mix(F(c->g0), y + 400), mix(c->hist % 256, y + 300),
		    mix(F(c->g1), F(c->g0) + 600),
		mix(c->levels % 32768, y + 700), mix(F(c->lastmiss), c->levels % 8),
	}, E = 0;
	unsigned l = 0;
	uint8_t *slot[6];

	for (; told >> 8; told >>= 8)
		l++;
	for (int m = 0; m < 6; m++)
		slot[m] = find(c->N[m], c->B - 1, 4, x[m]);
	l = mixed_bits(c, slot, 8, 1, 3, l, &E) - 8;
	c->levels = 8 * c->levels + l;
	return l;
}

static int
counted(struct cm *c, struct counter *t, int told)
{
	uint32_t p = t->c >> 6;
	int b = decision(&c->r, p < 64 ? 64 : p > 65472 ? 65472 : p, told);

	count_bit(t, b, 250);
	return b;
}

/* How many bytes at the end are zeros */
static unsigned
zeros(struct cm *c, uint64_t y, unsigned l, uint64_t told)
{
	struct counter *t = c->zeros[y >> 60][l];
	unsigned n = 0, o = 1;

	for (; n < l && !(told & 255); told >>= 8)
		n++;
	if (l < 4 || !counted(c, t, n > 0))
		return 0;
	for (int b = 2; b >= 0; b--)
		o = 2 * o + (unsigned)counted(c, &t[o], (n - 1) >> b & 1);
	return o - 7 > l ? l : o - 7;
}

/*
 * A half of byte j that is not plain.  H: what is above the byte; o: the bits of the byte before;
 * pair: slots of contexts 2 to 5, or NULL
 */
static unsigned
coded_half(struct cm *c, const uint64_t *x, unsigned j, unsigned o, uint8_t **pair, uint16_t *dull,
    unsigned told)
{
	uint8_t *slot[6];
	uint64_t E = 0;

	for (int m = 0; m < 2; m++)
		slot[m] = find(c->M[m], c->B + 3, 4, x[m] + o * G);
	for (int m = 2; m < 6; m++) {
		if (!pair[m])
			pair[m] = find(c->M[m], c->B + 3, 5, x[m]);
		slot[m] = pair[m] + (o == 1 ? 0 : 16);
		if (o != 1 && slot[m][0] != o) {
			memset(slot[m], 1, 16);
			slot[m][0] = (uint8_t)o;
		}
	}
	o = mixed_bits(c, slot, j, o, 4, told, &E);
	*dull = (uint16_t)(*dull + ((int)(E / 4) - *dull) / 32) | 15;
	return o & 15;
}

static uint64_t
bytes_of_value(struct cm *c, uint64_t k, uint64_t last, uint64_t told)
{
	uint64_t r = c->keyed ? last : c->lastmiss, s = c->keyed ? last : c->g0, y = mix(k, 77), A;
	unsigned l = level(c, y, told ^ r), z = zeros(c, y, l, told);
	uint8_t *pair[6] = { NULL };
	int n = 0;              /* bits of plain halves that are still to be read */

	A = l == 7 ? 0 : r >> 8 * (l + 1);
	for (int h = 2 * (int)l + 1; h >= 2 * (int)z - 1; h--) {
		unsigned j = (unsigned)h / 2, upper = (unsigned)h & 1;
		uint64_t u = j + 8 * l, H = upper ? A : A >> 4;
		uint16_t *dull = &c->dull[y >> 60][u % 64][!upper];
		int plain = h >= 2 * (int)z && *dull > 31900 && *dull % 16;

		if (n == 16 || (n && !plain)) {
			A = A << n | plain_bits(&c->r, n, (unsigned)(told >> 4 * (h + 1)) & ((1u << n) - 1));
			H = upper ? A : A >> 4;
			n = 0;
		}
		if (plain) {
			--*dull;
			n += 4;
		} else if (h >= 2 * (int)z) {
			uint64_t x[6] = {
				mix(H, u), mix(256 * (r >> 8 * j & 255) + u, y + 5),
				    mix(H ^ F(s) * G, u + 200), mix(H ^ F(c->g1) * G, u + 300),
				    mix(H + k * 0xbf58476d1ce4e5b9, u + 400),
				    mix(H + (k + c->g0) * 0x94d049bb133111eb, u + 500),
			};

			if (upper)
				memset(pair, 0, sizeof(pair));
			A = A << 4 | coded_half(c, x, j, upper ? 1 :
			    16 | (unsigned)(A & 15), pair, dull, (unsigned)(told >> 4 * h) & 15);
		}
		if (!upper)
			memset(pair, 0, sizeof(pair));
	}
	return A << 8 * z;
}
