/* --sites: which functions and lines recorded the bytes of an event file. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "convert/ae2addr/ae2addr.h"

static const char *const sites_kind[] = {
	[RK_BRANCH] = "branch", [RK_BLOCK] = "block-number", [RK_VALUE] = "value",
	[RK_NEED] = "entry-value", [RK_ITEM] = "run-item", [RK_STRING] = "string-count",
};

/* A row of the table */
struct row {
	const char *func, *file;        /* "" for unknown */
	int line;
	const char *kind;
	uint64_t bytes, events;
};

/* Rows that say the same of a place have the same key. */
static int
sites_by_place(const void *pa, const void *pb)
{
	const struct row *a = pa, *b = pb;
	int c = strcmp(a->func, b->func);

	if (!c)
		c = strcmp(a->file, b->file);
	if (!c)
		c = (a->line > b->line) - (a->line < b->line);
	return c ? c : strcmp(a->kind, b->kind);
}

/* The most bytes first */
static int
sites_by_bytes(const void *pa, const void *pb)
{
	const struct row *a = pa, *b = pb;

	if (a->bytes != b->bytes)
		return a->bytes < b->bytes ? 1 : -1;
	return sites_by_place(pa, pb);
}

static void
sites_find(struct row *w, const struct regen_site *s, struct exe *x, uint64_t base, const struct libs *libs)
{
	struct libs_one *lib = libs_at(libs, s->pc);
	uint64_t off, pc = s->pc - (lib ? lib->base : base);
	const char *func, *file;

	x = lib ? &lib->exe : x;
	func = s->pc ? exe_func(x, pc, &off) : NULL;
	file = s->pc ? exe_line(x, pc, &w->line) : NULL;
	w->func = func ? exe_symbol_source(x, func, 1) : s->pc ? "?" : "(untraced code)";
	w->file = file ? file : "";
	if (!file)
		w->line = 0;
	w->kind = sites_kind[s->kind];
	w->bytes = s->bytes;
	w->events = s->events;
}

/* Makes one row of those of the same place; returns how many there are. */
static size_t
sites_merge(struct row *w, size_t n)
{
	size_t k = 0;

	qsort(w, n, sizeof *w, sites_by_place);
	for (size_t i = 0; i < n; i++) {
		if (k && sites_by_place(w + k - 1, w + i) == 0) {
			w[k - 1].bytes += w[i].bytes;
			w[k - 1].events += w[i].events;
		} else
			w[k++] = w[i];
	}
	return k;
}

void
sites_print(struct out *o, const struct regen *r, struct exe *x, uint64_t base, const struct libs *libs,
    uint64_t file_bytes)
{
	size_t n, k = 0;
	const struct regen_site *s = regen_sites(r, &n);
	struct row *w = xcalloc(n + 1, sizeof *w);

	for (size_t i = 0; i < n; i++)
		if (s[i].events) {
			sites_find(w + k++, s + i, x, base, libs);
			file_bytes -= s[i].bytes;
		}
	k = sites_merge(w, k);
	w[k++] = (struct row){"(frame of the file)", "", 0, "-", file_bytes, 0};
	qsort(w, k, sizeof *w, sites_by_bytes);
	for (size_t i = 0; i < k; i++) {
		out_printf(o, "%llu %llu %s %s", (unsigned long long)w[i].bytes, (unsigned long long)w[i].events,
		    w[i].kind, w[i].func);
		if (*w[i].file)
			out_printf(o, " %s:%d", w[i].file, w[i].line);
		out_str(o, "\n");
	}
	free(w);
}
