/* Value streams: coding and decoding of one block, which threads do. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "codec/stream/stream_internal.h"

void
vs_job_free(struct vs_job *j)
{
	buf_free(&j->raw);
	buf_free(&j->coded);
	free(j->part);
	vs_block_free(&j->b);
}

int
vs_job_fail(struct vs_job *j, uint64_t off, const char *what)
{
	j->bad = 1;
	fault_set(&j->fault, off, j->rec, "%s", what);
	return -1;
}

struct vc_work *
vs_work_new(const struct vs_info *i)
{
	struct vc_work *w = vc_work_new(vs_columns(&i->layout));

	if (w && i->version > VS_VERSION_FIELDS)
		vc_work_extend(w);
	return w;
}

struct vc_work *
vs_job_work(struct vc_work **work, const struct vs_common *m, struct vs_job *j)
{
	if (!*work)
		*work = vs_work_new(&m->info);
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
encode_column(const struct vs_common *m, struct vc_work *w, const struct vc_prime *prime,
    const struct vc_col *col, struct vs_stat *s, struct buf *out)
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
		/* it cannot code the column, or makes it larger */
		if (bad || out->n - start > col->n * col->width) {
			out->n = start;
			method = VC_STORED;
			if (vc_encode_with(w, prime, col, VC_STORED, out) != 0)
				return -1;
		}
	}
	if (col->scale && !prime && method != VC_SCALED)
		col->scale->kind = VC_SCALE_NONE;
	s->n = col->n;
	s->size = out->n - start;
	s->method = (unsigned)method;
	return 0;
}

int
vs_encode_part(const struct vs_common *m, struct vc_work *w, struct vs_job *j)
{
	struct vs_part *q;
	size_t start = j->coded.n;

	if (buf_grow(&j->part, &j->partcap, j->npart + 1, sizeof(*j->part)) != 0)
		return vs_job_fail(j, j->off, VS_NOMEM);
	q = &j->part[j->npart++];
	*q = (struct vs_part){ .sum = vs_block_sum(&m->info.layout, &j->b),
	    .head = { .n = j->b.n, .ninst = j->b.ninst } };
	for (unsigned c = 0; c < vs_columns(&m->info.layout); c++)
		if (j->b.col[c].n &&
		    encode_column(m, w, m->prime[c], &j->b.col[c], &q->head.col[c], &j->coded) != 0)
			return vs_job_fail(j, j->off, VS_NOMEM);
	q->head.size = j->coded.n - start;
	return 0;
}

int
vs_put_block(const struct vs_info *i, struct vs_part *q, size_t before, const uint8_t *columns,
    struct buf *out)
{
	size_t start = out->n;

	q->head.before = before;
	vs_encode_block_head(out, i, &q->head);
	if (out->nomem)
		return -1;
	buf_le32(out, vs_crc(columns, q->head.size, vs_crc(out->p + start, out->n - start, 0)));
	buf_add(out, columns, q->head.size);
	return out->nomem ? -1 : 0;
}

int
vs_job_damaged(struct vs_job *j, uint64_t off, int column, const char *what)
{
	char where[32] = "";

	if (column >= 0)
		snprintf(where, sizeof(where), " in column %d", column + 1);
	j->bad = 1;
	fault_set(&j->fault, off, j->rec, "block %zu (records %llu to %llu) is damaged%s: %s", j->no + 1,
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
		return vs_job_damaged(j, j->off, -1, "its checksum is another");
	if (h->whole)
		return vs_whole_decode(m, j);
	j->b.n = h->n;
	j->b.ninst = h->ninst;
	for (unsigned c = 0; c < h->ncol; c++) {
		const struct vs_stat *s = &h->col[c];
		const char *err = "";
		uint64_t off = j->off + (uint64_t)(p - j->coded.p);

		bad = vs_prepare_column(y, &j->b, c);
		if (bad < 0)
			return vs_job_fail(j, j->off, VS_NOMEM);
		if (bad)
			return vs_job_damaged(j, off, (int)c, "its columns do not fit");
		if (!s->n)
			continue;
		if (vc_decode(w, m->prime[c], &j->b.col[c], (enum vc_method)s->method, p, s->size, j->b.v[c],
			&err) != 0)
			return vs_job_damaged(j, off, (int)c, err);
		p += s->size;
	}
	bad = vs_join(y, &j->b);
	if (bad < 0)
		return vs_job_fail(j, j->off, VS_NOMEM);
	if (bad)
		return vs_job_damaged(j, j->off, -1, "its columns do not fit");
	j->sum = vs_block_sum(y, &j->b);
	return 0;
}
