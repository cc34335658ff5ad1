/* Recording: from the buffers to the file, and the end of it. */
#include "ae/runtime/call.h"

#define UNWIND 0xfd     /* the item of a run sequence, ae.out(5) */

static int rec_done;    /* the end was written, or will not be */

void ae_rec_open(int live)
{
	struct ae_thread *t = ae_me();

	rec_done = 0;
	ae_rec = 1;
	ae_open = live;
	t->live = live;
}

void ae_rec_shut(void)
{
	struct ae_thread *t = ae_me();

	rec_done = 1;
	ae_rec = 0;
	for (; t; t = t->below)
		t->live = t->kept = t->pending = 0;
}

void ae_rec_fail(int err)
{
	char buf[40];

	ae_rec_shut();
	ae_file_end(AE_STOPPED, 0, 0, 0);
	AE_SAY(ae_file_path(), ": ", ae_strerror(err, buf), ": recording stopped");
}

/* The file has as many events as it may: the end record, and the program runs on. */
static void limited(void)
{
	ae_rec_shut();
	ae_file_end(AE_LIMITED, 0, (uintptr_t)sys3(SYS_getpid, 0, 0, 0), 0);
}

/* The events of t up to live, *n bytes: 0, an error number, or -1 if no more may be written after them */
static int put_events(struct ae_thread *t, const uint8_t *live, int full, size_t *n)
{
	int err;

	*n = (size_t)(live - t->buf);
	if ((!t->live && !t->kept) || *n == 0 || *n > (uintptr_t)AE_END(t) - (uintptr_t)t->buf) {
		*n = 0;         /* more is impossible; never write memory that is not ours */
		return 0;
	}
	if (*n > ae_limit - ae_total) {
		*n = (size_t)(ae_limit - ae_total);
		full = 0;
	}
	err = *n ? ae_file_chunk(t->number, t->buf, *n, full) : 0;
	if (err)
		return err;
	ae_total += *n;
	return ae_total == ae_limit ? -1 : 0;
}

static void write_events(struct ae_thread *t, const uint8_t *live, int full)
{
	char buf[24];
	size_t n;
	int err;

	if (!ae_rec)
		t->live = t->kept = t->pending = 0;
	if ((!t->live && !t->kept) || live == t->buf)
		return;
	if (ae_forked()) {
		ae_rec_shut();
		AE_SAY("process ", ae_dec(buf, (uint64_t)sys3(SYS_getpid, 0, 0, 0)),
		    " was not made by fork(): not recorded");
		return;
	}
	err = put_events(t, live, full, &n);
	if (err > 0) {
		ae_rec_fail(err);
		return;
	}
	t->total += n;
	if (err)
		limited();
}

uint8_t *ae_rec_at(const struct ae_thread *t)
{
	uint8_t *p = t->ptr;

	return p ? p : t->depth || t->held ? t->mid : NULL;
}

int ae_rec_part(struct ae_thread *t)
{
	uint8_t *live = ae_rec_at(t);
	size_t n;

	return live ? put_events(t, live, 0, &n) : 0;
}

void ae_rec_gone(struct ae_thread *t)
{
	enum ae_left how = t->ptr || !t->live ? AE_LEFT : t->held ? AE_INSIDE : AE_GONE;
	int err;

	if (how != AE_GONE && ae_rec_at(t))
		write_events(t, ae_rec_at(t), 0);
	if (!ae_rec)
		return;
	err = ae_file_ends(t->number, how, t->total);
	if (err)
		ae_rec_fail(err);
}

/*
 * Another thread runs traced code: where it is is in a register, so it must say so, in a handler of a signal or
 * where it waits for the lock. asked: 1 until it has, then 2, or 4 if the signal is still to come; 3: nobody
 * waits, but it may come. NULL: it does not answer.
 */
static uint8_t *ask(struct ae_thread *t)
{
	struct sys_time nap = { 0, 50000 };
	uint8_t *p;
	int i;

	t->shown = NULL;
	t->asked = 1;
	if (sys_kill(t->tid, SIGSEGV) != 0) {
		t->asked = 0;
		return t->ptr;
	}
	for (i = 0; i < 2000 && t->asked == 1 && !t->ptr; i++) {
		if (i == 20)
			nap.ns = 2000000;
		sys3(SYS_nanosleep, SYS_P(&nap), 0, 0);
	}
	p = t->asked == 2 || t->asked == 4 ? t->shown : t->ptr;
	t->asked = t->asked == 2 ? 0 : 3;
	return p;
}

/* The end of another thread's stream, which may run on */
static int close_other(struct ae_thread *t)
{
	enum ae_left how = ae_thread_gone(t) ? AE_LEFT : AE_OUTSIDE;
	uint8_t *live = t->ptr;
	size_t n = 0;
	int err = 0;

	if (!live && t->live && t->held) {
		live = t->mid;
		how = AE_INSIDE;
	} else if (!live && t->live) {
		live = how == AE_LEFT ? NULL : ask(t);
		how = live ? AE_INSIDE : AE_GONE;
		if (live && live == t->ptr)
			how = AE_OUTSIDE;
	}
	if (live)
		err = put_events(t, live, 0, &n);
	return err ? err : ae_file_ends(t->number, how, t->total + n);
}

int ae_rec_others(const struct ae_thread *me)
{
	struct ae_thread *t;
	int err = 0;

	for (t = ae_threads; t && !err; t = t->next)
		if (t != me && t->stage == AE_BEGUN)
			err = close_other(t);
	return err;
}

void ae_flush(struct ae_thread *t)
{
	struct ae_set mask = ae_block();

	write_events(t, t->ptr, 0);
	t->ptr = t->buf;
	ae_unblock(mask);
}

/* Frames of traced functions are left, or run to their end without a recording: the events say so. */
void ae_rec_leave(struct ae_thread *t)
{
	struct ae_set mask = ae_block();
	uint8_t *p = t->ptr;

	if ((uintptr_t)(AE_END(t) - (uintptr_t)p) < 1 + sizeof(uintptr_t)) {
		write_events(t, p, 0);
		p = t->buf;
	}
	*p = UNWIND;
	mem_zero(p + 1, sizeof(uintptr_t));
	write_events(t, p + 1 + sizeof(uintptr_t), 0);
	t->ptr = t->buf;
	t->live = 0;
	ae_unblock(mask);
}

uint8_t *ae_full(struct ae_thread *t, uint8_t *live)
{
	struct ae_set mask;
	uint8_t *start = t->buf;

	mask = ae_block();
	write_events(t, live, 1);
	mem_copy(start, live, (size_t)((uint8_t *)AE_END(t) - live));
	t->mid = start;
	ae_unblock(mask);
	return start;
}

static void say_untraced(void)
{
	char a[24], b[24];
	uint64_t nt = ae_nthread();

	if (ae_nhandler || nt)
		AE_SAY(ae_dec(a, ae_nhandler), " signal handlers and ", ae_dec(b, nt),
		    " thread entries ran untraced");
}

/* Callers hold the lock. */
static void close_file(const struct ae_thread *t, enum ae_reason why, int sig, uintptr_t pc)
{
	int err = ae_rec_others(t);

	if (err < 0) {
		limited();
		return;
	}
	if (!err)
		err = ae_file_end(why, sig, t && t->live ? pc : 0, t ? t->number : 0);
	if (err)
		ae_rec_fail(err);
}

void ae_finish(enum ae_reason why, int sig, uintptr_t pc, uint8_t *live, size_t tail)
{
	struct ae_thread *t = ae_me();
	struct ae_set mask;

	if (!ae_on)
		return;
	mask = ae_block();
	if (ae_kin() == AE_SELF) {
		if (live && t)
			write_events(t, live + tail, 0);
		if (ae_rec)
			close_file(t, why, sig, pc);
		if (!rec_done)
			say_untraced();
		if (!rec_done && ae_armed)
			AE_SAY("AE_FROM: the function was never called: nothing recorded");
		ae_rec_shut();
	}
	ae_unblock(mask);
}

void ae_end(enum ae_reason why)
{
	struct ae_thread *t = ae_me();

	if (!t || t->ptr || !t->live)   /* nothing is lost outside a region */
		ae_finish(why, 0, 0, t ? t->ptr : NULL, 0);
	else
		ae_finish(AE_STOPPED, 0, 0, ae_rec_at(t), 0);
}

void ae_rec_give_up(struct ae_thread *t, const char *why)
{
	struct ae_set mask = ae_block();
	int err;

	for (; t; t = t->below)
		if (ae_rec_at(t))
			write_events(t, ae_rec_at(t), 0);
	if (ae_rec && ae_kin() == AE_SELF) {
		err = ae_file_end(AE_STOPPED, 0, 0, 0);
		if (err)
			ae_rec_fail(err);
		else
			AE_SAY("recording stopped: ", why);
	}
	ae_rec_shut();
	ae_unblock(mask);
}
