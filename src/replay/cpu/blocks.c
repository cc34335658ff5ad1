/* Finds, links and drops blocks of translated code. */
#include <string.h>
#include <Zydis/Zydis.h>
#include "base/populate.h"
#include "base/search.h"
#include "replay/cpu/emit_internal.h"

#define WARM (256u << 10)       /* bytes whose pages are made at once */

/* Makes pages ahead, so that there are some up to `to`, of memory that is used from its beginning on. */
static void
blocks_warm(uint8_t **warm, const uint8_t *to, uint8_t *end)
{
	size_t n;

	if (to <= *warm)
		return;
	n = (size_t)(to - *warm) + WARM;
	if (n > (size_t)(end - *warm))
		n = (size_t)(end - *warm);
	populate(*warm, n);
	*warm += n;
}

void *
rp_alloc(struct rp_core *c, size_t n)
{
	void *p = c->ap;

	n = (n + 7) & ~(size_t)7;
	if (n > (size_t)(c->aend - c->ap))
		return NULL;
	c->ap += n;
	blocks_warm(&c->awarm, c->ap, c->aend);
	memset(p, 0, n);
	return p;
}

static unsigned
blocks_hash(uint64_t pc, int mode, int step)
{
	return (unsigned)((pc ^ pc >> 16 ^ (unsigned)(mode << 15 | step << 14)) & (RP_BUCKETS - 1));
}

struct rp_block *
rp_block_find(struct rp_core *c, uint64_t pc, int mode, int step)
{
	struct rp_block *b;

	for (b = c->hash[blocks_hash(pc, mode, step)]; b; b = b->hnext)
		if (b->pc == pc && b->mode == mode && b->step == step)
			return b;
	return NULL;
}

/* The block whose host code contains p, or NULL. */
struct rp_block *
rp_block_at(struct rp_core *c, const uint8_t *p)
{
	size_t i;

	LOWER_BOUND(i, c->nlist, c->list[i]->start <= p);
	return i && p < c->list[i - 1]->end ? c->list[i - 1] : NULL;
}

void
rp_link(struct rp_core *c, struct rp_site *s, struct rp_block *to)
{
	(void)c;
	if (s->to || s->from->dead || to->dead || to->entry == NULL)
		return;
	s->to = to;
	s->next = to->in;
	to->in = s;
	e_patch(s->rel, to->entry);
}

/* Indirect jumps into the same index bucket test the bucket's blocks one after the other. */
static void
blocks_rebuild(struct rp_core *c, int mode, unsigned i)
{
	struct rp_block *b = c->bucket[mode][i];

	c->f[mode]->index[i] = (uint64_t)(uintptr_t)(b ? b->ientry : c->th.miss);
	for (; b; b = b->bnext)
		e_patch(b->inext, b->bnext ? b->bnext->ichain : c->th.miss);
}

/* Entry of an indirect jump, the guest target in rcx (and in the frame): tests whether it is this block. */
void
rp_index_add(struct rp_core *c, struct rp_block *b)
{
	struct rp_tr t = { .p = c->cp };
	struct rp_block **head = &c->bucket[b->mode][b->pc & (RP_INDEX - 1)];

	if (b->ientry || b->entry == NULL || c->cend - c->cp < 256)
		return;
	b->ichain = t.p;
	e_load(&t, T0, FO(rip));
	b->ientry = t.p;
	e_imm(&t, T1, -b->pc);
	e_mem(&t, 1, 0x8d, T0, T0, T1, 1, 0);
	host_e1(&t, 0xe3);
	host_e1(&t, 5);
	b->inext = e_jmp32(&t);
	e_jmp(&t, b->entry);
	c->cp = t.p;
	b->bnext = *head;
	*head = b;
	blocks_rebuild(c, b->mode, b->pc & (RP_INDEX - 1));
}

static void
leave_pages(struct rp_block *b)
{
	unsigned i;

	for (i = 0; i < b->nref; i++) {
		struct rp_pageref **pp = &b->ref[i].page->blocks;

		while (*pp && *pp != &b->ref[i])
			pp = &(*pp)->next;
		if (*pp)
			*pp = b->ref[i].next;
	}
	b->nref = 0;
}

void
rp_unlink(struct rp_core *c, struct rp_block *b)
{
	struct rp_block **pp;
	struct rp_site *s, **ss;
	unsigned i;

	if (b->dead)
		return;
	b->dead = 1;
	for (pp = &c->hash[blocks_hash(b->pc, b->mode, b->step)]; *pp; pp = &(*pp)->hnext)
		if (*pp == b) {
			*pp = b->hnext;
			break;
		}
	while ((s = b->in) != NULL) {
		b->in = s->next;
		s->to = NULL;
		e_patch(s->rel, s->stub);
	}
	for (i = 0; i < b->nsite; i++)
		if (b->site[i].to) {
			for (ss = &b->site[i].to->in; *ss && *ss != &b->site[i]; ss = &(*ss)->next)
				;
			if (*ss)
				*ss = b->site[i].next;
			b->site[i].to = NULL;
			e_patch(b->site[i].rel, b->site[i].stub);
		}
	if (b->ientry) {
		for (pp = &c->bucket[b->mode][b->pc & (RP_INDEX - 1)]; *pp && *pp != b; pp = &(*pp)->bnext)
			;
		if (*pp)
			*pp = b->bnext;
		blocks_rebuild(c, b->mode, b->pc & (RP_INDEX - 1));
	}
	leave_pages(b);
}

void
rp_block_drop(struct rp_core *c, struct rp_block *b)
{
	rp_unlink(c, b);
	if (c->nlist && c->list[c->nlist - 1] == b && c->cp == b->end) {
		c->nlist--;
		c->cp = b->start;
	}
}

void
rp_fetches_again(struct rp_core *c)
{
	for (size_t i = 0; i < c->nlist; i++)
		for (struct rp_hinfo *h = c->list[i]->part; h; h = h->next)
			h->fresh = 1;
}

/* No indirect jump of this mode has a translated target. */
static void
blocks_no_targets(struct rp_core *c, int mode)
{
	uint64_t *index = c->f[mode]->index;

	if (!c->used[mode])
		populate(index, sizeof c->f[mode]->index);
	else
		memset(c->bucket[mode], 0, sizeof c->bucket[mode]);
	for (unsigned i = 0; i < RP_INDEX; i++)
		index[i] = (uint64_t)(uintptr_t)c->th.miss;
	c->used[mode] = 1;
}

/* Drops every translation. */
void
rp_reset(struct rp_core *c)
{
	unsigned i;

	for (i = 0; i < 4096; i++) {
		struct rp_page *p;

		for (p = c->pages[i]; p; p = p->next)
			p->blocks = NULL;
	}
	if (c->nlist)
		memset(c->hash, 0, sizeof c->hash);
	for (i = 0; i < RP_NMODES; i++)
		if (c->used[i])
			blocks_no_targets(c, (int)i);
	c->cp = c->first;
	c->ap = c->arena;
	c->nlist = 0;
	c->flushes++;
}

struct rp_block *
rp_block(struct rp_core *c, uint64_t pc, int mode, int step, int temp)
{
	struct rp_block *b = temp ? NULL : rp_block_find(c, pc, mode, step), **head;

	if (b)
		return b;
	if (c->cend - c->cp < (1 << 17) || c->aend - c->ap < (1 << 17))
		rp_reset(c);
	if (!c->used[mode])
		blocks_no_targets(c, mode);
	if (c->cp + WARM / 8 > c->cwarm) {
		uint8_t *warm = rp_w(c->cwarm);

		blocks_warm(&warm, rp_w(c->cp + WARM / 8), rp_w(c->cend));
		c->cwarm = warm - rp_rw;
	}
	if ((b = rp_translate(c, pc, mode, step, temp)) == NULL)
		return NULL;
	if (temp)
		return b;
	head = &c->hash[blocks_hash(pc, mode, step)];
	b->hnext = *head;
	*head = b;
	rp_guard(c, b);
	return b;
}
