/*
 * Runs the replay in whole blocks, as its users do, in a process of its own; references come in
 * batches through a pipe.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/confine.h"
#include "replay/verify/verify_internal.h"

struct head {
	uint64_t icount, n;
	struct ws_regs regs;
	int got;
	char err[280];
};

static int
verify_all(int fd, void *p, size_t n, int out)
{
	for (size_t i = 0; i < n;) {
		ssize_t k = out ? write(fd, (char *)p + i, n - i) : read(fd, (char *)p + i, n - i);

		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0)
			return -1;
		i += (size_t)k;
	}
	return 0;
}

static void
verify_produce(int fd, struct replay *r, uint64_t to)
{
	struct head h = {0};
	const uint64_t *w;
	size_t n;

	replay_until(r, to);
	do {
		h.got = replay_refs(r, &w, &n);
		h.icount = replay_icount(r);
		h.n = n;
		h.regs = *replay_regs(r);
		if (h.got == REPLAY_BAD)
			snprintf(h.err, sizeof(h.err), "%s", replay_fault(r)->err);
		if (verify_all(fd, &h, sizeof(h), 1) ||
		    verify_all(fd, (void *)(uintptr_t)w, n * sizeof(*w), 1))
			return;
	} while (h.got == REPLAY_OK);
}

int
blocks_start(struct blocks *k, struct replay *r, uint64_t to)
{
	int p[2];

	k->at = k->b.n = 0;
	k->got = REPLAY_OK;
	if (pipe(p))
		return -1;
	k->pid = fork();
	if (k->pid == 0) {
		signal(SIGPIPE, SIG_DFL);       /* if the parent stops reading, it has seen enough */
		close(p[0]);
		verify_produce(p[1], r, to);
		confine_exit();                 /* the parent's clean-up must not be done twice */
	}
	close(p[1]);
	k->fd = p[0];
	if (k->pid < 0)
		close(p[0]);
	return k->pid < 0 ? -1 : 0;
}

int
blocks_next(struct blocks *k)
{
	struct head h;

	if (k->got != REPLAY_OK)
		return 0;
	if (verify_all(k->fd, &h, sizeof(h), 0)) {
		snprintf(k->err, sizeof(k->err), "the replay in blocks ended before its time");
		return -1;
	}
	if (h.n > k->cap) {
		uint64_t *w = realloc(k->b.w, h.n * sizeof(*w));

		if (!w) {
			snprintf(k->err, sizeof(k->err), "no memory");
			return -1;
		}
		k->b.w = w;
		k->cap = h.n;
	}
	if (verify_all(k->fd, k->b.w, h.n * sizeof(*k->b.w), 0))
		return -1;
	k->b.icount = h.icount;
	k->b.regs = h.regs;
	k->b.n = h.n;
	k->at = 0;
	k->got = h.got;
	memcpy(k->err, h.err, sizeof(k->err));
	return h.got == REPLAY_BAD ? -1 : h.got == REPLAY_OK;
}

void
blocks_stop(struct blocks *k)
{
	if (k->pid <= 0)
		return;
	close(k->fd);                   /* SIGPIPE ends the child at its next batch */
	while (waitpid(k->pid, NULL, 0) < 0 && errno == EINTR)
		;
	k->pid = 0;
}

/* Length of a capture that does not record it: runs through it once, in a child. */
uint64_t
verify_length(struct verify *v)
{
	uint64_t n = replay_length(v->r), got;
	int p[2];
	pid_t pid;

	if (n != WS_UNKNOWN || pipe(p))
		return n;
	v->silent = 1;
	pid = fork();
	if (pid == 0) {
		replay_skip(v->r, WS_UNKNOWN);
		got = replay_icount(v->r);
		verify_all(p[1], &got, sizeof(got), 1);
		confine_exit();
	}
	v->silent = 0;
	close(p[1]);
	if (pid > 0 && !verify_all(p[0], &got, sizeof(got), 0))
		n = got;
	close(p[0]);
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return n;
}
