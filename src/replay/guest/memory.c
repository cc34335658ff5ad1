/*
 * The memory of a replayed program: a sorted list of areas, each mapped in this process at its
 * place in the guest window.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/buf.h"
#include "base/populate.h"
#include "base/search.h"
#include "replay/guest/memory.h"
#include "replay/guest/memory_shared.h"

#define LARGE     (UINT64_C(4) << 30)     /* of an area of at least this many bytes, perhaps only a little is used */
#define GIVE_BACK (64u << 10)   /* at least this many bytes are zeroed by returning the pages to the system */

struct mem_name {
	size_t refs;
	size_t nid;
	uint8_t id[WS_ID_MAX];
	char name[];
};

static int
memory_bad(struct mem *m, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(m->err, sizeof m->err, fmt, ap);
	va_end(ap);
	return -1;
}

static struct mem_name *
name_new(const struct ws_rec_map *map)
{
	size_t n = map->name ? strlen(map->name) : 0;
	struct mem_name *s = malloc(sizeof *s + n + 1);

	if (!s)
		return NULL;
	s->refs = 1;
	s->nid = map->nid < WS_ID_MAX ? map->nid : WS_ID_MAX;
	if (s->nid)
		memcpy(s->id, map->id, s->nid);
	memcpy(s->name, n ? map->name : "", n + 1);
	return s;
}

static void
name_drop(struct mem_name *s)
{
	if (--s->refs == 0)
		free(s);
}

/* Ensures room for `more` areas. */
static int
memory_reserve(struct mem *m, size_t more)
{
	return buf_grow(&m->area, &m->cap, m->n + more, sizeof *m->area) < 0 ? memory_bad(m, "no memory") : 0;
}

size_t
mem_from(const struct mem *m, uint64_t addr)
{
	size_t i;

	LOWER_BOUND(i, m->n, m->area[i].m.addr + (m->area[i].m.len - 1) < addr);
	return i;
}

const struct mem_area *
mem_find(struct mem *m, uint64_t addr)
{
	size_t i = m->last;

	if (i >= m->n || addr - m->area[i].m.addr >= m->area[i].m.len)
		i = mem_from(m, addr);
	if (i >= m->n || addr < m->area[i].m.addr)
		return NULL;
	m->last = i;
	return &m->area[i];
}

/* Inserts a copy of *a at index i; there is room. */
static void
memory_insert(struct mem *m, size_t i, const struct mem_area *a)
{
	memmove(&m->area[i + 1], &m->area[i], (m->n - i) * sizeof *a);
	m->area[i] = *a;
	m->n++;
}

/*
 * Splits the area that contains addr, so that one begins there; there is room.  Returns the
 * index of the first area at or after addr.
 */
static size_t
memory_split(struct mem *m, uint64_t addr)
{
	size_t i = mem_from(m, addr);
	struct mem_area a;
	uint64_t head;

	if (i == m->n || m->area[i].m.addr >= addr)
		return i;
	a = m->area[i];
	head = addr - a.m.addr;
	a.m.addr = addr;
	a.m.len -= head;
	if (a.name->name[0] || a.obj)
		a.m.offset += head;
	a.at += a.obj ? head : 0;
	a.name->refs++;
	m->area[i].m.len = head;
	memory_insert(m, i + 1, &a);
	return i + 1;
}

/* Removes [addr, addr+len) from the list. */
static int
memory_remove(struct mem *m, uint64_t addr, uint64_t len)
{
	size_t i, k;

	if (memory_reserve(m, 2) != 0)
		return -1;
	i = memory_split(m, addr);
	k = addr + len ? memory_split(m, addr + len) : m->n;
	for (size_t j = i; j < k; j++)
		name_drop(m->area[j].name);
	memmove(&m->area[i], &m->area[k], (m->n - k) * sizeof *m->area);
	m->n -= k - i;
	m->last = 0;
	return 0;
}

static int
in_window(struct mem *m, uint64_t addr, uint64_t len)
{
	if (addr % MEM_PAGE || len % MEM_PAGE || !len || len - 1 > rp_mask || (addr & rp_mask) > rp_mask - (len - 1))
		return memory_bad(m, "0x%llx bytes at 0x%llx cannot be mapped", (unsigned long long)len,
		    (unsigned long long)addr);
	return 0;
}

static void
memory_notify(struct mem *m, uint64_t addr, uint64_t len)
{
	if (m->changed)
		m->changed(m->arg, addr, len);
}

/* The place of guest memory is taken: by other guest memory, whose addresses have the same low bits, or by our own. */
static int
place_taken(struct mem *m, uint64_t addr, uint64_t len)
{
	uint64_t lo = addr & rp_mask, hi = lo + len;

	for (size_t i = 0; i < m->n; i++) {
		const struct ws_rec_map *a = &m->area[i].m;

		if ((a->addr & rp_mask) < hi && lo < (a->addr & rp_mask) + a->len)
			return memory_bad(m, "0x%llx bytes at 0x%llx: their place here is taken by 0x%llx bytes at 0x%llx",
			    (unsigned long long)len, (unsigned long long)addr, (unsigned long long)a->len,
			    (unsigned long long)a->addr);
	}
	return memory_bad(m, "0x%llx bytes at 0x%llx: their place here is taken", (unsigned long long)len,
	    (unsigned long long)addr);
}

/* Maps fresh pages of this process at the host address of guest pages; shared: shared ones will take their place. */
static int
host_map(struct mem *m, uint64_t addr, uint64_t len, int shared)
{
	void *want = rp_host(addr);
	void *p = mmap(want, len, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);

	if (p == want) {
		if (len >= LARGE && !shared)
			rp_close(addr, len);
		return 0;
	}
	if (p != MAP_FAILED) {
		munmap(p, len);
		errno = EEXIST;
	}
	if (errno == EEXIST)
		return place_taken(m, addr, len);
	return memory_bad(m, "0x%llx bytes at 0x%llx: %s", (unsigned long long)len, (unsigned long long)addr,
	    strerror(errno));
}

static void
host_drop(uint64_t addr, uint64_t len)
{
	rp_forget(addr, len);
	munmap(rp_host(addr), len);
}

/* Unmaps only what the guest has mapped: this process may have memory of its own in between. */
static void
host_unmap(struct mem *m, uint64_t addr, uint64_t len)
{
	for (size_t i = mem_from(m, addr); i < m->n; i++) {
		uint64_t lo = m->area[i].m.addr, hi = lo + (m->area[i].m.len - 1);

		if (lo > addr + (len - 1))
			break;
		lo = lo > addr ? lo : addr;
		hi = hi < addr + (len - 1) ? hi : addr + (len - 1);
		host_drop(lo, hi - lo + 1);
	}
}

int
mem_unmap(struct mem *m, uint64_t addr, uint64_t len)
{
	if (in_window(m, addr, len) != 0)
		return -1;
	host_unmap(m, addr, len);
	memory_notify(m, addr, len);
	return memory_remove(m, addr, len);
}

/* Maps memory of this process for the area and adds it; takes a reference to its name. */
static int
memory_add(struct mem *m, struct mem_area *a, const struct mem_area *twin, int shared)
{
	if (memory_reserve(m, 1) != 0 || host_map(m, a->m.addr, a->m.len, shared) != 0)
		return -1;
	if (shared && memshare_map(m, a, twin) != 0) {
		munmap(rp_host(a->m.addr), a->m.len);
		return memory_bad(m, "0x%llx bytes at 0x%llx, which are shared: %s",
		    (unsigned long long)a->m.len, (unsigned long long)a->m.addr, strerror(errno));
	}
	a->name->refs++;
	memory_insert(m, mem_from(m, a->m.addr), a);
	return 0;
}

/*
 * Adds an area for each piece of a shared file mapping: pieces that are mapped already must be
 * the same memory.
 */
static int
add_pieces(struct mem *m, const struct mem_area *whole)
{
	for (uint64_t done = 0, len; done < whole->m.len; done += len) {
		struct mem_area a = *whole;
		const struct mem_area *twin;

		a.m.addr += done;
		a.m.offset += done;
		len = whole->m.len - done;
		if (memory_reserve(m, 1) != 0)
			return -1;
		twin = memshare_find(m, &a.m, &len);
		a.m.len = len;
		if (memory_add(m, &a, twin, 1) != 0)
			return -1;
	}
	return 0;
}

static int
map_as(struct mem *m, const struct ws_rec_map *map, int shared)
{
	struct mem_area a = { .m = *map };
	int e;

	if (mem_unmap(m, map->addr, map->len) != 0)
		return -1;
	a.name = name_new(map);
	if (!a.name)
		return memory_bad(m, "no memory");
	a.m.name = a.name->name;
	a.m.id = a.name->id;
	a.m.nid = a.name->nid;
	e = shared ? add_pieces(m, &a) : memory_add(m, &a, NULL, 0);
	name_drop(a.name);
	return e;
}

int
mem_map(struct mem *m, const struct ws_rec_map *map)
{
	return map_as(m, map, memshare_is(map));
}

/* How many of the n bytes at addr are mapped without a gap. */
static size_t
memory_extent(struct mem *m, uint64_t addr, size_t n)
{
	size_t got = 0;
	const struct mem_area *a;

	while (got < n && (a = mem_find(m, addr + got))) {
		uint64_t left = a->m.len - (addr + got - a->m.addr);

		got = left < n - got ? got + left : n;
	}
	return got;
}

/* mremap in place. */
static int
memory_resize(struct mem *m, const struct ws_rec_move *v, const struct mem_area *a)
{
	struct mem_area b = *a;

	if (v->newlen <= v->oldlen)
		return v->newlen == v->oldlen ? 0 : mem_unmap(m, v->from + v->newlen, v->oldlen - v->newlen);
	b.m.offset += b.name->name[0] || b.obj ? v->from + v->oldlen - b.m.addr : 0;
	b.m.addr = v->from + v->oldlen;
	b.m.len = v->newlen - v->oldlen;
	b.name->refs++;                 /* keeps the name alive while mem_map copies it */
	if (mem_map(m, &b.m) != 0) {
		name_drop(b.name);
		return -1;
	}
	name_drop(b.name);
	return 0;
}

/*
 * mremap needs a single mapping, but one mapping of the guest may be several here (moved or
 * protected pages): halves the range until it succeeds.
 */
static int
host_move(uint64_t from, uint64_t to, uint64_t len)
{
	uint64_t half = len / 2 / MEM_PAGE * MEM_PAGE;

	if (mremap(rp_host(from), len, len, MREMAP_MAYMOVE | MREMAP_FIXED, rp_host(to)) != MAP_FAILED)
		return 0;
	if (errno != EFAULT || !half)
		return -1;
	return host_move(from, to, half) != 0 || host_move(from + half, to + half, len - half) != 0 ? -1 : 0;
}

int
mem_move(struct mem *m, const struct ws_rec_move *v)
{
	const struct mem_area *old = mem_find(m, v->from);
	struct mem_area a;
	int fail;

	/* one mapping of the guest's system may be several areas here */
	if (!old || v->from % MEM_PAGE || v->oldlen % MEM_PAGE || !v->oldlen ||
	    memory_extent(m, v->from, v->oldlen) != v->oldlen)
		return memory_bad(m, "what is moved from 0x%llx is not mapped", (unsigned long long)v->from);
	if (v->from == v->to)
		return memory_resize(m, v, old);
	if (v->from < v->to + v->newlen && v->to < v->from + v->oldlen)
		return memory_bad(m, "memory moved from 0x%llx onto itself", (unsigned long long)v->from);
	if (old->obj && old->m.addr + old->m.len - v->from < v->oldlen)
		return memory_bad(m, "shared memory of several pieces is moved from 0x%llx",
		    (unsigned long long)v->from);
	a = *old;
	a.name->refs++;
	a.m.offset += a.name->name[0] || a.obj ? v->from - a.m.addr : 0;
	a.at += a.obj ? v->from - a.m.addr : 0;
	a.m.addr = v->to;
	a.m.len = a.obj && v->newlen > v->oldlen ? v->oldlen : v->newlen;
	fail = map_as(m, &a.m, 0);
	/* the object's pages move with it; the pages after them belong to the file */
	if (!fail && a.obj) {
		struct mem_area *b = &m->area[mem_from(m, v->to)];

		b->obj = a.obj;
		b->at = a.at;
		a.m.addr += a.m.len;
		a.m.offset += a.m.len;
		a.m.len = v->newlen - b->m.len;
		fail = a.m.len ? mem_map(m, &a.m) : 0;
	}
	name_drop(a.name);
	if (fail)
		return -1;
	/* the core may have protected some pages, and does not know them at their new address */
	rp_forget(v->from, v->oldlen);
	mprotect(rp_host(v->from), v->oldlen, PROT_READ | PROT_WRITE);
	rp_forget(v->to, v->newlen);
	mprotect(rp_host(v->to), v->newlen, PROT_READ | PROT_WRITE);
	if (host_move(v->from, v->to, v->newlen < v->oldlen ? v->newlen : v->oldlen) != 0)
		return memory_bad(m, "0x%llx bytes moved to 0x%llx: %s", (unsigned long long)v->newlen,
		    (unsigned long long)v->to, strerror(errno));
	host_unmap(m, v->from, v->oldlen);
	memory_notify(m, v->from, v->oldlen);
	return memory_remove(m, v->from, v->oldlen);
}

int
mem_protect(struct mem *m, uint64_t addr, uint64_t len, uint32_t prot)
{
	size_t i, k;

	if (in_window(m, addr, len) != 0 || memory_reserve(m, 2) != 0)
		return -1;
	i = memory_split(m, addr);
	k = addr + len ? memory_split(m, addr + len) : m->n;
	for (; i < k; i++)
		m->area[i].m.prot = prot;
	return 0;
}

/* Memory of one area, a, becomes zero.  Pages of a shared file are those of all its areas: they stay. */
static void
zero_in(struct mem *m, const struct mem_area *a, uint64_t addr, size_t n)
{
	uint64_t lo = (addr + MEM_PAGE - 1) & ~(uint64_t)(MEM_PAGE - 1),
	    hi = (addr + n) & ~(uint64_t)(MEM_PAGE - 1);

	if (a->obj || n < GIVE_BACK || madvise(rp_host(lo), hi - lo, MADV_DONTNEED) != 0) {
		memset(rp_host(addr), 0, n);
		return;
	}
	memory_notify(m, lo, hi - lo);
	memset(rp_host(addr), 0, lo - addr);
	memset(rp_host(hi), 0, addr + n - hi);
}

static void
memory_zero(struct mem *m, uint64_t addr, size_t n)
{
	const struct mem_area *a;

	while (n && (a = mem_find(m, addr))) {
		uint64_t left = a->m.addr + a->m.len - addr;
		size_t k = left < n ? (size_t)left : n;

		zero_in(m, a, addr, k);
		addr += k;
		n -= k;
	}
}

int
mem_write(struct mem *m, const struct ws_rec_mem *w)
{
	size_t got;

	if (w->n == 0)
		return 0;
	got = memory_extent(m, w->addr, w->n);
	if (got < w->n)
		return memory_bad(m, "contents for 0x%llx, which is not mapped",
		    (unsigned long long)w->addr + got);
	if (w->p && w->n >= 2 * MEM_PAGE && w->addr % MEM_PAGE == 0)    /* likely the first contents of pages */
		populate(rp_host(w->addr), w->n);
	if (w->p)
		memcpy(rp_host(w->addr), w->p, w->n);
	else
		memory_zero(m, w->addr, w->n);
	return 0;
}

size_t
mem_read(struct mem *m, uint64_t addr, void *p, size_t n)
{
	n = memory_extent(m, addr, n);
	if (n)
		memcpy(p, rp_host(addr), n);
	return n;
}

int
mem_copy(struct mem *m, struct mem_area **area, size_t *n)
{
	*area = malloc((m->n + 1) * sizeof **area);
	if (!*area)
		return memory_bad(m, "no memory");
	*n = m->n;
	for (size_t i = 0; i < m->n; i++) {
		(*area)[i] = m->area[i];
		m->area[i].name->refs++;
	}
	return 0;
}

void
mem_copy_free(struct mem_area *area, size_t n)
{
	for (size_t i = 0; i < n; i++)
		name_drop(area[i].name);
	free(area);
}

/* Unmaps (map: 0) or maps (1) what a has and b has not.  Shared memory always counts as different. */
static int
memory_map_difference(struct mem *m, const struct mem *a, const struct mem *b, int map)
{
	for (size_t i = 0; i < a->n; i++) {
		uint64_t lo = a->area[i].m.addr, end = lo + a->area[i].m.len;

		while (lo != end) {
			size_t k = mem_from(b, lo);
			const struct ws_rec_map *o;
			uint64_t to;

			while (k < b->n && b->area[k].obj)
				k++;
			o = k < b->n && b->area[k].m.addr < end && !a->area[i].obj ? &b->area[k].m : NULL;
			to = o ? o->addr : end;

			if (to > lo) {
				if (!map)
					host_drop(lo, to - lo);
				else if (host_map(m, lo, to - lo, a->area[i].obj != 0) != 0)
					return -1;
				memory_notify(m, lo, to - lo);
			}
			lo = o && o->addr + o->len < end ? o->addr + o->len : end;
		}
	}
	return 0;
}

int
mem_restore(struct mem *m, const struct mem_area *area, size_t n)
{
	struct mem to = { .area = (struct mem_area *)(uintptr_t)area, .n = n }, was;

	if (memory_reserve(m, n) != 0)
		return -1;
	was = *m;
	if (memory_map_difference(m, &was, &to, 0) != 0 || memory_map_difference(m, &to, &was, 1) != 0)
		return -1;
	for (size_t i = 0; i < n; i++)
		area[i].name->refs++;
	for (size_t i = 0; i < m->n; i++)
		name_drop(m->area[i].name);
	m->n = 0;
	m->last = 0;
	memcpy(m->area, area, n * sizeof *area);
	m->n = n;
	return m->nobj && memshare_recreate(m) != 0 ? memory_bad(m, "shared memory: %s", strerror(errno)) : 0;
}

int
mem_alias(const struct mem *m, uint64_t addr, size_t *i, uint64_t *other)
{
	return m->nobj ? memshare_alias(m, addr, i, other) : 0;
}

void
mem_free(struct mem *m)
{
	memshare_free(m);
	for (size_t i = 0; i < m->n; i++) {
		host_drop(m->area[i].m.addr, m->area[i].m.len);
		name_drop(m->area[i].name);
	}
	free(m->area);
	m->area = NULL;
	m->n = m->cap = 0;
}
