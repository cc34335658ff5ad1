/* The call frame directives and tables of exceptions of the copies of a function. See landing.h. */
#include <stdlib.h>
#include <string.h>
#include "ae/rewrite/emit.h"
#include "ae/rewrite/landing.h"

static int
is_cfi(const struct stmt *st)
{
	return st->kind == ST_DIRECTIVE && strncmp(st->s, ".cfi_", 5) == 0 && !text_directive(st->s, ".cfi_label") &&
	    !text_directive(st->s, ".cfi_sections");
}

static void
copy_cfi(struct buf *o, const struct file *f, const struct afunc *fn, const char *s, const struct landing_names *names)
{
	char *named = names->twin && fn->renamed ? f->m->emit->rename(s, f->m->buffer, fn->renamed) : NULL;

	buf_printf(o, "\t%s\n", named ? named : s);
	free(named);
}

static void
copy_text(struct buf *o, const struct file *f, uint32_t no, unsigned frag, uint32_t from, uint32_t to,
    const struct landing_names *names)
{
	const char *a;

	for (; f->m->emit->land && from < to; from++) {
		const struct stmt *st = &f->text.st[from];

		if (st->kind == ST_LABEL && (f->bound[from] & 1))
			buf_printf(o, LBL2 ":\n", names->bound, no, from);
		else if (is_cfi(st) && (a = text_directive(st->s, ".cfi_lsda")) != NULL)
			buf_printf(o, "\t.cfi_lsda %.*s, " LBL2 "\n", (int)strcspn(a, ","), a, names->table, no, frag);
		else if (is_cfi(st))
			copy_cfi(o, f, &f->fn[no], st->s, names);
	}
}

void
landing_between(struct buf *o, const struct file *f, uint32_t no, uint32_t from, uint32_t to,
    const struct landing_names *names)
{
	copy_text(o, f, no, 0, from, to, names);
}

/* The .cfi_startproc before a fragment; NONE: there is none. */
static uint32_t
start_of(const struct file *f, uint32_t first)
{
	while (first-- > 0 && f->text.st[first].kind != ST_INSN)
		if (f->text.st[first].kind == ST_DIRECTIVE && text_directive(f->text.st[first].s, ".cfi_startproc"))
			return first;
	return NONE;
}

void
landing_begin(struct buf *o, const struct file *f, uint32_t no, unsigned frag, const struct landing_names *names)
{
	const struct afunc *fn = &f->fn[no];
	uint32_t first = fn->ins[fn->frag[frag].first].stmt, start = start_of(f, first);

	if (!f->m->emit->land)
		return;
	if (fn->lsda[frag])
		buf_printf(o, LBL2 ":\n", names->begin, no, frag);
	if (start != NONE)
		copy_text(o, f, no, frag, start, first, names);
}

void
landing_end(struct buf *o, const struct file *f, uint32_t no, unsigned frag, const struct landing_names *names)
{
	const struct afunc *fn = &f->fn[no];
	uint32_t i = frag ? (uint32_t)fn->nins : fn_frag_end(fn), to;

	if (!f->m->emit->land || start_of(f, fn->ins[fn->frag[frag].first].stmt) == NONE)
		return;
	for (to = i = fn->ins[i - 1].stmt + 1; to < f->text.n && f->text.st[to].kind != ST_INSN; to++)
		if (f->text.st[to].kind == ST_DIRECTIVE && text_directive(f->text.st[to].s, ".cfi_endproc")) {
			to++;
			break;
		}
	landing_between(o, f, no, i, to, names);
}

/* A bound of a call site, as an operand; clang's first one is before the first instruction. */
static void
table_bound(struct buf *o, const struct file *f, uint32_t no, unsigned frag, uint32_t stmt, const struct landing_names *names)
{
	const struct afunc *fn = &f->fn[no];

	if (stmt < fn->ins[fn->frag[frag].first].stmt)
		buf_printf(o, LBL2, names->begin, no, frag);
	else
		buf_printf(o, LBL2, names->bound, no, stmt);
}

/* Actions and types. clang writes what is relative to its own place as the distance from a label there. */
static void
table_rest(struct buf *o, const struct file *f, uint32_t no, unsigned frag, const struct landing_names *names)
{
	const struct lsda *t = f->fn[no].lsda[frag];
	const char *here = NULL, *minus;
	uint32_t i;

	for (i = t->rest; i < t->end; i++) {
		const struct stmt *st = &f->text.st[i];

		if (st->kind == ST_DIRECTIVE) {
			minus = here ? strrchr(st->s, '-') : NULL;
			if (minus && strcmp(minus + 1, here) == 0)
				buf_printf(o, "\t%.*s-.\n", (int)(minus - st->s), st->s);
			else
				buf_printf(o, "\t%s\n", st->s);
			here = NULL;
		} else if (st->kind == ST_LABEL) {
			here = st->s;
			if (t->types && strcmp(st->s, t->types) == 0)
				buf_printf(o, LBL2 "_t:\n", names->table, no, frag);
		}
	}
}

static void
landing_table(struct buf *o, const struct file *f, uint32_t no, unsigned frag, const struct landing_names *names)
{
	const struct lsda *t = f->fn[no].lsda[frag];
	const char g = names->table;
	size_t k;

	buf_printf(o, "\t.pushsection\t%s\n\t.balign 4\n" LBL2 ":\n\t.byte\t0xff\n\t.byte\t%s\n",
	    text_directive(f->text.st[t->section].s, ".section"), g, no, frag, t->encoding);
	if (t->types)
		buf_printf(o, "\t.uleb128 " LBL2 "_t-" LBL2 "_d\n" LBL2 "_d:\n", g, no, frag, g, no, frag, g, no, frag);
	buf_printf(o, "\t.byte\t0x1\n\t.uleb128 " LBL2 "_e-" LBL2 "_b\n" LBL2 "_b:\n", g, no, frag, g, no, frag, g, no, frag);
	for (k = 0; k < t->n; k++) {
		const struct callsite *c = &t->site[k];
		const char *pad = c->pad == NONE ? NULL : f->text.st[c->pad].s;

		buf_str(o, "\t.uleb128 ");
		table_bound(o, f, no, frag, c->from, names);
		buf_printf(o, "-" LBL2 "\n\t.uleb128 ", names->begin, no, frag);
		table_bound(o, f, no, frag, c->to, names);
		buf_str(o, "-");
		table_bound(o, f, no, frag, c->from, names);
		buf_str(o, "\n");
		if (pad)
			buf_printf(o, "\t.uleb128 " LBL2 "-" LBL2 "\n", names->pad, no,
			    symtab_find(&f->sym, pad, strlen(pad))->ins, names->begin, no, frag);
		else
			buf_str(o, "\t.uleb128 0\n");
		buf_printf(o, "\t.uleb128 %s\n", c->action);
	}
	buf_printf(o, LBL2 "_e:\n", g, no, frag);
	table_rest(o, f, no, frag, names);
	buf_str(o, "\t.popsection\n");
}

void
landing_tables(struct buf *o, const struct file *f, uint32_t no, unsigned n, const struct landing_names *names)
{
	unsigned frag;

	for (frag = 0; frag < n; frag++)
		if (f->fn[no].lsda[frag])
			landing_table(o, f, no, frag, names);
}
