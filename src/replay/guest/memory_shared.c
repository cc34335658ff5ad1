/*
 * Memory of files that the program has mapped shared: a write at one address is visible at the
 * others.  Each such file is an object, memory of this process that is mapped once for each
 * area.  Forked children must not write into the parent's objects: they get copies, which are
 * made before the fork.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/buf.h"
#include "replay/guest/memory_shared.h"

#define CHUNK 1024u             /* pages per call of mincore */

struct object { uint32_t id; uint64_t len; uint8_t *p; };
struct objects { struct object *o; size_t n, cap; };

static struct mem *mine;        /* one replay per process */
static struct objects copies;   /* the child's objects, during fork */
static int nocopies;

int
memshare_is(const struct ws_rec_map *m)
{
	return (m->flags & WS_SHARED) && m->ino && !(m->name && !strcmp(m->name, "/dev/zero"));
}

static int
same_file(const struct mem_area *a, const struct ws_rec_map *m)
{
	return a->obj && a->m.dev == m->dev && a->m.ino == m->ino;
}

const struct mem_area *
memshare_find(const struct mem *m, const struct ws_rec_map *map, uint64_t *len)
{
	for (size_t i = 0; i < m->n; i++) {
		const struct mem_area *a = &m->area[i];

		if (!same_file(a, map))
			continue;
		if (map->offset >= a->m.offset && map->offset - a->m.offset < a->m.len) {
			uint64_t left = a->m.len - (map->offset - a->m.offset);

			*len = *len < left ? *len : left;
			return a;
		}
		if (a->m.offset > map->offset && a->m.offset - map->offset < *len)
			*len = a->m.offset - map->offset;
	}
	return NULL;
}

int
memshare_alias(const struct mem *m, uint64_t addr, size_t *i, uint64_t *other)
{
	const struct mem_area *a = NULL;
	uint64_t at;

	for (size_t k = 0; k < m->n && !a; k++)
		if (m->area[k].obj && ((addr - m->area[k].m.addr) & rp_mask) < m->area[k].m.len)
			a = &m->area[k];
	if (!a)
		return 0;
	at = a->at + ((addr - a->m.addr) & rp_mask);
	for (; *i < m->n; ++*i) {
		const struct mem_area *b = &m->area[*i];

		if (b != a && b->obj == a->obj && at >= b->at && at - b->at < b->m.len) {
			*other = b->m.addr + (at - b->at);
			++*i;
			return 1;
		}
	}
	return 0;
}

static uint8_t *
shared_fresh(uint64_t len)
{
	void *p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

/* Maps the memory at p also at the guest's addr, where memory of ours is mapped already. */
static int
shared_map_at(uint8_t *p, uint64_t addr, uint64_t len)
{
	void *to = rp_host(addr);

	return mremap(p, 0, len, MREMAP_MAYMOVE | MREMAP_FIXED, to) == to &&
	    mprotect(to, len, PROT_READ | PROT_WRITE) == 0 ? 0 : -1;
}

/* Creates all objects, empty or (full) with their contents. */
static int
shared_make(const struct mem *m, struct objects *all, int full)
{
	for (size_t i = 0; i < m->n; i++) {
		const struct mem_area *a = &m->area[i];
		size_t k = 0;

		if (!a->obj)
			continue;
		while (k < all->n && all->o[k].id != a->obj)
			k++;
		if (k == all->n) {
			if (buf_grow(&all->o, &all->cap, k + 1, sizeof *all->o) < 0)
				return -1;
			all->o[all->n++] = (struct object){ .id = a->obj };
		}
		if (all->o[k].len < a->at + a->m.len)
			all->o[k].len = a->at + a->m.len;
	}
	for (size_t k = 0; k < all->n; k++)
		if ((all->o[k].p = shared_fresh(all->o[k].len)) == NULL)
			return -1;
	for (size_t i = 0; full && i < m->n; i++) {
		const struct mem_area *a = &m->area[i];
		uint8_t in[CHUNK];

		for (size_t k = 0; k < all->n && a->obj; k++)
			for (uint64_t at = 0; at < a->m.len && all->o[k].id == a->obj;
			    at += CHUNK * MEM_PAGE) {
				uint64_t n =
				    a->m.len - at < CHUNK * MEM_PAGE ? a->m.len - at : CHUNK * MEM_PAGE;

				if (mincore(rp_host(a->m.addr + at), n, in) != 0)
					return -1;
				for (uint64_t j = 0; j < n / MEM_PAGE; j++)
					if (in[j] & 1)
						memcpy(all->o[k].p + a->at + at + j * MEM_PAGE,
						    rp_host(a->m.addr + at + j * MEM_PAGE), MEM_PAGE);
			}
	}
	return 0;
}

static void
shared_drop(struct objects *all)
{
	for (size_t k = 0; k < all->n; k++)
		if (all->o[k].p)
			munmap(all->o[k].p, all->o[k].len);
	free(all->o);
	*all = (struct objects){ 0 };
}

static int
shared_put(const struct mem *m, const struct objects *all)
{
	for (size_t i = 0; i < m->n; i++)
		for (size_t k = 0; k < all->n && m->area[i].obj; k++)
			if (all->o[k].id == m->area[i].obj &&
			    shared_map_at(all->o[k].p + m->area[i].at, m->area[i].m.addr,
				m->area[i].m.len) != 0)
				return -1;
	return 0;
}

int
memshare_recreate(const struct mem *m)
{
	struct objects all = { 0 };
	int e = shared_make(m, &all, 0) != 0 || shared_put(m, &all) != 0 ? -1 : 0;

	shared_drop(&all);
	return e;
}

static void
shared_prepare(void)
{
	nocopies = mine && shared_make(mine, &copies, 1) != 0;
}

static void
shared_parent(void)
{
	shared_drop(&copies);
}

/* No memory is better than sharing the parent's. */
static void
shared_child(void)
{
	if (!mine)
		return;
	for (size_t i = 0; i < mine->n; i++)
		if (mine->area[i].obj && mine->changed)
			mine->changed(mine->arg, mine->area[i].m.addr, mine->area[i].m.len);
	if (nocopies || shared_put(mine, &copies) != 0)
		for (size_t i = 0; i < mine->n; i++)
			if (mine->area[i].obj)
				munmap(rp_host(mine->area[i].m.addr), mine->area[i].m.len);
	shared_drop(&copies);
}

int
memshare_map(struct mem *m, struct mem_area *a, const struct mem_area *twin)
{
	static int forks;
	uint8_t *p;
	int e;

	if (!forks && pthread_atfork(shared_prepare, shared_parent, shared_child) != 0)
		return -1;
	forks = 1;
	mine = m;
	if (twin) {
		a->obj = twin->obj;
		a->at = twin->at + (a->m.offset - twin->m.offset);
		return shared_map_at(rp_host(twin->m.addr + (a->m.offset - twin->m.offset)), a->m.addr,
		    a->m.len);
	}
	a->obj = ++m->nobj;
	a->at = 0;
	if ((p = shared_fresh(a->m.len)) == NULL)
		return -1;
	e = shared_map_at(p, a->m.addr, a->m.len);
	munmap(p, a->m.len);
	return e;
}

void
memshare_free(const struct mem *m)
{
	if (mine == m)
		mine = NULL;
}
