/*
 * What is wrong with a file, and where. Rooms that may not print fill in a struct fault and return
 * an error; a tool prints it with die_fault (diag.h).
 */
#ifndef TM_BASE_FAULT_H
#define TM_BASE_FAULT_H

#include <stdint.h>

struct fault {
	uint64_t off;           /* byte of the file, or UINT64_MAX: unknown */
	uint64_t rec;           /* record (of a .wet file: section), or UINT64_MAX: unknown */
	uint64_t line;          /* of a text, from 1; off and rec mean nothing then.  0: not a text */
	int output;             /* the file at fault is the one being written, not the one being read */
	char err[280];          /* one line, without the end of line */
};

/* Formats err like printf; a message that does not fit is cut. */
void fault_set(struct fault *f, uint64_t off, uint64_t rec, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/*
 * For a function that failed, where failures without a message are memory that ran out: says so
 * unless err has a message.  -1
 */
int fault_nomem(struct fault *f);

#endif
