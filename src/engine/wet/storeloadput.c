/*
 * Writing files of kind loads: every statement is executed again as readers
 * will, and what comes out is compared with what the program had.
 */
#include <cpuid.h>
#include <stdlib.h>
#include <string.h>

#include "engine/wet/storepriv.h"

#define SSE 160u                        /* bytes of XSAVE's standard format */
#define BV  512u
#define OF  (UINT64_C(1) << 11)

int
store_load_new(struct store_cap *c)
{
	c->load = aligned_alloc(alignof(struct store_load), sizeof *c->load);
	if (!c->load)
		return store_nomem(c->out.f);
	memset(c->load, 0, sizeof *c->load);
	load_init(&c->load->l);
	c->tab.bytes = 1;
	return 0;
}

void
store_load_free(struct store_load *t)
{
	if (!t)
		return;
	load_free(&t->l);
	col_free(&t->at);
	col_free(&t->kind);
	col_free(&t->word);
	free(t);
}

int
store_load_add(struct store_cap *c, uint32_t s)
{
	const struct stmt *v = &c->stmts.stmt[s];
	int e = load_add(&c->load->l, v->pc, v->b, v->len);

	if (e < 0)
		return store_nomem(c->out.f);
	if (e || load_nval(&c->load->l.stmt[s]) != stmt_words(v))
		return store_fail(c->out.f, 1, "an instruction that is not understood at 0x%llx", (unsigned long long)v->pc);
	return 0;
}

static void
exception(struct store_cap *c, unsigned kind, const uint64_t *w, unsigned n)
{
	struct store_load *t = c->load;
	uint64_t at = c->seg.n + c->npath;

	col_add(&t->at, at - t->last);
	t->last = at;
	col_add(&t->kind, kind);
	for (unsigned i = 0; i < n; i++)
		col_add(&t->word, w[i]);
	t->wrong = 1;
	c->out.stats.nwrong++;
}

/* What it has defined, as words */
static void
defined(const struct load *l, const struct load_stmt *s, const uint64_t *word, uint64_t *to)
{
	const struct load_def *d = l->def + s->def;

	for (unsigned i = 0; i < s->ndef; to += d[i++].n)
		memcpy(to, word + d[i].val, 8u * d[i].n);
}

static int
as_defined(const struct load *l, const struct load_stmt *s, const uint64_t *word)
{
	const struct load_def *d = l->def + s->def;

	for (unsigned i = 0; i < s->ndef; i++)
		if (memcmp((const uint8_t *)&l->st + d[i].at, word + d[i].val, 8u * d[i].n) != 0)
			return 0;
	return 1;
}

/* What it has loaded */
static void
loaded(const struct load_stmt *s, const struct visit_batch *b, const struct visit_insn *e, uint8_t *to)
{
	unsigned at = 0;

	for (uint32_t i = 0; i < e->nref && at < s->nload; i++) {
		const uint8_t *p = visit_mem(b, e, i, 0);
		unsigned n = ref_size(b->word[e->ref + i]);

		if (!p)
			continue;
		n = n < s->nload - at ? n : s->nload - at;
		memcpy(to + at, p, n);
		at += n;
	}
}

void
store_load_statement(struct store_cap *c, const struct visit_batch *b, const struct visit_insn *e, uint32_t s, int again)
{
	struct store_load *t = c->load;
	const struct load_stmt *v = &t->l.stmt[s];
	const struct stmt *q = &c->stmts.stmt[s];
	const uint64_t *word = b->word + e->val;
	uint64_t w[LOAD_WORDS] = { 0 };

	if (again) {
		c->seg.val.n -= v->nstored;
		t->sum = t->before;
	}
	if (v->kind == LOAD_GIVEN)
		defined(&t->l, v, word, w);
	else if (v->nload)
		loaded(v, b, e, (uint8_t *)w);
	for (unsigned i = 0; i < v->nstored; i++)
		col_add(&c->seg.val, w[i]);
	load_do(&t->l, s, w);
	if (!as_defined(&t->l, v, word)) {
		defined(&t->l, v, word, w);
		load_set(&t->l, s, w);
		exception(c, 0, w, v->ndefword);
	}
	t->before = t->sum;
	c->out.stats.nval += stmt_words(q);
	if (q->nval == WPORT_FLAGS)
		t->sum = load_sum(t->sum, fact_rflags(word[q->val]));
	else
		for (unsigned i = 0; i < q->nval; i++)
			t->sum = load_sum(t->sum, word[q->val + i]);
}

/* The vectors of an XSAVE image */
static void
vectors(const uint8_t *x, struct load_state *to)
{
	uint64_t bv;

	memcpy(&bv, x + BV, sizeof bv);
	memset(to->vec, 0, sizeof to->vec);
	memset(to->mask, 0, sizeof to->mask);
	for (unsigned i = 0; bv & 2 && i < 16; i++)
		memcpy(to->vec[i], x + SSE + 16 * i, 16);
	for (unsigned part = 2; part <= 7; part++) {
		unsigned size, at, a, d;

		if (!(bv >> part & 1) || part == 3 || part == 4 || !__get_cpuid_count(13, part, &size, &at, &a, &d) || at + size > 16384)
			continue;
		for (unsigned i = 0; i < 16; i++)
			switch (part) {
			case 2: memcpy(to->vec[i] + 16, x + at + 16 * i, 16); break;
			case 5: memcpy(&to->mask[i & 7], x + at + 8 * (i & 7), 8); break;
			case 6: memcpy(to->vec[i] + 32, x + at + 32 * i, 32); break;
			default: memcpy(to->vec[16 + i], x + at + 64 * i, 64);
			}
	}
}

static void
now(struct visit *v, struct load_state *to)
{
	const struct ws_regs *g = replay_regs(visit_replay(v));
	const uint8_t *x = replay_xsave(visit_replay(v));
	uint32_t mxcsr;

	memset(to, 0, sizeof *to);
	memcpy(to->r, g->r, sizeof to->r);
	to->flags = (g->rflags & 0xd5) << 8 | 0x200 | (g->rflags & OF ? 1 : 0);
	vectors(x, to);
	memcpy(&mxcsr, x + 24, sizeof mxcsr);
	to->mxcsr = load_mxcsr(mxcsr);
}

void
store_load_begin(struct store_cap *c, struct visit *v)
{
	now(v, &c->load->l.st);
	load_put_state(&c->load->l.st, &c->key);
}

void
store_load_batch(struct store_cap *c, struct visit *v)
{
	struct load_state is, *st = &c->load->l.st;

	if (!c->load->wrong)
		return;
	now(v, &is);
	for (unsigned reg = 0; reg < FACT_NREG; reg++) {
		uint16_t at = 0;
		unsigned n = load_place(reg, &at);
		uint64_t w[8];

		if (memcmp((const uint8_t *)st + at, (const uint8_t *)&is + at, 8u * n) == 0)
			continue;
		memcpy(w, (const uint8_t *)&is + at, 8u * n);
		memcpy((uint8_t *)st + at, w, 8u * n);
		exception(c, reg + 1, w, n);
	}
	c->load->wrong = 0;
}

/* Where what is stored of each statement is in VAL; NULL without memory */
struct place { uint64_t at, n; };

static struct place *
places(const struct store_cap *c)
{
	struct place *p = calloc(c->tab.nstmt + 1, sizeof *p);
	uint64_t at = 0;

	for (size_t i = 0; p && i < c->tab.npath; i++)
		for (uint32_t k = 0; c->seg.rank[i] && k < c->tab.path[i].n; k++)
			p[c->tab.seq[c->tab.path[i].first + k]].n += c->seg.rank[i];
	for (size_t i = 0; p && i < c->tab.nstmt; i++) {
		p[i].at = at;
		at += p[i].n * c->load->l.stmt[i].nstored;
	}
	return p;
}

static int
words(struct store_cap *c)
{
	struct store_out *t = &c->out;
	struct place *p = places(c);
	struct col v = { 0 }, key = { 0 };
	const uint64_t *from = c->seg.val.v;
	int bad = !p || c->seg.val.nomem || col_room(&v, c->seg.val.n) != 0 || col_room(&key, c->seg.val.n) != 0;

	for (size_t i = 0; !bad && i < c->seg.path.n; i++) {
		const struct store_path *path = &c->tab.path[c->seg.path.v[i]];

		for (uint32_t k = 0; k < path->n; k++) {
			uint32_t s = c->tab.seq[path->first + k];

			for (unsigned j = 0; j < c->load->l.stmt[s].nstored; j++) {
				v.v[p[s].at + j * p[s].n] = *from++;
				key.v[p[s].at + j * p[s].n] = (uint64_t)s << 4 | j;
			}
			p[s].at++;
		}
	}
	v.n = key.n = c->seg.val.n;
	bad = bad || col_put(&t->b, t->work, t->o->level, &v, &key) != 0;
	free(p);
	col_free(&v);
	col_free(&key);
	return bad ? -1 : 0;
}

int
store_load_val(struct store_cap *c)
{
	struct store_out *t = &c->out;
	struct store_load *l = c->load;

	if (words(c) != 0 || col_put(&t->b, t->work, t->o->level, &l->at, NULL) != 0 || col_put(&t->b, t->work, t->o->level, &l->kind, NULL) != 0 ||
	    col_put(&t->b, t->work, t->o->level, &l->word, NULL) != 0)
		return store_nomem(t->f);
	col_put_number(&t->b, l->sum);
	l->at.n = l->kind.n = l->word.n = 0;
	l->last = l->sum = 0;
	memset(l->l.saved, 0, sizeof l->l.saved);
	return store_section(t, WETFILE_VAL, c->nseg, STORE_P_VAL);
}
