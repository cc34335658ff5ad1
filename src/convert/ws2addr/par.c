/*
 * ws2addr -j, counts, and --segments, parts for processes elsewhere. -j: each forked child counts one part of the run.  It reaches the part's
 * start from a keyframe, and from there by running without references; parts that are far from one are therefore shorter,
 * so that all children end at the same time.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/mem.h"
#include "base/progress.h"
#include "convert/ws2addr/ws2addr.h"

/* costs of an instruction without references: relative to one with references, to one whose references are counted */
#define THROUGH       0.4
#define THROUGH_COUNT 0.95
#define TELL          30000000u /* instructions after which a part says that they are done */

struct part {
	uint64_t from, to;
	uint64_t n[REF_NKINDS];
	struct fault fault;
	struct ws_early early;
	int got;                        /* enum replay_got; REPLAY_BREAK: not done yet */
	pid_t pid;
};

/* fd: a pipe that tells the parent how many more instructions are done; -1: it does not ask. */
static int
ws2addr_par_count(struct job *j, uint64_t from, uint64_t to, int fd)
{
	int got = replay_skip(j->r, from);
	uint64_t done;

	if (got != REPLAY_BAD && from == j->from)
		job_reached(j);
	while (got == REPLAY_OK) {
		uint64_t next = fd >= 0 && to - from > TELL ? from + TELL : to;

		replay_until(j->r, next);
		got = replay_count(j->r, j->n);
		if (got != REPLAY_END || next == to || replay_icount(j->r) != next)
			break;
		done = next - from;
		if (write(fd, &done, sizeof done) == sizeof done)
			from = next;
		got = REPLAY_OK;
	}
	return got;
}

/* Shows how far the parts are, until the last one has ended. */
static void
ws2addr_par_watch(struct job *j, int fd)
{
	uint64_t done = 0, more, to = replay_length(j->r);
	ssize_t k;

	to = j->to < to ? j->to : to;
	while ((k = read(fd, &more, sizeof more)) == sizeof more || (k < 0 && errno == EINTR)) {
		done += k < 0 ? 0 : more;
		if (progress_due(done))
			progress_show(PROGRESS_INSTRUCTIONS, done, to == WS_UNKNOWN ? to : to - j->from);
	}
	close(fd);
}

static _Noreturn void
ws2addr_par_work(const struct job *j, struct part *p, int fd)
{
	struct job mine = *j;

	memset(mine.n, 0, sizeof mine.n);
	p->got = ws2addr_par_count(&mine, p->from, p->to, fd);
	memcpy(p->n, mine.n, sizeof p->n);
	if (p->got == REPLAY_BAD)
		p->fault = *replay_fault(j->r);
	else if (p->to == WS_UNKNOWN && replay_early(j->r))
		p->early = *replay_early(j->r);
	_exit(0);
}

/* Cost of reaching an instruction, by instructions that cost `through` each. */
static double
ws2addr_par_reach(struct job *j, uint64_t icount, double through)
{
	uint64_t from = 0;

	for (size_t k = replay_nkeys(j->r); k-- > 0 && !from;)
		if (replay_key_icount(j->r, k) <= icount)
			from = replay_key_icount(j->r, k);
	return through * (double)(icount - from);
}

/* Cuts the run from j->from on into n parts of cost t each.  Does the last one reach `to`? */
static int
ws2addr_par_cut(struct job *j, struct part *p, unsigned n, uint64_t to, double through, double t)
{
	uint64_t at = j->from;

	for (unsigned i = 0; i < n; i++) {
		double k = t - ws2addr_par_reach(j, at, through);

		p[i].from = at;
		at = k <= 0 ? at : (double)(to - at) <= k ? to : at + (uint64_t)k;
		p[i].to = at;
	}
	return at >= to;
}

/* Cuts the run, whose length is `length`, into at most n parts, none of them empty; returns their number. */
static unsigned
ws2addr_par_plan(struct job *j, struct part *p, unsigned n, double through, uint64_t length)
{
	unsigned k = 0;
	uint64_t to = j->to < length ? j->to : length;
	double lo = 0, hi;

	if (to == WS_UNKNOWN || to <= j->from) {        /* the length is unknown: one part */
		p[0].from = j->from;
		p[0].to = j->to;
		return 1;
	}
	hi = 2.0 * (double)to;
	for (int i = 0; i < 50; i++) {
		double t = (lo + hi) / 2;

		if (ws2addr_par_cut(j, p, n, to, through, t))
			hi = t;
		else
			lo = t;
	}
	ws2addr_par_cut(j, p, n, to, through, hi);
	for (unsigned i = 0; i < n; i++)
		if (p[i].from < p[i].to)
			p[k++] = p[i];
	p[k - 1].to = j->to;
	return k;
}

/* The keyframe nearest to an instruction, if it is at most `far` instructions away; else the instruction. */
static uint64_t
ws2addr_par_key(struct job *j, uint64_t at, uint64_t far)
{
	uint64_t best = at;

	for (size_t k = 0; k < replay_nkeys(j->r); k++) {
		uint64_t key = replay_key_icount(j->r, k), d = key > at ? key - at : at - key;

		if (d <= far) {
			far = d;
			best = key;
		}
	}
	return best;
}

void
job_segments(struct job *j, unsigned n)
{
	struct part *p = xcalloc(n, sizeof *p);
	struct fault f;
	uint64_t from = j->from, known = replay_known(j->r, &f);
	uint64_t to = j->to < known ? j->to : known;

	n = ws2addr_par_plan(j, p, n, THROUGH, known);
	for (unsigned i = 1; i < n; i++) {
		uint64_t at = ws2addr_par_key(j, p[i].from, (p[i].from - p[i - 1].from) / 8);

		if (at <= from || at >= to)
			continue;
		out_printf(j->out, "%" PRIu64 ":%" PRIu64 "\n", from, at);
		from = at;
	}
	out_printf(j->out, "%" PRIu64 ":", from);
	if (j->to != WS_UNKNOWN)
		out_printf(j->out, "%" PRIu64, j->to);
	out_str(j->out, "\n");
	free(p);
	if (f.err[0] && (known == WS_UNKNOWN || j->to > known))
		job_bad(j, &f);
}

void
job_count_parallel(struct job *j, unsigned jobs)
{
	size_t bytes = jobs * sizeof(struct part);
	struct part *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int done[2] = { -1, -1 };
	unsigned n;

	if (p == MAP_FAILED || (progress_is_on() && pipe(done) != 0))
		die_sys("cannot start a job");
	n = ws2addr_par_plan(j, p, jobs, THROUGH_COUNT, replay_length(j->r));
	out_flush(j->out);
	for (unsigned i = 0; i < n; i++) {
		pid_t pid;

		p[i].got = REPLAY_BREAK;
		pid = fork();
		if (pid < 0)
			die_sys("cannot start a job");
		if (pid == 0)
			ws2addr_par_work(j, &p[i], done[1]);
		p[i].pid = pid;         /* this memory is shared, and only the parent writes pid */
	}
	if (done[0] >= 0) {
		close(done[1]);
		ws2addr_par_watch(j, done[0]);
	}
	for (unsigned i = 0; i < n; i++) {
		while (waitpid(p[i].pid, NULL, 0) < 0 && errno == EINTR)
			;
		if (p[i].got == REPLAY_BREAK)
			die("a job ended before its time");
	}
	for (unsigned i = 0; i < n; i++) {
		for (int k = 0; k < (int)REF_NKINDS; k++)
			j->n[k] += p[i].n[k];
		if (p[i].got == REPLAY_BAD)
			job_bad(j, &p[i].fault);
		if (p[i].early.is)
			j->early = p[i].early;
	}
	munmap(p, bytes);
}
