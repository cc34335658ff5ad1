/*
 * Profiles in callgrind's format: functions, with the instructions that each of their lines executed,
 * and the calls from it.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/mem.h"
#include "base/text.h"
#include "insns/formats.h"
#include "insns/profile.h"

/* A cost at a place: of instructions, or, with a called function, of calls. */
struct cost {
	uint32_t func, called;          /* called PROFILE_NONE: no call */
	int line;
	const char *file;               /* "???": not known */
	uint64_t calls, n;
};

/* Names that were written have numbers from then on. */
struct names {
	struct hash by_name;
	const char **name;              /* owned; the strings are not */
	size_t n, cap;
};

struct callgrind {
	struct out *out;
	struct profile p;
	struct cost *cost;              /* owned */
	size_t ncost, capcost;
	const char **file;              /* of each function; owned */
	struct names objects, files;
	uint8_t *named;                 /* the name of a function was written; owned */
	const char *at;                 /* the file that costs are written for */
};

/* Has code of a captured file a place? The strings of equal names are the same one. */
static void
callgrind_place(struct callgrind *c, uint64_t pc, const char **file, int *line)
{
	const char *func;

	wsource_place(c->p.source, pc, file, &func, line);
	if (!*file)
		*file = "???";
}

static void
callgrind_add(struct callgrind *c, const struct profile_insn *in, uint32_t called, uint64_t calls, uint64_t n)
{
	struct cost *k;

	c->cost = mem_xgrow(c->cost, &c->capcost, c->ncost + 1, sizeof *c->cost);
	k = &c->cost[c->ncost++];
	*k = (struct cost){ .func = in->func, .called = called, .calls = calls, .n = n };
	callgrind_place(c, in->pc, &k->file, &k->line);
}

/* By function, file, line; costs of instructions before calls. */
static int
callgrind_order(const void *a, const void *b)
{
	const struct cost *x = a, *y = b;
	int d;

	if (x->func != y->func)
		return x->func < y->func ? -1 : 1;
	if ((d = strcmp(x->file, y->file)) != 0)
		return d;
	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	/* PROFILE_NONE becomes 0 */
	return x->called + 1u < y->called + 1u ? -1 : x->called + 1u > y->called + 1u;
}

static size_t
callgrind_merge(struct callgrind *c)
{
	size_t m = 0;

	if (c->ncost)
		qsort(c->cost, c->ncost, sizeof *c->cost, callgrind_order);
	for (size_t i = 0; i < c->ncost; i++) {
		if (m && callgrind_order(&c->cost[m - 1], &c->cost[i]) == 0) {
			c->cost[m - 1].n += c->cost[i].n;
			c->cost[m - 1].calls += c->cost[i].calls;
		} else
			c->cost[m++] = c->cost[i];
	}
	return m;
}

/* `key=(number) name`, or without the name when it was written before. */
static void
callgrind_name(struct callgrind *c, struct names *t, const char *key, const char *name)
{
	uint32_t h = hash_bytes(name, strlen(name)), at = h, i;

	while ((i = hash_find(&t->by_name, h, &at)) != HASH_NONE && strcmp(t->name[i], name) != 0)
		;
	if (i != HASH_NONE) {
		out_printf(c->out, "%s=(%" PRIu32 ")\n", key, i + 1);
		return;
	}
	t->name = mem_xgrow(t->name, &t->cap, t->n + 1, sizeof *t->name);
	t->name[t->n] = name;
	hash_xadd(&t->by_name, h, (uint32_t)t->n++);
	out_printf(c->out, "%s=(%zu) ", key, t->n);
	text_put(c->out, name);
	out_str(c->out, "\n");
}

static const char *
callgrind_object(const struct profile_func *f)
{
	return f->object && *f->object ? f->object : "???";
}

/* Names a function: prefix "" or, for one that is called, "c". */
static void
callgrind_func(struct callgrind *c, const char *prefix, uint32_t func)
{
	const struct profile_func *f = &c->p.func[func];

	callgrind_name(c, &c->objects, *prefix ? "cob" : "ob", callgrind_object(f));
	callgrind_name(c, &c->files, *prefix ? "cfi" : "fl", c->file[func]);
	out_printf(c->out, "%sfn=(%" PRIu32 ")", prefix, func + 1);
	if (!c->named[func]) {
		out_str(c->out, " ");
		text_put(c->out, f->name ? f->name : "???");
	}
	c->named[func] = 1;
	out_str(c->out, "\n");
}

static void
callgrind_cost(struct callgrind *c, const struct cost *k, const struct cost *before)
{
	if (!before || k->func != before->func) {
		out_str(c->out, "\n");
		callgrind_func(c, "", k->func);
		c->at = c->file[k->func];
	}
	if (strcmp(k->file, c->at) != 0) {
		callgrind_name(c, &c->files, strcmp(k->file, c->file[k->func]) == 0 ? "fe" : "fi", k->file);
		c->at = k->file;
	}
	if (k->called != PROFILE_NONE) {
		int line;
		const char *file;

		callgrind_func(c, "c", k->called);
		callgrind_place(c, c->p.func[k->called].pc, &file, &line);
		out_printf(c->out, "calls=%" PRIu64 " %d\n", k->calls, line);
	}
	out_printf(c->out, "%d %" PRIu64 "\n", k->line, k->n);
}

static void
callgrind_print(struct callgrind *c)
{
	const struct profile *p = &c->p;
	size_t n;

	for (size_t i = 0; i < p->ninsn; i++)
		if (p->insn[i].does)
			callgrind_add(c, &p->insn[i], PROFILE_NONE, 0, p->insn[i].count);
	for (const struct profile_edge *e = p->edge; e < p->edge + p->nedge; e++)
		callgrind_add(c, &p->insn[e->site], e->func, e->calls, e->cost);
	c->file = xcalloc(p->nfunc + 1, sizeof *c->file);
	c->named = xcalloc(p->nfunc + 1, 1);
	for (size_t i = 0; i < p->nfunc; i++) {
		int line;

		callgrind_place(c, p->func[i].pc, &c->file[i], &line);
	}
	n = callgrind_merge(c);
	out_str(c->out, "# callgrind format\nversion: 1\ncreator: tracemill addrconv\ncmd: ");
	text_put(c->out, p->command ? p->command : "");
	out_printf(c->out, "\npart: 1\n\npositions: line\nevents: Ir\nsummary: %" PRIu64 "\n", p->total);
	for (size_t i = 0; i < n; i++)
		callgrind_cost(c, &c->cost[i], i ? &c->cost[i - 1] : NULL);
	out_printf(c->out, "\ntotals: %" PRIu64 "\n", p->total);
}

int
callgrind_write(const struct insns *q, struct out *out, struct ws_early *early, struct fault *f)
{
	struct callgrind c = { .out = out };
	int bad = profile_run(&c.p, q, early, f);

	callgrind_print(&c);
	hash_free(&c.objects.by_name);
	hash_free(&c.files.by_name);
	free(c.objects.name);
	free(c.files.name);
	free(c.file);
	free(c.named);
	free(c.cost);
	profile_free(&c.p);
	return bad;
}
