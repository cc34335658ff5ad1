/* wetz: compress whole execution traces, and print them as text. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/heap.h"
#include "base/helper.h"
#include "base/in.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/opt.h"
#include "base/out.h"
#include "base/progress.h"
#include "base/spool.h"
#include "base/src.h"
#include "base/unz.h"
#include "format/ws/runs.h"
#include "wet/file/file.h"
#include "wet/file/full/code.h"
#include "wet/file/paper/paper.h"
#include "wet/print/print.h"

#define CAPTURE  "\x89TMCAP\r\n"
#define SEGMENT  (4u << 20)             /* statements in a segment */
#define LONGEST  (16u << 20)
#define WHOLE    (16u << 20)            /* statements in a segment of kind paper, all in memory */
#define LEVEL    6
#define THREADS  4                      /* at most, by default */

static const struct opt wetz_opts[] = {
	OPT_LEVELS("to -9: how hard to try; 0 only stores, 9 tries everything (6)"),
	{ 'a', "arch", NULL, "keep which branches were mispredicted and which accesses missed a cache" },
	{ 'A', "arch-parameters", "LIST", "as -a, with history=12,counters=4k,size=16k,ways=4,line=32 changed" },
	{ 'b', "memory", "BYTES", "with -d: hold at most BYTES of lists in memory at once (1G)" },
	{ 'd', "decompress", NULL, "write the text of a .wet file" },
	{ 'm', "kind", "KIND", "what is kept of a capture: full (the default), loads, replay or paper" },
	{ 'M', "memory-limit", "BYTES", "with -d: an error if that takes more memory" },
	OPT_OUTPUT,
	{ 'q', "quick", NULL, "wetq answers sooner, the file is larger" },
	{ 's', "segment", "N", "executed instructions in a segment (4M)" },
	{ 'T', "threads", "N", "compress by N threads; 0: one for each processor, at most 4 (0)" },
	{ 'v', "verbose", NULL, "print the size of each part; twice: after each segment" },
	{ 0 },
};

static const struct opt_tool wetz_tool = {
	.does = "Compresses a whole execution trace: a capture, or a text of ws2wet.",
	.synopsis = "[-0..-9] [-aqv] [-A list] [-m kind] [-s n] [-T n] [-o file] [capture | text]\n"
	    "-d [-b bytes] [-M bytes] [-o file] [file]",
	.example = "wscap -o p.ws ./p; wetz -o p.wet p.ws; wetq list p.wet | head",
	.opt = wetz_opts,
};

struct job {
	const char *path, *name;        /* of the input; name is for diagnostics */
	struct out *out;
	struct arch_params arch;
	int expand, verbose, chosen, level;     /* chosen: -m was given; level: a level was given */
	enum wetfile_kind kind;
	uint64_t budget, limit;         /* limit: on memory; 0: none */
	struct store_opts opts;
};

static int
wetz_sink(void *arg, const void *p, size_t n)
{
	out_write(arg, p, n);
	return 0;
}

/* Ends with what is wrong with a file */
static _Noreturn void
wetz_fault(struct job *j, const struct fault *f)
{
	if (!j->expand)
		out_clear_buffer(j->out);       /* the beginning of a compressed file is useless */
	out_discard(j->out);
	die_fault(j->name, f);
}

/* As wetz_fault, of the file as a whole */
static _Noreturn void
wetz_refuse(struct job *j, const char *err)
{
	struct fault f;

	fault_set(&f, DIAG_NOOFF, DIAG_NOREC, "%s", err);
	wetz_fault(j, &f);
}

static void
wetz_early(const struct job *j, const struct ws_early *e)
{
	char text[WS_EARLY_TEXT];

	if (e->is)
		warn("%s: %s", j->name, ws_early_text(e, text));
}

/*
 * Bytes of the trace as the paper counts them: a time stamp of 4 bytes for each statement, 8
 * for each value, 8 for each dependence.
 */
static double
wetz_ratio(const struct store_stats *s, uint64_t bytes)
{
	return bytes ? (4.0 * (double)s->nstmt + 8.0 * (double)(s->nval + s->ndep)) / (double)bytes : 0;
}

static uint64_t
wetz_total(const struct store_stats *s)
{
	uint64_t all = 0;

	for (unsigned i = 0; i < STORE_NPARTS; i++)
		all += s->part[i];
	return all;
}

static void
wetz_progress(void *arg, const struct store_stats *s)
{
	uint64_t all = wetz_total(s);

	(void)arg;
	warn("segment %" PRIu64 ": so far %" PRIu64 " statements, %" PRIu64 " bytes, ratio %.1f", s->nsegment,
	    s->nstmt, all, wetz_ratio(s, all));
}

static void
wetz_report(const struct store_stats *s, enum wetfile_kind kind)
{
	static const char *const name[STORE_NPARTS] = { "code", "paths", "dependences", "values", "states",
		"ranks", "capture", "text", "addresses", "labels" };
	uint64_t all = wetz_total(s);
	double n = s->nstmt ? (double)s->nstmt : 1;

	for (unsigned i = 0; i < STORE_NPARTS; i++)
		if (s->part[i])
			warn("%-12s %12" PRIu64 " bytes %9.4f bits a statement", name[i], s->part[i],
			    8.0 * (double)s->part[i] / n);
	warn("%-12s %12" PRIu64 " bytes %9.4f bits a statement, of %" PRIu64 " in %" PRIu64 " segments",
	    "all", all, 8.0 * (double)all / n, s->nstmt, s->nsegment);
	if (s->nwrong)
		warn("%" PRIu64 " statements and registers were not as executing them again gives them",
		    s->nwrong);
	if (kind == WETFILE_REPLAY)     /* they are not counted, as that would need a replay */
		return;
	warn("%" PRIu64 " dependences, %" PRIu64 " of registers and control not as expected; "
	    "%" PRIu64 " words of values; ratio %.1f", s->ndep, s->nexc,
	    s->nval, wetz_ratio(s, all));
}

/* Reports mapped files without known functions and lines. */
static void
wetz_note(void *arg, const char *what)
{
	const struct job *j = arg;

	warn("%s: %s", j->name, what);
}

/* Parses NAME=NUMBER,...: 0, or -1. */
static int
arch_option(struct arch_params *p, char *s)
{
	static char *const name[] = { "history", "counters", "size", "ways", "line", NULL };
	uint64_t *const to[] = { &p->history, &p->counters, &p->size, &p->ways, &p->line };
	char *value;

	while (*s) {
		int i = getsubopt(&s, name, &value);

		if (i < 0 || !value || num_size(value, 0, UINT64_C(1) << 30, to[i]) != 0)
			return -1;
	}
	return arch_params_valid(p) ? 0 : -1;
}

/* Copies to a temporary file: 0, or an errno. */
static int
wetz_spool(void *arg, const void *p, size_t n)
{
	const char *q = p;

	for (ssize_t k; n; q += k, n -= (size_t)k)
		if ((k = write(*(int *)arg, q, n)) < 0) {
			if (errno != EINTR)
				return errno;
			k = 0;
		}
	return 0;
}

/* Prints one-bit labels: executions, labels that are 1, bytes at one bit each. */
static void
report_arch(const struct arch_stats *s)
{
	static const char *const name[ARCH_NKINDS] = { "branch", "load", "store" };

	for (unsigned k = 0; k < ARCH_NKINDS; k++)
		warn("label %s %" PRIu64 " %" PRIu64 " %" PRIu64, name[k], s->bits[k], s->ones[k],
		    s->bits[k] / 8 + (s->bits[k] % 8 != 0));
}

/* Prints sizes as the paper counts them, by type of label, and the factors by which they became smaller. */
static void
report_paper(const struct paper_stats *s, uint64_t file)
{
	static const char *const name[PAPER_NPARTS] = { "timestamps", "values", "edges" };
	uint64_t sum[3] = { 0 };

	for (unsigned i = 0; i < PAPER_NPARTS; i++) {
		warn("%s %" PRIu64 " %" PRIu64 " %" PRIu64 " %.2f %.2f", name[i], s->orig[i], s->tier1[i],
		    s->tier2[i], s->tier1[i] ? (double)s->orig[i] / (double)s->tier1[i] : 0,
		    s->tier2[i] ? (double)s->orig[i] / (double)s->tier2[i] : 0);
		sum[0] += s->orig[i];
		sum[1] += s->tier1[i];
		sum[2] += s->tier2[i];
	}
	warn("wet %" PRIu64 " %" PRIu64 " %" PRIu64 " %.2f %.2f", sum[0], sum[1], sum[2],
	    sum[1] ? (double)sum[0] / (double)sum[1] : 0,
	    sum[2] ? (double)sum[0] / (double)sum[2] : 0);
	for (unsigned m = 0; m < PAPER_NHOW; m++)
		warn("method %s %" PRIu64 " %" PRIu64 " %" PRIu64,
		    m == PAPER_PLAIN ? "none" : m == PAPER_RAW ? "noise" : bidi_name(m),
		    s->used[PAPER_TS][m], s->used[PAPER_VALS][m], s->used[PAPER_EDGES][m]);
	warn("run %" PRIu64 " statements %" PRIu64 " paths %" PRIu64 " nodes %" PRIu64 " segments", s->nstmt,
	    s->ntime, s->npath, s->nsegment);
	warn("file %" PRIu64 " graph %" PRIu64 " labels %" PRIu64 " bits %" PRIu64, file, s->fixed, s->labels,
	    s->arch);
}

/* Converts a file of kind full to kind paper. */
static void
to_paper(struct job *j, int fd, const char *name)
{
	struct paper_stats stats;
	struct wetfile from;
	struct fault wf;
	struct fault f;
	struct wetfile_writer *w = NULL;

	if (wetfile_open(&from, fd, &wf) != 0)
		wetz_fault(j, &wf);
	if (from.kind != WETFILE_FULL)
		wetz_refuse(j, "is compressed, and not of kind full");
	if ((w = wetfile_create(wetz_sink, j->out, WETFILE_PAPER, &wf)) == NULL)
		wetz_refuse(j, wf.err);
	if (store_paper(&from, w, &j->opts, &stats, &f) != 0)
		wetz_fault(j, &f);
	if (name && !from.whole)
		wetz_fault(j, &from.fault);
	wetz_early(j, &from.early);
	if (j->verbose)
		report_paper(&stats, wetfile_written(w));
	wetfile_free(w);
	wetfile_close(&from);
}

/* Writes the run to an unnamed file of kind full, and converts that to kind paper. */
static void
compress_paper(struct job *j)
{
	struct store_stats stats = { 0 };
	struct store_opts full = { .level = 1,
		.segment = j->opts.segment < SEGMENT ? j->opts.segment : SEGMENT,
		.threads = j->opts.threads, .arch = j->opts.arch, .stats = &stats,
		.note = wetz_note, .notearg = j };
	struct fault wf;
	struct fault f;
	int fd = spool_open(), failed;
	struct wetfile_writer *w = wetfile_create(wetz_spool, &fd, WETFILE_FULL, &wf);

	if (!w)
		wetz_refuse(j, wf.err);
	failed = store_full(j->path, w, &full, &f) != 0;
	if (!failed || !f.output)
		to_paper(j, fd, NULL);
	if (failed)
		wetz_fault(j, &f);
	if (j->verbose && j->opts.arch)
		report_arch(&stats.arch);
	wetfile_free(w);
	close(fd);
}

static void
wetz_compress(struct job *j, int text)
{
	struct store_stats stats = { 0 };
	struct fault wf;
	struct fault f;
	struct wetfile_writer *w = wetfile_create(wetz_sink, j->out, text ? WETFILE_TEXT : j->kind, &wf);

	if (!w)
		wetz_refuse(j, wf.err);
	j->opts.stats = &stats;
	if (j->verbose > 1)
		j->opts.progress = wetz_progress;
	if ((text ? store_text : j->kind == WETFILE_REPLAY ? store_replay :
		j->kind == WETFILE_LOADS ? store_loads : store_full)(j->path, w, &j->opts, &f) != 0)
		wetz_fault(j, &f);
	wetfile_free(w);
	wetz_early(j, &stats.early);
	if (j->verbose)
		wetz_report(&stats, text ? WETFILE_TEXT : j->kind);
	if (j->verbose && j->opts.arch)
		report_arch(&stats.arch);
}

/* Replays the capture in w: its text is that of the file of kind full. */
static void
expand_replay(struct job *j, const struct wetfile *w)
{
	struct store_opts o = { .level = 1, .segment = SEGMENT };
	struct store_code given;
	struct wetfile full;
	struct fault f;
	struct fault sf;
	struct wetfile_writer *to;
	int fd = spool_open(), copy = spool_open();
	char *path = xasprintf("/proc/self/fd/%d", copy);

	if (store_replay_code(w, &given, &f) != 0 || store_replay_capture(w, wetz_spool, &copy, &f) != 0)
		wetz_fault(j, &f);
	o.given = &given;
	if ((to = wetfile_create(wetz_spool, &fd, WETFILE_FULL, &f)) == NULL)
		wetz_refuse(j, f.err);
	if (store_full(path, to, &o, &sf) != 0)
		wetz_refuse(j, sf.err);
	wetfile_free(to);
	if (wetfile_open(&full, fd, &f) != 0 || store_print(&full, j->budget, wetz_sink, j->out, &f) != 0)
		wetz_refuse(j, f.err);
	wetfile_close(&full);
	store_code_free(&given);
	free(path);
	close(fd);
	close(copy);
	if (!w->whole)
		wetz_fault(j, &w->fault);
}

static void
wetz_expand(struct job *j, int fd)
{
	struct wetfile w;
	struct fault f;

	if (wetfile_open(&w, fd, &f) != 0)
		wetz_fault(j, &f);
	if (j->limit && w.kind != WETFILE_REPLAY &&
	    setrlimit(RLIMIT_DATA, &(struct rlimit){ j->limit, j->limit }) != 0)
		die_sys("-M");
	if (w.kind == WETFILE_REPLAY)
		expand_replay(j, &w);
	else if ((w.kind == WETFILE_TEXT ? store_print_text(&w, wetz_sink, j->out, &f) :
		w.kind == WETFILE_PAPER ? paper_print(&w, j->budget, wetz_sink, j->out, &f) :
		store_print(&w, j->budget, wetz_sink, j->out, &f)) != 0)
		wetz_fault(j, &f);
	wetz_early(j, &w.early);
	wetfile_close(&w);
}

/* Ends if the file is a capture that is compressed: text may be, but a capture is read at any place. */
static void
wetz_packed(struct job *j, const uint8_t *head, size_t n)
{
	const char *why = unz_refuse(head, n);
	struct in *in = why ? in_open(j->path) : NULL;
	size_t have = 0;
	const uint8_t *p = in ? in_peek(in, 8, &have) : NULL;

	if (have >= 8 && memcmp(p, CAPTURE, 8) == 0)
		wetz_refuse(j, why);
	if (in)
		in_close(in);
}

static void
wetz_run(struct job *j, const char *outname)
{
	char *copy = NULL;
	uint8_t head[16];
	char others[WS_OTHERS_TEXT];
	size_t run;
	ssize_t n;
	int fd;

	j->name = src_name(j->path);
	progress_start(j->name);
	if (src_is_stdin(j->path))
		j->path = copy = spool_stdin();
	fd = ws_open_path(j->path, &run);
	if (fd < 0)
		die_sys("%s", j->name);
	n = pread(fd, head, sizeof head, 0);
	if (n < 0)
		die_sys("%s", j->name);
	if (n >= 4 && memcmp(head, "\177ELF", 4) == 0)
		die("%s: an executable: capture it with wscap first", j->name);
	if (ws_others(j->path, others))
		warn("%s: %s", j->name, others);
	j->out = out_create(outname, out_mode_of(copy ? NULL : j->path));
	if (!j->expand)
		out_binary(j->out, "a compressed trace");
	j->opts.note = wetz_note;
	j->opts.notearg = j;
	if (j->expand)
		wetz_expand(j, fd);
	else if (j->kind == WETFILE_PAPER && !j->opts.arch && wetfile_is(head, (size_t)n))
		to_paper(j, fd, j->name);
	else if (wetfile_is(head, (size_t)n))
		wetz_refuse(j, "is compressed");
	else {
		int text = n < 8 || memcmp(head, CAPTURE, 8) != 0;

		if (text)
			wetz_packed(j, head, (size_t)n);
		if (text && (j->chosen || j->opts.arch))
			wetz_refuse(j,
			    j->chosen ? "no capture: -m is of no use" : "no capture: -a is of no use");
		if (j->kind == WETFILE_PAPER)
			compress_paper(j);
		else
			wetz_compress(j, text);
	}
	out_close(j->out);
	close(fd);
	free(copy);
}

/* WETFILE_TEXT: the argument of -m is no kind. */
static enum wetfile_kind
kind_of(const char *s)
{
	return strcmp(s, "full") == 0 ? WETFILE_FULL : strcmp(s, "loads") == 0 ? WETFILE_LOADS :
	    strcmp(s, "replay") == 0 ? WETFILE_REPLAY :
	    strcmp(s, "paper") == 0 ? WETFILE_PAPER : WETFILE_TEXT;
}

/* One for each processor: more than a few are of no use, as the replay has one. */
static unsigned
wetz_threads(void)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN);

	return n < 1 ? 1 : n > THREADS ? THREADS : (unsigned)n;
}

static void
wetz_option(struct job *j, int c, const char **outname)
{
	char *list;

	switch (c) {
	case 'A':
		list = xstrdup(optarg);
		if (arch_option(&j->arch, list) != 0)
			opt_wrong("not a list of history, counters, size, ways and line, each with = and a number, "
			    "a power of 2 but for history");
		free(list);
		/* fallthrough */
	case 'a': j->opts.arch = &j->arch; break;
	case 'M': j->limit = opt_size(optarg, 1 << 20, UINT64_C(1) << 46); break;
	case 'b': j->budget = opt_size(optarg, 1, UINT64_C(1) << 46); break;
	case 'd': j->expand = 1; break;
	case 'm':
		j->chosen = 1;
		j->kind = kind_of(optarg);
		if (j->kind == WETFILE_TEXT)
			opt_wrong("not a kind; there are full, loads, replay and paper");
		break;
	case 'o': *outname = optarg; break;
	case 'q': j->opts.quick = 1; break;
	case 's': j->opts.segment = opt_size(optarg, 1, PAPER_SEGMENT); break;
	case 'T': j->opts.threads = (unsigned)opt_size(optarg, 0, STORE_THREADS); break;
	case 'v': j->verbose++; break;
	default:
		if (j->level)           /* -10 is not level 1 and level 0 */
			opt_wrong("one level only, from -0 to -9");
		j->level = 1;
		j->opts.level = c - '0';
	}
}

int
main(int argc, char **argv)
{
	struct job j = { .kind = WETFILE_FULL, .budget = UINT64_C(1) << 30, .arch = ARCH_DEFAULT,
	    .opts = { .level = LEVEL } };
	const char *outname = NULL;
	int c;

	diag_init(argv[0], 1);
	while ((c = opt_next(&wetz_tool, argc, argv)) != -1)
		wetz_option(&j, c, &outname);
	opt_operands(argc, argv, 0, 1);
	if (!j.opts.segment)
		j.opts.segment = j.kind == WETFILE_PAPER ? WHOLE : SEGMENT;
	if (j.kind != WETFILE_PAPER && j.opts.segment > LONGEST)
		die_usage("-s: a segment of this kind has at most %u instructions", LONGEST);
	if (!j.opts.threads)
		j.opts.threads = wetz_threads();
	if (j.opts.arch && (j.kind == WETFILE_REPLAY || j.expand))
		die_usage("-a is not for %s", j.expand ? "-d" : "-m replay");
	if (j.limit && !j.expand)
		die_usage("-M is for -d");
	j.path = argv[optind];
	if (!j.limit)
		heap_large();
	helper_allow(HELPER_ELF | HELPER_TEMP);
	wetz_run(&j, outname);
	return 0;
}
