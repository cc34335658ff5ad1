/* Memory that captured processes share without having inherited it: files that they map. */
#include <sys/mman.h>

#include "gen/wscap/fast.h"
#include "gen/wscap/wscap.h"

/* Others write to the region r of c: it is compared from now on. */
static void
share_begin(struct cap *c, struct region *r)
{
	static const char text[] = "memory is shared with another captured process: "
	    "what that writes is recorded at this one's next system call";

	if (r->foreign)
		return;
	r->foreign = 1;
	if (!c->fresh)
		put_note(c, text);
	c->sharing = c->fresh = 1;
	fast_share_begun(c);
}

static int
share_writes(const struct region *r)
{
	return r->wasw || r->prot & PROT_WRITE;
}

/* Regions of o that are memory of r, which c has mapped. */
static void
share_with(struct cap *c, struct region *r, struct cap *o)
{
	for (size_t i = 0; i < o->reg.n; i++) {
		struct region *q = &o->reg.p[i];

		if (!q->shared || q->ino != r->ino || q->dev != r->dev)
			continue;
		if (share_writes(q))
			share_begin(c, r);
		if (share_writes(r))
			share_begin(o, q);
	}
}

void
share_mapped(struct cap *c, uint64_t lo, uint64_t hi)
{
	for (size_t i = region_at(&c->reg, lo); i < c->reg.n && c->reg.p[i].lo < hi; i++) {
		struct region *r = &c->reg.p[i];

		if (!r->shared || !r->ino)
			continue;
		for (size_t b = 0; b < NBUCKETS; b++)
			for (struct cap *o = c->all->bucket[b]; o; o = o->next)
				if (o != c)
					share_with(c, r, o);
	}
}
