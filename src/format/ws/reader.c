/* Captures: the reader of records. */
#include "format/ws/reader_internal.h"
#include "format/ws/runs_internal.h"
#include "format/ws/store_internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "base/unz.h"
#include "format/kind.h"

int
ws_bad(struct ws_reader *r, uint64_t off, const char *fmt, ...)
{
	const struct fault *f = r->runs && off >= r->src.size ? ws_runs_fault(r->runs) : NULL;
	va_list ap;

	r->failed = 1;
	r->fault.off = src_place(&r->src, off);
	r->fault.rec = r->nrec;
	va_start(ap, fmt);
	vsnprintf(r->fault.err, sizeof(r->fault.err), fmt, ap);
	va_end(ap);
	if (r->src.error)
		snprintf(r->fault.err, sizeof(r->fault.err), "%s", strerror(r->src.error));
	else if (f)             /* the file ends before this run does */
		r->fault = *f;
	return -1;
}

/* The message for a file that does not begin like a capture. */
static int
ws_foreign(struct ws_reader *r, const uint8_t *h)
{
	const char *packed = unz_refuse(h, WS_HEAD);
	const struct kind *k = kind_of(h, WS_HEAD);

	if (packed)
		return ws_bad(r, 0, "%s", packed);
	if (memcmp(h, "\177ELF", 4) == 0)
		return ws_bad(r, 0, "an executable, not a capture: capture it with wscap first");
	if (k)
		return ws_bad(r, 0, "%s, not a capture: %s", k->what, k->use);
	return ws_bad(r, 0, "not a capture");
}

/* The header of the file */
static int
read_head(struct ws_reader *r)
{
	uint8_t h[WS_HEAD] = { 0 }, *body;
	size_t n = src_read(&r->src, 0, h, WS_HEAD);
	struct ws_cur c = { NULL, NULL, NULL };
	uint32_t len;

	if (memcmp(h, ws_magic, n < 8 ? n : 8))
		return ws_foreign(r, h);
	if (n < WS_HEAD)
		return ws_bad(r, n, n ? "truncated header" : "empty input");
	if (get_le32(h + 8) != WS_VERSION)
		return ws_bad(r, 8, "a capture of version %u; this program knows version %u", get_le32(h + 8),
		    WS_VERSION);
	len = get_le32(h + 12);
	if (len > WS_BODY_MAX)
		return ws_bad(r, 12, "a header of %u bytes", len);
	if (r->src.seeks && len > r->src.size - WS_HEAD)
		return ws_bad(r, r->src.size, "truncated header");
	body = malloc(len + 1);
	if (!body)
		return ws_bad(r, 0, "out of memory");
	n = src_read(&r->src, WS_HEAD, body, len);
	if (n < len)
		ws_bad(r, WS_HEAD + n, "truncated header");
	else if (ws_crc(body, len, ws_crc(h, 16, 0)) != get_le64(h + 16))
		ws_bad(r, 0, "the header is damaged");
	else {
		c.p = body;
		c.end = body + len;
		r->held = ws_get_header(&c);
		if (!r->held)
			ws_bad(r, WS_HEAD + (uint64_t)(c.p - body), "header: %s", c.err);
	}
	free(body);
	r->first = r->pos = WS_HEAD + len;
	return r->failed ? -1 : 0;
}

/* Chooses a run; n 0: the main one. */
static int
open_run(struct ws_reader *r, size_t n)
{
	struct ws_runs *t = ws_runs_scan(&r->src, &r->fault);
	const struct ws_part *p;

	if (!t)
		return -1;
	r->run = n ? n : ws_runs_main(t);
	if (r->run > ws_runs_count(t)) {
		ws_runs_free(t);
		return ws_bad(r, UINT64_MAX, "there is no run %zu", n);
	}
	p = ws_runs_part(t, r->run);
	if (ws_runs_count(t) == 1 && !p->n) {
		ws_runs_free(t);
		return 0;
	}
	r->runs = t;
	ws_pages_attach(ws_runs_pages(t), &r->src);
	src_pieces(&r->src, p->piece, p->n);
	return 0;
}

static struct ws_reader *
open_src(struct ws_reader *r, size_t run, struct fault *f)
{
	if (open_run(r, run) == 0 && read_head(r) == 0)
		return r;
	*f = r->fault;
	f->rec = UINT64_MAX;
	ws_close(r);
	return NULL;
}

struct ws_reader *
ws_open_run(int fd, size_t n, struct fault *f)
{
	struct ws_reader *r = calloc(1, sizeof(*r));
	int e = r ? src_fd(&r->src, fd) : 0;

	if (r && !e)
		return open_src(r, n, f);
	fault_set(f, 0, UINT64_MAX, "%s", r ? strerror(e) : "out of memory");
	free(r);
	return NULL;
}

struct ws_reader *
ws_open(int fd, struct fault *f)
{
	return ws_open_run(fd, 0, f);
}

size_t
ws_run_number(const struct ws_reader *r)
{
	return r->run;
}

struct ws_reader *
ws_open_mem_run(const void *p, size_t n, size_t run, struct fault *f)
{
	struct ws_reader *r = calloc(1, sizeof(*r));

	if (!r) {
		fault_set(f, 0, UINT64_MAX, "out of memory");
		return NULL;
	}
	src_mem(&r->src, p, n);
	return open_src(r, run, f);
}

struct ws_reader *
ws_open_mem(const void *p, size_t n, struct fault *f)
{
	return ws_open_mem_run(p, n, 0, f);
}

void
ws_close(struct ws_reader *r)
{
	if (!r)
		return;
	ws_runs_free(r->runs);
	ws_header_free(r->held);
	ws_history_free(&r->past);
	buf_free(&r->again);
	ws_copy_drop(r->copy);
	free(r->room);
	free(r->walked);
	free(r->group);
	free(r);
}

const struct ws_header *
ws_head(const struct ws_reader *r)
{
	return ws_header_copy(r->held);
}

const struct fault *
ws_fault(const struct ws_reader *r)
{
	return &r->fault;
}

uint64_t
ws_rec_off(const struct ws_reader *r)
{
	return r->now.g.off;
}

uint64_t
ws_next_off(const struct ws_reader *r)
{
	return r->pos;
}

const struct ws_sizes *
ws_sizes(const struct ws_reader *r)
{
	return &r->now.z;
}

void
ws_rec_bytes(const struct ws_reader *r, uint32_t n[WS_NSTREAMS])
{
	for (int i = 0; i < WS_NSTREAMS; i++)
		n[i] = (uint32_t)(r->s[i].p - r->last[i]);
}

uint64_t
ws_rec_no(const struct ws_reader *r)
{
	return r->nrec;
}

/* After the last record of a group nothing may be left. */
static int
end_group(struct ws_reader *r)
{
	for (int i = 0; i < WS_NSTREAMS; i++)
		if (r->s[i].p != r->s[i].end)
			return ws_bad(r, r->now.g.off, "the group has %s bytes after its last record",
			    ws_stream_name((unsigned)i));
	if (r->triggers != r->now.g.ntrigger)
		return ws_bad(r, r->now.g.off, "the group has %u triggers, its header says %u", r->triggers,
		    r->now.g.ntrigger);
	return 0;
}

/* The offset in the file: exact if the stream is not compressed, otherwise that of its start. */
static int
bad_record(struct ws_reader *r, unsigned stream, const char *what)
{
	uint64_t n = (uint64_t)(r->s[stream].p - r->base[stream]);

	if (r->now.z.method[stream] == WS_NONE)
		return ws_bad(r, r->at[stream] + n, "%s", what);
	return ws_bad(r, r->at[stream], "%s (before byte %llu of the group's %s)", what,
	    (unsigned long long)n, ws_stream_name(stream));
}

static const char *
check_place(struct ws_reader *r, const struct ws_rec *rec)
{
	const struct ws_group *g = &r->now.g;
	int first = r->left == g->nrec;
	const char *bad = ws_check_order(&r->flow, rec->kind, first);

	if (bad)
		return bad;
	if ((rec->kind == WS_KEY) != (first && g->flags & WS_GROUP_KEY))
		return "the group's header is wrong about a keyframe";
	if (rec->kind == WS_START && g->icount)
		return "a start that instructions precede";
	if (rec->kind == WS_KEY && (rec->u.state.trigger != r->ntrigger || rec->u.state.icount != g->icount))
		return "a keyframe of another place";
	return NULL;
}

int
ws_next(struct ws_reader *r, struct ws_rec *rec)
{
	struct ws_rec_mem *m = &rec->u.mem;
	unsigned stream;
	const char *bad;

	while (!r->failed && !r->done && !r->left) {
		int k = r->now.g.nrec ? end_group(r) : 0;

		if (!k)
			k = ws_load_group(r);
		if (k <= 0)
			return k;
	}
	if (r->failed || r->done)
		return r->failed ? -1 : 0;
	for (int i = 0; i < WS_NSTREAMS; i++)
		r->last[i] = r->s[i].p;
	if (ws_decode(&r->past, r->s, rec, &stream) != 0)
		return bad_record(r, stream, r->s[stream].err);
	bad = check_place(r, rec);
	r->page = rec->kind == WS_MEM ? m->page : 0;
	if (!bad && rec->kind == WS_MEM && m->page) {
		m->p = r->runs ? ws_pages_get(ws_runs_pages(r->runs), m->page - 1, m->n / WS_PAGE, &bad) : NULL;
		if (!m->p && !bad)
			bad = "pages that the file does not have";
		m->page = 0;
		if (!m->p)
			return ws_bad(r, r->now.g.off, "%s", bad);
		if (bytes_zero(m->p, m->n))
			bad = "zeros that are told as bytes";
	} else if (!bad && rec->kind == WS_MEM && m->p) {
		/* the streams are the reader's own memory */
		if (m->where == WS_CODE && r->now.g.flags & WS_GROUP_X86)
			ws_x86_relative((uint8_t *)(uintptr_t)m->p, m->n, m->addr);
		if (bytes_zero(m->p, m->n))
			bad = "zeros that are told as bytes";
	}
	if (bad)
		return bad_record(r, WS_S_CONTROL, bad);
	r->left--;
	r->nrec++;
	if (ws_is_trigger(rec->kind)) {
		r->triggers++;
		r->ntrigger++;
	}
	return 1;
}

int
ws_rec_stored(const struct ws_reader *r, struct ws_stored *s)
{
	return r->page && r->runs && ws_pages_where(ws_runs_pages(r->runs), r->page - 1, s);
}

int
ws_skip_key(struct ws_reader *r)
{
	struct ws_rec rec;
	int k;

	while (r->flow.inkey) {
		k = ws_next(r, &rec);
		if (k <= 0)
			return k;
	}
	return 1;
}
