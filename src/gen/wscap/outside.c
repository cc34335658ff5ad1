/*
 * Memory that others than captured processes write to: the kernel (a socket's ring of packets, perf's ring of events), a
 * device, or a process outside of the tree that has the same memory.  It is compared after each system call, as memory
 * of another captured process is.
 */
#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/diag.h"
#include "gen/wscap/wscap.h"

#define OUTSIDE_MOST (256u << 20)       /* bytes: to compare them takes a tenth of a second, and as much memory */

static int
begins(const char *name, const char *with)
{
	return !strncmp(name, with, strlen(with));
}

/* Does the process have the memory of r, and may write to it? */
static int
outside_has(pid_t pid, const struct region *r)
{
	struct tracee_maps m = {0};
	int has = 0;

	if (!tracee_maps(pid, &m))
		for (size_t i = 0; i < m.n && !has; i++) {
			const struct tracee_map *e = &m.map[i];

			has = e->shared && e->dev == r->dev && e->prot & PROT_WRITE &&
			    (e->ino == r->ino || e->ino + WS_SHM == r->ino);
		}
	tracee_maps_free(&m);
	return has;
}

/* Does a process that is not captured? */
static int
outside_others(const struct cap *c, const struct region *r)
{
	DIR *d = opendir("/proc");
	const struct dirent *e;
	int has = 0;

	while (d && !has && (e = readdir(d)) != NULL) {
		pid_t pid = isdigit((unsigned char)*e->d_name) ? (pid_t)strtol(e->d_name, NULL, 10) : 0;

		has = pid && pid != getpid() && !tree_find(c->all, pid) && outside_has(pid, r);
	}
	if (d)
		closedir(d);
	return has;
}

/* Can its memory be read as a process's can be? That of some devices cannot. */
static int
outside_readable(struct cap *c, const struct region *r)
{
	uint8_t byte;

	return tracee_read(&c->t, r->lo, &byte, 1) == 1;
}

/* Why is what others write to the region not recorded?  NULL: it is. */
static const char *
outside_not(struct cap *c, const struct region *r)
{
	if (c->all->touch)
		return "memory that the kernel, a device or a process that is not captured writes to is not recorded with "
		    "--first-touch: a replay ends where it makes a difference";
	if (r->hi - r->lo > OUTSIDE_MOST)
		return "memory that the kernel, a device or a process that is not captured writes to is too large to be compared "
		    "after each call: a replay ends where it makes a difference";
	if (!outside_readable(c, r))
		return "memory of a device or of the kernel cannot be read: a replay ends where it makes a difference";
	return NULL;
}

int
outside_writes(struct cap *c, const struct region *r, const char *name)
{
	const char *text;

	if (!r->shared || !r->ino)
		return 0;
	if (begins(name, "/dev/shm/") || begins(name, "/memfd:") || begins(name, "/SYSV")) {
		if (!outside_others(c, r))
			return 0;
	} else if (!begins(name, "socket:") && !begins(name, "anon_inode:") &&
	    (!begins(name, "/dev/") || begins(name, "/dev/zero")))
		return 0;
	text = outside_not(c, r);
	if (!text)
		return 1;
	if (!c->all->outside)
		warn("%s: %s", name, text);
	c->all->outside = 1;
	put_note(c, text);
	return 0;
}
