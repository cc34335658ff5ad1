/* Types and functions shared by the files of laplace-schedule. */
#ifndef TM_MERGE_LAPLACE_SCHEDULE_H
#define TM_MERGE_LAPLACE_SCHEDULE_H

#include "base/out.h"
#include "format/ref/ref.h"
#include "laplace/traces.h"

enum order { ORDER_ROUND, ORDER_RANDOM, ORDER_RECORDED };
enum address { ADDRESS_MEMORY, ADDRESS_FRAMES, ADDRESS_VIRTUAL };

struct turns {                  /* N references or instructions */
	uint64_t n;
	int instructions;
};

#define PROCESSORS_MAX 1024u
#define ALL UINT64_MAX          /* processors */

struct options {
	enum order order;
	enum address address;
	enum ref_format format;
	struct turns quantum, grain;
	uint64_t processors, seed, only;
	int migrate, kernel, by_processor, count, json;
};

/* emit.c: the references of the schedule as a reference stream */
struct emit {
	struct out *out;                /* borrowed; NULL: nothing is written */
	const struct options *o;
	struct lap_folder *folder;      /* has the fault after -1 */
	struct frames *frames;
	uint64_t now;                   /* task or processor of the last event */
	size_t n;
	uint64_t w[4096];
};
void emit_begin(struct emit *e, const struct options *o, struct lap_folder *f, struct out *out);
/* What follows is of this task, on this processor. */
void emit_switch(struct emit *e, const struct lap_trace *t, uint64_t processor);
int emit_touch(struct emit *e, const struct lap_cursor *c);             /* 0, or -1 */
void emit_end(struct emit *e);                  /* writes what is in the buffer */

/* tasks.c: tasks, each of one or more traces, and who begets whom */
#define NONE SIZE_MAX
struct task {
	size_t first, n;                /* its traces: tasks.trace[first], ... */
	size_t at;                      /* the one that is read */
	size_t parent;                  /* a trace of the task that forks it; NONE: nobody */
	uint64_t forked;                /* when it does so */
	int begun;
	int stopped;                    /* the record in the cursor was not taken yet */
	struct lap_cursor *cursor;      /* owned; NULL: not begun, or ended */
	struct lap_touch last;
	uint64_t processor;             /* where it ran last; ALL: nowhere yet */
	uint64_t refs, instructions, switches, migrations;
};
struct tasks {
	struct task *task;              /* by number, then by time; owned */
	size_t n;
	const struct lap_trace **trace; /* in the same order; owned */
	size_t *arrival;                /* tasks without a parent, by time; owned */
	size_t narrival;
};
void tasks_begin(struct tasks *s, struct lap_reader *q);
/* the task that this record of the trace forks; NONE: none that is there */
size_t tasks_forked(const struct tasks *s, const struct lap_folder *f, const struct lap_trace *t,
    const struct lap_event *e);
/* For the recorded order: a task for each trace, by its number */
void tasks_of_traces(struct tasks *s, const struct lap_folder *f);
void tasks_end(struct tasks *s);

/* run.c: processors and their queues */
struct processor {
	size_t *queue;                  /* a ring of tasks; owned */
	size_t head, n, room;
	size_t now;                     /* the task that runs; NONE */
	size_t before;                  /* the one that ran before; NONE */
	size_t ntask;                   /* tasks that are in its queue or run */
	uint64_t left;                  /* of the quantum */
	uint64_t refs, instructions, switches, migrations;
};
struct schedule {
	struct options o;
	struct lap_reader *q;
	struct emit *emit;
	struct tasks tasks;
	struct processor *processor;    /* owned; after the last one, one that only has the queue of all */
	uint64_t random;
	size_t waiting;                 /* no task before this one still has to begin */
};
int schedule_run(struct schedule *s);           /* 0, or -1 with the fault of the folder */
int schedule_recorded(struct schedule *s);
void schedule_print(const struct schedule *s, struct out *out);
void schedule_json(const struct schedule *s, struct out *out);

#endif
