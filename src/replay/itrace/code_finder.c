/* Collects the static code of a run from the batches of a visit. */
#include <stdlib.h>

#include "replay/itrace/code_finder.h"

#define CACHE 4096u             /* entries of the cache of blocks */

struct wcode_visit {
	struct wcode *c;
	struct hash_set seen;           /* blocks seen so far */
	/* the last instruction, if it was an indirect jump, indirect call or return; else 0 */
	uint64_t from;
	/* blocks seen, and the value of `from` after each */
	struct { const struct fact_at *at; uint32_t n; uint64_t from; } cache[CACHE];
	struct { uint64_t from, to; } went[CACHE];
};

struct wcode_visit *
wcode_visit_new(struct wcode *c)
{
	struct wcode_visit *t = calloc(1, sizeof *t);

	if (t)
		t->c = c;
	return t;
}

void
wcode_visit_free(struct wcode_visit *t)
{
	if (t)
		hash_set_free(&t->seen);
	free(t);
}

static int
finder_goes(struct wcode_visit *t, uint64_t from, uint64_t to)
{
	size_t i = (from ^ to >> 4 ^ to << 5) % CACHE;

	if (t->went[i].from == from && t->went[i].to == to)
		return 0;
	t->went[i].from = from;
	t->went[i].to = to;
	return wcode_went(t->c, from, to);
}

static int
is_free(const struct wcode *c, uint64_t pc)
{
	uint32_t v = wcode_find(c, pc);

	return v != CODE_EXIT &&
	    (c->node[v].kind == CODE_INDIRECT || c->node[v].kind == CODE_RETURN ||
		(c->node[v].kind == CODE_CALL && !c->node[v].target));
}

/* Handles a block that is new or has left the cache. */
static int
finder_look(struct wcode_visit *t, const struct visit_run *r, uint64_t *from)
{
	int new = hash_set_add(&t->seen, (uint64_t)(uintptr_t)r->at + r->ninsn);
	const struct fact *last = r->at[r->ninsn - 1].fact;

	if (new < 0)
		return -1;
	t->c->amd = last->amd;
	for (uint32_t i = 0; new && i < r->ninsn; i++) {
		const struct fact *f = r->at[i].fact;

		if (wcode_insn(t->c, f->pc, f->b, f->len) != 0)
			return -1;
		if (i + 1 < r->ninsn && is_free(t->c, f->pc) &&
		    wcode_went(t->c, f->pc, r->at[i + 1].fact->pc) != 0)
			return -1;
	}
	*from = is_free(t->c, last->pc) ? last->pc : 0;
	return 0;
}

int
wcode_visit_batch(struct wcode_visit *t, const struct visit_batch *b)
{
	for (const struct visit_run *r = b->run; r < b->run + b->nrun; r++) {
		size_t i = ((uintptr_t)r->at >> 4) % CACHE;

		if (r->at->fact->kind == FACT_SIGNAL) {
			t->from = 0;
			continue;
		}
		if (t->from && finder_goes(t, t->from, r->at->fact->pc) != 0)
			return -1;
		if (t->cache[i].at != r->at || t->cache[i].n != r->ninsn) {
			if (finder_look(t, r, &t->cache[i].from) != 0)
				return -1;
			t->cache[i].at = r->at;
			t->cache[i].n = r->ninsn;
		}
		t->from = t->cache[i].from;
	}
	return wcode_descend(t->c);
}

int
wcode_visit_all(struct wcode_visit *t, struct visit *v, struct wcode_replay *m)
{
	struct visit_batch b;
	int got;

	while ((got = visit_batch(v, &b)) == REPLAY_OK) {
		wcode_replay_invalidate(m);
		if (wcode_visit_batch(t, &b) != 0)
			return -2;
	}
	return got;
}
