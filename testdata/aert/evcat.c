/*
 * evcat FILE ELF: check the frame of an event file, ae.out(5), of a machine with that ELF number;
 * its events to standard output
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint8_t *f;
static size_t n;

static _Noreturn void bad(size_t off, const char *what)
{
	fprintf(stderr, "byte %zu: %s\n", off, what);
	exit(1);
}

static uint64_t get(size_t off, int bytes)
{
	uint64_t v = 0;

	if (off + (size_t)bytes > n)
		bad(off, "cut off");
	while (bytes-- > 0)
		v = v << 8 | f[off + (size_t)bytes];
	return v;
}

static uint64_t rotl(uint64_t v, int k)
{
	return v << k | v >> (64 - k);
}

static uint64_t checksum(size_t off, size_t len)
{
	const uint64_t k = 0x9e3779b97f4a7c15u;
	uint64_t h[4], x;
	size_t i, j, b;

	if (len > n || off > n - len)
		bad(off, "cut off");
	for (i = 0; i < 4; i++)
		h[i] = k * (i + 1);
	for (i = 0; i < len; i += 32)
		for (j = 0; j < 4; j++) {
			uint64_t w = 0;

			for (b = 0; b < 8; b++)
				if (i + j * 8 + b < len)
					w |= (uint64_t)f[off + i + j * 8 + b] << (8 * b);
			h[j] = (h[j] ^ w) * 0x9fb21c651e98df25u;
			h[j] ^= h[j] >> 32;
		}
	x = (h[0] + rotl(h[1], 13) + rotl(h[2], 29) + rotl(h[3], 43)) ^ len;
	x ^= x >> 29;
	x *= k;
	return x ^ x >> 32;
}

static void header(unsigned elf)
{
	size_t i, len = get(12, 4), idlen = get(16, 1);

	if (memcmp(f, "\x89" "AEOUT\r\n", 8) != 0)
		bad(0, "magic");
	if (get(8, 4) != 7)
		bad(8, "version");
	if (idlen != 20)
		bad(16, "length of the build id");
	for (i = 17 + idlen; i < 49; i++)
		if (f[i])
			bad(i, "not zero");
	if (get(49, 2) != elf)
		bad(49, "machine");
	for (i = 51; i < 56; i++)
		if (f[i])
			bad(i, "not zero");
	if (len != (92 + get(88, 4) + 7) / 8 * 8 + 8)
		bad(12, "length of the header");
	if (checksum(0, len - 8) != get(len - 8, 8))
		bad(len - 8, "checksum of the header");
	fprintf(stderr, "flags %u parent %.*s\n", (unsigned)get(64, 8), (int)get(88, 4), (char *)f + 92);
}

int main(int argc, char **argv)
{
	FILE *in = argc > 2 ? fopen(argv[1], "rb") : NULL;
	size_t at, len, total = 0;

	if (!in)
		return 2;
	fseek(in, 0, SEEK_END);
	n = (size_t)ftell(in);
	rewind(in);
	f = malloc(n + 1);
	if (!f || fread(f, 1, n, in) != n || n < 96)
		bad(0, "cannot be read");
	header((unsigned)atoi(argv[2]));
	for (at = get(12, 4);; at += len) {
		while (at % 4096 && at < n && f[at] == 0)
			at++;
		len = get(at + 4, 4);
		if (memcmp(f + at, "AEnd", 4) == 0)
			break;
		/* begin and end of a thread */
		if (memcmp(f + at, "AEth", 4) == 0 && len == 24 && get(at + 20, 4) != 1) {
			if (checksum(at + 16, len) != get(at + 8, 8))
				bad(at, "checksum of a thread's record");
			at += 16;
			continue;
		}
		if (memcmp(f + at, "AEmo", 4) == 0) {
			at += 16;
			continue;
		}
		if (memcmp(f + at, "AEch", 4) != 0)
			bad(at, "neither chunk nor end");
		if (checksum(at + 16, len) != get(at + 8, 8))
			bad(at, "checksum of the chunk");
		at += 16;
		fwrite(f + at, 1, len, stdout);
		total += len;
	}
	if (len != 64 || checksum(at + 16, 64) != get(at + 8, 8) || at + 80 != n)
		bad(at, "end record");
	if (get(at + 24, 8) != total)
		bad(at + 24, "number of events");
	return fflush(stdout) != 0;
}
