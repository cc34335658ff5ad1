/*
 * Mapped ranges of an address space: a treap ordered by address.  Nodes that are contiguous
 * both in the space and in memory are merged.
 */
#include <stdlib.h>

#include "laplace/laplace_internal.h"

int
lap_reserve(struct lap_model *m, size_t n)
{
	while (m->nspare < n) {
		struct lap_node *x = malloc(sizeof *x);

		if (!x)
			return lap_fatal(m, "no memory");
		x->left = m->spare;
		m->spare = x;
		m->nspare++;
	}
	return 0;
}

static struct lap_node *
lap_range_make(struct lap_model *m, const struct lap_node *what)
{
	struct lap_node *x = m->spare;

	m->spare = x->left;
	m->nspare--;
	m->nnode++;
	*x = *what;
	x->left = x->right = NULL;
	m->seed = m->seed * 1664525u + 1013904223u;
	x->rank = m->seed ^ m->seed >> 15;
	if (x->file)
		x->file->nnode++;
	return x;
}

static void
lap_range_release(struct lap_model *m, struct lap_node *x)
{
	m->nnode--;
	if (x->file) {
		x->file->nnode--;
		lap_file_drop(m, x->file);
	}
	if (m->nspare >= 1024) {
		free(x);
		return;
	}
	x->left = m->spare;
	m->spare = x;
	m->nspare++;
}

static void
release_all(struct lap_model *m, struct lap_node *x)
{
	while (x) {
		struct lap_node *right = x->right;

		release_all(m, x->left);
		lap_range_release(m, x);
		x = right;
	}
}

/* Splits a treap into the nodes that begin before `page` and the others. */
static void
lap_range_split(struct lap_node *t, uint64_t page, struct lap_node **a, struct lap_node **b)
{
	while (t) {
		if (t->lo < page) {
			*a = t;
			a = &t->right;
			t = t->right;
		} else {
			*b = t;
			b = &t->left;
			t = t->left;
		}
	}
	*a = *b = NULL;
}

static struct lap_node *
lap_range_join(struct lap_node *a, struct lap_node *b)
{
	struct lap_node *root = NULL, **to = &root;

	while (a && b) {
		if (a->rank >= b->rank) {
			*to = a;
			to = &a->right;
			a = a->right;
		} else {
			*to = b;
			to = &b->left;
			b = b->left;
		}
	}
	*to = a ? a : b;
	return root;
}

static void
lap_range_insert(struct lap_space *s, struct lap_node *x)
{
	struct lap_node *a, *b;

	lap_range_split(s->root, x->lo, &a, &b);
	s->root = lap_range_join(lap_range_join(a, x), b);
}

struct lap_node *
lap_range_after(const struct lap_space *s, uint64_t page)
{
	struct lap_node *t = s->root, *best = NULL;

	while (t) {
		if (t->hi > page) {
			best = t;
			t = t->left;
		} else {
			t = t->right;
		}
	}
	return best;
}

void
lap_range_invalidate(struct lap_space *s, uint64_t lo, uint64_t hi)
{
	if (hi - lo <= 8) {
		for (uint64_t p = lo; p < hi; p++) {
			uint64_t tag = p | s->epoch << 52;

			if (s->tlb[p % LAP_TLB].tag == tag)
				s->tlb[p % LAP_TLB].tag = 0;
			if (s->none[p % LAP_TLB] == tag)
				s->none[p % LAP_TLB] = 0;
		}
		return;
	}
	if (++s->epoch < LAP_EPOCHS)
		return;
	s->epoch = 1;
	for (size_t i = 0; i < LAP_TLB; i++)
		s->tlb[i].tag = s->none[i] = 0;
}

/* Splits the node that contains `page`, so that one begins there. */
static void
lap_range_cut(struct lap_model *m, struct lap_space *s, uint64_t page)
{
	struct lap_node *x = lap_range_after(s, page), back;

	if (!x || x->lo >= page)
		return;
	back = *x;
	back.lo = page;
	back.base += page - x->lo;
	x->hi = page;
	lap_range_insert(s, lap_range_make(m, &back));
}

void
lap_range_unmap(struct lap_model *m, struct lap_space *s, uint64_t lo, uint64_t hi)
{
	struct lap_node *a, *b, *c, *x = lap_range_after(s, lo);

	if (lo >= hi)
		return;
	lap_range_invalidate(s, lo, hi);
	if (!x || x->lo >= hi)
		return;
	lap_range_cut(m, s, lo);
	lap_range_cut(m, s, hi);
	lap_range_split(s->root, lo, &a, &b);
	lap_range_split(b, hi, &b, &c);
	s->root = lap_range_join(a, c);
	release_all(m, b);
}

static int
lap_range_continues(const struct lap_node *x, const struct lap_node *y)
{
	return x->hi == y->lo && x->file == y->file && x->base + (x->hi - x->lo) == y->base;
}

void
lap_range_map(struct lap_model *m, struct lap_space *s, struct lap_node what)
{
	struct lap_node *a, *b, *x, *y;

	lap_range_unmap(m, s, what.lo, what.hi);
	x = what.lo ? lap_range_after(s, what.lo - 1) : NULL;
	y = lap_range_after(s, what.lo);
	if (x && lap_range_continues(x, &what)) {
		x->hi = what.hi;
		if (!y || !lap_range_continues(x, y))
			return;
		x->hi = y->hi;
		lap_range_split(s->root, y->lo, &a, &b);
		lap_range_split(b, y->lo + 1, &y, &b);
		s->root = lap_range_join(a, b);
		lap_range_release(m, y);
	} else if (y && lap_range_continues(&what, y)) {
		y->lo = what.lo;
		y->base = what.base;
	} else {
		lap_range_insert(s, lap_range_make(m, &what));
	}
}

int
lap_range_copy(struct lap_model *m, struct lap_space *from, uint64_t lo, uint64_t hi,
    struct lap_space *to, uint64_t at)
{
	size_t n = 0;

	for (struct lap_node *x = lap_range_after(from, lo); x && x->lo < hi;
	    x = lap_range_after(from, x->hi))
		n++;
	/* one for each, and 3 for a put */
	if (lap_reserve(m, n + 3) != 0)
		return -1;
	/* In the same space, a put may merge the node that is being read: keep addresses, not nodes. */
	for (uint64_t p = lo; p < hi;) {
		struct lap_node *x = lap_range_after(from, p), y;

		if (!x || x->lo >= hi)
			break;
		y = *x;
		if (y.lo < p) {
			y.base += p - y.lo;
			y.lo = p;
		}
		if (y.hi > hi)
			y.hi = hi;
		p = y.hi;
		y.lo = at + (y.lo - lo);
		y.hi = at + (y.hi - lo);
		lap_range_map(m, to, y);
	}
	return 0;
}
