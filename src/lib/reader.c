/* The caller's side of a handle: the process that reads, and what it hands over. See tracemill.h. */
#include "lib/tracemill.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/confine.h"
#include "base/src.h"
#include "lib/lib_internal.h"

static const char senseless[] = "the process that reads it makes no sense";

struct tracemill {
	char *path, *events;            /* owned */
	struct feed_slot *slots;        /* shared with the process that reads */
	struct feed_slot *slot;         /* the one in use; NULL: none */
	uint32_t at, n;                 /* its next word, and its end */
	unsigned next;                  /* the slot after it */
	pid_t pid;
	int pidfd, fd, said;            /* the process, the socket, its standard error; -1: none */
	int ended;
	enum tracemill_type type;
	unsigned fields;
	uint64_t length, position;      /* position: of the next executed instruction, less 1 */
	uint32_t statement;             /* selected; 0: all */
	char error[2048], warning[2048];
};

static int
lib_fail(struct tracemill *t, const char *text, const char *reason)
{
	if (!t->error[0])
		snprintf(t->error, sizeof t->error, "%s: %s%s%s", src_name(t->path), text, reason ? ": " : "",
		    reason ? reason : "");
	return -1;
}

/*
 * In the forked process: nothing of the caller's acts here, or is held open. It begins when the caller has a
 * descriptor of it: where the caller ignores SIGCHLD, a process that has ended cannot be named any more.
 */
static _Noreturn void
lib_child(const struct tracemill *t, const struct feed_plan *plan, int fd, int said)
{
	sigset_t none;
	int null = open("/dev/null", O_RDWR);
	char token;
	ssize_t n;

	for (int i = 1; i < NSIG; i++)
		signal(i, SIG_DFL);
	signal(SIGINT, SIG_IGN);                /* whether ^C ends anything is up to the caller */
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	fd = fcntl(fd, F_DUPFD, 4);
	dup2(said, STDERR_FILENO);
	dup2(null, STDOUT_FILENO);
	if (!src_is_stdin(plan->path))
		dup2(null, STDIN_FILENO);
	dup2(fd, 3);
	close_range(4, ~0u, 0);
	while ((n = read(3, &token, 1)) < 0 && errno == EINTR)
		;
	if (n != 1)
		confine_exit();
	feed_run(plan, t->slots, 3);
}

static void
lib_close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* Ends the process that reads; says how it ended in *si. */
static void
lib_stop(struct tracemill *t, siginfo_t *si)
{
	memset(si, 0, sizeof *si);
	lib_close_fd(&t->fd);
	if (t->pidfd >= 0) {
		(void)pidfd_send_signal(t->pidfd, SIGKILL, NULL, 0);
		while (waitid(P_PIDFD, (id_t)t->pidfd, si, WEXITED) != 0 && errno == EINTR)
			;
	}
	lib_close_fd(&t->pidfd);
	lib_close_fd(&t->said);
	t->slot = NULL;
}

/* One byte to the process that reads: begin, or a slot is empty again. */
static void
lib_send(const struct tracemill *t)
{
	char token = 0;

	while (send(t->fd, &token, 1, MSG_NOSIGNAL) < 0 && errno == EINTR)
		;
}

/* Forks the process that reads from `from` on; 0, or -1 with errno. All signals are blocked while it begins. */
static int
lib_start(struct tracemill *t, uint64_t from)
{
	const struct feed_plan plan = {
		.path = t->path, .events = t->events, .from = from, .statement = t->statement
	};
	int fd[2] = { -1, -1 }, said[2] = { -1, -1 };
	sigset_t all, old;
	pid_t pid = -1;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd) == 0 && pipe2(said, O_CLOEXEC) == 0) {
		sigfillset(&all);
		pthread_sigmask(SIG_BLOCK, &all, &old);
		if ((pid = fork()) == 0)
			lib_child(t, &plan, fd[1], said[1]);
		pthread_sigmask(SIG_SETMASK, &old, NULL);
	}
	lib_close_fd(&fd[1]);
	lib_close_fd(&said[1]);
	t->fd = fd[0];
	t->said = said[0];
	t->pidfd = pid > 0 ? pidfd_open(pid, 0) : -1;
	t->next = 0;
	t->ended = 0;
	t->position = from;
	t->warning[0] = '\0';
	if (t->pidfd < 0)
		return -1;
	lib_send(t);
	return 0;
}

/* The process ended without a word through the socket: what it wrote on standard error, or how it ended. */
static int
lib_fail_ended(struct tracemill *t)
{
	char text[1024];
	ssize_t n;
	siginfo_t si = { .si_code = CLD_EXITED };
	char *s = text;

	fcntl(t->said, F_SETFL, O_NONBLOCK);
	n = read(t->said, text, sizeof text - 1);
	text[n > 0 ? n : 0] = '\0';
	text[strcspn(text, "\n")] = '\0';
	if (strncmp(s, "libtracemill: ", 14) == 0)
		s += 14;
	lib_close_fd(&t->fd);
	while (waitid(P_PIDFD, (id_t)t->pidfd, &si, WEXITED | WNOWAIT) != 0 && errno == EINTR)
		;                       /* another error: the caller has waited for all its children */
	if (*s)
		snprintf(t->error, sizeof t->error, "%s", s);
	else if (si.si_code != CLD_EXITED)
		lib_fail(t, "the process that reads it was ended by a signal", strsignal(si.si_status));
	else
		lib_fail(t, "the process that reads it has ended", NULL);
	lib_stop(t, &si);
	return -1;
}

/* Gives the current slot back. */
static void
lib_release(struct tracemill *t)
{
	if (!t->slot)
		return;
	lib_send(t);
	t->slot = NULL;
}

/*
 * The first message. What the process that reads says is checked: it may have executed instructions
 * of a hostile capture.
 */
static int
lib_head(struct tracemill *t)
{
	uint64_t type = t->slot->word[0], fields = t->slot->word[1];

	if (type < TRACEMILL_REFS || type > TRACEMILL_INSNS || fields < 1 || fields > TRACEMILL_FIELDS)
		return lib_fail(t, senseless, NULL);
	t->type = (enum tracemill_type)type;
	t->fields = (unsigned)fields;
	t->length = t->slot->word[2];
	t->at = t->n;
	return 1;
}

/* The next slot that holds something for the caller. 1; 0 at the end; -1 */
static int
lib_receive(struct tracemill *t)
{
	char token;
	ssize_t n;

	if (t->error[0])
		return -1;
	while (!t->ended) {
		lib_release(t);
		while ((n = recv(t->fd, &token, 1, 0)) < 0 && errno == EINTR)
			;
		if (n != 1)
			return lib_fail_ended(t);
		t->slot = &t->slots[t->next];
		t->next = (t->next + 1) % FEED_SLOTS;
		t->at = 0;
		t->n = t->slot->n < FEED_WORDS ? t->slot->n : FEED_WORDS;
		switch (t->slot->kind) {
		case FEED_HEAD:
			return lib_head(t);
		case FEED_WARNING:
			snprintf(t->warning, sizeof t->warning, "%.2047s", (const char *)t->slot->word);
			break;
		case FEED_ERROR:
			snprintf(t->error, sizeof t->error, "%.2047s", (const char *)t->slot->word);
			return -1;
		case FEED_END:
			t->ended = 1;
			break;
		default:
			return 1;
		}
	}
	return 0;
}

/* There are words of the current slot left. 1; 0 at the end; -1 */
static int
lib_fill(struct tracemill *t, enum tracemill_type type)
{
	static const char *const has[] = {
		[TRACEMILL_REFS] = "it has no references", [TRACEMILL_RECORDS] = "it has no records",
		[TRACEMILL_INSNS] = "it has no executed instructions",
	};
	int got = 1;

	if (t->error[0])
		return -1;
	if (t->type != type)
		return lib_fail(t, has[type], NULL);
	while (got > 0 && !t->ended && (!t->slot || t->at >= t->n))
		got = lib_receive(t);
	return got < 0 ? -1 : !t->ended;
}

struct tracemill *
tracemill_open(const char *path, const char *events)
{
	struct tracemill *t = calloc(1, sizeof *t);
	int err;

	if (!t)
		return NULL;
	t->fd = t->said = t->pidfd = -1;
	t->length = TRACEMILL_UNKNOWN;
	t->fields = 1;
	t->path = strdup(path);
	t->events = events ? strdup(events) : NULL;
	t->slots = mmap(NULL, FEED_SLOTS * sizeof *t->slots, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (t->path && (t->events || !events) && t->slots != MAP_FAILED && lib_start(t, 0) == 0) {
		lib_receive(t);
		return t;
	}
	err = errno;
	tracemill_close(t);
	errno = err;
	return NULL;
}

void
tracemill_close(struct tracemill *t)
{
	siginfo_t si;

	if (!t)
		return;
	lib_stop(t, &si);
	if (t->slots && t->slots != MAP_FAILED)
		munmap(t->slots, FEED_SLOTS * sizeof *t->slots);
	free(t->path);
	free(t->events);
	free(t);
}

enum tracemill_type
tracemill_type(const struct tracemill *t)
{
	return t->type;
}

unsigned
tracemill_fields(const struct tracemill *t)
{
	return t->fields;
}

uint64_t
tracemill_length(const struct tracemill *t)
{
	return t->length;
}

const char *
tracemill_error(const struct tracemill *t)
{
	return t->error[0] ? t->error : NULL;
}

const char *
tracemill_warning(const struct tracemill *t)
{
	return t->warning[0] ? t->warning : NULL;
}

long
tracemill_next_words(struct tracemill *t, const uint64_t **w)
{
	int got = lib_fill(t, TRACEMILL_REFS);
	long n;

	if (got <= 0)
		return got;
	*w = t->slot->word + t->at;
	n = (long)(t->n - t->at);
	t->at = t->n;
	return n;
}

int
tracemill_next_ref(struct tracemill *t, struct tracemill_ref *r)
{
	int got = lib_fill(t, TRACEMILL_REFS);

	if (got == 1)
		*r = tracemill_word(t->slot->word[t->at++]);
	return got;
}

int
tracemill_next_record(struct tracemill *t, uint64_t v[TRACEMILL_FIELDS])
{
	int got;

	for (unsigned i = 0; i < t->fields; i++) {      /* a record may begin in one slot and end in the next */
		if ((got = lib_fill(t, TRACEMILL_RECORDS)) != 1)
			return got;
		v[i] = t->slot->word[t->at++];
	}
	return 1;
}

int
tracemill_next_insn(struct tracemill *t, struct tracemill_insn *i)
{
	int got = lib_fill(t, TRACEMILL_INSNS);
	const uint64_t *w;
	size_t room;

	if (got != 1)
		return got;
	w = t->slot->word + t->at;
	room = t->n - t->at;
	if (room < (t->statement ? INSN_HEAD : 2))
		return lib_fail(t, senseless, NULL);
	*i = (struct tracemill_insn){ .statement = (uint32_t)w[0], .pc = w[1] };
	if (!t->statement) {
		i->position = ++t->position;
		t->at += 2;
		return 1;
	}
	i->instance = w[2];
	i->nvalue = (size_t)w[3];
	i->nref = (size_t)w[4];
	if (i->nvalue > room || i->nref > room || INSN_HEAD + i->nvalue + i->nref > room)
		return lib_fail(t, senseless, NULL);
	i->value = w + INSN_HEAD;
	i->ref = i->value + i->nvalue;
	t->at += INSN_HEAD + (uint32_t)(i->nvalue + i->nref);
	return 1;
}

/* Begins again, at a place. */
static int
lib_restart(struct tracemill *t, uint64_t from)
{
	siginfo_t si;

	if (t->error[0])
		return -1;
	lib_stop(t, &si);
	if (src_is_stdin(t->path))
		return lib_fail(t, "it can be read once", NULL);
	if (lib_start(t, from) != 0)
		return lib_fail(t, "no process can be forked", strerror(errno));
	return lib_receive(t) < 0 ? -1 : 0;
}

int
tracemill_seek(struct tracemill *t, uint64_t n)
{
	return lib_restart(t, n);
}

int
tracemill_select(struct tracemill *t, uint32_t statement)
{
	if (!t->error[0] && t->type != TRACEMILL_INSNS)
		return lib_fail(t, "it has no executed instructions", NULL);
	t->statement = statement;
	if (lib_restart(t, 0) != 0)
		return -1;
	return lib_fill(t, TRACEMILL_INSNS) < 0 ? -1 : 0;       /* is there one of that number? */
}

const char *
tracemill_version(void)
{
	return TM_VERSION;
}
