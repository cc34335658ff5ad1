/*
 * Parser of the readable schema: units. A unit is built, encoded and decoded, so that the result
 * has passed the decoder's checks. Checks that need only one line are made here, too, because their
 * messages are better.
 */
#include "format/schema/parse_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "format/schema/operation_internal.h"
#include "format/schema/word_internal.h"

void *
parse_grow(struct parser *p, void *array, size_t *cap, size_t n, size_t size)
{
	size_t c = *cap ? 2 * *cap : 16;
	void *q;

	if (p->l.bad)
		return NULL;
	if (n < *cap)
		return array;
	q = c > SIZE_MAX / size ? NULL : realloc(array, c * size);
	if (q)
		*cap = c;
	else
		lex_fail(&p->l, "out of memory");
	return q;
}

/*
 * n zeroed elements that live as long as the unit; a copy of `from` if it is not NULL. The pieces
 * are like those of sch_decode.
 */
void *
parse_alloc(struct parser *p, const void *from, size_t n, size_t size)
{
	struct sch_piece *m = p->u.mem;
	size_t need = (n * size + 15) & ~(size_t)15;
	void *q;

	if (p->l.bad || n == 0)
		return NULL;
	if (!m || m->cap - m->len < need) {
		size_t cap = need < 16384 ? 16384 : need;

		m = calloc(1, sizeof *m + cap);
		if (!m) {
			lex_fail(&p->l, "out of memory");
			return NULL;
		}
		m->cap = cap;
		m->next = p->u.mem;
		p->u.mem = m;
	}
	q = m->data + m->len;
	m->len += need;
	if (from)
		memcpy(q, from, n * size);
	return q;
}

char *
parse_name(struct parser *p)
{
	size_t n;
	char *s = lex_name(&p->l, &n), *q = parse_alloc(p, s, s ? n + 1 : 0, 1);

	free(s);
	return q;
}

void
parse_expect_name(struct parser *p, const char *what, const char *name)
{
	size_t n;
	char *s = lex_name(&p->l, &n);

	if (s && strcmp(s, name) != 0)
		lex_fail(&p->l, "end of another %s: '%.60s'", what, s);
	free(s);
}

void
parse_end_line(struct parser *p)
{
	if (!lex_end(&p->l))
		lex_fail(&p->l, "'%.*s' not understood", p->l.end - p->l.p < 40 ? (int)(p->l.end - p->l.p) :
		    40, p->l.p);
}

/* The next line; the text may not end before `what`. */
int
parse_line(struct parser *p, const char *what)
{
	if (lex_next_line(&p->l))
		return 1;
	lex_fail(&p->l, "the text ends before %s", what);
	return 0;
}

/* `%word(n)` */
static int
parse_annotation(struct parser *p, const char *word, uint64_t max, uint64_t *v)
{
	if (!lex_accept(&p->l, word))
		return 0;
	lex_expect(&p->l, "(");
	*v = lex_num(&p->l, max);
	lex_expect(&p->l, ")");
	return 1;
}

int
parse_has_prefix(const char *s, const char *word, size_t *n)
{
	size_t k = strlen(s);

	if (*n < k || memcmp(word, s, k) != 0)
		return 0;
	*n -= k;
	return 1;
}

static void
parse_machine(struct parser *p)
{
	uint64_t v;

	p->u.machine = (uint16_t)lex_num(&p->l, UINT16_MAX);
	while (!lex_end(&p->l)) {
		if (parse_annotation(p, "%word", 8, &v))
			p->u.word = (uint8_t)v;
		else if (parse_annotation(p, "%push", UINT8_MAX, &v))
			p->u.push = (uint8_t)v;
		else if (lex_accept(&p->l, "%big"))
			p->u.big = 1;
		else
			parse_end_line(p);
	}
	if (p->u.word != 4 && p->u.word != 8)
		lex_fail(&p->l, "machine without %%word(4) or %%word(8)");
}

static void
parse_symbol(struct parser *p)
{
	uint64_t *c = GROW(p, p->u.cst, p->capcst, p->u.ncst);
	struct lex *l = &p->l;
	int32_t i;

	if (!c)
		return;
	p->u.cst = c;
	if (p->u.nfield)
		lex_fail(l, "symbols come before fields");
	if (lex_num(l, UINT32_MAX) != p->u.ncst)
		lex_fail(l, "symbol %u expected", p->u.ncst);
	c[p->u.ncst] = lex_num(l, p->u.word == 4 ? UINT32_MAX : UINT64_MAX);
	if (!lex_end(l)) {
		size_t n;
		char *s = *l->p == '"' ? NULL : lex_name(l, &n);

		if (!s || strpbrk(s, "+-/")) {
			free(s);
			lex_fail(l, "a symbol's name has letters, digits, _ . and $");
			return;
		}
		i = lex_intern(l, &p->syms, s);
		if (i >= 0 && p->syms.name[i].value >= 0)
			lex_fail(l, "symbol defined twice");
		else if (i >= 0)
			p->syms.name[i].value = (int32_t)p->u.ncst;
	}
	p->u.ncst++;
}

static void
parse_field(struct parser *p)
{
	struct sch_field *f = GROW(p, p->u.field, p->capfield, p->u.nfield);
	struct lex *l = &p->l;
	uint64_t v;

	if (!f)
		return;
	p->u.field = f;
	f += p->u.nfield;
	memset(f, 0, sizeof *f);
	if (lex_num(l, UINT32_MAX) != p->u.nfield)
		lex_fail(l, "field %u expected", p->u.nfield);
	lex_expect(l, "#");
	f->sym = parse_const(p, p->u.ncst);
	if (lex_accept_char(l, '+'))
		f->off = (uint32_t)lex_num(l, UINT32_MAX);
	f->size = (uint8_t)lex_num(l, 8);
	if (!l->bad && (f->size == 0 || f->size & (f->size - 1)))
		lex_fail(l, "size of a field other than 1, 2, 4 or 8");
	if (parse_annotation(p, "%end", UINT32_MAX, &v)) {
		f->rip = 1;
		f->end = (uint32_t)v;
	}
	p->u.nfield++;
}

/* Replaces names of called functions by their numbers. */
static int32_t
parse_resolve(struct parser *p, int32_t to)
{
	const struct lex_name *e;

	if (p->l.bad || to < -1)
		return -2 - to;
	e = p->funcs.name + to;
	if (e->value >= 0 && !e->twice)
		return e->value;
	p->l.t->line = e->line;
	lex_fail(&p->l, e->twice ? "the name of two functions: '%.60s'" :
	    "no function of this unit: '%.60s'", e->s);
	return 0;
}

static void
resolve_calls(struct parser *p)
{
	if (p->maxno > p->u.nfunc && !p->l.bad) {
		p->l.t->line = p->maxline;
		lex_fail(&p->l, "function %u, but there are %u", p->maxno - 1, p->u.nfunc);
	}
	for (uint32_t i = 0; i < p->u.nfunc && !p->l.bad; i++) {
		for (uint32_t j = 0; j < p->u.func[i].nblock; j++) {
			struct sch_block *b = p->u.func[i].block + j;

			for (uint32_t k = 0; k < b->nstep; k++)
				if (b->step[k].op == SO_CALL)
					b->step[k].sym = parse_resolve(p, b->step[k].sym);
			if (b->term == ST_TAIL)
				b->callee = (uint32_t)parse_resolve(p, (int32_t)b->callee);
		}
	}
}

/* Parses what follows start_unit. */
static void
parse_unit(struct parser *p)
{
	struct lex *l = &p->l;
	const char *s;
	size_t n;

	p->u.source = parse_name(p);
	parse_end_line(p);
	if (parse_line(p, "machine")) {
		lex_expect(l, "machine");
		parse_machine(p);
	}
	if (parse_line(p, "registers")) {
		lex_expect(l, "registers");
		p->u.nregs = (uint32_t)lex_num(l, SCH_MAXVAR);
		p->u.sp = (uint16_t)parse_var(p, p->u.nregs);
		parse_end_line(p);
	}
	while (parse_line(p, "end_unit")) {
		if (lex_accept(l, "start_function"))
			parse_func(p);
		else if (lex_accept(l, "end_unit"))
			break;
		else if (p->u.nfunc == 0 && lex_accept(l, "symbol"))
			parse_symbol(p);
		else if (p->u.nfunc == 0 && lex_accept(l, "field"))
			parse_field(p);
		else {
			n = lex_word(l, &s);
			lex_fail(l, "unknown word '%.*s'", n < 40 ? (int)n : 40, s);
		}
		parse_end_line(p);
	}
	if (!l->bad)
		parse_expect_name(p, "unit", p->u.source);
	parse_end_line(p);
	resolve_calls(p);
}

/* Replaces the unit that was built by the one that the decoder makes of it. */
static void
parse_check(struct parser *p, struct sch_unit *u)
{
	const char *what;
	size_t n, at;
	uint8_t *b;

	if (p->l.bad)
		return;
	b = sch_encode(&p->u, &n);
	if (!b)
		lex_fail(&p->l, "out of memory, or unit too large");
	else if (sch_decode(b, n, u, &what, &at) < 0)
		lex_fail(&p->l, "in the unit that ends here: %s", what);
	free(b);
}

static void
parser_free(struct parser *p)
{
	struct sch_piece *m = p->u.mem;

	while (m) {
		struct sch_piece *next = m->next;

		free(m);
		m = next;
	}
	free(p->u.func);
	free(p->u.cst);
	free(p->u.field);
	free(p->step);
	free(p->succ);
	free(p->ev);
	lex_names_free(&p->syms);
	lex_names_free(&p->funcs);
}

/*
 * Parses start_schema and end_schema around the units of a program, by which a truncated text is
 * recognized.
 */
static int
parse_bracket(struct parser *p)
{
	struct lex *l = &p->l;
	struct sch_text *t = l->t;
	const char *s;
	size_t n;

	if (t->state == SCH_TEXT_CLOSED) {
		lex_fail(l, "text after end_schema");
	} else if (lex_accept(l, "start_schema")) {
		n = lex_word(l, &s);
		if (t->state != SCH_TEXT_NEW || n >= sizeof t->program)
			lex_fail(l, "start_schema is the first line, and has at most %zu digits",
			    sizeof t->program - 1);
		else
			memcpy(t->program, s, n);
		t->state = SCH_TEXT_OPEN;
	} else if (lex_accept(l, "end_schema")) {
		if (t->state != SCH_TEXT_OPEN)
			lex_fail(l, "end_schema without start_schema");
		t->state = SCH_TEXT_CLOSED;
	} else {
		if (t->state == SCH_TEXT_NEW)
			t->state = SCH_TEXT_BARE;
		return 0;
	}
	parse_end_line(p);
	return 1;
}

int
sch_parse(struct sch_text *t, const struct sch_names *nm, struct sch_unit *u)
{
	struct parser p = {.l = {.t = t}, .nm = nm};
	int more = lex_next_line(&p.l);

	memset(u, 0, sizeof *u);
	while (more && parse_bracket(&p))
		more = lex_next_line(&p.l);
	if (more && !p.l.bad) {
		lex_expect(&p.l, "start_unit");
		parse_unit(&p);
		parse_check(&p, u);
	} else if (t->state == SCH_TEXT_OPEN)
		lex_fail(&p.l, "the text ends before end_schema");
	parser_free(&p);
	if (p.l.bad)
		memset(u, 0, sizeof *u);
	return p.l.bad ? -1 : more;
}
