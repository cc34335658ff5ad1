/* addrstat: the screen that a person reads. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "apps/addrstat/addrstat.h"
#include "base/diag.h"
#include "base/text.h"
#include "refs/areas.h"

const char *const access_name[NACCESS + 1] = { "fetch", "load", "store", "all" };
const struct places_counts place_counts = {
	.what = "references", .title = { "inst", "load", "store", "modify" }, .weight = { 1, 1, 1, 1 },
};

static void
print_kinds(struct out *out, const struct stat *t)
{
	struct footprint f[NACCESS + 1];
	uint64_t bytes;

	out_printf(out, "%-8s %16s %18s\n", "kind", "references", "bytes");
	for (unsigned k = 0; k < REF_NKINDS; k++) {
		uint64_t n = stat_kind(t, k, &bytes);

		if (n)
			out_printf(out, "%-8s %16" PRIu64 " %18" PRIu64 "\n", ref_kind_name(k), n, bytes);
	}
	out_printf(out, "\n%-8s %16s %18s\n", "kind", "size", "references");
	for (unsigned i = 0; i < REF_NACCESS << 8; i++)
		if (t->count[i])
			out_printf(out, "%-8s %16u %18" PRIu64 "\n", ref_kind_name(i >> 8), i & 255, t->count[i]);
	stat_footprints(t, f);
	out_printf(out, "\n%-8s %16s %18s\n", "access", "lines of 64", "pages of 4k");
	for (int a = 0; a <= NACCESS; a++)
		out_printf(out, "%-8s %16" PRIu64 " %18" PRIu64 "\n", access_name[a], f[a].lines, f[a].pages);
	out_printf(out, "\ndigest   %016" PRIx64 "\n", t->digest);
}

static void
print_counts(struct buf *b, const struct region *r)
{
	buf_printf(b, "%10" PRIu64, r->foot.pages);
	for (unsigned k = 0; k < REF_NACCESS; k++)
		buf_printf(b, " %12" PRIu64, r->n[k]);
}

static void
print_region(struct buf *b, const struct region *r)
{
	const char *name = r->area ? r->area->name : "?", *slash = strrchr(name, '/');

	print_counts(b, r);
	buf_printf(b, "  %012" PRIx64 "  ", r->first & 0xffffffffffff);
	text_str(b, slash ? slash + 1 : name);
	buf_str(b, "\n");
}

static void
print_regions(struct buf *b, struct stat *t, size_t top)
{
	struct region others = { 0 }, all = { 0 };
	size_t n;
	struct region *r = regions_find(t, &n);

	buf_printf(b, "\n%10s", "pages");
	for (unsigned k = 0; k < REF_NACCESS; k++)
		buf_printf(b, " %12s", ref_kind_name(k));
	buf_str(b, "  region, from address on\n");
	for (size_t i = 0; i < n; i++) {
		region_add(&all, &r[i]);
		if (i < top)
			print_region(b, &r[i]);
		else
			region_add(&others, &r[i]);
	}
	if (n > top) {
		print_counts(b, &others);
		buf_printf(b, "  %zu others\n", n - top);
	}
	print_counts(b, &all);
	buf_str(b, "  total\n");
	free(r);
}

void
print_screen(struct out *out, struct stat *t, const struct show *w, struct refs *s)
{
	struct buf b = BUF_INIT;
	struct places_table p;

	print_kinds(out, t);
	if (w->regions)
		print_regions(&b, t, w->top);
	if (w->strides)
		print_strides(&b, t->stride, w->top);
	for (int lines = 0; lines < 2; lines++) {
		if (!(lines ? w->lines : w->functions))
			continue;
		places_table(t->places, s, &place_counts, lines, w->top, &p);
		places_text(&b, &p);
		places_table_free(&p);
	}
	if (b.nomem)
		die("no memory");
	out_write(out, b.p, b.n);
	buf_free(&b);
}
