/* Decodes dependences from a .wet file. */
#include <stdlib.h>

#include "wet/file/full/links.h"
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

/* Reads the writers of the memory port `slot` into t->list. */
static int
deps_memory_port(struct step *t, uint64_t slot)
{
	struct store_read *r = t->r;
	uint64_t key = slot * MEMDEP_KEYS, tok = r->token[r->pos[DEP_TOKEN]++], n;

	t->list.n = 0;
	if (tok != MEMDEP_MANY)
		return deps_token(t, key, tok);
	n = r->col[DEP_NUM].v[r->pos[DEP_NUM]++];
	for (uint64_t j = 0; j < n; j++)
		if (deps_token(t, key + 1 + (j < MEMDEP_SUBS ? j : MEMDEP_SUBS - 1),
			r->col[DEP_SUB].v[r->pos[DEP_SUB]++]) != 0)
			return -1;
	return 0;
}

static int
deps_memory(struct step *t, const struct store_stmt *v, uint64_t *slot)
{
	for (uint32_t k = 0; k < v->nmem; k++, ++*slot)
		if (deps_memory_port(t, *slot) != 0 ||
		    deps_report(t, 1 + v->nuse + k, t->list.v, t->list.n) != 0)
			return -1;
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

/* The dependences of a segment as arrays: links.h. */

static const unsigned leaves = STORE_BRANCH | STORE_CALL | STORE_RETURN | STORE_TAIL | STORE_CONDTAIL;

int
links_code_init(struct links_code *c, const struct store_code *code)
{
	if ((c->step = calloc(code->nseq + 1, 1)) == NULL)
		return -1;
	for (size_t i = 0; i < code->npath; i++) {
		const struct store_path *p = &code->path[i];
		unsigned before = leaves;

		for (uint32_t k = 0; k < p->n; k++) {
			unsigned ctl = code->stmt[code->seq[p->first + k]].ctl;

			c->step[p->first + k] = (uint8_t)(
			    (before & leaves || ctl & STORE_JOIN ? LINKS_PIECE : 0) |
			    (ctl & STORE_JOIN ? LINKS_ENTER : 0) | (ctl & leaves ? LINKS_LEAVE : 0));
			before = ctl;
		}
	}
	return 0;
}

void
links_free(struct links *l)
{
	free(l->mem);
	free(l->parent);
	free(l->list);
	free(l->exc);
	free(l->slow);
	*l = (struct links){ 0 };
}

struct filling {
	struct step t;
	struct links *l;
	const struct links_code *c;
};

/* The number of an instance, plus 1 */
static int
links_number(struct filling *f, uint64_t who, uint64_t *number)
{
	if (!deps_exists(f->t.r, who))
		return full_reader_bad(f->t.r, "an instance that does not exist");
	*number = f->c->first[(who >> 32) - 1] + (uint32_t)who + 1;
	return 0;
}

/* The same, or 0 for no instance */
static int
links_number_or_none(struct filling *f, uint64_t who, uint64_t *number)
{
	*number = 0;
	return who ? links_number(f, who, number) : 0;
}

/* Sets *on to the instances in t.list. */
static int
links_of_list(struct filling *f, uint64_t *on)
{
	const struct col *from = &f->t.list;
	struct links *l = f->l;

	if (from->nomem)
		return full_reader_bad(f->t.r, NULL);
	*on = 0;
	if (from->n < 2)
		return from->n ? links_number(f, from->v[0], on) : 0;
	if (buf_grow(&l->list, &l->caplist, l->nlist + from->n + 1, sizeof *l->list) != 0)
		return full_reader_bad(f->t.r, NULL);
	*on = LINKS_LIST | l->nlist;
	l->list[l->nlist++] = from->n;
	for (size_t i = 0; i < from->n; i++)
		if (links_number(f, from->v[i], &l->list[l->nlist++]) != 0)
			return -1;
	return 0;
}

static inline int
links_memory(struct filling *f, uint64_t slot)
{
	struct step *t = &f->t;
	struct store_read *r = t->r;
	uint64_t tok = r->token[r->pos[DEP_TOKEN]], *on = &f->l->mem[f->l->nmem++];

	/* as memdep_get: most ports, most of the time */
	if (tok == MEMDEP_SAME && r->dep.port[slot].past[0].id) {
		struct memdep_past *p = &r->dep.port[slot].past[0];
		uint32_t inst = r->count[p->id - 1] - p->far;

		r->pos[DEP_TOKEN]++;
		p->stride = inst - p->last;
		p->last = inst;
		*on = f->c->first[p->id - 1] + inst + 1;
		return inst < r->total[p->id - 1] ? 0 : links_number(f, (uint64_t)p->id << 32 | inst, on);
	}
	if (tok < MEMDEP_FAR) {
		uint64_t who = memdep_get(&r->dep.port[slot], (unsigned)tok, 0, 0, r->count);

		r->pos[DEP_TOKEN]++;
		return who ? links_number(f, who, on) :
		    full_reader_bad(r, "a writer of which nothing was said");
	}
	return deps_memory_port(t, slot) != 0 ? -1 : links_of_list(f, on);
}

/* Adds the control parent of a piece. */
static int
links_parent(struct filling *f)
{
	struct links *l = f->l;

	if (l->nparent == l->capparent &&
	    buf_grow(&l->parent, &l->capparent, l->nparent + 1, sizeof *l->parent) != 0)
		return full_reader_bad(f->t.r, NULL);
	l->parent[l->nparent++] = model_parent(&f->t.r->model).n;
	return 0;
}

static int
links_leave(struct filling *f, uint32_t s)
{
	struct store_read *r = f->t.r;
	uint64_t n;

	if (links_number(f, (uint64_t)(s + 1) << 32 | r->count[s], &n) != 0)
		return -1;
	return model_leave_control(&r->model, s, (uint64_t)(s + 1) << 32 | r->count[s], n) != 0 ?
	    full_reader_bad(r, NULL) : 0;
}

/* Reads a path without exceptions. */
static int
links_path(struct filling *f, const struct store_path *p)
{
	struct store_read *r = f->t.r;
	const uint32_t *seq = r->code.seq + p->first;
	const uint8_t *step = f->c->step + p->first;

	for (uint32_t slot = p->slot; slot < p->slot + p->nslot; slot++)
		if (links_memory(f, slot) != 0)
			return -1;
	for (uint32_t k = 0; k < p->n; k++) {
		if (!step[k] && !r->model.target)
			continue;
		model_enter(&r->model, seq[k]);
		if (step[k] & LINKS_PIECE && links_parent(f) != 0)
			return -1;
		if (step[k] & LINKS_LEAVE && links_leave(f, seq[k]) != 0)
			return -1;
	}
	for (uint32_t k = 0; k < p->n; k++)
		r->count[seq[k]]++;
	r->done += p->n;
	return 0;
}

/* Reads the exceptions of a statement's registers. */
static int
links_registers(struct filling *f, const struct store_stmt *v)
{
	struct store_read *r = f->t.r;
	struct links *l = f->l;

	for (uint32_t k = 0; k < v->nuse; k++) {
		struct links_exception x = { .n = (uint32_t)r->done, .port = k + 1 };

		if (!deps_exception(&f->t, k + 1))
			continue;
		x.only = f->t.list.n < 2;
		if (links_of_list(f, &x.on) != 0)
			return -1;
		if (buf_grow(&l->exc, &l->capexc, l->nexc + 1, sizeof *l->exc) != 0)
			return full_reader_bad(r, NULL);
		l->exc[l->nexc++] = x;
	}
	return 0;
}

/* Corrects the control parent. */
static int
links_control(struct filling *f)
{
	uint64_t who, n;

	if (!deps_exception(&f->t, 0))
		return 0;
	who = f->t.list.n ? f->t.list.v[0] : 0;
	if (links_number_or_none(f, who, &n) != 0)
		return -1;
	return model_control_is(&f->t.r->model, who, n) != 0 ? full_reader_bad(f->t.r, NULL) : 0;
}

/* Reads a path with exceptions, in which each statement is a piece. */
static int
links_slow_path(struct filling *f, const struct store_path *p)
{
	struct store_read *r = f->t.r;
	const uint32_t *seq = r->code.seq + p->first;
	uint32_t slot = p->slot;

	for (uint32_t k = 0; k < p->n; k++) {
		const struct store_stmt *v = &r->code.stmt[seq[k]];

		f->t.s = seq[k];
		model_enter(&r->model, seq[k]);
		if (links_control(f) != 0 || links_parent(f) != 0 || links_registers(f, v) != 0)
			return -1;
		for (uint32_t i = 0; i < v->nmem; i++)
			if (links_memory(f, slot++) != 0)
				return -1;
		if (v->ctl && links_leave(f, seq[k]) != 0)
			return -1;
		if (r->exc == r->done)
			return full_reader_bad(r, "a dependence of a port that does not exist");
		r->done++;
	}
	for (uint32_t k = 0; k < p->n; k++)
		r->count[seq[k]]++;
	return 0;
}

/* Sets the last writers of registers, and the numbers of the instances in the model's frames and regions. */
static int
links_begin(struct filling *f)
{
	struct model *m = &f->t.r->model;

	for (unsigned i = 0; i < FACT_NREG; i++)
		for (unsigned j = 0; j < FACT_NLANE; j++)
			if (links_number_or_none(f, m->lane[i][j].who, &f->l->lane[i][j]) != 0)
				return -1;
	for (size_t i = 0; i < m->nframe; i++)
		if (links_number_or_none(f, m->frame[i].who, &m->frame[i].n) != 0)
			return -1;
	for (size_t i = 0; i < m->nregion; i++)
		if (links_number_or_none(f, m->region[i].who, &m->region[i].n) != 0)
			return -1;
	return links_number_or_none(f, m->tailwho, &m->tailn);
}

static int
links_paths(struct filling *f)
{
	struct store_read *r = f->t.r;
	struct links *l = f->l;

	for (size_t i = 0; i < r->path.n; i++) {
		const struct store_path *p = &r->code.path[r->path.v[i]];

		if (r->exc >= r->done + p->n) {
			if (links_path(f, p) != 0)
				return -1;
			continue;
		}
		if (buf_grow(&l->slow, &l->capslow, l->nslow + 1, sizeof *l->slow) != 0)
			return full_reader_bad(r, NULL);
		l->slow[l->nslow++] = (uint32_t)i;
		if (links_slow_path(f, p) != 0)
			return -1;
	}
	return 0;
}

int
links_fill(struct links *l, struct store_read *r, const struct links_code *c)
{
	struct filling f = { .t = { .r = r }, .l = l, .c = c };
	int e;

	l->step = c->step;
	l->nmem = l->nparent = l->nlist = l->nexc = l->nslow = 0;
	if (buf_grow(&l->mem, &l->capmem, r->ntoken + 1, sizeof *l->mem) != 0)
		return full_reader_bad(r, NULL);
	e = links_begin(&f) != 0 || links_paths(&f) != 0 ? -1 : 0;
	col_free(&f.t.list);
	return e;
}
