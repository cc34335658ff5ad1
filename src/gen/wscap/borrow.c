/*
 * A child of vfork uses its parent's memory until it executes a program, which is soon, and needs little of it.  What is
 * large is hidden from it, as with --first-touch, and recorded a piece at a time where it is used: only that can
 * have changed when the parent goes on.  The parent sees its memory again then.
 */
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "base/bytes.h"
#include "gen/wscap/fast.h"
#include "gen/wscap/share.h"
#include "gen/wscap/touch.h"
#include "gen/wscap/wscap.h"

#define LARGE (512u << 10)      /* bytes of a mapping that is hidden */

int
borrow_may(const struct cap *c, uint64_t flags)
{
	const struct tree *a = c->all;

	return (flags & (CLONE_VM | CLONE_VFORK)) == (CLONE_VM | CLONE_VFORK) && c->w && !c->th && !a->alone && !a->touch &&
	    !a->audit && !a->attached && !a->failed && c->altstack != ALTSTACK_UNKNOWN && !fast_filtered(c);
}

int
borrow_large(const struct region *r)
{
	return r->hi - r->lo >= LARGE && !r->shared && !r->stack && r->prot & PROT_WRITE && !(r->prot & PROT_EXEC);
}

void
borrow_save(struct cap *c, uint64_t lo, uint64_t hi)
{
	if (c->lender && c->lender->borrow)
		compare_keep_old(c->lender, lo, hi);
}

/* Saves what is hidden of [lo, lo + n) and of its parent; the call may change it there or take it away. */
static void
borrow_lose(struct cap *c, uint64_t lo, uint64_t n)
{
	uint64_t hi = n < UINT64_MAX - lo ? lo + n : UINT64_MAX;

	for (size_t i = region_at(&c->hidden, lo); i < c->hidden.n && c->hidden.p[i].lo < hi; i++) {
		const struct region *h = &c->hidden.p[i];

		borrow_save(c, h->lo > lo ? h->lo : lo, h->hi < hi ? h->hi : hi);
	}
}

void
borrow_call(struct cap *c, const struct call *k)
{
	switch (k->nr) {
	case SYS_mmap:
		if (k->arg[3] & MAP_FIXED)
			borrow_lose(c, k->arg[0], k->arg[1]);
		break;
	case SYS_mremap:
		if (k->arg[3] & MREMAP_FIXED)
			borrow_lose(c, k->arg[4], k->arg[2]);
		break;
	case SYS_munmap: case SYS_madvise:
		borrow_lose(c, k->arg[0], k->arg[1]);
		break;
	case SYS_brk:
		if (k->arg[0] && k->arg[0] < c->brk)
			borrow_lose(c, k->arg[0], c->brk - k->arg[0]);
		break;
	}
}

/* [lo, hi) of a mapping: hides it, or records it now. */
static void
borrow_part(struct cap *c, const struct region *r, uint64_t lo, uint64_t hi, int hide)
{
	struct region part = *r;

	part.lo = lo;
	part.hi = hi;
	if (lo >= hi)
		return;
	if (hide && !touch_protect(c, lo, hi, PROT_NONE)) {
		region_set(&c->hidden, &part);
		return;
	}
	borrow_save(c, lo, hi);
	put_pages(c, lo, hi);
}

int
borrow_hide(struct cap *c, const struct region *r, uint64_t lo)
{
	uint64_t alt = c->altstack / PAGE * PAGE, end = (c->altstack + c->altsize + PAGE - 1) / PAGE * PAGE;
	struct user_regs_struct g;
	size_t i;
	int hide;

	if (!c->lender || !c->lender->borrow)
		return 0;
	if (!borrow_large(r)) {         /* its parent may have a heap that is one with it, and has saved nothing of that */
		i = region_at(&c->lender->reg, lo);
		if (i < c->lender->reg.n && c->lender->reg.p[i].lo <= lo && borrow_large(&c->lender->reg.p[i]))
			borrow_save(c, lo, r->hi);
		return 0;
	}
	/* the kernel writes the frame of a signal to a stack, which must be there */
	hide = !tracee_regs(&c->t, &g) && !(g.rsp >= lo && g.rsp < r->hi);
	alt = !c->altsize || alt > r->hi ? r->hi : alt < lo ? lo : alt;
	end = end < alt ? alt : end > r->hi ? r->hi : end;
	borrow_part(c, r, lo, alt, hide);
	borrow_part(c, r, alt, end, 0);
	borrow_part(c, r, end, r->hi, hide);
	return 1;
}

void
borrow_show(struct cap *c)
{
	if (c->all->touch)
		return;
	for (size_t i = 0; i < c->hidden.n; i++)
		touch_show(c, c->hidden.p[i].lo, c->hidden.p[i].hi);
	c->hidden.n = 0;
}

void
borrow_leave(struct cap *c)
{
	for (size_t i = 0; c->borrow && i < c->reg.n; i++)
		if (borrow_large(&c->reg.p[i]))
			compare_keep_old(c, c->reg.p[i].lo, c->reg.p[i].hi);
	c->borrow = 0;
}

void
borrow_altstack(struct cap *c, const struct call *k)
{
	uint8_t ss[24];

	if (!k->arg[0] || k->ret)
		return;
	if (tracee_read(&c->t, k->arg[0], ss, sizeof(ss)) != sizeof(ss)) {
		c->altstack = ALTSTACK_UNKNOWN;
		return;
	}
	c->altstack = get_le64(ss);
	c->altsize = get_le32(ss + 8) & 2 ? 0 : get_le64(ss + 16);      /* SS_DISABLE */
}
