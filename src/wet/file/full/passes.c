/* Writes a .wet file of kind full or loads from a capture, in two passes. */
#include <stdlib.h>
#include <string.h>

#include "base/progress.h"
#include "cfg/source.h"
#include "replay/guest/code_reader.h"
#include "replay/itrace/code_finder.h"
#include "wet/file/writer.h"

struct maps { struct wsource *src; int nomem; };

static void
pass_mapped(void *arg, const struct ws_rec_map *m)
{
	struct maps *t = arg;

	t->nomem |= wsource_map(t->src, m) != 0;
}

/* Adds the instructions of a batch to the statements. */
static int
first_batch(struct store_cap *c, const struct visit_batch *b)
{
	for (const struct visit_run *r = b->run; r < b->run + b->nrun; r++) {
		int count = r->at->fact->kind != FACT_SIGNAL && r->n > c->last;

		c->last = r->n + r->ninsn - 1;
		if (count && !stmts_block(&c->stmts, r))
			return -1;
	}
	return 0;
}

/* All statements are known: reports files that are missing. */
static void
pass_names(struct store_cap *c, struct wsource *src)
{
	const char *what;

	for (uint32_t s = 0; s < c->stmts.n; s++)
		wsource_code(src, c->stmts.stmt[s].pc, c->stmts.stmt[s].b, c->stmts.stmt[s].len);
	while (c->out.o->note && (what = wsource_complaint(src)) != NULL)
		c->out.o->note(c->out.o->notearg, what);
}

int
store_first_pass(struct store_cap *c, const char *capture, struct wsource *src, int tab)
{
	struct fault rf;
	struct visit *v = c->visit = visit_open(capture, c->what, &rf);
	struct wcode_visit *t = v ? wcode_visit_new(&c->code) : NULL;
	struct wcode_replay m = { 0 };
	struct maps maps = { .src = src };
	struct visit_batch b;
	int got = REPLAY_OK, bad = 0;

	if (!v)
		return store_fail_replay(c->out.f, &rf);
	wsource_inlined(src);
	progress_stage("finding code");
	visit_prepare_second(v);
	m.r = visit_replay(v);
	wcode_init(&c->code, wcode_read_replay, &m);
	replay_set_map_fn(visit_replay(v), pass_mapped, &maps);
	bad = !t;
	while (!bad && (got = visit_batch(v, &b)) == REPLAY_OK) {
		wcode_replay_invalidate(&m);
		bad = wcode_visit_batch(t, &b) != 0 || first_batch(c, &b) != 0;
	}
	bad |= maps.nomem;
	if (!bad && replay_early(visit_replay(v)))
		c->out.stats.early = *replay_early(visit_replay(v));
	/* the second pass reports faults, unless nothing came before this one */
	if (!bad && got == REPLAY_BAD && !c->stmts.n)
		bad = store_fail_replay(c->out.f, replay_fault(visit_replay(v)));
	bad = bad || wcode_analyse(&c->code) != 0 || stmts_atoms(&c->stmts) != 0;
	if (!bad && !c->out.o->given)
		pass_names(c, src);
	for (uint32_t s = 0; !bad && tab && s < c->stmts.n; s++)
		bad = store_statement_add(c, s, src);
	wcode_visit_free(t);
	replay_set_map_fn(visit_replay(v), NULL, NULL);
	return bad;
}

struct visit *
store_second_pass_open(struct store_cap *c, const char *capture)
{
	struct fault rf;

	c->last = 0;
	if (visit_begin_second(c->visit) == REPLAY_OK)
		return c->visit;
	stmts_forget(&c->stmts);
	visit_close(c->visit);
	if ((c->visit = visit_open(capture, c->what, &rf)) == NULL)
		store_fail_replay(c->out.f, &rf);
	return c->visit;
}

void
store_second_pass_close(struct store_cap *c)
{
	stmts_forget(&c->stmts);
	visit_close(c->visit);
	c->visit = NULL;
}

/*
 * Numbers the instances of a block.  Its end need not be that of a block in the first pass: it
 * may be amid an atom, which the next block continues.
 */
static int
pass_number_block(struct store_cap *c, const struct stmt_block *b)
{
	for (uint32_t i = 0; i < b->n; ) {
		const struct stmt *s = &c->stmts.stmt[b->stmt[i]];
		struct stmt_atom *a = s->atom == STMT_NONE ? NULL : &c->stmts.atom[s->atom];

		if (!a || (c->rest ? s->off != a->len - c->rest : s->off))
			return store_fail(c->out.f, 1, "the replay differs from the one before");
		if (!c->rest) {
			if (who_atom(&c->who, s->atom, a->count++, a->len) != 0)
				return -1;
			c->rest = a->len;
		}
		if (c->rest > b->n - i) {
			c->rest -= b->n - i;
			break;
		}
		i += c->rest;
		c->rest = 0;
	}
	return 0;
}

static int
full_pass_run(struct store_cap *c, struct control *t, const struct visit_run *r, const struct visit_batch *b,
    struct wsource *src)
{
	const struct stmt_block *k;
	int again = r->n <= c->last;

	if (buf_grow(&c->parent, &c->capparent, r->ninsn, sizeof *c->parent) != 0 ||
	    control_run(t, r->at, r->ninsn, r->n, b->word + r->word, c->parent) != 0)
		return -1;
	c->last = r->n + r->ninsn - 1;
	if (r->at->fact->kind == FACT_SIGNAL) {
		c->string = 0;
		return who_same(&c->who);
	}
	if ((k = stmts_block(&c->stmts, r)) == NULL)
		return -1;
	if (again)
		return store_string_again(c, b, r, k->stmt[0]);
	if (pass_number_block(c, k) != 0)
		return -1;
	for (uint32_t i = 0; i < k->n; i++) {
		if (k->stmt[i] == c->tab.nstmt && store_statement_add(c, k->stmt[i], src) != 0)
			return -1;
		if (k->stmt[i] >= c->tab.nstmt)
			return store_fail(c->out.f, 1, "the replay differs from the one before");
		if (store_statement(c, b, r, i, k->stmt[i]) != 0)
			return -1;
	}
	return 0;
}

/* Enumerates instances that may still be asked for. */
struct live { struct store_cap *c; struct visit *v; struct control *t; };

static void
pass_live(void *arg, visit_writer_fn *keep, void *to)
{
	const struct live *l = arg;

	visit_writers(l->v, keep, to);
	control_parents(l->t, keep, to);
	for (size_t i = 0; l->c->string && i < l->c->raw.n; i++)
		keep(to, l->c->raw.v[i]);
}

static int
second_pass(struct store_cap *c, const char *capture, struct wsource *src)
{
	struct visit *v = store_second_pass_open(c, capture);
	struct control *t = v ? control_new(&c->code) : NULL;
	struct visit_batch b;
	int got = REPLAY_OK, bad = 0;

	if (!v)
		return -1;
	progress_stage("compressing");
	bad = !t;
	if (c->load)
		store_load_begin(c, v);
	while (!bad && (got = visit_batch(v, &b)) == REPLAY_OK) {
		for (size_t i = 0; !bad && i < b.nrun; i++) {
			if (c->load)
				store_load_run(c, i);
			bad = full_pass_run(c, t, &b.run[i], &b, src);
		}
		if (c->load)
			store_load_batch(c, v);
		if (!bad && !c->rest && who_full(&c->who, c->out.o->segment))
			bad = who_forget(&c->who, &c->stmts, pass_live, &(struct live){ c, v, t }) != 0;
	}
	if (!bad && c->npath)
		bad = store_path_end(c);
	if (!bad)
		bad = store_segment(c);
	if (!bad && got == REPLAY_BAD)          /* what came before the fault is in the file */
		bad = store_fail_replay(c->out.f, replay_fault(visit_replay(v)));
	control_free(t);
	store_second_pass_close(c);
	return bad;
}

static int
pass_start(struct store_cap *c)
{
	c->count = calloc(c->stmts.n + 1, sizeof *c->count);
	c->begin = calloc(c->stmts.n + 1, sizeof *c->begin);
	if (!c->count || !c->begin || model_init(&c->model, &c->tab) != 0 ||
	    buf_grow(&c->trie, &c->captrie, 1, sizeof *c->trie) != 0)
		return -1;
	c->trie[c->ntrie++] = (struct trie){ 0 };
	model_save(&c->model, &c->key);
	return 0;
}

void
store_cap_free(struct store_cap *c)
{
	store_second_pass_close(c);
	segment_free(&c->seg);
	store_addr_free(&c->addr);
	store_out_free(&c->out);
	store_code_free(&c->tab);
	stmts_free(&c->stmts);
	who_free(&c->who);
	wcode_free(&c->code);
	model_free(&c->model);
	memdep_free(&c->dep);
	col_free(&c->many);
	col_free(&c->list);
	col_free(&c->raw);
	buf_free(&c->key);
	free(c->count);
	free(c->trie);
	free(c->begin);
	free(c->parent);
	store_load_free(c->load);
	free(c);
}

static int
pass_store(const char *capture, struct wetfile_writer *w, const struct store_opts *o, struct fault *f,
    int loads)
{
	struct store_cap *c = calloc(1, sizeof *c);
	struct wsource *src = wsource_new(capture);
	int bad;

	f->err[0] = '\0';
	if (!c || !src) {
		free(c);
		wsource_free(src);
		return fault_nomem(f);
	}
	c->what = VISIT_WRITERS | (loads ? VISIT_MEMORY : 0u);
	bad = store_out_init(&c->out, w, o, f, o->threads) != 0 || (loads && store_load_new(c) != 0) ||
	    store_first_pass(c, capture, src, 0) != 0 || pass_start(c) != 0 ||
	    second_pass(c, capture, src) != 0;
	if (!bad && o->arch)
		bad = store_arch(&c->out, capture, c->tab.nstmt);
	bad = bad || store_finish(&c->out, &c->out.stats.early) != 0;
	if (o->stats)
		*o->stats = c->out.stats;
	store_cap_free(c);
	wsource_free(src);
	return bad ? fault_nomem(f) : 0;
}

int
store_full(const char *capture, struct wetfile_writer *w, const struct store_opts *o, struct fault *f)
{
	return pass_store(capture, w, o, f, 0);
}

int
store_loads(const char *capture, struct wetfile_writer *w, const struct store_opts *o, struct fault *f)
{
	return pass_store(capture, w, o, f, 1);
}
