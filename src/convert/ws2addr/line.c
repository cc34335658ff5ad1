/*
 * ws2addr -j, references as text: one child replays, other children (makers) convert its
 * references to text, and the parent writes the text in order.
 *
 * Batches of references are in slots of shared memory.  The number of a slot goes through
 * pipes: from the replay to a maker, in turn, then to the parent, and back to the replay when
 * its text is written.  There are few slots, so that they stay in the caches.  A process that
 * dies closes its ends of the pipes, which the others notice.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/mem.h"
#include "base/progress.h"
#include "convert/ws2addr/ws2addr.h"

#define BATCH (8u << 10)        /* words of a slot */
#define EMPTY (1u << 31)        /* in a note: the batch is empty, but it is not the end */

struct slot {
	uint64_t word[BATCH];
	uint8_t text[BATCH * REF_PUT_MAX];
};

/* A message through a pipe: the number of bytes or words in a slot; n = 0: the end. */
struct note {
	uint32_t slot, n;
};

struct line {
	struct job *j;
	unsigned nmaker;                /* at least 1 */
	unsigned nslot;
	struct slot *slots;             /* shared memory */
	struct result {
		struct fault fault;     /* valid if err is not empty */
		struct ws_early early;
		_Atomic uint64_t icount;        /* how far it is */
	} *result;                      /* shared memory; result of the replay */
	int (*work)[2], (*done)[2];     /* pipes to each maker, and from each to the parent */
	int back[2];                    /* pipe of free slots to the replay */
	pid_t *pid;                     /* the replay, then the makers */
};

/*
 * Sends a note.  1; 0: the other side is gone.  Notes are smaller than PIPE_BUF, so a write is
 * all or nothing.
 */
static int
ws2addr_note_send(int fd, struct note n)
{
	ssize_t k;

	do
		k = write(fd, &n, sizeof n);
	while (k < 0 && errno == EINTR);
	return k == (ssize_t)sizeof n;
}

static int
ws2addr_note_receive(int fd, struct note *n)
{
	ssize_t k;

	do
		k = read(fd, n, sizeof *n);
	while (k < 0 && errno == EINTR);
	return k == (ssize_t)sizeof *n;
}

static _Noreturn void
ws2addr_line_replayer(const struct line *l)
{
	struct replay *r = l->j->r;
	struct note note;
	const uint64_t *w;
	uint64_t batch = 0;
	size_t n;
	int got = replay_skip(r, l->j->from);

	if (got != REPLAY_BAD)
		job_reached(l->j);
	replay_until(r, l->j->to);
	while (got == REPLAY_OK && (got = replay_refs(r, &w, &n)) == REPLAY_OK)
		for (size_t k; n; w += k, n -= k) {
			k = n < BATCH ? n : BATCH;
			note = (struct note){ .slot = (uint32_t)batch };
			if (batch >= l->nslot && !ws2addr_note_receive(l->back[0], &note))
				_exit(1);
			memcpy(l->slots[note.slot].word, w, k * sizeof *w);
			note.n = (uint32_t)k;
			if (!ws2addr_note_send(l->work[batch % l->nmaker][1], note))
				_exit(1);
			batch++;
			l->result->icount = replay_icount(r);
		}
	if (got == REPLAY_BAD)
		l->result->fault = *replay_fault(r);
	else if (replay_early(r))
		l->result->early = *replay_early(r);
	/* the parent expects the end from the maker whose turn it is */
	ws2addr_note_send(l->work[batch % l->nmaker][1], (struct note){ 0 });
	_exit(0);
}

static _Noreturn void
ws2addr_line_maker(const struct line *l, unsigned me)
{
	struct note note;

	while (ws2addr_note_receive(l->work[me][0], &note)) {
		struct slot *s = &l->slots[note.slot];
		int end = note.n == 0;

		if (!end) {
			if (l->j->dropping)
				note.n = (uint32_t)job_drop(l->j, s->word, s->word, note.n);
			note.n = (uint32_t)ref_put(l->j->fmt, s->text, s->word, note.n);
			note.slot |= note.n ? 0 : EMPTY;
		}
		if (!ws2addr_note_send(l->done[me][1], note) || end)
			break;
	}
	_exit(0);
}

static void
ws2addr_line_close2(int fd[2])
{
	close(fd[0]);
	close(fd[1]);
}

/* In a child: closes the ends that belong to others.  me: 0 is the replay, else a maker. */
static void
ws2addr_line_close_others(struct line *l, unsigned me)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (unsigned i = 0; i < l->nmaker; i++) {
		close(l->done[i][0]);
		if (me)
			close(l->work[i][1]);
		if (me != i + 1) {
			close(l->done[i][1]);
			close(l->work[i][0]);
		}
	}
	close(l->back[1]);
	if (me)
		close(l->back[0]);
}

static void
ws2addr_line_start(struct line *l)
{
	unsigned n = l->nmaker;

	l->slots = mmap(NULL, l->nslot * sizeof *l->slots + sizeof *l->result, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	l->work = xcalloc(n, sizeof *l->work);
	l->done = xcalloc(n, sizeof *l->done);
	l->pid = xcalloc(n + 1, sizeof *l->pid);
	if (l->slots == MAP_FAILED || pipe(l->back) != 0)
		die_sys("cannot start a job");
	l->result = (struct result *)(void *)(l->slots + l->nslot);
	for (unsigned i = 0; i < n; i++)
		if (pipe(l->work[i]) != 0 || pipe(l->done[i]) != 0)
			die_sys("cannot start a job");
	for (unsigned i = 0; i <= l->nmaker; i++) {
		l->pid[i] = fork();
		if (l->pid[i] < 0)
			die_sys("cannot start a job");
		if (l->pid[i])
			continue;
		ws2addr_line_close_others(l, i);
		if (i == 0)
			ws2addr_line_replayer(l);
		ws2addr_line_maker(l, i - 1);
	}
	/* back[0] stays open: returning slots after the replay has ended must not break the pipe */
	for (unsigned i = 0; i < n; i++) {
		close(l->done[i][1]);
		ws2addr_line_close2(l->work[i]);
	}
}

static void
ws2addr_line_stop(struct line *l)
{
	for (unsigned i = 0; i < l->nmaker; i++)
		close(l->done[i][0]);
	ws2addr_line_close2(l->back);
	for (unsigned i = 0; i <= l->nmaker; i++)
		while (waitpid(l->pid[i], NULL, 0) < 0 && errno == EINTR)
			;
	munmap(l->slots, l->nslot * sizeof *l->slots + sizeof *l->result);
	free(l->work);
	free(l->done);
	free(l->pid);
}

void
job_line(struct job *j, unsigned jobs)
{
	struct line l = { .j = j, .nmaker = jobs, .nslot = 4 + 2 * jobs };
	struct fault bad;
	struct note note;

	out_flush(j->out);
	ws2addr_line_start(&l);
	for (uint64_t batch = 0;; batch++) {
		if (!ws2addr_note_receive(l.done[batch % l.nmaker][0], &note))
			die("a job ended before its time");
		if (note.n == 0 && !(note.slot & EMPTY))
			break;
		note.slot &= ~EMPTY;
		out_write(j->out, l.slots[note.slot].text, note.n);
		ws2addr_note_send(l.back[1], note);
		if (progress_due(l.result->icount))
			progress_show(PROGRESS_INSTRUCTIONS, l.result->icount, replay_length(j->r));
	}
	bad = l.result->fault;
	j->early = l.result->early;
	ws2addr_line_stop(&l);
	if (bad.err[0])
		job_bad(j, &bad);
}
