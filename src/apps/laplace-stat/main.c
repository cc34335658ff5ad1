/*
 * laplace-stat: count the pages of memory that the tasks of a merged trace share.
 *
 * The traces are read one after another, so a page need not know which tasks touch it: it counts them, and
 * has the last one. Only of the tasks with the most references is there a bit each, for pairs of them.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "apps/laplace-stat/stat.h"
#include "base/diag.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/opt.h"
#include "base/out.h"
#include "base/progress.h"
#include "laplace/traces.h"

enum { JSON = 256, WINDOW };
enum { TOP = 16 };
enum class { PRIVATE, READ_SHARED, WRITE_SHARED, NCLASS };

static const struct opt laplace_stat_opts[] = {
	{ JSON, "json", NULL, "print JSON" },
	OPT_OUTPUT,
	{ WINDOW, "window", "T", "print the pages of each task in each time T, and how many are shared, instead" },
	{ 0 },
};

static const struct opt_tool laplace_stat_tool = {
	.does = "Counts the pages of memory that the tasks of a merged trace share.",
	.synopsis = "[--json] [-o file] [--window T] dir",
	.example = "laplace-merge -o traces refs kernel; laplace-stat traces",
	.opt = laplace_stat_opts,
};

struct page {
	uint64_t canon, refs;
	uint32_t last, ntask;           /* the last task that touched it, and how many did */
	uint16_t top;                   /* bit i: the task with rank i did */
	uint8_t written;
};
struct task {
	const struct lap_trace *trace;
	uint64_t pages, private;
};
struct sum { uint64_t pages, refs; };

struct stat_job {
	struct lap_folder folder;
	struct task *task;              /* owned; the most references first */
	size_t ntask;
	struct hash hash;
	struct page *page;              /* owned */
	size_t npage, roompage;
	struct sum class[NCLASS];
	struct sum *bytasks;            /* owned; [n]: the pages that n tasks touch */
	uint64_t pair[TOP][TOP];
};

static const char *const class_name[] = { "private", "read-shared", "write-shared" };

static int
task_compare(const void *a, const void *b)
{
	const struct task *x = a, *y = b;

	if (x->trace->nref != y->trace->nref)
		return x->trace->nref < y->trace->nref ? 1 : -1;
	return x->trace < y->trace ? -1 : x->trace > y->trace;
}

static void
tasks_begin(struct stat_job *j)
{
	j->ntask = j->folder.n;
	j->task = xcalloc(j->ntask + 1, sizeof *j->task);
	for (size_t i = 0; i < j->ntask; i++)
		j->task[i].trace = &j->folder.trace[i];
	qsort(j->task, j->ntask, sizeof *j->task, task_compare);
}

static struct page *
page_of(struct stat_job *j, uint64_t canon)
{
	uint32_t h = hash_number(canon), at = h, i;

	while ((i = hash_find(&j->hash, h, &at)) != HASH_NONE && j->page[i].canon != canon)
		;
	if (i != HASH_NONE)
		return &j->page[i];
	if (j->npage >= HASH_NONE - 1)
		die("more than %zu pages", j->npage);
	j->page = mem_xgrow(j->page, &j->roompage, j->npage + 1, sizeof *j->page);
	j->page[j->npage] = (struct page){ .canon = canon };
	hash_xadd(&j->hash, h, (uint32_t)j->npage);
	return &j->page[j->npage++];
}

static void
touch_take(struct stat_job *j, uint32_t rank, const struct lap_touch *t)
{
	struct page *p = page_of(j, t->canon);

	if (!p->ntask || p->last != rank) {
		p->last = rank;
		p->ntask++;
		if (rank < TOP)
			p->top |= (uint16_t)(1u << rank);
		j->task[rank].pages++;
	}
	p->refs++;
	p->written |= lap_types[t->type] == 'w' || lap_types[t->type] == 'W';
}

static void
task_read(struct stat_job *j, struct lap_reader *q, uint32_t rank)
{
	struct lap_cursor c = { .trace = j->task[rank].trace };
	int got;

	while ((got = lap_cursor_next(q, &c)) > 0)
		if (!c.item.isevent)
			touch_take(j, rank, &c.item.touch);
	if (got < 0)
		die_fault(q->f->where, &q->f->fault);
}

static void
pages_sum(struct stat_job *j)
{
	j->bytasks = xcalloc(j->ntask + 1, sizeof *j->bytasks);
	for (size_t i = 0; i < j->npage; i++) {
		const struct page *p = &j->page[i];
		enum class c = p->ntask == 1 ? PRIVATE : p->written ? WRITE_SHARED : READ_SHARED;

		j->class[c].pages++;
		j->class[c].refs += p->refs;
		j->bytasks[p->ntask].pages++;
		j->bytasks[p->ntask].refs += p->refs;
		if (c == PRIVATE)
			j->task[p->last].private++;
		for (unsigned a = 0; a < TOP; a++)
			for (unsigned b = 0; b < TOP && p->top >> a & 1; b++)
				j->pair[a][b] += p->top >> b & 1;
	}
}

static void
print_sum(struct out *out, const struct sum *s)
{
	out_printf(out, " %14" PRIu64 " %20" PRIu64 "\n", s->pages, s->refs);
}

static void
print_text(struct out *out, const struct stat_job *j)
{
	size_t top = j->ntask < TOP ? j->ntask : TOP;

	out_printf(out, "%-24s %14s %20s\n", "pages", "pages", "references");
	for (int c = 0; c < NCLASS; c++) {
		out_printf(out, "%-24s", class_name[c]);
		print_sum(out, &j->class[c]);
	}
	out_printf(out, "\n%-24s %14s %20s\n", "tasks that touch a page", "pages", "references");
	for (size_t n = 1; n <= j->ntask; n++)
		if (j->bytasks[n].pages) {
			out_printf(out, "%-24zu", n);
			print_sum(out, &j->bytasks[n]);
		}
	out_printf(out, "\n%-24s %14s %20s %14s %14s\n", "task", "pages", "references", "private", "shared");
	for (size_t i = 0; i < j->ntask; i++) {
		const struct task *t = &j->task[i];

		out_printf(out, "%-24s %14" PRIu64 " %20" PRIu64 " %14" PRIu64 " %14" PRIu64 "\n", t->trace->path,
		    t->pages, t->trace->nref, t->private, t->pages - t->private);
	}
	out_printf(out, "\n%-24s", "pages in common");
	for (size_t b = 0; b < top; b++)
		out_printf(out, " %14s", j->task[b].trace->path);
	for (size_t a = 0; a < top; a++) {
		out_printf(out, "\n%-24s", j->task[a].trace->path);
		for (size_t b = 0; b < top; b++)
			out_printf(out, " %14" PRIu64, j->pair[a][b]);
	}
	out_str(out, "\n");
}

static void
json_sum(struct json *js, const struct sum *s)
{
	json_u64(js, "pages", s->pages);
	json_u64(js, "references", s->refs);
	json_end(js);
}

static void
print_json(struct out *out, const struct stat_job *j)
{
	struct json js;

	json_begin(&js, out);
	for (int c = 0; c < NCLASS; c++) {
		json_object(&js, class_name[c]);
		json_sum(&js, &j->class[c]);
	}
	json_array(&js, "by_tasks");
	for (size_t n = 1; n <= j->ntask; n++)
		if (j->bytasks[n].pages) {
			json_object(&js, NULL);
			json_u64(&js, "tasks", n);
			json_sum(&js, &j->bytasks[n]);
		}
	json_end(&js);
	json_array(&js, "tasks");
	for (size_t i = 0; i < j->ntask; i++) {
		json_object(&js, NULL);
		json_string(&js, "task", j->task[i].trace->path);
		json_u64(&js, "private", j->task[i].private);
		if (i < TOP) {
			json_array(&js, "in_common");
			for (size_t b = 0; b < TOP && b < j->ntask; b++)
				json_u64(&js, NULL, j->pair[i][b]);
			json_end(&js);
		}
		json_sum(&js, &(struct sum){ j->task[i].pages, j->task[i].trace->nref });
	}
	json_end(&js);
	json_end(&js);
}

static void
job_free(struct stat_job *j)
{
	lap_folder_close(&j->folder);
	free(j->task);
	free(j->page);
	free(j->bytasks);
	hash_free(&j->hash);
}

static void
stat_run(struct out *out, struct stat_job *j, int json)
{
	static struct lap_reader reader;

	tasks_begin(j);
	lap_reader_init(&reader, &j->folder);
	for (size_t i = 0; i < j->ntask; i++)
		task_read(j, &reader, (uint32_t)i);
	pages_sum(j);
	(json ? print_json : print_text)(out, j);
}

int
main(int argc, char **argv)
{
	struct stat_job j = { .ntask = 0 };
	const char *outname = NULL;
	uint64_t window = 0;
	struct out *out;
	int c, json = 0;

	diag_init(argv[0], 1);
	while ((c = opt_next(&laplace_stat_tool, argc, argv)) != -1)
		if (c == JSON)
			json = 1;
		else if (c == WINDOW)
			window = opt_size(optarg, 1, UINT64_MAX);
		else
			outname = optarg;
	opt_operands(argc, argv, 1, 1);
	progress_start(NULL);
	if (lap_folder_open(&j.folder, argv[optind]) != 0)
		die_fault(j.folder.where, &j.folder.fault);
	if (j.folder.n >= HASH_NONE)
		die("%s: too many tasks", argv[optind]);
	out = out_open(outname);
	if (window)
		window_run(out, &j.folder, window, json);
	else
		stat_run(out, &j, json);
	out_close(out);
	job_free(&j);
	return 0;
}
