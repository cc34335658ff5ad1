/* Runs the assembler on a text, in a folder for temporary files. */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "ae/rewrite/assemble.h"
#include "base/mem.h"

int
assembly_open(struct assembly *a)
{
	const char *tmp = getenv("TMPDIR");

	a->dir = xasprintf("%s/aerw.XXXXXX", tmp && *tmp ? tmp : "/tmp");
	if (!mkdtemp(a->dir)) {
		free(a->dir);
		return -1;
	}
	a->in = xasprintf("%s/m.s", a->dir);
	a->out = xasprintf("%s/m.o", a->dir);
	a->said = xasprintf("%s/m.err", a->dir);
	return 0;
}

void
assembly_close(struct assembly *a)
{
	unlink(a->in);
	unlink(a->out);
	unlink(a->said);
	rmdir(a->dir);
	free(a->dir);
	free(a->in);
	free(a->out);
	free(a->said);
}

/* The environment, but for the language of messages; the array is to be freed. */
static char **
in_english(void)
{
	static char english[] = "LC_ALL=C";
	size_t i, n = 0;
	char **env;

	while (environ[n])
		n++;
	env = xcalloc(n + 2, sizeof *env);
	env[0] = english;
	for (i = n = 0; environ[i]; i++)
		if (strncmp(environ[i], "LC_ALL=", 7) != 0)
			env[++n] = environ[i];
	return env;
}

static int
assembly_wait(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return 127;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

int
assembly_run(const struct assembly *a, const struct assembler *as, const char *in, int keep)
{
	char *const *args = as->args, *argv[64], **env = keep ? in_english() : environ;
	const char *const *always = as->always;
	posix_spawn_file_actions_t act;
	int n = 0, fd, err;
	pid_t pid;

	argv[n++] = (char *)(uintptr_t)as->as;
	for (; always && *always && n < 8; always++)
		argv[n++] = (char *)(uintptr_t)*always;
	for (; args && *args && n < 58; args++)
		argv[n++] = *args;
	argv[n++] = (char *)(uintptr_t)"-o";
	argv[n++] = a->out;
	argv[n++] = (char *)(uintptr_t)in;
	argv[n] = NULL;
	err = posix_spawn_file_actions_init(&act);
	if (!err) {
		for (fd = 0; fd < 3 && !err; fd++)
			err = fd == 2 && keep ?
			    posix_spawn_file_actions_addopen(&act, fd, a->said, O_WRONLY | O_CREAT | O_TRUNC, 0600) :
			    posix_spawn_file_actions_addopen(&act, fd, "/dev/null", O_RDWR, 0);
		if (!err)
			err = posix_spawnp(&pid, as->as, &act, NULL, argv, env);
		posix_spawn_file_actions_destroy(&act);
	}
	if (keep)
		free(env);
	return err ? 127 : assembly_wait(pid);
}

static int
assembly_write(const char *path, const struct buf *b)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	size_t done = 0;
	ssize_t n = 0;

	if (fd < 0)
		return -1;
	while (done < b->n && (n = write(fd, b->p + done, b->n - done)) >= 0)
		done += (size_t)n;
	return close(fd) != 0 || done < b->n || b->nomem ? -1 : 0;
}

int
assembly_possible(const struct buf *text)
{
	struct assembly a;
	int bad;

	if (assembly_open(&a) != 0)
		return 0;
	bad = assembly_write(a.in, text);
	assembly_close(&a);
	return !bad;
}

const char *
assembly_text(const struct assembly *a, const struct assembler *as, const struct buf *text, int keep, int *fd)
{
	if (assembly_write(a->in, text))
		return ASSEMBLY_NOTEMP;
	/* it has left no object: one takes about as much room as the text */
	if (assembly_run(a, as, a->in, keep) != 0)
		return assembly_possible(text) ? ASSEMBLY_REJECTED : ASSEMBLY_NOTEMP;
	*fd = open(a->out, O_RDONLY | O_CLOEXEC);
	return *fd < 0 ? "the assembler left no output" : NULL;
}
