/* cachesim: prints tables of functions and lines. */
#include <inttypes.h>
#include <stdio.h>

#include "apps/cachesim/cachesim.h"

/* Names come from files of strangers, and go to terminals. */
static void
table_name(struct out *o, const char *s)
{
	for (; *s; s++)
		out_write(o, *s >= ' ' && *s < 0x7f ? s : "?", 1);
}

static void
table_misses(struct out *o, const uint64_t miss[HIER_N], const struct hier_params *p)
{
	for (int i = 0; i < HIER_N; i++)
		if (p->cache[i].size)
			out_printf(o, "%11" PRIu64, miss[i]);
	out_str(o, "  ");
}

static void
table_row(struct out *o, const struct row *r, const struct hier_params *p, int lines)
{
	const char *name = lines ? r->file : r->func, *where = lines && r->func ? r->func : r->object;

	table_misses(o, r->miss, p);
	table_name(o, name ? name : "?");
	if (r->line)
		out_printf(o, ":%d", r->line);
	if (where) {
		out_str(o, "  ");
		table_name(o, where);
	}
	out_str(o, "\n");
}

void
table_print(struct out *o, const struct table *t, const struct hier_params *p)
{
	out_str(o, "\n");
	for (int i = 0; i < HIER_N; i++)
		if (p->cache[i].size)
			out_printf(o, "%11s", cachesim_title(p, i));
	out_printf(o, "  %s\n", t->lines ? "misses by line" : "misses by function");
	for (size_t i = 0; i < t->n; i++)
		table_row(o, &t->row[i], p, t->lines);
	if (t->more) {
		table_misses(o, t->others.miss, p);
		out_printf(o, "%zu others\n", t->more);
	}
	table_misses(o, t->total.miss, p);
	out_str(o, "total\n");
}

static void
table_json_misses(struct json *j, const struct row *r, const struct hier_params *p)
{
	json_object(j, "misses");
	for (int i = 0; i < HIER_N; i++)
		if (p->cache[i].size)
			json_u64(j, cachesim_title(p, i), r->miss[i]);
	json_end(j);
}

void
table_json(struct json *j, const struct table *t, const struct hier_params *p)
{
	json_object(j, t->lines ? "lines" : "functions");
	json_array(j, "top");
	for (size_t i = 0; i < t->n; i++) {
		const struct row *r = &t->row[i];

		json_object(j, NULL);
		if (t->lines) {
			json_string(j, "file", r->file);
			json_u64(j, "line", (uint64_t)r->line);
		}
		json_string(j, "function", r->func);
		json_string(j, "object", r->object);
		table_json_misses(j, r, p);
		json_end(j);
	}
	json_end(j);
	json_object(j, "others");
	table_json_misses(j, &t->others, p);
	json_end(j);
	json_object(j, "total");
	table_json_misses(j, &t->total, p);
	json_end(j);
	json_end(j);
}
