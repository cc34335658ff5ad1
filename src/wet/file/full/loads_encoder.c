/*
 * Writes files of kind loads: executes every statement again, as readers will, and compares the
 * result with the program's.
 */
#include <cpuid.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "wet/file/writer.h"

#define SSE 160u                        /* offset of xmm0 in XSAVE's standard format */
#define BV  512u                        /* offset of its header, which begins with XSTATE_BV */
#define OF  (UINT64_C(1) << 11)         /* overflow flag */
#define FRAME 16384u                    /* bytes of a signal's frame at most */

int
store_load_new(struct store_cap *c)
{
	c->load = aligned_alloc(alignof(struct store_load), sizeof *c->load);
	if (!c->load)
		return -1;
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
	col_free(&t->told);
	col_free(&t->lost);
	free(t);
}

int
store_load_add(struct store_cap *c, uint32_t s)
{
	const struct stmt *v = &c->stmts.stmt[s];
	int e = load_add(&c->load->l, v->pc, v->b, v->len);

	if (e < 0)
		return -1;
	if (e || load_nval(&c->load->l.stmt[s]) != stmt_words(v))
		return store_fail(c->out.f, 1, "an instruction that is not understood at 0x%llx",
		    (unsigned long long)v->pc);
	return 0;
}

static void
loads_encode_exception(struct store_cap *c, unsigned kind, const uint64_t *w, unsigned n)
{
	struct store_load *t = c->load;
	uint64_t at = c->seg.n + c->npath;

	col_add(&t->at, at - t->last);
	t->last = at;
	col_add(&t->kind, kind);
	for (unsigned i = 0; i < n; i++)
		col_add(&t->word, w[i]);
	c->out.stats.nwrong += kind != LOAD_FORGET;
}

/* Copies the words that the statement has defined. */
static void
loads_encode_defined(const struct load *l, const struct load_stmt *s, const uint64_t *word, uint64_t *to)
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

/* Copies the bytes that it has loaded. */
static void
loads_encode_loaded(const struct load_stmt *s, const struct visit_batch *b,
    const struct visit_insn *e, uint8_t *to)
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

/* Completes a pending string instruction: it does not continue. */
static void
loads_encode_settle(struct store_load *t)
{
	if (t->string)
		load_execute(&t->l, t->string - 1, t->w, 1);
	t->string = 0;
}

static void
loads_encode_tell(struct store_cap *c, uint32_t s, const uint64_t *w)
{
	unsigned n = c->load->l.stmt[s].nstored;

	if (!n)
		return;
	while (c->load->told.n <= s && !c->load->told.nomem)
		col_add(&c->load->told, 0);
	if (!c->load->told.nomem)
		c->load->told.v[s]++;
	col_add(&c->seg.val, s);
	for (unsigned i = 0; i < n; i++)
		col_add(&c->seg.val, w[i]);
}

static void
loads_encode_untell(struct store_cap *c, uint32_t s)
{
	unsigned n = c->load->l.stmt[s].nstored;

	if (!n || c->load->told.nomem || c->seg.val.nomem)
		return;
	c->load->told.v[s]--;
	c->seg.val.n -= n + 1;
}

/* Stores what the statement defines. */
static void
loads_encode_given(struct store_cap *c, const uint64_t *word, uint32_t s, int string, int again)
{
	struct store_load *t = c->load;
	uint64_t w[LOAD_WORDS] = { 0 };

	if (again)
		loads_encode_untell(c, s);
	loads_encode_defined(&t->l, &t->l.stmt[s], word, w);
	loads_encode_tell(c, s, w);
	if (!string) {
		load_execute(&t->l, s, w, 1);
		return;
	}
	memcpy(t->w, w, sizeof w);
	t->string = s + 1;
}

static void
loads_encode_executed(struct store_cap *c, const struct visit_batch *b,
    const struct visit_insn *e, uint32_t s)
{
	struct store_load *t = c->load;
	const struct load_stmt *v = &t->l.stmt[s];
	const uint64_t *word = b->word + e->val;
	uint64_t w[LOAD_WORDS] = { 0 }, have[LOAD_WORDS];
	int known = load_known(&t->l, s, have), right = 1;

	if (v->nload) {
		loads_encode_loaded(v, b, e, (uint8_t *)w);
		if (!known)
			loads_encode_tell(c, s, w);
		else if ((right = memcmp(have, w, 8u * v->nstored) == 0) == 0)
			loads_encode_exception(c, LOAD_LOADED, w, v->nstored);
	}
	load_execute(&t->l, s, w, right);
	if (as_defined(&t->l, v, word))
		return;
	loads_encode_defined(&t->l, v, word, w);
	load_set(&t->l, s, w);
	loads_encode_exception(c, LOAD_DEFINED, w, v->ndefword);
	t->wrong = 1;
}

void
store_load_statement(struct store_cap *c, const struct visit_batch *b, const struct visit_insn *e,
    uint32_t s, int again)
{
	struct store_load *t = c->load;
	const struct stmt *q = &c->stmts.stmt[s];
	const uint64_t *word = b->word + e->val;

	if (again)
		t->sum = t->before;
	else {
		loads_encode_settle(t);
		c->out.stats.nval += stmt_words(q);
		t->nval += stmt_words(q);
	}
	if (t->l.stmt[s].kind >= LOAD_STOS)
		loads_encode_given(c, word, s, q->any, again);
	else
		loads_encode_executed(c, b, e, s);
	t->before = t->sum;
	if (q->nval == WPORT_FLAGS)
		t->sum = load_sum(t->sum, fact_rflags(word[q->val]));
	else
		for (unsigned i = 0; i < q->nval; i++)
			t->sum = load_sum(t->sum, word[q->val + i]);
}

static void
loads_encode_lose(struct store_load *t, size_t run, uint64_t addr, uint64_t n)
{
	uint64_t *last = t->lost.v + t->lost.n;

	if (t->lost.n && last[-3] == run && last[-2] + last[-1] == addr) {
		last[-1] += n;
		return;
	}
	if (col_room(&t->lost, 3) != 0)
		return;
	col_add(&t->lost, run);
	col_add(&t->lost, addr);
	col_add(&t->lost, n);
}

static void
on_record(void *arg, const struct ws_rec *rec, size_t run, uint64_t n)
{
	struct store_load *t = arg;

	(void)n;
	switch (rec->kind) {
	case WS_MEM: loads_encode_lose(t, run, rec->u.mem.addr, rec->u.mem.n); break;
	case WS_MAP: loads_encode_lose(t, run, rec->u.map.addr, rec->u.map.len); break;
	case WS_UNMAP: loads_encode_lose(t, run, rec->u.range.addr, rec->u.range.len); break;
	case WS_MOVE:
		loads_encode_lose(t, run, rec->u.move.from, rec->u.move.oldlen);
		loads_encode_lose(t, run, rec->u.move.to, rec->u.move.newlen);
		break;
	case WS_SIG:
		loads_encode_lose(t, run, rec->u.sig.to.r[4], FRAME);
		t->wrong = 1;
		break;
	case WS_SYS: t->wrong |= rec->u.sys.nr == SYS_arch_prctl || rec->u.sys.nr == SYS_rt_sigreturn; break;
	default: break;
	}
}

void
store_load_run(struct store_cap *c, size_t run)
{
	struct store_load *t = c->load;

	for (; t->nlost < t->lost.n && t->lost.v[t->nlost] <= run; t->nlost += 3) {
		loads_encode_settle(t);
		loadmem_forget(&t->l.mem, t->lost.v[t->nlost + 1], t->lost.v[t->nlost + 2]);
		loads_encode_exception(c, LOAD_FORGET, &t->lost.v[t->nlost + 1], 2);
	}
}

/* Copies the vector registers of an XSAVE image. */
static void
loads_encode_vectors(const uint8_t *x, struct load_state *to)
{
	uint64_t bv;

	memcpy(&bv, x + BV, sizeof bv);
	memset(to->vec, 0, sizeof to->vec);
	memset(to->mask, 0, sizeof to->mask);
	for (unsigned i = 0; bv & 2 && i < 16; i++)
		memcpy(to->vec[i], x + SSE + 16 * i, 16);
	for (unsigned part = 2; part <= 7; part++) {
		unsigned size, at, a, d;

		if (!(bv >> part & 1) || part == 3 || part == 4 ||
		    !__get_cpuid_count(13, part, &size, &at, &a, &d) || at + size > 16384)
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
loads_encode_now(struct visit *v, struct load_state *to)
{
	const struct ws_regs *g = replay_regs(visit_replay(v));
	const uint8_t *x = replay_xsave(visit_replay(v));
	uint32_t mxcsr;

	memset(to, 0, sizeof *to);
	memcpy(to->r, g->r, sizeof to->r);
	to->seg[0] = g->fsbase;
	to->seg[1] = g->gsbase;
	to->flags = (g->rflags & 0xd5) << 8 | 0x200 | (g->rflags & OF ? 1 : 0);
	loads_encode_vectors(x, to);
	memcpy(&mxcsr, x + 24, sizeof mxcsr);
	to->mxcsr = load_mxcsr(mxcsr);
}

void
store_load_begin(struct store_cap *c, struct visit *v)
{
	loads_encode_now(v, &c->load->l.st);
	visit_set_record_fn(v, on_record, c->load);
	load_state_encode(&c->load->l.st, &c->key);
}

void
store_load_batch(struct store_cap *c, struct visit *v)
{
	struct load_state is, *st = &c->load->l.st;

	store_load_run(c, SIZE_MAX);
	c->load->lost.n = c->load->nlost = 0;
	if (!c->load->wrong || c->load->string)
		return;
	loads_encode_now(v, &is);
	for (unsigned reg = 0; reg < FACT_NREG; reg++) {
		uint16_t at = 0;
		unsigned n = load_state_offset(reg, &at);
		uint64_t w[8];

		if (memcmp((const uint8_t *)st + at, (const uint8_t *)&is + at, 8u * n) == 0)
			continue;
		memcpy(w, (const uint8_t *)&is + at, 8u * n);
		memcpy((uint8_t *)st + at, w, 8u * n);
		loads_encode_exception(c, reg + 1, w, n);
	}
	c->load->wrong = 0;
}

/* Writes the stored words by statement, and how often each statement has some. */
static int
loads_encode_words(struct store_cap *c)
{
	struct store_out *t = &c->out;
	const struct load_stmt *stmt = c->load->l.stmt;
	struct col *told = &c->load->told, v = { 0 }, key = { 0 }, n = { 0 };
	uint64_t *at = calloc(c->tab.nstmt + 1, sizeof *at), all = 0;
	uint8_t *run = calloc(c->tab.nstmt + 1, 1);
	int bad = !at || !run || c->seg.val.nomem || told->nomem || col_room(&v, c->seg.val.n) != 0 ||
	    col_room(&key, c->seg.val.n) != 0;

	while (!bad && told->n < c->tab.nstmt)
		col_add(told, 0);
	bad |= told->nomem;
	for (size_t i = 0; !bad && i < c->tab.npath; i++)
		for (uint32_t k = 0; c->seg.rank[i] && k < c->tab.path[i].n; k++)
			run[c->tab.seq[c->tab.path[i].first + k]] = 1;
	for (size_t s = 0; !bad && s < c->tab.nstmt; s++) {
		if (run[s] && stmt[s].nstored)
			col_add(&n, told->v[s]);
		at[s] = all;
		all += told->v[s] * stmt[s].nstored;
	}
	for (const uint64_t *p = c->seg.val.v, *end = p + c->seg.val.n; !bad && p < end; ) {
		uint64_t s = *p++;

		for (unsigned j = 0; j < stmt[s].nstored; j++) {
			v.v[at[s] + j * told->v[s]] = *p++;
			key.v[at[s] + j * told->v[s]] = s << 4 | j;
		}
		at[s]++;
	}
	v.n = key.n = all;
	bad = bad || store_col(t, &n, NULL) != 0 || store_col(t, &v, &key) != 0;
	free(at);
	free(run);
	col_free(&v);
	col_free(&key);
	col_free(&n);
	return bad ? -1 : 0;
}

int
store_load_val(struct store_cap *c)
{
	struct store_out *t = &c->out;
	struct store_load *l = c->load;

	loads_encode_settle(l);
	if (l->lost.nomem || l->l.mem.nomem || loads_encode_words(c) != 0 ||
	    store_col(t, &l->at, NULL) != 0 || store_col(t, &l->kind, NULL) != 0 ||
	    store_col(t, &l->word, NULL) != 0)
		return -1;
	col_put_number(&t->b, l->sum);
	l->at.n = l->kind.n = l->word.n = 0;
	l->last = l->sum = l->nval = 0;
	l->told.n = 0;
	load_begin(&l->l);
	return store_section(t, WETFILE_VAL, c->nseg, STORE_P_VAL);
}
