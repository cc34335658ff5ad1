/* Computes one-bit labels of a capture and writes them. */
#include <stdlib.h>
#include <string.h>

#include "base/progress.h"
#include "wet/file/writer.h"

#define SECTION (1u << 22)              /* bytes of labels in a section, and of one statement */
/* depth of nested signal handlers whose interrupted branches are kept */
#define SIGNALS 64u

/* The previous branch: statement + 1 (0: none), its instance, and the fall-through address. */
struct pending { uint64_t next; uint32_t stmt, x; };

struct label {
	struct store_out *out;
	struct arch *arch;
	struct stmts stmts;
	struct arch_stmt *s;            /* by statement id - 1; owned */
	size_t nstmt, cap;
	size_t (*room)[ARCH_NKINDS];    /* bytes allocated for its bits; owned */
	size_t caproom;
	struct pending p, saved[SIGNALS];
	unsigned depth;
	uint64_t last;
};

/* Is it a conditional jump? */
static int
labels_conditional(const struct fact *f)
{
	unsigned i = 0;

	while (i + 1u < f->len &&
	    (f->b[i] == 0x66 || f->b[i] == 0x67 || f->b[i] == 0xf2 || f->b[i] == 0xf3 || f->b[i] == 0x2e ||
		f->b[i] == 0x3e || (f->b[i] & 0xf0) == 0x40))
		i++;
	return (f->b[i] & 0xf0) == 0x70 || (f->b[i] & 0xfc) == 0xe0 ||
	    (f->b[i] == 0x0f && i + 1u < f->len && (f->b[i + 1] & 0xf0) == 0x80);
}

/* Sets the label of instance x of a statement.  0, or -1: no memory. */
static int
labels_mark(struct label *t, uint32_t stmt, uint32_t x, enum arch_kind k, int bit)
{
	struct arch_stmt *s = &t->s[stmt];
	size_t had = t->room[stmt][k];

	s->kinds |= (uint8_t)(1u << k);
	if (x / 8 >= had) {
		if (buf_grow(&s->bits[k], &t->room[stmt][k], x / 8 + 1, 1) != 0)
			return -1;
		memset(s->bits[k] + had, 0, t->room[stmt][k] - had);
	}
	s->bits[k][x / 8] |= (uint8_t)(bit << x % 8);
	return 0;
}

static int
labels_references(struct label *t, const struct visit_batch *b, const struct visit_insn *e, uint32_t stmt)
{
	for (uint32_t i = 0; i < e->nref; i++) {
		uint64_t w = b->word[e->ref + i];
		int miss = arch_access(t->arch, ref_addr(w), ref_size(w));

		if (visit_reads(w) && labels_mark(t, stmt, t->s[stmt].count - 1, ARCH_LOAD, miss) != 0)
			return -1;
		if (visit_writes(w) &&
		    labels_mark(t, stmt, t->s[stmt].count - 1, ARCH_STORE, miss && !visit_reads(w)) != 0)
			return -1;
	}
	return 0;
}

/* Evaluates the previous branch, now that the next instruction is known. */
static int
labels_decided(struct label *t, uint64_t pc)
{
	struct pending p = t->p;
	const struct stmt *s;

	if (!p.stmt)
		return 0;
	t->p.stmt = 0;
	s = &t->stmts.stmt[p.stmt - 1];
	return labels_mark(t, p.stmt - 1, p.x, ARCH_BRANCH, arch_branch(t->arch, s->pc, pc != p.next));
}

/* A branch that is interrupted by a signal continues after its handler. */
static void
labels_interrupted(struct label *t, int arrives)
{
	if (arrives) {
		if (t->depth < SIGNALS)
			t->saved[t->depth] = t->p;
		t->depth++;
		t->p.stmt = 0;
	} else if (t->depth && --t->depth < SIGNALS)
		t->p = t->saved[t->depth];
}

static int
labels_run(struct label *t, const struct visit_batch *b, const struct visit_run *r)
{
	const struct stmt_block *k;
	int again = r->n <= t->last;

	t->last = r->n + r->ninsn - 1;
	if (r->at->fact->kind == FACT_SIGNAL) {
		labels_interrupted(t, b->word[r->word] != 0);
		return 0;
	}
	if ((k = stmts_block(&t->stmts, r)) == NULL ||
	    buf_grow(&t->s, &t->cap, t->stmts.n, sizeof *t->s) != 0 ||
	    buf_grow(&t->room, &t->caproom, t->stmts.n, sizeof *t->room) != 0)
		return -1;
	for (; t->nstmt < t->stmts.n; t->nstmt++) {
		t->s[t->nstmt] = (struct arch_stmt){ .id = (uint32_t)t->nstmt + 1 };
		memset(t->room[t->nstmt], 0, sizeof *t->room);
	}
	for (uint32_t i = 0; i < k->n; i++) {
		struct visit_insn e = visit_insn(r, i);
		uint32_t s = k->stmt[i];

		t->s[s].count += !again;
		if (labels_decided(t, e.fact->pc) != 0 || labels_references(t, b, &e, s) != 0)
			return -1;
		if (!labels_conditional(e.fact))
			continue;
		t->p = (struct pending){ e.fact->pc + e.fact->len, s + 1, t->s[s].count - 1 };
		if (labels_mark(t, s, t->p.x, ARCH_BRANCH, 0) != 0)
			return -1;
	}
	return 0;
}

/* Writes the labels of statements from..to as a section. */
static int
labels_section(struct label *t, uint32_t from, uint32_t to, uint32_t number)
{
	struct store_out *o = t->out;
	const uint64_t *p = &o->o->arch->history;
	struct col c[3] = { 0 }, bytes = { 0 };
	uint32_t last = 0;
	int bad = 0;

	for (unsigned i = 0; i < sizeof *o->o->arch / sizeof *p; i++)
		col_put_number(&o->b, p[i]);
	for (uint32_t s = from; s < to; s++)
		if (t->s[s].kinds) {
			col_add(&c[0], s - last);
			col_add(&c[1], t->s[s].kinds);
			col_add(&c[2], t->s[s].count);
			last = s;
		}
	for (unsigned i = 0; i < 3; i++) {
		bad |= store_col(o, &c[i], NULL);
		col_free(&c[i]);
	}
	for (uint32_t s = from; s < to && !bad; s++)
		for (unsigned k = 0; k < ARCH_NKINDS; k++) {
			o->stats.arch.ones[k] += arch_ones(&t->s[s], k);
			o->stats.arch.bits[k] += t->s[s].kinds >> k & 1 ? t->s[s].count : 0;
			for (uint32_t i = 0; t->s[s].kinds >> k & 1 && i < (t->s[s].count + 7) / 8; i++) {
				col_add(&bytes, t->s[s].bits[k][i]);
				if (bytes.n == COL_MAX) {
					bad |= store_col(o, &bytes, NULL);
					bytes.n = 0;
				}
			}
		}
	bad |= bytes.n && store_col(o, &bytes, NULL);
	bad |= bytes.nomem;
	col_free(&bytes);
	return bad ? -1 : store_section(o, WETFILE_ARCH, number, STORE_P_ARCH);
}

static int
labels_sections(struct label *t)
{
	uint64_t bytes = 0;
	uint32_t from = 0, n = 0;

	for (uint32_t s = 0; s < t->nstmt; s++) {
		/* its last instances may have no such label */
		for (unsigned k = 0; k < ARCH_NKINDS; k++)
			if (t->s[s].kinds >> k & 1 &&
			    labels_mark(t, s, t->s[s].count - 1, (enum arch_kind)k, 0) != 0)
				return -1;
		bytes += (uint64_t)(unsigned)__builtin_popcount(t->s[s].kinds) * ((t->s[s].count + 7) / 8);
		if (bytes < SECTION && s + 1 < t->nstmt)
			continue;
		if (labels_section(t, from, s + 1, n++) != 0)
			return -1;
		from = s + 1;
		bytes = 0;
	}
	return 0;
}

int
store_arch(struct store_out *out, const char *capture, size_t nstmt)
{
	struct fault rf;
	struct visit *v = visit_open(capture, 0, &rf);
	struct label t = { .out = out, .arch = arch_new(out->o->arch) };
	struct visit_batch b;
	int got = REPLAY_OK, bad;

	if (!v) {
		arch_free(t.arch);
		return store_fail_replay(out->f, &rf);
	}
	progress_stage("labels");
	bad = !t.arch;
	while (!bad && (got = visit_batch(v, &b)) == REPLAY_OK)
		for (size_t i = 0; !bad && i < b.nrun; i++)
			bad = labels_run(&t, &b, &b.run[i]) != 0;
	if (!bad && got == REPLAY_BAD)
		bad = store_fail_replay(out->f, replay_fault(visit_replay(v)));
	if (!bad && t.nstmt != nstmt)
		bad = store_fail(out->f, 1, "the replay differs from the one before");
	if (!bad)
		bad = labels_sections(&t);
	for (size_t i = 0; i < t.nstmt; i++)
		for (unsigned k = 0; k < ARCH_NKINDS; k++)
			free(t.s[i].bits[k]);
	free(t.s);
	free(t.room);
	stmts_free(&t.stmts);
	arch_free(t.arch);
	visit_close(v);
	return bad ? -1 : 0;
}
