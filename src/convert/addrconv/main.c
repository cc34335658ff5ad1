/* addrconv: convert traces of memory references from and to the formats of other tools. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/num.h"
#include "base/opt.h"
#include "convert/addrconv/addrconv.h"

enum { ADDRESS = 256, CODE, KINDS, MISSES, SAMPLE, TASK, SIZE, LINE, INTERVAL };

static const struct opt addrconv_opts[] = {
	REFS_OPT_EXECUTABLE("functions"),
	{ 'f', "format", "FORMAT", "write this format (addr, a reference stream); --list names all" },
	{ 'F', "from", "FORMAT", "read this format, instead of recognizing it by the content" },
	{ 'l', "list", NULL, "print the formats, what they need, and what they cannot express" },
	OPT_NOINST,
	OPT_RANGE,
	OPT_OUTPUT,
	{ 's', "symbol", "NAME", "only instructions of the function NAME, with their data; up to 16 times" },
	{ KINDS, "kinds", "KIND,...", "only inst, load, store, modify, loop or task" },
	{ ADDRESS, "address", "FROM:TO", "only data in this range of addresses; up to 16 times" },
	{ CODE, "code", "FROM:TO", "only instructions in this range, with their data; up to 16 times" },
	{ SAMPLE, "sample", "M/N", "only the first M of each N instructions, with their data" },
	{ TASK, "task", "N", "only thread N of a capture, or task N of another trace" },
	{ MISSES, "misses", "SIZE,WAYS[,LINE]", "only data that miss in this LRU cache" },
	{ SIZE, "size", "BYTES", "size of references of formats without sizes (4)" },
	{ LINE, "line", "BYTES", "size of a cache line, for libcachesim and oracle (64)" },
	{ INTERVAL, "interval", "N", "instructions of a basic-block vector (100000000)" },
	{ 0 },
};

static const struct opt_tool addrconv_tool = {
	.does = "Converts traces of memory references from and to the formats of other tools.",
	.synopsis = "[options] [source]\n[options] program [ae.out]",
	.example = "wscap -o ls.ws ls; addrconv -f csv ls.ws | head",
	.opt = addrconv_opts,
};

static void
addrconv_kinds(struct filter *f, const char *s)
{
	static const struct { const char *name; unsigned set; } kind[] = {
		{ "inst", 1u << REF_INST }, { "load", 1u << REF_LOAD }, { "store", 1u << REF_STORE },
		{ "modify", 1u << REF_MODIFY }, { "loop", 1u << REF_ENTER | 1u << REF_BACK | 1u << REF_EXIT },
		{ "task", 1u << REF_TASK },
	};
	const unsigned nkind = sizeof kind / sizeof *kind;
	unsigned keep = 0;

	for (;; s++) {
		size_t n = strcspn(s, ","), i;

		for (i = 0; i < nkind && (strlen(kind[i].name) != n || memcmp(kind[i].name, s, n) != 0); i++)
			;
		if (i == nkind)
			opt_wrong("not a list of kinds; there are inst, load, store, modify, loop and task");
		keep |= kind[i].set;
		s += n;
		if (!*s)
			break;
	}
	f->drop |= ~keep;
}

/* A hexadecimal number, with or without 0x, if there is one; what follows it */
static const char *
addrconv_hex(const char *s, uint64_t *v)
{
	s += strncmp(s, "0x", 2) == 0 ? 2 : 0;
	return s + num_hex(s, strlen(s), v);
}

static void
addrconv_range(struct ranges *a, const char *s)
{
	struct range r = { 0, UINT64_MAX };
	const char *colon = addrconv_hex(s, &r.from);

	if (*colon != ':' || !s[1] || *addrconv_hex(colon + 1, &r.to) || r.from >= r.to)
		opt_wrong("not a range FROM:TO of hexadecimal addresses, of which one may be left out, with FROM before TO");
	if (a->n == RANGES_MAX)
		opt_wrong("more than %d ranges", RANGES_MAX);
	a->r[a->n++] = r;
}

/*
 * Numbers with suffixes, between which are separators: the number of those that are there and good, up to the
 * end of s; 0: one is not.
 */
static int
addrconv_numbers(const char *s, char separator, uint64_t *v, int most)
{
	const char set[] = { separator, '\0' };
	char part[32];

	for (int i = 0; i < most; i++) {
		size_t n = strcspn(s, set);

		if (n >= sizeof part)
			return 0;
		memcpy(part, s, n);
		part[n] = '\0';
		if (num_size(part, 1, UINT64_MAX, &v[i]) != 0)
			return 0;
		s += n;
		if (!*s++)
			return i + 1;
	}
	return 0;
}

static void
addrconv_sample(struct filter *f, const char *s)
{
	uint64_t v[2];

	if (addrconv_numbers(s, '/', v, 2) != 2 || v[0] > v[1])
		opt_wrong("not M/N, two numbers of instructions, M from 1 to N");
	f->window = v[0];
	f->every = v[1];
}

static void
addrconv_missed(void *arg, enum hier_cache where, uint64_t pc, unsigned size)
{
	struct filter *f = arg;

	(void)where, (void)pc, (void)size;
	f->missed = 1;
}

static void
addrconv_misses(struct filter *f, const char *s)
{
	struct hier_params p = { .unified = 0 };
	uint64_t v[3] = { 0, 0, 64 };
	const char *why;

	if (addrconv_numbers(s, ',', v, 3) < 2)
		opt_wrong("not SIZE,WAYS or SIZE,WAYS,LINE");
	p.cache[HIER_D1] = (struct cache_params){ .size = v[0], .ways = v[1], .line = v[2] };
	if ((why = cache_params_wrong(&p.cache[HIER_D1], 0)) != NULL)
		opt_wrong("%s", why);
	hier_free(f->cache);
	f->cache = hier_new(&p);
	if (!f->cache)
		die("no memory");
	hier_set_miss_fn(f->cache, addrconv_missed, f);
}

static void
addrconv_function(struct functions *a, const char *name)
{
	if (!*name)
		opt_wrong("not the name of a function");
	if (a->n == RANGES_MAX)
		opt_wrong("more than %d functions", RANGES_MAX);
	a->name[a->n++] = name;
}

static void
addrconv_filter(struct filter *f, int o)
{
	switch (o) {
	case 'i':
		f->drop |= 1u << REF_INST;
		break;
	case 's':
		addrconv_function(&f->functions, optarg);
		break;
	case KINDS:
		addrconv_kinds(f, optarg);
		break;
	case ADDRESS:
		addrconv_range(&f->data, optarg);
		break;
	case CODE:
		addrconv_range(&f->code, optarg);
		break;
	case SAMPLE:
		addrconv_sample(f, optarg);
		break;
	case TASK:
		if (num_u64(optarg, 0, (UINT64_C(1) << 47) - 1, &f->task) != 0)
			opt_wrong("not the number of a task");
		break;
	case MISSES:
		addrconv_misses(f, optarg);
		break;
	}
}

static void
addrconv_from(struct conv *c)
{
	int from = trace_format(optarg);

	if (from < 0 || !trace_info[from].reads)
		opt_wrong("not a format that is read; --list prints them");
	c->source.format = (enum trace_format)from;
}

static void
addrconv_option(struct conv *c, int o)
{
	uint64_t v;

	switch (o) {
	case 'f':
		c->to = conv_find(optarg);
		if (!c->to)
			opt_wrong("not a format that is written; --list prints them");
		break;
	case 'F':
		addrconv_from(c);
		break;
	case 'l':
		conv_list();
		exit(0);
	case SIZE:
		if (num_u64(optarg, 1, REF_SIZEMAX, &v) != 0)
			opt_wrong("not a size from 1 to %u", REF_SIZEMAX);
		c->source.size = (unsigned)v;
		break;
	case LINE:
		c->writer.line = opt_size(optarg, TRACE_LINE_MIN, 1u << 20);
		break;
	case INTERVAL:
		if (num_u64(optarg, 1, UINT32_MAX, &c->interval) != 0)
			opt_wrong("not a number from 1 to %u", UINT32_MAX);
		break;
	default:
		if (refs_option(o, &c->source, &c->words))
			break;
		c->filters = 1;
		addrconv_filter(&c->filter, o);
	}
}

static int
addrconv_take(void *arg, const uint64_t *w, size_t n)
{
	static uint64_t kept[1 << 13];
	const size_t most = sizeof kept / sizeof *kept;
	struct conv *c = arg;
	size_t k;

	if (!c->filters) {
		sink_put(c, w, n);
		return 0;
	}
	if (c->filter.functions.n && !refs_named(c->filter.functions.refs))
		return 1;
	for (; n; w += k, n -= k) {
		k = n < most ? n : most;
		sink_put(c, kept, filter_words(&c->filter, kept, w, k));
	}
	return 0;
}

/* Ends if no task of the number came; of a part of a run, that is only worth a warning. */
static void
task_check(const struct conv *c, const char *path)
{
	const struct filter *f = &c->filter;

	if (f->task == UINT64_MAX || f->met)
		return;
	if (c->source.from || c->source.to != REFS_END) {
		warn("%s: nothing of task %" PRIu64 " in this part", path, f->task);
		return;
	}
	out_discard(c->out);
	if (f->tasks)
		die("%s: no task %" PRIu64, path, f->task);
	die("%s: no task events, as there is one thread only: leave --task out", path);
}

static void
addrconv_run(struct conv *c)
{
	struct refs *s = refs_open(&c->source);
	struct fault f;
	int got;

	c->filter.functions.refs = s;
	got = refs_run(s, addrconv_take, c, &f);
	if (got != REFS_BAD)
		functions_check(&c->filter.functions, c->out, c->source.to != REFS_END);
	if (got != REFS_BAD)
		task_check(c, refs_path(s));
	sink_end(c, got == REFS_BAD);
	out_end(c->out, refs_path(s), got == REFS_BAD ? &f : NULL, refs_warning(s));
	refs_close(s);
}

/* In formats with time or with the instruction of an access, fetches count even if they are not written. */
static void
addrconv_time(struct conv *c)
{
	static const unsigned timed = 1u << TRACE_PINATRACE | 1u << TRACE_DRAMSIM3 | 1u << TRACE_GEM5 |
	    1u << TRACE_CACHESIM | 1u << TRACE_ORACLE | 1u << TRACE_DRMEMREFS;

	if (timed >> c->to->trace & 1 && c->filter.drop & 1u << REF_INST) {
		c->writer.nofetch = 1;
		c->filter.drop &= ~(1u << REF_INST);
	}
}

int
main(int argc, char **argv)
{
	struct conv c = { .source.to = REFS_END, .writer.line = 64, .filter = { .task = UINT64_MAX } };
	const char *wrong;
	int o;

	diag_init(argv[0], 1);
	c.to = conv_find("addr");
	while ((o = opt_next(&addrconv_tool, argc, argv)) != -1)
		addrconv_option(&c, o);
	if ((wrong = refs_operands(&c.source, &c.words, argc, argv)) != NULL)
		die_usage("%s", wrong);
	/* what comes before the first fetch, or before the first task, belongs to none */
	c.filter.mine = c.filter.task == UINT64_MAX;
	c.filter.here = !c.filter.code.n && !c.filter.functions.n;
	c.source.names = c.filter.functions.n != 0;
	addrconv_time(&c);
	refs_begin(&c.source);
	sink_open(&c);
	if (c.to->run)
		c.to->run(&c);
	else
		addrconv_run(&c);
	hier_free(c.filter.cache);
	free(c.filter.functions.known);
	return 0;
}
