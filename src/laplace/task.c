/* Tasks, processes and address spaces: their creation, sharing and end. */
#include <stdlib.h>

#include "laplace/laplace_internal.h"

struct lap_task *
lap_task_get(struct lap_model *m, uint64_t pid)
{
	struct lap_task *t = lap_table_get(&m->tasks, pid, 0, 0);

	if (!t)
		lap_bad_num(m, "a task that nobody announced", pid);
	return t;
}

static struct lap_proc *
proc_new(struct lap_model *m, uint64_t pid)
{
	struct lap_proc *p = calloc(1, sizeof *p);

	if (!p)
		lap_fatal(m, "no memory");
	else
		p->pid = pid;
	return p;
}

struct lap_task *
lap_task_announce(struct lap_model *m, uint64_t pid)
{
	struct lap_task *t = lap_table_get(&m->tasks, pid, 0, 0);

	if (t)
		return t;
	if (lap_table_room(&m->tasks) != 0 || !(t = calloc(1, sizeof *t))) {
		lap_fatal(m, "no memory");
		return NULL;
	}
	t->pid = pid;
	t->proc = proc_new(m, pid);
	if (!t->proc) {
		free(t);
		return NULL;
	}
	t->proc->ntask = 1;
	lap_table_put(&m->tasks, pid, 0, 0, t);
	return t;
}

struct lap_space *
lap_space_get(struct lap_model *m, uint64_t id)
{
	struct lap_space *s = lap_table_get(&m->spaces, id, 0, 0);

	if (!s)
		lap_bad_num(m, "an address space that nobody announced", id);
	return s;
}

struct lap_space *
lap_space_announce(struct lap_model *m, uint64_t id)
{
	struct lap_space *s = lap_table_get(&m->spaces, id, 0, 0);

	if (s)
		return s;
	if (lap_table_room(&m->spaces) != 0 || !(s = calloc(1, sizeof *s))) {
		lap_fatal(m, "no memory");
		return NULL;
	}
	s->id = id;
	s->epoch = 1;
	lap_table_put(&m->spaces, id, 0, 0, s);
	return s;
}

void
lap_space_end(struct lap_model *m, struct lap_space *s)
{
	lap_range_unmap(m, s, 0, LAP_PAGES);
	if (s->proc)
		s->proc->space = NULL;
	lap_table_del(&m->spaces, s->id, 0, 0);
	free(s);
}

/* Leaves the task's address space; the last task ends it. */
static void
leave_space(struct lap_model *m, struct lap_task *t)
{
	struct lap_space *s = t->space;

	t->space = NULL;
	if (s && --s->ntask == 0)
		lap_space_end(m, s);
}

/* A process that ends lives until the next event, so that the caller can look at it. */
static void
leave_proc(struct lap_model *m, struct lap_task *t)
{
	struct lap_proc *p = t->proc;

	if (--p->ntask)
		return;
	if (p->space)
		p->space->proc = NULL;
	p->space = NULL;
	free(m->deadproc);
	m->deadproc = p;
}

int
lap_task_assign(struct lap_model *m, struct lap_task *t, struct lap_space *s)
{
	struct lap_proc *p = s->proc;

	if (t->space == s)
		return 0;
	if (!p && t->proc->ntask == 1)
		p = t->proc;
	else if (!p && !(p = proc_new(m, t->pid)))
		return -1;
	s->ntask++;
	leave_space(m, t);
	t->space = s;
	if (p != t->proc) {
		leave_proc(m, t);
		t->proc = p;
		t->user = NULL;
		p->ntask++;
	}
	if (p->space && p->space != s)
		p->space->proc = NULL;
	p->space = s;
	s->proc = p;
	return 0;
}

/*
 * exec: unmaps everything.  A space that no other task uses stays the task's until it is
 * assigned another one.
 */
void
lap_task_exec(struct lap_model *m, struct lap_task *t)
{
	struct lap_space *s = t->space;

	if (!s)
		return;
	if (s->ntask == 1) {
		lap_range_unmap(m, s, 0, LAP_PAGES);
	} else {
		s->ntask--;
		t->space = NULL;
	}
}

void
lap_task_exit(struct lap_model *m, struct lap_task *t)
{
	if (m->running == t)
		m->running = NULL;
	leave_space(m, t);
	leave_proc(m, t);
	lap_table_del(&m->tasks, t->pid, 0, 0);
	m->dead = t;
}

void
lap_free_dead(struct lap_model *m)
{
	free(m->dead);
	free(m->deadproc);
	m->dead = NULL;
	m->deadproc = NULL;
}
