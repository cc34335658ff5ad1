/*
 * elasticread TRACE: gem5's elastic trace, read from the definition of its messages; a line for each record, as
 * gem5's decode_inst_dep_trace.py prints it. The first line is the header.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint8_t *data;
static size_t size;

static void
die(const char *what, size_t at)
{
	printf("%s at byte %zu\n", what, at);
	exit(1);
}

static uint64_t
varint(size_t *at, size_t end)
{
	uint64_t v = 0;

	for (unsigned shift = 0; shift < 64; shift += 7) {
		if (*at >= end)
			die("cut off", *at);
		v |= (uint64_t)(data[*at] & 127) << shift;
		if (!(data[(*at)++] & 128))
			return v;
	}
	die("a long number", *at);
	return 0;
}

static void
header(size_t at, size_t end)
{
	while (at < end) {
		uint64_t key = varint(&at, end), v = varint(&at, end);

		if (key == (1 << 3 | 2)) {
			printf("%.*s", (int)v, (const char *)data + at);
			at += v;
		} else
			printf(" %" PRIu64 "=%" PRIu64, key >> 3, v);
	}
	printf("\n");
}

static void
record(size_t at, size_t end)
{
	static const char *const type[] = { "INVALID", "LOAD", "STORE", "COMP" };
	uint64_t v[13] = { 0 }, dep[2][64];
	unsigned n[2] = { 0, 0 }, set = 0;

	while (at < end) {
		uint64_t key = varint(&at, end), x = varint(&at, end), field = key >> 3;

		if (key & 7 || !field || field > 12)
			die("no field of a record", at);
		if (field == 6 || field == 8)
			dep[field == 8][n[field == 8]++ & 63] = x;
		else {
			if (set >> field & 1)
				die("a field twice", at);
			set |= 1u << field;
			v[field] = x;
		}
	}
	if ((set & (1 << 1 | 1 << 2 | 1 << 7)) != (1 << 1 | 1 << 2 | 1 << 7) || v[2] > 3)
		die("a field is missing", end);
	printf("%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%s", v[1], v[10], set >> 9 & 1 ? v[9] : 1, type[v[2]]);
	for (int i = 3; i < 6; i++)
		if (set >> i & 1)
			printf(",%" PRIu64, v[i]);
	printf(",%" PRIu64, v[7]);
	for (int k = 0; k < 2; k++) {
		printf(":");
		for (unsigned i = 0; i < n[k]; i++)
			printf(",%" PRIu64, dep[k][i]);
	}
	printf("\n");
}

int
main(int argc, char **argv)
{
	FILE *f = argc > 1 ? fopen(argv[1], "rb") : NULL;
	size_t at = 4, n;

	if (!f || !(data = malloc(1u << 28)))
		return 2;
	size = fread(data, 1, 1u << 28, f);
	if (size < 4 || memcmp(data, "gem5", 4) != 0)
		die("no trace of gem5", 0);
	while (at < size) {
		int first = at == 4;

		n = varint(&at, size);
		if (n > size - at)
			die("a record is cut off", at);
		if (first)
			header(at, at + n);
		else
			record(at, at + n);
		at += n;
	}
	return 0;
}
