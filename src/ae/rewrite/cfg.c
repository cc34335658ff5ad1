/* Basic blocks (seed 001 section 4.1.1), loops, frequency estimates. */
#include <stdlib.h>
#include <string.h>
#include "ae/rewrite/cfg.h"
#include "base/mem.h"

#define MAXDEPTH 5      /* deeper nesting does not raise the estimate */

struct builder {
	struct file *f;
	struct afunc *fn;
	size_t cap;
};

static uint32_t
add_block(struct builder *b, uint32_t first, uint32_t last)
{
	struct ablock *k;

	b->fn->blk = mem_xgrow(b->fn->blk, &b->cap, b->fn->nblk + 1, sizeof *b->fn->blk);
	k = &b->fn->blk[b->fn->nblk];
	memset(k, 0, sizeof *k);
	k->first = first;
	k->last = last;
	k->callee = k->pad = NONE;
	return b->fn->nblk++;
}

static void
add_succ(struct builder *b, uint32_t blk, uint32_t to)
{
	struct ablock *k = &b->fn->blk[blk];
	uint32_t i;

	/* a switch names each target once */
	for (i = 0; k->term == ST_SWITCH && i < k->nsucc; i++)
		if (k->succ[i] == to)
			return;
	k->succ = xreallocarray(k->succ, k->nsucc + 1, sizeof *k->succ);
	k->succ[k->nsucc++] = to;
}

static int
ends_block(const struct ainsn *a)
{
	return a->in.ctl == IC_JUMP || a->in.ctl == IC_BRANCH || a->in.ctl == IC_SWITCH ||
	    a->in.ctl == IC_RETURN || a->in.ctl == IC_STOP || a->pads != NONE;
}

static int
cfg_traced(const struct file *f, uint32_t fn)
{
	return fn != NONE && !f->fn[fn].why;
}

/* A jump out of the function: a conditional one becomes a block. */
static void
cfg_tail(struct builder *b, uint32_t blk, const struct ainsn *a)
{
	struct ablock *k = &b->fn->blk[blk];

	k->term = cfg_traced(b->f, a->callee) ? ST_TAIL : ST_TAILX;
	k->callee = a->callee;
}

/* The block after instruction i in the text, or an end that is never reached. */
static uint32_t
cfg_block_after(struct builder *b, uint32_t i)
{
	struct afunc *fn = b->fn;

	if (i < fn->nins && fn->ins[i].frag == fn->ins[i - 1].frag && !fn->ins[i].lands)
		return fn->blkof[i];
	i = add_block(b, i, i);
	fn->blk[i].term = ST_NONE;
	return i;
}

static void
cfg_indirect(struct builder *b, uint32_t blk, const struct ainsn *a)
{
	struct afunc *fn = b->fn;
	struct ablock *k = &fn->blk[blk];
	size_t i;

	if (a->calls) {         /* a jump to a function, by the linker's hint */
		cfg_tail(b, blk, a);
		return;
	}
	k->term = ST_SWITCH;
	if (a->table != NONE) {
		const struct jtable *t = &b->f->tab[a->table];

		for (i = 0; i < t->n; i++)
			add_succ(b, blk, fn->blkof[t->target[i]]);
		return;
	}
	for (i = 0; i < fn->nins; i++)
		if (fn->ins[i].taken)
			add_succ(b, blk, fn->blkof[i]);
	k = &fn->blk[blk];
	if (k->nsucc == 0)
		k->term = ST_TAILX;
	else
		k->range = 1;
}

static void
cfg_connect(struct builder *b, uint32_t blk)
{
	struct afunc *fn = b->fn;
	uint32_t last = fn->blk[blk].last, t;
	const struct ainsn *a = &fn->ins[last - 1];

	switch (a->in.ctl) {
	case IC_JUMP:
		if (a->target == NONE) {
			cfg_tail(b, blk, a);
			return;
		}
		fn->blk[blk].term = ST_JUMP;
		add_succ(b, blk, fn->blkof[a->target]);
		return;
	case IC_BRANCH:
		if (a->target != NONE)
			t = fn->blkof[a->target];
		else {
			t = add_block(b, last, last);
			cfg_tail(b, t, a);
		}
		fn->blk[blk].term = ST_BRANCH;
		fn->blk[blk].cc = a->in.cc;
		add_succ(b, blk, t);
		t = cfg_block_after(b, last + (a->in.slot == 2));       /* not to a slot that is annulled */
		add_succ(b, blk, t);
		return;
	case IC_SWITCH:
		cfg_indirect(b, blk, a);
		return;
	case IC_RETURN:
		fn->blk[blk].term = ST_RETURN;
		return;
	case IC_STOP:
		fn->blk[blk].term = ST_NONE;
		return;
	default:
		t = cfg_block_after(b, last);
		fn->blk[blk].term = a->pads == NONE ? ST_JUMP : ST_LANDING;
		fn->blk[blk].pad = a->pads == NONE ? NONE : fn->blkof[a->pads];
		add_succ(b, blk, t);
	}
}

static void
cfg_frequencies(struct afunc *fn)
{
	const struct graph *g = fn->g;
	uint32_t i, j;

	for (i = 0; i < fn->nblk; i++) {
		struct ablock *k = &fn->blk[i];
		int32_t l = g->inner[i];
		uint32_t d = l < 0 ? 0 : g->loop[l].depth;
		int always = 1;
		uint32_t at = k->first < fn->nins ? k->first : (uint32_t)fn->nins - 1;

		k->freq = CFG_ONCE;
		for (j = 0; j < d && j < MAXDEPTH; j++)
			k->freq *= 8;
		/* a block that an iteration can bypass runs half as often */
		if (l >= 0) {
			uint32_t h = g->loop[l].header;

			for (j = g->pred.at[h]; j < g->pred.at[h + 1]; j++)
				if (graph_inloop(g, (uint32_t)l, g->pred.to[j]) &&
				    !graph_dominates(g, i, g->pred.to[j]))
					always = 0;
		} else {
			for (j = 0; j < fn->nblk; j++)
				if (fn->blk[j].term == ST_RETURN && g->rpo[j] != NO_NODE &&
				    !graph_dominates(g, i, j))
					always = 0;
		}
		if (!always)
			k->freq /= 2;
		if (fn->ins[at].frag == 1 || g->rpo[i] == NO_NODE || (k->first < k->last && fn->ins[at].lands))
			k->freq = 1;
	}
}

/* The paper's scheme: targets of branches record their numbers. */
static void
cfg_marks(struct afunc *fn)
{
	uint8_t bytes = fn->nblk > 256 ? 2 : 1;
	uint32_t i, k;

	for (i = 0; i < fn->nblk; i++)
		if (fn->blk[i].term == ST_BRANCH || (fn->blk[i].term == ST_SWITCH && !fn->blk[i].range))
			for (k = 0; k < fn->blk[i].nsucc; k++)
				fn->blk[fn->blk[i].succ[k]].mark = bytes;
}

void
cfg_build(struct file *f, uint32_t no)
{
	struct afunc *fn = &f->fn[no];
	struct builder b = { f, fn, 0 };
	uint32_t i, n, first;

	fn->blkof = xcalloc(fn->nins, sizeof *fn->blkof);
	if (fn->ins[0].leader)          /* loops return to the entry: makes it a separate block */
		add_block(&b, 0, 0);
	for (i = first = 0; i < fn->nins; i++) {
		if (i + 1 < fn->nins && !ends_block(&fn->ins[i]) && !fn->ins[i + 1].leader &&
		    fn->ins[i + 1].frag == fn->ins[i].frag)
			continue;
		n = add_block(&b, first, i + 1);
		for (; first <= i; first++)
			fn->blkof[first] = n;
	}
	n = fn->nblk;
	for (i = 0; i < n; i++) {
		if (fn->blk[i].first < fn->blk[i].last) {
			cfg_connect(&b, i);
		} else {
			fn->blk[i].term = ST_JUMP;
			add_succ(&b, i, i + 1);
		}
	}
	fn->g = graph_new(fn->nblk);
	for (i = 0; i < fn->nblk; i++) {
		for (n = 0; n < fn->blk[i].nsucc; n++)
			graph_add_edge(fn->g, i, fn->blk[i].succ[n]);
		if (fn->blk[i].pad != NONE)
			graph_add_edge(fn->g, i, fn->blk[i].pad);
	}
	graph_analyse(fn->g);
	cfg_frequencies(fn);
	if (fn->paper)
		cfg_marks(fn);
	for (i = 0; i < fn->nblk; i++)
		fn->tailout |= fn->blk[i].term == ST_TAILX || fn->blk[i].range;
}

void
cfg_free(struct afunc *fn)
{
	uint32_t i;

	for (i = 0; i < fn->nblk; i++)
		free(fn->blk[i].succ);
	free(fn->blk);
	free(fn->blkof);
	free(fn->noflags);
	graph_free(fn->g);
	fn->blk = NULL;
	fn->blkof = NULL;
	fn->noflags = NULL;
	fn->g = NULL;
	fn->nblk = 0;
	fn->tailout = 0;
}
