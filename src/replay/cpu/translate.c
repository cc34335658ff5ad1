/* Translates blocks of guest instructions. */
#include <string.h>
#include <Zydis/Zydis.h>
#include "base/buf.h"
#include "cfg/control.h"
#include "isa/x86/decode.h"
#include "isa/x86/limits.h"
#include "replay/cpu/emit_internal.h"

#define MAX_SIDE 6              /* side exits of a block at most */

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
	h->refs = t->refs != 0;
	h->record = t->now != NULL;
	h->memory = t->refs && t->values && t->c->facts->memory;
	return h;
}

/* lea reg, [reg + disp32]; returns the displacement field. */
static uint8_t *
translate_add32(struct rp_tr *t, int reg)
{
	e_mem(t, 1, 0x8d, reg, reg, -1, 1, 0x7fffffff);
	return t->p - 4;
}

/* Jumps to `full` unless T0 = [rsp + off] + reg (-1: alone) is negative. */
static void
unless_negative(struct rp_tr *t, const uint8_t *full, int off, int reg)
{
	e_load(t, T0, off);
	if (reg >= 0)
		e_mem(t, 1, 0x8d, T0, T0, reg, 1, 0);
	e_sign(t, T0, T0);
	host_e1(t, 0xe3);
	host_e1(t, (unsigned)(full - (t->p + 1)) & 255);
}

/*
 * Counts the instructions of the block; before that writes rp_values_filter's word after the header.  NULL: they are
 * counted where the block is left.
 */
static uint8_t *
translate_count(struct rp_tr *t)
{
	uint8_t *field;

	if (!t->stream)
		return NULL;
	e_load(t, T0, FO(ic));
	if (t->values && t->c->facts->pick && !t->silent) {
		e_load(t, T1, FO(less));
		e_mem(t, 1, 0x8d, T1, T1, T0, 1, 0);
		e_mem(t, 1, 0x89, T1, OUT, -1, 1, 8);
	}
	field = translate_add32(t, T0);
	e_store(t, FO(ic), T0);
	return field;
}

/* T0 = 0 if the test holds. */
static void
translate_test(struct rp_tr *t, const struct rp_test *w)
{
	int h = w->reg < 0 || w->reg >= RP_TEST_XMM ? -1 : rp_home(w->reg), x = w->reg - RP_TEST_XMM;

	if (x >= 0) {
		host_e1(t, 0x66);       /* movq r15, xmm */
		host_e1(t, x < 8 ? 0x49 : 0x4d);
		host_e1(t, 0x0f);
		host_e1(t, 0x7e);
		host_e1(t, 0xc7u | (unsigned)(x & 7) << 3);
	} else if (w->reg < 0) {
		e_imm(t, T0, w->addr & rp_mask);
		e_gsload(t, 8, T1, T0);
	} else if (h < 0)
		e_load(t, T1, rp_regoff(w->reg));
	e_imm(t, T0, -w->value);
	e_mem(t, 1, 0x8d, T0, T0, h < 0 ? T1 : h, 1, 0);
}

/* A breakpoint with tests is at the block's start: returns to C if they hold. */
static void
translate_tests(struct rp_tr *t)
{
	uint8_t *out[RP_NTEST];

	for (unsigned i = 0; i < t->c->ntest; i++) {
		translate_test(t, &t->c->test[i]);
		host_e1(t, 0xe3);       /* jrcxz over the jump */
		host_e1(t, 5);
		out[i] = e_jmp32(t);
	}
	e_imm(t, T0, t->b->pc);
	e_jmp(t, t->th->check);
	for (unsigned i = 0; i < t->c->ntest; i++)
		e_patch(out[i], t->p);
}

/* Checks that there is room for a block, and that its instructions are within the limit. */
static uint8_t *
translate_prologue(struct rp_tr *t)
{
	uint8_t *full = t->p;
	int picks = t->values && t->c->facts->pick;

	if (t->step)
		return translate_count(t);
	e_imm(t, T0, t->b->pc);
	e_jmp(t, t->th->check);
	t->b->entry = t->p;
	if (!t->stream) {
		e_sign(t, T0, OUT);
		host_e1(t, 0xe3);
		host_e1(t, (unsigned)(full - (t->p + 1)) & 255);
	}
	if (picks || t->data)
		unless_negative(t, full, FO(ic), -1);
	if (t->stream && !t->silent)
		unless_negative(t, full, FO(negend), OUT);
	if (rp_break_has_tests(t->c, t->b->pc))
		translate_tests(t);
	return translate_count(t);
}

static void
side_exits(struct rp_tr *t)
{
	int i, left;

	for (i = 0; i < t->nside; i++) {
		e_patch(t->side[i].rel, t->p);
		t->words = (unsigned)t->side[i].words;
		if (t->values && !t->silent)
			rp_header_emit_partial(t, (unsigned)t->side[i].left);
		left = t->ninst - t->side[i].left;
		if (left && t->stream) {
			e_load(t, T0, FO(ic));
			e_lea(t, T0, T0, -left);
			e_store(t, FO(ic), T0);
		}
		rp_count_emit(t, t->side[i].left, t->side[i].nload, t->side[i].nstore);
		rp_jump(t, t->side[i].pc);
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
translate_seen(const struct rp_tr *t, uint64_t pc)
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

/* An instruction that is not run: the block ends before it, or returns the reason if it is the first. */
static void
translate_refused(struct rp_tr *t, unsigned why, const char *msg, int sig)
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
translate_mark(struct rp_tr *t)
{
	struct rp_mark *m = &t->b->mark[t->b->nmark++];

	memset(m, 0, sizeof *m);
	m->pc = t->in->pc;
	m->off = (uint32_t)(t->p - t->b->start);
	m->words = (uint16_t)t->words;
	m->idx = (uint16_t)t->ninst;
	m->nload = t->nload;
	m->nstore = t->nstore;
}

/* RP_DATA: a part of the block begins: reports the fetches of its instructions once. */
static void
translate_part(struct rp_tr *t)
{
	struct rp_hinfo *h = rp_hinfo(t);
	uint8_t *over;

	if (h == NULL)
		return;
	t->branched = 0;
	*(t->part ? &t->part->next : &t->b->part) = h;
	t->part = h;
	h->mark = t->b->nmark;
	h->words = (uint16_t)t->words;
	h->fresh = 1;
	e_imm(t, T0, (uint64_t)(uintptr_t)&h->fresh);
	host_e1(t, 0x0f);       /* movzx ecx, byte [rcx] */
	host_e1(t, 0xb6);
	host_e1(t, 0x09);
	host_e1(t, 0xe3);       /* jrcxz */
	host_e1(t, 0);
	over = t->p;
	rp_helper(t, rp_helper_fetch, h);
	*rp_w(over - 1) = (uint8_t)(t->p - over);
}

/* RP_VALUES: finds what is reported of the instruction. 0, or -1: no memory. */
static int
translate_report(struct rp_tr *t)
{
	struct facts *a = t->c->facts;
	const struct fact *f;

	t->now = NULL;
	t->valued = t->silent;
	if (a->pick) {
		int yes = a->pick(a->arg, t->in->pc);

		t->picked |= yes;
		if (!yes)
			t->valued = 1;
	}
	t->refs = 0;
	if (t->valued)
		return 0;
	if ((f = fact_get(a, t->in)) == NULL)
		return -1;
	t->fact[t->nfact] = f;
	t->idx[t->nfact++] = (uint8_t)t->ninst;
	t->now = f;
	t->valued = t->bare && !control_has_words(f);
	t->refs = !t->valued;
	return 0;
}

/* RP_TALLY: counts in the frame those references of the current instruction that r11 does not count. */
static void
translate_tally(struct rp_tr *t)
{
	for (unsigned k = 0; k < REF_NACCESS; k++)
		if (t->more[k]) {
			e_load(t, T0, FO(tally) + 8 * (int)k);
			e_lea(t, T0, T0, t->more[k]);
			e_store(t, FO(tally) + 8 * (int)k, T0);
		}
}

/* Emits the code of an instruction. */
static void
translate_one(struct rp_tr *t)
{
	unsigned words = t->maxwords;

	t->word0 = t->words;
	t->stored = NULL;
	memset(t->nnow, 0, sizeof t->nnow);
	memset(t->more, 0, sizeof t->more);
	if (t->values && translate_report(t) != 0) {
		t->bad = "no memory";
		return;
	}
	if (!rp_special(t))
		rp_plain(t);
	translate_tally(t);
	if (t->now == NULL || t->bad)
		return;
	if (!t->done)
		rp_values_emit(t);
	if (t->refs && t->now->kind == FACT_PLAIN &&
	    t->maxwords - words != (unsigned)t->now->nref + t->now->nval + t->now->nmem)
		t->bad = "an instruction with unusual references";
}

/* Translates one instruction at in->pc. 0: the block ended before it. */
static int
translate_instruction(struct rp_tr *t, struct x86_inst *in)
{
	uint8_t *p = t->p, buf[16];
	unsigned words = t->words, maxwords = t->maxwords;
	uint16_t nsite = t->b->nsite;
	uint8_t nload = t->nload, nstore = t->nstore;
	int ninst = t->ninst, nside = t->nside;
	unsigned nfact = t->nfact;
	const uint8_t *at = rp_host(in->pc);
	size_t n = 15;
	const char *why;
	int sig;

	if ((in->pc ^ t->readable) >> 12 || (in->pc & 4095) > 4096 - 15) {
		n = rp_guest_read(in->pc, buf, 15);
		at = buf;
		t->readable = in->pc;
	}
	/* the page is watched even if there is no instruction: one may be written later */
	rp_page_add(t->c, t->b, in->pc);
	if (n == 0 || x86_inst_decode(in, at, n, in->pc, t->c->amd)) {
		if (n < 15) {
			rp_page_add(t->c, t->b, in->pc + n);
			translate_refused(t, RW_FAULT, NULL, 11);
		} else {
			translate_refused(t, RW_BAD, "an instruction that is not known", 0);
		}
		return 0;
	}
	rp_page_add(t->c, t->b, in->next - 1);
	if ((why = x86_refuse(in)) == NULL && (sig = x86_trap_before(in)) != 0) {
		translate_refused(t, RW_TRAP, NULL, sig);
		return 0;
	}
	if (why == NULL && t->c->amd != x86_amd_here() && x86_approximates(in))
		why = "an approximation as another maker's processors have it";
	if (why == NULL) {
		if (t->data && t->branched)
			translate_part(t);
		translate_mark(t);
		translate_one(t);
		why = t->bad;
	}
	if (why) {
		t->p = p;
		t->words = words;
		t->maxwords = maxwords;
		t->ninst = ninst;
		t->nload = nload;
		t->nstore = nstore;
		t->nfact = nfact;
		t->now = NULL;
		t->nside = nside;
		t->jumped = 0;
		t->b->nsite = nsite;
		t->site = t->b->site + nsite;
		t->done = 0;
		t->bad = NULL;
		translate_refused(t, RW_BAD, why, 0);
		return 0;
	}
	t->b->mark[t->b->nmark - 1].len = in->z.length;
	if (t->part)
		t->part->nmark++;
	t->maxwords += t->data != 0;
	t->ninst++;
	return 1;
}

/* RP_VALUES: only the last instruction of a block has a variable number of words. */
static int
translate_varies(const struct rp_tr *t)
{
	return t->now && t->now->kind != FACT_PLAIN;
}

/* Continues at a jump's target, or ends the block. */
static int
translate_continue(struct rp_tr *t, struct x86_inst *in)
{
	int jumped = t->jumped;
	uint64_t next = jumped ? t->follow : in->next;

	t->jumped = 0;
	if (t->done)
		return 0;
	if (t->step || translate_varies(t) || t->ninst >= (int)RP_MAXINST ||
	    t->maxwords > RP_MAXWORD - 256 || pages_full(t->b) ||
	    (jumped && (t->nside >= MAX_SIDE || translate_seen(t, next) ||
		rp_block_find(t->c, next, t->b->mode, 0) != NULL))) {
		rp_goto(t, next);
		return 0;
	}
	in->pc = next;
	return 1;
}

static void
translate_body(struct rp_tr *t, struct x86_inst *in)
{
	for (;;) {
		if (!t->step && rp_break_is_set(t->c, in->pc) &&
		    (t->ninst || !rp_break_has_tests(t->c, in->pc))) {
			if (t->ninst)
				rp_goto(t, in->pc);
			else {
				rp_page_add(t->c, t->b, in->pc);
				rp_leavewith(t, RW_CHECK, in->pc);
			}
			return;
		}
		if (!translate_instruction(t, in) || !translate_continue(t, in))
			return;
	}
}

static int
translate_listed(struct rp_core *c, struct rp_block *b)
{
	if (buf_grow(&c->list, &c->caplist, c->nlist + 1, sizeof *c->list) < 0)
		return -1;
	c->list[c->nlist++] = b;
	return 0;
}

/* Copies marks and sites to memory of their final number. */
static int
translate_copy_marks(struct rp_tr *t)
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
	return translate_listed(t->c, b);
}

/* Fills in the block from the translator's state. */
static void
translate_make(struct rp_tr *t, struct x86_inst *in)
{
	uint8_t *field;
	int32_t n;

	t->b->start = t->p;
	t->b->silent = (uint8_t)t->silent;
	field = translate_prologue(t);
	rp_header_emit(t);
	translate_body(t, in);
	n = t->ninst;
	if (field)
		memcpy(rp_w(field), &n, 4);
	t->b->ninst = (uint16_t)t->ninst;
	side_exits(t);
}

struct rp_block *
rp_translate(struct rp_core *c, uint64_t pc, int mode, int step, int temp)
{
	struct rp_mark marks[RP_MAXINST + 1];
	struct rp_site sites[RP_NSITE];
	struct rp_block *b = rp_alloc(c, sizeof *b);
	struct x86_inst in = { .pc = pc };
	struct rp_tr t = { .c = c, .b = b, .p = c->cp, .in = &in,
	    .stream = rp_has_words((enum rp_mode)mode), .tally = mode == RP_TALLY,
	    .refs = mode != RP_NONE, .data = mode == RP_DATA, .branched = mode == RP_DATA,
	    .values = mode >= RP_VALUES, .bare = mode == RP_CONTROL,
	    .step = step, .bmi2 = c->bmi2, .th = &c->th, .site = sites, .readable = ~pc }, again;
	uint8_t *ap = c->ap;

	if (b == NULL)
		return NULL;
	b->site = sites;
	b->pc = pc;
	b->mode = (uint8_t)mode;
	b->step = (uint8_t)step;
	b->temp = (uint8_t)temp;
	b->mark = marks;
	again = t;
	t.silent = t.values && c->facts->pick;
	translate_make(&t, &in);
	if (t.silent && t.picked) {             /* nothing of the block is reported after all */
		t = again;
		c->ap = ap;
		b->nmark = b->nsite = 0;
		in = (struct x86_inst){ .pc = pc };
		translate_make(&t, &in);
	}
	if (rp_headers_finish(&t) || translate_copy_marks(&t))
		return NULL;
	site_stubs(&t);
	b->end = t.p;
	c->cp = t.p;
	c->nblocks++;
	c->ninsts += b->ninst;
	return b;
}
