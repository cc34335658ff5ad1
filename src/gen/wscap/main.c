/* wscap: run a program and capture its working set */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/mem.h"
#include "trim.h"
#include "wscap.h"

static const char synopsis[] = "[--audit] [--first-touch] [--raw] [-o file] [--] program [argument ...]";

enum { CANNOT = 125, NOEXEC = 126, NOTFOUND = 127 };    /* as env(1) has them */

static void
launch(struct cap *c, char *const argv[])
{
	int atexec, err = tracee_start(&c->t, argv, &atexec);

	if (!err) {
		c->traced = 1;
		return;
	}
	unlink(c->path);
	warn("%s: %s%s", argv[0], atexec ? "" : "cannot be traced: ", strerror(err));
	exit(!atexec ? CANNOT : err == ENOENT ? NOTFOUND : NOEXEC);
}

int
main(int argc, char **argv)
{
	static const struct option longs[] = {
		{"audit", no_argument, NULL, 'A'}, {"first-touch", no_argument, NULL, 'F'}, {"raw", no_argument, NULL, 'R'}, {0},
	};
	struct cap *c = xcalloc(1, sizeof(*c));
	int o, raw = 0, status;

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
	c->level = WS_PLAIN;
	c->scratch = xmalloc(CHUNK);
	c->xsave = xcalloc(WS_XSAVE_MAX, 1);
	c->fd = open(c->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (c->fd < 0)
		die_sys("%s", c->path);
	launch(c, argv + optind);
	cap_begin(c, argv + optind);
	status = cap_run(c);
	if (close(c->fd) < 0 && !c->failed) {
		warn_sys("%s", c->path);
		c->failed = 1;
	}
	tracee_close(&c->t);
	if (c->failed)
		return CANNOT;
	if (!raw)
		trim(c->path);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
