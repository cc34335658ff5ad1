/* Queries of a capture: the survey, windows of the run, and the state of control at their beginnings. */
#include <stdlib.h>
#include <string.h>

#include "replay/guest/code_reader.h"
#include "replay/itrace/code_finder.h"
#include "wet/query/query_internal.h"

struct survey {
	struct query *q;
	struct qpath **touched;         /* paths of this window; owned */
	size_t ntouched, captouched;
	uint64_t last;                  /* position */
	int count;                      /* else only what slices need */
};

/* What was executed since the window began */
static int
window_ends(struct survey *s)
{
	size_t n = s->ntouched;

	s->ntouched = 0;
	return query_count_window(s->q, s->touched, n);
}

static int
survey_count(struct survey *s, const struct visit_run *r)
{
	struct query *q = s->q;
	struct qpath *p;

	if (r->n <= s->last)            /* the other part of a string instruction */
		return 0;
	s->last = r->n + r->ninsn - 1;
	if (q->nwin == 0 || r->n - q->win[q->nwin - 1].n >= q->window / q->group) {
		if ((q->nwin && window_ends(s) != 0))
			return -1;
		if (buf_grow(&q->win, &q->capwin, q->nwin + 1, sizeof *q->win) < 0)
			return query_nomem(q);
		q->win[q->nwin++] = (struct qwin){ .n = r->n };
	}
	if (r->at->fact->kind == FACT_SIGNAL)
		return 0;
	if ((p = query_path(q, r->at, r->ninsn)) == NULL)
		return -1;
	if (p->count++ == 0) {
		if (buf_grow(&s->touched, &s->captouched, s->ntouched + 1, sizeof(struct qpath *)) < 0)
			return query_nomem(q);
		s->touched[s->ntouched++] = p;
	}
	return 0;
}

/* Until statement `want` is known, 0: to the end */
static int
survey_walk(struct survey *s, struct wcode_visit *t, struct wcode_replay *m, uint32_t want)
{
	struct query *q = s->q;
	struct visit_batch b;
	int got = 0;

	while ((!want || q->nstmt < want) && (got = query_batch(q, &b)) == 1) {
		if (t) {
			wcode_remapped(m);
			if (wcode_visit_batch(t, &b) != 0)
				return query_nomem(q);
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
	struct survey s = { .q = q, .count = !q->surveyed };
	struct wcode_replay m = { 0 };
	struct wcode_visit *t = NULL;
	int bad;

	if (q->surveyed && (q->coded || !slices))
		return 0;
	if (!q->surveyed)
		query_count_forget(q);
	if (query_visit(q, VISIT_CONTROL) != 0 || query_goto(q, 1) < 0)
		return -1;
	if (slices) {
		m.r = visit_replay(q->v);
		wcode_free(&q->code);
		wcode_init(&q->code, wcode_read_replay, &m);
		if ((t = wcode_visit_new(&q->code)) == NULL)
			return query_nomem(q);
	}
	bad = survey_walk(&s, t, &m, 0) != 0 ||
	    (s.count && ((q->nwin && window_ends(&s) != 0) || query_count_over(q) != 0));
	wcode_visit_free(t);
	free(s.touched);
	q->code.read = NULL;
	if (bad)
		return -1;
	if (slices && wcode_analyse(&q->code) != 0)
		return query_nomem(q);
	if (s.count)
		q->length = s.last;
	q->surveyed = 1;
	q->coded |= slices;
	return 0;
}

int
qcap_know(struct query *q, uint32_t id)
{
	struct survey s = { .q = q, .count = 1 };
	int bad;

	if (id == 0 || id <= q->nstmt || q->surveyed)
		return id && id <= q->nstmt;
	query_count_forget(q);
	bad = query_visit(q, VISIT_CONTROL) != 0 || query_goto(q, 1) < 0 ||
	    survey_walk(&s, NULL, NULL, id) != 0;
	for (size_t i = 0; i < s.ntouched; i++)
		s.touched[i]->count = 0;
	free(s.touched);
	return bad ? -1 : id <= q->nstmt;
}

size_t
query_window(const struct query *q, uint64_t n)
{
	size_t lo = 0, hi = q->nwin;

	while (hi - lo > 1) {
		size_t mid = (lo + hi) / 2;

		if (q->win[mid].n <= n)
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}

/* Of execution `left` of a statement since window k began, the position */
static int
survey_seek(struct query *q, uint32_t id, size_t k, uint64_t left, uint64_t *n)
{
	struct visit_batch b;
	uint64_t last = 0;
	int got;

	if (query_visit(q, 0) != 0 || (got = query_goto(q, q->win[k].n)) < 0)
		return -1;
	while (got == 1 && (got = query_batch(q, &b)) == 1)
		for (const struct visit_run *r = b.run; r < b.run + b.nrun; r++) {
			const struct qpath *p;

			if (r->n <= last || r->at->fact->kind == FACT_SIGNAL)
				continue;
			last = r->n + r->ninsn - 1;
			if ((p = query_path(q, r->at, r->ninsn)) == NULL)
				return -1;
			for (uint32_t i = 0; i < p->n; i++)
				if (p->id[i] == id && left-- == 0) {
					*n = r->n + i;
					return 1;
				}
		}
	return got < 0 ? -1 : query_bad(q, "the replay is another one than before");
}

int
qcap_position(struct query *q, uint32_t id, uint64_t instance, uint64_t *n)
{
	size_t k;

	return query_find(q, id, &instance, &k) ? survey_seek(q, id, k, instance, n) : 0;
}

static int
survey_save(struct query *q, struct control *c, size_t k)
{
	control_save(c, &q->win[k].state);
	return q->win[k].state.nomem ? query_nomem(q) : 0;
}

/* A run, or what is left of it */
static int
survey_step(struct query *q, struct control *c, struct visit_run r, const struct visit_batch *b)
{
	const struct control_path *t;
	struct qpath *p;

	if (r.at->fact->kind == FACT_SIGNAL)
		return control_signal(c, r.n, b->word + r.word) != 0 ? query_nomem(q) : 0;
	if ((p = query_path(q, r.at, r.ninsn)) == NULL || (t = query_control_path(q, p)) == NULL)
		return -1;
	return control_step(c, t, r.n, b->word + r.word, NULL) != 0 ? query_nomem(q) : 0;
}

/* The state at the beginning of groups up to k, one of which may begin amid a run */
static int
survey_follow(struct query *q, struct control *c, size_t *at, size_t k, struct visit_run r, const struct visit_batch *b)
{
	while (*at < k && r.n + r.ninsn > q->win[*at + q->group].n) {
		struct visit_run first = r;
		uint64_t n = q->win[*at + q->group].n;

		if (n > r.n) {
			first.ninsn = (uint16_t)(n - r.n);
			r.at += first.ninsn;
			r.n += first.ninsn;
			r.ninsn = (uint16_t)(r.ninsn - first.ninsn);
			if (survey_step(q, c, first, b) != 0)
				return -1;
		}
		if (survey_save(q, c, *at += q->group) != 0)
			return -1;
	}
	return survey_step(q, c, r, b);
}

static int
survey_states(struct query *q, struct control *c, size_t at, size_t k)
{
	struct visit_batch b;
	int got = query_goto(q, q->win[at].n);

	while (got == 1 && at < k && (got = query_batch(q, &b)) == 1)
		for (size_t i = 0; i < b.nrun && at < k; i++)
			if (survey_follow(q, c, &at, k, b.run[i], &b) != 0)
				return -1;
	if (got == 1 || at == k)
		return 0;
	return got < 0 ? -1 : query_bad(q, "the replay is another one than before");
}

/* The same for all groups up to that of k */
static int
all_states(struct query *q, size_t k)
{
	size_t at = k;

	while (at && !q->win[at].state.n)
		at -= q->group;
	if (q->win[at].state.n) {
		if (control_load(q->control, q->win[at].state.p, q->win[at].state.n) != 0)
			return query_nomem(q);
	} else if (survey_save(q, q->control, at) != 0)
		return -1;
	return survey_states(q, q->control, at, k);
}

int
query_control(struct query *q, size_t k)
{
	if (!q->control && (q->control = control_new(&q->code)) == NULL)
		return query_nomem(q);
	if (!q->win[k].state.n && all_states(q, k) != 0)
		return -1;
	return control_load(q->control, q->win[k].state.p, q->win[k].state.n) != 0 ? query_nomem(q) : 0;
}
