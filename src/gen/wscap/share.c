/* Memory that captured processes share: which has to be compared, and until when. */
#include <linux/futex.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "gen/wscap/fast.h"
#include "gen/wscap/thread.h"

#define LARGE (1u << 20)        /* bytes of memory that are worth the effort to find what exists */

/* Others write to the region r of c: it is compared from now on.  text: a note of the first time */
static void
share_begin(struct cap *c, struct region *r, const char *text)
{
	if (r->foreign)
		return;
	r->foreign = 1;
	hold_changes(c, r->dev, r->ino);
	if (!c->fresh)
		put_note(c, text);
	c->sharing = c->fresh = 1;
	fast_share_begun(c);
}

int
share_writes(const struct region *r)
{
	return r->wasw || r->prot & PROT_WRITE;
}

/* Others read what c writes: it runs only when it has the turn. */
static void
share_writer(struct cap *c)
{
	if (c->writes)
		return;
	c->writes = 1;
	fast_share_begun(c);
}

/* Regions of o that are memory of r, which c has mapped. */
static void
share_with(struct cap *c, struct region *r, struct cap *o)
{
	static const char text[] = "memory is shared with another captured process: "
	    "what that writes is recorded when this one goes on";

	for (size_t i = 0; i < o->reg.n; i++) {
		struct region *q = &o->reg.p[i];

		if (!q->shared || q->ino != r->ino || q->dev != r->dev)
			continue;
		if (share_writes(q)) {
			share_begin(c, r, text);
			share_writer(o);
		}
		if (share_writes(r)) {
			share_begin(o, q, text);
			share_writer(c);
		}
		turn_join(o);
	}
}

void
share_mapped(struct cap *c, uint64_t lo, uint64_t hi)
{
	for (size_t i = region_at(&c->reg, lo); i < c->reg.n && c->reg.p[i].lo < hi; i++) {
		struct region *r = &c->reg.p[i];

		if (!r->shared || !r->ino)
			continue;
		for (size_t b = 0; b < NBUCKETS; b++)
			for (struct cap *o = c->all->bucket[b]; o; o = o->next)
				if (o != c)
					share_with(c, r, o);
	}
}

void
share_outside(struct cap *c, const struct region *r, const char *name)
{
	static const char text[] = "memory is shared with the kernel, a device or a process that is not captured: "
	    "what that writes is recorded at the next system call";
	size_t i = region_at(&c->reg, r->lo);

	if (i == c->reg.n || c->reg.p[i].lo > r->lo || c->reg.p[i].foreign || !outside_writes(c, r, name))
		return;
	share_begin(c, &c->reg.p[i], text);
	c->outside = 1;
}

/* May o write to shared memory of c? */
static int
share_common(const struct cap *c, const struct cap *o)
{
	for (size_t i = 0; i < c->reg.n; i++) {
		const struct region *r = &c->reg.p[i];

		if (!r->shared || !(r->foreign || share_writes(r)))
			continue;
		if (!r->ino)            /* whose memory it is, is not known */
			return 1;
		for (size_t k = 0; k < o->reg.n; k++) {
			const struct region *q = &o->reg.p[k];

			if (q->shared && share_writes(q) && q->ino == r->ino && q->dev == r->dev)
				return 1;
		}
	}
	return 0;
}

/* Is o the parent whose memory c uses, and which waits for c? */
static int
share_lender(const struct cap *c, const struct cap *o)
{
	return c->lender == o && !o->th;
}

int
share_borrows(const struct cap *c)
{
	return c->lender && share_lender(c, c->lender) && !c->lender->sharing;
}

int
share_before(struct cap *c, uint64_t flags)
{
	uint64_t large = 0;

	for (size_t i = 0; i < c->reg.n; i++)
		if (c->reg.p[i].zeros && c->reg.p[i].prot & PROT_WRITE)
			large += c->reg.p[i].hi - c->reg.p[i].lo;
	if ((!(flags & CLONE_VM) && c->sharing) || c->saved || c->fresh || large < LARGE || c->th ||
	    tracee_cancel_call(&c->t, &c->in))
		return 0;
	c->inside = 0;
	/* what is recorded here would be in a replay before c has written it */
	if (c->sharing) {
		(void)hold_begin(c);
		share_keep(c);
	} else {
		compare_shared(c);
	}
	c->saved = 1;
	return 1;
}

int
share_any(const struct cap *c)
{
	return c->sharing || c->writes;
}

/* Can no other captured process write to memory of c?  out: or c to that of another? */
static int
share_alone(const struct cap *c, int out)
{
	if (c->all->strays || (c->outside && !out))
		return 0;
	for (size_t b = 0; b < NBUCKETS; b++)
		for (const struct cap *o = c->all->bucket[b]; o; o = o->next)
			if (o != c && !share_lender(c, o) && (out ? share_common(o, c) : share_common(c, o)))
				return 0;
	return 1;
}

/* Does a call of c with the registers g wait, and write nothing to memory that is shared? */
static int
share_waits(const struct cap *c, const struct user_regs_struct *g)
{
	static const struct { uint16_t nr, n; } waits[] = {{SYS_read, 3}, {SYS_recvfrom, 6}, {SYS_accept, 3}, {SYS_accept4, 4},
	    {SYS_poll, 3}, {SYS_ppoll, 5}, {SYS_select, 5}, {SYS_pselect6, 6}, {SYS_epoll_wait, 4}, {SYS_epoll_pwait, 6},
	    {SYS_futex, 6}, {SYS_nanosleep, 2}, {SYS_clock_nanosleep, 4}, {SYS_pause, 0}, {SYS_wait4, 4}, {SYS_waitid, 5},
	    {SYS_rt_sigsuspend, 2}, {SYS_rt_sigtimedwait, 4}, {SYS_semop, 3}, {SYS_semtimedop, 4}};
	static const uint16_t sends[] = {SYS_write, SYS_writev, SYS_pwrite64, SYS_sendto, SYS_sendmsg, SYS_connect, SYS_flock,
	    SYS_fsync, SYS_fdatasync, SYS_msgsnd};
	uint64_t arg[6] = {g->rdi, g->rsi, g->rdx, g->r10, g->r8, g->r9}, reach = PAGE;
	size_t i, n;

	for (i = 0; i < sizeof(sends) / sizeof(sends[0]); i++)
		if (sends[i] == g->orig_rax)
			return 1;
	for (i = 0; i < sizeof(waits) / sizeof(waits[0]) && waits[i].nr != g->orig_rax; i++)
		;
	if (i == sizeof(waits) / sizeof(waits[0]))
		return 0;
	n = waits[i].n;                 /* other registers have anything */
	if (g->orig_rax == SYS_futex &&
	    ((arg[1] & FUTEX_CMD_MASK) == FUTEX_WAIT || (arg[1] & FUTEX_CMD_MASK) == FUTEX_WAIT_BITSET))
		return 1;               /* it is only read */
	for (i = 0; i < n; i++)         /* one of them counts what is written, elements of 16 bytes at most */
		if (arg[i] <= UINT32_MAX && reach < 16 * arg[i])
			reach = 16 * arg[i];
	for (i = 0; i < n; i++)
		for (size_t r = region_at(&c->reg, arg[i]); r < c->reg.n && c->reg.p[r].lo < arg[i] + reach; r++)
			if (c->reg.p[r].shared && share_writes(&c->reg.p[r]))
				return 0;
	return 1;
}

/* Can nothing write to shared memory for o now, which has not the turn? */
static int
share_rests(const struct cap *o)
{
	if (!o->th)
		return o->turn.ready || (o->inside && share_waits(o, &o->in));
	if (o->th->turn && !o->turn.ready && !(o->inside && share_waits(o, &o->in)))
		return 0;
	for (const struct thread *t = o->th->all; t; t = t->next)
		if (t->state == THREAD_WAITS && !share_waits(o, &t->own.in))
			return 0;
	return 1;
}

int
share_quiet(const struct cap *c)
{
	if (c->all->strays || c->outside)
		return 0;
	for (size_t b = 0; b < NBUCKETS; b++)
		for (const struct cap *o = c->all->bucket[b]; o; o = o->next)
			if (o != c && share_any(o) && !share_rests(o) && !share_lender(c, o))
				return 0;
	return 1;
}

void
share_keep(struct cap *c)
{
	if (!c->sharing || c->fresh)
		return;
	compare_keep(c, c->ran != c->all->nran || !share_quiet(c));
}

void
share_call(struct cap *c)
{
	if (!c->sharing || c->fresh || share_quiet(c))
		return;
	(void)hold_begin(c);            /* c is stopped here */
	compare_keep(c, 1);
}

void
share_catch_up(struct cap *c)
{
	int quiet;

	if (!c->sharing)
		return;
	(void)hold_begin(c);
	quiet = share_quiet(c);
	if (!quiet || c->fresh || c->ran != c->all->nran || c->alone != c->all->nleft)
		compare_shared(c);
	c->ran = quiet ? c->all->nran : 0;
}

void
share_compare(struct cap *c)
{
	uint64_t left = c->all->nleft;
	int known = c->alone == left;

	share_catch_up(c);
	if (known)
		return;
	c->alone = left;
	c->writes = c->writes && !share_alone(c, 1);
	if (!c->sharing || !share_alone(c, 0))
		return;
	for (size_t i = 0; i < c->reg.n; i++)
		c->reg.p[i].foreign = 0;
	c->sharing = c->fresh = 0;
	common_free(&c->common);
}
