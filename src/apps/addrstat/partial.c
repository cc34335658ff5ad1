/*
 * addrstat: partial results of parts of a run, and merging them.
 *
 * A partial result is a file of words with sums (base/words.h), of these sections:
 *
 *   the header: the magic, which has the version; 1 if there are strides, 2 more if there are places; the number
 *   of the first instruction; a sum
 *   the named areas of memory, which all parts of a run have in common: their number; for each its first and
 *   last address, its kind, the bytes of its name, and these, 8 in a word
 *   the references of each kind and size, by 256 * kind + size; the digest
 *   the pages: how many; for each its number, ascending, the lines of each kind, the references of each kind
 *   the strides, if they were wanted: of each width, the constant ones of each width, each short one; those
 *   to the same line; the number of slots (sim/stride.h); each, by its key, ascending
 *   the places, if functions or lines were wanted (refs/places.h)
 */
#include <stdlib.h>
#include <string.h>

#include "apps/addrstat/addrstat.h"
#include "base/diag.h"
#include "base/mem.h"
#include "base/words.h"
#include "refs/areas.h"

#define MAGIC   UINT64_C(0x3174726170747364)    /* dstpart1, from the lowest byte on */
#define MOST    (UINT64_C(1) << 48)             /* references of a part */
#define ADDRESS UINT64_C(0xffffffffffff)

/* An array that is mostly zero: how many elements are not; the index of each, ascending, and what it is */
static void
put_sparse(struct words *w, const uint64_t *v, size_t n)
{
	uint64_t used = 0;

	for (size_t i = 0; i < n; i++)
		used += v[i] != 0;
	words_put(w, used);
	for (size_t i = 0; i < n; i++)
		if (v[i]) {
			words_put(w, i);
			words_put(w, v[i]);
		}
}

static void
put_areas(struct words *w, struct areas *a)
{
	size_t n = 0;
	const struct area *v = a ? areas_list(a, &n) : NULL;

	words_put(w, n);
	for (size_t i = 0; i < n; i++) {
		words_put(w, v[i].first);
		words_put(w, v[i].last);
		words_put(w, v[i].kind);
		words_put_text(w, v[i].name);
	}
	words_put_sum(w);
}

static void
put_pages(struct words *w, const struct stat *t)
{
	words_put(w, t->npage);
	for (size_t i = 0; i < t->npage; i++) {
		words_put(w, t->page[i].number);
		for (unsigned k = 0; k < REF_NACCESS; k++)
			words_put(w, t->page[i].line[k]);
		for (unsigned k = 0; k < REF_NACCESS; k++)
			words_put(w, t->page[i].n[k]);
	}
	words_put_sum(w);
}

static void
put_counts(struct words *w, const struct stat *t)
{
	put_sparse(w, t->count, REF_NKINDS << 8);
	words_put(w, t->digest);
	words_put_sum(w);
}

static int
slot_by_key(const void *a, const void *b)
{
	const struct stride_slot *x = a, *y = b;

	return (x->key > y->key) - (x->key < y->key);
}

static void
put_strides(struct words *w, const struct stride *s)
{
	const struct stride_counts *c = stride_counts(s);
	size_t n;
	const struct stride_slot *v = stride_slots(s, &n);
	struct stride_slot *sorted = xcalloc(n + 1, sizeof *sorted);

	put_sparse(w, c->width, STRIDE_WIDTHS);
	put_sparse(w, c->constant, STRIDE_WIDTHS);
	put_sparse(w, c->near, 2 * STRIDE_NEAR + 1);
	words_put(w, c->same_line);
	words_put(w, n);
	if (n) {
		memcpy(sorted, v, n * sizeof *v);
		qsort(sorted, n, sizeof *sorted, slot_by_key);
	}
	for (size_t i = 0; i < n; i++) {
		words_put(w, sorted[i].key);
		words_put(w, sorted[i].n);
		words_put(w, (uint64_t)sorted[i].first);
		words_put(w, (uint64_t)sorted[i].last);
		words_put(w, (uint64_t)sorted[i].second);
		words_put(w, (uint64_t)sorted[i].stride);
	}
	words_put_sum(w);
	free(sorted);
}

void
partial_write(struct out *out, struct stat *t, struct refs *s, uint64_t from)
{
	struct words w = { .out = out };
	size_t n;

	free(regions_find(t, &n));      /* sorts the pages */
	words_put(&w, MAGIC);
	words_put(&w, (t->stride ? 1u : 0) | (t->places ? 2u : 0));
	words_put(&w, from);
	words_put_sum(&w);
	put_areas(&w, t->areas);
	put_counts(&w, t);
	put_pages(&w, t);
	if (t->stride)
		put_strides(&w, t->stride);
	if (t->places && places_put(t->places, s, &w) < 0)
		die(PLACES_TOO_MANY, PLACES_MOST - 1);
}

/* Adds the elements of an array of n to v, each at most `most`, as their sum is. Returns the sum. */
static uint64_t
get_sparse(struct words *w, uint64_t *v, size_t n, uint64_t most)
{
	uint64_t used = words_get(w), next = 0, sum = 0;

	for (uint64_t k = 0; k < used; k++) {
		uint64_t i = words_get(w), count = words_get(w);

		if (i < next || i >= n || !count || count > most || (sum += count) > most)
			words_bad(w, 16, "no such number");
		v[i] += count;
		next = i + 1;
	}
	return sum;
}

static struct areas *
get_areas(struct words *w)
{
	struct areas *a = areas_new();
	char *name = xmalloc(WORDS_TEXT + 1);
	uint64_t n = words_get(w), next = 0;

	for (uint64_t i = 0; i < n; i++) {
		uint64_t first = words_get(w), last = words_get(w), kind = words_get(w);

		if (first < next || last < first || last > ADDRESS || kind >= AREAS_NKINDS)
			words_bad(w, 24, "no such area");
		words_get_text(w, name);
		if (!a || areas_map(a, first, last, (enum areas_kind)kind, name, 0) != 0)
			die("no memory");
		next = last + 1;
	}
	words_check(w);
	free(name);
	return a;
}

static int
same_areas(struct areas *a, struct areas *b)
{
	size_t n, m;
	const struct area *x = areas_list(a, &n), *y = areas_list(b, &m);

	if (n != m)
		return 0;
	for (size_t i = 0; i < n; i++)
		if (x[i].first != y[i].first || x[i].last != y[i].last || x[i].kind != y[i].kind ||
		    strcmp(x[i].name, y[i].name) != 0)
			return 0;
	return 1;
}

/* Returns the number of fetches; *n: of all references */
static uint64_t
get_counts(struct words *w, struct stat *t, uint64_t *n)
{
	uint64_t *count = xcalloc(REF_NKINDS << 8, sizeof *count), fetches = 0, digest;

	get_sparse(w, count, REF_NKINDS << 8, MOST);
	*n = 0;
	for (unsigned i = 0; i < REF_NKINDS << 8; i++) {
		if (count[i] && (i >> 8 < REF_NACCESS) != ((i & 255) != 0))
			words_bad(w, 8, "references without a size, or events with one");
		t->count[i] += count[i];
		*n += i >> 8 < REF_NACCESS ? count[i] : 0;
		fetches += i >> 8 == REF_INST ? count[i] : 0;
	}
	digest = words_get(w);
	words_check(w);
	t->digest = stat_digest_join(t->digest, digest, *n);
	free(count);
	return fetches;
}

static void
get_pages(struct words *w, struct stat *t, uint64_t refs)
{
	uint64_t pages = words_get(w), next = 0, sum = 0;

	for (uint64_t i = 0; i < pages; i++) {
		uint64_t number = words_get(w);
		struct page *p;

		if (number < next || number > UINT64_MAX >> PAGE_SHIFT)
			words_bad(w, 8, "no such page");
		p = stat_page(t, number);
		for (unsigned k = 0; k < REF_NACCESS; k++)
			p->line[k] |= words_get(w);
		for (unsigned k = 0; k < REF_NACCESS; k++) {
			uint64_t n = words_get(w);

			if (n > refs || (sum += n) > refs)
				words_bad(w, 8, "more references than there are");
			p->n[k] += n;
		}
		next = number + 1;
	}
	words_check(w);
	if (sum != refs)
		words_bad(w, 16, "fewer references than there are");
}

/* An address or a stride: 48 bits with a sign, or one more */
static int64_t
get_signed(struct words *w, unsigned bits)
{
	int64_t v = (int64_t)words_get(w);

	if (v < -(INT64_C(1) << bits) || v >= INT64_C(1) << bits)
		words_bad(w, 8, "no such address or stride");
	return v;
}

static void
get_slots(struct words *w, struct stride *s, uint64_t strides)
{
	uint64_t n = words_get(w), next = 0, sum = 0;

	for (uint64_t i = 0; i < n; i++) {
		struct stride_slot t = { .key = words_get(w), .n = words_get(w) };

		t.first = get_signed(w, 47);
		t.last = get_signed(w, 47);
		t.second = get_signed(w, 48);
		t.stride = get_signed(w, 48);
		if (t.key < next || t.key >> 48 < REF_LOAD || t.key >> 48 >= REF_NACCESS || !t.n || t.n > MOST ||
		    (sum += t.n - 1) > strides || (t.n == 1 && (t.second || t.stride)) ||
		    (t.n == 1 && t.first != t.last) || (t.n == 2 && t.second != t.stride))
			words_bad(w, 48, "no such strides of an instruction");
		if (stride_join(s, &t) != 0)
			die("no memory");
		next = t.key + 1;
	}
	words_check(w);
	if (sum != strides)
		words_bad(w, 16, "strides of no instruction");
}

static void
get_strides(struct words *w, struct stride *s)
{
	struct stride_counts *c = xcalloc(1, sizeof *c);
	uint64_t strides = get_sparse(w, c->width, STRIDE_WIDTHS, MOST);

	get_sparse(w, c->constant, STRIDE_WIDTHS, strides);
	get_sparse(w, c->near, 2 * STRIDE_NEAR + 1, strides);
	c->same_line = words_get(w);
	for (unsigned i = 0; i < STRIDE_WIDTHS; i++)
		if (c->constant[i] > c->width[i] || c->same_line > strides)
			words_bad(w, 8, "more strides than there are");
	stride_add(s, c);
	get_slots(w, s, strides);
	free(c);
}

struct header {
	uint64_t from;
	int strides, places;            /* are there some? */
};

static void
get_header(struct words *w, struct header *h)
{
	uint64_t has;

	if (words_get(w) != MAGIC)
		words_bad(w, 8, "not a partial result of this version of addrstat");
	has = words_get(w);
	h->from = words_get(w);
	words_check(w);
	if (has > 3)
		words_bad(w, 24, "neither with nor without strides");
	h->strides = has & 1;
	h->places = has >> 1 & 1;
}

/* May the part follow those that are in t? */
static void
check_next(const struct words *w, const struct header *h, const struct stat *t, struct areas *a, uint64_t next)
{
	const char *name = in_name(w->in);

	if (h->from != next)
		die("%s: begins at instruction %llu, and the file before ends before %llu", name,
		    (unsigned long long)h->from, (unsigned long long)next);
	if (h->strides != (t->stride != NULL))
		die("%s: one of it and the file before has strides", name);
	if (h->places != (t->places != NULL))
		die("%s: one of it and the file before has functions and lines", name);
	if (!same_areas(a, t->areas))
		die("%s: other areas of memory than in the file before: it is of another run", name);
}

struct stat *
partial_merge(char **path)
{
	struct stat *t = NULL;
	uint64_t next = 0, refs;

	for (char **f = path; *f; f++) {
		struct words w = { .in = in_open(*f), .what = "partial result of addrstat" };
		struct header h;
		struct areas *a;

		get_header(&w, &h);
		a = get_areas(&w);
		if (!t) {
			t = stat_new(h.strides, h.places);
			t->areas = a;
		} else {
			check_next(&w, &h, t, a, next);
			areas_free(a);
		}
		next = h.from + get_counts(&w, t, &refs);
		get_pages(&w, t, refs);
		if (h.strides)
			get_strides(&w, t->stride);
		if (h.places)
			places_get(t->places, &w);
		words_end(&w);
		in_close(w.in);
	}
	return t;
}
