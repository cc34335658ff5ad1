/* Functions at a place, also inlined ones, and the variables that are in scope there. */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <string.h>

#include "format/debug/debug.h"

#define SCOPES 64u              /* in each other */
#define ENTRIES 10000000u       /* that are looked at for one place */
#define ORIGINS 256u            /* variables of a scope that are told from each other */

/* The entries around a place, the outermost first, without the compilation unit; seen: entries that were looked at */
struct scopes { Dwarf_Die die[SCOPES]; unsigned n, seen; };

int
debug_next(void *die)
{
	Dwarf_Die *d = die;
	const void *was = d->addr;
	int got = dwarf_siblingof(d, d);

	return got == 0 && (uintptr_t)d->addr <= (uintptr_t)was ? -1 : got;
}

/* Descends to the innermost entry that contains the place. */
static void
scope_descend(struct scopes *t, Dwarf_Die *up, uint64_t pc, unsigned depth)
{
	unsigned n = t->n;
	Dwarf_Die die;

	if (depth == SCOPES || t->seen >= ENTRIES || dwarf_child(up, &die) != 0)
		return;
	do
		switch (dwarf_tag(&die)) {
		case DW_TAG_subprogram: case DW_TAG_inlined_subroutine: case DW_TAG_lexical_block:
			if (dwarf_haspc(&die, pc) != 1)
				break;
			if (t->n < SCOPES)
				t->die[t->n++] = die;
			scope_descend(t, &die, pc, depth + 1);
			return;
		case DW_TAG_namespace: case DW_TAG_class_type: case DW_TAG_structure_type:
			scope_descend(t, &die, pc, depth + 1);
			if (t->n > n)           /* a type of a function's own has no functions in C */
				return;
			break;
		default:
			break;
		}
	while (t->seen++ < ENTRIES && debug_next(&die) == 0);
}

static void
scope_find(const struct debug_frame *f, struct scopes *t)
{
	Dwarf_Die unit;

	t->n = t->seen = 0;
	if (f->x && exe_unit(f->x, f->pc, &unit) == 0)
		scope_descend(t, &unit, f->pc, 0);
}

int
debug_subprogram(const struct debug_frame *f, void *die)
{
	struct scopes t;

	scope_find(f, &t);
	for (unsigned i = 0; i < t.n; i++)
		if (dwarf_tag(&t.die[i]) == DW_TAG_subprogram) {
			*(Dwarf_Die *)die = t.die[i];
			return 0;
		}
	return -1;
}

static const char *
scope_name(Dwarf_Die *die)
{
	Dwarf_Attribute a;

	return dwarf_attr_integrate(die, DW_AT_name, &a) ? dwarf_formstring(&a) : NULL;
}

/* The symbol, if it is not the name; before version 4 the attribute was another one. */
static const char *
scope_linkage_name(Dwarf_Die *die)
{
	Dwarf_Attribute a;

	return dwarf_attr_integrate(die, DW_AT_linkage_name, &a) || dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &a) ?
	    dwarf_formstring(&a) : NULL;
}

/* A function's name, in C++ with what it is in: shop::Cart::total */
static const char *
scope_function(const struct debug_frame *f, Dwarf_Die *die)
{
	const char *s = f->x ? scope_linkage_name(die) : NULL;

	return s ? exe_symbol_source(f->x, s, 0) : scope_name(die);
}

/* Where an inlined function was called */
static void
scope_called(Dwarf_Die *die, struct debug_function *fn)
{
	Dwarf_Attribute a;
	Dwarf_Files *files;
	Dwarf_Die unit;
	Dwarf_Word v;
	size_t n;

	if (dwarf_attr(die, DW_AT_call_line, &a) && dwarf_formudata(&a, &v) == 0 && v <= INT32_MAX)
		fn->line = (int)v;
	if (dwarf_attr(die, DW_AT_call_file, &a) && dwarf_formudata(&a, &v) == 0 && dwarf_diecu(die, &unit, NULL, NULL) &&
	    dwarf_getsrcfiles(&unit, &files, &n) == 0 && v < n)
		fn->file = dwarf_filesrc(files, v, NULL, NULL);
}

size_t
debug_functions(const struct debug_frame *f, struct debug_function *fn, size_t most)
{
	struct scopes t;
	size_t n = 0;

	scope_find(f, &t);
	for (unsigned i = t.n; i-- > 0 && n < most;) {
		int tag = dwarf_tag(&t.die[i]);

		if (tag == DW_TAG_lexical_block)
			continue;
		fn[n] = (struct debug_function){ .name = scope_function(f, &t.die[i]), .depth = i };
		if (tag == DW_TAG_inlined_subroutine) {
			fn[n].inlined = 1;
			scope_called(&t.die[i], &fn[n]);
			fn[n].file = exe_short_file(f->x, f->pc, fn[n].file);
		}
		n++;
		if (tag == DW_TAG_subprogram)
			break;
	}
	return n;
}

/* The value of a variable that is a constant, or its location */
static void
scope_place(const struct debug_frame *f, Dwarf_Die *die, struct debug_place *p)
{
	Dwarf_Attribute a;
	Dwarf_Block block;
	Dwarf_Sword s;
	struct debug_limit l = { 0, 0 };

	p->n = 1;
	p->piece[0] = (struct debug_piece){ .where = DEBUG_GONE };
	if (dwarf_attr_integrate(die, DW_AT_location, &a)) {
		debug_attribute(f, &l, &a, p);
		return;
	}
	if (!dwarf_attr_integrate(die, DW_AT_const_value, &a))
		return;
	if (dwarf_formblock(&a, &block) == 0)
		p->piece[0] = (struct debug_piece){ .where = DEBUG_BYTES, .p = block.data, .addr = block.length };
	else if (dwarf_formsdata(&a, &s) == 0)
		p->piece[0] = (struct debug_piece){ .where = DEBUG_NUMBER, .addr = (uint64_t)s };
}

static int
scope_variable(const struct debug_frame *f, Dwarf_Die *die, Dwarf_Die *type, struct debug_variable *v)
{
	Dwarf_Attribute a;
	int tag = dwarf_tag(die);
	bool external = false;

	if ((tag != DW_TAG_variable && tag != DW_TAG_formal_parameter) || (v->name = scope_name(die)) == NULL)
		return 0;
	/* one that is defined somewhere else, unless this is the definition of it */
	if (!dwarf_hasattr(die, DW_AT_specification) && dwarf_attr_integrate(die, DW_AT_declaration, &a) &&
	    dwarf_formflag(&a, &external) == 0 && external)
		return 0;
	v->parameter = tag == DW_TAG_formal_parameter;
	v->type = dwarf_attr_integrate(die, DW_AT_type, &a) && dwarf_formref_die(&a, type) ? type : NULL;
	v->size = v->type ? debug_size(type) : 0;
	scope_place(f, die, &v->place);
	return 1;
}

struct listing {
	const struct debug_frame *f;
	debug_variable_fn *fn;
	void *arg;
	Dwarf_Off origin[ORIGINS];      /* entries that those listed so far are instances of */
	unsigned n;
};

static int
scope_is_listed(const struct listing *l, Dwarf_Die *die)
{
	for (unsigned i = 0; i < l->n; i++)
		if (l->origin[i] == dwarf_dieoffset(die))
			return 1;
	return 0;
}

/* Lists the variables among the children of an entry, but for those that were listed as instances of them. */
static int
scope_list(struct listing *l, Dwarf_Die *up)
{
	Dwarf_Die die, type, origin;
	Dwarf_Attribute a;
	int got = 0;

	if (dwarf_child(up, &die) != 0)
		return 0;
	do {
		struct debug_variable v = { 0 };

		if (scope_is_listed(l, &die))
			continue;
		if (dwarf_attr(&die, DW_AT_abstract_origin, &a) && dwarf_formref_die(&a, &origin) && l->n < ORIGINS)
			l->origin[l->n++] = dwarf_dieoffset(&origin);
		if (scope_variable(l->f, &die, &type, &v))
			got = l->fn(l->arg, &v);
	} while (!got && debug_next(&die) == 0);
	return got;
}

/*
 * The variables of a scope.  Where a function was inlined or cloned, those of which nothing is left, and static
 * ones, are only in the entry that all of its instances have in common.
 */
static int
scope_list_all(const struct debug_frame *f, Dwarf_Die *scope, debug_variable_fn *fn, void *arg)
{
	struct listing l = { .f = f, .fn = fn, .arg = arg };
	Dwarf_Attribute a;
	Dwarf_Die origin;
	int got = scope_list(&l, scope);

	if (!got && dwarf_attr(scope, DW_AT_abstract_origin, &a) && dwarf_formref_die(&a, &origin))
		got = scope_list(&l, &origin);
	return got;
}

int
debug_variables(const struct debug_frame *f, const struct debug_function *func, debug_variable_fn *fn, void *arg)
{
	struct scopes t;
	unsigned end;
	int got = 0;

	scope_find(f, &t);
	/* up to the next function that is inlined in it */
	for (end = func->depth + 1; end < t.n && dwarf_tag(&t.die[end]) == DW_TAG_lexical_block; end++)
		;
	for (unsigned i = end; i-- > func->depth && i < t.n && !got;)
		got = scope_list_all(f, &t.die[i], fn, arg);
	return got;
}

/* The only symbol of the file with this name, of a variable or of a thread-local one: 1, or 0 */
static int
scope_symbol(const struct debug_frame *f, const char *name, int thread, uint64_t *addr, uint64_t *size)
{
	uint64_t other;
	size_t at = 0;

	return exe_variable(f->x, name, thread, &at, addr, size) && !exe_variable(f->x, name, thread, &at, &other, &other);
}

/* A variable that is declared here and defined in another file of the program: 1, or 0: not just one has this name */
static int
scope_elsewhere(const struct debug_frame *f, Dwarf_Die *die, Dwarf_Die *type, struct debug_variable *v)
{
	Dwarf_Attribute a;
	bool external = false;
	uint64_t addr, size;
	const char *symbol;

	if (!dwarf_attr(die, DW_AT_declaration, &a) || dwarf_formflag(&a, &external) != 0 || !external ||
	    (v->name = scope_name(die)) == NULL)
		return 0;
	symbol = scope_linkage_name(die);
	if (!symbol)
		symbol = v->name;
	if (scope_symbol(f, symbol, 0, &addr, &size))
		addr += f->bias;
	else if (!scope_symbol(f, symbol, 1, &addr, &size) || debug_thread_local(f, addr, &addr) != 0)
		return 0;
	v->type = dwarf_attr_integrate(die, DW_AT_type, &a) && dwarf_formref_die(&a, type) ? type : NULL;
	v->size = size;
	v->place.n = 1;
	v->place.piece[0] = (struct debug_piece){ .where = DEBUG_MEMORY, .addr = addr };
	return 1;
}

/* The name of a variable that is not of a function, in C++ with what it is in: shop::total */
static const char *
scope_global_name(const struct debug_frame *f, Dwarf_Die *die, const char *name)
{
	static const char unnamed[] = "(anonymous namespace)::";
	const char *s = scope_linkage_name(die);

	if (!s)
		return name;
	s = exe_symbol_source(f->x, s, 0);
	return strncmp(s, unnamed, sizeof unnamed - 1) == 0 ? s + sizeof unnamed - 1 : s;
}

struct globals {
	const struct debug_frame *f;
	debug_variable_fn *fn;
	void *arg;
	unsigned seen;
	int got, declared;              /* declared: also those that are only declared */
};

/* Lists the variables among the children of a unit, and of namespaces in it. */
static void
scope_globals(struct globals *g, Dwarf_Die *up, unsigned depth)
{
	Dwarf_Die die, type;

	if (depth == SCOPES || dwarf_child(up, &die) != 0)
		return;
	do {
		struct debug_variable v = { 0 };
		int tag = dwarf_tag(&die);

		if (tag == DW_TAG_namespace)
			scope_globals(g, &die, depth + 1);
		else if (tag == DW_TAG_variable &&
		    (scope_variable(g->f, &die, &type, &v) || (g->declared && scope_elsewhere(g->f, &die, &type, &v)))) {
			v.name = scope_global_name(g->f, &die, v.name);
			g->got = g->fn(g->arg, &v);
		}
	} while (!g->got && g->seen++ < ENTRIES && debug_next(&die) == 0);
}

int
debug_globals(const struct debug_frame *f, debug_variable_fn *fn, void *arg)
{
	struct globals g = { .f = f, .fn = fn, .arg = arg, .declared = 1 };
	Dwarf_Die unit;

	if (f->x && exe_unit(f->x, f->pc, &unit) == 0)
		scope_globals(&g, &unit, 0);
	return g.got;
}

static void
scope_unit(void *arg, void *die)
{
	struct globals *g = arg;

	if (!g->got)
		scope_globals(g, die, 0);
}

int
debug_file_globals(const struct debug_frame *f, debug_variable_fn *fn, void *arg)
{
	struct globals g = { .f = f, .fn = fn, .arg = arg };
	struct exe *d;

	exe_each_unit(f->x, scope_unit, &g);
	if (!f->x->nunit && (d = exe_debug(f->x)) != NULL)
		exe_each_unit(d, scope_unit, &g);
	return g.got;
}

/* The value of an expression in a frame, as an attribute has it: 0, or -1: not known */
static int
entry_expression(const struct debug_frame *f, struct debug_limit *l, Dwarf_Attribute *a, uint64_t *v)
{
	struct debug_place p;
	Dwarf_Op *ops;
	size_t n;

	if (dwarf_getlocation(a, &ops, &n) != 0)
		return -1;
	debug_evaluate(f, l, a, ops, n, &p);
	if (p.n != 1)
		return -1;
	switch (p.piece[0].where) {
	/* the value of the expression, which is no location */
	case DEBUG_MEMORY: case DEBUG_NUMBER: *v = p.piece[0].addr; return 0;
	case DEBUG_REGISTER:
		if (p.piece[0].addr >= DEBUG_NREG || !(f->known >> p.piece[0].addr & 1))
			return -1;
		*v = f->reg[p.piece[0].addr];
		return 0;
	default: return -1;
	}
}

/* Is the entry of a parameter of a call for this register? Then its value in the caller */
static int
entry_parameter(const struct debug_frame *f, struct debug_limit *l, Dwarf_Die *die, unsigned reg, uint64_t *v)
{
	Dwarf_Attribute a;
	Dwarf_Op *ops;
	size_t n;

	return dwarf_attr(die, DW_AT_location, &a) && dwarf_getlocation(&a, &ops, &n) == 0 && n == 1 &&
	    (ops->atom == DW_OP_regx ? ops->number : (uint64_t)ops->atom - DW_OP_reg0) == reg &&
	    (dwarf_attr(die, DW_AT_call_value, &a) || dwarf_attr(die, DW_AT_GNU_call_site_value, &a)) ?
	    entry_expression(f, l, &a, v) : -1;
}

/* Did this call go to the function of frame f?  It may have gone to one that jumped there. */
static int
entry_target(const struct debug_frame *f, struct debug_limit *l, Dwarf_Die *call)
{
	Dwarf_Attribute a;
	Dwarf_Die target, own;
	Dwarf_Addr entry;
	const char *p, *q;
	uint64_t to;

	if (debug_subprogram(f, &own) != 0)
		return 0;
	if (dwarf_attr(call, DW_AT_call_target, &a) || dwarf_attr(call, DW_AT_GNU_call_site_target, &a))
		return entry_expression(f->up, l, &a, &to) == 0 && dwarf_entrypc(&own, &entry) == 0 && to == entry + f->bias;
	if ((!dwarf_attr(call, DW_AT_call_origin, &a) && !dwarf_attr(call, DW_AT_abstract_origin, &a)) ||
	    !dwarf_formref_die(&a, &target))
		return 0;
	p = scope_name(&target);
	q = scope_name(&own);
	return p && q && strcmp(p, q) == 0;
}

int
debug_entry_value(const struct debug_frame *f, struct debug_limit *l, unsigned reg, uint64_t *v)
{
	const struct debug_frame *up = f->up;
	struct scopes t;

	if (!up || !up->x)
		return -1;
	scope_find(up, &t);
	for (unsigned i = t.n; i-- > 0;) {
		Dwarf_Die die, p;
		Dwarf_Attribute a;
		Dwarf_Addr back;
		int tag;

		if (dwarf_child(&t.die[i], &die) != 0)
			continue;
		do {
			tag = dwarf_tag(&die);
			if (tag == DW_TAG_call_site) {
				if (!dwarf_attr(&die, DW_AT_call_return_pc, &a) || dwarf_formaddr(&a, &back) != 0)
					continue;
			} else if (tag != DW_TAG_GNU_call_site || !dwarf_attr(&die, DW_AT_low_pc, &a) ||
			    dwarf_formaddr(&a, &back) != 0)
				continue;
			if (back + up->bias != up->reg[DEBUG_RIP] || !entry_target(f, l, &die) || dwarf_child(&die, &p) != 0)
				continue;
			do
				if (entry_parameter(up, l, &p, reg, v) == 0)
					return 0;
			while (debug_take(l, 1) == 0 && debug_next(&p) == 0);
		} while (debug_take(l, 1) == 0 && debug_next(&die) == 0);
	}
	return -1;
}
