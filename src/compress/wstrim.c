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

#include "base/diag.h"
#include "base/helper.h"
#include "base/opt.h"
#include "base/out.h"
#include "base/progress.h"
#include "base/spool.h"
#include "base/src.h"
#include "replay/guest/replay.h"

static const struct opt wstrim_opts[] = {
	{ 'o', "output", "FILE", "write to FILE; the capture stays as it is" },
	{ 'v', "verbose", NULL, "print the sizes before and after" },
	{ 0 },
};

static const struct opt_tool wstrim_tool = {
	.does = "Makes a capture smaller: leaves out the memory that its replay does not need.",
	.synopsis = "[-v] [-o file] [capture]",
	.example = "wscap -o ls.ws ls; wstrim -v ls.ws",
	.opt = wstrim_opts,
};

struct job {
	const char *path, *name;        /* of the input; name is for diagnostics */
	struct out *out;
	uint64_t size;                  /* of the input */
	int in_place, verbose;
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
	int fd = src_open(j->path), trimmed;

	if (fd < 0 || fstat(fd, &st) < 0)
		die_sys("%s", j->name);
	/* it is read twice, and replaced */
	if (!S_ISREG(st.st_mode))
		die("%s: not a regular file: give it as standard input", j->name);
	j->size = (uint64_t)st.st_size;
	r = ws_open(fd, &f);
	if (!r)
		die_fault(j->name, &f);
	trimmed = (ws_head(r)->flags & WS_TRIMMED) != 0;
	ws_close(r);
	close(fd);
	return trimmed;
}

static void
wstrim_copy(struct job *j)
{
	static char b[1 << 16];
	int fd = src_open(j->path);
	ssize_t n;

	if (fd < 0)
		die_sys("%s", j->name);
	while ((n = read(fd, b, sizeof b)) != 0) {
		if (n < 0 && errno != EINTR)
			die_sys("%s", j->name);
		if (n > 0)
			out_write(j->out, b, (size_t)n);
	}
	close(fd);
}

static void
wstrim_report(const struct job *j, const struct trim_stats *s)
{
	warn("%s: %" PRIu64 " bytes to %" PRIu64 " (%.1f %%), %" PRIu64 " instructions, %" PRIu64 " keyframes",
	    j->name, j->size, s->written, 100.0 * (double)s->written / (double)j->size, s->ninst, s->keys);
}

static void
wstrim_trim(struct job *j)
{
	struct trim_opts o = { .level = WS_SMALL, .share = 20, .middle = 2500,
		.write = wstrim_sink, .arg = j };
	char text[WS_EARLY_TEXT];
	struct trim_stats s;
	struct fault f;

	if (replay_trim(j->path, &o, &s, &f) != 0) {
		out_discard(j->out);
		die_fault(j->name, &f);
	}
	/* what comes after the fault is lost to a replay only, so the file that has it stays */
	if (s.cut && j->in_place) {
		out_discard(j->out);
		die_fault(j->name, &f);
	}
	out_close(j->out);
	if (s.cut)
		die_fault(j->name, &f);
	if (s.early.is)
		warn("%s: %s", j->name, ws_early_text(&s.early, text));
	if (j->verbose)
		wstrim_report(j, &s);
}

static void
wstrim_run(struct job *j, const char *outname)
{
	char *copy = NULL;
	int trimmed;

	j->name = src_name(j->path);
	progress_start(j->name);
	if (src_is_stdin(j->path))
		j->path = copy = spool_stdin();
	trimmed = is_trimmed(j);
	j->in_place = !outname && !copy;
	if (trimmed)
		warn("%s: is trimmed already%s", j->name, j->in_place ? ", and stays as it is" : ", and is copied");
	if (!trimmed || !j->in_place) {
		j->out = out_create(j->in_place ? j->path : outname, out_mode_of(copy ? NULL : j->path));
		out_binary(j->out, "a capture");
	}
	if (!trimmed) {
		wstrim_trim(j);
	} else if (j->out) {
		wstrim_copy(j);
		out_close(j->out);
	}
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
		else
			j.verbose = 1;
	}
	opt_operands(argc, argv, 0, 1);
	j.path = argv[optind];
	wstrim_run(&j, outname);
	return 0;
}
