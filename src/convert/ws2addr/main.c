/* ws2addr: regenerate the references of a captured run. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/confine.h"
#include "base/diag.h"
#include "base/helper.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/opt.h"
#include "base/progress.h"
#include "base/src.h"
#include "convert/ws2addr/ws2addr.h"
#include "format/ws/runs.h"

#define JOBS_MAX     256        /* limit of -j */
#define SEGMENTS_MAX 4096

enum { SEGMENTS = 256 };

#define RUN_STEP (1u << 20)     /* thread T of run R is task R + (T - 1) * RUN_STEP */

static const struct opt ws2addr_opts[] = {
	{ 'c', "count", NULL, "print how many references of each kind there are instead" },
	OPT_FORMAT,
	OPT_NOINST,
	{ 'j', "jobs", "N", "share the work among N processes (1)" },
	OPT_RANGE,
	OPT_OUTPUT,
	OPT_SYMBOL,
	{ SEGMENTS, "segments", "N", "print N ranges for -n that divide the run, one a line, instead" },
	{ 'w', "written", "FD", "print what the program wrote to its descriptor FD instead" },
	{ 0 },
};

static const struct opt_tool ws2addr_tool = {
	.does = "Replays a capture and writes each instruction fetch, load and store of the run.",
	.synopsis = "[-ci] [-f format] [-j jobs] [-n from:to | -s symbol | -w fd] [-o file] [capture]\n"
	    "--segments number [-n from:to] [-o file] [capture]",
	.example = "wscap -o ls.ws ls; ws2addr -c ls.ws",
	.opt = ws2addr_opts,
};

struct options {
	const char *outname, *symbol;
	/* fd: of the program's output that is wanted; WS_UNKNOWN: references */
	uint64_t jobs, fd;
	uint64_t segments;              /* print so many ranges instead; 0: no */
};

struct written {
	struct out *out;
	int fd;
};

static void
ws2addr_option(struct job *j, struct options *o, int c)
{
	int fmt;

	switch (c) {
	case 'c':
		j->count = 1;
		break;
	case 'f':
		if ((fmt = ref_format(optarg)) < 0)
			opt_wrong(OPT_BAD_FORMAT);
		j->fmt = (enum ref_format)fmt;
		break;
	case 'i':
		j->drop[REF_INST] = j->dropping = 1;
		break;
	case 'j':
		if (num_u64(optarg, 1, JOBS_MAX, &o->jobs) != 0)
			opt_wrong("not a number from 1 to %d", JOBS_MAX);
		break;
	case 'n':
		if (num_range(optarg, WS_UNKNOWN, &j->from, &j->to) != 0)
			opt_wrong(OPT_BAD_RANGE);
		break;
	case 'o':
		o->outname = optarg;
		break;
	case 's':
		o->symbol = optarg;
		break;
	case SEGMENTS:
		if (num_u64(optarg, 1, SEGMENTS_MAX, &o->segments) != 0)
			opt_wrong("not a number from 1 to %d", SEGMENTS_MAX);
		break;
	case 'w':
		if (num_u64(optarg, 0, INT32_MAX, &o->fd) != 0)
			opt_wrong("not a file descriptor");
		break;
	}
}

static void
on_output(void *arg, int fd, const void *p, size_t n)
{
	struct written *w = arg;

	if (fd == w->fd)
		out_write(w->out, p, n);
}

/* Prints what the program wrote, instead of its references. */
static void
ws2addr_written(struct job *j, int fd)
{
	struct written w = { .out = j->out, .fd = fd };

	replay_set_output_fn(j->r, on_output, &w);
	if (replay_skip(j->r, WS_UNKNOWN) == REPLAY_BAD)
		job_bad(j, replay_fault(j->r));
}

static int
ws2addr_words(struct job *j)
{
	const uint64_t *w;
	size_t n;
	int got;

	while ((got = replay_refs(j->r, &w, &n)) == REPLAY_OK)
		job_take(j, w, n);
	return got;
}

static void
ws2addr_plain(struct job *j)
{

	if (replay_skip(j->r, j->from) == REPLAY_BAD)
		job_bad(j, replay_fault(j->r));
	job_reached(j);
	replay_until(j->r, j->to);
	progress_stage(NULL);           /* what was passed over says nothing of the rate */
	if ((j->count ? replay_count(j->r, j->n) : ws2addr_words(j)) == REPLAY_BAD)
		job_bad(j, replay_fault(j->r));
}

/* run: its number if the file has several, and all are wanted; otherwise 0 */
static void
ws2addr_open(struct job *j, size_t run)
{
	struct fault f;

	j->r = replay_open(j->path, &f);
	if (!j->r)
		job_bad(j, &f);
	if (!j->count)
		replay_tasks(j->r, run ? run : 1, run ? RUN_STEP : 1);
}

static void
ws2addr_refs(struct job *j, const struct options *o)
{
	if (o->symbol)
		job_symbol(j, o->symbol);
	/* passing raw references on takes longer than making them, passing over instructions as long as counting theirs */
	else if (o->jobs > 1 && (j->count ? replay_nkeys(j->r) > 0 : j->fmt != REF_ADDR))
		(j->count ? job_count_parallel : job_line)(j, (unsigned)o->jobs);
	else
		ws2addr_plain(j);
}

static void
ws2addr_close(struct job *j)
{
	job_early(j, j->early.is ? &j->early : replay_early(j->r));
	replay_close(j->r);
	j->r = NULL;
}

/* All runs, one after the other; an event with its number comes before the references of each. */
static void
ws2addr_all(struct job *j, const struct options *o)
{
	const char *file = src_is_stdin(j->path) ? "-" : j->path;
	uint64_t sum[REF_NKINDS] = { 0 };

	for (size_t i = 1; i <= j->nruns; i++) {
		uint64_t task = ref_make(REF_TASK, i, 0);
		char *path = xasprintf("%s:%zu", file, i);

		j->path = j->name = path;
		ws2addr_open(j, i);
		if (!j->count && j->fmt == REF_ADDR)
			out_commit(j->out, ref_put(j->fmt, out_reserve(j->out, REF_PUT_MAX), &task, 1));
		memset(j->n, 0, sizeof j->n);
		j->early.is = 0;
		ws2addr_refs(j, o);
		job_run(j, i);
		ws2addr_close(j);
		for (int k = 0; k < (int)REF_NKINDS; k++)
			sum[k] += j->n[k];
		free(path);
	}
	memcpy(j->n, sum, sizeof sum);
}

static void
ws2addr_run(struct job *j, const struct options *o)
{
	if (!j->nruns)
		ws2addr_open(j, 0);
	j->out = out_open(o->outname);
	if (j->fmt == REF_ADDR && !j->count && !o->segments && o->fd == WS_UNKNOWN) {
		out_binary(j->out, "a reference stream");
		ref_put_header(out_reserve(j->out, REF_HEADER));
		out_commit(j->out, REF_HEADER);
	}
	if (o->segments)
		job_segments(j, (unsigned)o->segments);
	else if (o->fd != WS_UNKNOWN)
		ws2addr_written(j, (int)o->fd);
	else
		(j->nruns ? ws2addr_all : ws2addr_refs)(j, o);
	job_end(j);
	out_close(j->out);
	if (!j->nruns)
		ws2addr_close(j);
}

/* A part of a run is asked for: which one? */
static void
ws2addr_choose(struct job *j, int part)
{
	char others[WS_OTHERS_TEXT];

	if (!part)
		j->nruns = ws_runs_of_path(j->path);
	else if (ws_others(j->path, others))
		warn("%s: %s", j->name, others);
}

int
main(int argc, char **argv)
{
	struct job j = { .fmt = REF_ADDR, .to = WS_UNKNOWN };
	struct options o = { .jobs = 1, .fd = WS_UNKNOWN };
	int c, ranged;

	diag_init(argv[0], 1);
	while ((c = opt_next(&ws2addr_tool, argc, argv)) != -1)
		ws2addr_option(&j, &o, c);
	opt_operands(argc, argv, 0, 1);
	ranged = j.from != 0 || j.to != WS_UNKNOWN;
	if (ranged + (o.symbol != NULL) + (o.fd != WS_UNKNOWN) > 1)
		die_usage("only one of -n, -s and -w can be given");
	if (o.segments && (j.count || o.symbol || o.fd != WS_UNKNOWN))
		die_usage("--segments comes without -c, -s and -w");
	/*
	 * A replay that drifts may use invalid addresses, whose words are no references.
	 * Readers of a stream detect them, readers of text would not.
	 */
	if (j.fmt != REF_ADDR)
		for (int k = REF_ENTER; k < 16; k++)
			j.drop[k] = j.dropping = 1;
	j.path = argv[optind];
	j.name = src_name(j.path);
	ws2addr_choose(&j, ranged || o.symbol || o.fd != WS_UNKNOWN || o.segments);
	progress_start(j.name);
	progress_limit(j.to);
	helper_allow(o.symbol ? HELPER_ELF : 0);
	if (o.symbol && (j.source = wsource_new(src_is_stdin(j.path) ? NULL : j.path)) == NULL)
		die("no memory");
	confine_jobs(j.count ? (unsigned)o.jobs : 1);
	ws2addr_run(&j, &o);
	wsource_free(j.source);
	return 0;
}
