/* Trimming: lists the pages of a segment, and what of them was used in it. */
#include <stdlib.h>

#include "base/buf.h"
#include "replay/trim/shadow_internal.h"

static struct trim_seg *
trim_segment(struct shadow *t)
{
	return &t->found->seg[t->found->nseg - 1];
}

/* Adds a page to the segment's list, unless it has no lines. */
int
shadow_list(struct shadow *t, uint64_t no, uint64_t need, uint64_t full)
{
	struct trim_seg *s = trim_segment(t);

	if (!need && !full)
		return 0;
	if (buf_grow(&s->page, &s->cap, s->n + 1, sizeof *s->page) < 0)
		return -1;
	s->page[s->n++] = (struct trim_page){ .no = no, .need = need, .full = full };
	return 0;
}

int
shadow_list_used(struct shadow *t, struct shadow_page *p)
{
	uint64_t need = 0, full = 0;

	for (unsigned i = 0; i < TRIM_LINES; i++) {
		struct shadow_line *l = &p->line[i];

		need |= (uint64_t)(l->key != 0) << i;
		full |= (uint64_t)(l->key == 0 && l->got == UINT64_MAX) << i;
		l->key = l->got = 0;
		p->known[i] = 0;
	}
	return shadow_list(t, p->no, need, full);
}

void
shadow_forget_used(struct shadow *t, const struct shadow_page *p)
{
	if (p->seg != t->seg)
		return;
	for (size_t i = t->nused; i-- > 0;)
		if (t->used[i] == p) {
			t->used[i] = t->used[--t->nused];
			return;
		}
}

static int
by_page(const void *a, const void *b)
{
	const struct trim_page *p = a, *q = b;

	return p->no < q->no ? -1 : p->no > q->no;
}

/* Joins the entries of a page that was dropped and mapped again. */
static void
sort_pages(struct trim_seg *s)
{
	size_t n = 0;

	if (s->n)
		qsort(s->page, s->n, sizeof *s->page, by_page);
	for (size_t i = 0; i < s->n; i++) {
		if (n && s->page[n - 1].no == s->page[i].no) {
			s->page[n - 1].need |= s->page[i].need;
			s->page[n - 1].full &= s->page[i].full;
		} else {
			s->page[n++] = s->page[i];
		}
	}
	s->n = n;
}

int
shadow_list_end(struct shadow *t)
{
	int e = 0;

	for (size_t i = 0; i < t->nused && !e; i++)
		e = shadow_list_used(t, t->used[i]);
	t->nused = 0;
	t->seg++;
	sort_pages(trim_segment(t));
	return e;
}
