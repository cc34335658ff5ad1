/* Parses /proc/PID/maps. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/buf.h"
#include "replay/ptrace/tracee.h"

/* Reads the whole file and adds a NUL; NULL with errno. */
static char *
tracee_slurp(int fd)
{
	size_t n = 0, cap = 1u << 15;
	char *p = NULL;
	ssize_t k = -1;
	int err;

	if (lseek(fd, 0, SEEK_SET) != 0)
		return NULL;
	for (;;) {
		char *q = realloc(p, cap);

		if (!q)
			break;
		p = q;
		while (n + 1 < cap && (k = read(fd, p + n, cap - 1 - n)) > 0)
			n += (size_t)k;
		if (k <= 0)
			break;
		cap *= 2;
	}
	err = k < 0 ? errno : ENOMEM;
	if (k != 0) {
		free(p);
		errno = err;
		return NULL;
	}
	p[n] = 0;
	return p;
}

/* Parses one line, which ends with a NUL. */
static int
tracee_parse(struct tracee_maps *m, struct tracee_map *e, char *line)
{
	unsigned long long lo, hi, off, ino;
	unsigned major, minor;
	char prot[5];
	int name = 0;

	if (sscanf(line, "%llx-%llx %4s %llx %x:%x %llu %n", &lo, &hi, prot, &off, &major, &minor, &ino,
		&name) < 7)
		return EINVAL;
	e->lo = lo;
	e->hi = hi;
	e->offset = off;
	e->dev = makedev(major, minor);
	e->ino = ino;
	e->prot = (prot[0] == 'r' ? PROT_READ : 0) | (prot[1] == 'w' ? PROT_WRITE : 0) |
	    (prot[2] == 'x' ? PROT_EXEC : 0);
	e->shared = prot[3] == 's';
	e->name = (size_t)(line + name - m->text);
	return 0;
}

int
tracee_open(pid_t pid, const char *name, int flags)
{
	char path[40];

	snprintf(path, sizeof(path), "/proc/%ld/%s", (long)pid, name);
	return open(path, flags | O_CLOEXEC);
}

int
tracee_maps(pid_t pid, struct tracee_maps *m)
{
	int fd = tracee_open(pid, "maps", O_RDONLY), err;

	if (fd < 0)
		return errno;
	err = tracee_maps_of(fd, m);
	close(fd);
	return err;
}

int
tracee_maps_of(int fd, struct tracee_maps *m)
{
	char *line, *end;

	free(m->text);
	m->n = 0;
	m->text = tracee_slurp(fd);
	if (!m->text)
		return errno;
	for (line = m->text; (end = strchr(line, '\n')); line = end + 1) {
		*end = 0;
		if (buf_grow(&m->map, &m->cap, m->n + 1, sizeof(*m->map)) < 0)
			return ENOMEM;
		if (tracee_parse(m, &m->map[m->n], line))
			return EINVAL;
		m->n++;
	}
	return 0;
}

void
tracee_maps_free(struct tracee_maps *m)
{
	free(m->map);
	free(m->text);
	memset(m, 0, sizeof(*m));
}
