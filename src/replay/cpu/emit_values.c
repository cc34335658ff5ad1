/* Emits headers of blocks and values of registers into the stream of RP_VALUES. */
#include <string.h>
#include <Zydis/Zydis.h>
#include "replay/cpu/emit_internal.h"

#define ALL 255u        /* instructions of a block of which only some are reported */

/* reg = a header of n instructions (0: all).  The number is filled in when the block is complete. */
static void
emit_head(struct rp_tr *t, int reg, unsigned n)
{
	host_e1(t, 0x48u | (unsigned)reg >> 3);
	host_e1(t, 0xb8u | ((unsigned)reg & 7));
	t->head[t->nhead].imm = t->p;
	t->head[t->nhead++].n = n;
	host_e8(t, 0);
}

void
rp_header_emit(struct rp_tr *t)
{
	if (!t->values || t->silent)
		return;
	emit_head(t, T0, 0);
	e_store(t, FO(block), OUT);
	rp_word_append(t, T0);
	if (t->c->facts->pick) {        /* instances before the block, stored where they are counted */
		t->words++;
		t->maxwords++;
	}
}

void
rp_header_emit_partial(struct rp_tr *t, unsigned n)
{
	e_load(t, T1, FO(block));
	emit_head(t, T0, n);
	e_mem(t, 1, 0x89, T0, T1, -1, 1, 0);
}

int
rp_headers_finish(struct rp_tr *t)
{
	int picks = t->values && t->c->facts->pick;
	const struct fact_block *b = NULL;
	unsigned i, n;
	uint64_t v;

	if (!t->values || t->silent)
		return 0;
	for (i = 0; i < t->nhead; i++) {
		n = t->head[i].n ? t->head[i].n : picks ? ALL : t->nfact;
		b = picks && b ? b :
		    fact_block_get(t->c->facts, t->fact, picks ? t->idx : NULL, picks ? t->nfact : n, t->bare);
		if (b == NULL)
			return -1;
		v = FACT_HEAD(b, n);
		memcpy(rp_w(t->head[i].imm), &v, 8);
	}
	return 0;
}

static void
emit_general(struct rp_tr *t, int g)
{
	int h = rp_home(g);

	if (h < 0)
		e_load(t, h = T0, rp_regoff(g));
	rp_word_append(t, h);
}

/* Reads flags with lahf and seto, which change none. */
static void
emit_flags(struct rp_tr *t)
{
	/* lahf; seto al; movzx eax, ax */
	static const uint8_t code[] = { 0x9f, 0x0f, 0x90, 0xc0, 0x0f, 0xb7, 0xc0 };
	unsigned i;

	e_mov(t, T0, RAX);
	for (i = 0; i < sizeof code; i++)
		host_e1(t, code[i]);
	rp_word_append(t, RAX);
	e_mov(t, RAX, T0);
}

static void
cpu_emit_place(struct rp_tr *t, unsigned reg, unsigned words)
{
	host_e1(t, 0x80u | (reg & 7) << 3 | (OUT & 7));
	host_e4(t, 8 * t->words);
	t->words += words;
	t->maxwords += words;
}

/* kmovq, or kmovw on processors without it. */
static void
emit_mask(struct rp_tr *t, unsigned k)
{
	e_imm(t, T0, 0);
	e_mem(t, 1, 0x89, T0, OUT, -1, 1, 8 * (int64_t)t->words);
	host_e1(t, 0xc4);
	host_e1(t, 0xc1);
	host_e1(t, t->c->avx512bw ? 0xf8 : 0x78);
	host_e1(t, 0x91);
	cpu_emit_place(t, k, 1);
}

/* movq, or movdqu of 2, 4 or 8 words, with the encoding of the guest's instruction. */
static void
emit_vector(struct rp_tr *t, unsigned n, unsigned words)
{
	unsigned size = words == 8 ? 2 : words == 4 ? 1 : 0, op = words == 1 ? 0xd6 : 0x7f,
	    pp = words == 1 ? 1 : 2;

	if (t->in->z.encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX) {
		host_e1(t, 0x62);
		host_e1(t, 0x41u | (n & 8 ? 0 : 0x80) | (n & 16 ? 0 : 0x10));
		host_e1(t, 0xfcu | pp);
		host_e1(t, size << 5 | 8);
	} else if (t->in->z.encoding == ZYDIS_INSTRUCTION_ENCODING_VEX) {
		host_e1(t, 0xc4);
		host_e1(t, 0x41u | (n & 8 ? 0 : 0x80));
		host_e1(t, 0x78u | size << 2 | pp);
	} else {
		host_e1(t, words == 1 ? 0x66 : 0xf3);
		host_e1(t, n & 8 ? 0x45 : 0x41);
		host_e1(t, 0x0f);
	}
	host_e1(t, op);
	cpu_emit_place(t, n, words);
}

void
rp_values_emit(struct rp_tr *t)
{
	const struct fact *f;
	unsigned i;

	if (t->now == NULL || t->valued)
		return;
	t->valued = 1;
	f = t->now;
	if (f->kind != FACT_PLAIN && f->kind != FACT_COUNTED)
		return;
	for (i = 0; i < f->ndef; i++) {
		const struct fact_def *d = &f->def[i];

		if (d->val == FACT_NOVALUE)
			continue;
		if (d->reg < 16)
			emit_general(t, d->reg);
		else if (d->reg == FACT_FLAGS)
			emit_flags(t);
		else if (d->reg >= FACT_VECTOR)
			emit_vector(t, d->reg - FACT_VECTOR, d->nval);
		else
			emit_mask(t, d->reg - FACT_MASK);
	}
	rp_store_record(t);
}
