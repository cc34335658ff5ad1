/* The shared libraries of a run; see libs.h. */
#include "ae/regen/libs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int
libs_fail(struct libs *l, const char *path, const char *what, const char **err)
{
	snprintf(l->err, sizeof l->err, "library %s: %s", path, what);
	*err = l->err;
	return -1;
}

static void
libs_close(struct libs_one *o)
{
	exe_close(&o->exe);
	free(o->path);
	free(o);
}

/* Opens the file: NULL, or why it is not the one that is wanted */
static const char *
libs_open(struct exe *x, const struct prog *g, const struct ev_module *m)
{
	if (exe_open(x, m->path) != 0 || exe_need_schema(x) != 0)
		return x->err;
	if (x->idlen != m->idlen || memcmp(x->id, m->id, m->idlen) != 0)
		return "another build than the run had";
	if (!x->moves || x->machine != g->machine)
		return "not a library for the program's machine";
	return NULL;
}

int
libs_add(void *arg, struct prog *g, const struct ev_module *m, const char **err)
{
	const struct prog_numbers no = { m->first, m->n };
	struct libs *l = arg;
	struct libs_one **p = realloc(l->lib, (l->n + 1) * sizeof *p), *o = calloc(1, sizeof *o);
	const char *why;

	if (p)
		l->lib = p;
	if (!p || !o || (o->path = strdup(m->path)) == NULL) {
		free(o);
		return libs_fail(l, m->path, "out of memory", err);
	}
	o->base = m->base;
	why = libs_open(&o->exe, g, m);
	if (why) {
		libs_fail(l, m->path, why, err);
		libs_close(o);
		return -1;
	}
	l->lib[l->n++] = o;             /* what the program has of it remains, whether all of it is right or not */
	return prog_add_exe(g, &o->exe, no, m->base) != 0 ? libs_fail(l, m->path, g->err, err) : 0;
}

struct libs_one *
libs_at(const struct libs *l, uint64_t pc)
{
	uint8_t b;

	for (size_t i = 0; i < l->n; i++)
		if (exe_image(&l->lib[i]->exe, pc - l->lib[i]->base, &b, 1))
			return l->lib[i];
	return NULL;
}

void
libs_free(struct libs *l)
{
	for (size_t i = 0; i < l->n; i++)
		libs_close(l->lib[i]);
	free(l->lib);
	*l = (struct libs){ 0 };
}
