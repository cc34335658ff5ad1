/* Moves to places of a run, forward and back, and past faults of the capture. */
#include "replay/history/history_internal.h"

#define CHUNK 50000000u         /* instructions between two looks at the interrupt */

/* Runs forward; may: it may be interrupted.  A fault is the replay's. */
static int
move_on(struct history *h, struct history_at to, int may)
{
	for (;;) {
		struct history_at here = history_now(h);
		uint64_t icount = here.icount < to.icount ? to.icount : WS_UNKNOWN;
		uint64_t slice = here.icount + CHUNK;
		int e;

		if (!history_before(here, to))
			return REPLAY_OK;
		if (may && history_is_interrupted(h))
			return HISTORY_INTERRUPTED;
		if (here.icount >= h->due)
			history_keep(h);
		if (icount != WS_UNKNOWN) {
			slice = slice < h->due ? slice : h->due;
			icount = icount < slice ? icount : slice;
		}
		e = drive_run_to(h->r, icount, here.icount < to.icount ? WS_UNKNOWN : to.n);
		if (e != REPLAY_OK)
			return e;
	}
}

/* To the last snapshot before a place, or to the beginning. */
static int
move_to_snapshot(struct history *h, struct history_at to)
{
	const struct snap *s = history_kept(h, to);
	int e = s ? snap_return(h->r, s, h->pagemap) : drive_rewind(h->r);

	history_keep_due(h);
	return e == 0 ? REPLAY_OK : REPLAY_BAD;
}

/* As history_move, of a replay that may be bad. */
static int
move_at(struct history *h, struct history_at to, int may)
{
	struct history_at here = history_now(h);
	const struct snap *s = history_kept(h, to);
	uint64_t near = history_keep_near(h);
	int e = REPLAY_OK, there = drive_ended(h->r) == REPLAY_OK && !history_before(to, here);

	if (!there || (s && s->x.icount > here.icount + history_keep_worth(h)))
		e = move_to_snapshot(h, to);
	if (e == REPLAY_OK && !there && to.icount - replay_icount(h->r) > 4 * near) {
		/* the next move back will not be far */
		e = move_on(h, (struct history_at){ to.icount - near, 0 }, may);
		if (e == REPLAY_OK)
			history_keep(h);
	}
	return e == REPLAY_OK ? move_on(h, to, may) : e;
}

int
history_mend(struct history *h)
{
	struct fault why = *replay_fault(h->r), f;
	uint64_t at = replay_icount(h->r);
	int e = REPLAY_BAD;

	if (h->dead || h->broken)
		return history_dead(h, &why);
	h->endfault = why;
	for (unsigned less = 0; e != REPLAY_OK && less < 2 && less <= at; less++) {
		replay_close(h->r);
		h->narmed = 0;
		h->r = NULL;
		h->r = history_replay_at_start(h, &f);
		if (h->r == NULL)
			return history_dead(h, &f);
		e = move_at(h, (struct history_at){ at - less, 0 }, 0);
	}
	if (e != REPLAY_OK)
		return history_dead(h, &why);
	h->broken = 1;
	h->end = history_now(h);
	return REPLAY_END;
}

int
history_move_may(struct history *h, struct history_at to, int may)
{
	int beyond = h->broken && history_before(h->end, to);
	int e = move_at(h, beyond ? h->end : to, may);

	if (e == REPLAY_BAD)
		return history_mend(h);
	return e == REPLAY_OK && beyond ? REPLAY_END : e;
}

int
history_move(struct history *h, struct history_at to)
{
	return history_move_may(h, to, 0);
}

int
history_micro(struct history *h)
{
	struct history_at here = history_now(h);
	int e;

	if (h->broken && !history_before(here, h->end))
		return REPLAY_END;
	e = drive_run_to(h->r, here.icount + 1, here.n + 1);
	return e == REPLAY_BAD ? history_mend(h) : e;
}

int
history_signal_due(struct history *h)
{
	if (drive_ended(h->r) != REPLAY_OK || (h->broken && !history_before(history_now(h), h->end)))
		return -1;
	return drive_signal_due(h->r);
}

int
history_move_before(struct history *h, uint64_t icount)
{
	int e = history_move(h, (struct history_at){ icount, 0 });

	while (e == REPLAY_OK && history_signal_due(h) >= 0)
		e = history_micro(h);
	return e;
}

int
history_is_hidden(struct history *h)
{
	int sig = history_signal_due(h);

	return sig == 0 || sig == WS_SWITCH || (drive_is_amid(h->r) && replay_regs(h->r)->r[WS_RCX] == 0);
}

int
history_settle(struct history *h)
{
	int e = REPLAY_OK;

	while (e == REPLAY_OK && history_is_hidden(h))
		e = history_micro(h);
	return e;
}
