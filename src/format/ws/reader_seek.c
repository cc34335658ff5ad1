/* Captures: marks, positions within a group to which a reader can return. */
#include <stdlib.h>

#include "format/ws/reader_internal.h"

/* The streams of a group when its first mark was made: decoding changes them. */
struct ws_copy {
	uint64_t refs;
	size_t n;
	uint8_t b[];
};

struct ws_mark {
	struct ws_copy *copy;           /* reference-counted */
	struct ws_ghead now;
	size_t base[WS_NSTREAMS];       /* offset of each stream in the copy */
	uint64_t off[WS_NSTREAMS];      /* and in the file */
	size_t at[WS_NSTREAMS], last[WS_NSTREAMS];      /* bytes of each stream */
	uint32_t left, triggers;
	struct ws_history past;                         /* its buffers belong to the mark */
	struct ws_check_order flow;
	uint64_t nrec, ntrigger;
	struct ws_rec rec;
	struct buf bytes;               /* the bytes that rec points to */
};

static void
ws_mark_copy(struct buf *to, const struct buf *from)
{
	to->n = 0;
	if (from->n)
		buf_add(to, from->p, from->n);
}

/* The buffers of `to` remain its own. 0, or -1 without memory. */
static int
history_copy(struct ws_history *to, const struct ws_history *from)
{
	struct buf name = to->name, id = to->id, note = to->note;

	ws_mark_copy(&name, &from->name);
	ws_mark_copy(&id, &from->id);
	ws_mark_copy(&note, &from->note);
	*to = *from;
	to->name = name;
	to->id = id;
	to->note = note;
	return name.nomem || id.nomem || note.nomem ? -1 : 0;
}

#define NPIECE 3

/* The pieces of memory that a trigger, KEY or END may point to. */
static void
bytes_of(struct ws_rec *rec, const uint8_t **p[NPIECE], size_t n[NPIECE])
{
	for (int i = 0; i < NPIECE; i++) {
		p[i] = NULL;
		n[i] = 0;
	}
	if (rec->kind == WS_SIG) {
		p[0] = &rec->u.sig.xsave;
		p[1] = &rec->u.sig.stack;
		n[0] = rec->u.sig.nxsave;
		n[1] = rec->u.sig.nstack;
		p[2] = &rec->u.sig.words;
		n[2] = rec->u.sig.nwords * WS_SIGWORD;
	} else if (rec->kind == WS_KEY) {
		p[0] = &rec->u.state.xsave;
		n[0] = rec->u.state.nxsave;
	}
}

void
ws_copy_drop(struct ws_copy *c)
{
	if (c && --c->refs == 0)
		free(c);
}

static struct ws_copy *
copy_of(struct ws_reader *r)
{
	if (!r->copy) {
		r->copy = malloc(sizeof *r->copy + r->nroom);
		if (!r->copy)
			return NULL;
		r->copy->refs = 1;
		r->copy->n = r->nroom;
		memcpy(r->copy->b, r->room, r->nroom);
	}
	r->copy->refs++;
	return r->copy;
}

/* Makes the group that of a mark. */
static int
ws_mark_load(struct ws_reader *r, const struct ws_mark *m)
{
	if (r->caproom < m->copy->n || !r->room) {
		free(r->room);
		r->room = malloc(m->copy->n + 1);
		r->caproom = r->room ? m->copy->n : 0;
		if (!r->room)
			return -1;
	}
	memcpy(r->room, m->copy->b, m->copy->n);
	r->nroom = m->copy->n;
	ws_copy_drop(r->copy);
	r->copy = m->copy;
	r->copy->refs++;
	r->now = m->now;
	return 0;
}

struct ws_mark *
ws_mark(struct ws_reader *r, const struct ws_rec *last)
{
	struct ws_mark *m;
	const uint8_t **p[NPIECE];
	size_t n[NPIECE];

	if (r->failed || r->done || !r->now.g.nrec || !r->src.seeks || (m = calloc(1, sizeof *m)) == NULL)
		return NULL;
	m->now = r->now;
	m->copy = copy_of(r);
	for (int i = 0; i < WS_NSTREAMS; i++) {
		m->base[i] = (size_t)(r->base[i] - r->room);
		m->off[i] = r->at[i];
		m->at[i] = (size_t)(r->s[i].p - r->base[i]);
		m->last[i] = (size_t)(r->last[i] - r->base[i]);
	}
	m->left = r->left;
	m->triggers = r->triggers;
	m->flow = r->flow;
	m->nrec = r->nrec;
	m->ntrigger = r->ntrigger;
	m->rec = *last;
	bytes_of(&m->rec, p, n);
	for (int i = 0; i < NPIECE; i++)
		if (n[i])
			buf_add(&m->bytes, *p[i], n[i]);
	if (m->copy && history_copy(&m->past, &r->past) == 0 && !m->bytes.nomem)
		return m;
	ws_mark_free(m);
	return NULL;
}

int
ws_mark_return(struct ws_reader *r, const struct ws_mark *m, struct ws_rec *last)
{
	const uint8_t **p[NPIECE];
	size_t n[NPIECE], at = 0;

	r->failed = r->done = 0;
	r->strayed = 1;
	if (ws_mark_load(r, m) != 0)
		return ws_bad(r, m->now.g.off, "out of memory");
	for (int i = 0; i < WS_NSTREAMS; i++) {
		r->base[i] = r->room + m->base[i];
		r->at[i] = m->off[i];
		r->s[i] = (struct ws_cur){ r->base[i] + m->at[i], r->base[i] + m->now.z.raw[i], NULL };
		r->last[i] = r->base[i] + m->last[i];
	}
	r->pos = r->now.g.off + r->now.g.size;
	r->left = m->left;
	r->triggers = m->triggers;
	r->flow = m->flow;
	r->nrec = m->nrec;
	r->ntrigger = m->ntrigger;
	ws_mark_copy(&r->again, &m->bytes);
	if (history_copy(&r->past, &m->past) != 0 || r->again.nomem)
		return ws_bad(r, r->now.g.off, "out of memory");
	*last = m->rec;
	bytes_of(last, p, n);
	for (int i = 0; i < NPIECE; at += n[i++])
		if (n[i])
			*p[i] = r->again.p + at;
	return 0;
}

uint64_t
ws_mark_bytes(const struct ws_mark *m, unsigned others)
{
	return sizeof *m + m->bytes.n + (m->copy->refs <= 1 + others ? m->copy->n : 0);
}

void
ws_mark_free(struct ws_mark *m)
{
	if (!m)
		return;
	ws_copy_drop(m->copy);
	ws_history_free(&m->past);
	buf_free(&m->bytes);
	free(m);
}
