/*
 * hard KIND: streams on which context mixing of values loses to other methods.
 *
 *   repeats  runs of noise that come again with few changes, at any byte: LZ finds them, no value repeats
 *   ticks    values of 8 bytes that grow by a million, a few more or less
 *   words    text
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

int
main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "repeats"))
		repeats();
	else if (argc == 2 && !strcmp(argv[1], "ticks"))
		ticks();
	else if (argc == 2 && !strcmp(argv[1], "words"))
		words();
	else
		return 2;
	return fflush(stdout) != 0;
}
