/*
 * A child of vfork has its parent's memory, and the recorder in it, which its parent does not need meanwhile: it is lent
 * to the child, for the few calls that children make often.  posix_spawn sets and asks the actions of all signals.
 */
#include <string.h>
#include <sys/syscall.h>

#include "gen/wscap/fast.h"
#include "gen/wscap/share.h"
#include "gen/wscap/signal.h"
#include "gen/wscap/wscap.h"

int
fast_lent_makes(uint64_t nr)
{
	switch (nr) {
	case SYS_rt_sigaction: case SYS_rt_sigprocmask: case SYS_close: case SYS_dup2: case SYS_dup3: case SYS_fcntl:
		return 1;
	}
	return 0;
}

/* f is c's from now on, without anything in its buffer. */
static void
lend_to(struct cap *c, struct fast *f, int lent)
{
	c->fast = f;
	f->lent = lent;
	f->calling = f->granted = 0;
	f->guarded = UINT64_MAX;
	f->a->selector = f->a->note = f->a->grant = 0;
	f->tail = *(volatile uint64_t *)&f->a->head = f->a->begun = f->a->mapped = 0;
	fast_table(c, f->a);
}

void
fast_lend(struct cap *k)
{
	struct cap *c = k->lender;
	struct fast *f = c ? c->fast : NULL;

	if (!f || !f->paused || f->never || f->lent || c->th || share_any(c))
		return;
	fast_free(k);
	c->fast = NULL;
	lend_to(k, f, 1);
	fast_switch(k, 1);
}

void
fast_return(struct cap *k)
{
	struct fast *f = k->fast;

	if (!f || !f->lent)
		return;
	k->fast = NULL;
	k->dispatched = 0;
	lend_to(k->lender, f, 0);
	memset(f->a->file, 0, sizeof(f->a->file));      /* the child may have mapped a file, whose writes are to be seen */
}

void
fast_give_back(struct cap *k)
{
	if (!k->fast || !k->fast->lent || !k->lender)
		return;
	fast_switch(k, 0);
	fast_untell(k);
	k->fast->paused = 1;
	fast_return(k);
}

void
fast_shown(const struct cap *c, uint64_t sp)
{
	struct fast_area *a = c->fast->a;
	uint64_t lo, hi;
	size_t i;

	a->shown = 0;
	a->nshown = UINT64_MAX;
	if (!c->hidden.n)
		return;
	a->nshown = 0;
	i = region_at(&c->reg, sp);
	if (i == c->reg.n || c->reg.p[i].lo > sp)
		return;
	lo = c->reg.p[i].lo;
	hi = c->reg.p[i].hi;
	for (i = region_at(&c->hidden, lo); i < c->hidden.n && c->hidden.p[i].lo <= sp; i++)
		lo = c->hidden.p[i].hi;
	if (i < c->hidden.n && c->hidden.p[i].lo < hi)
		hi = c->hidden.p[i].lo;
	if (lo > sp)
		return;
	a->shown = lo;
	a->nshown = hi - lo;
}

/* That of c, or the one that a child of vfork finds in the memory that it uses */
static struct fast *
fast_there(const struct cap *c)
{
	if (c->fast && c->fast->a)
		return c->fast;
	return c->lender && c->lender->fast && c->lender->fast->a ? c->lender->fast : NULL;
}

int
fast_protect_may(const struct cap *c)
{
	return fast_there(c) != NULL;
}

int
fast_protect(struct cap *c, struct fast_protect *p, size_t n)
{
	struct fast *f = fast_there(c);
	struct user_regs_struct g;

	while (n) {
		size_t k = n < FAST_PROTECTS ? n : FAST_PROTECTS;

		if (!f || tracee_regs(&c->t, &g))
			return -1;
		memcpy(f->a->protect, p, k * sizeof(*p));
		g.rip = fast_place(f, fast_protects);
		g.rbx = f->core + FAST_CODE + offsetof(struct fast_area, protect);
		g.r12 = k;
		g.orig_rax = UINT64_MAX;
		g.cs = TRACEE_CS_64;
		if (tracee_run(&c->t, &g))
			return -1;
		signal_forced(c, SIGTRAP);
		memcpy(p, f->a->protect, k * sizeof(*p));
		p += k;
		n -= k;
	}
	return 0;
}
