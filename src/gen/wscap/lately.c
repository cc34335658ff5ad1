/*
 * What the program has changed lately.  The place of a signal in a loop is found again by registers, the stack, and words
 * that were written in the last steps.  If loops around that one count in other memory, all these are the same each time;
 * what has changed since the signal arrived, some milliseconds before, is not.  It is looked for in the pages that
 * registers, the objects that these point to, and the top of the stack point to, and where mappings begin.  The place where
 * a thread or process is switched away from is told apart in the same way: it is stopped some milliseconds before.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "gen/wscap/signal.h"
#include "gen/wscap/wscap.h"

#define PARTS 256u              /* pieces of memory that are looked at */
#define PAGES 128u              /* of these, pages that something points to, at most */
#define TOP   64u               /* words of the stack that may point to such a piece */
#define FIELDS 32u              /* words of an object that may do so, where a register points to it */
#define PART  (1u << 20)        /* bytes of a mapping, at most: interpreters have their objects all over such a piece */
#define TURN  (64u << 10)       /* the same with threads, which switch every few milliseconds */
#define MOST  (4u << 20)        /* bytes of all: a millisecond's work */
#define LONG  4000000u          /* nanoseconds: a pass of an outer loop that is to be told from others takes no longer */
#define ASKED 10u               /* ticks, after which it was long enough, as the process hardly runs */

struct lately {
	int on;
	uint64_t since;                 /* CPU time */
	unsigned asked;                 /* how often it was asked whether that is long ago */
	size_t n, size;
	struct { uint64_t lo; size_t n, at; } part[PARTS];      /* at: in `was` */
	uint8_t was[MOST], now[PART];
};

/* Only the program writes there, and a replay has all that it writes. */
static int
lately_own(const struct region *r)
{
	return r->prot & PROT_WRITE && !r->shared && !r->stack && !r->foreign;
}

static void
lately_add(struct cap *c, uint64_t lo, uint64_t n)
{
	struct lately *l = c->lately;

	if (l->n == PARTS || l->size == MOST)
		return;
	l->part[l->n].lo = lo;
	l->part[l->n].at = l->size;
	l->part[l->n].n = tracee_read(&c->t, lo, l->was + l->size, n < MOST - l->size ? n : MOST - l->size);
	l->size += l->part[l->n++].n;
}

/* The page that a word may be a pointer to, unless it is there already. */
static void
lately_add_page(struct cap *c, uint64_t word)
{
	uint64_t lo = word / PAGE * PAGE;
	size_t at = region_at(&c->reg, lo);

	if (c->lately->n == PAGES || at == c->reg.n || c->reg.p[at].lo > lo || !lately_own(&c->reg.p[at]))
		return;
	for (size_t i = 0; i < c->lately->n; i++)
		if (c->lately->part[i].lo == lo)
			return;
	lately_add(c, lo, PAGE);
}

/* The same of n words at addr. */
static void
lately_add_pointers(struct cap *c, uint64_t addr, size_t n)
{
	uint8_t b[8 * TOP];

	n = tracee_read(&c->t, addr, b, 8 * n);
	for (size_t i = 0; i + 8 <= n; i += 8)
		lately_add_page(c, get_le64(b + i));
}

static void
lately_add_pages(struct cap *c)
{
	struct user_regs_struct g;
	struct ws_regs w;

	if (tracee_regs(&c->t, &g))
		return;
	tracee_from_user(&w, &g, g.rax);
	for (int i = 0; i < 16; i++)
		lately_add_page(c, w.r[i]);
	lately_add_pointers(c, g.rsp, TOP);
	for (int i = 0; i < 16; i++)
		if (i != WS_RSP)
			lately_add_pointers(c, w.r[i], FIELDS);
}

int
lately_begin(struct cap *c)
{
	struct lately *l = c->lately;
	size_t most = c->th ? TURN : PART;

	if (l && l->on)
		return 0;
	if (!l)
		l = c->lately = xmalloc(sizeof(*l));
	l->on = 1;
	l->since = put_cputime(c);
	l->asked = 0;
	l->n = l->size = 0;
	lately_add_pages(c);
	for (size_t i = 0; i < c->reg.n; i++) {
		const struct region *r = &c->reg.p[i];

		if (lately_own(r))
			lately_add(c, r->lo, r->hi - r->lo < most ? r->hi - r->lo : most);
	}
	return 1;
}

int
lately_long(struct cap *c)
{
	struct lately *l = c->lately;
	uint64_t now = l && l->on ? put_cputime(c) : 0;

	return !now || now - l->since >= LONG || l->asked++ >= ASKED;
}

/* Some of many words, from everywhere: each step-th that was seen. */
struct pick {
	uint64_t *addr;
	size_t n, most, seen, step;
};

static void
pick_add(struct pick *k, uint64_t addr)
{
	if (k->seen++ % k->step)
		return;
	if (k->n == k->most) {          /* every second one of them goes */
		k->n /= 2;
		for (size_t i = 0; i < k->n; i++)
			k->addr[i] = k->addr[2 * i];
		k->step *= 2;
		if ((k->seen - 1) % k->step)
			return;
	}
	k->addr[k->n++] = addr;
}

/* Picks from the words of part i that have changed. */
static void
lately_part(struct cap *c, size_t i, struct pick *k)
{
	struct lately *l = c->lately;
	uint64_t lo = l->part[i].lo;
	size_t at = region_at(&c->reg, lo), n;

	/* it may have been unmapped, or be another one */
	if (at == c->reg.n || c->reg.p[at].lo > lo || !lately_own(&c->reg.p[at]))
		return;
	n = l->part[i].n < c->reg.p[at].hi - lo ? l->part[i].n : (size_t)(c->reg.p[at].hi - lo);
	n = tracee_read(&c->t, lo, l->now, n) / 8 * 8;
	for (size_t j = 0; j < n; j += 8)
		if (memcmp(l->now + j, l->was + l->part[i].at + j, 8))
			pick_add(k, lo + j);
}

size_t
lately_end(struct cap *c, uint64_t *addr, size_t most)
{
	struct lately *l = c->lately;
	struct pick k = {.addr = addr, .most = most, .step = 1};

	if (!l || !l->on)
		return 0;
	l->on = 0;
	for (size_t i = 0; i < l->n; i++)
		lately_part(c, i, &k);
	return k.n;
}

void
lately_forget(struct cap *c)
{
	if (c->lately)
		c->lately->on = 0;
}

void
lately_again(struct cap *c)
{
	lately_forget(c);
	if (c->t.nheld)
		lately_begin(c);
}

void
lately_free(struct cap *c)
{
	free(c->lately);
	c->lately = NULL;
}
