/*
 * A program and the events of its run: the input is the text of its schema,
 * a byte 0, and the events, of which an event file is made (the first byte of
 * them: how the run ended and how long chunks are).  Regeneration is to end, with a fault or not.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "../eventfile.h"
#include "base/buf.h"
#include "base/bytes.h"
#include "ae/regen/regen.h"
#include "format/ref/ref.h"
#include "format/schema/text.h"
#include "fuzz.h"

#define MOST 200000u    /* references */

struct made { struct buf schema, fn, file; uint16_t machine; };

static void
event_file(struct made *m, const uint8_t *p, size_t n)
{
	unsigned how = n ? *p++ : 0;

	event_header(&m->file, m->machine);
	event_chunks(&m->file, p, n - (n > 0), 1 + (how >> 2) * 16, how & 3, (how & 3) == EV_SIGNAL ? 11 : 0);
}

/* n bytes in the unit's order */
static void
word(struct buf *b, const struct sch_unit *u, uint64_t v)
{
	for (unsigned i = 0; i < u->word; i++)
		buf_u8(b, (uint8_t)(v >> 8 * (u->big ? u->word - 1u - i : i)));
}

/* As the linker would: the units' bytes and the functions' addresses.  0, or -1: not a good text */
static int
program(struct made *m, const uint8_t *p, size_t n)
{
	struct sch_text t = { .p = (const char *)p, .n = n };
	struct sch_unit u;
	int got;

	while ((got = sch_parse(&t, NULL, &u)) == 1) {
		size_t len;
		uint8_t *e = sch_encode(&u, &len);

		m->machine = u.machine;
		if (e)
			buf_add(&m->schema, e, len);
		free(e);
		for (uint32_t i = 0; i < u.nfunc; i++) {
			const struct sch_frag *g = u.func[i].nfrag ? &u.func[i].frag[0] : NULL;

			word(&m->fn, &u, g ? u.cst[g->sym] + g->off : 0);
			word(&m->fn, &u, 0);
			word(&m->fn, &u, 0);
		}
		sch_free(&u);
	}
	return got;
}

static int
bytes(void *arg, uint64_t addr, void *p, size_t n)
{
	(void)arg;
	for (size_t i = 0; i < n; i++)
		((uint8_t *)p)[i] = (uint8_t)((addr + i) * 29);
	return 1;
}

struct seen { uint64_t n, sum; };

static int
take(void *arg, const uint64_t *w, size_t n)
{
	struct seen *s = arg;

	for (size_t i = 0; i < n; i++) {
		if (!ref_valid(w[i]))
			abort();
		s->sum = s->sum * 31 + w[i];
	}
	s->n += n;
	return s->n > MOST;
}

static void
regenerate(struct made *m, const struct prog *g)
{
	struct seen s = { 0, 0 };
	const char *err;
	struct regen *r = regen_new(g, 1, NULL, &err);
	struct feed f;
	char name[64];
	int fd = memfd_create("events", 0), got;

	if (fd < 0 || write(fd, m->file.p, m->file.n) != (ssize_t)m->file.n)
		exit(2);
	snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
	if (r) {
		got = feed_tasks(&f, regen_state(r), &(struct feed_job){
			.file = name, .machine = m->machine, .sink = take, .sinkarg = &s, .quietmax = FEED_QUIET,
			.run = regen_thread, .arg = r
		});
		if (got < 0 && !f.err)
			abort();
		feed_close(&f);
	}
	regen_free(r);
	close(fd);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	const uint8_t *end = memchr(data, 0, n);
	struct made m = { BUF_INIT, BUF_INIT, BUF_INIT, 0 };

	if (end && program(&m, data, (size_t)(end - data)) == 0 && m.schema.n) {
		struct prog_source src = { m.schema.p, m.schema.n, m.fn.p, m.fn.n, bytes, bytes, NULL, NULL };
		struct prog g;

		event_file(&m, end + 1, n - (size_t)(end + 1 - data));
		if (prog_load(&g, &src) == 0)
			regenerate(&m, &g);
		else if (!g.err)
			abort();
		prog_free(&g);
	}
	buf_free(&m.schema);
	buf_free(&m.fn);
	buf_free(&m.file);
	return 0;
}
