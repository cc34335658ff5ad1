/* Event files: fixed bytes, every truncation, every changed byte. */
#include <stdlib.h>
#include <string.h>

#include "../check.h"
#include "base/bytes.h"
#include "format/ae/events.h"

struct src { const uint8_t *p; size_t n; };

static size_t
from(void *arg, void *buf, size_t n)
{
	struct src *s = arg;

	if (n > s->n)
		n = s->n;
	memcpy(buf, s->p, n);
	s->p += n;
	s->n -= n;
	return n;
}

static size_t
put(uint8_t *p, const char *magic, const uint8_t *body, uint32_t n)
{
	memcpy(p, magic, 4);
	put_le32(p + 4, n);
	put_le64(p + 8, ev_checksum(body, n));
	memcpy(p + 16, body, n);
	return 16 + n;
}

/* Two chunks, of 5 and 40 bytes; returns the length */
static size_t
make(uint8_t *p)
{
	uint8_t body[40], end[EV_ENDLEN] = {0};
	size_t n = 104;

	memset(p, 0, 104);
	memcpy(p, EV_MAGIC, 8);
	put_le32(p + 8, EV_VERSION);
	put_le32(p + 12, 104);
	p[16] = 3;
	memcpy(p + 17, "id!", 3);
	put_le16(p + 49, 62);
	put_le64(p + 56, 0x7ffff7d8a740);
	put_le64(p + 64, EV_CHILD);
	put_le64(p + 72, 123456789012);
	put_le32(p + 80, 6);
	memcpy(p + 84, "ae.out", 6);
	put_le64(p + 96, ev_checksum(p, 96));
	for (int i = 0; i < 40; i++)
		body[i] = (uint8_t)(i * 7);
	n += put(p + n, "AEch", body, 5);
	n += put(p + n, "AEch", body, 40);
	put_le32(end, EV_SIGNAL);
	put_le32(end + 4, 11);
	put_le64(end + 8, 45);
	put_le64(end + 32, 0x20010);
	return n + put(p + n, "AEnd", end, EV_ENDLEN);
}

/* All payload bytes handed over; *err as the reader's */
static long
read_all(const uint8_t *p, size_t n, const char **err, uint64_t *off)
{
	uint8_t *q = malloc(n ? n : 1);
	struct src s = {q, n};
	struct ev_reader r;
	const uint8_t *b;
	long k, sum = 0;

	memcpy(q, p, n);
	if (ev_open(&r, from, &s) == 0)
		while ((k = ev_next(&r, &b)) > 0)
			for (long i = 0; i < k; i++, sum++)
				if (sum < 5 ? b[i] != sum * 7 : b[i] != (uint8_t)((sum - 5) * 7))
					sum = 1000000;
	*err = r.err;
	*off = r.erroff;
	ev_close(&r);
	free(q);
	return sum;
}

int
main(int argc, char **argv)
{
	static const char abc[] = "abc";
	uint8_t p[512], q[512];
	size_t n = make(p);
	unsigned cut = 1, flip = 1, zero = 1;
	const char *err;
	uint64_t off;
	struct src s = {p, n};
	struct ev_reader r;
	const uint8_t *b;

	if (argc > 1 && strcmp(argv[1], "example") == 0)
		return fwrite(p, 1, n, stdout) != n;    /* what ae.out(5) shows */
	CHECK("checksum of nothing", ev_checksum(p, 0) == UINT64_C(0x8e2f5955fbc6275d));
	CHECK("checksum of 3 bytes", ev_checksum((const uint8_t *)abc, 3) == UINT64_C(0xca80b825251d1b4));
	CHECK("header", ev_open(&r, from, &s) == 0 && r.head.idlen == 3 && memcmp(r.head.id, "id!", 3) == 0 &&
	    r.head.machine == 62 && r.head.fs == 0x7ffff7d8a740 && r.head.parent_pos == 123456789012 &&
	    strcmp(r.head.parent, "ae.out") == 0);
	CHECK("first chunk", ev_next(&r, &b) == 5 && r.payload_off == 120 && !r.last);
	CHECK("second chunk", ev_next(&r, &b) == 40 && r.payload_off == 141 && r.last);
	CHECK("end", ev_next(&r, &b) == 0 && r.ended && r.end.reason == EV_SIGNAL && r.end.sig == 11 &&
	    r.end.rip == 0x20010);
	ev_close(&r);
	for (size_t i = 0; i < n; i++) {
		long sum = read_all(p, i, &err, &off);
		long want = i < 120 ? 0 : i < 125 ? (long)i - 120 : i < 141 ? 5 : i < 181 ? (long)i - 136 :
		    45;

		if (sum != want || !err || off != i) {
			printf("# %zu: %ld bytes, %s at %llu\n", i, sum, err ? err :
			    "no error", (unsigned long long)off);
			cut = 0;
		}
	}
	CHECK("cut off anywhere: all bytes before, then an error there", cut);
	for (size_t i = 0; i < n; i++) {
		for (unsigned bit = 0; bit < 8; bit++) {
			memcpy(q, p, n);
			q[i] ^= (uint8_t)(1u << bit);
			read_all(q, n, &err, &off);
			flip &= err != NULL;
		}
	}
	CHECK("a changed bit anywhere is an error", flip);
	for (size_t i = 16; i < 56; i++) {
		memcpy(q, p, n);
		q[i] |= 0x80;
		put_le64(q + 96, ev_checksum(q, 96));
		read_all(q, n, &err, &off);
		zero &= err != NULL || (i >= 17 && i < 20) || i == 49 || i == 50;
	}
	CHECK("a byte that should be 0, behind the build id and the machine", zero);
	memcpy(q, p, n);
	q[n] = 0;
	CHECK("a byte behind the end", read_all(q, n + 1, &err, &off) == 45 && err && off == n);
	CHECK("numbers of functions", ev_funcno(0) == 1 && ev_funcno(251) == 252 &&
	    ev_funcno(252) == (1 << 8 | 1) &&
	    ev_funcno(256 * 252 - 1) == (255 << 8 | 252));
	return check_end();
}
