/* Captures: the writer of records, groups and the index. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "format/ws/executable_internal.h"
#include "format/ws/ws_internal.h"

#define CUT       (4u << 20)    /* unpacked bytes after which a group ends */
#define CUT_SMALL (16u << 20)
#define KEPT      (320u << 10)  /* room for groups that are kept, at first: to make it larger step by step is dear */

struct ws_writer {
	ws_write_fn *write;
	void *arg;
	enum ws_level level;
	size_t cut;                     /* unpacked bytes after which a group ends; 0: as the level has it */
	struct fault fault;
	int failed;
	uint64_t off;                   /* bytes written */
	struct buf s[WS_NSTREAMS], packed[WS_NSTREAMS];
	void *z;                        /* what compression keeps; owned */
	struct ws_history past;
	struct ws_check_order flow;
	struct ws_exec exec;
	struct ws_group now;            /* the group under construction */
	struct ws_group *group;         /* the groups written */
	size_t ngroup, capgroup;
	int holding;                    /* groups are kept: */
	struct ws_ghead *kept;          /* owned: those that are not written yet, */
	size_t nkept, capkept, writtenkept;     /* and how many of them are */
	struct buf bytes;               /* their bytes, one after the other */
	size_t nbytes;                  /* of them, written */
	uint64_t rec, trigger;          /* records and triggers written */
	uint64_t icount, icount_rec;    /* the count of ws_icount, and the record that it precedes */
	int from_kernel;                /* the last trigger is a SYS, and nothing was mapped since */
	const uint8_t *room;            /* the result of ws_reserve; NULL for nothing */
};

static int
ws_writer_fail(struct ws_writer *w, const char *fmt, ...)
{
	va_list ap;

	if (w->failed)
		return -1;
	w->failed = 1;
	w->fault.off = w->off;
	w->fault.rec = w->now.rec + w->now.nrec;
	va_start(ap, fmt);
	vsnprintf(w->fault.err, sizeof(w->fault.err), fmt, ap);
	va_end(ap);
	return -1;
}

static int
ws_writer_emit(struct ws_writer *w, const void *p, size_t n)
{
	int e;

	if (!n)
		return 0;
	e = w->write(w->arg, p, n);
	if (e)
		return ws_writer_fail(w, "%s", strerror(e));
	w->off += n;
	return 0;
}

struct ws_writer *
ws_create(ws_write_fn *write, void *arg, const struct ws_header *h, enum ws_level level, struct fault *f)
{
	struct ws_writer *w = calloc(1, sizeof(*w));
	const char *bad = ws_check_header(h);
	struct buf b = BUF_INIT;

	if (!w) {
		fault_set(f, 0, UINT64_MAX, "out of memory");
		return NULL;
	}
	w->write = write;
	w->arg = arg;
	w->level = level;
	w->now.icount = w->icount_rec = WS_UNKNOWN;
	ws_put_header(&b, h);
	if (bad)
		ws_writer_fail(w, "%s", bad);
	else if (b.nomem)
		ws_writer_fail(w, "out of memory");
	else
		ws_writer_emit(w, b.p, b.n);
	buf_free(&b);
	if (!w->failed)
		return w;
	*f = w->fault;
	f->rec = UINT64_MAX;
	ws_free(w);
	return NULL;
}

void
ws_free(struct ws_writer *w)
{
	if (!w)
		return;
	for (int i = 0; i < WS_NSTREAMS; i++) {
		buf_free(&w->s[i]);
		buf_free(&w->packed[i]);
	}
	ws_pack_free(w->z);
	ws_history_free(&w->past);
	buf_free(&w->bytes);
	free(w->kept);
	free(w->exec.v);
	free(w->group);
	free(w);
}

static void
next_group(struct ws_writer *w)
{
	struct ws_group *g = &w->now;

	for (int i = 0; i < WS_NSTREAMS; i++)
		w->s[i].n = 0;
	ws_history_clear(&w->past);
	g->rec += g->nrec;
	g->trigger += g->ntrigger;
	g->nrec = g->ntrigger = g->flags = 0;
	g->icount = WS_UNKNOWN;
}

/* Writes the header of a group, which is the next one of the file. */
static int
group_begins(struct ws_writer *w, struct ws_ghead *h)
{
	uint8_t head[WS_GROUP_HEAD];

	h->g.off = w->off;
	h->g.rec = w->rec;
	h->g.trigger = w->trigger;
	ws_put_ghead(head, h);
	if (buf_grow(&w->group, &w->capgroup, w->ngroup + 1, sizeof(*w->group)) < 0)
		return ws_writer_fail(w, "out of memory");
	w->group[w->ngroup++] = h->g;
	w->rec += h->g.nrec;
	w->trigger += h->g.ntrigger;
	return ws_writer_emit(w, head, WS_GROUP_HEAD);
}

static int
group_keep(struct ws_writer *w, const struct ws_ghead *h, const struct buf *const *from)
{
	for (int i = 0; i < WS_NSTREAMS; i++)
		if (from[i]->n)
			buf_add(&w->bytes, from[i]->p, from[i]->n);
	if (w->bytes.nomem || buf_grow(&w->kept, &w->capkept, w->nkept + 1, sizeof(*w->kept)) < 0)
		return ws_writer_fail(w, "out of memory");
	w->kept[w->nkept++] = *h;
	return 0;
}

static int
group_write(struct ws_writer *w, struct ws_ghead *h, const struct buf *const *from)
{
	if (group_begins(w, h) != 0)
		return -1;
	for (int i = 0; i < WS_NSTREAMS; i++)
		if (ws_writer_emit(w, from[i]->p, from[i]->n) != 0)
			return -1;
	return 0;
}

int
ws_end_group(struct ws_writer *w)
{
	struct ws_ghead h = { .crc = 0 };
	const struct buf *from[WS_NSTREAMS];

	w->room = NULL;
	if (w->failed || !w->now.nrec)
		return w->failed ? -1 : 0;
	w->now.size = WS_GROUP_HEAD;
	for (int i = 0; i < WS_NSTREAMS; i++) {
		int method = ws_pack(w->level, i, w->s[i].p, w->s[i].n, &w->packed[i], &w->z);

		if (method < 0)
			return ws_writer_fail(w, "out of memory");
		from[i] = method == WS_NONE ? &w->s[i] : &w->packed[i];
		h.z.method[i] = (uint32_t)method;
		h.z.raw[i] = (uint32_t)w->s[i].n;
		h.z.packed[i] = (uint32_t)from[i]->n;
		h.crc = ws_crc(from[i]->p, from[i]->n, h.crc);
		w->now.size += from[i]->n;
	}
	if (w->level == WS_SMALL && h.z.raw[WS_S_CODE])
		w->now.flags |= WS_GROUP_X86;
	h.g = w->now;
	if (w->holding ? group_keep(w, &h, from) : group_write(w, &h, from))
		return -1;
	next_group(w);
	return 0;
}

int
ws_hold(struct ws_writer *w, size_t *place)
{
	if (ws_end_group(w) != 0)
		return -1;
	if (!w->bytes.p && !buf_reserve(&w->bytes, KEPT))
		return ws_writer_fail(w, "out of memory");
	w->holding = 1;
	*place = w->nkept;
	return 0;
}

int
ws_front(struct ws_writer *w, int on)
{
	if (ws_end_group(w) != 0)
		return -1;
	w->holding = !on;
	w->from_kernel = 0;
	return 0;
}

int
ws_fill(struct ws_writer *w, size_t place)
{
	if (ws_end_group(w) != 0)
		return -1;
	w->holding = 0;
	w->from_kernel = 0;
	for (; w->writtenkept < w->nkept && w->writtenkept < place; w->writtenkept++) {
		struct ws_ghead *h = &w->kept[w->writtenkept];
		size_t n = (size_t)h->g.size - WS_GROUP_HEAD;

		if (group_begins(w, h) != 0 || ws_writer_emit(w, w->bytes.p + w->nbytes, n) != 0)
			return -1;
		w->nbytes += n;
	}
	if (w->writtenkept == w->nkept)
		w->writtenkept = w->nkept = w->nbytes = w->bytes.n = 0;
	return 0;
}

void
ws_set_level(struct ws_writer *w, enum ws_level level)
{
	w->level = level;
}

void
ws_set_cut(struct ws_writer *w, size_t n)
{
	w->cut = n;
}

size_t
ws_held(const struct ws_writer *w)
{
	return w->bytes.n;
}

/* The stream for the bytes at addr. */
static enum ws_where
ws_writer_where(const struct ws_writer *w, uint64_t addr, int code)
{
	return code || ws_exec_at(&w->exec, addr) ? WS_CODE : w->from_kernel &&
	    !w->flow.inkey ? WS_KERNEL : WS_DATA;
}

uint8_t *
ws_reserve(struct ws_writer *w, uint64_t addr, size_t n)
{
	struct buf *b = &w->s[WS_S_DATA + ws_writer_where(w, addr, 0)];

	w->room = NULL;
	if (w->failed)
		return NULL;
	if (n > WS_MEM_MAX) {
		ws_writer_fail(w, "room for more than a piece of memory");
		return NULL;
	}
	w->room = buf_reserve(b, n);
	if (!w->room)
		ws_writer_fail(w, "out of memory");
	return b->nomem ? NULL : b->p + b->n;
}

static int
ws_writer_record(struct ws_writer *w, struct ws_rec *r)
{
	uint64_t sum = 0;

	if (!w->now.nrec) {
		w->now.icount = r->kind == WS_START ? 0 : r->kind == WS_KEY ? r->u.state.icount :
		    w->icount_rec == w->now.rec ? w->icount : WS_UNKNOWN;
		w->now.flags = r->kind == WS_KEY ? WS_GROUP_KEY : w->flow.inkey ? WS_GROUP_INSIDE : 0;
	}
	ws_encode(&w->past, w->s, r);
	w->now.nrec++;
	w->now.ntrigger += (uint32_t)ws_is_trigger(r->kind);
	for (int i = 0; i < WS_NSTREAMS; i++) {
		if (w->s[i].nomem)
			return ws_writer_fail(w, "out of memory");
		sum += w->s[i].n;
	}
	return sum >= (w->cut ? w->cut : w->level == WS_SMALL ? CUT_SMALL : CUT) ? ws_end_group(w) : 0;
}

/* A piece of memory: its bytes go into their stream, unless they are there already, then the record. */
static int
ws_writer_piece(struct ws_writer *w, uint64_t addr, const uint8_t *p, size_t n, int code)
{
	struct ws_rec r = { .kind = WS_MEM, .u.mem = { .addr = addr, .p = p, .n = n } };
	struct buf *b;

	r.u.mem.where = ws_writer_where(w, addr, code && p != w->room);
	b = &w->s[WS_S_DATA + r.u.mem.where];
	if (p && bytes_zero(p, n))
		r.u.mem.p = NULL;
	if (r.u.mem.p) {
		if (p == w->room)
			b->n += n;
		else
			buf_add(b, p, n);
		if (!b->nomem && w->level == WS_SMALL && r.u.mem.where == WS_CODE)
			ws_x86_absolute(b->p + b->n - n, n, addr);
	}
	w->room = NULL;
	return ws_writer_record(w, &r);
}

static int
put_mem(struct ws_writer *w, const struct ws_rec_mem *m)
{
	size_t k;

	if (m->page) {
		struct ws_rec r = { .kind = WS_MEM, .u.mem = *m };

		r.u.mem.p = NULL;
		r.u.mem.where = ws_writer_where(w, m->addr, m->where == WS_CODE);
		w->room = NULL;
		return m->n % WS_PAGE || m->n > WS_MEM_MAX ? ws_writer_fail(w, "pages of the file that are none") :
		    ws_writer_record(w, &r);
	}
	if (!m->p)
		return ws_writer_piece(w, m->addr, NULL, m->n, 0);
	for (size_t i = 0; i < m->n; i += k) {
		k = m->n - i < WS_MEM_MAX ? m->n - i : WS_MEM_MAX;
		if (ws_writer_piece(w, m->addr + i, m->p + i, k, m->where == WS_CODE) != 0)
			return -1;
	}
	return 0;
}

int
ws_put(struct ws_writer *w, const struct ws_rec *rec)
{
	struct ws_rec r = *rec;
	struct ws_check_order f = w->flow;
	const char *bad = ws_check(&r);

	if (w->failed)
		return -1;
	if (r.kind != WS_MEM)
		w->room = NULL;
	if (!bad && r.kind == WS_KEY) {
		if (ws_end_group(w) != 0)
			return -1;
		r.u.state.trigger = w->now.trigger;
	}
	if (!bad)
		bad = ws_check_order(&f, r.kind, !w->now.nrec);
	if (bad)
		return ws_writer_fail(w, "%s", bad);
	if (r.kind == WS_MEM ? put_mem(w, &r.u.mem) : ws_writer_record(w, &r))
		return -1;
	w->flow = f;
	if (ws_is_trigger(r.kind))
		w->from_kernel = r.kind == WS_SYS;
	else if (r.kind == WS_MAP)
		w->from_kernel = 0;
	return ws_exec_step(&w->exec, &r) ? ws_writer_fail(w, "out of memory") : 0;
}

void
ws_icount(struct ws_writer *w, uint64_t icount)
{
	w->icount = icount;
	w->icount_rec = w->now.rec + w->now.nrec;
}

uint64_t
ws_triggers(const struct ws_writer *w)
{
	return w->now.trigger + w->now.ntrigger;
}

uint64_t
ws_written(const struct ws_writer *w)
{
	return w->off;
}

const struct fault *
ws_write_fault(const struct ws_writer *w)
{
	return &w->fault;
}

int
ws_finish(struct ws_writer *w)
{
	struct buf b = BUF_INIT;

	if (!w->failed && !w->flow.ended)
		return ws_writer_fail(w, "finished without an end");
	if (ws_fill(w, SIZE_MAX) != 0)
		return -1;
	ws_put_index(&b, w->group, w->ngroup, w->off);
	if (b.nomem)
		ws_writer_fail(w, "out of memory");
	else
		ws_writer_emit(w, b.p, b.n);
	buf_free(&b);
	return w->failed ? -1 : 0;
}
