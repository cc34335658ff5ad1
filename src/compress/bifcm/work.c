/*
 * bifcm: the work on one file.
 *
 * A compressed stream may come from a stranger, and what decodes it is a lot of code. So each file
 * is read by a child process of its own that is confined (base/confine.h) before it looks at the
 * first byte: it has the input, the output and standard error open, can compute and write to them,
 * and cannot open, rename or remove a file. Its parent opens the files before, and gives the output
 * its name, mode and times and removes the input after the child has said by its exit status that
 * all is well. An error in a file ends only its child.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/confine.h"
#include "base/diag.h"
#include "base/mem.h"
#include "base/progress.h"
#include "compress/bifcm/bifcm.h"
#include "format/ref/ref.h"

#define PIECE (256u << 10)      /* bytes read at once */

static int
work_put(void *arg, const void *p, size_t n)
{
	out_write(arg, p, n);
	return 0;
}

static int
work_ignore(void *arg, const void *p, size_t n)
{
	(void)arg, (void)p, (void)n;
	return 0;
}

#define MIB ((uint64_t)1 << 20)

/* Refuses a file that takes more memory than it may; with -v, says how much it takes. */
static void
work_memory(const struct job *j, uint64_t need, unsigned threads)
{
	const struct args *a = j->a;
	unsigned long long most = a->memory, mib = (need + MIB - 1) / MIB;

	if (most && need > most && most < MIB)
		die("%s: it takes %llu MiB of memory, and -M allows %llu byte%s", j->in->name, mib, most, most > 1 ? "s" : "");
	if (most && need > most)
		die("%s: it takes %llu MiB of memory, and -M allows %llu", j->in->name, mib, most / MIB);
	if (a->verbose)
		warn("%s: at most %llu MiB of memory, with %u thread%s", j->in->name, mib, threads, threads > 1 ? "s" : "");
}

/* The sizes of blocks and the threads with which it takes no more than it may. n: bytes that were read */
static void
work_within(const struct job *j, struct vs_options *o, size_t n)
{
	struct stat st;
	uint64_t bytes = UINT64_MAX;

	if (!j->a->memory && !j->a->verbose)
		return;
	if (n < PIECE)          /* it ends here */
		bytes = n;
	else if (fstat(j->in->fd, &st) == 0 && S_ISREG(st.st_mode))
		bytes = (uint64_t)st.st_size;
	work_memory(j, j->a->memory ? vs_write_within(o, bytes, j->a->memory, j->a->sizes) :
	    vs_write_memory(o, bytes), o->threads);
}

static void
work_compress(struct job *j)
{
	struct vs_options o = j->a->o;
	uint8_t *p = xmalloc(PIECE), *head = xmalloc(j->a->nhead + 1);
	struct vs_writer *w;
	struct fault f;
	size_t n, more = 0;

	o.head = head;
	o.nhead = input_read(j->in, head, j->a->nhead);
	if (j->a->refs && !ref_is_stream(head, o.nhead))
		die_at(j->in->name, 0, DIAG_NOREC,
		    "not a reference stream; if its header is missing, use -H 0");
	/* nothing is written before the input is known to be readable */
	n = input_read(j->in, p, PIECE);
	if (j->a->guess) {
		guess_options(j->a, &o, p, n, &more);
		o.head = head = xrealloc(head, o.nhead + more + 1);
		memcpy(head + o.nhead, p, more);
		o.nhead += more;
	}
	work_within(j, &o, n);
	w = vs_create(work_put, j->out, &o, &f);
	if (!w)
		die("%s", f.err);
	if (vs_write(w, p + more, n - more) != 0)
		die("%s", vs_write_fault(w)->err);
	for (n = input_read(j->in, p, PIECE); n; n = input_read(j->in, p, PIECE))
		if (vs_write(w, p, n) != 0)
			die("%s", vs_write_fault(w)->err);
	if (vs_finish(w) != 0)
		die("%s", vs_write_fault(w)->err);
	vs_free(w);
	free(head);
	free(p);
}

/* Writes what was read before a fault, then reports the fault. */
static _Noreturn void
work_fault(struct job *j, const struct fault *f)
{
	if (j->out)
		out_flush(j->out);
	die_fault(j->in->name, f);
}

static void
work_decompress(struct job *j, struct vs_reader *r)
{
	const struct args *a = j->a;
	const struct vs_info *info = vs_info(r);
	const struct vs_index *x;
	struct fault f;
	int bad;

	out_write(j->out, info->head, info->nhead);
	if (!a->part)
		bad = vs_copy(r, j->threads, work_put, j->out, &f);
	else
		bad = vs_walk(r, a->start, a->count, a->backward, j->threads, work_put, j->out, &f);
	if (!bad && a->part && (x = vs_index(r, &f)) && !x->whole) {
		f = x->fault;
		bad = -1;
	}
	if (bad)
		work_fault(j, &f);
}

static void
work_list(struct job *j, struct vs_reader *r)
{
	struct fault f;
	const struct vs_index *x = vs_index(r, &f);

	if (!x)
		work_fault(j, &f);
	bifcm_list_print(r, j);
	if (!x->whole)
		work_fault(j, &x->fault);
}

/* The threads with which reading takes no more memory than it may: their number. */
static unsigned
work_threads(const struct job *j, struct vs_reader *r)
{
	unsigned threads = j->a->o.threads;

	while (threads > 1 && j->a->memory && vs_read_memory(r, threads) > j->a->memory)
		threads--;
	if (vs_info(r)->seeks && (j->a->memory || j->a->verbose))
		work_memory(j, vs_read_memory(r, threads), threads);
	vs_read_limit(r, j->a->memory, threads);
	return threads;
}

static void
work_expand(struct job *j)
{
	struct fault f;
	struct vs_reader *r = vs_open(j->in->fd, &f);

	if (!r)
		work_fault(j, &f);
	if (j->a->action == LIST) {
		work_list(j, r);
		vs_close(r);
		return;
	}
	j->threads = work_threads(j, r);
	if (j->a->action == DECOMPRESS)
		work_decompress(j, r);
	else if (vs_copy(r, j->threads, work_ignore, NULL, &f) != 0)
		work_fault(j, &f);
	if (j->a->verbose && !vs_info(r)->seeks)
		work_memory(j, vs_read_memory(r, j->threads), j->threads);
	if (j->a->verbose && j->a->action == TEST)
		warn("%s: OK", j->in->name);
	vs_close(r);
}

static _Noreturn void
work_child(struct job *j, pid_t parent)
{
	const char *why;

	/* a signal that ends the parent, which removes the unfinished output, ends this process, too */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent)
		_exit(FAILED);
	progress_start(j->in->name);
	progress_input(j->in->fd);
	if (j->a->action == LIST || j->a->part)
		input_spool(j->in);
	if (j->outfd >= 0)
		j->out = out_of_fd(j->outfd, j->outname);
	if (confine_process(NULL, NULL, &why) != 0)
		die("%s", why);
	if (j->a->action == COMPRESS)
		work_compress(j);
	else
		work_expand(j);
	if (j->out)
		out_flush(j->out);
	progress_clear();
	confine_exit();
}

enum status
work_run(struct job *j)
{
	pid_t parent = getpid(), pid;
	int status;

	if (j->out)
		out_flush(j->out);      /* otherwise the child would write it again */
	pid = fork();
	if (pid < 0) {
		warn_sys("%s: no process for it", j->in->name);
		return FAILED;
	}
	if (!pid)
		work_child(j, parent);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			die_sys("%s", j->in->name);
	if (WIFEXITED(status))
		return WEXITSTATUS(status) ? FAILED : DONE;
	/* what should end the tool, as a reader of the output that went away, ends it */
	switch (WTERMSIG(status)) {
	case SIGPIPE: case SIGINT: case SIGTERM: case SIGHUP: case SIGQUIT:
		raise(WTERMSIG(status));
	}
	warn("%s: the process that read it was ended by signal %d", j->in->name, WTERMSIG(status));
	return FAILED;
}
