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

/* Bytes of a mapping that is hidden: with a recorder, which hides many at once, and without. */
#define SMALL (256u << 10)
#define LARGE (512u << 10)
#define ABOVE 4u                /* pages above the parent's stack pointer that a child is likely to use */
#define KEEPS 4u

unsigned
borrow_may(const struct cap *c, uint64_t flags)
{
	const struct tree *a = c->all;

	if ((flags & (CLONE_VM | CLONE_VFORK)) != (CLONE_VM | CLONE_VFORK) || !c->w || c->th || a->alone || a->touch ||
	    a->audit || a->attached || a->failed || c->altstack == ALTSTACK_UNKNOWN || fast_filtered(c))
		return 0;
	return fast_protect_may(c) ? SMALL : LARGE;
}

int
borrow_large(const struct cap *c, const struct region *r)
{
	return c->borrow && r->hi - r->lo >= c->borrow && !r->shared && (!r->stack || c->borrow == SMALL) &&
	    r->prot & PROT_WRITE && !(r->prot & PROT_EXEC);
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

/* [lo, hi) is recorded now. */
static void
borrow_put(struct cap *c, uint64_t lo, uint64_t hi)
{
	borrow_save(c, lo, hi);
	put_pages(c, lo, hi);
}

struct keep { uint64_t lo, hi; };

/*
 * What is not hidden of a mapping of c, whose registers are g: the kernel writes the frame of a signal to a stack, and a number to
 * where it is told, which must be there; and a child on a stack of its own has its arguments on its parent's.
 */
static void
borrow_keep(const struct cap *c, const struct region *r, const struct user_regs_struct *g, struct keep *k)
{
	uint64_t sp = c->lender->in.rsp / PAGE * PAGE, tid = c->cleartid / PAGE * PAGE;

	k[0] = (struct keep){c->altstack / PAGE * PAGE, (c->altstack + c->altsize + PAGE - 1) / PAGE * PAGE};
	if (!c->altsize)
		k[0].hi = k[0].lo;
	k[1] = (struct keep){0, 0};
	if (g->rsp >= r->lo && g->rsp < r->hi)
		k[1] = (struct keep){r->lo, (g->rsp + CHUNK) / PAGE * PAGE};
	k[2] = (struct keep){sp - PAGE, sp + ABOVE * PAGE};
	k[3] = (struct keep){tid, c->cleartid ? tid + PAGE : tid};
}

int
borrow_hide(struct cap *c, const struct region *r, uint64_t lo)
{
	struct cap *p = c->lender && c->lender->borrow ? c->lender : NULL;
	struct user_regs_struct g;
	struct keep keep[KEEPS];
	uint64_t end;

	if (!p)
		return 0;
	if (!borrow_large(p, r) || tracee_regs(&c->t, &g)) {
		/* its parent may have a heap that is one with it, and has saved nothing of that */
		size_t i = region_at(&p->reg, lo);

		if (i < p->reg.n && p->reg.p[i].lo <= lo && borrow_large(p, &p->reg.p[i]))
			borrow_save(c, lo, r->hi);
		return 0;
	}
	if (r->hi - lo < p->borrow) {   /* a stack whose region is as large as it may become */
		borrow_put(c, lo, r->hi);
		return 1;
	}
	borrow_keep(c, r, &g, keep);
	for (uint64_t at = lo; at < r->hi; at = end) {
		struct region part = *r;
		int hide = 1;

		end = r->hi;
		for (unsigned i = 0; i < KEEPS; i++) {
			if (keep[i].lo <= at && keep[i].hi > at) {
				hide = 0;
				end = keep[i].hi < r->hi ? keep[i].hi : r->hi;
				break;
			}
			if (keep[i].lo > at && keep[i].lo < end && keep[i].hi > keep[i].lo)
				end = keep[i].lo;
		}
		part.lo = at;
		part.hi = end;
		if (hide)
			region_set(&c->hidden, &part);
		else
			borrow_put(c, at, end);
	}
	return 1;
}

void
borrow_hide_all(struct cap *c)
{
	struct protects t;
	size_t i = 0;

	while (c->lender && c->lender->borrow && i < c->hidden.n) {
		size_t n = 0;

		for (t.n = 0; t.n < TOUCH_PROTECTS && i + t.n < c->hidden.n;)
			touch_protects_add(c, &t, c->hidden.p[i + t.n].lo, c->hidden.p[i + t.n].hi, PROT_NONE);
		n = t.n;
		touch_protects_make(c, &t);
		for (size_t j = 0; j < n; j++) {
			uint64_t lo = t.p[j].lo, hi = lo + t.p[j].n;

			if (!t.p[j].ret) {
				i++;
				continue;
			}
			region_cut(&c->hidden, lo, hi);
			borrow_put(c, lo, hi);
		}
	}
}

void
borrow_show(struct cap *c)
{
	struct protects t;

	if (c->all->touch)
		return;
	t.n = 0;
	for (size_t i = 0; i < c->hidden.n; i++)
		touch_show(c, &t, c->hidden.p[i].lo, c->hidden.p[i].hi);
	touch_protects_make(c, &t);
	c->hidden.n = 0;
}

void
borrow_leave(struct cap *c)
{
	for (size_t i = 0; i < c->reg.n; i++)
		if (borrow_large(c, &c->reg.p[i]))
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
