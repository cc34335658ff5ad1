/* --print-schema, --schema: writes schemas as text, and reads them. */
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/in.h"
#include "base/mem.h"
#include "base/out.h"
#include "base/search.h"
#include "base/src.h"
#include "format/schema/text.h"
#include "gen/aec/aec.h"
#include "gen/aec/schema.h"

#define TEXTMAX ((size_t)INT32_MAX)     /* bytes of a schema text at most */

static struct { struct exe_sym *p; size_t n, cap; } sym;
static struct buf encoded;      /* units of the text, which replace those of the executable */

static void
build_id(const struct aec *a, char id[2 * EXE_IDMAX + 1])
{
	id[0] = 0;
	for (unsigned i = 0; i < a->x.idlen; i++)
		sprintf(id + (size_t)2 * i, "%02x", a->x.id[i]);
}

static const char *
aec_schema_regname(void *arg, const struct sch_unit *u, int r)
{
	(void)arg;
	return reg_name(u->machine, u->big, r);
}

static int
cmp_sym(const void *a, const void *b)
{
	const struct exe_sym *p = a, *q = b;

	return p->addr != q->addr ? p->addr < q->addr ? -1 : 1 : strcmp(p->name, q->name);
}

/* Appends functions and data for comments: `#F3 ; 0x404060 table+8`. */
static void
read_symbols(struct aec *a, Elf_Data *d, const GElf_Shdr *sh)
{
	size_t n = sh->sh_entsize ? sh->sh_size / sh->sh_entsize : 0;
	GElf_Sym s;

	for (size_t i = 0; i < n && gelf_getsym(d, (int)i, &s); i++) {
		const char *name = elf_strptr(a->x.elf, sh->sh_link, s.st_name);
		int type = GELF_ST_TYPE(s.st_info);

		if (!name || !*name || s.st_shndx == SHN_UNDEF || !s.st_size ||
		    (type != STT_FUNC && type != STT_OBJECT))
			continue;
		sym.p = mem_xgrow(sym.p, &sym.cap, sym.n + 1, sizeof *sym.p);
		sym.p[sym.n++] = (struct exe_sym){s.st_value, s.st_size, name};
	}
}

static void
load_symbols(struct aec *a)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;

	while ((scn = elf_nextscn(a->x.elf, scn))) {
		Elf_Data *d;

		if (gelf_getshdr(scn, &sh) && sh.sh_type == SHT_SYMTAB && (d = elf_getdata(scn, NULL)))
			read_symbols(a, d, &sh);
	}
	if (sym.n)
		qsort(sym.p, sym.n, sizeof *sym.p, cmp_sym);
}

/* The last symbol at or before addr, if it covers addr; else NULL. */
static const char *
aec_schema_symbol(void *aec, uint64_t addr, uint64_t *off)
{
	size_t i;

	(void)aec;
	LOWER_BOUND(i, sym.n, sym.p[i].addr <= addr);
	if (i == 0 || addr - sym.p[i - 1].addr >= sym.p[i - 1].size)
		return NULL;
	*off = addr - sym.p[i - 1].addr;
	return sym.p[i - 1].name;
}

static const char *
source_line(void *aec, uint64_t pc, int *no)
{
	return exe_line(&((struct aec *)aec)->x, pc, no);
}

static struct sch_names
aec_schema_names(struct aec *a)
{
	return (struct sch_names){aec_schema_regname, aec_schema_symbol, source_line, a, 1};
}

void
schema_print(struct aec *a, const char *path)
{
	struct sch_names nm = aec_schema_names(a);
	struct out *o = out_open(path);
	char id[2 * EXE_IDMAX + 1];

	load_symbols(a);
	build_id(a, id);
	out_printf(o, "start_schema %s\n", id);
	for (uint32_t i = 0; i < a->g.nunit; i++) {
		struct buf b = BUF_INIT;

		sch_print(&b, a->g.unit + i, &nm);
		if (b.nomem)
			die("out of memory");
		out_str(o, "\n");
		out_write(o, b.p, b.n);
		buf_free(&b);
	}
	out_str(o, "\nend_schema\n");
	out_close(o);
}

static void
aec_schema_slurp(const char *path, struct buf *b)
{
	struct in *in = in_open(path);
	size_t n;

	do {
		uint8_t *p = buf_reserve(b, 65536);

		if (!p || b->n > TEXTMAX)
			die("%s: too large", in_name(in));
		n = in_read(in, p, 65536);
		b->n += n;
	} while (n);
	if (in_error(in))
		die_at(in_name(in), in_off(in), DIAG_NOREC, "%s", in_error(in));
	in_close(in);
}

void
schema_read(struct aec *a, const char *path)
{
	struct sch_names nm = aec_schema_names(a);
	struct buf b = BUF_INIT;
	struct sch_text t = {0};
	char id[2 * EXE_IDMAX + 1];
	struct sch_unit u;
	int r;

	aec_schema_slurp(path, &b);
	path = src_name(path);
	t.p = (const char *)b.p;
	t.n = b.n;
	build_id(a, id);
	while ((r = sch_parse(&t, &nm, &u)) > 0) {
		size_t n;
		uint8_t *e = sch_encode(&u, &n);

		if (!e)
			die("out of memory");
		buf_add(&encoded, e, n);
		free(e);
		sch_free(&u);
	}
	if (r < 0)
		die("%s: line %lu: %s", path, t.line, t.err);
	if (*t.program && strcmp(t.program, id) != 0)
		die("%s: this is not the schema of %s, but that of another executable", path,
		    src_name(a->path));
	if (encoded.n == 0)
		die("%s: contains no schema", path);
	if (encoded.nomem)
		die("out of memory");
	a->x.schema = encoded.p;
	a->x.nschema = encoded.n;
	buf_free(&b);
}

void
schema_free(void)
{
	buf_free(&encoded);
	free(sym.p);
}
