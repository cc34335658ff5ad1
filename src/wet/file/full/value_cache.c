/*
 * Cache of values of segments that were requested in part: decoded blocks stay, as the next
 * query is likely to use them.
 */
#include "wet/file/full/reader.h"

#include <stdlib.h>
#include <string.h>

static void
value_cache_drop(struct store_vals *v)
{
	col_free(&v->val);
	free(v->have);
	*v = (struct store_vals){ 0 };
}

/*
 * Makes room for one more entry of `bytes` bytes by dropping the least recently used: its
 * index, or STORE_KEPT.
 */
static size_t
value_cache_place(struct store_read *r, size_t bytes)
{
	for (;;) {
		size_t all = bytes, oldest = 0, none = STORE_KEPT;

		for (size_t i = 0; i < STORE_KEPT; i++) {
			all += r->kept[i].val.cap * sizeof *r->kept[i].val.v;
			if (!r->kept[i].at)
				none = i;
			else if (!r->kept[oldest].at || r->kept[i].used < r->kept[oldest].used)
				oldest = i;
		}
		if (none < STORE_KEPT && all <= r->keep)
			return none;
		if (!r->kept[oldest].at)
			return STORE_KEPT;
		value_cache_drop(&r->kept[oldest]);
	}
}

void
value_cache_select(struct store_read *r, size_t k)
{
	struct store_vals *now = &r->vals;
	size_t i = 0;

	now->used = ++r->turns;
	if (now->at == k + 1)
		return;
	if (now->at && now->part &&
	    (i = value_cache_place(r, now->val.cap * sizeof *now->val.v)) < STORE_KEPT) {
		r->kept[i] = *now;
		*now = (struct store_vals){ 0 };
	}
	for (i = 0; i < STORE_KEPT && r->kept[i].at != k + 1; i++)
		;
	if (i < STORE_KEPT) {
		value_cache_drop(now);
		*now = r->kept[i];
		r->kept[i] = (struct store_vals){ 0 };
		now->used = r->turns;
		return;
	}
	now->at = now->nblock = 0;      /* keeps its memory for the next segment */
}

int
value_cache_alloc(struct store_read *r, size_t k, uint64_t n, uint64_t block)
{
	struct store_vals *v = &r->vals;

	if (v->at)
		return 0;
	free(v->have);
	v->block = block;
	v->nblock = (size_t)((n + block - 1) / block);
	v->have = calloc(v->nblock + 1, 1);
	v->part = 0;
	v->at = v->have ? k + 1 : 0;
	return v->have ? 0 : -1;
}

void
value_cache_free(struct store_read *r)
{
	value_cache_drop(&r->vals);
	for (size_t i = 0; i < STORE_KEPT; i++)
		value_cache_drop(&r->kept[i]);
}
