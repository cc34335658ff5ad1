/* Profiles: counts of instructions, calls and their returns. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cfg/control.h"
#include "insns/profile.h"

/* What an instruction does to the stack of calls. */
enum { DOES_UNKNOWN, DOES_NOTHING, DOES_CALL, DOES_RETURN, DOES_JUMP, DOES_STACK };

/* The number of the function that pc is in. */
static uint32_t
profile_func(struct profile *p, const struct fact *f)
{
	const char *file, *name, *object;
	uint32_t h, at, i;
	int line;

	wsource_find(p->source, f->pc, f->b, f->len, &file, &name, &line);
	object = wsource_object(p->source, f->pc);
	h = at = hash_number((uint64_t)(uintptr_t)(name ? name : object) + (name != NULL));
	while ((i = hash_find(&p->by_name, h, &at)) != HASH_NONE &&
	    (p->func[i].name != name || p->func[i].object != object))
		;
	if (i != HASH_NONE)
		return i;
	p->func = mem_xgrow(p->func, &p->capfunc, p->nfunc + 1, sizeof *p->func);
	p->func[p->nfunc] = (struct profile_func){ f->pc, name, object };
	hash_xadd(&p->by_name, h, (uint32_t)p->nfunc);
	return (uint32_t)p->nfunc++;
}

static void
profile_insn_new(struct profile *p, const struct fact *f)
{
	struct profile_insn *in;
	struct insns_kind k;

	if (f->id >= p->ninsn)
		p->insn = insns_table(p->insn, &p->ninsn, f->id, sizeof *p->insn);
	in = &p->insn[f->id];
	in->pc = f->pc;
	in->func = profile_func(p, f);
	in->sp = FACT_NOVALUE;
	for (unsigned i = 0; i < f->ndef; i++)
		if (f->def[i].reg == X86_RSP)
			in->sp = f->def[i].val;
	insns_decode(f, &k);
	switch (k.kind - 1) {
	case BRANCH_NONE:
		in->does = in->sp != FACT_NOVALUE && control_moves_stack(f) ? DOES_STACK : DOES_NOTHING;
		break;
	case BRANCH_CALL: case BRANCH_CALL_IND:
		in->does = DOES_CALL;
		break;
	case BRANCH_RETURN:
		in->does = DOES_RETURN;
		break;
	default:
		in->does = DOES_JUMP;
	}
}

/* The edge from instruction `site` to a function. */
static uint32_t
profile_edge(struct profile *p, uint32_t site, uint32_t func)
{
	uint32_t h = hash_number((uint64_t)site << 32 | func), at = h, i;

	while ((i = hash_find(&p->by_call, h, &at)) != HASH_NONE &&
	    (p->edge[i].site != site || p->edge[i].func != func))
		;
	if (i != HASH_NONE)
		return i;
	p->edge = mem_xgrow(p->edge, &p->capedge, p->nedge + 1, sizeof *p->edge);
	p->edge[p->nedge] = (struct profile_edge){ .site = site, .func = func };
	hash_xadd(&p->by_call, h, (uint32_t)p->nedge);
	return (uint32_t)p->nedge++;
}

/* The node of a function that `parent` calls. A function that calls itself has one. */
static uint32_t
profile_node(struct profile *p, uint32_t parent, uint32_t func)
{
	uint32_t h = hash_number((uint64_t)parent << 32 | func), at = h, i;

	if (parent != PROFILE_NONE &&
	    (p->node[parent].func == func || p->node[parent].depth == PROFILE_DEEPEST))
		return parent;
	while ((i = hash_find(&p->by_parent, h, &at)) != HASH_NONE &&
	    (p->node[i].parent != parent || p->node[i].func != func))
		;
	if (i != HASH_NONE)
		return i;
	p->node = mem_xgrow(p->node, &p->capnode, p->nnode + 1, sizeof *p->node);
	p->node[p->nnode] = (struct profile_node){ parent, func,
	    parent == PROFILE_NONE ? 1 : p->node[parent].depth + 1, 0 };
	hash_xadd(&p->by_parent, h, (uint32_t)p->nnode);
	return (uint32_t)p->nnode++;
}

static struct profile_frame *
profile_top(struct profile *p)
{
	return &p->now.frame[p->now.nframe - 1];
}

/* What was executed since the last change of the top node belongs to it. */
static void
profile_settle(struct profile *p)
{
	p->node[profile_top(p)->node].self += p->total - p->since;
	p->since = p->total;
}

static void
profile_push(struct profile *p, uint64_t sp, uint32_t site, uint32_t func)
{
	uint32_t parent = PROFILE_NONE;

	if (p->now.nframe) {
		profile_settle(p);
		parent = profile_top(p)->node;
	}
	p->now.frame = mem_xgrow(p->now.frame, &p->now.capframe, p->now.nframe + 1, sizeof *p->now.frame);
	p->now.frame[p->now.nframe++] = (struct profile_frame){ sp, p->total - p->now.away,
	    site == PROFILE_NONE ? PROFILE_NONE : profile_edge(p, site, func),
	    profile_node(p, parent, func) };
}

static void
profile_pop(struct profile *p)
{
	struct profile_frame *t = profile_top(p);

	profile_settle(p);
	if (t->edge != PROFILE_NONE) {
		p->edge[t->edge].calls++;
		p->edge[t->edge].cost += p->total - p->now.away - t->start;
	}
	p->now.nframe--;
}

/* Ends the frames whose return address is below sp. */
static void
profile_above(struct profile *p, uint64_t sp)
{
	while (p->now.nframe > 1 && profile_top(p)->sp < sp)
		profile_pop(p);
}

/* The function in which a frame is. */
static uint32_t
profile_frame_func(const struct profile *p, const struct profile_frame *t)
{
	return t->edge == PROFILE_NONE ? p->node[t->node].func : p->edge[t->edge].func;
}

/* Control is in another function without a call: it was jumped to, or is returned to by a jump. */
static void
profile_jumped(struct profile *p, uint32_t func)
{
	uint64_t sp = profile_top(p)->sp;
	size_t n = p->now.nframe;

	while (n && p->now.frame[n - 1].sp == sp && profile_frame_func(p, &p->now.frame[n - 1]) != func)
		n--;
	if (!n || p->now.frame[n - 1].sp != sp)
		profile_push(p, sp, p->now.site, func);
	else
		while (p->now.nframe > n)
			profile_pop(p);
}

/* Control has come to an instruction of `func` in another way than from the one before it. */
static void
profile_arrive(struct profile *p, uint32_t func)
{
	/* where the run begins, or returns to from where it began */
	if (p->now.nframe == 1 && p->now.pending == DOES_RETURN && profile_frame_func(p, profile_top(p)) != func)
		profile_pop(p);
	if (!p->now.nframe)
		profile_push(p, UINT64_MAX, PROFILE_NONE, func);
	else if (p->now.pending == DOES_CALL) {
		profile_above(p, p->now.sp + 1);
		profile_push(p, p->now.sp, p->now.site, func);
	} else if (profile_frame_func(p, profile_top(p)) != func)
		profile_jumped(p, func);
	p->now.pending = 0;
}

/* A signal's handler is called by the instruction before it; after its return, that goes on. */
static void
profile_signal(struct profile *p, const struct insns_span *s)
{
	const uint64_t *w = s->word + s->run.word;

	if (!p->now.nframe)
		return;
	if (w[0]) {
		p->now.sp = w[1];
		p->now.pending = DOES_CALL;
	} else {
		profile_above(p, w[1]);
		p->now.pending = DOES_JUMP;
	}
}

/* The index of a thread. */
static uint32_t
profile_thread(struct profile *p, uint32_t thread)
{
	uint32_t h = hash_number(thread), at = h, i;

	while ((i = hash_find(&p->by_thread, h, &at)) != HASH_NONE && p->other[i].thread != thread)
		;
	if (i != HASH_NONE)
		return i;
	p->other = mem_xgrow(p->other, &p->capother, p->nother + 1, sizeof *p->other);
	p->other[p->nother] = (struct profile_thread){ .thread = thread, .calls.pending = DOES_JUMP };
	hash_xadd(&p->by_thread, h, (uint32_t)p->nother);
	return (uint32_t)p->nother++;
}

/* Another thread continues. */
static void
profile_switch(struct profile *p, uint32_t thread)
{
	uint32_t from = profile_thread(p, p->thread), to = profile_thread(p, thread);

	if (p->now.nframe)
		profile_settle(p);
	p->now.away = p->total - p->now.away;
	p->other[from].calls = p->now;
	p->now = p->other[to].calls;
	/* those of the thread that runs are in one place only */
	p->other[to].calls = (struct profile_calls){ 0 };
	p->now.away = p->total - p->now.away;
	p->since = p->total;
	p->thread = thread;
}

static inline void
profile_act(struct profile *p, const struct profile_insn *in, const struct insns_span *s, uint32_t i)
{
	uint64_t sp = 0;

	if (in->sp != FACT_NOVALUE)
		sp = s->word[visit_insn(&s->run, i).val + in->sp];
	p->now.site = (uint32_t)(in - p->insn);
	if (in->does == DOES_CALL)
		p->now.sp = sp;
	else if (in->does != DOES_JUMP)
		profile_above(p, sp);
	if (in->does != DOES_STACK)
		p->now.pending = in->does;
}

static void
profile_take(void *arg, const struct insns_span *s)
{
	struct profile *p = arg;

	if (s->switches) {
		profile_switch(p, s->thread);
		return;
	}
	p->thread = s->thread;
	if (insns_signal(s)) {
		profile_signal(p, s);
		return;
	}
	for (uint32_t i = 0; i < s->run.ninsn; i++) {
		const struct fact *f = s->run.at[i].fact;
		struct profile_insn *in;
		uint64_t n = i + 1u < s->run.ninsn ? 1 : s->to - s->from;

		if (f->id >= p->ninsn || !p->insn[f->id].does)
			profile_insn_new(p, f);
		in = &p->insn[f->id];
		if (p->now.pending)
			profile_arrive(p, in->func);
		in->count += n;
		p->total += n;
		if (in->does != DOES_NOTHING)
			profile_act(p, in, s, i);
	}
}

static void
profile_map(void *arg, const struct ws_rec_map *m)
{
	struct profile *p = arg;

	(void)wsource_map(p->source, m);        /* without memory, this file has no names */
}

static void
profile_end(void *arg, struct replay *r)
{
	const struct ws_header *h = replay_header(r);
	struct profile *p = arg;
	size_t n = 1, at = 0;

	while (p->now.nframe)
		profile_pop(p);
	for (size_t i = 0; i < p->nother; i++)
		if (p->other[i].calls.nframe) {
			profile_switch(p, p->other[i].thread);
			while (p->now.nframe)
				profile_pop(p);
		}
	for (size_t i = 0; i < h->argc; i++)
		n += strlen(h->argv[i]) + 1;
	p->command = xcalloc(n, 1);
	for (size_t i = 0; i < h->argc; i++)
		for (const char *c = h->argv[i]; *c || i + 1 < h->argc; c++) {
			p->command[at++] = *c > ' ' && *c < 127 ? *c : *c ? '?' : ' ';
			if (!*c)
				break;
		}
}

int
profile_run(struct profile *p, const struct insns *q, struct ws_early *early, struct fault *f)
{
	struct insns mine = *q;
	const char *why;
	int bad;

	mine.tells = 1;
	mine.values = 1;
	mine.arg = p;
	mine.take = profile_take;
	mine.map = profile_map;
	mine.end = profile_end;
	memset(p, 0, sizeof *p);
	p->now.pending = DOES_JUMP;
	p->source = wsource_new(q->path);
	if (!p->source) {
		fault_set(f, WS_UNKNOWN, WS_UNKNOWN, "no memory");
		return -1;
	}
	bad = insns_run(&mine, early, f);
	while (q->complain && (why = wsource_complaint(p->source)) != NULL)
		q->complain(why);
	return bad;
}

void
profile_free(struct profile *p)
{
	free(p->command);
	free(p->insn);
	free(p->func);
	free(p->edge);
	free(p->node);
	free(p->now.frame);
	for (size_t i = 0; i < p->nother; i++)
		free(p->other[i].calls.frame);
	free(p->other);
	hash_free(&p->by_name);
	hash_free(&p->by_call);
	hash_free(&p->by_parent);
	hash_free(&p->by_thread);
	wsource_free(p->source);
}
