/* Memory that captured processes share: which has to be compared, and until when. */
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

/* May o write to shared memory of c? */
static int
share_common(const struct cap *c, const struct cap *o)
{
	for (size_t i = 0; i < c->reg.n; i++) {
		const struct region *r = &c->reg.p[i];

		if (!r->shared || !(r->foreign || share_writes(r)))
			continue;
		if (!r->ino)            /* whose memory it is, is not known */
			return 1;
		for (size_t k = 0; k < o->reg.n; k++) {
			const struct region *q = &o->reg.p[k];

			if (q->shared && share_writes(q) && q->ino == r->ino && q->dev == r->dev)
				return 1;
		}
	}
	return 0;
}

/* Is o the parent whose memory c uses, and which waits for c? */
static int
share_lender(const struct cap *c, const struct cap *o)
{
	return c->lender == o && !o->th && !o->sharing;
}

int
share_borrows(const struct cap *c)
{
	return c->lender && share_lender(c, c->lender);
}

/* Can no other captured process write to memory of c? */
static int
share_alone(const struct cap *c)
{
	if (c->all->strays)
		return 0;
	for (size_t b = 0; b < NBUCKETS; b++)
		for (const struct cap *o = c->all->bucket[b]; o; o = o->next)
			if (o != c && !share_lender(c, o) && share_common(c, o))
				return 0;
	return 1;
}

void
share_compare(struct cap *c)
{
	uint64_t left = c->all->nleft;

	compare_shared(c);
	if (!c->sharing || c->alone == left)
		return;
	c->alone = left;
	if (!share_alone(c))
		return;
	for (size_t i = 0; i < c->reg.n; i++)
		c->reg.p[i].foreign = 0;
	c->sharing = c->fresh = 0;
	c->common.n = c->common.size = 0;
}
