/* Streams of a .wet file of kind paper: chooses a method for each, writes and reads them. */
#include "wet/file/paper/streams.h"

#include <stdlib.h>

#include "base/bytes.h"

#define PREFIX 8192u                    /* first values, by which a method is chosen */
#define SHORT  4u                       /* streams that are all context in any method */
/* incompressible streams of this length are stored as bytes, not in a column */
#define LONG   4096u

static unsigned
bytes_of(const uint64_t *v, size_t n)
{
	uint64_t all = 0;
	unsigned w = 1;

	for (size_t i = 0; i < n; i++)
		all |= v[i];
	for (; w < 8 && all >> 8 * w; w++)
		;
	return w;
}

/*
 * Chooses the method with the fewest bytes for the first values, and compresses all values into
 * t->best.  -1: no memory.
 */
static int
paper_choose_method(struct pstreams *t, const uint64_t *v, size_t n, unsigned width)
{
	size_t prefix = n < PREFIX ? n : PREFIX, least = prefix * width;
	int none = n < LONG ? PAPER_PLAIN : PAPER_RAW, best = none;

	if (n <= SHORT)
		return PAPER_PLAIN;
	for (enum bidi_method m = 0; m < BIDI_NMETHOD; m++) {
		t->try.n = 0;
		if (bidi_save(m, v, prefix, width, 0, 0, &t->try) != 0)
			return -1;
		if (t->try.n < least) {
			struct buf b = t->best;

			t->best = t->try;
			t->try = b;
			least = t->best.n;
			best = (int)m;
		}
	}
	if (best == none || prefix == n)
		return best;
	t->best.n = 0;
	return bidi_save((enum bidi_method)best, v, n, width, 0, 0, &t->best) != 0 ? -1 :
	    t->best.n < n * width ? best : none;
}

/* Appends t->best, compressed or plain.  0, or -1: no memory. */
static int
paper_append_stream(struct pstreams *t, const uint64_t *v, size_t n, unsigned width, int m, int level)
{
	static const int zstd[10] = { 0, 1, 3, 5, 7, 9, 12, 15, 17, 19 };
	uint8_t *p;

	if (m != PAPER_RAW && (!level || t->best.n <= 64))
		return 0;
	t->best.n = 0;
	if (m != PAPER_RAW)
		return bidi_save((enum bidi_method)m, v, n, width, 0, zstd[level], &t->best);
	if ((p = buf_reserve(&t->best, n * width)) == NULL)
		return -1;
	for (size_t i = 0; i < n; i++)
		for (unsigned k = 0; k < width; k++)
			*p++ = (uint8_t)(v[i] >> 8 * k);
	t->best.n = n * width;
	return 0;
}

int
pstream_encode(struct pstreams *t, const uint64_t *v, size_t n, int level, struct paper_stats *s,
    enum paper_part part)
{
	unsigned width = bytes_of(v, n);
	int m = paper_choose_method(t, v, n, width);

	if (m < 0)
		return -1;
	s->used[part][m]++;
	s->tier2[part] += m >= PAPER_PLAIN ? n * width : t->best.n;
	col_add(&t->how, (uint64_t)m << 3 | (width - 1));
	if (m == PAPER_PLAIN) {
		for (size_t i = 0; i < n; i++)
			col_add(&t->plain, v[i]);
		return 0;
	}
	if (paper_append_stream(t, v, n, width, m, level) != 0)
		return -1;
	col_add(&t->len, t->best.n);
	buf_add(&t->body, t->best.p, t->best.n);
	return t->body.nomem ? -1 : 0;
}

int
pstreams_save(struct pstreams *t, struct vc_work *w, int level, struct buf *b)
{
	if (t->body.nomem || col_put(b, w, level, &t->how, NULL) != 0 ||
	    col_put(b, w, level, &t->len, NULL) != 0 || col_put(b, w, level, &t->plain, NULL) != 0)
		return -1;
	col_put_number(b, t->body.n);
	buf_add(b, t->body.p, t->body.n);
	t->how.n = t->len.n = t->plain.n = t->body.n = 0;
	return b->nomem ? -1 : 0;
}

void
pstreams_free(struct pstreams *t)
{
	col_free(&t->how);
	col_free(&t->len);
	col_free(&t->plain);
	buf_free(&t->body);
	buf_free(&t->try);
	buf_free(&t->best);
}

int
pstreams_load(struct pstreams_in *t, struct col_reader *r)
{
	size_t nlen = 0;

	t->n = 0;
	t->at = t->nplain = 0;
	if (col_get(r, &t->how, SIZE_MAX, (PAPER_NHOW - 1) << 3 | 7, NULL) != 0)
		return -1;
	for (size_t i = 0; i < t->how.n; i++)
		nlen += t->how.v[i] >> 3 != PAPER_PLAIN;
	if (col_get(r, &t->len, nlen, WETFILE_MAX, NULL) != 0 ||
	    col_get(r, &t->plain, SIZE_MAX, UINT64_MAX, NULL) != 0 ||
	    col_get_number(r, (uint64_t)(r->end - r->p), &t->nbody) != 0)
		return -1;
	t->body = r->p;
	r->p += t->nbody;
	t->len.n = 0;                   /* from here on: lengths of the streams read so far */
	return buf_grow(&t->stream, &t->cap, t->how.n + 1, sizeof *t->stream) != 0 ?
	    col_bad(r, NULL) : 0;
}

int
pstreams_next(struct pstreams_in *t, uint64_t n, struct col_reader *r)
{
	struct pstream *p = &t->stream[t->n];

	if (t->n == t->how.n)
		return col_bad(r, "streams are missing");
	*p = (struct pstream){ .n = n, .method = (uint8_t)(t->how.v[t->n] >> 3),
		.width = (uint8_t)((t->how.v[t->n] & 7) + 1) };
	t->n++;
	if (p->method == PAPER_PLAIN) {
		p->off = t->nplain;
		if (n > t->plain.n - t->nplain)
			return col_bad(r, "values are missing");
		t->nplain += n;
		return 0;
	}
	p->off = t->at;
	p->len = (uint32_t)t->len.v[t->len.n++];
	if (p->len > t->nbody - t->at || (p->method == PAPER_RAW && p->len != n * p->width))
		return col_bad(r, "a stream is longer than its section");
	t->at += p->len;
	return 0;
}

int
pstreams_at_end(const struct pstreams_in *t, struct col_reader *r)
{
	return t->n != t->how.n || t->at != t->nbody || t->nplain != t->plain.n ?
	    col_bad(r, "streams that nobody asked for") : 0;
}

int
pstream_decode(const struct pstreams_in *t, size_t i, uint64_t most, struct col *c, struct col_reader *r)
{
	const struct pstream *p = &t->stream[i];
	const char *err;
	struct bidi *b;

	c->n = 0;
	if (col_room(c, p->n) != 0)
		return col_bad(r, NULL);
	if (p->method == PAPER_PLAIN)
		for (uint64_t k = 0; k < p->n; k++)
			c->v[c->n++] = t->plain.v[p->off + k];
	else if (p->method == PAPER_RAW)
		for (uint64_t k = 0; k < p->n; k++)
			c->v[c->n++] = get_le(t->body + p->off + k * p->width, p->width);
	else {
		if ((b = bidi_load((enum bidi_method)p->method, t->body + p->off, p->len, p->n, p->width,
		    &err)) == NULL)
			return col_bad(r, err);
		c->n = bidi_read(b, c->v, p->n);
		bidi_close(b);
	}
	for (uint64_t k = 0; k < p->n; k++)
		if (c->v[k] > most)
			return col_bad(r, "a value of a stream is too large");
	return 0;
}

void
pstreams_in_free(struct pstreams_in *t)
{
	col_free(&t->how);
	col_free(&t->len);
	col_free(&t->plain);
	free(t->stream);
}
