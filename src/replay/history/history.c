/* A history: opening it, its breakpoints and watched memory. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/helper.h"
#include "replay/history/history_internal.h"

struct replay *
history_replay_at_start(struct history *h, struct fault *f)
{
	struct drive_watch watch = { .record = history_record, .arg = h };
	struct replay *r = drive_open(h->path, &watch, f);

	if (r)
		drive_keep_threads(r);
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
	if ((h->r = history_replay_at_start(h, f)) == NULL)
		return open_bad(h, f, NULL);
	if ((h->pagemap = helper_keep_open("/proc/self/pagemap")) < 0)
		return open_bad(h, f,
		    "the system does not say which pages of memory exist (/proc/self/pagemap)");
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

uint32_t
history_next_thread(const struct history *h, uint32_t after)
{
	return drive_next_thread(h->r, after);
}

int
history_thread(const struct history *h, uint32_t number, struct ws_regs *regs, uint8_t *xsave)
{
	return drive_thread(h->r, number, regs, xsave);
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

/*
 * Breakpoints are in the translated code only while something is searched for.  Those that the
 * next search needs again stay.
 */
int
history_arm(struct history *h, int on)
{
	size_t n = on ? h->nbrk : 0;

	for (size_t i = 0; i < h->narmed; i++)
		if (!history_is_among(h->brk, n, h->armed[i])) {
			(void)replay_break(h->r, h->armed[i], 0);
			h->armed[i--] = h->armed[--h->narmed];
		}
	for (size_t i = 0; i < n; i++) {
		if (history_is_among(h->armed, h->narmed, h->brk[i]))
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
