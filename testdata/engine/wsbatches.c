/*
 * wsbatches capture: with batches of a few words, the registers after each are those of a replay
 * to just there
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../check.h"
#include "replay/guest/drive.h"
#include "replay/guest/replay.h"

#define BATCHES_MAX 100000
#define FEW 16          /* words of a batch, about */

static struct batch {
	uint64_t icount;
	struct ws_regs regs;
} batches[BATCHES_MAX];

static size_t
read_batches(struct replay *r)
{
	size_t n = 0, words;
	int got;

	while (n < BATCHES_MAX && (got = drive_words(r, RP_REFS, FEW, &words)) == REPLAY_OK) {
		batches[n].icount = replay_icount(r);
		batches[n++].regs = *replay_regs(r);
	}
	/* the last one ends with the program, and not with the room */
	return n > 1 && got == REPLAY_END ? n - 1 : 0;
}

static int
is_there(struct replay *r, const struct batch *b)
{
	struct ws_regs regs;
	const uint64_t *w;
	size_t n;
	int got;

	replay_until(r, b->icount);
	while ((got = replay_refs(r, &w, &n)) == REPLAY_OK)
		;
	regs = *replay_regs(r);
	if (got == REPLAY_END && replay_icount(r) == b->icount && !memcmp(regs.r, b->regs.r, sizeof regs.r) &&
	    regs.rip == b->regs.rip && regs.rflags == b->regs.rflags && regs.fsbase == b->regs.fsbase)
		return 1;
	printf("# after %llu instructions: rip 0x%llx, and 0x%llx after a batch\n",
	    (unsigned long long)b->icount, (unsigned long long)regs.rip, (unsigned long long)b->regs.rip);
	return 0;
}

int
main(int argc, char **argv)
{
	struct fault f;
	struct replay *r;
	size_t n, i;

	if (argc != 2)
		return 2;
	setenv("TRACEMILL_CONFINE", "no", 1);   /* two replays, one after the other */
	r = replay_open(argv[1], &f);
	n = r ? read_batches(r) : 0;
	replay_close(r);
	CHECK("there are batches", n > 0);
	r = replay_open(argv[1], &f);
	for (i = 0; r && i < n && is_there(r, &batches[i]); i++)
		;
	replay_close(r);
	CHECK("the registers after each are those of a replay to there", i == n);
	return check_end();
}
