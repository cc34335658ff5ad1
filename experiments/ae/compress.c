/*
 * compress: adaptive LZW with codes of 9 to 16 bits, in the format of compress(1); uncompress(1) reads it.
 *
 *   compress [file] > file.Z       without a file: standard input
 *
 * Codes are collected in groups of eight, so that a group is as many bytes as a code has bits; a change of width pads
 * the group.  When the table is full and the ratio falls, code 256 clears it.
 */
#include <stdio.h>
#include <stdlib.h>

#define MINBITS 9
#define MAXBITS 16
#define CLEAR 256
#define FIRST 257
#define HSIZE 69001             /* a prime, 95 % full with 2^16 codes */
#define CHECK 10000             /* look at the ratio every so many bytes */

static long htab[HSIZE];
static unsigned short codetab[HSIZE];

static int nbits = MINBITS;
static long maxcode = (1 << MINBITS) - 1, free_ent = FIRST;
static long in_count, out_count, checkpoint = CHECK, ratio;
static int clearing;

static unsigned char group[MAXBITS + 2];
static int at;                  /* bits in the group */

static void
flush_group(int whole)
{
	int n = whole ? nbits : (at + 7) / 8;

	fwrite(group, 1, (size_t)n, stdout);
	out_count += n;
	for (int i = 0; i <= MAXBITS; i++)
		group[i] = 0;
	at = 0;
}

static void
output(long code)
{
	unsigned char *p = group + (at >> 3);
	unsigned long v = (unsigned long)code << (at & 7);

	p[0] |= (unsigned char)v;
	p[1] |= (unsigned char)(v >> 8);
	p[2] |= (unsigned char)(v >> 16);
	at += nbits;
	if (at == nbits * 8)
		flush_group(1);
	if (free_ent > maxcode || clearing) {
		if (at > 0)
			flush_group(1);
		if (clearing) {
			nbits = MINBITS;
			maxcode = (1 << MINBITS) - 1;
			clearing = 0;
		} else {
			nbits++;
			maxcode = nbits == MAXBITS ? 1l << MAXBITS : (1l << nbits) - 1;
		}
	}
}

static void
clear_table(void)
{
	for (int i = 0; i < HSIZE; i++)
		htab[i] = -1;
}

/* The table is full: keep it as long as it compresses better and better */
static void
consider_clear(void)
{
	/* without more than 32 bits */
	long kept = out_count >> 8, now = in_count <= 0x7fffff ? (in_count << 8) / out_count : kept ? in_count / kept : 0x7fffffff;

	checkpoint = in_count + CHECK;
	if (now > ratio) {
		ratio = now;
		return;
	}
	ratio = 0;
	clear_table();
	free_ent = FIRST;
	clearing = 1;
	output(CLEAR);
}

static int
find(long key, long ent, int c)
{
	int i = (int)((long)c << 8 ^ ent), step;

	if (htab[i] == key)
		return i;
	step = i == 0 ? 1 : HSIZE - i;
	while (htab[i] >= 0) {
		if ((i -= step) < 0)
			i += HSIZE;
		if (htab[i] == key)
			break;
	}
	return i;
}

int
main(int argc, char **argv)
{
	long ent;
	int c;

	if (argc > 1 && !freopen(argv[1], "rb", stdin)) {
		perror(argv[1]);
		return 1;
	}
	fwrite("\037\235\220", 1, 3, stdout);
	out_count = 3;
	clear_table();
	ent = getc(stdin);
	if (ent == EOF)
		return 0;
	in_count = 1;
	while ((c = getc(stdin)) != EOF) {
		long key = (long)c << MAXBITS | ent;
		int i = find(key, ent, c);

		in_count++;
		if (htab[i] == key) {
			ent = codetab[i];
			continue;
		}
		output(ent);
		ent = c;
		if (free_ent < 1l << MAXBITS) {
			codetab[i] = (unsigned short)free_ent++;
			htab[i] = key;
		} else if (in_count >= checkpoint)
			consider_clear();
	}
	output(ent);
	flush_group(0);
	return fflush(stdout) != 0;
}
