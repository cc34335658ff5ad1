/* Queries of a capture: runs of a visit as paths, and the statements of them. */
#include <stdlib.h>
#include <string.h>

#include "wet/query/query_internal.h"

static uint32_t *
paths_bucket(const struct query *q, uint64_t pc)
{
	return &q->hash[(size_t)(pc * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (q->nhash - 1)];
}

static int
paths_rehash(struct query *q)
{
	size_t n = q->nhash ? q->nhash * 2 : 4096;
	uint32_t *hash = calloc(n, sizeof *hash);

	if (!hash)
		return -1;
	free(q->hash);
	q->hash = hash;
	q->nhash = n;
	for (uint32_t id = 1; id <= q->nstmt; id++) {
		uint32_t *h = paths_bucket(q, q->stmt[id - 1].pc);

		q->stmt[id - 1].hnext = *h;
		*h = id;
	}
	return 0;
}

uint32_t
query_stmt_of(struct query *q, const struct fact *f)
{
	struct query_stmt *s;
	uint32_t *h;

	for (uint32_t id = q->nhash ? *paths_bucket(q, f->pc) : 0; id; id = s->hnext) {
		s = &q->stmt[id - 1];
		if (s->pc == f->pc && s->len == f->len && memcmp(s->b, f->b, f->len) == 0)
			return id;
	}
	if (q->surveyed) {
		query_bad(q, "the replay is another one than before");
		return 0;
	}
	if (q->nstmt >= UINT32_MAX / 2 || (q->nstmt * 2 >= q->nhash && paths_rehash(q) != 0) ||
	    buf_grow(&q->stmt, &q->capstmt, q->nstmt + 1, sizeof *q->stmt) < 0) {
		query_nomem(q);
		return 0;
	}
	s = &q->stmt[q->nstmt++];
	*s = (struct query_stmt){ .pc = f->pc, .len = f->len };
	memcpy(s->b, f->b, f->len);
	wport_of(f, &s->port);
	h = paths_bucket(q, f->pc);
	s->hnext = *h;
	return *h = (uint32_t)q->nstmt;
}

static struct qpath **
paths_place(const struct query *q, const struct fact_at *at, uint32_t n)
{
	size_t i = (size_t)(((uint64_t)(uintptr_t)at + n) * UINT64_C(0x9e3779b97f4a7c15) >> 32);

	while (q->slot[i & (q->nslot - 1)] &&
	    (q->slot[i & (q->nslot - 1)]->at != at || q->slot[i & (q->nslot - 1)]->n != n))
		i++;
	return &q->slot[i & (q->nslot - 1)];
}

static int
paths_grow(struct query *q)
{
	size_t n = q->nslot ? q->nslot * 2 : 4096;
	struct qpath **slot = calloc(n, sizeof *slot);

	if (!slot)
		return -1;
	free(q->slot);
	q->slot = slot;
	q->nslot = n;
	for (size_t i = 0; i < q->npath; i++)
		*paths_place(q, q->path[i]->at, q->path[i]->n) = q->path[i];
	return 0;
}

static struct qpath *
path_new(struct query *q, const struct fact_at *at, uint32_t n)
{
	const struct fact_at *last = &at[n - 1];
	struct qpath *p = calloc(1, sizeof *p);
	size_t cap = 0;

	if (!p) {
		query_nomem(q);
		return NULL;
	}
	*p = (struct qpath){ .at = at, .n = n, .number = (uint32_t)q->npath };
	p->nword = last->fact->kind == FACT_STRING ? last->ref : (uint32_t)last->val + last->fact->nval + last->fact->nmem;
	if (at->fact->kind == FACT_SIGNAL)
		return p;
	if (buf_grow(&p->id, &cap, n, sizeof *p->id) < 0) {
		query_nomem(q);
		free(p);
		return NULL;
	}
	for (uint32_t i = 0; i < n; i++)
		if ((p->id[i] = query_stmt_of(q, at[i].fact)) == 0) {
			free(p->id);
			free(p);
			return NULL;
		}
	return p;
}

struct qpath *
query_path_make(struct query *q, const struct fact_at *at, uint32_t n)
{
	struct qpath **slot, *p;

	if (q->npath * 2 >= q->nslot && paths_grow(q) != 0) {
		query_nomem(q);
		return NULL;
	}
	slot = paths_place(q, at, n);
	if (!*slot) {
		if (buf_grow(&q->path, &q->cappath, q->npath + 1, sizeof *q->path) < 0) {
			query_nomem(q);
			return NULL;
		}
		if ((p = path_new(q, at, n)) == NULL)
			return NULL;
		*slot = q->path[q->npath++] = p;
	}
	return q->cache[((uintptr_t)at / 16 ^ n) % QCACHE] = *slot;
}

void
query_paths_drop(struct query *q)
{
	for (size_t i = 0; i < q->npath; i++) {
		free(q->path[i]->id);
		free(q->path[i]->insn);
		free(q->path[i]->wide);
		free(q->path[i]->ref);
		free(q->path[i]);
	}
	control_free(q->control);
	q->control = NULL;
	q->npath = 0;
	if (q->slot)
		memset(q->slot, 0, q->nslot * sizeof *q->slot);
	memset(q->cache, 0, sizeof q->cache);
}

void
query_lanes(struct qlanes *l, unsigned reg, unsigned lanes)
{
	unsigned v = reg - FACT_VECTOR;

	if (reg < 16)
		l->w[0] |= (uint64_t)lanes << 3 * reg;
	else if (reg == FACT_FLAGS)
		l->w[0] |= (uint64_t)lanes << 48;
	else if (reg < FACT_MASK)
		l->w[0] |= (uint64_t)lanes << (53 + reg - FACT_FSBASE);
	else if (reg < FACT_VECTOR)
		l->w[1] |= (uint64_t)lanes << (reg - FACT_MASK);
	else if (v < 11)                /* 5 lanes each, none in two words */
		l->w[1] |= (uint64_t)lanes << (8 + 5 * v);
	else if (v < 23)
		l->w[2] |= (uint64_t)lanes << 5 * (v - 11);
	else
		l->w[3] |= (uint64_t)lanes << 5 * (v - 23);
}

static void
lanes_of(const struct fact *f, int rsp, struct qwide *w)
{
	*w = (struct qwide){ 0 };
	for (unsigned d = 0; d < f->ndef; d++)
		if (f->def[d].reg != QRSP || rsp)
			query_lanes(&w->def, f->def[d].reg, f->def[d].lanes);
	for (unsigned u = 0; u < f->nuse; u++)
		if (f->use[u].reg != QRSP || rsp)
			query_lanes(&w->use, f->use[u].reg, f->use[u].lanes);
}

int
query_path_insns(struct query *q, struct qpath *p)
{
	size_t nref = 0;

	if (p->insn)
		return 0;
	for (uint32_t i = 0; i < p->n; i++)
		nref += p->at[i].nref;
	p->wide = calloc(p->n, sizeof *p->wide);
	p->ref = calloc(nref + 1, sizeof *p->ref);
	if (!p->wide || !p->ref || (p->insn = calloc(p->n, sizeof *p->insn)) == NULL)
		return query_nomem(q);
	for (uint32_t i = 0; i < p->n; i++) {
		const struct fact_at *a = &p->at[i];
		const struct fact *f = a->fact;
		struct qinsn *k = &p->insn[i];
		struct qwide *w = &p->wide[i];
		int late = f->kind == FACT_STRING || f->kind == FACT_COUNTED;

		lanes_of(f, q->rsp, w);
		for (unsigned j = 0; j < QLANES; j++) {
			p->all.def.w[j] |= w->def.w[j];
			p->all.use.w[j] |= w->use.w[j];
		}
		*k = (struct qinsn){ .def = w->def.w[0], .use = w->use.w[0], .id = p->id ? p->id[i] : 0, .ref = a->ref, .nref = a->nref, .brief = (uint16_t)p->nref,
			.late = (uint8_t)late, .loads = late || f->nread, .stores = late || f->nref };   /* which of them write is in the references themselves */
		for (unsigned j = 1; j < QLANES; j++)
			if (w->def.w[j] | w->use.w[j])
				k->wide = w;
		for (uint32_t x = 0; x < a->nref; x++)
			p->ref[p->nref++] = (uint16_t)(a->ref + x);
	}
	return 0;
}

void
query_count_members(struct query_slice *s, struct qpath *p)
{
	for (uint64_t m = p->mask; m && p->nmask; m &= m - 1)
		s->count[p->id[__builtin_ctzll(m)] - 1] += p->nmask;
	s->total += (uint64_t)__builtin_popcountll(p->mask) * p->nmask;
	p->nmask = 0;
}

void
query_runs_over(struct query *q, struct query_slice *s)
{
	for (size_t i = 0; i < q->npath; i++)
		query_count_members(s, q->path[i]);
}
