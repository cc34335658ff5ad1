/* What gdb reads with qXfer: the target description, the auxiliary vector, the program's path. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "apps/wsgdb/wsgdb.h"
#include "base/bytes.h"

#define AUXV_MOST 256u          /* entries of an auxiliary vector at most */
#define WORDS_MOST (2u << 20)   /* words before it on the stack at most: arguments, environment */

int
object_word(struct server *s, uint64_t addr, uint64_t *v)
{
	uint8_t b[8];

	if (replay_read(history_replay(s->h), addr, b, 8) != 8)
		return -1;
	*v = get_le64(b);
	return 0;
}

/* At the program's start the stack has argc, the arguments, 0, the environment, 0, the vector. */
void
object_auxv(struct server *s)
{
	uint64_t at = replay_regs(history_replay(s->h))->r[WS_RSP], v, value;
	unsigned n = 0;

	if (object_word(s, at, &v) != 0 || v > WORDS_MOST)
		return;
	at += 8 * (v + 2);
	do
		if (object_word(s, at, &v) != 0 || ++n > WORDS_MOST)
			return;
	while (at += 8, v);
	for (n = 0; n < AUXV_MOST; n++, at += 16) {
		if (object_word(s, at, &v) != 0 || object_word(s, at + 8, &value) != 0)
			break;
		buf_le64(&s->auxv, v);
		buf_le64(&s->auxv, value);
		if (!v)
			return;
	}
	s->auxv.n = 0;
}

void
object_maps(struct server *s)
{
	const struct ws_rec_map *m;

	s->maps.n = 0;
	for (size_t i = 0; (m = replay_map(history_replay(s->h), i)) != NULL; i++)
		buf_printf(&s->maps,
		    "%08" PRIx64 "-%08" PRIx64 " %c%c%c%c %08" PRIx64 " %02x:%02x %" PRIu64 "%s%s\n",
		    m->addr, m->addr + m->len,
		    m->prot & PROT_READ ? 'r' : '-', m->prot & PROT_WRITE ? 'w' : '-',
		    m->prot & PROT_EXEC ? 'x' : '-', m->flags & WS_SHARED ? 's' : 'p', m->offset,
		    (unsigned)(m->dev >> 8 & 0xfff), (unsigned)(m->dev & 0xff), m->ino,
		    m->name[0] ? "                   " : "", m->name);
}

/* OFFSET,LENGTH of the n bytes at p */
static void
transfer(struct server *s, const char *range, const uint8_t *p, size_t n)
{
	struct buf b = BUF_INIT;
	uint64_t off, len;
	size_t done = 0;

	if (packet_number(&range, &off, ',') != 0 || packet_number(&range, &len, '\0') != 0) {
		wire_text(s->w, "E01");
		return;
	}
	buf_u8(&b, 'l');
	if (off < n) {
		len = len < n - off ? len : n - off;
		done = packet_binary(&b, p + off, (size_t)len);
		if (off + done < n)
			b.p[0] = 'm';
	}
	wire_send(s->w, b.p, b.n);
	buf_free(&b);
}

void
object_transfer(struct server *s)
{
	static const char features[] = "qXfer:features:read:target.xml:", auxv[] = "qXfer:auxv:read::",
	    exe[] = "qXfer:exec-file:read:";
	const char *p = s->w->packet, *name = replay_header(history_replay(s->h))->exe;

	if (strncmp(p, features, sizeof features - 1) == 0) {
		if (!s->target.n)
			registers_describe(s, &s->target);
		transfer(s, p + sizeof features - 1, s->target.p, s->target.n);
	} else if (strncmp(p, auxv, sizeof auxv - 1) == 0)
		transfer(s, p + sizeof auxv - 1, s->auxv.p, s->auxv.n);
	else if (strncmp(p, exe, sizeof exe - 1) == 0 && (p = strchr(p + sizeof exe - 1, ':')) != NULL)
		transfer(s, p + 1, (const uint8_t *)name, strlen(name));
	else
		wire_text(s->w, "E00");
}
