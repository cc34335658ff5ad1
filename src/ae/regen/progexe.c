/*
 * The model of an executable's program. It is a separate file, so that compiled regenerators need
 * no libelf.
 */
#include "ae/regen/program.h"

#include "format/ae/exe.h"

static int
program_image(void *exe, uint64_t addr, void *buf, size_t n)
{
	return exe_image(exe, addr, buf, n);
}

static int
program_rodata(void *exe, uint64_t addr, void *buf, size_t n)
{
	return exe_rodata(exe, addr, buf, n);
}

static void
program_relocate(void *exe, uint64_t base)
{
	exe_relocate(exe, base);
}

static struct prog_source
program_source(struct exe *x)
{
	return (struct prog_source){x->schema, x->nschema, x->fn, x->nfn, program_image, program_rodata,
	    program_relocate, x};
}

int
prog_add_exe(struct prog *g, struct exe *x, struct prog_numbers no, uint64_t base)
{
	struct prog_source src = program_source(x);

	return prog_add(g, &src, no, base);
}

int
prog_load_exe(struct prog *g, struct exe *x)
{
	struct prog_source src = program_source(x);

	if (prog_load(g, &src) != 0)
		return -1;
	g->moves = x->moves;
	if (g->nunit && (g->machine != x->machine || g->word != x->word || g->big != x->big)) {
		g->err = "schemas for another machine than the executable's";
		g->erroff = 0;
		return -1;
	}
	return 0;
}
