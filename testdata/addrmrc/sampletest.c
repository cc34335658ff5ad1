/*
 * Samples (sim/sample.h): their counts against a list that is searched, of those lines that are in the
 * sample; and whether estimates of many samples have the right mean, and the error that they claim.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/ref/ref.h"
#include "sim/sample.h"

#define LINES 4000u
#define N     40000u
#define RUNS  200u
#define SHIFT 6u
#define RATE  (SAMPLE_ALL / 4)
#define CACHE 600u              /* lines of the cache whose misses are estimated */

static uint64_t state = 1, ref[N];

static unsigned
random_below(unsigned n)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(state >> 33) % n;
}

static void
say(int good, const char *what, double a, double b)
{
	static int n;

	printf("%sok %d - %s (%.0f, %.0f)\n", good ? "" : "not ", ++n, what, a, b);
}

static struct sample *
begin(uint64_t most)
{
	struct sample *s = sample_new(SHIFT, 1u << REF_LOAD, most ? SAMPLE_ALL : RATE, most);

	if (!s)
		exit(1);
	return s;
}

/* SAMPLE_CLASSES: the line is in none, so not in the sample; a sample that has seen nothing else says it */
static unsigned class[LINES + 1];

static void
find_classes(void)
{
	for (uint64_t line = 0; line <= LINES; line++) {
		struct sample *s = begin(0);
		uint64_t w = ref_make(REF_LOAD, line << SHIFT, 1);
		struct reuse_counts c = { .accesses = 0 };

		sample_take(s, &w, 1);
		for (class[line] = 0; class[line] < SAMPLE_CLASSES; class[line]++) {
			sample_counts(s, class[line], &c);
			if (c.accesses)
				break;
		}
		sample_free(s);
	}
}

/* k: a class, SAMPLE_CLASSES for the sample, or a larger number for all lines */
static int
is_in(uint64_t line, unsigned k)
{
	return k > SAMPLE_CLASSES || (k == SAMPLE_CLASSES ? class[line] < k : class[line] == k);
}

/* References of which some count, some reach into the next line, and few lines have most */
static void
make_refs(uint64_t base)
{
	for (unsigned i = 0; i < N; i++) {
		uint64_t line = random_below(1 + random_below(1 + random_below(LINES)));

		ref[i] = ref_make(i % 7 ? REF_LOAD : REF_INST, (base + line) << SHIFT | 60, i % 5 ? 4 : 8);
	}
}

/* The counts of class k as they are found by searching a list of its lines; misses of n lines */
static uint64_t
list_misses(unsigned k, uint64_t *hist, size_t n)
{
	static uint64_t list[LINES + 1];
	uint64_t misses = 0;
	size_t nlist = 0;

	for (size_t i = 0; i < N; i++) {
		uint64_t l = ref_addr(ref[i]) >> SHIFT, end = (ref_addr(ref[i]) + ref_size(ref[i]) - 1) >> SHIFT;

		for (; ref_kind(ref[i]) == REF_LOAD && l <= end; l++) {
			size_t d = 0;

			if (!is_in(l, k))
				continue;
			while (d < nlist && list[d] != l)
				d++;
			misses += d == nlist || d >= n;
			if (d < nlist)
				hist[d]++;
			else
				nlist++;
			memmove(list + 1, list, d * sizeof *list);
			list[0] = l;
		}
	}
	return misses;
}

static int
exact(unsigned k)
{
	static uint64_t hist[LINES + 1];
	struct sample *s = begin(0);
	struct reuse_counts c;
	int good = 1;

	memset(hist, 0, sizeof hist);
	make_refs(0);
	list_misses(k, hist, 1);
	for (size_t i = 0; i < N; i += 700)
		sample_take(s, ref + i, N - i < 700 ? N - i : 700);
	sample_counts(s, k, &c);
	for (size_t d = 0; d <= LINES; d++)
		good = good && (d < c.n ? c.hist[d] : 0) == hist[d];
	good = good && c.lines > 0;
	sample_free(s);
	return good;
}

static double
misses(const struct sample *s, unsigned k)
{
	double parts = k < SAMPLE_CLASSES ? SAMPLE_CLASSES : 1;
	struct sample_state t;
	struct reuse_counts c;
	double n;

	sample_state(s, &t);
	sample_counts(s, k, &c);
	n = (double)c.accesses;
	for (size_t d = 0; d < c.n && (double)d < CACHE * ((double)t.threshold / parts / (double)SAMPLE_ALL); d++)
		n -= (double)c.hist[d];
	return n * parts * ((double)SAMPLE_ALL / (double)t.first);
}

/* Many samples, as the same references elsewhere are other lines, against the truth and their scatter */
static void
calibrate(uint64_t most)
{
	static uint64_t hist[LINES + 1];
	double truth, sum = 0, squares = 0, claimed = 0, bias, variance, rate = 0.25;

	make_refs(0);
	truth = (double)list_misses(SAMPLE_CLASSES + 1, hist, CACHE);
	for (uint64_t run = 0; run < RUNS; run++) {
		struct sample *s = begin(most);
		double all, mean = 0, part = 0, miss[SAMPLE_CLASSES];
		struct sample_state t;

		for (size_t i = 0; i < N; i++)
			ref[i] += (uint64_t)1 << 32;
		sample_take(s, ref, N);
		all = misses(s, SAMPLE_CLASSES);
		sample_state(s, &t);
		rate = (double)t.threshold / (double)SAMPLE_ALL;
		for (unsigned k = 0; k < SAMPLE_CLASSES; k++)
			mean += (miss[k] = misses(s, k)) / SAMPLE_CLASSES;
		for (unsigned k = 0; k < SAMPLE_CLASSES; k++)
			part += (miss[k] - mean) * (miss[k] - mean);
		claimed += part / SAMPLE_CLASSES / (SAMPLE_CLASSES - 1) * (1 - rate) / RUNS;
		sum += all - truth;
		squares += (all - truth) * (all - truth);
		sample_free(s);
	}
	bias = sum / RUNS;
	variance = squares / RUNS - bias * bias;
	/*
	 * The limits: 2% of the misses, four times the error of a mean of 200; and a third of the error, of which
	 * 200 samples tell a twentieth, while a class tells less of small caches and so claims a little more.
	 */
	say(bias * bias < truth * truth / 2500, most ? "fixed size: no bias" : "fixed rate: no bias", bias, truth);
	say(claimed > variance / 1.8 && claimed < variance * 1.8,
	    most ? "fixed size: its error" : "fixed rate: its error", claimed, variance);
}

int
main(void)
{
	find_classes();
	say(exact(SAMPLE_CLASSES), "the sample", 0, 0);
	say(exact(0), "a class", 0, 0);
	say(exact(7), "another class", 0, 0);
	calibrate(0);
	calibrate(1024);
	return 0;
}
