/* Files and lines of an executable's code, from its debugging information. */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <gelf.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/search.h"
#include "format/ae/exe.h"

static int
cmp_unit(const void *a, const void *b)
{
	uint64_t p = ((const struct exe_unit *)a)->addr, q = ((const struct exe_unit *)b)->addr;

	return p < q ? -1 : p > q;
}

/* Without memory there are no lines. */
static void
exe_add_unit(void *arg, void *die)
{
	struct exe *x = arg;
	Dwarf_Addr base, begin, end;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(die, at, &base, &begin, &end)) > 0)
		if (begin < end && buf_grow(&x->unit, &x->capunit, x->nunit + 1, sizeof *x->unit) == 0)
			x->unit[x->nunit++] = (struct exe_unit){ begin, end - begin, dwarf_dieoffset(die) };
}

/* Has the debugging information a part in another file, which a confined process cannot open? */
static int
exe_has_part(const struct exe *x)
{
	Elf_Scn *scn = NULL;
	size_t names;
	GElf_Shdr sh;
	const char *name;

	if (elf_getshdrstrndx(x->elf, &names) != 0)
		return 0;
	while ((scn = elf_nextscn(x->elf, scn)) != NULL)
		if (gelf_getshdr(scn, &sh) && (name = elf_strptr(x->elf, names, sh.sh_name)) != NULL &&
		    strcmp(name, ".gnu_debugaltlink") == 0)
			return 1;
	return 0;
}

/*
 * Where the code of each compilation unit is, as its own entry says.  Not .debug_aranges, by which
 * dwarf_addrdie looks: clang writes none, so a program has it for some of its units, or for none.
 */
static void
exe_read_dwarf(struct exe *x)
{
	if (x->dwarf_tried)
		return;
	x->dwarf_tried = 1;
	x->dwarf = exe_has_part(x) ? NULL : dwarf_begin_elf(x->elf, DWARF_C_READ, NULL);
	exe_each_unit(x, exe_add_unit, x);
	if (x->nunit)
		qsort(x->unit, x->nunit, sizeof *x->unit, cmp_unit);
}

void
exe_each_unit(struct exe *x, void (*fn)(void *arg, void *die), void *arg)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Half version;
	Dwarf_Die die;
	uint8_t type;

	exe_read_dwarf(x);
	while (x->dwarf && dwarf_get_units(x->dwarf, cu, &cu, &version, &type, &die, NULL) == 0)
		if (type != DW_UT_type && type != DW_UT_split_type)
			fn(arg, &die);
}

const struct exe_unit *
exe_own_unit(struct exe *x, uint64_t pc)
{
	size_t i;

	exe_read_dwarf(x);
	LOWER_BOUND(i, x->nunit, x->unit[i].addr <= pc);
	return i && pc - x->unit[i - 1].addr < x->unit[i - 1].size ? &x->unit[i - 1] : NULL;
}

/* The entry of the compilation unit that pc is in; NULL if there is none */
static Dwarf_Die *
exe_unit_of(struct exe *x, uint64_t pc, Dwarf_Die *die)
{
	const struct exe_unit *u;

	exe_read_dwarf(x);
	if (!x->nunit) {
		struct exe *d = exe_debug(x);

		if (d)
			exe_read_dwarf(d);
		return d && d->nunit ? exe_unit_of(d, pc, die) : NULL;
	}
	u = exe_own_unit(x, pc);
	return u ? dwarf_offdie(x->dwarf, u->die, die) : NULL;
}

/*
 * Does a string in a section end with this name?  1 also where that cannot be seen.  What is before it says nothing:
 * linkers let strings share their ends.
 */
static int
lines_section_has(Elf_Scn *scn, const GElf_Shdr *sh, const char *name)
{
	Elf_Data *d;

	if (sh->sh_flags & SHF_COMPRESSED && elf_compress(scn, 0, 0) < 0)
		return 1;
	d = elf_getdata(scn, NULL);
	return !d || (d->d_size && memmem(d->d_buf, d->d_size, name, strlen(name) + 1) != NULL);
}

/* Names of source files are in one of three sections.  -1: the file has no lines */
static int
lines_has_source(struct exe *x, const char *name)
{
	Elf_Scn *scn = NULL;
	size_t names;
	GElf_Shdr sh;
	const char *s;
	int lines = 0;

	if (elf_getshdrstrndx(x->elf, &names) != 0)
		return -1;
	while ((scn = elf_nextscn(x->elf, scn)) != NULL) {
		if (!gelf_getshdr(scn, &sh) || (s = elf_strptr(x->elf, names, sh.sh_name)) == NULL)
			continue;
		if (strcmp(s, ".zdebug_line") == 0)
			return 1;
		if (sh.sh_type == SHT_NOBITS || (strcmp(s, ".debug_line") != 0 &&
		    strcmp(s, ".debug_line_str") != 0 && strcmp(s, ".debug_str") != 0))
			continue;
		lines |= s[sizeof ".debug_line" - 1] == '\0';
		if (lines_section_has(scn, &sh, name))
			return 1;
	}
	return lines ? 0 : -1;
}

int
exe_may_have_source(struct exe *x, const char *name)
{
	int has = x->nunit ? 1 : lines_has_source(x, name);
	struct exe *d;

	if (has < 0 && (d = exe_debug(x)) != NULL)
		has = d->nunit ? 1 : lines_has_source(d, name);
	return has > 0;
}

struct rows { exe_row_fn *fn; void *arg; };

static void
exe_unit_rows(void *arg, void *die)
{
	struct rows *r = arg;
	Dwarf_Lines *l;
	size_t n;

	if (dwarf_getsrclines(die, &l, &n) != 0)
		return;
	for (size_t i = 0; i < n; i++) {
		Dwarf_Line *row = dwarf_onesrcline(l, i);
		const char *file = dwarf_linesrc(row, NULL, NULL);
		Dwarf_Addr addr;
		bool end, begins;
		int line;

		if (file && dwarf_lineaddr(row, &addr) == 0 && dwarf_lineno(row, &line) == 0 &&
		    dwarf_lineendsequence(row, &end) == 0 && !end && dwarf_linebeginstatement(row, &begins) == 0)
			r->fn(r->arg, file, line, addr, begins);
	}
}

void
exe_each_line(struct exe *x, exe_row_fn *fn, void *arg)
{
	struct rows r = { fn, arg };
	struct exe *d;

	exe_each_unit(x, exe_unit_rows, &r);
	if (!x->nunit && (d = exe_debug(x)) != NULL)
		exe_each_unit(d, exe_unit_rows, &r);
}

int
exe_unit(struct exe *x, uint64_t pc, void *die)
{
	return exe_unit_of(x, pc, die) ? 0 : -1;
}

const char *
exe_line(struct exe *x, uint64_t pc, int *line)
{
	Dwarf_Die die;
	Dwarf_Line *l;

	if (!exe_unit_of(x, pc, &die))
		return NULL;
	l = dwarf_getsrc_die(&die, pc);
	if (!l || dwarf_lineno(l, line) != 0)
		return NULL;
	return dwarf_linesrc(l, NULL, NULL);
}

/* The folder in which pc's source was compiled; NULL if that is not known */
static const char *
exe_compile_dir(struct exe *x, uint64_t pc)
{
	Dwarf_Die die;
	Dwarf_Attribute a;

	if (!exe_unit_of(x, pc, &die) || !dwarf_attr(&die, DW_AT_comp_dir, &a))
		return NULL;
	return dwarf_formstring(&a);
}

/* The path of a file in a folder */
struct joined { const char *dir, *file, *path; };

static int
exe_joined_order(const void *a, const void *b)
{
	const struct joined *p = a, *q = b;
	int e = strcmp(p->file, q->file);

	return e ? e : strcmp(p->dir, q->dir);
}

/*
 * A folder that is relative itself is that of a system's package: with it, its file is not mistaken for
 * one of the program.  Without memory the file alone.
 */
static const char *
exe_joined(struct exe *x, const char *dir, const char *file)
{
	struct joined *j = malloc(sizeof *j), **got;

	if (!j)
		return file;
	*j = (struct joined){ dir, file, NULL };
	if ((got = tsearch(j, &x->joined, exe_joined_order)) == NULL || *got != j) {
		free(j);
		return got && (*got)->path ? (*got)->path : file;
	}
	if ((j->path = malloc(strlen(dir) + strlen(file) + 2)) == NULL)
		return file;
	return strcat(strcat(strcpy((char *)(uintptr_t)j->path, dir), "/"), file);
}

void
exe_lines_free(struct exe *x)
{
	free(x->unit);
	x->unit = NULL;
	x->nunit = x->capunit = 0;
	while (x->joined) {
		struct joined *j = *(struct joined **)x->joined;

		tdelete(j, &x->joined, exe_joined_order);
		free((void *)(uintptr_t)j->path);
		free(j);
	}
}

const char *
exe_short_line(struct exe *x, uint64_t pc, int *line)
{
	return exe_short_file(x, pc, exe_line(x, pc, line));
}

const char *
exe_short_file(struct exe *x, uint64_t pc, const char *file)
{
	const char *dir = file ? exe_compile_dir(x, pc) : NULL;
	size_t n;

	if (!dir)
		return file;
	if (dir[0] != '/')
		return file[0] == '/' || strncmp(file, "./", 2) == 0 ? file : exe_joined(x, dir, file);
	n = strlen(dir);
	return n && strncmp(file, dir, n) == 0 && file[n] == '/' ? file + n + 1 : file;
}
