/* wetq: who used the value of an instance, in one step. */
#include <stdlib.h>

#include "base/json.h"
#include "base/mem.h"
#include "convert/wetq/name.h"

#define NAMED 256u              /* uses that are told with a name, at most */

struct uses {
	struct job *j;
	uint64_t of, instance, most;    /* the position of the point, its instance; uses that are wanted */
	uint32_t id;
	int numbered;
	struct use *use;                /* owned */
	size_t n, cap, known;           /* known: instances are known of so many */
	struct names names;
	size_t *name;                   /* the first name of each use, and the end; owned */
};

static int
uses_add(void *arg, const struct query_dep *d)
{
	struct uses *u = arg;

	if (d->numbered ? d->on != u->id || d->oninstance != u->instance : d->onn != u->of)
		return 0;
	u->numbered = d->numbered;
	u->use = mem_xgrow(u->use, &u->cap, u->n + 1, sizeof *u->use);
	u->use[u->n++] = (struct use){ .n = d->n, .id = d->id, .port = d->port, .instance = d->instance };
	return u->n >= u->most;
}

static int
uses_order(const void *a, const void *b)
{
	const struct use *p = a, *q = b;

	if (p->n != q->n)
		return p->n < q->n ? -1 : 1;
	return p->port < q->port ? -1 : p->port > q->port;
}

/* The point itself, the first member */
static int
uses_point(void *arg, const struct query_insn *e)
{
	struct uses *u = arg;

	if (!u->id) {
		u->id = e->id;
		u->instance = e->instance;
	}
	return 0;
}

/* A member of the slice, which comes in the order of positions: its number is that of its uses. */
static int
uses_number(void *arg, const struct query_insn *e)
{
	struct uses *u = arg;

	while (u->known < u->n && u->use[u->known].n < e->n)
		u->known++;
	while (u->known < u->n && u->use[u->known].n == e->n)
		u->use[u->known++].instance = e->instance;
	return u->known == u->n;
}

static const struct name *
uses_name(const struct uses *u, size_t i)
{
	return names_first(&u->names, u->name[i], u->name[i + 1] - u->name[i]);
}

/* Finds the names of what the uses stored or computed. */
static int
uses_names(struct uses *u)
{
	u->name = xcalloc(u->n + 1, sizeof *u->name);
	for (size_t i = 0; i < u->n; i++) {
		u->name[i] = u->names.n;
		if (u->use[i].port && i < NAMED && names_ask_instance(&u->names, u->use[i].id, u->use[i].instance) != 0)
			return -1;
	}
	u->name[u->n] = u->names.n;
	names_find(&u->names);
	return 0;
}

static void
uses_json(struct job *j, const struct uses *u)
{
	struct json o;

	json_begin(&o, j->out);
	json_array(&o, "uses");
	for (size_t i = 0; i < u->n; i++) {
		json_object(&o, NULL);
		step_json_fields(j, &o, u->use[i].id, u->use[i].port, u->use[i].id, u->use[i].instance);
		name_json(uses_name(u, i), &o);
		json_end(&o);
	}
	json_end(&o);
	json_end(&o);
}

static void
uses_text(struct job *j, const struct uses *u)
{
	for (size_t i = 0; i < u->n; i++) {
		const struct use *s = &u->use[i];

		out_printf(j->out, "%s %llu#%llu", step_kind(j, s->id, s->port),
		    (unsigned long long)query_stmt_name(j->q, s->id), (unsigned long long)s->instance);
		put_named(j, s->id, uses_name(u, i));
	}
}

/*
 * The dependences on the point are among those in its forward slice.  A second slice tells the numbers of
 * the instances, which dependences of a capture do not have.
 */
int
uses_find(struct job *j, uint64_t n, uint64_t most, struct use **use, size_t *count)
{
	struct uses u = { .j = j, .of = n, .most = most };
	struct query_slice s = { .n = n, .flags = j->flags | QUERY_FORWARD, .fn = uses_point, .arg = &u };
	int bad;

	s.count = xcalloc(query_nstmt(j->q) + 1u, sizeof *s.count);
	bad = query_slice(j->q, &s) != 0 || (most && query_deps(j->q, &s, uses_add, &u) != 0);
	if (!bad && u.n && !u.numbered) {
		qsort(u.use, u.n, sizeof *u.use, uses_order);
		s.fn = uses_number;
		bad = query_slice(j->q, &s) != 0;
	}
	*use = u.use;
	*count = u.n;
	free(s.count);
	return bad ? job_bad(j) : 0;
}

int
job_uses(struct job *j, const char *point)
{
	struct uses u = { .j = j, .names = { .j = j } };
	uint64_t n;
	int bad;

	if (job_point(j, point, 1, &n) != 0)
		return -1;
	u.names.texts = texts_new(j);
	bad = uses_find(j, n, j->most, &u.use, &u.n) != 0 || uses_names(&u) != 0;
	if (!bad && j->json)
		uses_json(j, &u);
	else if (!bad)
		uses_text(j, &u);
	names_free(&u.names);
	texts_free(u.names.texts);
	free(u.name);
	free(u.use);
	return bad ? -1 : 0;
}
