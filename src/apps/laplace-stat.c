/*
 * laplace-stat: count the pages of memory that the tasks of a merged trace share.
 *
 * The traces are read one after another, so a page need not know which tasks touch it: it counts them, and
 * has the last one. Only of the tasks with the most references is there a bit each, for pairs of them.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/diag.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/opt.h"
#include "base/out.h"
#include "base/progress.h"
#include "format/laplace/laplace.h"

enum { JSON = 256 };
enum { TOP = 16, FIELDS = 7 };
enum class { PRIVATE, READ_SHARED, WRITE_SHARED, NCLASS };

static const struct opt laplace_stat_opts[] = {
	{ JSON, "json", NULL, "print JSON" },
	OPT_OUTPUT,
	{ 0 },
};

static const struct opt_tool laplace_stat_tool = {
	.does = "Counts the pages of memory that the tasks of a merged trace share.",
	.synopsis = "[--json] [-o file] dir",
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
	char *path;                     /* below the folder; owned */
	uint64_t refs, pages, private;
	uint32_t number;                /* its place in the manifest */
};
struct sum { uint64_t pages, refs; };

struct stat_job {
	const char *dir;
	struct task *task;              /* owned; the most references first */
	size_t ntask, roomtask;
	struct hash hash;
	struct page *page;              /* owned */
	size_t npage, roompage;
	struct sum class[NCLASS];
	struct sum *bytasks;            /* owned; [n]: the pages that n tasks touch */
	uint64_t pair[TOP][TOP];
};

static const char *const class_name[] = { "private", "read-shared", "write-shared" };

/* A file below the folder, which must be a file and no link: the folder may be a stranger's. */
static struct in *
open_below(const struct stat_job *j, const char *name)
{
	char *path = xasprintf("%s/%s", j->dir, name);
	char *slash = strrchr(path, '/');
	struct stat st;
	struct in *in;

	*slash = '\0';
	if (strchr(name, '/') && (lstat(path, &st) != 0 || !S_ISDIR(st.st_mode)))
		die("%s: not a folder", path);
	*slash = '/';
	if (lstat(path, &st) != 0)
		die_sys("%s", path);
	if (!S_ISREG(st.st_mode))
		die("%s: not a regular file", path);
	in = in_open(path);
	free(path);
	return in;
}

/* p1/t1, p1.2/t1.3: the names that laplace-merge gives, which lead nowhere else */
static int
is_task_path(const char *s)
{
	const char *digits = "0123456789abcdef.";
	size_t n = *s == 'p' ? strspn(s + 1, digits) : 0;

	if (!n || strncmp(s + 1 + n, "/t", 2) != 0)
		return 0;
	s += n + 3;
	n = strspn(s, digits);
	return n && !s[n];
}

/* The fields of a line, which it cuts; how many there are, at most FIELDS. */
static int
fields_of(char *line, char *field[FIELDS])
{
	int n = 0;

	for (char *s = line; s && n < FIELDS; n++) {
		field[n] = s;
		s = strchr(s, ' ');
		if (s)
			*s++ = '\0';
	}
	return n;
}

/* A task's line, or the kernel's, is added to the tasks. 0, or -1: it is neither as it must be. */
static int
task_add(struct stat_job *j, char *line)
{
	char *field[FIELDS];
	int n = fields_of(line, field), kernel = !strcmp(field[0], "kernel");
	const char *refs;
	uint64_t v;

	if (n != (kernel ? 6 : 7))
		return -1;
	refs = field[n - 2];
	if (kernel ? strcmp(field[1], "kernel") != 0 : !is_task_path(field[1]))
		return -1;
	if (!*refs || num_hex(refs, strlen(refs), &v) != strlen(refs))
		return -1;
	if (j->ntask >= UINT32_MAX - 1)
		return -1;
	j->task = mem_xgrow(j->task, &j->roomtask, j->ntask + 1, sizeof *j->task);
	j->task[j->ntask] = (struct task){
		.path = xstrdup(field[1]), .refs = v, .number = (uint32_t)j->ntask
	};
	j->ntask++;
	return 0;
}

static void
manifest_read(struct stat_job *j)
{
	struct in *in = open_below(j, "manifest");
	const uint8_t *p, *nl;
	uint64_t nline = 0;
	size_t have;
	int end = 0;

	for (; (p = in_line(in, LAP_LINE_MAX, &have, &nl)), nl; nline++) {
		char *line = xstrndup((const char *)p, (size_t)(nl - p));
		int bad = end || strlen(line) != (size_t)(nl - p);

		if (!nline)
			bad |= strcmp(line, "laplace-merge 1 text") != 0 &&
			    strcmp(line, "laplace-merge 1 packed") != 0;
		else if (!strncmp(line, "task ", 5) || !strncmp(line, "kernel ", 7))
			bad |= task_add(j, line) != 0;
		end = !strcmp(line, "end");
		free(line);
		if (bad)
			die_at(in_name(in), in_off(in), DIAG_NOREC, "not a line of a manifest");
		in_skip(in, (size_t)(nl - p) + 1);
	}
	if (in_error(in))
		die_at(in_name(in), in_off(in), DIAG_NOREC, "%s", in_error(in));
	if (have || !end)
		die_at(in_name(in), in_off(in), DIAG_NOREC, "the manifest is cut off");
	in_close(in);
}

static int
task_compare(const void *a, const void *b)
{
	const struct task *x = a, *y = b;

	if (x->refs != y->refs)
		return x->refs < y->refs ? 1 : -1;
	return x->number < y->number ? -1 : x->number > y->number;
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
task_read(struct stat_job *j, uint32_t rank)
{
	static char name[LAP_NAME_MAX];
	struct lap_merged r;
	struct in *in = open_below(j, j->task[rank].path);
	struct lap_item it;
	uint64_t n = 0;
	int got = lap_merged_open(&r, in, name);

	if (got < 0)
		die_at(in_name(in), r.off, DIAG_NOREC, "%s", r.err);
	while ((got = lap_merged_read(&r, &it)) > 0)
		if (!it.isevent) {
			touch_take(j, rank, &it.touch);
			n++;
		}
	if (got < 0)
		die_at(in_name(in), r.off, r.nrec, "%s", r.err);
	if (n != j->task[rank].refs)
		die("%s: %" PRIu64 " references, where the manifest has %" PRIu64, in_name(in), n,
		    j->task[rank].refs);
	in_close(in);
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

		out_printf(out, "%-24s %14" PRIu64 " %20" PRIu64 " %14" PRIu64 " %14" PRIu64 "\n", t->path,
		    t->pages, t->refs, t->private, t->pages - t->private);
	}
	out_printf(out, "\n%-24s", "pages in common");
	for (size_t b = 0; b < top; b++)
		out_printf(out, " %14s", j->task[b].path);
	for (size_t a = 0; a < top; a++) {
		out_printf(out, "\n%-24s", j->task[a].path);
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
		json_string(&js, "task", j->task[i].path);
		json_u64(&js, "private", j->task[i].private);
		if (i < TOP) {
			json_array(&js, "in_common");
			for (size_t b = 0; b < TOP && b < j->ntask; b++)
				json_u64(&js, NULL, j->pair[i][b]);
			json_end(&js);
		}
		json_sum(&js, &(struct sum){ j->task[i].pages, j->task[i].refs });
	}
	json_end(&js);
	json_end(&js);
}

static void
job_free(struct stat_job *j)
{
	for (size_t i = 0; i < j->ntask; i++)
		free(j->task[i].path);
	free(j->task);
	free(j->page);
	free(j->bytasks);
	hash_free(&j->hash);
}

int
main(int argc, char **argv)
{
	struct stat_job j = { .dir = NULL };
	const char *outname = NULL;
	struct out *out;
	int c, json = 0;

	diag_init(argv[0], 1);
	while ((c = opt_next(&laplace_stat_tool, argc, argv)) != -1)
		if (c == JSON)
			json = 1;
		else
			outname = optarg;
	opt_operands(argc, argv, 1, 1);
	j.dir = argv[optind];
	progress_start(NULL);
	manifest_read(&j);
	if (j.ntask)
		qsort(j.task, j.ntask, sizeof *j.task, task_compare);
	for (size_t i = 0; i < j.ntask; i++)
		task_read(&j, (uint32_t)i);
	pages_sum(&j);
	out = out_open(outname);
	(json ? print_json : print_text)(out, &j);
	out_close(out);
	job_free(&j);
	return 0;
}
