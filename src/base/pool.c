/*
 * A pool of threads: a ring of jobs. `get` counts the jobs handed back, `next` those taken by
 * threads, `put` those added.
 */
#include "base/pool.h"

#include <pthread.h>
#include <stdlib.h>

struct slot {
	void *job;
	int done;
};

struct par {
	unsigned nthread, started;
	pool_work *work;
	void *arg;
	struct slot *ring;              /* owned: room */
	size_t room, get, next, put;    /* counts; a job is in slot count % room */
	struct pool_beside *beside, **last;     /* those that wait for a thread, in order */
	int quit;
	pthread_mutex_t lock;
	pthread_cond_t more, done;      /* only the caller waits for the second */
	pthread_t *thread;              /* owned */
};

struct start {
	struct par *p;
	unsigned no;
};

/* Does the oldest of those jobs; the lock is held, but not meanwhile. */
static void
beside_run(struct par *p, unsigned no)
{
	struct pool_beside *b = p->beside;

	p->beside = b->next;
	if (!p->beside)
		p->last = &p->beside;
	pthread_mutex_unlock(&p->lock);
	b->work(NULL, no, b->job);
	pthread_mutex_lock(&p->lock);
	b->done = 1;
	pthread_cond_signal(&p->done);
}

static void *
pool_run(void *arg)
{
	struct start s = *(struct start *)arg;
	struct par *p = s.p;

	free(arg);
	pthread_mutex_lock(&p->lock);
	for (;;) {
		struct slot *t;

		while (!p->quit && !p->beside && p->next == p->put)
			pthread_cond_wait(&p->more, &p->lock);
		if (p->quit)
			break;
		if (p->beside) {
			beside_run(p, s.no);
			continue;
		}
		t = &p->ring[p->next++ % p->room];
		pthread_mutex_unlock(&p->lock);
		p->work(p->arg, s.no, t->job);
		pthread_mutex_lock(&p->lock);
		t->done = 1;
		pthread_cond_signal(&p->done);
	}
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

static int
pool_begin(struct par *p)
{
	struct start *s = malloc(sizeof(*s));

	if (!s)
		return -1;
	*s = (struct start){ p, p->started };
	if (pthread_create(&p->thread[p->started], NULL, pool_run, s) != 0) {
		free(s);
		return -1;
	}
	p->started++;
	return 0;
}

struct par *
pool_new(unsigned nthread, pool_work *work, void *arg)
{
	return pool_new_room(nthread, nthread == 1 ? 1 : 2 * (size_t)nthread, work, arg);
}

struct par *
pool_new_room(unsigned nthread, size_t room, pool_work *work, void *arg)
{
	struct par *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->nthread = nthread;
	p->work = work;
	p->arg = arg;
	p->room = room;
	p->last = &p->beside;
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->more, NULL);
	pthread_cond_init(&p->done, NULL);
	p->ring = calloc(p->room, sizeof(*p->ring));
	p->thread = calloc(nthread, sizeof(*p->thread));
	if (!p->ring || !p->thread) {
		pool_free(p);
		return NULL;
	}
	for (unsigned i = 0; nthread > 1 && i < nthread; i++) {
		if (pool_begin(p) != 0) {
			pool_free(p);
			return NULL;
		}
	}
	return p;
}

int
pool_is_full(const struct par *p)
{
	return p->put - p->get == p->room;
}

void
pool_submit(struct par *p, void *job)
{
	struct slot *t = &p->ring[p->put % p->room];

	t->job = job;
	t->done = 0;
	if (p->nthread == 1) {
		p->work(p->arg, 0, job);
		t->done = 1;
		p->put++;
		return;
	}
	pthread_mutex_lock(&p->lock);
	p->put++;
	pthread_cond_signal(&p->more);
	pthread_mutex_unlock(&p->lock);
}

void *
pool_wait(struct par *p)
{
	struct slot *t = &p->ring[p->get % p->room];

	if (p->get == p->put)
		return NULL;
	if (p->nthread > 1) {
		pthread_mutex_lock(&p->lock);
		while (!t->done)
			pthread_cond_wait(&p->done, &p->lock);
		pthread_mutex_unlock(&p->lock);
	}
	p->get++;
	return t->job;
}

int
pool_is_done(struct par *p)
{
	int done;

	if (p->get == p->put)
		return 0;
	pthread_mutex_lock(&p->lock);
	done = p->ring[p->get % p->room].done;
	pthread_mutex_unlock(&p->lock);
	return done;
}

void
pool_beside(struct par *p, struct pool_beside *b)
{
	b->next = NULL;
	b->done = 0;
	if (p->nthread == 1) {
		b->work(NULL, 0, b->job);
		b->done = 1;
		return;
	}
	pthread_mutex_lock(&p->lock);
	*p->last = b;
	p->last = &b->next;
	pthread_cond_signal(&p->more);
	pthread_mutex_unlock(&p->lock);
}

int
pool_beside_is_done(struct par *p, const struct pool_beside *b)
{
	int done;

	pthread_mutex_lock(&p->lock);
	done = b->done;
	pthread_mutex_unlock(&p->lock);
	return done;
}

void
pool_beside_wait(struct par *p, const struct pool_beside *b)
{
	pthread_mutex_lock(&p->lock);
	while (!b->done)
		pthread_cond_wait(&p->done, &p->lock);
	pthread_mutex_unlock(&p->lock);
}

void
pool_free(struct par *p)
{
	if (!p)
		return;
	pthread_mutex_lock(&p->lock);
	p->quit = 1;
	pthread_cond_broadcast(&p->more);
	pthread_mutex_unlock(&p->lock);
	for (unsigned i = 0; i < p->started; i++)
		pthread_join(p->thread[i], NULL);
	pthread_cond_destroy(&p->done);
	pthread_cond_destroy(&p->more);
	pthread_mutex_destroy(&p->lock);
	free(p->ring);
	free(p->thread);
	free(p);
}
