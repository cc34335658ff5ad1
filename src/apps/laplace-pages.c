/*
 * laplace-pages: count local and remote references of a merged trace under policies of page placement.
 *
 * The trace is read once, by its times. A page has two counters for each node: its references so far, and
 * those since the page last moved. All policies but migration follow from the first ones at the end.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/opt.h"
#include "base/out.h"
#include "base/progress.h"
#include "laplace/traces.h"

enum { JSON = 256 };
enum { NODES_MAX = 256 };
enum policy { FIRST_TOUCH, INTERLEAVED, BEST_STATIC, MIGRATION, REPLICATION, NPOLICY };

static const struct opt laplace_pages_opts[] = {
	{ JSON, "json", NULL, "print JSON" },
	{ 'n', "nodes", "N", "nodes of memory, 1 to 256 (4)" },
	OPT_OUTPUT,
	{ 't', "threshold", "T", "a page moves to a node with T references more than its own since it moved (64)" },
	{ 0 },
};

static const struct opt_tool laplace_pages_tool = {
	.does = "Counts local and remote references of a merged trace under policies of page placement.",
	.synopsis = "[--json] [-n N] [-o file] [-t T] dir",
	.example = "laplace-merge -o traces refs kernel; laplace-pages -n 2 traces",
	.opt = laplace_pages_opts,
};

struct page {
	uint64_t canon;
	uint16_t first, home;           /* the node of the first reference; where migration has it */
	uint8_t written;
};
struct node { uint64_t tasks, refs; };
struct placed {
	uint64_t local, moved;          /* moved: migrations, or replicas */
	uint64_t pages[NODES_MAX];
};

struct pages_job {
	struct lap_folder folder;
	uint16_t *node_of;              /* owned; of each trace */
	size_t nnode, running;          /* running: the node of the task that runs */
	uint64_t threshold;
	struct hash hash;
	struct page *page;              /* owned */
	uint64_t *count;                /* owned; nnode references and nnode since the page moved, for each page */
	size_t npage, roompage, roomcount;
	uint32_t last[LAP_NTYPES];      /* the page of the last reference of a type */
	struct node node[NODES_MAX];
	struct placed placed[NPOLICY];
	uint64_t refs;
};

static const char *const policy_name[] = {
	"first-touch", "interleaved", "best-static", "migration", "replication"
};

static int
trace_compare(const void *a, const void *b)
{
	const struct lap_trace *x = *(const struct lap_trace *const *)a, *y = *(const struct lap_trace *const *)b;

	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	return x < y ? -1 : x > y;
}

/* Round robin: the tasks in the order of their first records */
static void
tasks_assign(struct pages_job *j)
{
	const struct lap_folder *f = &j->folder;
	const struct lap_trace **v = xcalloc(f->n + 1, sizeof *v);
	size_t n = 0;

	j->node_of = xcalloc(f->n + 1, sizeof *j->node_of);
	for (size_t i = 0; i < f->n; i++)
		if (!f->trace[i].kernel)
			v[n++] = &f->trace[i];
	qsort(v, n, sizeof *v, trace_compare);
	for (size_t i = 0; i < n; i++) {
		j->node_of[v[i] - f->trace] = (uint16_t)(i % j->nnode);
		j->node[i % j->nnode].tasks++;
	}
	free(v);
}

static uint64_t *
counts_of(const struct pages_job *j, size_t i)
{
	return &j->count[2 * j->nnode * i];
}

static uint32_t
page_find(struct pages_job *j, uint64_t canon)
{
	uint32_t h = hash_number(canon), at = h, i;

	while ((i = hash_find(&j->hash, h, &at)) != HASH_NONE && j->page[i].canon != canon)
		;
	if (i != HASH_NONE)
		return i;
	if (j->npage >= HASH_NONE - 1)
		die("more than %zu pages", j->npage);
	i = (uint32_t)j->npage++;
	j->page = mem_xgrow(j->page, &j->roompage, j->npage, sizeof *j->page);
	j->count = mem_xgrow(j->count, &j->roomcount, j->npage, 2 * j->nnode * sizeof *j->count);
	j->page[i] = (struct page){ .canon = canon, .first = (uint16_t)j->running, .home = (uint16_t)j->running };
	memset(counts_of(j, i), 0, 2 * j->nnode * sizeof *j->count);
	hash_xadd(&j->hash, h, i);
	return i;
}

static void
touch_take(struct pages_job *j, const struct lap_touch *t)
{
	uint32_t i = j->last[t->type];
	size_t n = j->running;
	uint64_t *made, *since;
	struct page *p;

	if (i >= j->npage || j->page[i].canon != t->canon)
		j->last[t->type] = i = page_find(j, t->canon);
	p = &j->page[i];
	made = counts_of(j, i);
	since = made + j->nnode;
	made[n]++;
	since[n]++;
	p->written |= lap_types[t->type] == 'w' || lap_types[t->type] == 'W';
	if (n == p->home) {
		j->placed[MIGRATION].local++;
	} else if (since[n] >= since[p->home] && since[n] - since[p->home] >= j->threshold) {
		p->home = (uint16_t)n;
		memset(since, 0, j->nnode * sizeof *since);
		j->placed[MIGRATION].moved++;
	}
}

/* The kernel's references are made where the task runs that was scheduled last. */
static void
traces_read(struct pages_job *j)
{
	static struct lap_reader reader;
	struct lap_order o;
	struct lap_cursor *c;
	int got;

	lap_reader_init(&reader, &j->folder);
	if (lap_order_init(&o, &reader, 1) != 0)
		die_fault(j->folder.dir, &j->folder.fault);
	while ((got = lap_order_next(&o, &c)) > 0) {
		const struct lap_item *it = &c->item;

		if (!c->trace->kernel && (!it->isevent || it->event.kind == LAP_K_SCHEDULE))
			j->running = j->node_of[c->trace - j->folder.trace];
		if (!it->isevent)
			touch_take(j, &it->touch);
	}
	if (got < 0)
		die_fault(j->folder.where, &j->folder.fault);
	lap_order_free(&o);
}

static void
page_put(struct placed *p, size_t node, uint64_t local)
{
	p->pages[node]++;
	p->local += local;
}

/* A page that nobody writes is local to all that have it. */
static void
page_replicate(struct pages_job *j, const struct page *p, const uint64_t *made)
{
	struct placed *r = &j->placed[REPLICATION];

	if (p->written) {
		page_put(r, p->first, made[p->first]);
		return;
	}
	for (size_t n = 0; n < j->nnode; n++)
		if (made[n]) {
			page_put(r, n, made[n]);
			r->moved += n != p->first;
		}
}

static void
pages_sum(struct pages_job *j)
{
	for (size_t i = 0; i < j->npage; i++) {
		const struct page *p = &j->page[i];
		const uint64_t *made = counts_of(j, i);
		size_t best = 0;

		for (size_t n = 0; n < j->nnode; n++) {
			j->node[n].refs += made[n];
			j->refs += made[n];
			if (made[n] > made[best])
				best = n;
		}
		page_put(&j->placed[FIRST_TOUCH], p->first, made[p->first]);
		page_put(&j->placed[INTERLEAVED], p->canon % j->nnode, made[p->canon % j->nnode]);
		page_put(&j->placed[BEST_STATIC], best, made[best]);
		page_put(&j->placed[MIGRATION], p->home, 0);
		page_replicate(j, p, made);
	}
}

static void
pages_range(const struct pages_job *j, const struct placed *p, uint64_t *min, uint64_t *max)
{
	*min = *max = p->pages[0];
	for (size_t n = 1; n < j->nnode; n++) {
		*min = p->pages[n] < *min ? p->pages[n] : *min;
		*max = p->pages[n] > *max ? p->pages[n] : *max;
	}
}

static void
print_text(struct out *out, const struct pages_job *j)
{
	out_printf(out, "%-12s %20s %20s %8s %14s %14s %14s\n", "policy", "local", "remote", "local %",
	    "moves, copies", "fewest pages", "most pages");
	for (int c = 0; c < NPOLICY; c++) {
		const struct placed *p = &j->placed[c];
		uint64_t min, max;

		pages_range(j, p, &min, &max);
		out_printf(out, "%-12s %20" PRIu64 " %20" PRIu64, policy_name[c], p->local, j->refs - p->local);
		if (j->refs)
			out_printf(out, " %8.3f", 100.0 * (double)p->local / (double)j->refs);
		else
			out_printf(out, " %8s", "-");
		out_printf(out, " %14" PRIu64 " %14" PRIu64 " %14" PRIu64 "\n", p->moved, min, max);
	}
	out_printf(out, "\n%-12s %20s %20s\n", "node", "tasks", "references");
	for (size_t n = 0; n < j->nnode; n++)
		out_printf(out, "%-12zu %20" PRIu64 " %20" PRIu64 "\n", n, j->node[n].tasks, j->node[n].refs);
	out_printf(out, "%-12s %20zu %20" PRIu64 "\n", "pages", j->npage, j->refs);
}

static void
json_policy(struct json *js, const struct pages_job *j, enum policy c)
{
	const struct placed *p = &j->placed[c];

	json_object(js, policy_name[c]);
	json_u64(js, "local", p->local);
	json_u64(js, "remote", j->refs - p->local);
	if (c == MIGRATION)
		json_u64(js, "migrations", p->moved);
	if (c == REPLICATION)
		json_u64(js, "replicas", p->moved);
	json_array(js, "pages");
	for (size_t n = 0; n < j->nnode; n++)
		json_u64(js, NULL, p->pages[n]);
	json_end(js);
	json_end(js);
}

static void
print_json(struct out *out, const struct pages_job *j)
{
	struct json js;

	json_begin(&js, out);
	json_u64(&js, "references", j->refs);
	json_u64(&js, "pages", j->npage);
	json_u64(&js, "threshold", j->threshold);
	json_object(&js, "policies");
	for (int c = 0; c < NPOLICY; c++)
		json_policy(&js, j, (enum policy)c);
	json_end(&js);
	json_array(&js, "nodes");
	for (size_t n = 0; n < j->nnode; n++) {
		json_object(&js, NULL);
		json_u64(&js, "tasks", j->node[n].tasks);
		json_u64(&js, "references", j->node[n].refs);
		json_end(&js);
	}
	json_end(&js);
	json_end(&js);
}

static void
job_free(struct pages_job *j)
{
	lap_folder_close(&j->folder);
	free(j->node_of);
	free(j->page);
	free(j->count);
	hash_free(&j->hash);
}

int
main(int argc, char **argv)
{
	static struct pages_job j = { .nnode = 4, .threshold = 64 };
	const char *outname = NULL;
	struct out *out;
	int c, json = 0;

	diag_init(argv[0], 1);
	while ((c = opt_next(&laplace_pages_tool, argc, argv)) != -1)
		if (c == JSON)
			json = 1;
		else if (c == 'n')
			j.nnode = opt_size(optarg, 1, NODES_MAX);
		else if (c == 't')
			j.threshold = opt_size(optarg, 1, UINT64_MAX);
		else
			outname = optarg;
	opt_operands(argc, argv, 1, 1);
	progress_start(NULL);
	if (lap_folder_open(&j.folder, argv[optind]) != 0)
		die_fault(j.folder.where, &j.folder.fault);
	tasks_assign(&j);
	traces_read(&j);
	pages_sum(&j);
	out = out_open(outname);
	(json ? print_json : print_text)(out, &j);
	out_close(out);
	job_free(&j);
	return 0;
}
