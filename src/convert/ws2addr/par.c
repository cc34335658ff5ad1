/*
 * ws2addr -j: segments between keyframes, each replayed by a forked child into
 * memory that the parent sees and writes in order.  A capture without
 * keyframes is one segment, whose text the parent makes while the child runs
 * ahead.
 *
 * Slots of that memory go round: the child fills one and says so on a pipe,
 * the parent gives it back on another.  Whoever dies closes its ends, and the
 * other side notices.
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

#define RING  (64u << 20)       /* bytes of one child's slots */
#define BATCH (64u << 10)       /* words of a slot that are made text at most; replay_refs gives fewer */

struct shared {
	uint64_t n[REF_NKINDS];
	struct replay_fault fault;
};

struct child {
	pid_t pid;
	int full, empty, other;         /* pipes: slots for the parent, slots that come back; the latter's far end */
	uint64_t from, to;
	struct shared *shared;
	uint8_t *slot;
};

/* What the child says of a slot, or of its end */
struct note {
	uint32_t slot, n;               /* n bytes; 0: the end */
	uint32_t got;                   /* then: REPLAY_END, or else a fault */
};

struct par {
	struct job *j;
	int words;                      /* slots have words, the parent makes text of them */
	size_t slotsize, nslot;
	struct child *child;
	size_t n;                       /* segments */
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
		if (p->j->dropping && !p->words) {
			uint64_t *kept = (uint64_t *)(void *)(to + BATCH * REF_PUT_MAX);

			m = job_drop(p->j, kept, w, k);
			from = kept;
		}
		if (p->words)
			memcpy(to, w, k * sizeof *w);
		note.n = (uint32_t)(p->words ? k * sizeof *w : ref_put(p->j->fmt, to, from, m));
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

/* The child: never returns, and leaves the parent's output alone */
static _Noreturn void
work(const struct par *p, const struct child *c)
{
	struct replay *r = p->j->r;
	struct job mine = *p->j;
	struct note end = { 0 };
	const uint64_t *w;
	struct feed feed = { .p = p, .c = c };
	size_t n;
	int got = replay_skip(r, c->from);

	memset(mine.n, 0, sizeof mine.n);
	replay_until(r, c->to);
	while (got == REPLAY_OK && (got = replay_refs(r, &w, &n)) == REPLAY_OK) {
		if (mine.count)
			job_count(&mine, w, n);
		else if (deliver(&feed, w, n) != 0)
			_exit(1);
	}
	memcpy(c->shared->n, mine.n, sizeof mine.n);
	if (got == REPLAY_BAD)
		c->shared->fault = *replay_fault(r);
	end.got = got == REPLAY_BAD;
	put_all(c->full, &end, sizeof end);
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
	close(c->full);
	close(c->empty);
	close(c->other);
	while (waitpid(c->pid, NULL, 0) < 0 && errno == EINTR)
		;
	munmap(c->shared, sizeof *c->shared + p->nslot * p->slotsize);
	c->pid = 0;
}

/* Everything that the child gives, to the output */
static void
drain(struct par *p, struct child *c)
{
	struct note note;

	for (;;) {
		const uint8_t *from;

		if (!get_all(c->full, &note, sizeof note))
			die("a job ended before its time");
		if (note.n == 0)
			break;
		from = c->slot + note.slot * p->slotsize;
		if (p->words)
			job_take(p->j, (const uint64_t *)(const void *)from, note.n / sizeof(uint64_t));
		else
			out_write(p->j->out, from, note.n);
		put_all(c->empty, "", 1);
	}
	for (int k = 0; k < REF_NKINDS; k++)
		p->j->n[k] += c->shared->n[k];
	if (note.got)
		job_bad(p->j, &c->shared->fault);
	stop(p, c);
}

/* Segments of [from, to), cut at keyframes */
static void
plan(struct par *p)
{
	struct job *j = p->j;
	size_t nkey = replay_nkeys(j->r);
	uint64_t at = j->from;

	p->child = xcalloc(nkey + 1, sizeof *p->child);
	for (size_t k = 0; k < nkey; k++) {
		uint64_t key = replay_key(j->r, k);

		if (key <= at || key >= j->to)
			continue;
		p->child[p->n++] = (struct child){ .from = at, .to = key };
		at = key;
	}
	p->child[p->n++] = (struct child){ .from = at, .to = j->to };
}

void
job_parallel(struct job *j, unsigned jobs)
{
	struct par p = { .j = j };

	plan(&p);
	p.words = p.n == 1 && !j->count;
	p.slotsize = p.words ? BATCH * sizeof(uint64_t) : BATCH * (REF_PUT_MAX + sizeof(uint64_t));
	p.nslot = j->count ? 0 : RING / p.slotsize;
	out_flush(j->out);
	for (size_t i = 0; i < p.n + jobs; i++) {
		if (i < p.n)
			start(&p, &p.child[i]);
		if (i + 1 >= jobs && i + 1 - jobs < p.n)
			drain(&p, &p.child[i + 1 - jobs]);
	}
	free(p.child);
}
