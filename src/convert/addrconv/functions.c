/* addrconv: the functions whose references are wanted. */
#include <string.h>

#include "base/diag.h"
#include "base/hash.h"
#include "base/mem.h"
#include "convert/addrconv/addrconv.h"

#define KNOWN_BITS 16

static int
functions_look(struct functions *a, uint64_t w)
{
	for (unsigned i = 0; i < a->n; i++)
		if (refs_in_function(a->refs, ref_addr(w), ref_size(w), a->name[i]))
			return 1;
	return 0;
}

/*
 * Programs execute the same instructions again and again: the answers for those of the last time are in a
 * table, an address in a place of it that a hash says, as address * 4 + 2 + answer.
 */
int
functions_have(struct functions *a, uint64_t w)
{
	uint64_t key = ref_addr(w) << 2 | 2, *k;

	if (!a->known)
		a->known = xcalloc((size_t)1 << KNOWN_BITS, sizeof *a->known);
	if (a->nmapped != refs_nmapped(a->refs)) {
		a->nmapped = refs_nmapped(a->refs);
		memset(a->known, 0, sizeof *a->known << KNOWN_BITS);
	}
	k = &a->known[hash_number(ref_addr(w)) >> (32 - KNOWN_BITS)];
	if ((*k | 1) != (key | 1))
		*k = key | (uint64_t)functions_look(a, w);
	a->seen |= *k & 1;
	return *k & 1;
}

void
functions_check(struct functions *a, struct out *o, int part)
{
	const char *path = refs_path(a->refs), *why;

	if (a->n && !refs_named(a->refs)) {
		out_discard(o);
		die("%s: has no names of functions; -e names the executable that has them", path);
	}
	while (a->n && (why = refs_complaint(a->refs)) != NULL)
		warn("%s: %s", path, why);
	for (unsigned i = 0; i < a->n; i++) {
		if (refs_has_function(a->refs, a->name[i]))
			continue;
		if (!part || !refs_nmapped(a->refs)) {
			out_discard(o);
			die("%s: no function %s", path, a->name[i]);
		}
		warn("%s: no function %s up to there", path, a->name[i]);
		a->seen = 1;            /* that says enough */
	}
	if (a->n && !a->seen)
		warn("%s: no instruction that is wanted is in %s%s", path, a->n > 1 ? "these functions" : a->name[0],
		    refs_nmapped(a->refs) ? "" : "; a position-independent executable may have been loaded elsewhere");
}
