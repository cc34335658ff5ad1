/* Finds the landing pads of functions: reads their tables of exceptions. See landing.h. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "ae/rewrite/emit.h"
#include "ae/rewrite/landing.h"
#include "base/mem.h"

struct table_reader {
	struct file *f;
	uint32_t fn;
	unsigned frag;
	uint32_t at;            /* the next statement */
	int bad;
};

/* The operand of the next directive, which must be `name`; labels and alignment before it are passed over. */
static const char *
reader_next(struct table_reader *r, const char *name)
{
	const char *a = NULL;

	for (; !r->bad && !a && r->at < r->f->text.n; r->at++) {
		const struct stmt *st = &r->f->text.st[r->at];

		if (st->kind == ST_LABEL || st->kind == ST_TEXT || (st->kind == ST_DIRECTIVE &&
		    (text_directive(st->s, ".align") || text_directive(st->s, ".p2align") || text_directive(st->s, ".balign"))))
			continue;
		if (st->kind != ST_DIRECTIVE || !(a = text_directive(st->s, name)))
			break;
	}
	r->bad |= !a;
	return a;
}

/* The same for a number without a sign: gcc writes .uleb128 for each, clang .byte for a small one. */
static const char *
reader_number(struct table_reader *r)
{
	uint32_t at = r->at;
	const char *a = reader_next(r, ".uleb128");

	if (a || at == r->f->text.n)
		return a;
	r->at = at;
	r->bad = 0;
	return reader_next(r, ".byte");
}

/* Is that the number n? */
static int
reader_is(const char *s, unsigned long n)
{
	char *end;

	return s && isdigit((unsigned char)*s) && strtoul(s, &end, 0) == n && !*end;
}

/* The first symbol of `A-B`, NULL if s is no such expression. */
static const char *
reader_difference(struct table_reader *r, const char *s, size_t *n)
{
	const char *a = s ? text_symbol(r->f->m, s, n) : NULL;
	size_t k;

	if (!a || a != s || a[*n] != '-' || text_symbol(r->f->m, a + *n, &k) != a + *n + 1 || a[*n + 1 + k]) {
		r->bad = 1;
		return NULL;
	}
	return a;
}

/* The statement of the label that begins an expression; it must be in this fragment. */
static uint32_t
reader_label(struct table_reader *r, const char *s)
{
	size_t n;
	const char *a = reader_difference(r, s, &n);
	const struct sym *y = a ? symtab_find(&r->f->sym, a, n) : NULL;

	if (!y || y->where != 1 || y->fn != r->fn || y->frag != r->frag) {
		r->bad = 1;
		return NONE;
	}
	return y->stmt;
}

static int
ends_table(const struct stmt *st)
{
	static const char *const ends[] = { ".section", ".text", ".data", ".previous", ".pushsection", ".popsection", ".size",
		".cfi_endproc" };
	size_t i;

	if (st->kind == ST_INSN)
		return 1;
	for (i = 0; st->kind == ST_DIRECTIVE && i < sizeof ends / sizeof ends[0]; i++)
		if (text_directive(st->s, ends[i]))
			return 1;
	return 0;
}

static void
read_sites(struct table_reader *r, struct lsda *t, const char *end, size_t n)
{
	const struct stmt *st = r->f->text.st;

	for (;;) {
		struct callsite c;
		const char *a;

		while (r->at < r->f->text.n && (st[r->at].kind == ST_LABEL || st[r->at].kind == ST_TEXT)) {
			const struct stmt *here = &st[r->at++];

			if (here->kind == ST_LABEL && strlen(here->s) == n && memcmp(here->s, end, n) == 0)
				return;
		}
		c.from = reader_label(r, reader_next(r, ".uleb128"));
		c.to = reader_label(r, reader_next(r, ".uleb128"));
		a = r->bad ? NULL : reader_number(r);
		c.pad = reader_is(a, 0) ? NONE : reader_label(r, a);
		c.action = r->bad ? NULL : reader_number(r);
		if (r->bad)
			return;
		t->site = mem_xgrow(t->site, &t->cap, t->n + 1, sizeof *t->site);
		t->site[t->n++] = c;
	}
}

static struct lsda *
read_table(struct table_reader *r)
{
	struct lsda *t = xcalloc(1, sizeof *t);
	const struct text *text = &r->f->text;
	const char *a, *s;
	size_t n;

	for (t->section = r->at; t->section > 0 && !text_directive(text->st[t->section].s, ".section"); )
		t->section--;
	r->bad |= !text_directive(text->st[t->section].s, ".section");
	a = reader_next(r, ".byte");
	r->bad |= !reader_is(a, 0xff);                  /* landing pads are relative to the function */
	t->encoding = reader_next(r, ".byte");
	if (t->encoding && !reader_is(t->encoding, 0xff)) {
		s = reader_difference(r, reader_next(r, ".uleb128"), &n);
		if (s)
			t->types = xstrndup(s, n);
	}
	a = reader_next(r, ".byte");
	r->bad |= !reader_is(a, 1);                     /* numbers of any length */
	s = reader_difference(r, reader_next(r, ".uleb128"), &n);
	if (s && !r->bad)
		read_sites(r, t, s, n);
	t->rest = t->end = r->at;
	while (t->end < text->n && !ends_table(&text->st[t->end]))
		t->end++;
	return t;
}

void
landing_free(struct lsda *t)
{
	if (!t)
		return;
	free(t->types);
	free(t->site);
	free(t);
}

/* The directive .cfi_lsda of a fragment, NONE: it has none. */
static uint32_t
lsda_directive(const struct file *f, const struct afunc *fn, unsigned frag)
{
	uint32_t first = fn->ins[fn->frag[frag].first].stmt, i = first;

	while (i-- > 0 && f->text.st[i].kind != ST_INSN && !text_directive(f->text.st[i].s, ".cfi_startproc"))
		if (f->text.st[i].kind == ST_DIRECTIVE && text_directive(f->text.st[i].s, ".cfi_lsda"))
			return i;
	return NONE;
}

/* Reads the table of a fragment: its calls have the statements of their landing pads' labels. */
static void
landing_fragment(struct file *f, uint32_t no, unsigned frag)
{
	struct afunc *fn = &f->fn[no];
	struct table_reader r = { .f = f, .fn = no, .frag = frag };
	uint32_t at = lsda_directive(f, fn, frag), i, line;
	const struct sym *y;
	const char *s;
	size_t n, k;

	if (at == NONE)
		return;
	line = f->text.st[at].line;
	if (!f->m->emit->land) {
		fn_fail(fn, line, "exceptions of C++");
		return;
	}
	s = strchr(f->text.st[at].s, ',');
	s = s ? text_symbol(f->m, s, &n) : NULL;
	y = s ? symtab_find(&f->sym, s, n) : NULL;
	r.bad = !y || y->where != 2;
	if (!r.bad) {
		r.at = y->stmt;
		fn->lsda[frag] = read_table(&r);
	}
	if (r.bad) {
		fn_fail(fn, line, "a table of exceptions in an unknown form");
		return;
	}
	for (k = 0; k < fn->lsda[frag]->n; k++) {
		const struct callsite *c = &fn->lsda[frag]->site[k];

		f->bound[c->from] |= 1;
		f->bound[c->to] |= 1;
		for (i = 0; i < fn->nins; i++) {
			struct ainsn *a = &fn->ins[i];

			if ((a->in.ctl == IC_CALL || a->in.ctl == IC_CALLIND) && a->stmt > c->from && a->stmt < c->to)
				a->pads = c->pad;
		}
	}
}

/* Does the stack pointer at a landing pad differ from that at the call, because arguments were pushed? */
static int
pushes(const struct file *f, const struct afunc *fn)
{
	uint32_t i;
	unsigned frag;

	for (frag = 0; frag < fn->nfrag; frag++)
		for (i = fn->ins[fn->frag[frag].first].stmt; i < f->text.n; i++) {
			const char *a = f->text.st[i].kind == ST_DIRECTIVE ? text_directive(f->text.st[i].s, ".cfi_escape") : NULL;

			if (a && strncmp(a, "0x2e,", 5) == 0)
				return 1;
			if (f->text.st[i].kind == ST_DIRECTIVE && text_directive(f->text.st[i].s, ".cfi_endproc"))
				break;
		}
	return 0;
}

/* Marks, for each instruction, whether a landing pad's label is before it. */
static int
mark_pads(struct file *f, struct afunc *fn, uint8_t *marked)
{
	int any = 0;
	unsigned frag;
	size_t k;

	for (frag = 0; frag < fn->nfrag; frag++)
		for (k = 0; fn->lsda[frag] && k < fn->lsda[frag]->n; k++) {
			uint32_t pad = fn->lsda[frag]->site[k].pad;
			const char *s = pad == NONE ? NULL : f->text.st[pad].s;
			const struct sym *y = s ? symtab_find(&f->sym, s, strlen(s)) : NULL;

			if (!y)
				continue;
			if (y->ins >= fn->nins) {
				fn_fail(fn, f->text.st[pad].line, "a landing pad without an instruction");
				return 0;
			}
			f->bound[pad] |= 2;
			marked[y->ins] = 1;
			any = 1;
		}
	return any;
}

/* The number of label st's landing pad. */
static uint32_t
pad_at(const struct file *f, uint32_t st)
{
	const char *s = f->text.st[st].s;

	return symtab_find(&f->sym, s, strlen(s))->ins;
}

/* Labels at the place of a landing pad that are not its own are after it. */
static void
other_labels(struct file *f, uint32_t no)
{
	const struct afunc *fn = &f->fn[no];
	size_t i;

	for (i = 0; i < f->sym.n; i++) {
		struct sym *y = f->sym.sym[i];

		if (y->where == 1 && y->fn == no && y->ins < fn->nins && fn->ins[y->ins].lands && !(f->bound[y->stmt] & 2))
			y->ins++;
	}
}

static void
insert_pads(struct file *f, uint32_t no, const uint8_t *marked)
{
	struct afunc *fn = &f->fn[no];
	struct ainsn *list = xcalloc(2 * fn->nins + 1, sizeof *list);
	uint32_t *moved = xcalloc(fn->nins + 1, sizeof *moved);
	size_t i, n = 0;

	for (i = 0; i < fn->nins; i++) {
		if (marked[i]) {
			struct ainsn *a = &list[n++];

			a->pad = a->lands = a->leader = 1;
			a->stmt = fn->ins[i].stmt;
			a->frag = fn->ins[i].frag;
			a->off = fn->ins[i].off;
			a->target = a->callee = a->table = a->pads = NONE;
		}
		moved[i] = (uint32_t)n;
		list[n++] = fn->ins[i];
	}
	moved[fn->nins] = (uint32_t)n;
	file_replace(f, no, list, n, moved);
	free(moved);
	other_labels(f, no);
	for (i = 0; i < n; i++)
		if (list[i].pads != NONE)
			list[i].pads = pad_at(f, list[i].pads);
}

/* Does control come to the landing pad at i in another way? A call before it does not return. */
static int
pad_entered(const struct afunc *fn, uint32_t i)
{
	const struct ainsn *a;

	while (i > 0 && fn->ins[i - 1].pad && !fn->ins[i - 1].lands && fn->ins[i - 1].frag == fn->ins[i].frag)
		i--;
	if (i == 0 || fn->ins[i - 1].frag != fn->ins[i].frag)
		return i == 0;
	a = &fn->ins[i - 1];
	/* where gcc keeps a landing pad from being at offset 0 of its section */
	if (i >= 2 && !a->leader && fn->ins[i - 2].frag != a->frag)
		return 0;
	return a->in.ctl == IC_NONE || a->in.ctl == IC_BRANCH || a->lands;
}

void
landing_find(struct file *f)
{
	uint32_t no, i;
	unsigned frag;

	f->bound = xcalloc(f->text.n + 1, sizeof *f->bound);
	for (no = 0; no < f->nfn; no++) {
		struct afunc *fn = &f->fn[no];
		uint8_t *marked;

		for (frag = 0; frag < fn->nfrag && !fn->why; frag++)
			landing_fragment(f, no, frag);
		if (fn->why || !(fn->lsda[0] || fn->lsda[1]))
			continue;
		fn->pushes = (uint8_t)pushes(f, fn);
		marked = xcalloc(fn->nins + 1, 1);
		if (mark_pads(f, fn, marked))
			insert_pads(f, no, marked);
		free(marked);
		for (i = 0; i < fn->nins && !fn->why; i++)
			if (fn->ins[i].lands && pad_entered(fn, i))
				fn_fail(fn, f->text.st[fn->ins[i].stmt].line, "control falls into a landing pad");
	}
}
