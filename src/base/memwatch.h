/*
 * A bound of the memory that this process fills: what it maps without filling
 * it costs nothing and is not counted.  Looked at every 50 milliseconds of its
 * processor time.
 */
#ifndef TM_BASE_MEMWATCH_H
#define TM_BASE_MEMWATCH_H

const char *memwatch_start(void);       /* NULL, or what is amiss */
void memwatch_jobs(unsigned n);         /* before that: so many processes share the bound */
const char *memwatch_full(void);        /* NULL, or that the bound was reached, in words.  Who does not ask in time ends with them. */

#endif
