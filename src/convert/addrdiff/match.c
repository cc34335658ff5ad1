/*
 * addrdiff: compares an instruction whose references the two sides split differently.  By the
 * conventions of ref(5), both are split into the smallest pieces that any tool reports (a
 * modify is a load and a store; an access is a sequence of pieces of 8 bytes), and those are
 * compared.
 */
#include "convert/addrdiff/addrdiff.h"

#include <string.h>

struct pieces {
	uint64_t w[4 * GROUP_MAX];
	size_t n;
};

static int
add_access(struct pieces *p, unsigned kind, uint64_t addr, unsigned size)
{
	while (size) {
		unsigned k = size < 8 ? size : 8;

		if (p->n == sizeof(p->w) / sizeof(p->w[0]))
			return -1;
		p->w[p->n++] = ref_make(kind, addr, k);
		addr += k;
		size -= k;
	}
	return 0;
}

static int
take_apart(struct pieces *p, const uint64_t *w, size_t n)
{
	size_t i;

	p->n = 0;
	for (i = 0; i < n; i++) {
		unsigned kind = ref_kind(w[i]);

		if (kind == REF_MODIFY) {
			if (add_access(p, REF_LOAD, ref_addr(w[i]), ref_size(w[i])) < 0)
				return -1;
			kind = REF_STORE;
		}
		if (add_access(p, kind, ref_addr(w[i]), ref_size(w[i])) < 0)
			return -1;
	}
	return 0;
}

/* Number of data references from pos on up to the next fetch or event; reads on as needed. */
static size_t
match_group(struct side *s)
{
	size_t k = 0;

	while (k < GROUP_MAX) {
		unsigned kind;

		if (s->pos + k == s->n && !side_more(s))
			break;
		kind = ref_kind(s->w[s->pos + k]);
		if (kind == REF_INST || kind >= REF_ENTER)
			break;
		k++;
	}
	return k;
}

static int
match_same(struct diff *d, uint64_t a, uint64_t b)
{
	if (a == b && !d->shift)
		return 1;
	return a >> 48 == b >> 48 && d->shift && same_place(d, a, b);
}

/* Is it a load that the other side, a log, lacks? */
static int
may_drop(const struct diff *d, const struct side *s, uint64_t w)
{
	return d->deadloads && !s->log && ref_kind(w) == REF_LOAD;
}

int
match_instruction(struct diff *d)
{
	static struct pieces pa, pb;
	size_t na = match_group(&d->a), nb = match_group(&d->b), i = 0, j = 0;
	uint64_t dead = 0;

	if (!na && !nb)
		return 0;
	if (take_apart(&pa, d->a.w + d->a.pos, na) < 0 || take_apart(&pb, d->b.w + d->b.pos, nb) < 0)
		return 0;
	while (i < pa.n || j < pb.n) {
		if (i < pa.n && j < pb.n && match_same(d, pa.w[i], pb.w[j])) {
			i++;
			j++;
		} else if (i < pa.n && d->b.log && may_drop(d, &d->a, pa.w[i])) {
			i++;
			dead++;
		} else if (j < pb.n && d->a.log && may_drop(d, &d->b, pb.w[j])) {
			j++;
			dead++;
		} else {
			return 0;
		}
	}
	d->a.pos += na;
	d->b.pos += nb;
	d->dead += dead;
	d->joined += !dead;
	return 1;
}
