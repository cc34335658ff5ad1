/*
 * laplace-stat --window: working sets of tasks over time.
 *
 * The traces are read by their times. Of a window, there is a page of each task that touched it, and one of all;
 * when it ends, it is printed and forgotten, so that memory grows with the pages of one window.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "apps/laplace-stat/stat.h"
#include "base/diag.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/mem.h"

struct seen { uint64_t canon; uint32_t page, task; };   /* page: of the window's pages */
struct set { uint64_t refs, pages, shared; };

struct window {
	struct out *out;
	struct json *js;                /* NULL: text */
	const struct lap_folder *f;
	uint64_t length, begin, number; /* begin: of the first window */
	struct hash pages, pairs;
	uint32_t *ntask;                /* owned; of each page: how many touched it */
	uint64_t *canon;                /* owned; of each page */
	struct seen *seen;              /* owned; of each task and page */
	size_t npage, roomntask, roomcanon, nseen, roomseen;
	struct set *task;               /* owned; of each trace */
	uint32_t *active;               /* owned; the traces with references in the window */
	size_t nactive;
	struct { uint64_t canon; size_t task; int valid; } last;
};

static uint32_t
page_find(struct window *w, uint64_t canon)
{
	uint32_t h = hash_number(canon), at = h, i;

	while ((i = hash_find(&w->pages, h, &at)) != HASH_NONE && w->canon[i] != canon)
		;
	if (i != HASH_NONE)
		return i;
	if (w->npage >= HASH_NONE - 1)
		die("more than %zu pages", w->npage);
	i = (uint32_t)w->npage++;
	w->ntask = mem_xgrow(w->ntask, &w->roomntask, w->npage, sizeof *w->ntask);
	w->canon = mem_xgrow(w->canon, &w->roomcanon, w->npage, sizeof *w->canon);
	w->ntask[i] = 0;
	w->canon[i] = canon;
	hash_xadd(&w->pages, h, i);
	return i;
}

static void
window_touch(struct window *w, size_t task, uint64_t canon)
{
	uint32_t h = hash_number(canon ^ (uint64_t)task << 40), at = h, i;

	if (!w->task[task].refs++)
		w->active[w->nactive++] = (uint32_t)task;
	if (w->last.valid && w->last.canon == canon && w->last.task == task)
		return;
	w->last.valid = 1;
	w->last.canon = canon;
	w->last.task = task;
	while ((i = hash_find(&w->pairs, h, &at)) != HASH_NONE && (w->seen[i].canon != canon || w->seen[i].task != task))
		;
	if (i != HASH_NONE)
		return;
	if (w->nseen >= HASH_NONE - 1)
		die("more than %zu pages of tasks", w->nseen);
	w->seen = mem_xgrow(w->seen, &w->roomseen, w->nseen + 1, sizeof *w->seen);
	w->seen[w->nseen] = (struct seen){ canon, page_find(w, canon), (uint32_t)task };
	w->ntask[w->seen[w->nseen].page]++;
	hash_xadd(&w->pairs, h, (uint32_t)w->nseen++);
}

static void
put_set(struct window *w, const char *name, const struct set *s)
{
	if (!w->js) {
		out_printf(w->out, "%-20" PRIu64 " %-24s %20" PRIu64 " %14" PRIu64 " %14" PRIu64 "\n",
		    w->begin + w->number * w->length, name, s->refs, s->pages, s->shared);
		return;
	}
	if (name)
		json_string(w->js, "task", name);
	json_u64(w->js, "references", s->refs);
	json_u64(w->js, "pages", s->pages);
	json_u64(w->js, "shared", s->shared);
}

/* all: of all tasks, each page once */
static void
window_print(struct window *w, const struct set *all)
{
	if (w->js) {
		json_object(w->js, NULL);
		json_u64(w->js, "time", w->begin + w->number * w->length);
		put_set(w, NULL, all);
		json_array(w->js, "tasks");
	}
	for (size_t i = 0; i < w->nactive; i++) {
		if (w->js)
			json_object(w->js, NULL);
		put_set(w, w->f->trace[w->active[i]].path, &w->task[w->active[i]]);
		if (w->js)
			json_end(w->js);
	}
	if (w->js) {
		json_end(w->js);
		json_end(w->js);
	} else {
		put_set(w, "all", all);
	}
}

static int
number_compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* Prints the window, and begins another one. */
static void
window_end(struct window *w)
{
	struct set all = { .pages = w->npage };

	for (size_t i = 0; i < w->nseen; i++) {
		struct set *t = &w->task[w->seen[i].task];

		t->pages++;
		t->shared += w->ntask[w->seen[i].page] > 1;
	}
	for (size_t i = 0; i < w->npage; i++)
		all.shared += w->ntask[i] > 1;
	for (size_t i = 0; i < w->nactive; i++)
		all.refs += w->task[w->active[i]].refs;
	qsort(w->active, w->nactive, sizeof *w->active, number_compare);
	if (all.refs)
		window_print(w, &all);
	for (size_t i = 0; i < w->nactive; i++)
		w->task[w->active[i]] = (struct set){ 0 };
	w->nactive = 0;
	hash_free(&w->pages);
	hash_free(&w->pairs);
	w->npage = w->nseen = 0;
	w->last.valid = 0;
}

static void
windows_read(struct window *w, struct lap_folder *f)
{
	static struct lap_reader reader;
	struct lap_order o;
	struct lap_cursor *c;
	int got, any = 0;

	lap_reader_init(&reader, f);
	if (lap_order_init(&o, &reader, 1) != 0)
		die_fault(f->dir, &f->fault);
	while ((got = lap_order_next(&o, &c)) > 0) {
		uint64_t time = lap_item_time(&c->item);

		if (!any)
			w->begin = time;
		any = 1;
		if ((time - w->begin) / w->length != w->number) {
			window_end(w);
			w->number = (time - w->begin) / w->length;
		}
		if (!c->item.isevent)
			window_touch(w, (size_t)(c->trace - f->trace), c->item.touch.canon);
	}
	if (got < 0)
		die_fault(f->where, &f->fault);
	window_end(w);
	lap_order_free(&o);
}

void
window_run(struct out *out, struct lap_folder *f, uint64_t length, int json)
{
	struct window w = { .out = out, .f = f, .length = length };
	struct json js;

	w.task = xcalloc(f->n + 1, sizeof *w.task);
	w.active = xcalloc(f->n + 1, sizeof *w.active);
	if (json) {
		w.js = &js;
		json_begin(&js, out);
		json_u64(&js, "window", length);
		json_array(&js, "windows");
	} else {
		out_printf(out, "%-20s %-24s %20s %14s %14s\n", "time", "task", "references", "pages", "shared");
	}
	windows_read(&w, f);
	if (json) {
		json_end(&js);
		json_end(&js);
	}
	free(w.ntask);
	free(w.canon);
	free(w.seen);
	free(w.task);
	free(w.active);
}
