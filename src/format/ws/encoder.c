/* Captures: encodes records into streams. */
#include <stdlib.h>
#include <string.h>

#include "format/ws/ws_internal.h"

void
ws_history_clear(struct ws_history *a)
{
	struct buf name = a->name, id = a->id, note = a->note;

	memset(a, 0, sizeof(*a));
	a->name = name;
	a->id = id;
	a->note = note;
	a->name.n = a->id.n = 0;
}

void
ws_history_free(struct ws_history *a)
{
	buf_free(&a->name);
	buf_free(&a->id);
	buf_free(&a->note);
}

static void
ws_delta(struct buf *b, uint64_t v, uint64_t past)
{
	buf_varint(b, zigzag(v - past));
}

static void
put_bytes(struct buf *b, const void *p, size_t n)
{
	buf_varint(b, n);
	buf_add(b, p, n);
}

/* A mask of the registers that changed, and their differences. */
static void
put_regs(struct ws_history *a, struct buf *b, const struct ws_regs *regs)
{
	struct ws_regs g = *regs;
	uint64_t mask = 0;

	for (int i = 0; i < 20; i++)
		mask |= (uint64_t)(*ws_reg(&g, i) != *ws_reg(&a->regs, i)) << i;
	buf_varint(b, mask);
	for (int i = 0; i < 20; i++)
		if (mask >> i & 1)
			ws_delta(b, *ws_reg(&g, i), *ws_reg(&a->regs, i));
	a->regs = g;
}

static void
put_xsave(struct buf *s, const uint8_t *p, size_t n)
{
	while (n && !p[n - 1])
		n--;
	buf_varint(&s[WS_S_CONTROL], n);
	buf_add(&s[WS_S_DATA], p, n);
}

static void
put_map(struct ws_history *a, struct buf *b, const struct ws_rec_map *m)
{
	const char *name = m->name ? m->name : "";
	size_t n = strlen(name), old = a->name.n ? a->name.n - 1 : 0;
	int same = m->dev == a->dev && m->ino == a->ino && n == old && (!n || !memcmp(name, a->name.p, n)) &&
	    m->nid == a->id.n && (!m->nid || !memcmp(m->id, a->id.p, m->nid));

	buf_u8(b, (uint8_t)(WS_MAP | (same ? WS_H_SAMEFILE : 0)));
	buf_varint(b, zigzag((uint64_t)((int64_t)(m->addr - a->map_end) / (int64_t)WS_PAGE)));
	buf_varint(b, m->len / WS_PAGE);
	buf_u8(b, (uint8_t)(m->prot | m->flags << 3));
	buf_varint(b, m->type);
	buf_varint(b, m->offset);
	a->map_end = m->addr + m->len;
	if (same)
		return;
	buf_varint(b, m->dev);
	buf_varint(b, m->ino);
	put_bytes(b, name, n);
	put_bytes(b, m->id, m->nid);
	a->dev = m->dev;
	a->ino = m->ino;
	a->name.n = a->id.n = 0;
	if (n)
		buf_add(&a->name, name, n + 1);
	buf_add(&a->id, m->id, m->nid);
}

static void
put_mem(struct ws_history *a, struct buf *b, const struct ws_rec_mem *m)
{
	unsigned from = m->p || m->page ? 1 + m->where : 0;
	int lines = !((m->addr | m->n | a->mem_end) % WS_LINE);
	uint64_t d = m->addr - a->mem_end;

	buf_u8(b, (uint8_t)(WS_MEM | from << 4 | (lines ? WS_H_LINES : 0) | (m->page ? WS_H_PAGES : 0)));
	if (lines)
		d = (uint64_t)((int64_t)d / (int64_t)WS_LINE);
	buf_varint(b, zigzag(d));
	buf_varint(b, lines ? m->n / WS_LINE : m->n);
	a->mem_end = m->addr + m->n;
	if (!m->page)
		return;
	ws_delta(b, m->page - 1, a->page_end);
	a->page_end = m->page - 1 + m->n / WS_PAGE;
}

static void
put_sys(struct ws_history *a, struct buf *s, const struct ws_rec_sys *y)
{
	struct buf *b = &s[WS_S_CONTROL];
	struct ws_past_sys *o = &a->sys[ws_slot(y->nr)];
	unsigned mask = 0, ret = y->ret == o->ret ? WS_RET_SAME : y->ret == y->arg[2] ? WS_RET_ARG2 :
	    !y->ret ? WS_RET_ZERO : WS_RET_DELTA;

	for (int i = 0; i < 6; i++)
		mask |= (unsigned)(y->arg[i] != o->arg[i]) << i;
	mask |= (unsigned)(y->pc != o->pc) << 6;
	buf_u8(b, (uint8_t)(WS_SYS | ret << 4));
	buf_varint(b, y->nr);
	buf_u8(b, (uint8_t)mask);
	if (mask >> 6)
		ws_delta(b, y->pc, o->pc);
	for (int i = 0; i < 6; i++)
		if (mask >> i & 1)
			ws_delta(b, y->arg[i], o->arg[i]);
	if (ret == WS_RET_DELTA)
		ws_delta(b, y->ret, o->ret);
	buf_le32(&s[WS_S_HASH], y->hash);
	o->pc = y->pc;
	memcpy(o->arg, y->arg, sizeof(o->arg));
	o->ret = y->ret;
}

static void
put_tsc(struct ws_history *a, struct buf *b, const struct ws_rec_tsc *t)
{
	int changed = t->has_aux && t->aux != a->aux;

	buf_u8(b, (uint8_t)(WS_TSC | (t->has_aux ? WS_H_AUX : 0) | (changed ? WS_H_NEWAUX : 0)));
	ws_delta(b, t->value, a->tsc);
	if (changed)
		buf_varint(b, a->aux = t->aux);
	a->tsc = t->value;
}

static void
put_state(struct ws_history *a, struct buf *s, const struct ws_rec *r)
{
	int counted = r->kind == WS_KEY && r->u.state.instances != WS_UNKNOWN;
	int other = r->kind == WS_KEY && r->u.state.thread > 1;

	buf_u8(&s[WS_S_CONTROL], (uint8_t)(r->kind | (counted ? WS_H_INSTANCES : 0) | (other ? WS_H_THREAD : 0)));
	if (r->kind == WS_KEY) {
		buf_varint(&s[WS_S_CONTROL], r->u.state.icount);
		buf_varint(&s[WS_S_CONTROL], r->u.state.trigger);
	}
	if (counted)
		buf_varint(&s[WS_S_CONTROL], r->u.state.instances);
	if (other)
		buf_varint(&s[WS_S_CONTROL], r->u.state.thread);
	put_regs(a, &s[WS_S_CONTROL], &r->u.state.regs);
	put_xsave(s, r->u.state.xsave, r->u.state.nxsave);
}

static void
put_range(struct ws_history *a, struct buf *b, const struct ws_rec *r)
{
	buf_u8(b, (uint8_t)(r->kind | (r->kind == WS_PROT ? r->u.range.prot << 4 : 0)));
	buf_varint(b, zigzag((uint64_t)((int64_t)(r->u.range.addr - a->map_end) / (int64_t)WS_PAGE)));
	buf_varint(b, r->u.range.len / WS_PAGE);
	a->map_end = r->u.range.addr + r->u.range.len;
}

static void
put_move(struct buf *b, const struct ws_rec_move *m)
{
	buf_u8(b, WS_MOVE);
	buf_varint(b, m->from / WS_PAGE);
	buf_varint(b, m->oldlen / WS_PAGE);
	buf_varint(b, m->to / WS_PAGE);
	buf_varint(b, m->newlen / WS_PAGE);
}

static void
put_cpuid(struct buf *b, const struct ws_cpuid *c)
{
	buf_u8(b, WS_CPUID);
	buf_varint(b, c->leaf);
	buf_varint(b, c->sub);
	buf_varint(b, c->eax);
	buf_varint(b, c->ebx);
	buf_varint(b, c->ecx);
	buf_varint(b, c->edx);
}

static void
put_sig(struct ws_history *a, struct buf *s, const struct ws_rec_sig *g)
{
	struct buf *b = &s[WS_S_CONTROL];
	unsigned flag = g->icount != WS_UNKNOWN ? WS_H_ICOUNT :
	    (g->nstack ? WS_H_STACK : 0u) | (g->nwords ? WS_H_WORDS : 0u);

	buf_u8(b, (uint8_t)(WS_SIG | flag));
	buf_varint(b, g->sig);
	if (g->sig == WS_SWITCH)
		buf_varint(b, g->thread);
	put_regs(a, b, &g->at);
	put_regs(a, b, &g->to);
	put_xsave(s, g->xsave, g->nxsave);
	if (flag == WS_H_ICOUNT)
		buf_varint(b, g->icount);
	if (flag & WS_H_STACK) {
		buf_varint(b, g->nstack);
		buf_add(&s[WS_S_DATA], g->stack, g->nstack);
	}
	if (flag & WS_H_WORDS) {
		buf_varint(b, g->nwords);
		buf_add(&s[WS_S_DATA], g->words, g->nwords * WS_SIGWORD);
	}
}

static void
put_rand(struct buf *b, const struct ws_rec_rand *d)
{
	buf_u8(b, (uint8_t)(WS_RAND | d->insn << 4 | (d->failed ? WS_H_FAILED : 0)));
	if (!d->failed)
		buf_varint(b, d->value);
}

void
ws_encode(struct ws_history *a, struct buf *s, const struct ws_rec *r)
{
	struct buf *b = &s[WS_S_CONTROL];

	switch (r->kind) {
	case WS_START: case WS_KEY: put_state(a, s, r); return;
	case WS_MAP: put_map(a, b, &r->u.map); return;
	case WS_UNMAP: case WS_PROT: put_range(a, b, r); return;
	case WS_MOVE: put_move(b, &r->u.move); return;
	case WS_MEM: put_mem(a, b, &r->u.mem); return;
	case WS_SYS: put_sys(a, s, &r->u.sys); return;
	case WS_TSC: put_tsc(a, b, &r->u.tsc); return;
	case WS_CPUID: put_cpuid(b, &r->u.cpuid); return;
	case WS_SIG: put_sig(a, s, &r->u.sig); return;
	case WS_RAND: put_rand(b, &r->u.rand); return;
	default: break;
	}
	buf_u8(b, (uint8_t)r->kind);
	if (r->kind == WS_END) {
		buf_varint(b, r->u.end.how);
		buf_varint(b, r->u.end.status);
		buf_varint(b, r->u.end.icount + 1);
	} else if (r->kind == WS_TIME)
		buf_varint(b, r->u.time);
	else if (r->kind == WS_NOTE)
		put_bytes(b, r->u.note ? r->u.note : "", r->u.note ? strlen(r->u.note) : 0);
}
