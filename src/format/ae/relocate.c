/* Read-only data of a position independent executable, which has addresses when it was loaded. */
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/search.h"
#include "format/ae/exe.h"

struct relocs { struct exe *x; size_t cap; };

static int
relocs_nomem(struct exe *x)
{
	snprintf(x->err, sizeof x->err, "out of memory");
	return -1;
}

/* Where the file has the word at addr, in data that is not written or in the table of functions; NULL: nowhere there */
static uint8_t *
relocs_place(const struct exe *x, uint64_t addr)
{
	const struct exe_span *s;
	size_t i;

	LOWER_BOUND(i, x->nro, x->ro[i].addr <= addr);
	s = x->ro + i - 1;
	if (i == 0 || addr - s->addr >= s->size) {
		LOWER_BOUND(i, x->nimage, x->image[i].addr <= addr);
		s = x->image + i - 1;
		if (i == 0 || s->p != x->fn)
			return NULL;
	}
	if (addr - s->addr > s->size || s->size - (addr - s->addr) < 8)
		return NULL;
	/* the bytes are a private copy of the file */
	return (uint8_t *)(uintptr_t)s->p + (addr - s->addr);
}

static int
relocs_add(struct relocs *t, uint64_t addr, uint64_t value)
{
	struct exe *x = t->x;
	uint8_t *p = relocs_place(x, addr);

	if (!p)
		return 0;
	if (buf_grow(&x->reloc, &t->cap, x->nreloc + 1, sizeof *x->reloc) != 0)
		return relocs_nomem(x);
	x->reloc[x->nreloc++] = (struct exe_reloc){ addr, value, p };
	return 0;
}

static int
relocs_rela(struct relocs *t, Elf_Data *d, size_t n)
{
	GElf_Rela r;

	for (size_t i = 0; i < n && gelf_getrela(d, (int)i, &r); i++)
		if (GELF_R_TYPE(r.r_info) == R_X86_64_RELATIVE &&
		    relocs_add(t, r.r_offset, (uint64_t)r.r_addend) != 0)
			return -1;
	return 0;
}

/* The word is in its place, and what is added to it comes from the loader. */
static int
relocs_word(struct relocs *t, uint64_t addr)
{
	const uint8_t *p = relocs_place(t->x, addr);

	return p ? relocs_add(t, addr, get_le64(p)) : 0;
}

/* -z pack-relative-relocs: an address, then bits for the 63 words after it, and so on */
static int
relocs_relr(struct relocs *t, Elf_Data *d)
{
	const uint8_t *p = d->d_buf;
	uint64_t at = 0;

	for (size_t i = 0; i + 8 <= d->d_size; i += 8) {
		uint64_t w = get_le64(p + i);

		if (!(w & 1)) {
			if (relocs_word(t, w) != 0)
				return -1;
			at = w + 8;
			continue;
		}
		for (unsigned k = 0; k < 63; k++)
			if (w >> (k + 1) & 1 && relocs_word(t, at + 8 * (uint64_t)k) != 0)
				return -1;
		at += 63 * 8;
	}
	return 0;
}

static int
relocs_order(const void *a, const void *b)
{
	uint64_t p = ((const struct exe_reloc *)a)->addr, q = ((const struct exe_reloc *)b)->addr;

	return p < q ? -1 : p > q;
}

int
exe_read_relocs(struct exe *x)
{
	struct relocs t = { .x = x };
	Elf_Scn *scn = NULL;

	if (!x->moves || !x->nschema || x->machine != EM_X86_64 || x->word != 8)
		return 0;
	while ((scn = elf_nextscn(x->elf, scn)) != NULL) {
		GElf_Shdr sh;
		Elf_Data *d;

		if (!gelf_getshdr(scn, &sh) || !(sh.sh_flags & SHF_ALLOC) || !sh.sh_size ||
		    (sh.sh_type != SHT_RELA && sh.sh_type != SHT_RELR))
			continue;
		d = sh.sh_type == SHT_RELA ? elf_getdata(scn, NULL) : elf_rawdata(scn, NULL);
		if (!d || !d->d_buf)
			continue;
		if ((sh.sh_type == SHT_RELA ? relocs_rela(&t, d, sh.sh_entsize ? d->d_size / sh.sh_entsize : 0) :
		    relocs_relr(&t, d)) != 0)
			return -1;
	}
	if (x->nreloc)
		qsort(x->reloc, x->nreloc, sizeof *x->reloc, relocs_order);
	exe_relocate(x, 0);
	return 0;
}

void
exe_relocate(struct exe *x, uint64_t base)
{
	for (size_t i = 0; i < x->nreloc; i++)
		put_le64(x->reloc[i].p, x->reloc[i].value + base);
}
