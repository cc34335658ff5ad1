/*
 * The threads of a replayed program: which one runs, where the others are, and events of tasks between the
 * references of each.
 */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/search.h"
#include "format/ref/ref.h"
#include "replay/guest/replay_internal.h"

/* A thread that does not run.  Shared between the replay and its snapshots, and never changed. */
struct thread_state {
	uint64_t refs;
	struct ws_regs regs;
	size_t n;                       /* bytes of its processor state; those behind it are zero */
	uint8_t x[];
};

void
drive_tell_thread(struct replay *r)
{
	/* translated code always leaves room for some */
	if (r->x.out < r->x.end)
		*r->x.out++ = ref_make(REF_TASK, r->base + (r->thread - 1) * r->step, 0);
}

uint32_t
replay_thread(const struct replay *r)
{
	return r->thread;
}

/* Has the capture other threads after this place? */
static int
has_threads(struct replay *r)
{
	struct ws_mark *m = r->cut ? NULL : ws_mark(r->in, &r->next);
	struct ws_rec rec = r->next;
	int found = m && rec.kind == WS_SIG && rec.u.sig.sig == WS_SWITCH;

	if (!m)
		return 0;
	while (!found && ws_next(r->in, &rec) == 1)
		found = rec.kind == WS_SIG && rec.u.sig.sig == WS_SWITCH;
	if (ws_mark_return(r->in, m, &r->next) != 0)
		(void)drive_bad_file(r);
	ws_mark_free(m);
	return found;
}

void
replay_tasks(struct replay *r, uint64_t base, uint64_t step)
{
	r->tasks = 1;
	r->base = base;
	r->step = step;
	r->first = r->thread > 1 || has_threads(r);
}

void
drive_keep_threads(struct replay *r)
{
	r->parked.on = 1;
}

static void
state_drop(struct thread_state *t)
{
	if (t && --t->refs == 0)
		free(t);
}

/* The state of the thread that runs; NULL: no memory. */
static struct thread_state *
state_new(const struct replay *r)
{
	size_t n = RP_XSAVE;
	struct thread_state *t;

	while (n && !r->x.cpu.xsave[n - 1])
		n--;
	t = malloc(sizeof *t + n);
	if (!t)
		return NULL;
	t->refs = 1;
	t->n = n;
	drive_regs(r, &t->regs);
	memcpy(t->x, r->x.cpu.xsave, n);
	return t;
}

static size_t
parked_find(const struct drive_parked *p, uint32_t number)
{
	size_t i;

	LOWER_BOUND(i, p->n, p->at[i].number < number);
	return i;
}

/* The thread has this state from now on.  NULL: it has none, it has ended, or it runs. */
static int
parked_set(struct drive_parked *p, uint32_t number, struct thread_state *t)
{
	size_t i = parked_find(p, number);

	if (i < p->n && p->at[i].number == number) {
		state_drop(p->at[i].state);
		p->at[i].state = t;
		return 0;
	}
	if (!t)
		return 0;
	if (p->n == DRIVE_THREADS || buf_grow(&p->at, &p->cap, p->n + 1, sizeof *p->at) < 0) {
		state_drop(t);
		return p->n == DRIVE_THREADS ? 0 : -1;
	}
	memmove(p->at + i + 1, p->at + i, (p->n++ - i) * sizeof *p->at);
	p->at[i].number = number;
	p->at[i].state = t;
	return 0;
}

int
drive_park(struct replay *r, uint32_t next)
{
	struct thread_state *t = NULL;

	if (!r->parked.on)
		return 0;
	if ((!r->exits && (t = state_new(r)) == NULL) || parked_set(&r->parked, r->thread, t) != 0)
		return drive_bad(r, "no memory for the threads");
	return parked_set(&r->parked, next, NULL);
}

void
drive_parked_drop(struct drive_parked *p)
{
	for (size_t i = 0; i < p->n; i++)
		state_drop(p->at[i].state);
	free(p->at);
	*p = (struct drive_parked){ .on = p->on };
}

uint64_t
drive_parked_bytes(const struct drive_parked *p)
{
	uint64_t bytes = p->cap * sizeof *p->at;

	for (size_t i = 0; i < p->n; i++)
		if (p->at[i].state)
			bytes += sizeof *p->at[i].state + p->at[i].state->n;
	return bytes;
}

int
drive_parked_copy(struct drive_parked *to, const struct drive_parked *from)
{
	struct drive_parked copy = { .on = from->on };

	if (from->n && buf_grow(&copy.at, &copy.cap, from->n, sizeof *copy.at) < 0)
		return -1;
	for (size_t i = 0; i < from->n; i++) {
		if (!from->at[i].state)
			continue;
		copy.at[copy.n] = from->at[i];
		copy.at[copy.n++].state->refs++;
	}
	drive_parked_drop(to);
	*to = copy;
	return 0;
}

uint32_t
drive_next_thread(const struct replay *r, uint32_t after)
{
	const struct drive_parked *p = &r->parked;
	size_t i = after == UINT32_MAX ? p->n : parked_find(p, after + 1);

	while (i < p->n && !p->at[i].state)
		i++;
	if (r->thread > after && (i == p->n || r->thread < p->at[i].number))
		return r->thread;
	return i < p->n ? p->at[i].number : 0;
}

int
drive_thread(const struct replay *r, uint32_t number, struct ws_regs *regs, uint8_t *xsave)
{
	const struct drive_parked *p = &r->parked;
	size_t i = parked_find(p, number);
	const struct thread_state *t;

	if (number == r->thread) {
		drive_regs(r, regs);
		if (xsave)
			memcpy(xsave, r->x.cpu.xsave, RP_XSAVE);
		return 1;
	}
	if (i == p->n || p->at[i].number != number || (t = p->at[i].state) == NULL)
		return 0;
	*regs = t->regs;
	if (xsave) {
		memcpy(xsave, t->x, t->n);
		memset(xsave + t->n, 0, RP_XSAVE - t->n);
	}
	return 1;
}
