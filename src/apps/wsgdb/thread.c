/* The threads of the program, as gdb is told of them: process 1, threads 1, 2, ... in the order in which they began. */
#include <inttypes.h>
#include <string.h>

#include "apps/wsgdb/wsgdb.h"
#include "base/bytes.h"
#include "replay/cpu/cpu.h"

int
thread_parse(struct server *s, const char **p, uint32_t *number)
{
	struct ws_regs g;
	uint64_t v;

	*number = 0;
	if (**p == 'p') {               /* pP, pP.N, p-1 */
		++*p;
		if (**p == '-')
			++*p;
		if (packet_number(p, &v, '\0') != 0 || v > 1)
			return -1;
		if (**p != '.')
			return 0;
		++*p;
	}
	if (strncmp(*p, "-1", 2) == 0) {
		*p += 2;
		return 0;
	}
	if (packet_number(p, &v, '\0') != 0 || v > UINT32_MAX)
		return -1;
	*number = (uint32_t)v;
	return v && !history_thread(s->h, (uint32_t)v, &g, NULL) ? -1 : 0;
}

void
thread_name(const struct server *s, struct buf *b, uint32_t number)
{
	buf_printf(b, s->multi ? "p1.%" PRIx32 : "%" PRIx32, number);
}

uint32_t
thread_stopped(const struct server *s)
{
	return s->stop.thread ? s->stop.thread : replay_thread(history_replay(s->h));
}

const uint8_t *
thread_registers(struct server *s, uint32_t number, struct ws_regs *g)
{
	static uint8_t x[RP_XSAVE] __attribute__((aligned(64)));

	if (!number)
		number = thread_stopped(s);
	return history_thread(s->h, number, g, x) ? x : NULL;
}

/* Hg and Hc */
void
thread_select(struct server *s)
{
	const char *p = s->w->packet + 2;
	uint32_t number;

	if ((p[-1] != 'g' && p[-1] != 'c') || thread_parse(s, &p, &number) != 0 || *p) {
		wire_text(s->w, "E01");
		return;
	}
	if (s->w->packet[1] == 'g')
		s->general = number;
	else
		s->resumed = number;
	wire_text(s->w, "OK");
}

void
thread_is_alive(struct server *s)
{
	const char *p = s->w->packet + 1;
	uint32_t number;

	wire_text(s->w, thread_parse(s, &p, &number) == 0 && number && !*p ? "OK" : "E01");
}

void
thread_list(struct server *s)
{
	struct buf b = BUF_INIT;
	uint32_t n = 0;

	while ((n = history_next_thread(s->h, n)) != 0 && b.n < PACKET_MAX - 64) {
		buf_str(&b, b.n ? "," : "m");
		thread_name(s, &b, n);
	}
	wire_send(s->w, b.p, b.n);
	buf_free(&b);
}

void
thread_extra(struct server *s)
{
	const char *p = s->w->packet + strlen("qThreadExtraInfo,"), *text;
	struct buf b = BUF_INIT;
	uint32_t number;

	if (thread_parse(s, &p, &number) != 0 || !number) {
		wire_text(s->w, "E01");
		return;
	}
	text = number == replay_thread(history_replay(s->h)) ? "runs" : "waits";
	packet_hex(&b, text, strlen(text));
	wire_send(s->w, b.p, b.n);
	buf_free(&b);
}

/*
 * libc describes its data for libthread_db: {bits, elements, offset} of the member of a link map that holds the module's
 * number.
 */
#define MODID "_thread_db_link_map_l_tls_modid"

void
thread_symbol(struct server *s)
{
	const char *p = s->w->packet + strlen("qSymbol:");
	struct buf b = BUF_INIT;
	uint64_t addr;

	if (*p != ':' && packet_number(&p, &addr, ':') == 0)
		s->modid = addr;
	if (strcmp(p, ":") == 0 && !s->modid) {
		buf_str(&b, "qSymbol:");
		packet_hex(&b, MODID, strlen(MODID));
	} else
		buf_str(&b, "OK");
	wire_send(s->w, b.p, b.n);
	buf_free(&b);
}

/* The number of the module with this link map; a program without one is module 1. */
static int
tls_module(struct server *s, uint64_t map, uint64_t *module)
{
	uint8_t d[12];

	*module = 1;
	if (!map)
		return 0;
	return !s->modid || replay_read(history_replay(s->h), s->modid, d, 12) != 12 || get_le32(d) != 64 ? -1 :
	    object_word(s, map + get_le32(d + 8), module);
}

/* qGetTLSAddr:THREAD,OFFSET,LINKMAP; the vector of a thread's blocks is the second word of its descriptor */
void
thread_tls(struct server *s)
{
	const char *p = s->w->packet + strlen("qGetTLSAddr:");
	uint64_t offset, map, module, vector, block;
	struct buf b = BUF_INIT;
	struct ws_regs g;
	uint32_t number;

	if (thread_parse(s, &p, &number) != 0 || *p++ != ',' || packet_number(&p, &offset, ',') != 0 ||
	    packet_number(&p, &map, '\0') != 0 || !thread_registers(s, number, &g) || tls_module(s, map, &module) != 0 ||
	    !module || object_word(s, g.fsbase + 8, &vector) != 0 || object_word(s, vector + 16 * module, &block) != 0 ||
	    block == UINT64_MAX)
		buf_str(&b, "E01");
	else
		buf_printf(&b, "%" PRIx64, block + offset);
	wire_send(s->w, b.p, b.n);
	buf_free(&b);
}
