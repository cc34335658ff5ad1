/* Writes a .wet file of kind replay: the capture, and the state of the run before each segment. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/progress.h"
#include "cfg/source.h"
#include "format/ws/kept.h"
#include "wet/file/writer.h"

#define PIECE ((size_t)1 << 20)         /* bytes of the capture in a section */

static int
put_code(struct store_cap *c)
{
	const struct store_mark none = { 0 };

	if (store_code_encode(&c->tab, &none, &c->out, c->out.o->level) != 0)
		return -1;
	return store_section(&c->out, WETFILE_CODE, 0, STORE_P_CODE);
}

/* The sections of the capture. */
struct cap_out {
	struct store_out *t;
	uint32_t n;
};

static int
cap_section(struct cap_out *c)
{
	int bad = store_section(c->t, WETFILE_CAP, c->n++, STORE_P_CAP);

	c->t->b.n = 0;
	return bad ? EIO : 0;
}

static int
cap_write(void *arg, const void *p, size_t n)
{
	struct cap_out *c = arg;
	const char *from = p;

	while (n) {
		size_t k = PIECE - c->t->b.n < n ? PIECE - c->t->b.n : n;
		int e;

		buf_add(&c->t->b, from, k);
		from += k;
		n -= k;
		if (c->t->b.nomem)
			return ENOMEM;
		if (c->t->b.n == PIECE && (e = cap_section(c)) != 0)
			return e;
	}
	return 0;
}

/* The files that it keeps go with it. */
static int
replay_file_kept(int fd, struct cap_out *to, struct fault *f)
{
	int whole;
	struct ws_runs *t = ws_runs_read(fd, &whole, f);
	int bad = !t || ws_kept_copy(t, fd, cap_write, to, f) != 0;

	ws_runs_free(t);
	return bad ? -1 : 0;
}

static int
put_capture(struct store_cap *c, const char *capture)
{
	struct store_out *t = &c->out;
	struct cap_out to = { .t = t };
	struct fault f;
	size_t run = 0;
	int fd = ws_keep_open_path(capture, &run), bad;

	if (fd < 0)
		return store_fail(t->f, 1, "%s", strerror(errno));
	t->b.n = 0;
	bad = ws_run_copy(fd, run, cap_write, &to, &f) != 0 || replay_file_kept(fd, &to, &f) != 0;
	if (bad && !t->f->err[0])
		store_fail(t->f, 1, "%s", f.err);
	if (!bad && (t->b.n || !to.n))
		bad = cap_section(&to) != 0;
	close(fd);
	return bad ? -1 : 0;
}

/* Writes the segment that begins with the state in c->key, with the executions of each statement in it. */
static int
put_state(struct store_cap *c)
{
	struct store_out *t = &c->out;
	int bad;

	buf_add(&t->b, c->key.p, c->key.n);
	if (store_section(t, WETFILE_KEY, c->nseg, STORE_P_KEY) != 0)
		return -1;
	bad = store_sparse(t, c->count, c->stmts.n, t->o->level) != 0;
	memset(c->count, 0, c->stmts.n * sizeof *c->count);
	return bad ? -1 : store_section(t, WETFILE_RANK, c->nseg++, STORE_P_RANK);
}

static int
replay_file_state(struct store_cap *c, const struct control *k, uint64_t instances)
{
	struct buf b = BUF_INIT;
	struct col bytes = { 0 };
	int bad;

	control_save(k, &b);
	for (size_t i = 0; i < b.n; i++)
		col_add(&bytes, b.p[i]);
	c->key.n = 0;
	col_put_number(&c->key, instances);
	col_put_number(&c->key, c->out.stats.nstmt);
	bad = b.nomem || col_put(&c->key, c->out.work, c->out.o->level, &bytes, NULL) != 0;
	buf_free(&b);
	col_free(&bytes);
	return bad ? -1 : 0;
}

static int
replay_file_run(struct store_cap *c, struct control *k, const struct visit_run *r,
    const struct visit_batch *b)
{
	int again = r->n <= c->last;
	const struct stmt_block *s;

	if (!again && c->seg.n >= c->out.o->segment) {
		if (put_state(c) != 0 || replay_file_state(c, k, r->n - 1) != 0)
			return -1;
		c->seg.n = 0;
	}
	if (control_run(k, r->at, r->ninsn, r->n, b->word + r->word, NULL) != 0)
		return -1;
	c->last = r->n + r->ninsn - 1;
	if (r->at->fact->kind == FACT_SIGNAL || again)
		return 0;
	if ((s = stmts_block(&c->stmts, r)) == NULL)
		return -1;
	for (uint32_t i = 0; i < s->n; i++)
		c->count[s->stmt[i]]++;
	c->seg.n += s->n;
	c->out.stats.nstmt += s->n;
	return 0;
}

static int
replay_file_states(struct store_cap *c, const char *capture)
{
	struct visit *v = store_second_pass_open(c, capture);
	struct control *k = v ? control_new(&c->code) : NULL;
	struct visit_batch b;
	int got = REPLAY_OK, bad;

	if (!v)
		return -1;
	progress_stage("compressing");
	c->count = calloc(c->stmts.n + 1, sizeof *c->count);
	bad = k && c->count ? replay_file_state(c, k, 0) : -1;
	while (!bad && (got = visit_batch(v, &b)) == REPLAY_OK)
		for (size_t i = 0; !bad && i < b.nrun; i++)
			bad = replay_file_run(c, k, &b.run[i], &b);
	if (!bad)
		bad = put_state(c);
	if (!bad && got == REPLAY_BAD)
		bad = store_fail_replay(c->out.f, replay_fault(visit_replay(v)));
	c->out.stats.nsegment = c->nseg;
	control_free(k);
	store_second_pass_close(c);
	return bad;
}

int
store_replay(const char *capture, struct wetfile_writer *w, const struct store_opts *o, struct fault *f)
{
	struct store_cap *c = calloc(1, sizeof *c);
	struct wsource *src = wsource_new(capture);
	int bad;

	f->err[0] = '\0';
	bad = !c || !src || store_out_init(&c->out, w, o, f, 1) != 0 ||
	    store_first_pass(c, capture, src, 1) != 0 || put_code(c) != 0 || put_capture(c, capture) != 0 || replay_file_states(c, capture) != 0;
	bad = bad || store_finish(&c->out, &c->out.stats.early) != 0;
	if (c && o->stats)
		*o->stats = c->out.stats;
	if (c)
		store_cap_free(c);
	wsource_free(src);
	return bad ? fault_nomem(f) : 0;
}
