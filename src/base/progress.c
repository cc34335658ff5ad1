/* Progress on a terminal: a line that is written over. See progress.h. */
#include "base/progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/diag.h"

#define STEP    4096u           /* done between two looks at the clock */
#define SHORT   2000            /* milliseconds of work of which nothing is shown */
#define PAUSE   250             /* milliseconds between two updates */
#define SETTLE  500             /* milliseconds after which the rate of a part is worth showing */
#define COLUMNS 79

static struct {
	const char *name, *what;        /* borrowed */
	pid_t pid, group;               /* of the process that shows */
	int stopped, fresh;             /* fresh: a part has begun, and did nothing yet */
	volatile int shown;             /* a line is on the terminal */
	uint64_t begun, due;            /* the part's start, and the next update, in milliseconds */
	enum progress_unit unit;
	uint64_t first, done, past;     /* of the part at its first look, and now; of the part before */
	uint64_t limit;                 /* of instructions */
	uint64_t from, before, total;   /* of the piece that is done; total 0: there are no pieces */
	uint64_t read, size;            /* of the inputs, in bytes; size PROGRESS_UNKNOWN: one has none */
} state;

uint64_t progress_step = UINT64_MAX, progress_last;

/* The coarse clock needs no system call on any machine. */
static uint64_t
progress_clock(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

void
progress_clear(void)
{
	if (state.shown && state.pid == getpid())
		(void)!write(STDERR_FILENO, "\r\033[K", 4);
	state.shown = 0;
}

void
progress_stop(void)
{
	progress_clear();
	state.stopped = 1;
	progress_step = UINT64_MAX;
}

void
progress_start(const char *name)
{
	const char *term = getenv("TERM");

	if (state.stopped || state.pid || !isatty(STDERR_FILENO) || (term && !strcmp(term, "dumb")))
		return;
	state.name = name;
	state.pid = getpid();
	state.group = getpgrp();
	state.limit = PROGRESS_UNKNOWN;
	state.begun = progress_clock();
	state.due = state.begun + SHORT;
	state.fresh = 1;
	progress_step = STEP;
	atexit(progress_clear);
}

void
progress_stage(const char *what)
{
	if (!progress_is_on())
		return;
	state.what = what;
	state.begun = progress_clock();
	if (state.due < state.begun + SETTLE)
		state.due = state.begun + SETTLE;
	state.fresh = 1;
	state.past = what ? state.done : 0;
	state.first = state.done = state.read = state.size = progress_last = 0;
	state.from = state.before = state.total = 0;
}

void
progress_piece(uint64_t from, uint64_t before, uint64_t total)
{
	state.from = from;
	state.before = before;
	state.total = total;
}

/* What is done of the part, when a piece of it has counted so far. */
static uint64_t
progress_of_part(uint64_t done)
{
	return (done > state.from ? done - state.from : 0) + state.before;
}

void
progress_limit(uint64_t most)
{
	state.limit = most;
}

void
progress_output(int fd)
{
	struct stat st;

	if (fstat(fd, &st) == 0 && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode)))
		progress_stop();
}

/* What is typed on the terminal must not be mixed with the line. */
void
progress_input(int fd)
{
	struct stat st;

	if (!progress_is_on() || fstat(fd, &st) != 0)
		return;
	if (isatty(fd))
		progress_stop();
	if (!S_ISREG(st.st_mode))
		state.size = PROGRESS_UNKNOWN;
	else if (state.size != PROGRESS_UNKNOWN)
		state.size += (uint64_t)st.st_size;
}

void
progress_read(size_t n)
{
	if (!progress_is_on())
		return;
	state.read += n;
	state.fresh = 0;
	if (progress_look(state.read))
		progress_show(PROGRESS_BYTES, state.read, state.size);
}

/* A command in the background must not write over what is in the foreground. */
static int
in_background(void)
{
	pid_t group = tcgetpgrp(STDERR_FILENO);

	return group > 0 && group != state.group;
}

int
progress_look(uint64_t done)
{
	uint64_t now;

	progress_last = done;
	done = progress_of_part(done);
	if (state.fresh)
		state.first = done;
	state.fresh = 0;
	if (done > state.done)
		state.done = done;
	now = progress_clock();
	if (now < state.due)
		return 0;
	state.due = now + PAUSE;
	if (getpid() != state.pid) {
		progress_step = UINT64_MAX;
		return 0;
	}
	return !in_background();
}

/* 4300000 "B" is "4.3 MB". */
static void
progress_number(char *to, size_t size, double v, const char *unit)
{
	static const char *const prefix[] = { "", "k", "M", "G" };
	unsigned i = 0;

	/* thousands of millions are told as such up to 10000 */
	for (; v >= (i == 2 ? 9999.5 : 999.5) && i < 3; i++)
		v /= 1000;
	snprintf(to, size, "%.*f%s%s%s", i && v < 9.95, v, i || *unit == 'B' ? " " : "", prefix[i], unit);
}

/* ", 0:12 left" */
static void
progress_left(char *to, size_t size, double seconds)
{
	unsigned s;

	*to = '\0';
	if (!(seconds < 100 * 3600))    /* nor if it is no number: nothing was done yet */
		return;
	s = (unsigned)(seconds + 0.5);
	if (s < 3600)
		snprintf(to, size, ", %u:%02u left", s / 60, s % 60);
	else
		snprintf(to, size, ", %u:%02u:%02u left", s / 3600, s / 60 % 60, s % 60);
}

/* "43% (120 M instructions, 61 M/s, 0:12 left)", or "120 M instructions (61 M/s)" */
static void
progress_figures(char *to, size_t size, uint64_t total, double seconds)
{
	int bytes = state.unit == PROGRESS_BYTES;
	int known = total != PROGRESS_UNKNOWN && total > state.first;
	uint64_t end = known ? total : UINT64_MAX;
	/* from where the part began: a run may be gone into at a later place */
	uint64_t done = (state.done < end ? state.done : end) - state.first, all = end - state.first;
	double each = seconds > 0 ? (double)done / seconds : 0;
	char amount[32], rate[32], left[32];

	progress_number(amount, sizeof amount, (double)done, bytes ? "B" : " instructions");
	progress_number(rate, sizeof rate, each, bytes ? "B/s" : "/s");
	progress_left(left, sizeof left, (double)(all - done) / each);
	if (!known)
		snprintf(to, size, "%s (%s)", amount, rate);
	else
		snprintf(to, size, "%u%% (%s, %s%s)", (unsigned)((double)done * 100 / (double)all), amount,
		    rate, left);
}

/* Copies the name, or its end if there is room for no more. */
static void
progress_name(char *to, size_t room, const char *name)
{
	size_t n = strlen(name), cut = n > room ? n - room + 3 : 0;

	while (cut && (name[cut] & 0xc0) == 0x80)       /* amid a character of several bytes */
		cut++;
	sprintf(to, "%s%s: ", cut ? "..." : "", name + cut);
	for (; *to; to++)
		if ((unsigned char)*to < ' ')
			*to = '?';
}

static uint64_t
progress_total(uint64_t total)
{
	if (state.total)
		return state.total;
	if (state.past && state.past < total)
		total = state.past;
	return state.unit == PROGRESS_BYTES || total < state.limit ? total : state.limit;
}

void
progress_show(enum progress_unit unit, uint64_t done, uint64_t total)
{
	char figures[160], name[COLUMNS + 3] = "", line[512];
	size_t used;
	uint64_t now = progress_clock();
	int n;

	if (state.unit && unit != state.unit) {     /* what was counted before is another part of the work */
		progress_stage(state.what);
		state.past = 0;
		state.unit = unit;
		return;
	}
	state.unit = unit;
	if (progress_of_part(done) > state.done)
		state.done = progress_of_part(done);
	progress_figures(figures, sizeof figures, progress_total(total), (double)(now - state.begun) / 1000);
	used = strlen(diag_name()) + 2 + (state.what ? strlen(state.what) + 1 : 0) + strlen(figures);
	if (state.name && used + 10 < COLUMNS)
		progress_name(name, COLUMNS - used - 2, state.name);
	n = snprintf(line, sizeof line, "\r\033[K%s: %s%s%s%s", diag_name(), name, state.what ? state.what : "",
	    state.what ? " " : "", figures);
	state.shown = 1;
	(void)!write(STDERR_FILENO, line, (size_t)n < sizeof line ? (size_t)n : sizeof line - 1);
}
