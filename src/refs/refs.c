/* Recognizes a source of references and gives them on. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/mem.h"
#include "base/opt.h"
#include "base/src.h"
#include "base/temp.h"
#include "format/kind.h"
#include "format/ws/runs.h"
#include "refs/refs_internal.h"

static const char unknown[] = "no references: neither a reference stream, a lackey log, a capture, "
    "a program compiled by aecc, nor another format that addrconv reads";

int
refs_fail(struct refs *s, const struct fault *f)
{
	s->bad = 1;
	s->fault = *f;
	return -1;
}

int
refs_fail_text(struct refs *s, uint64_t off, const char *text)
{
	struct fault f = { .line = 0 };

	fault_set(&f, off, DIAG_NOREC, "%s", text);
	return refs_fail(s, &f);
}

int
refs_give(struct refs *s, const uint64_t *w, size_t n)
{
	if (n && !s->ended && (s->status = s->take(s->arg, w, n)) != 0)
		s->ended = 1;
	return s->ended;
}

/* The index of the first fetch after `skip` others. */
static size_t
refs_fetch(const uint64_t *w, size_t n, uint64_t skip)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (ref_kind(w[i]) == REF_INST && skip-- == 0)
			break;
	return i;
}

int
refs_give_counted(struct refs *s, const uint64_t *w, size_t n)
{
	uint64_t ninst = 0, seen = s->seen;

	if (!s->q.from && s->q.to == REFS_END)
		return refs_give(s, w, n);
	for (size_t i = 0; i < n; i++)
		ninst += ref_kind(w[i]) == REF_INST;
	s->seen += ninst;
	if (s->seen > s->q.to) {
		n = refs_fetch(w, n, s->q.to - seen);
		s->ended = 1;
	}
	if (seen <= s->q.from && s->q.from) {
		size_t before = refs_fetch(w, n, s->q.from - seen);

		w += before;
		n -= before;
	}
	if (n && (s->status = s->take(s->arg, w, n)) != 0)
		s->ended = 1;
	return s->ended;
}

static int
refs_run_stream(struct refs *s)
{
	const uint64_t *w;
	long k;

	while ((k = ref_next(&s->ref, &w, s->room, REFS_ROOM)) > 0)
		if (refs_give_counted(s, w, (size_t)k) != 0)
			return 0;
	if (k < 0) {
		struct fault f = { .line = 0 };

		fault_set(&f, s->ref.off, s->ref.nrec + 1, "%s", s->ref.err);
		return refs_fail(s, &f);
	}
	return 0;
}

static int
refs_run_log(struct refs *s)
{
	struct fault f = { .line = 0 };
	long k;

	while ((k = lackey_read(&s->log, s->room, REFS_ROOM)) > 0)
		if (refs_give_counted(s, s->room, (size_t)k) != 0)
			return 0;
	if (k < 0) {
		fault_set(&f, s->log.off, s->log.nrec + 1, "%s", s->log.err);
		return refs_fail(s, &f);
	}
	return s->log.nrec ? 0 : refs_fail_text(s, DIAG_NOOFF, unknown);
}

static int
refs_run_trace(struct refs *s)
{
	long k;

	while ((k = trace_read(&s->trace, s->room, REFS_ROOM)) > 0)
		if (refs_give_counted(s, s->room, (size_t)k) != 0)
			return 0;
	return k < 0 ? refs_fail(s, &s->trace.fault) : 0;
}

/* A file of ours that has no references, as it is */
static int
refs_fail_kind(struct refs *s, const uint8_t *p, size_t n)
{
	const struct kind *k = kind_of(p, n);
	struct fault f = { .line = 0 };

	if (!k)
		return refs_fail_text(s, DIAG_NOOFF, unknown);
	fault_set(&f, DIAG_NOOFF, DIAG_NOREC, "%s, not references: %s", k->what, k->use);
	return refs_fail(s, &f);
}

/* Unpacks a capture that is compressed or comes from a pipe. */
static int
refs_unpack(struct refs *s)
{
	int fd = temp_unnamed(diag_name());
	const uint8_t *p;
	size_t n;

	while (fd >= 0 && (p = in_peek(s->in, 1, &n), n)) {
		ssize_t k = write(fd, p, n);

		if (k < 0 && errno != EINTR)
			break;
		in_skip(s->in, k < 0 ? 0 : (size_t)k);
	}
	if (in_error(s->in))
		return refs_fail_text(s, in_off(s->in), in_error(s->in));
	if (fd < 0 || n) {
		struct fault f = { .line = 0 };

		fault_set(&f, DIAG_NOOFF, DIAG_NOREC, "no temporary file: %s", strerror(errno));
		return refs_fail(s, &f);
	}
	s->copy = xasprintf("/proc/self/fd/%d", fd);
	return refs_open_capture(s, s->copy);
}

int
refs_is_capture(const char *path)
{
	uint8_t head[8];
	struct src src;
	size_t run;
	int fd = src_is_stdin(path) ? -1 : ws_open_path(path, &run), is;

	if (fd < 0)
		return 0;
	is = src_fd(&src, fd) == 0 && src.seeks && ws_is_capture(head, src_read(&src, 0, head, sizeof head));
	close(fd);
	return is;
}

/* The format of what is no binary file of ours; a pipe may give its beginning piece by piece. */
static enum trace_format
refs_trace_format(struct refs *s)
{
	enum trace_format f = s->q.format;
	const uint8_t *p;
	size_t n;

	if (f == TRACE_ANY) {
		p = in_line(s->in, TRACE_PEEK, &n, &(const uint8_t *){ NULL });
		f = trace_recognize(p, n);
	}
	return f == TRACE_LACKEY ? TRACE_ANY : f;
}

static int
refs_recognize(struct refs *s)
{
	enum trace_format f;
	const uint8_t *p;
	size_t n;

	if (!s->q.in && refs_is_capture(s->q.path)) {
		s->path = s->q.path;
		s->kind = REFS_CAPTURE;
		return refs_open_capture(s, s->q.path);
	}
	s->in = s->q.in ? s->q.in : in_open(s->q.path);
	s->path = in_name(s->in);
	p = in_peek(s->in, REF_HEADER, &n);
	if (!n)
		return refs_fail_text(s, in_error(s->in) ? in_off(s->in) : DIAG_NOOFF,
		    in_error(s->in) ? in_error(s->in) : "empty input");
	if (ws_is_capture(p, n)) {
		s->kind = REFS_CAPTURE;
		return refs_unpack(s);
	}
	if (n >= 4 && memcmp(p, "\177ELF", 4) == 0) {
		s->kind = REFS_PROGRAM;
		return refs_open_program(s);
	}
	s->kind = REFS_STREAM;
	if (ref_is_stream(p, n))
		return ref_open(&s->ref, s->in) == 0 ? 0 : refs_fail_text(s, s->ref.off, s->ref.err);
	if (p[0] == 0x89 || s->q.format == TRACE_ADDR)
		return refs_fail_kind(s, p, n);
	if ((f = refs_trace_format(s)) != TRACE_ANY) {
		s->kind = REFS_TRACE;
		return trace_open(&s->trace, s->in, f, s->q.size) == 0 ? 0 : refs_fail(s, &s->trace.fault);
	}
	s->kind = REFS_LOG;
	lackey_open(&s->log, s->in);
	return 0;
}

/* An executable that is not needed, as the source has names: one that is not there is an error all the same. */
static void
refs_try_exe(struct refs *s, const char *path)
{
	struct exe x;

	if (exe_open(&x, path) != 0) {
		s->path = src_name(path);
		refs_fail_text(s, DIAG_NOOFF, x.err);
		return;
	}
	exe_close(&x);
}

struct refs *
refs_open(const struct refs_source *q)
{
	struct refs *s = xcalloc(1, sizeof *s);

	s->q = *q;
	if (refs_recognize(s) != 0)
		return s;
	if (q->events && s->kind != REFS_PROGRAM)
		refs_fail_text(s, DIAG_NOOFF, "is no program, so an event file cannot belong to it");
	else if (q->exe && s->kind != REFS_CAPTURE && s->kind != REFS_PROGRAM)
		refs_open_exe(s, q->exe);
	else if (q->exe)
		refs_try_exe(s, q->exe);
	return s;
}

void
refs_close(struct refs *s)
{
	if (!s)
		return;
	if (s->r)
		replay_close(s->r);
	refs_loops_free(s->loops);
	wsource_free(s->source);
	areas_free(s->areas);
	if (s->has_prog)
		prog_free(&s->prog);
	if (s->has_exe)
		exe_close(&s->exe);
	libs_free(&s->libs);
	if (s->in)
		in_close(s->in);
	free(s->copy);
	free(s->events);
	free(s);
}

/* A range that begins after the end gives no references: zeros would look like those of a run. */
static void
refs_say_range(struct refs *s)
{
	uint64_t all = s->kind == REFS_CAPTURE ? replay_icount(s->r) : s->seen;
	size_t n = strlen(s->warning);

	if (!s->ended && all < s->q.from)
		snprintf(s->warning + n, sizeof s->warning - n, "%s" OPT_EMPTY_RANGE, n ? "; " : "", all);
}

int
refs_run(struct refs *s, refs_fn *take, void *arg, struct fault *f)
{
	static int (*const run[])(struct refs *) = {
		[REFS_STREAM] = refs_run_stream, [REFS_LOG] = refs_run_log, [REFS_TRACE] = refs_run_trace,
		[REFS_CAPTURE] = refs_run_capture, [REFS_PROGRAM] = refs_run_program,
	};

	s->take = take;
	s->arg = arg;
	if (!s->bad)
		run[s->kind](s);
	if (s->status)
		return s->status;
	if (!s->bad) {
		refs_say_range(s);
		return 0;
	}
	*f = s->fault;
	return REFS_BAD;
}

const char *
refs_path(const struct refs *s)
{
	return s->path;
}

const char *
refs_warning(const struct refs *s)
{
	return s->warning[0] ? s->warning : NULL;
}
