/* addrstat: what is in a reference trace */
#include "apps/addrstat/addrstat.h"
#include "base/diag.h"
#include "base/num.h"
#include "base/opt.h"
#include "refs/options.h"

enum { JSON = 256, REGIONS, STRIDES, FUNCTIONS, LINES, TOP };

static const struct opt addrstat_opts[] = {
	{ REGIONS, "regions", NULL, "print also the regions of memory: files, heap, stack" },
	{ STRIDES, "strides", NULL, "print also how far apart successive accesses of an instruction are" },
	{ FUNCTIONS, "functions", NULL, "print also which functions the references come from" },
	{ LINES, "lines", NULL, "print also which source lines the references come from" },
	{ 'a', "all", NULL, "print all of these" },
	{ TOP, "top", "N", "print N regions, strides, functions and lines (10)" },
	REFS_OPT_EXECUTABLE("functions and lines"),
	{ JSON, "json", NULL, "print JSON" },
	REFS_OPT_PARTS,
	OPT_RANGE,
	OPT_OUTPUT,
	{ 0 },
};

static const struct opt_tool addrstat_tool = {
	.does = "Prints what is in a reference trace: its references by kind and size, its footprint, a digest.",
	.synopsis = "[options] [source]\n[options] program [ae.out]",
	.example = "wscap -o ls.ws ls; addrstat ls.ws",
	.opt = addrstat_opts,
};

struct options {
	struct refs_source source;
	struct show show;
	struct refs_words words;
};

static void
addrstat_option(struct options *o, int c)
{
	uint64_t top;

	switch (c) {
	case REGIONS:
		o->show.regions = 1;
		break;
	case STRIDES:
		o->show.strides = 1;
		break;
	case FUNCTIONS:
		o->show.functions = 1;
		break;
	case LINES:
		o->show.lines = 1;
		break;
	case 'a':
		o->show.regions = o->show.strides = o->show.functions = o->show.lines = 1;
		break;
	case TOP:
		if (num_u64(optarg, 1, UINT32_MAX, &top) != 0)
			opt_wrong("not a number of at least 1");
		o->show.top = top;
		break;
	case JSON:
		o->show.json = 1;
		break;
	default:
		refs_option(c, &o->source, &o->words);
	}
}

static void
addrstat_check(const struct options *o)
{
	if (o->words.partial && (o->show.json || o->show.regions))
		die_usage("--json and --regions come with --merge, not with --partial");
}

static void
addrstat_print(const struct options *o, struct out *out, struct stat *t, struct refs *s)
{
	(o->show.json ? print_json : print_screen)(out, t, &o->show, s);
}

static void
addrstat_merge(struct options *o, char **path)
{
	struct out *out = out_open(o->words.outname);
	struct stat *t = partial_merge(path);

	if (o->show.strides && !t->stride)
		die("%s: has no strides: --partial was without --strides", *path);
	if ((o->show.functions || o->show.lines) && !t->places)
		die("%s: has no functions and lines: --partial was without --functions and --lines", *path);
	addrstat_print(o, out, t, NULL);
	out_close(out);
	areas_free(t->areas);
	stat_free(t);
}

static void
addrstat_run(struct options *o)
{
	struct refs *s = refs_open(&o->source);
	struct out *out = out_open(o->words.outname);
	struct stat *t = stat_new(o->show.strides, o->source.names);
	const char *why;
	struct fault f;
	int got, result;

	if (o->words.partial)
		out_binary(out, "a partial result");
	got = refs_run(s, stat_take, t, &f);
	t->areas = refs_areas(s);
	/* a source that could not be read at all has no result; a part of a damaged one has none, either */
	result = got != REFS_BAD || (t->npage && !o->words.partial);
	while (result && t->places && (why = places_complaint(t->places, s)) != NULL)
		warn("%s: %s", refs_path(s), why);
	if (result && o->words.partial)
		partial_write(out, t, s, o->source.from);
	else if (result)
		addrstat_print(o, out, t, s);
	out_end(out, refs_path(s), got == REFS_BAD ? &f : NULL, refs_warning(s));
	stat_free(t);
	refs_close(s);
}

int
main(int argc, char **argv)
{
	struct options o = { .source.to = REFS_END, .show.top = 10 };
	const char *wrong;
	int c;

	diag_init(argv[0], 1);
	while ((c = opt_next(&addrstat_tool, argc, argv)) != -1)
		addrstat_option(&o, c);
	if ((wrong = refs_operands(&o.source, &o.words, argc, argv)) != NULL)
		die_usage("%s", wrong);
	addrstat_check(&o);
	if (o.words.merge) {
		addrstat_merge(&o, argv + optind);
		return 0;
	}
	o.source.names = o.show.functions || o.show.lines;
	o.source.areas = o.show.regions || o.words.partial;
	refs_begin(&o.source);
	addrstat_run(&o);
	return 0;
}
