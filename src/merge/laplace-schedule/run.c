/*
 * Processors, whose queues of tasks are served by turns. In the one stream, a processor goes on for a grain, then the
 * next one does; so all of them are equally fast.
 */
#include "merge/laplace-schedule/schedule.h"

#include <stdlib.h>

#include "base/diag.h"
#include "base/mem.h"

/* xorshift64* */
static uint64_t
random_below(struct schedule *s, uint64_t n)
{
	s->random ^= s->random >> 12;
	s->random ^= s->random << 25;
	s->random ^= s->random >> 27;
	return (s->random * UINT64_C(0x2545f4914f6cdd1d) >> 32) % n;
}

static void
queue_put(struct processor *p, size_t task)
{
	if (p->n == p->room) {
		size_t room = p->room ? 2 * p->room : 16;
		size_t *q = xcalloc(room, sizeof *q);

		for (size_t i = 0; i < p->n; i++)
			q[i] = p->queue[(p->head + i) % p->room];
		free(p->queue);
		p->queue = q;
		p->head = 0;
		p->room = room;
	}
	p->queue[(p->head + p->n++) % p->room] = task;
}

/* The task that comes next: the first, or a random one, whose place the first then takes */
static size_t
queue_take(struct schedule *s, struct processor *p)
{
	size_t *first = &p->queue[p->head], *which = first, task;

	if (s->o.order == ORDER_RANDOM)
		which = &p->queue[(p->head + random_below(s, p->n)) % p->room];
	task = *which;
	*which = *first;
	p->head = (p->head + 1) % p->room;
	p->n--;
	return task;
}

/*
 * The queue that the processor takes tasks from. Where tasks migrate, that is the one of all processors, which comes
 * after theirs; its own then has those that it has replaced in this round. No other may run these: it would be at the
 * same time.
 */
static struct processor *
queue_of(struct schedule *s, struct processor *p)
{
	struct processor *all = &s->processor[s->o.processors];

	return s->o.migrate && (all->n || !p->n) ? all : p;
}

/* A task that may begin comes to the processor that has the fewest. */
static void
task_arrive(struct schedule *s, size_t task)
{
	struct processor *p = s->processor;
	struct task *t = &s->tasks.task[task];

	for (uint64_t i = 1; i < s->o.processors; i++)
		if (s->processor[i].ntask < p->ntask)
			p = &s->processor[i];
	if (s->o.migrate)
		p = &s->processor[s->o.processors];
	t->begun = 1;
	p->ntask++;
	queue_put(p, task);
}

/* Reads the next record of the task, of the next of its traces if one ends: 1; 0 after the last one; -1 */
static int
task_next(struct schedule *s, struct task *t)
{
	int got;

	if (!t->cursor) {
		t->cursor = xcalloc(1, sizeof *t->cursor);
		t->cursor->trace = s->tasks.trace[t->first];
	}
	while ((got = lap_cursor_next(s->q, t->cursor)) == 0 && ++t->at < t->n)
		*t->cursor = (struct lap_cursor){ .trace = s->tasks.trace[t->first + t->at] };
	if (got == 0) {
		free(t->cursor);
		t->cursor = NULL;
	}
	return got;
}

static void
task_begin(struct schedule *s, struct processor *p)
{
	uint64_t number = (uint64_t)(p - s->processor);
	struct task *t;

	p->now = queue_take(s, queue_of(s, p));
	p->left = s->o.quantum.n;
	t = &s->tasks.task[p->now];
	if (p->now != p->before) {
		p->switches++;
		t->switches++;
	}
	p->before = p->now;
	if (t->processor != number && t->processor != ALL) {
		p->migrations++;
		t->migrations++;
	}
	t->processor = number;
}

/* A record that is no reference: a fork lets another task begin. */
static void
event_take(struct schedule *s, const struct lap_cursor *c)
{
	size_t child = tasks_forked(&s->tasks, s->q->f, c->trace, &c->item.event);

	if (child != NONE && !s->tasks.task[child].begun)
		task_arrive(s, child);
}

/* The rest of a fetch that crosses the end of a page, which is a reference of its own */
static int
is_rest(const struct lap_touch *a, const struct lap_touch *b)
{
	return a->type == b->type && a->time == b->time && a->page + 1 == b->page &&
	    (b->at ? b->at == 1 && a->at - 1u + a->len == 1u << LAP_PAGEBITS : 1);
}

static int
is_fetch(const struct lap_touch *t)
{
	return lap_types[t->type] == 'i' || lap_types[t->type] == 'I';
}

static void
count_touch(struct task *t, struct processor *p, const struct lap_touch *v, int fetch)
{
	t->last = *v;
	t->refs++;
	t->instructions += (uint64_t)fetch;
	p->refs++;
	p->instructions += (uint64_t)fetch;
}

/*
 * Runs the task of the processor for at most n units of the grain, and not beyond its quantum. *n is what is left.
 * 1: the task can go on; 2: another one has its turn; 0: it ended; -1. A task that stops before a record has it in its cursor still.
 */
static int
task_run(struct schedule *s, struct processor *p, uint64_t *n)
{
	struct task *t = &s->tasks.task[p->now];
	int shown = s->o.only == ALL || s->o.only == (uint64_t)(p - s->processor);
	const struct turns q = s->o.quantum, g = s->o.grain;

	if (shown)
		emit_switch(s->emit, s->tasks.trace[t->first], (uint64_t)(p - s->processor));
	for (;;) {
		int got = t->stopped ? 1 : task_next(s, t), fetch;
		struct lap_cursor *c = t->cursor;

		t->stopped = 0;
		if (got <= 0)
			return got;
		if (c->item.isevent) {
			event_take(s, c);
			continue;
		}
		fetch = is_fetch(&c->item.touch) && !is_rest(&t->last, &c->item.touch);
		t->stopped = 1;
		if (!p->left && (fetch || !q.instructions))
			return 2;
		if (!*n && (fetch || !g.instructions))
			return 1;
		t->stopped = 0;
		p->left -= q.instructions ? (uint64_t)fetch : 1;
		*n -= g.instructions ? (uint64_t)fetch : 1;
		count_touch(t, p, &c->item.touch, fetch);
		if (shown && emit_touch(s->emit, c) != 0)
			return -1;
	}
}

/* A processor's turn: 1: it did something; 0: there is nothing to do; -1 */
static int
processor_turn(struct schedule *s, struct processor *p)
{
	uint64_t n = s->o.grain.n;
	int busy = 0;

	while (n && (p->now != NONE || queue_of(s, p)->n)) {
		int got;

		if (p->now == NONE)
			task_begin(s, p);
		busy = 1;
		got = task_run(s, p, &n);
		if (got < 0)
			return -1;
		if (got == 1)
			break;
		if (got)
			queue_put(p, p->now);
		else if (!s->o.migrate)
			p->ntask--;
		p->now = NONE;
	}
	return busy;
}

/* A round is over: any processor may run what was replaced in it. */
static void
round_end(struct schedule *s)
{
	struct processor *all = &s->processor[s->o.processors];

	for (struct processor *p = s->processor; p < all; p++)
		for (; p->n; p->n--, p->head = (p->head + 1) % p->room)
			queue_put(all, p->queue[p->head]);
}

/* Nothing can run, but tasks are left, whose forks are not where they should be: the first of them begins. */
static int
begin_one(struct schedule *s)
{
	while (s->waiting < s->tasks.n && s->tasks.task[s->waiting].begun)
		s->waiting++;
	if (s->waiting == s->tasks.n)
		return 0;
	task_arrive(s, s->waiting);
	return 1;
}

int
schedule_run(struct schedule *s)
{
	int busy, got = 0;

	for (size_t i = 0; i < s->tasks.narrival; i++)
		task_arrive(s, s->tasks.arrival[i]);
	do {
		busy = 0;
		for (uint64_t i = 0; i < s->o.processors; i++) {
			got = processor_turn(s, &s->processor[i]);
			if (got < 0)
				return -1;
			busy |= got;
		}
		if (s->o.migrate)
			round_end(s);
	} while (busy || begin_one(s));
	return 0;
}

int
schedule_recorded(struct schedule *s)
{
	const struct lap_folder *f = s->q->f;
	struct processor *p = s->processor;
	struct lap_order o;
	struct lap_cursor *c;
	const struct lap_trace *now = NULL;
	struct task *t = NULL;
	int got = lap_order_init(&o, s->q, s->o.kernel);

	while (got >= 0 && (got = lap_order_next(&o, &c)) > 0) {
		int fetch;

		if (c->item.isevent)
			continue;
		if (c->trace != now) {
			t = &s->tasks.task[c->trace - f->trace];
			if (!now || now->pid != c->trace->pid || now->kernel != c->trace->kernel) {
				p->switches++;
				t->switches++;
				emit_switch(s->emit, c->trace, 0);
			}
			now = c->trace;
		}
		fetch = is_fetch(&c->item.touch) && !is_rest(&t->last, &c->item.touch);
		count_touch(t, p, &c->item.touch, fetch);
		if (emit_touch(s->emit, c) != 0)
			got = -1;
	}
	lap_order_free(&o);
	return got;
}
