/*
 * visitbench FILE.ws: how many millions of instructions a second are visited.
 *   refs     references only, without visits (replay_refs)
 *   control  runs only
 *   none, 64th  only instructions that are picked: none, those at every 64th address
 *   values   references and values; +memory: what they load and store as well
 *   writers  references, values and writers; +read: and the caller looks at them all
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "replay/itrace/itrace.h"

static double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static uint64_t
sum(const struct visit_batch *b)
{
	uint64_t s = 0;

	for (const struct visit_run *r = b->run; r < b->run + b->nrun; r++)
		for (uint32_t i = 0; i < r->ninsn; i++) {
			struct visit_insn e = visit_insn(r, i);

			for (unsigned k = 0; k < e.fact->nuse; k++)
				s += b->writer[e.use + k];
			for (unsigned k = 0; k < e.nref; k++)
				s += b->word[e.ref + k];
			for (unsigned k = 0; k < e.fact->nval; k++)
				s += b->word[e.val + k];
		}
	return s;
}

static int
some(void *arg, uint64_t pc)
{
	return *(int *)arg && pc % 64 == 0;
}

/* Millions of instructions a second; 0: it failed.  pick: how visit_filter picks, -1: not at all */
static double
visit(const char *path, unsigned what, int pick, int look, uint64_t *n, uint64_t *s)
{
	struct fault f;
	struct visit_batch b;
	struct visit *v = visit_open(path, what, &f);
	double t = now();
	int e;

	if (!v || (pick >= 0 && visit_filter(v, some, &pick) != 0)) {
		printf("%s: %s\n", path, f.err);
		exit(1);
	}
	while ((e = visit_batch(v, &b)) == REPLAY_OK)
		if (look)
			*s += sum(&b);
	*n = replay_instances(visit_replay(v));
	if (e == REPLAY_BAD)
		printf("%s: %s\n", path, replay_fault(visit_replay(v))->err);
	t = now() - t;
	visit_close(v);
	return e == REPLAY_BAD ? 0 : 1e-6 * (double)*n / t;
}

static double
refs(const char *path)
{
	struct fault f;
	struct replay *r = replay_open(path, &f);
	const uint64_t *w;
	double t = now();
	size_t k;

	while (r && replay_refs(r, &w, &k) == REPLAY_OK)
		;
	if (r)
		t = 1e-6 * (double)replay_icount(r) / (now() - t);
	replay_close(r);
	return r ? t : 0;
}

int
main(int argc, char **argv)
{
	static const struct { const char *name; unsigned what; int pick, look; } mode[] = {
		{ "control", VISIT_CONTROL, -1, 0 }, { "none", 0, 0, 0 }, { "64th", 0, 1, 0 },
		{ "values", 0, -1, 0 }, { "+memory", VISIT_MEMORY, -1, 0 },
		{ "writers", VISIT_WRITERS, -1, 0 }, { "+read", VISIT_WRITERS, -1, 1 }
	};
	uint64_t n = 0, s = 0;

	if (argc != 2) {
		fprintf(stderr, "usage: visitbench FILE.ws\n");
		return 2;
	}
	printf("%8s", "refs");
	for (size_t k = 0; k < sizeof mode / sizeof *mode; k++)
		printf(" %8s", mode[k].name);
	printf(" %12s  file\n", "instances");
	printf("%8.0f", refs(argv[1]));
	for (size_t k = 0; k < sizeof mode / sizeof *mode; k++) {
		printf(" %8.0f", visit(argv[1], mode[k].what, mode[k].pick, mode[k].look, &n, &s));
		fflush(stdout);
	}
	printf(" %12llu  %s\n", (unsigned long long)n, argv[1]);
	return s == 1;
}
