/*
 * wskeys raw keys: from each keyframe of the one, the references to the end are those of the other;
 * going back and forth between them
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../check.h"
#include "replay/guest/replay.h"

#define KEYS_MAX 256

static uint64_t sums[KEYS_MAX], at[KEYS_MAX];
static size_t nkeys;

/* Of references from here to the end */
static int
sum(struct replay *r, uint64_t *s)
{
	const uint64_t *w;
	size_t n;
	int got;

	*s = 0;
	while ((got = replay_refs(r, &w, &n)) == REPLAY_OK)
		for (size_t i = 0; i < n; i++)
			*s = (*s ^ w[i]) * 0x9e3779b97f4a7c15u;
	return got;
}

static int
read_keys(const char *path)
{
	struct fault f;
	struct replay *r = replay_open(path, &f);
	int good = r != NULL;

	if (!r)
		return 0;
	nkeys = replay_nkeys(r);
	/* the last first: each seek but one goes back */
	for (size_t i = nkeys; i-- > 0;) {
		at[i] = replay_key_icount(r, i);
		if (replay_seek(r, i) != REPLAY_OK || sum(r, &sums[i]) != REPLAY_END) {
			printf("# keyframe %zu: %s\n", i, replay_fault(r)->err);
			good = 0;
			break;
		}
	}
	replay_close(r);
	return good;
}

int
main(int argc, char **argv)
{
	int good = 1;

	if (argc != 3)
		return 2;
	setenv("TRACEMILL_CONFINE", "no", 1);   /* it forks between replays */
	CHECK("every keyframe replays to the end", read_keys(argv[2]));
	CHECK("there are some", nkeys > 0 && nkeys <= KEYS_MAX);
	for (size_t i = 0; i < nkeys; i++) {
		struct fault f;
		struct replay *r = replay_open(argv[1], &f);
		uint64_t s;

		good &= r && replay_skip(r, at[i]) == REPLAY_OK && replay_icount(r) == at[i] &&
		    sum(r, &s) == REPLAY_END && s == sums[i];
		replay_close(r);
	}
	CHECK("and gives what the whole capture does from there", good);
	return check_end();
}
