/*
 * Slices of a segment in order of time.  Instances depend on earlier ones only,
 * so one pass is enough.  Forward, an instance is in the slice if it depends on
 * one that is.  Backward, instances that a member depends on are added, and the
 * pass reaches them later.
 */
#include "wet/query/run_slice_internal.h"

/* Adds the instances that an instance depends on to the slice. */
static void
in_time_add_deps(struct slicer *c, uint64_t inst, uint64_t slot)
{
	uint64_t w;

	for (struct words t = words_of(c, slot); words_next(c, &t, &w);) {
		uint64_t n = slicer_number(c, w & DEP_INST);

		if (!slicer_adds(c, inst, w))
			continue;
		c->left += !query_in_slice(c->q, n);
		query_set_in_slice(c->q, n);
	}
}

/* Does an instance depend on a member? */
static int
in_time_depends(const struct slicer *c, uint64_t slot)
{
	uint64_t w;

	for (struct words t = words_of(c, slot); words_next(c, &t, &w);)
		if (query_in_slice(c->q, slicer_number(c, w & DEP_INST)))
			return 1;
	return 0;
}

/* Backward: reports an instance if it is a member, and adds those that it depends on. */
static int
in_time_step_back(struct slicer *c, uint64_t inst, uint64_t n)
{
	if (!query_in_slice(c->q, slicer_number(c, inst)))
		return 0;
	in_time_add_deps(c, inst, slicer_slot(c, inst, n));
	return slicer_report_member(c, inst, n);
}

static int
in_time_add(struct slicer *c, uint64_t inst, uint64_t n)
{
	uint64_t number = slicer_number(c, inst);

	if (!query_in_slice(c->q, number) && in_time_depends(c, slicer_slot(c, inst, n))) {
		query_set_in_slice(c->q, number);
		c->left++;
	}
	return 0;
}

static int
in_time_add_report(struct slicer *c, uint64_t inst, uint64_t n)
{
	return in_time_add(c, inst, n) != 0 ? -1 : slicer_report(c, inst, n);
}

int
in_time_backward(struct slicer *c)
{
	return table_fill(c, 1, c->s->n) != 0 ? -1 : slicer_walk_backward(c, in_time_step_back);
}

/*
 * A provider with deps_in_time has decoded all values already, so members are reported at once.
 * Another one decodes only the values of members, after they are known.
 */
int
in_time_forward(struct slicer *c)
{
	if (table_fill(c, 1, UINT64_MAX) != 0)
		return -1;
	if (c->r->deps_in_time)
		return slicer_walk_forward(c, in_time_add_report);
	if (slicer_walk_forward(c, in_time_add) != 0)
		return -1;
	if (!c->left)
		return 0;
	return slicer_load_values(c) != 0 ? -1 : slicer_walk_forward(c, slicer_report);
}
