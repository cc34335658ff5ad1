/*
 * The memory of a process that has much of it when its capture begins amid its run.  While it stands, it makes a
 * copy of itself, as fork does, which never runs.  Then it goes on, and its memory is read from the copy, a piece
 * at a time while nothing else is to be done.  The writer keeps what comes after it in the meantime.
 *
 * The process is not its parent, and will never hear of it: it begins another process, which shares its memory, and
 * that one makes the copy and ends.  Both have the descriptors of the process, so that they keep no pipe open.
 */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "gen/wscap/amid.h"
#include "gen/wscap/wscap.h"

#define LEAST     (16u << 20)   /* bytes of memory that are worth a copy */
#define STEP      (512u << 10)  /* bytes that are read at once */
#define KEPT_MOST (64u << 20)   /* bytes that the writer keeps before all is read at once */

/* Bytes of its own memory; as far as the kernel tells. */
static uint64_t
image_size(pid_t pid)
{
	uint64_t anon = 0, swap = 0;

	(void)amid_status(pid, "RssAnon", 10, &anon);
	(void)amid_status(pid, "VmSwap", 10, &swap);
	return (anon + swap) << 10;
}

/* Its numbers of processes are ours. */
static int
image_same_ids(pid_t pid)
{
	char path[48];
	struct stat its, own;

	snprintf(path, sizeof(path), "/proc/%ld/ns/pid", (long)pid);
	return !stat(path, &its) && !stat("/proc/self/ns/pid", &own) && its.st_ino == own.st_ino &&
	    its.st_dev == own.st_dev;
}

/* t begins a process that wscap traces, and that stands: its number, or 0 */
static pid_t
image_clone(struct tree *a, struct tracee *t, long flags, long options)
{
	long pid = -1;

	flags |= CLONE_PTRACE | CLONE_UNTRACED | CLONE_FILES | CLONE_FS;
	if (tracee_call(t, &pid, SYS_clone, (uint64_t)flags, 0, 0, 0, 0, 0) || pid <= 0 ||
	    tree_first_stop(a, (pid_t)pid))
		return 0;
	/* no stop when it ends, and it ends with wscap */
	ptrace(PTRACE_SETOPTIONS, (pid_t)pid, NULL, (void *)(PTRACE_O_EXITKILL | options));
	return (pid_t)pid;
}

static void
image_kill(struct tree *a, pid_t pid)
{
	kill(pid, SIGKILL);
	while (!tree_first_stop(a, pid))
		ptrace(PTRACE_CONT, pid, NULL, NULL);
}

void
image_begin(struct cap *c)
{
	struct image *m = &c->image;
	struct tracee between = c->t;
	long ret;

	if (c->all->touch || image_size(c->pid) < LEAST || !image_same_ids(c->pid))
		return;
	between.nheld = 0;
	between.pid = image_clone(c->all, &c->t, CLONE_VM, PTRACE_O_TRACESYSGOOD);
	if (!between.pid)
		return;
	m->t.pid = image_clone(c->all, &between, 0, 0);
	image_kill(c->all, between.pid);
	tracee_call(&c->t, &ret, SYS_wait4, (uint64_t)between.pid, 0, __WALL, 0, 0, 0);
	if (!m->t.pid)
		return;
	m->t.mem = tracee_open(m->t.pid, "mem", O_RDONLY);
	m->pagemap = tracee_open(m->t.pid, "pagemap", O_RDONLY);
	if (m->t.mem < 0 || m->pagemap < 0)
		image_end(c);
}

int
image_take(struct cap *c, uint64_t lo, uint64_t hi)
{
	struct image *m = &c->image;

	if (!m->t.pid)
		return 0;
	/* madvise can keep memory from children, but only all of a mapping */
	lo = pagemap_next(m->pagemap, lo, hi, 1);
	if (lo == hi)
		return 0;
	m->p = mem_xgrow(m->p, &m->cap, m->n + 1, sizeof(*m->p));
	m->p[m->n].lo = lo;
	m->p[m->n++].hi = hi;
	return 1;
}

void
image_place(struct cap *c)
{
	size_t place;

	if (!c->image.t.pid || !c->w)
		return;
	if (ws_hold(c->w, &place))
		put_failed(c, 0);
	c->hold.on = 1;
	c->all->imaged = c;
}

/* Reads pages, and records them: how many bytes were dealt with. */
static size_t
image_piece(struct cap *c)
{
	struct image *m = &c->image;
	uint64_t lo = m->p[m->at].lo, hi = m->p[m->at].hi, end;
	size_t n;

	lo = pagemap_next(m->pagemap, lo, hi, 1);
	end = lo + CHUNK < hi ? lo + CHUNK : hi;
	end = pagemap_next(m->pagemap, lo, end, 0);
	n = (size_t)(end - lo);
	if (n && tracee_read(&m->t, lo, c->all->scratch, n) != n) {
		if (!c->all->failed)
			snprintf(c->all->why, sizeof(c->all->why),
			    "process %ld, a copy of the one that is captured, has ended: its memory cannot be read",
			    (long)m->t.pid);
		c->all->failed = 1;
		m->at = m->n;
		return 0;
	}
	put_scratch(c, lo, n);
	m->p[m->at].lo = end;
	if (end >= hi)
		m->at++;
	return n + PAGE;
}

/* Records pages where the capture begins: about so many bytes. */
static void
image_read(struct cap *c, uint64_t bytes)
{
	struct image *m = &c->image;
	uint64_t done = 0;

	ws_pages_flush(c->all->pages);
	if (c->w && !c->all->failed && ws_front(c->w, 1))
		put_failed(c, 0);
	while (m->at < m->n && done < bytes && c->w && !c->all->failed)
		done += image_piece(c);
	ws_pages_flush(c->all->pages);
	if (c->w && !c->all->failed && ws_front(c->w, 0))
		put_failed(c, 0);
	c->since = 0;
	if (m->at == m->n || !c->w || c->all->failed)
		image_end(c);
}

void
image_step(struct tree *a)
{
	if (a->imaged)
		image_read(a->imaged, STEP);
}

void
image_finish(struct cap *c)
{
	if (c->all->imaged == c)
		image_read(c, UINT64_MAX);
}

int
image_waits(const struct cap *c)
{
	return c->all->imaged == c && c->w && ws_held(c->w) < KEPT_MOST;
}

void
image_end(struct cap *c)
{
	struct image *m = &c->image;

	if (c->all->imaged == c)
		c->all->imaged = NULL;
	if (m->t.pid) {
		image_kill(c->all, m->t.pid);
		close(m->pagemap);
		tracee_close(&m->t);
	}
	m->t.pid = 0;
	free(m->p);
	m->p = NULL;
	m->n = m->cap = m->at = 0;
}
