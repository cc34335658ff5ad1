/* pp: prints what was found, for people and as JSON. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/pp/pp.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/search.h"
#include "base/text.h"

static const char *const kind_name[] = {
	[PARALLEL_FLOW] = "flow", [PARALLEL_ANTI] = "anti", [PARALLEL_OUTPUT] = "output",
};

static int
greater_first(uint64_t a, uint64_t b)
{
	return (a < b) - (a > b);
}

/* Loops with many instructions first. */
static int
loop_compare(const void *a, const void *b, void *arg)
{
	const struct parallel_loop *loop = arg;
	size_t x = *(const size_t *)a, y = *(const size_t *)b;
	int c = greater_first(loop[x].ninsn, loop[y].ninsn);

	return c ? c : (x > y) - (x < y);
}

/* Dependences by loop; those that decide most first, then the most frequent. */
static int
dep_compare(const void *a, const void *b, void *arg)
{
	const struct parallel_dep *dep = arg;
	size_t x = *(const size_t *)a, y = *(const size_t *)b;
	int c = (dep[x].loop > dep[y].loop) - (dep[x].loop < dep[y].loop);

	for (int m = 0; m < PARALLEL_NMODELS && !c; m++)
		c = greater_first(dep[x].decided[m], dep[y].decided[m]);
	if (!c)
		c = greater_first(dep[x].n, dep[y].n);
	return c ? c : (x > y) - (x < y);
}

static size_t *
sorted(size_t n, int (*by)(const void *, const void *, void *), const void *arg)
{
	size_t *order = xreallocarray(NULL, n + 1, sizeof *order);

	for (size_t i = 0; i < n; i++)
		order[i] = i;
	qsort_r(order, n, sizeof *order, by, (void *)(uintptr_t)arg);
	return order;
}

static double
ratio(uint64_t a, uint64_t b)
{
	return b ? (double)a / (double)b : 1;
}

static void
report_loop(struct out *o, const struct pp_report *r, const struct parallel_loop *l)
{
	uint64_t all = r->result.ninsn;
	struct refs_place p;
	char text[REFS_PLACE_TEXT], func[61];

	refs_place(r->refs, l->pc, &p);
	snprintf(func, sizeof func, "%s", p.func ? p.func : "?");
	text_clean(func, strlen(func));
	out_printf(o, "\n%-24.100s %-16s %6.2f%% %10llu %12llu ", refs_place_text(r->refs, l->pc, text), func, 100 * ratio(l->ninsn, all),
	    (unsigned long long)l->invocations, (unsigned long long)l->iterations);
	for (int m = PARALLEL_NMODELS; m-- > 0;)
		out_printf(o, " %5.1f%% %8.2f %8.2f", 100 * ratio(l->delayed[m], l->iterations),
		    ratio(l->ninsn, l->alone[m]), ratio(all, all - l->ninsn + l->alone[m]));
	out_str(o, "\n");
}

static void
report_dep(struct out *o, const struct pp_report *r, const struct parallel_dep *d)
{
	char from[REFS_PLACE_TEXT], to[REFS_PLACE_TEXT];

	out_printf(o, "    %-6s %s -> %s: %llu times, ", kind_name[d->kind],
	    refs_place_text(r->refs, d->from, from), refs_place_text(r->refs, d->to, to),
	    (unsigned long long)d->n);
	if (d->nearest == d->farthest)
		out_printf(o, "%llu", (unsigned long long)d->nearest);
	else
		out_printf(o, "%llu to %llu", (unsigned long long)d->nearest, (unsigned long long)d->farthest);
	out_printf(o, " iteration%s apart", d->farthest == 1 ? "" : "s");
	if (d->decided[PARALLEL_ALL])
		out_printf(o, "; delays %llu", (unsigned long long)d->decided[PARALLEL_ALL]);
	out_str(o, "\n");
}

void
report_text(struct out *o, const struct pp_report *r)
{
	const struct parallel_result *s = &r->result;
	size_t *loop = sorted(s->nloop, loop_compare, s->loop), *dep = sorted(s->ndep, dep_compare, s->dep);

	out_printf(o, "%llu instructions, %zu loop%s\n", (unsigned long long)s->ninsn, s->nloop,
	    s->nloop == 1 ? "" : "s");
	out_printf(o, "all loops parallel: %.2f times as fast; with renaming %.2f\n",
	    ratio(s->ninsn, s->time[PARALLEL_ALL]), ratio(s->ninsn, s->time[PARALLEL_RENAMED]));
	if (s->nloop)
		out_printf(o, "\n%99s %24s\n%-24s %-16s %7s %10s %12s  %6s %8s %8s %6s %8s %8s\n",
		    "all dependences", "with renaming", "loop", "function", "share", "entered", "iterations",
		    "wait", "loop", "program", "wait", "loop", "program");
	for (size_t i = 0; i < s->nloop && i < r->nloop; i++) {
		size_t k;

		report_loop(o, r, &s->loop[loop[i]]);
		LOWER_BOUND(k, s->ndep, s->dep[dep[k]].loop < loop[i]);
		for (size_t end = k; end < s->ndep && end - k < r->ndep && s->dep[dep[end]].loop == loop[i]; end++)
			report_dep(o, r, &s->dep[dep[end]]);
	}
	free(loop);
	free(dep);
}

static void
json_models(struct json *j, const char *key, const uint64_t *v)
{
	json_object(j, key);
	json_u64(j, "all", v[PARALLEL_ALL]);
	json_u64(j, "renamed", v[PARALLEL_RENAMED]);
	json_end(j);
}

static void
json_source(struct json *j, const char *key, const struct pp_report *r, uint64_t pc)
{
	struct refs_place p;

	refs_place(r->refs, pc, &p);
	json_object(j, key);
	json_u64(j, "address", pc);
	json_string(j, "function", p.func);
	json_string(j, "file", p.file);
	json_u64(j, "line", p.line > 0 ? (uint64_t)p.line : 0);
	json_end(j);
}

static void
json_loop(struct json *j, const struct pp_report *r, const struct parallel_loop *l)
{
	json_object(j, NULL);
	json_source(j, "header", r, l->pc);
	json_u64(j, "entered", l->invocations);
	json_u64(j, "iterations", l->iterations);
	json_u64(j, "instructions", l->ninsn);
	json_models(j, "parallel time", l->alone);
	json_models(j, "delayed iterations", l->delayed);
	json_object(j, "dependences");
	for (int k = 0; k < PARALLEL_NKINDS; k++)
		json_u64(j, kind_name[k], l->ndep[k]);
	json_end(j);
	json_end(j);
}

static void
json_dep(struct json *j, const struct pp_report *r, const struct parallel_dep *d)
{
	json_object(j, NULL);
	json_u64(j, "loop", d->loop);
	json_string(j, "kind", kind_name[d->kind]);
	json_source(j, "from", r, d->from);
	json_source(j, "to", r, d->to);
	json_u64(j, "times", d->n);
	json_u64(j, "nearest", d->nearest);
	json_u64(j, "farthest", d->farthest);
	json_models(j, "delayed iterations", d->decided);
	json_end(j);
}

void
report_json(struct out *o, const struct pp_report *r)
{
	const struct parallel_result *s = &r->result;
	struct json j;

	json_begin(&j, o);
	json_u64(&j, "instructions", s->ninsn);
	json_models(&j, "parallel time", s->time);
	json_array(&j, "loops");
	for (size_t i = 0; i < s->nloop; i++)
		json_loop(&j, r, &s->loop[i]);
	json_end(&j);
	json_array(&j, "dependences");
	for (size_t i = 0; i < s->ndep; i++)
		json_dep(&j, r, &s->dep[i]);
	json_end(&j);
	json_end(&j);
}
