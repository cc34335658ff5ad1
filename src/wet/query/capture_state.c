/* Queries of a capture: registers and memory at a place, and what debugging information says of them. */
#include "replay/guest/drive.h"
#include "wet/query/capture_internal.h"

struct state { struct qcap *cap; struct replay *r; };

static int
state_read(void *arg, uint64_t addr, void *p, size_t n)
{
	const struct state *t = arg;

	return t->r && replay_read(t->r, addr, p, n) == n ? 0 : -1;
}

static int
state_file(void *arg, uint64_t pc, struct exe **x, uint64_t *addr)
{
	const struct state *t = arg;

	return wsource_file(t->cap->source, pc, x, addr);
}

static int
state_next(void *arg, size_t *at, struct exe **x, uint64_t *bias)
{
	const struct state *t = arg;

	return wsource_next(t->cap->source, at, x, bias);
}

/* Runs up to before position n and calls fn: what it returned, or -1. */
static int
state_at(struct query *q, struct state *t, uint64_t n, query_state_fn *fn, void *arg)
{
	const struct debug_machine m = { .read = state_read, .file = state_file, .arg = t, .next = state_next };
	struct query_state s = { .n = n, .machine = &m };

	if (visit_goto_whole(t->cap->trace, n) == REPLAY_OK) {
		s.icount = replay_icount(t->r);
		s.regs = replay_regs(t->r);
		s.xsave = replay_xsave(t->r);
		return fn(arg, &s);
	}
	if (drive_ended(t->r) == REPLAY_BAD)
		return qcap_fail_at(t->cap, replay_fault(t->r));
	return query_fail(q, "no instance @%llu", (unsigned long long)n);
}

int
qcap_states(struct query *q, const uint64_t *n, size_t count, query_state_fn *fn, void *arg)
{
	struct qcap *cap = q->cap;
	struct state t = { .cap = cap };
	int got = 0;

	qcap_look(cap);
	if (qcap_open_trace(cap, VISIT_CONTROL) != 0)
		return -1;
	t.r = visit_replay(cap->trace);
	visit_set_record_fn(cap->trace, NULL, NULL);
	visit_until(cap->trace, WS_UNKNOWN);
	for (size_t i = 0; i < count && got == 0; i++)
		got = state_at(q, &t, n[i], fn, arg);
	return got;
}

int
qcap_place(struct query *q, uint64_t pc, struct debug_frame *f)
{
	static struct state t;
	static const struct debug_machine m = { .read = state_read, .file = state_file, .arg = &t };

	t.cap = q->cap;
	qcap_look(q->cap);
	f->m = &m;
	f->reg[DEBUG_RIP] = pc;
	f->known |= 1u << DEBUG_RIP;
	debug_locate(f, 1);
	return f->x ? 0 : -1;
}
