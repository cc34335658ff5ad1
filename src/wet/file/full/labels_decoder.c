/* Reads one-bit labels from a .wet file. */
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "sim/predictor.h"
#include "wet/file/full/code.h"

struct read {
	struct arch_labels *l;
	struct col_reader r;
	struct col c[3], bytes;
	size_t at;                      /* position in bytes */
};

/* Reads n bytes of labels. */
static int
labels_decode_labels(struct read *t, uint8_t **to, size_t n)
{
	size_t cap = 0, have = 0;

	while (have < n) {
		size_t k = t->bytes.n - t->at;

		if (!k) {
			t->at = 0;
			if (t->r.p == t->r.end || col_get(&t->r, &t->bytes, SIZE_MAX, 0xff, NULL) != 0 ||
			    !t->bytes.n)
				return col_bad(&t->r, "labels are missing");
			continue;
		}
		k = k < n - have ? k : n - have;
		if (buf_grow(to, &cap, have + k, 1) != 0)
			return col_bad(&t->r, NULL);
		for (size_t i = 0; i < k; i++)
			(*to)[have + i] = (uint8_t)t->bytes.v[t->at + i];
		have += k;
		t->at += k;
	}
	return 0;
}

static int
labels_decode_statement(struct read *t, uint64_t stmt, uint8_t kinds, uint32_t count)
{
	struct arch_labels *l = t->l;
	struct arch_stmt *s;

	if (stmt >= STORE_STMTS || (l->n && l->stmt[l->n - 1].id > stmt) || !kinds || !count)
		return col_bad(&t->r, "a statement that does not exist");
	if (buf_grow(&l->stmt, &l->cap, l->n + 1, sizeof *l->stmt) != 0)
		return col_bad(&t->r, NULL);
	s = &l->stmt[l->n++];
	*s = (struct arch_stmt){ .id = (uint32_t)stmt + 1, .count = count, .kinds = kinds };
	for (unsigned k = 0; k < ARCH_NKINDS; k++)
		if (kinds >> k & 1 && labels_decode_labels(t, &s->bits[k], ((size_t)count + 7) / 8) != 0)
			return -1;
	for (unsigned k = 0; k < ARCH_NKINDS; k++)
		if (kinds >> k & 1 && count % 8 && s->bits[k][count / 8] >> count % 8)
			return col_bad(&t->r, "a label of no instance");
	return 0;
}

static int
labels_decode_section(struct read *t, int first)
{
	static const uint64_t most[3] = { STORE_STMTS, (1u << ARCH_NKINDS) - 1, UINT32_MAX - 1 };
	struct arch_params p;
	uint64_t *v = &p.history, stmt = 0;
	int e = 0;

	for (unsigned i = 0; i < sizeof p / sizeof *v && !e; i++)
		e = col_get_number(&t->r, UINT32_MAX, &v[i]);
	if (!e && (!arch_params_valid(&p) || (!first && memcmp(&p, &t->l->params, sizeof p) != 0)))
		return col_bad(&t->r, "parameters that cannot be");
	for (unsigned i = 0; i < 3 && !e; i++)
		e = col_get(&t->r, &t->c[i], i ? t->c[0].n : SIZE_MAX, most[i], NULL);
	if (e)
		return -1;
	t->l->params = p;
	t->at = t->bytes.n = 0;
	for (size_t i = 0; i < t->c[0].n; i++) {
		stmt += t->c[0].v[i];
		if (labels_decode_statement(t, stmt, (uint8_t)t->c[1].v[i], (uint32_t)t->c[2].v[i]) != 0)
			return -1;
	}
	return t->at != t->bytes.n || t->r.p != t->r.end ? col_bad(&t->r, "labels of nothing") : 0;
}

int
arch_read(const struct wetfile *w, struct arch_labels *l, struct fault *f)
{
	struct vc_work *work = vc_work_new(1);
	struct read t = { .l = l };
	struct buf b = BUF_INIT;
	int e = 0, first = 1;

	*l = (struct arch_labels){ 0 };
	f->err[0] = '\0';
	if (!work)
		return fault_nomem(f);
	for (size_t i = 0; i < w->nsection && !e; i++) {
		if (w->section[i].tag != WETFILE_ARCH)
			continue;
		e = wetfile_load(w, i, &b, f);
		if (e)
			break;
		t.r = (struct col_reader){ .p = b.p, .end = b.p + b.n, .w = work };
		if ((e = labels_decode_section(&t, first)) != 0)
			fault_set(f, w->section[i].off, i, "%s", t.r.err);
		first = 0;
	}
	for (unsigned i = 0; i < 3; i++)
		col_free(&t.c[i]);
	col_free(&t.bytes);
	buf_free(&b);
	vc_work_free(work);
	if (e)
		arch_labels_free(l);
	return e ? -1 : 0;
}

void
arch_labels_free(struct arch_labels *l)
{
	for (size_t i = 0; i < l->n; i++)
		for (unsigned k = 0; k < ARCH_NKINDS; k++)
			free(l->stmt[i].bits[k]);
	free(l->stmt);
	*l = (struct arch_labels){ 0 };
}

const struct arch_stmt *
arch_find(const struct arch_labels *l, uint32_t id)
{
	size_t i;

	LOWER_BOUND(i, l->n, l->stmt[i].id < id);
	return i < l->n && l->stmt[i].id == id ? &l->stmt[i] : NULL;
}
