/* Blocks of translated code: making them, finding them, joining them. */
#include <stdlib.h>
#include <string.h>
#include <Zydis/Zydis.h>
#include "base/buf.h"
#include "stub.h"

#define MAX_SIDE 6

void *
rp_alloc(struct rp_core *c, size_t n)
{
	void *p = c->ap;

	n = (n + 7) & ~(size_t)7;
	if (n > (size_t)(c->aend - c->ap))
		return NULL;
	c->ap += n;
	memset(p, 0, n);
	return p;
}

struct rp_hinfo *
rp_hinfo(struct rp_tr *t)
{
	struct rp_hinfo *h = rp_alloc(t->c, sizeof *h);

	if (h == NULL) {
		t->bad = "no memory";
		return NULL;
	}
	h->pc = t->in->pc;
	h->len = t->in->z.length;
	h->block = t->b;
	h->idx = (uint16_t)t->ninst;
	return h;
}

static unsigned
hash(uint64_t pc, int mode, int step)
{
	return (unsigned)((pc ^ pc >> 16 ^ (unsigned)(mode << 15 | step << 14)) & (RP_BUCKETS - 1));
}

struct rp_block *
rp_find(struct rp_core *c, uint64_t pc, int mode, int step)
{
	struct rp_block *b;

	for (b = c->hash[hash(pc, mode, step)]; b; b = b->hnext)
		if (b->pc == pc && b->mode == mode && b->step == step)
			return b;
	return NULL;
}

/* The block with host address p in its code */
struct rp_block *
rp_at(struct rp_core *c, const uint8_t *p)
{
	size_t lo = 0, hi = c->nlist;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (c->list[mid]->start <= p)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo && p < c->list[lo - 1]->end ? c->list[lo - 1] : NULL;
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

/* The jumps that come indirectly to the same place of the index are tried one after the other */
static void
rebuild(struct rp_core *c, int mode, unsigned i)
{
	struct rp_block *b = c->bucket[mode][i];

	c->f[mode]->index[i] = (uint64_t)(uintptr_t)(b ? b->ientry : c->th.miss);
	for (; b; b = b->bnext)
		e_patch(b->inext, b->bnext ? b->bnext->ichain : c->th.miss);
}

/* Code for those who come with the target in rcx (and in the frame): is it this one? */
void
rp_enter_index(struct rp_core *c, struct rp_block *b)
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
	e1(&t, 0xe3);
	e1(&t, 5);
	b->inext = e_jmp32(&t);
	e_jmp(&t, b->entry);
	c->cp = t.p;
	b->bnext = *head;
	*head = b;
	rebuild(c, b->mode, b->pc & (RP_INDEX - 1));
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
	for (pp = &c->hash[hash(b->pc, b->mode, b->step)]; *pp; pp = &(*pp)->hnext)
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
		rebuild(c, b->mode, b->pc & (RP_INDEX - 1));
	}
	leave_pages(b);
}

void
rp_drop(struct rp_core *c, struct rp_block *b)
{
	rp_unlink(c, b);
	if (c->nlist && c->list[c->nlist - 1] == b && c->cp == b->end) {
		c->nlist--;
		c->cp = b->start;
	}
}

/* Everything translated is forgotten */
void
rp_reset(struct rp_core *c)
{
	unsigned i;

	for (i = 0; i < 4096; i++) {
		struct rp_page *p;

		for (p = c->pages[i]; p; p = p->next)
			p->blocks = NULL;
	}
	memset(c->hash, 0, sizeof c->hash);
	memset(c->bucket, 0, sizeof c->bucket);
	for (i = 0; i < RP_INDEX; i++)
		c->f[0]->index[i] = c->f[1]->index[i] = c->f[2]->index[i] = (uint64_t)(uintptr_t)c->th.miss;
	c->cp = c->first;
	c->ap = c->arena;
	c->nlist = 0;
	c->flushes++;
}

/* lea reg, [reg + disp32]: its field */
static uint8_t *
add32(struct rp_tr *t, int reg)
{
	e_mem(t, 1, 0x8d, reg, reg, -1, 1, 0x7fffffff);
	return t->p - 4;
}

/* Is there room for a block, and are its instructions within the limit? */
static uint8_t *
prologue(struct rp_tr *t)
{
	uint8_t *full = t->p, *field;

	if (t->step) {
		if (t->refs) {
			e_load(t, T0, FO(ic));
			field = add32(t, T0);
			e_store(t, FO(ic), T0);
			return field;
		}
		return add32(t, OUT);
	}
	e_imm(t, T0, t->b->pc);
	e_jmp(t, t->th->check);
	t->b->entry = t->p;
	if (t->refs) {
		e_load(t, T0, FO(negend));
		e_mem(t, 1, 0x8d, T0, T0, OUT, 1, 0);
		e_sign(t, T0, T0);
	} else
		e_sign(t, T0, OUT);
	e1(t, 0xe3);
	e1(t, (unsigned)(full - (t->p + 1)) & 255);
	if (!t->refs)
		return add32(t, OUT);
	e_load(t, T0, FO(ic));
	field = add32(t, T0);
	e_store(t, FO(ic), T0);
	return field;
}

static void
side_exits(struct rp_tr *t)
{
	int i, left;

	for (i = 0; i < t->nside; i++) {
		e_patch(t->side[i].rel, t->p);
		t->words = (unsigned)t->side[i].words;
		if (t->values)
			rp_rehead(t, (unsigned)t->side[i].left);
		left = t->ninst - t->side[i].left;
		if (left && t->refs) {
			e_load(t, T0, FO(ic));
			e_lea(t, T0, T0, -left);
			e_store(t, FO(ic), T0);
		} else if (left)
			e_lea(t, OUT, OUT, -left);
		rp_goto(t, t->side[i].pc);
	}
}

static void
site_stubs(struct rp_tr *t)
{
	unsigned i;

	for (i = 0; i < t->b->nsite; i++) {
		struct rp_site *s = &t->b->site[i];

		s->stub = t->p;
		e_imm(t, T0, (uint64_t)(uintptr_t)s);
		e_jmp(t, t->th->link);
		e_patch(s->rel, s->stub);
	}
}

static int
seen(const struct rp_tr *t, uint64_t pc)
{
	unsigned i;

	for (i = 0; i < t->b->nmark; i++)
		if (t->b->mark[i].pc == pc)
			return 1;
	return 0;
}

static int
pages_full(const struct rp_block *b)
{
	return b->nref + 2 > (int)RP_BPAGES;
}

/* An instruction that is not run: the block ends before it, or says why if it is the first */
static void
refused(struct rp_tr *t, unsigned why, const char *msg, int sig)
{
	if (t->ninst) {
		rp_goto(t, t->in->pc);
		return;
	}
	e_imm(t, T0, msg ? (uint64_t)(uintptr_t)msg : (uint64_t)sig);
	e_store(t, msg ? FO(msg) : FO(sig), T0);
	rp_leavewith(t, why, t->in->pc);
}

static void
mark(struct rp_tr *t)
{
	struct rp_mark *m = &t->b->mark[t->b->nmark++];

	memset(m, 0, sizeof *m);
	m->pc = t->in->pc;
	m->off = (uint32_t)(t->p - t->b->start);
	m->words = (uint16_t)t->words;
	m->idx = (uint16_t)t->ninst;
}

/* The code of an instruction */
static void
one(struct rp_tr *t)
{
	unsigned words;
	const struct fact *f = NULL;

	t->valued = 0;
	if (t->values) {
		if ((f = fact_get(t->c->facts, t->in)) == NULL) {
			t->bad = "no memory";
			return;
		}
		t->fact[t->nfact++] = f;
	}
	words = t->maxwords;
	if (!rp_special(t))
		rp_plain(t);
	if (f == NULL || t->bad)
		return;
	if (!t->done)
		rp_values(t);
	if (f->kind == FACT_PLAIN && t->maxwords - words != (unsigned)f->nref + f->nval)
		t->bad = "an instruction with unusual references";
}

/* One instruction at in->pc; 0: the block ended before it */
static int
instruction(struct rp_tr *t, struct rp_inst *in)
{
	uint8_t *p = t->p, buf[16];
	unsigned words = t->words, maxwords = t->maxwords;
	uint16_t nsite = t->b->nsite;
	int ninst = t->ninst, nside = t->nside;
	unsigned nfact = t->nfact;
	const uint8_t *at = rp_host(in->pc);
	size_t n = 15;
	const char *why;
	int sig;

	if ((in->pc ^ t->readable) >> 12 || (in->pc & 4095) > 4096 - 15) {
		n = rp_peek(in->pc, buf, 15);
		at = buf;
		t->readable = in->pc;
	}
	if (n == 0 || rp_decode(in, at, n, in->pc)) {
		if (n < 15)
			refused(t, RW_FAULT, NULL, 11);
		else
			refused(t, RW_BAD, "an instruction that is not known", 0);
		return 0;
	}
	rp_page_add(t->c, t->b, in->pc);
	rp_page_add(t->c, t->b, in->next - 1);
	if ((why = rp_refuse(in)) == NULL && (sig = rp_traps(in)) != 0) {
		refused(t, RW_TRAP, NULL, sig);
		return 0;
	}
	if (why == NULL) {
		mark(t);
		one(t);
		why = t->bad;
	}
	if (why) {
		t->p = p;
		t->words = words;
		t->maxwords = maxwords;
		t->ninst = ninst;
		t->nfact = nfact;
		t->nside = nside;
		t->follow = 0;
		t->b->nsite = nsite;
		t->site = t->b->site + nsite;
		t->done = 0;
		t->bad = NULL;
		refused(t, RW_BAD, why, 0);
		return 0;
	}
	t->ninst++;
	return 1;
}

/* RP_VALUES: only the last instruction of a block has as many words as turns out */
static int
counted(const struct rp_tr *t)
{
	return t->nfact && t->fact[t->nfact - 1]->kind != FACT_PLAIN;
}

/* Where the block goes on, or its end */
static int
onward(struct rp_tr *t, struct rp_inst *in)
{
	uint64_t next = t->follow ? t->follow : in->next;
	int jumped = t->follow != 0;

	t->follow = 0;
	if (t->done)
		return 0;
	if (t->step || counted(t) || t->ninst >= (int)RP_MAXINST || t->maxwords > RP_MAXWORD - 256 || pages_full(t->b)
	    || (jumped && (t->nside >= MAX_SIDE || seen(t, next) || rp_find(t->c, next, t->b->mode, 0) != NULL))) {
		rp_goto(t, next);
		return 0;
	}
	in->pc = next;
	return 1;
}

static void
body(struct rp_tr *t, struct rp_inst *in)
{
	for (;;) {
		if (!t->step && rp_isbreak(t->c, in->pc)) {
			if (t->ninst)
				rp_goto(t, in->pc);
			else {
				rp_page_add(t->c, t->b, in->pc);
				rp_leavewith(t, RW_CHECK, in->pc);
			}
			return;
		}
		if (!instruction(t, in) || !onward(t, in))
			return;
	}
}

static int
listed(struct rp_core *c, struct rp_block *b)
{
	if (buf_grow(&c->list, &c->caplist, c->nlist + 1, sizeof *c->list) < 0)
		return -1;
	c->list[c->nlist++] = b;
	return 0;
}

/* Marks and sites as few as there are, where they stay */
static int
settle(struct rp_tr *t)
{
	struct rp_block *b = t->b;
	struct rp_mark *m = rp_alloc(t->c, b->nmark * sizeof *m);
	struct rp_site *s = rp_alloc(t->c, b->nsite * sizeof *s);

	if (m == NULL || s == NULL)
		return -1;
	memcpy(m, b->mark, b->nmark * sizeof *m);
	memcpy(s, b->site, b->nsite * sizeof *s);
	b->mark = m;
	b->site = s;
	return listed(t->c, b);
}

static struct rp_block *
translate(struct rp_core *c, uint64_t pc, int mode, int step, int temp)
{
	struct rp_mark marks[RP_MAXINST + 1];
	struct rp_site sites[RP_NSITE];
	struct rp_block *b = rp_alloc(c, sizeof *b);
	struct rp_inst in = { .pc = pc };
	struct rp_tr t = { .c = c, .b = b, .p = c->cp, .in = &in, .refs = mode != RP_NONE, .values = mode == RP_VALUES, .step = step, .bmi2 = c->bmi2, .th = &c->th };
	uint8_t *field;
	int32_t n;

	if (b == NULL)
		return NULL;
	t.site = b->site = sites;
	t.readable = ~pc;
	b->pc = pc;
	b->mode = (uint8_t)mode;
	b->step = (uint8_t)step;
	b->temp = (uint8_t)temp;
	b->mark = marks;
	b->start = t.p;
	field = prologue(&t);
	rp_head(&t);
	body(&t, &in);
	n = t.ninst;
	memcpy(field, &n, 4);
	b->ninst = (uint16_t)t.ninst;
	side_exits(&t);
	if (rp_heads(&t) || settle(&t))
		return NULL;
	site_stubs(&t);
	b->end = t.p;
	c->cp = t.p;
	c->nblocks++;
	c->ninsts += b->ninst;
	return b;
}

struct rp_block *
rp_block(struct rp_core *c, uint64_t pc, int mode, int step, int temp)
{
	struct rp_block *b = temp ? NULL : rp_find(c, pc, mode, step), **head;

	if (b)
		return b;
	if (c->cend - c->cp < (1 << 17) || c->aend - c->ap < (1 << 17))
		rp_reset(c);
	if ((b = translate(c, pc, mode, step, temp)) == NULL)
		return NULL;
	if (temp)
		return b;
	head = &c->hash[hash(pc, mode, step)];
	b->hnext = *head;
	*head = b;
	rp_guard(c, b);
	return b;
}
