/* Finds functions, labels and jump tables in assembly text. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "ae/rewrite/cfg.h"
#include "ae/rewrite/file.h"
#include "ae/rewrite/landing.h"
#include "base/mem.h"
#include "base/search.h"

/* CONST: read-only data; ASIDE: neither code nor data of the program (debugging, unwinding) */
enum { CODE, DATA, CONST, ASIDE };

struct where {
	struct file *f;
	uint32_t fn;            /* open function, NONE outside */
	uint32_t frag;
	struct place { int kind; uint32_t unit; uint8_t once; } at[16];        /* the current section; a stack for .pushsection */
	int depth;
	struct place before;    /* the section before it, for .previous */
	uint32_t table;         /* jump table being read, NONE otherwise */
};

void
fn_fail(struct afunc *fn, uint32_t line, const char *why)
{
	if (!fn->why) {
		fn->why = why;
		fn->whyline = line;
	}
}

/* First pass: symbols that directives set, and whether that may be more than once. */
static void
asm_set(struct file *f, const struct stmt *st)
{
	static const char *const words[] = { ".set", ".equ", ".eqv", NULL };
	const char *a = NULL, *end;
	struct sym *y;
	size_t i, n;

	for (i = 0; words[i] && !a; i++)
		a = text_directive(st->s, words[i]);
	if (!a)
		a = st->s;
	for (n = 0; text_symchar((unsigned char)a[n]); n++)
		;
	end = a + n + strspn(a + n, " \t");
	if (*a == '\\' && (a != st->s || strchr(a, '=')))
		f->text.anymacro = 1;   /* in a macro: any symbol */
	if (!n || *end != (a == st->s ? '=' : ','))
		return;
	y = symtab_get(&f->sym, a, n);
	/* what is set to an expression (==) changes with what is in that; a block is perhaps there more than once */
	y->nset = (uint8_t)(y->nset || st->block || end[1] == '=' || text_directive(st->s, ".eqv") ? 2 : 1);
	f->varies |= y->nset > 1;
}

/* First pass: types and bindings, which may come before or after the label. */
static void
asm_declare(struct file *f, const struct stmt *st)
{
	static const char *const kinds[] = { ".weak", ".set", ".globl", ".global", ".type" };
	size_t i, n;

	for (i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
		const char *a = text_directive(st->s, kinds[i]), *s;
		struct sym *y;

		if (!a || !(s = text_symbol(f->m, a, &n)))
			continue;
		y = symtab_get(&f->sym, s, n);
		if (i == 0)
			y->weak = 1;
		else if (i == 1)
			y->seton = 1;
		else if (i < 4)
			y->global = 1;
		else if (strstr(s + n, "@function") || strstr(s + n, "STT_FUNC"))
			y->isfunc = 1;
		else if (strstr(s + n, "gnu_indirect_function") || strstr(s + n, "STT_GNU_IFUNC"))
			y->indirect = 1;
		else if (strstr(s + n, "@gnu_unique_object"))
			y->weak = 1;    /* a library's may be used instead */
	}
}

/* The kind of the section that the arguments of `.section` name. */
static int
section_kind(const char *a)
{
	static const char *const aside[] = { ".debug", ".eh_frame", ".gcc_except_table", ".note", ".comment",
		".stab" };
	const char *flags = strchr(a, ',');
	size_t i;

	for (i = 0; i < sizeof aside / sizeof aside[0]; i++)
		if (strncmp(a, aside[i], strlen(aside[i])) == 0)
			return ASIDE;
	if (strncmp(a, ".text", 5) == 0)
		return CODE;
	if (strncmp(a, ".rodata", 7) == 0)
		return CONST;
	if (flags && (flags = strchr(flags, '"')) != NULL)
		for (flags++; *flags && *flags != '"'; flags++)
			if (*flags == 'x')
				return CODE;
	return DATA;
}

/* The unit of the comdat group that the arguments of `.section` name; 0 for none. */
static uint32_t
section_unit(struct file *f, const char *a)
{
	const char *flags = strchr(a, '"'), *end = flags ? strchr(flags + 1, '"') : NULL;
	int skip, group = 0;
	size_t n;
	struct sym *y;

	if (!end)
		return 0;
	for (skip = 1, flags++; flags < end; flags++) {
		group |= *flags == 'G';
		skip += *flags == 'M';
	}
	for (a = end + 1; group && *a == ',' && skip--; )       /* the type, and with M a size */
		a += 1 + strcspn(a + 1, ",");
	if (!group || *a != ',')
		return 0;
	for (a++; isblank((unsigned char)*a); a++)
		;
	n = strcspn(a, ",");
	y = symtab_get(&f->group, a, n);
	if (y->fn == NONE)
		y->fn = (uint32_t)f->group.n;
	return y->fn;
}

static struct place
section_place(struct file *f, const char *a)
{
	struct place p = { section_kind(a), section_unit(f, a), strncmp(a, ".gnu.linkonce", 13) == 0 };

	return p;
}

static void
asm_section(struct where *w, const char *s)
{
	struct place was = w->at[w->depth], to = { DATA, 0, 0 };
	const char *a;

	if ((a = text_directive(s, ".pushsection")) != NULL) {
		if (w->depth < 15)
			w->depth++;
		to = section_place(w->f, a);
	} else if (text_directive(s, ".popsection")) {
		if (w->depth)
			w->depth--;
		return;
	} else if ((a = text_directive(s, ".section")) != NULL)
		to = section_place(w->f, a);
	else if (text_directive(s, ".text"))
		to.kind = CODE;
	else if (text_directive(s, ".rdata"))
		to.kind = CONST;
	else if (text_directive(s, ".data") || text_directive(s, ".bss") || text_directive(s, ".sdata") ||
	    text_directive(s, ".sbss"))
		to.kind = DATA;
	else if (text_directive(s, ".previous"))
		to = w->before;
	else
		return;
	w->before = was;
	w->at[w->depth] = to;
}

static uint32_t
new_function(struct where *w, const struct sym *y)
{
	struct file *f = w->f;
	struct afunc *fn;

	f->fn = mem_xgrow(f->fn, &f->capfn, f->nfn + 1, sizeof *f->fn);
	fn = &f->fn[f->nfn];
	memset(fn, 0, sizeof *fn);
	fn->m = f->m;
	fn->paper = (uint8_t)f->paper;
	fn->name = y->name;
	fn->weak = y->weak;
	fn->unit = w->at[w->depth].unit;
	fn->nfrag = 1;
	return (uint32_t)f->nfn++;
}

static void
asm_label(struct where *w, const struct stmt *st)
{
	struct file *f = w->f;
	struct sym *y = symtab_get(&f->sym, st->s, strlen(st->s));
	size_t len = strlen(st->s);
	struct sym *hot = NULL;

	w->table = NONE;
	if (isdigit((unsigned char)*st->s))
		return;
	if (len > 5 && strcmp(st->s + len - 5, ".cold") == 0)
		hot = symtab_find(&f->sym, st->s, len - 5);
	if (hot && hot->func != NONE && f->fn[hot->func].nfrag == 1) {
		w->fn = hot->func;
		w->frag = 1;
		f->fn[w->fn].nfrag = 2;
		f->fn[w->fn].frag[1].first = (uint32_t)f->fn[w->fn].nins;
		if (f->fn[w->fn].unit != w->at[w->depth].unit)
			fn_fail(&f->fn[w->fn], st->line, "its cold part is in another group of sections");
	} else if ((y->isfunc || y->indirect) && w->at[w->depth].kind == CODE) {
		if (w->fn != NONE && !f->fn[w->fn].closed)
			fn_fail(&f->fn[w->fn], st->line, "another function starts inside");
		w->fn = y->func = new_function(w, y);
		w->frag = 0;
		if (w->at[w->depth].once)
			fn_fail(&f->fn[w->fn], st->line, "section of which the linker keeps one copy, without a group");
		if (y->indirect)        /* compilers give its resolver a name of its own */
			fn_fail(&f->fn[w->fn], st->line, "the name stands for the function whose address this one returns");
	}
	y->stmt = (uint32_t)(st - f->text.st);
	if (w->fn != NONE && w->at[w->depth].kind == CODE) {
		y->where = 1;
		y->fn = w->fn;
		y->frag = (uint8_t)w->frag;
		y->ins = (uint32_t)f->fn[w->fn].nins;
	} else {
		y->where = 2;
		y->readonly = w->at[w->depth].kind == CONST;
	}
}

/* Is the statement another one where the assembler finds it for a second time, in the function's copy? */
static void
asm_again(const struct file *f, struct afunc *fn, const struct stmt *st)
{
	const char *s = text_operands(f->m, st->s);
	size_t n;

	if (text_uses_macro(&f->text, st->s))
		fn_fail(fn, st->line, "may be a macro of the assembler");
	for (; f->varies && (s = text_symbol(f->m, s, &n)) != NULL; s += n) {
		const struct sym *y = symtab_find(&f->sym, s, n);

		if (y && y->nset > 1)
			fn_fail(fn, st->line, "a symbol that is set more than once");
	}
}

static void
asm_instruction(struct where *w, uint32_t i)
{
	struct afunc *fn;
	struct ainsn *a;

	w->table = NONE;
	if (w->fn == NONE || w->at[w->depth].kind != CODE)
		return;
	fn = &w->f->fn[w->fn];
	fn->ins = mem_xgrow(fn->ins, &fn->capins, fn->nins + 1, sizeof *fn->ins);
	a = &fn->ins[fn->nins++];
	memset(a, 0, sizeof *a);
	a->stmt = i;
	a->frag = (uint8_t)w->frag;
	a->target = a->callee = a->table = a->pads = NONE;
	w->f->owner[i] = w->fn + 1;
	asm_again(w->f, fn, &w->f->text.st[i]);
	if (w->f->text.st[i].foreign)
		fn_fail(fn, w->f->text.st[i].line, fn->m->dialect->untranslated);
}

static void
asm_directive(struct where *w, const struct stmt *st)
{
	struct file *f = w->f;
	const char *a;
	size_t n;

	asm_section(w, st->s);
	if (!*f->source && (a = text_directive(st->s, ".file")) != NULL) {
		/* gcc for MIPS writes a number first */
		while (isdigit((unsigned char)*a) || isblank((unsigned char)*a))
			a++;
		if (*a == '"' && (n = strcspn(a + 1, "\"")) != 0)
			f->source = xstrndup(a + 1, n);
	}
	if (w->fn == NONE)
		return;
	if (text_uses_macro(&f->text, st->s))
		fn_fail(&f->fn[w->fn], st->line, "may be a macro of the assembler");
	if (text_repeats(st->s))
		fn_fail(&f->fn[w->fn], st->line, "code that the assembler repeats");
	if (st->foreign)
		fn_fail(&f->fn[w->fn], st->line, f->m->dialect->untranslated);
	if ((a = text_directive(st->s, ".size")) != NULL) {
		n = strlen(f->fn[w->fn].name);
		if (strncmp(a, f->fn[w->fn].name, n) == 0 &&
		    (a[n] == ',' || strncmp(a + n, ".cold", 5) == 0)) {
			f->fn[w->fn].closed = 1;
			w->fn = NONE;
		}
	} else if (st->inasm && strncmp(st->s, ".cfi", 4) != 0 && !text_directive(st->s, ".set") &&
	    !text_directive(st->s, ".p2align") && !text_directive(st->s, ".balign") &&
	    !text_directive(st->s, ".align"))
		fn_fail(&f->fn[w->fn], st->line, "assembler directive in inline assembly");
}

/* Second pass, using the declarations of the first. */
static void
place_all(struct file *f)
{
	struct where w = { .f = f, .fn = NONE, .table = NONE };
	size_t i;

	for (i = 0; i < f->text.n; i++) {
		const struct stmt *st = &f->text.st[i];

		switch (st->kind) {
		case ST_LABEL:
			asm_label(&w, st);
			break;
		case ST_DIRECTIVE:
			asm_directive(&w, st);
			break;
		case ST_INSN:
			asm_instruction(&w, (uint32_t)i);
			break;
		default:
			break;
		}
	}
}

/* A data directive with symbols: code labels become reachable, and may form a jump table. */
static void
data_words(struct where *w, uint32_t i, const struct sym *at)
{
	struct file *f = w->f;
	const char *const *words = f->m->words;
	const char *a = NULL, *s;
	size_t k, n;
	int first = 1;

	for (k = 0; words[k] && !a; k++)
		a = text_directive(f->text.st[i].s, words[k]);
	if (!a)
		return;
	for (s = a; (s = text_symbol(f->m, s, &n)) != NULL; s += n) {
		struct sym *y = symtab_find(&f->sym, s, n);
		struct jtable *t;
		int relative;

		if (!y || y->where != 1 || y->func != NONE || y->ins >= f->fn[y->fn].nins)
			continue;
		f->fn[y->fn].ins[y->ins].leader = f->fn[y->fn].ins[y->ins].taken = 1;
		if (!at || !first)
			continue;
		first = 0;
		relative = k == 2 && a == s && a[n] == '-' && strcmp(a + n + 1, at->name) == 0;
		f->fn[y->fn].codetaken = 1;
		if (w->table == NONE) {
			f->tab = mem_xgrow(f->tab, &f->captab, f->ntab + 1, sizeof *f->tab);
			t = &f->tab[f->ntab];
			memset(t, 0, sizeof *t);
			t->label = at->name;
			t->func = y->fn;
			t->absolute = k == 1;   /* the loop stopped after words[0] */
			t->relative = (uint8_t)relative;
			t->stmt = i;
			w->table = (uint32_t)f->ntab++;
			symtab_find(&f->sym, at->name, strlen(at->name))->table = w->table;
		}
		t = &f->tab[w->table];
		t->target = mem_xgrow(t->target, &t->cap, t->n + 1, sizeof *t->target);
		t->target[t->n++] = y->ins;
		if (t->func != y->fn || (t->relative ? !relative : strlen(a) != n))
			t->mixed = 1;
	}
	if (first && w->table != NONE)
		f->tab[w->table].mixed = 1;
}

/* Jump tables; after lifting, when the positions of labels are known. */
void
file_tables(struct file *f)
{
	struct where w = { .f = f, .fn = NONE, .table = NONE };
	const struct sym *at = NULL;
	uint32_t i;

	for (i = 0; i < f->text.n; i++) {
		const struct stmt *st = &f->text.st[i];

		if (st->kind == ST_LABEL) {
			const struct sym *y = symtab_find(&f->sym, st->s, strlen(st->s));

			at = y && y->where == 2 ? y : NULL;
			w.table = NONE;
		} else if (st->kind == ST_DIRECTIVE) {
			asm_section(&w, st->s);
			if (w.at[w.depth].kind != ASIDE)
				data_words(&w, i, at);
		} else if (st->kind == ST_INSN) {
			at = NULL;
		}
	}
}

void
file_recover(struct file *f)
{
	size_t i;

	f->owner = xcalloc(f->text.n + 1, sizeof *f->owner);
	f->source = "";
	for (i = 0; i < f->text.n; i++)
		if (f->text.st[i].kind == ST_DIRECTIVE)
			asm_declare(f, &f->text.st[i]);
	for (i = 0; i < f->text.n; i++)
		if (f->text.st[i].kind == ST_DIRECTIVE || f->text.st[i].block)
			asm_set(f, &f->text.st[i]);
	place_all(f);
	for (i = 0; i < f->nfn; i++) {
		struct afunc *fn = &f->fn[i];

		if (fn->nins == 0)
			fn_fail(fn, 0, "no instructions");
		else if (fn->ins[fn->nins - 1].frag == 0)       /* a cold part that is empty: __builtin_unreachable() */
			fn->nfrag = 1;
	}
	f->labelat = xcalloc(f->text.n + 1, sizeof *f->labelat);
	memset(f->labelat, 0xff, (f->text.n + 1) * sizeof *f->labelat);
}

void
file_replace(struct file *f, uint32_t no, struct ainsn *ins, size_t n, const uint32_t *moved)
{
	struct afunc *fn = &f->fn[no];
	size_t i;

	for (i = 0; i < fn->nfrag; i++)
		fn->frag[i].first = moved[fn->frag[i].first];
	free(fn->ins);
	fn->ins = ins;
	fn->nins = fn->capins = n;
	for (i = 0; i < f->sym.n; i++) {
		struct sym *y = f->sym.sym[i];
		uint32_t at;

		if (y->where != 1 || y->fn != no)
			continue;
		at = f->labelat[y->stmt] == NONE ? NONE : fn_at(fn, y->frag, f->labelat[y->stmt]);
		y->ins = at == NONE ? (uint32_t)n : at;
	}
}

uint32_t
fn_at(const struct afunc *fn, unsigned frag, uint32_t off)
{
	const struct ainsn *a = fn->ins;
	size_t i;

	LOWER_BOUND(i, fn->nins, a[i].frag < frag || (a[i].frag == frag && a[i].off < off));
	return i < fn->nins && a[i].frag == frag && a[i].off == off ? (uint32_t)i : NONE;
}

uint32_t
fn_frag_end(const struct afunc *fn)
{
	uint32_t n = 0;

	while (n < fn->nins && fn->ins[n].frag == 0)
		n++;
	return n;
}

void
file_free(struct file *f)
{
	size_t i, k;

	for (i = 0; i < f->nfn; i++) {
		for (k = 0; k < f->fn[i].nins; k++)
			free(f->fn[i].ins[k].text);
		cfg_free(&f->fn[i]);
		landing_free(f->fn[i].lsda[0]);
		landing_free(f->fn[i].lsda[1]);
		free(f->fn[i].rel);
		free(f->fn[i].slot);
		free(f->fn[i].ins);
	}
	for (i = 0; i < f->ntab; i++)
		free(f->tab[i].target);
	free(f->tab);
	free(f->fn);
	free(f->owner);
	free(f->labelat);
	free(f->bound);
	if (*f->source)
		free((char *)(uintptr_t)f->source);
	symtab_free(&f->sym);
	symtab_free(&f->group);
	text_free(&f->text);
}
