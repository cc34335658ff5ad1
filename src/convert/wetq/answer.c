/* wetq: answers questions about statements, control flow, values and addresses. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/mem.h"
#include "convert/wetq/wetq.h"
#include "format/ref/ref.h"
#include "format/wettext/wettext.h"

#define ROOM 512u               /* bytes of a line, apart from long names and lists */

static int
list_json(struct job *j)
{
	struct fields f = { .begun = 0 };

	for (uint32_t id = 1; id <= query_nstmt(j->q) && id <= j->most; id++) {
		fields_begin(&f, j, "statements", 0);
		json_object(&f.o, NULL);
		fields_statement(j, &f.o, id);
		json_u64(&f.o, "executions", query_stmt(j->q, id)->count);
		json_end(&f.o);
	}
	fields_end(&f, j, "statements", 0, 0);
	return 0;
}

int
job_list(struct job *j)
{
	if (job_survey(j, 0) != 0)
		return -1;
	if (j->json)
		return list_json(j);
	for (uint32_t id = 1; id <= query_nstmt(j->q) && id <= j->most; id++) {
		const struct query_stmt *s = query_stmt(j->q, id);
		uint8_t *p = out_reserve(j->out, ROOM);
		size_t n = put_dec(p, query_stmt_name(j->q, id));

		p[n++] = ' ';
		n += put_dec(p + n, s->count);
		p[n++] = ' ';
		n += put_hex(p + n, s->pc);
		out_commit(j->out, n);
		put_where(j, id);
	}
	return 0;
}

/* A path as lines: line i ends at end[i].  Backward, the line of the last statement comes first. */
struct text { uint8_t *p; uint32_t *end; };

struct flow {
	struct job *j;
	struct text *text;              /* by path; owned */
	size_t ntext, captext;
	struct fields f;
};

static struct text *
text_of(struct flow *f, const struct query_path *p)
{
	struct text *t;

	while (f->ntext <= p->path) {
		f->text = mem_xgrow(f->text, &f->captext, f->ntext + 1, sizeof *f->text);
		f->text[f->ntext++] = (struct text){ 0 };
	}
	t = &f->text[p->path];
	if (!t->p) {
		size_t n = 0;

		t->p = xmalloc(p->n * 21u);
		t->end = xreallocarray(NULL, p->n + 1, sizeof *t->end);
		*t->end++ = 0;
		for (uint32_t i = 0; i < p->n; i++) {
			n += put_dec(t->p + n,
			    query_stmt_name(f->j->q, p->id[f->j->backward ? p->n - 1 - i : i]));
			t->p[n++] = '\n';
			t->end[i] = (uint32_t)n;
		}
	}
	return t;
}

static int
answer_path(void *arg, const struct query_path *p)
{
	struct flow *f = arg;
	const struct text *t = text_of(f, p);
	uint32_t from = f->j->backward ? p->n - p->to : p->from, n = p->to - p->from, at = (t->end - 1)[from];

	out_write(f->j->out, t->p + at, t->end[from + n - 1] - at);
	return 0;
}

/* The same as JSON */
static int
answer_path_json(void *arg, const struct query_path *p)
{
	struct flow *f = arg;

	fields_begin(&f->f, f->j, "statements", 0);
	for (uint32_t i = p->from; i < p->to; i++) {
		uint32_t at = f->j->backward ? p->to - 1 - (i - p->from) : i;

		json_u64(&f->f.o, NULL, query_stmt_name(f->j->q, p->id[at]));
	}
	return 0;
}

int
job_flow(struct job *j)
{
	struct flow f = { .j = j };
	uint64_t from = 1;
	int bad;

	if (j->from ? job_point(j, j->from, 0, &from) != 0 : j->backward && job_survey(j, 0) != 0)
		return -1;
	if (j->backward && !j->from)
		from = query_length(j->q);
	bad = query_flow(j->q, from, j->most, j->backward, j->json ? answer_path_json : answer_path, &f) != 0 ?
	    job_bad(j) : 0;
	fields_end(&f.f, j, "statements", 0, bad);
	for (size_t i = 0; i < f.ntext; i++)
		if (f.text[i].p) {
			free(f.text[i].p);
			free(f.text[i].end - 1);
		}
	free(f.text);
	return bad;
}

struct list { struct job *j; uint64_t left; struct fields f; };

static void
answer_value_json(struct list *l, const struct query_insn *e)
{
	fields_begin(&l->f, l->j, "values", e->id);
	json_object(&l->f.o, NULL);
	json_u64(&l->f.o, "instance", e->instance);
	fields_value(&l->f.o, e->val, e->nval);
	json_end(&l->f.o);
}

static int
answer_value(void *arg, const struct query_insn *e)
{
	struct list *l = arg;

	if (!e->nval || !l->left)
		return 1;
	l->left--;
	if (l->j->json)
		answer_value_json(l, e);
	else
		out_commit(l->j->out,
		    wettext_put_value(out_reserve(l->j->out, 16 * e->nval + ROOM), e->instance, e->val, e->nval));
	return 0;
}

/* Who names a statement by its line or function did not choose it, and is told why the answer is empty. */
static void
answer_none(const struct job *j, const char *s, const struct range *r, const char *what)
{
	if (!strchr("0123456789", *s))
		warn("%s: %.200s: statement %llu %s; list prints the others", j->path, s,
		    (unsigned long long)query_stmt_name(j->q, r->id), what);
}

static int
answer_instances(struct list *l, const struct range *r, unsigned want, query_insn_fn *fn)
{
	struct job *j = l->j;
	int got;

	if (!r->one)
		return query_insns(j->q, r->id, r->from, r->to, want, fn, l) != 0 ? job_bad(j) : 0;
	got = query_insn_at(j->q, r->id, r->from, want, fn, l);
	if (got == 0) {
		j->fault = (struct fault){ .off = UINT64_MAX, .rec = UINT64_MAX };
		snprintf(j->fault.err, sizeof j->fault.err, "no instance %llu#%llu",
		    (unsigned long long)query_stmt_name(j->q, r->id), (unsigned long long)r->from);
		return -1;
	}
	return got < 0 ? job_bad(j) : 0;
}

int
job_values(struct job *j, const char *s)
{
	struct range r;
	struct list l = { .j = j, .left = j->most };
	int bad = 0;

	if (job_range(j, s, &r) != 0)
		return -1;
	if (query_stmt(j->q, r.id)->port.nval)
		bad = answer_instances(&l, &r, QUERY_VALUES, answer_value);
	else
		answer_none(j, s, &r, "computes no value");
	fields_end(&l.f, j, "values", r.id, bad);
	return bad;
}

static void
answer_addr_json(struct list *l, const struct query_insn *e, uint64_t ref)
{
	fields_begin(&l->f, l->j, "references", e->id);
	json_object(&l->f.o, NULL);
	json_u64(&l->f.o, "instance", e->instance);
	fields_reference(&l->f.o, ref);
	json_end(&l->f.o);
}

static int
answer_addr(void *arg, const struct query_insn *e)
{
	static const char kind[] = "irwm";
	struct list *l = arg;

	for (size_t i = 0; i < e->nref; i++) {
		uint8_t *p;
		size_t n;

		if (!l->left)
			return 1;
		l->left--;
		if (l->j->json) {
			answer_addr_json(l, e, e->ref[i]);
			continue;
		}
		p = out_reserve(l->j->out, ROOM);
		n = put_dec(p, e->instance);
		p[n++] = ':';
		p[n++] = (uint8_t)kind[ref_kind(e->ref[i]) & 3];
		p[n++] = ' ';
		n += put_hex(p + n, ref_addr(e->ref[i]));
		p[n++] = ' ';
		n += put_dec(p + n, ref_size(e->ref[i]));
		p[n++] = '\n';
		out_commit(l->j->out, n);
	}
	return 0;
}

int
job_addrs(struct job *j, const char *s)
{
	struct range r;
	struct list l = { .j = j, .left = j->most };
	int bad;

	if (job_range(j, s, &r) != 0)
		return -1;
	bad = answer_instances(&l, &r, QUERY_REFS, answer_addr);
	fields_end(&l.f, j, "references", r.id, bad);
	if (bad)
		return -1;
	if (j->most && l.left == j->most)
		answer_none(j, s, &r, "refers to no memory");
	return 0;
}
