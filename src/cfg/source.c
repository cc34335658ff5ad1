/* Files, functions and lines of instructions. */
#include <gelf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "cfg/source.h"
#include "format/ae/exe.h"
#include "format/ae/symbol.h"
#include "format/ws/kept.h"

struct file {
	struct exe exe;
	char *name;                     /* owned */
	size_t kept;                    /* 1 + its number among those that the capture keeps, or 0 */
	int open, error;                /* error: of opening it, or 0: see bad */
	const char *bad;                /* why it cannot be used */
	/* code of it was executed; it is not the file that was mapped; a complaint was returned */
	int ran, other, said;
	struct timespec time;           /* modification time */
	char *asked;                    /* the source file that may_have is about; owned, or NULL */
	int may_have;
	struct file *next;
};

/* A file that was mapped executable */
struct module {
	struct ws_rec_map map;          /* name and id are owned */
	struct file *file;              /* NULL: not looked for yet */
};

struct wsource {
	struct module *module;          /* owned */
	size_t nmodule, capmodule;
	struct file *file;              /* owned */
	struct ws_runs *runs;           /* of the capture; NULL: it keeps no files */
	int fd;                         /* of it */
	uint64_t unpacked;              /* bytes of kept files in memory */
	int inlined;
	char say[4400];
};

#define UNPACKED_MAX (UINT64_C(2) << 30)        /* a file from a stranger may say that it has any number */

struct wsource *
wsource_new(const char *capture)
{
	struct wsource *s = calloc(1, sizeof *s);

	if (s && capture)
		s->runs = ws_kept_open(capture, &s->fd);
	return s;
}

void
wsource_free(struct wsource *s)
{
	struct file *f;

	if (!s)
		return;
	if (s->runs)
		ws_kept_close(s->runs, s->fd);
	for (size_t i = 0; i < s->nmodule; i++) {
		free((void *)(uintptr_t)s->module[i].map.name);
		free((void *)(uintptr_t)s->module[i].map.id);
	}
	free(s->module);
	while ((f = s->file) != NULL) {
		s->file = f->next;
		if (f->open)
			exe_close(&f->exe);
		free(f->name);
		free(f->asked);
		free(f);
	}
	free(s);
}

/* 1 + the number of the kept file that was mapped, or 0 */
static size_t
source_kept(const struct wsource *s, const struct ws_rec_map *m)
{
	for (size_t i = 0; s->runs && i < ws_kept_count(s->runs); i++) {
		struct ws_kept k = ws_kept_get(s->runs, i);

		if (strcmp(k.path, m->name) == 0 &&
		    (!k.ino || !m->ino || (k.ino == m->ino && k.dev == m->dev)))
			return i + 1;
	}
	return 0;
}

static void
file_open_kept(struct wsource *s, struct file *f)
{
	uint64_t bytes = ws_kept_get(s->runs, f->kept - 1).bytes;
	const char *why = "is too large";
	uint8_t *p = bytes > UNPACKED_MAX - s->unpacked ? NULL :
	    ws_kept_load(s->runs, s->fd, f->kept - 1, &why);

	f->bad = p ? "its copy in the capture is no executable" : "its copy in the capture cannot be used";
	if (p)
		s->unpacked += bytes;
	f->open = p && exe_open_mem(&f->exe, p, bytes) == 0;
}

static void
file_open_path(struct file *f)
{
	struct stat st;

	f->bad = "no executable";
	f->error = stat(f->name, &st) != 0 ? errno : 0;
	f->open = !f->error && exe_open(&f->exe, f->name) == 0;
	f->time = f->error ? (struct timespec){ 0 } : st.st_mtim;
}

/* Finds or opens the file that was mapped, which need not exist or be an ELF file.  NULL: no memory */
static struct file *
file_of(struct wsource *s, const struct ws_rec_map *m)
{
	size_t kept = source_kept(s, m);
	struct file *f;

	for (f = s->file; f; f = f->next)
		if (f->kept == kept && strcmp(f->name, m->name) == 0)
			return f;
	f = calloc(1, sizeof *f);
	if (!f || !(f->name = strdup(m->name))) {
		free(f);
		return NULL;
	}
	f->kept = kept;
	if (kept)
		file_open_kept(s, f);
	else
		file_open_path(f);
	f->next = s->file;
	return s->file = f;
}

int
wsource_map(struct wsource *s, const struct ws_rec_map *m)
{
	struct module *k;
	char *name, *id;

	for (size_t i = 0; i < s->nmodule; i++)
		if (s->module[i].map.addr == m->addr && s->module[i].map.len == m->len &&
		    strcmp(s->module[i].map.name, m->name) == 0)
			return 0;
	name = strdup(m->name);
	id = malloc(m->nid + 1u);
	if (!name || !id || buf_grow(&s->module, &s->capmodule, s->nmodule + 1, sizeof *s->module) < 0) {
		free(name);
		free(id);
		return -1;
	}
	if (m->nid)
		memcpy(id, m->id, m->nid);
	k = &s->module[s->nmodule++];
	*k = (struct module){ .map = *m };
	k->map.name = name;
	k->map.id = (const uint8_t *)id;
	return 0;
}

/* The last mapping that contains pc */
static struct module *
module_of(const struct wsource *s, uint64_t pc)
{
	for (size_t i = s->nmodule; i-- > 0;)
		if (pc >= s->module[i].map.addr && pc - s->module[i].map.addr < s->module[i].map.len)
			return &s->module[i];
	return NULL;
}

int
wsource_in_main(const struct wsource *s, uint64_t pc)
{
	const struct module *m = module_of(s, pc);

	return m && m->map.type == WS_EXE;
}

/* Converts an address of the file to an offset (to_offset), or the reverse.  UINT64_MAX: there is none */
static uint64_t
source_convert(const struct exe *x, uint64_t from, int to_offset)
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

/* Does the file have the build id of the one that was mapped?  1 if one of them has none */
static int
source_same(const struct exe *x, const struct ws_rec_map *m)
{
	return !m->nid || !x->idlen || (m->nid == x->idlen && memcmp(m->id, x->id, m->nid) == 0);
}

/* The address in mapping m of a function in the symbol tables of e, which is the file x or has its debugging information; or 0 */
static uint64_t
source_entry(const struct exe *x, Elf *e, const struct ws_rec_map *m, const char *symbol)
{
	GElf_Shdr sh;
	GElf_Sym y;

	for (Elf_Scn *c = NULL; (c = elf_nextscn(e, c)) != NULL;) {
		Elf_Data *d;

		if (!gelf_getshdr(c, &sh) || (sh.sh_type != SHT_SYMTAB && sh.sh_type != SHT_DYNSYM) ||
		    !sh.sh_entsize || !(d = elf_getdata(c, NULL)))
			continue;
		for (size_t i = 0; i < sh.sh_size / sh.sh_entsize && gelf_getsym(d, (int)i, &y); i++) {
			const char *name = elf_strptr(e, sh.sh_link, y.st_name);
			uint64_t off;

			/* assembly may leave out that a symbol is a function */
			if (y.st_shndx == SHN_UNDEF || !name || !symbol_is(name, symbol) ||
			    (GELF_ST_TYPE(y.st_info) != STT_FUNC && GELF_ST_TYPE(y.st_info) != STT_NOTYPE))
				continue;
			off = source_convert(x, y.st_value, 1);
			if (off != UINT64_MAX && off >= m->offset && off - m->offset < m->len)
				return m->addr + (off - m->offset);
		}
	}
	return 0;
}

uint64_t
wsource_symbol(struct wsource *s, const struct ws_rec_map *m, const char *symbol)
{
	struct file *f = file_of(s, m);
	struct exe *d;
	uint64_t pc;

	if (f && f->open && !source_same(&f->exe, m))
		f->other = 1;
	if (f && *f->name == '/' && (!f->open || f->other))
		f->ran = 1;             /* for wsource_complaint: the function may be in it. [vdso] is no file */
	if (!f || !f->open || f->other)
		return 0;
	pc = source_entry(&f->exe, f->exe.elf, m, symbol);
	if (!pc && !f->exe.nsym && (d = exe_debug(&f->exe)) != NULL)
		pc = source_entry(&f->exe, d->elf, m, symbol);
	return pc;
}

/*
 * The file that pc was mapped from; *addr becomes its address in the file.  NULL: there is none, or
 * it cannot be read or was replaced by another one
 */
static struct file *
source_mapped(struct wsource *s, uint64_t pc, uint64_t *addr)
{
	struct module *m = module_of(s, pc);

	if (!m || (!m->file && !(m->file = file_of(s, &m->map))))
		return NULL;
	m->file->ran = 1;
	if (m->file->open && !source_same(&m->file->exe, &m->map))
		m->file->other = 1;
	if (!m->file->open || m->file->other)
		return NULL;
	*addr = source_convert(&m->file->exe, pc - m->map.addr + m->map.offset, 0);
	return m->file;
}

void
wsource_code(struct wsource *s, uint64_t pc, const uint8_t *code, size_t n)
{
	uint64_t addr = 0;
	struct file *f = source_mapped(s, pc, &addr);
	uint8_t b[15];

	if (f && n <= sizeof b &&
	    (addr == UINT64_MAX || !exe_image(&f->exe, addr, b, n) || memcmp(b, code, n) != 0))
		f->other = 1;
}

const char *
wsource_complaint(struct wsource *s)
{
	for (struct file *f = s->file; f; f = f->next) {
		if (f->said || !f->ran || (f->open && !f->other))
			continue;
		f->said = 1;
		snprintf(s->say, sizeof s->say, "%.4096s: %s: its functions and lines are not known", f->name,
		    f->open ? "is not the file that was captured" :
		    f->error ? strerror(f->error) : f->bad);
		return s->say;
	}
	return NULL;
}

struct timespec
wsource_changed(struct wsource *s, uint64_t pc)
{
	uint64_t addr;
	const struct file *f = source_mapped(s, pc, &addr);

	return f ? f->time : (struct timespec){ 0 };
}

const char *
wsource_object(const struct wsource *s, uint64_t pc)
{
	const struct module *m = module_of(s, pc);

	return m ? m->map.name : NULL;
}

int
wsource_file(struct wsource *s, uint64_t pc, struct exe **x, uint64_t *addr)
{
	struct file *f = source_mapped(s, pc, addr);

	if (!f || *addr == UINT64_MAX)
		return -1;
	*x = &f->exe;
	return 0;
}

int
wsource_may_have(struct wsource *s, uint64_t pc, const char *name)
{
	uint64_t addr;
	struct file *f = source_mapped(s, pc, &addr);

	if (!f)
		return 0;
	if (!f->asked || strcmp(f->asked, name) != 0) {
		free(f->asked);
		f->asked = strdup(name);
		f->may_have = exe_may_have_source(&f->exe, name);
	}
	return f->may_have;
}

int
wsource_in_function(struct wsource *s, uint64_t pc, const char *name)
{
	uint64_t addr;
	struct file *f = source_mapped(s, pc, &addr);

	return f && exe_in_function(&f->exe, addr, name);
}

int
wsource_has_function(struct wsource *s, const char *name)
{
	for (size_t i = 0; i < s->nmodule; i++) {
		struct file *f = file_of(s, &s->module[i].map);

		if (f && f->open && !f->other && source_same(&f->exe, &s->module[i].map) &&
		    exe_has_function(&f->exe, name))
			return 1;
	}
	return 0;
}

void
wsource_inlined(struct wsource *s)
{
	s->inlined = 1;
}

void
wsource_place(struct wsource *s, uint64_t pc, const char **file, const char **func, int *line)
{
	struct file *f;
	uint64_t addr;

	*file = *func = NULL;
	*line = 0;
	if ((f = source_mapped(s, pc, &addr)) == NULL)
		return;
	*func = exe_name(&f->exe, addr, s->inlined ? EXE_INLINED : EXE_FULL);
	*file = exe_short_line(&f->exe, addr, line);
	if (!*file || *line < 0)
		*line = 0;
}

void
wsource_find(struct wsource *s, uint64_t pc, const uint8_t *code, size_t n, const char **file,
    const char **func, int *line)
{
	wsource_code(s, pc, code, n);
	wsource_place(s, pc, file, func, line);
}

/* The file of a module, if it is the one that was mapped */
static struct file *
source_usable(struct wsource *s, struct module *m)
{
	if (!m->file && !(m->file = file_of(s, &m->map)))
		return NULL;
	return m->file->open && !m->file->other && source_same(&m->file->exe, &m->map) ? m->file : NULL;
}

/* Did an earlier module come from the same file, at the same place? */
static int
source_again(const struct wsource *s, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (s->module[k].file == s->module[i].file &&
		    s->module[k].map.addr - s->module[k].map.offset ==
			s->module[i].map.addr - s->module[i].map.offset)
			return 1;
	return 0;
}

int
wsource_next(struct wsource *s, size_t *at, struct exe **x, uint64_t *bias)
{
	for (; *at < s->nmodule; ++*at) {
		const struct module *m = &s->module[*at];
		struct file *f = source_usable(s, &s->module[*at]);
		uint64_t base;

		if (!f || source_again(s, *at) || (base = source_convert(&f->exe, m->map.offset, 0)) == UINT64_MAX)
			continue;
		*x = &f->exe;
		*bias = m->map.addr - base;
		++*at;
		return 1;
	}
	return 0;
}

int
wsource_variable(struct wsource *s, const char *name, struct wsource_at *at, uint64_t *addr, uint64_t *size)
{
	for (; at->module < s->nmodule; at->module++, at->symbol = 0) {
		struct module *m = &s->module[at->module];
		struct file *f = source_usable(s, m);
		uint64_t base;

		if (!f || source_again(s, at->module) ||
		    !exe_variable(&f->exe, name, 0, &at->symbol, addr, size))
			continue;
		base = source_convert(&f->exe, m->map.offset, 0);
		if (base != UINT64_MAX) {
			*addr += m->map.addr - base;
			return 1;
		}
	}
	return 0;
}

int
wsource_address(struct wsource *s, const char *module, uint64_t addr, size_t *at, uint64_t *pc)
{
	size_t n = strlen(module);

	for (; *at < s->nmodule; ++*at) {
		struct module *m = &s->module[*at];
		size_t len = strlen(m->map.name);
		uint64_t off;

		if (len < n || strcmp(m->map.name + len - n, module) != 0 ||
		    (len > n && m->map.name[len - n - 1] != '/') || !source_usable(s, m))
			continue;
		off = source_convert(&m->file->exe, addr, 1);
		if (off == UINT64_MAX || off < m->map.offset || off - m->map.offset >= m->map.len)
			continue;
		*pc = m->map.addr + (off - m->map.offset);
		++*at;
		return 1;
	}
	return 0;
}

struct line {
	struct wsource *s;
	struct module *m;
	const char *name;
	int line;
	wsource_line_fn *fn;
	void *arg;
};

/* The address in the program of one in the module's file; 0: it is not in this mapping */
static uint64_t
source_program_address(const struct module *m, uint64_t addr)
{
	uint64_t off = source_convert(&m->file->exe, addr, 1);

	return off == UINT64_MAX || off < m->map.offset || off - m->map.offset >= m->map.len ? 0 :
	    m->map.addr + (off - m->map.offset);
}

static void
source_row(void *arg, const char *file, int line, uint64_t addr, int begins)
{
	const struct line *l = arg;
	size_t n = strlen(l->name), len = strlen(file);
	uint64_t pc, off, entry = 0;

	if (line != l->line || len < n || strcmp(file + len - n, l->name) != 0 ||
	    (len > n && file[len - n - 1] != '/') || (pc = source_program_address(l->m, addr)) == 0)
		return;
	if (exe_func(&l->m->file->exe, addr, &off))
		entry = source_program_address(l->m, addr - off);
	l->fn(l->arg, pc, entry, begins);
}

void
wsource_line(struct wsource *s, const char *name, int line, wsource_line_fn *fn, void *arg)
{
	for (size_t i = 0; i < s->nmodule; i++) {
		struct line l = { s, &s->module[i], name, line, fn, arg };

		if (source_usable(s, &s->module[i]) && !source_again(s, i))
			exe_each_line(&s->module[i].file->exe, source_row, &l);
	}
}
