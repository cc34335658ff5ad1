/* Goes through a run: opens it, moves to places, makes steps, finds the next reason to stop. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/helper.h"
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
	return (struct history_stop){ why, 0, 0, 0 };
}

/* A replay of the capture, at its beginning.  NULL: see *f. */
static struct replay *
replay_at_start(struct history *h, struct fault *f)
{
	struct drive_watch watch = { .record = history_record, .arg = h };
	struct replay *r = drive_open(h->path, &watch, f);

	if (r && drive_start(r) != 0) {
		*f = *replay_fault(r);
		replay_close(r);
		return NULL;
	}
	return r;
}

static struct history *
open_bad(struct history *h, struct fault *f, const char *err)
{
	if (err)
		fault_set(f, WS_UNKNOWN, WS_UNKNOWN, "%s", err);
	history_close(h);
	return NULL;
}

struct history *
history_open(const char *path, uint64_t most, struct fault *f)
{
	struct history *h = calloc(1, sizeof *h);
	struct stat st;

	*f = (struct fault){ .off = WS_UNKNOWN, .rec = WS_UNKNOWN };
	if (h == NULL || (h->path = strdup(path)) == NULL) {
		free(h);
		return open_bad(NULL, f, "no memory");
	}
	h->pagemap = -1;
	h->most = most;
	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
		return open_bad(h, f, "not a regular file, which is read at several places");
	if ((h->r = replay_at_start(h, f)) == NULL)
		return open_bad(h, f, NULL);
	if ((h->pagemap = helper_keep_open("/proc/self/pagemap")) < 0)
		return open_bad(h, f, "the system does not say which pages of memory exist (/proc/self/pagemap)");
	history_keep(h);
	return h;
}

void
history_close(struct history *h)
{
	if (h == NULL)
		return;
	history_keep_free(h);
	replay_close(h->r);
	if (h->pagemap >= 0)
		close(h->pagemap);
	free(h->brk);
	free(h->armed);
	free(h->path);
	free(h);
}

int
history_confine(struct history *h)
{
	return drive_confine(h->r) == REPLAY_OK ? 0 : history_dead(h, replay_fault(h->r));
}

struct replay *
history_replay(struct history *h)
{
	return h->r;
}

const struct fault *
history_fault(const struct history *h)
{
	return &h->fault;
}

struct history_at
history_now(const struct history *h)
{
	return (struct history_at){ replay_icount(h->r), drive_instances(h->r) };
}

struct history_end
history_ended(const struct history *h)
{
	struct history_end e = { replay_end_record(h->r), NULL };

	if (!e.end && h->broken && !history_before(history_now(h), h->end))
		e.fault = &h->endfault;
	return e;
}

int
history_break(struct history *h, uint64_t pc, int on)
{
	size_t i;

	for (i = 0; i < h->nbrk && h->brk[i] != pc; i++)
		;
	if (on && i == h->nbrk) {
		if (buf_grow(&h->brk, &h->capbrk, h->nbrk + 1, sizeof *h->brk) < 0)
			return -1;
		h->brk[h->nbrk++] = pc;
	} else if (!on && i < h->nbrk)
		h->brk[i] = h->brk[--h->nbrk];
	return 0;
}

int
history_watch(struct history *h, uint64_t addr, uint64_t n, unsigned access, int on)
{
	size_t i;

	for (i = 0; i < h->nwatch; i++)
		if (h->watch[i].addr == addr && h->watch[i].n == n && h->watch[i].access == access)
			break;
	if (on && i == h->nwatch) {
		if (n == 0 || n > HISTORY_WATCH_MAX || addr >> 47 || h->nwatch == HISTORY_NWATCH)
			return -1;
		h->watch[h->nwatch++] = (struct history_watched){ addr, n, access };
	} else if (!on && i < h->nwatch)
		h->watch[i] = h->watch[--h->nwatch];
	return 0;
}

void
history_clear(struct history *h)
{
	h->nbrk = h->nwatch = 0;
}

void
history_pass(struct history *h, uint64_t signals)
{
	h->pass = signals;
}

void
history_set_interrupt_fn(struct history *h, history_interrupt_fn *fn, void *arg)
{
	h->interrupt = fn;
	h->interruptarg = arg;
}

int
history_is_interrupted(const struct history *h)
{
	return h->interrupt && h->interrupt(h->interruptarg);
}

int
history_dead(struct history *h, const struct fault *f)
{
	if (!h->dead && f != &h->fault)
		h->fault = *f;
	h->dead = 1;
	return REPLAY_BAD;
}

/* Is pc among the n addresses? */
static int
is_among(const uint64_t *at, size_t n, uint64_t pc)
{
	for (size_t i = 0; i < n; i++)
		if (at[i] == pc)
			return 1;
	return 0;
}

/*
 * Breakpoints are in the translated code only while something is searched for.  Those that the
 * next search needs again stay.
 */
int
history_arm(struct history *h, int on)
{
	size_t n = on ? h->nbrk : 0;

	for (size_t i = 0; i < h->narmed; i++)
		if (!is_among(h->brk, n, h->armed[i])) {
			(void)replay_break(h->r, h->armed[i], 0);
			h->armed[i--] = h->armed[--h->narmed];
		}
	for (size_t i = 0; i < n; i++) {
		if (is_among(h->armed, h->narmed, h->brk[i]))
			continue;
		if (buf_grow(&h->armed, &h->caparmed, h->narmed + 1, sizeof *h->armed) < 0 ||
		    replay_break(h->r, h->brk[i], 1) != 0) {
			(void)fault_nomem(&h->fault);
			return history_dead(h, &h->fault);
		}
		h->armed[h->narmed++] = h->brk[i];
	}
	return 0;
}

int
history_quiet(struct history *h, struct history_at to, int may)
{
	for (;;) {
		struct history_at here = history_now(h);
		uint64_t icount = here.icount < to.icount ? to.icount : WS_UNKNOWN, slice = here.icount + CHUNK;
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
history_return(struct history *h, struct history_at to)
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
		e = history_return(h, to);
	if (e == REPLAY_OK && !there && to.icount - replay_icount(h->r) > 4 * near) {
		/* the next move back will not be far */
		e = history_quiet(h, (struct history_at){ to.icount - near, 0 }, may);
		if (e == REPLAY_OK)
			history_keep(h);
	}
	return e == REPLAY_OK ? history_quiet(h, to, may) : e;
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
		h->r = replay_at_start(h, &f);
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

static int
move_may(struct history *h, struct history_at to, int may)
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
	return move_may(h, to, 0);
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

/* The signal that arrives here: its number, 0 for the return from a handler; -1: none */
static int
signal_due(struct history *h)
{
	if (drive_ended(h->r) != REPLAY_OK || (h->broken && !history_before(history_now(h), h->end)))
		return -1;
	return drive_signal_due(h->r);
}

int
history_move_before(struct history *h, uint64_t icount)
{
	int e = history_move(h, (struct history_at){ icount, 0 });

	while (e == REPLAY_OK && signal_due(h) >= 0)
		e = history_micro(h);
	return e;
}

int
history_is_hidden(struct history *h)
{
	return signal_due(h) == 0 || (drive_is_amid(h->r) && replay_regs(h->r)->r[WS_RCX] == 0);
}

/* To the next place that is shown. */
static int
settle(struct history *h)
{
	int e = REPLAY_OK;

	while (e == REPLAY_OK && history_is_hidden(h))
		e = history_micro(h);
	return e;
}

/* The stop of a move forward that gave e. */
static struct history_stop
stop_after(struct history *h, int e)
{
	const struct ws_rec_end *end;

	if (e == REPLAY_OK)
		e = settle(h);
	if (e == HISTORY_INTERRUPTED)
		return settle(h) == REPLAY_BAD ? stop_of(HISTORY_BAD) : stop_of(HISTORY_INTERRUPT);
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
		e = settle(h);
	h->told = hit->why == HISTORY_SIGNAL;
	/* where the run ends with it, it comes first: the end is found by the next move */
	return e == REPLAY_BAD ? stop_of(HISTORY_BAD) : s;
}

/* Is a signal to be reported before anything moves forward? */
static int
signal_first(struct history *h, struct history_stop *s)
{
	int sig = signal_due(h);

	if (sig <= 0 || h->told || h->pass >> (sig - 1) & 1)
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
		if (h->scan.nhit && (e == REPLAY_OK || e == REPLAY_END) && history_before(history_now(h), chunk))
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
		if (e == REPLAY_OK && signal_due(h) < 0 && here.n <= history_now(h).n + 1)
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

struct history_stop
history_step(struct history *h, int back)
{
	struct history_at here = history_now(h);

	if (back)
		return step_back(h);
	if (signal_due(h) > 0)
		return forward(h, (struct history_at){ here.icount, here.n + 1 });
	return forward(h, (struct history_at){ here.icount + 1, 0 });
}

struct history_stop
history_step_range(struct history *h, uint64_t from, uint64_t to)
{
	for (unsigned n = 0;; n++) {
		struct history_stop s = history_step(h, 0);
		uint64_t pc = replay_regs(h->r)->rip;

		if (s.why != HISTORY_STEP || pc < from || pc >= to)
			return s;
		if (is_among(h->brk, h->nbrk, pc))
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
	s = stop_after(h, move_may(h, (struct history_at){ icount, 0 }, 1));
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
