/*
 * wsgdb: debug a captured run with gdb, forward and backward
 *
 * replay/history goes through the run; the files of this folder speak gdb's remote protocol.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "apps/wsgdb/wsgdb.h"
#include "base/diag.h"
#include "base/helper.h"
#include "base/num.h"
#include "base/opt.h"
#include "base/src.h"
#include "format/ws/runs.h"

#define MEMORY (UINT64_C(1) << 30)

static const struct opt wsgdb_opts[] = {
	{ 'a', "at", "N", "begin at instruction N, or at the end" },
	{ 'l', "listen", "PORT", "wait for gdb at a port of this machine only, not on standard input" },
	{ 'm', "memory", "SIZE", "memory for snapshots of the run, to go back to (1G)" },
	{ 0 },
};

static const struct opt_tool wsgdb_tool = {
	.does = "Lets gdb debug a captured run, forward and backward: as its remote target, on standard input\n"
	    "and output. Nothing in the run can be changed.",
	.synopsis = "[-a N | end] [-l port] [-m size] capture",
	.example = "wscap -o p.ws ./p; gdb -ex 'target remote | wsgdb p.ws'",
	.opt = wsgdb_opts,
};

struct options {
	uint64_t at, port, memory;
};

/* Waits for one connection. */
static int
listen_at(uint64_t port)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
	int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1, fd;
	socklen_t n = sizeof a;

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (s < 0 || setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) != 0 ||
	    bind(s, (struct sockaddr *)&a, sizeof a) != 0 || listen(s, 1) != 0 ||
	    getsockname(s, (struct sockaddr *)&a, &n) != 0)
		die_sys("port %u", (unsigned)port);
	warn("waiting: target remote localhost:%u", ntohs(a.sin_port));
	do
		fd = accept4(s, NULL, NULL, SOCK_CLOEXEC);
	while (fd < 0 && errno == EINTR);
	if (fd < 0)
		die_sys("port %u", (unsigned)port);
	close(s);
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
	return fd;
}

static void
wsgdb_options(struct options *o, int argc, char **argv)
{
	int c;

	while ((c = opt_next(&wsgdb_tool, argc, argv)) != -1)
		switch (c) {
		case 'a':
			if (strcmp(optarg, "end") == 0)
				o->at = WS_UNKNOWN - 1;
			else if (num_u64(optarg, 0, WS_UNKNOWN - 1, &o->at) != 0)
				opt_wrong("neither the number of an instruction nor end");
			break;
		case 'l':
			if (num_u64(optarg, 0, 65535, &o->port) != 0)
				opt_wrong("not a port, 0 to 65535 (0: any that is free)");
			break;
		case 'm': o->memory = opt_size(optarg, 1, UINT64_C(1) << 46); break;
		}
	opt_operands(argc, argv, 1, 1);
	if (src_is_stdin(argv[optind]))
		die_usage("the capture must be a file: gdb speaks on standard input");
}

static void
say_kind(struct server *s)
{
	struct replay *r = history_replay(s->h);
	const struct ws_early *early = replay_early(r);
	char text[WS_EARLY_TEXT];

	if (replay_header(r)->flags & WS_TRIMMED)
		warn("%s: trimmed: memory that the program did not read is shown as zero", s->name);
	if (early)
		warn("%s: %s", s->name, ws_early_text(early, text));
}

static int
is_interrupted(void *arg)
{
	return wire_interrupted(arg);
}

int
main(int argc, char **argv)
{
	static struct wire w;
	static struct server s;
	struct options o = { 0, WS_UNKNOWN, MEMORY };
	char others[WS_OTHERS_TEXT];
	struct fault f;

	diag_init(argv[0], 1);
	wsgdb_options(&o, argc, argv);
	s.name = src_name(argv[optind]);
	s.jump = WS_UNKNOWN;
	s.w = &w;
	helper_allow(HELPER_ELF);
	if ((s.h = history_open(argv[optind], o.memory, &f)) == NULL)
		die_fault(s.name, &f);
	if (ws_others(argv[optind], others))
		warn("%s: %s", s.name, others);
	say_kind(&s);
	w.in = o.port == WS_UNKNOWN ? 0 : listen_at(o.port);
	w.out = o.port == WS_UNKNOWN ? 1 : w.in;
	/* an interrupt from the terminal is gdb's, which sends it on as a byte; and when gdb is gone, that is the end */
	(void)signal(SIGINT, SIG_IGN);
	(void)signal(SIGPIPE, SIG_IGN);
	history_set_interrupt_fn(s.h, is_interrupted, &w);
	object_auxv(&s);
	s.runs = ws_kept_open(argv[optind], &s.capture);
	if (history_confine(s.h) != 0)
		die_fault(s.name, history_fault(s.h));
	s.begin = o.at;
	serve(&s);
	history_close(s.h);
	buf_free(&s.auxv);
	buf_free(&s.target);
	buf_free(&s.maps);
	buf_free(&s.said);
	buf_free(&w.last);
	free(s.point);
	return 0;
}
