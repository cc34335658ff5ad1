/*
 * Between the two processes of a handle. The reading process puts messages into slots of memory that
 * both share; a byte on a socket tells that the next slot is full, or empty again. The end of the
 * socket tells either of them that the other is gone.
 */
#ifndef TM_LIB_INTERNAL_H
#define TM_LIB_INTERNAL_H

#include "lib/tracemill.h"

#define FEED_SLOTS 4u
#define FEED_WORDS 32768u               /* of a slot */
#define INSN_HEAD  5u                   /* words before the value of an instruction */

enum feed_kind {
	FEED_HEAD = 1,                  /* first: type, fields, length */
	FEED_DATA,                      /* words: references, or numbers of records */
	FEED_FLOW,                      /* statement and pc of each executed instruction */
	/* of each: INSN_HEAD words: statement, pc, instance, numbers of words of its value and of its
	 * references; then these words */
	FEED_INSNS,
	FEED_ERROR, FEED_WARNING,       /* text */
	FEED_END
};

struct feed_slot {
	uint32_t kind, n;               /* n: words in use */
	uint64_t word[FEED_WORDS];
};

/* What the reading process is to do. */
struct feed_plan {
	const char *path, *events;
	uint64_t from;                  /* as tracemill_seek */
	uint32_t statement;             /* as tracemill_select */
};

/* The reading process: does it all, and never returns. */
_Noreturn void feed_run(const struct feed_plan *p, struct feed_slot *slots, int fd);

#endif
