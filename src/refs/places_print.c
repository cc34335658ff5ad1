/* Prints tables of functions and lines. */
#include <inttypes.h>
#include <stdio.h>

#include "base/text.h"
#include "refs/places.h"

static void
print_counts(struct buf *b, const struct places_row *r, const struct places_counts *c)
{
	for (int i = 0; i < PLACES_COUNTS; i++)
		if (c->title[i])
			buf_printf(b, " %10" PRIu64, r->n[i]);
	buf_str(b, "  ");
}

static void
print_row(struct buf *b, const struct places_row *r, const struct places_counts *c, int lines)
{
	const char *name = lines ? r->file : r->func, *where = lines && r->func ? r->func : r->object;

	print_counts(b, r, c);
	text_str(b, name);
	if (r->line)
		buf_printf(b, ":%d", r->line);
	if (where) {
		buf_str(b, "  ");
		text_str(b, where);
	}
	buf_str(b, "\n");
}

void
places_text(struct buf *b, const struct places_table *t)
{
	const struct places_counts *c = t->counts;

	buf_str(b, "\n");
	for (int i = 0; i < PLACES_COUNTS; i++)
		if (c->title[i])
			buf_printf(b, "%11s", c->title[i]);
	buf_printf(b, "  %s by %s\n", c->what, t->lines ? "line" : "function");
	for (size_t i = 0; i < t->n; i++)
		print_row(b, &t->row[i], c, t->lines);
	if (t->more) {
		print_counts(b, &t->others, c);
		buf_printf(b, "%zu others\n", t->more);
	}
	print_counts(b, &t->total, c);
	buf_str(b, "total\n");
}

static void
json_counts(struct json *j, const struct places_row *r, const struct places_counts *c)
{
	json_object(j, c->what);
	for (int i = 0; i < PLACES_COUNTS; i++)
		if (c->title[i])
			json_u64(j, c->title[i], r->n[i]);
	json_end(j);
}

void
places_json(struct json *j, const struct places_table *t)
{
	const struct places_counts *c = t->counts;

	json_object(j, t->lines ? "lines" : "functions");
	json_array(j, "top");
	for (size_t i = 0; i < t->n; i++) {
		const struct places_row *r = &t->row[i];

		json_object(j, NULL);
		if (t->lines) {
			json_string(j, "file", r->file);
			json_u64(j, "line", (uint64_t)r->line);
		}
		json_string(j, "function", r->func);
		json_string(j, "object", r->object);
		json_counts(j, r, c);
		json_end(j);
	}
	json_end(j);
	json_object(j, "others");
	json_counts(j, &t->others, c);
	json_end(j);
	json_object(j, "total");
	json_counts(j, &t->total, c);
	json_end(j);
	json_end(j);
}
