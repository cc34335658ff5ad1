/* Visits: finds segments, and goes to an instance. */
#include <stdlib.h>
#include <string.h>

#include "replay/itrace/itrace_internal.h"

#define NEAR  2000000u          /* going to a snapshot costs as much as running this many instances */
/* maximum size of the snapshot of the beginning, which visit_begin_second uses */
#define FIRST (UINT64_C(256) << 20)
#define WORTH 20000000u         /* running this many instructions costs more than going to a keyframe */

/* Forgets all writers and everything that is pending. */
static void
itrace_begin(struct visit *v)
{
	memset(v->last, 0, sizeof v->last);
	v->split = 0;
	wshadow_clear(&v->mem);
	v->nrun = v->ninsn = v->nwriter = v->mem.npiece = 0;
	v->batch.nrun = 0;
	v->next = v->nextin = 0;
	v->half = NULL;
	v->n = drive_instances(v->r);
	v->done = 0;
	v->pending = drive_resume(v->r);
	v->due = visit_snapshot_due(v, v->n);
}

/* Runs muted to a segment's start, to an instruction count, or to an instance. */
static int
itrace_go(struct visit *v, size_t k)
{
	int e;

	if (k == 0 && v->fresh)
		return REPLAY_OK;
	v->fresh = 0;
	v->muted = 1;
	e = k ? replay_seek(v->r, k - 1) : drive_rewind(v->r) == 0 ? REPLAY_OK : REPLAY_BAD;
	if (e == REPLAY_OK && k && v->seg)
		drive_set_instances(v->r, v->seg[k]);
	v->muted = 0;
	return e;
}

static int
itrace_run(struct visit *v, uint64_t icount, uint64_t n)
{
	int e;

	v->fresh = 0;
	v->muted = 1;
	e = drive_run_to(v->r, icount, n);
	v->muted = 0;
	return e;
}

/* Counts the instances of keyframes that do not record them, by running up to the last one. */
static int
itrace_count(struct visit *v)
{
	if (itrace_go(v, 0) != REPLAY_OK)
		return -1;
	for (size_t k = 1; k < v->nseg; k++) {
		if (itrace_run(v, replay_key_icount(v->r, k - 1), WS_UNKNOWN) != REPLAY_OK)
			return -1;
		v->seg[k] = drive_instances(v->r);
	}
	if (itrace_go(v, 0) != REPLAY_OK)
		return -1;
	itrace_begin(v);
	return 0;
}

size_t
visit_segments(struct visit *v)
{
	size_t n = replay_nkeys(v->r) + 1, k;

	if (v->seg)
		return v->nseg;
	if ((v->seg = calloc(n, sizeof *v->seg)) == NULL) {
		drive_bad(v->r, "no memory");
		return 0;
	}
	v->nseg = n;
	for (k = 1; k < n; k++) {
		v->seg[k] = replay_key_instances(v->r, k - 1);
		if (v->seg[k] == WS_UNKNOWN)
			break;
		if (v->seg[k] < v->seg[k - 1] || v->seg[k] >= VISIT_MANY) {
			drive_bad(v->r, "keyframe %zu has %llu instances before it", k,
			    (unsigned long long)v->seg[k]);
			break;
		}
	}
	if (k == n || (v->seg[k] == WS_UNKNOWN && itrace_count(v) == 0))
		return n;
	free(v->seg);
	v->seg = NULL;
	return 0;
}

uint64_t
visit_segment(const struct visit *v, size_t k)
{
	return v->seg[k];
}

/* Goes to a snapshot. */
static int
itrace_back(struct visit *v, const struct snap *s)
{
	int e;

	v->fresh = 0;
	v->muted = 1;
	e = snap_return(v->r, s, v->kept->pagemap);
	v->muted = 0;
	return e == 0 ? REPLAY_OK : REPLAY_BAD;
}

int
visit_seek(struct visit *v, size_t k)
{
	const struct snap *s = k == 0 ? visit_kept(v, 0) : NULL;

	if (visit_segments(v) == 0 || (s ? itrace_back(v, s) : itrace_go(v, k)) != REPLAY_OK)
		return REPLAY_BAD;
	itrace_begin(v);
	return REPLAY_OK;
}

void
visit_prepare_second(struct visit *v)
{
	v->writerslater = v->writers;
	v->writers = 0;
	/* keep only the beginning; on failure, code is translated again */
	(void)visit_snapshots_enable(v, FIRST, UINT64_MAX >> 1);
}

int
visit_begin_second(struct visit *v)
{
	const struct snap *s = visit_kept(v, 0);
	int e = drive_ended(v->r) == REPLAY_BAD ? REPLAY_BAD : s ? itrace_back(v, s) : itrace_go(v, 0);

	visit_snapshots_free(v->kept);
	v->kept = NULL;
	v->writers = v->writerslater;
	if (e == REPLAY_OK)
		itrace_begin(v);
	return e;
}

/* Runs muted to the end of instance n, taking snapshots that are due. */
static int
run_to(struct visit *v, uint64_t n)
{
	int e = REPLAY_OK;

	while (e == REPLAY_OK && v->due < n) {
		uint64_t now = drive_instances(v->r);

		if (now < v->due && (e = itrace_run(v, WS_UNKNOWN, v->due)) != REPLAY_OK)
			break;
		visit_snapshot_take(v);
	}
	return e == REPLAY_OK ? itrace_run(v, WS_UNKNOWN, n) : e;
}

int
visit_goto_whole(struct visit *v, uint64_t n)
{
	const struct snap *s = visit_kept_whole(v, n - 1);
	int e = REPLAY_OK, here = drive_ended(v->r) == REPLAY_OK && !drive_is_partial(v->r) &&
	    drive_instances(v->r) <= n - 1;

	if (s && (!here || s->n > drive_instances(v->r) + NEAR))
		e = itrace_back(v, s);
	else if (!here)
		e = itrace_go(v, 0);
	v->due = visit_snapshot_due(v, drive_instances(v->r));
	if (e == REPLAY_OK)
		e = run_to(v, n - 1);
	itrace_begin(v);
	return e;
}

int
visit_goto(struct visit *v, uint64_t n)
{
	struct replay *r = v->r;
	size_t k = visit_segments(v);
	const struct snap *s;
	uint64_t at;
	int e = REPLAY_OK, here;

	if (k == 0)
		return REPLAY_BAD;
	if (n == 0)
		n = 1;
	while (--k && v->seg[k] > n - 1)
		;
	at = k ? replay_key_icount(r, k - 1) : 0;
	here = drive_ended(r) == REPLAY_OK && drive_instances(r) <= n - 1;
	s = visit_kept(v, n - 1);
	if (s && s->x.icount + WORTH >= at && (!here || s->n > drive_instances(r) + NEAR))
		e = itrace_back(v, s);
	else if (!here || (at > replay_icount(r) && at - replay_icount(r) > WORTH))
		e = itrace_go(v, k);
	v->due = visit_snapshot_due(v, drive_instances(r));
	if (e == REPLAY_OK)
		e = run_to(v, n - 1);
	itrace_begin(v);
	return e;
}

void
visit_stop(struct visit *v, size_t k)
{
	replay_until(v->r, k && k < v->nseg ? replay_key_icount(v->r, k - 1) : WS_UNKNOWN);
	if (drive_ended(v->r) == REPLAY_OK)
		v->pending = drive_resume(v->r);
}

void
visit_until(struct visit *v, uint64_t n)
{
	drive_until(v->r, n);
	if (drive_ended(v->r) == REPLAY_OK)
		v->pending = drive_resume(v->r);
}
