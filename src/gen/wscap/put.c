/* Writes the records of a capture. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/bytes.h"
#include "format/ws/elf.h"
#include "format/ws/kept.h"
#include "gen/wscap/amid.h"
#include "gen/wscap/signal.h"
#include "gen/wscap/wscap.h"

#define PLAIN_MOST (16u << 20)  /* bytes of memory that are not compressed, at most, of all processes; without mapped files */

uint64_t
put_cputime(struct cap *c)
{
	struct timespec t;

	if (c->clockof != c->pid && clock_getcpuclockid(c->pid, &c->clock))
		return 0;
	c->clockof = c->pid;
	return clock_gettime(c->clock, &t) ? 0 : (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/*
 * Records the program's CPU time since the previous trigger: a bound for what a replay may
 * execute up to this one.
 */
static void
put_time(struct cap *c)
{
	struct ws_rec r = {.kind = WS_TIME};
	uint64_t now;

	/* it may have gone on before all was recorded: tree_leave */
	if (!c->traced || (now = put_cputime(c)) == 0)
		return;
	r.u.time = now - c->cputime;
	c->cputime = now;
	if (r.u.time >= WS_TIME_LEAST && r.u.time <= WS_TIME_MAX)
		put_untimed(c, &r);
}

void
put_untimed(struct cap *c, const struct ws_rec *r)
{
	if (!c->w || c->all->failed)
		return;
	if (r->kind == WS_END)
		ws_pages_flush(c->all->pages);
	if (ws_put(c->w, r) < 0)
		put_failed(c, 0);
	if (r->kind == WS_SIG)
		c->hold.closing = !memcmp(&r->u.sig.at, &r->u.sig.to, sizeof(r->u.sig.at));
	else if (r->kind != WS_TIME && r->kind != WS_NOTE)
		c->hold.closing = 0;
	c->dirty = 1;
	if (r->kind != WS_MEM)
		return;
	if (!c->all->plain && r->u.mem.p)
		c->all->taken += r->u.mem.n;
	/* to compress takes longer than to write, but a long run is not to fill the disk */
	if (c->all->taken > PLAIN_MOST)
		c->all->level = WS_QUICK;
	/* groups are small, so that the writer's buffers stay in the processor's cache */
	c->since += r->u.mem.p ? r->u.mem.n : 0;
	if (c->since >= GROUP) {
		if (!c->all->plain)
			ws_set_level(c->w, c->all->level);
		ws_pages_flush(c->all->pages);
		if (!c->all->failed && ws_end_group(c->w) < 0)
			put_failed(c, 0);
		c->since = 0;
	}
}

void
wscap_put(struct cap *c, const struct ws_rec *r)
{
	if (!c->w || c->all->failed)
		return;
	if (ws_is_trigger(r->kind) || r->kind == WS_END)
		put_time(c);
	put_untimed(c, r);
}

void
put_failed(struct cap *c, int err)
{
	struct tree *a = c->all;

	if (!a->failed)
		snprintf(a->why, sizeof(a->why), "%s", err ? strerror(err) : ws_write_fault(c->w)->err);
	a->failed = 1;
}

void
put_cut(struct cap *c)
{
	int err = 0;

	if (image_waits(c))
		return;
	if (c->dirty)
		hold_settle(c, 1);
	if (c->w && c->dirty)
		ws_pages_flush(c->all->pages);
	if (c->w && c->dirty && !c->all->failed && (ws_end_group(c->w) < 0 || (err = ws_run_flush(c->run))))
		put_failed(c, err);
	c->dirty = 0;
}

void
put_note(struct cap *c, const char *text)
{
	struct ws_rec r = {.kind = WS_NOTE, .u.note = text};

	wscap_put(c, &r);
}

void
put_mem(struct cap *c, uint64_t addr, uint64_t n)
{
	while (n && c->w && !c->all->failed) {
		size_t k = n < GROUP ? (size_t)n : GROUP, got;
		struct ws_rec r = {.kind = WS_MEM, .u.mem.addr = addr};
		uint8_t *p;

		hold_relieve(c);
		p = ws_reserve(c->w, addr, k);
		if (!p) {
			put_failed(c, 0);
			return;
		}
		got = tracee_read(&c->t, addr, p, k);
		random_hide(c, addr, p, got);
		if (got) {
			if (c->compare)
				compare_known(c, addr, p, got);
			r.u.mem.p = p;
			r.u.mem.n = got;
			wscap_put(c, &r);
		}
		if (got < k)
			return;
		addr += k;
		n -= k;
	}
}

void
put_bytes(struct cap *c, uint64_t addr, const uint8_t *p, size_t n)
{
	const struct ws_rec r = {.kind = WS_MEM, .u.mem = {.addr = addr, .p = p, .n = n}};

	if (n)
		put_untimed(c, &r);
}

void
put_zero(struct cap *c, uint64_t addr, uint64_t n)
{
	struct ws_rec r = {.kind = WS_MEM, .u.mem = {.addr = addr, .n = n}};

	if (n)
		wscap_put(c, &r);
}

void
put_scratch(struct cap *c, uint64_t addr, size_t n)
{
	size_t i = 0, from;

	while (i < n) {
		struct ws_rec r = {.kind = WS_MEM};

		if (bytes_zero(c->all->scratch + i, PAGE)) {
			i += PAGE;
			continue;
		}
		for (from = i; i < n && !bytes_zero(c->all->scratch + i, PAGE); i += PAGE)
			;
		if (stored_wanted(c)) {
			stored_put(c, addr + from, c->all->scratch + from, i - from);
			continue;
		}
		r.u.mem.addr = addr + from;
		r.u.mem.p = c->all->scratch + from;
		r.u.mem.n = i - from;
		wscap_put(c, &r);
	}
}

void
put_pages(struct cap *c, uint64_t lo, uint64_t hi)
{
	struct exists e = {0};

	while (lo < hi && c->w && !c->all->failed) {
		uint64_t end;
		size_t k, got;

		lo = hold_present(c, lo, hi, &end);
		lo = exists_next(c, &e, lo, hi);
		if (lo >= end)          /* nothing more of this mapping */
			continue;
		k = end - lo < CHUNK ? (size_t)(end - lo) : CHUNK;
		hold_relieve(c);
		got = tracee_read(&c->t, lo, c->all->scratch, k) / PAGE * PAGE;
		random_hide(c, lo, c->all->scratch, got);
		put_scratch(c, lo, got);
		lo += got < k ? got + PAGE : got;       /* a missing page: it is beyond the end of its file */
	}
}

/* The length of the build id in the notes of the ELF file that is mapped at addr. */
static size_t
build_id(struct cap *c, uint64_t addr, uint8_t id[WS_ID_MAX])
{
	uint8_t h[4096], note[1024];
	size_t n = hold_read(c, addr, h, sizeof(h)), i;
	unsigned phnum;
	uint64_t phoff;

	if (n < 64 || memcmp(h, "\177ELF\2\1", 6))
		return 0;
	phoff = get_le64(h + 32);
	phnum = get_le16(h + 56);
	for (i = 0; i < phnum && phoff + (i + 1) * 56 <= n; i++) {
		const uint8_t *ph = h + phoff + i * 56;
		uint64_t size = get_le64(ph + 32);
		const uint8_t *has;

		if (get_le32(ph) != 4)
			continue;
		size = hold_read(c, addr + get_le64(ph + 8), note,
		    size < sizeof(note) ? size : sizeof(note));
		size = ws_elf_note_id(note, size, &has);
		if (size && size <= WS_ID_MAX) {
			memcpy(id, has, size);
			return size;
		}
	}
	return 0;
}

void
put_map(struct cap *c, const struct region *g, uint32_t type, const char *name)
{
	uint8_t id[WS_ID_MAX];
	struct ws_rec r = {.kind = WS_MAP};
	struct ws_rec_map *m = &r.u.map;

	m->addr = g->lo;
	m->len = g->hi - g->lo;
	m->prot = (uint32_t)g->prot;
	m->type = type;
	m->flags = (g->shared ? WS_SHARED : 0u) | (g->stack ? WS_GROWS : 0u);
	m->offset = g->offset;
	m->dev = g->dev;
	m->ino = g->ino;
	m->name = name;
	m->id = id;
	if (g->ino && !g->offset)
		m->nid = build_id(c, g->lo, id);
	if (g->ino && c->all->keeper)
		ws_keeper_add(c->all->keeper, m);
	wscap_put(c, &r);
}

void
put_range(struct cap *c, enum ws_kind kind, uint64_t addr, uint64_t len, int prot)
{
	struct ws_rec r = {.kind = kind, .u.range = {addr, len, (uint32_t)prot}};

	if (len)
		wscap_put(c, &r);
}

void
put_sys(struct cap *c, const struct user_regs_struct *g, uint64_t ret)
{
	struct ws_rec r = {.kind = WS_SYS};
	struct ws_rec_sys *s = &r.u.sys;
	struct ws_regs w;

	tracee_from_user(&w, g, g->orig_rax);
	s->pc = g->rip - 2;
	s->nr = g->orig_rax;
	s->arg[0] = g->rdi;
	s->arg[1] = g->rsi;
	s->arg[2] = g->rdx;
	s->arg[3] = g->r10;
	s->arg[4] = g->r8;
	s->arg[5] = g->r9;
	s->ret = ret;
	s->hash = ws_hash(&w);
	wscap_put(c, &r);
}

size_t
get_xsave(struct cap *c)
{
	size_t n = WS_XSAVE_MAX;

	return tracee_xsave(&c->t, c->all->xsave, &n) ? 0 : n;
}
