/*
 * The plain copy, which runs when a function runs untraced although its entry is patched. It holds
 * the instructions under the patch and continues in the original after them; if something jumps
 * back under the patch, it holds the whole function.
 */
#include <string.h>
#include "ae/mips/emit_internal.h"
#include "isa/mips/lift.h"

/*
 * Instructions of fragment 0 that the patch covers, including the rest of the last statement and
 * its delay slot.
 */
static uint32_t
mips_plain_covered(const struct afunc *fn)
{
	uint32_t n = 0;

	while (n < fn->nins && fn->ins[n].frag == 0 &&
	    (fn->ins[n].off < MIPS_PATCH || fn->ins[n].nth || (n && fn->ins[n - 1].delayed)))
		n++;
	return n;
}

static int
jumped_into(const struct afunc *fn)
{
	uint32_t i, n = mips_plain_covered(fn);

	for (i = 0; i < n; i++)
		if (fn->ins[i].leader && !fn->ins[i].isslot && !(i && fn->ins[i - 1].isslot == 2))
			return 1;
	return 0;
}

/*
 * A macro that jumps, or whose first instruction is in a delay slot, must have no operand that the
 * linker changes.
 */
static const char *
bad_macro(const struct afunc *fn, uint32_t i)
{
	uint32_t k = i;
	int fields = 0, jumps = 0;

	do {
		fields |= fn->ins[k].in.nfield;
		jumps |= fn->ins[k].delayed || fn->ins[k].isslot || fn->ins[k].in.ctl != IC_NONE;
	} while (fn->ins[k++].more);
	return fields && jumps && k > i + 1 ? "a macro that jumps or fills a delay slot and has an operand "
	    "of the linker's" : NULL;
}

void
mips_fits(struct file *f, struct afunc *fn)
{
	uint32_t i, n = mips_plain_covered(fn), end = fn_frag_end(fn);

	for (i = 0; i < fn->nins; i++) {
		uint32_t line = f->text.st[fn->ins[i].stmt].line;
		const char *why = fn->ins[i].nth ? NULL : bad_macro(fn, i);

		if (fn->ins[i].in.pcrel && !text_directive(f->text.st[fn->ins[i].stmt].s, ".cpload"))
			why = "operand relative to the instruction";
		if (i < n && fn->ins[i].taken)
			why = "a code label used as a value at its very start";
		if (i >= end && fn->ins[i].target != NONE && fn->ins[i].target < n)
			why = "its cold part jumps to its very start";
		if (fn->ins[i].delayed && fn->ins[i].in.slot == 2 &&
		    (i + 2 >= fn->nins || fn->ins[i + 2].frag != fn->ins[i].frag))
			why = "a branch at its very end";
		if (why) {
			fn_fail(fn, line, why);
			return;
		}
		fn->noscratch |= !fn->ins[i].nth && !fn->ins[i].more &&
		    ((fn->ins[i].in.reads | fn->ins[i].in.writes) >> MIPS_AT & 1);
	}
}

/* The label of instruction `to` for the plain copy of n instructions: in it, or in the original. */
static void
mips_plain_label(struct buf *o, const struct afunc *fn, uint32_t no, uint32_t n, int whole, uint32_t to)
{
	if (whole && to < n) {
		buf_printf(o, LBL2 "\n", 'q', no, to);
		return;
	}
	while (fn->ins[to].pad || fn->ins[to].nth)
		to++;
	buf_printf(o, LBL2 "\n", 'u', no, to);
}

/* The jump, branch or call at i, with its slot. */
static void
mips_plain_unit(struct buf *o, struct file *f, uint32_t no, uint32_t i, uint32_t n, int whole)
{
	const struct afunc *fn = &f->fn[no];
	const struct ainsn *b = &fn->ins[i], *s = &fn->ins[i + 1];
	uint32_t target = s->target;
	const char *sym;
	size_t len;

	if (b->in.ctl == IC_BRANCH || s->in.ctl == IC_BRANCH) {
		mips_branch(o, b->in.raw);
		buf_str(o, "1f\n");
		if (b->in.slot == 2)
			buf_str(o, NOP);
		else
			mips_put(o, f, s);
		buf_str(o, "\tj\t2f\n" NOP "1:\n");
		if (b->in.slot == 2)
			mips_put(o, f, s);
		buf_str(o, "\tj\t");
		if (target != NONE)
			mips_plain_label(o, fn, no, n, whole, target);
		else if ((sym = insn_target(f, b, &len)) != NULL)
			buf_printf(o, "%.*s\n", (int)len, sym);
		buf_str(o, NOP "2:\n");
		return;
	}
	if (s->in.ctl == IC_JUMP && target != NONE) {
		buf_str(o, "\tj\t");
		mips_plain_label(o, fn, no, n, whole, target);
	} else if ((s->in.ctl == IC_JUMP || s->in.ctl == IC_CALL) && (sym = insn_target(f, b, &len)) != NULL)
		buf_printf(o, "\t%s\t%.*s\n", s->in.ctl == IC_JUMP ? "j" : "jal", (int)len, sym);
	else
		buf_printf(o, "\t.word\t0x%08x\n", b->in.raw);
	mips_put(o, f, s);
}

/* The linker requires a %lo after each %hi (and %got of a local symbol): adds one that is never executed. */
static void
mips_plain_pair(struct buf *o, const struct file *f, const struct ainsn *a)
{
	const char *s = f->text.st[a->stmt].s, *p = strstr(s, "%hi(");
	size_t n;

	if (!p)
		p = strstr(s, "%got(");
	if (!p || !(p = strchr(p, '(')))
		return;
	n = strcspn(p, ")") + 1;
	buf_printf(o, "\taddiu\t$0,$0,%%lo%.*s\n", (int)n, p);
}

void
mips_plain(struct buf *o, struct file *f, uint32_t no)
{
	const struct afunc *fn = &f->fn[no];
	const int whole = jumped_into(fn);
	uint32_t i, n = whole ? fn_frag_end(fn) : mips_plain_covered(fn);

	for (i = 0; i < n; i++) {
		const struct ainsn *a = &fn->ins[i];
		uint32_t k;
		int fields = 0;

		if (whole && a->leader)
			buf_printf(o, LBL2 ":\n", 'q', no, i);
		if (a->pad)
			continue;
		if (a->delayed) {
			mips_plain_unit(o, f, no, i++, n, whole);
			continue;
		}
		for (k = i; a->nth == 0 && fn->ins[k].more; k++)
			fields |= fn->ins[k].in.nfield;
		if (fields) {
			mips_statement(o, f, a);
			i = k;
		} else
			mips_put(o, f, a);
	}
	if (!whole && n < fn->nins && fn->ins[n].frag == 0) {
		buf_str(o, "\tj\t");
		mips_plain_label(o, fn, no, n, 0, n);
		buf_str(o, NOP);
		for (i = 0; i < n; i++)
			mips_plain_pair(o, f, &fn->ins[i]);
	}
}

uint64_t
mips_around(const struct afunc *fn, const struct ablock *k, uint64_t live)
{
	const struct insn *b = &fn->ins[k->last - 1].in, *s = b;

	if (b->ctl != IC_BRANCH || !b->slot)
		b = &fn->ins[k->last - 2].in;
	return live | b->reads | (s != b ? s->reads | s->writes : 0);
}

/*
 * May $1 still be in use where instrumented code changes it? The reason, and *at which instruction;
 * NULL if not.
 */
const char *
mips_check(const struct afunc *fn, const uint64_t *live, uint32_t *at)
{
	const uint64_t bit = BIT(MIPS_AT);
	uint32_t b, i;

	for (b = 0; fn->noscratch && b < fn->nblk; b++) {
		const struct ablock *k = &fn->blk[b];
		int needed = (live[b] & bit) != 0;

		*at = k->last - 1;
		if (needed && k->term == ST_SWITCH)
			return "a switch while $1 is in use";
		if (k->term == ST_BRANCH && mips_scratch(mips_around(fn, k, live[b])) > MIPS_RA)
			return "a branch while all registers are in use";
		for (i = k->last; i-- > k->first; ) {
			const struct ainsn *a = &fn->ins[i];
			int leaves = a->in.ctl == IC_CALL || a->in.ctl == IC_CALLIND || a->in.ctl == IC_JUMP;

			*at = i;
			if (a->in.writes & bit)
				needed = 0;
			if (a->in.reads & bit)
				needed = 1;
			if (needed && leaves && a->isslot)
				return "a call or jump while $1 is in use";
		}
		if (needed && k->mark)
			return "a branch target while $1 is in use";
	}
	return NULL;
}
