/* addrstat: --json */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "apps/addrstat/addrstat.h"
#include "base/mem.h"
#include "refs/areas.h"

static void
json_kind(struct json *j, const struct stat *t, unsigned kind)
{
	uint64_t bytes, n = stat_kind(t, kind, &bytes);

	json_object(j, NULL);
	json_string(j, "kind", ref_kind_name(kind));
	json_u64(j, "references", n);
	json_u64(j, "bytes", bytes);
	json_array(j, "sizes");
	for (unsigned size = 1; size < 256; size++)
		if (t->count[kind << 8 | size]) {
			json_object(j, NULL);
			json_u64(j, "size", size);
			json_u64(j, "references", t->count[kind << 8 | size]);
			json_end(j);
		}
	json_end(j);
	json_end(j);
}

static void
json_region(struct json *j, const struct region *r)
{
	json_object(j, NULL);
	json_string(j, "name", r->area ? r->area->name : NULL);
	json_string(j, "kind", areas_kind_name(r->area ? r->area->kind : AREAS_NONE));
	json_u64(j, "first", r->first & 0xffffffffffff);
	json_u64(j, "last", r->last & 0xffffffffffff);
	json_u64(j, "lines", r->foot.lines);
	json_u64(j, "pages", r->foot.pages);
	json_object(j, "references");
	for (unsigned k = 0; k < REF_NACCESS; k++)
		json_u64(j, ref_kind_name(k), r->n[k]);
	json_end(j);
	json_end(j);
}

static void
json_regions(struct json *j, struct stat *t)
{
	size_t n;
	struct region *r = regions_find(t, &n);

	json_array(j, "regions");
	for (size_t i = 0; i < n; i++)
		json_region(j, &r[i]);
	json_end(j);
	free(r);
}

static void
json_width(struct json *j, const struct stride_counts *c, unsigned bits)
{
	json_object(j, NULL);
	json_u64(j, "from", bits ? UINT64_C(1) << (bits - 1) : 0);
	json_u64(j, "to", bits ? (UINT64_C(1) << bits) - 1 : 0);
	json_u64(j, "forward", c->width[48 + bits]);
	json_u64(j, "backward", bits ? c->width[48 - bits] : 0);
	json_u64(j, "constant", c->constant[48 + bits] + (bits ? c->constant[48 - bits] : 0));
	json_end(j);
}

static void
json_strides(struct json *j, const struct stride *s)
{
	const struct stride_counts *c = stride_counts(s);
	struct stride_often *v = xcalloc(2 * STRIDE_NEAR + 1, sizeof *v);
	size_t n = stride_often(s, v, 2 * STRIDE_NEAR + 1);
	struct stride_totals u;

	stride_totals(s, &u);
	json_object(j, "strides");
	json_u64(j, "accesses", u.accesses);
	json_u64(j, "strides", u.strides);
	json_u64(j, "same_address", u.same_address);
	json_u64(j, "same_line", u.same_line);
	json_u64(j, "constant", u.constant);
	json_array(j, "sizes");
	for (unsigned bits = 0; bits <= 48; bits++)
		if (c->width[48 + bits] || c->width[48 - bits])
			json_width(j, c, bits);
	json_end(j);
	json_array(j, "short");
	for (size_t i = 0; i < n; i++) {
		json_object(j, NULL);
		json_number(j, "stride", (double)v[i].stride);
		json_u64(j, "accesses", v[i].n);
		json_end(j);
	}
	json_end(j);
	json_end(j);
	free(v);
}

static void
json_footprints(struct json *j, const struct stat *t)
{
	struct footprint f[NACCESS + 1];

	stat_footprints(t, f);
	json_object(j, "footprint");
	for (int a = 0; a <= NACCESS; a++) {
		json_object(j, access_name[a]);
		json_u64(j, "lines", f[a].lines);
		json_u64(j, "pages", f[a].pages);
		json_end(j);
	}
	json_end(j);
}

void
print_json(struct out *out, struct stat *t, const struct show *w, struct refs *s)
{
	struct places_table p;
	char digest[17];
	struct json j;

	snprintf(digest, sizeof digest, "%016" PRIx64, t->digest);
	json_begin(&j, out);
	json_array(&j, "kinds");
	for (unsigned k = 0; k < REF_NKINDS; k++)
		json_kind(&j, t, k);
	json_end(&j);
	json_footprints(&j, t);
	json_string(&j, "digest", digest);
	if (w->regions)
		json_regions(&j, t);
	if (w->strides)
		json_strides(&j, t->stride);
	for (int lines = 0; lines < 2; lines++) {
		if (!(lines ? w->lines : w->functions))
			continue;
		places_table(t->places, s, &place_counts, lines, w->top, &p);
		places_json(&j, &p);
		places_table_free(&p);
	}
	json_end(&j);
}
