/* The threads of a replayed program: which one runs, and events of tasks between the references of each. */
#include "format/ref/ref.h"
#include "replay/guest/replay_internal.h"

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
