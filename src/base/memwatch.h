/*
 * A bound on the memory that this process fills. Memory that is mapped but not filled is not
 * counted. It is checked every 50 milliseconds of processor time.
 */
#ifndef TM_BASE_MEMWATCH_H
#define TM_BASE_MEMWATCH_H

#include <stdint.h>

/* The bound: 3/4 of the machine's memory, or what TRACEMILL_MEMORY says.  -1: that is no number of bytes */
int memwatch_bound(uint64_t *n);
const char *memwatch_start(void);       /* NULL, or the message why it failed */
void memwatch_jobs(unsigned n);         /* before memwatch_start: n processes share the bound */
/* NULL, or the message that the bound was reached. The process is ended if it does not ask in time. */
const char *memwatch_exceeded(void);

#endif
