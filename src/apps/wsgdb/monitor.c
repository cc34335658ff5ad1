/* The commands of `monitor`: what gdb has no command for. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/wsgdb/wsgdb.h"
#include "base/num.h"

#define LINE 512u               /* bytes of a command at most */

static void
command_help(struct server *s, char *arg)
{
	(void)arg;
	wire_console(s->w,
	    "monitor when             the place in the run: the number of the next instruction\n"
	    "monitor goto N           the next command begins at instruction N, start or end: stepi shows it\n"
	    "monitor who ADDR [N]     what changed one of the N (8) bytes at ADDR last\n"
	    "monitor maps             the mappings of memory, as in /proc/PID/maps\n"
	    "monitor help             this\n");
}

static void
command_when(struct server *s, char *arg)
{
	struct history_at at = history_now(s->h);
	uint64_t all = replay_length(history_replay(s->h));

	(void)arg;
	wire_console(s->w, "before instruction %" PRIu64, at.icount);
	if (all != WS_UNKNOWN)
		wire_console(s->w, " of %" PRIu64, all);
	wire_console(s->w, "\n");
}

static void
command_goto(struct server *s, char *arg)
{
	uint64_t to;

	if (!arg || (strcmp(arg, "start") != 0 && strcmp(arg, "end") != 0 &&
	    num_u64(arg, 0, WS_UNKNOWN - 1, &to) != 0)) {
		wire_console(s->w, "monitor goto N, where N is a number, start or end\n");
		return;
	}
	if (strcmp(arg, "start") == 0)
		to = 0;
	else if (strcmp(arg, "end") == 0)
		to = WS_UNKNOWN - 1;
	s->jump = to;
	s->jumped = 0;
	wire_console(s->w, "The next command that runs the program begins there: stepi shows it.\n");
}

/* Where pc is, for people: a file and an offset in it */
static void
say_place(struct server *s, uint64_t pc)
{
	const struct ws_rec_map *m;

	for (size_t i = 0; (m = replay_map(history_replay(s->h), i)) != NULL; i++)
		if (pc >= m->addr && pc - m->addr < m->len && m->name[0])
			wire_console(s->w, " (%s+0x%" PRIx64 ")", m->name, pc - m->addr + m->offset);
}

static void
command_who(struct server *s, char *arg)
{
	char *second = arg ? strpbrk(arg, " \t") : NULL;
	struct history_at at;
	uint64_t addr, n = 8, pc;
	int e;

	if (second) {
		*second++ = '\0';
		second += strspn(second, " \t");
	}
	if (!arg || num_u64(arg, 0, INT64_MAX, &addr) != 0 ||
	    (second && *second && num_u64(second, 1, 4096, &n) != 0)) {
		wire_console(s->w, "monitor who ADDR [N], where ADDR is a number, and N at most 4096\n");
		return;
	}
	e = history_last_change(s->h, addr, n, &at, &pc);
	if (e == REPLAY_BAD)
		serve_bad(s);
	if (e == -2)
		wire_console(s->w, "interrupted\n");
	else if (e == 0)
		wire_console(s->w, "nothing has changed it since the program began\n");
	else {
		wire_console(s->w, "instruction %" PRIu64 " at 0x%" PRIx64, at.icount, pc);
		say_place(s, pc);
		wire_console(s->w, "\n");
	}
}

static void
command_maps(struct server *s, char *arg)
{
	size_t at = 0;

	(void)arg;
	object_maps(s);
	while (at < s->maps.n) {
		const uint8_t *nl = memchr(s->maps.p + at, '\n', s->maps.n - at);
		size_t n = (size_t)(nl - (s->maps.p + at)) + 1;

		wire_console(s->w, "%.*s", (int)n, (const char *)s->maps.p + at);
		at += n;
	}
}

static const struct command {
	const char *name;
	void (*run)(struct server *s, char *arg);
} commands[] = {
	{ "help", command_help }, { "when", command_when }, { "goto", command_goto }, { "who", command_who },
	{ "maps", command_maps },
};

void
monitor_packet(struct server *s)
{
	const char *p = s->w->packet + strlen("qRcmd,");
	size_t n = strlen(p) / 2;
	char line[LINE], *arg;

	if (n >= sizeof line || packet_unhex((uint8_t *)line, p, n) != 0) {
		wire_text(s->w, "E01");
		return;
	}
	line[n] = '\0';
	arg = strpbrk(line, " \t");
	if (arg) {
		*arg++ = '\0';
		arg += strspn(arg, " \t");
	}
	for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
		if (strcmp(line, commands[i].name) == 0) {
			commands[i].run(s, arg && *arg ? arg : NULL);
			wire_text(s->w, "OK");
			return;
		}
	wire_console(s->w, "%s: no such command; see monitor help\n", line);
	wire_text(s->w, "OK");
}
