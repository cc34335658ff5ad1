/* Applies each kernel record to the model.  See laplace(5). */
#include <stdlib.h>

#include "laplace/laplace_internal.h"

struct range {
	uint64_t lo, hi;        /* pages */
};

static int
lap_bad(struct lap_model *m, const char *what)
{
	m->wrong = (struct lap_wrong){ .what = what };
	return -1;
}

int
lap_bad_num(struct lap_model *m, const char *what, uint64_t num)
{
	m->wrong = (struct lap_wrong){ .what = what, .num = num, .hasnum = 1 };
	return -1;
}

int
lap_fatal(struct lap_model *m, const char *what)
{
	m->wrong = (struct lap_wrong){ .what = what, .fatal = 1 };
	return -1;
}

const struct lap_wrong *
lap_model_error(const struct lap_model *m)
{
	return &m->wrong;
}

struct lap_model *
lap_model_new(void)
{
	struct lap_model *m = calloc(1, sizeof *m);

	if (!m)
		return NULL;
	m->next = LAP_PAGES;
	return m;
}

void
lap_model_free(struct lap_model *m)
{
	if (!m)
		return;
	lap_free_dead(m);
	for (size_t i = 0; i < m->tasks.size; i++)
		while (m->tasks.slot[i].p) {    /* deletion may move another entry to slot i */
			lap_task_exit(m, m->tasks.slot[i].p);
			lap_free_dead(m);
		}
	for (size_t i = 0; i < m->spaces.size; i++)
		while (m->spaces.slot[i].p)
			lap_space_end(m, m->spaces.slot[i].p);
	for (size_t i = 0; i < m->files.size; i++)
		while (m->files.slot[i].p) {
			const uint64_t *key = m->files.slot[i].key;

			lap_file_unbind(m, key[0], key[1], key[2]);
		}
	while (m->spare) {
		struct lap_node *x = m->spare;

		m->spare = x->left;
		free(x);
	}
	free(m->tasks.slot);
	free(m->spaces.slot);
	free(m->files.slot);
	free(m);
}

struct lap_task *
lap_model_running(const struct lap_model *m)
{
	return m->running;
}

struct lap_space *
lap_model_space(struct lap_model *m, uint64_t id)
{
	return lap_table_get(&m->spaces, id, 0, 0);
}

struct lap_sizes
lap_model_sizes(const struct lap_model *m)
{
	return (struct lap_sizes){ m->nnode, m->nfile, m->spaces.n, m->tasks.n };
}

int
lap_model_find(struct lap_model *m, struct lap_space *s, uint64_t page, uint64_t *canon)
{
	uint64_t tag = page | s->epoch << 52;
	struct lap_node *x = lap_range_after(s, page);

	if (!x || x->lo > page) {
		s->none[page % LAP_TLB] = tag;
		return 0;
	}
	*canon = x->base + (page - x->lo);
	if (x->file && lap_file_page(m, x->file, *canon, canon) != 0)
		return -1;
	s->tlb[page % LAP_TLB].tag = tag;
	s->tlb[page % LAP_TLB].canon = *canon;
	return 1;
}

/* All pages that contain bytes of the range. */
static int
lap_pages(struct lap_model *m, uint64_t addr, uint64_t len, struct range *r)
{
	if (!len)
		return lap_bad(m, "a range of no bytes");
	if (addr + (len - 1) < addr)
		return lap_bad_num(m, "a range beyond the end of memory", addr);
	r->lo = addr >> LAP_PAGEBITS;
	r->hi = ((addr + (len - 1)) >> LAP_PAGEBITS) + 1;
	return 0;
}

/* The address space of the event's task. */
static struct lap_space *
space_of(struct lap_model *m, const struct lap_event *e)
{
	struct lap_task *t = lap_task_get(m, e->f[LAP_PID]);

	if (t && !t->space)
		lap_bad_num(m, "a task without an address space", t->pid);
	return t ? t->space : NULL;
}

static int
lap_map(struct lap_model *m, const struct lap_event *e)
{
	struct lap_space *s = space_of(m, e);
	struct lap_node x = { .file = NULL };
	struct range r;

	if (!s || lap_pages(m, e->f[LAP_ADDR], e->f[LAP_LEN], &r) != 0 || lap_reserve(m, 3) != 0)
		return -1;
	x.lo = r.lo;
	x.hi = r.hi;
	if (e->kind == LAP_K_MAP) {
		if (lap_numbers(m, r.hi - r.lo, &x.base) != 0)
			return -1;
	} else {
		x.base = e->kind == LAP_K_MAPFILE ? e->f[LAP_OFF] >> LAP_PAGEBITS : 0;
		if (r.hi - r.lo > LAP_PAGES - x.base)
			return lap_bad_num(m, "a range beyond the end of a file", e->f[LAP_OFF]);
		if (e->kind == LAP_K_MAPFILE)
			x.file = lap_file_get(m, e->f[LAP_INODE], e->f[LAP_MAJOR] << 32 | e->f[LAP_MINOR], 0);
		else
			x.file = lap_file_get(m, e->f[LAP_SHM], 0, 1);
		if (!x.file)
			return -1;
	}
	lap_range_map(m, s, x);
	return 0;
}

static int
all_mapped(const struct lap_space *s, const struct range *r)
{
	uint64_t p = r->lo;

	while (p < r->hi) {
		struct lap_node *x = lap_range_after(s, p);

		if (!x || x->lo > p)
			return 0;
		p = x->hi;
	}
	return 1;
}

/* Extends the mapping that ends with `last`: with more of the file, or with new memory. */
static int
lap_extend(struct lap_model *m, struct lap_space *s, struct lap_node last, uint64_t lo, uint64_t hi)
{
	struct lap_node x = { .lo = lo, .hi = hi, .file = last.file, .base = last.base };

	if (!x.file && lap_numbers(m, hi - lo, &x.base) != 0)
		return -1;
	if (lap_reserve(m, 3) != 0)
		return -1;
	lap_range_map(m, s, x);
	return 0;
}

/* A second mapping of the same pages: mremap(2) with an old length of 0. */
static int
lap_mirror(struct lap_model *m, struct lap_space *s, const struct range *to, uint64_t old)
{
	struct lap_node *x = lap_range_after(s, old), y;
	uint64_t n = to->hi - to->lo;

	if (!x || x->lo > old)
		return lap_bad_num(m, "a page that is not mapped", old);
	if (old < to->hi && to->lo < old + n)
		return lap_bad(m, "a range that is moved onto itself");
	y = *x;
	y.base += old - y.lo;
	if (y.file && n > LAP_PAGES - y.base)
		return lap_bad(m, "a range beyond the end of a file");
	if (lap_reserve(m, 3) != 0)
		return -1;
	if (y.file) {
		y.lo = to->lo;
		y.hi = to->hi;
		lap_range_map(m, s, y);
		return 0;
	}
	lap_range_unmap(m, s, to->lo, to->hi);
	return lap_range_copy(m, s, old, old + n, s, to->lo);
}

static int
lap_remap(struct lap_model *m, const struct lap_event *e)
{
	struct lap_space *s = space_of(m, e);
	struct lap_node last;
	struct range to, from;
	uint64_t n, k;

	if (!s || lap_pages(m, e->f[LAP_ADDR], e->f[LAP_LEN], &to) != 0)
		return -1;
	if (!e->f[LAP_OLDLEN])
		return lap_mirror(m, s, &to, e->f[LAP_OLD] >> LAP_PAGEBITS);
	if (lap_pages(m, e->f[LAP_OLD], e->f[LAP_OLDLEN], &from) != 0)
		return -1;
	if (!all_mapped(s, &from))
		return lap_bad_num(m, "a range that is not mapped", e->f[LAP_OLD]);
	if (to.lo != from.lo && to.lo < from.hi && from.lo < to.hi)
		return lap_bad(m, "a range that is moved onto itself");
	n = to.hi - to.lo;
	k = from.hi - from.lo;
	last = *lap_range_after(s, from.hi - 1);
	last.base += from.hi - last.lo;
	if (last.file && n > k && n - k > LAP_PAGES - last.base)
		return lap_bad(m, "a range beyond the end of a file");
	if (lap_reserve(m, 5) != 0)
		return -1;
	if (to.lo == from.lo) {
		if (n < k)
			lap_range_unmap(m, s, to.hi, from.hi);
	} else {
		lap_range_unmap(m, s, to.lo, to.hi);
		if (lap_range_copy(m, s, from.lo, from.lo + (n < k ? n : k), s, to.lo) != 0 ||
		    lap_reserve(m, 2) != 0)
			return -1;
		lap_range_unmap(m, s, from.lo, from.hi);
	}
	return n > k ? lap_extend(m, s, last, to.lo + k, to.hi) : 0;
}

static int
lap_unmap(struct lap_model *m, const struct lap_event *e)
{
	struct lap_space *s = space_of(m, e);
	struct range r;

	if (!s || lap_pages(m, e->f[LAP_ADDR], e->f[LAP_LEN], &r) != 0 || lap_reserve(m, 2) != 0)
		return -1;
	lap_range_unmap(m, s, r.lo, r.hi);
	return 0;
}

static int
copy_on_write(struct lap_model *m, const struct lap_event *e)
{
	struct lap_space *s = space_of(m, e);
	uint64_t page = e->f[LAP_ADDR] >> LAP_PAGEBITS;
	struct lap_node *old, x = { .lo = page, .hi = page + 1 };

	if (!s)
		return -1;
	old = lap_range_after(s, page);
	if (!old || old->lo > page)
		return lap_bad_num(m, "a page that is not mapped", page);
	if (lap_reserve(m, 3) != 0 || lap_numbers(m, 1, &x.base) != 0)
		return -1;
	lap_range_map(m, s, x);
	return 0;
}

static int
lap_duplicate(struct lap_model *m, const struct lap_event *e)
{
	struct lap_space *from = lap_space_get(m, e->f[LAP_SPACE]), *to;
	uint64_t addr = e->f[LAP_ADDR], end = e->f[LAP_END];
	struct range r;

	if (!from)
		return -1;
	if (e->f[LAP_SPACE] == e->f[LAP_DUP])
		return lap_bad_num(m, "an address space duplicated onto itself", from->id);
	if (end <= addr)
		return lap_bad(m, "a range of no bytes");
	if (lap_pages(m, addr, end - addr, &r) != 0 || !(to = lap_space_announce(m, e->f[LAP_DUP])) ||
	    lap_reserve(m, 2) != 0)
		return -1;
	lap_range_unmap(m, to, r.lo, r.hi);
	return lap_range_copy(m, from, r.lo, r.hi, to, r.lo);
}

static int
fork_task(struct lap_model *m, const struct lap_event *e, struct lap_task **owner)
{
	if (lap_table_get(&m->tasks, e->f[LAP_PID], 0, 0) || e->f[LAP_PID] == e->f[LAP_PARENT])
		return lap_bad_num(m, "a new task that is there already", e->f[LAP_PID]);
	*owner = lap_task_announce(m, e->f[LAP_PARENT]);
	return *owner && lap_task_announce(m, e->f[LAP_PID]) ? 0 : -1;
}

static int
lap_assign(struct lap_model *m, const struct lap_event *e, struct lap_task **owner)
{
	struct lap_space *s;

	*owner = lap_task_announce(m, e->f[LAP_PID]);
	s = *owner ? lap_space_announce(m, e->f[LAP_SPACE]) : NULL;
	return s ? lap_task_assign(m, *owner, s) : -1;
}

/* Events that need only a task, or not even that. */
static int
lap_others(struct lap_model *m, const struct lap_event *e)
{
	uint64_t dev = e->f[LAP_MAJOR] << 32 | e->f[LAP_MINOR];
	struct lap_space *s;

	switch (e->kind) {
	case LAP_K_UNMAPALL:
		s = lap_model_space(m, e->f[LAP_SPACE]);        /* NULL: it ended with its last task */
		if (s)
			lap_range_unmap(m, s, 0, LAP_PAGES);
		return 0;
	case LAP_K_DELETE:
		lap_file_unbind(m, e->f[LAP_INODE], dev, 0);
		return 0;
	case LAP_K_TRUNCATE:
		return lap_file_truncate(m, e->f[LAP_INODE], dev, 0, (e->f[LAP_OFF] >> LAP_PAGEBITS) +
		    ((e->f[LAP_OFF] & ((1u << LAP_PAGEBITS) - 1)) != 0));
	case LAP_K_DESTROY:
		if (!lap_task_get(m, e->f[LAP_PID]))
			return -1;
		lap_file_unbind(m, e->f[LAP_SHM], 0, 1);
		return 0;
	case LAP_K_OPEN:
	case LAP_K_CLOSE:
	case LAP_K_READ:
	case LAP_K_WRITE:
	case LAP_K_ACCEPT:
		return lap_task_get(m, e->f[LAP_PID]) ? 0 : -1;
	default:
		return 0;
	}
}

int
lap_model_event(struct lap_model *m, const struct lap_event *e, struct lap_task **owner)
{
	lap_free_dead(m);
	*owner = NULL;
	switch (e->kind) {
	case LAP_K_FORK:
		return fork_task(m, e, owner);
	case LAP_K_ASSIGN:
		return lap_assign(m, e, owner);
	case LAP_K_SCHEDULE:
	case LAP_K_EXEC:
		*owner = lap_task_announce(m, e->f[LAP_PID]);
		if (!*owner)
			return -1;
		if (e->kind == LAP_K_EXEC)
			lap_task_exec(m, *owner);
		else
			m->running = *owner;
		return 0;
	case LAP_K_EXIT:
		*owner = lap_task_get(m, e->f[LAP_PID]);
		if (!*owner)
			return -1;
		lap_task_exit(m, *owner);
		return 0;
	default:
		break;
	}
	*owner = lap_kind_fields(e->kind)[0] == 'p' ?
	    lap_table_get(&m->tasks, e->f[LAP_PID], 0, 0) : m->running;
	switch (e->kind) {
	case LAP_K_MAP: case LAP_K_MAPFILE: case LAP_K_ATTACH:
		return lap_map(m, e);
	case LAP_K_REMAP: return lap_remap(m, e);
	case LAP_K_UNMAP: return lap_unmap(m, e);
	case LAP_K_COPY: return copy_on_write(m, e);
	case LAP_K_DUPLICATE: return lap_duplicate(m, e);
	default: return lap_others(m, e);
	}
}
