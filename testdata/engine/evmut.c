/*
 * evmut file seed n: the event file with n events changed (bits flipped, bytes
 * set to small or run-item values, stretches removed or doubled) and right
 * checksums, so that the fault reaches the regeneration.  evmut file cut n:
 * only the first n events, with an end record of reason 0; stop n: reason 3.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "format/ae/events.h"

static uint32_t seed;

static uint32_t
rnd(uint32_t n)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % n;
}

static size_t
read_file(void *f, void *p, size_t n)
{
	return fread(p, 1, n, f);
}

static void
mutate(struct buf *b)
{
	static const uint8_t item[] = {0, 1, 2, 0xfc, 0xfd, 0xfe, 0xff};
	size_t at = rnd((uint32_t)b->n), n = 1 + rnd(12);

	switch (rnd(5)) {
	case 0:
		b->p[at] ^= (uint8_t)(1u << rnd(8));
		break;
	case 1:
		b->p[at] = item[rnd(sizeof item)];
		break;
	case 2:
		b->p[at] = (uint8_t)rnd(256);
		break;
	case 3:
		if (at + n <= b->n) {
			memmove(b->p + at, b->p + at + n, b->n - at - n);
			b->n -= n;
		}
		break;
	default:
		if (at + n <= b->n && buf_room(b, n)) {
			memmove(b->p + at + n, b->p + at, b->n - at);
			b->n += n;
		}
	}
}

static void
record(const char *magic, const uint8_t *p, size_t n)
{
	uint8_t h[16];

	memcpy(h, magic, 4);
	put_le32(h + 4, (uint32_t)n);
	put_le64(h + 8, ev_checksum(p, n));
	fwrite(h, 1, 16, stdout);
	fwrite(p, 1, n, stdout);
}

int
main(int argc, char **argv)
{
	FILE *f = argc == 4 ? fopen(argv[1], "rb") : NULL;
	uint8_t head[EV_HEADMAX], end[EV_ENDLEN] = {0};
	struct buf b = BUF_INIT;
	struct ev_reader r;
	const uint8_t *p;
	size_t len;
	long n;

	if (!f || ev_open(&r, read_file, f) != 0)
		return 2;
	len = (size_t)r.off;
	while ((n = ev_next(&r, &p)) > 0)
		buf_add(&b, p, (size_t)n);
	rewind(f);
	if (n < 0 || fread(head, 1, len, f) != len)
		return 2;
	put_le32(end, r.end.reason);
	if (strcmp(argv[2], "cut") == 0 || strcmp(argv[2], "stop") == 0) {
		size_t want = strtoul(argv[3], NULL, 10);

		put_le32(end, argv[2][0] == 'c' ? EV_EXIT : EV_STOPPED);
		b.n = want < b.n ? want : b.n;
	} else {
		seed = (uint32_t)strtoul(argv[2], NULL, 10) * 2654435761u;
		for (long k = strtol(argv[3], NULL, 10); k > 0 && b.n > 1; k--)
			mutate(&b);
	}
	put_le64(end + 8, b.n);
	fwrite(head, 1, len, stdout);
	for (size_t off = 0; off < b.n; off += 1000)
		record("AEch", b.p + off, b.n - off < 1000 ? b.n - off : 1000);
	record("AEnd", end, EV_ENDLEN);
	ev_close(&r);
	buf_free(&b);
	return fflush(stdout) != 0 || ferror(stdout);
}
