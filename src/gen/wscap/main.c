/* wscap: run a program and capture its working set */
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/opt.h"
#include "base/populate.h"
#include "format/ws/kept.h"
#include "gen/wscap/amid.h"
#include "gen/wscap/fast.h"
#include "gen/wscap/point.h"
#include "gen/wscap/wscap.h"

enum { AUDIT = 256, TOUCH, RAW, ASLR, RECORDER, CPU, STORE, TIME, NCALLS, FROM, TO, NAMES, PIN };

static const struct opt wscap_opts[] = {
	{ '1', "first", NULL, "capture the first process only, up to the first program that it executes" },
	{ 'o', "output", "FILE", "write the capture to FILE (a.ws)" },
	{ 'p', "pid", "PID", "capture the running process PID, until wscap gets SIGINT or SIGTERM" },
	{ TIME, "time", "SECONDS", "end the capture after so many seconds; the program continues" },
	{ NCALLS, "calls", "N", "end the capture after N system calls; the program continues" },
	{ FROM, "from", "WHERE", "begin the capture at WHERE: a function, an address, a signal" },
	{ TO, "to", "WHERE", "end the capture at WHERE; the program continues" },
	{ RAW, "raw", NULL, "has no effect; earlier versions trimmed the capture without it" },
	{ ASLR, "aslr", "WHEN", "off (the default): each run has the same addresses; on: as without wscap" },
	{ RECORDER, "recorder", "WHEN", "off: each system call stops the program; on (the default): only rare ones" },
	{ CPU, "cpu", "LEVEL", "hide what processors of level baseline or v2 lack; native (the default): nothing" },
	{ NAMES, "names", "WHICH", "no, own or all: keep files with symbols, so that names survive a rebuild (own)" },
	{ PIN, "pin", "WHEN", "on (the default): the program runs on one processor with wscap; off: on any" },
	{ STORE, "store", "DIR", "keep pages of files in DIR, once for all captures that name it" },
	{ TOUCH, "first-touch", NULL, "record each page when the program first reaches for it" },
	{ AUDIT, "audit", NULL, "compare all writable memory before and after each system call; slow" },
	{ 0 },
};

static const struct opt_tool wscap_tool = {
	.does = "Runs a program and captures what its run, and those of its children, can be computed from.",
	.synopsis = "[option ...] [--] program [argument ...]\n-p pid [option ...]",
	.example = "wscap -o ls.ws ls; ws2addr -f text ls.ws | head",
	.opt = wscap_opts,
	.program = 1,
	.replaces = 1,          /* the program's own file is looked for when it is known (start.c) */
};

#define HEAP (2048u << 10)      /* bytes: a large page */
#define HEAP_MOST (16u << 20)   /* with large pages, if it grows that far */
#define HEAP_HEAD 32u           /* at most, before what malloc returns */
enum { CANNOT = 125, NOEXEC = 126, NOTFOUND = 127 };    /* exit statuses as in env(1) */

static struct cap *
wscap_launch(struct tree *a, char *const argv[])
{
	struct cap *c = xcalloc(1, sizeof(*c));
	int atexec, err = tracee_start(&c->t, argv, !a->random, &atexec);
	uint64_t ignored = 0;

	if (err) {
		if (atexec && err == ENOENT && !strchr(argv[0], '/'))
			warn("%s: not found in PATH", argv[0]);
		else
			warn("%s: %s%s", argv[0], atexec ? "" : "cannot be traced: ", strerror(err));
		exit(!atexec ? CANNOT : err == ENOENT ? NOTFOUND : NOEXEC);
	}
	amid_status(c->t.pid, "SigIgn", 16, &ignored);
	exec_actions(c, ignored);
	c->traced = 1;
	a->first = a->main = c->t.pid;
	a->options = TRACEE_OPTIONS | PTRACE_O_EXITKILL;
	clock_gettime(CLOCK_MONOTONIC, &a->began);
	return tree_add(a, c);
}

/*
 * Memory that each capture needs, at once: the kernel takes much longer to give it page by page, and least if it is
 * one large page.  The heap goes on where such a page can begin.  After the program was launched, for which memory
 * is shared for a moment.
 */
static void
wscap_heap(struct tree *a)
{
	char *all;
	size_t before;

	mallopt(M_MMAP_THRESHOLD, 2 * HEAP_MOST);
	mallopt(M_TRIM_THRESHOLD, 2 * HEAP_MOST);
	all = xmalloc(HEAP_MOST + HEAP);
	before = (HEAP - (uintptr_t)all % HEAP) % HEAP;
	(void)madvise(all + before, HEAP_MOST, MADV_HUGEPAGE);
	populate(all + before, HEAP);
	free(all);
	if (before > HEAP_HEAD)
		a->gap = malloc(before - HEAP_HEAD);
	a->scratch = xmalloc(CHUNK);
	a->xsave = xcalloc(WS_XSAVE_MAX, 1);
}

/* Each process needs a descriptor. */
static void
wscap_descriptors(void)
{
	struct rlimit r;

	if (!getrlimit(RLIMIT_NOFILE, &r) && r.rlim_cur < r.rlim_max) {
		r.rlim_cur = r.rlim_max;
		setrlimit(RLIMIT_NOFILE, &r);
	}
}

/*
 * Replaces an existing file of that name as late as possible: when there is something to
 * replace it with, but before the program's first instruction.  From then on, nothing of the
 * capture is lost, whatever ends wscap.
 */
static void
wscap_settle(struct tree *a, struct cap *c)
{
	put_cut(c);
	a->settled = 1;
	if (!a->failed && out_publish(a->dest) < 0)
		die_sys("%s", a->path);
}

/* The process stands where it was, and is captured from there. */
static void
wscap_amid(struct tree *a, struct cap *c)
{
	struct user_regs_struct g;
	const char *why;

	clock_gettime(CLOCK_MONOTONIC, &a->began);
	why = exec_args(c) || tree_begin(c, NULL, WS_FIRST) ? "its arguments cannot be read" : amid_begin(c);
	if (why) {
		if (!c->hasended)
			cap_release(c);
		die("process %ld cannot be captured: %s", (long)c->t.pid, why);
	}
	sched_begin(c);
	point_program(c, 1);
	if (!tracee_regs(&c->t, &g)) {  /* the place where it begins is not the first to end at */
		c->again = g.rip;
		c->againsp = g.rsp;
	}
	wscap_settle(a, c);
	cap_set_timer(c->th != NULL);
	amid_settle(&c->t);
	tree_resume(c, 0);
}

/* The first process, up to its first instruction. */
static void
wscap_begin(struct tree *a, int pin, char *const argv[])
{
	struct cap *c;
	const char *why;

	if (pin && !a->from.kind)
		pin_begin(a);
	c = wscap_launch(a, argv);
	pin_first(c);
	wscap_heap(a);
	cap_signals(c->t.pid);
	wscap_descriptors();
	if (a->from.kind) {
		wait_region(c);
		if (pin)
			pin_begin(a);
		pin_first(c);
		wscap_amid(a, c);
		return;
	}
	why = exec_args(c) || tree_begin(c, NULL, WS_FIRST) ? "its arguments cannot be read" : cap_begin(c);
	if (why)
		die("%s: cannot be captured: %s", argv[0], why);
	exec_rights(c);
	point_program(c, 0);
	wscap_settle(a, c);
	why = start_unfit(c);
	if (why) {
		cap_warn_stop(c, why);
		cap_release(c);
		return;
	}
	fast_start(c);
	cap_set_timer(0);
	tree_resume(c, 0);
}

/* -p */
static void
wscap_attach(struct tree *a, pid_t pid)
{
	struct cap *c;

	start_keep_apart(a->path, pid, "");
	a->attached = 1;
	cap_signals(0);
	cap_signals_first_gone();
	wscap_descriptors();
	c = attach_seize(a, pid);
	a->main = pid;
	a->options = TRACEE_OPTIONS;
	wscap_heap(a);
	if (a->from.kind)
		wait_region(c);
	wscap_amid(a, c);
}

static void
wscap_missed(const char *path, const char *why)
{
	warn("%s: %s: its names are not in the capture", path, why);
}

/* --names */
static void
wscap_keep(struct tree *a)
{
	/* an error is found again when the runs are finished */
	if (a->keeper && !a->failed)
		(void)ws_keeper_write(a->keeper, ws_runs_write_between, a->runs, wscap_missed);
	ws_keeper_free(a->keeper);
}

static int
wscap_run(struct tree *a, const char *store, int pin, char *const argv[], pid_t pid)
{
	int status, err;

	a->dest = out_open(a->path);
	out_binary(a->dest, "a capture");
	a->fd = out_fd(a->dest);
	a->runs = ws_runs_create(ws_write_fd, &a->fd);
	if (!a->runs)
		die("out of memory");
	stored_open(a, store);
	if (pid)
		wscap_attach(a, pid);
	else
		wscap_begin(a, pin, argv);
	until_begin(a);
	status = tree_run(a);
	pin_end(a);
	stored_close(a, store);
	wscap_keep(a);
	hold_close(a);
	if (!a->failed && (err = ws_runs_finish(a->runs)) != 0) {
		snprintf(a->why, sizeof(a->why), "%s", strerror(err));
		a->failed = 1;
	}
	ws_runs_close(a->runs);
	if (a->failed) {
		warn("%s: %s", out_name(a->dest), a->why);
		out_discard(a->dest);
		return CANNOT;
	}
	out_close(a->dest);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

enum { NO, OWN, ALL };          /* values of --names */

static int
wscap_names(const char *s)
{
	static const char *const which[] = { "no", "own", "all" };

	for (int i = 0; i <= ALL; i++)
		if (strcmp(s, which[i]) == 0)
			return i;
	opt_wrong("neither no, own nor all");
}

static int
wscap_on(const char *s)
{
	if (strcmp(s, "off") && strcmp(s, "on"))
		opt_wrong("neither on nor off");
	return !strcmp(s, "on");
}

/* Seconds, with a fraction or without, as nanoseconds. */
static uint64_t
wscap_time(const char *s)
{
	char *end;
	double t = strtod(s, &end);

	if (!strchr("0123456789.", *s) || *end || end == s || !(t > 0 && t < 1e9))
		opt_wrong("not a number of seconds");
	return (uint64_t)(t * 1e9);
}

int
main(int argc, char **argv)
{
	struct tree *a = xcalloc(1, sizeof(*a));
	const char *store = NULL;
	uint64_t pid = 0;
	int o, whole, recorder = -1, names = OWN, pin = 1;

	diag_init(argv[0], CANNOT);
	a->path = "a.ws";
	while ((o = opt_next(&wscap_tool, argc, argv)) != -1) {
		switch (o) {
		case ASLR:
			a->random = wscap_on(optarg);
			break;
		case RECORDER:
			recorder = wscap_on(optarg);
			break;
		case PIN:
			pin = wscap_on(optarg);
			break;
		case CPU:
			if (cpuid_level(optarg, &a->cpu))
				opt_wrong("neither native, baseline nor v2");
			break;
		case '1':
			a->alone = 1;
			break;
		case AUDIT:
			a->audit = 1;
			break;
		case NAMES:
			names = wscap_names(optarg);
			break;
		case STORE:
			store = optarg;
			break;
		case TOUCH:
			a->touch = 1;
			break;
		case 'p':
			if (num_u64(optarg, 1, INT32_MAX, &pid))
				opt_wrong("not a process number");
			break;
		case TIME:
			a->until.time = wscap_time(optarg);
			break;
		case FROM:
		case TO:
			if (where_parse(o == FROM ? &a->from : &a->to, optarg))
				opt_wrong("not a place: a function, NAME#N, 0xADDRESS, MODULE+0xADDRESS or a signal");
			break;
		case NCALLS:
			if (num_u64(optarg, 1, UINT64_MAX, &a->until.calls))
				opt_wrong("not a number of system calls from 1 on");
			break;
		case RAW:       /* of old scripts */
			break;
		case 'o':
			a->path = optarg;
			break;
		}
	}
	if (pid && optind < argc)
		die_usage("-p: the process is running, and no program is to be given");
	whole = !pid && !a->from.kind && !a->to.kind && !a->until.calls;
	if (recorder > 0 && !whole)
		die_usage("--recorder on is for whole runs, not with -p, --calls, --from or --to");
	a->recorder = whole && recorder;
	if (a->cpu != CPU_NATIVE && (pid || a->from.kind))
		die_usage("--cpu is for runs from their beginning, not with -p or --from");
	if (!pid && optind == argc)
		die_usage("no program is given");
	if (!strcmp(a->path, "-"))
		die_usage("-o -: standard output is the program's; name a file, or another descriptor, as /dev/fd/3");
	if (names != NO && (a->keeper = ws_keeper_new(names == OWN)) == NULL)
		die("out of memory");
	a->level = WS_PLAIN;            /* at first: put_untimed */
	return wscap_run(a, store, pin, argv + optind, (pid_t)pid);
}
