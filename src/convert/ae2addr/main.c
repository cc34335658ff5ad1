/* ae2addr: turn the events of a run into a reference stream or text. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ae/pack/pack.h"
#include "ae/regen/libs.h"
#include "ae/regen/msg.h"
#include "base/diag.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/opt.h"
#include "base/progress.h"
#include "base/src.h"
#include "convert/ae2addr/ae2addr.h"
#include "format/ae/symbol.h"
#include "format/ref/ref.h"

/* the options that have only long names */
enum { SITES = 256, TASK, MERGE };

static const struct opt ae2addr_opts[] = {
	{ 'c', "count", NULL, "print counts and what the event file consists of, not references" },
	OPT_FORMAT,
	OPT_NOINST,
	OPT_NOLOOPS,
	{ MERGE, "merge", NULL, "all threads together, in an order in which they can have run" },
	OPT_QUIET_LIMIT,
	OPT_RANGE,
	OPT_OUTPUT,
	OPT_PARENT,
	{ SITES, "sites", NULL, "print where the bytes of the event file were recorded, not references" },
	OPT_SYMBOL,
	{ TASK, "task", "N", "only thread N" },
	{ 0 },
};

static const struct opt_tool ae2addr_tool = {
	.does = "Recomputes the references of a program compiled by aecc from the events of its run.",
	.synopsis = "[-cil] [-f format] [-m number] [-n from:to | -s symbol] [-o file] [-p file]\n"
	    "[--merge | --task number] program [ae.out]\n"
	    "--sites [-m number] [-o file] [-p file] [--task number] program [ae.out]",
	.example = "aecc -O2 prog.c -o prog; ./prog; ae2addr -f text prog ae.out | head",
	.opt = ae2addr_opts,
};

struct sink {
	struct out *out;
	enum ref_format fmt;
	unsigned drop;                  /* kinds of references to leave out */
	int count;                      /* print statistics instead of references */
	int sites;                      /* ... a table of places */
	uint64_t from, to, at;          /* instructions wanted; the number of the next one */
	int begun;                      /* the header has been written */
	uint64_t n[REF_NKINDS];
	uint64_t mark;                  /* a task event before the next references of a part, or 0 */
	uint64_t keep[AE_BATCH];
};

/* What ae2addr_part returns after the last reference that is wanted. */
enum { ENOUGH = 1 };

/* Writes the header with the first references: the events may be missing or belong to another program. */
static void
ae2addr_begin(struct sink *s)
{
	if (!s->begun && !s->count && s->fmt == REF_ADDR) {
		ref_put_header(out_reserve(s->out, REF_HEADER));
		out_commit(s->out, REF_HEADER);
	}
	s->begun = 1;
}

static int
ae2addr_take(void *arg, const uint64_t *w, size_t n)
{
	struct sink *s = arg;

	ae2addr_begin(s);
	if (s->drop) {
		n = ref_without(s->keep, w, n, s->drop);
		w = s->keep;
	}
	while (n) {
		size_t k = n < OUT_ROOM / REF_PUT_MAX ? n : OUT_ROOM / REF_PUT_MAX;

		out_commit(s->out, ref_put(s->fmt, out_reserve(s->out, k * REF_PUT_MAX), w, k));
		w += k;
		n -= k;
	}
	return 0;
}

static int
ae2addr_tally(void *arg, const uint64_t *w, size_t n)
{
	struct sink *s = arg;

	ref_count(s->n, w, n);
	return 0;
}

static int
ae2addr_none(void *arg, const uint64_t *w, size_t n)
{
	(void)arg;
	(void)w;
	(void)n;
	return 0;
}

static int
ae2addr_give(struct sink *s, const uint64_t *w, size_t n)
{
	uint64_t mark = s->mark;

	s->mark = 0;
	if (mark)
		ae2addr_give(s, &mark, 1);
	return s->count ? ae2addr_tally(s, w, n) : ae2addr_take(s, w, n);
}

/* Passes on the references of the instructions from `from` up to before `to`. */
static int
ae2addr_part(void *arg, const uint64_t *w, size_t n)
{
	struct sink *s = arg;
	size_t first = 0, i;

	if (n == 1 && ref_kind(*w) == REF_TASK) {
		s->mark = *w;
		return 0;
	}
	/* s->at - 1 is the instruction that references now belong to */
	for (i = 0; i < n; i++) {
		if (ref_kind(w[i]) != REF_INST)
			continue;
		if (s->at == s->to) {
			if (i > first && s->at > s->from)
				ae2addr_give(s, w + first, i - first);
			return ENOUGH;
		}
		if (s->at++ == s->from)
			first = i;
	}
	if (s->at > s->from && n > first)
		ae2addr_give(s, w + first, n - first);
	return 0;
}

static void
ae2addr_line(struct sink *s, const char *name, uint64_t n)
{
	out_printf(s->out, "%s %llu\n", name, (unsigned long long)n);
}

/* bytes: of events by kind; NULL for a part of the trace, which may need more of them than its own */
static void
ae2addr_statistics(struct sink *s, const uint64_t *bytes)
{
	static const char *const name[] = {
		[RK_BRANCH] = "branches", [RK_BLOCK] = "block-numbers", [RK_VALUE] = "values",
		[RK_NEED] = "entry-values", [RK_ITEM] = "run-items", [RK_STRING] = "string-counts",
	};
	uint64_t sum = 0;

	ae2addr_line(s, "instructions", s->n[REF_INST]);
	ae2addr_line(s, "loads", s->n[REF_LOAD]);
	ae2addr_line(s, "stores", s->n[REF_STORE]);
	ae2addr_line(s, "modifies", s->n[REF_MODIFY]);
	ae2addr_line(s, "loop-events", s->n[REF_ENTER] + s->n[REF_BACK] + s->n[REF_EXIT]);
	if (!bytes)
		return;
	for (int i = 0; i < RK_NKINDS; i++)
		sum += bytes[i];
	ae2addr_line(s, "event-bytes", sum);
	for (int i = 0; i < RK_NKINDS; i++)
		ae2addr_line(s, name[i], bytes[i]);
}

struct asked {
	const char *program, *events, *parent, *symbol;
	uint8_t *watch;                 /* for each function: is it called `symbol`? */
	int watched;                    /* one is */
	int part;                       /* a part of the trace only */
	int merge;                      /* the threads together */
	uint64_t most, task;
	struct out *list;               /* where streams of handlers are listed, or NULL */
	struct regen *r;
	struct libs libs;
};

/* The functions of g from `first` on, which are those of x. */
static void
ae2addr_watch(struct asked *a, const struct prog *g, const struct exe *x, uint32_t first, uint64_t base)
{
	a->watch = xreallocarray(a->watch, g->nfunc + 1u, 1);
	memset(a->watch + first, 0, g->nfunc + 1u - first);
	for (size_t i = 0; i < x->nsym; i++) {
		if (!symbol_is(x->sym[i].name, a->symbol))
			continue;
		for (uint32_t k = first; k < g->nfunc; k++)
			if (g->func[k].entry == x->sym[i].addr + base)
				a->watched = a->watch[k] = 1;
	}
}

static int
ae2addr_library(void *arg, struct prog *g, const struct ev_module *m, const char **err)
{
	struct asked *a = arg;
	uint32_t first = g->nfunc;

	if (libs_add(&a->libs, g, m, err) != 0)
		return -1;
	if (a->symbol) {
		ae2addr_watch(a, g, &a->libs.lib[a->libs.n - 1]->exe, first, m->base);
		regen_watch(a->r, a->watch);
	}
	return 0;
}

static void
ae2addr_load(struct prog *g, struct exe *x, const char *path)
{
	if (exe_open(x, path) != 0 || exe_need_schema(x) != 0)
		die("%s: %s", src_name(path), x->err);
	if (prog_load_exe(g, x) != 0)
		die_at(src_name(path), x->schema_off + g->erroff, DIAG_NOREC, "bad schema: %s", g->err);
}

/* The references of one thread: a watched function is not searched in others once it was called */
static int
ae2addr_task(void *arg, struct feed *f)
{
	const struct asked *a = arg;
	uint32_t task, of = feed_interrupts(f, &task);
	int status;

	if (a->list && of)
		out_printf(a->list, "handlers %u %u\n", (unsigned)task, (unsigned)of);
	status = regen_run(a->r, f);
	return status == 0 && a->watch && regen_called(a->r) ? ENOUGH : status;
}

/* Regenerates the references.  A fault is reported after the references before it were written. */
static void
ae2addr_run(struct exe *x, struct prog *g, struct sink *s, struct asked *a)
{
	const char *events = a->events;
	struct feed f;
	const char *err;
	struct regen *r = regen_new(g, s->count && !a->part, a->watch, &err);
	const struct feed_job job = {
		.file = events, .parent = a->parent, .machine = x->machine, .id = x->id, .idlen = x->idlen,
		.moves = x->moves, .unpack = &unpack_how, .prog = x, .task = (uint32_t)a->task,
		.sink = a->part ? ae2addr_part : s->sites ? ae2addr_none : s->count ? ae2addr_tally : ae2addr_take,
		.sinkarg = s, .quietmax = a->most, .run = ae2addr_task, .arg = a
	};
	char note[FEED_NOTE];
	int bad, never = 0;

	if (!r)
		die("%s", err);
	a->r = r;
	a->list = s->count && !s->sites ? s->out : NULL;
	regen_libraries(r, ae2addr_library, a);
	bad = a->merge ? regen_merge(r, &f, &job) : feed_tasks(&f, regen_state(r), &job);
	if (f.begun) {
		if (bad == ENOUGH)
			bad = 0;
		if (s->sites)
			sites_print(s->out, r, x, g->loaded, &a->libs, feed_bytes(&f));
		else if (s->count && g->moves)
			out_printf(s->out, "load-address 0x%llx\n", (unsigned long long)g->loaded);
		for (size_t i = 0; s->count && !s->sites && i < a->libs.n; i++)
			out_printf(s->out, "library 0x%llx %s\n", (unsigned long long)a->libs.lib[i]->base,
			    a->libs.lib[i]->path);
		if (s->count && !s->sites)
			ae2addr_statistics(s, a->part ? NULL : regen_counts(r));
		never = a->symbol && !regen_called(r);
	}
	if (bad != -1)
		ae2addr_begin(s);
	if (bad == -1 || never)
		out_discard(s->out);
	else
		out_close(s->out);
	if (bad && f.errname)
		die_at(f.errname, f.erroff, DIAG_NOREC, "%s", f.err);
	else if (bad)
		die("%s", f.err);
	if (never && !a->watched)
		die("%s: no traced function %s", src_name(a->program), a->symbol);
	if (never)
		die("%s: %s is never called", src_name(events), a->symbol);
	if (feed_note(&f, note))
		warn("%s: %s", src_name(events), note);
	feed_close(&f);
	regen_free(r);
}

int
main(int argc, char **argv)
{
	struct sink s = {.fmt = REF_ADDR, .to = UINT64_MAX};
	struct asked a = {.most = FEED_QUIET};
	const char *outname = NULL;
	struct exe x;
	struct prog g;
	int c, fmt;

	diag_init(argv[0], 1);
	while ((c = opt_next(&ae2addr_tool, argc, argv)) != -1) {
		switch (c) {
		case 'c':
			s.count = 1;
			break;
		case 'f':
			fmt = ref_format(optarg);
			if (fmt < 0)
				opt_wrong(OPT_BAD_FORMAT);
			s.fmt = (enum ref_format)fmt;
			break;
		case 'i':
			s.drop |= 1u << REF_INST;
			break;
		case 'l':
			s.drop |= 1u << REF_ENTER | 1u << REF_BACK | 1u << REF_EXIT;
			break;
		case 'm':
			if (num_size(optarg, 1, UINT64_MAX, &a.most) != 0)
				opt_wrong(OPT_BAD_SIZE);
			break;
		case 'n':
			if (num_range(optarg, UINT64_MAX, &s.from, &s.to) != 0)
				opt_wrong(OPT_BAD_RANGE);
			break;
		case 'o':
			outname = optarg;
			break;
		case 'p':
			a.parent = optarg;
			break;
		case SITES:
			s.sites = s.count = 1;
			break;
		case 's':
			a.symbol = optarg;
			break;
		case MERGE:
			a.merge = 1;
			break;
		case TASK:
			if (num_u64(optarg, 1, UINT32_MAX, &a.task) != 0)
				opt_wrong("not the number of a thread");
			break;
		}
	}
	opt_operands(argc, argv, 1, 2);
	a.part = s.from != 0 || s.to != UINT64_MAX;
	if (a.part && a.symbol)
		die_usage("only one of -n and -s can be given");
	a.part |= a.symbol != NULL;
	if (a.part && s.sites)
		die_usage("--sites is of a whole trace, not of -n or -s");
	if (a.merge && (s.count || a.symbol || a.task))
		die_usage("--merge is of the references of all threads, not with -c, -s, --sites or --task");
	a.program = argv[optind];
	a.events = argv[optind + 1];
	ae2addr_load(&g, &x, argv[optind]);
	if (a.symbol)
		ae2addr_watch(&a, &g, &x, 0, 0);
	s.out = out_open(outname);
	if (s.fmt == REF_ADDR && !s.count)
		out_binary(s.out, "a reference stream");
	progress_start(src_name(a.events));
	ae2addr_run(&x, &g, &s, &a);
	free(a.watch);
	prog_free(&g);
	libs_free(&a.libs);
	exe_close(&x);
	return 0;
}
