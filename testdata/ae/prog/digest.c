/*
 * SHA-256 and CRC-32, from their definitions, over a buffer: rotates, byte swaps, tables built at run time.
 * big: 150000
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t crctab[256], k[64];

static uint32_t ror(uint32_t x, int n) { return x >> n | x << (32 - n); }

/* is y to the power of 2 or 3 at most p followed by 64 or 96 zero bits? */
static int
atmost(uint64_t y, unsigned p, int cube)
{
	uint32_t lo = (uint32_t)y, hi = (uint32_t)(y >> 32), d[4] = { lo, hi };

	for (int k = 0; k <= cube; k++) {       /* d *= y */
		uint32_t e[4] = { 0 };
		uint64_t c = 0;

		for (int i = 0; i < 4; i++) {
			c += (uint64_t)d[i] * lo;
			e[i] = (uint32_t)c;
			c >>= 32;
		}
		c = 0;
		for (int i = 0; i < 3; i++) {
			c += e[i + 1] + (uint64_t)d[i] * hi;
			e[i + 1] = (uint32_t)c;
			c >>= 32;
		}
		memcpy(d, e, sizeof d);
	}
	if (cube)
		return d[3] < p || (d[3] == p && !(d[2] | d[1] | d[0]));
	return !d[3] && (d[2] < p || (d[2] == p && !(d[1] | d[0])));
}

/* the first 32 bits of the fraction of a root of p, by integer search: no floating point */
static uint32_t
root(unsigned p, int cube)
{
	uint64_t x = 0;

	for (int b = 36; b >= 0; b--)
		if (atmost(x | 1ull << b, p, cube))
			x |= 1ull << b;
	return (uint32_t)x;
}

static void
tables(uint32_t *h)
{
	int n = 0;

	for (unsigned p = 2; n < 64; p++) {
		unsigned d = 2;

		while (d * d <= p && p % d)
			d++;
		if (d * d <= p)
			continue;
		if (n < 8)
			h[n] = root(p, 0);
		k[n++] = root(p, 1);
	}
	for (uint32_t i = 0; i < 256; i++) {
		uint32_t c = i;

		for (int b = 0; b < 8; b++)
			c = c & 1 ? 0xedb88320u ^ c >> 1 : c >> 1;
		crctab[i] = c;
	}
}

static void
block(uint32_t *h, const unsigned char *p)
{
	uint32_t w[64], s[8];

	for (int i = 0; i < 16; i++, p += 4)
		w[i] = (uint32_t)p[0] << 24 | p[1] << 16 | p[2] << 8 | p[3];
	for (int i = 16; i < 64; i++) {
		uint32_t a = w[i - 15], b = w[i - 2];

		w[i] = w[i - 16] + (ror(a, 7) ^ ror(a, 18) ^ a >> 3) + w[i - 7] + (ror(b, 17) ^ ror(b, 19) ^ b >> 10);
	}
	memcpy(s, h, sizeof s);
	for (int i = 0; i < 64; i++) {
		uint32_t e = s[4], a = s[0];
		uint32_t t1 = s[7] + (ror(e, 6) ^ ror(e, 11) ^ ror(e, 25)) + ((e & s[5]) ^ (~e & s[6])) + k[i] + w[i];
		uint32_t t2 = (ror(a, 2) ^ ror(a, 13) ^ ror(a, 22)) + ((a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]));

		memmove(s + 1, s, 7 * sizeof *s);
		s[4] += t1;
		s[0] = t1 + t2;
	}
	for (int i = 0; i < 8; i++)
		h[i] += s[i];
}

static uint32_t
crc(const unsigned char *p, size_t n)
{
	uint32_t c = ~0u;

	while (n--)
		c = crctab[(c ^ *p++) & 255] ^ c >> 8;
	return ~c;
}

int
main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 3;
	unsigned char buf[1024];
	uint32_t h[8], c = 0;

	tables(h);
	for (int i = 0; i < 1024; i++)
		buf[i] = (unsigned char)(i * i >> 3);
	for (int i = 0; i < n; i++) {
		for (int at = 0; at < 1024; at += 64)
			if (at < 128 || argc > 1)
				block(h, buf + at);
		c ^= crc(buf, sizeof buf);
		buf[i & 1023] += (unsigned char)c;
	}
	for (int i = 0; i < 8; i++)
		printf("%08x", (unsigned)h[i]);
	printf(" %08x\n", (unsigned)c);
	return 0;
}
