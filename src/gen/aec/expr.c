/* Generates C text of values, addresses and conditions. */
#include <stdio.h>
#include <string.h>

#include "ae/machine/machine.h"
#include "gen/aec/aec.h"

const char *
reg_name(unsigned machine, unsigned big, int r)
{
	const struct machine *m = machine_byschema(machine, big);

	return m ? m->regname(r) : NULL;
}

/* Registers have names, other variables have numbers. */
const char *
gen_var(struct gen *g, int v, char tmp[16])
{
	const char *name = v < (int)g->u->nregs ? reg_name(g->u->machine, g->u->big, v) : NULL;

	g->used[v] = 1;
	if (name)
		return name;
	snprintf(tmp, 16, "v%d", v);
	return tmp;
}

static void
expr_var(struct gen *g, int v)
{
	char tmp[16];

	buf_str(g->out, gen_var(g, v, tmp));
}

static void
expr_number(struct gen *g, uint64_t v)
{
	if (v < 1000)
		buf_printf(g->out, "%u", (unsigned)v);
	else if (0 - v < 1000)
		buf_printf(g->out, "(uint64_t)-%u", (unsigned)(0 - v));
	else
		buf_printf(g->out, "UINT64_C(0x%llx)", (unsigned long long)v);
}

int
gen_moves(const struct gen *g)
{
	return g->pf->lib || g->a->g.moves;
}

void
gen_base(const struct gen *g, struct buf *out)
{
	if (g->pf->lib)
		buf_printf(out, "ae_libbase[%u]", (unsigned)g->pf->lib - 1);
	else
		buf_str(out, "ae_.base");
}

/* Is constant number sym an address, which is by `base` more than in the executable? */
static int
expr_moves(struct gen *g, int32_t sym)
{
	int moves = gen_moves(g) && prog_isaddr(g->u, sym);

	g->use_base |= moves;
	return moves;
}

/* Is the operand a number that is known now? */
static int
expr_known(struct gen *g, const struct op_value *v)
{
	return v->kind != SV_VAR && !(v->kind == SV_SYM && expr_moves(g, v->var));
}

void
gen_val(struct gen *g, const struct op_value *v)
{
	int known = expr_known(g, v);

	if (v->kind == SV_VAR) {
		expr_var(g, v->var);
		return;
	}
	buf_str(g->out, known ? "" : "(base + ");
	expr_number(g, prog_value(g->u, v));
	buf_str(g->out, known ? "" : ")");
}

void
gen_addr(struct gen *g, const struct sch_addr *m)
{
	int moves = expr_moves(g, m->sym);
	const char *sep = "";
	uint64_t imm;

	if (prog_const(g->u, m, &imm) && !moves) {
		expr_number(g, imm);
		return;
	}
	if (m->narrow || m->align)
		buf_str(g->out, m->align ? "ALIGN4(" : "ZX4(");
	if (moves) {
		imm = (uint64_t)m->disp + g->u->cst[m->sym];
		buf_str(g->out, "base");
		sep = " + ";
	}
	if (m->base != SCH_NOVAR) {
		buf_str(g->out, sep);
		expr_var(g, m->base);
		sep = " + ";
	}
	if (m->index != SCH_NOVAR) {
		buf_str(g->out, sep);
		expr_var(g, m->index);
		if (m->scale > 1)
			buf_printf(g->out, " * %u", m->scale);
		sep = " + ";
	}
	if (m->fs && !m->narrow) {
		buf_printf(g->out, "%sae_.fs", sep);
		sep = " + ";
	}
	if (imm && *sep && 0 - imm < 1u << 20)
		buf_printf(g->out, " - %llu", (unsigned long long)(0 - imm));
	else if (imm || !*sep || (g->numbered && m->index == SCH_NOVAR)) {
		buf_str(g->out, sep);
		expr_number(g, imm);
		sep = " + ";
	}
	if (m->narrow || m->align)
		buf_str(g->out, ")");
	if (m->fs && m->narrow)
		buf_str(g->out, " + ae_.fs");
}

static void
expr_extended(struct gen *g, char how, unsigned w, const struct op_value *v)
{
	if (expr_known(g, v)) {
		uint64_t c = prog_value(g->u, v);
		unsigned sh = 64 - 8 * w;

		expr_number(g, how == 'S' ? (uint64_t)((int64_t)(c << sh) >> sh) : c << sh >> sh);
		return;
	}
	if (w == 8) {
		gen_val(g, v);
		return;
	}
	buf_printf(g->out, "%cX%u(", how, w);
	gen_val(g, v);
	buf_str(g->out, ")");
}

/* The condition in terms of the flags step's operands, which have not changed since. */
static void
expr_direct(struct gen *g, const struct op_step *s, const char *op, char how)
{
	static const struct op_value zero = {.kind = SV_IMM};
	const struct op_value *b = s->op == SO_FLAGS_SUB ? &s->b : &zero;

	buf_str(g->out, how == 'S' ? "SIGNED(" : "");
	if (s->op == SO_FLAGS_AND) {
		buf_printf(g->out, "%cX%u(", how, s->w);
		gen_val(g, &s->a);
		buf_str(g->out, " & ");
		gen_val(g, &s->b);
		buf_str(g->out, ")");
	} else
		expr_extended(g, how, s->w, &s->a);
	buf_printf(g->out, how == 'S' ? ") %s SIGNED(" : " %s ", op);
	expr_extended(g, how, s->w, b);
	buf_str(g->out, how == 'S' ? ")" : "");
}

void
gen_cond(struct gen *g, unsigned cc)
{
	static const struct { const char *op; char how; } t[] = {
		[SC_EQ] = {"==", 'Z'}, [SC_NE] = {"!=", 'Z'}, [SC_LT] = {"<", 'S'}, [SC_LE] = {"<=", 'S'},
		[SC_GT] = {">", 'S'}, [SC_GE] = {">=", 'S'}, [SC_LTU] = {"<", 'Z'}, [SC_LEU] = {"<=", 'Z'},
		[SC_GTU] = {">", 'Z'}, [SC_GEU] = {">=", 'Z'}, [SC_NEG] = {"<", 0}, [SC_NNEG] = {">=", 0},
	};
	const struct op_step *s = g->flags;

	if (!s) {
		g->use_flags = 1;
		if (!t[cc].how)
			buf_printf(g->out, "SIGNED(fa - fb) %s 0", t[cc].op);
		else
			buf_printf(g->out, t[cc].how == 'S' ? "SIGNED(fa) %s SIGNED(fb)" : "fa %s fb",
			    t[cc].op);
	} else if (t[cc].how)
		expr_direct(g, s, t[cc].op, t[cc].how);
	else if (s->op == SO_FLAGS_SUB) {
		buf_printf(g->out, "SIGNED(SX%u(", s->w);
		gen_val(g, &s->a);
		buf_str(g->out, " - ");
		gen_val(g, &s->b);
		buf_printf(g->out, ")) %s 0", t[cc].op);
	} else
		expr_direct(g, s, t[cc].op, 'S');
}

static int
expr_reads(const struct op_step *s, int v)
{
	return (s->a.kind == SV_VAR && s->a.var == v) || (s->b.kind == SV_VAR && s->b.var == v);
}

void
gen_var_changed(struct gen *g, int v)
{
	if (g->flags && expr_reads(g->flags, v))
		g->flags = NULL;
}

/* Assigns the text between expr_begin and expr_end to dst, as a result of w bytes. */
static void
expr_begin(struct gen *g, int dst, unsigned w)
{
	char tmp[16];
	const char *name = gen_var(g, dst, tmp);

	buf_printf(g->out, "\t%s = ", name);
	if (w == 4)
		buf_str(g->out, "ZX4(");
	else if (w < 4)
		buf_printf(g->out, "LOW%u(%s, ", w, name);
}

static void
expr_end(struct gen *g, int dst, unsigned w)
{
	buf_str(g->out, w < 8 ? ");\n" : ";\n");
	gen_var_changed(g, dst);
}

static void
expr_binary(struct gen *g, const struct op_step *s, const char *op)
{
	uint64_t minus = expr_known(g, &s->b) ? 0 - prog_value(g->u, &s->b) : 0;

	gen_val(g, &s->a);
	if (s->op == SO_ADD && minus && minus < 1u << 20) {
		buf_printf(g->out, " - %u", (unsigned)minus);
		return;
	}
	buf_printf(g->out, " %s ", op);
	gen_val(g, &s->b);
}

/* Shifts and rotations use the low bits of the count. */
static void
expr_shift(struct gen *g, const struct op_step *s)
{
	unsigned mask = s->w == 8 ? 63 : 31, bits = 8u * s->w;
	char count[64], tmp[16];

	if (s->b.kind == SV_VAR)
		snprintf(count, sizeof count, "(%s & %u)", gen_var(g, s->b.var, tmp), mask);
	else
		snprintf(count, sizeof count, "%u", (unsigned)(prog_value(g->u, &s->b) & mask));
	if (s->a.kind != SV_VAR && s->op != SO_SAR && s->op != SO_ROL && s->op != SO_ROR)
		buf_str(g->out, "(uint64_t)");
	switch (s->op) {
	case SO_SHL:
		gen_val(g, &s->a);
		buf_printf(g->out, " << %s", count);
		return;
	case SO_SHR:
		expr_extended(g, 'Z', s->w, &s->a);
		buf_printf(g->out, " >> %s", count);
		return;
	case SO_SAR:
		buf_str(g->out, "SAR(");
		expr_extended(g, 'S', s->w, &s->a);
		buf_printf(g->out, ", %s)", count);
		return;
	default:
		buf_str(g->out, s->a.kind == SV_VAR ? "ROL(" : "ROL((uint64_t)");
		expr_extended(g, 'Z', s->w, &s->a);
		if (s->op == SO_ROL)
			buf_printf(g->out, ", %s, %u)", count, bits);
		else
			buf_printf(g->out, ", %u - %s %% %u, %u)", bits, count, bits, bits);
	}
}

static void
expr_operation(struct gen *g, const struct op_step *s)
{
	static const char *const op[SO_NOPS] = {
		[SO_ADD] = "+", [SO_SUB] = "-", [SO_AND] = "&", [SO_OR] = "|", [SO_XOR] = "^", [SO_MUL] = "*",
	};

	switch (s->op) {
	case SO_MOV:
		gen_val(g, &s->a);
		return;
	case SO_LEA:
		gen_addr(g, &s->m);
		return;
	case SO_NOT:
	case SO_NEG:
		buf_str(g->out, s->op == SO_NOT ? "~" : "0 - ");
		buf_str(g->out, s->a.kind == SV_VAR ? "" : "(uint64_t)");
		gen_val(g, &s->a);
		return;
	case SO_BSWAP:
		buf_printf(g->out, s->w == 8 ? "__builtin_bswap%u(" : "__builtin_bswap%u((uint%u_t)",
		    8u * s->w, 8u * s->w);
		gen_val(g, &s->a);
		buf_str(g->out, ")");
		return;
	case SO_ZEXT:
	case SO_SEXT:
		expr_extended(g, s->op == SO_ZEXT ? 'Z' : 'S', s->n, &s->a);
		return;
	case SO_LOADRO:
		g->a->rodata = 1;
		if (s->cc)
			buf_printf(g->out, "SX%u(", s->n);
		if (g->pf->lib)
			buf_printf(g->out, "ae_librodata(HERE, %u, ", (unsigned)g->pf->lib - 1);
		else
			buf_str(g->out, "rodata(HERE, ");
		gen_addr(g, &s->m);
		buf_printf(g->out, s->cc ? ", %u))" : ", %u)", s->n);
		return;
	case SO_SETCC:
		buf_str(g->out, "(");
		gen_cond(g, s->cc);
		buf_str(g->out, ")");
		return;
	case SO_CMOV: {
		char tmp[16];

		gen_cond(g, s->cc);
		buf_str(g->out, " ? ");
		gen_val(g, &s->a);
		buf_printf(g->out, " : %s", gen_var(g, s->dst, tmp));
		return;
	}
	default:
		if (op[s->op])
			expr_binary(g, s, op[s->op]);
		else
			expr_shift(g, s);
	}
}

/* Reads bytes of events into a variable, with the extension that the step wants. */
static void
expr_unknown(struct gen *g, const struct op_step *s)
{
	char tmp[16];
	const char *name = gen_var(g, s->dst, tmp);

	if (s->cc == 4) {
		buf_printf(g->out, "\tGET_SHORT(%s);\n", name);
	} else if (s->w == 8 || s->cc == 0 || (s->w == 4 && s->cc != 1)) {
		buf_printf(g->out, "\tGET(%s, %u);\n", name, s->w);
	} else {
		g->use_ev = 1;
		buf_printf(g->out, "\tGET(ev, %u);\n\t%s = ", s->w, name);
		if (s->cc == 1)
			buf_printf(g->out, "SX%u(ev);\n", s->w);
		else if (s->cc == 2)
			buf_printf(g->out, "LOW%u(%s, ev);\n", s->w, name);
		else
			buf_printf(g->out, "ZX4(SX%u(ev));\n", s->w);
	}
	gen_var_changed(g, s->dst);
}

/* Keeps flags as two words, the operands shifted to the top, whose difference has these flags. */
static void
expr_flags(struct gen *g, const struct op_step *s)
{
	unsigned sh = 64 - 8u * s->w;

	g->flags = s;
	if (!g->save_flags)
		return;
	g->use_flags = 1;
	buf_str(g->out, "\tfa = (uint64_t)(");
	if (s->op == SO_FLAGS_AND)
		expr_binary(g, s, "&");
	else
		gen_val(g, &s->a);
	buf_printf(g->out, ") << %u;\n\tfb = ", sh);
	if (s->op == SO_FLAGS_SUB) {
		buf_str(g->out, s->b.kind == SV_VAR ? "" : "(uint64_t)");
		gen_val(g, &s->b);
		buf_printf(g->out, " << %u", sh);
	} else
		buf_str(g->out, "0");
	buf_str(g->out, ";\n");
}

void
gen_compute(struct gen *g, const struct op_step *s)
{
	unsigned w = s->op == SO_SETCC && s->w == 4 ? 8 : s->w;
	char tmp[16];

	switch (s->op) {
	case SO_UNKNOWN:
		expr_unknown(g, s);
		return;
	case SO_FLAGS_SUB:
	case SO_FLAGS_RES:
	case SO_FLAGS_AND:
		expr_flags(g, s);
		return;
	case SO_MOV:
		if (w == 4 && expr_known(g, &s->a)) {
			buf_printf(g->out, "\t%s = ", gen_var(g, s->dst, tmp));
			expr_number(g, (uint32_t)prog_value(g->u, &s->a));
			expr_end(g, s->dst, 8);
			return;
		}
		/* fallthrough */
	default:
		expr_begin(g, s->dst, w);
		expr_operation(g, s);
		expr_end(g, s->dst, w);
	}
}
