/* Snapshots of a history: when they are taken, and which are dropped. */
#include <stdlib.h>

#include "base/buf.h"
#include "replay/history/history_internal.h"

#define STEP 20000000u          /* instructions between two of them at least */
#define DEAR 20000u             /* instructions that run in the time of comparing a page, times 20 */
#define MOST 256u               /* snapshots at most */
/*
 * Instructions from a snapshot that is left near a place to which somebody went back.  Running them
 * may take longer than their number says, where files are mapped, as code is translated again.
 */
#define NEAR 16384u
#define WORTH 1000000u          /* instructions that run in the time of going to a snapshot, at least */

static struct history_at
keep_at(const struct snap *s)
{
	return (struct history_at){ s->x.icount, s->n };
}

const struct snap *
history_kept(const struct history *h, struct history_at at)
{
	size_t k = h->nsnap;

	while (k && history_before(at, keep_at(h->snap[k - 1])))
		k--;
	return k ? h->snap[k - 1] : NULL;
}

static uint64_t
keep_distance(const struct snap *s)
{
	uint64_t dear = s->npage * DEAR;

	return dear > STEP ? dear : STEP;
}

static uint64_t
keep_pages(const struct history *h)
{
	return h->nsnap ? h->snap[h->nsnap - 1]->npage : 0;
}

uint64_t
history_keep_near(const struct history *h)
{
	uint64_t n = keep_pages(h) * (DEAR / 1000);

	return n > NEAR ? n : NEAR;
}

uint64_t
history_keep_worth(const struct history *h)
{
	uint64_t n = keep_pages(h) * (DEAR / 20);

	return n > WORTH ? n : WORTH;
}

void
history_keep_due(struct history *h)
{
	uint64_t at = replay_icount(h->r);

	h->due = at;
	for (size_t k = 0; k < h->nsnap; k++) {
		uint64_t s = h->snap[k]->x.icount, far = keep_distance(h->snap[k]);

		if (s < h->due + far / 2 && h->due < s + far)
			h->due = s + far;
	}
	if (h->due == at)
		h->due++;
}

/*
 * Drops the snapshot that is missed least: its neighbours are close to each other, and it is far
 * from here.  Never the first.
 */
static void
keep_thin(struct history *h)
{
	uint64_t here = replay_icount(h->r);
	size_t drop = 1;
	double least = 0;

	for (size_t k = 1; k < h->nsnap; k++) {
		uint64_t at = h->snap[k]->x.icount;
		double far = at < here ? (double)(here - at) : (double)(at - here);
		uint64_t next = k + 1 < h->nsnap ? h->snap[k + 1]->x.icount : at + keep_distance(h->snap[k]);
		double gap = (double)(next - h->snap[k - 1]->x.icount) / (far + WORTH);

		if (k == 1 || gap < least) {
			least = gap;
			drop = k;
		}
	}
	h->bytes -= snap_free(h->snap[drop]);
	h->nsnap--;
	for (size_t k = drop; k < h->nsnap; k++)
		h->snap[k] = h->snap[k + 1];
}

void
history_keep(struct history *h)
{
	struct history_at here = history_now(h);
	const struct snap *base = history_kept(h, here);
	struct snap *s;
	size_t k;

	if (base && !history_before(keep_at(base), here)) {
		history_keep_due(h);
		return;
	}
	s = snap_take(h->r, base, h->pagemap, h->most);
	if (s == NULL || buf_grow(&h->snap, &h->capsnap, h->nsnap + 1, sizeof *h->snap) < 0) {
		/* amid a string instruction, or too large: the next try is later */
		(void)snap_free(s);
		h->due = here.icount + STEP / 4;
		return;
	}
	for (k = h->nsnap++; k && history_before(here, keep_at(h->snap[k - 1])); k--)
		h->snap[k] = h->snap[k - 1];
	h->snap[k] = s;
	h->bytes += s->bytes;
	while (h->nsnap > 2 && (h->nsnap > MOST || h->bytes > h->most))
		keep_thin(h);
	history_keep_due(h);
	if (h->due < here.icount + STEP / 4)    /* it was dropped at once */
		h->due = here.icount + STEP / 4;
}

void
history_keep_free(struct history *h)
{
	for (size_t k = 0; k < h->nsnap; k++)
		(void)snap_free(h->snap[k]);
	free(h->snap);
	h->snap = NULL;
	h->nsnap = h->capsnap = 0;
}
