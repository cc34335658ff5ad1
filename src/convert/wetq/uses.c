/* wetq: who used the value of an instance, in one step. */
#include <stdlib.h>

#include "base/json.h"
#include "base/mem.h"
#include "convert/wetq/name.h"
#include "format/ref/ref.h"

#define NAMED 256u              /* uses that are told with a name, at most */

struct uses {
	struct job *j;
	uint64_t most;                  /* uses that are wanted */
	struct use *use;                /* owned */
	size_t n, cap, known;           /* known: of so many, position and, of captures, references */
	struct names names;
	size_t *name;                   /* the first name of each use, and the end; owned */
};

static const struct name *
uses_name(const struct uses *u, size_t i)
{
	return names_first(&u->names, u->name[i], u->name[i + 1] - u->name[i]);
}

/* The uses come in the order of execution: those of an instance, and then the instance. */
static void
uses_edge(void *arg, const struct query_edge *d)
{
	struct uses *u = arg;

	if (u->n == u->most)
		return;
	u->use = mem_xgrow(u->use, &u->cap, u->n + 1, sizeof *u->use);
	u->use[u->n++] = (struct use){ .id = d->id, .port = d->port, .instance = d->instance };
}

static int
uses_instance(void *arg, const struct query_insn *e)
{
	struct uses *u = arg;

	for (; u->known < u->n; u->known++) {
		struct use *s = &u->use[u->known];

		s->n = e->n;
		s->reads = names_reference(e, REF_LOAD);
		s->writes = names_reference(e, REF_STORE);
	}
	return u->n == u->most;
}

/* Finds the names of what the uses stored or computed. */
static void
uses_names(struct uses *u)
{
	u->name = xcalloc(u->n + 1, sizeof *u->name);
	for (size_t i = 0; i < u->n; i++) {
		u->name[i] = u->names.n;
		if (u->use[i].port && i < NAMED && query_has_state(u->j->q) &&
		    !place_is_system(job_place(u->j, u->use[i].id)))
			names_ask(&u->names, u->use[i].n, u->use[i].id, u->use[i].reads, u->use[i].writes);
	}
	u->name[u->n] = u->names.n;
	names_find(&u->names);
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

int
uses_find(struct job *j, uint64_t n, uint64_t most, struct use **use, size_t *count)
{
	struct uses u = { .j = j, .most = most };
	struct query_slice s = {
		.n = n, .flags = j->flags | QUERY_FORWARD | QUERY_STEP, .fn = uses_instance, .edge = uses_edge,
		.arg = &u
	};
	int bad;

	s.count = xcalloc(query_nstmt(j->q) + 1u, sizeof *s.count);
	bad = most && query_slice(j->q, &s) != 0;
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
	bad = uses_find(j, n, j->most, &u.use, &u.n) != 0;
	if (!bad)
		uses_names(&u);
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
