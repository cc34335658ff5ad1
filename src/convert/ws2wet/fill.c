/*
 * ws2wet: fills the lists of some statements in one visit of the whole run.  The first visit
 * also records the statement and instance number of every instance of the run.
 */
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/mem.h"
#include "base/progress.h"
#include "convert/ws2wet/ws2wet.h"

#define CONTROL 0u                      /* the port of control, as struct unit counts ports */

/* Instruction i of a block has a list.  later: its further occurrences in the block. */
struct place { uint32_t unit; uint16_t i, later; };

/* The lists that need instructions of a block. */
struct want {
	struct place *place;            /* owned */
	uint32_t n;
};

struct pass {
	struct job *j;
	struct want *want;              /* by number of the block; owned */
	size_t nwant, capwant;
	struct unit *unit;
	size_t nunit;
	/* of each statement id - 1: its first unit in this pass, and their number; owned */
	uint32_t *first, *nof;
	int note;                       /* record the table */
	uint64_t last;
	uint64_t *parent;               /* of each instruction of a run: its control parent; owned */
	size_t capparent;
};

/* Finds the lists that need a block. */
static const struct want *
fill_block_wants(struct pass *p, const struct stmt_block *b)
{
	const struct stmts *t = &p->j->stmts;
	struct want *w;
	size_t cap = 0;

	if (b->num < p->nwant)
		return &p->want[b->num];
	p->want = mem_xgrow(p->want, &p->capwant, ++p->nwant, sizeof *p->want);
	w = &p->want[b->num];   /* blocks come in the order of their numbers */
	*w = (struct want){ 0 };
	for (uint32_t i = 0; i < b->n; i++) {
		uint32_t id = t->stmt[b->stmt[i]].id;
		uint16_t later = 0;             /* in a loop that is in the run more than once */

		for (uint32_t k = i + 1; id && k < b->n; k++)
			later = (uint16_t)(later + (b->stmt[k] == b->stmt[i]));
		for (uint32_t k = 0; id && k < p->nof[id - 1]; k++) {
			w->place = mem_xgrow(w->place, &cap, w->n + 1, sizeof *w->place);
			w->place[w->n++] = (struct place){ p->first[id - 1] + k, (uint16_t)i, later };
		}
	}
	return w;
}

static void
fill_add(struct unit *u, uint64_t x, uint64_t who)
{
	if (!u->slot[x]) {
		u->slot[x] = who;
		return;
	}
	u->more = mem_xgrow(u->more, &u->capmore, u->nmore + 1, sizeof *u->more);
	u->more[u->nmore++] = (struct more){ x, who };
}

static int
latest_first(const void *a, const void *b)
{
	uint64_t p = *(const uint64_t *)a, q = *(const uint64_t *)b;

	return p > q ? -1 : p < q;
}

/* Stores the writers of nw uses, without duplicates.  again: adds to the instance of the previous call. */
static void
fill_several(struct pass *p, struct unit *u, uint64_t x, const uint64_t *w, size_t nw,
    const struct visit_piece *piece, int again)
{
	static uint64_t *v;
	static size_t n, cap;
	uint64_t who, last = 0;

	if (!again)
		n = 0;
	for (size_t i = 0; i < nw; i++) {
		const struct visit_piece *q = &piece[w[i] & ~VISIT_MANY];

		do {
			v = mem_xgrow(v, &cap, n + 1, sizeof *v);
			v[n++] = w[i] & VISIT_MANY ? q->writer : w[i];
		} while (w[i] & VISIT_MANY && q++->more);
	}
	if (n)
		qsort(v, n, sizeof *v, latest_first);
	while (u->nmore && u->more[u->nmore - 1].x == x)
		u->nmore--;
	u->slot[x] = 0;
	for (size_t i = 0; i < n; i++) {
		if ((i && v[i] == v[i - 1]) || !(who = table_lookup(p->j, v[i])) || who == last)
			continue;
		if (!p->j->strict || !last)
			fill_add(u, x, who);
		last = who;
	}
}

static void
fill_use(struct pass *p, struct unit *u, uint64_t x, uint64_t w, const struct visit_piece *piece)
{
	if (w & VISIT_MANY)
		fill_several(p, u, x, &w, 1, piece, 0);
	else
		u->slot[x] = table_lookup(p->j, w);
}

static void
fill_value(const struct stmt *s, struct unit *u, uint64_t x, const uint64_t *word)
{
	if (s->nval == WPORT_FLAGS)
		u->slot[x] = fact_rflags(word[s->val]);
	else
		for (unsigned i = 0; i < s->nval; i++)
			u->slot[x * s->nval + i] = word[s->val + i];
}

/* Adds to one list, for instance x of instruction i. */
static void
fill_one(struct pass *p, const struct visit_run *r, const struct visit_batch *b, uint32_t i, struct unit *u,
    uint64_t x, uint64_t parent, int again)
{
	const struct stmt *s = &p->j->stmts.stmt[u->stmt];
	struct visit_insn e = visit_insn(r, i);
	const uint64_t *w = b->writer + e.use;

	if (u->port == NONE)
		fill_value(s, u, x, b->word + e.val);
	else if (u->port == CONTROL)
		fill_use(p, u, x, parent, NULL);
	else if (u->port <= s->nuse)
		fill_use(p, u, x, w[u->port - 1], b->piece);
	else if (!s->any)
		fill_use(p, u, x, w[u->port - 1], b->piece);
	else {
		size_t n = 0;

		for (uint32_t k = 0; k < e.nref; k++)
			n += (size_t)visit_reads(b->word[e.ref + k]);
		fill_several(p, u, x, w + s->nuse, n, b->piece, again);
	}
}

/* Numbers the instances of a block, and records them in the table. */
static void
fill_number_block(struct pass *p, const struct stmt_block *b)
{
	struct job *j = p->j;

	for (uint32_t i = 0; i < b->n; ) {
		const struct stmt *s = &j->stmts.stmt[b->stmt[i]];
		struct stmt_atom *a;

		if (!s->id) {
			if (p->note)
				table_gap(&j->table, 1);
			i++;
			continue;
		}
		if (s->atom == NONE || s->off || j->stmts.atom[s->atom].len > b->n - i)
			die("the replay differs from the one before");
		a = &j->stmts.atom[s->atom];
		if (a->count == UINT32_MAX)
			die("a statement is executed more than 4294967295 times");
		if (p->note)
			table_atom(&j->table, s->atom, a->count, a->len);
		a->count++;
		i += a->len;
	}
}

/* Handles instructions [lo, hi) of a run, which are in the region. */
static void
fill_take(struct pass *p, const struct visit_run *run, const struct visit_batch *v, uint32_t lo, uint32_t hi)
{
	struct job *j = p->j;
	struct visit_run r = *run;
	int again = r.n + lo <= p->last;        /* a string instruction continues */
	const struct stmt_block *b;
	const struct want *w;

	r.at += lo;
	r.n += lo;
	r.ninsn = hi - lo;
	if ((b = stmts_block(&j->stmts, &r)) == NULL)
		job_nomem();
	if (!again)
		fill_number_block(p, b);
	w = fill_block_wants(p, b);
	for (uint32_t k = 0; k < w->n; k++) {
		const struct place *at = &w->place[k];
		struct unit *u = &p->unit[at->unit];
		const struct stmt *s = &j->stmts.stmt[u->stmt];
		uint64_t x = j->stmts.atom[s->atom].count - 1u - at->later;

		if (!again || u->port == NONE || u->port > s->nuse)
			fill_one(p, run, v, lo + at->i, u, x, p->parent[lo + at->i], again);
	}
}

static void
fill_run(struct pass *p, const struct visit_run *r, const struct visit_batch *b, struct control *c)
{
	const struct job *j = p->j;
	uint64_t end = r->n + r->ninsn;

	p->parent = mem_xgrow(p->parent, &p->capparent, r->ninsn, sizeof *p->parent);
	if (control_run(c, r->at, r->ninsn, r->n, b->word + r->word, p->parent) != 0)
		job_nomem();
	if (end - 1 > j->from && r->n <= j->to) {
		if (r->at->fact->kind != FACT_SIGNAL)
			fill_take(p, r, b, r->n > j->from ? 0 : (uint32_t)(j->from + 1 - r->n),
			    end - 1 <= j->to ? r->ninsn : (uint32_t)(j->to + 1 - r->n));
		else if (p->note)
			table_repeat(&p->j->table);
	}
	p->last = end - 1;
}

void
fill_lists(struct job *j, struct unit *unit, size_t nunit)
{
	struct pass p = { .j = j, .unit = unit, .nunit = nunit, .note = j->table.ent == NULL };
	struct visit *v = job_visit(j, VISIT_WHAT | VISIT_WRITERS);
	struct control *c = control_new(&j->code);
	struct visit_batch b;
	int got = REPLAY_OK;

	if (!c)
		job_nomem();
	progress_stage("writing");
	if (p.note)
		table_new(&j->table, j->from, j->to - j->from);
	p.first = xcalloc((size_t)j->stmts.nid + 1, sizeof *p.first);
	p.nof = xcalloc((size_t)j->stmts.nid + 1, sizeof *p.nof);
	for (size_t i = nunit; i-- > 0;) {
		uint32_t id = j->stmts.stmt[unit[i].stmt].id;

		p.first[id - 1] = (uint32_t)i;
		p.nof[id - 1]++;
	}
	for (size_t i = 0; i < j->stmts.natom; i++)
		j->stmts.atom[i].count = 0;
	while (p.last < j->to && (got = visit_batch(v, &b)) == REPLAY_OK)
		for (size_t i = 0; i < b.nrun; i++)
			fill_run(&p, &b.run[i], &b, c);
	if (p.last < j->to && got == REPLAY_BAD)
		job_bad(j, replay_fault(visit_replay(v)));
	control_free(c);
	visit_close(v);
	stmts_forget(&j->stmts);
	for (size_t i = 0; i < p.nwant; i++)
		free(p.want[i].place);
	free(p.want);
	free(p.first);
	free(p.nof);
	free(p.parent);
}
