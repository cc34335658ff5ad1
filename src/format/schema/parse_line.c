/* Parser of the readable schema: the lines of a block. */
#include <stdlib.h>
#include <string.h>

#include "format/schema/operation_internal.h"
#include "format/schema/parse_internal.h"
#include "format/schema/word_internal.h"

int32_t
parse_callee(struct parser *p)
{
	size_t n;

	if (lex_accept(&p->l, "@")) {
		uint32_t k = (uint32_t)lex_num(&p->l, INT32_MAX - 2);

		if (k >= p->maxno) {
			p->maxno = k + 1;
			p->maxline = p->l.t->line;
		}
		return -2 - (int32_t)k;
	}
	return lex_intern(&p->l, &p->funcs, lex_name(&p->l, &n));
}

static struct op_step *
parse_add(struct parser *p, unsigned op)
{
	struct op_step *s = parse_grow(p, p->step, &p->capstep, p->nstep, sizeof *s);

	if (!s)
		return NULL;
	p->step = s;
	s += p->nstep++;
	memset(s, 0, sizeof *s);
	s->op = (uint8_t)op;
	s->dst = SCH_NOVAR;
	s->sym = SCH_NOSYM;
	s->m.base = s->m.index = SCH_NOVAR;
	s->m.scale = 1;
	s->m.sym = SCH_NOSYM;
	return s;
}

static void
parse_bytes(struct lex *l, unsigned n)
{
	if (!l->bad && (n < 1 || n > 255))
		lex_fail(l, "length out of range: %u", n);
}

void
parse_fetch(struct parser *p, unsigned n)
{
	struct op_step *s;

	parse_bytes(&p->l, n);
	if (!p->l.bad && (s = parse_add(p, SO_INST)))
		s->n = n;
}

/* `uneventful_inst`: instructions of one length, or a list of lengths. */
static void
parse_uneventful(struct parser *p)
{
	unsigned n = SCH_INSTLEN, k = 1, next;
	struct lex *l = &p->l;

	if (lex_suffix(l, ':', &n)) {
		while (lex_suffix(l, ':', &next)) {
			parse_fetch(p, n);
			n = next;
			k = 0;
		}
	}
	if (k && lex_at_number(l))
		k = (unsigned)lex_num(l, SCH_RUN);
	else
		k = 1;
	if (k == 0)
		lex_fail(l, "no instructions");
	while (k-- && !l->bad)
		parse_fetch(p, n);
}

/* One of the operators of operation `op`'s word; -1: none follows. */
static int
parse_oper(struct parser *p, unsigned op)
{
	for (unsigned i = 0; i < SO_NOPS; i++)
		if (*sch_word[i].oper && strcmp(sch_word[i].word, sch_word[op].word) == 0 &&
		    lex_accept(&p->l, sch_word[i].oper))
			return (int)i;
	return -1;
}

static int
parse_width(unsigned n)
{
	return n == 1 || n == 2 || n == 4 || n == 8;
}

static void
parse_extended(struct parser *p, struct op_step *s)
{
	unsigned n = 0;

	if (!lex_suffix(&p->l, '.', &n) || !parse_width(n))
		lex_fail(&p->l, "extended from 1, 2, 4 or 8 bytes: 'zext.1'");
	s->n = n;
}

static void
compute_1(struct parser *p, struct op_step *s)
{
	int o = parse_oper(p, SO_MOV), cc;

	if (o >= 0)
		s->op = (uint8_t)o;
	if (s->op == SO_ZEXT || s->op == SO_SEXT)
		parse_extended(p, s);
	if (s->op == SO_BSWAP && s->w < 2)
		lex_fail(&p->l, "width of a byte swap");
	parse_val(p, &s->a);
	if (s->op == SO_MOV && (cc = parse_cc(p)) >= 0) {
		s->op = SO_CMOV;
		s->cc = (uint8_t)cc;
	}
}

/* compute_defn_2, compute_flags_2 */
static void
compute_2(struct parser *p, struct op_step *s)
{
	int o;

	parse_val(p, &s->a);
	o = parse_oper(p, s->op);
	if (o < 0)
		lex_fail(&p->l, "operator expected");
	else
		s->op = (uint8_t)o;
	parse_val(p, &s->b);
}

static void
parse_condition(struct parser *p, struct op_step *s)
{
	int cc = parse_cc(p);

	if (cc < 0)
		lex_fail(&p->l, "'%%if(condition)' expected");
	else if (s->w == 2)
		lex_fail(&p->l, "width of a condition");
	s->cc = (uint8_t)cc;
}

static void
parse_load(struct parser *p, struct op_step *s)
{
	s->n = s->w;
	if (lex_accept(&p->l, "zext")) {
		parse_extended(p, s);
	} else if (lex_accept(&p->l, "sext")) {
		parse_extended(p, s);
		s->cc = 1;
	}
	parse_addr(p, &s->m);
}

static void
parse_unknown(struct parser *p, struct op_step *s)
{
	for (unsigned i = 1; i < 5; i++)
		if (lex_accept(&p->l, sch_extword[i]))
			s->cc = (uint8_t)i;
	if (s->cc == 3 && s->w > 4)
		lex_fail(&p->l, "width of a sign-extended value");
	if (s->cc == 4 && (s->w != 8 || p->u.word != 8 || p->u.big))
		lex_fail(&p->l, "width of a short value");
}

static void
parse_rep(struct parser *p, struct op_step *s)
{
	const char *w;
	size_t n = lex_word(&p->l, &w);

	for (unsigned i = 0; i < 5; i++) {
		if (parse_isname(sch_repword[i], w, n)) {
			s->cc = (uint8_t)i;
			return;
		}
	}
	lex_fail(&p->l, "unknown string instruction");
}

/* load runs 16 #V 0 address */
static void
parse_masked(struct parser *p, struct op_step *s)
{
	struct lex *l = &p->l;
	unsigned store = lex_accept(l, "store") != 0, how = 0, scale = 0;
	const char *w;
	size_t n;

	if (!store)
		lex_expect(l, "load");
	n = lex_word(l, &w);
	while (how < MA_HOWS && !parse_isname(sch_maskedword[how], w, n))
		how++;
	if (how == MA_HOWS) {
		lex_fail(l, "unknown masked access");
		return;
	}
	if (lex_suffix(l, '*', &scale) && scale != 2 && scale != 4 && scale != 8)
		lex_fail(l, "scale other than 2, 4 or 8");
	s->cc = (uint8_t)MA_COND(store, how, scale);
	s->n = (uint32_t)lex_num(l, sch_opinfo[SO_MASKED].maxn);
	parse_val(p, &s->a);
	parse_val(p, &s->b);
	parse_addr(p, &s->m);
	if (!l->bad && (!s->n || !sch_masked_valid(s, p->f.nvar)))
		lex_fail(l, "not a masked access");
}

static void
parse_call(struct parser *p, struct op_step *s)
{
	struct lex *l = &p->l;

	if (!lex_accept(l, "*")) {
		s->sym = parse_callee(p);
		return;
	}
	s->op = SO_CALLX;
	if (lex_accept(l, "%setjmp")) {
		s->op = SO_CALLJ;
		lex_expect(l, "(");
		s->n = (uint32_t)lex_num(l, sch_opinfo[SO_CALLJ].maxn);
		lex_expect(l, ")");
	} else if (lex_accept(l, "%linked")) {
		s->op = SO_LINKED;
		lex_expect(l, "(");
		s->n = (uint32_t)lex_num(l, sch_opinfo[SO_LINKED].maxn);
		if (!l->bad && !sch_isset(&p->u, s->n))
			lex_fail(l, "not a set of registers");
		lex_expect(l, ")");
		parse_val(p, &s->a);
		if (s->a.kind != SV_SYM || s->a.imm)
			lex_fail(l, "constant expected: S or F");
	}
}

static void
parse_operands(struct parser *p, struct op_step *s)
{
	if (strchr(sch_opinfo[s->op].fields, 'd'))
		s->dst = (int16_t)parse_var(p, p->f.nvar);
	switch (s->op) {
	case SO_MOV:
		compute_1(p, s);
		break;
	case SO_ADD:
	case SO_FLAGS_SUB:
		compute_2(p, s);
		break;
	case SO_SETCC:
		parse_condition(p, s);
		break;
	case SO_LOADRO:
		parse_load(p, s);
		break;
	case SO_UNKNOWN:
		parse_unknown(p, s);
		break;
	case SO_FLAGS_RES:
		parse_val(p, &s->a);
		break;
	case SO_REP:
		parse_rep(p, s);
		break;
	case SO_CALL:
		parse_call(p, s);
		break;
	case SO_MASKED:
		parse_masked(p, s);
		break;
	default:        /* LOAD, STORE, MODIFY, GOTLOAD, LEA */
		parse_addr(p, &s->m);
		if (s->op == SO_LEA && s->w < 4)
			lex_fail(&p->l, "width of an address computation");
	}
}

/* The numbers directly after the word: width of the data, length of the instruction. */
static void
parse_suffixes(struct parser *p, unsigned op, int own, unsigned *w, unsigned *len)
{
	int wide = strchr(sch_opinfo[op].fields, 'w') != NULL;
	struct lex *l = &p->l;

	*w = p->u.word;
	*len = SCH_INSTLEN;
	if ((wide || op <= SO_GOTLOAD) && lex_suffix(l, '.', w)) {
		if (!wide)
			parse_bytes(l, *w);
		else if (!parse_width(*w))
			lex_fail(l, "width other than 1, 2, 4 or 8");
	}
	if (op != SO_UNKNOWN && own && lex_suffix(l, ':', len))
		parse_bytes(l, *len);
	if (!l->bad && l->p < l->end && (*l->p == '.' || *l->p == ':'))
		lex_fail(l, "'%c' cannot follow here", *l->p);
}

int
parse_step(struct parser *p, const char *word, size_t n, int own)
{
	unsigned op = 0, w, len;
	struct op_step *s;

	while (op < SO_NOPS && !parse_isname(sch_word[op].word, word, n))
		op++;
	if (op == SO_NOPS)
		return 0;
	if (!own && !sch_fetches(op))
		lex_fail(&p->l, "'&' before %s", sch_word[op].word);
	if (op == SO_INST) {
		parse_uneventful(p);
		return 1;
	}
	parse_suffixes(p, op, own, &w, &len);
	if (own && sch_fetches(op))
		parse_fetch(p, len);
	if (p->l.bad || !(s = parse_add(p, op)))
		return 1;
	if (strchr(sch_opinfo[op].fields, 'w'))
		s->w = (uint8_t)w;
	else if (op <= SO_GOTLOAD)
		s->n = w;
	if (op == SO_REP)
		s->n = len;
	parse_operands(p, s);
	return 1;
}
