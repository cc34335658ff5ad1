/* --print-schema, --schema: schemas as text, and back. */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aec.h"
#include "base/diag.h"
#include "base/in.h"
#include "base/out.h"
#include "format/schematext.h"
#include "schema.h"

#define TEXTMAX ((size_t)INT32_MAX)

static struct buf encoded;      /* the units of the text, which the executable then seems to have */

static void
build_id(const struct aec *a, char id[2 * EXE_IDMAX + 1])
{
	id[0] = 0;
	for (unsigned i = 0; i < a->x.idlen; i++)
		sprintf(id + (size_t)2 * i, "%02x", a->x.id[i]);
}

/* Registers as the machines' own tools number and call them */
static const char *
regname(void *aec, const struct sch_unit *u, int r)
{
	static const char *const x86[] = {
		"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15",
	};
	static const char *const mips[] = {
		"R0", "R1", "R2", "R3", "R4", "R5", "R6", "R7", "R8", "R9", "R10", "R11", "R12", "R13", "R14", "R15", "R16",
		"R17", "R18", "R19", "R20", "R21", "R22", "R23", "R24", "R25", "R26", "R27", "R28", "R29", "R30", "R31",
		"hi", "lo",
	};

	(void)aec;
	if (u->machine == EM_X86_64)
		return r < (int)(sizeof x86 / sizeof *x86) ? x86[r] : NULL;
	if (u->machine == EM_MIPS)
		return r < (int)(sizeof mips / sizeof *mips) ? mips[r] : NULL;
	return NULL;
}

static const char *
symbol(void *aec, uint64_t addr, uint64_t *off)
{
	return exe_func(&((struct aec *)aec)->x, addr, off);
}

static const char *
source_line(void *aec, uint64_t pc, int *no)
{
	return exe_line(&((struct aec *)aec)->x, pc, no);
}

static struct sch_names
names(struct aec *a)
{
	return (struct sch_names){regname, symbol, source_line, a, 1};
}

void
schema_print(struct aec *a, const char *path)
{
	struct sch_names nm = names(a);
	struct out *o = out_open(path);
	char id[2 * EXE_IDMAX + 1];

	build_id(a, id);
	out_printf(o, "start_schema %s\n", id);
	for (uint32_t i = 0; i < a->g.nunit; i++) {
		struct buf b = BUF_INIT;

		sch_print(&b, a->g.unit + i, &nm);
		if (b.nomem)
			die("out of memory");
		out_str(o, "\n");
		out_write(o, b.p, b.n);
		buf_free(&b);
	}
	out_str(o, "\nend_schema\n");
	out_close(o);
}

static void
slurp(const char *path, struct buf *b)
{
	struct in *in = in_open(path);
	size_t n;

	do {
		uint8_t *p = buf_room(b, 65536);

		if (!p || b->n > TEXTMAX)
			die("%s: too large", path);
		n = in_read(in, p, 65536);
		b->n += n;
	} while (n);
	if (in_error(in))
		die_at(path, in_off(in), DIAG_NOREC, "%s", in_error(in));
	in_close(in);
}

void
schema_read(struct aec *a, const char *path)
{
	struct sch_names nm = names(a);
	struct buf b = BUF_INIT;
	struct sch_text t = {0};
	char id[2 * EXE_IDMAX + 1];
	struct sch_unit u;
	int r;

	slurp(path, &b);
	t.p = (const char *)b.p;
	t.n = b.n;
	build_id(a, id);
	while ((r = sch_parse(&t, &nm, &u)) > 0) {
		size_t n;
		uint8_t *e = sch_whole(&u, &n);

		if (!e)
			die("out of memory");
		buf_add(&encoded, e, n);
		free(e);
		sch_free(&u);
	}
	if (r < 0)
		die("%s: line %lu: %s", path, t.line, t.err);
	if (*t.program && strcmp(t.program, id) != 0)
		die("%s: the schema of another executable than %s", path, a->path);
	if (encoded.nomem)
		die("out of memory");
	a->x.schema = encoded.p;
	a->x.nschema = encoded.n;
	buf_free(&b);
}

void
schema_free(void)
{
	buf_free(&encoded);
}
