/* The rewritten file: original, copies, table and schema. */
#include <stdlib.h>
#include <string.h>
#include "ae/rewrite/emit.h"
#include "ae/rewrite/plan.h"
#include "base/mem.h"

/* The original text, unchanged except for labels (and padding after functions too short to patch). */
static void
rewrite_original(struct buf *o, struct file *f)
{
	uint32_t *next = xcalloc(f->nfn + 1, sizeof *next);
	size_t i;

	for (i = 0; i < f->text.n; i++) {
		const struct stmt *st = &f->text.st[i];
		struct afunc *fn = f->owner[i] ? &f->fn[f->owner[i] - 1] : NULL;
		uint32_t no = f->owner[i] - 1, k;

		if (fn && fn->why)
			fn = NULL;
		if (fn) {
			for (k = next[no]; fn->ins[k].pad || fn->ins[k].nth; k++)
				;
			next[no] = k + 1;
			if (k == fn->frag[fn->ins[k].frag].first)
				buf_printf(o, LBL ":\n", fn->ins[k].frag ? 'c' : 'o', no);
			buf_printf(o, LBL2 ":\n", 'u', no, k);
		}
		text_write(o, f->m, st);
		buf_str(o, "\n");
		if (fn && fn->fill && (next[no] == fn->nins || fn->ins[next[no]].frag == 1)) {
			buf_printf(o, "\t.skip\t%u, %u\n", fn->fill, f->m->filler);
			fn->fill = 0;
		}
	}
	free(next);
}

/*
 * A program that has a function of its own of that name is to call it, and not the wrapper (ld --wrap): the function may get
 * other arguments.
 */
static void
rewrite_unwrapped(struct buf *o, const struct file *f)
{
	const char *const *w = f->m->emit->wrapped;

	for (; w && *w; w++) {
		const struct sym *y = symtab_find(&f->sym, *w, strlen(*w));

		if (y && y->where && y->isfunc && y->global && !y->weak)
			buf_printf(o, "\t.weak\t__wrap_%s\n\t.hidden\t__wrap_%s\n\t.set\t__wrap_%s, %s\n", *w, *w, *w, *w);
	}
}

/* A symbol that is defined if any file says so: its group is its own, since of another one the linker may keep a file's without it. */
static void
rewrite_marker(struct buf *o, const struct file *f, const char *name)
{
	buf_printf(o, "\t.section\taetext.%s,\"axG\",@progbits,%s,comdat\n\t.weak\t%s\n\t.hidden\t%s\n%s:\t%s\n", name, name, name,
	    name, name, f->m->emit->back);
}

/* Runtime symbols: weak definitions, so that objects link without the runtime, whose own are strong. */
static void
rewrite_fallbacks(struct buf *o, const struct file *f)
{
	static const char *const code[] = { "__ae_enter", "__ae_again", "__ae_back", "__ae_land" };
	size_t i;

	buf_str(o, "\t.section\taetext.none,\"axG\",@progbits,__ae_none,comdat\n");
	for (i = 0; i < sizeof code / sizeof code[0]; i++)
		buf_printf(o, "\t.weak\t%s\n\t.hidden\t%s\n%s:\n", code[i], code[i], code[i]);
	buf_printf(o, "\t%s\n\t.hidden\t__start_aetext\n\t.hidden\t__stop_aetext\n", f->m->emit->trap);
	if (f->m->emit->length)
		buf_str(o, "\t.weak\t__ae_length\n\t.hidden\t__ae_length\n\t.balign 8\n__ae_length:\t.quad\t0\n");
	if (f->m->emit->vars)
		buf_str(o, "\t.section\t.bss.ae_none,\"awG\",@nobits,__ae_none,comdat\n\t.p2align 3\n"
		    "\t.weak\t__ae_ptr\n\t.hidden\t__ae_ptr\n__ae_ptr:\n\t.weak\t__ae_cb\n\t.hidden\t__ae_cb\n"
		    "__ae_cb:\n"
		    "\t.weak\t__ae_s\n\t.hidden\t__ae_s\n__ae_s:\n\t.skip\t32\n");
	buf_str(o, "\t.section\taetext.none2,\"axG\",@progbits,__ae_none2,comdat\n"
	    "\t.weak\t__ae_start\n__ae_start:\n\t.weak\t__ae_stop\n__ae_stop:\n");
	buf_printf(o, "\t%s\n", f->m->emit->back);
	if (f->waits)
		rewrite_marker(o, f, "__ae_waits");
	if (f->context)
		rewrite_marker(o, f, "__ae_uses_context");
	if (f->weakly)          /* for aecc, which links */
		rewrite_marker(o, f, "__ae_weakly");
}

static void
rewrite_bytes(struct buf *o, const uint8_t *p, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		buf_printf(o, "%s%u%s", i % 24 ? "," : "\t.byte\t", p[i], i % 24 == 23 ||
		    i + 1 == n ? "\n" : "");
}

int
emit_linked(const struct file *f, const struct afunc *fn, uint32_t i)
{
	const struct ainsn *a = &fn->ins[i];
	size_t n;

	return f->m->emit->links && !f->paper && a->in.ctl == IC_CALL && a->in.len == EMIT_CALLLEN && !a->twice &&
	    callee_if_traced(f, a) == NONE && !(i && fn->ins[i - 1].in.tls) && insn_target(f, a, &n);
}

void
emit_section(struct buf *o, const struct file *f, uint32_t unit, const char *name, const char *flags)
{
	if (unit)
		buf_printf(o, "\t.section\t%s,\"%sG\",@progbits,%s,comdat\n", name, flags, f->group.sym[unit - 1]->name);
	else
		buf_printf(o, "\t.section\t%s,\"%s\",@progbits\n", name, flags);
}

/* Addresses of the fragments: unaligned, so that units are adjacent. */
static void
rewrite_constants(struct buf *o, const struct file *f, const uint32_t *fn, uint32_t n)
{
	uint32_t i, k;

	for (i = 0; i < n; i++)
		for (k = 0; k < f->fn[fn[i]].nfrag; k++)
			buf_printf(o, f->m->word == 4 ? "\t.4byte\t" LBL ", 0\n" : "\t.8byte\t" LBL "\n", k ?
			    'c' : 'o', fn[i]);
}

static void
rewrite_schema(struct buf *o, struct file *f, uint32_t unit, const uint32_t *fn, uint32_t nfn)
{
	struct sch_unit *u = plan_unit(f, fn, nfn);
	size_t n, body = sch_body(u->ncst);
	uint8_t *p = sch_encode(u, &n);

	o->nomem |= !p;
	emit_section(o, f, unit, SCH_SECTION, "");
	if (!o->nomem) {
		rewrite_bytes(o, p, SCH_HEADER);
		rewrite_constants(o, f, fn, nfn);
		rewrite_constants(o, f, fn, nfn);       /* twice, see schema.h */
		rewrite_bytes(o, p + body, n - body);
	}
	free(p);
	plan_free(u);
}

/* What a unit's n functions, at least one, have besides their original text. */
static void
rewrite_unit(struct buf *o, struct file *f, uint32_t unit, const uint32_t *fn, uint32_t n)
{
	const struct emitter *e = f->m->emit;
	uint32_t i;

	buf_str(o, e->begin);
	emit_section(o, f, unit, "aetext", "ax");
	for (i = 0; i < n; i++) {
		e->thunk(o, f, fn[i]);
		emit_twin(o, f, fn[i]);
	}
	emit_section(o, f, unit, "aeplain", "ax");
	for (i = 0; i < n; i++) {
		buf_printf(o, LBL ":\n", 'p', fn[i]);
		e->plain(o, f, fn[i]);
	}
	/* no padding between the entries of two files */
	buf_str(o, e->end ? e->end(f) : "");
	emit_section(o, f, unit, "aefn", "aw");
	buf_printf(o, "\t.balign %u\n", f->m->word);
	for (i = 0; i < n; i++)
		buf_printf(o, LBL ":\n\t%s\t" LBL ", " LBL ", %d\n", 'n', fn[i], f->m->words[0], 'o', fn[i], 'h', fn[i],
		    EMIT_OBJECTS + (f->fn[fn[i]].library ? EMIT_LIBRARY : 0) + (f->m->lent ? EMIT_LENT : 0));
	rewrite_schema(o, f, unit, fn, n);
}

/* The traced functions, unit after unit; first[u] is where those of unit u begin. */
static uint32_t *
rewrite_units(const struct file *f, uint32_t **first)
{
	uint32_t *list = xcalloc(f->nfn + 1, sizeof *list), *at = xcalloc(file_nunit(f) + 2u, sizeof *at), i;

	/* counts, one unit late; then beginnings; then each is moved to its end */
	for (i = 0; i < f->nfn; i++)
		at[f->fn[i].unit + 2] += !f->fn[i].why;
	for (i = 2; i < file_nunit(f) + 2; i++)
		at[i] += at[i - 1];
	for (i = 0; i < f->nfn; i++)
		if (!f->fn[i].why)
			list[at[f->fn[i].unit + 1]++] = i;
	*first = at;
	return list;
}

void
emit_file(struct buf *o, struct file *f)
{
	uint32_t *first, *list = rewrite_units(f, &first), i;

	rewrite_original(o, f);
	for (i = 0; i < file_nunit(f); i++)
		if (first[i + 1] > first[i])
			rewrite_unit(o, f, i, list + first[i], first[i + 1] - first[i]);
	if (first[file_nunit(f)])
		rewrite_fallbacks(o, f);
	rewrite_unwrapped(o, f);
	free(first);
	free(list);
}
