/*
 * Event files, ae.out(5), whose check sums are corrected before they are read: the bytes must not
 * depend on how they are read.
 */
#include "base/bytes.h"
#include "format/ae/events.h"
#include "fuzz.h"

struct source { const uint8_t *p; size_t n, at, most; };

static size_t
take(void *arg, void *buf, size_t n)
{
	struct source *s = arg;

	if (n > s->n - s->at)
		n = s->n - s->at;
	if (n)
		memcpy(buf, s->p + s->at, n);
	s->at += n;
	return n;
}

static void
mend(uint8_t *p, size_t n)
{
	size_t at, len;

	if (n < EV_HEADMIN)
		return;
	at = get_le32(p + 12);
	if (at < EV_HEADMIN || at > n)
		return;
	put_le64(p + at - 8, ev_checksum(p, at - 8));
	for (; n - at >= 16; at += 16 + len) {
		len = get_le32(p + at + 4);
		if (len > n - at - 16)
			break;
		put_le64(p + at + 8, ev_checksum(p + at + 16, len));
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	uint8_t *p = malloc(n + 1);
	struct source s = { p, n, 0, 0 };
	struct ev_reader r;
	const uint8_t *q;
	uint64_t sum = 0;
	long k;

	memcpy(p, data, n);
	mend(p, n);
	if (ev_open(&r, take, &s) == 0) {
		while ((k = ev_next(&r, &q)) > 0)
			for (long i = 0; i < k; i++)
				sum += q[i];
		if ((k < 0) != (r.err != NULL) || (k == 0 && !r.ended) || r.nbytes > n || (sum && !r.nbytes))
			abort();
	} else if (!r.err)
		abort();
	ev_close(&r);
	free(p);
	return 0;
}
