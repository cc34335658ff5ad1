/*
 * Queries of a capture: how often statements were executed in each window of
 * the run.  Runs of paths are counted, because there are fewer of them.
 */
#include <stdlib.h>
#include <string.h>

#include "wet/query/capture_internal.h"

/* Doubles the length of windows: merges each pair into one.  npath: number of paths */
static int
counts_double_windows(struct qcap *cap, size_t npath)
{
	uint32_t *n = calloc(npath + 1, sizeof *n);
	size_t k = 0;

	if (!n)
		return -1;
	cap->ncount = 0;
	for (size_t i = 0; i < cap->nwin; i += 2) {
		struct qwin w = cap->win[i], next = i + 1 < cap->nwin ? cap->win[i + 1] : (struct qwin){ 0 };
		struct qcount *c = realloc(w.count, (w.ncount + next.ncount + 1) * sizeof *c);

		if (!c) {
			free(n);
			return -1;
		}
		w.count = cap->win[i].count = c;
		for (size_t j = 0; j < w.ncount; j++)
			n[c[j].path] = (uint32_t)j + 1;
		for (size_t j = 0; j < next.ncount; j++)
			if (n[next.count[j].path])
				c[n[next.count[j].path] - 1].n += next.count[j].n;
			else
				c[w.ncount++] = next.count[j];
		for (size_t j = 0; j < w.ncount; j++)
			n[c[j].path] = 0;
		free(next.count);
		cap->ncount += w.ncount;
		cap->win[k++] = w;
	}
	cap->nwin = k;
	cap->group /= 2;
	free(n);
	return 0;
}

int
qcap_count_window(struct qcap *cap, struct qpath **touched, size_t n)
{
	struct qwin *w = &cap->win[cap->nwin - 1];

	w->count = malloc((n + 1) * sizeof *w->count);
	if (!w->count)
		return -1;
	for (size_t i = 0; i < n; i++) {
		w->count[w->ncount++] = (struct qcount){ touched[i]->number, touched[i]->count };
		touched[i]->count = 0;
	}
	cap->ncount += n;
	return cap->ncount > QMAXCOUNTS && cap->group > 1 && cap->nwin % 2 == 0 ?
	    counts_double_windows(cap, cap->npath) : 0;
}

/* Sets *n to the number of runs of each path in the windows before k; malloc. */
static int
counts_by_path(struct qcap *cap, size_t k, uint64_t **n)
{
	if ((*n = calloc(cap->nsurveyed + 1, sizeof **n)) == NULL)
		return -1;
	for (size_t i = 0; i < k; i++)
		for (size_t j = 0; j < cap->win[i].ncount; j++)
			(*n)[cap->win[i].count[j].path] += cap->win[i].count[j].n;
	return 0;
}

int
qcap_counts_before(struct qcap *cap, size_t k, uint64_t **count)
{
	uint64_t *n;

	if ((*count = calloc(cap->q->nstmt + 1, sizeof **count)) == NULL)
		return -1;
	if (counts_by_path(cap, k, &n) != 0) {
		free(*count);
		*count = NULL;
		return -1;
	}
	for (size_t i = 0; i < cap->nsurveyed; i++)
		for (uint32_t j = 0; j < cap->surveyed_path[i].n && n[i]; j++)
			(*count)[cap->surveyed_path[i].id[j] - 1] += n[i];
	free(n);
	return 0;
}

int
qcap_finish_counts(struct qcap *cap)
{
	uint64_t *count;

	if ((cap->surveyed_path = calloc(cap->npath + 1, sizeof *cap->surveyed_path)) == NULL)
		return -1;
	for (size_t i = 0; i < cap->npath; i++) {
		const struct qpath *p = cap->path[i];
		uint32_t *id = malloc((p->n + 1) * sizeof *id);

		if (!id)
			return -1;
		cap->surveyed_path[cap->nsurveyed++] = (struct qstmts){ id, p->id ? p->n : 0 };
		if (p->id)
			memcpy(id, p->id, p->n * sizeof *id);
	}
	if (qcap_counts_before(cap, cap->nwin, &count) != 0)
		return -1;
	for (size_t i = 0; i < cap->q->nstmt; i++)
		cap->q->stmt[i].count = count[i];
	free(count);
	return 0;
}

void
qcap_clear_counts(struct qcap *cap)
{
	for (size_t k = 0; k < cap->nwin; k++) {
		free(cap->win[k].count);
		buf_free(&cap->win[k].state);
	}
	for (size_t i = 0; i < cap->nsurveyed; i++)
		free(cap->surveyed_path[i].id);
	free(cap->surveyed_path);
	free(cap->times);
	cap->surveyed_path = NULL;
	cap->times = NULL;
	cap->nwin = cap->nsurveyed = cap->ncount = 0;
	cap->timesid = 0;
	cap->group = QGROUP;
}

/* Makes cap->times for statement id. */
static int
counts_per_path(struct qcap *cap, uint32_t id)
{
	if (cap->timesid == id)
		return 0;
	if (!cap->times && (cap->times = malloc((cap->nsurveyed + 1) * sizeof *cap->times)) == NULL)
		return -1;
	for (size_t i = 0; i < cap->nsurveyed; i++) {
		const struct qstmts *p = &cap->surveyed_path[i];

		cap->times[i] = 0;
		for (uint32_t j = 0; j < p->n; j++)
			cap->times[i] += p->id[j] == id;
	}
	cap->timesid = id;
	return 0;
}

int
qcap_find_instance(struct qcap *cap, uint32_t id, uint64_t *instance, size_t *k)
{
	if (id == 0 || id > cap->q->nstmt || *instance >= cap->q->stmt[id - 1].count)
		return 0;
	if (counts_per_path(cap, id) != 0)
		return -1;
	for (*k = 0; *k < cap->nwin; ++*k) {
		const struct qwin *w = &cap->win[*k];
		uint64_t n = 0;

		for (size_t j = 0; j < w->ncount; j++)
			n += (uint64_t)w->count[j].n * cap->times[w->count[j].path];
		if (*instance < n)
			return 1;
		*instance -= n;
	}
	return 0;
}
