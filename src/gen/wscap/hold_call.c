/* Calls that take pages of mapped files away from a process, or change the files: what is held is looked at before. */
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "gen/wscap/hold.h"
#include "gen/wscap/wscap.h"

void
hold_changes(struct cap *c, uint64_t dev, uint64_t ino)
{
	if (!hold_has(c, dev, ino))
		return;
	for (size_t i = 0; i < c->reg.n; i++)
		if (c->reg.p[i].ino == ino && c->reg.p[i].dev == dev)
			hold_rest(c, c->reg.p[i].lo, c->reg.p[i].hi);
	hold_settle(c, 1);
}

static void
hold_changes_fd(struct cap *c, int fd)
{
	char path[48];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%ld/fd/%d", (long)c->t.pid, fd);
	if (!stat(path, &st))
		hold_changes(c, st.st_dev, st.st_ino);
}

/* The file that the process names by dir and the string at addr is about to be cut off. */
static void
hold_changes_path(struct cap *c, int dir, uint64_t addr)
{
	char name[4096], path[4200];
	struct stat st;
	size_t n = tracee_string(&c->t, addr, name, sizeof(name));

	if (n == sizeof(name))
		return;
	name[n] = 0;
	if (name[0] == '/')
		snprintf(path, sizeof(path), "/proc/%ld/root%s", (long)c->t.pid, name);
	else if (dir == AT_FDCWD)
		snprintf(path, sizeof(path), "/proc/%ld/cwd/%s", (long)c->t.pid, name);
	else
		snprintf(path, sizeof(path), "/proc/%ld/fd/%d/%s", (long)c->t.pid, dir, name);
	if (!stat(path, &st))
		hold_changes(c, st.st_dev, st.st_ino);
}

/* The process may write to mapped files in [lo, hi) from now on. */
static void
hold_writable(struct cap *c, uint64_t lo, uint64_t hi)
{
	for (size_t i = region_at(&c->reg, lo); i < c->reg.n && c->reg.p[i].lo < hi; i++)
		if (c->reg.p[i].shared)
			hold_changes(c, c->reg.p[i].dev, c->reg.p[i].ino);
}

/* The call may take pages of [lo, lo + n) away. */
static void
hold_takes(struct cap *c, uint64_t lo, uint64_t n)
{
	hold_touched(c, lo / PAGE * PAGE, lo + n < lo ? UINT64_MAX : (lo + n + PAGE - 1) / PAGE * PAGE);
}

void
hold_call(struct cap *c, const struct call *k)
{
	int fd;

	if (!c->hold.held.n && !c->hold.due.n && !c->hold.gone.n)
		return;
	switch (k->nr) {
	case SYS_mmap:
		if ((k->arg[3] & MAP_TYPE) != MAP_PRIVATE && !(k->arg[3] & MAP_ANONYMOUS))
			hold_changes_fd(c, (int)k->arg[4]);
		if (k->arg[3] & (MAP_FIXED | MAP_FIXED_NOREPLACE))
			hold_takes(c, k->arg[0], k->arg[1]);
		return;
	case SYS_munmap:
	case SYS_madvise:
		hold_takes(c, k->arg[0], k->arg[1]);
		return;
	case SYS_mprotect: case SYS_pkey_mprotect:
		if (k->arg[2] & PROT_WRITE)
			hold_writable(c, k->arg[0], k->arg[0] + k->arg[1]);
		return;
	case SYS_mremap:                /* what is moved is recorded before */
		hold_rest(c, k->arg[0], k->arg[0] + k->arg[1]);
		if (k->arg[3] & MREMAP_FIXED)
			hold_takes(c, k->arg[4], k->arg[2]);
		return;
	case SYS_shmat: case SYS_remap_file_pages: case SYS_process_madvise:
		hold_touched(c, 0, UINT64_MAX);
		return;
	case SYS_clone: case SYS_clone3: case SYS_vfork:        /* a child may unmap memory of the process */
		if ((clone_flags(c, k) & (CLONE_VM | CLONE_THREAD)) == CLONE_VM)
			hold_touched(c, 0, UINT64_MAX);
		return;
	case SYS_exit_group: case SYS_execve: case SYS_execveat:
		hold_final(c);
		return;
	case SYS_open:
		if (k->arg[1] & O_TRUNC)
			hold_changes_path(c, AT_FDCWD, k->arg[0]);
		return;
	case SYS_creat: case SYS_truncate:
		hold_changes_path(c, AT_FDCWD, k->arg[0]);
		return;
	case SYS_openat:
		if (k->arg[2] & O_TRUNC)
			hold_changes_path(c, (int)k->arg[0], k->arg[1]);
		return;
	case SYS_openat2:
		hold_changes_path(c, (int)k->arg[0], k->arg[1]);
		return;
	}
	fd = file_written(k);
	if (fd >= 0)
		hold_changes_fd(c, fd);
}
