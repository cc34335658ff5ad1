/*
 * Instrumented code for MIPS (o32). $23 points to the end of the last event, $1 is free between
 * statements; all other registers are unchanged. Words are stored by swl and swr because events are
 * not aligned. A transfer of control is written together with its delay slot; if a result of the
 * slot is recorded, the slot comes first. Of a word that crosses the end of the buffer, the half at
 * the higher address is stored first: a store that faults is repeated at the start of the buffer,
 * where the alignment differs, so it must not have stored a part.
 */
#include <string.h>
#include "ae/mips/emit_internal.h"
#include "ae/rewrite/plan.h"
#include "ae/rewrite/slice.h"
#include "isa/mips/lift.h"

#define MANY 6000       /* with more instructions a branch may not reach across the twin */

static void
mips_validate_group(struct twin *t)
{
	if (t->pend)
		buf_printf(t->o, "\taddiu\t$23,$23,%u\n", t->pend);
	t->pend = 0;
}

static void
mips_record(struct twin *t, unsigned var, unsigned w)
{
	const unsigned big = t->fn->m->big, p = t->pend;

	if (w == 4)
		buf_printf(t->o, "\t%s\t$%u,%u($23)\n\t%s\t$%u,%u($23)\n", big ? "swr" :
		    "swl", var, p + 3, big ? "swl" : "swr", var, p);
	else if (w == 2)
		buf_printf(t->o, "\tsrl\t$1,$%u,8\n\tsb\t$%u,%u($23)\n\tsb\t$1,%u($23)\n", var, var, p + big,
		    p + 1 - big);
	else
		buf_printf(t->o, "\tsb\t$%u,%u($23)\n", var, p);
	t->pend += w;
}

static void
mips_mark(struct twin *t, uint32_t b)
{
	unsigned w = t->fn->blk[b].mark, i;

	for (i = 0; i < w; i++)
		buf_printf(t->o, "\tori\t$1,$0,%u\n\tsb\t$1,%u($23)\n", b >> 8 * i & 255,
		    t->pend + (t->fn->m->big ? w - 1 - i : i));
	t->pend += w;
}

static void
leave_traced(struct twin *t)
{
	mips_validate_group(t);
	buf_str(t->o, "\tlui\t$1,%hi(__ae_ptr)\n\tsw\t$23,%lo(__ae_ptr)($1)\n");
}

/* Writes the slot now, with its records, if it has any or `must` says so; returns whether it was written. */
static int
slot_first(struct twin *t, uint32_t s, int must)
{
	if (!must && !twin_records(t, s))
		return 0;
	mips_put(t->o, t->f, &t->fn->ins[s]);
	twin_results(t, s, 0);
	return 1;
}

static void
mips_slot(struct twin *t, uint32_t s, int done)
{
	if (done)
		buf_str(t->o, NOP);
	else
		mips_put(t->o, t->f, &t->fn->ins[s]);
}

/* `op symbol`, for the direct jump or call a. */
static void
to_symbol(struct twin *t, const char *op, const struct ainsn *a)
{
	size_t n = 0;
	const char *s = insn_target(t->f, a, &n);

	buf_printf(t->o, "\t%s\t%.*s\n", op, (int)n, s ? s : "");
}

static void
mips_call(struct twin *t, uint32_t i, uint32_t s)
{
	const struct ainsn *b = &t->fn->ins[i], *a = &t->fn->ins[s];
	uint32_t callee = callee_if_traced(t->f, a);
	int done = slot_first(t, s, t->fn->slice->callrec[s] != 0);

	twin_mask(t, t->fn->slice->callrec[s]);
	mips_validate_group(t);
	if (callee != NONE) {
		buf_printf(t->o, "\tjal\t" LBL "\n", 'f', callee);
	} else {
		leave_traced(t);
		if (a->in.ctl == IC_CALL)
			to_symbol(t, "jal", b);
		else
			buf_printf(t->o, "\t.word\t0x%08x\n", b->in.raw);
	}
	mips_slot(t, s, done);
	if (callee == NONE && a->twice)
		buf_printf(t->o, "\tori\t$8,$0,%u\n\tjal\t__ae_land\n" NOP, t->site++);
	else if (callee == NONE || t->f->fn[callee].tailout)
		buf_str(t->o, "\tjal\t__ae_back\n" NOP);
	twin_results(t, s, 1);
}

/* A direct or indirect jump, inside the function or out of it. */
static void
mips_jump(struct twin *t, uint32_t i, uint32_t s, uint32_t blk)
{
	const struct ainsn *b = &t->fn->ins[i], *a = &t->fn->ins[s];
	const struct ablock *k = &t->fn->blk[blk];
	int done = slot_first(t, s, a->isslot == 2 || (k->term == ST_TAIL && t->fn->slice->callrec[s] != 0));

	if (k->term == ST_JUMP) {
		if (t->pend && !twin_carry(t, s, k->succ[0]))
			mips_validate_group(t);
		t->pend = 0;
		buf_printf(t->o, "\tj\t" LBL2 "\n", 't', t->no, a->target);
	} else if (k->term == ST_TAIL) {
		twin_mask(t, t->fn->slice->callrec[s]);
		mips_validate_group(t);
		buf_printf(t->o, "\tj\t" LBL "\n", 'f', k->callee);
	} else {
		leave_traced(t);
		if (a->in.ctl == IC_JUMP)
			to_symbol(t, "j", b);
		else
			buf_printf(t->o, "\t.word\t0x%08x\n", b->in.raw);
	}
	mips_slot(t, s, done);
}

static void
branch_label(struct twin *t, uint32_t i, uint32_t target, uint32_t blk)
{
	(void)i;
	if (target != NONE)
		buf_printf(t->o, LBL2 "\n", 't', t->no, target);
	else
		buf_printf(t->o, LBL2 "\n", 's', t->no, t->fn->blk[blk].succ[0]);
}

/* May the open group continue after the branch, on both sides? */
static int
mips_carried(struct twin *t, uint32_t s, const uint32_t *succ)
{
	int a, b;

	if (!t->pend)
		return 1;
	a = twin_carry(t, s, succ[0]);
	b = twin_carry(t, s, succ[1]);
	if (a && b)
		return 1;
	if (a)
		t->pendin[succ[0]] = 0;
	if (b)
		t->pendin[succ[1]] = 0;
	return 0;
}

/* A branch whose slot is always executed. */
static void
mips_emit_branch(struct twin *t, uint32_t i, uint32_t s, uint32_t blk)
{
	const struct ainsn *b = &t->fn->ins[i], *a = &t->fn->ins[s];
	const int rec = t->fn->slice->recbranch[blk], far = t->fn->nins > MANY;
	const int fold = far || twin_records(t, s);
	const unsigned x = mips_scratch(mips_around(t->fn, &t->fn->blk[blk], t->live[blk]));

	if (rec || fold)
		mips_condition(t->o, b->in.raw, x);
	if (fold)
		slot_first(t, s, 1);    /* its events come first */
	if (rec)
		buf_printf(t->o, "\tsb\t$%u,%u($23)\n", x, t->pend++);
	if (!mips_carried(t, s, t->fn->blk[blk].succ))
		mips_validate_group(t);
	t->pend = 0;
	if (far) {
		buf_printf(t->o, "\tbeq\t$%u,$0,1f\n" NOP "\tj\t", x);
		branch_label(t, s, a->target, blk);
		buf_str(t->o, NOP "1:\n");
		return;
	}
	if (fold)
		buf_printf(t->o, "\tbne\t$%u,$0,", x);
	else
		mips_branch(t->o, b->in.raw);
	branch_label(t, s, a->target, blk);
	mips_slot(t, s, fold);
}

/* A branch whose slot, which is a block after it, is executed only if it is taken. */
static void
mips_annulling(struct twin *t, uint32_t i, uint32_t blk)
{
	const unsigned x = mips_scratch(mips_around(t->fn, &t->fn->blk[blk], t->live[blk]));

	mips_condition(t->o, t->fn->ins[i].in.raw, x);
	if (t->fn->slice->recbranch[blk])
		buf_printf(t->o, "\tsb\t$%u,%u($23)\n", x, t->pend++);
	mips_validate_group(t);
	if (t->fn->nins > MANY)
		buf_printf(t->o, "\tbne\t$%u,$0,1f\n" NOP "\tj\t" LBL2 "\n" NOP "1:\n", x, 't', t->no, i + 2);
	else
		buf_printf(t->o, "\tbeq\t$%u,$0," LBL2 "\n" NOP, x, 't', t->no, i + 2);
}

/* A transfer of control at i and its delay slot; returns the number of instructions written. */
static uint32_t
mips_unit(struct twin *t, uint32_t i)
{
	const uint32_t s = i + 1, blk = t->fn->blkof[i];
	int done;

	if (t->fn->ins[i].in.ctl == IC_BRANCH) {
		mips_annulling(t, i, blk);
		return 1;
	}
	switch (t->fn->ins[s].in.ctl) {
	case IC_CALL:
	case IC_CALLIND:
		mips_call(t, i, s);
		break;
	case IC_BRANCH:
		mips_emit_branch(t, i, s, blk);
		break;
	case IC_SWITCH:
		if (t->fn->blk[blk].term == ST_SWITCH) {
			slot_first(t, s, 1);
			mips_switch(t, s, blk);
			break;
		}
		/* fallthrough */
	case IC_JUMP:
		mips_jump(t, i, s, blk);
		break;
	default:
		done = slot_first(t, s, 0);
		mips_validate_group(t);
		buf_printf(t->o, "\t.word\t0x%08x\n", t->fn->ins[i].in.raw);
		mips_slot(t, s, done);
	}
	return 2;
}

/*
 * A statement that the assembler expands to several instructions, some of which the linker changes:
 * repeats the statement.
 */
static uint32_t
mips_macro(struct twin *t, uint32_t i)
{
	uint32_t k = i;

	mips_statement(t->o, t->f, &t->fn->ins[i]);
	while (t->fn->ins[k].more)
		k++;
	twin_results(t, k, 0);
	return k + 1 - i;
}

static uint32_t
mips_insn(struct twin *t, uint32_t i)
{
	const struct ainsn *a = &t->fn->ins[i];
	uint32_t k;

	if (a->pad)
		return 1;
	if (a->delayed)
		return mips_unit(t, i);
	if (a->isslot == 2) {
		mips_jump(t, i - 1, i, t->fn->blkof[i]);
		return 1;
	}
	for (k = i; a->nth == 0 && a->more; k++) {
		if (t->fn->ins[k].in.nfield)
			return mips_macro(t, i);
		if (!t->fn->ins[k].more)
			break;
	}
	if (a->in.ctl != IC_NONE)
		mips_validate_group(t);
	mips_put(t->o, t->f, a);
	twin_results(t, i, 0);
	return 1;
}

/* A block that stands for a conditional tail jump. */
static void
mips_outlying(struct twin *t, uint32_t b)
{
	const struct ablock *k = &t->fn->blk[b];
	uint32_t s = k->last - 1;

	if (k->term == ST_TAIL) {
		twin_mask(t, t->fn->slice->callrec[s]);
		mips_validate_group(t);
		buf_printf(t->o, "\tj\t" LBL "\n" NOP, 'f', k->callee);
	} else {
		leave_traced(t);
		to_symbol(t, "j", &t->fn->ins[t->fn->ins[s].isslot ? s - 1 : s]);
		buf_str(t->o, NOP);
	}
}

static void
mips_thunk(struct buf *o, struct file *f, uint32_t no)
{
	uint64_t need = f->fn[no].need;
	unsigned v, off = 2, big = f->m->big;

	buf_printf(o, "\t.p2align 3\n" LBL ":\n", 'h', no);
	/* is this a call from traced code (which is lowest in memory), without a callback since? */
	buf_printf(o,
	    "\tlui\t$24,%%hi(__stop_aetext)\n\taddiu\t$24,$24,%%lo(__stop_aetext)\n\tlui\t$14,%%hi(" LBL ")\n"
	    "\taddiu\t$14,$14,%%lo(" LBL ")\n\tsltu\t$24,$31,$24\n\tbeq\t$24,$0,1f\n" NOP
	    "\tlui\t$24,%%hi(__ae_cb)\n\tlw\t$24,%%lo(__ae_cb)($24)\n\tbeq\t$24,$0," LBL "\n" NOP
	    "\tj\t__ae_again\n" NOP "1:\n\tj\t__ae_enter\n" NOP,
	    'x', no, 'x', no, 'x', no);
	buf_printf(o, "\t.word\t" LBL "\n" LBL ":\n", 'p', no, 'x', no);
	buf_printf(o, "\tlui\t$24,%%hi(__ae_ptr)\n\tsw\t$0,%%lo(__ae_ptr)($24)\n"
	    "\tlui\t$24,%%hi(" LBL "+8)\n\tlw\t$24,%%lo(" LBL "+8)($24)\n"
	    "\tsb\t$24,0($23)\n\tsrl\t$24,$24,8\n\tsb\t$24,1($23)\n", 'n', no, 'n', no);
	for (v = 0; v < f->m->nreg; v++)
		if (need >> v & 1) {
			buf_printf(o, "\t%s\t$%u,%u($23)\n\t%s\t$%u,%u($23)\n", big ? "swr" :
			    "swl", v, off + 3, big ? "swl" : "swr", v, off);
			off += 4;
		}
	buf_printf(o, "\tj\t" LBL "\n\taddiu\t$23,$23,%u\n", 'f', no, off);
}

/* The object's flags depend on the memory model at the end of the file. */
static const char *
mips_end(const struct file *f)
{
	const char *s;
	uint32_t i;
	int pic = 0;

	for (i = 0; i < f->text.n; i++) {
		if (f->text.st[i].kind != ST_DIRECTIVE)
			continue;
		if (text_directive(f->text.st[i].s, ".abicalls"))
			pic = 2;
		else if ((s = text_directive(f->text.st[i].s, ".option")) != NULL &&
		    strncmp(s, "pic", 3) == 0)
			pic = s[3] == '2' ? 2 : 0;
	}
	return pic ? "\t.option\tpic2\n\t.set\tpop\n" : "\t.set\tpop\n";
}

const struct emitter mips_emit = {
	.begin = "\t.set\tpush\n\t.set\tnoreorder\n\t.set\tnomacro\n\t.set\tnoat\n"
	    "\t.set\tnomips16\n\t.set\tnomicromips\n\t.option\tpic0\n",
	.end = mips_end,
	.trap = "break",
	.back = "jr\t$31\n\tnop",
	.vars = 1,
	.fits = mips_fits,
	.check = mips_check,
	.thunk = mips_thunk,
	.plain = mips_plain,
	.record = mips_record,
	.settle = mips_validate_group,
	.mark = mips_mark,
	.insn = mips_insn,
	.outlying = mips_outlying,
	.tables = mips_maps
};
