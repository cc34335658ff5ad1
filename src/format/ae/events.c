/* Reader of event files; see events.h. */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "format/ae/events.h"

static uint64_t
events_rotl(uint64_t v, unsigned n)
{
	return v << n | v >> (64 - n);
}

static uint64_t
events_mix(uint64_t h, uint64_t w)
{
	h = (h ^ w) * 0x9FB21C651E98DF25u;
	return h ^ h >> 32;
}

uint64_t
ev_checksum(const uint8_t *p, size_t n)
{
	uint64_t h[4], x;
	uint8_t tail[32] = {0};
	size_t i;

	for (i = 0; i < 4; i++)
		h[i] = 0x9E3779B97F4A7C15u * (i + 1);
	for (i = 0; i + 32 <= n; i += 32) {
		h[0] = events_mix(h[0], get_le64(p + i));
		h[1] = events_mix(h[1], get_le64(p + i + 8));
		h[2] = events_mix(h[2], get_le64(p + i + 16));
		h[3] = events_mix(h[3], get_le64(p + i + 24));
	}
	if (i < n) {
		memcpy(tail, p + i, n - i);
		for (i = 0; i < 4; i++)
			h[i] = events_mix(h[i], get_le64(tail + 8 * i));
	}
	x = (h[0] + events_rotl(h[1], 13) + events_rotl(h[2], 29) + events_rotl(h[3], 43)) ^ n;
	x ^= x >> 29;
	x *= 0x9E3779B97F4A7C15u;
	return x ^ x >> 32;
}

const char *
ev_machine(unsigned machine)
{
	return machine == EM_X86_64 ? "x86-64" : machine == EM_MIPS ? "MIPS" : NULL;
}

static int
events_fail(struct ev_reader *r, uint64_t off, const char *what)
{
	if (!r->err) {
		r->err = what;
		r->erroff = off;
	}
	return -1;
}

static size_t
events_fill(struct ev_reader *r, void *p, size_t n)
{
	size_t got = r->read(r->arg, p, n);

	r->off += got;
	return got;
}

static int
all_zero(const uint8_t *p, size_t n)
{
	while (n && *p == 0) {
		p++;
		n--;
	}
	return n == 0;
}

/* Every bit of the header has one meaning: unused ones are zero. */
static int
parse_header(struct ev_reader *r, const uint8_t *p, size_t len)
{
	struct ev_header *h = &r->head;
	uint32_t n = get_le32(p + 80);

	if (get_le64(p + len - 8) != ev_checksum(p, len - 8))
		return events_fail(r, len - 8, "wrong checksum of the header");
	h->idlen = p[16];
	if (h->idlen > EV_IDMAX || !all_zero(p + 17 + h->idlen, 32 - h->idlen))
		return events_fail(r, 16, "bad build id");
	memcpy(h->id, p + 17, h->idlen);
	h->machine = get_le16(p + 49);
	if (!all_zero(p + 51, 5))
		return events_fail(r, 51, "bytes of the header that should be 0");
	h->fs = get_le64(p + 56);
	h->flags = get_le64(p + 64);
	h->parent_pos = get_le64(p + 72);
	if (h->flags & ~(uint64_t)EV_CHILD)
		return events_fail(r, 64, "unknown flags");
	if (!(h->flags & EV_CHILD) && (h->parent_pos || n))
		return events_fail(r, 72, "parent of a process that was not forked");
	if (n > len - 92 || (84 + (size_t)n + 7) / 8 * 8 + 8 != len)
		return events_fail(r, 80, "bad length of the parent's name");
	memcpy(h->parent, p + 84, n);
	if (memchr(h->parent, 0, n) || !all_zero(p + 84 + n, len - 92 - n))
		return events_fail(r, 84, "bad name of the parent");
	return 0;
}

int
ev_open(struct ev_reader *r, ev_read_fn *read, void *arg)
{
	uint8_t head[EV_HEADMAX];
	size_t len, got;

	memset(r, 0, sizeof *r);
	r->read = read;
	r->arg = arg;
	got = events_fill(r, head, 16);
	if (got == 0)
		return events_fail(r, 0, "empty, not an event file");
	if (memcmp(head, EV_MAGIC, got < 8 ? got : 8) != 0)
		return events_fail(r, 0, "not an event file");
	if (got < 16)
		return events_fail(r, got, "header ends early");
	if (get_le32(head + 8) != EV_VERSION)
		return events_fail(r, 8, "event file of an unknown version");
	len = get_le32(head + 12);
	if (len < EV_HEADMIN || len > EV_HEADMAX || len % 8)
		return events_fail(r, 12, "bad length of the header");
	got = events_fill(r, head + 16, len - 16);
	if (got < len - 16)
		return events_fail(r, r->off, "header ends early");
	if (parse_header(r, head, len) != 0)
		return -1;
	r->payload = malloc(EV_CHUNKMAX);
	if (!r->payload)
		return events_fail(r, r->off, "out of memory");
	return 0;
}

void
ev_close(struct ev_reader *r)
{
	free(r->payload);
	r->payload = NULL;
}

/* Reads the end record, whose frame has been read. */
static int
read_end(struct ev_reader *r)
{
	uint64_t off = r->off - 16;
	uint8_t b[EV_ENDLEN + 1];
	size_t got;

	if (get_le32(r->frame + 4) != EV_ENDLEN)
		return events_fail(r, off + 4, "bad length of the end record");
	got = events_fill(r, b, EV_ENDLEN);
	if (got < EV_ENDLEN)
		return events_fail(r, r->off, "end record ends early");
	if (get_le64(r->frame + 8) != ev_checksum(b, EV_ENDLEN))
		return events_fail(r, off + 8, "wrong checksum of the end record");
	r->end.reason = get_le32(b);
	r->end.sig = get_le32(b + 4);
	r->end.nbytes = get_le64(b + 8);
	r->end.nthread = get_le64(b + 16);
	r->end.nhandler = get_le64(b + 24);
	r->end.rip = get_le64(b + 32);
	r->end.addr = get_le64(b + 40);
	r->end.access = get_le32(b + 48);
	r->end.tail = get_le32(b + 52);
	if (r->end.reason >= EV_NREASONS || r->end.access >= EV_NACCESSES ||
	    !all_zero(b + 40, r->end.reason == EV_SIGNAL && r->end.access ? 0 : 16) ||
	    !all_zero(b + 56, EV_ENDLEN - 56) || r->end.tail > r->nlast)
		return events_fail(r, off + 16, "bad end record");
	if (r->end.nbytes != r->nbytes)
		return events_fail(r, off + 24, "the end record counts other events than there are");
	if (events_fill(r, b, 1) != 0)
		return events_fail(r, r->off - 1, "bytes after the end record");
	r->ended = 1;
	return 0;
}

/*
 * A chunk may be followed by zeros up to the next page of the file; then r->frame begins with some
 * of them. Skips them and completes the frame. Returns how many of its bytes are there, and where
 * it starts.
 */
static size_t
skip_padding(struct ev_reader *r, size_t got, uint64_t *off)
{
	size_t pad = EV_PAGE - (size_t)(*off % EV_PAGE), k = pad < got ? pad : got;
	uint8_t zeros[EV_PAGE];

	if (got == 0 || r->frame[0] != 0 || *off % EV_PAGE == 0 || r->nbytes == 0 || !all_zero(r->frame, k))
		return got;
	if (pad > k) {
		size_t more = events_fill(r, zeros, pad - k);

		if (!all_zero(zeros, more))
			return got;
		k = got;
		if (more < pad - got)
			return 0;
	}
	memmove(r->frame, r->frame + k, got - k);
	*off += pad;
	return got - k + events_fill(r, r->frame + got - k, 16 - (got - k));
}

/* Reads the frame of the next chunk or end record; sets `last` when no chunk follows. */
static void
read_frame(struct ev_reader *r)
{
	uint64_t off = r->off;
	size_t got = events_fill(r, r->frame, 16);
	uint32_t n;

	r->last = 1;
	r->have_frame = 0;
	got = skip_padding(r, got, &off);
	if (got < 16) {
		events_fail(r, r->off, got ? "chunk ends early" : "no end record: the file is truncated");
		return;
	}
	n = get_le32(r->frame + 4);
	if (memcmp(r->frame, "AEnd", 4) == 0)
		read_end(r);
	else if (memcmp(r->frame, "AEch", 4) != 0)
		events_fail(r, off, "neither a chunk nor the end record");
	else if (n == 0 || n > EV_CHUNKMAX)
		events_fail(r, off + 4, "bad length of a chunk");
	else {
		r->have_frame = 1;
		r->last = 0;
	}
}

long
ev_next(struct ev_reader *r, const uint8_t **p)
{
	size_t n, got;

	if (!r->have_frame && !r->last && !r->err)
		read_frame(r);
	if (!r->have_frame)
		return r->err ? -1 : 0;
	n = get_le32(r->frame + 4);
	r->payload_off = r->off;
	got = events_fill(r, r->payload, n);
	*p = r->payload;
	if (got == n && get_le64(r->frame + 8) != ev_checksum(r->payload, n)) {
		r->have_frame = 0;
		r->last = 1;
		return events_fail(r, r->payload_off - 8, "wrong checksum of a chunk");
	}
	r->nbytes += got;
	r->nlast = got;
	if (got < n) {
		r->have_frame = 0;
		r->last = 1;
		events_fail(r, r->off, "chunk ends early");
		return got ? (long)got : -1;
	}
	read_frame(r);
	return (long)n;
}
