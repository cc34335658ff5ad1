/* Addresses of references to memory: their expressions, and the model of register values. */
#include "wet/file/full/addresses.h"

#include <stdlib.h>
#include <string.h>

#include "wet/file/writer.h"

/* Columns of statements, then columns of expressions. */
enum { NEXPR, ANY, VAL, FROM, BY, BASE, INDEX, SCALE, SEG, KIND, SIZE, DISP, NCOL };
#define NSTMT (FROM + 1)

void
waddr_free(struct waddr *t)
{
	free(t->stmt);
	free(t->expr);
	*t = (struct waddr){ 0 };
}

int
waddr_add(struct waddr *t, const struct waddr_stmt *s, const struct fact_addr *expr)
{
	size_t n = s->nexpr + (s->any != 0);

	if (t->nexpr > STORE_STMTS || buf_grow(&t->stmt, &t->capstmt, t->nstmt + 1, sizeof *t->stmt) != 0 ||
	    buf_grow(&t->expr, &t->capexpr, t->nexpr + n + 1, sizeof *t->expr) != 0)
		return -1;
	t->stmt[t->nstmt] = *s;
	t->stmt[t->nstmt++].slot = (uint32_t)t->nexpr;
	for (unsigned i = 0; i < s->nexpr; i++)
		t->expr[t->nexpr++] = expr[i];
	if (s->any)
		t->expr[t->nexpr++] = (struct fact_addr){
			.base = FACT_NOREG, .index = FACT_NOREG, .seg = FACT_NOREG
		};
	return 0;
}

int
waddr_encode(const struct waddr *t, const struct store_code *c, size_t from, size_t to, struct store_out *o)
{
	struct col col[NCOL] = { 0 };
	int bad = 0;

	for (size_t s = from; s < to; s++) {
		const struct waddr_stmt *v = &t->stmt[s];

		col_add(&col[NEXPR], v->nexpr);
		col_add(&col[ANY], v->any);
		col_add(&col[VAL], v->val);
		col_add(&col[FROM], v->from);
		if (v->from)
			col_add(&col[BY], col_zig((uint64_t)(int64_t)v->by));
		for (const struct fact_addr *e = t->expr + v->slot; e < t->expr + v->slot + v->nexpr; e++) {
			int absolute = e->base == FACT_NOREG && e->index == FACT_NOREG &&
			    e->seg == FACT_NOREG;

			col_add(&col[BASE], e->base == FACT_NOREG ? 0 : e->base + 1u);
			col_add(&col[INDEX], e->index == FACT_NOREG ? 0 : e->index + 1u);
			if (e->index != FACT_NOREG)
				col_add(&col[SCALE], e->scale);
			col_add(&col[SEG], e->seg == FACT_NOREG ? 0 : e->seg - FACT_FSBASE + 1u);
			col_add(&col[KIND], e->kind);
			col_add(&col[SIZE], e->size);
			col_add(&col[DISP], col_zig(absolute ? e->disp - c->stmt[s].addr : e->disp));
		}
	}
	for (unsigned i = 0; i < NCOL; i++) {
		bad |= bad || store_col(o, &col[i], NULL) != 0;
		col_free(&col[i]);
	}
	return bad ? -1 : 0;
}

static int
get_columns(struct col_reader *r, size_t n, struct col *col)
{
	static const uint64_t most[NCOL] = { FACT_MAXREF, 1, 16, 5, UINT32_MAX, 16, 16, 8, 2, REF_MODIFY,
		REF_SIZEMAX, UINT64_MAX };
	size_t nexpr = 0, nby = 0, nindex = 0;

	for (unsigned i = 0; i < NCOL; i++) {
		if (col_get(r, &col[i], i < NSTMT ? n : i == BY ? nby : i == SCALE ? nindex : nexpr,
		    most[i], NULL) != 0)
			return -1;
		for (size_t k = 0; k < col[i].n; k++) {
			nexpr += i == NEXPR ? (size_t)col[i].v[k] : 0;
			nby += i == FROM && col[i].v[k];
			nindex += i == INDEX && col[i].v[k];
		}
	}
	return 0;
}

int
waddr_decode(struct waddr *t, const struct store_code *c, size_t to, struct col_reader *r)
{
	struct col col[NCOL] = { 0 };
	size_t from = t->nstmt, by = 0, scale = 0, x = 0;
	int e = get_columns(r, to - from, col);

	for (size_t s = from; !e && s < to; s++) {
		struct waddr_stmt v = { .nexpr = (uint8_t)col[NEXPR].v[s - from],
			.any = (uint8_t)col[ANY].v[s - from],
			.val = (uint8_t)col[VAL].v[s - from],
			.from = (uint8_t)col[FROM].v[s - from] };
		struct fact_addr expr[FACT_MAXREF];

		if (v.any && (v.nexpr == 0 || v.nexpr > WADDR_PERIOD))
			e = col_bad(r, "references are not as they are");
		if (v.from)
			v.by = (int32_t)col_zag(col[BY].v[by++]);
		for (unsigned i = 0; i < v.nexpr; i++, x++) {
			struct fact_addr *a = &expr[i];

			*a = (struct fact_addr){ .base = (uint8_t)(col[BASE].v[x] - 1),
				.index = (uint8_t)(col[INDEX].v[x] - 1),
				.seg = (uint8_t)(col[SEG].v[x] ?
				    col[SEG].v[x] - 1 + FACT_FSBASE : FACT_NOREG),
				.kind = (uint8_t)col[KIND].v[x],
				.size = (uint8_t)col[SIZE].v[x], .disp = col_zag(col[DISP].v[x]) };
			if (a->index != FACT_NOREG)
				a->scale = (uint8_t)col[SCALE].v[scale++];
			else if (a->base == FACT_NOREG && a->seg == FACT_NOREG)
				a->disp += c->stmt[s].addr;
		}
		if (!e && waddr_add(t, &v, expr) != 0)
			e = col_bad(r, NULL);
	}
	for (unsigned i = 0; i < NCOL; i++)
		col_free(&col[i]);
	return e;
}

/* Corrects the register that is probably wrong: a stale one, else the base. */
void
waddr_correct(struct waddr_model *m, const struct fact_addr *e, uint64_t ref, uint64_t expected)
{
	uint64_t by = (uint64_t)((int64_t)((ref - expected) << 16) >> 16);
	int base = e->base != FACT_NOREG, index = e->index != FACT_NOREG && e->scale && by % e->scale == 0,
	    seg = e->seg != FACT_NOREG;

	if ((ref ^ expected) >> 48)
		return;
	if (base && (m->stale[e->base] || ((!index || !m->stale[e->index]) && (!seg || !m->stale[e->seg])))) {
		m->reg[e->base] += by;
		m->stale[e->base] = 0;
	} else if (index && (m->stale[e->index] || !seg || !m->stale[e->seg])) {
		m->reg[e->index] += (uint64_t)((int64_t)by / e->scale);
		m->stale[e->index] = 0;
	} else if (seg) {
		m->reg[e->seg] += by;
		m->stale[e->seg] = 0;
	}
}

void
waddr_update_many(struct waddr_model *m, const struct waddr *t, const struct waddr_stmt *s,
    const uint64_t *ring, uint64_t n)
{
	unsigned p = s->nexpr;

	for (uint64_t k = n >= p ? n - p : 0; k < n; k++) {
		const struct fact_addr *e = &t->expr[s->slot + k % p];
		uint64_t ref = ring[k % (2 * p)];

		if (e->base == FACT_NOREG || e->index != FACT_NOREG)
			continue;
		m->reg[e->base] = ref_addr(ref) +
		    (k >= p ? ref_addr(ref) - ref_addr(ring[(k - p) % (2 * p)]) : ref_size(ref));
		m->stale[e->base] = 0;
	}
}

void
waddr_save(const struct waddr_model *m, struct buf *b)
{
	for (unsigned i = 0; i < WADDR_NREG; i++) {
		col_put_number(b, m->reg[i]);
		col_put_number(b, m->stale[i]);
	}
}

int
waddr_load(struct waddr_model *m, struct col_reader *r)
{
	for (unsigned i = 0; i < WADDR_NREG; i++) {
		uint64_t stale;

		if (col_get_number(r, UINT64_MAX, &m->reg[i]) != 0 || col_get_number(r, 1, &stale) != 0)
			return -1;
		m->stale[i] = (uint8_t)stale;
	}
	return 0;
}
