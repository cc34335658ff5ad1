/* Jobs for several threads, handed back in the order in which they were added. */
#ifndef TM_BASE_POOL_H
#define TM_BASE_POOL_H

#include <stddef.h>

struct par;

/* The work of a job. thread is 0 to nthread - 1; no two calls run at the same time with the same one. */
typedef void pool_work(void *arg, unsigned thread, void *job);

/* With nthread 1, no thread is started and pool_submit does the work. NULL without memory or threads. */
struct par *pool_new(unsigned nthread, pool_work *work, void *arg);
/* the same with room for that many jobs that are not handed back yet, not two for each thread */
struct par *pool_new_room(unsigned nthread, size_t room, pool_work *work, void *arg);
int pool_is_full(const struct par *p);
void pool_submit(struct par *p, void *job);     /* not when it is full */
/* waits for the oldest job and returns it; NULL if there is none */
void *pool_wait(struct par *p);
void pool_free(struct par *p);                  /* waits for jobs that have begun, drops the others */

#endif
