/*
 * A command on many damaged copies of a file, as a test does it in a loop, without a process for each
 * word of it.
 *
 * each cut FILE WHOLE COMMAND...           every proper prefix (of a long file one of three), in the file `cut`: status 1,
 * one line `TOOL: cut: byte N: ...`
 *                                          with N the length, and output that WHOLE begins with and that
 *                                          never gets less
 * each flip FILE COMMAND...                a bit changed in each byte, in the file `flip`: status 1 and
 * one line
 *                                          `TOOL: flip: byte N: ...`
 * each set FILE FROM LENGTH STEP COMMAND...        every STEP-th byte is 255, in the file `hurt`: never
 * silent for two
 *                                          minutes, ended by no signal but that of a closed pipe, and no
 *                                          sanitizer complains
 *
 * TOOL is the command's name.  What is not so is named; the last line of `cut` is the output's length at
 * the last prefix.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"

#define MOST ((size_t)1000000)          /* bytes of output of a hurt file: then the pipe is closed */
#define SECONDS 120

extern char **environ;

struct result {
	struct buf out, err;
	int status;                     /* of waitpid */
	int late;                       /* it did not end */
};

static void
die(const char *what)
{
	perror(what);
	exit(2);
}

static struct buf
slurp(const char *name)
{
	struct buf b = BUF_INIT;
	uint8_t p[65536];
	ssize_t n;
	int fd = open(name, O_RDONLY);

	if (fd < 0)
		die(name);
	while ((n = read(fd, p, sizeof p)) > 0)
		buf_add(&b, p, (size_t)n);
	close(fd);
	return b;
}

static void
spill(const char *name, const uint8_t *p, size_t n)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0755);

	if (fd < 0 || write(fd, p, n) != (ssize_t)n || close(fd) != 0)
		die(name);
}

static pid_t
start(char **command, int out[2], int err[2])
{
	posix_spawn_file_actions_t how;
	pid_t pid;

	if (pipe2(out, O_CLOEXEC) != 0 || pipe2(err, O_CLOEXEC) != 0)
		die("pipe");
	posix_spawn_file_actions_init(&how);
	posix_spawn_file_actions_adddup2(&how, out[1], 1);
	posix_spawn_file_actions_adddup2(&how, err[1], 2);
	if ((errno = posix_spawnp(&pid, command[0], &how, NULL, command, environ)) != 0)
		die(command[0]);
	posix_spawn_file_actions_destroy(&how);
	close(out[1]);
	close(err[1]);
	return pid;
}

/* What one pipe has; closes it at its end and beyond `most` bytes */
static void
take(struct pollfd *f, struct buf *b, size_t most)
{
	uint8_t p[65536];
	ssize_t n;

	if (!f->revents)
		return;
	n = read(f->fd, p, sizeof p);
	if (n > 0)
		buf_add(b, p, (size_t)n);
	if (n > 0 && b->n < most)
		return;
	close(f->fd);
	f->fd = -1;
}

static void
run(struct result *r, size_t most, char **command)
{
	int out[2], err[2];
	pid_t pid = start(command, out, err);
	struct pollfd f[2] = { { .fd = out[0], .events = POLLIN }, { .fd = err[0], .events = POLLIN } };

	r->out.n = r->err.n = 0;
	r->late = 0;
	while (f[0].fd >= 0 || f[1].fd >= 0) {
		int n = poll(f, 2, SECONDS * 1000);

		if (n < 0 && errno != EINTR)
			die("poll");
		if (n == 0) {
			r->late = 1;
			kill(pid, SIGKILL);
			for (int i = 0; i < 2; i++)
				if (f[i].fd >= 0)
					close(f[i].fd);
			break;
		}
		take(&f[0], &r->out, most);
		take(&f[1], &r->err, SIZE_MAX);
	}
	buf_add(&r->err, "", 1);
	if (waitpid(pid, &r->status, 0) != pid)
		die("waitpid");
}

/* Status 1 and one line that begins so? */
static int
refused(const struct result *r, const char *begin)
{
	const char *s = (const char *)r->err.p, *line = strchr(s, '\n');

	return !r->late && WIFEXITED(r->status) && WEXITSTATUS(r->status) == 1 &&
	    strncmp(s, begin, strlen(begin)) == 0 && line && !line[1];
}

static const char *
tool(char **command)
{
	const char *slash = strrchr(command[0], '/');

	return slash ? slash + 1 : command[0];
}

/* The byte to be damaged after n: of long files every seventh, and the last one; MATRIX=full: each */
static size_t
next(const struct buf *file, size_t n)
{
	const char *matrix = getenv("MATRIX");
	size_t step = file->n < 200 || (matrix && strcmp(matrix, "full") == 0) ? 1 : 7;

	return n + 1 < file->n && n + step >= file->n ? file->n - 1 : n + step;
}

static size_t
cut(struct result *r, const struct buf *file, const struct buf *whole, char **command)
{
	size_t bad = 0, last = 0;

	for (size_t n = 0; n < file->n; n = next(file, n)) {
		char begin[256];

		spill("cut", file->p, n);
		run(r, SIZE_MAX, command);
		snprintf(begin, sizeof begin, "%s: cut: byte %zu: ", tool(command), n);
		if (!refused(r, begin))
			bad++, printf("%zu: status %d: %s", n, r->status, (char *)r->err.p);
		if (r->out.n < last || r->out.n > whole->n ||
		    (r->out.n && memcmp(r->out.p, whole->p, r->out.n) != 0))
			bad++, printf("%zu: other output\n", n);
		last = r->out.n;
	}
	printf("%zu\n", last);
	return bad;
}

static size_t
flip(struct result *r, const struct buf *file, char **command)
{
	static const uint8_t bit[] = { 1, 16, 128 };
	char begin[256];
	size_t bad = 0;

	snprintf(begin, sizeof begin, "%s: flip: byte ", tool(command));
	for (size_t n = 0; n < file->n; n = next(file, n))
		for (size_t i = 0; i < sizeof bit; i++) {
			const char *s;

			file->p[n] ^= bit[i];
			spill("flip", file->p, file->n);
			file->p[n] ^= bit[i];
			run(r, SIZE_MAX, command);
			s = (const char *)r->err.p + strlen(begin);
			if (!refused(r, begin) || strncmp(s + strspn(s, "0123456789"), ": ", 2) != 0)
				bad++, printf("%zu/%u: status %d: %s\n", n, bit[i], r->status,
				    (char *)r->err.p);
		}
	return bad;
}

static size_t
set(struct result *r, const struct buf *file, size_t from, size_t length, size_t step, char **command)
{
	size_t bad = 0;

	for (size_t n = from; n < from + length && n < file->n; n += step) {
		uint8_t was = file->p[n];

		file->p[n] = 255;
		spill("hurt", file->p, file->n);
		file->p[n] = was;
		run(r, MOST, command);
		if (r->late || (WIFSIGNALED(r->status) && WTERMSIG(r->status) != SIGPIPE) ||
		    strstr((char *)r->err.p, "Sanitizer") ||
		    strstr((char *)r->err.p, "runtime error"))
			bad++, printf("%zu: status %d%s: %s\n", n, r->status, r->late ? ", killed" :
			    "", (char *)r->err.p);
	}
	return bad;
}

int
main(int argc, char **argv)
{
	struct result r = { .out = BUF_INIT, .err = BUF_INIT };
	const char *how = argc > 1 ? argv[1] : "";
	struct buf file = BUF_INIT, whole;

	if (argc > 2)
		file = slurp(argv[2]);
	if (strcmp(how, "cut") == 0 && argc > 4) {
		whole = slurp(argv[3]);
		return cut(&r, &file, &whole, argv + 4) != 0;
	}
	if (strcmp(how, "flip") == 0 && argc > 3)
		return flip(&r, &file, argv + 3) != 0;
	if (strcmp(how, "set") == 0 && argc > 6 && atol(argv[5]) > 0)
		return set(&r, &file, strtoul(argv[3], NULL, 0), strtoul(argv[4], NULL, 0),
		    strtoul(argv[5], NULL, 0), argv + 6) != 0;
	fprintf(stderr, "usage: each cut | flip | set\n");
	return 2;
}
