/* Context mixing: allocating, resetting and copying the state. */
#include "codec/column/cm_internal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "codec/column/cm_numbers.h"
#include "codec/column/cm_rank_internal.h"

#define ALIGN 64
#define HUGE  ((size_t)2 << 20)

static size_t
cm_part(size_t *at, size_t n)
{
	size_t here = *at;

	*at = (here + n + ALIGN - 1) & ~(size_t)(ALIGN - 1);
	return here;
}

/* The parts of a state, in the order of its memory. */
enum { CM_P_FIX, CM_P_SLOT, CM_P_KEY, CM_P_LINE, CM_P_MTAB, CM_P_DTAB, CM_P_MISS, CM_P_LEVEL, CM_PARTS };

/* Where the parts begin, with that many bits; returns the bytes of all. */
static size_t
cm_parts(int bits, size_t part[CM_PARTS])
{
	const struct cm *c;
	size_t at = 0, one = (size_t)1 << bits;

	part[CM_P_FIX] = cm_part(&at, sizeof *c->f);
	part[CM_P_SLOT] = cm_part(&at, CM_SLOTS * one * sizeof *c->slot);
	part[CM_P_KEY] = cm_part(&at, one / 2 * sizeof *c->key);
	part[CM_P_LINE] = cm_part(&at, one / 4 * sizeof *c->line);
	part[CM_P_MTAB] = cm_part(&at, 4 * one * sizeof *c->mtab);
	part[CM_P_DTAB] = cm_part(&at, 4 * one * sizeof *c->dtab);
	part[CM_P_MISS] = cm_part(&at, (size_t)CM_NMISS << (bits + CM_MISSBITS));
	part[CM_P_LEVEL] = cm_part(&at, (size_t)CM_NMISS << (bits - 1));
	return at;
}

static size_t
cm_round(size_t size)
{
	return size < HUGE ? size : (size + HUGE - 1) & ~(HUGE - 1);
}

size_t
cm_memory(int bits)
{
	size_t part[CM_PARTS];

	return cm_round(cm_parts(bits, part));
}

/* Makes room for a state of that many bits.  Memory that is large enough is used again: new pages cost more. */
static int
cm_make(struct cm *c, int bits)
{
	size_t part[CM_PARTS], size = cm_parts(bits, part);
	char *p = (char *)c->f;

	if (p && c->bits == bits)
		return 0;
	if (!p || cm_round(size) > c->room) {
		cm_free(c);
		p = aligned_alloc(size < HUGE ? ALIGN : HUGE, cm_round(size));
		if (!p)
			return -1;
#ifdef MADV_HUGEPAGE
		if (size >= HUGE)
			madvise(p, cm_round(size), MADV_HUGEPAGE);      /* random accesses all over it */
#endif
		c->room = cm_round(size);
	}
	c->bits = bits;
	c->size = size;
	c->f = (void *)(p + part[CM_P_FIX]);
	c->slot = (void *)(p + part[CM_P_SLOT]);
	c->key = (void *)(p + part[CM_P_KEY]);
	c->line = (void *)(p + part[CM_P_LINE]);
	c->mtab = (void *)(p + part[CM_P_MTAB]);
	c->dtab = (void *)(p + part[CM_P_DTAB]);
	c->miss = (void *)(p + part[CM_P_MISS]);
	c->level = (void *)(p + part[CM_P_LEVEL]);
	return 0;
}

int
cm_bits(size_t n, unsigned columns)
{
	/* the states of all columns are copied for each block */
	int bits = 8, most = CM_BITS_MAX - (columns > 1) - (columns > 2) - (columns > 8) - (columns > 16) -
	    (columns > 32);

	while (bits < most && (size_t)1 << bits < n)
		bits++;
	return bits;
}

static void
cm_fill16(void *at, size_t size, int16_t v)
{
	int16_t *p = at;

	for (size_t i = 0; i < size / sizeof *p; i++)
		p[i] = v;
}

/* At first a curve corrects nothing. */
static void
curve_reset(struct cm_fix *f)
{
	for (int i = 0; i < CM_STEPS; i++)
		f->curve[0][0][i] = (uint16_t)cm_squash(128 * i - 2048);
	for (int k = 0; k < CM_TRIES; k++)
		for (int j = k == 0; j < 256; j++)
			memcpy(f->curve[k][j], f->curve[0][0], sizeof f->curve[0][0]);
}

static void
cm_fill32(void *at, size_t size, uint32_t v)
{
	uint32_t *p = at;

	for (size_t i = 0; i < size / sizeof *p; i++)
		p[i] = v;
}

/* After a history of n1 ones and n0 zeros, a 1 has probability (n1 + 1/2) / (n0 + n1 + 1). */
static void
map_reset(uint16_t (*map)[CM_NMISS][256][2])
{
	for (unsigned h = 1; h < 256; h++) {
		unsigned n1 = (unsigned)__builtin_popcount(h) - 1, n = 31 - (unsigned)__builtin_clz(h);

		for (int j = 0; j < 9; j++)
			for (int i = 0; i < CM_NMISS; i++) {
				map[j][i][h][0] = (uint16_t)((2 * n1 + 1) * 65535 / (2 * n + 2));
				map[j][i][h][1] = (uint16_t)cm_stretch(map[j][i][h][0]);
			}
	}
}

static void
fix_reset(struct cm_fix *f)
{
	static const uint16_t t0[4] = { 40960, 12288, 8192, 32768 };

	memset(f, 0, sizeof *f);
	for (int k = 0; k < CM_TRIES; k++)
		for (int j = 0; j < CM_VOTES; j++)
			for (int h = 0; h < 256; h++)
				for (int r = 0; r < 4; r++)
					f->t[k][j][h][r] = h == CM_NONE ? (r < 2 ? 256 : 32768) : t0[r];
	cm_fill16(f->w, sizeof f->w, 2000);
	cm_fill16(f->wrank, sizeof f->wrank, 2000);
	cm_fill16(f->wmiss, sizeof f->wmiss, 2500);
	cm_fill16(f->wknown, sizeof f->wknown, 2500);
	cm_fill32(f->recent, sizeof f->recent, 1u << 31);
	cm_fill32(f->sure, sizeof f->sure, 15u << 28);
	cm_fill32(f->zeros, sizeof f->zeros, 1u << 31);
	cm_fill16(f->agree, sizeof f->agree, INT16_MIN);        /* 1/2 */
	cm_fill16(f->pair, sizeof f->pair, INT16_MIN);
	curve_reset(f);
	memset(f->hope, 255, sizeof f->hope);
	map_reset(f->map);
	rank_reset(&f->rank);
	f->period = 1;
}

int
cm_reset(struct cm *c, int bits)
{
	cm_num_init();
	if (cm_make(c, bits))
		return -1;
	fix_reset(c->f);
	for (size_t i = 0; i < (size_t)CM_SLOTS << bits; i++)
		c->slot[i] = (struct cm_slot){ 0, CM_NONE };
	memset(c->key, 0, (size_t)((char *)c->miss - (char *)c->key));
	memset(c->miss, 1, (size_t)CM_NMISS << (bits + CM_MISSBITS));
	memset(c->level, 1, (size_t)CM_NMISS << (bits - 1));
	return 0;
}

int
cm_copy(struct cm *to, const struct cm *from)
{
	if (cm_make(to, from->bits))
		return -1;
	memcpy(to->f, from->f, from->size);
	return 0;
}

void
cm_free(struct cm *c)
{
	free(c->f);
	memset(c, 0, sizeof *c);
}
