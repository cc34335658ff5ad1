/* Reads the columns of dependences of a segment. */
#include <string.h>

#include "wet/file/full/reader.h"

/* Has a dependence with this token a value in column DEP_FAR, and perhaps in DEP_ID? */
static int
full_reader_has_far(uint64_t token)
{
	return token >= MEMDEP_FAR && token != MEMDEP_NONE && token != MEMDEP_MANY;
}

/* Makes room for n tokens. */
static int
full_reader_token_room(struct store_read *r, size_t n)
{
	return buf_grow(&r->at_slot, &r->capat, r->code.nslot + 1, sizeof *r->at_slot) != 0 ||
	    buf_grow(&r->token, &r->captoken, n + 1, 1) != 0 ||
	    buf_grow(&r->by_port, &r->capby_port, n + 1, 1) != 0 ? -1 : 0;
}

/* Reads the tokens sorted by port into r->by_port, and sets r->at_slot. */
static int
full_reader_sorted_tokens(struct store_read *r, struct col_reader *c)
{
	const struct store_code *code = &r->code;
	struct col *got = &r->sorted, *key = &r->keys;
	size_t n = 0;

	for (size_t i = 0; i < code->npath; i++)
		n += (size_t)r->times[i] * code->path[i].nslot;
	if (n > COL_MAX)
		return col_bad(c, "a column is too long");
	key->n = 0;
	if (col_room(key, n) != 0 || full_reader_token_room(r, n) != 0)
		return col_bad(c, NULL);
	for (size_t i = 0; i < code->npath; i++)
		for (uint32_t j = 0; r->times[i] && j < code->path[i].nslot; j++) {
			uint64_t slot = code->path[i].slot + j;

			r->at_slot[slot] = (uint32_t)key->n;
			for (uint32_t k = r->times[i]; k; k--)
				key->v[key->n++] = slot * MEMDEP_KEYS;
		}
	if (col_get(c, got, n, MEMDEP_MANY, key) != 0)
		return -1;
	for (size_t i = 0; i < n; i++)
		r->by_port[i] = (uint8_t)got->v[i];
	return 0;
}

/*
 * Reads the tokens, which are sorted by port, and sorts them by time.  rare: key << 8 | token of those
 * that have values in other columns, by time
 */
static int
full_reader_tokens(struct store_read *r, struct col_reader *c, struct col *rare)
{
	const struct store_code *code = &r->code;

	if (full_reader_sorted_tokens(r, c) != 0)
		return -1;
	r->ntoken = 0;
	for (size_t i = 0; i < r->path.n; i++) {
		const struct store_path *p = &code->path[r->path.v[i]];

		for (uint64_t slot = p->slot; slot < (uint64_t)p->slot + p->nslot; slot++) {
			uint8_t t = r->by_port[r->at_slot[slot]++];

			r->token[r->ntoken++] = t;
			if (t >= MEMDEP_FAR && t != MEMDEP_NONE)
				col_add(rare, slot * MEMDEP_KEYS << 8 | t);
		}
	}
	return rare->nomem ? col_bad(c, NULL) : 0;
}

/* The keys of column DEP_SUB: those of the places in lists. */
static void
full_reader_sub_keys(const struct store_read *r, const struct col *rare, struct col *to)
{
	size_t num = 0;

	to->n = 0;
	for (size_t i = 0; i < rare->n; i++) {
		uint64_t many = (rare->v[i] & 255) == MEMDEP_MANY ? r->col[DEP_NUM].v[num++] : 0;

		for (uint64_t j = 0; j < many && to->n <= COL_MAX; j++)
			col_add(to, (rare->v[i] >> 8) + 1 + (j < MEMDEP_SUBS ? j : MEMDEP_SUBS - 1));
	}
}

/* Computes the keys of a column from DEP_NUM to DEP_FAR, which follow from earlier columns. */
static void
full_reader_keys(const struct store_read *r, unsigned col, const struct col *rare, struct col *to)
{
	size_t num = 0, sub = 0;

	if (col == DEP_SUB) {
		full_reader_sub_keys(r, rare, to);
		return;
	}
	to->n = 0;
	for (size_t i = 0; i < rare->n && to->n <= COL_MAX; i++) {
		uint64_t key = rare->v[i] >> 8, t = rare->v[i] & 255, many;

		if (t != MEMDEP_MANY || col == DEP_NUM) {
			if (col == DEP_NUM ? t == MEMDEP_MANY : col == DEP_ID ? t == MEMDEP_NEW :
				full_reader_has_far(t))
				col_add(to, key);
			continue;
		}
		many = r->col[DEP_NUM].v[num++];
		for (uint64_t j = 0; j < many && to->n <= COL_MAX; j++) {
			t = r->col[DEP_SUB].v[sub++];
			if (col == DEP_ID ? t == MEMDEP_NEW : full_reader_has_far(t))
				col_add(to, key + 1 + (j < MEMDEP_SUBS ? j : MEMDEP_SUBS - 1));
		}
	}
}

/* The greatest values of the columns of DEP */
static uint64_t
full_reader_most(const struct store_read *r, unsigned col)
{
	const uint64_t most[DEP_NCOL] = { MEMDEP_MANY, COL_MAX, MEMDEP_NEW, r->code.nstmt, UINT32_MAX,
		STORE_SEGMENT, FACT_MAXUSE, MODEL_LIST, r->code.nstmt, UINT32_MAX };

	return most[col];
}

/* Reads columns [from, to) of those that have keys. */
static int
full_reader_keyed(struct store_read *r, struct col_reader *c, unsigned from, unsigned to, const struct col *rare)
{
	struct col *key = &r->keys;

	for (unsigned i = from; i < to; i++) {
		full_reader_keys(r, i, rare, key);
		if (key->nomem || key->n > COL_MAX)
			return full_reader_bad(r, key->nomem ? NULL : "a column is too long");
		if (col_get(c, &r->col[i], key->n, full_reader_most(r, i), key))
			return full_reader_bad(r, c->err);
	}
	return 0;
}

/* Reads the columns of exceptions, those before `to`. */
static int
full_reader_exceptions(struct store_read *r, struct col_reader *c, unsigned to)
{
	uint64_t n = 0;

	for (unsigned i = DEP_AT; i < to; i++) {
		if (i == DEP_XID)
			for (size_t j = 0; j < r->col[DEP_COUNT].n; j++)
				n += r->col[DEP_COUNT].v[j];
		if (i == DEP_AT ? col_get_upto(c, &r->col[i], r->nport, full_reader_most(r, i), NULL) :
		    col_get(c, &r->col[i], i < DEP_XID ? r->col[DEP_AT].n : (size_t)n,
			full_reader_most(r, i), NULL))
			return full_reader_bad(r, c->err);
	}
	return 0;
}

static int
full_reader_has(const struct col *c, uint64_t v)
{
	for (size_t i = 0; i < c->n; i++)
		if (c->v[i] == v)
			return 1;
	return 0;
}

/*
 * Before column DEP_FAR: 0 if nothing in the segment can depend on instance `who` from before it.  Histories
 * of memory ports are empty at the beginning of a segment, so that its statement is in a column.
 */
static int
full_reader_names(struct store_read *r, struct col_reader c, uint64_t who)
{
	if (model_names(&r->model, who) || full_reader_has(&r->col[DEP_ID], who >> 32))
		return 1;
	if (col_skip(&c) != 0)
		return full_reader_bad(r, c.err);
	return full_reader_exceptions(r, &c, DEP_XID + 1) != 0 ? -1 :
	    full_reader_has(&r->col[DEP_XID], who >> 32);
}

int
full_reader_deps(struct store_read *r, size_t k, uint64_t who)
{
	struct col_reader c;
	struct col rare = { 0 };
	int e = full_reader_load(r, k, FULL_DEP, &c), names = 1;

	if (!e && full_reader_tokens(r, &c, &rare) != 0)
		e = full_reader_bad(r, c.err);
	e = e || full_reader_keyed(r, &c, DEP_NUM, DEP_FAR, &rare) != 0;
	if (!e && who)
		names = full_reader_names(r, c, who);
	if (!e && names > 0)
		e = full_reader_keyed(r, &c, DEP_FAR, DEP_NKEYED, &rare) != 0 ||
		    full_reader_exceptions(r, &c, DEP_NCOL) != 0 || full_reader_over(r, &c) != 0;
	col_free(&rare);
	if (e || names <= 0)
		return e ? -1 : names;
	memset(r->pos, 0, sizeof r->pos);
	r->exc = r->col[DEP_AT].n ? r->col[DEP_AT].v[0] : UINT64_MAX;
	r->done = 0;
	memdep_reset(&r->dep);
	return 1;
}
