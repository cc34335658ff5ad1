/* Jobs done by several threads and handed back in the order in which they were given. */
#ifndef TM_BASE_POOL_H
#define TM_BASE_POOL_H

#include <stddef.h>

struct par;

/* thread: 0 to nthread - 1, no two calls at a time with the same one */
typedef void par_work(void *arg, unsigned thread, void *job);

/* nthread 1: no thread is started, par_put does the work.  NULL without memory or threads. */
struct par *par_new(unsigned nthread, par_work *work, void *arg);
int par_full(const struct par *p);
void par_put(struct par *p, void *job);         /* not when it is full */
void *par_get(struct par *p);                   /* the oldest job, when it is done; NULL: there is none */
void par_free(struct par *p);                   /* waits for work that has begun; drops the other jobs */

#endif
