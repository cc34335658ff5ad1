/* Sets of bytes of memory. */
#include <sys/mman.h>

#include "wet/model/byteset.h"

#define BYTES (UINT64_C(1) << 46)
#define PAGE  4096u

static void *
byteset_room(uint64_t n)
{
	void *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	(void)madvise(p, n, MADV_NOHUGEPAGE);
	return p;
}

int
byteset_init(struct byteset *s)
{
	*s = (struct byteset){ .bit = byteset_room(BYTES / 8), .page = byteset_room(BYTES / PAGE / 8) };
	if (s->bit && s->page)
		return 0;
	byteset_free(s);
	return -1;
}

void
byteset_free(struct byteset *s)
{
	if (s->bit)
		munmap(s->bit, BYTES / 8);
	if (s->page)
		munmap(s->page, BYTES / PAGE / 8);
	*s = (struct byteset){ 0 };
}

/* The mask of the first bytes of [addr, end) that lie in one word of 64; returns their number. */
static uint64_t
byteset_piece(uint64_t addr, uint64_t end, uint64_t *mask)
{
	uint64_t next = (addr | 63) + 1, n = (next < end ? next : end) - addr;

	byteset_one(addr, n, &next, mask);
	return n;
}

/* Reduces *addr to 46 bits and returns the end of the range, cut off at the last address. */
static uint64_t
byteset_cut(uint64_t *addr, uint64_t n)
{
	*addr &= BYTESET_ADDR;
	return n < BYTES - *addr ? *addr + n : BYTES;
}

void
byteset_set(struct byteset *s, uint64_t addr, uint64_t n)
{
	uint64_t end = byteset_cut(&addr, n), mask;

	for (; addr < end; addr += n) {
		n = byteset_piece(addr, end, &mask);
		byteset_add(s, addr, n);
	}
}

uint64_t
byteset_clear(struct byteset *s, uint64_t addr, uint64_t n)
{
	uint64_t end = byteset_cut(&addr, n), mask, got = s->n;

	while (addr < end && s->n) {
		uint64_t page = addr / PAGE, top = addr >> 30;

		if (!(s->top[top / 64] >> top % 64 & 1)) {      /* a program may unmap terabytes */
			addr = (top + 1) << 30;
			continue;
		}
		if (!s->page[page / 64]) {
			addr = (page / 64 + 1) * 64 * PAGE;
			continue;
		}
		if (!(s->page[page / 64] >> page % 64 & 1)) {
			addr = (page + 1) * PAGE;
			continue;
		}
		n = byteset_piece(addr, end, &mask);
		byteset_take(s, addr, n);
		addr += n;
	}
	return got - s->n;
}

void
byteset_move(struct byteset *s, uint64_t from, uint64_t to, uint64_t n)
{
	for (uint64_t i = 0; i < n && s->n;) {
		uint64_t a = (from + i) & BYTESET_ADDR, page = a / PAGE;

		if (!(s->page[page / 64] >> page % 64 & 1)) {
			i += PAGE - a % PAGE;
			continue;
		}
		if (byteset_take(s, a, 1))
			byteset_add(s, to + i, 1);
		i++;
	}
}
