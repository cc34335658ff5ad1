/* Checked output: see out.h. */
#include "out.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "diag.h"
#include "mem.h"

#define SIZE (2 * OUT_ROOM)
#define DIRECT (64u << 10)       /* as much is not worth copying */

struct out {
	int fd;
	char *name;             /* owned: what the user called it */
	char *final, *temp;     /* owned; NULL when written directly */
	uint8_t *p;             /* owned: SIZE bytes */
	size_t n;
	uint64_t off;           /* bytes handed to the kernel */
	struct out *next;
};

static struct out *all;         /* open ones: for exit and signals */
static int hooked;

static void
unhook(struct out *o)
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
release(struct out *o)
{
	free(o->name);
	free(o->final);
	free(o->temp);
	free(o->p);
	free(o);
}

/* Write all of p; 0 or -1 with errno */
static int
push(struct out *o, const uint8_t *p, size_t n)
{
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
fail(struct out *o)
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
	if (push(o, o->p, n) < 0)
		fail(o);
}

static void
at_exit(void)
{
	struct out *o;

	while ((o = all)) {
		all = o->next;
		if (o->temp)
			unlink(o->temp);
		else if (push(o, o->p, o->n) < 0 && errno != EPIPE) {
			warn_sys("%s", o->name);
			_exit(1);
		}
	}
}

static void
on_signal(int sig)
{
	struct out *o;

	for (o = all; o; o = o->next)
		if (o->temp)
			unlink(o->temp);
	signal(sig, SIG_DFL);
	raise(sig);
}

static void
hook_signals(void)
{
	static const int sigs[] = { SIGHUP, SIGINT, SIGTERM };
	struct sigaction sa, old;
	size_t i;

	memset(&sa, 0, sizeof(sa));
	sa.sa_handler = on_signal;
	for (i = 0; i < sizeof(sigs) / sizeof(sigs[0]); i++)
		if (!sigaction(sigs[i], NULL, &old) && old.sa_handler == SIG_DFL)
			sigaction(sigs[i], &sa, NULL);
}

/* A regular or new file gets a temporary beside it, with the mode that plain creation would give */
static void
open_file(struct out *o, const char *path)
{
	struct stat st;
	mode_t mode, mask;
	int exists = stat(path, &st) == 0;

	if (exists && !S_ISREG(st.st_mode)) {
		o->fd = open(path, O_WRONLY | O_CLOEXEC);
		if (o->fd < 0)
			die_sys("%s", path);
		return;
	}
	mask = umask(0);
	umask(mask);
	mode = exists ? st.st_mode & 0777 : 0666 & ~mask;
	if (exists && access(path, W_OK) < 0)
		die_sys("%s", path);
	o->final = exists ? realpath(path, NULL) : xstrdup(path);   /* through a symbolic link, not over it */
	if (!o->final)
		die_sys("%s", path);
	o->temp = xasprintf("%s.XXXXXX", o->final);
	o->fd = mkstemp(o->temp);
	if (o->fd < 0) {
		free(o->temp);
		o->temp = NULL;
		die_sys("%s", path);
	}
	if (fchmod(o->fd, mode) < 0)
		warn_sys("%s", path);
	hook_signals();
}

struct out *
out_open(const char *path)
{
	struct out *o = xcalloc(1, sizeof(*o));

	o->p = xmalloc(SIZE);
	if (!path || !strcmp(path, "-")) {
		o->name = xstrdup("standard output");
		o->fd = STDOUT_FILENO;
	} else {
		o->name = xstrdup(path);
		open_file(o, path);
	}
	if (!hooked) {
		hooked = 1;
		atexit(at_exit);
	}
	o->next = all;
	all = o;
	return o;
}

const char *
out_name(const struct out *o)
{
	return o->name;
}

uint8_t *
out_room(struct out *o, size_t n)
{
	if (SIZE - o->n < n)
		out_flush(o);
	return o->p + o->n;
}

void
out_used(struct out *o, size_t n)
{
	o->n += n;
}

void
out_write(struct out *o, const void *p, size_t n)
{
	if (n > SIZE - o->n || n >= DIRECT)
		out_flush(o);
	if (n >= DIRECT) {
		if (push(o, p, n) < 0)
			fail(o);
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

uint64_t
out_off(const struct out *o)
{
	return o->off + o->n;
}

void
out_close(struct out *o)
{
	out_flush(o);
	if (close(o->fd) < 0)
		fail(o);
	if (o->temp && rename(o->temp, o->final) < 0)
		fail(o);
	unhook(o);
	release(o);
}

void
out_drop(struct out *o)
{
	if (!o->temp)
		out_flush(o);
	close(o->fd);
	if (o->temp)
		unlink(o->temp);
	unhook(o);
	release(o);
}
