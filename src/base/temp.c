/* Unfinished files: a list that an exit or signal handler removes. See temp.h. */
#include "base/temp.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/helper.h"
#include "base/progress.h"

#define DEEP 16         /* depth of nested folders that are removed: more than any tool makes */

struct temp {
	char *name;             /* owned */
	char *final;            /* owned: its name when it is done; NULL: it keeps its name */
	pid_t pid;              /* the process that made it */
	struct temp *next;
};

/* Changed only with signals blocked, because the handler walks it. */
static struct temp *all;
static int hooked;

/*
 * Signals that end a program by default, other than crashes. SIGXFSZ is missing: diag_init() turns
 * it into an error of write(2).
 */
static const int sigs[] = {
	SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGALRM, SIGTERM, SIGUSR1, SIGUSR2,
	SIGXCPU, SIGVTALRM, SIGPROF, SIGPOLL, SIGPWR, SIGSTKFLT,
};
#define NSIGS (sizeof(sigs) / sizeof(sigs[0]))

static int remove_tree(int at, const char *name, int deep);

/*
 * Removes what is in a folder; returns whether anything was removed. opendir() is not safe in a
 * signal handler, so this reads the kernel's records.
 */
static int
temp_empty(int fd, int deep)
{
	_Alignas(8) char buf[2048];
	unsigned short len;
	int gone = 0;
	long n;

	while ((n = syscall(SYS_getdents64, fd, buf, sizeof buf)) > 0)
		for (long i = 0; i < n; i += len) {
			/* after inode, offset, length, type (getdents64(2)) */
			const char *s = buf + i + 19;

			memcpy(&len, buf + i + 16, sizeof len);
			if (strcmp(s, ".") != 0 && strcmp(s, "..") != 0)
				gone |= remove_tree(fd, s, deep - 1);
		}
	return gone;
}

/* Removes a file, or a folder with its contents; returns whether it is gone. */
static int
remove_tree(int at, const char *name, int deep)
{
	int fd;

	if (unlinkat(at, name, 0) == 0)
		return 1;
	if ((errno != EISDIR && errno != EPERM) || !deep)
		return 0;
	fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0) {
		/*
		 * repeats while something was removed: entries may be left out of a folder that is read
		 * while it is emptied
		 */
		while (temp_empty(fd, deep))
			if (lseek(fd, 0, SEEK_SET) != 0)
				break;
		close(fd);
	}
	return unlinkat(at, name, AT_REMOVEDIR) == 0;
}

void
temp_remove_process(pid_t pid)
{
	for (const struct temp *t = all; t; t = t->next)
		if (t->pid == pid)
			(void)remove_tree(AT_FDCWD, t->name, DEEP);
}

static void
remove_all(void)
{
	if (!all)
		return;
	if (helper_running())
		(void)helper_request(HELPER_REMOVE_ALL, "");
	else
		temp_remove_process(getpid());
}

int
temp_exists(void)
{
	for (const struct temp *t = all; t; t = t->next)
		if (t->pid == getpid())
			return 1;
	return 0;
}

static void
on_signal(int sig)
{
	progress_clear();
	remove_all();
	signal(sig, SIG_DFL);
	raise(sig);
}

static void
temp_hook(void)
{
	struct sigaction sa = { .sa_handler = on_signal }, old;

	if (hooked)
		return;
	hooked = 1;
	atexit(remove_all);
	for (size_t i = 0; i < NSIGS; i++)
		if (!sigaction(sigs[i], NULL, &old) && old.sa_handler == SIG_DFL)
			sigaction(sigs[i], &sa, NULL);
}

static void
temp_block(sigset_t *old)
{
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < NSIGS; i++)
		sigaddset(&set, sigs[i]);
	pthread_sigmask(SIG_BLOCK, &set, old);
}

/* Makes it and adds it to the list, with no signal in between. */
static int
temp_make(char *name, int (*how)(char *))
{
	struct temp *t = malloc(sizeof *t);
	char *copy = malloc(strlen(name) + 1);
	sigset_t old;
	int r = -1, err = ENOMEM;

	temp_hook();
	temp_block(&old);
	if (t && copy) {
		r = how(name);
		err = errno;
	}
	if (r >= 0) {
		*t = (struct temp){ strcpy(copy, name), NULL, getpid(), all };
		all = t;
	} else {
		free(t);
		free(copy);
	}
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	errno = err;
	return r;
}

static int
make_file(char *name)
{
	return mkostemp(name, O_CLOEXEC);
}

static int
make_folder(char *name)
{
	return mkdtemp(name) ? 0 : -1;
}

char *
temp_name(const char *path)
{
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
	size_t folder = (size_t)(base - path), n = strnlen(base, NAME_MAX - 7);
	char *name = malloc(folder + n + sizeof ".XXXXXX");

	if (name) {
		memcpy(name, path, folder + n);
		memcpy(name + folder + n, ".XXXXXX", sizeof ".XXXXXX");
	}
	return name;
}

int
temp_file(char *name, mode_t mode)
{
	int fd = temp_make(name, make_file), err;

	/* a file system without modes is no reason to fail */
	if (fd < 0 || fchmod(fd, mode) == 0 || errno == EPERM || errno == ENOTSUP)
		return fd;
	err = errno;
	close(fd);
	temp_remove(name);
	errno = err;
	return -1;
}

int
temp_folder(char *name)
{
	return temp_make(name, make_folder);
}

static void
temp_drop(const char *name)
{
	if (helper_running())
		(void)helper_request(HELPER_REMOVE, name);
	else
		(void)remove_tree(AT_FDCWD, name, DEEP);
}

static int
temp_finish(const char *name, const char *final)
{
	return helper_running() ? helper_request(HELPER_DONE, name) : final ? rename(name, final) : 0;
}

/*
 * Takes it off the list, after removing or renaming it if wanted: 0, or -1 with errno and it stays
 * on the list.
 */
enum fate { KEEP, REMOVE, RENAME };
static int
temp_forget(const char *name, enum fate fate)
{
	sigset_t old;
	int r = 0, err = 0;

	temp_block(&old);
	for (struct temp **pp = &all; *pp; pp = &(*pp)->next) {
		struct temp *t = *pp;

		if (strcmp(t->name, name) != 0)
			continue;
		if (fate == REMOVE)
			temp_drop(name);
		if (fate == RENAME && (r = temp_finish(name, t->final)) < 0) {
			err = errno;
			break;
		}
		*pp = t->next;
		free(t->name);
		free(t->final);
		free(t);
		break;
	}
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	errno = err;
	return r;
}

int
temp_set_final(const char *name, const char *final)
{
	char *copy = malloc(strlen(final) + 1);

	for (struct temp *t = all; copy && t; t = t->next)
		if (strcmp(t->name, name) == 0) {
			free(t->final);
			t->final = strcpy(copy, final);
			return 0;
		}
	free(copy);
	errno = copy ? ENOENT : ENOMEM;
	return -1;
}

int
temp_commit(const char *name)
{
	return temp_forget(name, RENAME);
}

void
temp_keep(const char *name)
{
	(void)temp_forget(name, KEEP);
}

void
temp_remove(const char *name)
{
	(void)temp_forget(name, REMOVE);
}

int
temp_unnamed(const char *tool)
{
	const char *dir = getenv("TMPDIR");
	char name[4096];
	int fd;

	if (helper_running())
		return helper_request(HELPER_TEMP, "");
	if (!dir || !*dir)
		dir = "/tmp";
	if (snprintf(name, sizeof name, "%s/%s.XXXXXX", dir, tool) >= (int)sizeof name) {
		errno = ENAMETOOLONG;
		return -1;
	}
	fd = temp_file(name, 0600);
	if (fd >= 0)
		temp_remove(name);
	return fd;
}
