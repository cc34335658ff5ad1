/*
 * addrstat: counts references, and the lines and pages of memory that they access.
 *
 * A page of memory has a bit for each of its 64 lines and each kind of reference; the lines and pages are
 * counted from these at the end.  A small direct-mapped table finds most pages without the hash table.
 *
 * The digest is the value of a polynomial whose coefficients are the words of the references, modulo a prime
 * above all of them: traces that differ in one word never have the same digest, and that of two traces in a
 * row is computed from theirs.
 */
#include <stdlib.h>

#include "apps/addrstat/addrstat.h"
#include "base/diag.h"
#include "base/mem.h"

#define PRIME ((UINT64_C(1) << 61) - 1)
#define POINT UINT64_C(0x1e3779b97f4a7c15)

__extension__ typedef unsigned __int128 wide;

struct stat *
stat_new(int strides, int places)
{
	struct stat *t = xcalloc(1, sizeof *t);

	if (strides && !(t->stride = stride_new()))
		die("no memory");
	t->places = places ? places_new() : NULL;
	return t;
}

void
stat_free(struct stat *t)
{
	hash_free(&t->hash);
	stride_free(t->stride);
	places_free(t->places);
	free(t->page);
	free(t);
}

struct page *
stat_page(struct stat *t, uint64_t number)
{
	uint32_t h = hash_number(number), at = h, i;

	while ((i = hash_find(&t->hash, h, &at)) != HASH_NONE && t->page[i].number != number)
		;
	if (i != HASH_NONE)
		return &t->page[i];
	if (t->npage >= HASH_NONE - 1)
		die("more than %zu pages", t->npage);
	t->page = mem_xgrow(t->page, &t->roompage, t->npage + 1, sizeof *t->page);
	t->page[t->npage] = (struct page){ .number = number };
	hash_xadd(&t->hash, h, (uint32_t)t->npage);
	return &t->page[t->npage++];
}

static inline struct page *
page_of(struct stat *t, uint64_t number)
{
	struct near *n = &t->near[number % NEAR];

	if (n->key != number + 1)
		*n = (struct near){ number + 1, (size_t)(stat_page(t, number) - t->page) };
	return &t->page[n->at];
}

static inline struct page *
line_take(struct stat *t, uint64_t line, unsigned kind)
{
	struct page *p = page_of(t, line >> (PAGE_SHIFT - LINE_SHIFT));

	p->line[kind] |= UINT64_C(1) << (line & 63);
	return p;
}

/* The other lines of a reference that crosses lines */
static void
lines_take(struct stat *t, uint64_t line, uint64_t last, unsigned kind)
{
	while (line != last) {  /* the last line of all is followed by line 0 */
		line = (line + 1) & UINT64_MAX >> LINE_SHIFT;
		line_take(t, line, kind);
	}
}

static inline uint64_t
modulo(wide x)
{
	uint64_t y = (uint64_t)(x & PRIME) + (uint64_t)(x >> 61);

	y = (y & PRIME) + (y >> 61);
	return y >= PRIME ? y - PRIME : y;
}

static inline uint64_t
digest_step(uint64_t h, uint64_t w)
{
	return modulo((wide)h * POINT + w);
}

/* Four references at a time, whose products do not wait for each other */
static uint64_t
digest_take(uint64_t h, const uint64_t *w, size_t n)
{
	const uint64_t p2 = digest_step(POINT, 0), p3 = digest_step(p2, 0), p4 = digest_step(p3, 0);
	size_t i = 0;

	for (; i + 4 <= n; i += 4) {
		/* bits 58 and 59 are those of events */
		if ((w[i] | w[i + 1] | w[i + 2] | w[i + 3]) >> 58) {
			for (size_t k = i; k < i + 4; k++)
				h = ref_kind(w[k]) < REF_NACCESS ? digest_step(h, w[k]) : h;
			continue;
		}
		h = modulo((wide)h * p4 + (wide)w[i] * p3 +
		    (wide)w[i + 1] * p2 + (wide)w[i + 2] * POINT + w[i + 3]);
	}
	for (; i < n; i++)
		h = ref_kind(w[i]) < REF_NACCESS ? digest_step(h, w[i]) : h;
	return h;
}

uint64_t
stat_digest_join(uint64_t first, uint64_t second, uint64_t n)
{
	uint64_t power = 1, square = POINT;

	for (; n; n >>= 1) {
		if (n & 1)
			power = modulo((wide)power * square);
		square = modulo((wide)square * square);
	}
	return modulo((wide)first * power + second);
}

static void
places_take(struct stat *t, const uint64_t *w, size_t n)
{
	uint64_t *at = places_at(t->places, t->pc, t->pcsize);

	for (size_t i = 0; i < n; i++) {
		unsigned kind = ref_kind(w[i]);

		if (kind == REF_INST) {
			t->pc = ref_addr(w[i]);
			t->pcsize = ref_size(w[i]);
			at = places_at(t->places, t->pc, t->pcsize);
		}
		if (kind < REF_NACCESS)
			at[kind]++;
	}
}

int
stat_take(void *arg, const uint64_t *w, size_t n)
{
	struct stat *t = arg;

	for (size_t i = 0; i < n; i++) {
		unsigned kind = ref_kind(w[i]);
		uint64_t addr = ref_addr(w[i]), line = addr >> LINE_SHIFT, last;

		t->count[w[i] >> 48]++;
		if (kind >= REF_NACCESS)
			continue;
		last = (addr + ref_size(w[i]) - 1) >> LINE_SHIFT;
		line_take(t, line, kind)->n[kind]++;
		if (line != last)
			lines_take(t, line, last, kind);
	}
	t->digest = digest_take(t->digest, w, n);
	if (t->stride && stride_take(t->stride, w, n) != 0)
		die("no memory");
	if (t->places)
		places_take(t, w, n);
	return 0;
}

uint64_t
stat_kind(const struct stat *t, unsigned kind, uint64_t *bytes)
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

void
stat_footprints(const struct stat *t, struct footprint f[NACCESS + 1])
{
	for (int a = 0; a <= NACCESS; a++)
		f[a] = (struct footprint){ 0 };
	for (size_t i = 0; i < t->npage; i++) {
		const uint64_t *v = t->page[i].line;
		const uint64_t by[NACCESS + 1] = { [FETCH] = v[REF_INST], [LOAD] = v[REF_LOAD] | v[REF_MODIFY],
			[STORE] = v[REF_STORE] | v[REF_MODIFY],
			[NACCESS] = v[REF_INST] | v[REF_LOAD] | v[REF_STORE] | v[REF_MODIFY] };

		for (int a = 0; a <= NACCESS; a++) {
			f[a].pages += by[a] != 0;
			f[a].lines += (unsigned)__builtin_popcountll(by[a]);
		}
	}
}
