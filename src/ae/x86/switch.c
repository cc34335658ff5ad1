/* Instrumented code for x86-64: indirect jumps inside a function, and the tables by which the twin's jump. */
#include <stdio.h>
#include <string.h>
#include "ae/rewrite/emit.h"
#include "ae/rewrite/live.h"
#include "ae/x86/emit_internal.h"
#include "isa/x86/lift.h"

/* Two registers to work with at a switch, dead ones if there are any; which of them have to be kept */
static void
switch_scratch(const struct twin *t, const struct ainsn *a, uint32_t blk, int s[2], int kept[2])
{
	uint64_t live = t->live[blk], used = BIT(X86_RSP) | BIT(X86_R15);
	int n = 0, pass, r;

	if (a->in.setsdst == 1 && a->in.tgt != X86_R15 && !(live >> a->in.tgt & 1))
		s[n++] = a->in.tgt;
	used |= a->in.reads;
	for (pass = 0; pass < 2; pass++)        /* dead ones, then any */
		for (r = 0; r < X86_NREG && n < 2; r++)
			if (!(used >> r & 1) && (pass || !(live >> r & 1)) && (n == 0 || s[0] != r))
				s[n++] = r;
	/* flags go through rax, which is free once the target has been read */
	if (live & LIVE_FLAGS && s[0] != X86_RAX)
		s[1] = X86_RAX;
	kept[0] = live >> s[0] & 1;
	kept[1] = live >> s[1] & 1;
}

/* Keeps the flags, or brings them back: lahf and sahf have all but the overflow. rax is changed. */
static void
switch_flags(struct twin *t, int back)
{
	if (back)
		buf_printf(t->o, "\tmovzwl\t%%gs:%d, %%eax\n\taddb\t$127, %%al\n\tsahf\n", X86_KEEP + 24);
	else
		buf_printf(t->o, "\tlahf\n\tseto\t%%al\n\tmovw\t%%ax, %%gs:%d\n", X86_KEEP + 24);
}

/*
 * An indirect jump whose value is an address in the original code: find the
 * twin's address in a map of the function by byte offset.  What the map does
 * not have is outside, and the jump a tail call.  gcc may compare before a switch
 * what its targets ask for.
 */
static void
switch_translate(struct twin *t, uint32_t i, uint32_t blk)
{
	const struct ainsn *a = &t->fn->ins[i];
	const char *op = text_operands(&machine_x86, twin_text(t, a)), *r0, *r1;
	int s[2], kept[2], k, flags = (t->live[blk] & LIVE_FLAGS) != 0;

	switch_scratch(t, a, blk, s, kept);
	r0 = x86_regname(s[0], 8);
	r1 = x86_regname(s[1], 8);
	x86_settle(t);
	for (k = 0; k < 2; k++)
		if (kept[k])
			buf_printf(t->o, "\tmovq\t%%%s, %%gs:%d\n", x86_regname(s[k], 8), X86_KEEP + 8 + 8 * k);
	if (lend_names(t, op)) {
		lend_load(t->o, s[0]);
		buf_str(t->o, "\tmovq\t");
		lend_text(t->o, op + (*op == '*'), s[0]);
		buf_printf(t->o, ", %%%s\n", r0);
	} else if (a->in.setsdst != 1 || a->in.tgt != s[0])
		buf_printf(t->o, "\tmovq\t%s, %%%s\n", op + (*op == '*'), r0);
	if (a->in.setsdst == 2)
		buf_printf(t->o, "\tmovq\t%%%s, (%%r15)\n\tleaq\t8(%%r15), %%r15\n", r0);
	buf_printf(t->o, "\tmovq\t%%%s, %%gs:%d\n", r0, X86_KEEP);
	if (flags) {
		switch_flags(t, 0);
		if (s[0] == X86_RAX)
			buf_printf(t->o, "\tmovq\t%%gs:%d, %%rax\n", X86_KEEP);
	}
	for (k = 0; k < (int)t->fn->nfrag; k++) {
		buf_printf(t->o,
		    "\tleaq\t" LBL "(%%rip), %%%s\n\tsubq\t%%%s, %%%s\n\tcmpq\t$%u, %%%s\n\tjae\t1f\n",
		    k ? 'c' : 'o', t->no, r1, r1, r0, t->fn->frag[k].size, r0);
		buf_printf(t->o,
		    "\tleaq\t.Lae_m%u_%d(%%rip), %%%s\n\tmovslq\t(%%%s,%%%s,4), %%%s\n\taddq\t%%%s, %%%s\n",
		    t->no, k, r1, r1, r0, r0, r1, r0);
		buf_printf(t->o, "\tcmpq\t%%%s, %%%s\n\tjne\t2f\n1:\n\tmovq\t%%gs:%d, %%%s\n", r1, r0,
		    X86_KEEP, r0);
	}
	if (t->fn->blk[blk].range)
		x86_leave(t);
	buf_str(t->o, "2:\n");
	if (!kept[0] && !kept[1] && !flags) {
		buf_printf(t->o, "\tjmp\t*%%%s\n", r0);
		return;
	}
	buf_printf(t->o, "\tmovq\t%%%s, %%gs:%d\n", r0, X86_KEEP);
	if (flags)
		switch_flags(t, 1);
	for (k = 0; k < 2; k++)
		if (kept[k])
			buf_printf(t->o, "\tmovq\t%%gs:%d, %%%s\n", X86_KEEP + 8 + 8 * k, x86_regname(s[k], 8));
	buf_printf(t->o, "\tjmp\t*%%gs:%d\n", X86_KEEP);
}

/* The same if the table is known: there is no jump out of the function. 0: no two registers are free, or flags are live. */
static int
switch_known(struct twin *t, uint32_t i, uint32_t blk)
{
	const char *r0, *r1;
	int s[2], kept[2];
	uint32_t k, n = t->fn->nfrag;

	switch_scratch(t, &t->fn->ins[i], blk, s, kept);
	/* the target itself is not live: it is an address that only the switch computes */
	if (s[0] != t->fn->ins[i].in.tgt) {
		s[1] = s[0];
		kept[1] = kept[0];
		s[0] = t->fn->ins[i].in.tgt;
	}
	if (kept[1] || s[0] == X86_R15 || t->live[blk] & LIVE_FLAGS)
		return 0;
	r0 = x86_regname(s[0], 8);
	r1 = x86_regname(s[1], 8);
	x86_settle(t);
	for (k = 0; k < n; k++) {
		buf_printf(t->o, "\tleaq\t" LBL "(%%rip), %%%s\n\tsubq\t%%%s, %%%s\n", k ? 'c' : 'o', t->no, r1, r1, r0);
		if (k + 1 < n)
			buf_printf(t->o, "\tcmpq\t$%u, %%%s\n\tjae\t1f\n", t->fn->frag[k].size, r0);
		buf_printf(t->o,
		    "\tleaq\t.Lae_m%u_%u(%%rip), %%%s\n\tmovslq\t(%%%s,%%%s,4), %%%s\n\taddq\t%%%s, %%%s\n\tjmp\t*%%%s\n",
		    t->no, k, r1, r1, r0, r0, r1, r0, r0);
		if (k + 1 < n)
			buf_printf(t->o, "1:\taddq\t%%%s, %%%s\n", r1, r0);
	}
	return 1;
}

/* A jump through the twin's table of pointers, which has r15 for an index */
static void
switch_lent(struct twin *t, uint32_t i, uint32_t blk, const char *paren)
{
	const struct ainsn *a = &t->fn->ins[i];
	int s[2], kept[2];
	const char *r;

	switch_scratch(t, a, blk, s, kept);
	r = x86_regname(s[0], 8);
	if (kept[0])
		buf_printf(t->o, "\tmovq\t%%%s, %%gs:%d\n", r, X86_KEEP + 8);
	lend_load(t->o, s[0]);
	buf_printf(t->o, "\tmovq\t.Lae_j%u_%u", t->no, a->table);
	lend_text(t->o, paren, s[0]);
	buf_printf(t->o, ", %%%s\n", r);
	if (!kept[0]) {
		buf_printf(t->o, "\tjmp\t*%%%s\n", r);
		return;
	}
	buf_printf(t->o, "\tmovq\t%%%s, %%gs:%d\n\tmovq\t%%gs:%d, %%%s\n\tjmp\t*%%gs:%d\n", r, X86_KEEP, X86_KEEP + 8, r,
	    X86_KEEP);
}

void
switch_jump(struct twin *t, uint32_t i, uint32_t blk)
{
	const struct ainsn *a = &t->fn->ins[i];
	const char *s = twin_text(t, a);

	if (t->fn->blk[blk].term == ST_TAILX) {
		x86_leave(t);
		buf_printf(t->o, "\t%s\n", s);
	} else if (t->own && t->own[i]) {
		x86_settle(t);
		if (lend_names(t, s))
			buf_printf(t->o, "\tjmp\t*%%gs:%d\n", X86_LENT);
		else
			buf_printf(t->o, "\t%s\n", s);
	} else if (a->table != NONE && a->in.setsdst == 1) {
		if (!switch_known(t, i, blk))
			switch_translate(t, i, blk);
	} else if (a->table != NONE) {
		const char *star = strchr(s, '*'), *paren = strchr(s, '(');

		x86_settle(t);
		if (lend_names(t, s))
			switch_lent(t, i, blk, paren);
		else
			buf_printf(t->o, "\t%.*s*.Lae_j%u_%u%s\n", (int)(star - s), s, t->no, a->table, paren);
	} else {
		switch_translate(t, i, blk);
	}
}

/* Instruction i puts the address of a table into a register: here, that of the twin's table */
void
switch_own_table(struct twin *t, uint32_t i)
{
	uint32_t table = NONE;
	size_t k;
	int r;

	for (k = 0; k < t->fn->nrel; k++)
		if (t->fn->rel[k].lea[0] == i || t->fn->rel[k].lea[1] == i)
			table = t->fn->ins[t->fn->rel[k].jump].table;
	for (r = 0; !(t->fn->ins[i].in.writes >> r & 1); )
		r++;
	if (t->after && r == X86_R15) {
		char s[64];

		snprintf(s, sizeof s, "leaq\t.Lae_d%u_%u(%%rip), %%r15", t->no, table);
		lend_insn(t, i, s);
		return;
	}
	buf_printf(t->o, "\tleaq\t.Lae_d%u_%u(%%rip), %%%s\n", t->no, table, x86_regname(r, 8));
}

/* The twin's tables, of the jumps that go through them */
void
switch_tables(struct twin *t)
{
	uint32_t i, k;
	size_t n;

	for (i = 0; i < t->f->ntab; i++) {
		const struct jtable *j = &t->f->tab[i];
		int used = 0;

		for (k = 0; k < t->fn->nins; k++)
			used |= t->fn->ins[k].table == i && (t->fn->ins[k].in.setsdst == 2 || (t->own && t->own[k]));
		if (!used)
			continue;
		if (j->relative) {
			buf_printf(t->o, "\t.p2align 2\n.Lae_d%u_%u:\n", t->no, i);
			for (n = 0; n < j->n; n++)
				buf_printf(t->o, "\t.long\t.Lae_t%u_%u-.Lae_d%u_%u\n", t->no, j->target[n], t->no, i);
			continue;
		}
		buf_printf(t->o, "\t.p2align 3\n.Lae_j%u_%u:\n", t->no, i);
		for (n = 0; n < j->n; n++)
			buf_printf(t->o, "\t.quad\t.Lae_t%u_%u\n", t->no, j->target[n]);
	}
}

/* The maps from original offsets to the twin's instructions, for other indirect jumps */
void
switch_maps(struct twin *t)
{
	uint32_t i, k, off;
	int maps = 0;

	for (k = 0; k < t->fn->nins; k++)
		maps |= t->fn->ins[k].in.ctl == IC_SWITCH &&
		    (t->fn->ins[k].table == NONE || (t->fn->ins[k].in.setsdst == 1 && !(t->own && t->own[k]))) &&
		    t->fn->blk[t->fn->blkof[k]].term == ST_SWITCH;
	for (i = 0; maps && i < t->fn->nfrag; i++) {
		buf_printf(t->o, "\t.p2align 2\n.Lae_m%u_%u:\n", t->no, i);
		for (off = 0, k = t->fn->frag[i].first; k < t->fn->nins && t->fn->ins[k].frag == i; k++) {
			if (!t->fn->ins[k].taken)
				continue;
			if (t->fn->ins[k].off > off)
				buf_printf(t->o, "\t.skip\t%u\n", (t->fn->ins[k].off - off) * 4);
			buf_printf(t->o, "\t.long\t.Lae_t%u_%u-.Lae_m%u_%u\n", t->no, k, t->no, i);
			off = t->fn->ins[k].off + 1;
		}
		if (t->fn->frag[i].size > off)
			buf_printf(t->o, "\t.skip\t%u\n", (t->fn->frag[i].size - off) * 4);
	}
}
