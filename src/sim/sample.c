/*
 * Most references are of lines that are not in the sample.  So a batch goes through a filter first, which
 * has no branches: it copies all words, and goes on by one only after those that are wanted.
 */
#include <stdlib.h>

#include "sim/sample.h"

struct sample {
	unsigned shift, kinds;
	uint64_t accesses, first, threshold, most;
	struct reuse *part[SAMPLE_CLASSES + 1];
	uint64_t want[SAMPLE_BATCH];
};

struct sample *
sample_new(unsigned shift, unsigned kinds, uint64_t threshold, uint64_t most)
{
	struct sample *s = calloc(1, sizeof *s);

	if (!s)
		return NULL;
	s->shift = shift;
	s->kinds = kinds;
	s->first = s->threshold = threshold;
	s->most = most;
	for (unsigned k = 0; k <= SAMPLE_CLASSES; k++)
		if (!(s->part[k] = reuse_new(shift, kinds))) {
			sample_free(s);
			return NULL;
		}
	return s;
}

void
sample_free(struct sample *s)
{
	if (!s)
		return;
	for (unsigned k = 0; k <= SAMPLE_CLASSES; k++)
		reuse_free(s->part[k]);
	free(s);
}

/* The upper half of the result is that of the hash */
static inline uint64_t
sample_hash_upper(uint64_t line)
{
	uint64_t h = (line + 1) * UINT64_C(0x9e3779b97f4a7c15);

	return (h ^ h >> 32) * UINT64_C(0xd6e8feb86659fd93);
}

/* The upper half is compared with the threshold; each bit of the result depends on all of line */
static inline uint64_t
sample_hash(uint64_t line)
{
	uint64_t h = sample_hash_upper(line);

	return h ^ h >> 32;
}

/* The references that may have a line in the sample, as all of several lines; counts the others */
static size_t
sample_filter(struct sample *s, const uint64_t *w, size_t n)
{
	/* the upper half of a hash is below the threshold if the whole is at most this */
	uint64_t accesses = 0, most = (s->threshold << 32) - 1, size = UINT64_C(1) << s->shift;
	unsigned kinds = s->kinds, shift = 16 + s->shift;
	size_t m = 0;

	for (size_t i = 0; i < n; i++) {
		unsigned counts = kinds >> ref_kind(w[i]) & 1;
		int several = (w[i] & (size - 1)) + ref_size(w[i]) > size;

		accesses += counts;
		s->want[m] = w[i];
		m += counts & (unsigned)((sample_hash_upper(w[i] << 16 >> shift) <= most) | several);
	}
	s->accesses += accesses - m;
	return m;
}

static int
sample_access(struct sample *s, uint64_t line)
{
	uint64_t h = sample_hash(line);

	s->accesses++;
	if (h >> 32 >= s->threshold)
		return 0;
	if (reuse_access(s->part[SAMPLE_CLASSES], line) != 0)
		return -1;
	return reuse_access(s->part[h % SAMPLE_CLASSES], line);
}

static int
sample_keeps(void *arg, uint64_t line)
{
	const struct sample *s = arg;

	return sample_hash(line) >> 32 < s->threshold;
}

static int
sample_shrink(struct sample *s)
{
	struct reuse_counts c;

	for (;;) {
		reuse_counts(s->part[SAMPLE_CLASSES], &c);
		if (c.lines <= s->most || s->threshold < 2)
			return 0;
		s->threshold /= 2;
		for (unsigned k = 0; k <= SAMPLE_CLASSES; k++)
			if (reuse_halve(s->part[k], sample_keeps, s) != 0)
				return -1;
	}
}

static int
sample_batch(struct sample *s, const uint64_t *w, size_t n)
{
	size_t m = sample_filter(s, w, n);

	for (size_t i = 0; i < m; i++) {
		uint64_t line, last;

		for (reuse_lines_of(s->want[i], s->shift, &line, &last); line <= last; line++)
			if (sample_access(s, line) != 0)
				return -1;
	}
	for (unsigned k = 0; m && k <= SAMPLE_CLASSES; k++)
		if (reuse_flush(s->part[k]) != 0)
			return -1;
	return s->most ? sample_shrink(s) : 0;
}

int
sample_take(struct sample *s, const uint64_t *w, size_t n)
{
	while (n) {
		size_t k = n < SAMPLE_BATCH ? n : SAMPLE_BATCH;

		if (sample_batch(s, w, k) != 0)
			return -1;
		w += k;
		n -= k;
	}
	return 0;
}

void
sample_state(const struct sample *s, struct sample_state *t)
{
	*t = (struct sample_state){ .accesses = s->accesses, .first = s->first, .threshold = s->threshold };
}

struct reuse *
sample_part(struct sample *s, unsigned class)
{
	return s->part[class];
}

void
sample_add(struct sample *s, uint64_t accesses)
{
	s->accesses += accesses;
}

void
sample_counts(const struct sample *s, unsigned class, struct reuse_counts *c)
{
	reuse_counts(s->part[class], c);
}
