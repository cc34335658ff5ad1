/* ws2addr -s: the references of one call of a function. */
#include <elf.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/diag.h"
#include "base/helper.h"
#include "convert/ws2addr/ws2addr.h"
#include "format/ae/symbol.h"

struct search {
	struct job *j;
	const char *name;
	uint64_t pc;                    /* WS_UNKNOWN until it is found */
};

/* The file offset of a virtual address, or UINT64_MAX. */
static uint64_t
offset_of(Elf *e, uint64_t vaddr)
{
	size_t n;
	GElf_Phdr ph;

	if (elf_getphdrnum(e, &n) != 0)
		return UINT64_MAX;
	for (size_t i = 0; i < n; i++)
		if (gelf_getphdr(e, (int)i, &ph) && ph.p_type == PT_LOAD && vaddr >= ph.p_vaddr &&
		    vaddr - ph.p_vaddr < ph.p_filesz)
			return vaddr - ph.p_vaddr + ph.p_offset;
	return UINT64_MAX;
}

/* The file offset of the symbol in this table, or UINT64_MAX. */
static uint64_t
in_table(Elf *e, Elf_Scn *s, const char *name)
{
	GElf_Shdr sh;
	GElf_Sym y;
	Elf_Data *d;

	if (!gelf_getshdr(s, &sh) || (sh.sh_type != SHT_SYMTAB && sh.sh_type != SHT_DYNSYM) || !sh.sh_entsize)
		return UINT64_MAX;
	d = elf_getdata(s, NULL);
	for (size_t i = 0; d && i < sh.sh_size / sh.sh_entsize; i++) {
		const char *n;

		if (!gelf_getsym(d, (int)i, &y) || y.st_shndx == SHN_UNDEF)
			continue;
		if (GELF_ST_TYPE(y.st_info) != STT_FUNC && GELF_ST_TYPE(y.st_info) != STT_NOTYPE)
			continue;
		n = elf_strptr(e, sh.sh_link, y.st_name);
		if (n && symbol_is(n, name))
			return offset_of(e, y.st_value);
	}
	return UINT64_MAX;
}

/* Is this the file that was mapped? */
static int
same_file(Elf *e, const struct ws_rec_map *m)
{
	size_t n;
	GElf_Phdr ph;

	if (!m->nid || elf_getphdrnum(e, &n) != 0)
		return 1;
	for (size_t i = 0; i < n; i++) {
		Elf_Data *d;
		GElf_Nhdr nh;
		size_t name, desc, at = 0;

		if (!gelf_getphdr(e, (int)i, &ph) || ph.p_type != PT_NOTE)
			continue;
		d = elf_getdata_rawchunk(e, (int64_t)ph.p_offset, ph.p_filesz, ELF_T_NHDR);
		while (d && (at = gelf_getnote(d, at, &nh, &name, &desc)) > 0)
			if (nh.n_type == NT_GNU_BUILD_ID && nh.n_namesz == 4)
				return nh.n_descsz == m->nid &&
				    memcmp((char *)d->d_buf + desc, m->id, m->nid) == 0;
	}
	return 1;
}

static uint64_t
symbol_find(const struct ws_rec_map *m, const char *name)
{
	int fd = helper_open(m->name, HELPER_ELF);
	uint64_t off = UINT64_MAX;
	Elf *e;

	if (fd < 0)
		return UINT64_MAX;
	elf_version(EV_CURRENT);
	e = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (e && elf_kind(e) == ELF_K_ELF && same_file(e, m))
		for (Elf_Scn *s = NULL; off == UINT64_MAX && (s = elf_nextscn(e, s));)
			off = in_table(e, s, name);
	if (e)
		elf_end(e);
	close(fd);
	return off;
}

static void
symbol_mapped(void *arg, const struct ws_rec_map *m)
{
	struct search *s = arg;
	uint64_t off;

	if (s->pc != WS_UNKNOWN)
		return;
	off = symbol_find(m, s->name);
	if (off == UINT64_MAX || off < m->offset || off - m->offset >= m->len)
		return;
	s->pc = m->addr + (off - m->offset);
	if (replay_break(s->j->r, s->pc, 1) != 0)
		die("no memory");
}

/* Outputs references up to where rsp is above sp at pc. */
static void
until_return(struct job *j, uint64_t pc, uint64_t sp)
{
	const uint64_t *w;
	size_t n;
	int got;

	if (replay_break(j->r, pc, 1) != 0)
		die("no memory");
	for (;;) {
		got = replay_refs(j->r, &w, &n);
		if (got == REPLAY_OK)
			job_take(j, w, n);
		else if (got != REPLAY_BREAK || replay_regs(j->r)->r[WS_RSP] > sp)
			break;
	}
	if (got == REPLAY_BAD)
		job_bad(j, replay_fault(j->r));
}

void
job_symbol(struct job *j, const char *symbol)
{
	struct search s = { .j = j, .name = symbol, .pc = WS_UNKNOWN };
	uint8_t ret[8];
	uint64_t sp;
	int got;

	replay_set_map_fn(j->r, symbol_mapped, &s);
	got = replay_skip(j->r, WS_UNKNOWN);
	if (got == REPLAY_BAD)
		job_bad(j, replay_fault(j->r));
	if (got != REPLAY_BREAK) {
		out_discard(j->out);
		job_early(j, replay_early(j->r));
		if (s.pc == WS_UNKNOWN)
			die("%s: no function %s in the files that the program mapped", j->name, symbol);
		die("%s: %s is never called", j->name, symbol);
	}
	replay_set_map_fn(j->r, NULL, NULL);
	replay_break(j->r, s.pc, 0);
	sp = replay_regs(j->r)->r[WS_RSP];
	if (replay_read(j->r, sp, ret, 8) != 8)
		die("%s: %s is entered without a stack", j->name, symbol);
	until_return(j, get_le64(ret), sp);
}
