/* Process-wide state of the runtime: which process this is, the lock, counters. */
#include "ae/runtime/call.h"

#include <sys/mman.h>

int ae_on;
uint64_t ae_nhandler;
uint64_t ae_total;
uint64_t ae_limit = UINT64_MAX;

static int kin_pid;
/* the page works: it is zero in a forked child, shared with a vforked one */
static int kin_wipes;
static int lock;
static int leaving;             /* the number of the thread that closed the file, see ae_lock_leave */

/*
 * Remembers this process. A forked child that we did not see made is distinguished from a vforked
 * one by a page that fork wipes.
 */
void ae_kin_init(void)
{
	kin_pid = (int)sys3(SYS_getpid, 0, 0, 0);
	kin_wipes = sys3(SYS_madvise, (long)AE_KIN, AE_PAGE, MADV_WIPEONFORK) == 0;
	*(volatile uint64_t *)AE_KIN = 1;
}

int ae_forked(void)
{
	return kin_wipes ? !*(volatile uint64_t *)AE_KIN : (int)sys3(SYS_getpid, 0, 0, 0) != kin_pid;
}

enum ae_kin ae_kin(void)
{
	if ((int)sys3(SYS_getpid, 0, 0, 0) == kin_pid)
		return AE_SELF;
	return ae_forked() ? AE_FORKED : AE_VFORK;
}

struct ae_set ae_block(void)
{
	struct ae_set all = set_all(), old = set_none();

	set_mask(SIG_SETMASK, &all, &old);
	for (;;) {
		if (!__atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE)) {
			if (!leaving || leaving == (int)sys3(SYS_gettid, 0, 0, 0))
				return old;
			__atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
		}
		ae_sig_answer();
		sys3(SYS_sched_yield, 0, 0, 0);
	}
}

void ae_unblock(struct ae_set mask)
{
	__atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
	set_mask(SIG_SETMASK, &mask, NULL);
}

void ae_lock_init(void)
{
	lock = leaving = 0;
}

void ae_lock_leave(int leaves)
{
	leaving = leaves ? (int)sys3(SYS_gettid, 0, 0, 0) : 0;
}

uint64_t ae_nthread(void)
{
	uint64_t n = 0;
	int i;

	for (i = 0; i < AE_NSHARD; i++)
		n += __atomic_load_n(&ae_shard[i][0], __ATOMIC_RELAXED);
	return n;
}
