/* aec: make a C program that regenerates the traces of an executable. */
#include <getopt.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/mem.h"
#include "base/opt.h"
#include "base/out.h"
#include "base/src.h"
#include "gen/aec/aec.h"
#include "gen/aec/schema.h"

enum { PRINT = 256, SCHEMA };

static const struct opt aec_opts[] = {
	{ 'b', "build", NULL, "compile as well, to the regenerator program.regen" },
	{ 'o', "output", "NAME", "the folder to write; -b: the regenerator; --print-schema: the text" },
	{ PRINT, "print-schema", NULL, "print the program's schemas as text" },
	{ SCHEMA, "schema", "FILE", "use the schemas in the text FILE, not those in the program" },
	{ 0 },
};

static const struct opt_tool aec_tool = {
	.does = "Makes a C program that quickly recomputes the references of a program made by aecc.",
	.synopsis = "-o folder [--schema file] program [library ...]\n"
	    "-b [-o file] [--schema file] program [library ...]\n"
	    "--print-schema [-o file] program",
	.example = "aecc -O2 prog.c -o prog; ./prog; aec -b prog; ./prog.regen -f text ae.out | head",
	.opt = aec_opts,
};

static void
aec_load(struct aec *a, const char *text)
{
	if (exe_open(&a->x, a->path) != 0)
		die("%s: %s", src_name(a->path), a->x.err);
	if (text)
		schema_read(a, text);
	if (exe_need_schema(&a->x) != 0)
		die("%s: %s", src_name(a->path), a->x.err);
	if (prog_load_exe(&a->g, &a->x) != 0 && text)
		die("%s: bad schema: %s", src_name(text), a->g.err);
	else if (a->g.err)
		die_at(src_name(a->path), a->x.schema_off + a->g.erroff, DIAG_NOREC, "bad schema: %s", a->g.err);
}

/* The libraries come after the executable, at address 0; in a run they are elsewhere, and have other numbers. */
static void
aec_libraries(struct aec *a, unsigned n, char *const *path)
{
	a->lib = xcalloc(n + 1u, sizeof *a->lib);
	a->libpath = path;
	for (; a->nlib < n; a->nlib++) {
		struct exe *x = a->lib + a->nlib;
		struct prog_numbers no = { a->g.nno, 0 };

		if (exe_open(x, path[a->nlib]) != 0 || exe_need_schema(x) != 0)
			die("%s: %s", src_name(path[a->nlib]), x->err);
		if (!x->library || x->machine != a->g.machine)
			die("%s: not a shared library for the program's machine", src_name(path[a->nlib]));
		no.n = (uint32_t)(x->nfn / (3u * a->g.word));
		if (prog_add_exe(&a->g, x, no, 0) != 0)
			die_at(src_name(path[a->nlib]), x->schema_off + a->g.erroff, DIAG_NOREC,
			    "bad schema: %s", a->g.err);
	}
}

/*
 * The parent of this program's folder, which contains include and lib, both in the build folder
 * and after installation.
 */
static char *
aec_home(void)
{
	char path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);

	if (n < 0)
		die_sys("/proc/self/exe");
	path[n] = 0;
	for (int i = 0; i < 2; i++) {
		char *slash = strrchr(path, '/');

		if (slash)
			*slash = 0;
	}
	return xstrdup(path);
}

static void
aec_release(struct aec *a)
{
	for (uint32_t i = 0; a->file && i < a->g.nunit; i++)
		free(a->file[i]);
	for (uint32_t i = 0; a->name && i < a->g.nfunc; i++)
		free(a->name[i]);
	free(a->file);
	free(a->name);
	free(a->numbered);
	free(a->home);
	prog_free(&a->g);
	for (unsigned i = 0; i < a->nlib; i++)
		exe_close(a->lib + i);
	free(a->lib);
	exe_close(&a->x);
	schema_free();
}

int
main(int argc, char **argv)
{
	struct aec a = {.home = NULL};
	const char *out = NULL, *text = NULL;
	char *built = NULL;
	int c, dobuild = 0, doprint = 0;

	diag_init(argv[0], 1);
	while ((c = opt_next(&aec_tool, argc, argv)) != -1) {
		switch (c) {
		case 'b':
			dobuild = 1;
			break;
		case 'o':
			out = optarg;
			break;
		case PRINT:
			doprint = 1;
			break;
		case SCHEMA:
			text = optarg;
			break;
		}
	}
	opt_operands(argc, argv, 1, INT_MAX);
	if (doprint && argc - optind > 1)
		die_usage("--print-schema is of one file");
	if (dobuild && doprint)
		die_usage("only one of -b and --print-schema can be given");
	if (!dobuild && !doprint && !out)
		die_usage("-b, -o folder or --print-schema is missing");
	a.path = argv[optind];
	if (dobuild && !out && src_is_stdin(a.path))
		die_usage("-b needs -o if the program is standard input");
	if (dobuild && !out)
		out_replaces(out = built = xasprintf("%s.regen", a.path));
	a.home = aec_home();
	aec_load(&a, text);
	aec_libraries(&a, (unsigned)(argc - optind - 1), argv + optind + 1);
	if (doprint) {
		schema_print(&a, out);
	} else if (dobuild) {
		build_regenerator(&a, out);
	} else {
		folder_write(&a, out);
	}
	aec_release(&a);
	free(built);
	return 0;
}
