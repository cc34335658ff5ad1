/* wetq: statements, control flow, values and addresses. */
#include <stdlib.h>

#include "base/diag.h"
#include "base/mem.h"
#include "format/ref.h"
#include "format/wettext.h"
#include "wetq.h"

#define ROOM 512u               /* bytes of a line but for long names and lists */

void
job_list(struct job *j)
{
	job_survey(j, 0);
	for (uint32_t id = 1; id <= query_nstmt(j->q); id++) {
		const struct query_stmt *s = query_stmt(j->q, id);
		uint8_t *p = out_room(j->out, ROOM);
		size_t n = put_dec(p, id);

		p[n++] = ' ';
		n += put_dec(p + n, s->count);
		p[n++] = ' ';
		n += put_hex(p + n, s->pc);
		out_used(j->out, n);
		put_where(j, id);
	}
}

/* A path as lines: line i ends at end[i]; backward, that of its last statement is the first */
struct text { uint8_t *p; uint32_t *end; };

struct flow {
	struct job *j;
	struct text *text;              /* by path; owned */
	size_t ntext, captext;
};

static struct text *
text_of(struct flow *f, const struct query_path *p)
{
	struct text *t;

	while (f->ntext <= p->path) {
		f->text = xgrow(f->text, &f->captext, f->ntext + 1, sizeof *f->text);
		f->text[f->ntext++] = (struct text){ 0 };
	}
	t = &f->text[p->path];
	if (!t->p) {
		size_t n = 0;

		t->p = xmalloc(p->n * 21u);
		t->end = xreallocarray(NULL, p->n + 1, sizeof *t->end);
		*t->end++ = 0;
		for (uint32_t i = 0; i < p->n; i++) {
			n += put_dec(t->p + n, p->id[f->j->backward ? p->n - 1 - i : i]);
			t->p[n++] = '\n';
			t->end[i] = (uint32_t)n;
		}
	}
	return t;
}

static int
path(void *arg, const struct query_path *p)
{
	struct flow *f = arg;
	const struct text *t = text_of(f, p);
	uint32_t from = f->j->backward ? p->n - p->to : p->from, n = p->to - p->from, at = (t->end - 1)[from];

	out_write(f->j->out, t->p + at, t->end[from + n - 1] - at);
	return 0;
}

void
job_flow(struct job *j)
{
	struct flow f = { .j = j };
	uint64_t from = 1;

	if (j->from)
		from = job_point(j, j->from, 0);
	else if (j->backward) {
		job_survey(j, 0);
		from = query_length(j->q);
	}
	if (query_flow(j->q, from, j->most, j->backward, path, &f) != 0)
		job_bad(j);
	for (size_t i = 0; i < f.ntext; i++)
		if (f.text[i].p) {
			free(f.text[i].p);
			free(f.text[i].end - 1);
		}
	free(f.text);
}

struct list { struct job *j; uint64_t left; };

static int
value(void *arg, const struct query_insn *e)
{
	struct list *l = arg;

	if (!e->nval || l->left-- == 0)
		return 1;
	out_used(l->j->out, wettext_put_value(out_room(l->j->out, 16 * e->nval + ROOM), e->instance, e->val, e->nval));
	return 0;
}

void
job_values(struct job *j, const char *s)
{
	struct list l = { j, j->most };
	uint32_t id = job_id(j, s);

	if (query_stmt(j->q, id)->port.nval && query_insns(j->q, id, 0, UINT64_MAX, QUERY_VALUES, value, &l) != 0)
		job_bad(j);
}

static int
addr(void *arg, const struct query_insn *e)
{
	static const char kind[] = "irwm";
	struct list *l = arg;

	for (size_t i = 0; i < e->nref; i++) {
		uint8_t *p;
		size_t n;

		if (l->left-- == 0)
			return 1;
		p = out_room(l->j->out, ROOM);
		n = put_dec(p, e->instance);
		p[n++] = ':';
		p[n++] = (uint8_t)kind[ref_kind(e->ref[i]) & 3];
		p[n++] = ' ';
		n += put_hex(p + n, ref_addr(e->ref[i]));
		p[n++] = ' ';
		n += put_dec(p + n, ref_size(e->ref[i]));
		p[n++] = '\n';
		out_used(l->j->out, n);
	}
	return 0;
}

void
job_addrs(struct job *j, const char *s)
{
	struct list l = { j, j->most };

	if (query_insns(j->q, job_id(j, s), 0, UINT64_MAX, QUERY_REFS, addr, &l) != 0)
		job_bad(j);
}
