/* Event files made by test programs: ae.out(5). */
#ifndef TESTDATA_EVENTFILE_H
#define TESTDATA_EVENTFILE_H

#include "base/buf.h"
#include "base/bytes.h"
#include "format/ae/events.h"

static inline void
event_record(struct buf *b, const char *magic, const uint8_t *p, size_t n)
{
	buf_add(b, magic, 4);
	buf_le32(b, (uint32_t)n);
	buf_le64(b, ev_checksum(p, n));
	buf_add(b, p, n);
}

/* n bytes of events in chunks of `size`, and how the run ended */
static inline void
event_chunks(struct buf *b, const uint8_t *p, size_t n, size_t size, uint32_t reason, uint32_t sig)
{
	uint8_t end[EV_ENDLEN] = { 0 };

	for (size_t i = 0; i < n; i += size)
		event_record(b, "AEch", p + i, n - i < size ? n - i : size);
	put_le32(end, reason);
	put_le32(end + 4, sig);
	put_le64(end + 8, n);
	event_record(b, "AEnd", end, EV_ENDLEN);
}

/* The header of a run without a parent, for that machine (ELF's number) */
static inline void
event_header(struct buf *b, unsigned machine)
{
	buf_str(b, EV_MAGIC);
	buf_le32(b, EV_VERSION);
	buf_le32(b, EV_HEADMIN);
	for (int i = 16; i < EV_HEADMIN - 8; i++)
		buf_u8(b, i == 48 ? (uint8_t)(machine >> 8) : i == 49 ? (uint8_t)machine : i == 56 ? 64 : 0);
	buf_le64(b, ev_checksum(b->p, EV_HEADMIN - 8));
}

#endif
