/* Visits: keeps snapshots during a run, so that going to an instance takes milliseconds. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/helper.h"
#include "replay/itrace/itrace_internal.h"

#define MOST 64u                /* snapshots at most */
/*
 * instances that run in the time of comparing a page, times the inverse of the share of time
 * for snapshots
 */
#define DEAR 2000u

int
visit_snapshots_enable(struct visit *v, uint64_t most, uint64_t step)
{
	struct visit_kept *k = v->kept;

	if (!k) {
		if ((k = calloc(1, sizeof *k)) == NULL)
			return -1;
		if ((k->pagemap = helper_keep_open("/proc/self/pagemap")) < 0) {
			free(k);
			return -1;
		}
		v->kept = k;
	}
	k->most = most;
	k->step = step > 16 ? step : 16;
	v->due = visit_snapshot_due(v, drive_instances(v->r));
	return 0;
}

struct visit_kept *
visit_snapshots_detach(struct visit *v)
{
	struct visit_kept *k = v->kept;

	v->kept = NULL;
	v->due = UINT64_MAX;
	return k;
}

void
visit_snapshots_attach(struct visit *v, struct visit_kept *k)
{
	visit_snapshots_free(v->kept);
	v->kept = k;
	v->due = visit_snapshot_due(v, drive_instances(v->r));
}

void
visit_snapshots_free(struct visit_kept *k)
{
	if (!k)
		return;
	for (size_t i = 0; i < k->n; i++)
		(void)snap_free(k->at[i]);
	free(k->at);
	close(k->pagemap);
	free(k);
}

/* The last snapshot at or before instance n; NULL: none. */
const struct snap *
visit_kept(const struct visit *v, uint64_t n)
{
	size_t k = v->kept ? v->kept->n : 0;

	while (k && v->kept->at[k - 1]->n > n)
		k--;
	return k ? v->kept->at[k - 1] : NULL;
}

const struct snap *
visit_kept_whole(const struct visit *v, uint64_t n)
{
	const struct snap *s = visit_kept(v, n);

	while (s && s->keyed)
		s = s->n ? visit_kept(v, s->n - 1) : NULL;
	return s;
}

static uint64_t
states_distance(const struct visit *v, const struct snap *s)
{
	uint64_t dear = s->npage * DEAR;

	return dear > v->kept->step ? dear : v->kept->step;
}

/* The instance after n where a snapshot is due; UINT64_MAX: none. */
uint64_t
visit_snapshot_due(const struct visit *v, uint64_t n)
{
	uint64_t at = n;

	if (!v->kept || v->writers || replay_instances(v->r) == WS_UNKNOWN)
		return UINT64_MAX;
	for (size_t k = 0; k < v->kept->n; k++) {
		const struct snap *s = v->kept->at[k];

		if (s->n < at + states_distance(v, s) / 2 && at < s->n + states_distance(v, s))
			at = s->n + states_distance(v, s);
	}
	return at;
}

/* Drops every other snapshot, never the first. */
static void
states_thin(struct visit *v)
{
	size_t k = 0;

	for (size_t i = 0; i < v->kept->n; i++)
		if (i % 2 == 0)
			v->kept->at[k++] = v->kept->at[i];
		else
			v->kept->bytes -= snap_free(v->kept->at[i]);
	v->kept->n = k;
	v->kept->step *= 2;
}

static void
states_insert(struct visit *v, struct snap *s)
{
	uint64_t n = s->n;
	size_t k = v->kept->n++;

	for (; k && v->kept->at[k - 1]->n > n; k--)
		v->kept->at[k] = v->kept->at[k - 1];
	v->kept->at[k] = s;
	v->kept->bytes += s->bytes;
	while (v->kept->n > 2 && (v->kept->n > MOST || v->kept->bytes > v->kept->most))
		states_thin(v);
	v->due = visit_snapshot_due(v, n);
	if (v->due < n + v->kept->step / 4)     /* the new snapshot was dropped at once */
		v->due = n + v->kept->step / 4;
}

void
visit_snapshot_take(struct visit *v)
{
	uint64_t n = drive_instances(v->r);
	const struct snap *base = visit_kept(v, n);
	struct snap *s;

	v->due = UINT64_MAX;
	if (base && base->n == n)
		v->due = visit_snapshot_due(v, n);
	else if ((s = snap_take(v->r, base, v->kept->pagemap, v->kept->most)) == NULL) {
		/* amid a string instruction, or too large: try less and less often */
		v->due = n + v->kept->step / 4;
		v->kept->step += v->kept->step / 4;
	} else if (buf_grow(&v->kept->at, &v->kept->cap, v->kept->n + 1, sizeof(struct snap *)) < 0)
		(void)snap_free(s);
	else
		states_insert(v, s);
}
