/* Tries the tools and the ways of recording, and prints a line for each. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "apps/tracemill/tracemill.h"
#include "base/diag.h"
#include "base/mem.h"
#include "base/temp.h"

/* Where the runtime is installed, from the parent of the tools' folder on: see GNUmakefile */
#ifndef TM_LIB
#define TM_LIB "lib/tracemill"
#endif

static char folder[PATH_MAX];           /* for what the trials write */

void
doctor_say(enum state state, const char *name, const char *fmt, ...)
{
	static const char *const word[] = { "ok", "limited", "missing" };
	va_list ap;

	printf("%-8s%-18s", word[state], name);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
	diag_flush();
}

/* Why it failed, in its own words if it had any */
static const char *
reason(const struct ran *r)
{
	static char text[64];

	if (r->late)
		return "it took too long";
	if (*r->err)
		return r->err;
	snprintf(text, sizeof text, r->status > 128 ? "killed by signal %d" : "exit status %d",
	    r->status > 128 ? r->status - 128 : r->status);
	return text;
}

/* Runs a tool, or the program of that name, with up to 6 arguments that end with NULL. -1: not installed */
static int
run_named(struct ran *r, const char *name, ...)
{
	const char *argv[8] = { NULL };
	char path[PATH_MAX];
	va_list ap;

	*r = (struct ran){ .status = -1 };
	snprintf(r->err, sizeof r->err, "%s is not installed", name);
	if (run_find(name, 1, path) != 0)
		return -1;
	argv[0] = path;
	va_start(ap, name);
	for (int i = 1; i < 7 && (argv[i] = va_arg(ap, const char *)); i++)
		;
	va_end(ap);
	run_program(r, argv);
	return r->status;
}

static void
doctor_tool(const struct page *p)
{
	const char *as_built = *p->packages ? ": it is built with " : "";
	struct ran r;
	char own[64];

	snprintf(own, sizeof own, "%.40s (tracemill) ", p->name);
	if (run_named(&r, p->name, "--version", NULL) < 0)
		doctor_say(MISSING, p->name, "not in %s or PATH%s%s", run_folder(), as_built, p->packages);
	else if (r.status != 0)
		doctor_say(MISSING, p->name, "does not run: %s", reason(&r));
	else if (!strncmp(r.out, own, strlen(own)) &&
	    strncmp(r.out + strlen(own), TM_VERSION "\n", strlen(TM_VERSION) + 1))
		doctor_say(LIMITED, p->name, "has another version, %.*s",
		    (int)strcspn(r.out + strlen(own), "\n"), r.out + strlen(own));
	else
		doctor_say(GOOD, p->name, "%s", p->what);
}

/* The runtime of a machine and its compiler. 1: both are there */
static int
doctor_machine(const struct machine *m)
{
	const char *env = getenv("AE_LIB");
	char name[64], path[PATH_MAX];
	struct ran r;
	int good;

	if (env && *env)
		snprintf(path, sizeof path, "%.2000s/%s/aert.o", env, m->name);
	else
		snprintf(path, sizeof path, "%.2000s/../%s/%s/aert.o", run_folder(), TM_LIB, m->name);
	good = access(path, R_OK) == 0;
	snprintf(name, sizeof name, "%.40s runtime", m->name);
	if (good)
		doctor_say(GOOD, name, "is linked to programs that aecc makes");
	else
		doctor_say(MISSING, name, "%s: it is built with %s (Debian packages %s)", path, m->compiler,
		    m->packages);
	snprintf(name, sizeof name, "%.40s compiler", m->name);
	if (run_named(&r, m->compiler, "--version", NULL) != 0) {
		doctor_say(MISSING, name, "%s (Debian packages %s)", m->compiler, m->packages);
		return 0;
	}
	doctor_say(GOOD, name, "%.*s", (int)strcspn(r.out, "\n"), r.out);
	return good;
}

/* The number of instructions that `ws2addr -c` or `ae2addr -c` has printed; 0: none */
static unsigned long long
instructions(const struct ran *r)
{
	unsigned long long n = 0;
	const char *s = strstr(r->out, "instructions ");

	return s && sscanf(s, "instructions %llu", &n) == 1 ? n : 0;
}

/* In `folder` */
static char *
file(const char *name)
{
	return xasprintf("%s/%s", folder, name);
}

/* Captures true(1) and replays it. Whether that works */
static int
try_capture(void)
{
	char *ws = file("true.ws");
	char said[512];
	struct ran r;
	int works = 0;

	if (run_named(&r, "wscap", "-o", ws, "true", NULL) != 0) {
		doctor_say(MISSING, "wscap -> ws2addr", "%s", reason(&r));
		goto out;
	}
	memcpy(said, r.err, sizeof said);
	if (run_named(&r, "ws2addr", "-c", ws, NULL) != 0 || !instructions(&r)) {
		doctor_say(MISSING, "wscap -> ws2addr", "%s", reason(&r));
		goto out;
	}
	works = 1;
	if (*said)
		doctor_say(LIMITED, "wscap -> ws2addr", "%s", said);
	else
		doctor_say(GOOD, "wscap -> ws2addr", "true(1) captured, and its %llu instructions replayed",
		    instructions(&r));
	if (run_named(&r, "wsverify", "-n", ":1000", ws, NULL) == 0)
		doctor_say(GOOD, "wsverify",
		    "the replay does what this processor does, in the first instructions");
	else
		doctor_say(LIMITED, "wsverify", "the replay is not verified: %s", reason(&r));
out:
	free(ws);
	return works;
}

/* Makes a program for machine m. 0, or -1 after saying what is wrong */
static int
make_program(const struct machine *m, const char *way, const char *prog)
{
	static const char text[] = "static int n[9];\n"
	    "int main(int argc, char **argv)"
	    " { for (int i = 0; argv[0][i]; i++) n[i % 9] += argc; return n[0] == 0; }\n";
	char *c = file("prog.c"), *target = xasprintf("--target=%s", m->name);
	FILE *f = fopen(c, "we");
	struct ran r;
	int written = f && fputs(text, f) >= 0;

	if (!f || fclose(f) != 0 || !written)
		die_sys("%s", c);
	if (run_named(&r, "aecc", target, "-O1", c, "-o", prog, NULL) != 0 || *r.err) {
		doctor_say(MISSING, way, "%s", reason(&r));
		r.status = -1;
	}
	free(c);
	free(target);
	return r.status == 0 ? 0 : -1;
}

/* Runs a program of machine m, itself or by qemu. 0, or -1 after saying what is wrong */
static int
run_traced(const struct machine *m, const char *way, const char *prog)
{
	const char *argv[] = { prog, NULL, NULL, NULL, NULL };
	char qemu[64], path[PATH_MAX], root[PATH_MAX];
	struct ran r;

	if (strcmp(m->name, "x86-64")) {
		snprintf(qemu, sizeof qemu, "qemu-%.40s", m->name);
		if (run_find(qemu, 0, path) != 0) {
			doctor_say(LIMITED, way,
			    "programs can be made, but run on such a machine only: no %s "
			    "(Debian package qemu-user)",
			    qemu);
			return -1;
		}
		snprintf(root, sizeof root, "/usr/%.*s", (int)strlen(m->compiler) - 4, m->compiler);
		argv[0] = path, argv[1] = "-L", argv[2] = root, argv[3] = prog;
	}
	run_program(&r, argv);
	if (r.status == 0 && !*r.err)
		return 0;
	doctor_say(MISSING, way, "a traced program failed: %s", reason(&r));
	return -1;
}

/* Compiles a program, runs it and regenerates its references. Whether that works */
static int
try_program(const struct machine *m)
{
	char *way = strcmp(m->name, "x86-64") ? xasprintf("for %s", m->name) : xstrdup("aecc -> ae2addr");
	char *prog = file("prog"), *events = file("ae.out"), *regen = file("prog.regen");
	struct ran r;
	int works = 0;

	setenv("AE_OUT", events, 1);
	if (make_program(m, way, prog) != 0 || run_traced(m, way, prog) != 0)
		goto out;
	if (run_named(&r, "ae2addr", "-c", prog, events, NULL) != 0 || !instructions(&r)) {
		doctor_say(MISSING, way, "%s", reason(&r));
		goto out;
	}
	works = 1;
	doctor_say(GOOD, way, "a program compiled and run, and its %llu instructions regenerated",
	    instructions(&r));
	if (strcmp(m->name, "x86-64"))
		goto out;
	if (run_named(&r, "aec", "-b", "-o", regen, prog, NULL) == 0)
		doctor_say(GOOD, "aec -b", "a regenerator was built");
	else
		doctor_say(LIMITED, "aec -b", "no regenerators, which are faster than ae2addr: %s",
		    reason(&r));
out:
	free(way);
	free(prog);
	free(events);
	free(regen);
	return works;
}

static void
doctor_helpers(void)
{
	static const struct { const char *name, *package, *use; } helper[] = {
		{ "valgrind", "valgrind", "to compare references with" },
		{ "qemu-mipsel", "qemu-user", "to run programs for MIPS" },
		{ "qemu-mips", "qemu-user", "to run programs for MIPS" },
		{ "gnuplot", "gnuplot-nox", "for the pictures of the demo" },
		{ "make", "make", "for aec -b" },
		{ "man", "man-db", "to read the manual pages" },
	};
	char path[PATH_MAX];

	for (size_t i = 0; i < sizeof helper / sizeof *helper; i++)
		if (run_find(helper[i].name, 0, path) == 0)
			doctor_say(GOOD, helper[i].name, "%s", helper[i].use);
		else
			doctor_say(MISSING, helper[i].name, "%s (Debian package %s)", helper[i].use,
			    helper[i].package);
}

int
doctor(void)
{
	const char *s = getenv("TMPDIR"), *tmp = s && *s ? s : "/tmp";
	int captures, programs = 0;

	snprintf(folder, sizeof folder, "%.2000s/tracemill.XXXXXX", tmp);
	if (temp_folder(folder) != 0)
		die_sys("%s", folder);
	for (const struct page *p = pages; p->name; p++)
		if (p->section == 1)
			doctor_tool(p);
	system_kernel();
	system_limits(tmp);
	captures = try_capture();
	for (const struct machine *m = machines; m->name; m++)
		if (doctor_machine(m) && try_program(m) && !strcmp(m->name, "x86-64"))
			programs = 1;
	doctor_helpers();
	temp_remove(folder);
	return captures && programs;
}
