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
int pool_is_done(struct par *p);                /* is there an oldest job, and is it done? */

/*
 * A job beside those: a thread that is free takes it before them, and it is waited for by itself. The caller
 * keeps it until then, or until the pool is freed.
 */
struct pool_beside {
	pool_work *work;                /* with arg NULL */
	void *job;
	struct pool_beside *next;
	int done;
};

void pool_beside(struct par *p, struct pool_beside *b);         /* work and job are set */
int pool_beside_is_done(struct par *p, const struct pool_beside *b);
void pool_beside_wait(struct par *p, const struct pool_beside *b);

#endif
