/* Checked output: a buffer, a temporary file, and a rename at the end. See out.h. */
#include "base/out.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/progress.h"
#include "base/src.h"
#include "base/temp.h"

#define SIZE (2 * OUT_ROOM)
#define DIRECT (64u << 10)      /* larger writes bypass the buffer */

struct out {
	int fd;
	char *name;             /* owned: the name that the user gave */
	char *final, *temp;     /* owned; NULL when written directly */
	int replaces;           /* a file of the final name exists */
	int terminal;           /* is it one? */
	pid_t pid;              /* the process that opened it: its children must not finish it */
	uint8_t *p;             /* owned: SIZE bytes */
	size_t n;
	uint64_t off;           /* bytes passed to the kernel */
	struct out *next;
};

static struct out *all;         /* list of open outputs, for exit */
static int hooked;

static void
out_unhook(struct out *o)
{
	struct out **pp;

	for (pp = &all; *pp; pp = &(*pp)->next) {
		if (*pp == o) {
			*pp = o->next;
			break;
		}
	}
}

static void
out_release(struct out *o)
{
	free(o->name);
	free(o->final);
	free(o->temp);
	free(o->p);
	free(o);
}

/* Writes all of p; 0, or -1 with errno. */
static int
out_push(struct out *o, const uint8_t *p, size_t n)
{
	if (o->terminal && n)
		progress_stop();
	while (n) {
		ssize_t k = write(o->fd, p, n);

		if (k < 0) {
			if (errno == EINTR)
				continue;
			return -1;
		}
		p += k;
		n -= (size_t)k;
		o->off += (uint64_t)k;
	}
	return 0;
}

_Noreturn static void
out_fail(struct out *o)
{
	int err = errno;

	o->n = 0;       /* exit() must not try again */
	if (err == EPIPE)
		exit(1);
	errno = err;
	die_sys("%s", o->name);
}

void
out_flush(struct out *o)
{
	size_t n = o->n;

	o->n = 0;
	if (out_push(o, o->p, n) < 0)
		out_fail(o);
}

void
out_clear_buffer(struct out *o)
{
	o->n = 0;
}

/* temp.h removes temporary files */
static void
at_exit(void)
{
	struct out *o;
	pid_t pid = getpid();

	while ((o = all)) {
		all = o->next;
		if (!o->temp && o->pid == pid && out_push(o, o->p, o->n) < 0 && errno != EPIPE) {
			warn_sys("%s", o->name);
			_exit(1);
		}
	}
}

/* The descriptor that a name like /dev/stdout or /dev/fd/3 means, or -1. */
static int
out_descriptor(const char *path)
{
	static const char *const folder[] = { "/dev/fd/", "/proc/self/fd/" };
	uint64_t n;

	if (!strcmp(path, "-") || !strcmp(path, "/dev/stdout"))
		return STDOUT_FILENO;
	if (!strcmp(path, "/dev/stderr"))
		return STDERR_FILENO;
	for (size_t i = 0; i < 2; i++) {
		size_t k = strlen(folder[i]);

		if (!strncmp(path, folder[i], k) && !num_u64(path + k, 0, INT_MAX, &n))
			return (int)n;
	}
	return -1;
}

/*
 * The path with symbolic links resolved; the last one may point to nothing. The caller frees it;
 * NULL with errno.
 */
static char *
out_resolve(const char *path)
{
	char *at = xstrdup(path), to[PATH_MAX];

	for (int links = 0; links < 40; links++) {
		ssize_t n = readlink(at, to, sizeof to - 1);
		const char *slash = strrchr(at, '/');
		char *next;

		if (n < 0)
			return at;      /* no link, or no such file */
		to[n] = '\0';
		next = to[0] == '/' || !slash ? xstrdup(to) : xasprintf("%.*s/%s", (int)(slash - at), at, to);
		free(at);
		at = next;
	}
	free(at);
	errno = ELOOP;
	return NULL;
}

/* Do two paths name the same file, even if neither exists yet? */
static int
same_path(const char *a, const char *b)
{
	const char *const path[2] = { a, b };
	const char *base[2];
	struct stat st[2];

	for (int i = 0; i < 2; i++) {
		const char *slash = strrchr(path[i], '/');
		char *dir = slash ? xstrndup(path[i], (size_t)(slash - path[i]) + 1) : xstrdup(".");
		int bad = stat(dir, &st[i]) != 0;

		free(dir);
		if (bad)
			return 0;
		base[i] = slash ? slash + 1 : path[i];
	}
	return st[0].st_dev == st[1].st_dev && st[0].st_ino == st[1].st_ino && !strcmp(base[0], base[1]);
}

static void
open_file(struct out *o, const char *path, mode_t mode)
{
	struct stat st;
	mode_t mask;

	o->replaces = stat(path, &st) == 0;
	if (o->replaces && !S_ISREG(st.st_mode)) {
		o->fd = open(path, O_WRONLY | O_CLOEXEC);
		if (o->fd < 0)
			die_sys("%s", path);
		return;
	}
	if (o->replaces && access(path, W_OK) < 0)
		die_sys("%s", path);
	mask = umask(0);
	umask(mask);
	o->final = out_resolve(path);
	if (!o->final)
		die_sys("%s", path);
	for (const struct out *p = all; p; p = p->next)
		if (p->temp && same_path(p->final, o->final))
			die("%s: is written to already", path);
	o->temp = temp_name(o->final);
	o->fd = o->temp ? temp_file(o->temp, o->replaces ? st.st_mode & 0777 : mode & ~mask) : -1;
	if (o->fd < 0 || temp_set_final(o->temp, o->final) < 0) {
		free(o->temp);
		o->temp = NULL;
		die_sys("%s", path);
	}
	/* the superuser must not take a file away from its owner */
	if (o->replaces && (st.st_uid != geteuid() || st.st_gid != getegid()) &&
	    fchown(o->fd, st.st_uid, st.st_gid) == 0)
		(void)!fchmod(o->fd, st.st_mode & 0777);
}

/* Files that outputs will replace */
struct replaced {
	char *name;             /* owned: as the user gave it */
	dev_t dev;
	ino_t ino;
	struct replaced *next;
};

static struct replaced *replaced;

/* A file is opened for reading. */
static void
out_not_input(int fd)
{
	struct stat st;

	if (fstat(fd, &st) != 0)
		return;
	for (const struct replaced *r = replaced; r; r = r->next)
		if (r->dev == st.st_dev && r->ino == st.st_ino)
			die("%s: is the input, which the output would replace", r->name);
}

void
out_replaces(const char *path)
{
	struct replaced *r;
	struct stat st;

	if (!path || out_descriptor(path) >= 0 || stat(path, &st) != 0 || !S_ISREG(st.st_mode))
		return;
	r = xmalloc(sizeof *r);
	*r = (struct replaced){ xstrdup(path), st.st_dev, st.st_ino, replaced };
	replaced = r;
	src_watch(out_not_input);
}

mode_t
out_mode_of(const char *input)
{
	struct stat st;

	return input && stat(input, &st) == 0 && S_ISREG(st.st_mode) ? st.st_mode & 0666 : 0666;
}

static struct out *
out_alloc(int fd)
{
	struct out *o = xcalloc(1, sizeof(*o));

	o->p = xmalloc(SIZE);
	o->pid = getpid();
	o->fd = fd;
	return o;
}

/* Adds an output that has its descriptor to the list. */
static struct out *
out_begin(struct out *o)
{
	o->terminal = !o->temp && isatty(o->fd);
	if (!o->temp)
		progress_output(o->fd);
	if (!hooked) {
		hooked = 1;
		atexit(at_exit);
	}
	o->next = all;
	all = o;
	return o;
}

struct out *
out_create(const char *path, mode_t mode)
{
	struct out *o = out_alloc(path ? out_descriptor(path) : STDOUT_FILENO);

	if (o->fd >= 0) {
		o->name = xstrdup(o->fd == STDOUT_FILENO ? "standard output" : path);
	} else {
		o->name = xstrdup(path);
		open_file(o, path, mode);
	}
	return out_begin(o);
}

struct out *
out_of_fd(int fd, const char *name)
{
	struct out *o = out_alloc(fd);

	o->name = xstrdup(name);
	return out_begin(o);
}

struct out *
out_open(const char *path)
{
	return out_create(path, 0666);
}

int
out_fd(const struct out *o)
{
	return o->fd;
}

const char *
out_name(const struct out *o)
{
	return o->name;
}

uint8_t *
out_reserve(struct out *o, size_t n)
{
	if (SIZE - o->n < n)
		out_flush(o);
	return o->p + o->n;
}

void
out_commit(struct out *o, size_t n)
{
	o->n += n;
}

void
out_binary(const struct out *o, const char *what)
{
	if (isatty(out_fd(o)))
		die("%s is not written to a terminal: name a file with -o, or pipe it to another tool", what);
}

void
out_write(struct out *o, const void *p, size_t n)
{
	if (n > SIZE - o->n || n >= DIRECT)
		out_flush(o);
	if (n >= DIRECT) {
		if (out_push(o, p, n) < 0)
			out_fail(o);
		return;
	}
	if (n)
		memcpy(o->p + o->n, p, n);
	o->n += n;
}

void
out_str(struct out *o, const char *s)
{
	out_write(o, s, strlen(s));
}

void
out_printf(struct out *o, const char *fmt, ...)
{
	va_list ap;
	char *s;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n < 0)
		die("%s: cannot format", o->name);
	s = xmalloc((size_t)n + 1);
	va_start(ap, fmt);
	vsnprintf(s, (size_t)n + 1, fmt, ap);
	va_end(ap);
	out_write(o, s, (size_t)n);
	free(s);
}

int
out_publish(struct out *o)
{
	if (!o->final)
		return 0;
	if (o->temp) {
		if (temp_commit(o->temp) < 0)
			return -1;
		free(o->temp);
		o->temp = NULL;
	}
	return 1;
}

void
out_close(struct out *o)
{
	out_flush(o);
	/* the old file was safe on disk, so the new one must be; some file systems cannot sync */
	if (o->temp && o->replaces && fsync(o->fd) < 0 && errno != EINVAL && errno != ENOTSUP)
		out_fail(o);
	if (close(o->fd) < 0)
		out_fail(o);
	if (out_publish(o) < 0)
		out_fail(o);
	out_unhook(o);
	out_release(o);
}

void
out_discard(struct out *o)
{
	if (!o->temp)
		out_flush(o);
	close(o->fd);
	if (o->temp)
		temp_remove(o->temp);
	out_unhook(o);
	out_release(o);
}

void
out_end(struct out *o, const char *path, const struct fault *f, const char *warning)
{
	if (f) {
		out_discard(o);
		die_fault(path, f);
	}
	out_close(o);
	if (warning)
		warn("%s: %s", path, warning);
}
