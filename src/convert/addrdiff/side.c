/* addrdiff: an input, a reference stream, a lackey log or a capture, as a sliding window of references. */
#include "convert/addrdiff/addrdiff.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/confine.h"
#include "base/diag.h"
#include "base/mem.h"
#include "base/src.h"
#include "format/ws/ws.h"
#include "refs/refs.h"

#define CHUNK 16384u    /* words read at a time: the windows of both sides stay in the cache */
#define ROOM  (CONTEXT_MAX + 2 * CHUNK)

static int
side_put(void *out, const uint64_t *w, size_t n)
{
	while (n) {
		size_t k = n < OUT_ROOM / REF_PUT_MAX ? n : OUT_ROOM / REF_PUT_MAX;

		out_commit(out, ref_put(REF_ADDR, out_reserve(out, k * REF_PUT_MAX), w, k));
		w += k;
		n -= k;
	}
	return 0;
}

/* The process that replays a capture; a message about it is its own. */
static _Noreturn void
side_child(struct in *in, const char *path, int fd, int quiet)
{
	struct refs_source q = { .path = path, .in = in, .to = REFS_END };
	struct out *out = out_of_fd(fd, "a pipe");
	struct refs *s;
	struct fault f;
	const char *warning;
	size_t said = 0;
	int got;

	confine_jobs(2);
	s = refs_open(&q);
	/* what is known of the capture now is said before it has a difference, which ends this process */
	if ((warning = refs_warning(s)) != NULL) {
		said = strlen(warning) + 2;
		if (!quiet)
			warn("%s: %s", refs_path(s), warning);
	}
	ref_put_header(out_reserve(out, REF_HEADER));
	out_commit(out, REF_HEADER);
	got = refs_run(s, side_put, out, &f);
	warning = refs_warning(s);
	out_end(out, refs_path(s), got == REFS_BAD ? &f : NULL,
	    quiet || !warning || strlen(warning) < said ? NULL : warning + said);
	exit(0);
}

/*
 * A replay confines its process, which can have one: a capture is replayed by another process. in: a capture from
 * standard input; NULL: the file is opened there.
 */
static void
side_replay(struct side *s, struct in *in, const char *path, int quiet)
{
	int fd[2];

	if (pipe(fd) != 0 || (s->pid = fork()) < 0)
		die_sys("%s: no process for it", src_name(path));
	if (!s->pid) {
		close(fd[0]);
		side_child(in, path, fd[1], quiet);
	}
	close(fd[1]);
	in_close(in);
	s->in = in_of_fd(fd[0], src_name(path));
}

/* The end of the process that replays; where it failed, it has said why. */
static void
side_wait(struct side *s)
{
	int status;

	if (!s->pid)
		return;
	while (waitpid(s->pid, &status, 0) < 0)
		if (errno != EINTR)
			die_sys("%s", in_name(s->in));
	s->pid = 0;
	if (WIFSIGNALED(status))
		die("%s: the process that replayed it was ended by signal %d", in_name(s->in), WTERMSIG(status));
	if (WEXITSTATUS(status))
		exit(diag_exit_status());
}

void
side_open(struct side *s, const char *path, int quiet)
{
	const uint8_t *p;
	size_t n;

	memset(s, 0, sizeof(*s));
	s->w = xreallocarray(NULL, ROOM, sizeof(*s->w));
	if (refs_is_capture(path)) {
		side_replay(s, NULL, path, quiet);
	} else {
		s->in = in_open(path);
		p = in_peek(s->in, REF_HEADER, &n);
		if (ws_is_capture(p, n))
			side_replay(s, s->in, path, quiet);
	}
	p = in_peek(s->in, REF_HEADER, &n);
	if (!n)
		side_wait(s);
	if (!n)
		die("%s: %s", in_name(s->in), in_error(s->in) ? in_error(s->in) : "empty input");
	if (p[0] == 0x89) {
		if (ref_open(&s->ref, s->in) < 0)
			die_at(in_name(s->in), s->ref.off, DIAG_NOREC, "%s", s->ref.err);
	} else {
		s->log = 1;
		lackey_open(&s->lackey, s->in);
	}
}

void
side_read_to_end(struct side *s)
{
	size_t n;

	if (!in_has_checksum(s->in))
		return;
	while (in_peek(s->in, 1, &n), n)
		in_skip(s->in, n);
	if (in_error(s->in))
		die_at(in_name(s->in), in_off(s->in), DIAG_NOREC, "%s", in_error(s->in));
}

void
side_close(struct side *s)
{
	in_close(s->in);
	/* it may be in the middle of the capture */
	if (s->pid && kill(s->pid, SIGKILL) == 0)
		waitpid(s->pid, NULL, 0);
	free(s->w);
}

void
side_die(const struct side *s)
{
	if (s->log && !s->lackey.nrec && !s->lackey.err)
		die("%s: neither a reference stream nor a lackey log", in_name(s->in));
	if (s->log)
		die_at(in_name(s->in), s->lackey.off, s->lackey.nrec + 1, "%s", s->lackey.err);
	die_at(in_name(s->in), s->ref.off, s->ref.nrec + 1, "%s", s->ref.err);
}

static uint64_t
count_inst(const uint64_t *w, size_t n)
{
	uint64_t k = 0;
	size_t i;

	for (i = 0; i < n; i++)
		k += ref_kind(w[i]) == REF_INST;
	return k;
}

uint64_t
side_ref(const struct side *s, size_t i)
{
	return s->nref + i + 1;
}

uint64_t
side_inst(const struct side *s, size_t i)
{
	return s->ninst + count_inst(s->w, i < s->n ? i + 1 : s->n);
}

/* Addresses of a file's image, with others for each file, become those of prog.c. */
static void
side_unload(const struct prog *p, uint64_t load, uint64_t *w, size_t n)
{
	uint64_t lo, hi;

	prog_image(p, &lo, &hi);
	for (size_t i = 0; i < n; i++) {
		uint64_t at = ref_addr(w[i]) - load;

		if (ref_kind(w[i]) != REF_TASK && at >= lo && at < hi)
			w[i] = ref_make(ref_kind(w[i]), at + prog_at(p), ref_size(w[i]));
	}
}

/* Drops words that are not compared, in place; returns the number of the others. */
static size_t
side_filter(struct side *s, uint64_t *w, size_t n)
{
	size_t i, k = 0, f = 0;

	if (!s->prog && !s->noloops)
		return n;
	for (const struct prog *p = s->load ? s->prog : NULL; p; p = prog_next(p), f++)
		if (s->load[f] != prog_at(p))
			side_unload(p, s->load[f], w, n);
	for (i = 0; i < n; i++) {
		unsigned kind = ref_kind(w[i]);

		if (kind >= REF_ENTER) {
			w[k] = w[i];
			k += !s->noloops &&
			    (!s->prog || kind == REF_TASK || prog_traced(s->prog, ref_addr(w[i])));
			continue;
		}
		w[k] = w[i];
		if (!s->prog) {
			k++;
		} else if (kind == REF_INST) {
			s->keep = prog_traced(s->prog, ref_addr(w[i]));
			s->keepdata = s->keep && !(s->log && prog_registers(s->prog, ref_addr(w[i])));
			k += (size_t)s->keep;
		} else {
			k += (size_t)s->keepdata;
		}
	}
	return k;
}

/* Drops what is not of the instructions asked for, in place; returns the number of the other words. */
static size_t
side_range(struct side *s, uint64_t *w, size_t n)
{
	size_t k = 0;

	if (!s->from && s->to == UINT64_MAX)
		return n;
	for (size_t i = 0; i < n; i++) {
		int inst = ref_kind(w[i]) == REF_INST;

		if (inst && s->seen == s->to) {
			s->end = 1;
			break;
		}
		s->seen += (uint64_t)inst;
		if (s->seen > s->from || !s->from) {
			w[k++] = w[i];
		} else {
			s->nref++;
			s->ninst += (uint64_t)inst;
			s->refs_before++;
			s->insts_before += (uint64_t)inst;
		}
	}
	return k;
}

int
side_more(struct side *s)
{
	size_t drop;
	long k;

	if (s->n + CHUNK > ROOM) {
		drop = s->pos > CONTEXT_MAX ? s->pos - CONTEXT_MAX : 0;
		s->nref += drop;
		s->ninst += count_inst(s->w, drop);
		memmove(s->w, s->w + drop, (s->n - drop) * sizeof(*s->w));
		s->pos -= drop;
		s->n -= drop;
	}
	if (s->n + CHUNK > ROOM)
		return 0;
	while (!s->end) {
		k = s->log ? lackey_read(&s->lackey, s->w + s->n, CHUNK) :
		    ref_read(&s->ref, s->w + s->n, CHUNK);
		if (k <= 0) {
			side_wait(s);
			s->end = 1;
			s->fault = k < 0 || (s->log && !s->lackey.nrec);
			break;
		}
		k = (long)side_range(s, s->w + s->n, side_filter(s, s->w + s->n, (size_t)k));
		s->n += (size_t)k;
		if (k)
			return 1;
	}
	return 0;
}
