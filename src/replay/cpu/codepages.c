/*
 * Guest pages that have translated code: they are write-protected, so that no change of the
 * code goes unnoticed.  Also the breakpoints.
 */
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <Zydis/Zydis.h>
#include "base/buf.h"
#include "replay/cpu/emit_internal.h"
#include "replay/cpu/guest_read.h"

#define PAGE 4096u

static unsigned
codepages_slot(uint64_t addr)
{
	return (unsigned)(addr >> 12 ^ addr >> 24) & 4095;
}

/* The page of addr.  Addresses are folded, as memory is. */
struct rp_page *
rp_page(struct rp_core *c, uint64_t addr, int create)
{
	struct rp_page *p, **head;

	addr = addr & rp_mask & ~(uint64_t)(PAGE - 1);
	head = &c->pages[codepages_slot(addr)];
	for (p = *head; p; p = p->next)
		if (p->addr == addr)
			return p;
	if (!create || (p = calloc(1, sizeof *p)) == NULL)
		return NULL;
	p->addr = addr;
	p->next = *head;
	return *head = p;
}

void
rp_page_add(struct rp_core *c, struct rp_block *b, uint64_t addr)
{
	struct rp_page *p = rp_page(c, addr, 1);
	struct rp_pageref *r;
	unsigned i;

	for (i = 0; i < b->nref; i++)
		if (b->ref[i].page == p)
			return;
	if (p == NULL || b->nref == RP_BPAGES)
		return;
	r = &b->ref[b->nref++];
	r->page = p;
	r->block = b;
	r->next = p->blocks;
	p->blocks = r;
}

static void
codepages_guard(struct rp_page *p)
{
	if (p && !p->guarded && mprotect(rp_host(p->addr), PAGE, PROT_READ) == 0)
		p->guarded = 1;
}

void
rp_core_set_alias(struct rp_core *c, rp_alias_fn *fn, void *arg)
{
	c->twin = fn;
	c->twinarg = arg;
}

void
rp_guard(struct rp_core *c, struct rp_block *b)
{
	for (unsigned i = 0; i < b->nref; i++) {
		struct rp_page *p = b->ref[i].page;
		uint64_t other;

		codepages_guard(p);
		for (size_t k = 0; c->twin && c->twin(c->twinarg, p->addr, &k, &other);)
			codepages_guard(rp_page(c, other, 1));
	}
}

static void
codepages_drop(struct rp_core *c, struct rp_page *p)
{
	while (p->blocks) {
		struct rp_block *b = p->blocks->block;

		rp_unlink(c, b);
	}
	if (p->guarded)
		(void)mprotect(rp_host(p->addr), PAGE, PROT_READ | PROT_WRITE);
	p->guarded = p->dirty = 0;
}

void
rp_page_drop(struct rp_core *c, struct rp_page *p)
{
	uint64_t other;

	codepages_drop(c, p);
	for (size_t k = 0; c->twin && c->twin(c->twinarg, p->addr, &k, &other);) {
		struct rp_page *q = rp_page(c, other, 0);

		if (q)
			codepages_drop(c, q);
	}
}

size_t
rp_guest_read(uint64_t addr, uint8_t *p, size_t n)
{
	volatile size_t done = 0;
	const volatile uint8_t *s;

	if (sigsetjmp(rp_probe, 0) == 0) {
		rp_probing = 1;
		for (; done < n; done++) {
			s = rp_host(addr + done);
			p[done] = *s;
		}
	}
	rp_probing = 0;
	return done;
}

void
rp_flush(struct rp_core *c, uint64_t addr, uint64_t len)
{
	uint64_t a = addr & rp_mask;
	unsigned i;

	for (i = 0; i < 4096; i++) {
		struct rp_page *p;

		for (p = c->pages[i]; p; p = p->next)
			if (p->addr + PAGE > a && p->addr < a + len)
				rp_page_drop(c, p);
	}
}

int
rp_break_is_set(const struct rp_core *c, uint64_t pc)
{
	size_t i;

	for (i = 0; i < c->nbrk; i++)
		if (c->brk[i] == pc)
			return 1;
	return 0;
}

int
rp_break_has_tests(const struct rp_core *c, uint64_t pc)
{
	return c->ntest && c->testpc == pc;
}

/* Drops the blocks that contain pc, so that new ones take the changed breakpoint into account. */
static void
codepages_drop_at(struct rp_core *c, uint64_t pc)
{
	struct rp_page *p = rp_page(c, pc, 0);
	struct rp_pageref *r, *next;
	unsigned i;

	for (r = p ? p->blocks : NULL; r; r = next) {
		struct rp_block *b = r->block;

		next = r->next;
		for (i = 0; i < b->nmark; i++)
			if (b->mark[i].pc == pc) {
				rp_unlink(c, b);
				break;
			}
		if (b->nmark == 0 && b->pc == pc)
			rp_unlink(c, b);
	}
}

int
rp_break(struct rp_core *c, uint64_t pc, int on)
{
	size_t i;

	for (i = 0; i < c->nbrk && c->brk[i] != pc; i++)
		;
	if (on && i == c->nbrk) {
		if (buf_grow(&c->brk, &c->capbrk, c->nbrk + 1, sizeof *c->brk) < 0)
			return -1;
		c->brk[c->nbrk++] = pc;
		codepages_drop_at(c, pc);
	} else if (!on && i < c->nbrk) {
		c->brk[i] = c->brk[--c->nbrk];
		if (c->testpc == pc)
			c->ntest = 0;
		codepages_drop_at(c, pc);
	}
	return 0;
}

/*
 * Is it a string instruction? A breakpoint stops before each of its elements, but no block
 * begins there that could evaluate tests.
 */
static int
codepages_is_string(const struct rp_core *c, uint64_t pc)
{
	struct x86_inst in;
	uint8_t b[15];
	size_t n = rp_guest_read(pc, b, sizeof b);

	return x86_inst_decode(&in, b, n, pc, c->amd) != 0 || in.z.meta.category == ZYDIS_CATEGORY_STRINGOP;
}

void
rp_break_if(struct rp_core *c, uint64_t pc, const struct rp_test *t, unsigned n)
{
	if (!n && !rp_break_has_tests(c, pc))
		return;
	c->testpc = pc;
	c->ntest = n && !codepages_is_string(c, pc) ? n : 0;
	for (unsigned i = 0; i < c->ntest; i++)
		c->test[i] = t[i];
	codepages_drop_at(c, pc);
}
