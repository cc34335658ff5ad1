/* cachesim: simulate caches and TLBs on the references of a program. */

#include "apps/cachesim/cachesim.h"
#include "base/diag.h"
#include "base/num.h"
#include "base/opt.h"
#include "refs/options.h"

enum { L1 = 256, LEVEL, PAGE = LEVEL + HIER_N, FUNCTIONS, LINES, TOP, JSON };

#define CACHE_VALUE "SIZE,WAYS[,...]"
#define TLB_VALUE   "ENTRIES,WAYS[,...]"

static const struct opt cachesim_opts[] = {
	{ LEVEL + HIER_I1, "i1", CACHE_VALUE, "first-level cache of instructions (32k,8,64)" },
	{ LEVEL + HIER_D1, "d1", CACHE_VALUE, "first-level cache of data (32k,8,64)" },
	{ L1, "l1", CACHE_VALUE, "one first-level cache of both, instead of --i1 and --d1" },
	{ LEVEL + HIER_L2, "l2", CACHE_VALUE, "second level (256k,4,64); none: there is none" },
	{ LEVEL + HIER_L3, "l3", CACHE_VALUE, "third level (8M,16,64); none: there is none" },
	{ LEVEL + HIER_ITLB, "itlb", TLB_VALUE, "TLB of instructions (none)" },
	{ LEVEL + HIER_DTLB, "dtlb", TLB_VALUE, "TLB of data (none)" },
	{ LEVEL + HIER_STLB, "stlb", TLB_VALUE, "second-level TLB of both (none)" },
	{ 'l', "line", "BYTES", "size of a line of all caches that have no other (64)" },
	{ PAGE, "page", "BYTES", "size of a page (4k)" },
	{ FUNCTIONS, "functions", NULL, "print also which functions the misses come from" },
	{ LINES, "lines", NULL, "print also which source lines the misses come from" },
	{ TOP, "top", "N", "print N functions and lines (20)" },
	REFS_OPT_EXECUTABLE("functions and lines"),
	{ JSON, "json", NULL, "print JSON" },
	REFS_OPT_PARTS,
	OPT_RANGE,
	OPT_OUTPUT,
	{ 0 },
};

static const struct opt_tool cachesim_tool = {
	.does = "Simulates caches and TLBs on the references of a program, and counts their misses.",
	.synopsis = "[options] [source]\n[options] program [ae.out]",
	.example = "wscap -o ls.ws ls; cachesim --d1 48k,12,64 ls.ws",
	.opt = cachesim_opts,
};

struct options {
	struct hier_params hier;
	struct refs_source source;
	struct refs_words words;
	uint64_t page, line, top;
	const char *given[HIER_N];      /* the values of options that describe caches */
	int json, split, functions, lines, geometry;
};

static uint64_t
cachesim_power(uint64_t min, uint64_t max)
{
	uint64_t v = opt_size(optarg, min, max);

	if (v & (v - 1))
		opt_wrong("not a power of 2");
	return v;
}

static void
cachesim_option(struct options *o, int c)
{
	struct cache_params *p = c >= LEVEL && c < LEVEL + HIER_N ? &o->hier.cache[c - LEVEL] : NULL;

	o->geometry |= (c >= L1 && c <= PAGE) || c == 'l';
	if (p && c < LEVEL + HIER_ITLB) {
		spec_cache(optarg, p);
		o->given[c - LEVEL] = optarg;
		o->split |= c < LEVEL + HIER_L2;
		if (!p->size && c < LEVEL + HIER_L2)
			opt_wrong("the first level cannot be left out");
		if (c == LEVEL + HIER_I1 && p->prefetch == CACHE_STRIDE)
			opt_wrong("only data are prefetched by stride");
		return;
	}
	switch (c) {
	case L1:
		spec_cache(optarg, &o->hier.cache[HIER_D1]);
		o->given[HIER_D1] = optarg;
		if (!o->hier.cache[HIER_D1].size)
			opt_wrong("the first level cannot be left out");
		o->hier.unified = 1;
		break;
	case 'l':
		o->line = cachesim_power(CACHE_LINE_MIN, CACHE_LINE_MAX);
		break;
	case PAGE:
		o->page = cachesim_power(CACHE_LINE_MAX, UINT64_C(1) << 30);
		break;
	case FUNCTIONS:
		o->functions = 1;
		break;
	case LINES:
		o->lines = 1;
		break;
	case TOP:
		if (num_u64(optarg, 1, UINT32_MAX, &o->top) != 0)
			opt_wrong("not a number of at least 1");
		break;
	case JSON:
		o->json = 1;
		break;
	default:
		if (!refs_option(c, &o->source, &o->words))
			spec_tlb(optarg, p);
	}
}

/* The first and second levels of a Skylake desktop processor, and a third of four cores. */
static void
cachesim_defaults(struct hier_params *p)
{
	p->cache[HIER_I1] = p->cache[HIER_D1] = (struct cache_params){ .size = 32 << 10, .ways = 8 };
	p->cache[HIER_L2] = (struct cache_params){ .size = 256 << 10, .ways = 4 };
	p->cache[HIER_L3] = (struct cache_params){ .size = 8 << 20, .ways = 16 };
}

/* The size of a line may come after the caches that need it; any suits those that are not given. */
static void
cachesim_lines(struct options *o)
{
	static const char *const name[] = { "i1", "d1", "l2", "l3" };
	const char *why;

	for (int i = 0; i < HIER_ITLB; i++)
		if ((why = spec_line(&o->hier.cache[i], o->line)) != NULL)
			die_usage("--%s %.200s: %s", i == HIER_D1 && o->hier.unified ? "l1" : name[i],
			    o->given[i] ? o->given[i] : "", why);
}

static void
cachesim_check(struct options *o)
{
	struct hier_params *p = &o->hier;

	if (p->unified && o->split)
		die_usage("--l1 is instead of --i1 and --d1");
	if (p->unified)
		p->cache[HIER_I1].size = 0;
	for (int i = HIER_ITLB; i < HIER_N; i++) {
		p->cache[i].line = o->page;
		p->cache[i].size *= o->page;
	}
	if (o->words.partial && hier_log_wrong(p))
		die_usage("--partial: %s", hier_log_wrong(p));
	if (p->cache[HIER_STLB].size && !p->cache[HIER_ITLB].size && !p->cache[HIER_DTLB].size)
		die_usage("--stlb comes after a TLB: --itlb, --dtlb or both");
}

static void
cachesim_check_partial(const struct options *o)
{
	if (o->words.partial && o->json)
		die_usage("--json comes with --merge, not with --partial");
	if (o->words.merge && o->geometry)
		die_usage("--merge comes without caches, which are in the partial results");
}

static int
cachesim_take(void *arg, const uint64_t *w, size_t n)
{
	hier_take(arg, w, n);
	return 0;
}

void
cachesim_miss(void *places, enum hier_cache where, uint64_t pc, unsigned size)
{
	places_at(places, pc, size)[where]++;
}

/* Says what has no names. */
static void
cachesim_complain(struct places *m, struct refs *s)
{
	const char *why;

	while (m && (why = places_complaint(m, s)) != NULL)
		warn("%s: %s", refs_path(s), why);
}

/* What was counted, for a person or as JSON; then the tables of places, if there are any. */
static void
cachesim_print(const struct options *o, struct out *out, const struct hier *h, struct places *m, struct refs *s)
{
	struct places_counts c;
	struct places_table t;
	struct buf b = BUF_INIT;
	struct json j;

	cachesim_counts(&c, &o->hier);
	if (o->json) {
		json_begin(&j, out);
		print_json(&j, h, &o->hier);
	} else {
		print_screen(out, h, &o->hier);
	}
	for (int lines = 0; lines < 2; lines++) {
		if (!(lines ? o->lines : o->functions))
			continue;
		places_table(m, s, &c, lines, o->top, &t);
		if (o->json)
			places_json(&j, &t);
		else
			places_text(&b, &t);
		places_table_free(&t);
	}
	if (o->json)
		json_end(&j);
	if (b.nomem)
		die("no memory");
	out_write(out, b.p, b.n);
	buf_free(&b);
}

static void
cachesim_merge(struct options *o, char **path)
{
	struct out *out = out_open(o->words.outname);
	struct places *m;
	struct hier *h = partial_merge(path, &o->hier, &m);

	if ((o->functions || o->lines) && !m)
		die("%s: has no functions and lines: --partial was without --functions and --lines", *path);
	cachesim_print(o, out, h, m, NULL);
	out_close(out);
	places_free(m);
	hier_free(h);
}

/* Where misses come from, if that is wanted */
static struct places *
cachesim_places(const struct options *o, struct hier *h)
{
	struct places *m;

	if (!h)
		die("no memory");
	if (!o->source.names)
		return NULL;
	m = places_new();
	hier_set_miss_fn(h, cachesim_miss, m);
	return m;
}

static void
cachesim_partial(struct options *o)
{
	struct refs *s = refs_open(&o->source);
	struct hier *h = hier_new(&o->hier);
	struct out *out = out_open(o->words.outname);
	struct places *m = cachesim_places(o, h);
	struct partial *p;
	struct fault f, *bad = NULL;

	p = partial_new(out, h, &o->hier, m, o->source.from);
	if (refs_run(s, cachesim_take, h, &f) == REFS_BAD) {
		bad = &f;
	} else {
		cachesim_complain(m, s);
		partial_end(p, h, s);
	}
	out_end(out, refs_path(s), bad, refs_warning(s));
	places_free(m);
	hier_free(h);
	refs_close(s);
}

static void
cachesim_run(struct options *o)
{
	struct refs *s = refs_open(&o->source);
	struct hier *h = hier_new(&o->hier);
	struct out *out = out_open(o->words.outname);
	struct places *m = cachesim_places(o, h);
	struct hier_totals t;
	struct fault f;
	int got;

	got = refs_run(s, cachesim_take, h, &f);
	hier_totals(h, &t);
	/* a source that could not be read at all has no result */
	if (got != REFS_BAD || t.fetches || t.loads || t.stores) {
		cachesim_complain(m, s);
		cachesim_print(o, out, h, m, s);
	}
	out_end(out, refs_path(s), got == REFS_BAD ? &f : NULL, refs_warning(s));
	refs_close(s);
	places_free(m);
	hier_free(h);
}

int
main(int argc, char **argv)
{
	struct options o = { .source.to = REFS_END, .page = 4096, .line = 64, .top = 20 };
	const char *wrong;
	int c;

	diag_init(argv[0], 1);
	cachesim_defaults(&o.hier);
	while ((c = opt_next(&cachesim_tool, argc, argv)) != -1)
		cachesim_option(&o, c);
	if ((wrong = refs_operands(&o.source, &o.words, argc, argv)) != NULL)
		die_usage("%s", wrong);
	cachesim_check_partial(&o);
	cachesim_lines(&o);
	cachesim_check(&o);
	if (o.words.merge) {
		cachesim_merge(&o, argv + optind);
		return 0;
	}
	o.source.names = o.functions || o.lines;
	refs_begin(&o.source);
	(o.words.partial ? cachesim_partial : cachesim_run)(&o);
	return 0;
}
