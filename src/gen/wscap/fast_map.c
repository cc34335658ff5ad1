/*
 * Calls that change mappings, and that the recorder asks for as something must be done before or after them: the
 * recorder makes them all the same, which takes one or two stops instead of three.
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>

#include "gen/wscap/fast.h"
#include "gen/wscap/hold.h"
#include "gen/wscap/signal.h"
#include "gen/wscap/wscap.h"

/* Is there nothing in [lo, hi) but memory that may be replaced without more ado? */
static int
map_free(const struct cap *c, uint64_t lo, uint64_t hi)
{
	const struct fast *f = c->fast;

	for (size_t i = region_at(&c->reg, lo); i < c->reg.n && c->reg.p[i].lo < hi; i++)
		if (c->reg.p[i].shared || c->reg.p[i].stack)
			return 0;
	for (size_t i = 0; i < c->nsite; i++)
		if (c->site[i].addr >= lo && c->site[i].addr < hi)
			return 0;
	for (size_t i = 0; i < f->ntext; i++)
		if ((f->text[i].lo < hi && f->text[i].hi > lo) ||
		    (f->text[i].p && f->text[i].at < hi && f->text[i].at + f->text[i].size > lo))
			return 0;
	return !(f->core < hi && f->core + FAST_SIZE > lo) && !(f->a->clock >= lo && f->a->clock < hi);
}

int
fast_grant(struct cap *c, const struct call *k)
{
	uint64_t lo, hi;

	if ((k->nr != SYS_mmap && k->nr != SYS_munmap) || !fast_may_map(k->nr, k->arg, &lo, &hi) ||
	    (lo < hi && !map_free(c, lo, hi)))
		return 0;
	hold_call(c, k);
	return 1;
}

/* Does a name mean the same file to the process as to us? */
static int
late_sees(const struct cap *c, const char *what)
{
	struct stat its, ours;
	char path[48];

	snprintf(path, sizeof(path), "/proc/%ld/%s", (long)c->t.pid, what);
	if (stat(path, &its))
		return 0;
	snprintf(path, sizeof(path), "/proc/self/%s", what);
	return !stat(path, &ours) && its.st_dev == ours.st_dev && its.st_ino == ours.st_ino;
}

void
fast_late_begin(const struct cap *c)
{
	const struct tree *a = c->all;

	/* prctl(PR_GET_MDWE): programs have that from who executes them */
	if (a->mdwe || prctl(66, 0, 0, 0, 0) > 0 || a->attached || a->from.kind || hold_many(a) ||
	    !late_sees(c, "root/") || !late_sees(c, "ns/mnt"))
		return;
	c->fast->a->late_before = (uint64_t)time(NULL) - HOLD_STEADY;
}

int
fast_is_late(const struct fast *f, uint64_t addr)
{
	for (size_t i = 0; i < f->a->nlate && i < FAST_PROTECTS; i++)
		if (addr - f->a->late[i].lo < f->a->late[i].n)
			return 1;
	return 0;
}

void
fast_late_end(struct cap *c)
{
	struct fast *f = c->fast;
	struct fast_protect all[FAST_PROTECTS];
	size_t n = f->a->nlate < FAST_PROTECTS ? f->a->nlate : FAST_PROTECTS;
	siginfo_t si;
	int err, signal;

	if (!n)
		return;
	signal = !ptrace(PTRACE_GETSIGINFO, c->t.pid, NULL, &si);
	memcpy(all, f->a->late, n * sizeof(all[0]));
	f->a->nlate = f->a->late_before = 0;
	err = fast_protect(c, all, n);
	for (size_t i = 0; i < n; i++)
		err |= all[i].ret != 0;
	if (err)
		cap_stop(c, "what it has mapped cannot be made executable");
	/* the signal that it continues with has been sent as it says */
	if (signal)
		ptrace(PTRACE_SETSIGINFO, c->t.pid, NULL, &si);
}
