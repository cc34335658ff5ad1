/*
 * The instrumented copy of a function.  Everything added leaves flags, red
 * zone and every register but r15 as they were; r15 points behind the last
 * event of the buffer, whose end is a guard page: there is no bound check.
 * `pend` bytes of a group are stored beyond r15 before one lea makes them
 * count; a group goes on into blocks that have no other predecessor.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "../../base/mem.h"
#include "../../engine/x86/lift.h"
#include "emit.h"
#include "live.h"
#include "plan.h"
#include "slice.h"

struct twin {
	struct out *o;
	struct file *f;
	struct afunc *fn;
	uint32_t no;
	unsigned pend;
	uint32_t site;
	uint32_t *live;         /* behind each block */
	unsigned *pendin;       /* pend at the start of each block */
};

#define MAXPEND 100     /* displacements of a byte are short */

static void
settle(struct twin *t)
{
	if (t->pend)
		out_printf(t->o, "\tleaq\t%u(%%r15), %%r15\n", t->pend);
	t->pend = 0;
}

/* Hand the open group to block `to`, if control comes there from here (instruction i) alone and it is not written yet */
static int
carry(struct twin *t, uint32_t i, uint32_t to)
{
	const struct ablock *k = &t->fn->blk[to];

	if (t->pend > MAXPEND || to == 0 || k->first == k->last || k->first <= i || t->fn->g->npred[to] != 1)
		return 0;
	t->pendin[to] = t->pend;
	return 1;
}

static void
record(struct twin *t, unsigned var, unsigned w)
{
	static const char suffix[] = " bw l   q";

	out_printf(t->o, "\tmov%c\t%%%s, ", suffix[w], x86_regname((int)var, (int)w));
	if (t->pend)
		out_printf(t->o, "%u", t->pend);
	out_str(t->o, "(%r15)\n");
	t->pend += w;
}

static void
record_mask(struct twin *t, uint32_t regs)
{
	unsigned v;

	for (v = 0; v < X86_NREG; v++)
		if (regs >> v & 1)
			record(t, v, 8);
}

static const char *
insn_text(const struct twin *t, const struct ainsn *a)
{
	return t->f->text.st[a->stmt].s;
}

/* Mnemonic (with prefixes) of a direct jump or call, which is everything before its operand */
static int
mnemonic_len(const char *s)
{
	return (int)(text_operands(s) - s);
}

static void
leave_traced(struct twin *t)
{
	settle(t);
	out_str(t->o, "\tmovq\t%r15, __ae_ptr(%rip)\n");
}

static void
call(struct twin *t, uint32_t i)
{
	const struct ainsn *a = &t->fn->ins[i];
	const char *s = insn_text(t, a);

	record_mask(t, t->fn->slice->callrec[i]);
	if (a->in.ctl == IC_CALL && a->callee != NONE && !t->f->fn[a->callee].why) {
		settle(t);
		out_printf(t->o, "\tcall\t" LBL "\n", 'f', a->callee);
		if (t->f->fn[a->callee].tailout)
			out_str(t->o, "\tcall\t__ae_back\n");
		return;
	}
	leave_traced(t);
	out_printf(t->o, "\t%s\n", s);
	if (a->twice)
		out_printf(t->o, "\tmovl\t$%u, %%r11d\n\tcall\t__ae_land\n", t->site++);
	else
		out_str(t->o, "\tcall\t__ae_back\n");
}

/* Where a direct jump of the twin goes: a label of the twin, of another twin, or the original symbol */
static void
jump_operand(struct twin *t, const struct ainsn *a, uint32_t blk, int branch)
{
	if (a->target != NONE)
		out_printf(t->o, ".Lae_t%u_%u\n", t->no, a->target);
	else if (branch)
		out_printf(t->o, ".Lae_s%u_%u\n", t->no, t->fn->blk[blk].succ[0]);
	else
		out_printf(t->o, LBL "\n", 'f', a->callee);
}

static void
jump(struct twin *t, const struct ainsn *a, uint32_t blk)
{
	const char *s = insn_text(t, a);

	if (a->target == NONE && t->fn->blk[blk].term != ST_TAIL) {
		leave_traced(t);
		out_printf(t->o, "\t%s\n", s);
		return;
	}
	record_mask(t, t->fn->slice->callrec[a - t->fn->ins]);
	settle(t);
	out_printf(t->o, "\t%.*s", mnemonic_len(s), s);
	jump_operand(t, a, blk, 0);
}

static void
branch(struct twin *t, const struct ainsn *a, uint32_t blk)
{
	const char *s = insn_text(t, a), *j = s;
	const uint32_t *succ = t->fn->blk[blk].succ, i = (uint32_t)(a - t->fn->ins);

	while (*j != 'j')
		j++;
	if (t->fn->slice->recbranch[blk]) {
		int n = 1;

		while (isalpha((unsigned char)j[n]))
			n++;
		out_printf(t->o, "\tset%.*s\t", n - 1, j + 1);
		if (t->pend)
			out_printf(t->o, "%u", t->pend);
		out_str(t->o, "(%r15)\n");
		t->pend++;
	}
	if (t->pend && !carry(t, i, succ[0]))
		settle(t);
	out_printf(t->o, "\t%.*s", mnemonic_len(s), s);
	jump_operand(t, a, blk, 1);
	if (t->pend && !carry(t, i, succ[1]))
		settle(t);
	t->pend = 0;
}

/* Two registers to work with at a switch, dead ones if there are any; which of them have to be kept */
static void
scratch(const struct twin *t, const struct ainsn *a, uint32_t blk, int s[2], int kept[2])
{
	uint32_t live = t->live[blk], used = 1u << X86_RSP | 1u << X86_R15;
	int n = 0, pass, r;

	if (a->in.setsdst == 1 && !(live >> a->in.tgt & 1))
		s[n++] = a->in.tgt;
	used |= a->in.reads;
	for (pass = 0; pass < 2; pass++)        /* dead ones, then any */
		for (r = 0; r < X86_NREG && n < 2; r++)
			if (!(used >> r & 1) && (pass || !(live >> r & 1)) && (n == 0 || s[0] != r))
				s[n++] = r;
	kept[0] = live >> s[0] & 1;
	kept[1] = live >> s[1] & 1;
}

/*
 * An indirect jump whose value is an address in the original code: find the
 * twin's address in a map of the function by byte offset.  What the map does
 * not have is outside, and the jump a tail call.  Flags are dead here
 * (live_check has looked).
 */
static void
translate(struct twin *t, uint32_t i, uint32_t blk)
{
	const struct ainsn *a = &t->fn->ins[i];
	const char *op = text_operands(insn_text(t, a)), *r0, *r1;
	int s[2], kept[2], k;

	scratch(t, a, blk, s, kept);
	r0 = x86_regname(s[0], 8);
	r1 = x86_regname(s[1], 8);
	settle(t);
	for (k = 0; k < 2; k++)
		if (kept[k])
			out_printf(t->o, "\tmovq\t%%%s, %d+__ae_s(%%rip)\n", x86_regname(s[k], 8), 8 + 8 * k);
	if (a->in.setsdst != 1 || a->in.tgt != s[0])
		out_printf(t->o, "\tmovq\t%s, %%%s\n", op + (*op == '*'), r0);
	if (a->in.setsdst == 2)
		out_printf(t->o, "\tmovq\t%%%s, (%%r15)\n\tleaq\t8(%%r15), %%r15\n", r0);
	out_printf(t->o, "\tmovq\t%%%s, __ae_s(%%rip)\n", r0);
	for (k = 0; k < (int)t->fn->nfrag; k++) {
		out_printf(t->o, "\tleaq\t" LBL "(%%rip), %%%s\n\tsubq\t%%%s, %%%s\n\tcmpq\t$%u, %%%s\n\tjae\t1f\n",
		    k ? 'c' : 'o', t->no, r1, r1, r0, t->fn->frag[k].size, r0);
		out_printf(t->o, "\tleaq\t.Lae_m%u_%d(%%rip), %%%s\n\tmovslq\t(%%%s,%%%s,4), %%%s\n\taddq\t%%%s, %%%s\n",
		    t->no, k, r1, r1, r0, r0, r1, r0);
		out_printf(t->o, "\tcmpq\t%%%s, %%%s\n\tjne\t2f\n1:\n\tmovq\t__ae_s(%%rip), %%%s\n", r1, r0, r0);
	}
	if (t->fn->blk[blk].range)
		out_str(t->o, "\tmovq\t%r15, __ae_ptr(%rip)\n");
	out_str(t->o, "2:\n");
	if (!kept[0] && !kept[1]) {
		out_printf(t->o, "\tjmp\t*%%%s\n", r0);
		return;
	}
	out_printf(t->o, "\tmovq\t%%%s, __ae_s(%%rip)\n", r0);
	for (k = 0; k < 2; k++)
		if (kept[k])
			out_printf(t->o, "\tmovq\t%d+__ae_s(%%rip), %%%s\n", 8 + 8 * k, x86_regname(s[k], 8));
	out_str(t->o, "\tjmp\t*__ae_s(%rip)\n");
}

static void
indirect(struct twin *t, uint32_t i, uint32_t blk)
{
	const struct ainsn *a = &t->fn->ins[i];
	const char *s = insn_text(t, a);

	if (t->fn->blk[blk].term == ST_TAILX) {
		leave_traced(t);
		out_printf(t->o, "\t%s\n", s);
	} else if (a->table != NONE) {
		const char *star = strchr(s, '*'), *paren = strchr(s, '(');

		settle(t);
		out_printf(t->o, "\t%.*s*.Lae_j%u_%u%s\n", (int)(star - s), s, t->no, a->table, paren);
	} else {
		translate(t, i, blk);
	}
}

/* Values that the slice wants recorded once instruction i is done */
static void
results(struct twin *t, uint32_t i)
{
	const struct slice *sl = t->fn->slice;
	uint32_t d;

	for (d = sl->first[i]; d < sl->first[i + 1]; d++) {
		const struct def *f = &sl->def[d];
		const struct insn_effect *e = f->eff == DEF_CALL ? NULL : &t->fn->ins[i].in.eff[f->eff];
		uint8_t ext;

		if (e && e->s.op == SO_REP) {
			/* the count left, and whether a comparison stopped it: the last fetch depends on that */
			if (f->var == X86_RCX && (e->s.cc == SR_CMPS || e->s.cc == SR_SCAS)) {
				record(t, X86_RCX, 8);
				out_printf(t->o, "\tset%s\t%u(%%r15)\n", t->fn->ins[i].in.rep == 2 ? "e" : "ne", t->pend++);
			}
		} else if (f->fate == DF_RECORD) {
			record(t, f->var, def_bytes(t->fn, f, &ext));
		}
	}
}

static void
instruction(struct twin *t, uint32_t i)
{
	const struct ainsn *a = &t->fn->ins[i];
	uint32_t blk = t->fn->blkof[i];

	if (a->pad)
		return;
	switch (a->in.ctl) {
	case IC_CALL:
	case IC_CALLIND:
		call(t, i);
		break;
	case IC_JUMP:
		jump(t, a, blk);
		return;
	case IC_BRANCH:
		branch(t, a, blk);
		return;
	case IC_SWITCH:
		indirect(t, i, blk);
		return;
	default:
		if (a->in.ctl != IC_NONE)
			settle(t);
		out_printf(t->o, "\t%s\n", insn_text(t, a));
		break;
	}
	results(t, i);
}

/* Alignment that the compiler asked for between two instructions */
static void
alignment(struct twin *t, uint32_t from, uint32_t to)
{
	for (; from < to; from++) {
		const struct stmt *st = &t->f->text.st[from];

		if (st->kind == ST_DIRECTIVE && text_directive(st->s, ".p2align"))
			out_printf(t->o, "\t%s\n", st->s);
	}
}

/* Blocks that stand for conditional tail jumps */
static void
outlying(struct twin *t)
{
	uint32_t b;

	for (b = 0; b < t->fn->nblk; b++) {
		const struct ablock *k = &t->fn->blk[b];

		if (k->first != k->last || (k->term != ST_TAIL && k->term != ST_TAILX))
			continue;
		out_printf(t->o, ".Lae_s%u_%u:\n", t->no, b);
		if (k->term == ST_TAIL) {
			record_mask(t, t->fn->slice->callrec[k->last - 1]);
			settle(t);
			out_printf(t->o, "\tjmp\t" LBL "\n", 'f', k->callee);
		} else {
			leave_traced(t);
			out_printf(t->o, "\tjmp\t%s\n", text_operands(insn_text(t, &t->fn->ins[k->last - 1])));
		}
	}
}

/* Jump tables of the twin, and the maps from original offsets for other indirect jumps */
static void
tables(struct twin *t)
{
	uint32_t i, k, off;
	int maps = 0;
	size_t n;

	for (i = 0; i < t->f->ntab; i++) {
		const struct jtable *j = &t->f->tab[i];
		int used = 0;

		for (k = 0; k < t->fn->nins; k++)
			used |= t->fn->ins[k].table == i;
		if (!used)
			continue;
		out_printf(t->o, "\t.p2align 3\n.Lae_j%u_%u:\n", t->no, i);
		for (n = 0; n < j->n; n++)
			out_printf(t->o, "\t.quad\t.Lae_t%u_%u\n", t->no, j->target[n]);
	}
	for (k = 0; k < t->fn->nins; k++)
		maps |= t->fn->ins[k].in.ctl == IC_SWITCH && t->fn->ins[k].table == NONE && t->fn->blk[t->fn->blkof[k]].term == ST_SWITCH;
	for (i = 0; maps && i < t->fn->nfrag; i++) {
		out_printf(t->o, "\t.p2align 2\n.Lae_m%u_%u:\n", t->no, i);
		for (off = 0, k = t->fn->frag[i].first; k < t->fn->nins && t->fn->ins[k].frag == i; k++) {
			if (!t->fn->ins[k].taken)
				continue;
			if (t->fn->ins[k].off > off)
				out_printf(t->o, "\t.skip\t%u\n", (t->fn->ins[k].off - off) * 4);
			out_printf(t->o, "\t.long\t.Lae_t%u_%u-.Lae_m%u_%u\n", t->no, k, t->no, i);
			off = t->fn->ins[k].off + 1;
		}
		if (t->fn->frag[i].size > off)
			out_printf(t->o, "\t.skip\t%u\n", (t->fn->frag[i].size - off) * 4);
	}
}

void
emit_twin(struct out *o, struct file *f, uint32_t no)
{
	struct twin t = { .o = o, .f = f, .fn = &f->fn[no], .no = no };
	uint32_t i;

	t.live = live_out(t.fn);
	out_printf(o, "\t.p2align 4\n" LBL ":\n", 'f', no);
	record_mask(&t, t.fn->slice->entryrec);
	if (t.fn->blk[0].first == t.fn->blk[0].last)
		settle(&t);
	t.pendin = xcalloc(t.fn->nblk, sizeof *t.pendin);
	t.pendin[0] = t.pend;
	for (i = 0; i < t.fn->nins; i++) {
		uint32_t b = t.fn->blkof[i];

		if (i && t.fn->ins[i].frag == t.fn->ins[i - 1].frag)
			alignment(&t, t.fn->ins[i - 1].stmt + 1, t.fn->ins[i].stmt);
		if (t.fn->ins[i].leader)
			out_printf(o, ".Lae_t%u_%u:\n", no, i);
		if (i == t.fn->blk[b].first)
			t.pend = t.pendin[b];
		instruction(&t, i);
		if (t.pend && i + 1 == t.fn->blk[b].last && !(t.fn->blk[b].nsucc == 1 && carry(&t, i, t.fn->blk[b].succ[0])))
			settle(&t);
	}
	out_str(o, "\tud2\n");
	outlying(&t);
	tables(&t);
	free(t.live);
	free(t.pendin);
}
