/*
 * What is wrong with a file, and where.  Rooms that may not print fill one in and return an error;
 * a tool says it with die_fault (diag.h).
 */
#ifndef TM_BASE_FAULT_H
#define TM_BASE_FAULT_H

#include <stdint.h>

struct fault {
	uint64_t off;           /* byte of the file */
	uint64_t rec;           /* record (of a .wet file: section), or UINT64_MAX: none is to blame */
	char err[160];          /* one line */
};

/* err as printf makes it; what does not fit is left out */
void fault_set(struct fault *f, uint64_t off, uint64_t rec, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

#endif
