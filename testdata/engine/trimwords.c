/*
 * trimwords CAPTURE: the references that trimming asks for (RP_DATA) are those of a replay: the same loads and stores in
 * the same order, and in either half of the run the fetches of the same instructions, each before what it loads and
 * stores.  Says how many fetches there are that are not executed: some before a fault.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/hash.h"
#include "format/ref/ref.h"
#include "replay/guest/drive.h"

struct half {
	struct hash_set fetched;
	uint64_t sum, n;                /* of the others */
};

static uint64_t late;                   /* references of instructions that were not fetched before */

static void
note(struct half *h, const uint64_t *w, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (ref_kind(w[i]) == REF_INST) {
			if (hash_set_add(&h->fetched, w[i] + 1) < 0)
				exit(2);
		} else {
			h->sum = (h->sum ^ w[i]) * 0x9e3779b97f4a7c15u;
			h->sum ^= h->sum >> 29;
			h->n++;
			late += h->fetched.n == 0;
		}
}

static int
run(struct replay *r, enum rp_mode mode, uint64_t until, struct half *h)
{
	size_t n;
	int got;

	replay_until(r, until);
	while ((got = drive_words(r, mode, 5000, &n)) == REPLAY_OK) {
		size_t all;

		note(h, drive_words_so_far(r, &all), n);
	}
	return got;
}

/* Both halves of the run, of n instructions (0: not known); returns how many there are. */
static uint64_t
halves(const char *path, enum rp_mode mode, uint64_t n, struct half h[2])
{
	struct fault f;
	struct replay *r = replay_open(path, &f);

	if (!r || (n && run(r, mode, n / 2, &h[0]) == REPLAY_BAD)) {
		printf("%s\n", r ? replay_fault(r)->err : f.err);
		exit(1);
	}
	drive_fetches_again(r);
	if (run(r, mode, WS_UNKNOWN, &h[1]) == REPLAY_BAD) {
		printf("%s\n", replay_fault(r)->err);
		exit(1);
	}
	n = replay_icount(r);
	replay_close(r);
	return n;
}

/* Those of a that b does not have. */
static size_t
missing(const struct hash_set *a, const struct hash_set *b)
{
	size_t n = 0;

	for (size_t i = 0; i < a->nslot; i++)
		n += a->slot[i] && !hash_set_has(b, a->slot[i]);
	return n;
}

int
main(int argc, char **argv)
{
	struct half all[2] = { 0 }, refs[2] = { 0 }, data[2] = { 0 };
	size_t more = 0;
	uint64_t n;
	int bad = 0;

	if (argc != 2)
		return 2;
	n = halves(argv[1], RP_REFS, 0, all);
	halves(argv[1], RP_REFS, n, refs);
	if (halves(argv[1], RP_DATA, n, data) != n)
		bad = 1;
	for (int i = 0; i < 2; i++) {
		bad |= data[i].sum != refs[i].sum || data[i].n != refs[i].n || !data[i].n ||
		    missing(&refs[i].fetched, &data[i].fetched);
		more += missing(&data[i].fetched, &refs[i].fetched);
	}
	printf("%s, %zu more\n", bad || late ? "different" : "the same", more);
	return bad || late;
}
