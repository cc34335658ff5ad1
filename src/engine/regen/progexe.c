/* The program model of an executable; apart, so that compiled regenerators need no libelf. */
#include "program.h"

#include "format/exe.h"

static int
image(void *exe, uint64_t addr, void *buf, size_t n)
{
	return exe_image(exe, addr, buf, n);
}

static int
rodata(void *exe, uint64_t addr, void *buf, size_t n)
{
	return exe_rodata(exe, addr, buf, n);
}

int
prog_load_exe(struct prog *g, struct exe *x)
{
	struct prog_source src = {x->schema, x->nschema, x->fn, x->nfn, image, rodata, x};

	return prog_load(g, &src);
}
