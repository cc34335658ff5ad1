/*
 * Sets of bytes of a captured program's memory, for live bytes and tainted ones: a bit each, at
 * the low 45 bits of their addresses.
 */
#ifndef TM_WET_MODEL_BYTESET_H
#define TM_WET_MODEL_BYTESET_H

#include <stddef.h>
#include <stdint.h>

#define BYTESET_ADDR 0x1fffffffffffu

struct byteset {
	/* NORESERVE memory, as is page: which pages of 4096 bytes ever had some */
	uint64_t *bit;
	uint64_t *page;
	uint64_t n;                     /* bytes in it */
};

int byteset_init(struct byteset *s);            /* 0, or -1: no room */
void byteset_free(struct byteset *s);

/* Ranges of any size */
void byteset_set(struct byteset *s, uint64_t addr, uint64_t n);
uint64_t byteset_clear(struct byteset *s, uint64_t addr, uint64_t n);           /* how many were in it */
/* bytes at `from` are at `to` instead; the ranges do not overlap, nothing is at `to` */
void byteset_move(struct byteset *s, uint64_t from, uint64_t to, uint64_t n);

/* n <= 64 within 64 aligned bytes: no */
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
	s->page[at / 4096] |= UINT64_C(1) << at / 64 % 64;
}

/* Were any of them in it? */
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
