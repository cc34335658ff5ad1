/*
 * Value streams: groups of blocks that an LZ method may code together in fewer bytes. It depends
 * only on the records of a job, so that threads can do it.
 */
#include "codec/stream/group_internal.h"

#define WIDE    (4u << 20)      /* bytes of a wide group: zstd decodes them in less than 10 ms */
/* twentieths of the size of a group's blocks: LZMA is tried if zstd takes less */
#define NEAR    21
#define FAR     2               /* no group is tried if a quick run takes this times the size of all blocks */
#define STRONG  1.2             /* zstd's highest level is tried if a lower one takes less, times the size */
/* if LZMA saves less than a 1/32 of the size, it is not tried for the other groups of the job, ... */
#define GAIN    32              /* ... because it takes twenty times as long */
#define HEAD    24              /* approximate bytes of a block's head */

/*
 * The length of narrow groups, if n records take len bytes by LZMA; the length at which they decode
 * quickly.
 */
static size_t
group_choose(struct vs_group *g, const struct vs_common *m, size_t n, size_t len)
{
	size_t quick = vc_group_values(n, n * m->record, len);

	g->narrow = quick < m->info.block ? m->info.block : quick > g->most ? g->most : quick;
	return quick;
}

void
vs_group_start(struct vs_group *g, const struct vs_common *m, size_t most, int lzma, size_t n, size_t len)
{
	g->lzma = lzma;
	g->most = most;
	group_choose(g, m, n, len);
	g->wide = WIDE / m->record < most ? WIDE / m->record : most;
	g->wide = g->wide < m->info.block ? m->info.block : g->wide / m->info.block * m->info.block;
}

/* A group of a job: the parts from number `part` to the last one. */
struct lump {
	struct vs_group *g;
	struct vs_common m;             /* how it is coded */
	struct vc_work *w;
	struct vs_job *j, *whole;
	size_t from, n;                 /* records */
	size_t part, at;                /* its first part, where that begins in j->coded */
	size_t size;                    /* bytes of its blocks */
	int tired;                      /* LZMA gains too little */
};

/* Codes the group in whole->b by a method or, if that is -1, by zstd, as whole's only part. 0, or -1. */
static int
lump_code(struct lump *l, int level, int method)
{
	l->m.level = level;
	l->m.method = method;
	l->whole->npart = l->whole->coded.n = 0;
	return vs_encode_part(&l->m, l->w, l->whole);
}

/* Replaces the blocks by the group in `whole` if it is smaller. 0, or -1 without memory. */
static int
lump_keep(struct lump *l)
{
	struct vs_job *j = l->j;

	if (l->whole->part[0].head.size + HEAD >= l->size)
		return 0;
	j->coded.n = l->at;
	buf_add(&j->coded, l->whole->coded.p, l->whole->coded.n);
	j->npart = l->part;
	j->part[j->npart++] = l->whole->part[0];
	l->size = l->whole->coded.n + HEAD;
	return j->coded.nomem ? vs_job_fail(j, j->off, VS_NOMEM) : 0;
}

/* Tries LZMA on the group, and derives the length of the next one. fast: its size by zstd. 0, or -1. */
static int
lump_lzma(struct lump *l, size_t fast)
{
	size_t size, best = l->size;

	if (l->tired || (fast / NEAR > best / 20 && l->m.record > 1))
		return 0;
	if (lump_code(l, 1, VC_LZ) != 0)
		return -1;
	size = l->whole->part[0].head.size;
	/* single bytes are hardly ever values: without LZMA other programs would make them smaller */
	l->tired = l->m.record > 1 && size + best / GAIN > best;
	/* it takes no longer to decode than may be */
	return l->n / 3 < group_choose(l->g, &l->m, l->n, size) / 2 ? lump_keep(l) : 0;
}

/* Codes the group as one block by LZ: kept if it takes less than its blocks. 0, or -1 without memory. */
static int
lump_merge(struct lump *l, int lzma)
{
	size_t fast, bytes = l->n * l->m.record;
	int bad;

	if (vs_split(&l->m.info.layout, &l->whole->b, l->j->raw.p + l->from * l->m.record, l->n) != 0)
		return vs_job_fail(l->j, l->j->off, VS_NOMEM);
	if (lump_code(l, 1, -1) != 0)
		return -1;
	fast = l->whole->coded.n;
	if (vc_is_noise(fast, bytes)) {
		group_choose(l->g, &l->m, l->n, 0);
		return 0;
	}
	bad = lump_keep(l);
	if (!bad && (double)fast < STRONG * (double)l->size)
		bad = lump_code(l, 3, -1) != 0 || lump_keep(l) != 0;
	return bad || !lzma ? -bad : lump_lzma(l, fast);
}

/* Does a quick run show that LZ would make all records of j much larger than its blocks? -1: no memory. */
static int
group_is_far(const struct vs_common *m, struct vc_work *w, struct vs_job *j, struct vs_job *whole)
{
	size_t all = 0, n;

	if (m->record == 1)
		return 0;
	if (vs_split(&m->info.layout, &whole->b, j->raw.p, j->raw.n / m->record) != 0)
		return vs_job_fail(j, j->off, VS_NOMEM);
	for (unsigned c = 0; c < vs_columns(&m->info.layout); c++) {
		if (!whole->b.col[c].n)
			continue;
		if (vc_quick_size(w, m->prime[c], &whole->b.col[c], &n) != 0)
			return vs_job_fail(j, j->off, VS_NOMEM);
		all += n;
	}
	return all / FAR > j->coded.n + j->npart * HEAD;
}

/* The last group, which ends with the last part and record `to`: as one block if that is smaller. */
static void
group_end(struct lump *l, size_t to, int lzma)
{
	struct vs_job *j = l->j;

	l->n = to - l->from;
	l->size = j->coded.n - l->at + (j->npart - l->part) * HEAD;
	if (l->n && !j->bad && lump_merge(l, lzma) != 0)
		j->bad = 1;
	l->from = to;
	l->part = j->npart;
	l->at = j->coded.n;
}

/* Moves the blocks of j to *old. */
static void
group_take(struct vs_job *j, struct vs_job *old)
{
	old->coded = j->coded;
	old->part = j->part;
	old->npart = j->npart;
	j->coded = (struct buf)BUF_INIT;
	j->part = NULL;
	j->npart = j->partcap = 0;
}

/* Appends the blocks of old to j, group by group. */
static void
group_rebuild(struct lump *l, const struct vs_job *old, int lzma)
{
	struct vs_job *j = l->j;
	const uint8_t *p = old->coded.p;
	size_t to = 0, groups = 0;

	for (size_t i = 0; i < old->npart && !j->bad; i++) {
		const struct vs_part *q = &old->part[i];

		if (to > l->from && to - l->from + q->head.n > l->g->narrow) {
			group_end(l, to, lzma);
			groups++;
		}
		buf_add(&j->coded, p, q->head.size);
		if (j->coded.nomem || buf_grow(&j->part, &j->partcap, j->npart + 1, sizeof(*q)) != 0) {
			vs_job_fail(j, j->off, VS_NOMEM);
			return;
		}
		j->part[j->npart++] = *q;
		p += q->head.size;
		to += q->head.n;
	}
	group_end(l, to, lzma);
	l->from = l->part = l->at = 0;
	if (groups)
		group_end(l, to, 0);
}

void
vs_group_encode(struct vs_group g, const struct vs_common *m, struct vc_work *w, struct vs_job *j,
    struct vs_job *whole, vs_group_blocks *code, void *arg)
{
	struct vs_job old = { .npart = 0 };
	struct lump l = { .g = &g, .m = *m, .w = w, .j = j, .whole = whole };
	size_t n = j->raw.n / m->record;

	for (size_t from = 0, k; from < n && !j->bad; from += k) {
		k = n - from < m->info.block ? n - from : m->info.block;
		code(arg, w, j, from, k);
	}
	if (j->bad || group_is_far(m, w, j, whole) != 0)
		return;
	group_take(j, &old);
	group_rebuild(&l, &old, g.lzma);
	vs_job_free(&old);
}
