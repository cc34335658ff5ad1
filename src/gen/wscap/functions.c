/* Finds the addresses that a WHERE names in a process. */
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/bytes.h"
#include "format/ae/symbol.h"
#include "gen/wscap/point.h"
#include "gen/wscap/signal.h"
#include "gen/wscap/wscap.h"

#define RESOLVER_STEPS 10000u   /* instructions of the resolver of an indirect function, at most */

/* The address of the byte at virtual address `addr` of the file of mapping i; 0: it is not mapped. */
static uint64_t
address_of(Elf *e, const struct tracee_maps *m, size_t i, uint64_t addr)
{
	uint64_t off = UINT64_MAX;
	size_t n;
	GElf_Phdr ph;

	if (elf_getphdrnum(e, &n))
		return 0;
	for (size_t k = 0; k < n; k++)
		if (gelf_getphdr(e, (int)k, &ph) && ph.p_type == PT_LOAD && addr >= ph.p_vaddr &&
		    addr - ph.p_vaddr < ph.p_filesz)
			off = addr - ph.p_vaddr + ph.p_offset;
	for (size_t k = 0; k < m->n && off != UINT64_MAX; k++)
		if (m->map[k].ino == m->map[i].ino && m->map[k].dev == m->map[i].dev &&
		    m->map[k].prot & PROT_EXEC && off >= m->map[k].offset &&
		    off - m->map[k].offset < m->map[k].hi - m->map[k].lo)
			return m->map[k].lo + (off - m->map[k].offset);
	return 0;
}

static void
found_add(struct found *f, uint64_t addr, int indirect)
{
	for (size_t i = 0; i < f->n; i++)
		if (f->addr[i] == addr)
			return;
	if (!addr || f->n == WHERE_PLACES)
		return;
	f->indirect[f->n] = indirect;
	f->addr[f->n++] = addr;
}

/* All functions of that name: versions of it, static ones of several files. */
static void
functions_table(Elf *e, Elf_Scn *s, const struct tracee_maps *m, size_t map, const char *name, struct found *f)
{
	Elf_Data *d = elf_getdata(s, NULL);
	GElf_Shdr sh;
	GElf_Sym y;

	if (!d || !gelf_getshdr(s, &sh) || !sh.sh_entsize)
		return;
	for (size_t i = 0; i < sh.sh_size / sh.sh_entsize; i++) {
		const char *n;
		int type;

		if (!gelf_getsym(d, (int)i, &y) || y.st_shndx == SHN_UNDEF)
			continue;
		type = GELF_ST_TYPE(y.st_info);
		if (type != STT_FUNC && type != STT_NOTYPE && type != STT_GNU_IFUNC)
			continue;
		n = elf_strptr(e, sh.sh_link, y.st_name);
		if (n && symbol_is(n, name))
			found_add(f, address_of(e, m, map, y.st_value), type == STT_GNU_IFUNC);
	}
}

static void
functions_file(const struct tracee_maps *m, size_t map, const struct where *w, struct found *f)
{
	int fd = open(m->text + m->map[map].name, O_RDONLY | O_CLOEXEC);
	GElf_Shdr sh;
	Elf *e;

	if (fd < 0)
		return;
	elf_version(EV_CURRENT);
	e = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (e && elf_kind(e) == ELF_K_ELF && w->kind == WHERE_MODULE)
		found_add(f, address_of(e, m, map, w->addr), 0);
	for (Elf_Scn *s = NULL; e && w->kind == WHERE_NAME && (s = elf_nextscn(e, s)) != NULL;)
		if (gelf_getshdr(s, &sh) && (sh.sh_type == SHT_SYMTAB || sh.sh_type == SHT_DYNSYM))
			functions_table(e, s, m, map, w->name, f);
	if (e)
		elf_end(e);
	close(fd);
}

/* Is this the module's file, by its path or the last part of it? libc stands for libc.so.6. */
static int
is_module(const char *path, const char *name)
{
	const char *last = strrchr(path, '/');
	size_t n = strlen(name);

	last = last ? last + 1 : path;
	return !strcmp(path, name) || !strcmp(last, name) || (!strncmp(last, name, n) && !strncmp(last + n, ".so", 3));
}

/* Looks for the marker in memory, 64 KB at a time. */
static void
functions_marks(struct cap *c, const struct tracee_map *m, const struct where *w, struct found *f)
{
	uint8_t p[CHUNK], *at;

	for (uint64_t lo = m->lo; lo < m->hi; lo += CHUNK - sizeof(w->mark)) {
		size_t n = tracee_read(&c->t, lo, p, m->hi - lo < CHUNK ? (size_t)(m->hi - lo) : CHUNK);

		for (size_t i = 0; (at = memmem(p + i, n - i, w->mark, sizeof(w->mark))) != NULL;
		    i = (size_t)(at - p) + 1)
			found_add(f, lo + (uint64_t)(at - p), 0);
		if (n < CHUNK)
			break;
	}
}

/* A module may have several executable mappings: they are looked at once. */
static int
seen_before(const struct tracee_maps *m, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (m->map[k].ino == m->map[i].ino && m->map[k].dev == m->map[i].dev && m->map[k].prot & PROT_EXEC)
			return 1;
	return 0;
}

void
functions_find(struct cap *c, const struct where *w, struct found *f)
{
	struct tracee_maps m = {0};

	f->n = 0;
	if (w->kind == WHERE_ADDRESS || tracee_maps(c->t.pid, &m)) {
		uint8_t b;

		if (w->kind == WHERE_ADDRESS && tracee_read(&c->t, w->addr, &b, 1) == 1)
			found_add(f, w->addr, 0);
		return;
	}
	for (size_t i = 0; i < m.n && (!f->n || w->kind == WHERE_MARK); i++) {
		const char *name = m.text + m.map[i].name;

		if (!(m.map[i].prot & PROT_EXEC) || name[0] != '/')
			continue;
		if (w->kind == WHERE_MARK)
			functions_marks(c, &m.map[i], w, f);
		else if (!seen_before(&m, i) && (w->kind == WHERE_NAME || is_module(name, w->name)))
			functions_file(&m, i, w, f);
	}
	tracee_maps_free(&m);
}

/* Steps through the resolver, which was called: 0 when it has returned to `back`. */
static int
resolver_run(struct cap *c, uint64_t back, struct user_regs_struct *g)
{
	siginfo_t si;
	int status;

	for (unsigned i = 0; i < RESOLVER_STEPS; i++) {
		status = place_run(c, PTRACE_SINGLESTEP);
		if (status <= 0)
			return -1;
		if (status >> 8 != SIGTRAP && status >> 16 == 0 && !ptrace(PTRACE_GETSIGINFO, c->t.pid, NULL, &si))
			tracee_hold(&c->t, &si);
		if (tracee_regs(&c->t, g))
			return -1;
		if (g->rip == back)
			return 0;
	}
	return -1;
}

/*
 * The function that an indirect one stands for: the process calls its resolver, as the loader did.  What
 * that writes on the stack is put back.
 */
uint64_t
functions_resolve(struct cap *c, uint64_t resolver)
{
	struct user_regs_struct old, g;
	uint8_t stack[4096], back[8];
	uint64_t low, result = 0;

	if (tracee_regs(&c->t, &old))
		return 0;
	g = old;
	g.rsp = ((old.rsp - 256) & ~15ull) - 8;
	low = g.rsp + 8 - sizeof(stack);
	if (tracee_read(&c->t, low, stack, sizeof(stack)) != sizeof(stack))
		return 0;
	put_le64(back, old.rip);
	tracee_write(&c->t, g.rsp, back, 8);
	g.rip = resolver;
	g.orig_rax = UINT64_MAX;
	if (!tracee_setregs(&c->t, &g) && !resolver_run(c, old.rip, &g))
		result = g.rax;
	if (c->hasended)
		return 0;
	tracee_write(&c->t, low, stack, sizeof(stack));
	tracee_setregs(&c->t, &old);
	return result;
}
