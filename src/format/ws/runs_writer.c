/* Captures of several processes: the writer. */
#include <errno.h>
#include <stdlib.h>

#include "format/ws/kept.h"
#include "format/ws/runs_internal.h"
#include "format/ws/store_internal.h"

struct ws_run_writer {
	struct ws_runs_writer *w;
	struct ws_run_writer *next, **link;
	uint32_t number;
	struct buf b;                   /* bytes of a run that is not the first, not written yet */
};

struct ws_runs_writer {
	ws_write_fn *write;
	void *arg;
	int error;                      /* an errno */
	uint32_t n;                     /* runs begun */
	struct ws_run first;            /* told when there is a second one */
	uint64_t head;                  /* bytes of the first run's header that are still to come, if known */
	int known;
	struct buf waiting;             /* what must not come before them; later, small pieces that are written with what follows */
	struct ws_run_writer *open;
	struct ws_pages_writer *pages;  /* whose pages come before the records that refer to them; NULL: none */
};

#define TOGETHER 4096u          /* bytes of small pieces; a write of its own for each takes longer than all else about them */

static int
runs_wait(struct ws_runs_writer *w, const void *p, size_t n)
{
	buf_add(&w->waiting, p, n);
	if (w->waiting.nomem && !w->error)
		w->error = ENOMEM;
	return w->error;
}

/* Writes the small pieces. */
static int
runs_flush(struct ws_runs_writer *w)
{
	if (!w->known || w->head)
		return w->error;
	if (!w->error && w->waiting.n)
		w->error = w->write(w->arg, w->waiting.p, w->waiting.n);
	w->waiting.n = 0;
	return w->error;
}

static int
runs_emit(struct ws_runs_writer *w, const void *p, size_t n)
{
	if (!w->known || w->head)
		return runs_wait(w, p, n);
	if (w->waiting.n && n <= TOGETHER) {
		runs_wait(w, p, n);
		return runs_flush(w);
	}
	runs_flush(w);
	if (!w->error && n)
		w->error = w->write(w->arg, p, n);
	return w->error;
}

static int
runs_error(struct ws_runs_writer *w, int e)
{
	if (!w->error)
		w->error = e;
	return w->error;
}

struct ws_runs_writer *
ws_runs_create(ws_write_fn *write, void *arg)
{
	struct ws_runs_writer *w = calloc(1, sizeof(*w));

	if (w) {
		w->write = write;
		w->arg = arg;
	}
	return w;
}

/* Bytes of the first run; its first ones have the length of its header. */
static int
runs_first_write(struct ws_runs_writer *w, const uint8_t *p, size_t n)
{
	size_t k;

	if (!w->known && n < WS_HEAD)
		return runs_error(w, EINVAL);
	if (!w->known)
		w->head = WS_HEAD + (uint64_t)get_le32(p + 12);
	w->known = 1;
	if (!w->head)
		return runs_emit(w, p, n);
	k = n < w->head ? n : (size_t)w->head;
	if (!w->error)
		w->error = w->write(w->arg, p, k);
	w->head -= k;
	if (w->head)
		return w->error;
	return runs_emit(w, p + k, n - k);
}

/* Writes an entry of the list of runs; its fields are in b. */
static int
runs_entry(struct ws_runs_writer *w, struct buf *b)
{
	struct buf e = BUF_INIT;

	buf_add(&e, ws_magic_run, sizeof(ws_magic_run));
	buf_le32(&e, (uint32_t)b->n);
	buf_add(&e, b->p, b->n);
	if (!e.nomem)
		buf_le64(&e, ws_crc(e.p, e.n, 0));
	if (b->nomem || e.nomem)
		runs_error(w, ENOMEM);
	else
		runs_emit(w, e.p, e.n);
	buf_free(&e);
	buf_free(b);
	return w->error;
}

static int
runs_tell_begin(struct ws_runs_writer *w, uint32_t number, const struct ws_run *run)
{
	struct buf b = BUF_INIT;

	buf_varint(&b, WS_RUN_BEGINS);
	buf_varint(&b, number);
	buf_varint(&b, run->began);
	buf_varint(&b, run->parent);
	buf_varint(&b, run->pid);
	buf_varint(&b, run->trigger);
	buf_varint(&b, run->start);
	return runs_entry(w, &b);
}

int
ws_runs_write_block(struct ws_runs_writer *w, const void *head, const void *p, size_t n)
{
	if (!n && w->waiting.n + WS_BLOCK_HEAD <= TOGETHER)
		return runs_wait(w, head, WS_BLOCK_HEAD);
	runs_emit(w, head, WS_BLOCK_HEAD);
	return n ? runs_emit(w, p, n) : w->error;
}

int
ws_runs_write_between(void *writer, const void *p, size_t n)
{
	return runs_emit(writer, p, n);
}

struct ws_run_writer *
ws_runs_begin(struct ws_runs_writer *w, const struct ws_run *run)
{
	struct ws_run_writer *p = calloc(1, sizeof(*p));

	if (!p || w->error || w->n >= WS_RUNS_MAX) {
		runs_error(w, p ? EFBIG : ENOMEM);
		free(p);
		return NULL;
	}
	p->w = w;
	p->number = ++w->n;
	if (p->number == 1)
		w->first = *run;
	if (p->number == 2)
		runs_tell_begin(w, 1, &w->first);
	if (p->number > 1)
		runs_tell_begin(w, p->number, run);
	p->next = w->open;
	p->link = &w->open;
	if (p->next)
		p->next->link = &p->next;
	w->open = p;
	return p;
}

uint32_t
ws_run_writer_number(const struct ws_run_writer *p)
{
	return p->number;
}

void
ws_runs_set_pages(struct ws_runs_writer *w, struct ws_pages_writer *pages)
{
	w->pages = pages;
}

int
ws_run_flush(struct ws_run_writer *p)
{
	if (p->w->pages)
		ws_pages_flush(p->w->pages);
	for (size_t i = 0, k; i < p->b.n && !p->w->error; i += k) {
		uint8_t h[WS_PIECE_HEAD] = { 0 };

		k = p->b.n - i < WS_PIECE_MAX ? p->b.n - i : WS_PIECE_MAX;
		memcpy(h, ws_magic_piece, 4);
		put_le32(h + 4, p->number);
		put_le32(h + 8, (uint32_t)k);
		put_le64(h + 16, ws_crc(h, 16, 0));
		runs_emit(p->w, h, sizeof(h));
		runs_emit(p->w, p->b.p + i, k);
	}
	p->b.n = 0;
	return p->w->error;
}

int
ws_run_write(void *run, const void *p, size_t n)
{
	struct ws_run_writer *r = run;

	if (r->number == 1)
		return runs_first_write(r->w, p, n);
	if (n)
		buf_add(&r->b, p, n);
	if (r->b.nomem)
		runs_error(r->w, ENOMEM);
	return r->b.n >= WS_PIECE_ENOUGH ? ws_run_flush(r) : r->w->error;
}

static void
run_free(struct ws_run_writer *p)
{
	*p->link = p->next;
	if (p->next)
		p->next->link = p->link;
	buf_free(&p->b);
	free(p);
}

int
ws_run_end(struct ws_run_writer *p, uint64_t when)
{
	struct ws_runs_writer *w = p->w;
	struct buf b = BUF_INIT;

	ws_run_flush(p);
	/* a first run that ends alone is the whole file */
	if (w->n > 1) {
		buf_varint(&b, WS_RUN_ENDS);
		buf_varint(&b, p->number);
		buf_varint(&b, when);
		runs_entry(w, &b);
	}
	run_free(p);
	return runs_flush(w);
}

int
ws_runs_finish(struct ws_runs_writer *w)
{
	struct buf b = BUF_INIT;

	if (w->n < 2)
		return runs_flush(w);
	buf_varint(&b, WS_RUNS_END);
	buf_varint(&b, w->n);
	return runs_entry(w, &b);
}

void
ws_runs_close(struct ws_runs_writer *w)
{
	while (w && w->open)
		run_free(w->open);
	if (w)
		buf_free(&w->waiting);
	free(w);
}
