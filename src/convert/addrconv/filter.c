/* addrconv: which references are wanted. */
#include "convert/addrconv/addrconv.h"

static int
filter_in(const struct ranges *a, uint64_t addr)
{
	for (unsigned i = 0; i < a->n; i++)
		if (addr - a->r[i].from < a->r[i].to - a->r[i].from)
			return 1;
	return !a->n;
}

/* An instruction begins: are it and its references wanted? */
static void
filter_fetch(struct filter *f, uint64_t w)
{
	f->here = filter_in(&f->code, ref_addr(w)) && (!f->every || f->seen % f->every < f->window) &&
	    (!f->functions.n || functions_have(&f->functions, w));
	f->seen++;
}

static int
filter_data(struct filter *f, uint64_t w)
{
	if (!filter_in(&f->data, ref_addr(w)))
		return 0;
	if (!f->cache)
		return 1;
	f->missed = 0;
	hier_take(f->cache, &w, 1);
	return f->missed;
}

static int
filter_word(struct filter *f, uint64_t w)
{
	unsigned kind = ref_kind(w);

	if (kind == REF_TASK) {
		f->mine = f->task == UINT64_MAX || ref_addr(w) == f->task;
		f->tasks = 1;
		f->met |= f->mine;
		return f->mine && !(f->drop >> kind & 1);
	}
	if (!f->mine)
		return 0;
	if (kind == REF_INST)
		filter_fetch(f, w);
	if (!f->here || f->drop >> kind & 1)
		return 0;
	return kind == REF_INST || kind >= REF_ENTER || filter_data(f, w);
}

int
filter_selects(const struct filter *f)
{
	return f->data.n || f->code.n || f->functions.n || f->every || f->cache;
}

size_t
filter_words(struct filter *f, uint64_t *to, const uint64_t *w, size_t n)
{
	size_t m = 0;

	if (!filter_selects(f) && f->task == UINT64_MAX)
		return ref_without(to, w, n, f->drop);
	for (size_t i = 0; i < n; i++) {
		to[m] = w[i];
		m += (size_t)(filter_word(f, w[i]) != 0);
	}
	return m;
}
