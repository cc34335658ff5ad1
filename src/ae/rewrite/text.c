/* Splitting assembly text into statements. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "ae/rewrite/text.h"
#include "base/mem.h"

#define MOSTTIMES 4096  /* of a block that is repeated here, and statements in it */

int
text_symchar(int c)
{
	return isalnum(c) || c == '_' || c == '.' || c == '$' || c >= 0x80;
}

/* Replaces block comments by blanks, keeping lines; strings are unchanged. */
static void
blank_comments(char *p, size_t n)
{
	int str = 0;
	size_t i;

	for (i = 0; i + 1 < n; i++) {
		if (str && p[i] == '\\') {
			i++;
		} else if (p[i] == '"') {
			str = !str;
		} else if (p[i] == '\n') {
			str = 0;
		} else if (!str && p[i] == '#') {
			while (i + 1 < n && p[i + 1] != '\n')
				i++;
		} else if (!str && p[i] == '/' && p[i + 1] == '*') {
			for (; i + 1 < n && !(p[i] == '*' && p[i + 1] == '/'); i++)
				if (p[i] != '\n')
					p[i] = ' ';
			p[i] = ' ';
			if (i + 1 < n)
				p[i + 1] = ' ';
		}
	}
}

static struct stmt *
asm_text_add(struct text *t, int kind, char *s, uint32_t line, int inasm)
{
	struct stmt *st;

	t->st = mem_xgrow(t->st, &t->cap, t->n + 1, sizeof *t->st);
	st = &t->st[t->n++];
	memset(st, 0, sizeof *st);
	st->kind = (uint8_t)kind;
	st->inasm = (uint8_t)inasm;
	st->line = line;
	st->src = t->src;
	st->srclen = t->srclen;
	st->srcline = t->srcline;
	st->s = s;
	return st;
}

/* Is s one of the words? */
static int
asm_text_listed(const char *const *words, const char *s)
{
	for (; *words; words++)
		if (strcmp(s, *words) == 0)
			return 1;
	return 0;
}

/* Is the first word of s this one, in capitals or not? */
static int
asm_text_word(const char *s, const char *word)
{
	size_t n = strlen(word);

	return strncasecmp(s, word, n) == 0 && !text_symchar((unsigned char)s[n]);
}

int
text_repeats(const char *s)
{
	static const char *const words[] = { ".rept", ".rep", ".irp", ".irpc", ".irep", ".irepc", NULL };
	size_t i;

	for (i = 0; words[i]; i++)
		if (asm_text_word(s, words[i]))
			return 1;
	return 0;
}

const char *
text_macro(const char *s, size_t *n)
{
	if (!asm_text_word(s, ".macro"))
		return NULL;
	s += strlen(".macro");
	s += strspn(s, " \t");
	for (*n = 0; text_symchar((unsigned char)s[*n]); ++*n)
		;
	return s;
}

/* Is s a prefix of the next statement, perhaps with others before it? */
static int
asm_text_prefix(const struct text *t, const char *s)
{
	const char *last = strchr(s, ';');

	if (last)
		for (s = last + 1; *s == ' '; s++)
			;
	return asm_text_listed(t->m->prefixes, s);
}

/*
 * The compiler's sequence for thread-local data of a shared library has prefixes that are written as data:
 * data16 leaq x@tlsgd(%rip), %rdi; .value 0x6666; rex64; call __tls_get_addr@PLT
 * In Intel syntax there are brackets.
 */
static int
asm_text_tls(const struct text *t, const char *s)
{
	return t->n && t->st[t->n - 1].kind == ST_INSN && strstr(t->st[t->n - 1].s, "@tlsgd") &&
	    asm_text_prefix(t, s);
}

/* Statement s may define a macro. */
static void
asm_text_define(struct text *t, const char *s)
{
	size_t n;
	const char *name = text_macro(s, &n);

	if (!name) {
		t->anymacro |= asm_text_word(s, ".include");
		return;
	}
	/* \name in a macro, or in quotes: another name */
	t->anymacro |= !n || !strchr(" \t,(", name[n]);
	t->macro = mem_xgrow(t->macro, &t->capmacro, t->nmacro + 1, sizeof *t->macro);
	t->macro[t->nmacro++] = (struct macro){ name, n };
}

int
text_uses_macro(const struct text *t, const char *s)
{
	const char *operands = t->nmacro ? text_operands(t->m, s) : s;
	size_t i;

	if (t->anymacro)
		return 1;
	do {                    /* after prefixes, too */
		for (i = 0; i < t->nmacro; i++)
			if (strncasecmp(s, t->macro[i].name, t->macro[i].n) == 0 && !text_symchar((unsigned char)s[t->macro[i].n]))
				return 1;
		s += strcspn(s, " \t");
		s += strspn(s, " \t");
	} while (*s && s < operands);
	return 0;
}

/* How often the block that begins at statement `at` is there, which only repeats instructions; -1: only the assembler knows. */
static long
asm_text_times(const struct text *t, size_t at)
{
	const struct stmt *first = &t->st[at], *end = &t->st[t->n - 1], *st;
	const char *a = first->s + strcspn(first->s, " \t");
	size_t insns = 0;
	char *rest;
	long times;

	if (!asm_text_word(first->s, ".rept") && !asm_text_word(first->s, ".rep"))
		return -1;
	a += strspn(a, " \t");
	times = strtol(a, &rest, 10);
	if (!isdigit((unsigned char)*a) || (*a == '0' && a[1]) || *rest || times > MOSTTIMES || end - first > MOSTTIMES)
		return -1;
	for (st = first + 1; st < end; st++) {
		if ((st->kind != ST_INSN && st->kind != ST_DIRECTIVE) || strchr(st->s, '\\') || text_repeats(st->s) ||
		    asm_text_word(st->s, ".macro"))
			return -1;
		insns += st->kind == ST_INSN;
	}
	return insns && !asm_text_prefix(t, st[-1].s) ? times : -1;
}

/* Writes the block that begins at statement `first`, and ends with the last one, as often as it is there; 0: that is not known. */
static int
asm_text_repeat(struct text *t, size_t first)
{
	size_t n = t->n - first - 2, at;
	long times = asm_text_times(t, first);

	if (times < 0)
		return 0;
	t->n = first + n * (size_t)times;
	t->st = mem_xgrow(t->st, &t->cap, t->n + 1, sizeof *t->st);
	memmove(t->st + first, t->st + first + 1, n * sizeof *t->st);
	for (at = first + n; at < t->n; at += n)
		memcpy(t->st + at, t->st + first, n * sizeof *t->st);
	return 1;
}

/* The outermost block ends with the last statement. */
static void
asm_text_close(struct text *t)
{
	size_t first = t->open.first[0], i;

	if (!t->open.macro && asm_text_repeat(t, first))
		return;
	t->st[first].block = BLOCK_BEGIN;
	for (i = first + 1; i < t->n; i++) {
		struct stmt *st = &t->st[i];

		st->block = i + 1 == t->n ? BLOCK_END : st->kind == ST_LABEL ? BLOCK_LABEL : BLOCK_INSIDE;
		st->kind = ST_TEXT;
	}
}

/* Does the last statement, a directive, begin or end a block? One of the other kind may be inside, and does not count. */
static void
asm_text_block(struct text *t)
{
	const char *s = t->st[t->n - 1].s;
	int macro = asm_text_word(s, ".macro") || asm_text_word(s, ".endm");
	int begins = asm_text_word(s, ".macro") || text_repeats(s);

	if (!macro && !begins && !asm_text_word(s, ".endr"))
		return;
	if (!t->open.depth) {
		if (begins) {
			t->open.first[0] = t->n - 1;
			t->open.depth = 1;
			t->open.macro = macro;
		}
	} else if (t->open.macro == macro && begins) {
		if (t->open.depth < TEXT_NESTED)
			t->open.first[t->open.depth] = t->n - 1;
		t->open.depth++;
	} else if (t->open.macro == macro) {
		if (!--t->open.depth)
			asm_text_close(t);
		else if (!macro && t->open.depth < TEXT_NESTED)
			asm_text_repeat(t, t->open.first[t->open.depth]);
	}
}

/* Adds one statement s (trimmed, not empty). */
static void
asm_text_statement(struct text *t, char *s, uint32_t line, int inasm)
{
	size_t n = 0;

	while (text_symchar((unsigned char)s[n]))
		n++;
	if (n == 0 && *s == '"') {      /* a quoted symbol: gcc never writes one for C */
		asm_text_add(t, ST_TEXT, s, line, inasm);
		return;
	}
	if (n && s[n] == ':' ) {
		s[n] = '\0';
		asm_text_add(t, ST_LABEL, s, line, inasm);
		for (s += n + 1; isspace((unsigned char)*s); s++)
			;
		if (*s)
			asm_text_statement(t, s, line, inasm);
		return;
	}
	if (*s == '.') {
		char *e = s + strcspn(s, " \t"), c = *e;
		int code;

		*e = '\0';
		code = asm_text_listed(t->m->emitting, s);
		*e = c;
		code |= asm_text_tls(t, s);
		asm_text_add(t, code ? ST_INSN : ST_DIRECTIVE, s, line, inasm);
		asm_text_define(t, s);
		if (!inasm && text_directive(s, ".size"))
			t->src = NULL;  /* what comes is another function's */
		asm_text_block(t);
		return;
	}
	/* `sym = expr` is a directive, too */
	while (isblank((unsigned char)s[n]))
		n++;
	if (s[n] == '=') {
		asm_text_add(t, ST_DIRECTIVE, s, line, inasm);
		return;
	}
	if (t->n && t->st[t->n - 1].kind == ST_INSN && asm_text_prefix(t, t->st[t->n - 1].s)) {
		/* the statement before was a prefix: `lock; xadd` becomes one statement */
		struct stmt *prev = &t->st[t->n - 1];
		char *start = prev->s + strlen(prev->s);

		if (start < s) {
			memset(start, ' ', (size_t)(s - start));
			if (*prev->s == '.' && !memchr(prev->s, ';', (size_t)(start - prev->s)))
				*start = ';';
			return;
		}
	}
	asm_text_add(t, ST_INSN, s, line, inasm);
}

/* End of the statement that starts at s: a semicolon, a comment or the end of the string */
static char *
statement_end(char *s, int *comment)
{
	int str = 0;

	*comment = 0;
	for (; *s; s++) {
		if (str && *s == '\\' && s[1])
			s++;
		else if (*s == '"')
			str = !str;
		else if (!str && *s == ';')
			return s;
		else if (!str && *s == '#') {
			*comment = 1;
			return s;
		}
	}
	return s;
}

/* Does the compiler say that it accesses a spill slot? gcc writes %sfp, clang `8-byte Folded Reload` or the like. */
static int
is_spill(const char *s)
{
	if (strstr(s, "%sfp"))
		return 1;
	s += strspn(s, " ");
	if (!isdigit((unsigned char)*s))
		return 0;
	s += strspn(s, "0123456789");
	if (strncmp(s, "-byte ", 6) != 0)
		return 0;
	s += 6;
	if (strncmp(s, "Folded ", 7) == 0)
		s += 7;
	return strcmp(s, "Spill") == 0 || strcmp(s, "Reload") == 0;
}

/* Parses clang's comment after .loc, ` FILE:LINE:COLUMN`, and perhaps where that is inlined. */
static void
asm_text_loc(struct text *t, const char *s)
{
	s += strspn(s, " ");
	for (const char *p = strchr(s, ':'); p; p = strchr(p + 1, ':')) {
		unsigned long n;
		char *end;

		if (!isdigit((unsigned char)p[1]) || (n = strtoul(p + 1, &end, 10)) > UINT32_MAX || *end != ':' ||
		    !isdigit((unsigned char)end[1]))
			continue;
		if (n) {        /* 0: the compiler's own */
			t->src = s;
			t->srclen = (int)(p - s);
			t->srcline = (uint32_t)n;
		}
		return;
	}
}

static void
parse_line(struct text *t, char *s, uint32_t line, int inasm)
{
	int comment = 0;

	while (*s && !comment) {
		char *end, *last, sep;

		while (isspace((unsigned char)*s))
			s++;
		end = statement_end(s, &comment);
		sep = *end;
		for (last = end; last > s && isspace((unsigned char)last[-1]); last--)
			;
		*last = '\0';
		*end = '\0';
		if (last > s)
			asm_text_statement(t, s, line, inasm);
		s = sep ? end + 1 : end;
		if (!comment || last == end || inasm || !t->n)
			continue;
		if (is_spill(s) && t->st[t->n - 1].kind == ST_INSN)
			t->st[t->n - 1].spill = 1;
		if (text_directive(t->st[t->n - 1].s, ".loc"))
			asm_text_loc(t, s);
	}
}

/* Parses -fverbose-asm's comment before an instruction: `# FILE:LINE: source text`. */
static void
source_line(struct text *t, const char *s)
{
	for (const char *p = strchr(s + 2, ':'); p; p = strchr(p + 1, ':')) {
		char *end;
		unsigned long n = isdigit((unsigned char)p[1]) ? strtoul(p + 1, &end, 10) : 0;

		if (n && n <= UINT32_MAX && end[0] == ':' && end[1] == ' ') {
			t->src = s + 2;
			t->srclen = (int)(p - t->src);
			t->srcline = (uint32_t)n;
			return;
		}
	}
}

/* Parses the start of inline assembly: `# LINE "FILE" 1`. */
static void
asm_line(struct text *t, const char *s)
{
	char *end;
	unsigned long n = s[1] == ' ' ? strtoul(s + 2, &end, 10) : 0;

	if (!n || n > UINT32_MAX || end[0] != ' ' || end[1] != '"')
		return;
	t->src = end + 2;
	t->srclen = (int)strcspn(end + 2, "\"");
	t->srcline = (uint32_t)n;
}

/*
 * A line that is only a comment. #APP and #NO_APP enclose inline assembly, but gcc delays the
 * latter: text after the line `# 0 "" 2`, which ends the text of one asm statement, is the
 * compiler's again. `# LINE "FILE" 1` begins such a text.
 */
static void
comment_line(struct text *t, char *s, uint32_t line, int *app, int *inasm)
{
	if (strncmp(s, "#APP", 4) == 0)
		*app = *inasm = 1;
	else if (strncmp(s, "#NO_APP", 7) == 0)
		*app = *inasm = 0;
	else if (*app && s[1] == ' ' && isdigit((unsigned char)s[2]))
		*inasm = strcmp(s, "# 0 \"\" 2") != 0;
	if (*inasm)
		asm_line(t, s);
	if (s[1] != ' ' || isdigit((unsigned char)s[2]))
		asm_text_add(t, ST_TEXT, s, line, *inasm);
	else if (!*inasm)
		source_line(t, s);      /* a comment of -fverbose-asm */
}

void
text_parse(struct text *t, const struct machine *m, char *p, size_t n)
{
	uint32_t line = 0;
	int app = 0, inasm = 0;
	size_t i = 0;

	memset(t, 0, sizeof *t);
	t->m = m;
	blank_comments(p, n);
	while (i < n) {
		char *s = p + i, *nl = memchr(s, '\n', n - i);
		size_t len = nl ? (size_t)(nl - s) : n - i;

		i += len + 1;
		s[len] = '\0';  /* the caller's buffer has room for a final NUL */
		line++;
		while (isblank((unsigned char)*s))
			s++;
		if (*s == '#') {
			comment_line(t, s, line, &app, &inasm);
			continue;
		}
		parse_line(t, s, line, inasm);
	}
}

void
text_free(struct text *t)
{
	free(t->st);
	free(t->macro);
	free(t->buf);
	t->macro = NULL;
	t->nmacro = t->capmacro = 0;
	t->buf = NULL;
	t->st = NULL;
	t->n = t->cap = 0;
}

void
text_write(struct buf *o, const struct machine *m, const struct stmt *st)
{
	if (st->kind == ST_LABEL || st->block == BLOCK_LABEL)
		buf_printf(o, "%s:", st->s);
	else if (st->foreign && st->block == BLOCK_BEGIN)
		buf_printf(o, "\t%s; %s", m->dialect->begin[st->foreign], st->s);
	else if (st->foreign && st->block)
		buf_printf(o, "\t%s; %s", st->s, m->dialect->begin[0]);
	else if (st->foreign)
		buf_printf(o, "\t%s; %s; %s", m->dialect->begin[st->foreign], st->s, m->dialect->begin[0]);
	else
		buf_printf(o, "%s%s", st->kind == ST_TEXT ? "" : "\t", st->s);
}

const char *
text_symbol(const struct machine *m, const char *s, size_t *n)
{
	while (*s) {
		/* register, relocation modifier */
		if (*s == '%' || *s == '@' || (*s == m->regchar && *s == '$' && s[1] != 'L')) {
			for (s++; text_symchar((unsigned char)*s) && *s != '$'; s++)
				;
			continue;
		}
		if (isdigit((unsigned char)*s)) {
			while (isalnum((unsigned char)*s))
				s++;
			continue;
		}
		if (text_symchar((unsigned char)*s) && (*s != '$' || m->regchar == '$')) {
			for (*n = 0; text_symchar((unsigned char)s[*n]); (*n)++)
				;
			return s;
		}
		s++;
	}
	return NULL;
}

const char *
text_operands(const struct machine *m, const char *s)
{
	char word[16];
	size_t n;

	if (*s == '.' && strchr(s, ';'))        /* prefixes that are written as data */
		for (s = strchr(s, ';') + 1; *s == ' '; s++)
			;
	for (;;) {
		for (n = 0; s[n] && !isspace((unsigned char)s[n]); n++)
			;
		if (n < sizeof word) {
			memcpy(word, s, n);
			word[n] = '\0';
		} else
			word[0] = '\0';
		s += n;
		while (isspace((unsigned char)*s))
			s++;
		if (!asm_text_listed(m->prefixes, word) || !*s)
			return s;
	}
}

const char *
text_place(const struct machine *m, const char *insn, size_t *n)
{
	const char *s = text_operands(m, insn);

	if (*s == '$' && m->regchar != '$')     /* a constant is the first operand */
		s += strcspn(s, ",");
	return text_symbol(m, s, n);
}

const char *
text_directive(const char *s, const char *name)
{
	size_t n = strlen(name);

	if (strncmp(s, name, n) != 0 || text_symchar((unsigned char)s[n]))
		return NULL;
	for (s += n; isblank((unsigned char)*s); s++)
		;
	return s;
}
