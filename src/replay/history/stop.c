/* Steps, and runs to the next reason to stop, forward and backward. */
#include "replay/history/history_internal.h"

#define PIECE  65536u           /* instructions of the first piece that is searched backward */
#define FARTHEST (UINT64_C(1) << 40)
#define CHUNK  50000000u        /* instructions that are searched at once forward, with watched memory */
#define LOOK   4096u            /* steps between two looks at the interrupt */

static const struct history_at beginning = { 0, 0 };
static const struct history_at nowhere = { WS_UNKNOWN, WS_UNKNOWN };

static struct history_stop
stop_of(enum history_why why)
{
	return (struct history_stop){ .why = why };
}

/* The stop of a move forward that gave e. */
static struct history_stop
stop_after(struct history *h, int e)
{
	const struct ws_rec_end *end;

	if (e == REPLAY_OK)
		e = history_settle(h);
	if (e == HISTORY_INTERRUPTED)
		return history_settle(h) == REPLAY_BAD ? stop_of(HISTORY_BAD) : stop_of(HISTORY_INTERRUPT);
	if (e == REPLAY_OK)
		return stop_of(HISTORY_STEP);
	if (e != REPLAY_END)
		return stop_of(HISTORY_BAD);
	end = replay_end_record(h->r);
	if (!end || end->how != WS_KILLED || h->told ||
	    (h->lastsig == end->status && h->lastsigat == replay_icount(h->r)))
		return stop_of(HISTORY_END);
	h->told = 1;
	return (struct history_stop){ .why = HISTORY_SIGNAL, .sig = (int)end->status };
}

/* Goes to a hit; back: to before it. */
static struct history_stop
stop_at(struct history *h, const struct history_hit *hit, int back)
{
	struct history_stop s = { .why = hit->why, .sig = hit->sig };
	int e = hit->at.n == WS_UNKNOWN ? history_move_before(h, hit->at.icount) : history_move(h, hit->at);

	if (e == REPLAY_OK && hit->why == HISTORY_WATCH) {
		s.addr = h->watch[hit->watch].addr;
		s.access = h->watch[hit->watch].access;
		if (!back)
			e = history_micro(h);
	}
	if (e == REPLAY_OK)
		e = history_settle(h);
	h->told = hit->why == HISTORY_SIGNAL;
	/* where the run ends with it, it comes first: the end is found by the next move */
	return e == REPLAY_BAD ? stop_of(HISTORY_BAD) : s;
}

/* Is a signal to be reported before anything moves forward? */
static int
signal_first(struct history *h, struct history_stop *s)
{
	int sig = history_signal_due(h);

	if (sig <= 0 || sig == WS_SWITCH || h->told || h->pass >> (sig - 1) & 1)
		return 0;
	h->told = 1;
	*s = (struct history_stop){ .why = HISTORY_SIGNAL, .sig = sig };
	return 1;
}

/* Searches forward, up to a place. */
static struct history_stop
forward(struct history *h, struct history_at to)
{
	struct history_hit hit;
	struct history_at older, chunk;
	struct history_stop s;
	int e, got;

	if (h->dead)
		return stop_of(HISTORY_BAD);
	if (signal_first(h, &s))
		return s;
	if (!replay_end_record(h->r))
		h->told = 0;
	h->scan.from = history_now(h);
	for (;;) {
		chunk = to;
		if (h->nwatch && to.icount - replay_icount(h->r) > CHUNK)
			chunk = (struct history_at){ replay_icount(h->r) + CHUNK, 0 };
		e = history_scan(h, chunk, 0);
		if (e == REPLAY_BAD || (got = history_pick(h, &hit, &older)) < 0)
			return stop_of(HISTORY_BAD);
		if (got)
			return stop_at(h, &hit, 0);
		/* what did not count is past; what follows it was not searched if there was no room */
		if (h->scan.nhit && h->scan.stop)
			continue;
		if (h->scan.nhit && (e == REPLAY_OK || e == REPLAY_END) &&
		    history_before(history_now(h), chunk))
			e = history_move(h, chunk);
		if (e != REPLAY_OK || !history_before(history_now(h), to))
			return stop_after(h, e);
	}
}

/*
 * Searches backward for the last hit before a place: 1 with *hit; 0: none; REPLAY_BAD,
 * HISTORY_INTERRUPTED.  It ends up anywhere.
 */
static int
backward(struct history *h, struct history_at to, struct history_hit *hit)
{
	uint64_t most = PIECE;
	int e;

	while (history_before(beginning, to)) {
		struct history_at from = { to.icount > most ? to.icount - most : 0, 0 }, older;
		const struct snap *s;

		/* not over a snapshot: there is no need to go through the same part twice */
		s = to.icount ? history_kept(h, (struct history_at){ to.icount - 1, WS_UNKNOWN }) : NULL;
		if (s && s->x.icount > from.icount)
			from = (struct history_at){ s->x.icount, s->n };
		if (history_move(h, from) != REPLAY_OK)
			return REPLAY_BAD;
		e = history_scan(h, to, 1);
		if (e != REPLAY_OK)
			return e == REPLAY_END ? REPLAY_BAD : e;
		e = history_pick(h, hit, &older);
		if (e != 0)
			return e;
		to = older.icount ? older : from;
		if (most < FARTHEST)
			most *= 16;
	}
	return 0;
}

static struct history_stop
run_back(struct history *h)
{
	struct history_hit hit;
	int e;

	if (h->dead)
		return stop_of(HISTORY_BAD);
	h->told = 0;
	e = backward(h, history_now(h), &hit);
	if (e == 1)
		return stop_at(h, &hit, 1);
	if (e == HISTORY_INTERRUPTED)
		return stop_after(h, e);
	if (e != 0 || history_move(h, beginning) != REPLAY_OK) {
		if (!h->dead)
			(void)history_dead(h, replay_fault(h->r));
		return stop_of(HISTORY_BAD);
	}
	return stop_of(HISTORY_BEGIN);
}

struct history_stop
history_run(struct history *h, int back)
{
	return back ? run_back(h) : forward(h, nowhere);
}

/* From a place at or before `to`: goes to the last place before `to`. */
static int
place_before(struct history *h, struct history_at to)
{
	struct history_at at = history_now(h), next = at;
	int e;

	while (history_before(next, to)) {
		at = next;
		e = history_micro(h);
		if (e != REPLAY_OK)
			return e;
		next = history_now(h);
	}
	return history_move(h, at);
}

/* To the place before `here`, which may be one that is not shown. */
static int
step_before(struct history *h, struct history_at here)
{
	int e = REPLAY_OK;

	if (here.icount) {
		e = history_move(h, (struct history_at){ here.icount - 1, 0 });
		/* usually nothing but the instruction is between */
		if (e == REPLAY_OK && history_signal_due(h) < 0 && here.n <= history_now(h).n + 1)
			return e;
	}
	if (e == REPLAY_OK)
		e = history_move(h, (struct history_at){ here.icount, 0 });
	if (e == REPLAY_OK && !history_before(history_now(h), here))
		e = history_move(h, (struct history_at){ here.icount - 1, 0 });
	return e == REPLAY_OK ? place_before(h, here) : e;
}

static struct history_stop
step_back(struct history *h)
{
	struct history_at to = history_now(h);
	struct history_hit hit;
	struct history_at older;
	int e;

	if (h->dead)
		return stop_of(HISTORY_BAD);
	if (!history_before(beginning, to))
		return stop_of(HISTORY_BEGIN);
	h->told = 0;
	do
		e = step_before(h, to);
	while (e == REPLAY_OK && history_is_hidden(h) && history_before(beginning, to = history_now(h)));
	if (e == REPLAY_OK && h->nwatch) {
		struct history_at at = history_now(h);

		e = history_scan(h, to, 1);
		if (e == REPLAY_OK && history_pick(h, &hit, &older) == 1 && hit.why == HISTORY_WATCH)
			return stop_at(h, &hit, 1);
		if (e == REPLAY_OK)
			e = history_move(h, at);
	}
	if (e == REPLAY_OK)
		return stop_of(HISTORY_STEP);
	if (!h->dead)
		(void)history_dead(h, replay_fault(h->r));
	return stop_of(HISTORY_BAD);
}

static struct history_stop
step_on(struct history *h)
{
	struct history_at here = history_now(h);

	if (history_signal_due(h) > 0)
		return forward(h, (struct history_at){ here.icount, here.n + 1 });
	return forward(h, (struct history_at){ here.icount + 1, 0 });
}

/*
 * Runs to where the thread continues; back: to where it last stopped, which is shown as the place where another one
 * continues.  HISTORY_STEP, unless there is a reason to stop before.
 */
static struct history_stop
run_to_thread(struct history *h, uint32_t thread, int back)
{
	struct history_stop s;

	h->scan.thread = thread;
	s = history_run(h, back);
	h->scan.thread = 0;
	return s;
}

/* The pc of a thread; 0: there is no such thread. */
static uint64_t
thread_pc(struct history *h, uint32_t thread)
{
	struct ws_regs g;

	return drive_thread(h->r, thread, &g, NULL) ? g.rip : 0;
}

/* A thread that waits is before its call: its step is done when the call is. */
static struct history_stop
step_thread(struct history *h, uint32_t thread)
{
	uint64_t pc = thread_pc(h, thread);
	struct history_stop s;

	if (replay_thread(h->r) != thread) {
		s = run_to_thread(h, thread, 0);
		if (s.why != HISTORY_STEP || replay_regs(h->r)->rip != pc)
			return s;
	}
	s = step_on(h);
	if (s.why == HISTORY_STEP && replay_thread(h->r) != thread && thread_pc(h, thread) == pc)
		return run_to_thread(h, thread, 0);
	return s;
}

static struct history_stop
step_thread_back(struct history *h, uint32_t thread)
{
	uint64_t pc = thread_pc(h, thread);
	struct history_stop s;

	if (replay_thread(h->r) == thread) {
		s = step_back(h);
		if (s.why != HISTORY_STEP || replay_thread(h->r) == thread || !thread_pc(h, thread))
			return s;
	}
	s = run_to_thread(h, thread, 1);
	return s.why != HISTORY_STEP || thread_pc(h, thread) != pc ? s : step_back(h);
}

struct history_stop
history_step(struct history *h, uint32_t thread, int back)
{
	struct history_stop s;

	if (!thread || !thread_pc(h, thread))
		thread = replay_thread(h->r);
	s = back ? step_thread_back(h, thread) : step_thread(h, thread);
	if (s.why == HISTORY_STEP && thread_pc(h, thread))
		s.thread = thread;
	return s;
}

struct history_stop
history_step_range(struct history *h, uint32_t thread, uint64_t from, uint64_t to)
{
	if (!thread)
		thread = replay_thread(h->r);
	for (unsigned n = 0;; n++) {
		struct history_stop s = history_step(h, thread, 0);
		uint64_t pc = thread_pc(h, thread);

		if (s.why != HISTORY_STEP || pc < from || pc >= to)
			return s;
		if (replay_thread(h->r) == thread && history_is_among(h->brk, h->nbrk, pc))
			return stop_of(HISTORY_BREAK);
		if (n % LOOK == LOOK - 1 && history_is_interrupted(h))
			return stop_of(HISTORY_INTERRUPT);
	}
}

/* At the end: back to before the signal that killed the program, which is what people look for there. */
static struct history_stop
before_end(struct history *h)
{
	const struct ws_rec_end *end = replay_end_record(h->r);
	int sig = end && end->how == WS_KILLED ? (int)end->status : 0;

	if (!sig || (unsigned)sig != h->lastsig || h->lastsigat != replay_icount(h->r))
		return stop_of(HISTORY_END);
	if (step_before(h, history_now(h)) != REPLAY_OK)
		return stop_of(HISTORY_BAD);
	h->told = 1;
	return (struct history_stop){ .why = HISTORY_SIGNAL, .sig = sig };
}

struct history_stop
history_goto(struct history *h, uint64_t icount)
{
	struct history_stop s;

	if (h->dead)
		return stop_of(HISTORY_BAD);
	h->told = 0;
	s = stop_after(h, history_move_may(h, (struct history_at){ icount, 0 }, 1));
	return s.why == HISTORY_END ? before_end(h) : s;
}

int
history_last_change(struct history *h, uint64_t addr, uint64_t n, struct history_at *at, uint64_t *pc)
{
	struct history_at here = history_now(h);
	size_t nbrk = h->nbrk, nwatch = h->nwatch;
	struct history_watched first = h->watch[0];
	uint64_t pass = h->pass;
	int told = h->told, e;
	struct history_hit hit;

	if (h->dead)
		return REPLAY_BAD;
	h->nbrk = h->nwatch = 0;
	if (history_watch(h, addr, n, HISTORY_WRITE, 1) != 0)
		e = 0;
	else {
		h->pass = UINT64_MAX;
		e = backward(h, here, &hit);
		if (e == 1 && stop_at(h, &hit, 1).why != HISTORY_WATCH)
			e = REPLAY_BAD;
		*at = history_now(h);
		*pc = replay_regs(h->r)->rip;
		if (e != REPLAY_BAD && history_move(h, here) != REPLAY_OK)
			e = REPLAY_BAD;
	}
	h->watch[0] = first;
	h->nwatch = nwatch;
	h->nbrk = nbrk;
	h->pass = pass;
	h->told = told;
	return e == HISTORY_INTERRUPTED ? -2 : e;
}
