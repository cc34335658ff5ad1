/* Value streams: coding and decoding of a block. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "engine/codec/streampriv.h"

void
vs_job_free(struct vs_job *j)
{
	buf_free(&j->raw);
	buf_free(&j->coded);
	vs_block_free(&j->b);
}

int
vs_job_fail(struct vs_job *j, uint64_t off, const char *what)
{
	j->bad = 1;
	vs_set_fault(&j->fault, off, j->rec, "%s", what);
	return -1;
}

struct vc_work *
vs_job_work(struct vc_work **work, struct vs_job *j)
{
	if (!*work)
		*work = vc_work_new();
	if (!*work)
		vs_job_fail(j, j->off, VS_NOMEM);
	return *work;
}

int
vs_make_primes(struct vs_common *m, struct vc_work *w, const struct vs_block *first)
{
	for (unsigned c = 0; c < vs_columns(&m->info.layout); c++) {
		if (!first->col[c].n)
			continue;
		m->prime[c] = vc_prime_make(w, &first->col[c]);
		if (!m->prime[c])
			return -1;
	}
	m->primed = 1;
	return 0;
}

void
vs_common_free(struct vs_common *m)
{
	for (unsigned c = 0; c < VS_COLUMNS; c++)
		vc_prime_free(m->prime[c]);
}

static int
encode_column(const struct vs_common *m, struct vc_work *w, const struct vc_prime *prime, const struct vc_col *col,
	struct vs_stat *s, struct buf *out)
{
	enum vc_method method = VC_STORED;
	size_t start = out->n;
	int bad;

	if (m->method < 0) {
		if (vc_encode(w, prime, col, m->level, &method, out) != 0)
			return -1;
	} else {
		method = (enum vc_method)m->method;
		bad = vc_encode_with(w, prime, col, method, out);
		/* it does not suit, or makes it larger */
		if (bad || out->n - start > col->n * col->width) {
			out->n = start;
			method = VC_STORED;
			if (vc_encode_with(w, prime, col, VC_STORED, out) != 0)
				return -1;
		}
	}
	s->n = col->n;
	s->size = out->n - start;
	s->method = (unsigned)method;
	return 0;
}

/* The head's length is known when the columns are: they move up then */
int
vs_encode_job(const struct vs_common *m, struct vc_work *w, struct vs_job *j)
{
	struct buf head = BUF_INIT, *out = &j->coded;
	int bad = 0;

	j->sum = vs_block_sum(&m->info.layout, &j->b);
	j->head.n = j->b.n;
	j->head.ninst = j->b.ninst;
	out->n = 0;
	for (unsigned c = 0; c < vs_columns(&m->info.layout) && !bad; c++)
		if (j->b.col[c].n)
			bad = encode_column(m, w, m->prime[c], &j->b.col[c], &j->head.col[c], out);
	vs_put_bhead(&head, &m->info, &j->head);
	if (!bad && !head.nomem && buf_room(out, head.n + 4)) {
		memmove(out->p + head.n + 4, out->p, out->n);
		memcpy(out->p, head.p, head.n);
		put_le32(out->p + head.n, vs_crc(out->p + head.n + 4, out->n, vs_crc(out->p, head.n, 0)));
		out->n += head.n + 4;
	} else {
		bad = vs_job_fail(j, j->off, VS_NOMEM);
	}
	buf_free(&head);
	return bad;
}

/* What a damaged block is called: its number, and which records it has as far as its head tells */
static int
damaged(struct vs_job *j, uint64_t off, int column, const char *what)
{
	char where[32] = "";

	if (column >= 0)
		snprintf(where, sizeof(where), " in column %d", column + 1);
	j->bad = 1;
	vs_set_fault(&j->fault, off, j->rec, "block %zu (records %llu to %llu) is damaged%s: %s", j->no + 1,
	    (unsigned long long)j->rec, (unsigned long long)(j->rec + j->head.n - 1), where, what);
	return -1;
}

int
vs_decode_job(const struct vs_common *m, struct vc_work *w, struct vs_job *j)
{
	const struct vs_layout *y = &m->info.layout;
	const struct vs_bhead *h = &j->head;
	const uint8_t *p = j->coded.p + h->len;
	int bad;

	if (vs_crc(p, h->size - h->len, vs_crc(j->coded.p, h->len - 4, 0)) != get_le32(p - 4))
		return damaged(j, j->off, -1, "its checksum is another");
	j->b.n = h->n;
	j->b.ninst = h->ninst;
	for (unsigned c = 0; c < h->ncol; c++) {
		const struct vs_stat *s = &h->col[c];
		const char *err = "";
		uint64_t off = j->off + (uint64_t)(p - j->coded.p);

		bad = vs_shape(y, &j->b, c);
		if (bad < 0)
			return vs_job_fail(j, j->off, VS_NOMEM);
		if (bad)
			return damaged(j, off, (int)c, "its columns do not fit");
		if (!s->n)
			continue;
		if (vc_decode(w, m->prime[c], &j->b.col[c], (enum vc_method)s->method, p, s->size, j->b.v[c], &err) != 0)
			return damaged(j, off, (int)c, err);
		p += s->size;
	}
	bad = vs_join(y, &j->b);
	if (bad < 0)
		return vs_job_fail(j, j->off, VS_NOMEM);
	if (bad)
		return damaged(j, j->off, -1, "its columns do not fit");
	j->sum = vs_block_sum(y, &j->b);
	return 0;
}
