/* aerw: instrument the compiler's assembly, and describe how to regenerate its references */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "ae/rewrite/assemble.h"
#include "ae/rewrite/cfg.h"
#include "ae/rewrite/dialect.h"
#include "ae/rewrite/emit.h"
#include "ae/rewrite/file.h"
#include "ae/rewrite/landing.h"
#include "ae/rewrite/live.h"
#include "ae/rewrite/object.h"
#include "ae/rewrite/rename.h"
#include "ae/rewrite/slice.h"
#include "base/buf.h"
#include "base/diag.h"
#include "base/in.h"
#include "base/mem.h"
#include "base/opt.h"
#include "base/out.h"
#include "base/src.h"
#include "gen/aerw/list.h"

#define MAXTEXT (1u << 30)      /* bytes of an assembly file at most */

static const struct opt aerw_opts[] = {
	{ 'a', "assembler-option", "ARGUMENT", "pass ARGUMENT to the assembler; may be given several times" },
	{ 'l', "list", "FILE", "write to FILE which instructions record what" },
	{ 'm', "machine", "MACHINE", "x86-64, mipsel or mips; default: that of the assembler" },
	OPT_OUTPUT,
	{ 'p', "paper", NULL, "record as in Larus' paper, which takes more events" },
	{ 'q', "quiet", NULL, "do not warn of functions that are left untraced" },
	{ 'u', "unreserved", NULL, "the compiler has not reserved the register that instrumentation uses" },
	{ 'v', "verbose", NULL, "print how many functions there are, and how many are left untraced" },
	{ 0 },
};

static const struct opt_tool aerw_tool = {
	.does = "Instruments the assembly that a compiler wrote, so that the program records events; aecc runs it.",
	.synopsis = "[-pquv] [-a argument] [-l list] [-m machine] [-o file] [file.s]",
	.example = "gcc -O2 -ffixed-r15 -fno-ipa-ra -S lzw.c -o - | aerw -l lzw.list >lzw.ae.s",
	.opt = aerw_opts,
};

struct options {
	const char *out, *as, *list, *machine;
	char *asarg[60];
	int named, nas, paper, quiet, unreserved, verbose;  /* named: the user has chosen the assembler */
};

static char *
aerw_slurp(const char *path, size_t *n)
{
	struct in *in = in_open(path);
	struct buf b = BUF_INIT;
	uint8_t *p;
	size_t got;

	do {
		p = buf_reserve(&b, 1 << 16);
		if (!p || b.n > MAXTEXT)
			die("%s: too long", in_name(in));
		got = in_read(in, p, 1 << 16);
		b.n += got;
	} while (got);
	if (in_error(in))
		die_at(in_name(in), in_off(in), DIAG_NOREC, "%s", in_error(in));
	in_close(in);
	buf_u8(&b, 0);
	if (b.nomem)
		die("out of memory");
	*n = b.n - 1;
	return (char *)b.p;
}

/* Reports the source line if the compiler has marked it; else the line of the assembly. */
static void
report_line(const struct file *f, const struct afunc *fn, const char *path)
{
	const struct stmt *at = NULL;
	const char *s = "";
	size_t k;

	for (k = 0; k < f->text.n; k++)
		if (f->text.st[k].line == fn->whyline) {
			at = &f->text.st[k];
			if (at->kind == ST_INSN)
				s = at->s;
		}
	if (at && at->src)
		warn("%.*s: line %u: %s%s%s%s: function %s left untraced", at->srclen, at->src, at->srcline,
		    *s ? "'" : "", s, *s ? "': " : "", fn->why, fn->name);
	else
		warn("%s: line %u of the assembly: %s%s%s%s: function %s left untraced", path, fn->whyline,
		    *s ? "'" : "", s, *s ? "': " : "",
		    fn->why, fn->name);
}

static void
aerw_report(const struct file *f, const struct options *o, const char *path)
{
	size_t i, left = 0;

	for (i = 0; i < f->nfn; i++) {
		const struct afunc *fn = &f->fn[i];

		left += fn->why != NULL;
		if (!fn->why || o->quiet)
			continue;
		if (fn->whyline)
			report_line(f, fn, path);
		else
			warn("%s: %s: function %s left untraced", path, fn->why, fn->name);
	}
	if (o->verbose)
		warn("%s: %zu functions, %zu left untraced", path, f->nfn, left);
}

/*
 * Builds the control-flow graphs of all functions.  Nonzero: a function failed only now, which
 * affects its callers.
 */
static int
aerw_graphs(struct file *f)
{
	uint32_t i;
	int late = 0;

	for (i = 0; i < f->nfn; i++)
		if (!f->fn[i].why) {
			cfg_build(f, i);
			if (jumps_find(f, i)) {
				cfg_free(&f->fn[i]);
				cfg_build(f, i);
			}
		}
	for (i = 0; i < f->nfn; i++)
		if (!f->fn[i].why) {
			live_check(f, &f->fn[i]);
			late |= f->fn[i].why != NULL;
		}
	return late;
}

static void
graphs_free(struct file *f)
{
	uint32_t i;

	for (i = 0; i < f->nfn; i++)
		cfg_free(&f->fn[i]);
}

/*
 * The assembler that the user has chosen; else `as`, or the machine's own assembler if `as` is
 * for another machine.
 */
static const char *
aerw_lift(struct file *f, const struct options *o)
{
	const char *why = object_lift(f, o->as, o->asarg);

	return why && !o->named ? object_lift(f, f->m->as, o->asarg) : why;
}

/* The same for statements in another syntax */
static const char *
aerw_dialect(struct file *f, const struct options *o)
{
	const char *why = dialect_translate(&f->text, o->as, o->asarg);

	return why && !o->named ? dialect_translate(&f->text, f->m->as, o->asarg) : why;
}

/*
 * All steps between reading and writing; on failure the text is passed through unchanged. zero: the offset of
 * a zero byte, if there is one: what the assembler does not accept is then not even text.
 */
static void
aerw_analyse(struct file *f, const struct options *o, const char *path, uint64_t zero)
{
	const char *why = aerw_dialect(f, o);
	uint32_t i;

	file_recover(f);
	if (!why)
		why = aerw_lift(f, o);
	if (why) {
		if (!strcmp(why, ASSEMBLY_NOTEMP))
			die("%s: %s", path, why);
		if (zero != UINT64_MAX)
			die_at(path, zero, DIAG_NOREC, "a zero byte: not assembly");
		if (!o->quiet)
			warn("%s: %s: left untraced", path, why);
		for (i = 0; i < f->nfn; i++)
			fn_fail(&f->fn[i], 0, why);
		return;
	}
	landing_find(f);
	file_targets(f);
	delay_slots(f);
	for (i = 0; i < f->nfn; i++)
		if (!f->fn[i].why)
			f->m->emit->fits(f, &f->fn[i]);
	do {
		while (aerw_graphs(f))
			graphs_free(f);
		for (i = 0; f->m->lent && i < f->nfn; i++)
			if (!f->fn[i].why)
				rename_buffer(f, &f->fn[i]);
		callee_find(f);
	} while (slice_file(f) && (graphs_free(f), 1));
	aerw_report(f, o, path);
}

/* The machine that the user has chosen, or the one that the assembler is for. */
static const struct machine *
aerw_machine(const struct options *o)
{
	const struct machine *m;

	if (o->machine) {
		m = machine_byname(o->machine);
		if (!m)
			die("%s: no such machine", o->machine);
		return m;
	}
	m = object_machine(o->as, o->asarg, machine_byelf);
	if (!m && !assembly_possible(&(struct buf)BUF_INIT))
		die("%s", ASSEMBLY_NOTEMP);
	if (!m)
		die("%s: not an assembler for a supported machine; use -m or AERW_AS", o->as);
	return m;
}

int
main(int argc, char **argv)
{
	struct options o = { .as = getenv("AERW_AS") };
	const char *path;
	struct buf text = BUF_INIT;
	struct file f;
	struct out *out, *list = NULL;
	char *p;
	size_t n, text_n;
	uint32_t i;
	int c;

	diag_init(argv[0], 1);
	o.named = o.as && *o.as;
	if (!o.named)
		o.as = "as";
	while ((c = opt_next(&aerw_tool, argc, argv)) != -1)
		switch (c) {
		case 'a':
			if (o.nas == 50)
				die("too many -a arguments");
			o.asarg[o.nas++] = optarg;
			break;
		case 'l':
			o.list = optarg;
			break;
		case 'm':
			o.machine = optarg;
			break;
		case 'o':
			o.out = optarg;
			break;
		case 'p':
			o.paper = 1;
			break;
		case 'q':
			o.quiet = 1;
			break;
		case 'u':
			o.unreserved = 1;
			break;
		case 'v':
			o.verbose = 1;
			break;
		}
	opt_operands(argc, argv, 0, 1);
	path = optind < argc ? argv[optind] : NULL;
	out_replaces(o.list);
	if (o.list && !strcmp(o.list, "-") && (!o.out || !strcmp(o.out, "-")))
		die_usage("only one of -l and -o can be standard output");
	memset(&f, 0, sizeof f);
	f.m = aerw_machine(&o);
	if (o.unreserved && !f.m->unreserved)
		die("%s: the compiler has to reserve a register", f.m->name);
	if (o.unreserved)
		f.m = f.m->unreserved;
	f.paper = o.paper;
	p = aerw_slurp(path, &n);
	text_n = strlen(p);
	text_parse(&f.text, f.m, p, n);
	aerw_analyse(&f, &o, src_name(path), text_n < n ? text_n : UINT64_MAX);
	emit_file(&text, &f);
	if (text.nomem)
		die("out of memory");
	out = out_open(o.out);
	if (o.list)
		list_file(list = out_open(o.list), &f);
	out_write(out, text.p, text.n);
	out_flush(out);
	if (list)
		out_close(list);
	out_close(out);
	buf_free(&text);
	for (i = 0; i < f.nfn; i++)
		slice_free(f.fn[i].slice);
	file_free(&f);
	free(p);
	return 0;
}
