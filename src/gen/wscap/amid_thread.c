/* Threads of a process that is captured from the middle of its run.  All are stopped; the first has the turn. */
#include "gen/wscap/amid.h"
#include "gen/wscap/thread.h"

/* does f for each of the other threads, which is loaded meanwhile */
static const char *
amid_others(struct cap *c, const char *(*f)(struct cap *c, struct thread *t))
{
	struct thread *first = c->th->turn;
	const char *why = NULL;

	thread_save(c, first);
	for (struct thread *t = c->th->all; t && !why; t = t->next) {
		if (t == first)
			continue;
		thread_load(c, t);
		why = f(c, t);
		thread_save(c, t);
	}
	thread_load(c, first);
	return why;
}

static const char *
amid_leave(struct cap *c, struct thread *t)
{
	(void)t;
	return vdso_leave(c, &c->all->vdso);
}

const char *
amid_threads_leave(struct cap *c)
{
	return c->all->vdso.n ? amid_others(c, amid_leave) : NULL;
}

static const char *
amid_prepare_one(struct cap *c, struct thread *t)
{
	struct user_regs_struct g;
	const char *why;

	c->t.site = c->all->vdso.site;
	c->amid.vdso = c->all->vdso.n != 0;
	why = amid_own(c, &g);
	thread_place(c, &t->place);
	aside_room(c, t);
	return why;
}

const char *
amid_threads_prepare(struct cap *c)
{
	aside_room(c, c->th->turn);
	return amid_others(c, amid_prepare_one);
}

static const char *
amid_settle_one(struct cap *c, struct thread *t)
{
	(void)t;
	amid_settle(&c->t);
	return NULL;
}

void
amid_threads_settle(struct cap *c)
{
	(void)amid_others(c, amid_settle_one);
}
