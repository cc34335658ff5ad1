/* Generates the C text of a function, in the form of figure 4 of the paper. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/hash.h"
#include "base/mem.h"
#include "gen/aec/aec.h"

#define LEAST_ROOM 1024 /* maximum number of references that one ROOM is for */

static const char *const rep_name[] = {"MOVS", "STOS", "LODS", "CMPS", "SCAS"};

/* Does the step make a reference? SO_GOTLOAD may make none, which does not matter for ROOM. */
static int
is_ref(const struct op_step *s)
{
	return s->op <= SO_GOTLOAD;
}

static int
has_dst(const struct op_step *s)
{
	return (s->op >= SO_UNKNOWN && s->op <= SO_LOADRO) || s->op == SO_SETCC || s->op == SO_CMOV;
}

/* Does a branch, setcc or cmov of some block depend on flags that another block computed? */
static int
needs_saved_flags(struct gen *g)
{
	for (uint32_t i = 0; i < g->f->nblock; i++) {
		const struct sch_block *b = g->f->block + i;

		g->flags = NULL;
		for (uint32_t j = 0; j < b->nstep; j++) {
			const struct op_step *s = b->step + j;

			if ((s->op == SO_SETCC || s->op == SO_CMOV) && !g->flags)
				return 1;
			if (s->op >= SO_FLAGS_SUB && s->op <= SO_FLAGS_AND)
				g->flags = s;
			else if (has_dst(s))
				gen_var_changed(g, s->dst);
			else if (s->op == SO_REP || s->op == SO_CALLJ)
				g->flags = NULL;
		}
		if (b->term == ST_COND && !g->flags)
			return 1;
	}
	return 0;
}

/* Appends a code address: an offset from the function's entry. */
static void
func_code(struct gen *g, uint64_t pc)
{
	uint64_t d = pc - g->pf->entry;

	g->use_pc = 1;
	if ((int64_t)d < 0)
		buf_printf(g->out, "in_pc - %llu", (unsigned long long)(0 - d));
	else
		buf_printf(g->out, "in_pc + %llu", (unsigned long long)d);
}

static void
set_pc(struct gen *g)
{
	buf_str(g->out, "\tPC = ");
	func_code(g, g->pc);
	buf_str(g->out, ";\n");
}

/* Makes room for the references from step i on, up to the next call. */
static void
make_room(struct gen *g, const struct sch_block *b, uint32_t i, unsigned *left)
{
	unsigned n = 0, ev = 0;

	for (; i < b->nstep && !prog_iscall(b->step + i) && b->step[i].op != SO_REP && b->step[i].op != SO_MASKED; i++)
		n += is_ref(b->step + i);
	for (uint32_t j = 0; i == b->nstep && j < b->nsucc; j++)
		if (b->succ[j].nev > ev)
			ev = b->succ[j].nev;
	n += ev;
	*left = n < LEAST_ROOM ? n : LEAST_ROOM;
	if (n) {
		set_pc(g);
		buf_printf(g->out, "\tROOM(%u);\n", *left);
	}
}

static void
func_access(struct gen *g, const struct op_step *s)
{
	static const char *const name[] = {
		[SO_LOAD] = "READ_MEM", [SO_STORE] = "WRITE_MEM", [SO_MODIFY] = "MODIFY_MEM",
		[SO_GOTLOAD] = "READ_MEM",
	};

	if (s->op == SO_GOTLOAD) {
		int loads = prog_gotload(&g->a->g, g->pf, g->ipc);

		g->nop = loads < 0;
		if (loads <= 0) {
			buf_str(g->out, "\t/* the linker took this load away */\n");
			return;
		}
	} else if (s->op == SO_STORE && g->nop) {
		buf_str(g->out, "\t/* and this store */\n");
		return;
	}
	buf_printf(g->out, "\t%s(", name[s->op]);
	gen_addr(g, &s->m);
	buf_printf(g->out, ", %u);\n", s->n);
}

/* A call or tail call of the program's known function `no`: name and arguments. */
static void
func_known(struct gen *g, uint32_t no, unsigned push)
{
	const struct sch_func *c = g->a->g.func[no].f;
	char tmp[16];

	if (g->a->g.func[no].unit == g->pf->unit)
		buf_str(g->out, g->a->name[no]);
	else
		buf_printf(g->out, "ae_call_%u", no);
	buf_printf(g->out, "(HERE, %s", gen_var(g, g->u->sp, tmp));
	if (push)
		buf_printf(g->out, " - %u", push);
	for (uint32_t i = 0; i < c->nneed; i++)
		buf_printf(g->out, ", %s", gen_var(g, c->need[i], tmp));
	buf_str(g->out, ")");
}

/* no: the block, if exceptions of the call land at its second successor; else -1. */
static void
func_call(struct gen *g, const struct op_step *s, int64_t no)
{
	char tmp[16], end[80];
	const char *sp = gen_var(g, g->u->sp, tmp);
	int jumps = (g->f->flags & SF_SETJMP) != 0;

	for (uint32_t i = 0; s->op == SO_LINKED && s->sym != SCH_NOSYM && s->cc && i < g->a->g.func[s->sym].f->nneed; i++) {
		const struct op_step value = prog_need(g->u, g->a->g.func[s->sym].f, i);

		gen_compute(g, &value);
	}
	g->calls = 1;
	g->use_sp0 |= no >= 0;
	buf_str(g->out, no >= 0 ? "\tCALL_LANDING(" : jumps ? "\tCALL_SJ(" : "\tCALL(");
	end[0] = 0;
	if (no >= 0)
		snprintf(end, sizeof end, ", %u, sp0, %s, %s", (unsigned)no, sp, jumps ? "goto unwound" : "return q_");
	if (s->op == SO_CALL) {
		int after = (g->u->func[s->sym].flags & SF_TAILOUT) != 0;

		buf_str(g->out, after ? "ae_after(" : "");
		func_known(g, g->a->g.base[g->pf->unit] + (uint32_t)s->sym, g->u->push);
		if (after)
			buf_printf(g->out, ", %s)", sp);
		buf_printf(g->out, "%s);\n", end);
	} else if (s->op == SO_LINKED && s->sym != SCH_NOSYM) {
		func_known(g, (uint32_t)s->sym, g->u->push);
		buf_printf(g->out, "%s);\n", end);
	} else if (s->op != SO_CALLJ) {
		buf_printf(g->out, "ae_unknown(HERE, %s)%s);\n", sp, end);
	} else {
		buf_printf(g->out, "ae_setjmp(HERE, %s, %u)%s);\nJ%u:\n\tsj%u = %s;\n", sp, s->n, end,
		    s->n, s->n, sp);
		g->flags = NULL;
	}
}

static void
func_rep(struct gen *g, const struct op_step *s)
{
	static const int reg[] = {PROG_RCX, PROG_RSI, PROG_RDI};
	char tmp[16];

	for (int i = 0; i < 3; i++)
		gen_var(g, reg[i], tmp);
	g->use_ev = 1;
	g->flags = NULL;
	set_pc(g);
	buf_printf(g->out, "\tREP_%s(%u, %u);\n", rep_name[s->cc], s->n, s->w);
}

static void
func_words(struct gen *g, int first, unsigned n)
{
	char tmp[16];

	buf_str(g->out, ", AE_WORDS(");
	for (unsigned i = 0; i < n; i++)
		buf_printf(g->out, "%s%s", i ? ", " : "", gen_var(g, first + (int)i, tmp));
	buf_str(g->out, ")");
}

static void
func_masked(struct gen *g, const struct op_step *s)
{
	unsigned how = MA_HOW(s->cc);

	set_pc(g);
	buf_printf(g->out, "\tMASKED_MEM(%u, %u, %u, ", s->cc, s->w, s->n);
	gen_addr(g, &s->m);
	func_words(g, s->a.var, sch_mask_vars(how, s->w, s->n));
	if (how < MA_INDEX4)
		buf_str(g->out, ", NULL");
	else
		func_words(g, s->b.var, sch_index_vars(how, s->n));
	buf_str(g->out, ");\n");
}

static void
func_steps(struct gen *g, const struct sch_block *b)
{
	uint32_t landing = b->term == ST_LANDING ? prog_lastcall(b) : b->nstep;
	unsigned left;

	make_room(g, b, 0, &left);
	for (uint32_t i = 0; i < b->nstep; i++) {
		const struct op_step *s = b->step + i;

		if (is_ref(s)) {
			if (left == 0)
				make_room(g, b, i, &left);
			left--;
		}
		if (s->op == SO_INST) {
			buf_printf(g->out, "\tISSUE_INST(%u);\n", s->n);
			g->ipc = g->pc;
			g->pc += s->n;
			g->nop = 0;
		} else if (is_ref(s)) {
			func_access(g, s);
		} else if (s->op == SO_REP) {
			func_rep(g, s);
			g->ipc = g->pc;
			g->pc += s->n;
			make_room(g, b, i + 1, &left);
		} else if (s->op == SO_MASKED) {
			func_masked(g, s);
			make_room(g, b, i + 1, &left);
		} else if (prog_iscall(s)) {
			func_call(g, s, i == landing ? b - g->f->block : -1);
			make_room(g, b, i + 1, &left);
		} else
			gen_compute(g, s);
	}
	if (left == 0 && b->nsucc)
		make_room(g, b, b->nstep, &left);
}

/* Loop events of an edge, a block number if one is due, and the jump, unless the block follows. */
static void
func_edge(struct gen *g, const struct sch_block *b, uint32_t i, uint32_t next, const char *indent)
{
	const struct sch_succ *s = b->succ + i;
	unsigned mark = g->f->block[s->block].mark;

	static const char *const name[] = {"LOOP_START", "LOOP_CONT", "LOOP_END"};

	for (uint32_t k = 0; k < s->nev; k++) {
		const struct sch_block *h = g->f->block + g->f->loop[s->ev[k].loop].header;

		buf_printf(g->out, "%s%s(", indent, name[s->ev[k].kind]);
		func_code(g, prog_pc(g->pf, h->frag, h->off));
		buf_str(g->out, ");\n");
	}
	if (mark && b->term != ST_TARGET)
		buf_printf(g->out, "%sBLOCK_NUMBER(%u, %u);\n", indent, s->block, mark);
	if (s->block != next)
		buf_printf(g->out, "%sgoto L%u;\n", indent, s->block);
}

static void
func_branch(struct gen *g, const struct sch_block *b, uint32_t next)
{
	if (b->term == ST_BRANCH) {
		g->use_temp = 1;
		buf_str(g->out, "\tGET_BRANCH(temp);\n\tif (temp");
	} else {
		buf_str(g->out, "\tif (");
		gen_cond(g, b->cc);
	}
	if (b->succ->nev || g->f->block[b->succ->block].mark) {
		buf_str(g->out, ") {\n");
		func_edge(g, b, 0, UINT32_MAX, "\t\t");
		buf_str(g->out, "\t}\n");
	} else {
		buf_str(g->out, ")\n");
		func_edge(g, b, 0, UINT32_MAX, "\t\t");
	}
	func_edge(g, b, 1, next, "\t");
}

/* Cases of a switch; of successors with the same address or number, the first counts. */
static void
func_cases(struct gen *g, const struct sch_block *b)
{
	struct hash_set seen = { 0 };

	for (uint32_t i = 0; i < b->nsucc; i++) {
		const struct sch_block *t = g->f->block + b->succ[i].block;
		uint64_t key = b->term == ST_TARGET ? b->succ[i].block : prog_pc(g->pf, t->frag, t->off);
		int new = hash_set_add(&seen, key + 1);

		if (new < 0)
			die("out of memory");
		if (!new)
			continue;
		buf_printf(g->out, b->term == ST_TARGET ? "\tcase %llu:\n" : "\tcase 0x%llx:\n",
		    (unsigned long long)key);
		func_edge(g, b, i, UINT32_MAX, "\t\t");
	}
	hash_set_free(&seen);
}

static void
switch_to(struct gen *g, const struct sch_block *b)
{
	gen_val(g, &b->target);
	if (gen_moves(g))
		buf_str(g->out, " - base");
	g->use_base |= gen_moves(g);
}

static void
switch_(struct gen *g, const struct sch_block *b)
{
	buf_str(g->out, "\tswitch (");
	switch_to(g, b);
	buf_str(g->out, ") {\n");
	func_cases(g, b);
	buf_str(g->out, "\tdefault:\n");
	for (uint32_t k = 0; b->cc && k < g->f->nfrag; k++) {   /* inside the function: see prog_inside */
		buf_str(g->out, "\t\tif (");
		switch_to(g, b);
		buf_printf(g->out, " - 0x%llx < %u)\n\t\t\tae_fault(p, e, AE_SWITCH);\n",
		    (unsigned long long)prog_pc(g->pf, k, !k), g->f->frag[k].size - !k);
	}
	g->use_sp0 |= b->cc;
	buf_printf(g->out, "\t\t%s;\n\t}\n", b->cc ? "TAIL(sp0)" : "ae_fault(p, e, AE_SWITCH)");
}

/* The conditional jump of the paper. */
static void
func_target(struct gen *g, const struct sch_block *b)
{
	int half = g->f->block[b->succ->block].mark == 2;

	g->use_temp = 1;
	buf_printf(g->out, "\tGET_%s(temp); /* Read from trace file */\n\tswitch (temp) {\n",
	    half ? "HALF" : "BYTE");
	func_cases(g, b);
	buf_printf(g->out, "\tdefault:\n\t\tcjump_err%s();\n\t}\n", half ? "_half" : "");
}

static void
block_end(struct gen *g, const struct sch_block *b, uint32_t next)
{
	switch (b->term) {
	case ST_JUMP:
		func_edge(g, b, 0, next, "\t");
		break;
	case ST_LANDING:
		func_edge(g, b, 0, UINT32_MAX, "\t");
		buf_printf(g->out, "P%u:\n", next - 1);
		if (b->succ[1].nev)
			buf_printf(g->out, "\tROOM(%u);\n", b->succ[1].nev);
		func_edge(g, b, 1, UINT32_MAX, "\t");
		break;
	case ST_BRANCH:
	case ST_COND:
		func_branch(g, b, next);
		break;
	case ST_SWITCH:
		switch_(g, b);
		break;
	case ST_TARGET:
		func_target(g, b);
		break;
	case ST_RETURN:
		buf_str(g->out, "\tRETURN();\n");
		break;
	case ST_TAIL:
		buf_str(g->out, "\treturn ");
		func_known(g, g->a->g.base[g->pf->unit] + b->callee, 0);
		buf_str(g->out, ";\n");
		g->calls = 1;
		break;
	case ST_TAILX:
		g->use_sp0 = 1;
		buf_str(g->out, "\tTAIL(sp0);\n");
		break;
	default:
		buf_str(g->out, "\tae_fault(p, e, AE_NEVER);\n");
	}
}

static void
func_block(struct gen *g, uint32_t no)
{
	const struct sch_block *b = g->f->block + no;
	const char *file;
	int line;

	g->pc = g->ipc = prog_pc(g->pf, b->frag, b->off);
	g->flags = NULL;
	file = exe_line(&g->a->x, g->pc, &line);
	if (file) {
		const char *slash = strrchr(file, '/');

		buf_printf(g->out, "\n\t/* Start of block %u, %s:%d */\n", no,
		    slash ? slash + 1 : file, line);
	} else
		buf_printf(g->out, "\n\t/* Start of block %u */\n", no);
	buf_printf(g->out, "L%u:\n", no);
	func_steps(g, b);
	block_end(g, b, no + 1);
	buf_printf(g->out, "\t/* End of block %u */\n", no);
}

static void
func_unwound(struct gen *g)
{
	char tmp[16];
	const char *sp = gen_var(g, g->u->sp, tmp);

	if (!(g->f->flags & SF_SETJMP))
		return;
	buf_str(g->out, "\n\t/* A longjmp: to this frame, or to one further up */\nunwound:\n");
	for (uint32_t i = 0; i < g->f->nblock; i++) {
		for (uint32_t j = 0; j < g->f->block[i].nstep; j++) {
			const struct op_step *s = g->f->block[i].step + j;

			if (s->op == SO_CALLJ)
				buf_printf(g->out,
				    "\tif (ae_.land == %u && ae_.landrsp == sj%u)\n\t\tLAND(%u, %s);\n", s->n,
				    s->n, s->n, sp);
		}
	}
	buf_str(g->out, "\treturn (struct ae_pos){NULL, e};\n");
}

/* Parameters are rsp and the registers that the function needs, in the order of the events. */
static void
func_head(struct gen *g, struct buf *out, const char *name)
{
	struct buf *body = g->out;
	uint8_t *param = xcalloc(g->f->nvar + 1u, 1);
	char tmp[16];

	g->out = out;
	buf_printf(out, "static struct ae_pos\n%s(struct ae_pos q, uint64_t %s", name,
	    gen_var(g, g->u->sp, tmp));
	param[g->u->sp] = 1;
	for (uint32_t i = 0; i < g->f->nneed; i++) {
		buf_printf(out, ", uint64_t %s", gen_var(g, g->f->need[i], tmp));
		param[g->f->need[i]] = 1;
	}
	buf_str(out, ")\n{\n\tuint64_t *p = q.p, PC");
	if (g->use_ev)
		buf_str(out, ", ev");
	buf_str(out, ";\n\tconst uint8_t *e = q.e;\n");
	for (uint32_t v = 0; v < g->f->nvar; v++)
		if (g->used[v] && !param[v])
			buf_printf(out, "\tuint64_t %s = 0;\n", gen_var(g, (int)v, tmp));
	if (g->use_flags)
		buf_str(out, "\tuint64_t fa = 0, fb = 0;\n");
	if (g->use_base) {
		buf_str(out, "\tconst uint64_t base = ");
		gen_base(g, out);
		buf_str(out, ";\n");
	}
	if (g->use_pc) {
		buf_str(out, "\tconst uint64_t in_pc = ");
		if (gen_moves(g)) {
			gen_base(g, out);
			buf_str(out, " + ");
		}
		buf_printf(out, "0x%llx;\n", (unsigned long long)g->pf->entry);
	}
	if (g->use_sp0)
		buf_printf(out, "\tconst uint64_t sp0 = %s;\n", gen_var(g, g->u->sp, tmp));
	if (g->use_temp)
		buf_str(out, "\tunsigned temp;\n");
	for (uint32_t i = 0; i < g->f->nblock; i++)
		for (uint32_t j = 0; j < g->f->block[i].nstep; j++)
			if (g->f->block[i].step[j].op == SO_CALLJ)
				buf_printf(out, "\tuint64_t sj%u = 0;\n", g->f->block[i].step[j].n);
	buf_str(out, g->calls ? "\n\tAE_FRAME();" : "");
	if (g->f->block[0].mark)
		buf_printf(out, "\n\tBLOCK_NUMBER(0, %u);", g->f->block[0].mark);
	free(param);
	g->out = body;
}

/* The entry point for a run sequence: it reads the registers that the function needs from the events. */
static void
func_entry(struct gen *g, uint32_t i, struct buf *out, const char *name)
{
	buf_printf(out, "\nstruct ae_pos\nae_enter_%u(struct ae_pos q, uint64_t sp)\n{\n", i);
	if (g->f->nneed) {
		buf_str(out, "\tuint64_t *p = q.p");
		for (uint32_t k = 0; k < g->f->nneed; k++)
			buf_printf(out, ", a%u", k);
		buf_str(out, ";\n\tconst uint8_t *e = q.e;\n\n");
		for (uint32_t k = 0; k < g->f->nneed; k++)
			if (g->f->flags & SF_SHORT)
				buf_printf(out, "\tGET_SHORT(a%u);\n", k);
			else
				buf_printf(out, "\tGET(a%u, %u);\n", k, g->u->word);
	}
	buf_printf(out, "\treturn %s(%s, sp", name, g->f->nneed ? "HERE" : "q");
	for (uint32_t k = 0; k < g->f->nneed; k++)
		buf_printf(out, ", a%u", k);
	buf_str(out, ");\n}\n");
}

/* The entry point for known calls from other files, with what the function needs. */
static void
func_call_entry(struct gen *g, uint32_t i, struct buf *out, const char *name)
{
	buf_printf(out, "\nstruct ae_pos\nae_call_%u(struct ae_pos q, uint64_t sp", i);
	for (uint32_t k = 0; k < g->f->nneed; k++)
		buf_printf(out, ", uint64_t a%u", k);
	buf_printf(out, ")\n{\n\treturn %s(q, sp", name);
	for (uint32_t k = 0; k < g->f->nneed; k++)
		buf_printf(out, ", a%u", k);
	buf_str(out, ");\n}\n");
}

void
gen_func(struct aec *a, uint32_t i, struct buf *out)
{
	const struct prog_func *pf = a->g.func + i;
	struct buf body = BUF_INIT;
	struct gen g = {.a = a, .pf = pf, .u = pf->u, .f = pf->f, .out = &body};

	g.used = xcalloc(pf->f->nvar + 1u, 1);
	g.save_flags = needs_saved_flags(&g);
	for (uint32_t k = 0; k < pf->f->nblock; k++)
		g.numbered |= pf->f->block[k].mark;
	for (uint32_t k = 0; k < pf->f->nblock; k++)
		func_block(&g, k);
	func_unwound(&g);
	buf_str(out, "\n/* ");
	gen_name(out, pf->f->name);
	buf_printf(out, ", at 0x%llx */\n", (unsigned long long)pf->entry);
	func_head(&g, out, a->name[i]);
	buf_add(out, body.p, body.n);
	out->nomem |= body.nomem;
	buf_str(out, "}\n");
	if (a->numbered[i])
		func_entry(&g, i, out, a->name[i]);
	if (a->called[i])
		func_call_entry(&g, i, out, a->name[i]);
	buf_free(&body);
	free(g.used);
}
