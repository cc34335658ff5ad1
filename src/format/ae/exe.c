/* Reading of traced executables with libelf and libdw; see exe.h. */
#include <elfutils/libdw.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/helper.h"
#include "base/search.h"
#include "base/src.h"
#include "format/ae/exe.h"
#include "format/ae/symbol.h"
#include "format/kind.h"
#include "format/schema/schema.h"

#define FN_SECTION "aefn"

static int exe_fail(struct exe *x, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static int
exe_fail(struct exe *x, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(x->err, sizeof x->err, fmt, ap);
	va_end(ap);
	return -1;
}

/* Appends one element of `size` bytes; NULL without memory. Grows by doubling at powers of two. */
static void *
exe_grow(void *array, size_t n, size_t size)
{
	if (n & (n - 1))
		return array;
	return realloc(array, (n ? 2 * n : 1) * size);
}

static int
add_span(struct exe *x, struct exe_span **a, size_t *n, struct exe_span s)
{
	struct exe_span *p = exe_grow(*a, *n, sizeof s);

	if (!p)
		return exe_fail(x, "out of memory");
	*a = p;
	p[(*n)++] = s;
	return 0;
}

static int
cmp_addr(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int
cmp_span(const void *a, const void *b)
{
	return cmp_addr(((const struct exe_span *)a)->addr, ((const struct exe_span *)b)->addr);
}

static int
cmp_sym(const void *a, const void *b)
{
	const struct exe_sym *p = a, *q = b;
	int c = cmp_addr(p->addr, q->addr);

	if (c == 0)
		c = cmp_addr(p->size, q->size);
	return c ? c : strcmp(p->name, q->name);
}

/* The last span that begins at or before addr. */
static const struct exe_span *
exe_find(const struct exe_span *s, size_t n, uint64_t addr)
{
	size_t i;

	LOWER_BOUND(i, n, s[i].addr <= addr);
	return i ? s + i - 1 : NULL;
}

static void
read_build_id(struct exe *x, Elf_Data *d)
{
	GElf_Nhdr h;
	size_t off = 0, name, desc;

	while ((off = gelf_getnote(d, off, &h, &name, &desc)) > 0) {
		if (h.n_type == NT_GNU_BUILD_ID && h.n_namesz == 4 &&
		    memcmp((char *)d->d_buf + name, "GNU", 4) == 0 && h.n_descsz <= EXE_IDMAX) {
			memcpy(x->id, (char *)d->d_buf + desc, h.n_descsz);
			x->idlen = h.n_descsz;
		}
	}
}

static int
read_symbols(struct exe *x, Elf_Data *d, const GElf_Shdr *sh, struct exe_sym **sym, size_t *nsym)
{
	size_t n = sh->sh_entsize ? sh->sh_size / sh->sh_entsize : 0;
	GElf_Sym s;

	for (size_t i = 0; i < n && gelf_getsym(d, (int)i, &s); i++) {
		const char *name = elf_strptr(x->elf, sh->sh_link, s.st_name);
		struct exe_sym *p;

		if (GELF_ST_TYPE(s.st_info) != STT_FUNC || s.st_shndx == SHN_UNDEF || !name)
			continue;
		p = exe_grow(*sym, *nsym, sizeof *p);
		if (!p)
			return exe_fail(x, "out of memory");
		*sym = p;
		p[(*nsym)++] = (struct exe_sym){s.st_value, s.st_size, name};
	}
	return 0;
}

/*
 * Relocated constants that the loader makes read-only count as read-only: their file contents are
 * final in an executable that is not position-independent, unless a shared library supplies the
 * value, which no rewriter treats as known.
 */
static int
is_ro(const GElf_Shdr *sh, const char *name)
{
	if (sh->sh_flags & SHF_EXECINSTR)
		return 0;
	return !(sh->sh_flags & SHF_WRITE) || strcmp(name, ".data.rel.ro") == 0;
}

static int
read_section(struct exe *x, Elf_Scn *scn, const char *name, const GElf_Shdr *sh)
{
	Elf_Data *d = sh->sh_type == SHT_PROGBITS ? elf_rawdata(scn, NULL) : elf_getdata(scn, NULL);

	if (!d || (!d->d_buf && d->d_size))
		return sh->sh_type == SHT_NOBITS ? 0 : exe_fail(x, "section %s cannot be read", name);
	if (sh->sh_type == SHT_NOTE)
		read_build_id(x, d);
	if (sh->sh_type == SHT_SYMTAB)
		return read_symbols(x, d, sh, &x->sym, &x->nsym);
	if (sh->sh_type == SHT_DYNSYM)
		return read_symbols(x, d, sh, &x->exported, &x->nexported);
	if (sh->sh_type != SHT_PROGBITS || !d->d_size)
		return 0;
	if (strcmp(name, SCH_SECTION) == 0) {
		x->schema = d->d_buf;
		x->nschema = d->d_size;
		x->schema_off = sh->sh_offset;
	} else if (strcmp(name, FN_SECTION) == 0) {
		x->fn = d->d_buf;
		x->nfn = d->d_size;
	}
	if (!(sh->sh_flags & SHF_ALLOC))
		return 0;
	if (is_ro(sh, name) &&
	    add_span(x, &x->ro, &x->nro, (struct exe_span){ sh->sh_addr, d->d_size, d->d_buf }) != 0)
		return -1;
	return add_span(x, &x->image, &x->nimage, (struct exe_span){sh->sh_addr, d->d_size, d->d_buf});
}

static int
read_sections(struct exe *x)
{
	Elf_Scn *scn = NULL;
	size_t names;

	if (elf_getshdrstrndx(x->elf, &names) != 0)
		return exe_fail(x, "no section headers");
	while ((scn = elf_nextscn(x->elf, scn))) {
		GElf_Shdr sh;
		const char *name;

		if (!gelf_getshdr(scn, &sh) || !(name = elf_strptr(x->elf, names, sh.sh_name)))
			return exe_fail(x, "malformed section header");
		if (read_section(x, scn, name, &sh) != 0)
			return -1;
	}
	if (x->nimage)
		qsort(x->image, x->nimage, sizeof *x->image, cmp_span);
	if (x->nro)
		qsort(x->ro, x->nro, sizeof *x->ro, cmp_span);
	if (x->nsym)
		qsort(x->sym, x->nsym, sizeof *x->sym, cmp_sym);
	if (x->nexported)
		qsort(x->exported, x->nexported, sizeof *x->exported, cmp_sym);
	return 0;
}

/* Is a file that can be loaded anywhere a shared library? An executable has an interpreter, or says that it is one. */
static int
exe_is_library(const struct exe *x)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;
	GElf_Phdr ph;
	GElf_Dyn dyn;
	Elf_Data *d;
	size_t n;

	if (elf_getphdrnum(x->elf, &n) != 0)
		n = 0;
	for (size_t i = 0; i < n; i++)
		if (gelf_getphdr(x->elf, (int)i, &ph) && ph.p_type == PT_INTERP)
			return 0;
	while ((scn = elf_nextscn(x->elf, scn)) != NULL) {
		if (!gelf_getshdr(scn, &sh) || sh.sh_type != SHT_DYNAMIC || (d = elf_getdata(scn, NULL)) == NULL)
			continue;
		for (int i = 0; gelf_getdyn(d, i, &dyn); i++)
			if (dyn.d_tag == DT_FLAGS_1 && dyn.d_un.d_val & DF_1_PIE)
				return 0;
	}
	return 1;
}

/* The file is no ELF file; one of ours may have been named in the place of its program. */
static void
exe_foreign(struct exe *x)
{
	size_t n = 0;
	const char *p = x->elf ? elf_rawfile(x->elf, &n) : NULL;
	const struct kind *k = p ? kind_of((const uint8_t *)p, n) : NULL;

	if (k)
		exe_fail(x, "%s, not a program: %s", k->what, k->use);
	else
		exe_fail(x, "not an ELF file");
}

/* Reads what x->elf has; without one it fails. */
static int
exe_read(struct exe *x)
{
	GElf_Ehdr eh;

	if (!x->elf || elf_kind(x->elf) != ELF_K_ELF || !gelf_getehdr(x->elf, &eh))
		exe_foreign(x);
	else if (eh.e_type != ET_EXEC && eh.e_type != ET_DYN)
		exe_fail(x, "not an executable");
	else {
		x->machine = eh.e_machine;
		x->moves = eh.e_type == ET_DYN;
		x->library = x->moves && exe_is_library(x);
		x->word = eh.e_ident[EI_CLASS] == ELFCLASS32 ? 4 : 8;
		x->big = eh.e_ident[EI_DATA] == ELFDATA2MSB;
		if (read_sections(x) == 0 && exe_read_relocs(x) == 0)
			return 0;
	}
	exe_close(x);
	return -1;
}

int
exe_open(struct exe *x, const char *path)
{
	memset(x, 0, sizeof *x);
	x->fd = helper_open(src_is_stdin(path) ? "/dev/stdin" : path, HELPER_ELF);
	if (x->fd < 0)
		return exe_fail(x, "%s", strerror(errno));
	if (elf_version(EV_CURRENT) != EV_NONE)
		x->elf = elf_begin(x->fd, ELF_C_READ_MMAP_PRIVATE, NULL);
	return exe_read(x);
}

int
exe_open_mem(struct exe *x, uint8_t *p, size_t n)
{
	memset(x, 0, sizeof *x);
	x->fd = -1;
	x->bytes = p;
	if (elf_version(EV_CURRENT) != EV_NONE)
		x->elf = elf_memory((char *)p, n);
	return exe_read(x);
}

/* Where the section headers end, which a linker writes last: after the end of a file that is cut off */
static uint64_t
exe_headers_end(const struct exe *x)
{
	GElf_Ehdr eh;

	return x->elf && gelf_getehdr(x->elf, &eh) && eh.e_shoff <= UINT64_MAX / 2 ?
	    eh.e_shoff + (uint64_t)eh.e_shnum * eh.e_shentsize : 0;
}

int
exe_need_schema(struct exe *x)
{
	size_t n = 0;

	if (x->nschema)
		return 0;
	if (x->elf && elf_rawfile(x->elf, &n) && exe_headers_end(x) > n)
		return exe_fail(x, "byte %zu: cut off: its section headers end at byte %" PRIu64, n, exe_headers_end(x));
	return exe_fail(x, "no schemas in it: not built by aecc, or nothing in it is traced; wscap captures any program");
}

void
exe_close(struct exe *x)
{
	free(x->image);
	free(x->ro);
	free(x->sym);
	free(x->exported);
	free(x->traced);
	free(x->reloc);
	free(x->inlined);
	free(x->inlinings);
	exe_lines_free(x);
	exe_names_free(x);
	if (x->debug)
		exe_close(x->debug);
	free(x->debug);
	x->inlined = NULL;
	x->reloc = NULL;
	x->debug = NULL;
	x->image = x->ro = x->traced = NULL;
	x->sym = x->exported = NULL;
	x->nimage = x->nro = x->nsym = x->nexported = x->ntraced = x->ninlined = x->nreloc = 0;
	if (x->cfi)
		dwarf_cfi_end(x->cfi);
	x->cfi = NULL;
	if (x->dwarf)
		dwarf_end(x->dwarf);
	if (x->elf)
		elf_end(x->elf);
	x->elf = x->dwarf = NULL;
	free(x->bytes);
	x->bytes = NULL;
	if (x->fd >= 0)
		close(x->fd);
	x->fd = -1;
}

static int
exe_copy(const struct exe_span *s, uint64_t addr, void *buf, size_t n)
{
	if (!s || addr - s->addr > s->size || s->size - (addr - s->addr) < n)
		return 0;
	memcpy(buf, s->p + (addr - s->addr), n);
	return 1;
}

int
exe_image(const struct exe *x, uint64_t addr, void *buf, size_t n)
{
	return exe_copy(exe_find(x->image, x->nimage, addr), addr, buf, n);
}

int
exe_rodata(const struct exe *x, uint64_t addr, void *buf, size_t n)
{
	return exe_copy(exe_find(x->ro, x->nro, addr), addr, buf, n);
}

const char *
exe_func(const struct exe *x, uint64_t pc, uint64_t *off)
{
	size_t i;

	LOWER_BOUND(i, x->nsym, x->sym[i].addr <= pc);
	/* Aliases are adjacent, the largest last; a symbol without a size covers what follows it. */
	if (i == 0 || (x->sym[i - 1].size && pc - x->sym[i - 1].addr >= x->sym[i - 1].size))
		return NULL;
	if (off)
		*off = pc - x->sym[i - 1].addr;
	return x->sym[i - 1].name;
}

const char *
exe_exported(const struct exe *x, uint64_t pc)
{
	size_t i;

	LOWER_BOUND(i, x->nexported, x->exported[i].addr <= pc);
	return i && pc - x->exported[i - 1].addr < x->exported[i - 1].size ? x->exported[i - 1].name : NULL;
}

/*
 * Has the function that covers pc this name? Aliases are adjacent, the largest last, as in exe_func. open: a
 * symbol without a size covers what follows it.
 */
static int
exe_has_name(const struct exe_sym *sym, size_t n, int open, uint64_t pc, const char *name)
{
	size_t i;
	uint64_t off;

	LOWER_BOUND(i, n, sym[i].addr <= pc);
	if (i == 0)
		return 0;
	off = pc - sym[i - 1].addr;
	if (off >= sym[i - 1].size && !(open && !sym[i - 1].size))
		return 0;
	for (; i && sym[i - 1].addr == pc - off; i--)
		if ((!sym[i - 1].size || off < sym[i - 1].size) && symbol_is(sym[i - 1].name, name))
			return 1;
	return 0;
}

int
exe_in_function(struct exe *x, uint64_t pc, const char *name)
{
	const struct exe *d = x->nsym ? NULL : exe_debug(x);

	return exe_has_name(x->sym, x->nsym, 1, pc, name) ||
	    exe_has_name(x->exported, x->nexported, 0, pc, name) ||
	    (d && exe_has_name(d->sym, d->nsym, 1, pc, name));
}

int
exe_has_function(struct exe *x, const char *name)
{
	struct exe *d = x->nsym ? NULL : exe_debug(x);

	for (size_t i = 0; i < x->nsym; i++)
		if (symbol_is(x->sym[i].name, name))
			return 1;
	for (size_t i = 0; i < x->nexported; i++)
		if (symbol_is(x->exported[i].name, name))
			return 1;
	return d && exe_has_function(d, name);
}

static int
add_unit(struct exe *x, const struct sch_unit *u)
{
	for (uint32_t i = 0; i < u->nfunc; i++) {
		const struct sch_func *f = u->func + i;

		if (f->flags & SF_LIBRARY && !x->library)
			continue;
		for (uint32_t j = 0; j < f->nfrag; j++) {
			uint64_t addr = u->cst[f->frag[j].sym] + f->frag[j].off;

			if (add_span(x, &x->traced, &x->ntraced,
				(struct exe_span){ addr, f->frag[j].size, NULL }) != 0)
				return -1;
		}
	}
	return 0;
}

int
exe_traced(struct exe *x, uint64_t pc)
{
	const struct exe_span *s;

	if (!x->traced && x->nschema) {
		size_t off = 0, at = 0;

		while (off < x->nschema) {
			struct sch_unit u;
			const char *what;
			long n = sch_decode(x->schema + off, x->nschema - off, &u, &what, &at);
			int bad;

			if (n < 0)
				return exe_fail(x, "byte %llu: %s",
				    (unsigned long long)(x->schema_off + off + at), what);
			bad = add_unit(x, &u);
			sch_free(&u);
			if (bad)
				return -1;
			off += (size_t)n;
		}
		if (x->ntraced)
			qsort(x->traced, x->ntraced, sizeof *x->traced, cmp_span);
	}
	s = exe_find(x->traced, x->ntraced, pc);
	return s && pc - s->addr < s->size;
}
