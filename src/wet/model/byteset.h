/*
 * Sets of bytes of a captured program's memory, used for live and for tainted bytes.  There is a
 * bit for each byte; only the low 46 bits of addresses are used.
 */
#ifndef TM_WET_MODEL_BYTESET_H
#define TM_WET_MODEL_BYTESET_H

#include <stddef.h>
#include <stdint.h>

#define BYTESET_ADDR 0x3fffffffffffu

struct byteset {
	uint64_t *bit;                  /* a bit for each byte; NORESERVE memory, as is page */
	uint64_t *page;                 /* a bit for each 4096 bytes that ever had a byte in the set */
	uint64_t n;                     /* bytes in the set */
	uint64_t top[(BYTESET_ADDR >> 30) / 64 + 1];    /* a bit for each 2^30 bytes that ever had one */
};

int byteset_init(struct byteset *s);            /* 0, or -1: mmap failed */
void byteset_free(struct byteset *s);

/* Ranges of any size */
void byteset_set(struct byteset *s, uint64_t addr, uint64_t n);
uint64_t byteset_clear(struct byteset *s, uint64_t addr, uint64_t n);   /* returns the number removed */
/* moves bytes from `from` to `to`; the ranges do not overlap, and no byte at `to` is in the set */
void byteset_move(struct byteset *s, uint64_t from, uint64_t to, uint64_t n);

/* Word and mask of n <= 64 bytes.  0: they are not all in one word (64 aligned bytes). */
static inline int
byteset_one(uint64_t addr, uint64_t n, uint64_t *at, uint64_t *mask)
{
	addr &= BYTESET_ADDR;
	*at = addr / 64;
	*mask = (n >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << n) - 1) << addr % 64;
	return addr % 64 + n <= 64;
}

static inline int
byteset_has(const struct byteset *s, uint64_t addr, uint64_t n)
{
	uint64_t at, mask;

	if (byteset_one(addr, n, &at, &mask))
		return (s->bit[at] & mask) != 0;
	for (uint64_t i = 0; i < n; i++)
		if (s->bit[((addr + i) & BYTESET_ADDR) / 64] >> (addr + i) % 64 & 1)
			return 1;
	return 0;
}

static inline void
byteset_add(struct byteset *s, uint64_t addr, uint64_t n)
{
	uint64_t at, mask;

	if (!byteset_one(addr, n, &at, &mask)) {
		byteset_set(s, addr, n);
		return;
	}
	if ((s->bit[at] & mask) == mask)
		return;
	s->n += (uint64_t)__builtin_popcountll(mask & ~s->bit[at]);
	s->bit[at] |= mask;
	if (!(s->page[at / 4096] >> at / 64 % 64 & 1)) {
		s->page[at / 4096] |= UINT64_C(1) << at / 64 % 64;
		s->top[at >> 30] |= UINT64_C(1) << (at >> 24) % 64;
	}
}

/* Removes bytes.  1: at least one of them was in the set. */
static inline int
byteset_take(struct byteset *s, uint64_t addr, uint64_t n)
{
	uint64_t at, mask;

	if (!byteset_one(addr, n, &at, &mask))
		return byteset_clear(s, addr, n) != 0;
	mask &= s->bit[at];
	if (!mask)
		return 0;
	s->bit[at] &= ~mask;
	s->n -= (uint64_t)__builtin_popcountll(mask);
	return 1;
}

#endif
