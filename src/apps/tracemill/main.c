/* tracemill: explain and run the tools, and check what works on this system */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "apps/tracemill/tracemill.h"
#include "base/diag.h"
#include "base/opt.h"

#define GROUP(title)                             { title, 0, NULL, NULL },
#define PAGE(name, section, what, packages)      { name, section, what, packages },
#define MACHINE(name, compiler, packages)
const struct page pages[] = {
#include "tools.def"
	{ 0 },
};
#undef GROUP
#undef PAGE
#undef MACHINE

#define GROUP(title)
#define PAGE(name, section, what, packages)
#define MACHINE(name, compiler, packages)        { name, compiler, packages },
const struct machine machines[] = {
#include "tools.def"
	{ 0 },
};

enum { NOEXEC = 126, NOTFOUND = 127 };  /* exit statuses as in env(1) */

static const struct opt tracemill_opts[] = {
	{ 0 },
};

static const struct opt_tool tracemill_tool = {
	.does = "Explains the tools, checks what works on this system, or runs the tool of that name.",
	.synopsis = "help [tool]\ndoctor\ntool [argument ...]",
	.example = "tracemill help; tracemill doctor; tracemill wscap -o ls.ws ls",
	.opt = tracemill_opts,
	.program = 1,
};

/* The page of that name, one of section 1 before others; NULL: there is none */
static const struct page *
find_page(const char *name)
{
	const struct page *found = NULL;

	for (const struct page *p = pages; p->name; p++)
		if (p->section && !strcmp(p->name, name) && (!found || p->section == 1))
			found = p;
	return found;
}

static void
print_overview(void)
{
	puts("Filters for program traces: record little, regenerate everything.");
	for (const struct page *p = pages; p->name; p++) {
		char name[64];

		snprintf(name, sizeof name, p->section == 1 ? "%s" : "%s(%d)", p->name, p->section);
		if (p->section)
			printf("  %-15s %s\n", name, p->what);
		else
			printf("\n%s\n", p->name);
	}
	puts("\n"
	    "tracemill help TOOL   the options of a tool\n"
	    "tracemill doctor      what works on this system, and what is missing\n"
	    "man 7 tracemill       how the tools work together; each tool and format has its page, too\n"
	    "\n"
	    "Record a program that is installed, and print its first references:\n"
	    "  wscap -o ls.ws ls; ws2addr -f text ls.ws | head\n"
	    "Compile and trace a C program:\n"
	    "  aecc -O2 prog.c -o prog; ./prog; ae2addr -f text prog ae.out | head");
}

/* How to read a page: by its file if man does not find it by itself. */
static void
print_page(const char *name, int section)
{
	const char *folder = run_folder();
	char path[PATH_MAX];

	if (strcmp(folder, "/usr/bin") && strcmp(folder, "/usr/local/bin")) {
		/* where it is installed, and where it was built */
		snprintf(path, sizeof path, "%.*s/../share/man/man%d/%s.%d", PATH_MAX / 2, folder, section,
		    name, section);
		if (access(path, R_OK) != 0)
			snprintf(path, sizeof path, "%.*s/../../man/%s.%d", PATH_MAX / 2, folder, name,
			    section);
		if (access(path, R_OK) == 0) {
			char *real = realpath(path, NULL);

			printf("man -l %s\n", real ? real : path);
			free(real);
			return;
		}
	}
	printf("man %d %s\n", section, name);
}

static _Noreturn void
finish(int status)
{
	diag_flush();
	exit(status);
}

/* Replaces this program by a tool. */
static _Noreturn void
run_tool(const struct page *p, char **argv)
{
	char path[PATH_MAX];

	if (run_find(p->name, 1, path) != 0) {
		warn(*p->packages ? "%s: not installed; it is built with %s" : "%s: not installed%s",
		    p->name, p->packages);
		exit(NOTFOUND);
	}
	diag_child();
	execv(path, argv);
	warn_sys("%s", path);
	exit(NOEXEC);
}

static _Noreturn void
help(int argc, char **argv)
{
	static const struct page self = { "tracemill", 1, "", "" };
	const struct page *p;

	opt_operands(argc, argv, 1, 2);
	if (argc - optind == 1) {
		print_overview();
		finish(0);
	}
	p = strcmp(argv[optind + 1], "tracemill") ? find_page(argv[optind + 1]) : &self;
	if (!p)
		die_usage("%.200s: no such tool; tracemill help lists them", argv[optind + 1]);
	if (p->section == 1) {
		printf("Its page: ");
		print_page(p->name, 1);
		puts("");
		diag_flush();
		run_tool(p, (char *[]){ (char *)p->name, "--help", NULL });
	}
	printf("%s(%d): %s\nIts page: ", p->name, p->section, p->what);
	print_page(p->name, p->section);
	finish(0);
}

int
main(int argc, char **argv)
{
	const struct page *p;
	const char *word;

	diag_init(argv[0], 1);
	while (opt_next(&tracemill_tool, argc, argv) != -1)
		;
	if (optind == argc)
		die_usage("no tool is named; tracemill help lists them");
	word = argv[optind];
	if (!strcmp(word, "help"))
		help(argc, argv);
	if (!strcmp(word, "doctor")) {
		opt_operands(argc, argv, 1, 1);
		finish(!doctor());
	}
	p = find_page(word);
	if (!p || p->section != 1)
		die_usage("%.200s: no such tool; tracemill help lists them", word);
	run_tool(p, argv + optind);
}
