/* Process-wide state of the runtime: whose process this is, the lock, counters. */
#include "aert.h"
#include "sys.h"

#include <sys/mman.h>

int ae_on;
uint8_t *ae_mid;
uint64_t ae_nhandler;
uint64_t ae_total;

static int kin_pid;
static volatile uint64_t *kin_page;     /* zero in a forked child, shared with a vforked one */
static int lock;

int ae_ismain(void)
{
	return sys_fsbase() == ae_fs;
}

/* Remember this process; a child made behind our back is told from a vforked one by a page that fork wipes. */
void ae_kin_init(void)
{
	long p;

	kin_pid = (int)sys3(SYS_getpid, 0, 0, 0);
	if (!kin_page) {
		p = sys6(SYS_mmap, 0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (sys_err(p))
			return;
		if (sys3(SYS_madvise, p, 4096, MADV_WIPEONFORK) != 0) {
			sys3(SYS_munmap, p, 4096, 0);
			return;
		}
		kin_page = (volatile uint64_t *)p;
	}
	*kin_page = 1;
}

enum ae_kin ae_kin(void)
{
	if ((int)sys3(SYS_getpid, 0, 0, 0) == kin_pid)
		return AE_SELF;
	return kin_page && *kin_page ? AE_VFORK : AE_FORKED;
}

uint64_t ae_block(void)
{
	uint64_t all = ~(uint64_t)0, old = 0;

	sys4(SYS_rt_sigprocmask, SIG_SETMASK, SYS_P(&all), SYS_P(&old), 8);
	while (__atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE))
		sys3(SYS_sched_yield, 0, 0, 0);
	return old;
}

void ae_unblock(uint64_t mask)
{
	__atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
	sys4(SYS_rt_sigprocmask, SIG_SETMASK, SYS_P(&mask), 0, 8);
}

void ae_lock_init(void)
{
	lock = 0;
}

uint64_t ae_nthread(void)
{
	uint64_t n = 0;
	int i;

	for (i = 0; i < AE_NSHARD; i++)
		n += __atomic_load_n(&ae_shard[i][0], __ATOMIC_RELAXED);
	return n;
}
