/* What gdb reads with qXfer: the target description, the auxiliary vector, the program's path. */
#include <elf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "apps/wsgdb/wsgdb.h"
#include "base/bytes.h"

#define AUXV_MOST 256u          /* entries of an auxiliary vector at most */
#define AUXV_TYPE_MOST 64u      /* the greatest type of one */
#define PAGE 4096u
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

/* Reads the vector from there, which has these two entries in any program: 0 or -1. */
static int
auxv_read(struct server *s, uint64_t at)
{
	uint64_t v, value;
	int sure = 0;

	s->auxv.n = 0;
	for (unsigned n = 0; n < AUXV_MOST; n++, at += 16) {
		if (object_word(s, at, &v) != 0 || object_word(s, at + 8, &value) != 0)
			break;
		buf_le64(&s->auxv, v);
		buf_le64(&s->auxv, value);
		sure |= v == AT_PHENT && value == sizeof(Elf64_Phdr) ? 1 : v == AT_PAGESZ && value == PAGE ? 2 : 0;
		if (!v)
			break;
	}
	if (!s->auxv.nomem && sure == 3)
		return 0;
	s->auxv.n = 0;
	return -1;
}

/* At the program's start the stack has argc, the arguments, 0, the environment, 0, the vector. */
static int
auxv_start(struct server *s)
{
	uint64_t at = replay_regs(history_replay(s->h))->r[WS_RSP], v;
	unsigned n = 0;

	if (object_word(s, at, &v) != 0 || v > WORDS_MOST)
		return -1;
	at += 8 * (v + 2);
	do
		if (object_word(s, at, &v) != 0 || ++n > WORDS_MOST)
			return -1;
	while (at += 8, v);
	return auxv_read(s, at);
}

/* The address of the first entry of the vector that has an entry at `at`. */
static uint64_t
auxv_first(struct server *s, uint64_t at)
{
	uint64_t v;

	for (unsigned n = 0; n < AUXV_MOST; n++, at -= 16)
		if (object_word(s, at - 16, &v) != 0 || !v || v > AUXV_TYPE_MOST)
			break;
	return at;
}

/* In the middle of a run, it is where it was, near the end of the first thread's stack: in [lo, hi). */
static int
auxv_search(struct server *s, uint64_t lo, uint64_t hi)
{
	uint8_t b[PAGE + 16];

	if (hi - lo > WORDS_MOST * 8)
		lo = hi - WORDS_MOST * 8;
	for (uint64_t at = hi - PAGE; at + PAGE > lo && at < hi; at -= PAGE) {
		size_t n = replay_read(history_replay(s->h), at, b, sizeof(b));

		for (size_t i = 0; i + 16 <= n; i += 8)
			if (get_le64(b + i) == AT_PHENT && get_le64(b + i + 8) == sizeof(Elf64_Phdr) &&
			    !auxv_read(s, auxv_first(s, at + i)))
				return 0;
	}
	return -1;
}

void
object_auxv(struct server *s)
{
	const struct ws_rec_map *m;

	if (!auxv_start(s))
		return;
	for (size_t i = 0; (m = replay_map(history_replay(s->h), i)) != NULL; i++)
		if (m->type == WS_STACK && m->len >= PAGE && !auxv_search(s, m->addr, m->addr + m->len))
			return;
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
