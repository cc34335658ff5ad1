/* The plain decoder: Bidirectional methods of bifcm(5). */
#include <zstd.h>

struct body {
	const uint8_t *p;
	size_t len;
	unsigned b;             /* bits of a symbol */
};

static const uint8_t *
take(struct body *y, size_t n)
{
	const uint8_t *p = y->p;

	if (y->len < n)
		reject("body");
	y->p += n;
	y->len -= n;
	return p;
}

/* n numbers of that many bits. */
static uint64_t *
bits(struct body *y, size_t n, unsigned each)
{
	uint64_t *a = alloc(n * sizeof(*a));
	const uint8_t *p = take(y, (n * each + 7) / 8);
	size_t i;

	for (i = 0; i < n * each; i++)
		a[i / each] |= (uint64_t)(p[i / 8] >> i % 8 & 1) << i % each;
	for (; i % 8; i++)
		if (p[i / 8] >> i % 8 & 1)
			reject("bits behind the last");
	return a;
}

static uint64_t *
symbols(struct body *y, size_t n)
{
	uint64_t *a = alloc(n * sizeof(*a));

	for (unsigned k = 0; k < (y->b + 7) / 8; k++) {
		const uint8_t *p = take(y, n);

		for (size_t i = 0; i < n; i++)
			a[i] |= (uint64_t)p[i] << 8 * k;
	}
	for (size_t i = 0; i < n; i++)
		if (y->b < 64 && a[i] >> y->b)
			reject("symbol");
	return a;
}

static size_t
count(const uint64_t *flag, size_t n, uint64_t is)
{
	size_t k = 0;

	for (size_t i = 0; i < n; i++)
		k += flag[i] == is;
	return k;
}

static uint64_t
rotate(uint64_t x, unsigned n)
{
	return x << n | x >> (64 - n);
}

/* The n symbols S */
static uint64_t *
fcm(struct body *y, size_t n, unsigned c, unsigned t)
{
	uint64_t *S = alloc((n + 2 * c) * sizeof(*S));
	uint64_t *F = bits(y, n + c, 1);
	size_t left = count(F, n + c, 0), size = (size_t)1 << t, k = 0;
	uint64_t *list = symbols(y, left), *used = bits(y, size, 1),
	    *entry = symbols(y, count(used, size, 1));
	uint64_t *TB = alloc(size * sizeof(*TB));

	for (size_t i = 0; i < size; i++)
		if (used[i] && !(TB[i] = entry[k++]))
			reject("an entry that is 0");
	for (size_t i = n + c; i-- > 0;) {
		uint64_t x = S[i + c], h;

		if (c > 1)
			x += rotate(S[i + c - 1], 23);
		if (c > 2)
			x += rotate(S[i + c - 2], 46);
		h = x * 0x9e3779b97f4a7c15 >> (64 - t);
		S[i] = TB[h];
		if (!F[i])
			TB[h] = list[--left];
	}
	for (size_t i = 0; i < size; i++)
		if (TB[i])
			reject("the table in the end");
	for (unsigned i = 0; i < c; i++)
		if (S[i])
			reject("the extension");
	memmove(S, S + c, n * sizeof(*S));
	free(F), free(list), free(used), free(entry), free(TB);
	return S;
}

static uint64_t *
last(struct body *y, size_t n, unsigned N, unsigned index_bits)
{
	uint64_t *S = alloc(n * sizeof(*S)), list[32] = { 0 };
	uint64_t *F = bits(y, n, 1);
	uint64_t *index = bits(y, count(F, n, 1), index_bits), *in = symbols(y, count(F, n, 0));
	size_t hit = 0, miss = 0;

	for (size_t i = 0; i < n; i++) {
		unsigned j = F[i] ? (unsigned)index[hit++] : N - 1;

		S[i] = F[i] ? list[j] : in[miss++];
		for (; j; j--)
			list[j] = list[j - 1];
		list[0] = S[i];
	}
	free(F), free(index), free(in);
	return S;
}

static void
bidirectional(unsigned m, const uint8_t *p, size_t len, struct column *c)
{
	static const unsigned size[12] = { 1, 2, 3, 1, 2, 3, 2, 8, 32, 2, 8, 32 };
	static const unsigned index_bits[12] = { 0, 0, 0, 0, 0, 0, 1, 3, 5, 1, 3, 5 };
	int stride = m / 3 % 2;
	struct body y = { p, len, 0 };
	uint8_t *raw = NULL;
	uint64_t base = 0, *S;
	unsigned t, squeezed;

	t = *take(&y, 1);
	squeezed = *take(&y, 1);
	y.b = squeezed & 127;
	if (y.b > 64 || (m < 6 ? t < 1 || t > 16 : t))
		reject("head of a bidirectional method");
	for (unsigned k = 0; k < c->w; k++)
		base |= (uint64_t)*take(&y, 1) << 8 * k;
	if (squeezed & 128) {
		size_t n = ZSTD_getFrameContentSize(y.p, y.len) + 1;

		if (n < 2 || n > 40 * (c->n + 65536))
			reject("size of a frame");
		raw = alloc(n);
		if (ZSTD_decompress(raw, n, y.p, y.len) != n - 1)
			reject("frame");
		y.p = raw;
		y.len = n - 1;
	}
	S = m < 6 ? fcm(&y, c->n, size[m], t) : last(&y, c->n, size[m], index_bits[m]);
	if (y.len)
		reject("bytes behind the body");
	for (size_t i = 0; i < c->n; i++) {
		size_t at = m < 6 && stride ? c->n - 1 - i : i;
		uint64_t s = S[at] & 1 ? -(S[at] + 1) / 2 : S[at] / 2;

		/* halving -(S + 1) loses the sign */
		if (S[at] & 1)
			s |= 1ull << 63;
		if (!stride) {
			c->v[at] = base + S[at];
		} else if (m < 6) {
			c->v[at] = base;
			base -= s;
		} else {
			c->v[at] = base += s;
		}
		if (c->w < 8 && c->v[at] >> 8 * c->w)
			reject("value");
	}
	free(S);
	free(raw);
}
