/* addrdiff: information from the executable and its shared libraries (-e). */
#include "convert/addrdiff/addrdiff.h"

#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/bits.h"
#include "base/diag.h"
#include "base/mem.h"
#include "base/src.h"
#include "format/ae/exe.h"

struct prog {
	struct prog *next;      /* owned: another file */
	/*
	 * What its addresses here are more than those of the file: 0 for the first file, for others such that no two
	 * files overlap
	 */
	uint64_t at;
	struct exe exe;
	uint64_t lo, hi;        /* the image */
	uint64_t tlo, thi;      /* from the first to the last traced instruction */
	uint64_t *traced;       /* owned: a bit for each byte of tlo..thi */
	uint8_t *code;          /* owned: the bytes, followed by zeros */
	char where[512];
};

/* Addresses of the segments in memory, including .bss, which the file does not contain. */
static void
find_image(struct prog *p)
{
	GElf_Phdr ph;
	size_t n, i;

	p->lo = UINT64_MAX;
	if (elf_getphdrnum(p->exe.elf, &n))
		n = 0;
	for (i = 0; i < n; i++) {
		if (!gelf_getphdr(p->exe.elf, (int)i, &ph) || ph.p_type != PT_LOAD)
			continue;
		if (ph.p_vaddr < p->lo)
			p->lo = ph.p_vaddr;
		if (ph.p_vaddr + ph.p_memsz > p->hi)
			p->hi = ph.p_vaddr + ph.p_memsz;
	}
	if (p->lo > p->hi)
		p->lo = p->hi;
}

static void
mark_traced(struct prog *p, const char *path)
{
	size_t i;
	uint64_t a;

	p->tlo = UINT64_MAX;
	for (i = 0; i < p->exe.ntraced; i++) {
		const struct exe_span *s = &p->exe.traced[i];

		if (s->addr < p->lo || s->size > p->hi - p->lo || s->addr + s->size > p->hi)
			die("%s: a traced function lies outside the image", path);
		if (s->addr < p->tlo)
			p->tlo = s->addr;
		if (s->addr + s->size > p->thi)
			p->thi = s->addr + s->size;
	}
	if (p->tlo >= p->thi)
		return;
	p->traced = xcalloc(BITS_WORDS(p->thi - p->tlo), sizeof *p->traced);
	p->code = xcalloc(p->thi - p->tlo + 16, 1);
	for (i = 0; i < p->exe.ntraced; i++) {
		const struct exe_span *s = &p->exe.traced[i];

		for (a = s->addr - p->tlo; a < s->addr - p->tlo + s->size; a++)
			bit_set(p->traced, a);
		if (!exe_image(&p->exe, s->addr, p->code + (s->addr - p->tlo), s->size))
			die("%s: a traced function has no code", path);
	}
}

/* Where files after the first one are for us: one each PROG_AWAY, where programs have no memory */
#define PROG_AWAY UINT64_C(0x10000000000)
#define PROG_NAWAY 64u

struct prog *
prog_open(const char *path, struct prog *before)
{
	struct prog *p = xcalloc(1, sizeof(*p));
	unsigned n = 0;

	for (; before; before = before->next) {
		p->at = PROG_AWAY * (0x60 - ++n);
		if (!before->next) {
			before->next = p;
			break;
		}
	}
	if (n > PROG_NAWAY)
		die_usage("too many files");

	if (exe_open(&p->exe, path) < 0 || exe_need_schema(&p->exe) < 0 || exe_traced(&p->exe, 0) < 0)
		die("%s: %s", src_name(path), p->exe.err);
	find_image(p);
	mark_traced(p, src_name(path));
	return p;
}

void
prog_close(struct prog *p)
{
	if (!p)
		return;
	prog_close(p->next);
	exe_close(&p->exe);
	free(p->traced);
	free(p->code);
	free(p);
}

/* The file that has pc among its traced functions; NULL: none */
static const struct prog *
prog_of(const struct prog *p, uint64_t pc)
{
	for (; p; p = p->next) {
		uint64_t a = pc - p->at - p->tlo;

		if (p->traced && a < p->thi - p->tlo && bit_get(p->traced, a))
			return p;
	}
	return NULL;
}

int
prog_traced(const struct prog *p, uint64_t pc)
{
	return prog_of(p, pc) != NULL;
}

/*
 * bt, bts, btr, btc of two registers: valgrind executes them in memory below the stack pointer,
 * and lackey logs that.
 */
int
prog_registers(const struct prog *p, uint64_t pc)
{
	const uint8_t *c;

	p = prog_of(p, pc);
	if (!p || p->exe.machine != EM_X86_64)
		return 0;
	c = p->code + (pc - p->at - p->tlo);
	while (*c == 0x66 || *c == 0xf2 || *c == 0xf3)
		c++;
	if (*c >> 4 == 4)
		c++;
	return c[0] == 0x0f && (c[1] & 0xe7) == 0xa3 && c[2] >> 6 == 3;
}

void
prog_image(const struct prog *p, uint64_t *lo, uint64_t *hi)
{
	*lo = p->lo;
	*hi = p->hi;
}

const struct prog *
prog_next(const struct prog *p)
{
	return p->next;
}

uint64_t
prog_at(const struct prog *p)
{
	return p->at;
}

int
prog_moves(const struct prog *p)
{
	return p->exe.moves;
}

unsigned
prog_word(const struct prog *p)
{
	return p->exe.word;
}

const char *
prog_where(struct prog *p, uint64_t pc)
{
	const char *func, *file;
	uint64_t off;
	int line;

	while (p->next && (pc - p->at < p->lo || pc - p->at >= p->hi))
		p = p->next;
	pc -= p->at;
	if ((func = exe_func(&p->exe, pc, &off)) != NULL)
		func = exe_symbol_source(&p->exe, func, 1);
	file = exe_line(&p->exe, pc, &line);
	if (!func && !file)
		return NULL;
	if (!file)
		snprintf(p->where, sizeof(p->where), "%s+0x%llx", func, (unsigned long long)off);
	else
		snprintf(p->where, sizeof(p->where), "%s at %s:%d", func ? func : "?", file, line);
	return p->where;
}
