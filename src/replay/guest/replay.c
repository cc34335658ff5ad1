/* The driver of a replay: runs the processor from one trigger of the capture to the next. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/confine.h"
#include "base/helper.h"
#include "base/progress.h"
#include "base/src.h"
#include "format/ref/ref.h"
#include "format/ws/runs.h"
#include "isa/x86/decode.h"
#include "isa/x86/fact.h"
#include "replay/guest/feature.h"
#include "replay/guest/replay_internal.h"

#define PAUSE 50000000u         /* instructions after which a run without references stops to show progress */

static int
replay_say(struct replay *r, uint64_t off, uint64_t rec, const char *before, const char *fmt, va_list ap)
{
	struct fault *f = &r->fault;
	int n;

	if (r->ended == REPLAY_BAD)
		return REPLAY_BAD;      /* the first fault counts */
	f->off = off;
	f->rec = rec;
	n = snprintf(f->err, sizeof f->err, "%sinstruction %llu, 0x%llx: ", before,
	    (unsigned long long)r->x.icount, (unsigned long long)r->x.cpu.rip);
	vsnprintf(f->err + n, sizeof f->err - (size_t)n, fmt, ap);
	r->ended = REPLAY_BAD;
	return REPLAY_BAD;
}

int
drive_bad(struct replay *r, const char *fmt, ...)
{
	va_list ap;
	int e;

	va_start(ap, fmt);
	e = replay_say(r, WS_UNKNOWN, WS_UNKNOWN, "", fmt, ap);
	va_end(ap);
	return e;
}

int
drive_drift(struct replay *r, const char *fmt, ...)
{
	va_list ap;
	int e;

	va_start(ap, fmt);
	e = replay_say(r, ws_rec_off(r->in), ws_rec_no(r->in), "drifted at ", fmt, ap);
	va_end(ap);
	return e;
}

int
drive_bad_file(struct replay *r)
{
	const struct fault *w = ws_fault(r->in);

	if (r->ended == REPLAY_BAD)
		return REPLAY_BAD;
	fault_set(&r->fault, w->off, w->rec, "%s (replayed up to instruction %llu)", w->err,
	    (unsigned long long)r->x.icount);
	r->ended = REPLAY_BAD;
	return REPLAY_BAD;
}

int
drive_bad_mem(struct replay *r)
{
	int e = drive_bad(r, "%s", r->mem.err);

	r->fault.off = ws_rec_off(r->in);
	r->fault.rec = ws_rec_no(r->in);
	return e;
}

static void
replay_changed(void *arg, uint64_t addr, uint64_t len)
{
	struct replay *r = arg;

	rp_flush(r->core, addr, len);
}

/* Applies the first record and its effects. */
int
drive_start(struct replay *r)
{
	struct ws_rec rec;

	if (ws_next(r->in, &rec) != 1)
		return drive_bad_file(r);
	if (rec.kind != WS_START)
		return drive_bad(r, "the capture does not begin with a record start");
	if (r->watch.record && r->watch.record(r->watch.arg, &rec) != 0)
		return r->ended = REPLAY_BAD;
	if (drive_state(r, &rec.u.state) != 0)
		return REPLAY_BAD;
	drive_set_latest(r);
	return drive_next(r) != 0 ? REPLAY_BAD : 0;
}

static int
replay_twin(void *arg, uint64_t addr, size_t *i, uint64_t *other)
{
	const struct replay *r = arg;

	return mem_alias(&r->mem, addr, i, other);
}

static int
head_ok(struct replay *r, struct fault *f)
{
	if (r->head->machine != WS_X86_64 || r->head->page != MEM_PAGE) {
		snprintf(f->err, sizeof f->err,
		    "captured on machine %u with pages of %u bytes: this replays x86-64 only",
		    (unsigned)r->head->machine, (unsigned)r->head->page);
		return -1;
	}
	return feature_check(r->head, f->err, sizeof f->err);
}

static int
replay_make(struct replay *r, struct fault *f)
{
	r->x.cpu.xsave = aligned_alloc(64, RP_XSAVE);
	r->words = malloc((DRIVE_WORDS + RP_SLACK) * sizeof *r->words);
	if (!r->x.cpu.xsave || !r->words) {
		snprintf(f->err, sizeof f->err, "no memory");
		return -1;
	}
	r->core = rp_core_new();
	if (!r->core) {
		snprintf(f->err, sizeof f->err, "%s", rp_core_why());
		return -1;
	}
	rp_core_set_amd(r->core, replay_amd(r->head));
	r->x.xcr0 = r->head->xcr0;
	rp_core_set_alias(r->core, replay_twin, r);
	r->mem.changed = replay_changed;
	r->mem.arg = r;
	return 0;
}

static int
open_file(struct replay *r, const char *path, struct fault *f)
{
	struct fault w;
	size_t run = 0;

	r->fd = src_is_stdin(path) ? 0 : ws_keep_open_path(path, &run);
	if (r->fd < 0) {
		snprintf(f->err, sizeof f->err, "%s", strerror(errno));
		return -1;
	}
	r->in = ws_open_run(r->fd, run, &w);
	if (!r->in) {
		f->off = w.off;
		f->rec = w.rec;
		snprintf(f->err, sizeof f->err, "%s", w.err);
		return -1;
	}
	r->head = ws_head(r->in);
	return 0;
}

struct replay *
drive_open(const char *path, const struct drive_watch *watch, struct fault *f)
{
	struct replay *r = calloc(1, sizeof *r);

	*f = (struct fault){ .off = WS_UNKNOWN, .rec = WS_UNKNOWN };
	if (!r) {
		snprintf(f->err, sizeof f->err, "no memory");
		return NULL;
	}
	r->fd = -1;
	r->ended = REPLAY_OK;
	r->pending = REPLAY_OK;
	r->until = r->most = r->latest = r->broke = r->sigbreak = WS_UNKNOWN;
	if (watch)
		r->watch = *watch;
	if (open_file(r, path, f) != 0 || head_ok(r, f) != 0 || replay_make(r, f) != 0) {
		replay_close(r);
		return NULL;
	}
	return r;
}

struct replay *
replay_open(const char *path, struct fault *f)
{
	struct replay *r = drive_open(path, NULL, f);

	if (r && drive_start(r) != 0) {
		*f = r->fault;
		replay_close(r);
		return NULL;
	}
	return r;
}

void
replay_close(struct replay *r)
{
	if (!r)
		return;
	if (r->core)
		rp_core_free(r->core);
	mem_free(&r->mem);
	drive_parked_drop(&r->parked);
	free(r->x.cpu.xsave);
	free(r->words);
	free(r->brk);
	free(r->key);
	if (r->in)
		ws_close(r->in);
	if (r->fd > 0)
		close(r->fd);
	free(r);
}

static int
is_user_break(const struct replay *r, uint64_t pc)
{
	for (size_t i = 0; i < r->nbrk; i++)
		if (r->brk[i] == pc)
			return 1;
	return 0;
}

/* The end of the program, and of the file. */
int
drive_finish(struct replay *r)
{
	struct ws_rec rec;

	r->end = r->next.u.end;
	r->told = r->early;
	r->told.icount = r->x.icount;
	if (!r->watch.cut && ws_next(r->in, &rec) != 0)
		return drive_bad_file(r);
	if (r->watch.record && r->watch.record(r->watch.arg, &r->next) != 0)
		return r->ended = REPLAY_BAD;
	return r->ended = REPLAY_END;
}

/* END is next.  A program that died of a fault of its own runs on until it faults. */
static int
at_end(struct replay *r)
{
	const struct ws_rec_end *e = &r->next.u.end;

	if (e->icount != WS_UNKNOWN) {
		if (r->x.icount > e->icount)
			return drive_drift(r, "the program ended at instruction %llu",
			    (unsigned long long)e->icount);
		return r->x.icount == e->icount ? drive_finish(r) : REPLAY_OK;
	}
	if (e->how == WS_KILLED && !r->after_sig &&
	    (e->status == SIGSEGV || e->status == SIGBUS || e->status == SIGFPE || e->status == SIGILL ||
		e->status == SIGTRAP))
		return REPLAY_OK;
	return drive_finish(r);
}

/*
 * The program took so little time up to its next trigger that it cannot have executed this many
 * instructions.
 */
static int
replay_fail_too_long(struct replay *r)
{
	return drive_drift(r, "the replay continues where the program had a %s long ago: "
	    "it may have waited for memory that another process changed", ws_kind_name(r->next.kind));
}

/*
 * Applies what the capture has for this very point.  REPLAY_OK: run on, to *limit at most;
 * other results are those of replay_refs.
 */
static int
replay_apply_here(struct replay *r, uint64_t *limit)
{
	for (;;) {
		if (drive_instances(r) >= r->most) {
			*limit = r->x.icount;
			return REPLAY_OK;
		}
		if (r->cut)
			return drive_bad_file(r);
		if (r->next.kind == WS_SIG) {
			int e = drive_signal_here(r);

			if (e < 0 || (e && drive_trigger_apply(r) != 0))
				return REPLAY_BAD;
			if (!e) {
				drive_narrow(r);
				break;
			}
		} else if (r->next.kind == WS_KEY) {
			if (r->x.icount > r->next.u.state.icount)
				return drive_drift(r, "after the keyframe at instruction %llu",
				    (unsigned long long)r->next.u.state.icount);
			if (r->x.icount < r->next.u.state.icount)
				break;
			if (drive_pass_key(r) != 0)
				return REPLAY_BAD;
		} else {
			break;
		}
	}
	if (r->next.kind == WS_END) {
		int e = at_end(r);

		if (e != REPLAY_OK)
			return e;
		if (r->next.u.end.icount < *limit)
			*limit = r->next.u.end.icount;
	} else if (r->next.kind == WS_KEY && r->next.u.state.icount < *limit) {
		*limit = r->next.u.state.icount;
	} else if (r->next.kind == WS_SIG && r->next.u.sig.icount < *limit) {
		*limit = r->next.u.sig.icount;
	}
	if (drive_instances(r) >= r->latest)
		return replay_fail_too_long(r);
	if (*limit - r->x.icount > r->latest - drive_instances(r))
		*limit = r->x.icount + (r->latest - drive_instances(r));
	if (r->nbrk && r->broke != r->x.icount && is_user_break(r, r->x.cpu.rip)) {
		r->broke = r->x.icount;
		return REPLAY_BREAK;
	}
	return REPLAY_OK;
}

/* Fills in the values of an instruction that was not executed by the processor. */
static void
replay_fill_values(struct replay *r)
{
	static const uint8_t reg[] = { WS_RAX, WS_RCX, WS_RDX, WS_RBX, 11 };

	uint64_t *v = r->x.late - FACT_NLATE, flags = r->x.cpu.rflags;

	for (unsigned i = 0; i < sizeof reg; i++)
		v[i] = r->x.cpu.r[reg[i]];
	v[5] = r->x.cpu.r[r->x.reg];
	v[6] = (flags & 0xd5) << 8 | (flags >> 11 & 1);
}

static void
forget_memory(void *arg)
{
	mem_free(&((struct replay *)arg)->mem);
}

/*
 * Executes the program only while the process is confined, so that it can do nothing to the
 * system, and while there is memory.
 */
int
drive_confine(struct replay *r)
{
	const char *why;

	if (confine_process(forget_memory, r, &why) != 0 || (why = confine_memory_exceeded()) != NULL)
		return drive_bad(r, "%s", why);
	return REPLAY_OK;
}

/* Nothing asks for a look while the processor runs without references: it stops now and then for that. */
static void
replay_pause(struct replay *r, enum rp_mode mode)
{
	if (progress_due(r->x.icount))
		progress_show(PROGRESS_INSTRUCTIONS, r->x.icount, drive_length(r));
	/* a place that is searched for is looked for where the search wants it */
	if ((!rp_has_words(mode) || mode == RP_DATA) && progress_is_on() && r->next.kind != WS_SIG &&
	    r->x.limit - r->x.icount > PAUSE)
		r->x.limit = r->x.icount + PAUSE;
}

/*
 * Runs to `limit` instructions or until the room for references is used up (both REPLAY_OK), or
 * to the program's end, a breakpoint or a fault.
 */
static int
replay_run_to(struct replay *r, enum rp_mode mode, uint64_t limit)
{
	for (;;) {
		enum rp_stop stop;
		int e;

		if (r->x.icount >= limit || drive_instances(r) >= r->most)
			return REPLAY_OK;
		/* what comes at this point is for the next batch, so that the registers are those of this one */
		if (rp_has_words(mode) && r->x.end - r->x.out < (ptrdiff_t)RP_SLACK)
			return REPLAY_OK;
		r->x.limit = limit;
		e = replay_apply_here(r, &r->x.limit);
		if (e != REPLAY_OK)
			return e;
		if (r->x.limit - r->x.icount > r->most - drive_instances(r))
			r->x.limit = r->x.icount + (r->most - drive_instances(r));
		replay_pause(r, mode);
		if (drive_confine(r) != REPLAY_OK)
			return REPLAY_BAD;
		stop = rp_run(r->core, &r->x, mode);
		if (stop == RP_FULL)
			return REPLAY_OK;
		e = drive_stopped(r, stop);
		if (r->x.late)
			replay_fill_values(r);
		if (e != REPLAY_OK)
			return e;
	}
}

uint64_t
drive_instances(const struct replay *r)
{
	return r->x.icount - r->x.again;
}

int
drive_words(struct replay *r, enum rp_mode mode, size_t most, size_t *n)
{
	int e = r->pending;

	*n = 0;
	r->x.out = r->words;
	r->pending = REPLAY_OK;
	if (e != REPLAY_OK)
		return e;
	if (r->ended != REPLAY_OK)
		return r->ended;
	r->x.end = r->words + most + RP_SLACK;
	r->telling = r->tasks && mode == RP_REFS;
	if (r->telling && r->first)
		drive_tell_thread(r);
	r->first = 0;
	e = replay_run_to(r, mode, r->until);
	r->telling = 0;
	*n = (size_t)(r->x.out - r->words);
	if (e == REPLAY_OK && (r->x.icount >= r->until || drive_instances(r) >= r->most))
		e = REPLAY_END;
	if (!*n || e == REPLAY_OK)
		return e;
	r->pending = e;
	return REPLAY_OK;
}

int
replay_refs(struct replay *r, const uint64_t **w, size_t *n)
{
	*w = r->words;
	return drive_words(r, RP_REFS, DRIVE_WORDS, n);
}

int
replay_count(struct replay *r, uint64_t n[REF_NACCESS])
{
	uint64_t from = r->x.icount;
	int e = r->pending;

	r->pending = REPLAY_OK;
	if (e == REPLAY_OK)
		e = r->ended;
	if (e != REPLAY_OK)
		return e;
	r->x.out = NULL;                /* nobody adds words */
	memset(r->x.tally, 0, sizeof r->x.tally);
	e = replay_run_to(r, RP_TALLY, r->until);
	n[REF_INST] += r->x.icount - from;
	for (unsigned k = 0; k < REF_NACCESS; k++)
		n[k] += r->x.tally[k];
	return e == REPLAY_OK ? REPLAY_END : e;
}

int
drive_run(struct replay *r, uint64_t icount)
{
	if (r->ended != REPLAY_OK)
		return r->ended;
	return replay_run_to(r, RP_NONE, icount);
}

void
replay_until(struct replay *r, uint64_t icount)
{
	r->until = icount;
}

int
replay_break(struct replay *r, uint64_t pc, int on)
{
	uint64_t *b;

	if (!on) {
		for (size_t i = 0; i < r->nbrk; i++)
			if (r->brk[i] == pc)
				r->brk[i--] = r->brk[--r->nbrk];
		return pc == r->sigbreak ? 0 : rp_break(r->core, pc, 0);
	}
	if (is_user_break(r, pc))
		return 0;
	b = realloc(r->brk, (r->nbrk + 1) * sizeof *b);
	if (!b)
		return -1;
	r->brk = b;
	b[r->nbrk++] = pc;
	rp_break_if(r->core, pc, NULL, 0);
	return rp_break(r->core, pc, 1);
}
