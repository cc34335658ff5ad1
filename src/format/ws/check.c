/* Captures: which records are valid, and in which order; for writer and reader. */
#include <string.h>

#include "format/ws/ws_internal.h"

static const char *
check_range(uint64_t addr, uint64_t len)
{
	if ((addr | len) % WS_PAGE)
		return "a mapping that does not consist of whole pages";
	if (!len || addr + (len - 1) < addr)
		return "a range that is empty or wraps around";
	return NULL;
}

static const char *
check_map(const struct ws_rec_map *m)
{
	if (m->type >= WS_NMAPS)
		return "unknown type of mapping";
	if (m->flags & ~(uint32_t)(WS_SHARED | WS_GROWS))
		return "unknown flags of a mapping";
	if (m->prot > 7)
		return "unknown protection";
	if (m->name && strnlen(m->name, WS_STR_MAX + 1) > WS_STR_MAX)
		return "the name of a mapping is too long";
	if (m->nid > WS_ID_MAX)
		return "a build id is too long";
	return check_range(m->addr, m->len);
}

static const char *
check_move(const struct ws_rec_move *m)
{
	const char *e = check_range(m->from, m->oldlen);

	return e ? e : check_range(m->to, m->newlen);
}

static const char *
check_end(const struct ws_rec_end *e)
{
	if (e->how >= WS_NHOWS)
		return "unknown way to end";
	if (e->how == WS_EXITED ? e->status > 255 : e->how == WS_KILLED ? e->status < 1 ||
	    e->status > 64 : e->status)
		return "status that the way to end does not have";
	return NULL;
}

const char *
ws_check(const struct ws_rec *r)
{
	switch (r->kind) {
	case WS_START:
	case WS_KEY:
		if (r->u.state.thread > (r->kind == WS_KEY ? WS_THREADS_MAX : 0))
			return "no such thread";
		return r->u.state.nxsave > WS_XSAVE_MAX ? "a processor state that is too long" : NULL;
	case WS_MAP:
		return check_map(&r->u.map);
	case WS_PROT:
		if (r->u.range.prot > 7)
			return "unknown protection";
		/* fall through */
	case WS_UNMAP:
		return check_range(r->u.range.addr, r->u.range.len);
	case WS_MOVE:
		return check_move(&r->u.move);
	case WS_MEM:
		return !r->u.mem.n || r->u.mem.addr + (r->u.mem.n - 1) < r->u.mem.addr ?
		    "a range that is empty or wraps around" : NULL;
	case WS_SIG:
		if (r->u.sig.sig > WS_SWITCH)
			return "no such signal";
		if ((r->u.sig.sig == WS_SWITCH) != (r->u.sig.thread != 0) || r->u.sig.thread > WS_THREADS_MAX)
			return "no such thread";
		if (r->u.sig.nstack > WS_SIGSTACK)
			return "more stack than a signal is found by";
		if (r->u.sig.nwords > WS_SIGWORDS)
			return "more memory than a signal is found by";
		return r->u.sig.nxsave > WS_XSAVE_MAX ? "a processor state that is too long" : NULL;
	case WS_TSC:
		return r->u.tsc.aux && !r->u.tsc.has_aux ? "rdtsc does not give aux" : NULL;
	case WS_RAND:
		if (r->u.rand.insn >= WS_NRANDOMS)
			return "no such instruction";
		return r->u.rand.failed && (r->u.rand.value || r->u.rand.insn == WS_RDPID) ?
		    "a failure that gives a value" : NULL;
	case WS_TIME:
		return r->u.time < WS_TIME_LEAST ||
		    r->u.time > WS_TIME_MAX ? "a time that is not told" : NULL;
	case WS_END:
		return check_end(&r->u.end);
	case WS_NOTE:
		return r->u.note && strnlen(r->u.note, WS_STR_MAX + 1) > WS_STR_MAX ? "a note is too long" :
		    NULL;
	case WS_SYS:
	case WS_CPUID:
	case WS_KEYEND:
		return NULL;
	default:
		return "unknown kind of record";
	}
}

const char *
ws_check_order(struct ws_check_order *f, enum ws_kind kind, int first)
{
	if (f->ended)
		return "a record after the end";
	if ((kind == WS_START) == f->started)
		return f->started ? "a second start" : "the first record is not a start";
	if (kind == WS_KEY && (f->inkey || !first))
		return "a keyframe that does not begin a group";
	if (kind == WS_KEYEND && !f->inkey)
		return "the end of a keyframe that did not begin";
	if (f->inkey && kind != WS_MAP && kind != WS_MEM && kind != WS_NOTE && kind != WS_KEYEND)
		return "a keyframe has only mappings and memory";
	f->started = 1;
	f->inkey = kind == WS_KEY || (f->inkey && kind != WS_KEYEND);
	f->ended = kind == WS_END;
	return NULL;
}
