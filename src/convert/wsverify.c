/*
 * wsverify: check the replay of a capture against the processor
 *
 * replay/verify does the work; this file selects the parts of the run to check, and reports.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/opt.h"
#include "base/out.h"
#include "base/progress.h"
#include "base/src.h"
#include "format/ws/runs.h"
#include "replay/verify/verify.h"

#define SHORT    200000u        /* a run of at most this many instructions is checked as a whole */
#define WINDOW   10000u         /* consecutive instructions that are checked */
#define WINDOWS  16u            /* number of windows by default */

static const struct opt wsverify_opts[] = {
	{ 'a', "all", NULL, "check every instruction" },
	{ 'e', "every", "N", "begin a window every N instructions, and check it to its end" },
	{ 'l', "length", "N", "instructions in a window of -e (10000)" },
	OPT_RANGE,
	{ 'v', "verbose", NULL, "name the windows; say what was compared" },
	{ 'x', "vectors", NULL, "compare vector and x87 registers after each instruction" },
	{ 0 },
};

static const struct opt_tool wsverify_tool = {
	.does = "Replays a capture and compares it with the processor, instruction by instruction.",
	.synopsis = "[-avx] [-e instructions] [-l instructions] [-n from:to] [capture]",
	.example = "wscap -o ls.ws ls; wsverify ls.ws",
	.opt = wsverify_opts,
};

struct options {
	const char *path, *name;
	uint64_t from, to;              /* part of the run */
	uint64_t every, length;         /* distance of the windows' starts; 0: a single window */
	int verbose;
};

static void
wsverify_where(struct replay *r, uint64_t pc, char *buf, size_t size)
{
	const struct ws_rec_map *m;
	const char *base;

	buf[0] = '\0';
	for (size_t i = 0; (m = replay_map(r, i)) != NULL; i++) {
		if (pc < m->addr || pc - m->addr >= m->len || !m->name || !m->name[0])
			continue;
		base = strrchr(m->name, '/');
		snprintf(buf, size, " (%s+0x%" PRIx64 ")", base ? base + 1 : m->name,
		    pc - m->addr + m->offset);
	}
}

static void
wsverify_report(struct out *out, struct verify *v)
{
	const struct verify_diff *d = verify_diff(v);
	char at[300];

	wsverify_where(verify_replay(v), d->pc, at, sizeof(at));
	out_printf(out, "instruction %" PRIu64 ", 0x%" PRIx64 "%s: %s\n", d->icount, d->pc, at, d->what);
}

/* Checks one window after the other; 1: a difference. */
static int
wsverify_windows(struct out *out, struct verify *v, const struct options *o, unsigned *n)
{
	uint64_t from = o->from, to, at;

	while (from < o->to && !verify_ended(v)) {
		uint64_t last = o->every && o->to - from > o->length ? from + o->length : o->to;

		to = last;
		switch (verify_window(v, from, to, &at)) {
		case VERIFY_BAD:
			die_at(o->name, verify_place(v)->off, verify_place(v)->rec,
			    "%s (checked: %" PRIu64 " instructions, without a difference)",
			    verify_err(v), verify_counts(v)->ninst);
		case VERIFY_DIFFERS:
			wsverify_report(out, v);
			return 1;
		default:
			break;
		}
		if (at > from) {
			++*n;
			if (o->verbose)
				out_printf(out, "instructions %" PRIu64 " to %" PRIu64 "\n", from, at - 1);
		}
		if (!o->every)
			break;
		from = o->to - from > o->every ? from + o->every : o->to;
	}
	return 0;
}

/* Which parts are checked.  Only the windows by default need the length of the run, which may cost a replay. */
static void
wsverify_plan(struct options *o, struct verify *v, int all)
{
	uint64_t length;

	if (o->every) {
		if (o->length > o->every)
			o->length = o->every;
		return;
	}
	if (all || o->from || o->to != WS_UNKNOWN)
		return;
	length = verify_length(v);
	if (length == WS_UNKNOWN || length <= SHORT)
		return;
	o->to = length;
	o->every = length / WINDOWS + 1;
	o->length = o->every < WINDOW ? o->every : WINDOW;
}

/* Two readers need the file at once, so it must be seekable; verify_open() does not reject a folder. */
static void
wsverify_seekable(const struct options *o)
{
	struct stat st;

	if ((src_is_stdin(o->path) ? fstat(0, &st) : stat(o->path, &st)) == 0 && !S_ISREG(st.st_mode) &&
	    !S_ISDIR(st.st_mode))
		die("%s: not a regular file, which is read at several places at once", o->name);
}

static int
wsverify_run(struct options *o, const struct verify_opts *vo, int all)
{
	struct fault f;
	struct verify *v;
	const struct verify_counts *c;
	const struct ws_early *early;
	char text[WS_EARLY_TEXT];
	struct out *out;
	unsigned n = 0;
	int differs;

	wsverify_seekable(o);
	v = verify_open(o->path, vo, &f);
	if (!v)
		die_fault(o->name, &f);
	out = out_open(NULL);
	progress_start(o->name);
	progress_limit(o->to);
	wsverify_plan(o, v, all);
	differs = wsverify_windows(out, v, o, &n);
	c = verify_counts(v);
	out_printf(out, "%" PRIu64 " instructions, %" PRIu64 " references checked", c->ninst, c->nref);
	if (o->every)
		out_printf(out, " in %u windows", n);
	out_printf(out, ", %s\n", differs ? "1 difference" : "0 differences");
	if (o->verbose)
		out_printf(out,
		    "references of kind and size only: %" PRIu64 "; comparisons of vector registers: %" PRIu64
		    ", of pages: %" PRIu64 "\n",
		    c->nloose, c->nvector, c->npages);
	/* a run without instructions is checked to its end, too */
	if (!c->ninst && !differs && (o->from || !verify_ended(v)))
		die("%s: no instruction was checked", o->name);
	out_close(out);
	early = replay_early(verify_replay(v));
	if (early)
		warn("%s: %s", o->name, ws_early_text(early, text));
	verify_close(v);
	return differs;
}

/* Checks a run in a process of its own, as this confines it.  Its status. */
static int
wsverify_fork(struct options *o, const struct verify_opts *vo, int all)
{
	int status;
	pid_t pid = fork();

	if (pid == 0)
		exit(wsverify_run(o, vo, all));
	if (pid < 0)
		die_sys("cannot start a job");
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			die_sys("cannot wait for a job");
	return WIFEXITED(status) ? WEXITSTATUS(status) : 2;
}

/* All runs of the capture, unless one is named: the highest status. */
static int
wsverify_runs(const struct options *o, const struct verify_opts *vo, int all)
{
	size_t n = ws_runs_of_path(o->path);
	struct options one = *o;
	int worst = 0, e;

	one.name = src_name(o->path);
	if (!n)
		return wsverify_run(&one, vo, all);
	for (size_t i = 1; i <= n; i++) {
		one = *o;
		one.name = one.path = xasprintf("%s:%zu", src_is_stdin(o->path) ? "-" : o->path, i);
		printf("run %zu: ", i);
		fflush(stdout);
		e = wsverify_fork(&one, vo, all);
		worst = e > worst ? e : worst;
		free((char *)(uintptr_t)one.path);
	}
	return worst;
}

static void
wsverify_number(uint64_t *v)
{
	if (num_u64(optarg, 1, WS_UNKNOWN - 1, v) != 0)
		opt_wrong("not a number of instructions");
}

int
main(int argc, char **argv)
{
	struct options o = {.to = WS_UNKNOWN, .length = WINDOW};
	struct verify_opts vo = {0};
	int c, all = 0;

	diag_init(argv[0], 2);
	while ((c = opt_next(&wsverify_tool, argc, argv)) != -1)
		switch (c) {
		case 'a': all = 1; break;
		case 'e': wsverify_number(&o.every); break;
		case 'l': wsverify_number(&o.length); break;
		case 'n':
			if (num_range(optarg, WS_UNKNOWN, &o.from, &o.to) != 0)
				opt_wrong(OPT_BAD_RANGE);
			break;
		case 'v': o.verbose = 1; break;
		case 'x': vo.vectors = 1; break;
		}
	opt_operands(argc, argv, 0, 1);
	o.path = argc > optind ? argv[optind] : "-";
	return wsverify_runs(&o, &vo, all);
}
