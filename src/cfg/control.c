/* Dynamic control dependence, by a stack of regions. */
#include <stdlib.h>
#include <string.h>
#include <Zydis/Zydis.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/hash.h"
#include "cfg/control.h"
#include "format/ref/ref.h"

/* more regions in a frame than nesting alone makes */
#define DEEP 64u

enum what {
	JOIN,                           /* before the instruction: regions that end at `node` end */
	BRANCH,                         /* a region begins, which ends at `node` */
	CONDTAIL,                       /* after BRANCH: if `target` is next, that is another function */
	TAIL,                           /* this jump leads to another function */
	BRANCHTAIL,                     /* this branch has jumped to another function, and is its parent */
	CALL, RETURN,                   /* word: the first of nref references */
	STACK                           /* word: the new rsp, which may be higher than before */
};

struct control_act {
	uint8_t what, nref;
	uint8_t ends;                   /* a piece ends before it is done */
	uint32_t node, word;
	uint64_t target;
};

struct block {
	struct control_path p;          /* its act and end are owned */
	const struct fact_at *at;       /* at and p.n identify the block */
};

struct region { uint64_t n; uint32_t end; };
struct frame {
	uint64_t slot, parent;          /* address of the return address; control parent */
	uint64_t base;                  /* index of its first region */
	uint32_t sig;
};

struct control {
	const struct wcode *code;
	struct block **block;           /* array and blocks are owned */
	size_t nblock, capblock;
	struct hash by_at;              /* finds blocks by at and n */
	struct region *region;          /* owned */
	size_t nregion, capregion;
	struct frame *frame;            /* owned; [0] is that of the program's entry */
	size_t nframe, capframe;
	uint64_t tail;                  /* after CONDTAIL: its target; 0: none */
	uint64_t tailn;                 /* the instance of that branch */
	uint64_t *parent;               /* parents of pieces; owned */
	size_t capparent;
};

struct control *
control_new(const struct wcode *c)
{
	struct control *t = calloc(1, sizeof *t);

	if (!t)
		return NULL;
	t->code = c;
	if (buf_grow(&t->frame, &t->capframe, 1, sizeof *t->frame) < 0) {
		control_free(t);
		return NULL;
	}
	t->frame[t->nframe++] = (struct frame){ .slot = UINT64_MAX };
	return t;
}

static void
block_free(struct block *b)
{
	free((void *)(uintptr_t)b->p.act);
	free((void *)(uintptr_t)b->p.end);
	free(b);
}

void
control_free(struct control *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->nblock; i++)
		block_free(t->block[i]);
	hash_free(&t->by_at);
	free(t->block);
	free(t->region);
	free(t->frame);
	free(t->parent);
	free(t);
}

int
control_moves_stack(const struct fact *f)
{
	switch (f->mnemonic) {
	case ZYDIS_MNEMONIC_PUSH: case ZYDIS_MNEMONIC_PUSHF: case ZYDIS_MNEMONIC_PUSHFQ:
	case ZYDIS_MNEMONIC_POP: case ZYDIS_MNEMONIC_POPF: case ZYDIS_MNEMONIC_POPFQ:
	case ZYDIS_MNEMONIC_CALL: case ZYDIS_MNEMONIC_RET: case ZYDIS_MNEMONIC_SUB:
	case ZYDIS_MNEMONIC_AND: case ZYDIS_MNEMONIC_ENTER:
		return 0;
	case ZYDIS_MNEMONIC_ADD:                /* 83, 81: add of an immediate, after the REX prefix */
		return f->b[1] != 0x83 && f->b[1] != 0x81;
	default:
		return f->kind == FACT_PLAIN;
	}
}

/* Does definition d tell the new rsp, which may be higher than before? */
static int
control_sets_stack(const struct fact *f, const struct fact_def *d)
{
	return d->reg == X86_RSP && d->val != FACT_NOVALUE && control_moves_stack(f);
}

int
control_has_words(const struct fact *f)
{
	if (f->kind != FACT_PLAIN)
		return 0;
	if (f->mnemonic == ZYDIS_MNEMONIC_CALL || f->mnemonic == ZYDIS_MNEMONIC_RET)
		return 1;
	for (unsigned k = 0; k < f->ndef; k++)
		if (control_sets_stack(f, &f->def[k]))
			return 1;
	return 0;
}

static void
control_stack(const struct fact_at *a, struct control_act *act, uint32_t *n)
{
	for (unsigned k = 0; k < a->fact->ndef; k++)
		if (control_sets_stack(a->fact, &a->fact->def[k]))
			act[(*n)++] = (struct control_act){ .what = STACK,
		    .word = (uint32_t)a->val + a->fact->def[k].val };
}

/* Writes the acts of instruction a to act; returns their number.  next: follows a in the run, or NULL */
static uint32_t
control_acts(const struct control *t, const struct fact_at *a, const struct fact_at *next,
    struct control_act *act)
{
	uint32_t n = 0, v = wcode_find(t->code, a->fact->pc);
	const struct wcode_node *c = v == CODE_EXIT ? NULL : &t->code->node[v];

	if (c && c->flags & CODE_JOIN)
		act[n++] = (struct control_act){ .what = JOIN, .node = v };
	control_stack(a, act, &n);
	if (!c)
		return n;
	if (c->flags & CODE_BRANCH)
		act[n++] = (struct control_act){ .what = BRANCH, .node = c->pdom };
	/* another instruction may be there later: then it has no words in every kind of visit */
	if (c->kind == CODE_CALL && a->nref && a->fact->mnemonic == ZYDIS_MNEMONIC_CALL)
		act[n++] = (struct control_act){ .what = CALL, .word = a->ref, .nref = (uint8_t)a->nref };
	else if (c->kind == CODE_RETURN && a->nref && a->fact->mnemonic == ZYDIS_MNEMONIC_RET)
		act[n++] = (struct control_act){ .what = RETURN, .word = a->ref, .nref = (uint8_t)a->nref };
	else if (c->kind == CODE_COND && c->flags & CODE_TAIL) {
		if (!next)
			act[n++] = (struct control_act){ .what = CONDTAIL, .target = c->target };
		else if (next->fact->pc == c->target)
			act[n++] = (struct control_act){ .what = BRANCHTAIL };
	} else if (c->flags & CODE_TAIL)
		act[n++] = (struct control_act){ .what = TAIL };
	return n;
}

/* Makes the acts of a block, and the pieces between them. */
static int
block_make(const struct control *t, struct block *b)
{
	struct control_act act[8], *all = NULL;
	uint16_t *end = calloc(b->p.n + 1, sizeof *end);
	size_t cap = 0, n = 0;
	uint32_t done = 0;

	b->p.end = end;
	for (uint32_t i = 0; i < b->p.n && end; i++) {
		uint32_t k = control_acts(t, &b->at[i], i + 1 < b->p.n ? &b->at[i + 1] : NULL, act);

		if (k && buf_grow(&all, &cap, n + k, sizeof *all) < 0)
			return -1;
		b->p.act = all;
		for (uint32_t j = 0; j < k; j++) {
			uint32_t to = act[j].what == JOIN ? i : i + 1;

			all[n] = act[j];
			all[n].ends = to > done;
			n++;
			if (to > done)
				end[b->p.npiece++] = (uint16_t)(done = to);
		}
	}
	if (end && done < b->p.n)
		end[b->p.npiece++] = (uint16_t)b->p.n;
	b->p.nact = (uint32_t)n;
	return end ? 0 : -1;
}

const struct control_path *
control_path(struct control *t, const struct fact_at *at, uint32_t n)
{
	uint32_t h = hash_number((uint64_t)(uintptr_t)at + n), slot = h, i;
	struct block *b;

	while ((i = hash_find(&t->by_at, h, &slot)) != HASH_NONE)
		if (t->block[i]->at == at && t->block[i]->p.n == n)
			return &t->block[i]->p;
	if (buf_grow(&t->block, &t->capblock, t->nblock + 1, sizeof(struct block *)) != 0 ||
	    (b = calloc(1, sizeof *b)) == NULL)
		return NULL;
	b->at = at;
	b->p.n = n;
	b->p.pc = at->fact->pc;
	if (block_make(t, b) != 0 || hash_add(&t->by_at, h, (uint32_t)t->nblock) != 0) {
		block_free(b);
		return NULL;
	}
	t->block[t->nblock++] = b;
	return &b->p;
}

static inline uint64_t
parent_of(const struct control *t)
{
	const struct frame *f = &t->frame[t->nframe - 1];

	return t->nregion > f->base ? t->region[t->nregion - 1].n : f->parent;
}

/* Ends frames whose return address is below addr. */
static inline void
control_unwind(struct control *t, uint64_t addr)
{
	while (t->nframe > 1 && t->frame[t->nframe - 1].slot < addr)
		t->nregion = t->frame[--t->nframe].base;
}

static int
control_enter(struct control *t, uint64_t at, uint64_t n, unsigned sig)
{
	if (buf_grow(&t->frame, &t->capframe, t->nframe + 1, sizeof *t->frame) < 0)
		return -1;
	t->frame[t->nframe++] = (struct frame){ at, n, t->nregion, sig };
	return 0;
}

static int
control_branch(struct control *t, uint64_t n, uint32_t end)
{
	uint64_t base = t->frame[t->nframe - 1].base;

	if (t->nregion > base && t->region[t->nregion - 1].end == end) {
		t->region[t->nregion - 1].n = n;
		return 0;
	}
	/* nested regions of a frame have different ends, so the program has switched stacks */
	if (t->nregion - base > DEEP)
		for (size_t i = base; i < t->nregion; i++)
			if (t->region[i].end == end) {
				t->region[i].n = n;
				t->nregion = i + 1;
				return 0;
			}
	if (buf_grow(&t->region, &t->capregion, t->nregion + 1, sizeof *t->region) < 0)
		return -1;
	t->region[t->nregion++] = (struct region){ n, end };
	return 0;
}

/* Ends the regions that end at a node. */
static inline void
control_join(struct control *t, uint32_t node)
{
	uint64_t base = t->frame[t->nframe - 1].base;

	while (t->nregion > base && t->region[t->nregion - 1].end == node)
		t->nregion--;
}

static inline void
control_tail(struct control *t, uint64_t parent)
{
	struct frame *f = &t->frame[t->nframe - 1];

	f->parent = parent;
	t->nregion = f->base;
}

/* Follows a signal; sig is 0 for the return from a handler. */
static int
signal_comes(struct control *t, uint64_t n, uint64_t sig, uint64_t rsp)
{
	size_t i;

	t->tail = 0;
	/* the code that the handler returns to still belongs to it: that return does not end slot rsp + 1 */
	if (sig)
		return control_enter(t, rsp + 1, n, 1);
	for (i = t->nframe; i > 1 && !t->frame[i - 1].sig; i--)
		;
	if (i > 1) {
		t->nframe = i - 1;
		t->nregion = t->frame[t->nframe].base;
	}
	control_unwind(t, rsp);
	return 0;
}

static int
control_act(struct control *t, const struct control_act *a, const uint64_t *w, uint64_t n)
{
	uint64_t at;

	switch (a->what) {
	case BRANCH:
		return control_branch(t, n, a->node);
	case CONDTAIL:
		t->tail = a->target;
		t->tailn = n;
		return 0;
	case TAIL:
		control_tail(t, parent_of(t));
		return 0;
	case BRANCHTAIL:
		control_tail(t, n);
		return 0;
	case CALL:
		w += a->word;
		at = ref_addr(ref_kind(w[a->nref - 1]) >= REF_STORE ? w[a->nref - 1] : w[0]);
		control_unwind(t, at + 1);
		return control_enter(t, at, n, 0);
	case RETURN:
		control_unwind(t, ref_addr(w[a->word]) + 1);
		return 0;
	case STACK:
		control_unwind(t, w[a->word]);
		return 0;
	default:
		return 0;
	}
}

int
control_signal(struct control *t, uint64_t n, const uint64_t *word)
{
	return signal_comes(t, n, word[0], word[1]);
}

int
control_step(struct control *t, const struct control_path *p, uint64_t n, const uint64_t *word,
    uint64_t *parent)
{
	const struct control_act *a = p->act, *end = a + p->nact;
	uint32_t k = 0;

	if (!p->nact && !t->tail) {
		if (parent)
			*parent = parent_of(t);
		return 0;
	}
	if (t->tail) {
		if (t->tail == p->pc)
			control_tail(t, t->tailn);
		t->tail = 0;
	}
	for (; a < end; a++) {
		if (a->ends) {
			if (parent)
				parent[k] = parent_of(t);
			k++;
		}
		if (a->what == JOIN)
			control_join(t, a->node);
		else if (control_act(t, a, word, n + p->end[k - 1] - 1) != 0)
			return -1;
	}
	if (k < p->npiece && parent)
		parent[k] = parent_of(t);
	return 0;
}

int
control_run(struct control *t, const struct fact_at *at, uint32_t n, uint64_t first, const uint64_t *word,
    uint64_t *parent)
{
	const struct control_path *p;
	uint32_t i = 0;

	if (at->fact->kind == FACT_SIGNAL) {
		if (parent)
			*parent = parent_of(t);
		return control_signal(t, first, word);
	}
	if ((p = control_path(t, at, n)) == NULL ||
	    buf_grow(&t->parent, &t->capparent, p->npiece, sizeof *t->parent) < 0 ||
	    control_step(t, p, first, word, parent ? t->parent : NULL) != 0)
		return -1;
	for (uint32_t k = 0; parent && k < p->npiece; k++)
		for (; i < p->end[k]; i++)
			parent[i] = t->parent[k];
	return 0;
}

void
control_parents(const struct control *t, control_parent_fn *fn, void *arg)
{
	for (size_t i = 0; i < t->nframe; i++)
		fn(arg, t->frame[i].parent);
	for (size_t i = 0; i < t->nregion; i++)
		fn(arg, t->region[i].n);
	if (t->tail)
		fn(arg, t->tailn);
}

size_t
control_depth(const struct control *t)
{
	return t->nframe - 1;
}

void
control_save(const struct control *t, struct buf *b)
{
	buf_le64(b, t->nframe);
	buf_le64(b, t->nregion);
	buf_le64(b, t->tail);
	buf_le64(b, t->tailn);
	for (size_t i = 0; i < t->nframe; i++) {
		buf_le64(b, t->frame[i].slot);
		buf_le64(b, t->frame[i].parent);
		buf_le64(b, t->frame[i].base);
		buf_le32(b, t->frame[i].sig);
	}
	for (size_t i = 0; i < t->nregion; i++) {
		buf_le64(b, t->region[i].n);
		buf_le32(b, t->region[i].end);
	}
}

int
control_load(struct control *t, const uint8_t *p, size_t n)
{
	uint64_t nframe, nregion, base = 0;

	if (n < 32)
		return -1;
	nframe = get_le64(p);
	nregion = get_le64(p + 8);
	if (nframe < 1 || nframe > n / 28 || nregion > n / 12 || n - 32 != 28 * nframe + 12 * nregion ||
	    buf_grow(&t->frame, &t->capframe, nframe, sizeof *t->frame) < 0 ||
	    buf_grow(&t->region, &t->capregion, nregion + 1, sizeof *t->region) < 0)
		return -1;
	t->tail = get_le64(p + 16);
	t->tailn = get_le64(p + 24);
	t->nframe = nframe;
	t->nregion = nregion;
	p += 32;
	for (size_t i = 0; i < nframe; i++, p += 28) {
		t->frame[i] = (struct frame){ get_le64(p), get_le64(p + 8), get_le64(p + 16),
			get_le32(p + 24) };
		if (t->frame[i].base < base || t->frame[i].base > nregion) {
			t->nframe = 1;
			t->nregion = 0;
			t->frame[0] = (struct frame){ .slot = UINT64_MAX };
			return -1;
		}
		base = t->frame[i].base;
	}
	for (size_t i = 0; i < nregion; i++, p += 12)
		t->region[i] = (struct region){ get_le64(p), get_le32(p + 8) };
	return 0;
}
