/* Names of functions and variables of an executable, also from a file that they were split off to. */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <gelf.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/search.h"
#include "format/ae/exe.h"
#include "format/ae/symbol.h"

#define DEPTH 64u               /* of functions and blocks in each other */

struct exe *
exe_debug(struct exe *x)
{
	char path[40 + 2 * EXE_IDMAX] = "/usr/lib/debug/.build-id/";
	size_t n = strlen(path);
	struct exe *d;

	if (x->debug_tried || x->idlen < 2)
		return x->debug;
	x->debug_tried = 1;
	for (unsigned i = 0; i < x->idlen; i++)
		n += (size_t)snprintf(path + n, sizeof path - n, i == 0 ? "%02x/" : "%02x", x->id[i]);
	snprintf(path + n, sizeof path - n, ".debug");
	if ((d = malloc(sizeof *d)) == NULL)
		return NULL;
	if (exe_open(d, path) != 0) {
		free(d);
		return NULL;
	}
	if (d->idlen != x->idlen || memcmp(d->id, x->id, x->idlen) != 0) {
		exe_close(d);
		free(d);
		return NULL;
	}
	d->debug_tried = 1;
	return x->debug = d;
}

/* The name that symbols have, or else that of the source */
static const char *
names_of(Dwarf_Die *die)
{
	Dwarf_Attribute a;

	if (dwarf_attr_integrate(die, DW_AT_linkage_name, &a))
		return dwarf_formstring(&a);
	return dwarf_attr_integrate(die, DW_AT_name, &a) ? dwarf_formstring(&a) : NULL;
}

/* Without memory, the names of the functions around are used. */
static void
names_add(struct exe *x, Dwarf_Die *die)
{
	Dwarf_Addr base, begin, end;
	const char *name = names_of(die);
	ptrdiff_t at = 0;

	while (name && (at = dwarf_ranges(die, at, &base, &begin, &end)) > 0)
		if (begin < end &&
		    buf_grow(&x->inlined, &x->capinlined, x->ninlined + 1, sizeof *x->inlined) == 0)
			x->inlined[x->ninlined++] = (struct exe_inlined){ begin, end - begin, 0, name };
}

/* Adds the functions that are inlined below an entry. */
static void
names_walk(struct exe *x, Dwarf_Die *up, unsigned depth)
{
	Dwarf_Die die;

	if (depth == DEPTH || dwarf_child(up, &die) != 0)
		return;
	do
		switch (dwarf_tag(&die)) {
		case DW_TAG_inlined_subroutine:
			names_add(x, &die);
			/* fallthrough */
		case DW_TAG_subprogram: case DW_TAG_lexical_block: case DW_TAG_namespace:
		case DW_TAG_class_type: case DW_TAG_structure_type:
			names_walk(x, &die, depth + 1);
			break;
		default:
			break;
		}
	while (dwarf_siblingof(&die, &die) == 0);
}

/* By address; what contains another one is before it */
static int
names_order(const void *a, const void *b)
{
	const struct exe_inlined *p = a, *q = b;

	if (p->addr != q->addr)
		return p->addr < q->addr ? -1 : 1;
	if (p->size != q->size)
		return p->size > q->size ? -1 : 1;
	return p->up < q->up ? -1 : p->up > q->up;
}

/* Reads the functions that are inlined in a unit: those of others may be many, and are not asked for. */
static void
names_read_inlined(struct exe *x, struct exe_inlinings *u)
{
	struct exe_inlined *e;
	Dwarf_Die die;
	size_t up = 0;

	if (!dwarf_offdie(x->dwarf, u->die, &die))
		return;
	names_walk(x, &die, 0);
	u->n = x->ninlined - u->from;
	e = x->inlined + u->from;
	/* where they are the same, in the order of the walk, which is that of the nesting */
	for (size_t i = 0; i < u->n; i++)
		e[i].up = i;
	if (u->n)
		qsort(e, u->n, sizeof *e, names_order);
	for (size_t i = 0; i < u->n; i++) {
		while (up && e[i].addr - e[up - 1].addr >= e[up - 1].size)
			up = e[up - 1].up;
		e[i].up = up;
		up = i + 1;
	}
}

/* Those of the unit with this entry; NULL: no memory */
static const struct exe_inlinings *
names_inlinings(struct exe *x, uint64_t die)
{
	struct exe_inlinings *u;
	size_t i;

	LOWER_BOUND(i, x->ninlinings, x->inlinings[i].die < die);
	if (i < x->ninlinings && x->inlinings[i].die == die)
		return &x->inlinings[i];
	if (buf_grow(&x->inlinings, &x->capinlinings, x->ninlinings + 1, sizeof *x->inlinings) != 0)
		return NULL;
	u = &x->inlinings[i];
	memmove(u + 1, u, (x->ninlinings++ - i) * sizeof *u);
	*u = (struct exe_inlinings){ .die = die, .from = x->ninlined };
	names_read_inlined(x, u);
	return u;
}

/* The innermost function that is inlined at pc; NULL: none */
static const char *
names_inlined(struct exe *x, uint64_t pc)
{
	const struct exe_unit *unit = exe_own_unit(x, pc);
	const struct exe_inlinings *u = unit ? names_inlinings(x, unit->die) : NULL;
	const struct exe_inlined *e;
	size_t i;

	if (!u)
		return NULL;
	e = x->inlined + u->from;
	LOWER_BOUND(i, u->n, e[i].addr <= pc);
	while (i && pc - e[i - 1].addr >= e[i - 1].size)
		i = e[i - 1].up;
	return i ? e[i - 1].name : NULL;
}

/* A symbol and its name in the source, which is made once; text: owned, or NULL where it is the symbol */
struct source_name { const char *symbol; char *text; };

static int
names_same(const void *a, const void *b)
{
	const struct source_name *p = a, *q = b;

	return p->symbol < q->symbol ? -1 : p->symbol > q->symbol;
}

const char *
exe_symbol_source(struct exe *x, const char *symbol, int full)
{
	struct source_name want = { .symbol = symbol }, **found, *e;

	if (symbol[0] != '_')
		return symbol;
	if ((found = tfind(&want, &x->source[full], names_same)) != NULL)
		return (*found)->text ? (*found)->text : symbol;
	if ((e = malloc(sizeof *e)) == NULL)
		return symbol;
	*e = (struct source_name){ symbol, symbol_source(symbol, full) };
	if (!tsearch(e, &x->source[full], names_same)) {
		free(e->text);
		free(e);
		return symbol;
	}
	return e->text ? e->text : symbol;
}

static void
names_free(void *p)
{
	free(((struct source_name *)p)->text);
	free(p);
}

void
exe_names_free(struct exe *x)
{
	for (int full = 0; full < 2; full++) {
		tdestroy(x->source[full], names_free);
		x->source[full] = NULL;
	}
}

const char *
exe_name(struct exe *x, uint64_t pc, unsigned how)
{
	struct exe *d = x->nsym ? NULL : exe_debug(x);
	const char *name = NULL;

	if (how & EXE_INLINED)
		name = names_inlined(x, pc);
	if (how & EXE_INLINED && !name && d)
		name = names_inlined(d, pc);
	if (!name)
		name = exe_func(d && d->nsym ? d : x, pc, NULL);
	if (!name)
		name = exe_exported(x, pc);
	return name ? exe_symbol_source(x, name, (how & EXE_FULL) != 0) : NULL;
}

/* Finds a variable in a table of symbols. */
static int
names_variable(struct exe *x, unsigned type, const char *want, int kind, size_t *at, uint64_t *addr, uint64_t *size)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;
	GElf_Sym s;
	Elf_Data *d;

	while ((scn = elf_nextscn(x->elf, scn)) != NULL) {
		size_t n;

		if (!gelf_getshdr(scn, &sh) || sh.sh_type != type || !sh.sh_entsize ||
		    !(d = elf_getdata(scn, NULL)))
			continue;
		n = sh.sh_size / sh.sh_entsize;
		for (; *at < n && gelf_getsym(d, (int)*at, &s); ++*at) {
			const char *name = elf_strptr(x->elf, sh.sh_link, s.st_name);

			if (GELF_ST_TYPE(s.st_info) != kind || s.st_shndx == SHN_UNDEF || !name ||
			    strcmp(name, want) != 0)
				continue;
			++*at;
			*addr = s.st_value;
			*size = s.st_size;
			return 1;
		}
		return 0;               /* there is one table of a type */
	}
	return 0;
}

int
exe_variable(struct exe *x, const char *name, int thread, size_t *at, uint64_t *addr, uint64_t *size)
{
	struct exe *d = x->nsym ? NULL : exe_debug(x);
	int kind = thread ? STT_TLS : STT_OBJECT;

	if (x->nsym)
		return names_variable(x, SHT_SYMTAB, name, kind, at, addr, size);
	if (d && d->nsym)
		return names_variable(d, SHT_SYMTAB, name, kind, at, addr, size);
	return names_variable(x, SHT_DYNSYM, name, kind, at, addr, size);
}
