/* Where thread-local variables of a file are: in the block that the thread has for the file. */
#include <gelf.h>

#include "base/bytes.h"
#include "format/debug/debug.h"

#define MODULES 65536u          /* more files with thread-local variables no program has */

/* The file's header of its thread-local variables: 0, or -1: it has none */
static int
tls_header(const struct exe *x, GElf_Phdr *ph)
{
	size_t n;

	if (elf_getphdrnum(x->elf, &n) != 0)
		return -1;
	for (size_t i = 0; i < n; i++)
		if (gelf_getphdr(x->elf, (int)i, ph) && ph->p_type == PT_TLS)
			return 0;
	return -1;
}

/* A word of the program: 0, or -1 */
static int
tls_word(const struct debug_frame *f, uint64_t addr, uint64_t *v)
{
	uint8_t p[8];

	if (f->m->read(f->m->arg, addr, p, sizeof p) != 0)
		return -1;
	*v = get_le64(p);
	return 0;
}

/*
 * The block that glibc's vector of the thread has for a module.  The vector's length is before it; a block that the
 * thread has not asked for yet is UINT64_MAX.
 */
static int
tls_block(const struct debug_frame *f, uint64_t module, uint64_t *block)
{
	uint64_t vector, length;

	if (!module || module > MODULES || tls_word(f, f->thread + 8, &vector) != 0 ||
	    tls_word(f, vector - 16, &length) != 0 || length < module || length > MODULES ||
	    tls_word(f, vector + 16 * module, block) != 0)
		return -1;
	return *block && *block != UINT64_MAX ? 0 : -1;
}

/*
 * Does a relocation tell where the file's own block is?  One without a symbol, or with one that is defined here: that
 * of another file is of another block.  *at: the offset that it is for
 */
static int
tls_is_own(Elf_Data *symbols, const GElf_Rela *rela, uint64_t *at)
{
	GElf_Sym s;

	*at = (uint64_t)rela->r_addend;
	if (GELF_R_SYM(rela->r_info) == 0)
		return 1;
	if (!symbols || !gelf_getsym(symbols, (int)GELF_R_SYM(rela->r_info), &s) || s.st_shndx == SHN_UNDEF)
		return 0;
	*at += s.st_value;
	return 1;
}

/* The block of a library, by a word that the loader has written for its code: 1; 0: this one does not tell */
static int
tls_relocated(const struct debug_frame *f, Elf_Data *symbols, const GElf_Rela *rela, uint64_t *block)
{
	uint64_t type = GELF_R_TYPE(rela->r_info), at, v;

	if ((type != R_X86_64_TPOFF64 && type != R_X86_64_DTPMOD64) || !tls_is_own(symbols, rela, &at) ||
	    tls_word(f, rela->r_offset + f->bias, &v) != 0 || !v)
		return 0;
	if (type == R_X86_64_DTPMOD64)
		return tls_block(f, v, block) == 0;
	*block = f->thread + v - at;
	return 1;
}

static int
tls_library(const struct debug_frame *f, uint64_t *block)
{
	Elf *elf = f->x->elf;
	Elf_Scn *scn = NULL, *link;
	GElf_Shdr sh;
	GElf_Rela rela;
	Elf_Data *d;

	while ((scn = elf_nextscn(elf, scn)) != NULL) {
		if (!gelf_getshdr(scn, &sh) || sh.sh_type != SHT_RELA || !(sh.sh_flags & SHF_ALLOC) ||
		    (d = elf_getdata(scn, NULL)) == NULL)
			continue;
		link = elf_getscn(elf, sh.sh_link);
		for (int i = 0; gelf_getrela(d, i, &rela); i++)
			if (tls_relocated(f, link ? elf_getdata(link, NULL) : NULL, &rela, block))
				return 0;
	}
	return -1;
}

int
debug_thread_local(const struct debug_frame *f, uint64_t off, uint64_t *addr)
{
	GElf_Phdr ph;
	uint64_t block;

	if (!f->thread || !f->x || f->x->machine != EM_X86_64 || tls_header(f->x, &ph) != 0 || off >= ph.p_memsz)
		return -1;
	if (f->x->library) {
		if (tls_library(f, &block) != 0)
			return -1;
	} else {
		/* the linker put it into the code of the program: right below the thread pointer, aligned */
		if (ph.p_align & (ph.p_align - 1))
			return -1;
		block = f->thread - ph.p_memsz - (ph.p_align ? (-ph.p_vaddr - ph.p_memsz) & (ph.p_align - 1) : 0);
	}
	*addr = block + off;
	return 0;
}
