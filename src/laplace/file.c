/* Files and segments of shared memory, and the canonical numbers of their pages. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/search.h"
#include "laplace/laplace_internal.h"

int
lap_numbers(struct lap_model *m, uint64_t n, uint64_t *base)
{
	if (n > UINT64_MAX - m->next)
		return lap_fatal(m, "no canonical page numbers are left");
	*base = m->next;
	m->next += n;
	return 0;
}

struct lap_file *
lap_file_get(struct lap_model *m, uint64_t a, uint64_t b, uint64_t c)
{
	struct lap_file *f = lap_table_get(&m->files, a, b, c);

	if (f)
		return f;
	f = lap_table_room(&m->files) == 0 ? calloc(1, sizeof *f) : NULL;
	if (!f) {
		lap_fatal(m, "no memory");
		return NULL;
	}
	f->key[0] = a;
	f->key[1] = b;
	f->key[2] = c;
	f->bound = 1;
	lap_table_put(&m->files, a, b, c, f);
	m->nfile++;
	return f;
}

void
lap_file_drop(struct lap_model *m, struct lap_file *f)
{
	if (f->nnode || f->bound)
		return;
	m->nfile--;
	free(f->part);
	free(f);
}

/* Index of the first part that ends after page. */
static size_t
part_from(const struct lap_file *f, uint64_t page)
{
	size_t i;

	LOWER_BOUND(i, f->npart, f->part[i].hi <= page);
	return i;
}

int
lap_file_page(struct lap_model *m, struct lap_file *f, uint64_t page, uint64_t *canon)
{
	size_t i = part_from(f, page);
	const struct lap_part *p = i < f->npart ? f->part + i : NULL;   /* the first that ends after page */
	struct lap_part fresh;

	if (p && p->lo <= page) {
		*canon = p->base + (page - p->lo);
		return 0;
	}
	/* the unnumbered pages around it, within one LAP_PART */
	fresh.lo = page / LAP_PART * LAP_PART;
	fresh.hi = fresh.lo + LAP_PART;
	if (i && f->part[i - 1].hi > fresh.lo)
		fresh.lo = f->part[i - 1].hi;
	if (p && p->lo < fresh.hi)
		fresh.hi = p->lo;
	if (buf_grow(&f->part, &f->cap, f->npart + 1, sizeof *f->part) != 0)
		return lap_fatal(m, "no memory");
	if (lap_numbers(m, fresh.hi - fresh.lo, &fresh.base) != 0)
		return -1;
	memmove(f->part + i + 1, f->part + i, (f->npart - i) * sizeof *f->part);
	f->part[i] = fresh;
	f->npart++;
	*canon = fresh.base + (page - fresh.lo);
	return 0;
}

void
lap_file_unbind(struct lap_model *m, uint64_t a, uint64_t b, uint64_t c)
{
	struct lap_file *f = lap_table_get(&m->files, a, b, c);

	if (!f)
		return;
	lap_table_del(&m->files, a, b, c);
	f->bound = 0;
	lap_file_drop(m, f);
}

int
lap_file_truncate(struct lap_model *m, uint64_t a, uint64_t b, uint64_t c, uint64_t page)
{
	struct lap_file *f = lap_table_get(&m->files, a, b, c);
	size_t i;

	if (!f)
		return 0;
	i = part_from(f, page);
	if (i < f->npart && f->part[i].lo < page) {
		f->part[i].hi = page;
		i++;
	}
	f->npart = i;
	/* invalidates look-ups, as mappings will see the new pages */
	for (size_t k = 0; f->nnode && k < m->spaces.size; k++)
		if (m->spaces.slot[k].p)
			lap_range_invalidate(m->spaces.slot[k].p, 0, LAP_PAGES);
	return 0;
}
