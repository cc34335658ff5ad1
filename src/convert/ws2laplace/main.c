/* ws2laplace: a capture to raw references and a kernel trace of Laplace. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/in.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/src.h"
#include "convert/ws2laplace/ws2laplace.h"

#define SYNOPSIS "[-f classic|wide|text] [-a space] [-p pid] [-t time] [-o refs] -k kernel [capture]"

_Noreturn void
job_bad(struct job *j, const struct fault *f)
{
	const char *path = j->path && strcmp(j->path, "-") != 0 ? j->path : "standard input";

	if (j->refs) {
		out_discard(j->refs);
		out_discard(j->kernel);
	}
	die_fault(path, f);
}

/* The capture is read twice: input from a pipe is copied to an unnamed file. */
static int
ws2laplace_spool(void)
{
	FILE *f = tmpfile();
	char buf[65536];
	ssize_t n;

	if (!f)
		die_sys("a temporary file");
	while ((n = read(STDIN_FILENO, buf, sizeof buf)) > 0)
		if (fwrite(buf, 1, (size_t)n, f) != (size_t)n)
			die_sys("a temporary file");
	if (n < 0)
		die_sys("standard input");
	if (fflush(f) != 0)
		die_sys("a temporary file");
	return fileno(f);
}

static int
ws2laplace_option(struct job *j, const char **refs, const char **kernel, int c)
{
	static const char *const forms[] = { "classic", "wide", "text" };

	switch (c) {
	case 'a': return num_u64(optarg, 0, UINT64_MAX, &j->space);
	case 'p': return num_u64(optarg, 0, UINT32_MAX, &j->pid);
	case 't': return num_u64(optarg, 0, UINT64_MAX, &j->start);
	case 'k': *kernel = optarg; return 0;
	case 'o': *refs = optarg; return 0;
	case 'f':
		for (int i = 0; i < 3; i++)
			if (!strcmp(optarg, forms[i])) {
				j->form = (enum lap_form)i;
				return 0;
			}
		return -1;
	default: return -1;
	}
}

static void
ws2laplace_run(struct job *j, const char *real)
{
	char early[WS_EARLY_TEXT];
	struct fault f;
	const uint64_t *w;
	size_t n;
	int got;

	j->r = NULL;
	j->call.nr = UINT64_MAX;
	struct replay *r = replay_open_watched(real, call_record, j, &f);
	if (!r)
		job_bad(j, &f);
	j->r = r;
	call_begin(j, replay_header(r));
	if (j->form == LAP_WIDE) {
		lap_put_header(out_reserve(j->refs, LAP_HEADER), 0);
		out_commit(j->refs, LAP_HEADER);
	}
	while ((got = replay_refs(r, &w, &n)) == REPLAY_OK)
		emit_refs(j, w, n);
	emit_until(j, got == REPLAY_BAD ? j->icount : UINT64_MAX);
	if (got == REPLAY_BAD)
		job_bad(j, replay_fault(r));
	if (replay_early(r))
		warn("%s: %s", j->path && strcmp(j->path, "-") ? j->path : "standard input",
		    ws_early_text(replay_early(r), early));
	replay_close(r);
}

int
main(int argc, char **argv)
{
	struct job j = { .form = LAP_WIDE, .pid = 1, .space = 1 };
	const char *refs = NULL, *kernel = NULL;
	char *real;
	int c, fd;

	diag_init(argv[0], 1);
	while ((c = getopt(argc, argv, "a:f:k:o:p:t:")) != -1)
		if (ws2laplace_option(&j, &refs, &kernel, c) != 0)
			die_usage(SYNOPSIS);
	if (argc - optind > 1 || !kernel || (!strcmp(kernel, "-") && (!refs || !strcmp(refs, "-"))))
		die_usage(SYNOPSIS);
	if (j.form == LAP_CLASSIC && j.space >> 32)
		die("an address space of more than 32 bits needs the wide form");
	j.path = argv[optind];
	if (!j.path || !strcmp(j.path, "-")) {
		fd = lseek(STDIN_FILENO, 0, SEEK_CUR) == 0 ? dup(STDIN_FILENO) : ws2laplace_spool();
	} else {
		fd = src_open(j.path);
	}
	if (fd < 0)
		die_sys("%s", j.path ? j.path : "standard input");
	call_scan(&j, fd);
	real = xasprintf("/proc/self/fd/%d", fd);
	j.refs = out_open(refs);
	j.kernel = out_open(kernel);
	ws2laplace_run(&j, real);
	out_close(j.refs);
	out_close(j.kernel);
	open_free(&j);
	emit_free(&j);
	free(j.mapped);
	free(real);
	close(fd);
	return 0;
}
