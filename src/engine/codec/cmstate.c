/* Context mixing: its state. */
#include "engine/codec/cm.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "engine/codec/cmnum.h"

#define ALIGN 64
#define HUGE  ((size_t)2 << 20)

static size_t
part(size_t *at, size_t n)
{
	size_t here = *at;

	*at = (here + n + ALIGN - 1) & ~(size_t)(ALIGN - 1);
	return here;
}

/* Memory for a state of that many bits; what it held is kept when the size is the same */
static int
make(struct cm *c, int bits)
{
	size_t at = 0, mem, one = (size_t)1 << bits;
	size_t fix = part(&at, sizeof *c->f), slot = part(&at, CM_SLOTS * one * sizeof *c->slot),
		key = part(&at, one / 2 * sizeof *c->key), line = part(&at, one / 4 * sizeof *c->line),
		mtab = part(&at, 4 * one * sizeof *c->mtab), dtab = part(&at, 4 * one * sizeof *c->dtab),
		miss = part(&at, CM_NMISS * 2 * one * sizeof *c->miss);
	char *p;

	if (c->f && c->bits == bits)
		return 0;
	cm_free(c);
	mem = at < HUGE ? at : (at + HUGE - 1) & ~(HUGE - 1);
	p = aligned_alloc(at < HUGE ? ALIGN : HUGE, mem);
	if (!p)
		return -1;
#ifdef MADV_HUGEPAGE
	if (at >= HUGE)
		madvise(p, mem, MADV_HUGEPAGE); /* random accesses all over it */
#endif
	c->bits = bits;
	c->size = at;
	c->f = (void *)(p + fix);
	c->slot = (void *)(p + slot);
	c->key = (void *)(p + key);
	c->line = (void *)(p + line);
	c->mtab = (void *)(p + mtab);
	c->dtab = (void *)(p + dtab);
	c->miss = (void *)(p + miss);
	return 0;
}

int
cm_bits(size_t n)
{
	int bits = 8;

	while (bits < 15 && (size_t)1 << bits < n)
		bits++;
	return bits;
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
	for (int k = 0; k < CM_TRIES; k++)
		for (int s = 0; s < 256; s++)
			for (int i = 0; i < CM_IN; i++)
				f->w[k][s][i] = 4000;
	for (int s = 0; s < 8 * 256; s++)
		for (int i = 0; i < 8; i++)
			f->wmiss[s][i] = 5000;
	for (int k = 0; k < CM_TRIES; k++)
		for (int s = 0; s < 1024; s++)
			f->recent[k][s] = 1u << 31;
	for (int s = 0; s < 64; s++)
		f->sure[0][s] = f->sure[1][s] = 15u << 28;
	for (int s = 0; s < 256; s++)
		for (int i = 0; i < 8; i++)
			f->diff[s][i] = 1u << 31;
	f->period = 1;
}

int
cm_reset(struct cm *c, int bits)
{
	cm_num_init();
	if (make(c, bits))
		return -1;
	fix_reset(c->f);
	memset(c->slot, 0, c->size - (size_t)((char *)c->slot - (char *)c->f));
	for (size_t i = 0; i < (size_t)CM_SLOTS << bits; i++)
		c->slot[i].w = CM_NONE;
	for (size_t i = 0; i < (size_t)CM_NMISS << (bits + 1); i++)
		c->miss[i] = 1u << 15;
	return 0;
}

int
cm_copy(struct cm *to, const struct cm *from)
{
	if (make(to, from->bits))
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
