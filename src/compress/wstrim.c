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
#include "base/opt.h"
#include "base/out.h"
#include "base/progress.h"
#include "base/spool.h"
#include "base/src.h"
#include "format/ws/kept.h"
#include "format/ws/store.h"
#include "replay/guest/replay.h"

enum { FETCH = 256, NAMES };

static const struct opt wstrim_opts[] = {
	{ FETCH, "fetch", NULL, "only put into the capture what it needs of a store" },
	{ NAMES, "names", NULL, "keep the program's files that have symbols, so that its names survive a rebuild" },
	{ 'o', "output", "FILE", "write to FILE; the capture stays as it is" },
	{ 'v', "verbose", NULL, "print the sizes before and after" },
	{ 0 },
};

static const struct opt_tool wstrim_tool = {
	.does = "Makes a capture smaller: leaves out the memory that its replay does not need.",
	.synopsis = "[-v] [--fetch | --names] [-o file] [capture]",
	.example = "wscap -o ls.ws ls; wstrim -v ls.ws",
	.opt = wstrim_opts,
};

struct job {
	const char *path, *name;        /* of the input; name is for diagnostics */
	struct out *out;
	uint64_t size;                  /* of the input */
	int in_place, verbose, fetch, names;
	struct ws_runs *runs;           /* of the input; NULL: only one is wanted */
	struct ws_runs *kept;           /* all of them, with the files that the input keeps, */
	int keptfd;                     /* which have a descriptor of their own */
	struct ws_keeper *keeper;       /* files that are to be kept, too */
	int fd;                         /* of the input, with runs */
	int bad;                        /* a run stayed as it was */
};

static int
wstrim_sink(void *arg, const void *p, size_t n)
{
	struct job *j = arg;

	out_write(j->out, p, n);
	return 0;
}

/* Is the input a capture that is trimmed already?  Ends the tool if it is no capture. */
static int
is_trimmed(struct job *j)
{
	struct stat st;
	struct fault f;
	struct ws_reader *r;
	size_t run;
	int fd = ws_open_path(j->path, &run), trimmed;

	if (fd < 0 || fstat(fd, &st) < 0)
		die_sys("%s", j->name);
	/* it is read twice, and replaced */
	if (!S_ISREG(st.st_mode))
		die("%s: not a regular file: give it as standard input", j->name);
	j->size = (uint64_t)st.st_size;
	r = ws_open_run(fd, run, &f);
	if (!r)
		die_fault(j->name, &f);
	trimmed = (ws_head(r)->flags & WS_TRIMMED) != 0;
	ws_close(r);
	close(fd);
	if (run && j->in_place)
		die("%s: one run of several is not replaced: -o names a file for it", j->name);
	return trimmed;
}

/* Copies a run, or the whole file if it has only one. */
static void
wstrim_copy(struct job *j, size_t run, ws_write_fn *sink, void *arg)
{
	struct fault f;

	if (ws_run_copy(j->fd, run, sink, arg, &f) != 0)
		die_fault(j->name, &f);
}

static void
wstrim_report(const char *name, uint64_t size, const struct trim_stats *s)
{
	warn("%s: %" PRIu64 " bytes to %" PRIu64 " (%.1f %%), %" PRIu64 " instructions, %" PRIu64 " keyframes",
	    name, size, s->written, 100.0 * (double)s->written / (double)size, s->ninst, s->keys);
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
	struct fault f;
	size_t run;
	int whole;

	j->keptfd = ws_open_path(j->path, &run);
	if (j->keptfd < 0)
		die_sys("%s", j->name);
	j->kept = ws_runs_read(j->keptfd, &whole, &f);
	j->keeper = ws_keeper_new();
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
wstrim_one(const struct job *j, const char *path, ws_write_fn *sink, void *arg, struct trim_stats *s,
    struct fault *f)
{
	struct trim_opts o = { .level = WS_SMALL, .share = 20, .middle = 2500, .write = sink, .arg = arg };
	char text[WS_EARLY_TEXT];

	if (replay_trim(path, &o, s, f) != 0)
		return -1;
	if (s->early.is && !s->cut)
		warn("%s: %s", j->name, ws_early_text(&s->early, text));
	return 0;
}

static void
wstrim_trim(struct job *j)
{
	struct trim_stats s;
	struct fault f;

	if (wstrim_one(j, j->path, wstrim_sink, j, &s, &f) != 0) {
		out_discard(j->out);
		die_fault(j->name, &f);
	}
	/* what comes after the fault is lost to a replay only, so the file that has it stays */
	if (s.cut && j->in_place) {
		out_discard(j->out);
		die_fault(j->name, &f);
	}
	if (!s.cut)
		wstrim_put_kept(j, wstrim_sink, j);
	out_close(j->out);
	if (s.cut)
		die_fault(j->name, &f);
	if (j->verbose)
		wstrim_report(j->name, j->size, &s);
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
wstrim_run(struct job *j, size_t n, struct ws_run_writer *to, int trimmed)
{
	char *path = xasprintf("/proc/self/fd/%d:%zu", j->fd, n), *name = xasprintf("%s:%zu", j->name, n);
	struct job one = *j;
	struct buf b = BUF_INIT;
	struct trim_stats s;
	struct fault f;

	one.name = name;
	if (trimmed || wstrim_one(&one, path, wstrim_keep, &b, &s, &f) != 0 || (s.cut && j->in_place)) {
		if (!trimmed) {
			warn("%s: stays as it is: %s", name, f.err);
			j->bad = 1;
		}
		wstrim_copy(j, n, ws_run_write, to);
	} else {
		j->bad |= s.cut;
		ws_run_write(to, b.p, b.n);
		if (j->verbose)
			wstrim_report(name, ws_runs_bytes(j->runs, n), &s);
	}
	buf_free(&b);
	free(name);
	free(path);
}

static int
run_is_trimmed(struct job *j, size_t n)
{
	struct fault f;
	struct ws_reader *r = ws_open_run(j->fd, n, &f);
	int trimmed = r && ws_head(r)->flags & WS_TRIMMED;

	ws_close(r);
	return trimmed;
}

/* Each run by itself. */
static void
wstrim_all(struct job *j)
{
	struct ws_runs_writer *w = ws_runs_create(wstrim_sink, j);
	size_t n = ws_runs_count(j->runs);
	struct ws_run_writer **to = xcalloc(n + 1, sizeof *to);

	for (size_t i = 1; w && i <= n; i++)
		to[i] = ws_runs_begin(w, ws_runs_get(j->runs, i));
	for (size_t i = 1; w && i <= n; i++) {
		const struct ws_run *run = ws_runs_get(j->runs, i);

		if (!to[i])
			die("out of memory");
		wstrim_run(j, i, to[i], run_is_trimmed(j, i));
		ws_run_end(to[i], run->end == WS_UNKNOWN ? run->start : run->end);
	}
	if (w)
		wstrim_put_kept(j, ws_runs_write_between, w);
	if (!w || ws_runs_finish(w) != 0)
		die("out of memory");
	ws_runs_close(w);
	free(to);
	out_close(j->out);
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
	int trimmed = is_trimmed(j);
	size_t run;

	if (trimmed && !j->names)
		warn("%s: is trimmed already%s", j->name, j->in_place ? ", and stays as it is" : ", and is copied");
	if (trimmed && j->in_place && !j->names)
		return;
	j->out = out_create(j->in_place ? j->path : outname, out_mode_of(copy ? NULL : j->path));
	out_binary(j->out, "a capture");
	if (!trimmed) {
		wstrim_trim(j);
		return;
	}
	j->fd = ws_open_path(j->path, &run);
	if (j->fd < 0)
		die_sys("%s", j->name);
	wstrim_copy(j, run, wstrim_sink, j);
	wstrim_put_kept(j, wstrim_sink, j);
	close(j->fd);
	out_close(j->out);
}

/* --fetch: all runs, as they are. */
static void
wstrim_fetch(struct job *j, const char *outname, const char *copy)
{
	size_t run;
	struct fault f;

	(void)is_trimmed(j);
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

static void
wstrim_input(struct job *j, const char *outname)
{
	char *copy = NULL;

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
		else if (c == NAMES)
			j.names = 1;
		else
			j.verbose = 1;
	}
	opt_operands(argc, argv, 0, 1);
	if (j.fetch && j.names)
		die_usage("--fetch only copies: --names is for another call");
	j.path = argv[optind];
	wstrim_input(&j, outname);
	return j.bad;
}
