/* wscap: run a program and capture its working set */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/mem.h"
#include "base/opt.h"
#include "gen/wscap/wscap.h"

enum { AUDIT = 256, TOUCH, RAW, ASLR };

static const struct opt wscap_opts[] = {
	{ 'o', "output", "FILE", "write the capture to FILE (a.ws)" },
	{ RAW, "raw", NULL, "has no effect; earlier versions trimmed the capture without it" },
	{ ASLR, "aslr", "WHEN", "off (the default): each run has the same addresses; on: as without wscap" },
	{ TOUCH, "first-touch", NULL, "record each page when the program first reaches for it" },
	{ AUDIT, "audit", NULL, "compare all writable memory before and after each system call; slow" },
	{ 0 },
};

static const struct opt_tool wscap_tool = {
	.does = "Runs a program and captures what its run can be computed from again: its memory, and what the kernel "
	    "gave it.",
	.synopsis = "[--aslr when] [--audit] [--first-touch] [--raw] [-o file] [--] program [argument ...]",
	.example = "wscap -o ls.ws ls; ws2addr -f text ls.ws | head",
	.opt = wscap_opts,
	.program = 1,
};

enum { CANNOT = 125, NOEXEC = 126, NOTFOUND = 127 };    /* exit statuses as in env(1) */

static void
wscap_launch(struct cap *c, char *const argv[])
{
	int atexec, err = tracee_start(&c->t, argv, !c->random, &atexec);

	if (!err) {
		c->traced = 1;
		return;
	}
	if (atexec && err == ENOENT && !strchr(argv[0], '/'))
		warn("%s: not found in PATH", argv[0]);
	else
		warn("%s: %s%s", argv[0], atexec ? "" : "cannot be traced: ", strerror(err));
	exit(!atexec ? CANNOT : err == ENOENT ? NOTFOUND : NOEXEC);
}

/*
 * Replaces an existing file of that name as late as possible: when there is something to
 * replace it with, but before the program's first instruction.  From then on, nothing of the
 * capture is lost, whatever ends wscap.
 */
static void
wscap_settle(struct cap *c)
{
	if (!c->failed && ws_end_group(c->w) < 0)
		c->failed = 1;
	if (!c->failed && out_publish(c->dest) < 0)
		die_sys("%s", c->path);
}

static int
wscap_run(struct cap *c, char *const argv[])
{
	int status;

	c->dest = out_open(c->path);
	out_binary(c->dest, "a capture");
	c->fd = out_fd(c->dest);
	wscap_launch(c, argv);
	cap_signals(c);
	cap_begin(c, argv);
	wscap_settle(c);
	status = cap_run(c);
	tracee_close(&c->t);
	if (c->failed) {
		out_discard(c->dest);
		return CANNOT;
	}
	out_close(c->dest);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int
main(int argc, char **argv)
{
	struct cap *c = xcalloc(1, sizeof(*c));
	int o;

	diag_init(argv[0], CANNOT);
	c->path = "a.ws";
	while ((o = opt_next(&wscap_tool, argc, argv)) != -1) {
		switch (o) {
		case ASLR:
			if (strcmp(optarg, "off") && strcmp(optarg, "on"))
				opt_wrong("neither on nor off");
			c->random = !strcmp(optarg, "on");
			break;
		case AUDIT:
			c->audit = 1;
			break;
		case TOUCH:
			c->touch = 1;
			break;
		case RAW:       /* of old scripts */
			break;
		case 'o':
			c->path = optarg;
			break;
		}
	}
	if (optind == argc)
		die_usage("no program is given");
	if (!strcmp(c->path, "-"))
		die_usage("-o -: standard output is the program's; name a file, or another descriptor, as /dev/fd/3");
	c->level = WS_QUICK;
	c->scratch = xmalloc(CHUNK);
	c->xsave = xcalloc(WS_XSAVE_MAX, 1);
	return wscap_run(c, argv + optind);
}
