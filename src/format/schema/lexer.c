/* Words and numbers of the readable schema; see lexer_internal.h. */
#include "format/schema/lexer_internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/schema/word_internal.h"

void
lex_fail(struct lex *l, const char *fmt, ...)
{
	va_list ap;

	if (l->bad)
		return;
	l->bad = 1;
	va_start(ap, fmt);
	vsnprintf(l->t->err, sizeof l->t->err, fmt, ap);
	va_end(ap);
}

static int
isblank_(int c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static int
lexer_iswordchar(int c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static void
lexer_blanks(struct lex *l)
{
	while (l->p < l->end && isblank_(*l->p))
		l->p++;
}

/* The end of the line without its comment. A semicolon may be in quotes. */
static const char *
code_end(const char *p, const char *end)
{
	int quoted = 0;

	for (; p < end && (quoted || *p != ';'); p++) {
		if (*p == '"')
			quoted = !quoted;
		else if (quoted && *p == '\\' && p + 1 < end)
			p++;
	}
	return p;
}

int
lex_next_line(struct lex *l)
{
	struct sch_text *t = l->t;

	while (!l->bad && t->off < t->n) {
		const char *p = t->p + t->off, *nl = memchr(p, '\n', t->n - t->off), *end = nl ? nl :
		    t->p + t->n;

		t->line++;
		t->off = (size_t)(end - t->p) + (nl != NULL);
		l->p = p;
		l->end = code_end(p, end);
		lexer_blanks(l);
		if (l->p < l->end)
			return 1;
	}
	l->p = l->end = NULL;
	return 0;
}

int
lex_end(struct lex *l)
{
	if (l->bad)
		return 1;
	lexer_blanks(l);
	return l->p == l->end;
}

int
lex_accept(struct lex *l, const char *s)
{
	size_t n = strlen(s);

	if (lex_end(l) || (size_t)(l->end - l->p) < n || memcmp(l->p, s, n) != 0)
		return 0;
	if (lexer_iswordchar(s[n - 1]) && l->p + n < l->end && lexer_iswordchar(l->p[n]))
		return 0;
	l->p += n;
	return 1;
}

/* The text that comes next, for a message: at most 20 printable characters. */
static const char *
lexer_next(struct lex *l, char tmp[24])
{
	size_t n = 0;

	lexer_blanks(l);
	while (n < 20 && l->p + n < l->end && l->p[n] > 0x20 && l->p[n] < 0x7f) {
		tmp[n] = l->p[n];
		n++;
	}
	tmp[n] = 0;
	return n ? tmp : l->p < l->end ? "such a character" : "the end of the line";
}

void
lex_expect(struct lex *l, const char *s)
{
	char tmp[24];

	if (!l->bad && !lex_accept(l, s))
		lex_fail(l, "'%s' expected before %s", s, lexer_next(l, tmp));
}

/* Digits of a number no larger than max. */
static uint64_t
lexer_digits(struct lex *l, uint64_t max)
{
	char tmp[24];
	unsigned base = 10;
	uint64_t v = 0;
	int any = 0;

	if (l->bad)
		return 0;
	if (l->end - l->p > 2 && l->p[0] == '0' && l->p[1] == 'x') {
		base = 16;
		l->p += 2;
	}
	for (; l->p < l->end && lexer_iswordchar(*l->p); l->p++, any = 1) {
		int c = *l->p;
		unsigned d = c >= '0' && c <= '9' ? (unsigned)(c - '0') : c >= 'a' &&
		    c <= 'f' ? (unsigned)(c - 'a' + 10) : 16;

		if (d >= base)
			break;
		if (v > max / base || v * base > max - d) {
			lex_fail(l, "number larger than %llu", (unsigned long long)max);
			return 0;
		}
		v = v * base + d;
	}
	if (!any || (l->p < l->end && lexer_iswordchar(*l->p)))
		lex_fail(l, "number expected before %s", lexer_next(l, tmp));
	return l->bad ? 0 : v;
}

uint64_t
lex_num(struct lex *l, uint64_t max)
{
	if (!l->bad)
		lexer_blanks(l);
	return lexer_digits(l, max);
}

int64_t
lex_snum(struct lex *l)
{
	if (lex_accept(l, "-"))
		return (int64_t)-lexer_digits(l, (uint64_t)1 << 63);
	return (int64_t)lex_num(l, INT64_MAX);
}

int
lex_at_number(struct lex *l)
{
	return !lex_end(l) && *l->p >= '0' && *l->p <= '9';
}

int
lex_accept_char(struct lex *l, char c)
{
	if (l->bad || l->p == l->end || *l->p != c)
		return 0;
	l->p++;
	return 1;
}

int
lex_suffix(struct lex *l, char c, unsigned *n)
{
	if (!lex_accept_char(l, c))
		return 0;
	*n = (unsigned)lexer_digits(l, 65535);
	return !l->bad;
}

size_t
lex_word(struct lex *l, const char **s)
{
	const char *p;

	*s = "";
	if (lex_end(l))
		return 0;
	for (p = l->p; p < l->end && lexer_iswordchar(*p); p++)
		;
	*s = l->p;
	l->p = p;
	return (size_t)(p - *s);
}

/* The character for an escape after a backslash; -1: there is no such escape. */
static int
lexer_escape(struct lex *l)
{
	int v = 0;

	if (l->p < l->end && (*l->p == '"' || *l->p == '\\'))
		return *l->p++;
	if (l->end - l->p < 3 || *l->p++ != 'x')
		return -1;
	for (int i = 0; i < 2; i++) {
		int c = *l->p++;

		if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f')))
			return -1;
		v = v * 16 + (c <= '9' ? c - '0' : c - 'a' + 10);
	}
	return v ? v : -1;
}

static size_t
lexer_quoted(struct lex *l, char *s)
{
	size_t n = 0;

	while (l->p < l->end && *l->p != '"') {
		int c = *l->p++;

		if (c == '\\' && (c = lexer_escape(l)) < 0)
			lex_fail(l, "unknown character after \\");
		else if (c == 0)
			lex_fail(l, "zero byte in a name");
		if (l->bad)
			return 0;
		s[n++] = (char)c;
	}
	if (l->p == l->end)
		lex_fail(l, "name without its closing quote");
	else
		l->p++;
	return n;
}

char *
lex_name(struct lex *l, size_t *n)
{
	char tmp[24], *s;

	*n = 0;
	if (lex_end(l) || (*l->p != '"' && !sch_plainchar((unsigned char)*l->p, 1))) {
		lex_fail(l, "name expected before %s", l->bad ? "" : lexer_next(l, tmp));
		return NULL;
	}
	s = malloc((size_t)(l->end - l->p) + 1);
	if (!s) {
		lex_fail(l, "out of memory");
		return NULL;
	}
	if (*l->p == '"') {
		l->p++;
		*n = lexer_quoted(l, s);
	} else {
		while (l->p < l->end && sch_plainchar((unsigned char)*l->p, 0))
			s[(*n)++] = *l->p++;
	}
	s[*n] = 0;
	if (l->bad) {
		free(s);
		return NULL;
	}
	return s;
}

static int
lexer_add(struct lex_names *t, uint32_t h, char *s, unsigned long line)
{
	if (t->n > INT32_MAX / 8 || buf_grow(&t->name, &t->cap, t->n + 1, sizeof *t->name) != 0 ||
	    hash_add(&t->by_name, h, (uint32_t)t->n) != 0)
		return -1;
	t->name[t->n++] = (struct lex_name){s, line, -1, 0};
	return 0;
}

int32_t
lex_intern(struct lex *l, struct lex_names *t, char *s)
{
	uint32_t h, at, i;

	if (!s)
		return -1;
	at = h = hash_bytes(s, strlen(s));
	while ((i = hash_find(&t->by_name, h, &at)) != HASH_NONE && strcmp(t->name[i].s, s) != 0)
		;
	if (i == HASH_NONE) {
		if (lexer_add(t, h, s, l->t->line) == 0)
			return (int32_t)(t->n - 1);
		lex_fail(l, "out of memory");
	}
	free(s);
	return i == HASH_NONE ? -1 : (int32_t)i;
}

void
lex_names_free(struct lex_names *t)
{
	for (size_t i = 0; i < t->n; i++)
		free(t->name[i].s);
	free(t->name);
	hash_free(&t->by_name);
}
