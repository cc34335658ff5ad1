/* The conversation with gdb: which packet is answered by what. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "apps/wsgdb/wsgdb.h"
#include "base/diag.h"

void
serve_bad(struct server *s)
{
	const struct fault *f = history_fault(s->h);

	wire_console(s->w, "wsgdb: %s: %s\n", s->name, f->err);
	wire_text(s->w, s->multi ? "X09;process:1" : "X09");
	die_fault(s->name, f);
}

static void
serve_supported(struct server *s)
{
	s->multi = strstr(s->w->packet, "multiprocess+") != NULL;
	wire_text(s->w, s->multi ?
	    "PacketSize=1800;QStartNoAckMode+;multiprocess+;swbreak+;hwbreak+;vContSupported+;ReverseStep+;"
	    "ReverseContinue+;QPassSignals+;qXfer:features:read+;qXfer:auxv:read+;qXfer:exec-file:read+" :
	    "PacketSize=1800;QStartNoAckMode+;swbreak+;hwbreak+;vContSupported+;ReverseStep+;ReverseContinue+;"
	    "QPassSignals+;qXfer:features:read+;qXfer:auxv:read+;qXfer:exec-file:read+");
}

static void
serve_memory(struct server *s)
{
	static uint8_t room[PACKET_MAX / 2];
	const char *p = s->w->packet + 1;
	struct buf b = BUF_INIT;
	uint64_t addr, n;
	size_t got;

	if (packet_number(&p, &addr, ',') != 0 || packet_number(&p, &n, '\0') != 0) {
		wire_text(s->w, "E01");
		return;
	}
	n = n < sizeof room - 8 ? n : sizeof room - 8;
	got = replay_read(history_replay(s->h), addr, room, (size_t)n);
	if (!got && n) {
		wire_text(s->w, "E01");
		return;
	}
	packet_hex(&b, room, got);
	wire_send(s->w, b.p ? b.p : (const uint8_t *)"", b.n);
	buf_free(&b);
}

/* Writes of registers and memory: gdb says so itself of registers. */
static void
serve_write(struct server *s)
{
	const char *p = s->w->packet, *comma = strchr(p, ',');

	if (*p == 'X' && comma && strncmp(comma, ",0:", 3) == 0)        /* gdb asks whether there is this packet */
		wire_text(s->w, "OK");
	else if (*p == 'P' || *p == 'G')
		wire_text(s->w, "E.a captured run cannot be changed");
	else {
		if (!s->saidmem)
			warn("memory is not written: a captured run cannot be changed");
		s->saidmem = 1;
		wire_text(s->w, "E01");
	}
}

static void
serve_registers(struct server *s)
{
	const char *p = s->w->packet + 1;
	struct buf b = BUF_INIT;
	uint64_t k;

	if (*s->w->packet == 'g')
		registers_all(s, &b);
	else if (packet_number(&p, &k, '\0') != 0 || registers_one(s, k, &b) != 0)
		buf_str(&b, "E01");
	wire_send(s->w, b.p, b.n);
	buf_free(&b);
}

/* QPassSignals:NN;NN... */
static void
serve_pass(struct server *s)
{
	const char *p = s->w->packet + strlen("QPassSignals");
	uint64_t pass = 0, k;

	while (*p++ && packet_number(&p, &k, '\0') == 0) {
		int sig = signal_of_gdb(k);

		if (sig > 0)
			pass |= UINT64_C(1) << (sig - 1);
	}
	history_pass(s->h, pass);
	wire_text(s->w, "OK");
}

static int
is(const struct server *s, const char *name)
{
	return strncmp(s->w->packet, name, strlen(name)) == 0;
}

static void
serve_current(struct server *s)
{
	struct buf b = BUF_INIT;

	buf_str(&b, "QC");
	thread_name(s, &b, thread_stopped(s));
	wire_send(s->w, b.p, b.n);
	buf_free(&b);
}

static void
serve_query(struct server *s)
{
	struct wire *w = s->w;

	if (is(s, "qSupported"))
		serve_supported(s);
	else if (is(s, "qXfer:"))
		object_transfer(s);
	else if (is(s, "qRcmd,"))
		monitor_packet(s);
	else if (is(s, "QStartNoAckMode")) {
		wire_text(w, "OK");
		w->noack = 1;
	} else if (is(s, "QPassSignals"))
		serve_pass(s);
	else if (is(s, "qAttached"))
		wire_text(w, "1");
	else if (strcmp(w->packet, "qC") == 0)
		serve_current(s);
	else if (is(s, "qfThreadInfo"))
		thread_list(s);
	else if (is(s, "qThreadExtraInfo,"))
		thread_extra(s);
	else if (is(s, "qsThreadInfo"))
		wire_text(w, "l");
	else if (is(s, "qSymbol:"))
		thread_symbol(s);
	else if (is(s, "qGetTLSAddr:"))
		thread_tls(s);
	else
		wire_text(w, "");
}

/* gdb is done with the program; with `target extended-remote` it may run it again */
static void
serve_over(struct server *s, const char *answer)
{
	if (answer)
		wire_text(s->w, answer);
	s->ended = !s->extended;
}

static void
serve_packet(struct server *s)
{
	struct wire *w = s->w;

	switch (w->packet[0]) {
	case 'q': case 'Q': serve_query(s); return;
	case 'm': serve_memory(s); return;
	case 'M': case 'X': case 'P': case 'G': serve_write(s); return;
	case 'g': case 'p': serve_registers(s); return;
	case 'H': thread_select(s); return;
	case 'T': thread_is_alive(s); return;
	case 'D': serve_over(s, "OK"); return;
	case 'k': serve_over(s, NULL); return;
	case '!':
		s->extended = 1;
		wire_text(w, "OK");
		return;
	case 'R': run_restart(s); return;
	default: break;
	}
	if (is(s, "vFile:"))
		file_packet(s);
	else if (is(s, "vKill"))
		serve_over(s, "OK");
	else if (is(s, "vRun;")) {
		run_restart(s);
		run_reply(s);
	} else if (!run_packet(s) && !run_point(s))
		wire_text(w, "");
}

void
serve(struct server *s)
{
	while (!s->ended && wire_next(s->w))
		serve_packet(s);
	file_close_all(s);
}
