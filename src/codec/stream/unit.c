/*
 * Value streams: units. The blocks of a unit wait, because one whole block may be smaller than all of them. With
 * several threads, trials of the unit's bytes run beside its blocks, of which the first is coded alone.
 */
#include <stdlib.h>
#include <string.h>

#include "codec/stream/writer_internal.h"

int
vs_unit_enter(struct vs_writer *w, size_t n, const uint8_t *p, size_t size)
{
	struct unit *u = &w->unit;

	buf_add(&u->coded, p, size);
	if (u->coded.nomem || buf_grow(&u->held, &u->cap, u->nheld + 1, sizeof(*u->held)) != 0)
		return vs_writer_fail(w, VS_NOMEM);
	u->held[u->nheld++] = (struct held){ .n = n, .size = size };
	u->made += n;
	return 0;
}

/* The first block is whole: no primers can be made of it, and there are no groups. */
static void
unit_unprimed(struct vs_writer *w)
{
	vs_common_free(&w->m);
	memset(w->m.prime, 0, sizeof(w->m.prime));
	w->m.primed = 1;
	if (w->model)
		vs_block_free(w->model);
	w->model = NULL;
	w->group.wide = 0;
}

/* Writes the unit, as its blocks or as a whole block, whichever is smaller, and begins the next one. */
static int
unit_end(struct vs_writer *w)
{
	struct unit *u = &w->unit;
	size_t at = 0;
	int one = 0;

	if (w->bad)
		return -1;
	w->block.n = 0;
	if (u->trials)
		one = vs_whole_encode(&w->m, &u->raw, u->trials, u->coded.n, &w->block);
	if (one < 0)
		return vs_writer_fail(w, VS_NOMEM);
	if (one) {
		if (!w->written)
			unit_unprimed(w);
		w->before = u->raw.n / w->m.record;
		vs_writer_put(w, w->before, u->before, w->block.p, w->block.n);
	}
	for (size_t i = 0; !one && i < u->nheld; at += u->held[i++].size)
		if (vs_writer_put(w, u->held[i].n, i ? u->held[i - 1].n : u->before, u->coded.p + at,
		    u->held[i].size) != 0)
			return -1;
	if (u->trials)
		vs_trials_wait(u->trials);
	vs_trials_free(u->trials);
	u->trials = NULL;
	u->raw.n = u->coded.n = u->nheld = u->taken = u->made = 0;
	u->before = w->before;
	return w->bad ? -1 : 0;
}

/*
 * The whole unit is there: trials of its bytes begin, if there are threads for them.  Without, they come after
 * its blocks, whose size tells which are needed.  0 or -1.
 */
static int
unit_begin_trials(struct vs_writer *w)
{
	struct unit *u = &w->unit;

	if (!u->raw.n)
		return 0;
	if (!w->par && !(w->par = pool_new(w->threads, vs_writer_work, w)))
		return vs_writer_fail(w, VS_NOMEM);
	u->trials = vs_trials_new(w->par, &u->raw);
	if (!u->trials)
		return vs_writer_fail(w, VS_NOMEM);
	if (w->threads > 1)
		vs_trials_early(u->trials);
	return 0;
}

/* Half of the unit's blocks are coded, or more: trials begin that their size makes likely. */
static void
unit_guess(struct vs_writer *w)
{
	struct unit *u = &w->unit;
	size_t all = u->raw.n / w->m.record, first = u->nheld ? u->held[0].n : 0;
	size_t made = u->made - first;
	double size = u->nheld ? (double)u->held[0].size : 0;

	if (!u->trials || w->threads == 1 || u->nheld < 2 || made < (all - first) / 2)
		return;
	size += ((double)u->coded.n - size) * (double)(all - first) / (double)made;
	vs_trials_guess(u->trials, size);
}

/* Takes the oldest job from the pool, if it is done, or waits for it.  1; 0: there is none, or it is not done; -1 */
static int
unit_collect(struct vs_writer *w, int wait)
{
	struct vs_job *j;

	if (!w->par || (!wait && !pool_is_done(w->par)) || !(j = pool_wait(w->par)))
		return 0;
	if ((w->chosen ? vs_writer_collect : vs_writer_first)(w, j) != 0)
		return -1;
	if (wait)
		unit_guess(w);
	return 1;
}

/*
 * Blocks of the unit that are whole are coded, as long as threads take them and the first block is done; at the end
 * of the unit, all are.  A block may be the last one until there are more records.  0 or -1.
 */
static int
unit_blocks(struct vs_writer *w, int end)
{
	struct unit *u = &w->unit;

	while (!w->bad) {
		size_t left = u->raw.n - u->taken, k;
		int busy = w->par && (pool_is_full(w->par) || (w->nrec && !w->chosen));

		if (busy && unit_collect(w, end) > 0)
			continue;
		if (busy)
			break;
		k = vs_writer_records(w) * w->m.record;
		if (!left || (left <= k && !end))
			break;
		k = k < left ? k : left;
		buf_add(&w->job[w->next].raw, u->raw.p + u->taken, k);
		u->taken += k;
		if (w->job[w->next].raw.nomem)
			return vs_writer_fail(w, VS_NOMEM);
		vs_writer_submit(w);
	}
	while (end && !w->bad && unit_collect(w, 1) > 0)
		;
	return w->bad ? -1 : 0;
}

int
vs_unit_flush(struct vs_writer *w)
{
	return unit_begin_trials(w) == 0 && unit_blocks(w, 1) == 0 ? unit_end(w) : -1;
}

void
vs_unit_write(struct vs_writer *w, const uint8_t *p, size_t n)
{
	struct unit *u = &w->unit;

	while (n && !w->bad) {
		size_t k = u->most - u->raw.n < n ? u->most - u->raw.n : n;

		/* a full unit stays until there are more records: it may be the last one */
		if (!k) {
			vs_unit_flush(w);
			continue;
		}
		buf_add(&u->raw, p, k);
		if (u->raw.nomem) {
			vs_writer_fail(w, VS_NOMEM);
			return;
		}
		unit_blocks(w, 0);
		p += k;
		n -= k;
	}
}

void
vs_unit_free(struct vs_writer *w)
{
	vs_trials_free(w->unit.trials);
	buf_free(&w->unit.raw);
	buf_free(&w->unit.coded);
	free(w->unit.held);
}
