/* Assembles the input, and reads offsets, bytes and relocations of every instruction from the object. */
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "ae/machine/machine.h"
#include "ae/rewrite/assemble.h"
#include "ae/rewrite/object.h"
#include "base/buf.h"
#include "base/mem.h"

struct sect {
	const uint8_t *p;
	size_t n;
	uint8_t *rel;           /* enum insn_reloc that starts at each byte */
	/* NULL, or for each byte the symbol of a MR_HINT; the names belong to the object */
	const char **hint;
};

struct object {
	Elf *elf;
	struct sect *sect;
	size_t nsect;
	uint32_t *sb, *se;      /* by statement: section of the start and end mark, 0 for none */
	uint64_t *ob, *oe;      /* and their offsets */
};

/* The text without marks. */
static void
write_unmarked(const struct file *f, struct buf *b)
{
	size_t i;

	for (i = 0; i < f->text.n; i++) {
		text_write(b, f->m, &f->text.st[i]);
		buf_str(b, "\n");
	}
}

/* The text with its marks. */
static void
write_marked(const struct file *f, struct buf *b)
{
	uint32_t *next = xcalloc(f->nfn + 1, sizeof *next);
	size_t i;

	for (i = 0; i < f->text.n; i++) {
		const struct stmt *st = &f->text.st[i];

		if (st->kind == ST_INSN && f->owner[i]) {
			const struct afunc *fn = &f->fn[f->owner[i] - 1];

			buf_printf(b, MARK "b%zu:\n", i);
			text_write(b, f->m, st);
			buf_printf(b, "\n" MARK "e%zu:\n", i);
			if (fn->fill && ++next[f->owner[i] - 1] == fn->nhot)
				buf_printf(b, "\t.skip %u, %u\n", fn->fill, f->m->filler);
		} else {
			text_write(b, f->m, st);
			buf_str(b, "\n");
		}
		if (st->kind == ST_LABEL)
			buf_printf(b, MARK "b%zu:\n", i);
	}
	free(next);
}

static void
read_mark(struct object *o, const char *name, const GElf_Sym *y, size_t nstmt)
{
	size_t len = strlen(MARK);
	unsigned long i;
	char *end;

	if (strncmp(name, MARK, len) != 0 || y->st_shndx == SHN_UNDEF || y->st_shndx >= o->nsect)
		return;
	i = strtoul(name + len + 1, &end, 10);
	if (*end || i >= nstmt)
		return;
	if (name[len] == 'b') {
		o->sb[i] = y->st_shndx;
		o->ob[i] = y->st_value;
	} else {
		o->se[i] = y->st_shndx;
		o->oe[i] = y->st_value;
	}
}

/* The name of symbol i of section sec, "" if it has none. */
static const char *
symbol_name(const struct object *o, size_t sec, size_t i)
{
	Elf_Scn *scn = elf_getscn(o->elf, sec);
	Elf_Data *d = scn ? elf_getdata(scn, NULL) : NULL;
	const char *s = NULL;
	GElf_Shdr sh;
	GElf_Sym y;

	if (d && gelf_getshdr(scn, &sh) && gelf_getsym(d, (int)i, &y))
		s = elf_strptr(o->elf, sh.sh_link, y.st_name);
	return s ? s : "";
}

static void
read_relocs(struct object *o, const struct machine *m, Elf_Scn *scn, const GElf_Shdr *sh)
{
	Elf_Data *d = elf_getdata(scn, NULL);
	struct sect *t;
	size_t i, n;

	if (sh->sh_info >= o->nsect || !d || !sh->sh_entsize)
		return;
	t = &o->sect[sh->sh_info];
	n = sh->sh_size / sh->sh_entsize;
	for (i = 0; i < n; i++) {
		enum insn_reloc kind;
		GElf_Rela a;
		GElf_Rel r;

		if (sh->sh_type == SHT_RELA && gelf_getrela(d, (int)i, &a))
			r = (GElf_Rel){ a.r_offset, a.r_info };
		else if (sh->sh_type != SHT_REL || !gelf_getrel(d, (int)i, &r))
			continue;
		if (r.r_offset >= t->n)
			continue;
		kind = m->reloc((unsigned)GELF_R_TYPE(r.r_info),
		    symbol_name(o, sh->sh_link, GELF_R_SYM(r.r_info)));
		if (kind != MR_HINT) {  /* a hint may accompany another relocation */
			t->rel[r.r_offset] = (uint8_t)kind;
			continue;
		}
		if (!t->hint)
			t->hint = xcalloc(t->n, sizeof *t->hint);
		t->hint[r.r_offset] = symbol_name(o, sh->sh_link, GELF_R_SYM(r.r_info));
	}
}

static void
read_symbols(struct object *o, Elf_Scn *scn, const GElf_Shdr *sh, size_t nstmt)
{
	Elf_Data *d = elf_getdata(scn, NULL);
	size_t i, n = sh->sh_entsize ? sh->sh_size / sh->sh_entsize : 0;

	for (i = 0; d && i < n; i++) {
		const char *name;
		GElf_Sym y;

		if (gelf_getsym(d, (int)i, &y) && (name = elf_strptr(o->elf, sh->sh_link, y.st_name)) != NULL)
			read_mark(o, name, &y, nstmt);
	}
}

static const char *
read_object(struct object *o, const struct machine *m, int fd, size_t nstmt)
{
	Elf_Scn *scn = NULL;
	GElf_Ehdr eh;
	size_t i;

	elf_version(EV_CURRENT);
	o->elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!o->elf || elf_getshdrnum(o->elf, &o->nsect) != 0)
		return "the assembler's output cannot be read";
	if (!gelf_getehdr(o->elf, &eh) ||
	    !machine_iself(m, eh.e_machine, eh.e_ident[EI_CLASS], eh.e_ident[EI_DATA]))
		return "the assembler is one for another machine";
	o->sect = xcalloc(o->nsect, sizeof *o->sect);
	o->sb = xcalloc(nstmt, sizeof *o->sb);
	o->se = xcalloc(nstmt, sizeof *o->se);
	o->ob = xcalloc(nstmt, sizeof *o->ob);
	o->oe = xcalloc(nstmt, sizeof *o->oe);
	for (i = 1; i < o->nsect; i++) {
		Elf_Data *d;
		GElf_Shdr sh;

		if (!(scn = elf_getscn(o->elf, i)) || !gelf_getshdr(scn, &sh))
			return "the assembler's output cannot be read";
		if (sh.sh_type != SHT_PROGBITS || !(d = elf_getdata(scn, NULL)) || !d->d_buf)
			continue;
		o->sect[i].p = d->d_buf;
		o->sect[i].n = d->d_size;
		o->sect[i].rel = xcalloc(d->d_size + 16, 1);
	}
	for (scn = NULL; (scn = elf_nextscn(o->elf, scn)) != NULL; ) {
		GElf_Shdr sh;

		if (!gelf_getshdr(scn, &sh))
			continue;
		if (sh.sh_type == SHT_RELA || sh.sh_type == SHT_REL)
			read_relocs(o, m, scn, &sh);
		else if (sh.sh_type == SHT_SYMTAB)
			read_symbols(o, scn, &sh, nstmt);
	}
	return NULL;
}

/* Lifts the instruction at off; `len` bytes remain in its statement. */
static const char *
lift_one(const struct machine *m, const struct sect *t, uint64_t off, uint64_t len, struct ainsn *a)
{
	const char *why = m->lift(m, t->p + off, len, t->rel + off, &a->in);

	if (!why && a->in.len != len && !a->pad && !m->macros)
		return "statement of several instructions";
	return why;
}

/* Appends all instructions of the statement of a to the list of n. */
static const char *
lift_statement(struct file *f, struct afunc *fn, const struct sect *t, uint64_t off, uint64_t end, struct ainsn a,
    struct ainsn *list, size_t *n)
{
	const char *why = NULL;

	for (a.nth = 0; off < end && !why; a.nth++) {
		why = lift_one(f->m, t, off, end - off, &a);
		if (t->hint && t->hint[off] && *t->hint[off])
			a.calls = symtab_get(&f->sym, t->hint[off], strlen(t->hint[off]))->name;
		if (!why && a.in.len == 0)
			why = "not an instruction that can be decoded";
		if (!why && a.nth == UINT8_MAX)
			why = "statement of very many instructions";
		off += a.in.len;
		a.more = off < end;
		fn->library |= a.in.tls;
		list[*n] = a;
		++*n;
		a.off += a.in.len;
	}
	return why;
}

/* Padding between two instructions that control falls through is executed, so it counts. */
static const char *
lift_padding(const struct machine *m, const struct sect *t, uint64_t off, uint64_t end, struct ainsn *list,
    size_t *n, const struct ainsn *before)
{
	uint32_t at = before->off + before->in.len;

	while (off < end) {
		struct ainsn *a = &list[*n];

		memset(a, 0, sizeof *a);
		a->pad = 1;
		a->stmt = before->stmt;
		a->frag = before->frag;
		a->off = at;
		a->target = a->callee = a->table = a->pads = NONE;
		if (lift_one(m, t, off, end - off, a) || a->in.ctl != IC_NONE || a->in.nref || a->in.neff)
			return "data between its instructions";
		at += a->in.len;
		off += a->in.len;
		++*n;
	}
	return NULL;
}

/*
 * The end of the padding after instruction i: the next instruction of its fragment, or its own end
 * if there is none.
 */
static uint64_t
padding_end(const struct afunc *fn, size_t i, const struct object *o)
{
	uint64_t end = o->oe[fn->ins[i].stmt];
	uint32_t next;

	if (i + 1 == fn->nins || fn->ins[i + 1].frag != fn->ins[i].frag)
		return end;
	next = fn->ins[i + 1].stmt;
	return o->sb[next] == o->sb[fn->ins[i].stmt] && o->ob[next] > end ? o->ob[next] : end;
}

static const char *
check_place(const struct afunc *fn, size_t i, const struct object *o)
{
	uint32_t st = fn->ins[i].stmt, sec = o->sb[st], first = fn->ins[fn->frag[fn->ins[i].frag].first].stmt;

	if (!sec || o->se[st] != sec || !o->sect[sec].p || o->oe[st] > o->sect[sec].n ||
	    o->ob[st] >= o->oe[st])
		return "statement without an instruction";
	if (o->sb[first] != sec || o->ob[st] < o->ob[first])
		return "code in an unexpected section";
	return NULL;
}

/* Is label statement i another function's, at whose end it is? */
static int
label_elsewhere(const struct file *f, const struct afunc *fn, uint32_t i)
{
	const struct sym *y = symtab_find(&f->sym, f->text.st[i].s, strlen(f->text.st[i].s));

	return y && y->where == 1 && y->stmt == i && &f->fn[y->fn] != fn;
}

/*
 * Offsets of the labels among a function's statements: padding may be between a label and the next
 * instruction.
 */
static void
place_labels(struct file *f, const struct afunc *fn, const struct object *o)
{
	uint32_t frag, i;

	for (frag = 0; frag < fn->nfrag; frag++) {
		uint32_t first = fn->ins[fn->frag[frag].first].stmt, last = first, lo = first;

		for (i = 0; i < fn->nins; i++)
			if (fn->ins[i].frag == frag)
				last = fn->ins[i].stmt;
		while (lo > 0 && f->text.st[lo - 1].kind != ST_INSN)
			lo--;
		for (i = lo; i < f->text.n && (i <= last || f->text.st[i].kind != ST_INSN); i++)
			if (f->text.st[i].kind == ST_LABEL && o->sb[i] == o->sb[first] && o->ob[i] >= o->ob[first] &&
			    !label_elsewhere(f, fn, i))
				f->labelat[i] = (uint32_t)(o->ob[i] - o->ob[first]);
	}
}

static void
lift_function(struct file *f, uint32_t no, const struct object *o)
{
	struct afunc *fn = &f->fn[no];
	uint32_t *moved = xcalloc(fn->nins + 1, sizeof *moved);
	struct ainsn *list = NULL;
	size_t n = 0, cap = 0, i;

	for (i = 0; i < fn->nins; i++) {
		struct ainsn *a = &fn->ins[i];
		const char *why = check_place(fn, i, o);
		uint64_t end;

		if (!why) {
			const struct sect *t = &o->sect[o->sb[a->stmt]];

			a->off = (uint32_t)(o->ob[a->stmt] - o->ob[fn->ins[fn->frag[a->frag].first].stmt]);
			end = padding_end(fn, i, o);
			list = mem_xgrow(list, &cap, n + 1 + (size_t)(end - o->ob[a->stmt]), sizeof *list);
			moved[i] = (uint32_t)n;
			why = lift_statement(f, fn, t, o->ob[a->stmt], o->oe[a->stmt], *a, list, &n);
			fn->frag[a->frag].size = a->off + (uint32_t)(o->oe[a->stmt] - o->ob[a->stmt]);
			if (!why) {
				struct ainsn last = list[n - 1];

				why = lift_padding(f->m, t, o->oe[a->stmt], end, list, &n, &last);
			}
		}
		if (why) {
			fn_fail(fn, f->text.st[a->stmt].line, why);
			free(list);
			free(moved);
			return;
		}
	}
	moved[fn->nins] = (uint32_t)n;
	place_labels(f, fn, o);
	file_replace(f, no, list, n, moved);
	free(moved);
}

static void
object_free(struct object *o, int fd)
{
	size_t i;

	if (o->elf)
		elf_end(o->elf);
	if (fd >= 0)
		close(fd);
	for (i = 0; o->sect && i < o->nsect; i++) {
		free(o->sect[i].rel);
		free(o->sect[i].hint);
	}
	free(o->sect);
	free(o->sb);
	free(o->se);
	free(o->ob);
	free(o->oe);
}

/*
 * Adds filling after functions that are shorter than the jump that will be patched over their
 * entry; returns whether there are any.
 */
static int
fill_short(struct file *f, const struct object *o, unsigned minsize)
{
	size_t i, k;
	int any = 0;

	for (i = 0; i < f->nfn; i++) {
		struct afunc *fn = &f->fn[i];
		uint64_t size;

		for (k = 0; k < fn->nins && fn->ins[k].frag == 0; k++)
			;
		if (fn->why || k == 0 || check_place(fn, k - 1, o))
			continue;
		size = o->oe[fn->ins[k - 1].stmt] - o->ob[fn->ins[0].stmt];
		fn->nhot = (uint32_t)k;
		if (size < minsize) {
			fn->fill = (uint32_t)(minsize - size);
			any = 1;
		}
	}
	return any;
}

static const char *
object_assemble(const struct file *f, const struct assembly *a, const struct assembler *as, struct object *o, int *fd)
{
	struct buf b = BUF_INIT;
	const char *why;

	write_marked(f, &b);
	why = assembly_text(a, as, &b, 0, fd);
	buf_free(&b);
	if (!why)
		return read_object(o, f->m, *fd, f->text.n);
	write_unmarked(f, &b);
	if (strcmp(why, ASSEMBLY_REJECTED) == 0 && !assembly_text(a, as, &b, 0, fd))
		why = "the assembler does not accept labels between its statements";
	buf_free(&b);
	return why;
}

const struct machine *
object_machine(const char *as, char *const *args, object_machine_fn *byelf)
{
	const struct assembler how = { .as = as, .args = args };
	const struct machine *m = NULL;
	struct assembly a;
	int fd;

	if (assembly_open(&a) != 0)
		return NULL;
	elf_version(EV_CURRENT);
	if (assembly_run(&a, &how, "/dev/null", 0) == 0 && (fd = open(a.out, O_RDONLY | O_CLOEXEC)) >= 0) {
		Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
		GElf_Ehdr eh;

		if (elf && gelf_getehdr(elf, &eh))
			m = byelf(eh.e_machine, eh.e_ident[EI_CLASS], eh.e_ident[EI_DATA]);
		elf_end(elf);
		close(fd);
	}
	assembly_close(&a);
	return m;
}

const char *
object_lift(struct file *f, const char *as, char *const *args)
{
	const struct assembler how = { as, f->m->asargs, args };
	const char *why;
	struct assembly a;
	struct object o;
	size_t i;
	int fd = -1;

	if (assembly_open(&a) != 0)
		return ASSEMBLY_NOTEMP;
	memset(&o, 0, sizeof o);
	why = object_assemble(f, &a, &how, &o, &fd);
	if (!why && fill_short(f, &o, f->m->patch)) {   /* filling moves what follows: starts over */
		object_free(&o, fd);
		memset(&o, 0, sizeof o);
		fd = -1;
		why = object_assemble(f, &a, &how, &o, &fd);
	}
	assembly_close(&a);
	for (i = 0; !why && i < f->nfn; i++)
		if (!f->fn[i].why)
			lift_function(f, (uint32_t)i, &o);
	object_free(&o, fd);
	return why;
}
