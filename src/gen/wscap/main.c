/* wscap: run a program and capture its working set */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/mem.h"
#include "gen/wscap/trim.h"
#include "gen/wscap/wscap.h"

static const char synopsis[] = "[--audit] [--first-touch] [--raw] [-o file] [--] program [argument ...]";

enum { CANNOT = 125, NOEXEC = 126, NOTFOUND = 127 };    /* exit statuses as in env(1) */

static void
wscap_launch(struct cap *c, char *const argv[])
{
	int atexec, err = tracee_start(&c->t, argv, &atexec);

	if (!err) {
		c->traced = 1;
		return;
	}
	warn("%s: %s%s", argv[0], atexec ? "" : "cannot be traced: ", strerror(err));
	exit(!atexec ? CANNOT : err == ENOENT ? NOTFOUND : NOEXEC);
}

/*
 * Replaces an existing file of that name as late as possible: when there is something to
 * replace it with, but before the program's first instruction.  From then on, nothing of the
 * capture is lost, whatever ends wscap.  1: there is a file of that name.
 */
static int
wscap_settle(struct cap *c)
{
	int named = 0;

	if (!c->failed && ws_end_group(c->w) < 0)
		c->failed = 1;
	if (!c->failed && (named = out_publish(c->dest)) < 0)
		die_sys("%s", c->path);
	return named;
}

static int
wscap_run(struct cap *c, char *const argv[], int raw)
{
	int named, status;

	c->dest = out_open(c->path);
	c->fd = out_fd(c->dest);
	wscap_launch(c, argv);
	cap_signals(c);
	cap_begin(c, argv);
	named = wscap_settle(c);
	status = cap_run(c);
	tracee_close(&c->t);
	if (c->failed) {
		out_discard(c->dest);
		return CANNOT;
	}
	out_close(c->dest);
	if (named && !raw && c->asked)
		trim_warn_untrimmed(c->path, "wscap was asked to end");
	else if (named && !raw)
		trim_capture(c->path);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int
main(int argc, char **argv)
{
	static const struct option longs[] = {
		{"audit", no_argument, NULL, 'A'}, {"first-touch", no_argument, NULL, 'F'},
		{"raw", no_argument, NULL, 'R'}, {0},
	};
	struct cap *c = xcalloc(1, sizeof(*c));
	int o, raw = 0;

	diag_init(argv[0], CANNOT);
	c->path = "a.ws";
	while ((o = getopt_long(argc, argv, "+o:", longs, NULL)) != -1) {
		switch (o) {
		case 'A':
			c->audit = 1;
			break;
		case 'F':
			c->touch = 1;
			break;
		case 'R':
			raw = 1;
			break;
		case 'o':
			c->path = optarg;
			break;
		default:
			die_usage(synopsis);
		}
	}
	if (optind == argc)
		die_usage(synopsis);
	if (!strcmp(c->path, "-")) {
		warn("-o -: standard output is the program's; "
		    "name a file, or another descriptor, as /dev/fd/3");
		return 2;
	}
	c->level = WS_PLAIN;
	c->scratch = xmalloc(CHUNK);
	c->xsave = xcalloc(WS_XSAVE_MAX, 1);
	return wscap_run(c, argv + optind, raw);
}
