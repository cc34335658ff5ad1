/* ws2wet: files, functions and lines of statements. */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "format/exe.h"
#include "format/wettext.h"
#include "ws2wet.h"

struct source {
	struct exe exe;
	char *name;
	int open;
	struct source *next;
};

static struct source *sources;

/* The file of this name; it may be gone, or not an ELF file */
static struct source *
source_of(const char *name)
{
	struct source *s;

	for (s = sources; s; s = s->next)
		if (strcmp(s->name, name) == 0)
			return s;
	s = xcalloc(1, sizeof *s);
	s->name = xstrdup(name);
	s->open = exe_open(&s->exe, name) == 0;
	s->next = sources;
	return sources = s;
}

void
job_module(void *arg, const struct ws_rec_map *m)
{
	struct job *j = arg;
	struct module *k;

	for (size_t i = 0; i < j->nmodule; i++)
		if (j->module[i].map.addr == m->addr && j->module[i].map.len == m->len && strcmp(j->module[i].map.name, m->name) == 0)
			return;
	j->module = xgrow(j->module, &j->capmodule, j->nmodule + 1, sizeof *j->module);
	k = &j->module[j->nmodule++];
	*k = (struct module){ .map = *m };
	k->map.name = xstrdup(m->name);
	k->map.id = memcpy(xmalloc(m->nid + 1), m->nid ? m->id : (const uint8_t *)"", m->nid);
}

void
source_free(struct job *j)
{
	struct source *s;

	for (size_t i = 0; i < j->nmodule; i++) {
		free((void *)(uintptr_t)j->module[i].map.name);
		free((void *)(uintptr_t)j->module[i].map.id);
	}
	free(j->module);
	while ((s = sources) != NULL) {
		sources = s->next;
		if (s->open)
			exe_close(&s->exe);
		free(s->name);
		free(s);
	}
}

/* The last mapping there was of pc */
static struct module *
module_of(const struct job *j, uint64_t pc)
{
	for (size_t i = j->nmodule; i-- > 0;)
		if (pc >= j->module[i].map.addr && pc - j->module[i].map.addr < j->module[i].map.len)
			return &j->module[i];
	return NULL;
}

int
job_in_main(const struct job *j, uint64_t pc)
{
	const struct module *m = module_of(j, pc);

	return m && m->map.type == WS_EXE;
}

/* Between addresses of the file and its offsets: out of `from` the other, UINT64_MAX if there is none */
static uint64_t
convert(const struct exe *x, uint64_t from, int to_offset)
{
	size_t n;
	GElf_Phdr ph;

	if (elf_getphdrnum(x->elf, &n) != 0)
		return UINT64_MAX;
	for (size_t i = 0; i < n; i++) {
		uint64_t base;

		if (!gelf_getphdr(x->elf, (int)i, &ph) || ph.p_type != PT_LOAD)
			continue;
		base = to_offset ? ph.p_vaddr : ph.p_offset;
		if (from >= base && from - base < ph.p_filesz)
			return from - base + (to_offset ? ph.p_offset : ph.p_vaddr);
	}
	return UINT64_MAX;
}

/* Is this the file that was mapped, as far as its build id tells? */
static int
same(const struct exe *x, const struct ws_rec_map *m)
{
	return !m->nid || !x->idlen || (m->nid == x->idlen && memcmp(m->id, x->id, m->nid) == 0);
}

uint64_t
source_find(struct job *j, const struct ws_rec_map *m, const char *symbol)
{
	struct source *s = source_of(m->name);

	(void)j;
	if (!s->open || !same(&s->exe, m))
		return 0;
	for (size_t i = 0; i < s->exe.nsym; i++) {
		uint64_t off;

		if (strcmp(s->exe.sym[i].name, symbol) != 0)
			continue;
		off = convert(&s->exe, s->exe.sym[i].addr, 1);
		if (off != UINT64_MAX && off >= m->offset && off - m->offset < m->len)
			return m->addr + (off - m->offset);
	}
	return 0;
}

/* The folder in which the source was compiled needs not be said */
static const char *
shorten(struct exe *x, uint64_t addr, const char *file)
{
	Dwarf_Die die;
	Dwarf_Attribute a;
	const char *dir;
	size_t n;

	if (!dwarf_addrdie(x->dwarf, addr, &die) || !dwarf_attr(&die, DW_AT_comp_dir, &a) || !(dir = dwarf_formstring(&a)))
		return file;
	n = strlen(dir);
	return n && strncmp(file, dir, n) == 0 && file[n] == '/' ? file + n + 1 : file;
}

/* File, function and line; NULL, NULL, 0 where the file is gone, or has other instructions there */
static void
find(struct job *j, const struct stmt *s, const char **file, const char **func, int *line)
{
	struct module *m = module_of(j, s->pc);
	struct exe *x;
	uint64_t addr, off;
	uint8_t b[15];

	if (!m)
		return;
	if (!m->source)
		m->source = source_of(m->map.name);
	x = &m->source->exe;
	if (!m->source->open || !same(x, &m->map))
		return;
	addr = convert(x, s->pc - m->map.addr + m->map.offset, 0);
	if (addr == UINT64_MAX || !exe_image(x, addr, b, s->len) || memcmp(b, s->b, s->len) != 0)
		return;
	*func = exe_func(x, addr, &off);
	*file = exe_line(x, addr, line);
	if (*file)
		*file = shorten(x, addr, *file);
	else
		*line = 0;
}

void
source_put(struct job *j, const struct stmt *s)
{
	const char *file = NULL, *func = NULL;
	int line = 0;
	uint8_t name[16384];
	size_t n;

	find(j, s, &file, &func, &line);
	out_printf(j->out, "%u %u %llx ", (unsigned)s->id, 1u + s->nuse + s->nmem, (unsigned long long)s->pc);
	n = wettext_put_name(name, sizeof name - 1, file);
	name[n++] = ' ';
	out_write(j->out, name, n);
	n = wettext_put_name(name, sizeof name - 1, func);
	name[n++] = ' ';
	out_write(j->out, name, n);
	out_printf(j->out, "%d\n", line < 0 ? 0 : line);
}
