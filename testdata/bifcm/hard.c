/*
 * hard KIND: streams of many kinds, among them those on which context mixing of values loses.
 *
 *   repeats  runs of noise that come again with few changes, at any byte: LZ finds them, no value repeats
 *   ticks    values of 8 bytes that grow by a million, a few more or less
 *   words    text
 *   far      noise that comes again after 400 kB
 *   log      lines with times and numbers
 *   noise, zeros, one (byte), none
 *   decimals doubles that have two places after the point
 *   grids    numbers of 8 bytes: doubles with three places, some of them not; multiples of 1000
 *   ids      of 4 bytes, sorted
 *   table    records of 20 bytes: the first repeats, the others hardly
 *   wide     records of 28 bytes: doubles and a float with one or three places, and integers
 *   rare     zeros of 4 bytes, and a number now and then: zstd's higher levels make more of them
 *   picture  of 240 x 120 pixels of 3 bytes: lines of signs on a ground that changes slowly
 *   story    numbers of words, 2 bytes each, which depend on the two before
 *   mix      some of each
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "../random.h"

static unsigned
below(unsigned n)
{
	return (unsigned)rnd_below(n);
}

static void
repeats(void)
{
	static unsigned char run[12][16000], copy[16000];

	for (size_t i = 0; i < sizeof(run); i++)
		run[i / 16000][i % 16000] = (unsigned char)below(256);
	for (int i = 0; i < 36; i++) {
		size_t skip = below(8);

		memcpy(copy, run[below(12)], sizeof(copy));
		for (int k = 0; k < 5; k++)
			copy[below(16000)] ^= (unsigned char)(1 + below(255));
		fwrite(copy + skip, 1, sizeof(copy) - skip, stdout);
	}
}

static void
ticks(void)
{
	uint64_t t = 0;

	for (int i = 0; i < 60000; i++) {
		t += 1000000 + below(3) + below(3) + below(3);
		for (int k = 0; k < 64; k += 8)
			putchar((int)(t >> k & 255));
	}
}

static void
words(void)
{
	static char word[600][12];

	for (int i = 0; i < 600; i++)
		for (unsigned k = 0, n = 2 + below(9); k < n; k++)
			word[i][k] = (char)('a' + below(26));
	for (int i = 0; i < 40000; i++)
		printf("%s%c", word[below(1 + below(600))], below(12) ? ' ' : '\n');
}

static void
noise(int n)
{
	while (n--)
		putchar((int)below(256));
}

static void
far(void)
{
	static unsigned char run[50000];

	for (size_t i = 0; i < sizeof(run); i++)
		run[i] = (unsigned char)below(256);
	fwrite(run, 1, sizeof(run), stdout);
	words();
	noise(101);
	fwrite(run, 1, sizeof(run), stdout);
}

static void
lines(void)
{
	static const char *const what[4] = { "opened", "closed", "read from", "error in" };

	for (int i = 0; i < 6000; i++)
		printf("2026-11-%02d %02d:%02d:%02d.%03u host%u app[%u]: %s id=%u\n", 1 + i / 400, i / 60 % 24,
		    i % 60, i * 7 % 60, below(1000), below(5), 100 + below(30), what[below(4)], below(1000000));
}

static void
zeros(void)
{
	for (int i = 0; i < 1000000; i++)
		putchar(0);
}

static void
decimals(void)
{
	int cents = 10000;

	for (int i = 0; i < 20000; i++) {
		double x = (cents += (int)below(61) - 30) / 100.0;

		fwrite(&x, sizeof(x), 1, stdout);
	}
}

static void
grids(void)
{
	uint64_t t = 7;

	for (int i = 0; i < 15000; i++) {
		double x = (int)below(2000) * 0.001 - (below(40) ? 0.2 : 1 / 3.0);

		x = below(50) ? ((int)below(9000) - 200) / 1000.0 : x;
		fwrite(&x, sizeof(x), 1, stdout);
	}
	for (int i = 0; i < 5000; i++) {
		t += 1000 * (uint64_t)below(300);
		fwrite(&t, sizeof(t), 1, stdout);
	}
}

static void
ids(void)
{
	uint32_t id = 0;

	for (int i = 0; i < 40000; i++) {
		id += 1 + below(100000);
		fwrite(&id, sizeof(id), 1, stdout);
	}
}

static void
table(void)
{
	for (uint32_t i = 0; i < 8000; i++) {
		uint32_t row[5] = {
			0x0a000000 + below(1 + below(300)), i / 7, below(70000), 443 + below(2) * 53, i * i
		};

		fwrite(row, sizeof(row), 1, stdout);
	}
}

static void
mix(void)
{
	noise(30000);
	lines();
	ids();
	decimals();
	table();
}

static void
wide(void)
{
	double t = 0, place[16] = { 0 };

	for (int i = 0; i < 6000; i++) {
		uint32_t who = below(16);
		float part = (float)((400 + (int)below(200)) / 10.0);
		uint16_t flag = below(9) ? 0 : 7, n = (uint16_t)(i % 500);
		double now, x;

		t += below(900);
		now = t / 1000;
		place[who] += (int)below(9) - 4;
		x = place[who] / 10;
		fwrite(&now, 8, 1, stdout);
		fwrite(&who, 4, 1, stdout);
		fwrite(&x, 8, 1, stdout);
		fwrite(&part, 4, 1, stdout);
		fwrite(&flag, 2, 1, stdout);
		fwrite(&n, 2, 1, stdout);
	}
}

static void
rare(void)
{
	for (int i = 0; i < 30000; i++) {
		uint32_t v = below(333) ? 0 : (uint32_t)rnd_below(UINT32_MAX);

		fwrite(&v, 4, 1, stdout);
	}
}

static void
picture(void)
{
	static unsigned char sign[24][12], text[12][30];

	for (size_t i = 0; i < sizeof(sign); i++)
		sign[i / 12][i % 12] = (unsigned char)(i % 12 < 2 ? 0 : below(256) & below(256));
	for (size_t i = 0; i < sizeof(text); i++)
		text[i / 30][i % 30] = (unsigned char)below(24);
	for (int y = 0; y < 120; y++)
		for (int x = 0; x < 240; x++) {
			int ink = sign[text[y / 10][x / 8]][y % 10] >> x % 8 & 1;

			for (int k = 0; k < 3; k++)
				putchar(ink ? 20 * k : 200 + (x + y * k) / 8);
		}
}

static void
story(void)
{
	static unsigned char next[30][30][3];
	unsigned a = 0, b = 0;

	for (size_t i = 0; i < sizeof(next); i++)
		next[i / 90][i / 3 % 30][i % 3] = (unsigned char)below(30);
	for (int i = 0; i < 30000; i++) {
		unsigned w = below(20) ? next[a][b][below(5) / 2] : below(30);

		a = b;
		b = w;
		putchar((int)(w * 0x735 & 255));
		putchar((int)(w * 0x735 >> 8));
	}
}

static void one(void) { putchar('x'); }
static void none(void) {}
static void more(void) { noise(400003); }

static const struct { const char *name; void (*make)(void); } kinds[] = {
	{ "repeats", repeats }, { "ticks", ticks }, { "words", words }, { "far", far }, { "log", lines },
	{ "noise", more }, { "zeros", zeros }, { "one", one }, { "none", none }, { "decimals", decimals },
	{ "grids", grids }, { "ids", ids }, { "table", table }, { "wide", wide }, { "rare", rare },
	{ "picture", picture }, { "story", story }, { "mix", mix },
};

int
main(int argc, char **argv)
{
	for (size_t i = 0; argc == 2 && i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strcmp(argv[1], kinds[i].name))
			continue;
		kinds[i].make();
		return fflush(stdout) != 0;
	}
	return 2;
}
