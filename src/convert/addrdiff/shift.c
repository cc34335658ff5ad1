/*
 * addrdiff: regions of memory that are at other addresses on the other side.
 *
 * Under valgrind, the stack, the heap and every mapping have other addresses than natively,
 * each shifted by one constant.  A region is an interval with one constant.  It is learnt from
 * the first address in it, and extended by every address at most GROW_MAX away that has the
 * same constant; the constant is enforced for every address inside.  (Farther away, there may
 * be another region that has not been seen yet: Linux keeps 128 MiB between mappings and
 * stack.) To keep a wrong address from passing as a region of its own:
 *
 * - the executable's image is not shifted, and addresses within HEAP_MAX after it (the heap)
 *   have one constant, if the image is known;
 * - every address within STACK_NEAR of the stack has the stack's constant; but the strings of
 *   arguments and environment above it may have their own, because the size of the auxiliary
 *   vector between them and the frames differs;
 * - apart from these, only as many regions as the user allows are shifted by other than whole
 *   pages, and then by multiples of 16: thread-local storage, which the dynamic linker allocates,
 *   and alternate signal stacks, whose frames differ in size;
 * - no region may begin inside another one as the other side sees it.
 *
 * The stack is, natively, what lies at STACK_SURE or above, where Linux maps nothing else.  If
 * no such address was seen, it is the first address that is not shifted by whole pages and has
 * no other region near it.
 */
#include "convert/addrdiff/addrdiff.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/search.h"

#define PAGE       4096u
#define HEAP_MAX   (64ull << 30)        /* bytes after the image that may be heap */
#define HEAP_MAX32 (512u << 20)         /* of a program with 32-bit addresses, whose mappings follow */
#define STACK_SURE 0x7ffff8000000u      /* 128 MiB below the end of the address space */
#define STACK_NEAR (16u << 20)          /* bytes */
#define GROW_MAX   (64u << 20)          /* bytes: half of the gap of Linux */
#define ODD_MAX    64u          /* maximum regions that are shifted by multiples of 16 */
#define NCACHE     1024u
#define MAXREGION  4096u        /* regions at most */

struct region {
	uint64_t lo, hi;        /* addresses of side a, hi excluded */
	uint64_t delta;         /* side b minus side a, modulo 2^64 */
};

struct shift {
	struct region cache[NCACHE];    /* by page: copies of recently used regions */
	struct region *r;       /* by ascending address; owned */
	size_t n, cap;
	uint64_t imglo, imghi;  /* equal if unknown */
	uint64_t heapmax;
	int havestack, sure, haveargs, haveheap;
	uint64_t stack, args, heap;     /* constants of these regions */
	uint64_t stackat;       /* the address from which the stack's was learnt: a mapping may have the same */
	uint64_t odd[ODD_MAX];          /* constants of other regions that are not whole pages */
	unsigned nodd, maxodd;
	char why[160];
};

struct shift *
shift_new(const struct prog *p, unsigned odd)
{
	struct shift *t = xcalloc(1, sizeof(*t));

	t->maxodd = odd < ODD_MAX ? odd : ODD_MAX;
	if (p)
		prog_image(p, &t->imglo, &t->imghi);
	t->heapmax = p && prog_word(p) == 4 ? HEAP_MAX32 : HEAP_MAX;
	return t;
}

void
shift_free(struct shift *t)
{
	if (t)
		free(t->r);
	free(t);
}

const char *
shift_why(const struct shift *t)
{
	return t->why;
}

/* The difference as "+0x10" or "-0x10". */
static const char *
signed_hex(char buf[24], uint64_t delta)
{
	int neg = (int64_t)delta < 0;

	snprintf(buf, 24, "%c0x%" PRIx64, neg ? '-' : '+', neg ? -delta : delta);
	return buf;
}

static int
shift_refuse(struct shift *t, uint64_t delta, uint64_t want, const char *what)
{
	char x[24], y[24];

	snprintf(t->why, sizeof(t->why), "shifted by %s, %s by %s", signed_hex(x, delta), what,
	    signed_hex(y, want));
	return 0;
}

static int
refuse_text(struct shift *t, const char *what)
{
	snprintf(t->why, sizeof(t->why), "%s", what);
	return 0;
}

/* Index of the first region that ends after the address. */
static size_t
shift_find(const struct shift *t, uint64_t a)
{
	size_t i;

	LOWER_BOUND(i, t->n, t->r[i].hi <= a);
	return i;
}

/* The stack's region, or NULL if it is not known. */
static const struct region *
shift_stack(const struct shift *t)
{
	size_t i = shift_find(t, t->stackat);

	return t->havestack && i < t->n && t->r[i].lo <= t->stackat ? t->r + i : NULL;
}

/* -1: far from the stack; 0: near it; 1: near and above all of it. */
static int
near_stack(const struct shift *t, uint64_t a)
{
	const struct region *s = shift_stack(t);

	return !s || a + STACK_NEAR < s->lo || a >= s->hi + STACK_NEAR ? -1 : a >= s->hi;
}

static int
check_heap(struct shift *t, uint64_t a, uint64_t delta)
{
	if (t->imghi <= t->imglo || a < t->imghi || a - t->imghi >= t->heapmax)
		return 1;
	if (t->haveheap && delta != t->heap)
		return shift_refuse(t, delta, t->heap, "the heap");
	if (delta % 16)         /* the image of a static program contains its thread-local storage */
		return refuse_text(t, "the heap is not shifted by a multiple of 16");
	t->haveheap = 1;
	t->heap = delta;
	return 1;
}

/* Is there a region within STACK_NEAR? */
static int
shift_beside(const struct shift *t, uint64_t a)
{
	size_t i = shift_find(t, a);

	if (i < t->n && t->r[i].lo - a < STACK_NEAR)
		return 1;
	return i > 0 && a - t->r[i - 1].hi < STACK_NEAR;
}

/* Checks a constant that is neither whole pages nor the stack's. */
static int
check_odd(struct shift *t, uint64_t delta)
{
	unsigned i;
	char x[24];

	for (i = 0; i < t->nodd; i++)
		if (t->odd[i] == delta)
			return 1;
	if (delta % 16) {
		snprintf(t->why, sizeof(t->why), "shifted by %s, which is not a multiple of 16",
		    signed_hex(x, delta));
		return 0;
	}
	if (t->nodd == t->maxodd)
		return refuse_text(t, "another region is not shifted by whole pages; -a allows more");
	t->odd[t->nodd++] = delta;
	return 1;
}

/* The first certain address of the stack.  What was taken for the stack before is another region. */
static int
learn_stack(struct shift *t, uint64_t a, uint64_t delta)
{
	uint64_t was = t->stack;
	int had = t->havestack;

	t->havestack = t->sure = 1;
	t->haveargs = 0;
	t->stack = delta;
	t->stackat = a;
	return had && was != delta ? check_odd(t, was) : 1;
}

static int
check_stack(struct shift *t, uint64_t a, uint64_t delta)
{
	int near = near_stack(t, a);

	if (a >= STACK_SURE && !t->sure)
		return learn_stack(t, a, delta);
	if (near < 0) {
		if (delta % PAGE == 0)
			return 1;
		if (t->havestack || shift_beside(t, a))
			return (t->havestack && delta == t->stack) || check_odd(t, delta);
		t->havestack = 1;
		t->stack = delta;
		t->stackat = a;
		return 1;
	}
	if (delta == t->stack || (t->haveargs && delta == t->args))
		return 1;
	if (t->haveargs || !near)
		return shift_refuse(t, delta, t->stack, "the stack");
	t->haveargs = 1;
	t->args = delta;
	return 1;
}

static int
check_other_side(struct shift *t, uint64_t b)
{
	size_t i;

	for (i = 0; i < t->n; i++)
		if (b - (t->r[i].lo + t->r[i].delta) < t->r[i].hi - t->r[i].lo)
			return refuse_text(t, "shifted into another region");
	return 1;
}

/*
 * Adds an address that is in no region, before region i.  Returns the region that contains it
 * now, or NULL.
 */
static struct region *
shift_learn(struct shift *t, size_t i, uint64_t a, uint64_t delta)
{
	int below = i > 0 && t->r[i - 1].delta == delta && a - t->r[i - 1].hi < GROW_MAX;
	int above = i < t->n && t->r[i].delta == delta && t->r[i].lo - a < GROW_MAX;

	if (below && above) {
		t->r[i - 1].hi = t->r[i].hi;
		memmove(t->r + i, t->r + i + 1, (t->n - i - 1) * sizeof(*t->r));
		t->n--;
	} else if (below) {
		t->r[i - 1].hi = a + 1;
	} else if (above) {
		t->r[i].lo = a;
		return t->r + i;
	} else {
		if (!check_heap(t, a, delta) || !check_stack(t, a, delta) || !check_other_side(t, a + delta))
			return NULL;
		if (t->n == MAXREGION) {
			refuse_text(t, "too many regions are shifted");
			return NULL;
		}
		t->r = mem_xgrow(t->r, &t->cap, t->n + 1, sizeof(*t->r));
		memmove(t->r + i + 1, t->r + i, (t->n - i) * sizeof(*t->r));
		t->r[i] = (struct region){ a, a + 1, delta };
		t->n++;
		return t->r + i;
	}
	return t->r + i - 1;
}

int
shift_ok(struct shift *t, uint64_t a, uint64_t b)
{
	struct region *c = &t->cache[a / PAGE % NCACHE], *r;
	uint64_t delta = b - a;
	size_t i;

	if (a - c->lo < c->hi - c->lo && c->delta == delta)
		return 1;
	if (a >= t->imglo && a < t->imghi)
		return delta ? shift_refuse(t, delta, 0, "the executable's own sections") : 1;
	i = shift_find(t, a);
	if (i < t->n && t->r[i].lo <= a) {
		r = t->r + i;
		if (r->delta != delta)
			return shift_refuse(t, delta, r->delta, "its region");
	} else {
		r = shift_learn(t, i, a, delta);
		if (!r)
			return 0;
	}
	*c = *r;
	return 1;
}

void
shift_print(const struct shift *t, struct out *out)
{
	const char *what;
	char x[24];
	size_t i;

	for (i = 0; i < t->n; i++) {
		const struct region *r = t->r + i;

		what = r == shift_stack(t) ? "stack" :
		    t->haveargs && r->delta == t->args && near_stack(t, r->lo) == 1 ? "arguments" :
		    t->haveheap && r->delta == t->heap && r->lo - t->imghi < HEAP_MAX ? "heap" :
		    r->delta % PAGE ? "odd" : "mapping";
		out_printf(out, "shift: %s 0x%" PRIx64 "-0x%" PRIx64 " by %s\n", what, r->lo, r->hi - 1,
		    signed_hex(x, r->delta));
	}
}
