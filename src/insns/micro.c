/* Instructions as sequences of operations with at most one access to memory each. */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "insns/micro_internal.h"

static struct micro *
micro_of(struct micros *t, const struct fact *f)
{
	struct micro *m;
	struct micro_plan p;

	if (f->id >= t->nof)
		t->of = insns_table(t->of, &t->nof, f->id, sizeof *t->of);
	m = &t->of[f->id];
	if (!m->op) {
		micro_plan(&p, f, (enum branch_kind)(insns_kind(&t->kinds, f)->kind - 1));
		m->op = xreallocarray(NULL, p.n + 1, sizeof *m->op);
		memcpy(m->op, p.op, p.n * sizeof *m->op);
		m->n = (uint8_t)p.n;
	}
	return m;
}

void
micros_free(struct micros *t)
{
	for (size_t i = 0; i < t->nof; i++)
		free(t->of[i].op);
	free(t->of);
	free(t->kinds.k);
}

/* What op has in memory: of reference k of the instruction e. */
static void
micro_memory(struct micro_at *a, const struct visit_batch *b, const struct visit_insn *e, uint32_t k)
{
	a->ref = b->word[e->ref + k];
	a->mem = visit_mem(b, e, k, a->op->type == MICRO_STORE);
}

static void
micro_string(const struct micro *m, const struct insns_span *s, struct micro_at *a,
    const struct visit_batch *b, const struct visit_insn *e, micro_fn *fn, void *arg)
{
	uint64_t state = s->word[e->val - 1];
	unsigned per = m->n && m->op[m->n - 1].type == MICRO_COMPUTE ? m->n - 1u : m->n;

	for (uint32_t k = s->from; k < s->to; k++) {
		a->first = 1;
		for (unsigned i = 0; i < per; i++) {
			if (k * per + i >= e->nref)
				break;
			a->op = &m->op[i];
			micro_memory(a, b, e, k * per + i);
			fn(arg, a);
			a->first = 0;
		}
		if (state & FACT_DONE && k + 1 == FACT_ITERS(state)) {
			a->op = &m->op[per];
			a->ref = 0;
			fn(arg, a);
		}
	}
}

static void
micro_counted(const struct micro *m, struct micro_at *a, const struct visit_batch *b,
    const struct visit_insn *e, micro_fn *fn, void *arg)
{
	for (int store = 0; store < 2; store++) {
		for (uint32_t k = 0; k < e->nref; k++) {
			uint64_t ref = b->word[e->ref + k];

			if (!(store ? visit_writes(ref) : visit_reads(ref)))
				continue;
			a->op = &m->op[2 * store];
			micro_memory(a, b, e, k);
			fn(arg, a);
			a->first = 0;
		}
		if (store)
			break;
		a->op = &m->op[1];
		a->ref = 0;
		fn(arg, a);
		a->first = 0;
	}
}

void
micro_span(struct micros *t, const struct insns_span *s, micro_fn *fn, void *arg)
{
	struct visit_batch b = { .word = s->word };

	if (insns_signal(s))
		return;
	for (uint32_t i = 0; i < s->run.ninsn; i++) {
		struct visit_insn e = visit_insn(&s->run, i);
		const struct micro *m = micro_of(t, e.fact);
		struct micro_at a = { .fact = e.fact, .val = s->word + e.val, .next = insns_next(s, i), .first = 1 };

		if (e.fact->kind == FACT_STRING) {
			micro_string(m, s, &a, &b, &e, fn, arg);
			continue;
		}
		if (e.fact->kind == FACT_COUNTED) {
			micro_counted(m, &a, &b, &e, fn, arg);
			continue;
		}
		for (unsigned k = 0; k < m->n; k++) {
			a.op = &m->op[k];
			a.ref = 0;
			if (a.op->type == MICRO_LOAD || a.op->type == MICRO_STORE)
				micro_memory(&a, &b, &e, a.op->ref);
			else if (a.op->type == MICRO_BRANCH)
				a.kind = insns_kind(&t->kinds, e.fact);
			else if (a.op->nout && a.op->out[a.op->nout - 1].from == MICRO_FROM_STORE) {
				a.stored = visit_mem(&b, &e, a.op->out[a.op->nout - 1].at, 1);
				a.storedsize = ref_size(s->word[e.ref + a.op->out[a.op->nout - 1].at]);
			}
			fn(arg, &a);
			a.first = 0;
		}
	}
}

/* Up to 16 of n bytes. */
static void
micro_bytes(const uint8_t *p, unsigned n, uint64_t v[2])
{
	v[0] = v[1] = 0;
	if (p) {
		v[0] = get_le(p, n < 8 ? n : 8);
		v[1] = n > 8 ? get_le(p + 8, n < 16 ? n - 8 : 8) : 0;
	}
}

void
micro_value(const struct micro_at *a, unsigned i, uint64_t v[2])
{
	const struct micro_op *o = a->op;

	v[0] = v[1] = 0;
	switch (o->out[i].from) {
	case MICRO_VALUE:
		v[0] = a->val[o->out[i].at];
		if (o->out[i].reg == FACT_FLAGS)
			v[0] = fact_rflags(v[0]);
		else if (o->out[i].n > 1)
			v[1] = a->val[o->out[i].at + 1];
		break;
	case MICRO_FROM_LOAD: micro_bytes(a->mem, ref_size(a->ref), v); break;
	case MICRO_FROM_STORE: micro_bytes(a->stored, a->storedsize, v); break;
	case MICRO_RETURN: v[0] = a->fact->pc + a->fact->len; break;
	default: break;
	}
}
