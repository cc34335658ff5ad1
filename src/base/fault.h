/*
 * What is wrong with a file, and where. Rooms that may not print fill in a struct fault and return
 * an error; a tool prints it with die_fault (diag.h).
 */
#ifndef TM_BASE_FAULT_H
#define TM_BASE_FAULT_H

#include <stdint.h>

struct fault {
	uint64_t off;           /* byte offset in the file */
	uint64_t rec;           /* record (of a .wet file: section); UINT64_MAX: no particular one */
	char err[160];          /* message, one line */
};

/* Formats err like printf; a message that does not fit is cut. */
void fault_set(struct fault *f, uint64_t off, uint64_t rec, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

#endif
