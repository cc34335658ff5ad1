/*
 * evmut file seed n: the event file with n events changed (bits flipped, bytes
 * set to small or run-item values, stretches removed or doubled) and right
 * checksums, so that the fault reaches the regeneration.  evmut file cut n:
 * only the first n events, with an end record of reason 0; stop n: reason 3.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../eventfile.h"
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
		if (at + n <= b->n && buf_reserve(b, n)) {
			memmove(b->p + at + n, b->p + at, b->n - at);
			b->n += n;
		}
	}
}

int
main(int argc, char **argv)
{
	FILE *f = argc == 4 ? fopen(argv[1], "rb") : NULL;
	uint8_t head[EV_HEADMAX];
	struct buf b = BUF_INIT, out = BUF_INIT;
	uint32_t reason;
	struct ev_reader r;
	const uint8_t *p;
	size_t len;
	long n;

	if (!f || ev_open(&r, read_file, f) != 0)
		return 2;
	len = (size_t)r.off;
	while ((n = ev_next(&r, &p)) > 0)
		buf_add(&b, p, (size_t)n);
	reason = r.end.reason;
	rewind(f);
	if (n < 0 || fread(head, 1, len, f) != len)
		return 2;
	if (strcmp(argv[2], "cut") == 0 || strcmp(argv[2], "stop") == 0) {
		size_t want = strtoul(argv[3], NULL, 10);

		reason = argv[2][0] == 'c' ? EV_EXIT : EV_STOPPED;
		b.n = want < b.n ? want : b.n;
	} else {
		seed = (uint32_t)strtoul(argv[2], NULL, 10) * 2654435761u;
		for (long k = strtol(argv[3], NULL, 10); k > 0 && b.n > 1; k--)
			mutate(&b);
	}
	fwrite(head, 1, len, stdout);
	event_chunks(&out, b.p, b.n, 1000, reason, 0);
	fwrite(out.p, 1, out.n, stdout);
	ev_close(&r);
	buf_free(&b);
	buf_free(&out);
	return fflush(stdout) != 0 || ferror(stdout);
}
