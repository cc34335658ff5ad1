/*
 * Instrumented code for x86-64: everything added leaves flags, red zone and
 * every register but r15 as they were, except those that have a switch's table or target (jumps.c).
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "ae/rewrite/emit.h"
#include "ae/rewrite/live.h"
#include "ae/rewrite/plan.h"
#include "ae/rewrite/slice.h"
#include "ae/x86/emit_internal.h"
#include "format/ae/events.h"
#include "base/mem.h"
#include "isa/x86/lift.h"

static void
x86_validate_group(struct twin *t)
{
	if (t->pend)
		buf_printf(t->o, "\tleaq\t%u(%%r15), %%r15\n", t->pend);
	t->pend = 0;
}

static void
x86_record(struct twin *t, unsigned var, unsigned w)
{
	static const char suffix[] = " bw l   q";
	int carried = t->after && var == X86_R15;

	if (carried)
		var = (unsigned)lend_carrier(t);
	buf_printf(t->o, "\tmov%c\t%%%s, ", suffix[w], x86_regname((int)var, (int)w));
	if (t->pend)
		buf_printf(t->o, "%u", t->pend);
	buf_str(t->o, "(%r15)\n");
	t->pend += w;
	if (carried)
		lend_done(t);
}

/*
 * Short values, at at(%r15). No flag is live. The usual case is in line. A large value is recorded out of the way, at
 * the label of this kind and numbers, from where control comes back to the label of the kind after it (v w, y z). That moves
 * the event pointer by the bytes that it takes more, so the places of the rest of the group stay; of the group, so
 * much is written by then. No register changes, not even for a moment, because a handler may look at all of them.
 */
static void
x86_small(struct buf *o, unsigned var, unsigned at, int kind, uint32_t no, uint32_t n)
{
	buf_printf(o, "\tcmpq\t$0x7fffffff, %%%s\n\tja\t" LBL2 "\n", x86_regname((int)var, 8), kind, no, n);
	buf_printf(o, "\tmovl\t%%%s, %u(%%r15)\n" LBL2 ":\n", x86_regname((int)var, 4), at, kind + 1, no, n);
}

static void
x86_large(struct buf *o, unsigned var, unsigned at, int kind, uint32_t no, uint32_t n)
{
	const char *r = x86_regname((int)var, 8);

	buf_printf(o, LBL2 ":\n\tmovq\t%%%s, %u(%%r15)\n\trolq\t$32, %u(%%r15)\n", kind, no, n, r, at, at);
	buf_printf(o, "\tcmpl\t$0x7fffffff, %u(%%r15)\n\tjae\t1f\n\torb\t$0x80, %u(%%r15)\n", at, at + 3);
	buf_printf(o, "\tleaq\t4(%%r15), %%r15\n\tjmp\t" LBL2 "\n", kind + 1, no, n);
	buf_printf(o, "1:\tmovl\t$-1, %u(%%r15)\n\tmovq\t%%%s, %u(%%r15)\n", at, r, at + 4);
	buf_printf(o, "\tleaq\t8(%%r15), %%r15\n\tjmp\t" LBL2 "\n", kind + 1, no, n);
}

static void
x86_record_short(struct twin *t, unsigned var)
{
	int carried = t->after && var == X86_R15;

	if (carried)
		var = (unsigned)lend_carrier(t);
	t->large = mem_xgrow(t->large, &t->caplarge, t->nlarge + 1, sizeof *t->large);
	t->large[t->nlarge].var = var;
	t->large[t->nlarge].pend = t->pend;
	x86_small(t->o, var, t->pend, 'y', t->no, (uint32_t)t->nlarge++);
	t->pend += 4;
	if (carried)
		lend_done(t);
}

static void
x86_mark(struct twin *t, uint32_t b)
{
	unsigned w = t->fn->blk[b].mark;

	buf_printf(t->o, "\tmov%c\t$%u, %u(%%r15)\n", w == 1 ? 'b' : 'w', b, t->pend);
	t->pend += w;
}

/* The count left, and whether a comparison stopped it: the last fetch depends on that */
static void
x86_rep(struct twin *t, uint32_t i)
{
	x86_record(t, X86_RCX, 8);
	buf_printf(t->o, "\tset%s\t%u(%%r15)\n", t->fn->ins[i].in.rep == 2 ? "e" : "ne", t->pend++);
}

/*
 * A group does not become longer than this by what is recorded of masked accesses: where a fault has ended the program, not
 * many bytes are looked at.
 */
#define GROUP_MOST 256u

/* What a masked access needs, before it: nothing but memory changes. */
static void
record_mask(struct twin *t, const struct insn_mask *m)
{
	static const char *const mask[] = {[2] = "kmovw", [4] = "kmovd", [8] = "kmovq"};
	static const char *const move[] = {[IF_SSE] = "movdqu", [IF_AVX] = "vmovdqu", [IF_AVX512] = "vmovdqu64"};
	/* the shorter forms of AVX-512 are an extension of their own, which only registers from 16 on need */
	unsigned form = m->form == IF_AVX512 && m->nindex < 64 && m->index < 16 ? IF_AVX : m->form;

	if (t->pend + m->bytes + m->nindex > GROUP_MOST)
		x86_validate_group(t);
	if (m->vector)
		buf_printf(t->o, "\t%s\t%%%cmm%u, %u(%%r15)\n", move[m->form], m->bytes == 32 ? 'y' : 'x', m->reg, t->pend);
	else
		buf_printf(t->o, "\t%s\t%%k%u, %u(%%r15)\n", mask[m->bytes], m->reg, t->pend);
	t->pend += m->bytes;
	if (m->nindex)
		buf_printf(t->o, "\t%s\t%%%cmm%u, %u(%%r15)\n", move[form],
		    m->nindex == 64 ? 'z' : m->nindex == 32 ? 'y' : 'x', m->index, t->pend);
	t->pend += m->nindex;
}

/* Mnemonic (with prefixes) of a direct jump or call, which is everything before its operand */
static int
mnemonic_len(const char *s)
{
	return (int)(text_operands(&machine_x86, s) - s);
}

static void
leave_traced(struct twin *t)
{
	x86_validate_group(t);
	buf_printf(t->o, "\tmovq\t%%r15, %%gs:%d\n", X86_PTR);
	if (t->after)
		lend_load(t->o, X86_R15);
}

/*
 * After a call of a function that was not known: if it was traced, the event pointer is in r15, and no handler has left by a
 * jump. The 0 that ends the run sequence begins a group.
 */
static void
x86_back(struct twin *t)
{
	uint32_t n = t->nback++;

	buf_printf(t->o, "\tmovl\t%%gs:%d, %%r11d\n\torq\t%%gs:%d, %%r11\n", X86_DEPTH, X86_PTR);
	buf_printf(t->o, "\tjne\t" LBL2 "\n" LBL2 ":\n", 'a', t->no, n, 'e', t->no, n);
	buf_str(t->o, "\tmovb\t$0, (%r15)\n");
	t->pend = 1;
}

/*
 * A direct call or jump to what may be a traced function of another file. Where the linker made it one, the runtime changes
 * the instructions from label i on, when the program starts (ae_link): what leave_traced() writes does nothing then;
 * the call or jump goes to another entry (x86_thunk); and after a call of a function that does not leave by a jump, what x86_back()
 * writes is jumped over, up to label x. `known`: the registers that regeneration knows here.
 */
static void
x86_site(struct twin *t, int call, const char *to, uint64_t known)
{
	uint32_t n = t->nsite++;

	x86_validate_group(t);
	buf_printf(t->o, LBL2 ":\n", 'i', t->no, n);
	leave_traced(t);
	buf_printf(t->o, "\t%s\t%s\n", call ? "call" : "jmp", to);
	if (call) {
		x86_back(t);
		x86_validate_group(t);
	}
	buf_printf(t->o, LBL2 ":\n", 'x', t->no, n);
	emit_section(t->o, t->f, t->fn->unit, "aecall", "a");
	buf_printf(t->o, "\t.long\t" LBL2 "-.\n\t.value\t%u, " LBL2 "-" LBL2 "\n", 'i', t->no, n, (unsigned)known, 'x',
	    t->no, n, 'i', t->no, n);
	emit_section(t->o, t->f, t->fn->unit, "aetext", "ax");
}

static void
x86_call(struct twin *t, uint32_t i)
{
	const struct ainsn *a = &t->fn->ins[i];
	const char *s = twin_text(t, a);

	twin_mask(t, t->fn->slice->callrec[i]);
	if (callee_if_traced(t->f, a) != NONE) {
		x86_validate_group(t);
		buf_printf(t->o, "\tcall\t" LBL "\n", 'f', a->callee);
		if (t->f->fn[a->callee].tailout)
			x86_back(t);
		return;
	}
	if (emit_linked(t->f, t->fn, i)) {
		x86_site(t, 1, text_operands(&machine_x86, s), t->fn->slice->known[i]);
		return;
	}
	if (i == 0 || !t->fn->ins[i - 1].in.tls)
		leave_traced(t);
	buf_printf(t->o, "\t%s\n", s);
	if (a->in.changes) {    /* not r11, which x86_back() needs */
		buf_printf(t->o, "\tmovq\t%%r11, %%gs:%d\n", X86_KEEP);
		x86_back(t);
		buf_printf(t->o, "\tmovq\t%%gs:%d, %%r11\n", X86_KEEP);
	} else if (a->twice)
		buf_printf(t->o, "\tmovl\t$%u, %%r11d\n\tcall\t__ae_land\n", t->site++);
	else
		x86_back(t);
}

/* Where a direct jump of the twin goes: a label of the twin, of another twin, or the original symbol */
static void
jump_operand(struct twin *t, const struct ainsn *a, uint32_t blk, int branch)
{
	if (a->target != NONE)
		buf_printf(t->o, ".Lae_t%u_%u\n", t->no, a->target);
	else if (branch)
		buf_printf(t->o, ".Lae_s%u_%u\n", t->no, t->fn->blk[blk].succ[0]);
	else
		buf_printf(t->o, LBL "\n", 'f', a->callee);
}

static void
x86_jump(struct twin *t, const struct ainsn *a, uint32_t blk)
{
	const char *s = twin_text(t, a);

	if (a->target == NONE && t->fn->blk[blk].term != ST_TAIL) {
		x86_site(t, 0, text_operands(&machine_x86, s), 0);
		return;
	}
	twin_mask(t, t->fn->slice->callrec[a - t->fn->ins]);
	x86_validate_group(t);
	buf_printf(t->o, "\t%.*s", mnemonic_len(s), s);
	jump_operand(t, a, blk, 0);
}

/* The group is made valid on the way to block `to`, or passed on to it. */
static void
x86_settle_to(struct twin *t, uint32_t i, uint32_t to)
{
	if (t->pend && !twin_carry(t, i, to))
		x86_validate_group(t);
}

/* A branch that does not reach a twin's labels, and of whose condition no set instruction is: a jump around it does. */
static void
x86_near(struct twin *t, const struct ainsn *a, uint32_t blk)
{
	const uint32_t *succ = t->fn->blk[blk].succ, i = (uint32_t)(a - t->fn->ins);
	int loop = a->in.near >= X86_LOOP, rec = t->fn->slice->recbranch[blk];
	unsigned at, pend;

	if (loop) {
		buf_str(t->o, "\tleaq\t-1(%rcx), %rcx\n");
		twin_results(t, i, 0);
	}
	at = t->pend;
	pend = at + (rec != 0);
	if (rec)
		buf_printf(t->o, "\tmovb\t$%d, %u(%%r15)\n", !loop, at);
	buf_printf(t->o, "\t%s\t1f\n", a->in.near == X86_JECXZ ? "jecxz" : "jrcxz");
	if (a->in.near > X86_LOOP)
		buf_printf(t->o, "\t%s\t1f\n", a->in.near == X86_LOOPE ? "jne" : "je");
	if (rec)
		buf_printf(t->o, "\tmovb\t$%d, %u(%%r15)\n", loop, at);
	t->pend = pend;
	x86_settle_to(t, i, succ[!loop]);
	buf_str(t->o, "\tjmp\t");
	if (loop)
		jump_operand(t, a, blk, 1);
	else
		buf_str(t->o, "2f\n");
	buf_str(t->o, "1:\n");
	t->pend = pend;
	x86_settle_to(t, i, succ[loop]);
	if (!loop) {
		buf_str(t->o, "\tjmp\t");
		jump_operand(t, a, blk, 1);
		buf_str(t->o, "2:\n");
	}
	t->pend = 0;
}

static void
x86_branch(struct twin *t, const struct ainsn *a, uint32_t blk)
{
	const char *s = twin_text(t, a), *j = s;
	const uint32_t *succ = t->fn->blk[blk].succ, i = (uint32_t)(a - t->fn->ins);

	if (a->in.near) {
		x86_near(t, a, blk);
		return;
	}
	while (*j != 'j')
		j++;
	if (t->fn->slice->recbranch[blk]) {
		int n = 1;

		while (isalpha((unsigned char)j[n]))
			n++;
		buf_printf(t->o, "\tset%.*s\t", n - 1, j + 1);
		if (t->pend)
			buf_printf(t->o, "%u", t->pend);
		buf_str(t->o, "(%r15)\n");
		t->pend++;
	}
	x86_settle_to(t, i, succ[0]);
	buf_printf(t->o, "\t%.*s", mnemonic_len(s), s);
	jump_operand(t, a, blk, 1);
	x86_settle_to(t, i, succ[1]);
	t->pend = 0;
}

/* Two registers to work with at a switch, dead ones if there are any; which of them have to be kept */
static void
x86_scratch(const struct twin *t, const struct ainsn *a, uint32_t blk, int s[2], int kept[2])
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
x86_flags(struct twin *t, int back)
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
x86_translate(struct twin *t, uint32_t i, uint32_t blk)
{
	const struct ainsn *a = &t->fn->ins[i];
	const char *op = text_operands(&machine_x86, twin_text(t, a)), *r0, *r1;
	int s[2], kept[2], k, flags = (t->live[blk] & LIVE_FLAGS) != 0;

	x86_scratch(t, a, blk, s, kept);
	r0 = x86_regname(s[0], 8);
	r1 = x86_regname(s[1], 8);
	x86_validate_group(t);
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
		x86_flags(t, 0);
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
		leave_traced(t);
	buf_str(t->o, "2:\n");
	if (!kept[0] && !kept[1] && !flags) {
		buf_printf(t->o, "\tjmp\t*%%%s\n", r0);
		return;
	}
	buf_printf(t->o, "\tmovq\t%%%s, %%gs:%d\n", r0, X86_KEEP);
	if (flags)
		x86_flags(t, 1);
	for (k = 0; k < 2; k++)
		if (kept[k])
			buf_printf(t->o, "\tmovq\t%%gs:%d, %%%s\n", X86_KEEP + 8 + 8 * k, x86_regname(s[k], 8));
	buf_printf(t->o, "\tjmp\t*%%gs:%d\n", X86_KEEP);
}

/* The same if the table is known: there is no jump out of the function. 0: no two registers are free, or flags are live. */
static int
x86_translate_known(struct twin *t, uint32_t i, uint32_t blk)
{
	const char *r0, *r1;
	int s[2], kept[2];
	uint32_t k, n = t->fn->nfrag;

	x86_scratch(t, &t->fn->ins[i], blk, s, kept);
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
	x86_validate_group(t);
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
x86_table_lent(struct twin *t, uint32_t i, uint32_t blk, const char *paren)
{
	const struct ainsn *a = &t->fn->ins[i];
	int s[2], kept[2];
	const char *r;

	x86_scratch(t, a, blk, s, kept);
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

static void
x86_indirect(struct twin *t, uint32_t i, uint32_t blk)
{
	const struct ainsn *a = &t->fn->ins[i];
	const char *s = twin_text(t, a);

	if (t->fn->blk[blk].term == ST_TAILX) {
		leave_traced(t);
		buf_printf(t->o, "\t%s\n", s);
	} else if (t->own && t->own[i]) {
		x86_validate_group(t);
		if (lend_names(t, s))
			buf_printf(t->o, "\tjmp\t*%%gs:%d\n", X86_LENT);
		else
			buf_printf(t->o, "\t%s\n", s);
	} else if (a->table != NONE && a->in.setsdst == 1) {
		if (!x86_translate_known(t, i, blk))
			x86_translate(t, i, blk);
	} else if (a->table != NONE) {
		const char *star = strchr(s, '*'), *paren = strchr(s, '(');

		x86_validate_group(t);
		if (lend_names(t, s))
			x86_table_lent(t, i, blk, paren);
		else
			buf_printf(t->o, "\t%.*s*.Lae_j%u_%u%s\n", (int)(star - s), s, t->no, a->table, paren);
	} else {
		x86_translate(t, i, blk);
	}
}

/* Reached from the unwinder, which leaves the stack as it was at the call, and registers that calls keep. */
static void
x86_land(struct twin *t)
{
	buf_printf(t->o, "\tmovl\t$%u, %%r11d\n\tcall\t__ae_land\n", EV_CAUGHT);
}

/* Instruction i puts the address of a table into a register: here, that of the twin's table */
static void
x86_own_table(struct twin *t, uint32_t i)
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

static uint32_t
x86_insn(struct twin *t, uint32_t i)
{
	const struct ainsn *a = &t->fn->ins[i];
	uint32_t blk = t->fn->blkof[i];

	t->spare = 0;
	if (a->lands) {
		x86_land(t);
		twin_results(t, i, 1);
		return 1;
	}
	if (a->pad)
		return 1;
	switch (a->in.ctl) {
	case IC_CALL:
	case IC_CALLIND:
		x86_call(t, i);
		t->spare = t->after ? ~t->after[i] : 0;
		twin_results(t, i, 1);
		return 1;
	case IC_JUMP:
		x86_jump(t, a, blk);
		return 1;
	case IC_BRANCH:
		x86_branch(t, a, blk);
		return 1;
	case IC_SWITCH:
		x86_indirect(t, i, blk);
		return 1;
	default:
		if (a->in.ctl != IC_NONE)
			x86_validate_group(t);
		if (a->in.tls)          /* for the call that follows */
			leave_traced(t);
		if (t->own && t->own[i]) {
			x86_own_table(t, i);
			break;
		}
		if (a->in.mask.bytes)
			record_mask(t, &a->in.mask);
		if (lend_names(t, twin_text(t, a)))
			lend_insn(t, i, twin_text(t, a));
		else
			buf_printf(t->o, "\t%s\n", twin_text(t, a));
		break;
	}
	t->spare = t->after ? ~t->after[i] : 0;
	twin_results(t, i, 0);
	t->spare = 0;
	return 1;
}

/* A block that stands for a conditional tail jump */
static void
x86_outlying(struct twin *t, uint32_t b)
{
	const struct ablock *k = &t->fn->blk[b];

	if (k->term == ST_TAIL) {
		twin_mask(t, t->fn->slice->callrec[k->last - 1]);
		x86_validate_group(t);
		buf_printf(t->o, "\tjmp\t" LBL "\n", 'f', k->callee);
	} else {
		x86_site(t, 0, text_operands(&machine_x86, twin_text(t, &t->fn->ins[k->last - 1])), 0);
	}
}

/* Jump tables of the twin, and the maps from original offsets for other indirect jumps */
static void
x86_tables(struct twin *t)
{
	uint32_t i, k, off;
	int maps = 0;
	size_t n;

	for (k = 0; k < t->nback; k++)
		buf_printf(t->o, LBL2 ":\tcall\t__ae_back\n\tjmp\t" LBL2 "\n", 'a', t->no, k, 'e', t->no, k);
	for (n = 0; n < t->nlarge; n++)
		x86_large(t->o, t->large[n].var, t->large[n].pend, 'y', t->no, (uint32_t)n);
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

/* What a function needs of the registers when it is entered, at label l, and the jump to the twin */
static void
x86_thunk_need(struct buf *o, const struct afunc *fn, uint32_t no)
{
	int isshort = word_ext(fn, 0) != 0;
	unsigned v, at = 0;

	buf_printf(o, LBL ":\n", 'l', no);
	for (v = 0; v < X86_NREG; v++) {
		unsigned r = fn->m->lent && v == X86_R15 ? X86_R11 : v;

		if (!(fn->need >> v & 1))
			continue;
		if (r != v)
			lend_load(o, (int)r);
		if (isshort)
			x86_small(o, r, at, 'v', no, v);
		else
			buf_printf(o, "\tmovq\t%%%s, %u(%%r15)\n", x86_regname((int)r, 8), at);
		at += isshort ? 4 : 8;
	}
	if (at)
		buf_printf(o, "\tleaq\t%u(%%r15), %%r15\n", at);
	buf_printf(o, "\tjmp\t" LBL "\n", 'f', no);
	for (v = 0, at = 0; isshort && v < X86_NREG; v++)
		if (fn->need >> v & 1) {
			x86_large(o, fn->m->lent && v == X86_R15 ? X86_R11 : v, at, 'v', no, v);
			at += 4;
		}
}

/*
 * The entries of a function:
 *
 * h: from its original, which is patched. Called from traced code of this file, and no callback since? What lies below that
 *    may be code, too, that a position independent program made itself (MAP_32BIT). The words before it are struct ae_entries.
 * x: that is so. The word before it is the operand of a harmless movl.
 * k: from a jump of x86_site
 * l: from a call of x86_site
 * f: the twin; from such a call if what the function needs is known there
 */
static void
x86_thunk(struct buf *o, struct file *f, uint32_t no)
{
	const struct afunc *fn = &f->fn[no];

	buf_printf(o, "\t.p2align 3\n1:\tleaq\t" LBL "(%%rip), %%r11\n\tjmp\t__ae_enter\n", 'x', no);
	buf_printf(o, "2:\tleaq\t" LBL "(%%rip), %%r11\n\tjmp\t__ae_again\n", 'x', no);
	buf_printf(o, "\t.p2align 3\n\t.long\t" LBL "-" LBL ", " LBL "-" LBL ", ", 'n', no, 'h', no, 'k', no, 'h', no);
	buf_printf(o, LBL "-" LBL ", " LBL "-" LBL "\n\t.quad\t%u\n", 'l', no, 'h', no, 'f', no, 'h', no,
	    (unsigned)fn->need | (fn->tailout ? X86_TAILOUT : 0));
	buf_printf(o, LBL ":\tleaq\t__stop_aetext(%%rip), %%r11\n\tsubq\t(%%rsp), %%r11\n"
	    "\tcmpq\t__ae_length(%%rip), %%r11\n\tja\t1b\n\tcmpb\t$0, %%gs:%d\n\tjne\t2b\n", 'h', no, X86_CB);
	buf_printf(o, "\t.byte\t0x41, 0xbb\n\t.long\t" LBL "-" LBL "\n" LBL ":\n", 'p', no, 'x', no, 'x', no);
	if (fn->m->lent)
		buf_printf(o, "\tmovq\t%%gs:%d, %%r15\n", X86_PTR);
	buf_printf(o, "\tmovq\t$0, %%gs:%d\n" LBL ":\tmovl\t16+" LBL "(%%rip), %%r11d\n\tmovw\t%%r11w, (%%r15)\n"
	    "\tleaq\t2(%%r15), %%r15\n", X86_PTR, 'k', no, 'n', no);
	x86_thunk_need(o, fn, no);
}

static const char *const wrapped[] = {
#define S(name) #name,
#include "syncs.def"            /* generated by the makefile from $syncs of aecc.conf */
	NULL
};

const struct emitter x86_emit = {
	.begin = "",
	.relative = 1,
	.length = 1,
	.links = 1,
	.wrapped = wrapped,
	.trap = "ud2",
	.back = "ret",
	.fits = x86_fits,
	.rename = lend_rename,
	.thunk = x86_thunk,
	.plain = x86_plain_copy,
	.record = x86_record,
	.record_short = x86_record_short,
	.settle = x86_validate_group,
	.mark = x86_mark,
	.rep = x86_rep,
	.land = x86_land,
	.insn = x86_insn,
	.outlying = x86_outlying,
	.tables = x86_tables
};
