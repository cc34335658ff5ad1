/*
 * A bound on the memory that this process fills. Memory that is mapped but not filled is not
 * counted. It is checked every 50 milliseconds of processor time.
 */
#ifndef TM_BASE_MEMWATCH_H
#define TM_BASE_MEMWATCH_H

const char *memwatch_start(void);       /* NULL, or the message why it failed */
void memwatch_jobs(unsigned n);         /* before memwatch_start: n processes share the bound */
/* NULL, or the message that the bound was reached. The process is ended if it does not ask in time. */
const char *memwatch_exceeded(void);

#endif
