/* The recorder in a process: when it is put there, and when it must go. */
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "gen/wscap/fast.h"
#include "gen/wscap/thread.h"

#define HOT  8u                 /* calls at a place before the recorder is put there: as much as that costs */
#define SOON 4u                 /* times that the program may read where its memory is, and it is put back at once */
#define RARE 18u                /* times: from then on it is as seldom as it gets */

/* Tells the kernel to stop calls of this thread, or no longer: 0 or -1. */
static int
fast_tell(struct cap *c, int on)
{
	const struct fast *f = c->fast;
	long ret = -1;

	if (c->dispatched == on)
		return 0;
	if (on && tracee_call(&c->t, &ret, SYS_prctl, PR_SET_SYSCALL_USER_DISPATCH, SUD_ON,
		fast_place(f, fast_timed), FAST_PASSES, f->core + FAST_CODE + offsetof(struct fast_area, selector), 0))
		ret = -1;
	else if (!on)
		tracee_call(&c->t, &ret, SYS_prctl, PR_SET_SYSCALL_USER_DISPATCH, SUD_OFF, 0, 0, 0, 0);
	if (!on || !ret)
		c->dispatched = on;
	return ret ? -1 : 0;
}

void
fast_switch(struct cap *c, int on)
{
	struct fast *f = c->fast;

	if (!f->a || f->on == on || (on && fast_tell(c, 1)))
		return;
	if (!on)
		fast_late_end(c);
	fast_jumps(c, on);
	f->on = on;
	f->paused = 0;
	f->calling = 0;
	f->a->selector = f->a->note = 0;
}

void
fast_pause(struct cap *c)
{
	struct fast *f = c->fast;

	if (!f || !f->on)
		return;
	fast_switch(c, 0);
	f->paused = 1;
}

void
fast_share_begun(struct cap *c)
{
	if (!c->fast || !c->fast->on)
		return;
	c->fast->a->slow = 1;
	c->fast->a->note |= FAST_SHARED;
}

void
fast_hurry(struct cap *c)
{
	if (c->fast && c->fast->on)
		c->fast->a->slow = 1;
}

void
fast_thread(struct cap *c)
{
	c->dispatched = 0;              /* a thread does not get it from its creator */
	if (c->fast && c->fast->a && !c->fast->never)
		fast_tell(c, 1);
}

void
fast_untell(struct cap *c)
{
	if (c->fast)
		fast_tell(c, 0);
}

int
fast_waits(const struct cap *c)
{
	const struct fast *f = c->fast;

	/* while libraries are mapped, what was mapped may be written to before it is looked at: not while it runs on */
	return f && f->on && (f->a->note & FAST_AFTER || f->a->nlate || f->a->late_before);
}

void
fast_off(struct cap *c)
{
	if (!c->fast)
		c->fast = xcalloc(1, sizeof(*c->fast));
	fast_switch(c, 0);
	c->fast->never = 1;
}

/* Does the kernel look at the recorder's memory when other threads make calls?  Those cannot be told now. */
static int
fast_others(const struct cap *c)
{
	for (const struct thread *t = c->th ? c->th->all : NULL; t; t = t->next)
		if (t != c->th->turn && t->state != THREAD_DYING && t->own.dispatched)
			return 1;
	return 0;
}

/* Removes its memory, unless other threads need it: then all their calls pass. */
static void
fast_unmap(struct cap *c)
{
	struct fast *f = c->fast;
	long ret;

	fast_tell(c, 0);
	if (fast_others(c))
		return;
	if (f->a)
		tracee_call(&c->t, &ret, SYS_munmap, f->core, FAST_SIZE, 0, 0, 0, 0);
	for (size_t i = 0; i < f->ntext; i++)
		if (f->text[i].p)
			tracee_call(&c->t, &ret, SYS_munmap, f->text[i].at, f->text[i].size, 0, 0, 0, 0);
}

void
fast_free(struct cap *c)
{
	struct fast *f = c->fast;

	c->dispatched = 0;
	if (!f)
		return;
	if (f->p) {
		munmap(f->p, FAST_SIZE);
		close(f->fd);
	}
	for (size_t i = 0; i < f->ntext; i++)
		if (f->text[i].p)
			munmap(f->text[i].p, f->text[i].size);
	free(f->site);
	free(f);
	c->fast = NULL;
}

void
fast_end(struct cap *c)
{
	if (!c->fast)
		return;
	fast_off(c);
	fast_unmap(c);
	fast_free(c);
	fast_off(c);
}

/* Does [lo, hi) touch the recorder's memory? */
static int
fast_touches(const struct fast *f, uint64_t lo, uint64_t hi)
{
	if (f->a && lo < f->core + FAST_SIZE && hi > f->core)
		return 1;
	for (size_t i = 0; i < f->ntext; i++)
		if (f->text[i].p && lo < f->text[i].at + f->text[i].size && hi > f->text[i].at)
			return 1;
	return 0;
}

/* The call changes mappings in [lo, hi): 1: it will be made again. */
static int
fast_changes(struct cap *c, uint64_t lo, uint64_t hi)
{
	struct fast *f = c->fast;

	hi = (hi + PAGE - 1) / PAGE * PAGE;
	fast_forget(c, lo, hi);
	for (size_t i = 0; i < f->ntext; i++)   /* what is mapped there may be something else soon */
		if (f->text[i].lo < hi && f->text[i].hi > lo)
			f->text[i].hi = f->text[i].lo;
	if (f->a->clock && lo <= f->a->clock && hi > f->a->clock)
		f->a->clock = 0;
	if (!fast_touches(f, lo, hi))
		return 0;
	if (fast_others(c) || f->lent) {
		cap_stop(c, "it maps memory where the recorder is, which others need; see --recorder");
		return 1;
	}
	if (tracee_cancel_call(&c->t, &c->in))
		return 0;
	c->inside = 0;
	fast_end(c);
	return 1;
}

struct fast *
fast_of(struct cap *c)
{
	if (c->fast)
		return c->fast;
	c->fast = xcalloc(1, sizeof(*c->fast));
	c->fast->hot = HOT;
	c->fast->never = !c->all->recorder || c->all->norecorder || c->all->audit || c->all->touch;
	return c->fast;
}

/* The recorder must not be in a process that has made this call: 1: it is gone, the call will be made again. */
static int
fast_quit(struct cap *c)
{
	if (!c->fast->a) {
		fast_off(c);
		return 0;
	}
	if (tracee_cancel_call(&c->t, &c->in))
		return 0;
	c->inside = 0;
	fast_give_back(c);
	fast_end(c);
	return 1;
}

/* The process makes another one, or a thread. */
static int
fast_clones(struct cap *c, uint64_t flags)
{
	if (flags & CLONE_THREAD)
		return 0;
	if (flags & CLONE_FILES || (flags & CLONE_VM && !(flags & CLONE_VFORK)))
		return fast_quit(c);
	fast_pause(c);          /* the child has the memory with the jumps, but not that of the recorder */
	return 0;
}

/* Does the program limit its memory, and not only say that it is not limited, as those do that raise all their limits? */
static int
fast_limits(struct cap *c, uint64_t addr)
{
	uint8_t now[8];

	return addr && tracee_read(&c->t, addr, now, sizeof(now)) == sizeof(now) && get_le64(now) != RLIM_INFINITY;
}

/* May the recorder no longer be in a process that has made this call? */
static int
fast_ends(struct cap *c, const struct call *k)
{
	switch (k->nr) {
	case SYS_prctl:
		return k->arg[0] == PR_SET_SECCOMP || k->arg[0] == PR_SET_SYSCALL_USER_DISPATCH;
	/* while one of the program waits to be unblocked, the kernel does not tell that it has dispatched a call */
	case SYS_kill: case SYS_tkill: case SYS_rt_sigqueueinfo:
		return k->arg[1] == SIGSYS;
	case SYS_tgkill: case SYS_rt_tgsigqueueinfo:
		return k->arg[2] == SIGSYS;
	case SYS_setrlimit:
		return (uint32_t)k->arg[0] == RLIMIT_AS && fast_limits(c, k->arg[1]);
	case SYS_prlimit64:
		return (uint32_t)k->arg[1] == RLIMIT_AS && fast_limits(c, k->arg[2]);
	case SYS_shmat:
		return k->arg[1] != 0;  /* the kernel does not map over the recorder, but the program may */
	case SYS_seccomp: case SYS_modify_ldt: case SYS_set_thread_area: case SYS_mlockall:
		return 1;
	}
	return 0;
}

int
fast_looks(struct cap *c, const struct call *k)
{
	int fd = -1;

	switch (k->nr) {
	case SYS_read: case SYS_pread64: case SYS_readv: case SYS_preadv: case SYS_preadv2: case SYS_splice:
		fd = (int)k->arg[0];
		break;
	case SYS_sendfile:
		fd = (int)k->arg[1];
	}
	return fd >= 0 && file_shows_memory(c, fd);
}

/*
 * The program is about to read where its memory is: the recorder's is not to be there, until it has read that.  Who
 * does it again and again would have it put back each time.  Rooms of threads are seen (aside.c), and so it may be
 * while there are others.
 */
static int
fast_shows(struct cap *c, const struct call *k)
{
	unsigned shown = c->fast->shown < RARE ? c->fast->shown + 1 : RARE;

	if (!c->fast->a || c->fast->lent || fast_others(c) || !fast_looks(c, k) || !fast_quit(c))
		return 0;
	c->fast->never = 0;
	c->fast->shown = shown;
	c->fast->hot = shown <= SOON ? 1 : HOT << (shown - SOON);
	return 1;
}

int
fast_enter(struct cap *c, const struct call *k)
{
	struct fast *f;

	if (!c->all->recorder)
		return 0;
	if (k->nr == SYS_prctl && k->arg[0] == 65)      /* PR_SET_MDWE */
		c->all->mdwe = 1;
	f = fast_of(c);
	if (f->never)
		return 0;
	if (k->nr == SYS_clone || k->nr == SYS_clone3 || k->nr == SYS_vfork || k->nr == SYS_fork)
		return fast_clones(c, clone_flags(c, k));
	if (fast_ends(c, k))
		return fast_quit(c);
	if (fast_shows(c, k))
		return 1;
	if (!f->a)
		return 0;
	switch (k->nr) {
	case SYS_mmap:
		if (!(k->arg[3] & (MAP_FIXED | MAP_FIXED_NOREPLACE)))
			return 0;
		return fast_changes(c, k->arg[0], k->arg[0] + k->arg[1]);
	case SYS_munmap: case SYS_mprotect: case SYS_pkey_mprotect: case SYS_madvise:
		return fast_changes(c, k->arg[0], k->arg[0] + k->arg[1]);
	case SYS_mremap:
		if (fast_changes(c, k->arg[0], k->arg[0] + k->arg[1]))
			return 1;
		return k->arg[3] & MREMAP_FIXED ? fast_changes(c, k->arg[4], k->arg[4] + k->arg[2]) : 0;
	case SYS_dup2: case SYS_dup3:
		if (k->arg[1] < FAST_FILES)
			f->a->file[k->arg[1]] = 0;
		return 0;
	case SYS_close:
		if (k->arg[0] < FAST_FILES)
			f->a->file[k->arg[0]] = 0;
		return 0;
	case SYS_close_range:
		memset(f->a->file, 0, sizeof(f->a->file));
	}
	return 0;
}
