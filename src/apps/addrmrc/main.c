/* addrmrc: misses of LRU caches of all sizes, from one pass over references */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/addrmrc/addrmrc.h"
#include "base/diag.h"
#include "base/num.h"
#include "base/opt.h"
#include "format/ref/ref.h"
#include "refs/options.h"

/* With fewer lines in a class than 8, it may well have none of those that matter */
enum { FEW = 8 * SAMPLE_CLASSES };

enum { POINTS = 256, HISTOGRAM, SAMPLE_SIZE, JSON, WINDOW };

static const struct opt addrmrc_opts[] = {
	{ 'l', "line", "BYTES", "size of a line: a power of 2 (64)" },
	{ 'k', "kinds", "KINDS", "data (the default), instructions or all" },
	{ POINTS, "points", "N", "print N sizes for each doubling (1)" },
	{ HISTOGRAM, "histogram", NULL, "print the histogram of reuse distances" },
	{ 'r', "sample", "RATE", "estimate, from this part of the lines: as 0.01, above 0, at most 1" },
	{ SAMPLE_SIZE, "sample-size", "N", "estimate, from at most N lines" },
	{ 'f', "format", "FORMAT", "text (the default), csv or json" },
	{ JSON, "json", NULL, "the same as -f json" },
	{ WINDOW, "window", "N[i]", "print the lines accessed in each N accesses, or N instructions, instead" },
	REFS_OPT_PARTS,
	OPT_RANGE,
	OPT_OUTPUT,
	{ 0 },
};

static const struct opt_tool addrmrc_tool = {
	.does = "Prints the misses of LRU caches of all sizes, from one pass over the references of a program.",
	.synopsis = "[options] [source]\n[options] program [ae.out]",
	.example = "wscap -o ls.ws ls; addrmrc ls.ws",
	.opt = addrmrc_opts,
};

struct options {
	struct mrc_options print;
	struct refs_source source;
	struct mrc_params params;
	struct refs_words words;
	int printed, analysed;  /* printed, analysed: are there options for these? */
};

static void
option_format(struct options *o)
{
	static const char *const name[] = { [MRC_TEXT] = "text", [MRC_CSV] = "csv", [MRC_JSON] = "json" };

	for (int i = MRC_TEXT; i <= MRC_JSON; i++)
		if (!strcmp(optarg, name[i])) {
			o->print.format = (enum mrc_format)i;
			return;
		}
	opt_wrong("not a format; there are text, csv and json");
}

static void
option_rate(struct options *o)
{
	char *end;
	double rate = strtod(optarg, &end);

	/* strtod takes more than numbers of a person: blanks, signs, hexadecimal, nan */
	if (*end || strspn(optarg, "0123456789.e-") != strlen(optarg) || !(rate > 0 && rate <= 1))
		opt_wrong("not a number above 0, at most 1");
	o->params.threshold = (uint64_t)(rate * (double)SAMPLE_ALL);
	if (!o->params.threshold)
		o->params.threshold = 1;
}

static void
option_window(struct options *o)
{
	size_t n = strlen(optarg);
	char s[32];

	o->print.by_instructions = n && optarg[n - 1] == 'i';
	n -= (size_t)o->print.by_instructions;
	snprintf(s, sizeof s, "%.*s", (int)(n < sizeof s ? n : 0), optarg);
	if (num_size(s, 1, UINT64_C(1) << 62, &o->print.window) != 0)
		opt_wrong("not a number of at least 1, which may end in k, M or G, and then in i for instructions");
}

static void
addrmrc_option(struct options *o, int c)
{
	o->analysed |= c == 'l' || c == 'k' || c == 'r' || c == SAMPLE_SIZE;
	o->printed |= c == POINTS || c == HISTOGRAM || c == 'f' || c == JSON;
	switch (c) {
	case 'l':
		o->params.line = opt_size(optarg, 1, UINT64_C(1) << REUSE_SHIFT_MAX);
		if (o->params.line & (o->params.line - 1))
			opt_wrong("not a power of 2");
		break;
	case 'k':
		if (ref_set(optarg, &o->params.kinds) != 0)
			opt_wrong("there are data, instructions and all");
		break;
	case POINTS:
		if (num_u64(optarg, 1, 1024, &o->print.points) != 0)
			opt_wrong("not a number from 1 to 1024");
		break;
	case HISTOGRAM:
		o->print.histogram = 1;
		break;
	case 'r':
		option_rate(o);
		break;
	case SAMPLE_SIZE:
		o->params.most = opt_size(optarg, SAMPLE_CLASSES, UINT64_C(1) << 40);
		break;
	case 'f':
		option_format(o);
		break;
	case JSON:
		o->print.format = MRC_JSON;
		break;
	case WINDOW:
		option_window(o);
		break;
	default:
		refs_option(c, &o->source, &o->words);
	}
}

static void
addrmrc_check(const struct options *o)
{
	if (o->words.partial && o->printed)
		die_usage("--points, --histogram and -f come with --merge, not with --partial");
	if (o->words.partial && o->params.most)
		die_usage("--sample-size is not for partial results");
	if (o->print.window && (o->words.partial || o->words.merge || o->print.histogram || o->params.threshold ||
	    o->params.most))
		die_usage("--window comes without --histogram, -r, --sample-size, --partial and --merge");
	if (o->words.merge && o->analysed)
		die_usage("--merge comes without -l, -k, -r and --sample-size, which are in the partial results");
}

/* path: of what was read, for a warning */
static void
addrmrc_print(const struct options *o, const struct analysis *a, struct out *out, const char *path)
{
	struct mrc_result m;

	analysis_result(a, &o->params, &m);
	mrc_print(out, &o->print, &m);
	if (m.rate < 1 && m.whole.lines < FEW)
		warn("%s: only %" PRIu64 " lines are in the sample: the errors say little", path, m.whole.lines);
}

static void
addrmrc_merge(struct options *o, char **path)
{
	struct out *out = out_open(o->words.outname);
	struct analysis a;

	partial_merge(path, &a, &o->params);
	addrmrc_print(o, &a, out, *path);
	out_close(out);
	analysis_end(&a);
}

static void
addrmrc_run(struct options *o)
{
	struct refs *s = refs_open(&o->source);
	struct out *out = out_open(o->words.outname);
	struct analysis a;
	struct fault f;
	int got;

	if (o->words.partial)
		out_binary(out, "a partial result");
	analysis_begin(&a, &o->params, o->words.partial);
	got = refs_run(s, analysis_take, &a, &f);
	/* a source that could not be read at all has no result; a part of a damaged one has none, either */
	if (o->words.partial && got != REFS_BAD)
		partial_write(out, &a, &o->params);
	else if (!o->words.partial && (got != REFS_BAD || analysis_accesses(&a)))
		addrmrc_print(o, &a, out, refs_path(s));
	out_end(out, refs_path(s), got == REFS_BAD ? &f : NULL, refs_warning(s));
	refs_close(s);
	analysis_end(&a);
}

static void
addrmrc_window(struct options *o)
{
	struct refs *s = refs_open(&o->source);
	struct out *out = out_open(o->words.outname);
	struct window *w = window_new(out, &o->print, &o->params);
	struct fault f;
	int bad = refs_run(s, window_take, w, &f) == REFS_BAD;

	window_end(w, bad);
	out_end(out, refs_path(s), bad ? &f : NULL, refs_warning(s));
	refs_close(s);
}

int
main(int argc, char **argv)
{
	struct options o = { .print.points = 1, .params.line = 64, .source.to = REFS_END };
	const char *wrong;
	int c;

	diag_init(argv[0], 1);
	ref_set("data", &o.params.kinds);
	while ((c = opt_next(&addrmrc_tool, argc, argv)) != -1)
		addrmrc_option(&o, c);
	if ((wrong = refs_operands(&o.source, &o.words, argc, argv)) != NULL)
		die_usage("%s", wrong);
	addrmrc_check(&o);
	if (o.words.merge) {
		addrmrc_merge(&o, argv + optind);
		return 0;
	}
	if (o.params.most && !o.params.threshold)
		o.params.threshold = SAMPLE_ALL;
	o.params.from = o.source.from;
	refs_begin(&o.source);
	(o.print.window ? addrmrc_window : addrmrc_run)(&o);
	return 0;
}
