/* The helper of a confined process: a second process that serves requests over a socket. See helper.h. */
#include "base/helper.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/num.h"
#include "base/src.h"
#include "base/temp.h"

#define PATH_ROOM 4096

struct ask {
	uint32_t op, no;
	char path[PATH_ROOM];   /* only the used part is sent */
};

struct answer {
	uint32_t op, no;
	int32_t err;            /* 0: done; a descriptor is passed with it if the request asked for one */
};

/* The descriptor N of a path like /proc/self/fd/N, or -1. */
static int
own_descriptor(const char *path)
{
	static const char folder[] = "/proc/self/fd/";
	uint64_t n;

	return strncmp(path, folder, sizeof folder - 1) == 0 &&
	    num_u64(path + sizeof folder - 1, 0, INT32_MAX, &n) == 0 ? (int)n : -1;
}

/* A file that stays open because it is read again. */
struct held {
	char *path;             /* owned */
	int fd;
	struct held *next;
};

static unsigned may;
static int sock = -1;           /* to the helper */
static pid_t owner, child;      /* owner: the confined process; child: the helper */
static uint32_t number;
static struct held *held;

void
helper_allow(unsigned what)
{
	may = what;
}

int
helper_running(void)
{
	return sock >= 0 && getpid() == owner;
}

/*
 * A regular file, but not one of /proc and the like, whose size and contents the kernel makes up
 * when it is read.
 */
static int
is_file(int fd)
{
	struct stat st;
	struct statfs fs;

	return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && fstatfs(fd, &fs) == 0 &&
	    fs.f_type != PROC_SUPER_MAGIC && fs.f_type != SYSFS_MAGIC && fs.f_type != DEBUGFS_MAGIC &&
	    fs.f_type != TRACEFS_MAGIC;
}

/* An ELF executable or library. A core file is refused: it holds a program's memory. */
static int
is_elf(int fd)
{
	uint8_t b[18];

	return pread(fd, b, sizeof b, 0) == (ssize_t)sizeof b && !memcmp(b, "\177ELF", 4) &&
	    (b[16] | b[17]) && b[16] < 4 && !b[17];
}

static int
open_for(const char *path, unsigned op)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

	if (fd >= 0 && (!is_file(fd) || (op == HELPER_ELF && !is_elf(fd)))) {
		close(fd);
		errno = EACCES;
		return -1;
	}
	return fd;
}

/* Carries out a request: 0 or a descriptor, -1 with errno. */
static int
helper_serve(const struct ask *a)
{
	switch (a->op) {
	case HELPER_DONE:
		return temp_commit(a->path);
	case HELPER_REMOVE:
		temp_remove(a->path);
		return 0;
	case HELPER_REMOVE_ALL:
		temp_remove_process(owner);
		return 0;
	case HELPER_ELF: case HELPER_TEXT: case HELPER_TEMP:
		if (may & a->op)
			return a->op == HELPER_TEMP ? temp_unnamed(diag_name()) : open_for(a->path, a->op);
		/* fallthrough */
	default:
		errno = EPERM;
		return -1;
	}
}

static void
helper_reply(int to, struct answer *a, int fd)
{
	union { struct cmsghdr h; char room[CMSG_SPACE(sizeof(int))]; } c;
	struct iovec v = { a, sizeof *a };
	struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1 };

	if (fd > 0) {
		memset(&c, 0, sizeof c);
		m.msg_control = &c;
		m.msg_controllen = sizeof c;
		c.h.cmsg_level = SOL_SOCKET;
		c.h.cmsg_type = SCM_RIGHTS;
		c.h.cmsg_len = CMSG_LEN(sizeof fd);
		memcpy(CMSG_DATA(&c.h), &fd, sizeof fd);
	}
	(void)!sendmsg(to, &m, MSG_NOSIGNAL);
	if (fd > 0)
		close(fd);
}

/* Main loop of the helper. It ignores signals, which are meant for the process that it helps. */
static _Noreturn void
helper_help(int from)
{
	static struct ask a;
	ssize_t n;

	/* closes the tool's descriptors, so that readers of its output see the end */
	if (dup2(from, 0) < 0 || (syscall(SYS_close_range, 1u, ~0u, 0u) != 0 && errno != ENOSYS))
		_exit(1);
	while ((n = read(0, &a, sizeof a)) > 0 || (n < 0 && errno == EINTR)) {
		struct answer b = { a.op, a.no, 0 };
		int fd;

		if (n < (ssize_t)(2 * sizeof(uint32_t) + 1) || a.path[(size_t)n - 2 * sizeof(uint32_t) - 1])
			continue;
		fd = helper_serve(&a);
		b.err = fd < 0 ? errno : 0;
		helper_reply(0, &b, fd);
	}
	temp_remove_process(owner);
	_exit(0);
}

static void
helper_end(void)
{
	if (!helper_running())
		return;
	close(sock);
	sock = -1;
	while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
}

int
helper_start(void (*forget)(void *arg), void *arg)
{
	int s[2], err;
	sigset_t all, old;

	if (!may && !temp_exists())
		return 0;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, s) != 0)
		return -1;
	owner = getpid();
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &old);
	child = fork();
	if (child == 0) {
		if (forget)
			forget(arg);
		close(s[0]);
		helper_help(s[1]);
	}
	err = errno;
	sigprocmask(SIG_SETMASK, &old, NULL);
	close(s[1]);
	if (child < 0) {
		close(s[0]);
		errno = err;
		return -1;
	}
	sock = s[0];
	atexit(helper_end);
	return 0;
}

/*
 * Waits for the answer to question `no`. Skips older answers: a signal handler may have asked in
 * between.
 */
static int
helper_answer(uint32_t no)
{
	for (;;) {
		union { struct cmsghdr h; char room[CMSG_SPACE(sizeof(int))]; } c;
		struct answer a;
		struct iovec v = { &a, sizeof a };
		struct msghdr m = {
			.msg_iov = &v, .msg_iovlen = 1, .msg_control = &c, .msg_controllen = sizeof c
		};
		ssize_t n = recvmsg(sock, &m, MSG_CMSG_CLOEXEC);
		int fd = 0;

		if (n < 0 && errno == EINTR)
			continue;
		if (n != (ssize_t)sizeof a) {
			errno = EPIPE;
			return -1;
		}
		if (m.msg_controllen >= sizeof c.h && c.h.cmsg_type == SCM_RIGHTS)
			memcpy(&fd, CMSG_DATA(&c.h), sizeof fd);
		if (a.no == no) {
			errno = a.err;
			return a.err ? -1 : fd;
		}
		if (fd > 0)
			close(fd);
	}
}

int
helper_request(unsigned op, const char *path)
{
	struct ask a = { .op = op, .no = ++number };
	uint32_t no = a.no;
	size_t n = strlen(path) + 1, head = sizeof a - sizeof a.path;

	if (n > sizeof a.path) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(a.path, path, n);
	while (write(sock, &a, head + n) < 0)
		if (errno != EINTR)
			return -1;
	return helper_answer(no);
}

int
helper_open(const char *path, enum helper_allow what)
{
	int fd;

	if (!helper_running())
		return src_open(path);
	fd = helper_request(what, path);
	if (fd >= 0)
		src_opened(fd);
	return fd;
}

int
helper_keep_open(const char *path)
{
	struct held *h;
	int fd;

	for (h = held; h; h = h->next)
		if (strcmp(h->path, path) == 0) {
			fd = fcntl(h->fd, F_DUPFD_CLOEXEC, 3);
			if (fd >= 0)
				(void)lseek(fd, 0, SEEK_SET);
			return fd;
		}
	fd = src_open(path);
	if (fd < 0 && own_descriptor(path) >= 0)
		return fcntl(own_descriptor(path), F_DUPFD_CLOEXEC, 3);
	/* a descriptor's number may later mean another file */
	if (fd < 0 || own_descriptor(path) >= 0)
		return fd;
	h = malloc(sizeof *h);
	if (h && (h->path = malloc(strlen(path) + 1)) != NULL &&
	    (h->fd = fcntl(fd, F_DUPFD_CLOEXEC, 3)) >= 0) {
		strcpy(h->path, path);
		h->next = held;
		held = h;
	} else if (h) {         /* no descriptor is held: the next call opens the file again */
		free(h->path);
		free(h);
	}
	return fd;
}
