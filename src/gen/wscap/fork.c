/* Children that are captured: forked ones, and those that borrow their parent's memory until execve. */
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/mem.h"
#include "gen/wscap/fast.h"
#include "gen/wscap/signal.h"
#include "gen/wscap/touch.h"
#include "gen/wscap/wscap.h"

#ifndef CLONE_CLEAR_SIGHAND
#define CLONE_CLEAR_SIGHAND 0x100000000ull
#endif

static void *
fork_copy(const void *p, size_t n)
{
	void *q = xmalloc(n + 1);

	if (n)
		memcpy(q, p, n);
	return q;
}

/* The state of the child: that of its parent in the call that made it. */
static struct cap *
fork_state(struct cap *c, pid_t pid, uint64_t flags)
{
	struct cap *k = fork_copy(c, sizeof(*c));

	memset(&k->t, 0, sizeof(k->t));
	k->t.pid = pid;
	k->t.site = c->t.site;
	k->t.mem = tracee_open(pid, "mem", O_RDWR);
	k->th = NULL;
	k->cleartid = thread_cleartid(c, flags);
	k->fast = NULL;
	k->dispatched = 0;
	if (c->fast && (flags & CLONE_VM || c->fast->never))
		fast_off(k);
	k->w = NULL;
	k->run = NULL;
	k->next = k->borrower = k->lender = NULL;
	k->lent = 0;
	memset(&k->after, 0, sizeof(k->after));
	k->args = fork_copy(c->args, c->nargs);
	k->since = 0;
	k->dirty = k->listen = k->inside = k->behind = k->denied = k->borrow = 0;
	k->restart = RESTART_NOT;
	k->compare = COMPARE_NOT;
	k->oldadvice = k->sent = k->cputime = 0;
	memset(&k->turn, 0, sizeof(k->turn));
	k->ended = k->hasended = k->sharing = k->fresh = 0;
	k->reg.p = fork_copy(c->reg.p, c->reg.n * sizeof(*c->reg.p));
	k->reg.cap = c->reg.n;
	memset(&k->hidden, 0, sizeof(k->hidden));
	memset(&k->hold, 0, sizeof(k->hold));
	memset(&k->image, 0, sizeof(k->image));
	k->site = fork_copy(c->site, c->nsite * sizeof(*c->site));
	k->spin = (struct spin){.unwatched = c->spin.unwatched, .passed = c->spin.unwatched};
	k->capsite = c->nsite;
	memset(&k->shadow, 0, sizeof(k->shadow));
	memset(&k->common, 0, sizeof(k->common));
	k->lately = NULL;
	memset(k->file, 0, sizeof(k->file));
	if (flags & CLONE_CLEAR_SIGHAND)
		for (int i = 1; i <= 64; i++)
			k->handler[i] = k->handler[i] == 1;
	return k;
}

/* Records r, a mapping or a part of one; m and name are what /proc says of it. */
static void
fork_region(struct cap *k, const struct region *r, const struct tracee_map *m, const char *name, const char *exe)
{
	uint64_t lo = m->lo > r->lo ? m->lo : r->lo;

	(void)hold_open(k, r, name);
	put_map(k, r, start_type(k, m, name, exe), name);
	k->all->copying = 1;
	if (!borrow_hide(k, r, lo) && !hold_map(k, r, lo, name, 0))
		put_pages(k, lo, r->hi);
	k->all->copying = 0;
}

/*
 * Records the mappings of a process and their contents, as far as they exist: madvise can keep some from
 * children.
 */
static void
fork_memory(struct cap *k, const struct tracee_maps *maps, const char *exe)
{
	struct regions had = k->reg;

	memset(&k->reg, 0, sizeof(k->reg));
	for (size_t i = 0, j = 0; i < had.n; i++) {
		const struct region *r = &had.p[i];

		for (; j < maps->n && maps->map[j].hi <= r->lo; j++)
			;
		for (size_t m = j; m < maps->n && maps->map[m].lo < r->hi; m++) {
			const struct tracee_map *e = &maps->map[m];
			struct region part = *r;

			if (!part.stack && e->lo > part.lo) {
				part.offset += part.ino ? e->lo - part.lo : 0;
				part.lo = e->lo;
			}
			if (e->hi < part.hi)
				part.hi = e->hi;
			region_set(&k->reg, &part);
			fork_region(k, &part, e, maps->text + e->name, exe);
		}
	}
	borrow_hide_all(k);
	free(had.p);
}

/* Begins the run of a child that has just begun. */
static const char *
fork_begin(struct cap *k)
{
	struct user_regs_struct g;
	struct tracee_maps maps = {0};
	char exe[4096];

	if (k->t.mem < 0)
		return "its memory cannot be read";
	if (tracee_regs(&k->t, &g))
		return "its registers cannot be read";
	if (tracee_maps(k->t.pid, &maps))
		return "its mappings cannot be read";
	signal_mask(k);
	start_exe(k->t.pid, exe, sizeof(exe));
	start_header(k, exe);
	start_state(k, &g);
	fork_memory(k, &maps, exe);
	tracee_maps_free(&maps);
	random_fork(k);
	if (!share_borrows(k))
		compare_shared(k);
	return NULL;
}

void
child_capture(struct cap *c, pid_t pid)
{
	uint64_t flags = clone_flags(c, &(struct call){.nr = c->in.orig_rax, .arg = {c->in.rdi}});
	struct cap *k = tree_add(c->all, fork_state(c, pid, flags));
	const char *why;

	pin_begun(k, pid);
	if (flags & CLONE_VM) {
		k->lender = c;
		c->borrower = k;
	}
	if (tree_begin(k, c, flags & CLONE_VM ? WS_VFORK : WS_FORK) != 0)
		why = "it cannot be written";
	else
		why = fork_begin(k);
	if (!why) {
		if (flags & CLONE_VFORK) {
			turn_lend(c);
			fast_lend(k);
		}
		turn_resume(k, 0);
		return;
	}
	cap_warn_stop(k, why);
	cap_release(k);
	tree_remove(k);
}

void
fork_return(struct cap *c)
{
	struct cap *p = c->lender;
	struct site *site;
	size_t n;

	if (!p)
		return;
	fast_return(c);
	c->lender = NULL;
	p->borrower = NULL;
	p->lent = 1;
	p->after = c->reg;
	memset(&c->reg, 0, sizeof(c->reg));
	p->brk = c->brk;
	/* it is still hidden from the parent, which cannot do anything about it yet */
	free(p->hidden.p);
	p->hidden = c->hidden;
	memset(&c->hidden, 0, sizeof(c->hidden));
	site = p->site;
	p->site = c->site;
	c->site = site;
	n = p->capsite;
	p->capsite = c->capsite;
	c->capsite = n;
	p->nsite = c->nsite;
	c->nsite = 0;
}

/* Is all of r as it was in `before`?  A heap may be one region there with what is below it, and two in a child. */
static int
was_region(const struct regions *before, const struct region *r)
{
	uint64_t at = r->lo;

	for (size_t i = region_at(before, at); i < before->n && at < r->hi; i++) {
		const struct region *b = &before->p[i];

		if (b->lo > at || b->prot != r->prot || b->shared != r->shared || b->ino != r->ino || b->dev != r->dev ||
		    (r->ino && b->offset - b->lo != r->offset - r->lo))
			return 0;
		at = b->hi;
	}
	return at >= r->hi;
}

/* Records what of `before` is no longer mapped. */
static void
adopt_gone(struct cap *c, const struct regions *before)
{
	for (size_t i = 0; i < before->n; i++) {
		uint64_t at = before->p[i].lo, hi = before->p[i].hi;

		while (at < hi) {
			size_t j = region_at(&c->reg, at);
			uint64_t lo = j < c->reg.n && c->reg.p[j].lo < hi ? c->reg.p[j].lo : hi;

			if (lo > at)
				hold_cut(c, at, lo);
			if (lo > at)
				put_range(c, WS_UNMAP, at, lo - at, 0);
			at = lo < hi ? c->reg.p[j].hi : hi;
		}
	}
}

void
fork_adopt(struct cap *c)
{
	struct regions before = c->reg;
	struct tracee_maps maps = {0};
	char exe[4096];

	if (c->borrower)                /* it executes a program, and its stop there has not been seen yet */
		fork_return(c->borrower);
	if (!c->lent)
		return;
	c->lent = 0;
	c->reg = c->after;
	memset(&c->after, 0, sizeof(c->after));
	borrow_show(c);
	random_fork(c);
	adopt_gone(c, &before);
	for (size_t i = 0; i < c->reg.n; i++) {
		const struct region *r = &c->reg.p[i];
		size_t m;

		if (was_region(&before, r))
			continue;
		if (!maps.n) {
			start_exe(c->t.pid, exe, sizeof(exe));
			if (tracee_maps(c->t.pid, &maps))
				break;
		}
		hold_cut(c, r->lo, r->hi);
		for (m = 0; m < maps.n && maps.map[m].hi <= r->lo; m++)
			;
		if (m < maps.n && maps.map[m].lo < r->hi)
			fork_region(c, r, &maps.map[m], maps.text + maps.map[m].name, exe);
	}
	borrow_hide_all(c);
	tracee_maps_free(&maps);
	free(before.p);
}
