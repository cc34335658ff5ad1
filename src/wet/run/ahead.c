/*
 * Reads dependences of segments ahead of a slice.  Each job has a reader and
 * the arrays of one segment: one job is that of the segment that was asked for
 * last, the others are of those that come next.
 */
#include "wet/run/ahead.h"

#include <stdlib.h>
#include <string.h>

#include "base/pool.h"

struct ahead_job {
	struct store_read in;
	struct links links;
	size_t k;                       /* its segment */
	uint64_t about;                 /* as of ahead_get */
	int open, bad, none;            /* none: nothing depends on `about` */
	struct ahead_job *next;         /* of those that are free */
};

struct ahead {
	const struct run *r;
	const struct store_read *in;
	struct links_code code;
	unsigned njob, nthread;
	struct ahead_job *job;          /* njob; owned */
	struct ahead_job *free, *now;   /* now: that of the last call */
	struct par *pool;               /* NULL: not started */
	size_t last;                    /* the segment of the last call plus 1; 0: none */
	size_t next;                    /* the segment of the next job; if there is none, it ends the run */
	uint64_t about;                 /* of the last call */
	int back;                       /* after that come the segments before it, not those after it */
};

static void
ahead_work(void *arg, unsigned thread, void *job)
{
	const struct ahead *a = arg;
	struct ahead_job *j = job;
	int got;

	(void)thread;
	j->bad = !j->open && store_read_share(&j->in, a->in) != 0;
	j->open = 1;
	if (j->bad) {
		store_read_close(&j->in);
		j->open = 0;
		return;
	}
	run_counts_before(a->r, j->k, j->in.count);
	got = store_read_deps_on(&j->in, j->k, j->about);
	j->none = got == 0;
	j->bad = got < 0 || (got && links_fill(&j->links, &j->in, &a->code) != 0);
}

struct ahead *
ahead_new(const struct run *r, const struct store_read *in, unsigned nthread)
{
	struct ahead *a = calloc(1, sizeof *a);

	if (!a)
		return NULL;
	*a = (struct ahead){ .r = r, .in = in, .nthread = nthread, .njob = nthread + 1,
		.job = calloc(nthread + 1, sizeof *a->job), .code.first = r->first };
	if (!a->job || links_code_init(&a->code, r->code) != 0) {
		ahead_free(a);
		return NULL;
	}
	for (unsigned i = 0; i < a->njob; i++) {
		a->job[i].next = a->free;
		a->free = &a->job[i];
	}
	return a;
}

static void
ahead_release(struct ahead *a, struct ahead_job *j)
{
	if (j) {
		j->next = a->free;
		a->free = j;
	}
}

/* Gives the threads the next segments, as far as there are jobs, or only one of them. */
static void
ahead_submit(struct ahead *a, int one)
{
	while (a->free && a->next < a->r->nseg && !pool_is_full(a->pool)) {
		struct ahead_job *j = a->free;

		a->free = j->next;
		j->k = a->next;
		j->about = a->about;
		a->next = a->back ? a->next - 1 : a->next + 1;
		pool_submit(a->pool, j);
		if (one)
			break;
	}
}

/* Is the job that of segment k, with all that is asked? */
static int
ahead_answers(const struct ahead *a, const struct ahead_job *j, size_t k)
{
	return j->k == k && (!j->about || j->about == a->about);
}

/* Waits for the job of segment k; others are dropped.  follows: the next segments will be asked for, too */
static struct ahead_job *
ahead_wait(struct ahead *a, size_t k, int follows)
{
	struct ahead_job *j;

	if (follows)
		ahead_submit(a, 0);
	while ((j = pool_wait(a->pool)) != NULL && !ahead_answers(a, j, k))
		ahead_release(a, j);
	if (j)
		return j;
	a->next = k;
	ahead_submit(a, !follows);
	return pool_wait(a->pool);
}

static int
ahead_result(const struct ahead *a, const struct links **l, const struct col **path, struct fault *f)
{
	if (a->now->bad)
		*f = a->now->in.fault;
	*l = a->now->none ? NULL : &a->now->links;
	*path = &a->now->in.path;
	return a->now->bad ? -1 : 0;
}

int
ahead_get(struct ahead *a, size_t k, uint64_t about, const struct links **l, const struct col **path,
    struct fault *f)
{
	int follows = a->last && (a->last == k + 2 || a->last == k);

	a->about = about;
	if (a->now && a->last == k + 1 && ahead_answers(a, a->now, k))
		return ahead_result(a, l, path, f);
	ahead_release(a, a->now);
	a->now = NULL;
	if (follows)
		a->back = a->last == k + 2;
	if (!a->pool && a->nthread > 1 && follows) {
		a->pool = pool_new(a->nthread, ahead_work, a);
		a->next = k;
	}
	a->last = k + 1;
	if (a->pool) {
		a->now = ahead_wait(a, k, follows);
	} else {
		a->now = a->free;
		a->free = a->now->next;
		a->now->k = k;
		a->now->about = about;
		ahead_work(a, 0, a->now);
	}
	return ahead_result(a, l, path, f);
}

void
ahead_free(struct ahead *a)
{
	if (!a)
		return;
	pool_free(a->pool);
	for (unsigned i = 0; a->job && i < a->njob; i++) {
		if (a->job[i].open)
			store_read_close(&a->job[i].in);
		links_free(&a->job[i].links);
	}
	free(a->job);
	free(a->code.step);
	free(a);
}
