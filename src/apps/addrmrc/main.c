/* addrmrc: misses of LRU caches of all sizes, from one pass over references */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "apps/addrmrc/addrmrc.h"
#include "base/diag.h"
#include "base/helper.h"
#include "base/num.h"
#include "base/opt.h"
#include "base/progress.h"
#include "base/src.h"
#include "format/ref/ref.h"
#include "refs/refs.h"

/* With fewer lines in a class than 8, it may well have none of those that matter */
enum { FEW = 8 * SAMPLE_CLASSES };

enum { POINTS = 256, HISTOGRAM, SAMPLE_SIZE, JSON };

static const struct opt addrmrc_opts[] = {
	{ 'l', "line", "BYTES", "size of a line: a power of 2 (64)" },
	{ 'k', "kinds", "KINDS", "data (the default), instructions or all" },
	{ POINTS, "points", "N", "print N sizes for each doubling (1)" },
	{ HISTOGRAM, "histogram", NULL, "print the histogram of reuse distances" },
	{ 'r', "sample", "RATE", "estimate, from this part of the lines: as 0.01, above 0, at most 1" },
	{ SAMPLE_SIZE, "sample-size", "N", "estimate, from at most N lines" },
	{ 'f', "format", "FORMAT", "text (the default), csv or json" },
	{ JSON, "json", NULL, "the same as -f json" },
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
	const char *outname;
	unsigned kinds;
	uint64_t threshold, most;       /* of a sample (sim/sample.h); threshold 0: there is none */
};

#define DATA (1u << REF_LOAD | 1u << REF_STORE | 1u << REF_MODIFY)

static void
option_kinds(struct options *o)
{
	static const struct { const char *name; unsigned kinds; } known[] = {
		{ "data", DATA }, { "instructions", 1u << REF_INST }, { "all", DATA | 1u << REF_INST },
	};

	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (!strcmp(optarg, known[i].name)) {
			o->kinds = known[i].kinds;
			o->print.kinds = known[i].name;
			return;
		}
	opt_wrong("there are data, instructions and all");
}

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
	o->threshold = (uint64_t)(rate * (double)SAMPLE_ALL);
	if (!o->threshold)
		o->threshold = 1;
}

static void
addrmrc_option(struct options *o, int c)
{
	switch (c) {
	case 'l':
		o->print.line = opt_size(optarg, 1, UINT64_C(1) << REUSE_SHIFT_MAX);
		if (o->print.line & (o->print.line - 1))
			opt_wrong("not a power of 2");
		break;
	case 'k':
		option_kinds(o);
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
		o->most = opt_size(optarg, SAMPLE_CLASSES, UINT64_C(1) << 40);
		break;
	case 'f':
		option_format(o);
		break;
	case JSON:
		o->print.format = MRC_JSON;
		break;
	case 'n':
		if (num_range(optarg, REFS_END, &o->source.from, &o->source.to) != 0)
			opt_wrong(OPT_BAD_RANGE);
		break;
	default:
		o->outname = optarg;
	}
}

/* One of the two is used */
struct analysis {
	struct reuse *exact;
	struct sample *sample;
};

static int
addrmrc_take(void *arg, const uint64_t *w, size_t n)
{
	struct analysis *a = arg;

	if ((a->sample ? sample_take(a->sample, w, n) : reuse_take(a->exact, w, n)) != 0)
		die("no memory");
	return 0;
}

static void
analysis_begin(struct analysis *a, const struct options *o)
{
	unsigned shift = (unsigned)__builtin_ctzll(o->print.line);

	*a = (struct analysis){ .exact = NULL };
	if (o->threshold)
		a->sample = sample_new(shift, o->kinds, o->threshold, o->most);
	else
		a->exact = reuse_new(shift, o->kinds);
	if (!a->exact && !a->sample)
		die("no memory");
}

static void
addrmrc_run(struct options *o)
{
	struct refs *s = refs_open(&o->source);
	struct out *out = out_open(o->outname);
	struct mrc_result m;
	struct analysis a;
	struct fault f;
	int got;

	analysis_begin(&a, o);
	got = refs_run(s, addrmrc_take, &a, &f);
	if (a.sample)
		mrc_sampled(&m, a.sample);
	else
		mrc_exact(&m, a.exact);
	/* a source that could not be read at all has no result */
	if (got != REFS_BAD || m.accesses)
		mrc_print(out, &o->print, &m);
	if (m.rate < 1 && m.whole.lines < FEW)
		warn("%s: only %" PRIu64 " lines are in the sample: the errors say little", refs_path(s),
		    m.whole.lines);
	out_end(out, refs_path(s), got == REFS_BAD ? &f : NULL, refs_warning(s));
	refs_close(s);
	reuse_free(a.exact);
	sample_free(a.sample);
}

int
main(int argc, char **argv)
{
	struct options o = { .print = { .line = 64, .points = 1, .kinds = "data" }, .source.to = REFS_END,
	    .kinds = DATA };
	int c;

	diag_init(argv[0], 1);
	while ((c = opt_next(&addrmrc_tool, argc, argv)) != -1)
		addrmrc_option(&o, c);
	opt_operands(argc, argv, 0, 2);
	if (o.most && !o.threshold)
		o.threshold = SAMPLE_ALL;
	o.source.path = argv[optind];
	o.source.events = argc - optind > 1 ? argv[optind + 1] : NULL;
	progress_start(src_name(o.source.path));
	progress_limit(o.source.to);
	helper_allow(0);
	addrmrc_run(&o);
	return 0;
}
