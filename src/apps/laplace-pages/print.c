/* laplace-pages: what a person reads, and --json. */
#include <inttypes.h>

#include "apps/laplace-pages/pages.h"
#include "base/json.h"

static void
pages_range(const struct placement *p, const struct placed *d, uint64_t *min, uint64_t *max)
{
	*min = *max = d->pages[0];
	for (size_t n = 1; n < p->nnode; n++) {
		*min = d->pages[n] < *min ? d->pages[n] : *min;
		*max = d->pages[n] > *max ? d->pages[n] : *max;
	}
}

static void
text_policies(struct out *out, const struct placement *p)
{
	out_printf(out, "%-12s %20s %20s %8s %14s %14s %14s\n", "policy", "local", "remote", "local %",
	    "moves, copies", "fewest pages", "most pages");
	for (int c = 0; c < NPOLICY; c++) {
		const struct placed *d = &p->placed[c];
		uint64_t min, max;

		pages_range(p, d, &min, &max);
		out_printf(out, "%-12s %20" PRIu64 " %20" PRIu64, policy_name[c], d->local, p->refs - d->local);
		if (p->refs)
			out_printf(out, " %8.3f", 100.0 * (double)d->local / (double)p->refs);
		else
			out_printf(out, " %8s", "-");
		out_printf(out, " %14" PRIu64 " %14" PRIu64 " %14" PRIu64 "\n", d->moved, min, max);
	}
}

/* A row of the table of sizes: a number of each */
static void
text_row(struct out *out, const struct pages_job *j, const char *what, const char *more,
    uint64_t fn(const struct view *v, int i), int i)
{
	out_printf(out, "%-13s %-13s", what, more);
	for (size_t k = 0; k < j->nview; k++)
		out_printf(out, " %18" PRIu64, fn(&j->view[k], i));
	out_str(out, "\n");
}

static uint64_t
get_size(const struct view *v, int i)
{
	(void)i;
	return v->size;
}

static uint64_t
get_pages(const struct view *v, int i)
{
	(void)i;
	return v->place.npage;
}

static uint64_t
get_memory(const struct view *v, int i)
{
	(void)i;
	return v->place.npage * v->size;
}

static uint64_t
get_untouched(const struct view *v, int i)
{
	return get_memory(v, i) - ((uint64_t)v->frames.ncanon << LAP_PAGEBITS);
}

static uint64_t
get_misses(const struct view *v, int i)
{
	(void)i;
	return v->frames.misses;
}

static uint64_t
get_sharing(const struct view *v, int i)
{
	return v->place.sharing[i].pages;
}

static uint64_t
get_sharing_refs(const struct view *v, int i)
{
	return v->place.sharing[i].refs;
}

static uint64_t
get_local(const struct view *v, int i)
{
	return v->place.placed[i].local;
}

static uint64_t
get_remote(const struct view *v, int i)
{
	return v->place.refs - v->place.placed[i].local;
}

static uint64_t
get_moved(const struct view *v, int i)
{
	return v->place.placed[i].moved;
}

static void
text_sizes(struct out *out, const struct pages_job *j)
{
	text_row(out, j, "page size", "bytes", get_size, 0);
	text_row(out, j, "pages", "", get_pages, 0);
	text_row(out, j, "memory", "bytes", get_memory, 0);
	text_row(out, j, "", "untouched", get_untouched, 0);
	text_row(out, j, "TLB", "misses", get_misses, 0);
	for (int c = 0; c < NSHARING; c++) {
		text_row(out, j, sharing_name[c], "pages", get_sharing, c);
		text_row(out, j, "", "references", get_sharing_refs, c);
	}
	for (int c = 0; c < NPOLICY; c++) {
		text_row(out, j, policy_name[c], "local", get_local, c);
		text_row(out, j, "", "remote", get_remote, c);
		if (c == MIGRATION || c == REPLICATION)
			text_row(out, j, "", c == MIGRATION ? "moves" : "copies", get_moved, c);
	}
}

void
print_text(struct out *out, const struct pages_job *j)
{
	const struct placement *p = &j->view[0].place;

	if (j->sizes)
		text_sizes(out, j);
	else
		text_policies(out, p);
	out_printf(out, "\n%-12s %20s %20s\n", "node", "tasks", "references");
	for (size_t n = 0; n < j->nnode; n++)
		out_printf(out, "%-12zu %20" PRIu64 " %20" PRIu64 "\n", n, j->nodetasks[n], p->noderefs[n]);
	if (!j->sizes)
		out_printf(out, "%-12s %20zu %20" PRIu64 "\n", "pages", p->npage, p->refs);
}

static void
json_policies(struct json *js, const struct placement *p)
{
	json_object(js, "policies");
	for (int c = 0; c < NPOLICY; c++) {
		const struct placed *d = &p->placed[c];

		json_object(js, policy_name[c]);
		json_u64(js, "local", d->local);
		json_u64(js, "remote", p->refs - d->local);
		if (c == MIGRATION)
			json_u64(js, "migrations", d->moved);
		if (c == REPLICATION)
			json_u64(js, "replicas", d->moved);
		json_array(js, "pages");
		for (size_t n = 0; n < p->nnode; n++)
			json_u64(js, NULL, d->pages[n]);
		json_end(js);
		json_end(js);
	}
	json_end(js);
}

static void
json_sizes(struct json *js, const struct pages_job *j)
{
	json_u64(js, "tlb_entries", j->entries);
	json_array(js, "sizes");
	for (size_t k = 0; k < j->nview; k++) {
		const struct view *v = &j->view[k];

		json_object(js, NULL);
		json_u64(js, "size", v->size);
		json_u64(js, "pages", v->place.npage);
		json_u64(js, "memory", get_memory(v, 0));
		json_u64(js, "untouched", get_untouched(v, 0));
		json_u64(js, "tlb_misses", v->frames.misses);
		for (int c = 0; c < NSHARING; c++) {
			json_object(js, sharing_name[c]);
			json_u64(js, "pages", v->place.sharing[c].pages);
			json_u64(js, "references", v->place.sharing[c].refs);
			json_end(js);
		}
		json_policies(js, &v->place);
		json_end(js);
	}
	json_end(js);
}

void
print_json(struct out *out, const struct pages_job *j)
{
	const struct placement *p = &j->view[0].place;
	struct json js;

	json_begin(&js, out);
	json_u64(&js, "references", p->refs);
	if (!j->sizes)
		json_u64(&js, "pages", p->npage);
	json_u64(&js, "threshold", j->threshold);
	if (j->sizes)
		json_sizes(&js, j);
	else
		json_policies(&js, p);
	json_array(&js, "nodes");
	for (size_t n = 0; n < j->nnode; n++) {
		json_object(&js, NULL);
		json_u64(&js, "tasks", j->nodetasks[n]);
		json_u64(&js, "references", p->noderefs[n]);
		json_end(&js);
	}
	json_end(&js);
	json_end(&js);
}
