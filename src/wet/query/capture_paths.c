/* Queries of a capture: the paths of runs, and their statements. */
#include <stdlib.h>
#include <string.h>

#include "wet/query/capture_internal.h"

uint32_t
qcap_stmt_id(struct qcap *cap, const struct fact *f)
{
	struct query_stmt *s;
	uint32_t h = hash_number(f->pc), at = h, i;

	while ((i = hash_find(&cap->by_pc, h, &at)) != HASH_NONE) {
		s = &cap->q->stmt[i];
		if (s->pc == f->pc && s->len == f->len && memcmp(s->b, f->b, f->len) == 0)
			return i + 1;
	}
	if (cap->surveyed) {
		query_fail(cap->q, "the replay differs from the one before");
		return 0;
	}
	if (cap->q->nstmt >= UINT32_MAX / 2 ||
	    buf_grow(&cap->q->stmt, &cap->capstmt, cap->q->nstmt + 1, sizeof *cap->q->stmt) < 0 ||
	    hash_add(&cap->by_pc, h, (uint32_t)cap->q->nstmt) != 0)
		return 0;
	s = &cap->q->stmt[cap->q->nstmt++];
	*s = (struct query_stmt){ .pc = f->pc, .len = f->len };
	memcpy(s->b, f->b, f->len);
	wport_of(f, &s->port);
	return (uint32_t)cap->q->nstmt;
}

static struct qpath *
paths_new(struct qcap *cap, const struct fact_at *at, uint32_t n)
{
	const struct fact_at *last = &at[n - 1];
	struct qpath *p = calloc(1, sizeof *p);
	size_t have = 0;

	if (!p)
		return NULL;
	*p = (struct qpath){ .at = at, .n = n, .number = (uint32_t)cap->npath };
	p->nword = last->fact->kind == FACT_STRING ? last->ref :
	    (uint32_t)last->val + last->fact->nval + last->fact->nmem;
	if (at->fact->kind == FACT_SIGNAL)
		return p;
	if (buf_grow(&p->id, &have, n, sizeof *p->id) < 0) {
		free(p);
		return NULL;
	}
	for (uint32_t i = 0; i < n; i++)
		if ((p->id[i] = qcap_stmt_id(cap, at[i].fact)) == 0) {
			free(p->id);
			free(p);
			return NULL;
		}
	return p;
}

struct qpath *
qcap_make_path(struct qcap *cap, const struct fact_at *at, uint32_t n)
{
	uint32_t h = hash_number((uint64_t)(uintptr_t)at + n), slot = h, i;
	struct qpath *p;

	while ((i = hash_find(&cap->by_run, h, &slot)) != HASH_NONE &&
	    (cap->path[i]->at != at || cap->path[i]->n != n))
		;
	if (i != HASH_NONE)
		p = cap->path[i];
	else if ((p = paths_new(cap, at, n)) == NULL)
		return NULL;
	else if (buf_grow(&cap->path, &cap->cappath, cap->npath + 1, sizeof *cap->path) < 0 ||
	    hash_add(&cap->by_run, h, p->number) != 0) {
		free(p->id);
		free(p);
		return NULL;
	} else
		cap->path[cap->npath++] = p;
	return cap->cache[((uintptr_t)at / 16 ^ n) % QCACHE] = p;
}

void
qcap_free_paths(struct qcap *cap)
{
	for (size_t i = 0; i < cap->npath; i++) {
		free(cap->path[i]->id);
		free(cap->path[i]->insn);
		free(cap->path[i]->wide);
		free(cap->path[i]->ref);
		free(cap->path[i]);
	}
	control_free(cap->control);
	cap->control = NULL;
	cap->npath = 0;
	hash_free(&cap->by_run);
	memset(cap->cache, 0, sizeof cap->cache);
}

/* port: NULL for a signal */
static void
lanes_of(const struct fact *f, unsigned flags, const struct wport *port, struct qwide *w)
{
	*w = (struct qwide){ 0 };
	for (unsigned d = 0; d < f->ndef; d++)
		if (f->def[d].reg != QRSP || flags & QUERY_RSP)
			lanes_add(&w->def, f->def[d].reg, f->def[d].lanes);
	for (unsigned u = 0; u < f->nuse; u++)
		if (qcap_follows(flags, f, u, port))
			lanes_add(&w->use, f->use[u].reg, f->use[u].lanes);
}

int
qcap_make_insns(struct qcap *cap, struct qpath *p)
{
	size_t nref = 0;

	if (p->insn)
		return 0;
	for (uint32_t i = 0; i < p->n; i++)
		nref += p->at[i].nref;
	p->wide = calloc(p->n, sizeof *p->wide);
	p->ref = calloc(nref + 1, sizeof *p->ref);
	if (!p->wide || !p->ref || (p->insn = calloc(p->n, sizeof *p->insn)) == NULL)
		return -1;
	for (uint32_t i = 0; i < p->n; i++) {
		const struct fact_at *a = &p->at[i];
		const struct fact *f = a->fact;
		struct qinsn *k = &p->insn[i];
		struct qwide *w = &p->wide[i];
		int dynamic = f->kind == FACT_STRING || f->kind == FACT_COUNTED;

		lanes_of(f, cap->follow, p->id ? &cap->q->stmt[p->id[i] - 1].port : NULL, w);
		for (unsigned j = 0; j < QLANES; j++) {
			p->all.def.w[j] |= w->def.w[j];
			p->all.use.w[j] |= w->use.w[j];
		}
		*k = (struct qinsn){
			.def = w->def.w[0], .use = w->use.w[0], .id = p->id ? p->id[i] : 0,
			.ref = a->ref, .nref = a->nref, .brief = (uint16_t)p->nref,
			/* each reference says whether it reads or writes, so stores may be too large */
			.dynamic = (uint8_t)dynamic, .loads = (dynamic || f->nread) &&
			    !(cap->follow & QUERY_CONTROL),
			.stores = dynamic || f->nref
		};
		for (unsigned j = 1; j < QLANES; j++)
			if (w->def.w[j] | w->use.w[j])
				k->wide = w;
		for (uint32_t x = 0; x < a->nref; x++)
			p->ref[p->nref++] = (uint16_t)(a->ref + x);
	}
	return 0;
}

void
qcap_flush_run(struct query_slice *s, struct qpath *p)
{
	for (uint64_t m = p->mask; m && p->nmask; m &= m - 1)
		s->count[p->id[__builtin_ctzll(m)] - 1] += p->nmask;
	s->total += (uint64_t)__builtin_popcountll(p->mask) * p->nmask;
	p->nmask = 0;
}

void
qcap_flush_counts(struct qcap *cap, struct query_slice *s)
{
	for (size_t i = 0; i < cap->npath; i++)
		qcap_flush_run(s, cap->path[i]);
}
