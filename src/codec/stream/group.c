/*
 * Value streams: groups of coded blocks that wait, because an LZ method may code several of them
 * together in fewer bytes. A narrow group may become a block of LZMA. A wide group, of several
 * narrow ones, may become a block of zstd, which decodes as fast and finds repetitions over larger
 * distances.
 */
#include <stdlib.h>
#include <string.h>

#include "codec/stream/group_internal.h"

#define WIDE    (4u << 20)      /* bytes of a wide group: zstd decodes them in less than 10 ms */
/* twentieths of the size of a group's blocks: LZMA is tried if zstd takes less */
#define NEAR    21
#define FAR     3               /* halves of that size: if a quick run takes more, zstd is not tried */
/* if LZMA saves less than a 1/32 of the size, it is not tried for the next PAUSE groups, ... */
#define GAIN    32
#define PAUSE   7               /* ... because it takes twenty times as long */
#define HEAD    24              /* approximate bytes of a block's head */

/*
 * The length of narrow groups, if n records take len bytes by LZMA; the length at which they decode
 * quickly.
 */
static size_t
group_choose(struct vs_group *g, size_t n, size_t len)
{
	size_t quick = vc_group_values(n, n * g->m->record, len);

	g->narrow = quick < g->m->info.block ? g->m->info.block : quick > g->most ? g->most : quick;
	return quick;
}

void
vs_group_start(struct vs_group *g, const struct vs_common *m, size_t most, size_t n, size_t len)
{
	g->m = m;
	g->most = most;
	group_choose(g, n, len);
	g->wide = WIDE / m->record < most ? WIDE / m->record : most;
}

int
vs_group_add_records(struct vs_group *g, const struct buf *raw)
{
	/* allocated at once, because growing takes more memory */
	if (!g->n)
		buf_reserve(&g->raw, g->wide * g->m->record);
	buf_add(&g->raw, raw->p, raw->n);
	g->n += raw->n / g->m->record;
	return g->raw.nomem ? -1 : 0;
}

int
vs_group_add_block(struct vs_group *g, struct vs_part *q, const uint8_t *columns, size_t before)
{
	size_t start = g->coded.n;

	if (buf_grow(&g->held, &g->cap, g->nheld + 1, sizeof(*g->held)) != 0
	    || vs_put_block(&g->m->info, q, g->nheld ? g->held[g->nheld - 1].n :
	    before, columns, &g->coded) != 0)
		return -1;
	g->held[g->nheld++] = (struct vs_held){ q->head.n, g->coded.n - start, q->sum };
	return 0;
}

/*
 * Codes the group in g->whole as one LZMA block, its second part, and derives the length of the
 * next group. Is the block to be used? -1: no memory.
 */
static int
lump_lzma(struct vs_group *g, struct vc_work *w, struct vs_common *m, size_t blocks)
{
	struct vs_job *j = &g->whole;
	size_t n = j->b.n, fast = j->coded.n, best = fast < blocks ? fast : blocks, size, quick;

	if (g->pause) {
		g->pause--;
		return 0;
	}
	m->method = VC_LZ;
	if (vs_encode_part(m, w, j) != 0)
		return -1;
	size = j->part[1].head.size;
	quick = group_choose(g, n, size);
	/* single bytes are hardly ever values: without LZMA other programs would make them smaller */
	if (g->m->record > 1 && size + best / GAIN > best)
		g->pause = PAUSE;
	return size < fast && n / 3 < quick / 2;
}

/* Does a quick run show that LZ would make b much larger than its blocks? -1: no memory. */
static int
lump_far(const struct vs_group *g, struct vc_work *w, const struct vs_block *b, size_t size)
{
	size_t all = 0, n;

	for (unsigned c = 0; c < vs_columns(&g->m->info.layout); c++) {
		if (!b->col[c].n)
			continue;
		if (vc_quick_size(w, g->m->prime[c], &b->col[c], &n) != 0)
			return -1;
		all += n;
	}
	return all / FAR > size / 2;
}

/*
 * Codes the n records at raw as one block by LZ: 1 if it takes less than `size` bytes, the size of
 * its blocks, and then it is the last part of g->whole; 0; -1 without memory.
 */
static int
group_merge(struct vs_group *g, struct vc_work *w, const uint8_t *raw, size_t n, size_t size, int lzma)
{
	struct vs_common m = { .info = g->m->info, .record = g->m->record, .level = 1, .method = -1 };
	struct vs_job *j = &g->whole;
	int far, lz = 0;

	memcpy(m.prime, g->m->prime, sizeof(m.prime));
	j->npart = j->coded.n = 0;
	if (vs_split(&m.info.layout, &j->b, raw, n) != 0)
		return -1;
	if (m.record > 1 && (far = lump_far(g, w, &j->b, size)) != 0)
		return far < 0 ? -1 : 0;
	if (vs_encode_part(&m, w, j) != 0)
		return -1;
	if (lzma && vc_is_noise(j->coded.n, n * m.record))
		group_choose(g, n, 0);
	else if (lzma && (j->coded.n / NEAR <= size / 20 || m.record == 1))
		lz = lump_lzma(g, w, &m, size);
	if (lz == 0)
		j->npart = 1;
	return lz < 0 ? -1 : j->part[j->npart - 1].head.size + HEAD < size;
}

/*
 * Replaces the waiting blocks from that one on, the first of them at byte `at`, by the block made
 * of all of them.
 */
static int
group_replace(struct vs_group *g, size_t from, size_t at, size_t before)
{
	struct vs_job *j = &g->whole;
	struct vs_part *q = &j->part[j->npart - 1];

	g->nheld = from;
	g->coded.n = at;
	return vs_group_add_block(g, q, j->coded.p + (j->npart > 1 ? j->part[0].head.size : 0), before);
}

int
vs_group_end_narrow(struct vs_group *g, struct vc_work *w, size_t before)
{
	size_t from = g->done.held, at = g->done.coded;
	int one = 0;

	/* where a wide group became one block, the next one probably will */
	if (g->nheld > from && !g->far)
		one = group_merge(g, w, g->raw.p + g->done.n * g->m->record, g->n - g->done.n,
		    g->coded.n - at, 1);
	if (one > 0)
		one = group_replace(g, from, at, before);
	g->done.groups++;
	g->done.n = g->n;
	g->done.held = g->nheld;
	g->done.coded = g->coded.n;
	return one < 0 ? -1 : 0;
}

int
vs_group_end_wide(struct vs_group *g, struct vc_work *w, size_t before)
{
	int one = 0;

	if (g->nheld > 1 && (g->far || g->done.groups > 1))
		one = group_merge(g, w, g->raw.p, g->n, g->coded.n, 0);
	g->far = one > 0;
	return one > 0 ? group_replace(g, 0, 0, before) : one;
}

void
vs_group_clear(struct vs_group *g)
{
	g->raw.n = g->coded.n = g->n = g->nheld = 0;
	memset(&g->done, 0, sizeof(g->done));
}

void
vs_group_free(struct vs_group *g)
{
	vs_job_free(&g->whole);
	buf_free(&g->raw);
	buf_free(&g->coded);
	free(g->held);
}
