/*
 * wstrim: make a capture smaller: only what its replay needs
 *
 * The capture is replayed to see what the program used of it; what it did not use is left out.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/diag.h"
#include "base/helper.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/opt.h"
#include "base/out.h"
#include "base/progress.h"
#include "base/spool.h"
#include "base/src.h"
#include "format/ws/kept.h"
#include "format/ws/store.h"
#include "replay/guest/replay.h"

enum { FETCH = 256, NAMES, ALONE, KEYFRAMES };

static const struct opt wstrim_opts[] = {
	{ ALONE, "alone", NULL, "put into the capture what it needs of a store, instead of referring to it" },
	{ FETCH, "fetch", NULL, "only put into the capture what it needs of a store" },
	{ KEYFRAMES, "keyframes", "N", "write N keyframes at even distances, whatever they take" },
	{ NAMES, "names", NULL, "keep the program's files that have symbols, so that its names survive a rebuild" },
	{ 'o', "output", "FILE", "write to FILE; the capture stays as it is" },
	{ 'v', "verbose", NULL, "print the sizes before and after" },
	{ 0 },
};

static const struct opt_tool wstrim_tool = {
	.does = "Makes a capture smaller: leaves out the memory that its replay does not need.",
	.synopsis = "[-v] [--alone] [--keyframes n] [--fetch | --names] [-o file] [capture]",
	.example = "wscap -o ls.ws ls; wstrim -v ls.ws",
	.opt = wstrim_opts,
	.replaces = 1,
};

struct job {
	const char *path, *name;        /* of the input; name is for diagnostics */
	struct out *out;
	uint64_t size;                  /* of the input */
	uint64_t written;               /* bytes of out */
	int in_place, verbose, fetch, names;
	int alone;                      /* the output refers to no store */
	int keyed;                      /* --keyframes: its number is in keys */
	unsigned keys;
	struct ws_runs *runs;           /* of the input; NULL: only one is wanted */
	struct ws_runs *kept;           /* all of them, with the files that the input keeps, */
	int keptfd;                     /* which have a descriptor of their own */
	struct ws_keeper *keeper;       /* files that are to be kept, too */
	int whole;                      /* the input is, or else */
	struct fault rest;              /* what is wrong, perhaps only with the files that it keeps */
	int fd;                         /* of the input, with runs */
	int bad;                        /* a run stayed as it was */
};

static int
wstrim_sink(void *arg, const void *p, size_t n)
{
	struct job *j = arg;

	out_write(j->out, p, n);
	j->written += n;
	return 0;
}

/* Does it stay as it is, apart from kept files?  What is trimmed does, unless it is to be trimmed in another way. */
static int
stays(const struct job *j, struct ws_reader *r)
{
	return (ws_head(r)->flags & WS_TRIMMED) && !j->keyed && !(j->alone && ws_blocks_stored(j->kept));
}

/* Has the run an end?  If it is cut off or damaged, a replay finds the part that is good. */
static int
can_be_read(struct ws_reader *r)
{
	struct ws_rec rec;
	int k;

	while ((k = ws_next(r, &rec)) == 1)
		;
	return k == 0;
}

/* Does the input stay as it is?  Ends the tool if it is no capture. */
static int
input_stays(struct job *j)
{
	struct stat st;
	struct fault f;
	struct ws_reader *r;
	size_t run;
	int fd = ws_open_path(j->path, &run), same;

	if (fd < 0 || fstat(fd, &st) < 0)
		die_sys("%s", j->name);
	/* it is read twice, and replaced */
	if (!S_ISREG(st.st_mode))
		die("%s: not a regular file: give it as standard input", j->name);
	j->size = (uint64_t)st.st_size;
	r = ws_open_run(fd, run, &f);
	if (!r)
		die_fault(j->name, &f);
	same = !j->fetch && stays(j, r) && j->whole && can_be_read(r);
	ws_close(r);
	close(fd);
	if (run && j->in_place)
		die("%s: one run of several is not replaced: -o names a file for it", j->name);
	return same;
}

static void
wstrim_report(const char *name, uint64_t size, uint64_t written, const struct trim_stats *s)
{
	warn("%s: %" PRIu64 " bytes to %" PRIu64 " (%.1f %%), %" PRIu64 " instructions, %" PRIu64 " keyframes",
	    name, size, written, 100.0 * (double)written / (double)size, s->ninst, s->keys);
}

/* The output, whose pages are in a store if those of the input are. */
struct to {
	struct ws_runs_writer *runs;
	struct ws_pages_writer *pages;  /* NULL: it refers to no store */
};

static void
wstrim_begin(struct job *j, struct to *to)
{
	*to = (struct to){ .runs = ws_runs_create(wstrim_sink, j) };
	if (!to->runs)
		die("out of memory");
	if (j->alone || !ws_blocks_stored(j->kept))
		return;
	to->pages = ws_pages_create(to->runs, NULL);
	if (!to->pages || ws_pages_announce(to->pages) != 0)
		die("out of memory");
}

/* An output of one run. */
static struct ws_run_writer *
wstrim_begin_one(struct job *j, struct to *to)
{
	struct ws_run_writer *run;

	wstrim_begin(j, to);
	run = ws_runs_begin(to->runs, &(struct ws_run){ .began = WS_FIRST });
	if (!run)
		die("out of memory");
	return run;
}

static void
wstrim_end(struct job *j, struct to *to, int bad)
{
	size_t n = to->pages ? ws_pages_stored(to->pages) : 0;

	if (ws_runs_finish(to->runs) != 0)
		die("out of memory");
	ws_pages_close(to->pages);
	ws_runs_close(to->runs);
	if (!bad && n)
		warn("%s: %zu blocks of pages stay in the store; --alone takes what is needed of them", j->name, n);
}

/* Copies a run, or the whole file if it has only one. */
static void
wstrim_copy(struct job *j, size_t run, struct ws_pages_writer *pages, ws_write_fn *sink, void *arg)
{
	struct fault f;

	if (pages ? ws_run_copy_records(j->fd, run, pages, sink, arg, &f) : ws_run_copy(j->fd, run, sink, arg, &f))
		die_fault(j->name, &f);
}

static void
wstrim_missed(const char *path, const char *why)
{
	warn("%s: %s: its names are not in the capture", path, why);
}

/* Tells of the files that a run had mapped, as far as the run can be read. */
static void
wstrim_mapped(struct ws_keeper *k, int fd, size_t run)
{
	struct ws_rec rec;
	struct fault f;
	struct ws_reader *r = ws_open_run(fd, run, &f);

	while (r && ws_next(r, &rec) == 1)
		if (rec.kind == WS_MAP)
			ws_keeper_add(k, &rec.u.map);
	ws_close(r);
}

/*
 * Finds the files that the input keeps, and with --names opens those that it had mapped; before the replay, whose
 * process may open nothing.
 */
static void
wstrim_find_kept(struct job *j)
{
	size_t run;

	j->keptfd = ws_open_path(j->path, &run);
	if (j->keptfd < 0)
		die_sys("%s", j->name);
	j->kept = ws_runs_read(j->keptfd, &j->whole, &j->rest);
	j->keeper = ws_keeper_new(0);
	if (!j->kept || !j->keeper)
		die("out of memory");
	ws_keeper_has(j->keeper, j->kept);
	for (size_t i = 1; j->names && i <= ws_runs_count(j->kept); i++)
		if (!run || i == run)
			wstrim_mapped(j->keeper, j->keptfd, i);
	if (j->names && !ws_keeper_count(j->keeper) && !ws_kept_count(j->kept))
		warn("%s: none of its files has symbols, or is there as it was: no names are kept", j->name);
}

/* Writes them. */
static void
wstrim_put_kept(struct job *j, ws_write_fn *write, void *arg)
{
	struct fault f;

	if (ws_kept_copy(j->kept, j->keptfd, write, arg, &f) != 0)
		die_fault(j->name, &f);
	(void)ws_keeper_write(j->keeper, write, arg, wstrim_missed);
}

static int
wstrim_one(const struct job *j, const char *path, struct ws_pages_writer *pages, ws_write_fn *sink, void *arg,
    struct trim_stats *s, struct fault *f)
{
	struct trim_opts o = { .level = WS_SMALL, .share = 20, .middle = 1000, .write = sink, .arg = arg,
		.pages = pages };
	char text[WS_EARLY_TEXT];

	/* without what is in the store, a keyframe may be larger than all the rest */
	if (pages)
		o.size = j->size;
	if (j->keyed) {
		o.keys = j->keys;
		o.share = o.middle = 0;
	}
	if (replay_trim(path, &o, s, f) != 0)
		return -1;
	if (s->early.is && !s->cut)
		warn("%s: %s", j->name, ws_early_text(&s->early, text));
	return 0;
}

static void
wstrim_trim(struct job *j)
{
	struct ws_run_writer *run;
	struct trim_stats s;
	struct fault f;
	struct to to;

	run = wstrim_begin_one(j, &to);
	if (wstrim_one(j, j->path, to.pages, ws_run_write, run, &s, &f) != 0) {
		out_discard(j->out);
		die_fault(j->name, &f);
	}
	/* what comes after the fault is lost to a replay only, so the file that has it stays */
	if (s.cut && j->in_place) {
		out_discard(j->out);
		die_fault(j->name, &f);
	}
	if (!s.cut && !j->whole && j->in_place) {
		out_discard(j->out);
		die_fault(j->name, &j->rest);
	}
	ws_run_end(run, 0);
	if (!s.cut)
		wstrim_put_kept(j, ws_runs_write_between, to.runs);
	wstrim_end(j, &to, s.cut);
	out_close(j->out);
	if (s.cut)
		die_fault(j->name, &f);
	if (!j->whole)
		die_fault(j->name, &j->rest);
	if (j->verbose)
		wstrim_report(j->name, j->size, j->written, &s);
}

/* The trimmed bytes of a run, which are dropped if it cannot be trimmed. */
static int
wstrim_keep(void *arg, const void *p, size_t n)
{
	struct buf *b = arg;

	buf_add(b, p, n);
	return b->nomem ? ENOMEM : 0;
}

static void
wstrim_run(struct job *j, size_t n, struct ws_pages_writer *pages, struct ws_run_writer *to, int same)
{
	char *path = xasprintf("/proc/self/fd/%d:%zu", j->fd, n), *name = xasprintf("%s:%zu", j->name, n);
	struct job one = *j;
	struct buf b = BUF_INIT;
	struct trim_stats s;
	struct fault f;

	one.name = name;
	one.size = ws_runs_bytes(j->runs, n);
	if (same || wstrim_one(&one, path, pages, wstrim_keep, &b, &s, &f) != 0 || (s.cut && j->in_place)) {
		if (!same) {
			warn("%s: stays as it is: %s", name, f.err);
			j->bad = 1;
		}
		wstrim_copy(j, n, pages, ws_run_write, to);
	} else {
		j->bad |= s.cut;
		ws_run_write(to, b.p, b.n);
		/* its bytes before were without the pages of memory that the runs share */
		if (j->verbose)
			warn("%s: %" PRIu64 " bytes, %" PRIu64 " instructions, %" PRIu64 " keyframes", name,
			    s.written, s.ninst, s.keys);
	}
	buf_free(&b);
	free(name);
	free(path);
}

static int
run_stays(struct job *j, size_t n)
{
	struct fault f;
	struct ws_reader *r = ws_open_run(j->fd, n, &f);
	int same = r && stays(j, r);

	ws_close(r);
	return same;
}

/* Each run by itself. */
static void
wstrim_all(struct job *j)
{
	size_t n = ws_runs_count(j->runs);
	struct ws_run_writer **run = xcalloc(n + 1, sizeof *run);
	struct stat st;
	struct to to;

	if (fstat(j->fd, &st) < 0)
		die_sys("%s", j->name);
	wstrim_begin(j, &to);
	for (size_t i = 1; i <= n; i++)
		run[i] = ws_runs_begin(to.runs, ws_runs_get(j->runs, i));
	for (size_t i = 1; i <= n; i++) {
		const struct ws_run *is = ws_runs_get(j->runs, i);

		if (!run[i])
			die("out of memory");
		wstrim_run(j, i, to.pages, run[i], run_stays(j, i));
		ws_run_end(run[i], is->end == WS_UNKNOWN ? is->start : is->end);
	}
	wstrim_put_kept(j, ws_runs_write_between, to.runs);
	wstrim_end(j, &to, 0);
	free(run);
	out_close(j->out);
	if (j->verbose)
		warn("%s: %" PRIu64 " bytes to %" PRIu64 " (%.1f %%), in %zu runs", j->name, (uint64_t)st.st_size,
		    j->written, 100.0 * (double)j->written / (double)st.st_size, n);
}

static void
wstrim_several(struct job *j, const char *outname, const char *copy)
{
	j->out = out_create(j->in_place ? j->path : outname, out_mode_of(copy ? NULL : j->path));
	out_binary(j->out, "a capture");
	wstrim_all(j);
	ws_runs_free(j->runs);
}

static void
wstrim_file(struct job *j, const char *outname, const char *copy)
{
	int same = input_stays(j);
	struct ws_run_writer *to_run;
	struct to to;
	size_t run;

	if (same && !j->names)
		warn("%s: is trimmed already%s", j->name, j->in_place ? ", and stays as it is" : ", and is copied");
	if (same && j->in_place && !j->names)
		return;
	j->out = out_create(j->in_place ? j->path : outname, out_mode_of(copy ? NULL : j->path));
	out_binary(j->out, "a capture");
	if (!same) {
		wstrim_trim(j);
		return;
	}
	j->fd = ws_open_path(j->path, &run);
	if (j->fd < 0)
		die_sys("%s", j->name);
	to_run = wstrim_begin_one(j, &to);
	wstrim_copy(j, run, to.pages, ws_run_write, to_run);
	ws_run_end(to_run, 0);
	wstrim_put_kept(j, ws_runs_write_between, to.runs);
	wstrim_end(j, &to, 0);
	close(j->fd);
	out_close(j->out);
}

/* --fetch: all runs, as they are. */
static void
wstrim_fetch(struct job *j, const char *outname, const char *copy)
{
	size_t run;
	struct fault f;

	(void)input_stays(j);
	j->fd = ws_open_path(j->path, &run);
	if (j->fd < 0)
		die_sys("%s", j->name);
	if (run)
		die("%s: --fetch takes all runs", j->name);
	j->out = out_create(j->in_place ? j->path : outname, out_mode_of(copy ? NULL : j->path));
	out_binary(j->out, "a capture");
	if (ws_store_fetch(j->fd, wstrim_sink, j, &f) != 0) {
		out_discard(j->out);
		die_fault(j->name, &f);
	}
	close(j->fd);
	out_close(j->out);
}

/* The runs of the input, if it has several and names none. */
static void
wstrim_runs(struct job *j)
{
	size_t run;
	struct fault f;
	int whole;

	if (!ws_runs_of_path(j->path))
		return;
	j->fd = ws_open_path(j->path, &run);
	j->runs = j->fd < 0 ? NULL : ws_runs_read(j->fd, &whole, &f);
	if (!j->runs)
		die_sys("%s", j->name);
	if (!whole && j->in_place)
		die_fault(j->name, &f);
	if (!whole)
		warn("%s: %s", j->name, f.err);
	j->bad |= !whole;
}

/* The output may replace the input, but nothing else that is read: no file that --names keeps, no pages of a store. */
static void
wstrim_only_input(const struct job *j, const char *outname)
{
	struct stat in, out;
	size_t run;
	int fd = ws_open_path(j->path, &run);

	if (outname && fd >= 0 && fstat(fd, &in) == 0 && stat(outname, &out) == 0 &&
	    (in.st_dev != out.st_dev || in.st_ino != out.st_ino))
		out_replaces(outname);
	if (fd > STDIN_FILENO)
		close(fd);
}

static void
wstrim_input(struct job *j, const char *outname)
{
	char *copy = NULL;

	wstrim_only_input(j, outname);
	j->name = src_name(j->path);
	progress_start(j->name);
	if (src_is_stdin(j->path))
		j->path = copy = spool_stdin();
	j->in_place = !outname && !copy;
	if (!j->fetch) {
		wstrim_runs(j);
		wstrim_find_kept(j);
	}
	(j->fetch ? wstrim_fetch : j->runs ? wstrim_several : wstrim_file)(j, outname, copy);
	free(copy);
}

static void
wstrim_keyframes(struct job *j, const char *s)
{
	uint64_t n;

	if (num_u64(s, 0, TRIM_KEYS, &n) != 0)
		opt_wrong("not a number from 0 to %u", TRIM_KEYS);
	j->keyed = 1;
	j->keys = (unsigned)n;
}

int
main(int argc, char **argv)
{
	struct job j = { .verbose = 0 };
	const char *outname = NULL;
	int c;

	diag_init(argv[0], 1);
	while ((c = opt_next(&wstrim_tool, argc, argv)) != -1) {
		if (c == 'o')
			outname = optarg;
		else if (c == FETCH)
			j.fetch = 1;
		else if (c == KEYFRAMES)
			wstrim_keyframes(&j, optarg);
		else if (c == NAMES)
			j.names = 1;
		else if (c == ALONE)
			j.alone = 1;
		else
			j.verbose = 1;
	}
	opt_operands(argc, argv, 0, 1);
	if (j.fetch && (j.names || j.alone || j.keyed))
		die_usage("--fetch only copies: --%s is for another call",
		    j.names ? "names" : j.alone ? "alone" : "keyframes");
	j.path = argv[optind];
	wstrim_input(&j, outname);
	return j.bad;
}
