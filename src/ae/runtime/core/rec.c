/* Recording: from the buffer to the file, and the end of it. */
#include "ae/runtime/call.h"

#define UNWIND 0xfd     /* the item of a run sequence, ae.out(5) */

static int rec_done;    /* the end was written, or will not be */

void ae_rec_open(int live)
{
	rec_done = 0;
	ae_rec = 1;
	ae_live = live;
}

void ae_rec_shut(void)
{
	rec_done = 1;
	ae_rec = ae_live = ae_kept = ae_pending = 0;
}

/* The file cannot be written: says so once and continues without it. Closes what is there if possible. */
static void fail(int err)
{
	char buf[40];

	ae_rec_shut();
	ae_file_end(AE_STOPPED, 0, 0);
	AE_SAY(ae_file_path(), ": ", ae_strerror(err, buf), ": recording stopped");
}

/* The file has as many events as it may: the end record, and the program runs on. */
static void limited(void)
{
	ae_rec_shut();
	ae_file_end(AE_LIMITED, 0, (uintptr_t)sys3(SYS_getpid, 0, 0, 0));
}

static void write_events(const uint8_t *live, int full)
{
	size_t n = (size_t)(live - (const uint8_t *)AE_BUF);
	char buf[24];
	int err;

	if ((!ae_live && !ae_kept) || n == 0)
		return;
	if (n > AE_BUFLEN) {    /* impossible; never write memory that is not ours */
		ae_rec = ae_live = ae_kept = 0;
		return;
	}
	if (ae_kin() == AE_FORKED) {
		ae_rec_shut();
		AE_SAY("process ", ae_dec(buf, (uint64_t)sys3(SYS_getpid, 0, 0, 0)),
		    " was not made by fork(): not recorded");
		return;
	}
	if (n >= ae_limit - ae_total) {
		n = (size_t)(ae_limit - ae_total);
		full = 0;
	}
	err = n == 0 ? 0 : full ? ae_file_full((uint8_t *)AE_BUF, n) : ae_file_chunk((const uint8_t *)AE_BUF, n);
	if (err)
		fail(err);
	else
		ae_total += n;
	if (!err && ae_total == ae_limit)
		limited();
}

void ae_flush(void)
{
	struct ae_set mask = ae_block();

	write_events(__ae_ptr, 0);
	__ae_ptr = (uint8_t *)AE_BUF;
	ae_unblock(mask);
}

/* Frames of traced functions are left, or run to their end without a recording: the events say so. */
void ae_rec_leave(void)
{
	struct ae_set mask = ae_block();

	if ((uintptr_t)(AE_END - (uintptr_t)__ae_ptr) < 1 + sizeof(uintptr_t)) {
		write_events(__ae_ptr, 0);
		__ae_ptr = (uint8_t *)AE_BUF;
	}
	*__ae_ptr = UNWIND;
	mem_zero(__ae_ptr + 1, sizeof(uintptr_t));
	__ae_ptr += 1 + sizeof(uintptr_t);
	write_events(__ae_ptr, 0);
	__ae_ptr = (uint8_t *)AE_BUF;
	ae_live = 0;
	ae_unblock(mask);
}

uint8_t *ae_full(uint8_t *live)
{
	struct ae_set mask;
	uint8_t *start = (uint8_t *)AE_BUF;

	mask = ae_block();
	write_events(live, 1);
	mem_copy(start, live, (size_t)((uint8_t *)AE_END - live));
	ae_mid = start;
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

void ae_finish(enum ae_reason why, int sig, uintptr_t pc, uint8_t *live, size_t tail)
{
	struct ae_set mask;
	int err;

	if (!ae_on)
		return;
	mask = ae_block();
	if (ae_kin() == AE_SELF) {
		if (live)
			write_events(live + tail, 0);
		if (ae_rec) {
			err = ae_file_end(why, sig, ae_live ? pc : 0);
			if (err)
				fail(err);
		}
		if (!rec_done)
			say_untraced();
		if (!rec_done && ae_armed)
			AE_SAY("AE_FROM: the function was never called: nothing recorded");
		ae_rec = ae_live = ae_kept = 0;
		rec_done = 1;
	}
	ae_unblock(mask);
}

void ae_end(enum ae_reason why)
{
	uint8_t *live = __ae_ptr;

	if (live || !ae_live) {      /* outside a region nothing is lost */
		ae_finish(why, 0, 0, live, 0);
		return;
	}
	if (!ae_depth && ae_rec && !ae_ismain() && ae_kin() == AE_SELF)
		ae_ask(AE_STOPPED, 0);
	ae_finish(AE_STOPPED, 0, 0, ae_depth ? ae_mid : NULL, 0);
}

void ae_give_up(const char *why, uint8_t *live)
{
	struct ae_set mask = ae_block();
	int err;

	write_events(live, 0);
	if (ae_rec && ae_kin() == AE_SELF) {
		err = ae_file_end(AE_STOPPED, 0, 0);
		if (err)
			fail(err);
		else
			AE_SAY("recording stopped: ", why);
	}
	ae_rec_shut();
	ae_unblock(mask);
}

void ae_lost(void)
{
	if (ae_live)
		ae_give_up("a signal handler that interrupted traced code did not return", ae_mid);
	ae_depth = 0;
	__ae_ptr = NULL;
}
