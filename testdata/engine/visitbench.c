/*
 * visitbench FILE.ws ...: how fast the instructions of captures are visited:
 * references only, values without and with last writers, and read by the caller.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "engine/replay/visit.h"

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

/* Millions of instructions a second; 0: it failed */
static double
visit(const char *path, unsigned what, int look, uint64_t *n, uint64_t *s)
{
	struct replay_fault f;
	struct visit_batch b;
	struct visit *v = visit_open(path, what, &f);
	double t = now();
	int e;

	if (!v) {
		printf("%s: %s\n", path, f.err);
		return 0;
	}
	*n = 0;
	while ((e = visit_batch(v, &b)) == REPLAY_OK) {
		*n += b.ninsn;
		if (look)
			*s += sum(&b);
	}
	if (e == REPLAY_BAD)
		printf("%s: %s\n", path, replay_fault(visit_replay(v))->err);
	t = now() - t;
	visit_close(v);
	return e == REPLAY_BAD ? 0 : 1e-6 * (double)*n / t;
}

static double
refs(const char *path)
{
	struct replay_fault f;
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
	uint64_t n, s = 0;

	printf("%12s %6s %6s %7s %6s  M instructions/s  file\n", "instructions", "refs", "values", "writers", "+read");
	for (int i = 1; i < argc; i++) {
		double r = refs(argv[i]), v = visit(argv[i], 0, 0, &n, &s), w = visit(argv[i], VISIT_WRITERS, 0, &n, &s);
		double l = visit(argv[i], VISIT_WRITERS, 1, &n, &s);

		printf("%12llu %6.0f %6.0f %7.0f %6.0f  %16s  %s\n", (unsigned long long)n, r, v, w, l, "", argv[i]);
		fflush(stdout);
	}
	return s == 1;
}
