/* pp: find how parallel the loops of a program could be */
#include "apps/pp/pp.h"
#include "base/diag.h"
#include "base/opt.h"
#include "refs/options.h"

enum { KEY_JSON = 256, KEY_LOOPS, KEY_DEPENDENCES };

static const struct opt pp_opts[] = {
	{ KEY_DEPENDENCES, "dependences", "N", "of each loop, show at most N dependences (3)" },
	{ KEY_JSON, "json", NULL, "print everything as JSON" },
	{ KEY_LOOPS, "loops", "N", "show the N loops with the most instructions (20)" },
	OPT_RANGE,
	OPT_OUTPUT,
	{ 0 },
};

static const struct opt_tool pp_tool = {
	.does = "Finds how much faster a program would be with its loops parallel, and what prevents it.",
	.synopsis = "[--loops number] [--dependences number] [--json] [-n from:to] [-o file] [source [events]]",
	.example = "aecc -O2 -g prog.c -o prog; ./prog; pp prog ae.out",
	.opt = pp_opts,
};

static int
pp_take(void *arg, const uint64_t *w, size_t n)
{
	return parallel_take(arg, w, n);
}

/* Which files with the code that may be shown have no names? */
static void
pp_names(struct refs *s, const struct parallel_result *r)
{
	const char *complaint;

	for (size_t i = 0; i < r->nloop; i++)
		refs_code(s, r->loop[i].pc, 1);
	for (size_t i = 0; i < r->ndep; i++) {
		refs_code(s, r->dep[i].from, 1);
		refs_code(s, r->dep[i].to, 1);
	}
	while ((complaint = refs_complaint(s)) != NULL)
		warn("%s", complaint);
}

int
main(int argc, char **argv)
{
	struct refs_source q = { .to = REFS_END, .names = 1, .loops = 1 };
	struct pp_report r = { .nloop = 20, .ndep = 3 };
	struct refs_words w = { NULL, 0, 0 };
	struct parallel *p;
	struct fault f;
	struct out *o;
	struct refs *s;
	const char *wrong;
	int c, got, json = 0;

	diag_init(argv[0], 1);
	while ((c = opt_next(&pp_tool, argc, argv)) != -1)
		switch (c) {
		case KEY_JSON: json = 1; break;
		case KEY_LOOPS: r.nloop = opt_size(optarg, 0, UINT64_MAX); break;
		case KEY_DEPENDENCES: r.ndep = opt_size(optarg, 0, UINT64_MAX); break;
		default: refs_option(c, &q, &w);
		}
	if ((wrong = refs_operands(&q, &w, argc, argv)) != NULL)
		die_usage("%s", wrong);
	refs_begin(&q);
	o = out_open(w.outname);
	s = r.refs = refs_open(&q);
	p = parallel_new();
	got = p ? refs_run(s, pp_take, p, &f) : -1;
	if (got == -1 || parallel_end(p, &r.result) != 0)
		die("out of memory");
	/* a source that could not be read at all has no result */
	if (got != REFS_BAD || r.result.ninsn) {
		pp_names(s, &r.result);
		(json ? report_json : report_text)(o, &r);
	}
	if (got != REFS_BAD && !r.result.nloop && r.result.ninsn)
		warn("%s: no loops: these references have no loop events", refs_path(s));
	out_end(o, refs_path(s), got == REFS_BAD ? &f : NULL, refs_warning(s));
	refs_close(s);
	parallel_free(p);
	return 0;
}
