/* System calls that change the program's mappings. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/stat.h>

#include "base/diag.h"
#include "gen/wscap/signal.h"
#include "gen/wscap/touch.h"
#include "gen/wscap/wscap.h"

#define LARGE (UINT64_C(64) << 20)      /* bytes */

static uint64_t
maps_up(uint64_t n)
{
	return (n + PAGE - 1) / PAGE * PAGE;
}

static int
maps_failed(const struct call *k)
{
	return (uint64_t)k->ret >= (uint64_t)-4095;
}

/* Anonymous shared memory has an inode as well, which identifies it when it is mapped again. */
static void
maps_number(struct cap *c, struct region *r)
{
	struct tracee_maps m = {0};

	if (!tracee_maps(c->t.pid, &m))
		for (size_t i = 0; i < m.n; i++)
			if (m.map[i].lo <= r->lo && m.map[i].hi > r->lo) {
				r->dev = m.map[i].dev;
				r->ino = m.map[i].ino;
				r->offset = m.map[i].offset + (r->lo - m.map[i].lo);
			}
	tracee_maps_free(&m);
}

/* The file of one of the program's descriptors. */
static void
file_of(struct cap *c, struct region *r, int fd, char *name, size_t room)
{
	char path[48];
	struct stat st;

	file_name(c, fd, name, room);
	snprintf(path, sizeof(path), "/proc/%ld/fd/%d", (long)c->t.pid, fd);
	if (!stat(path, &st)) {
		r->dev = st.st_dev;
		r->ino = st.st_ino;
	}
}

/*
 * Is the same piece of the same file mapped there already, and was never writable? Then only
 * the protection changes: the loader maps a whole library, then its segments over it.
 */
static int
same_file(const struct cap *c, const struct region *r)
{
	size_t i = region_at(&c->reg, r->lo);
	const struct region *o = &c->reg.p[i];

	return i < c->reg.n && o->lo <= r->lo && o->hi >= r->hi && r->ino && !r->shared && !o->shared &&
	    !o->wasw && o->ino == r->ino && o->dev == r->dev && o->offset + (r->lo - o->lo) == r->offset;
}

/*
 * Private mappings of a file show what is written to the file until they are written
 * themselves.  A replay does not do that: warns.
 */
static void
check_twice(struct cap *c, const struct region *r)
{
	static const char text[] = "a file is mapped shared and private: "
	    "what is written to the one is not seen in the other in a replay";

	for (size_t i = 0; i < c->reg.n && !c->twice; i++) {
		const struct region *o = &c->reg.p[i];

		if (!r->ino || o->ino != r->ino || o->dev != r->dev || o->lo == r->lo ||
		    o->offset >= r->offset + (r->hi - r->lo) || r->offset >= o->offset + (o->hi - o->lo) ||
		    r->shared == o->shared || !((r->shared ? r : o)->prot & PROT_WRITE))
			continue;
		c->twice = 1;
		warn("%s", text);
		put_note(c, text);
	}
}

/* There may be code at r.  What is not executed there but read gets no breakpoints. */
static void
maps_code(struct cap *c, const struct region *r, const char *name)
{
	if (!c->translates)
		random_scan(c, r, name);
}

void
maps_map(struct cap *c, const struct call *k, const struct mapped_file *file)
{
	struct region r = {0};
	char name[4096] = "";
	int anon = (k->arg[3] & MAP_ANONYMOUS) != 0;

	if (maps_failed(k))
		return;
	r.lo = (uint64_t)k->ret;
	r.hi = r.lo + maps_up(k->arg[1]);
	r.prot = (int)(k->arg[2] & 7);
	r.shared = (k->arg[3] & MAP_TYPE) != MAP_PRIVATE;
	if (!anon) {
		r.offset = k->arg[5];
		if (file) {
			r.dev = file->dev;
			r.ino = file->ino;
			snprintf(name, sizeof(name), "%s", file->name);
		} else {
			file_of(c, &r, (int)k->arg[4], name, sizeof(name));
		}
	} else if (r.shared) {
		maps_number(c, &r);
		r.zeros = r.ino != 0;
	}
	random_remove(c, r.lo, r.hi, 0);
	if (!anon && same_file(c, &r)) {
		region_prot(&c->reg, r.lo, r.hi, r.prot);
		put_range(c, WS_PROT, r.lo, r.hi - r.lo, r.prot);
	} else {
		region_set(&c->reg, &r);
		check_twice(c, &r);
		hold_cut(c, r.lo, r.hi);
		(void)hold_open(c, &r, name);
		put_map(c, &r, anon ? WS_ANON : WS_FILE, name);
		if (!anon && !c->all->touch && !hold_map(c, &r, r.lo, name, 1) && !hold_put_all(c, &r, file != NULL))
			put_pages(c, r.lo, r.hi);
	}
	maps_code(c, &r, name);
	if (r.shared) {
		hold_memory(c->all, &r, name);
		share_mapped(c, r.lo, r.hi);
		share_outside(c, &r, name);
	}
	if (touch_hides(c)) {
		region_cut(&c->hidden, r.lo, r.hi);
		if (!anon && c->all->touch)
			touch_hide(c, r.lo, r.hi);
	}
}

void
sys_mmap(struct cap *c, const struct call *k)
{
	maps_map(c, k, NULL);
}

void
sys_munmap(struct cap *c, const struct call *k)
{
	if (maps_failed(k))
		return;
	random_remove(c, k->arg[0], k->arg[0] + maps_up(k->arg[1]), 0);
	region_cut(&c->reg, k->arg[0], k->arg[0] + maps_up(k->arg[1]));
	region_cut(&c->hidden, k->arg[0], k->arg[0] + maps_up(k->arg[1]));
	hold_cut(c, k->arg[0], k->arg[0] + maps_up(k->arg[1]));
	put_range(c, WS_UNMAP, k->arg[0], maps_up(k->arg[1]), 0);
}

void
sys_mprotect(struct cap *c, const struct call *k)
{
	if (maps_failed(k))
		return;
	if (k->arg[2] & PROT_WRITE)
		random_remove(c, k->arg[0], k->arg[0] + maps_up(k->arg[1]), 1);
	region_prot(&c->reg, k->arg[0], k->arg[0] + maps_up(k->arg[1]), (int)(k->arg[2] & 7));
	put_range(c, WS_PROT, k->arg[0], maps_up(k->arg[1]), (int)(k->arg[2] & 7));
	maps_code(c, &(struct region){.lo = k->arg[0], .hi = k->arg[0] + maps_up(k->arg[1]),
	    .prot = (int)(k->arg[2] & 7)}, "");
	if (k->arg[2] & PROT_WRITE)
		share_mapped(c, k->arg[0], k->arg[0] + maps_up(k->arg[1]));
	if (touch_hides(c))
		touch_protected(c, k->arg[0], k->arg[0] + maps_up(k->arg[1]));
}

void
sys_brk(struct cap *c, const struct call *k)
{
	uint64_t now = maps_up((uint64_t)k->ret);
	size_t i = region_at(&c->reg, c->brk - 1);
	const struct region *p = &c->reg.p[i];
	struct region r = {0};

	if (now > c->brk) {
		r.lo = c->brk;
		r.hi = now;
		r.prot = PROT_READ | PROT_WRITE;
		put_map(c, &r, WS_HEAP, "[heap]");
		/* a heap that grows is one mapping */
		if (i < c->reg.n && p->hi == r.lo && p->prot == r.prot && !p->ino && !p->shared && !p->stack && !p->foreign)
			r.lo = p->lo;
		region_set(&c->reg, &r);
	} else if (now < c->brk) {
		region_cut(&c->reg, now, c->brk);
		region_cut(&c->hidden, now, c->brk);
		put_range(c, WS_UNMAP, now, c->brk - now, 0);
	}
	c->brk = now;
}

static void
put_move(struct cap *c, uint64_t from, uint64_t oldlen, uint64_t to, uint64_t newlen)
{
	struct ws_rec r = {.kind = WS_MOVE, .u.move = {from, oldlen, to, newlen}};

	wscap_put(c, &r);
}

/* oldlen 0 makes a second mapping of a shared one */
void
sys_mremap(struct cap *c, const struct call *k)
{
	uint64_t from = k->arg[0], oldlen = maps_up(k->arg[1]), newlen = maps_up(k->arg[2]),
	    to = (uint64_t)k->ret;
	size_t i = region_at(&c->reg, from);
	struct region r;

	if (maps_failed(k) || i == c->reg.n)
		return;
	r = c->reg.p[i];
	if (!oldlen) {
		r.offset += from - r.lo;
		r.lo = to;
		r.hi = to + newlen;
		region_set(&c->reg, &r);
		put_map(c, &r, r.ino ? WS_FILE : WS_ANON, "");
		put_pages(c, r.lo, r.hi);
		return;
	}
	if (to != from) {
		random_remove(c, to, to + newlen, 0);
		random_moved(c, from, from + oldlen, to);
	} else if (newlen < oldlen) {
		random_remove(c, from + newlen, from + oldlen, 0);
	}
	hold_cut(c, to, to + newlen);
	region_move(&c->reg, from, oldlen, to, newlen);
	put_move(c, from, oldlen, to, newlen);
	if (k->arg[3] & 4) {            /* MREMAP_DONTUNMAP */
		r.offset += r.ino ? from - r.lo : 0;
		r.lo = from;
		r.hi = from + oldlen;
		region_set(&c->reg, &r);
		put_map(c, &r, r.ino ? WS_FILE : WS_ANON, "");
		if (r.ino)
			put_pages(c, r.lo, r.hi);
	}
	if (newlen > oldlen && r.ino)
		put_pages(c, to + oldlen, to + newlen);
}

/*
 * Private memory of r has become zero.  A large piece is mapped again, which is the same: programs give all of a
 * terabyte that they have reserved away, and who reads the capture would write zeros to it.
 */
static void
put_emptied(struct cap *c, const struct region *r, uint64_t lo, uint64_t hi)
{
	struct region piece = *r;

	if (hi - lo < LARGE || r->ino || r->shared || r->stack) {
		put_zero(c, lo, hi - lo);
		return;
	}
	piece.lo = lo;
	piece.hi = hi;
	put_map(c, &piece, WS_ANON, "");
}

void
sys_madvise(struct cap *c, const struct call *k)
{
	uint64_t lo = k->arg[0], hi = lo + maps_up(k->arg[1]);
	int advice = (int)k->arg[2];

	/* 24: MADV_DONTNEED_LOCKED.  A failed call had its effect up to the first gap. */
	if (advice != MADV_DONTNEED && advice != MADV_FREE && advice != MADV_REMOVE && advice != 24)
		return;
	for (size_t i = region_at(&c->reg, lo); i < c->reg.n && c->reg.p[i].lo < hi; i++) {
		const struct region *r = &c->reg.p[i];
		uint64_t a = r->lo > lo ? r->lo : lo, b = r->hi < hi ? r->hi : hi;

		if (maps_failed(k) || (r->shared && advice != MADV_REMOVE) ||
		    (r->ino && advice != MADV_REMOVE)) {
			hold_cut(c, a, b);
			put_mem(c, a, b - a);
		}
		else
			put_emptied(c, r, a, b);
	}
}

/*
 * Its inode is the identifier, which may be 0 or that of a memory file on the same device: the
 * capture has another one.
 */
void
sys_shmat(struct cap *c, const struct call *k)
{
	struct region r = {0};
	struct tracee_maps m = {0};

	if (maps_failed(k))
		return;
	if (!tracee_maps(c->t.pid, &m)) {
		for (size_t i = 0; i < m.n; i++) {
			if (m.map[i].lo != (uint64_t)k->ret)
				continue;
			r.lo = m.map[i].lo;
			r.hi = m.map[i].hi;
			r.prot = m.map[i].prot;
			r.dev = m.map[i].dev;
			r.ino = WS_SHM + m.map[i].ino;
			r.shared = r.zeros = 1;
			hold_cut(c, r.lo, r.hi);
			region_set(&c->reg, &r);
			check_twice(c, &r);
			put_map(c, &r, WS_ANON, "");
			put_pages(c, r.lo, r.hi);
			share_mapped(c, r.lo, r.hi);
			share_outside(c, &r, "/SYSV");
		}
	}
	tracee_maps_free(&m);
}

void
sys_shmdt(struct cap *c, const struct call *k)
{
	size_t i = region_at(&c->reg, k->arg[0]);
	uint64_t lo, hi;

	if (maps_failed(k) || i == c->reg.n || c->reg.p[i].lo != k->arg[0])
		return;
	lo = c->reg.p[i].lo;
	hi = c->reg.p[i].hi;
	region_cut(&c->reg, lo, hi);
	put_range(c, WS_UNMAP, lo, hi - lo, 0);
}
