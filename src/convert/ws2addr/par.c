/*
 * ws2addr -j: forked children share the work.
 *
 * References: the run is cut into short units.  Child k of n gives the
 * references of units k, k + n, ... and runs through the others without, which
 * is much faster.  What it gives goes to slots of memory that the parent sees
 * and writes in order: the child fills one and says so on a pipe, the parent
 * gives it back on another.  Whoever dies closes its ends, and the other side
 * notices.
 *
 * Counts need no order: each child has one stretch, and they end together.
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
#include "ws2addr.h"

#define RING      (64u << 20)   /* bytes of one child's slots */
#define BATCH     (32u << 10)   /* words of a slot at most */
#define UNIT      (1u << 20)    /* instructions: their text fits a ring */
#define UNIT_ADDR (4u << 20)    /* the same for words */
#define THROUGH   0.4           /* what an instruction without references costs, with them being 1 */

struct shared {
	uint64_t n[REF_NKINDS];
	struct replay_fault fault;
};

struct child {
	pid_t pid;
	int full, empty, other;         /* pipes: slots for the parent, slots that come back; the latter's far end */
	uint64_t from, to;              /* counts: its stretch */
	struct shared *shared;
	uint8_t *slot;
};

/* What the child says of a slot, or the end of a unit */
struct note {
	uint32_t slot, n;               /* n bytes; 0: the end */
	int32_t got;                    /* then: REPLAY_OK, or there is no further one: REPLAY_END, REPLAY_BAD */
};

struct par {
	struct job *j;
	size_t slotsize, nslot;
	uint64_t unit;
	struct child *child;
	unsigned n;
};

static int
put_all(int fd, const void *p, size_t n)
{
	ssize_t k;

	do
		k = write(fd, p, n);
	while (k < 0 && errno == EINTR);
	return k == (ssize_t)n ? 0 : -1;        /* less than PIPE_BUF: all or nothing */
}

/* 1; 0: the other side is gone */
static int
get_all(int fd, void *p, size_t n)
{
	size_t got = 0;

	while (got < n) {
		ssize_t k = read(fd, (char *)p + got, n - got);

		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0)
			return 0;
		got += (size_t)k;
	}
	return 1;
}

/* Words of the child's references to slots */
struct feed {
	const struct par *p;
	const struct child *c;
	uint64_t turn;                  /* slots given so far */
	int ours;                       /* the next one is free */
};

/* The next slot, when it is free; NULL: the parent is gone */
static uint8_t *
slot(struct feed *f)
{
	uint8_t back;

	if (!f->ours && f->turn >= f->p->nslot && !get_all(f->c->empty, &back, 1))
		return NULL;
	f->ours = 1;
	return f->c->slot + f->turn % f->p->nslot * f->p->slotsize;
}

/* 0, or -1: the parent is gone */
static int
deliver(struct feed *f, const uint64_t *w, size_t n)
{
	const struct par *p = f->p;

	while (n) {
		size_t k = n < BATCH ? n : BATCH, m = k;
		uint8_t *to = slot(f);
		const uint64_t *from = w;
		struct note note = { .slot = (uint32_t)(f->turn % p->nslot) };

		if (!to)
			return -1;
		if (p->j->dropping) {
			uint64_t *kept = (uint64_t *)(void *)(to + BATCH * REF_PUT_MAX);

			m = job_drop(p->j, kept, w, k);
			from = kept;
		}
		note.n = (uint32_t)ref_put(p->j->fmt, to, from, m);
		w += k;
		n -= k;
		if (note.n == 0)
			continue;
		if (put_all(f->c->full, &note, sizeof note) != 0)
			return -1;
		f->turn++;
		f->ours = 0;
	}
	return 0;
}

/* The references of [from, to): REPLAY_OK, REPLAY_END, REPLAY_BAD; the parent may be gone, then nothing matters */
static int
stretch(struct feed *f, struct job *mine, uint64_t from, uint64_t to)
{
	struct replay *r = mine->r;
	const uint64_t *w;
	size_t n;
	int got = replay_skip(r, from);

	replay_until(r, to);
	while (got == REPLAY_OK && (got = replay_refs(r, &w, &n)) == REPLAY_OK) {
		if (mine->count)
			job_count(mine, w, n);
		else if (deliver(f, w, n) != 0)
			_exit(1);
	}
	if (got == REPLAY_END && !replay_how(r) && to < mine->to)
		got = REPLAY_OK;
	if (got == REPLAY_BAD)
		f->c->shared->fault = *replay_fault(r);
	return got;
}

/* The child: never returns, and leaves the parent's output alone */
static _Noreturn void
work(const struct par *p, const struct child *c)
{
	struct job mine = *p->j;
	struct feed feed = { .p = p, .c = c };
	struct note end = { .got = REPLAY_OK };

	if (mine.count) {
		memset(mine.n, 0, sizeof mine.n);
		end.got = stretch(&feed, &mine, c->from, c->to);
		memcpy(c->shared->n, mine.n, sizeof mine.n);
		_exit(put_all(c->full, &end, sizeof end) != 0);
	}
	for (uint64_t u = (uint64_t)(c - p->child); end.got == REPLAY_OK; u += p->n) {
		uint64_t from = mine.from + u * p->unit, to = from + p->unit;

		end.got = stretch(&feed, &mine, from < mine.to ? from : mine.to, to < mine.to ? to : mine.to);
		if (put_all(c->full, &end, sizeof end) != 0)
			break;
	}
	_exit(0);
}

static void
start(struct par *p, struct child *c)
{
	int full[2], empty[2];
	size_t bytes = sizeof *c->shared + p->nslot * p->slotsize;

	c->shared = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (c->shared == MAP_FAILED || pipe(full) != 0 || pipe(empty) != 0)
		die_sys("cannot start a job");
	c->slot = (uint8_t *)(c->shared + 1);
	c->pid = fork();
	if (c->pid < 0)
		die_sys("cannot start a job");
	if (c->pid == 0) {
		close(full[0]);
		close(empty[1]);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		c->full = full[1];
		c->empty = empty[0];
		/* the ends of the others, so that they notice when the parent is gone */
		for (struct child *o = p->child; o < c; o++)
			if (o->pid > 0) {
				close(o->full);
				close(o->empty);
				close(o->other);
			}
		work(p, c);
	}
	close(full[1]);
	c->full = full[0];
	c->empty = empty[1];
	c->other = empty[0];            /* so that giving back to a child that is done breaks no pipe */
}

static void
stop(struct par *p, struct child *c)
{
	kill(c->pid, SIGKILL);
	close(c->full);
	close(c->empty);
	close(c->other);
	while (waitpid(c->pid, NULL, 0) < 0 && errno == EINTR)
		;
	munmap(c->shared, sizeof *c->shared + p->nslot * p->slotsize);
}

/* Everything that the child gives up to the end of a unit, to the output */
static int
drain(struct par *p, struct child *c)
{
	struct note note;

	for (;;) {
		if (!get_all(c->full, &note, sizeof note))
			die("a job ended before its time");
		if (note.n == 0)
			return note.got;
		out_write(p->j->out, c->slot + note.slot * p->slotsize, note.n);
		put_all(c->empty, "", 1);
	}
}

/* What it costs to get to an instruction */
static double
reach(struct job *j, uint64_t icount)
{
	uint64_t from = 0;

	for (size_t k = replay_nkeys(j->r); k-- > 0 && !from;)
		if (replay_key(j->r, k) <= icount)
			from = replay_key(j->r, k);
	return THROUGH * (double)(icount - from);
}

/* Stretches that cost t each, for all children; does the last one come to `to`? */
static int
stretches(struct par *p, uint64_t to, double t)
{
	uint64_t at = p->j->from;

	for (unsigned i = 0; i < p->n; i++) {
		double n = t - reach(p->j, at);

		p->child[i].from = at;
		at = n <= 0 ? at : (double)(to - at) <= n ? to : at + (uint64_t)n;
		p->child[i].to = at;
	}
	return at >= to;
}

static void
plan(struct par *p)
{
	uint64_t to = replay_length(p->j->r);
	double lo = 0, hi;

	if (p->j->to < to)
		to = p->j->to;
	if (to == WS_UNKNOWN || to <= p->j->from) {     /* no way to know: one does it all */
		p->n = 1;
		p->child[0].from = p->j->from;
		p->child[0].to = p->j->to;
		return;
	}
	hi = 2.0 * (double)to;
	for (int i = 0; i < 50; i++) {
		double t = (lo + hi) / 2;

		if (stretches(p, to, t))
			hi = t;
		else
			lo = t;
	}
	stretches(p, to, hi);
	p->child[p->n - 1].to = p->j->to;
}

void
job_parallel(struct job *j, unsigned jobs)
{
	struct par p = { .j = j, .n = jobs, .unit = j->fmt == REF_ADDR ? UNIT_ADDR : UNIT };
	struct child *bad = NULL;
	int got = REPLAY_OK;

	p.child = xcalloc(jobs, sizeof *p.child);
	p.slotsize = BATCH * (REF_PUT_MAX + sizeof(uint64_t));
	if (j->fmt == REF_ADDR && !j->dropping)
		p.slotsize = BATCH * sizeof(uint64_t);
	p.nslot = j->count ? 0 : RING / p.slotsize;
	if (j->count)
		plan(&p);
	out_flush(j->out);
	for (unsigned i = 0; i < p.n; i++)
		start(&p, &p.child[i]);
	for (uint64_t u = 0; j->count ? u < p.n : got == REPLAY_OK; u++) {
		struct child *c = &p.child[u % p.n];

		got = drain(&p, c);
		for (int k = 0; k < REF_NKINDS; k++)
			j->n[k] += c->shared->n[k];
		if (got == REPLAY_BAD && !bad)
			bad = c;
		if (bad)
			break;
	}
	if (bad)
		job_bad(j, &bad->shared->fault);
	for (unsigned i = 0; i < p.n; i++)
		stop(&p, &p.child[i]);
	free(p.child);
}
