/*
 * addrstat: what is in a reference trace, on one screen.
 *
 * A page of memory has a bit for each of its 64 lines and each kind of access; the lines and pages are
 * counted from these at the end.  A small direct-mapped table finds most pages without the hash table.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/diag.h"
#include "base/hash.h"
#include "base/helper.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/opt.h"
#include "base/out.h"
#include "base/progress.h"
#include "base/src.h"
#include "format/ref/ref.h"
#include "refs/refs.h"

enum { JSON = 256 };
enum { LINE_SHIFT = 6, PAGE_SHIFT = 12, NEAR = 256 };
enum access { FETCH, LOAD, STORE, NACCESS };

static const struct opt addrstat_opts[] = {
	{ JSON, "json", NULL, "print JSON" },
	OPT_RANGE,
	OPT_OUTPUT,
	{ 0 },
};

static const struct opt_tool addrstat_tool = {
	.does = "Prints what is in a reference trace: its references by kind and size, its footprint, a digest.",
	.synopsis = "[options] [source]\n[options] program [ae.out]",
	.example = "wscap -o ls.ws ls; addrstat ls.ws",
	.opt = addrstat_opts,
};

struct options {
	struct refs_source source;
	const char *outname;
	int json;
};

struct page { uint64_t number, line[NACCESS]; };        /* bit i of line: line i was accessed */
struct near { uint64_t key; size_t at; };               /* key: the number of a page, plus 1 */

struct stat {
	uint64_t count[16 << 8];        /* by the upper 16 bits of a word: kind and size */
	uint64_t digest;
	struct hash hash;
	struct page *page;              /* owned */
	size_t npage, roompage;
	struct near near[NEAR];
};

/* The footprint of a kind of access; of all for NACCESS */
struct footprint { uint64_t lines, pages; };

static const char *const access_name[] = { "fetch", "load", "store", "all" };

static size_t
page_find(struct stat *t, uint64_t number)
{
	uint32_t h = hash_number(number), at = h, i;

	while ((i = hash_find(&t->hash, h, &at)) != HASH_NONE && t->page[i].number != number)
		;
	if (i != HASH_NONE)
		return i;
	if (t->npage >= HASH_NONE - 1)
		die("more than %zu pages", t->npage);
	t->page = mem_xgrow(t->page, &t->roompage, t->npage + 1, sizeof *t->page);
	t->page[t->npage] = (struct page){ .number = number };
	hash_xadd(&t->hash, h, (uint32_t)t->npage);
	return t->npage++;
}

static inline struct page *
page_of(struct stat *t, uint64_t number)
{
	struct near *n = &t->near[number % NEAR];

	if (n->key != number + 1)
		*n = (struct near){ number + 1, page_find(t, number) };
	return &t->page[n->at];
}

static inline void
line_take(struct stat *t, uint64_t line, unsigned kind)
{
	struct page *p = page_of(t, line >> (PAGE_SHIFT - LINE_SHIFT));
	uint64_t bit = UINT64_C(1) << (line & 63);

	if (kind == REF_INST)
		p->line[FETCH] |= bit;
	if (kind == REF_LOAD || kind == REF_MODIFY)
		p->line[LOAD] |= bit;
	if (kind == REF_STORE || kind == REF_MODIFY)
		p->line[STORE] |= bit;
}

/* Each step has an inverse, so traces that differ in one word never have the same digest. */
static inline uint64_t
digest_step(uint64_t h, uint64_t w)
{
	h = (h ^ w) * UINT64_C(0x9e3779b97f4a7c15);
	return h ^ h >> 32;
}

static int
addrstat_take(void *arg, const uint64_t *w, size_t n)
{
	struct stat *t = arg;
	uint64_t h = t->digest;

	for (size_t i = 0; i < n; i++) {
		unsigned kind = ref_kind(w[i]);
		uint64_t addr = ref_addr(w[i]), line = addr >> LINE_SHIFT, last;

		t->count[w[i] >> 48]++;
		if (kind >= REF_NACCESS)
			continue;
		h = digest_step(h, w[i]);
		last = (addr + ref_size(w[i]) - 1) >> LINE_SHIFT;
		line_take(t, line, kind);
		while (line != last) {  /* the last line of all is followed by line 0 */
			line = (line + 1) & UINT64_MAX >> LINE_SHIFT;
			line_take(t, line, kind);
		}
	}
	t->digest = h;
	return 0;
}

static uint64_t
kind_count(const struct stat *t, unsigned kind, uint64_t *bytes)
{
	uint64_t n = 0, sum = 0;

	for (unsigned size = 0; size < 256; size++) {
		n += t->count[kind << 8 | size];
		sum += t->count[kind << 8 | size] * size;
	}
	if (bytes)
		*bytes = sum;
	return n;
}

static void
footprints(const struct stat *t, struct footprint f[NACCESS + 1])
{
	for (int a = 0; a <= NACCESS; a++)
		f[a] = (struct footprint){ 0 };
	for (size_t i = 0; i < t->npage; i++) {
		const uint64_t *v = t->page[i].line;

		for (int a = 0; a <= NACCESS; a++) {
			uint64_t bits = a < NACCESS ? v[a] : v[FETCH] | v[LOAD] | v[STORE];

			f[a].pages += bits != 0;
			for (; bits; bits &= bits - 1)
				f[a].lines++;
		}
	}
}

static void
print_screen(struct out *out, const struct stat *t)
{
	struct footprint f[NACCESS + 1];
	uint64_t bytes;

	out_printf(out, "%-8s %16s %18s\n", "kind", "references", "bytes");
	for (unsigned k = 0; k < REF_NKINDS; k++) {
		uint64_t n = kind_count(t, k, &bytes);

		if (n)
			out_printf(out, "%-8s %16" PRIu64 " %18" PRIu64 "\n", ref_kind_name(k), n, bytes);
	}
	out_printf(out, "\n%-8s %16s %18s\n", "kind", "size", "references");
	for (unsigned i = 0; i < REF_NACCESS << 8; i++)
		if (t->count[i])
			out_printf(out, "%-8s %16u %18" PRIu64 "\n", ref_kind_name(i >> 8), i & 255, t->count[i]);
	footprints(t, f);
	out_printf(out, "\n%-8s %16s %18s\n", "access", "lines of 64", "pages of 4k");
	for (int a = 0; a <= NACCESS; a++)
		out_printf(out, "%-8s %16" PRIu64 " %18" PRIu64 "\n", access_name[a], f[a].lines, f[a].pages);
	out_printf(out, "\ndigest   %016" PRIx64 "\n", t->digest);
}

static void
json_kind(struct json *j, const struct stat *t, unsigned kind)
{
	uint64_t bytes, n = kind_count(t, kind, &bytes);

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
print_json(struct out *out, const struct stat *t)
{
	struct footprint f[NACCESS + 1];
	char digest[17];
	struct json j;

	footprints(t, f);
	snprintf(digest, sizeof digest, "%016" PRIx64, t->digest);
	json_begin(&j, out);
	json_array(&j, "kinds");
	for (unsigned k = 0; k < REF_NKINDS; k++)
		json_kind(&j, t, k);
	json_end(&j);
	json_object(&j, "footprint");
	for (int a = 0; a <= NACCESS; a++) {
		json_object(&j, access_name[a]);
		json_u64(&j, "lines", f[a].lines);
		json_u64(&j, "pages", f[a].pages);
		json_end(&j);
	}
	json_end(&j);
	json_string(&j, "digest", digest);
	json_end(&j);
}

static void
addrstat_run(struct options *o)
{
	struct refs *s = refs_open(&o->source);
	struct out *out = out_open(o->outname);
	struct stat *t = xcalloc(1, sizeof *t);
	struct fault f;
	int got = refs_run(s, addrstat_take, t, &f);

	/* a source that could not be read at all has no result */
	if (got != REFS_BAD || t->npage)
		(o->json ? print_json : print_screen)(out, t);
	out_end(out, refs_path(s), got == REFS_BAD ? &f : NULL, refs_warning(s));
	hash_free(&t->hash);
	free(t->page);
	free(t);
	refs_close(s);
}

int
main(int argc, char **argv)
{
	struct options o = { .source.to = REFS_END };
	int c;

	diag_init(argv[0], 1);
	while ((c = opt_next(&addrstat_tool, argc, argv)) != -1) {
		if (c == JSON)
			o.json = 1;
		else if (c == 'o')
			o.outname = optarg;
		else if (num_range(optarg, REFS_END, &o.source.from, &o.source.to) != 0)
			opt_wrong(OPT_BAD_RANGE);
	}
	opt_operands(argc, argv, 0, 2);
	o.source.path = argv[optind];
	o.source.events = argc - optind > 1 ? argv[optind + 1] : NULL;
	helper_allow(0);
	progress_start(src_name(o.source.path));
	progress_limit(o.source.to);
	addrstat_run(&o);
	return 0;
}
