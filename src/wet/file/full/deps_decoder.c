/* Decodes dependences from a .wet file. */
#include <stdlib.h>

#include "wet/file/full/reader.h"

struct step {
	struct store_read *r;
	const uint8_t *only;
	store_use_fn *fn;
	void *arg;
	uint32_t s, port;
	struct col list;
};

static uint32_t
deps_zag32(uint64_t z)
{
	return (uint32_t)z >> 1 ^ -((uint32_t)z & 1);
}

static int
deps_exists(const struct store_read *r, uint64_t who)
{
	return who >> 32 && who >> 32 <= r->code.nstmt && (uint32_t)who < r->total[(who >> 32) - 1];
}

static int
deps_report(struct step *t, uint32_t port, const uint64_t *who, size_t n)
{
	struct store_read *r = t->r;

	if (t->only && !t->only[t->s])
		return 0;
	for (size_t i = 0; i < n; i++)
		if (!deps_exists(r, who[i]))
			return full_reader_bad(r, "an instance that does not exist");
	return t->fn(t->arg, t->s, r->count[t->s], port, who, n) != 0 ? full_reader_bad(r, NULL) : 0;
}

/* If this port of the statement has an exception, reads its writers into t->list and returns 1. */
static int
deps_exception(struct step *t, uint32_t port)
{
	struct store_read *r = t->r;
	uint64_t n;

	if (r->exc != r->done || r->col[DEP_PORT].v[r->pos[DEP_AT]] != port)
		return 0;
	n = r->col[DEP_COUNT].v[r->pos[DEP_AT]];
	t->list.n = 0;
	for (; n; n--, r->pos[DEP_XID]++) {
		uint64_t id = r->col[DEP_XID].v[r->pos[DEP_XID]];

		col_add(&t->list, id ? id << 32 |
		    (uint32_t)(r->count[id - 1] - deps_zag32(r->col[DEP_XFAR].v[r->pos[DEP_XID]])) : 0);
	}
	r->pos[DEP_AT]++;
	r->exc = r->pos[DEP_AT] < r->col[DEP_AT].n ? r->exc + r->col[DEP_AT].v[r->pos[DEP_AT]] : UINT64_MAX;
	return 1;
}

static int
deps_control(struct step *t)
{
	struct model *m = &t->r->model;
	uint64_t who;

	if (deps_exception(t, 0)) {
		who = t->list.n ? t->list.v[0] : 0;
		if (model_control_is(m, who, 0) != 0)
			return full_reader_bad(t->r, NULL);
	} else
		who = model_parent(m).who;
	return deps_report(t, 0, &who, who != 0);
}

static int
deps_registers(struct step *t, const struct store_stmt *v)
{
	struct store_read *r = t->r;
	const uint16_t *reg = r->code.reg + v->reg;

	for (uint32_t k = 0; k < v->nuse; k++) {
		uint64_t who[MODEL_LIST];
		int e;

		if (deps_exception(t, k + 1)) {
			if (t->list.n < 2)
				model_reg_is(&r->model, reg[k], t->list.n ? t->list.v[0] : 0, 0);
			e = deps_report(t, k + 1, t->list.v, t->list.n);
		} else if (!t->only || t->only[t->s])
			e = deps_report(t, k + 1, who, model_reg(&r->model, reg[k], who));
		else
			e = 0;
		if (e)
			return -1;
	}
	return 0;
}

/* Reads a token from the list or the column of a port. */
static int
deps_token(struct step *t, uint64_t key, uint64_t token)
{
	struct store_read *r = t->r;
	struct memdep_port *p = memdep_past(&r->dep, key);
	uint32_t far = 0, id = 0;
	uint64_t who;

	if (!p)
		return full_reader_bad(r, NULL);
	if (token == MEMDEP_NONE)
		return 0;
	if (token == MEMDEP_NEW)
		id = (uint32_t)r->col[DEP_ID].v[r->pos[DEP_ID]++];
	if (token >= MEMDEP_FAR)
		far = deps_zag32(r->col[DEP_FAR].v[r->pos[DEP_FAR]++]);
	if (token == MEMDEP_NEW && !id)
		return full_reader_bad(r, "a statement that does not exist");
	who = memdep_get(p, (unsigned)token, id, far, r->count);
	if (!who)
		return full_reader_bad(r, "a writer of which nothing was said");
	col_add(&t->list, who);
	return 0;
}

static int
deps_memory(struct step *t, const struct store_stmt *v, uint64_t *slot)
{
	struct store_read *r = t->r;

	for (uint32_t k = 0; k < v->nmem; k++, ++*slot) {
		uint64_t key = *slot * MEMDEP_KEYS, tok = r->col[DEP_TOKEN].v[r->pos[DEP_TOKEN]++];

		t->list.n = 0;
		if (tok != MEMDEP_MANY) {
			if (deps_token(t, key, tok) != 0)
				return -1;
		} else {
			uint64_t n = r->col[DEP_NUM].v[r->pos[DEP_NUM]++];

			for (uint64_t j = 0; j < n; j++)
				if (deps_token(t, key + 1 + (j < MEMDEP_SUBS ? j : MEMDEP_SUBS - 1),
				    r->col[DEP_SUB].v[r->pos[DEP_SUB]++]) != 0)
					return -1;
		}
		if (deps_report(t, 1 + v->nuse + k, t->list.v, t->list.n) != 0)
			return -1;
	}
	return 0;
}

int
store_read_deps(struct store_read *r, size_t i, const uint8_t *only, store_use_fn *fn, void *arg)
{
	const struct store_path *p = &r->code.path[r->path.v[i]];
	const uint32_t *seq = r->code.seq + p->first;
	struct step t = { .r = r, .only = only, .fn = fn, .arg = arg };
	uint64_t slot = p->slot;
	int e = 0;

	for (uint32_t k = 0; !e && k < p->n; k++) {
		const struct store_stmt *v = &r->code.stmt[seq[k]];

		t.s = seq[k];
		model_enter(&r->model, t.s);
		e = deps_control(&t) != 0 || deps_registers(&t, v) != 0 || deps_memory(&t, v, &slot) != 0;
		if (!e &&
		    (t.list.nomem ||
			model_leave(&r->model, t.s, (uint64_t)(t.s + 1) << 32 | r->count[t.s], 0) != 0))
			e = full_reader_bad(r, NULL);
		if (!e && r->exc == r->done)
			e = full_reader_bad(r, "a dependence of a port that does not exist");
		r->done++;
	}
	for (uint32_t k = 0; k < p->n; k++)
		r->count[seq[k]]++;
	col_free(&t.list);
	return e ? -1 : 0;
}
