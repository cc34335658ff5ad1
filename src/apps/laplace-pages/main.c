/*
 * laplace-pages: count local and remote references of a merged trace under policies of page placement.
 *
 * The trace is read once, by its times; with --sizes each reference is one to a page of each size.
 */
#include <stdlib.h>
#include <string.h>

#include "apps/laplace-pages/pages.h"
#include "base/diag.h"
#include "base/mem.h"
#include "base/opt.h"
#include "base/progress.h"

enum { JSON = 256, TLB };

static const struct opt laplace_pages_opts[] = {
	{ JSON, "json", NULL, "print JSON" },
	{ 'n', "nodes", "N", "nodes of memory, 1 to 256 (4)" },
	OPT_OUTPUT,
	{ 's', "sizes", "BYTES,...", "compare pages of these sizes, 4k to 2M: sharing, placement, TLB misses" },
	{ 't', "threshold", "T", "a page moves to a node with T references more than its own since it moved (64)" },
	{ TLB, "tlb", "ENTRIES", "with --sizes: entries of the TLB of each node, 1 to 4096 (64)" },
	{ 0 },
};

static const struct opt_tool laplace_pages_tool = {
	.does = "Counts local and remote references of a merged trace under policies of page placement.",
	.synopsis = "[--json] [-n N] [-o file] [-s bytes,...] [-t T] [--tlb entries] dir",
	.example = "laplace-merge -o traces refs kernel; laplace-pages -n 2 traces",
	.opt = laplace_pages_opts,
};

static void
option_sizes(struct pages_job *j)
{
	char *list = xstrdup(optarg), *next = list, *s;

	j->sizes = 1;
	j->nview = 0;
	while ((s = next) != NULL) {
		next = strchr(s, ',');
		if (next)
			*next++ = '\0';
		if (j->nview == SIZES_MAX)
			opt_wrong("more than %d sizes", SIZES_MAX);
		j->view[j->nview].size = opt_size(s, 1u << LAP_PAGEBITS, 1u << SIZE_BITS);
		if (j->view[j->nview].size & (j->view[j->nview].size - 1))
			opt_wrong("not powers of 2");
		j->nview++;
	}
	free(list);
}

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
		j->nodetasks[i % j->nnode]++;
	}
	free(v);
}

static void
job_begin(struct pages_job *j, const char *dir)
{
	if (lap_folder_open(&j->folder, dir) != 0)
		die_fault(j->folder.where, &j->folder.fault);
	if (j->folder.n >= UINT32_MAX)
		die("%s: too many tasks", dir);
	tasks_assign(j);
	j->space_of = xcalloc(j->folder.nprocess + 2, sizeof *j->space_of);
	for (size_t i = 0; i < j->folder.nprocess; i++)
		j->space_of[i] = ++j->nspace;
	for (size_t k = 0; k < j->nview; k++) {
		struct view *v = &j->view[k];

		v->place.nnode = j->nnode;
		v->place.threshold = j->threshold;
		if (j->sizes)
			frames_init(&v->frames, (unsigned)__builtin_ctzll(v->size) - LAP_PAGEBITS, j->nnode, j->entries);
	}
}

static uint32_t
page_find(struct pages_job *j, uint64_t canon)
{
	const struct placement *p = &j->view[0].place;
	uint32_t h = hash_number(canon), at = h, i;

	while ((i = hash_find(&j->hash, h, &at)) != HASH_NONE && p->page[i].number != canon)
		;
	if (i != HASH_NONE)
		return i;
	if (p->npage >= HASH_NONE - 1)
		die("more than %zu pages", p->npage);
	hash_xadd(&j->hash, h, (uint32_t)p->npage);
	return (uint32_t)p->npage;
}

static void
touch_take(struct pages_job *j, const struct made *m)
{
	struct placement *p = &j->view[0].place;
	uint32_t *last = &j->last[m->touch->type];

	if (j->sizes) {
		for (size_t k = 0; k < j->nview; k++)
			place_touch(&j->view[k].place, frames_touch(&j->view[k].frames, m), j->view[k].frames.shift, m);
		return;
	}
	if (*last >= p->npage || p->page[*last].number != m->touch->canon)
		*last = page_find(j, m->touch->canon);
	place_touch(p, *last, 0, m);
}

/*
 * The kernel's references are made where the task runs that was scheduled last, and go through its address
 * space, but for those to the kernel's own memory. A program that is executed has a new address space.
 */
static void
traces_read(struct pages_job *j)
{
	static struct lap_reader reader;
	const struct lap_trace *running = NULL;
	struct lap_order o;
	struct lap_cursor *c;
	int got;

	lap_reader_init(&reader, &j->folder);
	if (lap_order_init(&o, &reader, 1) != 0)
		die_fault(j->folder.dir, &j->folder.fault);
	while ((got = lap_order_next(&o, &c)) > 0) {
		const struct lap_item *it = &c->item;
		struct made m = { .touch = &it->touch, .task = (size_t)(c->trace - j->folder.trace) };

		if (!c->trace->kernel && (!it->isevent || it->event.kind == LAP_K_SCHEDULE))
			running = c->trace;
		if (!c->trace->kernel && it->isevent && it->event.kind == LAP_K_EXEC)
			j->space_of[c->trace->process] = ++j->nspace;
		if (it->isevent)
			continue;
		if (running) {
			m.node = j->node_of[running - j->folder.trace];
			m.space = it->touch.canon < LAP_PAGES ? 0 : j->space_of[running->process];
		}
		touch_take(j, &m);
	}
	if (got < 0)
		die_fault(j->folder.where, &j->folder.fault);
	lap_order_free(&o);
}

static void
job_free(struct pages_job *j)
{
	for (size_t k = 0; k < j->nview; k++) {
		place_free(&j->view[k].place);
		frames_free(&j->view[k].frames);
	}
	lap_folder_close(&j->folder);
	free(j->node_of);
	free(j->space_of);
	hash_free(&j->hash);
}

static void
laplace_pages_option(struct pages_job *j, int c)
{
	switch (c) {
	case 'n':
		j->nnode = opt_size(optarg, 1, NODES_MAX);
		break;
	case 's':
		option_sizes(j);
		break;
	case 't':
		j->threshold = opt_size(optarg, 1, UINT64_MAX);
		break;
	default:
		j->entries = opt_size(optarg, 1, TLB_MAX);
	}
}

int
main(int argc, char **argv)
{
	static struct view view[SIZES_MAX] = { { .size = 1u << LAP_PAGEBITS } };
	static struct pages_job j = { .nnode = 4, .threshold = 64, .view = view, .nview = 1 };
	const char *outname = NULL;
	struct out *out;
	int c, json = 0;

	diag_init(argv[0], 1);
	while ((c = opt_next(&laplace_pages_tool, argc, argv)) != -1)
		if (c == JSON)
			json = 1;
		else if (c == 'o')
			outname = optarg;
		else
			laplace_pages_option(&j, c);
	opt_operands(argc, argv, 1, 1);
	if (j.entries && !j.sizes)
		die_usage("--tlb comes with --sizes");
	if (!j.entries)
		j.entries = 64;
	progress_start(NULL);
	job_begin(&j, argv[optind]);
	traces_read(&j);
	for (size_t k = 0; k < j.nview; k++)
		place_sum(&j.view[k].place);
	out = out_open(outname);
	(json ? print_json : print_text)(out, &j);
	out_close(out);
	job_free(&j);
	return 0;
}
