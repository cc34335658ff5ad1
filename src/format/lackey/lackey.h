/*
 * The log of valgrind --tool=lackey --trace-mem=yes as a source of packed references, in the
 * conventions of ref(5): the load that lackey prints before the modify of a locked instruction is
 * left out, and an access of more than REF_SIZEMAX bytes comes in pieces of REF_PIECE.
 *
 * Lines that are not references (==pid==, the program's own output) are skipped. A line that begins
 * like a reference but does not end like one is a fault.
 */
#ifndef TM_FORMAT_LACKEY_LACKEY_H
#define TM_FORMAT_LACKEY_LACKEY_H

#include <stddef.h>
#include <stdint.h>

#include "base/in.h"

#define LACKEY_MIN 16u          /* the fewest words of room for lackey_read */

struct lackey {
	struct in *in;          /* borrowed */
	uint64_t nrec;          /* words returned */
	uint64_t off;           /* after -1: byte offset of the fault */
	const char *err;        /* after -1: the message; static or owned by in */
	uint64_t held;          /* a load that may turn out to belong to a modify */
	int holding;
	int inlong;             /* inside a line longer than the buffer */
};

void lackey_open(struct lackey *l, struct in *in);
/* 1 to max words (max >= LACKEY_MIN); 0 at the end; -1 fault */
long lackey_read(struct lackey *l, uint64_t *w, size_t max);

#endif
