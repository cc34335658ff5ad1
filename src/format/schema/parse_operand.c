/* Parser of the readable schema: variables, constants, operands, addresses. */
#include <stdlib.h>
#include <string.h>

#include "format/schema/parse_internal.h"
#include "format/schema/word_internal.h"

#define NAMED 256       /* registers that may have names */

int
parse_isname(const char *s, const char *word, size_t n)
{
	return s && strlen(s) == n && memcmp(s, word, n) == 0;
}

/* The number N of a variable vN; -1. */
static int
parse_numbered(const char *s, size_t n)
{
	int v = 0;

	if (n < 2 || n > 6 || *s != 'v' || (s[1] == '0' && n > 2))
		return -1;
	for (size_t i = 1; i < n; i++) {
		if (s[i] < '0' || s[i] > '9')
			return -1;
		v = v * 10 + (s[i] - '0');
	}
	return v;
}

int
parse_var(struct parser *p, uint32_t nvar)
{
	const char *s;
	size_t n = lex_word(&p->l, &s);
	int v = -1;

	if (p->l.bad)
		return 0;
	if (p->nm && p->nm->reg)
		for (int i = 0; i < (int)p->u.nregs && i < NAMED && v < 0; i++)
			if (parse_isname(p->nm->reg(p->nm->arg, &p->u, i), s, n))
				v = i;
	if (v < 0)
		v = parse_numbered(s, n);
	if (v < 0)
		lex_fail(&p->l, n ? "no register or variable: '%.*s'" : "variable expected", n < 40 ? (int)n :
		    40, s);
	else if ((uint32_t)v >= nvar)
		lex_fail(&p->l, "variable %d, but there are %u", v, nvar);
	return p->l.bad ? 0 : v;
}

static int
parse_issym(int c)
{
	return sch_plainchar(c, 0) && c != '+' && c != '-' && c != '/';
}

/* After the #: S and a number or a name, or F and a number. */
int32_t
parse_const(struct parser *p, uint32_t limit)
{
	struct lex *l = &p->l;
	uint64_t k;

	if (lex_accept_char(l, 'F')) {
		k = lex_num(l, INT32_MAX);
		k += p->u.ncst;
	} else if (!lex_accept_char(l, 'S')) {
		lex_fail(l, "constant expected: S or F");
		return 0;
	} else if (lex_at_number(l)) {
		k = lex_num(l, INT32_MAX);
		if (!l->bad && k >= p->u.ncst)
			k = limit;
	} else {
		const char *s = l->p;
		char *name;
		int32_t i;

		while (l->p < l->end && parse_issym((unsigned char)*l->p))
			l->p++;
		name = strndup(s, (size_t)(l->p - s));
		if (!name) {
			lex_fail(l, "out of memory");
			return 0;
		}
		i = lex_intern(l, &p->syms, name);
		if (i < 0)
			return 0;
		if (p->syms.name[i].value < 0)
			lex_fail(l, "unknown symbol '%.60s'", p->syms.name[i].s);
		k = (uint64_t)p->syms.name[i].value;
	}
	if (!l->bad && k >= limit)
		lex_fail(l, "constant out of range");
	return l->bad ? 0 : (int32_t)k;
}

static uint32_t
parse_nconst(const struct parser *p)
{
	return p->u.ncst + p->u.nfield;
}

/* A signed number at this place, or 0. */
static int64_t
parse_addend(struct lex *l)
{
	if (lex_accept_char(l, '+'))
		return (int64_t)lex_num(l, INT64_MAX);
	return !l->bad && l->p < l->end && *l->p == '-' ? lex_snum(l) : 0;
}

static int
parse_isconst(const struct lex *l)
{
	return !l->bad && l->p < l->end && (*l->p == 'S' || *l->p == 'F');
}

void
parse_val(struct parser *p, struct op_value *v)
{
	struct lex *l = &p->l;

	lex_expect(l, "#");
	if (lex_accept_char(l, 'I')) {
		v->kind = SV_IMM;
		v->imm = lex_snum(l);
	} else if (parse_isconst(l)) {
		v->kind = SV_SYM;
		v->var = parse_const(p, parse_nconst(p));
		v->imm = parse_addend(l);
	} else {
		v->kind = SV_VAR;
		v->var = parse_var(p, p->f.nvar);
	}
}

/* base, index and constant, in this order; *part: the last one seen. */
static void
addr_part(struct parser *p, struct sch_addr *m, int *part)
{
	struct lex *l = &p->l;
	int now = 1, v;

	lex_expect(l, "#");
	if (parse_isconst(l)) {
		m->sym = parse_const(p, parse_nconst(p));
		now = 3;
	} else {
		v = parse_var(p, p->f.nvar);
		if (lex_accept_char(l, '*')) {
			m->scale = (uint8_t)lex_num(l, 8);
			if (!l->bad && (m->scale == 0 || m->scale & (m->scale - 1)))
				lex_fail(l, "scale other than 1, 2, 4 or 8");
			m->index = (int16_t)v;
			now = 2;
		} else
			m->base = (int16_t)v;
	}
	if (now <= *part)
		lex_fail(l, "an address is base, index, constant, at most one of each");
	*part = now;
}

void
parse_addr(struct parser *p, struct sch_addr *m)
{
	struct lex *l = &p->l;
	int part = 0;

	m->disp = lex_snum(l);
	lex_expect(l, "(");
	if (!lex_accept_char(l, ')')) {
		do
			addr_part(p, m, &part);
		while (lex_accept_char(l, '+'));
		lex_expect(l, ")");
	}
	for (;;) {
		if (lex_accept(l, "%narrow"))
			m->narrow = 1;
		else if (lex_accept(l, "%align"))
			m->align = 1;
		else if (lex_accept(l, "%fs"))
			m->fs = 1;
		else
			break;
	}
	if (m->align && (m->fs || m->narrow || m->index != SCH_NOVAR))
		lex_fail(l, "%%align with an index, %%fs or %%narrow");
}

int
parse_cc(struct parser *p)
{
	struct lex *l = &p->l;
	const char *s;
	size_t n;

	if (!lex_accept(l, "%if"))
		return -1;
	lex_expect(l, "(");
	n = lex_word(l, &s);
	lex_expect(l, ")");
	for (int i = 0; i < SCH_NCC && !l->bad; i++)
		if (parse_isname(sch_ccword[i], s, n))
			return i;
	lex_fail(l, "unknown condition");
	return 0;
}
