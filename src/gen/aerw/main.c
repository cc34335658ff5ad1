/* aerw: instrument the compiler's assembly, and describe how to regenerate its references */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "../../base/buf.h"
#include "../../base/diag.h"
#include "../../base/in.h"
#include "../../base/mem.h"
#include "../../base/out.h"
#include "cfg.h"
#include "emit.h"
#include "file.h"
#include "list.h"
#include "live.h"
#include "object.h"
#include "slice.h"

#define SYNOPSIS "aerw [-qv] [-a argument] [-l list] [-o file] [file.s]"
#define MAXTEXT (1u << 30)

struct options {
	const char *out, *as, *list;
	char *asarg[60];
	int nas, quiet, verbose;
};

static char *
slurp(const char *path, size_t *n)
{
	struct in *in = in_open(path);
	struct buf b = BUF_INIT;
	uint8_t *p;
	size_t got;

	do {
		p = buf_room(&b, 1 << 16);
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

static void
report(const struct file *f, const struct options *o, const char *path)
{
	size_t i, left = 0;

	for (i = 0; i < f->nfn; i++) {
		const struct afunc *fn = &f->fn[i];

		left += fn->why != NULL;
		if (!fn->why || o->quiet)
			continue;
		if (fn->whyline) {
			const char *s = "";
			size_t k;

			for (k = 0; k < f->text.n; k++)
				if (f->text.st[k].line == fn->whyline && f->text.st[k].kind == ST_INSN)
					s = f->text.st[k].s;
			warn("%s: line %u: %s%s%s%s: function %s left untraced", path, fn->whyline, *s ? "'" : "", s, *s ? "': " : "", fn->why, fn->name);
		} else
			warn("%s: %s: function %s left untraced", path, fn->why, fn->name);
	}
	if (o->verbose)
		warn("%s: %zu functions, %zu left untraced", path, f->nfn, left);
}

/* Control-flow graphs of all; nonzero if a function failed only now, which makes a difference to its callers */
static int
graphs(struct file *f)
{
	uint32_t i;
	int late = 0;

	for (i = 0; i < f->nfn; i++)
		if (!f->fn[i].why)
			cfg_build(f, i);
	for (i = 0; i < f->nfn; i++)
		if (!f->fn[i].why) {
			live_check(f, &f->fn[i]);
			late |= f->fn[i].why != NULL;
		}
	return late;
}

/* Everything between reading and writing; on failure the text is passed through as it is */
static void
analyse(struct file *f, const struct options *o, const char *path)
{
	const char *why;
	uint32_t i;

	file_recover(f);
	why = object_lift(f, o->as, o->asarg, PATCH);
	if (why) {
		if (!o->quiet)
			warn("%s: %s: left untraced", path, why);
		for (i = 0; i < f->nfn; i++)
			fn_fail(&f->fn[i], 0, why);
		return;
	}
	file_targets(f);
	for (i = 0; i < f->nfn; i++)
		if (!f->fn[i].why)
			emit_fits(f, &f->fn[i]);
	while (graphs(f))
		for (i = 0; i < f->nfn; i++)
			cfg_free(&f->fn[i]);
	slice_file(f);
	if (o->list)
		list_file(o->list, f);
	report(f, o, path);
}

int
main(int argc, char **argv)
{
	struct options o = { .as = getenv("AERW_AS") };
	const char *path;
	struct file f;
	struct out *out;
	char *p;
	size_t n;
	uint32_t i;
	int c;

	diag_init(argv[0], 1);
	if (!o.as || !*o.as)
		o.as = "as";
	while ((c = getopt(argc, argv, "a:l:o:qv")) != -1)
		switch (c) {
		case 'a':
			if (o.nas == 50)
				die("too many -a arguments");
			o.asarg[o.nas++] = optarg;
			break;
		case 'l':
			o.list = optarg;
			break;
		case 'o':
			o.out = optarg;
			break;
		case 'q':
			o.quiet = 1;
			break;
		case 'v':
			o.verbose = 1;
			break;
		default:
			die_usage(SYNOPSIS);
		}
	if (argc - optind > 1)
		die_usage(SYNOPSIS);
	path = optind < argc ? argv[optind] : NULL;
	p = slurp(path, &n);
	memset(&f, 0, sizeof f);
	text_parse(&f.text, p, n);
	analyse(&f, &o, path ? path : "standard input");
	out = out_open(o.out);
	emit_file(out, &f);
	out_close(out);
	for (i = 0; i < f.nfn; i++)
		slice_free(f.fn[i].slice);
	file_free(&f);
	free(p);
	return 0;
}
