/* Files that are mapped and also written to: the mappings show what was written. */
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "gen/wscap/fast.h"
#include "gen/wscap/wscap.h"

int
file_written(const struct call *k)
{
	switch (k->nr) {
	case SYS_write: case SYS_pwrite64: case SYS_writev: case SYS_pwritev: case SYS_pwritev2:
	case SYS_sendfile:
	case SYS_ftruncate: case SYS_fallocate:
		return (int)k->arg[0];
	case SYS_copy_file_range: case SYS_splice:
		return (int)k->arg[2];
	}
	return -1;
}

static void
file_forget(struct cap *c, const struct call *k)
{
	switch (k->nr) {
	case SYS_close:
		if (k->arg[0] < NFILES)
			c->file[k->arg[0]].known = 0;
		break;
	case SYS_dup2: case SYS_dup3:
		if (k->arg[1] < NFILES)
			c->file[k->arg[1]].known = 0;
		break;
	case SYS_close_range:
		memset(c->file, 0, sizeof(c->file));
		break;
	}
}

/*
 * Is it /proc/PID/mem, of the program or of one of its threads? Those have other names where a namespace numbers
 * processes anew, so that of other processes is taken for it, too: what is recorded then did not change.
 */
static int
is_memory(const char *link)
{
	char name[PATH_MAX];
	ssize_t n = readlink(link, name, sizeof(name) - 1);
	const char *last;
	struct statfs s;

	name[n > 0 ? n : 0] = 0;
	last = strrchr(name, '/');
	/* of a thread that has ended, the name says so */
	return last && (!strcmp(last, "/mem") || !strcmp(last, "/mem (deleted)")) && !statfs(link, &s) &&
	    s.f_type == PROC_SUPER_MAGIC;
}

long long
file_place(const struct cap *c, int fd)
{
	char path[48], text[64];
	long long pos;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%ld/fdinfo/%d", (long)c->t.pid, fd);
	f = fopen(path, "re");
	if (!f || !fgets(text, sizeof(text), f) || sscanf(text, "pos: %lld", &pos) != 1)
		pos = -1;
	if (f)
		fclose(f);
	return pos;
}

/* The program writes to its own memory through a file: offsets are addresses. */
static void
put_own(struct cap *c, const struct call *k, int fd)
{
	long long pos;

	switch (k->nr) {
	case SYS_pwrite64: case SYS_pwritev: case SYS_pwritev2:
		if (k->arg[3] != UINT64_MAX) {
			put_mem(c, k->arg[3], (uint64_t)k->ret);
			return;
		}
	}
	pos = file_place(c, fd);
	if (pos >= k->ret)
		put_mem(c, (uint64_t)(pos - k->ret), (uint64_t)k->ret);
}

/* Looking at /proc is slow: it is done once for each descriptor. */
static struct file
file_at(struct cap *c, int fd)
{
	struct file f = {.known = 1}, *have = fd < NFILES ? &c->file[fd] : NULL;
	char path[48];
	struct stat st;

	if (have && have->known)
		return *have;
	snprintf(path, sizeof(path), "/proc/%ld/fd/%d", (long)c->t.pid, fd);
	if (!stat(path, &st))
		f.type = st.st_mode & S_IFMT;
	if (f.type == S_IFREG) {
		f.dev = st.st_dev;
		f.ino = st.st_ino;
		f.memory = is_memory(path);
	}
	if (have)
		*have = f;
	return f;
}

int
file_memory(struct cap *c, const struct call *k)
{
	int fd = file_written(k);

	return fd >= 0 && file_at(c, fd).memory;
}

void
file_call(struct cap *c, const struct call *k)
{
	int fd = file_written(k);
	struct file f;

	if (fd < 0) {
		file_forget(c, k);
		return;
	}
	f = file_at(c, fd);
	if (!f.ino || k->ret < 0)
		return;
	if (f.memory && k->ret > 0)
		put_own(c, k, fd);
	for (size_t i = 0; i < c->reg.n; i++) {
		const struct region *r = &c->reg.p[i];

		if (r->ino == f.ino && r->dev == f.dev)
			put_mem(c, r->lo, r->hi - r->lo);
	}
}

void
file_name(const struct cap *c, int fd, char *name, size_t room)
{
	char path[48];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%ld/fd/%d", (long)c->t.pid, fd);
	n = readlink(path, name, room - 1);
	name[n > 0 ? n : 0] = 0;
}

int
file_regular(struct cap *c, int fd, struct mapped_file *f)
{
	const struct file at = file_at(c, fd);

	f->dev = at.dev;
	f->ino = at.ino;
	return at.type == S_IFREG;
}

int
file_shows_memory(const struct cap *c, int fd)
{
	static const char *const names[] = {"maps", "smaps", "smaps_rollup", "numa_maps", "mem", "pagemap"};
	char name[64];
	const char *last;

	file_name(c, fd, name, sizeof(name));
	last = strrchr(name, '/');
	for (size_t i = 0; last && !strncmp(name, "/proc/", 6) && i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(last + 1, names[i]))
			return 1;
	return 0;
}

unsigned
file_fast(struct cap *c, int fd)
{
	char name[64];
	struct file f = file_at(c, fd);
	unsigned may = FAST_READS | FAST_WRITES;

	file_name(c, fd, name, sizeof(name));
	if (!strncmp(name, "/proc/", 6))        /* it may show the recorder's memory: file_shows_memory */
		may &= ~(unsigned)FAST_READS;
	if (f.memory)
		may = 0;
	/* who reads from a terminal waits for somebody to write */
	if (f.type == S_IFREG || (f.type == S_IFCHR && c->th))
		may |= FAST_STEADY;
	if (f.type == S_IFCHR && c->th)
		may &= ~(unsigned)FAST_READS;
	for (size_t i = 0; i < c->reg.n && f.ino; i++)
		if (c->reg.p[i].ino == f.ino && c->reg.p[i].dev == f.dev)
			may &= ~(unsigned)FAST_WRITES;
	return may;
}
