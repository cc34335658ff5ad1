/* ws2laplace: convert a capture to Laplace's raw references and kernel trace. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/in.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/opt.h"
#include "base/progress.h"
#include "base/spool.h"
#include "base/src.h"
#include "convert/ws2laplace/ws2laplace.h"
#include "format/ws/runs.h"

static const struct opt ws2laplace_opts[] = {
	{ 'a', "space", "N", "number of the address space (1)" },
	{ 'f', "format", "FORMAT", "of the references: classic, wide (the default) or text" },
	{ 'k', "kernel", "FILE", "where the kernel trace goes" },
	OPT_RANGE,
	{ 'o', "output", "FILE", "where the references go, if not to standard output" },
	{ 'p', "pid", "N", "number of the task (1)" },
	{ 't', "time", "N", "time of the first instruction (0)" },
	{ 0 },
};

static const struct opt_tool ws2laplace_tool = {
	.does = "Replays a capture and writes the raw references and the kernel trace that laplace-merge reads.",
	.synopsis = "[-f format] [-a space] [-p pid] [-t time] [-o refs] -k kernel [capture]\n"
	    "-n from:to [-f format] [-a space] [-t time] [-o refs] [capture]",
	.example = "ws2laplace -k kernel -o refs ls.ws; laplace-merge -o traces refs kernel",
	.opt = ws2laplace_opts,
};

_Noreturn void
job_bad(struct job *j, const struct fault *f)
{
	if (j->refs)
		out_discard(j->refs);
	if (j->kernel)
		out_discard(j->kernel);
	die_fault(src_name(j->path), f);
}

/* The capture is read twice: input from a pipe is copied to an unnamed file. */
static int
ws2laplace_spool(void)
{
	char *path = spool_stdin();
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	free(path);
	return fd;
}

static void
ws2laplace_number(uint64_t max, uint64_t *v)
{
	if (num_u64(optarg, 0, max, v) != 0)
		opt_wrong("not a number of at most %llu", (unsigned long long)max);
}

static enum lap_form
ws2laplace_format(const char *name)
{
	static const char *const forms[] = { "classic", "wide", "text" };

	for (int i = 0; i < 3; i++)
		if (!strcmp(name, forms[i]))
			return (enum lap_form)i;
	opt_wrong("not a format; there are classic, wide and text");
}

static void
ws2laplace_header(const struct job *j)
{
	if (j->form != LAP_WIDE)
		return;
	lap_put_header(out_reserve(j->refs, LAP_HEADER), LAP_H_REFS);
	out_commit(j->refs, LAP_HEADER);
}

/*
 * Replays the capture once and writes the traces for which j has outputs, which it closes.  Damage ends the
 * tool, or only discards the kernel trace if there were no references to write.
 */
static void
ws2laplace_run(struct job j, const char *real)
{
	char early[WS_EARLY_TEXT];
	struct fault f;
	const uint64_t *w;
	size_t n;
	int got;

	j.call.nr = UINT64_MAX;
	struct replay *r = replay_open_watched(real, call_record, &j, &f);
	if (!r)
		job_bad(&j, &f);
	j.r = r;
	call_begin(&j, replay_header(r));
	if (j.refs)
		ws2laplace_header(&j);
	while ((got = replay_refs(r, &w, &n)) == REPLAY_OK)
		emit_refs(&j, w, n);
	emit_until(&j, got == REPLAY_BAD ? j.icount : UINT64_MAX);
	if (got == REPLAY_BAD && j.refs)
		job_bad(&j, replay_fault(r));
	if (j.refs && replay_early(r))
		warn("%s: %s", src_name(j.path), ws_early_text(replay_early(r), early));
	replay_close(r);
	/* neither gets its name before both are written */
	if (j.refs && j.kernel)
		out_flush(j.kernel);
	if (j.refs)
		out_close(j.refs);
	if (j.kernel)
		(got == REPLAY_BAD ? out_discard : out_close)(j.kernel);
	open_free(&j);
	emit_free(&j);
}

/* References of a part of the run, without a kernel trace */
static void
ws2laplace_part(struct job *j, const char *real, uint64_t from, uint64_t to)
{
	char early[WS_EARLY_TEXT];
	struct fault f;
	const uint64_t *w;
	size_t n;
	int got;

	j->r = replay_open(real, &f);
	if (!j->r)
		job_bad(j, &f);
	ws2laplace_header(j);
	got = replay_skip(j->r, from);
	replay_until(j->r, to);
	j->icount = from;
	while (got == REPLAY_OK && (got = replay_refs(j->r, &w, &n)) == REPLAY_OK)
		emit_refs(j, w, n);
	if (got == REPLAY_BAD)
		job_bad(j, replay_fault(j->r));
	if (replay_early(j->r))
		warn("%s: %s", src_name(j->path), ws_early_text(replay_early(j->r), early));
	if (replay_icount(j->r) < from)
		warn("%s: " OPT_EMPTY_RANGE, src_name(j->path), replay_icount(j->r));
	replay_close(j->r);
	out_close(j->refs);
	emit_free(j);
}

/*
 * A program that reads the references from a pipe needs the kernel trace at once.  The trace would be
 * complete only after the last reference.
 */
static int
ws2laplace_kernel_first(const struct job *j)
{
	struct stat refs, kernel;

	return fstat(out_fd(j->refs), &refs) == 0 && fstat(out_fd(j->kernel), &kernel) == 0 &&
	    (S_ISFIFO(refs.st_mode) || S_ISSOCK(refs.st_mode)) && S_ISREG(kernel.st_mode);
}

static void
ws2laplace_both(struct job *j, const char *real)
{
	struct job only = *j;

	if (ws2laplace_kernel_first(j)) {
		only.refs = NULL;
		ws2laplace_run(only, real);     /* damage is reported below, after the references before it */
		j->kernel = NULL;
	}
	ws2laplace_run(*j, real);
}

int
main(int argc, char **argv)
{
	struct job j = { .form = LAP_WIDE, .pid = 1, .space = 1 };
	const char *refs = NULL, *kernel = NULL;
	char *real, others[WS_OTHERS_TEXT];
	uint64_t from = 0, to = UINT64_MAX;
	size_t run = 0;
	int c, fd, part = 0;

	diag_init(argv[0], 1);
	while ((c = opt_next(&ws2laplace_tool, argc, argv)) != -1)
		switch (c) {
		case 'a': ws2laplace_number(UINT64_MAX, &j.space); break;
		case 'f': j.form = ws2laplace_format(optarg); break;
		case 'k': kernel = optarg; break;
		case 'n':
			part = 1;
			if (num_range(optarg, UINT64_MAX, &from, &to) != 0)
				opt_wrong(OPT_BAD_RANGE);
			break;
		case 'o': refs = optarg; break;
		case 'p': ws2laplace_number(UINT32_MAX, &j.pid); break;
		case 't': ws2laplace_number(UINT64_MAX, &j.start); break;
		}
	opt_operands(argc, argv, 0, 1);
	if (part && kernel)
		die_usage("-n comes without -k: the kernel trace is that of the whole run");
	if (!part && !kernel)
		die_usage("-k with a file for the kernel trace is missing");
	if (kernel && !strcmp(kernel, "-") && (!refs || !strcmp(refs, "-")))
		die_usage("only one of -k and -o can be standard output");
	if (j.form == LAP_CLASSIC && j.space >> 32)
		die("an address space of more than 32 bits needs the wide form");
	j.path = argv[optind];
	out_replaces(kernel);
	progress_start(src_name(j.path));
	if (src_is_stdin(j.path)) {
		fd = lseek(STDIN_FILENO, 0, SEEK_CUR) == 0 ? dup(STDIN_FILENO) : ws2laplace_spool();
	} else {
		fd = ws_open_path(j.path, &run);
	}
	if (fd < 0)
		die_sys("%s", src_name(j.path));
	if (!part)
		call_scan(&j, fd, run);
	real = run ? xasprintf("/proc/self/fd/%d:%zu", fd, run) : xasprintf("/proc/self/fd/%d", fd);
	if (ws_others(real, others))
		warn("%s: %s", src_name(j.path), others);
	j.refs = out_open(refs);
	out_binary(j.refs, "a reference trace");
	if (part) {
		progress_limit(to);
		ws2laplace_part(&j, real, from, to);
	} else {
		j.kernel = out_open(kernel);
		out_binary(j.kernel, "a kernel trace");
		ws2laplace_both(&j, real);
	}
	free(j.mapped);
	free(real);
	close(fd);
	return 0;
}
