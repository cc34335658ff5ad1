/*
 * Queries of a capture: how often statements were executed, in each window of
 * the run.  That is told by runs of paths, of which there are fewer.
 */
#include <stdlib.h>
#include <string.h>

#include "wet/query/query_internal.h"

/* Windows become twice as long, two and two of them one; n: numbers of paths that there are */
static int
counts_halve(struct query *q, size_t npath)
{
	uint32_t *n = calloc(npath + 1, sizeof *n);
	size_t k = 0;

	if (!n)
		return query_nomem(q);
	q->ncount = 0;
	for (size_t i = 0; i < q->nwin; i += 2) {
		struct qwin w = q->win[i], next = i + 1 < q->nwin ? q->win[i + 1] : (struct qwin){ 0 };
		struct qcount *c = realloc(w.count, (w.ncount + next.ncount + 1) * sizeof *c);

		if (!c) {
			free(n);
			return query_nomem(q);
		}
		w.count = q->win[i].count = c;
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
		q->ncount += w.ncount;
		q->win[k++] = w;
	}
	q->nwin = k;
	q->group /= 2;
	free(n);
	return 0;
}

int
query_count_window(struct query *q, struct qpath **touched, size_t n)
{
	struct qwin *w = &q->win[q->nwin - 1];

	w->count = malloc((n + 1) * sizeof *w->count);
	if (!w->count)
		return query_nomem(q);
	for (size_t i = 0; i < n; i++) {
		w->count[w->ncount++] = (struct qcount){ touched[i]->number, touched[i]->count };
		touched[i]->count = 0;
	}
	q->ncount += n;
	return q->ncount > QCOUNTS && q->group > 1 && q->nwin % 2 == 0 ? counts_halve(q, q->npath) : 0;
}

/* *n: of windows before k, by path */
static int
counts_runs(struct query *q, size_t k, uint64_t **n)
{
	if ((*n = calloc(q->nsurveyed + 1, sizeof **n)) == NULL)
		return query_nomem(q);
	for (size_t i = 0; i < k; i++)
		for (size_t j = 0; j < q->win[i].ncount; j++)
			(*n)[q->win[i].count[j].path] += q->win[i].count[j].n;
	return 0;
}

int
query_counts(struct query *q, size_t k, uint64_t **count)
{
	uint64_t *n;

	if ((*count = calloc(q->nstmt + 1, sizeof **count)) == NULL)
		return query_nomem(q);
	if (counts_runs(q, k, &n) != 0) {
		free(*count);
		*count = NULL;
		return -1;
	}
	for (size_t i = 0; i < q->nsurveyed; i++)
		for (uint32_t j = 0; j < q->surveyed_path[i].n && n[i]; j++)
			(*count)[q->surveyed_path[i].id[j] - 1] += n[i];
	free(n);
	return 0;
}

int
query_count_over(struct query *q)
{
	uint64_t *count;

	if ((q->surveyed_path = calloc(q->npath + 1, sizeof *q->surveyed_path)) == NULL)
		return query_nomem(q);
	for (size_t i = 0; i < q->npath; i++) {
		const struct qpath *p = q->path[i];
		uint32_t *id = malloc((p->n + 1) * sizeof *id);

		if (!id)
			return query_nomem(q);
		q->surveyed_path[q->nsurveyed++] = (struct qstmts){ id, p->id ? p->n : 0 };
		if (p->id)
			memcpy(id, p->id, p->n * sizeof *id);
	}
	if (query_counts(q, q->nwin, &count) != 0)
		return -1;
	for (size_t i = 0; i < q->nstmt; i++)
		q->stmt[i].count = count[i];
	free(count);
	return 0;
}

void
query_count_forget(struct query *q)
{
	for (size_t k = 0; k < q->nwin; k++) {
		free(q->win[k].count);
		buf_free(&q->win[k].state);
	}
	for (size_t i = 0; i < q->nsurveyed; i++)
		free(q->surveyed_path[i].id);
	free(q->surveyed_path);
	free(q->times);
	q->surveyed_path = NULL;
	q->times = NULL;
	q->nwin = q->nsurveyed = q->ncount = 0;
	q->timesid = 0;
	q->group = QGROUP;
}

/* q->times is that of statement id */
static int
counts_times(struct query *q, uint32_t id)
{
	if (q->timesid == id)
		return 0;
	if (!q->times && (q->times = malloc((q->nsurveyed + 1) * sizeof *q->times)) == NULL)
		return query_nomem(q);
	for (size_t i = 0; i < q->nsurveyed; i++) {
		const struct qstmts *p = &q->surveyed_path[i];

		q->times[i] = 0;
		for (uint32_t j = 0; j < p->n; j++)
			q->times[i] += p->id[j] == id;
	}
	q->timesid = id;
	return 0;
}

int
query_find(struct query *q, uint32_t id, uint64_t *instance, size_t *k)
{
	if (id == 0 || id > q->nstmt || *instance >= q->stmt[id - 1].count)
		return 0;
	if (counts_times(q, id) != 0)
		return -1;
	for (*k = 0; *k < q->nwin; ++*k) {
		const struct qwin *w = &q->win[*k];
		uint64_t n = 0;

		for (size_t j = 0; j < w->ncount; j++)
			n += (uint64_t)w->count[j].n * q->times[w->count[j].path];
		if (*instance < n)
			return 1;
		*instance -= n;
	}
	return 0;
}
