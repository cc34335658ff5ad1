/* Compares the objects of two texts: as wholes, and statement by statement. */
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "ae/rewrite/assemble.h"
#include "ae/rewrite/compare.h"
#include "base/mem.h"
#include "base/search.h"

struct csect {
	const char *name;
	GElf_Shdr sh;
	const uint8_t *p;       /* NULL: no bytes, or such as are compared otherwise */
	size_t n;
};

struct csym {
	const char *name;       /* "" of a section's symbol */
	uint64_t value, size;
	uint32_t sect;
	uint8_t info, other;
};

struct crel {
	uint32_t sect;
	uint64_t off;
	uint32_t type;
	int64_t addend;
	struct csym sym;
};

/* Where a statement begins and ends; section 0: it has no mark */
struct cmark { uint32_t sect[2]; uint64_t off[2]; };

struct side {
	Elf *elf;
	int fd;
	struct csect *sect;
	struct csym *sym;       /* sorted, without marks */
	struct crel *rel;       /* sorted */
	struct cmark *mark;
	size_t nsect, nsym, capsym, nrel, caprel;
};

struct compare { struct side side[2]; size_t n; };

static int
by_number(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int
by_symbol(const void *pa, const void *pb)
{
	const struct csym *a = pa, *b = pb;
	int d = strcmp(a->name, b->name);

	d = d ? d : by_number(a->sect, b->sect);
	d = d ? d : by_number(a->value, b->value);
	d = d ? d : by_number(a->size, b->size);
	d = d ? d : by_number(a->info, b->info);
	return d ? d : by_number(a->other, b->other);
}

/* What a relocation is, apart from its place */
static int
by_meaning(const struct crel *a, const struct crel *b)
{
	int d = by_number(a->type, b->type);

	d = d ? d : by_number((uint64_t)a->addend, (uint64_t)b->addend);
	return d ? d : by_symbol(&a->sym, &b->sym);
}

static int
by_place(const void *pa, const void *pb)
{
	const struct crel *a = pa, *b = pb;
	int d = by_number(a->sect, b->sect);

	d = d ? d : by_number(a->off, b->off);
	return d ? d : by_meaning(a, b);
}

/* Symbol i of a table; 0: it cannot be read. */
static int
compare_symbol(const struct side *s, Elf_Data *d, size_t strings, size_t i, struct csym *sym)
{
	GElf_Sym y;

	if (!gelf_getsym(d, (int)i, &y))
		return 0;
	sym->name = elf_strptr(s->elf, strings, y.st_name);
	sym->value = y.st_value;
	sym->size = y.st_size;
	sym->sect = y.st_shndx;
	sym->info = y.st_info;
	sym->other = y.st_other;
	return sym->name != NULL;
}

/* Is it a mark? */
static int
compare_mark(struct side *s, const struct csym *y, size_t n)
{
	const char *at = y->name + strlen(MARK);
	unsigned long i;
	char *end;
	int last;

	if (strncmp(y->name, MARK, strlen(MARK)) != 0 || (*at != 'b' && *at != 'e'))
		return 0;
	i = strtoul(at + 1, &end, 10);
	if (*end || i >= n)
		return 0;
	last = *at == 'e';
	if (y->sect < s->nsect) {
		s->mark[i].sect[last] = y->sect;
		s->mark[i].off[last] = y->value;
	}
	return 1;
}

static int
compare_symbols(struct side *s, const struct csect *t, Elf_Data *d, size_t n)
{
	size_t i, total = t->sh.sh_entsize ? t->sh.sh_size / t->sh.sh_entsize : 0;

	for (i = 1; i < total; i++) {
		struct csym y;

		if (!compare_symbol(s, d, t->sh.sh_link, i, &y))
			return 0;
		if (compare_mark(s, &y, n))
			continue;
		s->sym = mem_xgrow(s->sym, &s->capsym, s->nsym + 1, sizeof *s->sym);
		s->sym[s->nsym++] = y;
	}
	return 1;
}

static int
compare_relocs(struct side *s, const struct csect *t, Elf_Data *d)
{
	size_t i, n = t->sh.sh_entsize ? t->sh.sh_size / t->sh.sh_entsize : 0;
	Elf_Scn *scn = elf_getscn(s->elf, t->sh.sh_link);
	Elf_Data *table = scn ? elf_getdata(scn, NULL) : NULL;
	GElf_Shdr sh;

	if (n && (!table || !gelf_getshdr(scn, &sh)))
		return 0;
	for (i = 0; i < n; i++) {
		struct crel *r;
		GElf_Rela a;

		if (!gelf_getrela(d, (int)i, &a))
			return 0;
		s->rel = mem_xgrow(s->rel, &s->caprel, s->nrel + 1, sizeof *s->rel);
		r = &s->rel[s->nrel++];
		memset(r, 0, sizeof *r);
		r->sect = t->sh.sh_info;
		r->off = a.r_offset;
		r->type = (uint32_t)GELF_R_TYPE(a.r_info);
		r->addend = a.r_addend;
		if (!compare_symbol(s, table, sh.sh_link, GELF_R_SYM(a.r_info), &r->sym))
			return 0;
	}
	return 1;
}

/* Section i, and what is in it; 0: it cannot be read. */
static int
compare_section(struct side *s, size_t i, size_t strings, size_t n)
{
	struct csect *t = &s->sect[i];
	Elf_Scn *scn = elf_getscn(s->elf, i);
	Elf_Data *d;

	if (!scn || !gelf_getshdr(scn, &t->sh) || !(t->name = elf_strptr(s->elf, strings, t->sh.sh_name)))
		return 0;
	if (t->sh.sh_type == SHT_NOBITS || !t->sh.sh_size)
		return 1;
	if (t->sh.sh_type == SHT_REL || !(d = elf_getdata(scn, NULL)) || !d->d_buf)
		return 0;
	if (t->sh.sh_type == SHT_SYMTAB)
		return compare_symbols(s, t, d, n);
	if (t->sh.sh_type == SHT_RELA)
		return compare_relocs(s, t, d);
	if (t->sh.sh_type != SHT_STRTAB) {
		t->p = d->d_buf;
		t->n = d->d_size;
	}
	return 1;
}

static int
compare_read(struct side *s, size_t n)
{
	size_t i, strings;

	elf_version(EV_CURRENT);
	s->elf = elf_begin(s->fd, ELF_C_READ, NULL);
	if (!s->elf || elf_getshdrnum(s->elf, &s->nsect) != 0 || elf_getshdrstrndx(s->elf, &strings) != 0 ||
	    s->nsect >= SHN_LORESERVE)
		return 0;
	s->sect = xcalloc(s->nsect + 1, sizeof *s->sect);
	s->mark = xcalloc(n + 1, sizeof *s->mark);
	for (i = 1; i < s->nsect; i++)
		if (!compare_section(s, i, strings, n))
			return 0;
	if (s->nsym)
		qsort(s->sym, s->nsym, sizeof *s->sym, by_symbol);
	if (s->nrel)
		qsort(s->rel, s->nrel, sizeof *s->rel, by_place);
	return 1;
}

struct compare *
compare_open(int one, int other, size_t n)
{
	struct compare *c = xcalloc(1, sizeof *c);

	c->n = n;
	c->side[0].fd = one;
	c->side[1].fd = other;
	if (compare_read(&c->side[0], n) && compare_read(&c->side[1], n))
		return c;
	compare_close(c);
	return NULL;
}

void
compare_close(struct compare *c)
{
	size_t i;

	for (i = 0; i < 2; i++) {
		struct side *s = &c->side[i];

		elf_end(s->elf);
		close(s->fd);
		free(s->sect);
		free(s->sym);
		free(s->rel);
		free(s->mark);
	}
	free(c);
}

static int
same_section(const struct csect *a, const struct csect *b)
{
	if (strcmp(a->name, b->name) != 0 || a->sh.sh_type != b->sh.sh_type || a->sh.sh_flags != b->sh.sh_flags ||
	    a->sh.sh_addralign != b->sh.sh_addralign || a->n != b->n || !a->p != !b->p)
		return 0;
	/* of marks, the tables of symbols and strings have more; the names in a text need not come in the same order */
	if (a->sh.sh_type == SHT_SYMTAB || a->sh.sh_type == SHT_STRTAB)
		return 1;
	return a->sh.sh_size == b->sh.sh_size && (!a->n || memcmp(a->p, b->p, a->n) == 0);
}

int
compare_same(const struct compare *c)
{
	const struct side *a = &c->side[0], *b = &c->side[1];
	size_t i;

	if (a->nsect != b->nsect || a->nsym != b->nsym || a->nrel != b->nrel)
		return 0;
	for (i = 1; i < a->nsect; i++)
		if (!same_section(&a->sect[i], &b->sect[i]))
			return 0;
	for (i = 0; i < a->nsym; i++)
		if (by_symbol(&a->sym[i], &b->sym[i]))
			return 0;
	for (i = 0; i < a->nrel; i++)
		if (by_place(&a->rel[i], &b->rel[i]))
			return 0;
	return 1;
}

/* The first relocation at or after a place */
static size_t
relocs_from(const struct side *s, uint32_t sect, uint64_t off)
{
	size_t i;

	LOWER_BOUND(i, s->nrel, s->rel[i].sect < sect || (s->rel[i].sect == sect && s->rel[i].off < off));
	return i;
}

enum compare_result
compare_statement(const struct compare *c, size_t i)
{
	const struct side *s = c->side;
	const struct cmark *a = &s[0].mark[i], *b = &s[1].mark[i];
	const struct csect *ta = &s[0].sect[a->sect[0]], *tb = &s[1].sect[b->sect[0]];
	uint64_t n = a->off[1] - a->off[0];
	enum compare_result r = CMP_SAME;
	size_t x, y;

	if (a->sect[0] != b->sect[0] || a->sect[1] != b->sect[1] || n != b->off[1] - b->off[0])
		return CMP_LENGTH;
	if (!a->sect[0] || a->sect[0] != a->sect[1] || !ta->p || !tb->p)
		return CMP_SAME;        /* in no object, or no bytes */
	if (a->off[1] < a->off[0] || a->off[1] > ta->n || b->off[1] > tb->n)
		return CMP_CONTENT;
	if (memcmp(ta->p + a->off[0], tb->p + b->off[0], n) != 0)
		return CMP_CONTENT;
	x = relocs_from(&s[0], a->sect[0], a->off[0]);
	y = relocs_from(&s[1], b->sect[0], b->off[0]);
	for (;; x++, y++) {
		int more = x < s[0].nrel && s[0].rel[x].sect == a->sect[0] && s[0].rel[x].off < a->off[1];

		if (more != (y < s[1].nrel && s[1].rel[y].sect == b->sect[0] && s[1].rel[y].off < b->off[1]))
			return CMP_CONTENT;
		if (!more)
			return r;
		if (s[0].rel[x].off - a->off[0] != s[1].rel[y].off - b->off[0])
			return CMP_CONTENT;
		if (s[0].rel[x].type != s[1].rel[y].type || s[0].rel[x].sym.sect != s[1].rel[y].sym.sect ||
		    strcmp(s[0].rel[x].sym.name, s[1].rel[y].sym.name) != 0)
			return CMP_CONTENT;
		if (by_meaning(&s[0].rel[x], &s[1].rel[y]))
			r = CMP_PLACE;
	}
}
