/*
 * Reads debugging information that was damaged: of a program that it is given, whose bytes it changes in the sections
 * of debugging information, the same ones each time.  At many places of the program, all of its functions and variables
 * are asked for, in a memory that leads from frame to frame.  That this ends, within its limits, is the test; and that the
 * undamaged program tells more than nothing.
 */
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "format/debug/debug.h"

#define PLACES 24u
#define STACK UINT64_C(0x7fff00000000)

struct test { struct exe x; uint64_t text, size, seen; };

static uint64_t
mix(uint64_t v)
{
	v = (v ^ v >> 31) * UINT64_C(0x9e3779b97f4a7c15);
	return v ^ v >> 29;
}

/* Every second word of memory is an address in the program's code, the others are of the stack. */
static int
test_read(void *arg, uint64_t addr, void *p, size_t n)
{
	const struct test *t = arg;

	for (size_t i = 0; i < n; i++) {
		uint64_t at = addr + i, w = at / 8, v = w & 1 ? t->text + mix(w) % t->size : STACK + mix(w) % 4096;

		((uint8_t *)p)[i] = (uint8_t)(v >> at % 8 * 8);
	}
	return 0;
}

static int
test_file(void *arg, uint64_t pc, struct exe **x, uint64_t *addr)
{
	struct test *t = arg;

	if (pc < t->text || pc - t->text >= t->size)
		return -1;
	*x = &t->x;
	*addr = pc;
	return 0;
}

struct show { struct test *t; const struct debug_frame *f; };

static void
test_parts(const struct debug_frame *f, const struct debug_variable *v)
{
	static const char *const paths[] = { ".next->next->value", "->a", "[1]", "[0][1].x", ".small", "->at[1].y->next[-3]" };
	uint64_t type[8];               /* a Dwarf_Die has four words */
	char why[200];

	for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
		struct debug_variable part = *v;
		struct buf b = BUF_INIT;

		if (debug_part(f, &part, type, paths[i], (unsigned)i % 3, why, sizeof why) == 0)
			debug_print(f, &part, &b);
		buf_free(&b);
	}
}

static void
test_names(const struct debug_frame *frame, size_t n)
{
	static const char line[] = "p->next->value = a[k].small + this->text[i] * total;";
	struct debug_name name;

	for (unsigned i = 0; i < 16; i++) {
		if (debug_name_memory(frame, n, line, sizeof line - 1, STACK + mix(i) % 4096, 1u << i % 5, &name)) {
			buf_free(&name.name);
			buf_free(&name.value);
		}
		if (debug_name_register(frame, line, sizeof line - 1, i, &name)) {
			buf_free(&name.name);
			buf_free(&name.value);
		}
	}
}

static int
test_variable(void *arg, const struct debug_variable *v)
{
	struct show *s = arg;
	struct buf b = BUF_INIT;
	uint64_t n;

	debug_print(s->f, v, &b);
	test_parts(s->f, v);
	(void)debug_number(s->f, v, &n);
	s->t->seen++;
	if (b.n > 2u << 20)
		abort();
	buf_free(&b);
	return 0;
}

static void
test_place(struct test *t, uint64_t pc)
{
	static struct debug_frame frame[DEBUG_FRAMES];
	const struct debug_machine m = { test_read, test_file, t };
	struct debug_function fn[8];
	uint8_t xmm[256] = { 1 };
	size_t n;

	memset(frame, 0, sizeof frame);
	for (unsigned i = 0; i < DEBUG_NREG; i++)
		frame[0].reg[i] = STACK + 64 * i;
	frame[0].reg[DEBUG_RIP] = pc;
	frame[0].known = (1u << DEBUG_NREG) - 1;
	frame[0].m = &m;
	frame[0].xmm = xmm;
	frame[0].thread = STACK + 2048;
	n = debug_unwind(frame, 8);
	for (size_t i = 0; i < n; i++) {
		size_t k = debug_functions(&frame[i], fn, 8);
		struct show s = { t, &frame[i] };

		for (size_t l = 0; l < k; l++)
			(void)debug_variables(&frame[i], &fn[l], test_variable, &s);
		if (i == 0 && frame[0].x) {
			(void)debug_file_globals(&frame[0], test_variable, &s);
			test_names(frame, n);
		}
	}
}

/* The section's place in the file: 0, or -1: there is none */
static int
test_section(const uint8_t *p, size_t n, const char *name, uint64_t *off, uint64_t *size, uint64_t *addr)
{
	Elf *e = elf_memory((char *)(uintptr_t)p, n);
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;
	size_t names;
	int got = -1;

	while (e && got && elf_getshdrstrndx(e, &names) == 0 && (scn = elf_nextscn(e, scn)) != NULL) {
		const char *s = gelf_getshdr(scn, &sh) ? elf_strptr(e, names, sh.sh_name) : NULL;

		if (s && strcmp(s, name) == 0 && sh.sh_size) {
			*off = sh.sh_offset;
			*size = sh.sh_size;
			*addr = sh.sh_addr;
			got = 0;
		}
	}
	elf_end(e);
	return got;
}

static uint64_t
test_all(const uint8_t *p, size_t n)
{
	struct test t = { .seen = 0 };
	uint64_t off;
	char name[64];
	int fd = memfd_create("program", 0);

	snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
	if (fd < 0 || write(fd, p, n) != (ssize_t)n || test_section(p, n, ".text", &off, &t.size, &t.text) != 0)
		exit(2);
	if (exe_open(&t.x, name) == 0) {
		for (uint64_t i = 0; i < PLACES; i++)
			test_place(&t, t.text + t.size * i / PLACES);
		exe_close(&t.x);
	}
	close(fd);
	return t.seen;
}

int
main(int argc, char **argv)
{
	static const char *const sections[] = {
		".debug_info", ".debug_abbrev", ".debug_loclists", ".debug_rnglists", ".eh_frame", ".debug_loc"
	};
	int fd = argc == 3 ? open(argv[1], O_RDONLY) : -1;
	off_t size = fd < 0 ? 0 : lseek(fd, 0, SEEK_END);
	uint8_t *p = malloc((size_t)size + 1), *q = malloc((size_t)size + 1);
	uint64_t rounds = argc == 3 ? strtoull(argv[2], NULL, 10) : 0, whole, fewer = 0, off, len, addr;

	if (size <= 0 || !p || !q || pread(fd, p, (size_t)size, 0) != size || elf_version(EV_CURRENT) == EV_NONE) {
		fputs("usage: debugtest PROGRAM ROUNDS\n", stderr);
		return 2;
	}
	whole = test_all(p, (size_t)size);
	printf("%sok 1 - whole: %llu variables\n", whole > 100 ? "" : "not ", (unsigned long long)whole);
	for (uint64_t r = 0; r < rounds; r++) {
		memcpy(q, p, (size_t)size);
		if (test_section(p, (size_t)size, sections[r % 6], &off, &len, &addr) != 0)
			continue;
		for (uint64_t k = 0; k < 1 + r % 5; k++)
			q[off + mix(r * 64 + 2 * k + 1) % len] = (uint8_t)(mix(r * 64 + 2 * k + 2) >> 8);
		if (getenv("DEBUGTEST_ROUND"))
			fprintf(stderr, "%llu\n", (unsigned long long)r);
		fewer += test_all(q, (size_t)size) != whole;
	}
	if (rounds)
		printf("%sok 2 - damaged: %llu of %llu tell something else\n", fewer ? "" : "not ",
		    (unsigned long long)fewer, (unsigned long long)rounds);
	free(p);
	free(q);
	close(fd);
	return whole <= 100 || (rounds && !fewer) || fflush(stdout) != 0;
}
