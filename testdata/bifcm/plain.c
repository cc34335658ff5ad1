/*
 * A decoder of bifcm(5), written from the page and laid out like it: slow,
 * small, trusting nothing that the page does not say.  plain <file >values
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plain.h"

static uint8_t *file;
static size_t size, at;

/* Header */
static uint64_t version, B;
static int references;
static unsigned nfield, width[64], key[64];
static const uint8_t *head;
static size_t nhead;

unsigned columns;

/* Columns: a primer is what column there was in the first block */
static const unsigned refwidth[5] = { 8, 1, 4, 2, 8 };
static struct column column[64], first[64];
static size_t nblock;
static int primers = 1;         /* the first block is not whole */
static uint64_t before;         /* records of the last block */
static uint64_t a, b;

void
reject(const char *why)
{
	fprintf(stderr, "plain: byte %zu: %s\n", at, why);
	exit(1);
}

void *
alloc(size_t n)
{
	void *p = calloc(n ? n : 1, 1);

	if (!p)
		reject("out of memory");
	return p;
}

static void
need(size_t n)
{
	if (size - at < n)
		reject("cut off");
}

static uint64_t
integer(unsigned bytes)
{
	uint64_t v = 0;

	need(bytes);
	for (unsigned i = 0; i < bytes; i++)
		v |= (uint64_t)file[at++] << 8 * i;
	return v;
}

/* Numbers */
static uint64_t
number(void)
{
	uint64_t v = 0;

	for (unsigned i = 0; i < 10; i++) {
		uint64_t c = integer(1);

		if ((i == 9 && c > 1) || (i && !c))
			break;
		v |= (c & 127) << 7 * i;
		if (c < 128)
			return v;
	}
	reject("not a number");
	return 0;
}

/* The checksum of a byte string in two parts */
static uint32_t
checksum(const uint8_t *p, size_t n, const uint8_t *q, size_t m)
{
	uint32_t c = 0xffffffff;

	for (size_t i = 0; i < n + m; i++) {
		c ^= i < n ? p[i] : q[i - n];
		for (int k = 0; k < 8; k++)
			c = c >> 1 ^ (c & 1 ? 0xedb88320 : 0);
	}
	return ~c;
}

static void
check(size_t from)
{
	uint32_t want = checksum(file + from, at - from, NULL, 0);

	if (integer(4) != want)
		reject("checksum");
}

static void
header(void)
{
	need(22);
	if (memcmp(file, "\x89TMBIF\r\n", 8))
		reject("magic");
	at = 8;
	version = integer(2);
	if (version < 2 || version > 5)
		reject("version");
	B = integer(4);
	nhead = integer(4);
	if (B < 1 || B > 4194304 || nhead > 1048576 || integer(2))
		reject("header");
	references = (int)integer(1);
	nfield = (unsigned)integer(1);
	if (references > 1 || nfield < 1 || nfield > (version < 4 ? 8 : 64))
		reject("layout");
	for (unsigned i = 0; i < nfield; i++) {
		unsigned f = (unsigned)integer(1), bits = version < 4 ? 4 : 2;

		width[i] = f & ((1u << bits) - 1);
		key[i] = f >> bits;
		if (width[i] > 3 || key[i] > i || (references && (nfield != 1 || f != 3)))
			reject("field");
		width[i] = 1u << width[i];
	}
	columns = references ? 5 : nfield;
	need(nhead);
	head = file + at;
	at += nhead;
	check(0);
	fwrite(head, 1, nhead, stdout);
}

static void
put(uint64_t v, unsigned w)
{
	a += v;
	b += a;
	for (unsigned i = 0; i < w; i++, v >>= 8)
		putchar((int)(v & 255));
}

/* The keys of the columns of references */
static void
ref_keys(unsigned c, uint64_t n, uint64_t fetches)
{
	uint64_t *k = column[c].k = alloc((n + 1) * sizeof(*k)), sum = 0;

	if (c == 1)
		memcpy(k, column[0].v, fetches * sizeof(*k));
	for (uint64_t i = 0; c >= 2 && i <= fetches; i++) {
		uint64_t p0 = i ? column[0].v[i - 1] : 0, p1 = i < fetches ? column[0].v[i] : 0;

		if (c == 2) {
			k[i] = p0 + (p1 << 16);
			continue;
		}
		if (column[2].v[i] > n - fetches - sum)
			reject("counts");
		for (uint64_t j = 0; j < column[2].v[i]; j++)
			k[sum++] = p0 | j << 48;
	}
	if (c > 2 && sum != n - fetches)
		reject("counts");
}

static void
ref_words(uint64_t fetches)
{
	uint64_t w = 0;

	for (uint64_t i = 0; i <= fetches; i++) {
		if (i && column[0].v[i - 1] >> 48)
			reject("address");
		if (i)
			put(column[0].v[i - 1] | column[1].v[i - 1] << 48, 8);
		for (uint64_t j = 0; j < column[2].v[i]; j++, w++) {
			if (column[4].v[w] >> 48 || column[3].v[w] < 256)
				reject("address or tag");
			put(column[4].v[w] | column[3].v[w] << 48, 8);
		}
	}
}

/* The fields of n records at p go into the sum, and out */
static void
put_records(const uint8_t *p, uint64_t n)
{
	while (n--) {
		for (unsigned c = 0; c < nfield; c++) {
			uint64_t v = 0;

			for (unsigned i = 0; i < width[c]; i++)
				v |= (uint64_t)*p++ << 8 * i;
			put(v, width[c]);
		}
	}
}

/* Whole blocks */
static void
whole_block(size_t start)
{
	uint64_t n = number(), r = 0, method = integer(1), len = number(), want;
	size_t end = at;
	uint8_t *raw;

	for (unsigned c = 0; c < nfield; c++)
		r += width[c];
	if (!n || n > 134217728 / r || method < 16 || method > (version < 5 ? 17 : 18) || len > n * r + n * r / 4096)
		reject("whole block");
	want = integer(4);
	need(len);
	at += len;
	if (checksum(file + start, end - start, file + end + 4, len) != want)
		reject("checksum");
	raw = alloc(n * r);
	if (method == 16)
		whole_lzma(file + end + 4, len, raw, n * r);
	else if (method == 18)
		whole_bytes(file + end + 4, len, raw, n * r);
	else
		whole_zstd(file + end + 4, len, raw, n * r);
	put_records(raw, n);
	free(raw);
	before = n;
	primers &= nblock != 0;
	nblock++;
}

/* Blocks */
static void
block(void)
{
	size_t start = at, len[64], end;
	uint64_t m = number(), least = version > 2 ? 2 : 1, n = m > least ? m - least : before, fetches = 0, want;
	unsigned ncol = references ? 5 : nfield, method[64];

	if (m == 2 && version > 2) {
		whole_block(start);
		return;
	}
	if (m > B + least || !m || !n || n > B || (m > 1 && n == before))
		reject("records of a block");
	before = n;
	if (references && (fetches = number()) > n)
		reject("fetches of a block");
	for (unsigned c = 0; c < ncol; c++) {
		struct column *t = &column[c];

		t->n = !references ? n : c < 2 ? fetches : c == 2 ? fetches + 1 : n - fetches;
		t->w = references ? refwidth[c] : width[c];
		if (!t->n)
			continue;
		method[c] = (unsigned)integer(1);
		if (version < 4 && method[c] >= 7 && method[c] <= 9)
			reject("method of a later version");
		len[c] = number();
		if (len[c] > t->n * t->w)
			reject("length of a column");
	}
	end = at;
	want = integer(4);
	for (unsigned c = 0; c < ncol; c++) {
		struct column *t = &column[c];

		t->v = alloc((t->n + 1) * sizeof(*t->v));
		t->k = NULL;
		t->grid = NULL;
		if (references && c)
			ref_keys(c, n, fetches);
		else if (key[c])
			t->k = column[key[c] - 1].v;
		if (!t->n)
			continue;
		need(len[c]);
		decode(method[c], file + at, len[c], t, nblock && primers && first[c].n ? &first[c] : NULL);
		at += len[c];
	}
	if (checksum(file + start, end - start, file + end + 4, at - end - 4) != want)
		reject("checksum");
	if (references)
		ref_words(fetches);
	for (uint64_t i = 0; !references && i < n; i++)
		for (unsigned c = 0; c < nfield; c++)
			put(column[c].v[i], width[c]);
	for (unsigned c = 0; c < ncol; c++) {
		if (!nblock) {
			first[c] = column[c];
			continue;
		}
		free(column[c].v);
		if (references)
			free(column[c].k);
	}
	nblock++;
}

/* Index: the blocks were read in a row, so only their number and the end are compared. */
static void
end(void)
{
	size_t start = at, t, record = 0;

	for (unsigned c = 0; c < nfield; c++)
		record += width[c];
	at++;
	if (number() != nblock)
		reject("number of blocks");
	for (size_t i = 0; i < nblock; i++) {
		if (number() > (B > 134217728 / record ? B : 134217728 / record))
			reject("records in the index");
		number();
	}
	t = number();
	if (t >= record)
		reject("tail");
	need(t);
	fwrite(file + at, 1, t, stdout);
	at += t;
	if (integer(8) != (a ^ (b << 32 | b >> 32)))
		reject("sum");
	check(start);
	t = at - start;
	if (integer(4) != t || integer(4) != 0x65464942 || at != size)
		reject("end mark");
}

int
main(void)
{
	size_t cap = 0, k;

	do {
		if (size == cap)
			file = realloc(file, cap = 2 * cap + 65536);
		if (!file)
			reject("out of memory");
		k = fread(file + size, 1, cap - size, stdin);
		size += k;
	} while (k);
	header();
	for (;;) {
		need(1);
		if (!file[at])
			break;
		block();
	}
	end();
	return fflush(stdout) != 0 || ferror(stdout);
}
