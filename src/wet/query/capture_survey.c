/*
 * Queries of a capture: the survey, which finds all statements and divides the run into windows, and
 * the state of control dependence at the beginning of windows.
 */
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "replay/guest/code_reader.h"
#include "replay/itrace/code_finder.h"
#include "wet/query/capture_internal.h"

#define SHALLOW 1024u           /* with at most so many calls, a state has some kilobytes */

struct survey {
	struct qcap *cap;
	struct qpath **touched;         /* paths with runs in this window; owned */
	size_t ntouched, captouched;
	uint64_t last;                  /* the last position */
	int count;                      /* makes windows and counts; 0: only the code for slices */
};

/* Stores the counts of the window that ends. */
static int
survey_end_window(struct survey *s)
{
	size_t n = s->ntouched;

	s->ntouched = 0;
	return qcap_count_window(s->cap, s->touched, n);
}

static int
survey_count(struct survey *s, const struct visit_run *r)
{
	struct qcap *cap = s->cap;
	struct qpath *p;

	if (r->n <= s->last)            /* a further part of a string instruction */
		return 0;
	s->last = r->n + r->ninsn - 1;
	if (cap->nwin == 0 || r->n - cap->win[cap->nwin - 1].n >= cap->window / cap->group) {
		if ((cap->nwin && survey_end_window(s) != 0) ||
		    buf_grow(&cap->win, &cap->capwin, cap->nwin + 1, sizeof *cap->win) < 0)
			return -1;
		cap->win[cap->nwin++] = (struct qwin){ .n = r->n };
	}
	if (r->at->fact->kind == FACT_SIGNAL)
		return 0;
	if ((p = qcap_path(cap, r->at, r->ninsn)) == NULL)
		return -1;
	if (p->count++ == 0) {
		if (buf_grow(&s->touched, &s->captouched, s->ntouched + 1, sizeof(struct qpath *)) < 0)
			return -1;
		s->touched[s->ntouched++] = p;
	}
	return 0;
}

/* Replays until statement `want` is known, or to the end if it is 0. */
static int
survey_walk(struct survey *s, struct wcode_visit *t, struct wcode_replay *m, uint32_t want)
{
	struct qcap *cap = s->cap;
	struct visit_batch b;
	int got = 0;

	while ((!want || cap->q->nstmt < want) && (got = qcap_next_batch(cap, &b)) == 1) {
		if (t) {
			wcode_replay_invalidate(m);
			if (wcode_visit_batch(t, &b) != 0)
				return -1;
		}
		for (size_t i = 0; s->count && i < b.nrun; i++)
			if (survey_count(s, &b.run[i]) != 0)
				return -1;
	}
	return got < 0 ? -1 : 0;
}

int
qcap_survey(struct query *q, int slices)
{
	struct qcap *cap = q->cap;
	struct survey s = { .cap = cap, .count = !cap->surveyed };
	struct wcode_replay m = { 0 };
	struct wcode_visit *t = NULL;
	int bad;

	if (cap->surveyed && (cap->coded || !slices))
		return 0;
	if (!cap->surveyed)
		qcap_clear_counts(cap);
	if (qcap_open_trace(cap, VISIT_CONTROL) != 0 || qcap_seek(cap, 1) < 0)
		return -1;
	if (slices) {
		m.r = visit_replay(cap->trace);
		wcode_free(&cap->code);
		wcode_init(&cap->code, wcode_read_replay, &m);
		if ((t = wcode_visit_new(&cap->code)) == NULL)
			return -1;
	}
	bad = survey_walk(&s, t, &m, 0) != 0 ||
	    (s.count && ((cap->nwin && survey_end_window(&s) != 0) || qcap_finish_counts(cap) != 0));
	wcode_visit_free(t);
	free(s.touched);
	cap->code.read = NULL;
	if (bad || (slices && wcode_analyse(&cap->code) != 0))
		return -1;
	if (s.count) {
		const struct ws_rec_end *end = replay_end_record(visit_replay(cap->trace));

		q->length = s.last;
		cap->killed = end && end->how == WS_KILLED ? (int)end->status : 0;
	}
	cap->surveyed = 1;
	cap->coded |= slices;
	return 0;
}

int
qcap_has_stmt(struct query *q, uint32_t id)
{
	struct qcap *cap = q->cap;
	struct survey s = { .cap = cap, .count = 1 };
	int bad;

	if (id == 0 || id <= q->nstmt || cap->surveyed)
		return id && id <= q->nstmt;
	qcap_clear_counts(cap);
	bad = qcap_open_trace(cap, VISIT_CONTROL) != 0 || qcap_seek(cap, 1) < 0 ||
	    survey_walk(&s, NULL, NULL, id) != 0;
	for (size_t i = 0; i < s.ntouched; i++)
		s.touched[i]->count = 0;
	free(s.touched);
	return bad ? -1 : id <= q->nstmt;
}

size_t
qcap_find_window(const struct qcap *cap, uint64_t n)
{
	size_t i;

	LOWER_BOUND(i, cap->nwin, cap->win[i].n <= n);
	return i ? i - 1 : 0;
}

/* Sets *n to the position of execution `left` of a statement, counted from the beginning of window k. */
static int
survey_seek(struct qcap *cap, uint32_t id, size_t k, uint64_t left, uint64_t *n)
{
	struct visit_batch b;
	uint64_t last = 0;
	int got;

	if (qcap_open_trace(cap, 0) != 0 || (got = qcap_seek(cap, cap->win[k].n)) < 0)
		return -1;
	while (got == 1 && (got = qcap_next_batch(cap, &b)) == 1)
		for (const struct visit_run *r = b.run; r < b.run + b.nrun; r++) {
			const struct qpath *p;

			if (r->n <= last || r->at->fact->kind == FACT_SIGNAL)
				continue;
			last = r->n + r->ninsn - 1;
			if ((p = qcap_path(cap, r->at, r->ninsn)) == NULL)
				return -1;
			for (uint32_t i = 0; i < p->n; i++)
				if (p->id[i] == id && left-- == 0) {
					*n = r->n + i;
					return 1;
				}
		}
	return got < 0 ? -1 : query_fail(cap->q, "the replay differs from the one before");
}

int
qcap_position(struct query *q, uint32_t id, uint64_t instance, uint64_t *n)
{
	struct qcap *cap = q->cap;
	size_t k;

	if (id && id == cap->foundid && instance == cap->foundinstance) {
		*n = cap->foundn;
		return 1;
	}
	return qcap_find_instance(cap, id, &instance, &k) ? survey_seek(cap, id, k, instance, n) : 0;
}

static int
survey_save(struct qcap *cap, struct control *c, size_t k)
{
	control_save(c, &cap->win[k].state);
	return cap->win[k].state.nomem ? -1 : 0;
}

/* Follows control dependence through a run or a part of one. */
static int
survey_step(struct qcap *cap, struct control *c, struct visit_run r, const struct visit_batch *b)
{
	const struct control_path *t;
	struct qpath *p;

	if (r.at->fact->kind == FACT_SIGNAL)
		return control_signal(c, r.n, b->word + r.word);
	if ((p = qcap_path(cap, r.at, r.ninsn)) == NULL || (t = qcap_control_path(cap, p)) == NULL)
		return -1;
	return control_step(c, t, r.n, b->word + r.word, NULL);
}

/* Is the state at window w, which is on the way to window k, worth its memory? */
static int
survey_saves(const struct qcap *cap, const struct control *c, size_t w, size_t k)
{
	return w == k || w == qcap_group_start(cap, w) || control_depth(c) < SHALLOW;
}

/*
 * Follows a run and saves states where windows begin, up to window k.  The run is divided there if a
 * window begins in it.  *at: the last window that has begun
 */
static int
survey_follow(struct qcap *cap, struct control *c, size_t *at, size_t k, struct visit_run r,
    const struct visit_batch *b)
{
	while (*at < k && r.n + r.ninsn > cap->win[*at + 1].n) {
		struct visit_run first = r;
		uint64_t n = cap->win[*at + 1].n;

		if (n > r.n) {
			first.ninsn = (uint16_t)(n - r.n);
			r.at += first.ninsn;
			r.n += first.ninsn;
			r.ninsn = (uint16_t)(r.ninsn - first.ninsn);
			if (survey_step(cap, c, first, b) != 0)
				return -1;
		}
		if (survey_saves(cap, c, ++*at, k) && survey_save(cap, c, *at) != 0)
			return -1;
	}
	return survey_step(cap, c, r, b);
}

static int
survey_states(struct qcap *cap, struct control *c, size_t at, size_t k)
{
	struct visit_batch b;
	int got = qcap_seek(cap, cap->win[at].n);

	while (got == 1 && at < k && (got = qcap_next_batch(cap, &b)) == 1)
		for (size_t i = 0; i < b.nrun && at < k; i++)
			if (survey_follow(cap, c, &at, k, b.run[i], &b) != 0)
				return -1;
	if (got == 1 || at == k)
		return 0;
	return got < 0 ? -1 : query_fail(cap->q, "the replay differs from the one before");
}

/* Saves states of windows up to k, from the last one that has a state.  The trace is anywhere then. */
static int
survey_all_states(struct qcap *cap, size_t k)
{
	unsigned what = cap->what;
	size_t at = k;

	while (at && !cap->win[at].state.n)
		at--;
	if (cap->win[at].state.n) {
		if (control_load(cap->control, cap->win[at].state.p, cap->win[at].state.n) != 0)
			return -1;
	} else if (survey_save(cap, cap->control, at) != 0)
		return -1;
	if (at == k)
		return 0;
	return qcap_open_trace(cap, VISIT_CONTROL) != 0 || survey_states(cap, cap->control, at, k) != 0 ||
	    qcap_open_trace(cap, what) != 0 ? -1 : 0;
}

int
qcap_load_control(struct qcap *cap, size_t k)
{
	if ((!cap->control && (cap->control = control_new(&cap->code)) == NULL) ||
	    (!cap->win[k].state.n && survey_all_states(cap, k) != 0))
		return -1;
	return control_load(cap->control, cap->win[k].state.p, cap->win[k].state.n);
}
