/*
 * Translates statements of another syntax, as of gcc -masm=intel. What a statement means, the assembler knows: it assembles the
 * file before and after, and where the two objects differ, the next way to write the statement is tried, until there is none.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>
#include "ae/rewrite/assemble.h"
#include "ae/rewrite/compare.h"
#include "ae/rewrite/dialect.h"
#include "base/mem.h"

#define ROUNDS 16       /* of assembling; a statement has a few ways to be written */

/* A statement in the dialect */
struct spoken {
	uint32_t stmt;
	uint8_t syntax;
	uint8_t foreign;        /* it has no translation */
	uint8_t next;           /* the way after this one */
	uint8_t result;         /* enum compare_result, of this way */
	char *s;                /* its translation, owned; NULL while foreign, or of a directive that changes the syntax */
};

struct translation {
	struct text *t;
	const struct dialect *d;
	struct spoken *said;
	size_t n, cap;
	int unclear;            /* a macro may change the syntax */
	struct assembly a;
	struct assembler as;
};

/* Tries the next way. */
static void
spoken_next(struct translation *r, struct spoken *p)
{
	free(p->s);
	p->s = r->d->translate(r->t->st[p->stmt].s, p->syntax, p->next);
	p->next++;
	p->foreign = !p->s;
}

static int
spoken_further(const struct translation *r, const struct spoken *p)
{
	char *s = p->foreign ? NULL : r->d->translate(r->t->st[p->stmt].s, p->syntax, p->next);

	free(s);
	return s != NULL;
}

/* Is it the same text in both syntaxes, as a direct jump? */
static int
spoken_same(const struct translation *r, const struct spoken *p)
{
	return p->s && strcmp(p->s, r->t->st[p->stmt].s) == 0;
}

/* Statement i is in the dialect, in this syntax. */
static struct spoken *
translation_add(struct translation *r, uint32_t i, int syntax)
{
	struct spoken *p;

	r->said = mem_xgrow(r->said, &r->cap, r->n + 1, sizeof *r->said);
	p = &r->said[r->n++];
	memset(p, 0, sizeof *p);
	p->stmt = i;
	p->syntax = (uint8_t)syntax;
	return p;
}

/* Is it a directive that may leave out others? */
static int
translation_skips(const char *s)
{
	return strncasecmp(s, ".if", 3) == 0 || strncasecmp(s, ".exitm", 6) == 0;
}

/*
 * The block that begins with statement i remains as it is, between directives for its syntax. *syntax is that after it. Returns
 * its last statement. A definition has no syntax, but it must not change that of what comes after a use.
 */
static uint32_t
translation_block(struct translation *r, uint32_t i, int *syntax)
{
	uint32_t first = i;
	int before = *syntax, changes = 0, skips = 0;
	size_t n;

	for (; r->t->st[i].block != BLOCK_END; i++) {
		const char *s = r->t->st[i].s;
		int after = r->d->after(s);

		changes |= after >= 0;
		skips |= translation_skips(s);
		*syntax = after < 0 ? *syntax : after;
	}
	if (text_macro(r->t->st[first].s, &n)) {
		r->unclear |= changes && (skips || *syntax);
		*syntax = before;
		return i;
	}
	if (before)
		translation_add(r, first, before)->foreign = 1;
	if (before || *syntax)
		translation_add(r, i, *syntax ? *syntax : before)->foreign = 1;
	return i;
}

/* Finds the statements in the dialect, and their first translations. */
static void
translation_find(struct translation *r)
{
	int syntax = 0;
	uint32_t i;

	for (i = 0; i < r->t->n; i++) {
		const struct stmt *st = &r->t->st[i];
		int after = st->kind == ST_DIRECTIVE ? r->d->after(st->s) : -1;
		struct spoken *p;

		if (st->block) {
			i = translation_block(r, i, &syntax);
			continue;
		}
		if (after < 0 && (!syntax || (st->kind != ST_INSN && st->kind != ST_DIRECTIVE)))
			continue;
		p = translation_add(r, i, after < 0 ? syntax : 0);
		if (after >= 0)
			syntax = after;
		else if (text_uses_macro(r->t, st->s))
			p->foreign = 1; /* what its instructions are depends on the syntax here */
		else
			spoken_next(r, p);
	}
}

/* Statement i, and as said in p if it is not NULL; always one line */
static void
translation_statement(const struct translation *r, struct buf *b, uint32_t i, const struct spoken *p)
{
	struct stmt st = r->t->st[i];

	/* comments of the compiler, which say that the lines are another file's */
	if (st.kind == ST_TEXT && *st.s == '#')
		return;
	if (p && !p->syntax)
		return;
	if (p && p->foreign)
		st.foreign = p->syntax;
	else if (p)
		st.s = p->s;
	text_write(b, r->t->m, &st);
}

/* The text as it is, or translated; with marks at the statements in the dialect if `marked` */
static const char *
translation_assemble(const struct translation *r, int translated, int marked, int *fd)
{
	struct buf b = BUF_INIT;
	const char *why;
	uint32_t i;
	size_t k = 0;

	for (i = 0; i < r->t->n; i++) {
		const struct spoken *p = k < r->n && r->said[k].stmt == i ? &r->said[k++] : NULL;
		int mark = marked && p && p->syntax && r->t->st[i].kind == ST_INSN;

		if (mark)
			buf_printf(&b, MARK "b%u:", i);
		translation_statement(r, &b, i, translated ? p : NULL);
		if (mark)
			buf_printf(&b, "; " MARK "e%u:", i);
		buf_str(&b, "\n");
	}
	why = assembly_text(&r->a, &r->as, &b, translated, fd);
	buf_free(&b);
	return why;
}

/* Tries another way for the statements that the assembler did not accept; returns their number. */
static size_t
translation_rejected(struct translation *r)
{
	FILE *f = fopen(r->a.said, "re");
	size_t n = strlen(r->a.in), changed = 0, i, cap = 0;
	uint8_t *bad = xcalloc(r->t->n + 1, 1);
	char *line = NULL, *end;

	while (f && getline(&line, &cap, f) > 0) {
		unsigned long no;

		if (strncmp(line, r->a.in, n) != 0 || line[n] != ':')
			continue;
		no = strtoul(line + n + 1, &end, 10);
		if (no && no <= r->t->n && strncmp(end, ": Error:", 8) == 0)
			bad[no - 1] = 1;
	}
	free(line);
	if (f)
		fclose(f);
	for (i = 0; i < r->n; i++)
		if (r->said[i].syntax && !r->said[i].foreign && bad[r->said[i].stmt]) {
			spoken_next(r, &r->said[i]);
			changed++;
		}
	free(bad);
	return changed;
}

/*
 * Tries another way for the statements that differ most, of those that have one; if none has, gives up those that do, first
 * such as are not the same text in both syntaxes. Returns their number.
 */
static size_t
translation_differing(struct translation *r)
{
	int pass, result;
	size_t i, changed = 0;

	for (pass = 0; pass < 3; pass++)
		for (result = CMP_LENGTH; result > CMP_SAME; result--) {
			for (i = 0; i < r->n; i++) {
				struct spoken *p = &r->said[i];

				if (p->result != result || p->foreign || (pass == 0 && !spoken_further(r, p)) ||
				    (pass == 1 && spoken_same(r, p)))
					continue;
				if (pass)
					p->next = UINT8_MAX;
				spoken_next(r, p);
				changed++;
			}
			if (changed)
				return changed;
		}
	return 0;
}

/* Compares with the object of the text as it was: *same, or what each statement's result is. */
static const char *
translation_compare(struct translation *r, int marked, int other, int *same)
{
	struct compare *c;
	const char *why;
	int one;
	size_t i;

	why = translation_assemble(r, 0, marked, &one);
	if (why) {
		close(other);
		return why;
	}
	c = compare_open(one, other, r->t->n);
	if (!c)
		return "the assembler's output cannot be read";
	*same = compare_same(c);
	for (i = 0; i < r->n; i++)
		r->said[i].result = marked && r->said[i].syntax ? compare_statement(c, r->said[i].stmt) : CMP_SAME;
	compare_close(c);
	return NULL;
}

/* NULL: what is said now is the same. */
static const char *
translation_settle(struct translation *r)
{
	int round, marked = 0, fd;

	for (round = 0; round < ROUNDS; round++) {
		int same = 0;
		const char *why = translation_assemble(r, 1, marked, &fd);

		if (why) {
			if (strcmp(why, ASSEMBLY_REJECTED) != 0 || !translation_rejected(r))
				return why;
			continue;
		}
		why = translation_compare(r, marked, fd, &same);
		if (why || same)
			return why;
		if (marked && !translation_differing(r))
			return r->d->different;
		marked = 1;
	}
	return r->d->different;
}

/* Puts the translations into the text, which then owns them. */
static void
translation_put(const struct translation *r)
{
	struct text *t = r->t;
	size_t n = 1, i;
	char *at;

	for (i = 0; i < r->n; i++)
		n += r->said[i].s ? strlen(r->said[i].s) + 1 : 0;
	at = t->buf = xmalloc(n);
	*at++ = '\0';
	for (i = 0; i < r->n; i++) {
		const struct spoken *p = &r->said[i];
		struct stmt *st = &t->st[p->stmt];

		if (!p->syntax) {
			st->kind = ST_TEXT;
			st->s = t->buf;
		} else if (p->foreign)
			st->foreign = p->syntax;
		else {
			st->s = memcpy(at, p->s, strlen(p->s) + 1);
			at += strlen(p->s) + 1;
		}
	}
}

/* Does a directive change the syntax to the dialect's? */
static int
dialect_used(const struct text *t)
{
	size_t i;

	for (i = 0; i < t->n; i++)
		if ((t->st[i].kind == ST_DIRECTIVE || t->st[i].block) && t->m->dialect->after(t->st[i].s) > 0)
			return 1;
	return 0;
}

const char *
dialect_translate(struct text *t, const char *as, char *const *args)
{
	struct translation r = { .t = t, .d = t->m->dialect, .as = { as, t->m->asargs, args } };
	const char *why;
	size_t i;

	if (!r.d || !dialect_used(t))
		return NULL;
	if (assembly_open(&r.a) != 0)
		return ASSEMBLY_NOTEMP;
	translation_find(&r);
	why = r.unclear ? "a macro may change the syntax of what comes after it" : translation_settle(&r);
	if (!why)
		translation_put(&r);
	assembly_close(&r.a);
	for (i = 0; i < r.n; i++)
		free(r.said[i].s);
	free(r.said);
	return why;
}
