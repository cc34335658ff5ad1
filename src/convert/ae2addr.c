/* ae2addr: turn the events of a run into a reference stream or text. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ae/regen/msg.h"
#include "ae/regen/regen.h"
#include "base/diag.h"
#include "base/num.h"
#include "base/opt.h"
#include "base/out.h"
#include "base/progress.h"
#include "base/src.h"
#include "format/ae/exe.h"
#include "format/ref/ref.h"

static const struct opt ae2addr_opts[] = {
	OPT_FORMAT,
	OPT_NOINST,
	OPT_NOLOOPS,
	OPT_QUIET_LIMIT,
	OPT_OUTPUT,
	OPT_PARENT,
	{ 's', "statistics", NULL, "print counts and what the event file consists of, not references" },
	{ 0 },
};

static const struct opt_tool ae2addr_tool = {
	.does = "Recomputes the references of a program compiled by aecc from the events of its run.",
	.synopsis = "[-ils] [-f format] [-m number] [-o file] [-p file] program [ae.out]",
	.example = "aecc -O2 prog.c -o prog; ./prog; ae2addr -f text prog ae.out | head",
	.opt = ae2addr_opts,
};

struct sink {
	struct out *out;
	enum ref_format fmt;
	unsigned drop;                  /* kinds of references to leave out */
	int count;                      /* print statistics instead of references */
	int begun;                      /* the header has been written */
	uint64_t n[REF_NKINDS];
	uint64_t keep[AE_BATCH];
};

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

	for (size_t i = 0; i < n; i++)
		s->n[ref_kind(w[i])]++;
	return 0;
}

static void
ae2addr_line(struct sink *s, const char *name, uint64_t n)
{
	out_printf(s->out, "%s %llu\n", name, (unsigned long long)n);
}

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
	for (int i = 0; i < RK_NKINDS; i++)
		sum += bytes[i];
	ae2addr_line(s, "event-bytes", sum);
	for (int i = 0; i < RK_NKINDS; i++)
		ae2addr_line(s, name[i], bytes[i]);
}

static void
ae2addr_load(struct prog *g, struct exe *x, const char *path)
{
	if (exe_open(x, path) != 0 || exe_need_schema(x) != 0)
		die("%s: %s", src_name(path), x->err);
	if (prog_load_exe(g, x) != 0)
		die_at(src_name(path), x->schema_off + g->erroff, DIAG_NOREC, "bad schema: %s", g->err);
}

/* Regenerates the references.  A fault is reported after the references before it were written. */
static void
ae2addr_run(struct exe *x, const struct prog *g, struct sink *s, const char *events, const char *parent,
    uint64_t most)
{
	struct feed f;
	const char *err;
	struct regen *r = regen_new(g, s->count, &err);
	int bad;

	if (!r)
		die("%s", err);
	bad = feed_open(&f, regen_state(r), events, parent, x->machine, x->id, x->idlen);
	f.sink = s->count ? ae2addr_tally : ae2addr_take;
	f.sinkarg = s;
	f.quietmax = most;
	if (!bad) {
		bad = regen_run(r, &f);
		if (s->count)
			ae2addr_statistics(s, regen_counts(r));
	}
	if (bad != -1)
		ae2addr_begin(s);
	if (bad == -1)
		out_discard(s->out);
	else
		out_close(s->out);
	if (bad && f.errname)
		die_at(f.errname, f.erroff, DIAG_NOREC, "%s", f.err);
	else if (bad)
		die("%s", f.err);
	if (f.fatal)
		warn("%s: " msg_fatal, src_name(events), (unsigned)f.fatal);
	feed_close(&f);
	regen_free(r);
}

int
main(int argc, char **argv)
{
	struct sink s = {.fmt = REF_ADDR};
	const char *outname = NULL, *parent = NULL;
	struct exe x;
	struct prog g;
	uint64_t most = FEED_QUIET;
	int c, fmt;

	diag_init(argv[0], 1);
	while ((c = opt_next(&ae2addr_tool, argc, argv)) != -1) {
		switch (c) {
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
			if (num_size(optarg, 1, UINT64_MAX, &most) != 0)
				opt_wrong(OPT_BAD_SIZE);
			break;
		case 'o':
			outname = optarg;
			break;
		case 'p':
			parent = optarg;
			break;
		case 's':
			s.count = 1;
			break;
		}
	}
	opt_operands(argc, argv, 1, 2);
	ae2addr_load(&g, &x, argv[optind]);
	s.out = out_open(outname);
	if (s.fmt == REF_ADDR && !s.count)
		out_binary(s.out, "a reference stream");
	progress_start(src_name(argv[optind + 1]));
	ae2addr_run(&x, &g, &s, argv[optind + 1], parent, most);
	prog_free(&g);
	exe_close(&x);
	return 0;
}
