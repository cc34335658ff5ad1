/*
 * LZW, codes of 9 to 12 bits, over a text made up from words; unpacked again and compared.
 * big: 90000000
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BITS 12
#define MAXCODE (1 << BITS)
#define HASH 5021

static struct { int prefix, code; unsigned char c; } table[HASH];
static unsigned short up_prefix[MAXCODE];
static unsigned char up_char[MAXCODE], stack[MAXCODE];

struct bits { unsigned char *p; unsigned long hold; int n; };

static void
put(struct bits *b, unsigned code, int width)
{
	b->hold |= (unsigned long)code << b->n;
	for (b->n += width; b->n >= 8; b->n -= 8) {
		*b->p++ = (unsigned char)b->hold;
		b->hold >>= 8;
	}
}

static unsigned
get(struct bits *b, int width)
{
	unsigned code;

	for (; b->n < width; b->n += 8)
		b->hold |= (unsigned long)*b->p++ << b->n;
	code = (unsigned)(b->hold & ((1ul << width) - 1));
	b->hold >>= width;
	b->n -= width;
	return code;
}

static void
clear(void)
{
	for (int i = 0; i < HASH; i++)
		table[i].code = -1;
}

static unsigned
find(int prefix, unsigned char c)
{
	unsigned h = (unsigned)(prefix << 8 ^ c << 4 ^ c) % HASH;

	while (table[h].code >= 0 && (table[h].prefix != prefix || table[h].c != c))
		h = h == 0 ? HASH - 1 : h - 1;
	return h;
}

static long
pack(const unsigned char *in, long n, unsigned char *out)
{
	struct bits b = { out, 0, 0 };
	int next = 257, width = 9, prefix = in[0];

	clear();
	for (long i = 1; i < n; i++) {
		unsigned h = find(prefix, in[i]);

		if (table[h].code >= 0) {
			prefix = table[h].code;
			continue;
		}
		put(&b, prefix, width);
		if (next < MAXCODE) {
			table[h].prefix = prefix;
			table[h].c = in[i];
			table[h].code = next++;
			if (next > 1 << width && width < BITS)
				width++;
		} else {
			put(&b, 256, width);
			clear();
			next = 257;
			width = 9;
		}
		prefix = in[i];
	}
	put(&b, prefix, width);
	put(&b, 0, 7);
	return b.p - out;
}

static long
unpack(unsigned char *in, long n, unsigned char *out)
{
	struct bits b = { in, 0, 0 };
	int next = 256, width = 9, prev = -1;
	unsigned char first = 0, *start = out;

	while (out - start < n) {
		int code, in_code, k = 0;

		if (next + 1 > 1 << width && width < BITS)
			width++;
		code = in_code = (int)get(&b, width);
		if (code == 256) {
			next = 256;
			width = 9;
			prev = -1;
			continue;
		}
		if (prev >= 0 && code >= next) {
			stack[k++] = first;
			code = prev;
		}
		while (code > 256) {
			stack[k++] = up_char[code];
			code = up_prefix[code];
		}
		first = (unsigned char)code;
		stack[k++] = first;
		while (k > 0)
			*out++ = stack[--k];
		if (next < MAXCODE && next > 256) {
			up_prefix[next] = (unsigned short)prev;
			up_char[next] = first;
		}
		if (next < MAXCODE)
			next++;
		prev = in_code;
	}
	return out - start;
}

static void
text(unsigned char *p, long n)
{
	static const char *const word[] = { "the ", "trace ", "of ", "a ", "program ", "is ", "small ", "and ", "records ",
	    "little ", "address ", "loop ", "value ", "regenerates ", "everything\n", "event " };
	unsigned long long r = 1;
	long i = 0;

	while (i < n) {
		const char *w;

		r = r * 6364136223846793005ull + 1442695040888963407ull;
		for (w = word[r >> 60]; *w && i < n; w++)
			p[i++] = (unsigned char)*w;
		if (r >> 50 & 1 && i < n)
			p[i++] = (unsigned char)('0' + (r >> 40) % 10);
	}
}

int
main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 2500, m, same;
	unsigned char *in = malloc(n), *out = malloc(2 * n + 100), *back = malloc(n + MAXCODE);
	unsigned long sum = 0;

	text(in, n);
	m = pack(in, n, out);
	for (long i = 0; i < m; i += 97)
		sum = sum * 31 + out[i];
	unpack(out, n, back);
	for (same = 0; same < n && in[same] == back[same]; same++)
		;
	printf("%ld %ld %ld %016lx\n", n, m, same, sum);
	free(in);
	free(out);
	free(back);
	return 0;
}
