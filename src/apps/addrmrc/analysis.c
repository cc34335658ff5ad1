/* What references are given to, exact or a sample, and what it found. */
#include "apps/addrmrc/addrmrc.h"
#include "base/diag.h"
#include "format/ref/ref.h"

void
analysis_begin(struct analysis *a, const struct mrc_params *p, int partial)
{
	unsigned shift = (unsigned)__builtin_ctzll(p->line);

	*a = (struct analysis){ .partial = partial };
	if (p->threshold)
		a->sample = sample_new(shift, p->kinds, p->threshold, p->most);
	else
		a->exact = reuse_new(shift, p->kinds);
	if (!a->exact && !a->sample)
		die("no memory");
	if (partial)
		partial_begin(a);
}

void
analysis_end(struct analysis *a)
{
	reuse_free(a->exact);
	sample_free(a->sample);
}

/* A constant number at a time, which the compiler makes vectors of */
static uint64_t
count_instructions(const uint64_t *w, size_t n)
{
	uint64_t k = 0;

	for (; n >= 64; n -= 64, w += 64)
		for (unsigned i = 0; i < 64; i++)
			k += ref_kind(w[i]) == REF_INST;
	for (size_t i = 0; i < n; i++)
		k += ref_kind(w[i]) == REF_INST;
	return k;
}

int
analysis_take(void *arg, const uint64_t *w, size_t n)
{
	struct analysis *a = arg;

	if ((a->sample ? sample_take(a->sample, w, n) : reuse_take(a->exact, w, n)) != 0)
		die("no memory");
	if (a->partial)
		a->ninst += count_instructions(w, n);
	return 0;
}

uint64_t
analysis_accesses(const struct analysis *a)
{
	struct sample_state t;
	struct reuse_counts c;

	if (a->sample) {
		sample_state(a->sample, &t);
		return t.accesses;
	}
	reuse_counts(a->exact, &c);
	return c.accesses;
}

/* What a number of a sample says about the whole */
uint64_t
mrc_scaled(uint64_t n, double rate)
{
	return rate == 1 ? n : (uint64_t)((double)n / rate + 0.5);
}

static void
result_of_sample(const struct sample *s, struct mrc_result *m)
{
	struct sample_state t;

	sample_state(s, &t);
	m->nclass = SAMPLE_CLASSES;
	m->rate = (double)t.threshold / (double)SAMPLE_ALL;
	m->first_rate = (double)t.first / (double)SAMPLE_ALL;
	for (unsigned k = 0; k < SAMPLE_CLASSES; k++)
		sample_counts(s, k, &m->class[k]);
	sample_counts(s, SAMPLE_CLASSES, &m->whole);
}

void
analysis_result(const struct analysis *a, const struct mrc_params *p, struct mrc_result *m)
{
	*m = (struct mrc_result){ .params = p, .rate = 1, .first_rate = 1 };
	if (a->sample)
		result_of_sample(a->sample, m);
	else
		reuse_counts(a->exact, &m->whole);
	m->accesses = analysis_accesses(a);
	m->lines = mrc_scaled(m->whole.lines, m->rate);
}
