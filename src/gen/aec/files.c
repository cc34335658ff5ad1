/* Writes the output files of aec. */
#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/mem.h"
#include "base/out.h"
#include "base/search.h"
#include "gen/aec/aec.h"
#include "gen/aec/text.h"

/* Where the library and the header are installed, from the parent of the tools' folder on: see GNUmakefile */
#ifndef TM_LIB
#define TM_LIB     "lib/tracemill"
#define TM_INCLUDE "include"
#endif

#define NAMELEN 150     /* maximum length of a name */

static void
aec_save(const struct aec *a, const char *name, const struct buf *b)
{
	char *path = xasprintf("%s/%s", a->dir, name), *final = xasprintf("%s/%s", a->place, name);
	/* its folder is a temporary one: a file that is half written goes with it */
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	struct out *o;

	if (fd < 0)
		die_sys("%s", final);
	if (b->nomem)
		die("out of memory");
	o = out_of_fd(fd, final);
	out_write(o, b->p, b->n);
	out_close(o);
	free(path);
	free(final);
}

/*
 * Replaces everything that a compiler, make or a shell could interpret: ends of comments or
 * lines, trigraphs.
 */
void
gen_name(struct buf *b, const char *s)
{
	for (; *s; s++)
		buf_printf(b, isalnum((unsigned char)*s) || strchr("/._-+ ", *s) ? "%c" : "\\%03o",
		    (unsigned char)*s);
}

/* Returns a name of letters, digits and _ that is short enough for a file name. */
static char *
aec_plain(const char *s)
{
	char *r = xasprintf("%.*s", NAMELEN, s);

	for (char *p = r; *p; p++)
		if (!isalnum((unsigned char)*p))
			*p = '_';
	return r;
}

/* Does the last of n + 1 names occur among the others? */
static int
aec_name_exists(char **list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(list[i], list[n]) == 0)
			return 1;
	return 0;
}

/* main.c becomes main.sma.c; a second main.c, from another folder, main_2.sma.c. */
static void
name_files(struct aec *a)
{
	a->file = xcalloc(a->g.nunit + 1u, sizeof *a->file);
	for (uint32_t i = 0; i < a->g.nunit; i++) {
		const char *src = a->g.unit[i].source, *slash = strrchr(src, '/');
		char *base = xstrdup(slash ? slash + 1 : src), *dot = strrchr(base, '.'), *clean;

		if (dot && dot > base)
			*dot = 0;
		clean = aec_plain(*base ? base : "unnamed");
		a->file[i] = xasprintf("%s.sma.c", clean);
		for (unsigned k = 2; aec_name_exists(a->file, i); k++) {
			free(a->file[i]);
			a->file[i] = xasprintf("%s_%u.sma.c", clean, k);
		}
		free(clean);
		free(base);
	}
}

/*
 * The paper's prefix __ae_.  Functions of a file that would have the same C name get their
 * number appended.
 */
static void
name_funcs(struct aec *a)
{
	a->name = xcalloc(a->g.nfunc + 1u, sizeof *a->name);
	for (uint32_t i = 0; i < a->g.nfunc; i++) {
		char *clean = aec_plain(a->g.func[i].f->name);
		uint32_t first = a->g.base[a->g.func[i].unit];

		a->name[i] = xasprintf("__ae_%s", clean);
		for (unsigned k = a->g.func[i].index; aec_name_exists(a->name + first, i - first); k++) {
			free(a->name[i]);
			a->name[i] = xasprintf("__ae_%s__%u", clean, k);
		}
		free(clean);
	}
}

/* Which functions are called so by step SO_LINKED */
static void
find_called(struct aec *a)
{
	a->called = xcalloc(a->g.nfunc + 1u, 1);
	for (uint32_t i = 0; i < a->g.nfunc; i++)
		for (uint32_t b = 0; b < a->g.func[i].f->nblock; b++)
			for (uint32_t k = 0; k < a->g.func[i].f->block[b].nstep; k++) {
				const struct op_step *s = a->g.func[i].f->block[b].step + k;

				if (s->op == SO_LINKED && s->sym != SCH_NOSYM && a->g.func[s->sym].unit != a->g.func[i].unit)
					a->called[s->sym] = 1;
			}
}

static void
aec_parameters(const struct sch_func *f, struct buf *b)
{
	buf_str(b, "(struct ae_pos, uint64_t");
	for (uint32_t k = 0; k < f->nneed; k++)
		buf_str(b, ", uint64_t");
	buf_str(b, ");");
}

static void
aec_prototypes(const struct aec *a, uint32_t unit, struct buf *b)
{
	const struct sch_unit *u = a->g.unit + unit;

	for (uint32_t i = 0; i < u->nfunc; i++) {
		buf_printf(b, "static struct ae_pos %s", a->name[a->g.base[unit] + i]);
		aec_parameters(u->func + i, b);
		buf_str(b, "\n");
	}
}

static void
write_unit(struct aec *a, uint32_t i)
{
	struct buf b = BUF_INIT;

	buf_str(&b, "/* Made by aec from the schema of ");
	gen_name(&b, *a->g.unit[i].source ? a->g.unit[i].source : "a file without a name");
	buf_str(&b, ". */\n#include \"ae_prog.h\"\n\n");
	aec_prototypes(a, i, &b);
	for (uint32_t k = 0; k < a->g.unit[i].nfunc; k++)
		gen_func(a, a->g.base[i] + k, &b);
	aec_save(a, a->file[i], &b);
	buf_free(&b);
}

/* The piece of read-only data that most values come from: the largest. */
static const struct exe_span *
aec_largest(const struct aec *a)
{
	const struct exe_span *s = NULL;

	for (size_t i = 0; i < a->x.nro; i++)
		if (a->x.ro[i].size >= 8 && (!s || a->x.ro[i].size > s->size))
			s = a->x.ro + i;
	return s;
}

/* Words of a position independent file's data change, see write_relocs. */
static const char *
aec_const(const struct exe *x)
{
	return x->moves ? "" : "const ";
}

/* The name of a piece of read-only data of library number lib, from 1; 0: the executable */
static void
aec_ro_name(struct buf *b, unsigned lib, const struct exe_span *s)
{
	if (lib)
		buf_printf(b, "ae_ro%u_%llx", lib, (unsigned long long)s->addr);
	else
		buf_printf(b, "ae_ro_%llx", (unsigned long long)s->addr);
}

static void
write_header(const struct aec *a)
{
	const struct exe_span *s = a->rodata ? aec_largest(a) : NULL;
	const char *base = a->g.moves ? " - ae_.base" : "";
	struct buf b = BUF_INIT;

	buf_str(&b, "/* Made by aec from ");
	gen_name(&b, a->path);
	buf_printf(&b, ": what its files share. */\n"
	    "#define AE_GENERATED\n%s#include <ae.h>\n\n", a->g.big ? "#define AE_BIG\n" : "");
	for (uint32_t i = 0; i < a->g.nfunc; i++) {
		if (a->called[i]) {
			buf_printf(&b, "struct ae_pos ae_call_%u", i);
			aec_parameters(a->g.func[i].f, &b);
			buf_str(&b, "\n");
		}
		if (!a->numbered[i])
			continue;
		buf_printf(&b, "ae_enter_fn ae_enter_%u;       /* ", i);
		gen_name(&b, a->g.func[i].f->name);
		buf_str(&b, " */\n");
	}
	buf_str(&b, "\nextern uint64_t ae_libbase[];\n");
	if (a->rodata) {
		buf_str(&b, "\n/* n bytes at address a of the executable's read-only data */\n");
		if (s)
			buf_printf(&b, "extern %sunsigned char ae_ro_%llx[];\n", aec_const(&a->x),
			    (unsigned long long)s->addr);
		buf_str(&b, "\nstatic inline uint64_t\nrodata(struct ae_pos q, uint64_t a, unsigned n)\n{\n");
		if (s)
			buf_printf(&b, "\tif (a%s - 0x%llx <= %llu - n)\n"
			    "\t\treturn ae_get(ae_ro_%llx + (a%s - 0x%llx), n);\n", base,
			    (unsigned long long)s->addr, (unsigned long long)s->size,
			    (unsigned long long)s->addr, base, (unsigned long long)s->addr);
		buf_str(&b, "\treturn ae_rodata(q, a, n);\n}\n");
	}
	aec_save(a, "ae_prog.h", &b);
	buf_free(&b);
}

static void
aec_bytes(struct buf *b, const uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (i % 32 == 0)
			buf_str(b, i ? "\"\n\t\"" : "\t\"");
		buf_printf(b, "\\%03o", p[i]);
	}
	buf_str(b, n ? "\"" : "\t\"\"");
}

static void
write_image(const struct exe *x, unsigned lib, struct buf *b)
{
	for (size_t i = 0; i < x->nro; i++) {
		const struct exe_span *s = x->ro + i;

		buf_printf(b, "\n%sunsigned char ", aec_const(x));
		aec_ro_name(b, lib, s);
		buf_str(b, "[] =\n");
		aec_bytes(b, s->p, s->size);
		buf_str(b, ";\n");
	}
	buf_printf(b, "\nstatic const struct ae_span ro%u[] = {\n", lib);
	for (size_t i = 0; i < x->nro; i++) {
		buf_printf(b, "\t{0x%llx, %llu, ", (unsigned long long)x->ro[i].addr,
		    (unsigned long long)x->ro[i].size);
		aec_ro_name(b, lib, x->ro + i);
		buf_str(b, "},\n");
	}
	buf_str(b, "};\n");
}

/* Words of read-only data that have addresses when the program runs; returns how many */
static unsigned
write_relocs(const struct exe *x, unsigned lib, struct buf *b)
{
	unsigned n = 0;

	buf_printf(b, "\nstatic const struct ae_reloc reloc%u[] = {\n", lib);
	for (size_t i = 0; i < x->nreloc; i++) {
		const struct exe_reloc *r = x->reloc + i;
		const struct exe_span *s;
		size_t k;

		LOWER_BOUND(k, x->nro, x->ro[k].addr <= r->addr);
		s = x->ro + k - 1;
		if (k == 0 || r->addr - s->addr >= s->size)
			continue;
		buf_printf(b, "\t{0x%llx, ", (unsigned long long)r->value);
		aec_ro_name(b, lib, s);
		buf_printf(b, " + %llu},\n", (unsigned long long)(r->addr - s->addr));
		n++;
	}
	buf_str(b, "\t{0, NULL}\n};\n");
	return n;
}

/* The data of a file, where it is needed; returns how many words of it change */
static unsigned
write_data(const struct aec *a, const struct exe *x, unsigned lib, struct buf *b)
{
	if (!a->rodata || !x->nro)
		return 0;
	write_image(x, lib, b);
	return write_relocs(x, lib, b);
}

/* What write_data has written, as fields of ae_program and ae_library */
static void
write_data_fields(const struct aec *a, const struct exe *x, unsigned lib, unsigned nreloc, struct buf *b)
{
	if (!a->rodata || !x->nro)
		buf_printf(b, "0, NULL,\n\t%u, 0, NULL", x->moves);
	else
		buf_printf(b, "%u, ro%u,\n\t%u, %u, reloc%u", (unsigned)x->nro, lib, x->moves, nreloc, lib);
}

static void
write_id(const struct exe *x, const char *path, struct buf *b)
{
	buf_str(b, "\t\"");
	gen_name(b, path);
	buf_str(b, "\",\n\t(const unsigned char *)\n");
	aec_bytes(b, x->id, x->idlen);
	buf_printf(b, ", %u,\n", x->idlen);
}

static void
write_libraries(const struct aec *a, struct buf *b)
{
	unsigned *nreloc = xcalloc(a->nlib + 1u, sizeof *nreloc);

	for (unsigned i = 0; i < a->nlib; i++)
		nreloc[i] = write_data(a, a->lib + i, i + 1, b);
	buf_printf(b, "\nuint64_t ae_libbase[%u];\n\nstatic const struct ae_library library[] = {\n", a->nlib + 1);
	for (unsigned i = 0; i < a->nlib; i++) {
		buf_str(b, "\t{\n");
		write_id(a->lib + i, a->libpath[i], b);
		buf_printf(b, "\t%u, %u,\n\t", (unsigned)a->g.lib[i].no.first, (unsigned)a->g.lib[i].no.n);
		write_data_fields(a, a->lib + i, i + 1, nreloc[i], b);
		buf_str(b, "},\n");
	}
	buf_str(b, "\t{0}\n};\n");
	free(nreloc);
}

static void
write_table(const struct aec *a)
{
	unsigned nreloc;
	struct buf b = BUF_INIT;

	buf_str(&b, "/* Made by aec from ");
	gen_name(&b, a->path);
	buf_str(&b, ": its functions in the order of their numbers. */\n"
	    "#include \"ae_prog.h\"\n\nstatic ae_enter_fn *const func[] = {\n");
	for (uint32_t i = 0; i < a->g.nno; i++) {
		if (a->g.byno[i] < 0)
			buf_str(&b, "\tNULL,\n");
		else
			buf_printf(&b, "\tae_enter_%u,\n", (unsigned)a->g.byno[i]);
	}
	buf_str(&b, "\tNULL\n};\n");
	nreloc = write_data(a, &a->x, 0, &b);
	write_libraries(a, &b);
	buf_str(&b, "\nconst struct ae_program ae_program = {\n");
	write_id(&a->x, a->path, &b);
	buf_printf(&b, "\t%u, %u, %u, %u,\n\t%u, func,\n\t", a->g.machine, a->g.word, a->g.big, a->g.push, a->g.nno);
	write_data_fields(a, &a->x, 0, nreloc, &b);
	buf_printf(&b, ",\n\t%u, %u, library, ae_libbase\n};\n",
	    a->nlib ? (unsigned)a->g.lib[0].no.first : a->g.nno, a->nlib);
	aec_save(a, "ae_table.c", &b);
	buf_free(&b);
}

static void
write_makefile(const struct aec *a)
{
	struct buf b = BUF_INIT;

	/* no quoting is valid for make and the shell at once */
	for (const char *p = a->home; *p; p++)
		if (!isalnum((unsigned char)*p) && !strchr("/._-+,@~=", *p) && (unsigned char)*p < 0x80)
			die("%s: make does not support this name of a folder", a->home);
	buf_str(&b, "# Made by aec from ");
	gen_name(&b, a->path);
	buf_printf(&b, ": `make` builds prog.regen.\n"
	    "AE = %s\nCC = cc\nCFLAGS = -O2\nLIBS = -lz -lbz2 -llzma -lzstd\n\n"
	    "OBJ = ae_main.o ae_table.o", a->home);
	for (uint32_t i = 0; i < a->g.nunit; i++)
		buf_printf(&b, " \\\n\t%.*s.o", (int)strlen(a->file[i]) - 2, a->file[i]);
	buf_str(&b, "\n\nprog.regen: $(OBJ)\n"
	    "\t$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $(OBJ) $(AE)/" TM_LIB "/libaeregen.a $(LIBS)\n\n"
	    "$(OBJ): ae_prog.h $(AE)/" TM_INCLUDE "/ae.h\n\n"
	    ".SUFFIXES: .c .o\n.c.o:\n\t$(CC) $(CFLAGS) -I. -I$(AE)/" TM_INCLUDE " -c -o $@ $<\n\n"
	    "clean:\n\trm -f prog.regen $(OBJ)\n");
	aec_save(a, "Makefile", &b);
	buf_free(&b);
}

static void
write_main(const struct aec *a)
{
	struct buf b = BUF_INIT;

	buf_str(&b, text_main);
	aec_save(a, "ae_main.c", &b);
	buf_free(&b);
}

void
write_files(struct aec *a)
{
	a->numbered = xcalloc(a->g.nfunc + 1u, 1);
	for (uint32_t i = 0; i < a->g.nno; i++)
		if (a->g.byno[i] >= 0)
			a->numbered[a->g.byno[i]] = 1;
	find_called(a);
	name_files(a);
	name_funcs(a);
	for (uint32_t i = 0; i < a->g.nunit; i++)
		write_unit(a, i);
	write_header(a);
	write_table(a);
	write_main(a);
	write_makefile(a);
}
