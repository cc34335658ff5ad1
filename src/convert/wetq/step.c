/* wetq: the dependences of one instance; the lines that are in one slice and not in another. */
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/json.h"
#include "base/mem.h"
#include "convert/wetq/name.h"
#include "format/ref/ref.h"

struct step {
	struct query_edge *edge;
	size_t n, cap;
	uint64_t reads;
	struct names names;
	size_t *name;
	struct query_insn point;        /* its id is 0 before it is known */
	uint64_t *ref;                  /* its references, owned */
	struct buf value;               /* its value, with a NUL */
	struct job *j;
};

static int
step_member(void *arg, const struct query_insn *e)
{
	struct step *t = arg;

	/* the point is the first */
	if (t->point.id)
		return 0;
	t->point = *e;
	t->reads = names_reference(e, REF_LOAD);
	t->ref = xcalloc(e->nref + 1, sizeof *t->ref);
	if (e->nref)
		memcpy(t->ref, e->ref, e->nref * sizeof *t->ref);
	if (e->val && e->nval && !(query_stmt(t->j->q, e->id)->port.role & WPORT_OFFLAGS))
		put_number(&t->value, e->val, e->nval);
	buf_u8(&t->value, 0);
	return 0;
}

static void
step_edge(void *arg, const struct query_edge *d)
{
	struct step *t = arg;

	t->edge = mem_xgrow(t->edge, &t->cap, t->n + 1, sizeof *t->edge);
	t->edge[t->n++] = *d;
}

/* By port, the latest first */
static int
step_order(const void *a, const void *b)
{
	const struct query_edge *p = a, *q = b;

	if (p->port != q->port)
		return p->port < q->port ? -1 : 1;
	if (p->on != q->on)
		return p->on < q->on ? -1 : 1;
	return p->oninstance > q->oninstance ? -1 : p->oninstance < q->oninstance;
}

const char *
step_kind(const struct job *j, uint32_t id, uint32_t port)
{
	const struct wport *p = &query_stmt(j->q, id)->port;

	if (port == 0)
		return "control";
	if (port > p->nuse)
		return "memory";
	return p->addrs >> (port - 1) & 1 ? "address" : "value";
}

void
step_json_fields(struct job *j, struct json *o, uint32_t user, uint32_t port, uint32_t id, uint64_t instance)
{
	json_string(o, "kind", step_kind(j, user, port));
	json_u64(o, "port", port);
	json_u64(o, "statement", query_stmt_name(j->q, id));
	json_u64(o, "instance", instance);
	fields_place(j, o, id);
}

/* What is known of the point itself: its place in the control flow, its value and its addresses */
static void
step_json_point(struct job *j, struct json *o, const struct step *t)
{
	json_u64(o, "statement", query_stmt_name(j->q, t->point.id));
	json_u64(o, "instance", t->point.instance);
	json_u64(o, "address", query_stmt(j->q, t->point.id)->pc);
	fields_place(j, o, t->point.id);
	json_string(o, "value", t->value.n > 1 ? (const char *)t->value.p : NULL);
	fields_references(o, t->ref, t->point.nref);
}

static void
step_json(struct job *j, const struct step *t)
{
	struct json o;

	json_begin(&o, j->out);
	if (t->point.id)
		step_json_point(j, &o, t);
	json_array(&o, "dependences");
	for (size_t i = 0; i < t->n && i < j->most; i++) {
		const struct query_edge *d = &t->edge[i];

		json_object(&o, NULL);
		step_json_fields(j, &o, d->id, d->port, d->on, d->oninstance);
		name_json(names_first(&t->names, t->name[i], t->name[i + 1] - t->name[i]), &o);
		json_end(&o);
	}
	json_end(&o);
	json_end(&o);
}

/* Finds the names of what the point used: the memory that it read, what others stored, loaded and computed. */
static int
step_names(struct job *j, struct step *t, uint64_t n)
{
	t->name = xcalloc(t->n + 1, sizeof *t->name);
	for (size_t i = 0; i < t->n; i++) {
		const struct query_edge *d = &t->edge[i];

		t->name[i] = t->names.n;
		if (d->port > query_stmt(j->q, d->id)->port.nuse && t->reads)
			names_ask_read(&t->names, n, d->id, t->reads);
		else if (d->port && names_ask_instance(&t->names, d->on, d->oninstance) != 0)
			return -1;
	}
	t->name[t->n] = t->names.n;
	names_find(&t->names);
	return 0;
}

int
job_deps(struct job *j, const char *point)
{
	struct step t = { .value = BUF_INIT, .j = j };
	struct query_slice s = {
		.flags = (j->flags & ~(unsigned)QUERY_FORWARD) | QUERY_STEP, .fn = step_member, .edge =
		    step_edge, .arg = &t
	};
	int bad;

	if (job_point(j, point, 1, &s.n) != 0)
		return -1;
	/* the value and references of the point are in JSON, or have names where the file tells of variables */
	if (!j->json && !query_has_state(j->q))
		s.flags |= QUERY_BARE;
	s.count = xcalloc(query_nstmt(j->q) + 1u, sizeof *s.count);
	bad = query_slice(j->q, &s) != 0 ? job_bad(j) : 0;
	if (t.n)
		qsort(t.edge, t.n, sizeof *t.edge, step_order);
	t.names = (struct names){ .j = j, .texts = texts_new(j) };
	bad = bad || step_names(j, &t, s.n) != 0 ? -1 : 0;
	if (!bad && j->json)
		step_json(j, &t);
	for (size_t i = 0; i < t.n && !bad && !j->json && i < j->most; i++) {
		out_printf(j->out, "%s %llu#%llu", step_kind(j, t.edge[i].id, t.edge[i].port),
		    (unsigned long long)query_stmt_name(j->q, t.edge[i].on),
		    (unsigned long long)t.edge[i].oninstance);
		put_named(j, t.edge[i].on, names_first(&t.names, t.name[i], t.name[i + 1] - t.name[i]));
	}
	names_free(&t.names);
	texts_free(t.names.texts);
	buf_free(&t.value);
	free(t.ref);
	free(t.name);
	free(t.edge);
	free(s.count);
	return bad;
}

/* A line of the source, and whether it is in each slice */
struct line { const struct place *place; uint64_t in[2]; uint32_t id; };

static int
step_by_place(const void *a, const void *b)
{
	const struct place *p = ((const struct line *)a)->place, *q = ((const struct line *)b)->place;
	int e = strcmp(p->file, q->file);

	return e ? e : p->line < q->line ? -1 : p->line > q->line;
}

/* Prints a line with its text s, or NULL. */
static void
dice_text(struct job *j, const struct line *l, const char *s, size_t n)
{
	put_source(j, l->place->file, l->place->line);
	out_str(j->out, ":");
	put_text(j, s ? s : "", s ? n : 0);
	out_str(j->out, "\n");
}

static void
dice_json(struct job *j, struct fields *f, const struct line *l, const char *s, size_t n)
{
	fields_begin(f, j, "lines", 0);
	json_object(&f->o, NULL);
	fields_place(j, &f->o, l->id);
	fields_source(&f->o, s, n);
	json_end(&f->o);
}

/* Prints the lines of the first slice that the second one lacks, or says that there is none. */
static void
step_dice(struct job *j, uint64_t *const count[2])
{
	uint32_t nstmt = query_nstmt(j->q), n = 0, k = 0, has = 0, alone = 0;
	struct line *l = xcalloc(nstmt + 1u, sizeof *l);
	struct texts *t = texts_new(j);
	struct fields f = { .begun = 0 };

	for (uint32_t id = 1; id <= nstmt; id++)
		if (!place_is_system(job_place(j, id)))
			l[n++] = (struct line){ job_place(j, id), { count[0][id - 1], count[1][id - 1] },
			    id };
	if (n)
		qsort(l, n, sizeof *l, step_by_place);
	for (uint32_t i = 0; i < n; i++)
		if (k && step_by_place(&l[k - 1], &l[i]) == 0) {
			l[k - 1].in[0] += l[i].in[0];
			l[k - 1].in[1] += l[i].in[1];
		} else
			l[k++] = l[i];
	for (uint32_t i = 0, left = j->most > k ? k : (uint32_t)j->most; i < k && left; i++) {
		size_t len = 0;
		const char *s;

		has += l[i].in[0] != 0;
		if (!l[i].in[0] || l[i].in[1])
			continue;
		left--;
		alone++;
		s = texts_line(t, l[i].id, &len);
		if (j->json)
			dice_json(j, &f, &l[i], s, len);
		else
			dice_text(j, &l[i], s, len);
	}
	fields_end(&f, j, "lines", 0, 0);
	if (!has)
		warn("%s: the first slice has no line that is known", j->path);
	else if (!alone)
		warn("%s: all lines of the first slice are in the second one, too", j->path);
	texts_free(t);
	free(l);
}

int
job_dice(struct job *j, const char *wrong, const char *right)
{
	const char *point[2] = { wrong, right };
	uint64_t *count[2] = { NULL, NULL };
	int bad = 0;

	for (int i = 0; i < 2 && !bad; i++) {
		struct query_slice s = {
			.flags = (j->flags & ~(unsigned)QUERY_FORWARD) | (j->typed ? 0 :
			    QUERY_THIN | QUERY_DATA)
		};

		if ((bad = job_point(j, point[i], 1, &s.n)) != 0)
			break;
		count[i] = s.count = xcalloc(query_nstmt(j->q) + 1u, sizeof *s.count);
		bad = query_slice(j->q, &s) != 0 ? job_bad(j) : 0;
	}
	if (!bad)
		step_dice(j, count);
	free(count[0]);
	free(count[1]);
	return bad;
}
