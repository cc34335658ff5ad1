/*
 * Instrumented code for x86-64: everything added leaves flags, red zone and
 * every register but r15 as they were, except those that have a switch's table or target (switch.c).
 */
#include <ctype.h>
#include "ae/rewrite/emit.h"
#include "ae/rewrite/slice.h"
#include "ae/x86/emit_internal.h"
#include "format/ae/events.h"
#include "base/mem.h"
#include "isa/x86/lift.h"

void
x86_settle(struct twin *t)
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

void
x86_small(struct buf *o, unsigned var, unsigned at, int kind, uint32_t no, uint32_t n)
{
	buf_printf(o, "\tcmpq\t$0x7fffffff, %%%s\n\tja\t" LBL2 "\n", x86_regname((int)var, 8), kind, no, n);
	buf_printf(o, "\tmovl\t%%%s, %u(%%r15)\n" LBL2 ":\n", x86_regname((int)var, 4), at, kind + 1, no, n);
}

void
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
		x86_settle(t);
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

void
x86_leave(struct twin *t)
{
	x86_settle(t);
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
 * the instructions from label i on, when the program starts (ae_link): what x86_leave() writes does nothing then;
 * the call or jump goes to another entry (x86_thunk); and after a call of a function that does not leave by a jump, what x86_back()
 * writes is jumped over, up to label x. `known`: the registers that regeneration knows here.
 */
static void
x86_site(struct twin *t, int call, const char *to, uint64_t known)
{
	uint32_t n = t->nsite++;

	x86_settle(t);
	buf_printf(t->o, LBL2 ":\n", 'i', t->no, n);
	x86_leave(t);
	buf_printf(t->o, "\t%s\t%s\n", call ? "call" : "jmp", to);
	if (call) {
		x86_back(t);
		x86_settle(t);
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
		x86_settle(t);
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
		x86_leave(t);
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
	x86_settle(t);
	buf_printf(t->o, "\t%.*s", mnemonic_len(s), s);
	jump_operand(t, a, blk, 0);
}

/* The group is made valid on the way to block `to`, or passed on to it. */
static void
settle_to(struct twin *t, uint32_t i, uint32_t to)
{
	if (t->pend && !twin_carry(t, i, to))
		x86_settle(t);
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
	settle_to(t, i, succ[!loop]);
	buf_str(t->o, "\tjmp\t");
	if (loop)
		jump_operand(t, a, blk, 1);
	else
		buf_str(t->o, "2f\n");
	buf_str(t->o, "1:\n");
	t->pend = pend;
	settle_to(t, i, succ[loop]);
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
	settle_to(t, i, succ[0]);
	buf_printf(t->o, "\t%.*s", mnemonic_len(s), s);
	jump_operand(t, a, blk, 1);
	settle_to(t, i, succ[1]);
	t->pend = 0;
}

/* Reached from the unwinder, which leaves the stack as it was at the call, and registers that calls keep. */
static void
x86_land(struct twin *t)
{
	buf_printf(t->o, "\tmovl\t$%u, %%r11d\n\tcall\t__ae_land\n", EV_CAUGHT);
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
		switch_jump(t, i, blk);
		return 1;
	default:
		if (a->in.ctl != IC_NONE)
			x86_settle(t);
		if (a->in.tls)          /* for the call that follows */
			x86_leave(t);
		if (t->own && t->own[i]) {
			switch_own_table(t, i);
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
		x86_settle(t);
		buf_printf(t->o, "\tjmp\t" LBL "\n", 'f', k->callee);
	} else {
		x86_site(t, 0, text_operands(&machine_x86, twin_text(t, &t->fn->ins[k->last - 1])), 0);
	}
}

/* What the twin's code jumps to out of the way, and its tables */
static void
x86_tables(struct twin *t)
{
	for (uint32_t k = 0; k < t->nback; k++)
		buf_printf(t->o, LBL2 ":\tcall\t__ae_back\n\tjmp\t" LBL2 "\n", 'a', t->no, k, 'e', t->no, k);
	for (size_t n = 0; n < t->nlarge; n++)
		x86_large(t->o, t->large[n].var, t->large[n].pend, 'y', t->no, (uint32_t)n);
	switch_tables(t);
	switch_maps(t);
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
	.settle = x86_settle,
	.mark = x86_mark,
	.rep = x86_rep,
	.land = x86_land,
	.insn = x86_insn,
	.outlying = x86_outlying,
	.tables = x86_tables
};
