/*
 * Calls that change mappings, and that the recorder asks for as something must be done before or after them: the
 * recorder makes them all the same, which takes one or two stops instead of three.
 */
#include <sys/mman.h>
#include <sys/syscall.h>

#include "gen/wscap/fast.h"
#include "gen/wscap/hold.h"
#include "gen/wscap/wscap.h"

/* Is there nothing in [lo, hi) but memory that may be replaced without more ado? */
static int
map_free(const struct cap *c, uint64_t lo, uint64_t hi)
{
	const struct fast *f = c->fast;

	for (size_t i = region_at(&c->reg, lo); i < c->reg.n && c->reg.p[i].lo < hi; i++)
		if (c->reg.p[i].shared || c->reg.p[i].stack)
			return 0;
	for (size_t i = 0; i < c->nsite; i++)
		if (c->site[i].addr >= lo && c->site[i].addr < hi)
			return 0;
	for (size_t i = 0; i < f->ntext; i++)
		if ((f->text[i].lo < hi && f->text[i].hi > lo) ||
		    (f->text[i].p && f->text[i].at < hi && f->text[i].at + f->text[i].size > lo))
			return 0;
	return !(f->core < hi && f->core + FAST_SIZE > lo) && !(f->a->clock >= lo && f->a->clock < hi);
}

int
fast_grant(struct cap *c, const struct call *k)
{
	uint64_t lo, hi;

	if ((k->nr != SYS_mmap && k->nr != SYS_munmap) || !fast_may_map(k->nr, k->arg, &lo, &hi) ||
	    (lo < hi && !map_free(c, lo, hi)))
		return 0;
	hold_call(c, k);
	return 1;
}
