/*
 * The executed instructions of a capture, or of a part of it, for the formats that need more of them
 * than their references.
 */
#ifndef TM_INSNS_INSNS_H
#define TM_INSNS_INSNS_H

#include <stdint.h>

#include "base/fault.h"
#include "replay/itrace/itrace.h"

/*
 * Instructions that were executed one after the other; the batch's words are at `word`. Only the last
 * one can be a string instruction: it is executed once for each of its iterations, of which those from
 * `from` up to before `to` are here. For any other these are 0 and 1.
 */
struct insns_span {
	struct visit_run run;
	const uint64_t *word;
	uint64_t next;          /* where control went after it, before a signal came; 0: not known */
	uint32_t from, to;
	/* it continues the string instruction at which the span before it ended */
	int again;
	uint64_t sys;           /* if it ends with a system call, its number */
	uint64_t rip;           /* of a signal: where the program was; 0: not known */
	uint32_t thread;        /* that it is of, from 1; of a switch, the one that continues */
	int switches;           /* it is a switch to another thread; then insns_signal is true */
};

/* Is it the arrival of a signal, the return from its handler, or a switch of threads, and no instruction? */
static inline int
insns_signal(const struct insns_span *s)
{
	return s->run.at->fact->kind == FACT_SIGNAL;
}

/* The instruction executed after instruction i of a span. */
static inline uint64_t
insns_next(const struct insns_span *s, uint32_t i)
{
	return i + 1u < s->run.ninsn ? s->run.at[i + 1].fact->pc : s->next;
}

/* How many instructions were executed, each iteration counted. */
static inline uint64_t
insns_count(const struct insns_span *s)
{
	return s->run.ninsn - 1u + (uint64_t)(s->to - s->from);
}

struct insns {
	const char *path;       /* of the capture; NULL: standard input */
	uint64_t from, to;      /* the part that is wanted, in instructions; to WS_UNKNOWN: to the end */
	int values;             /* references and values are needed, not only the flow of control */
	uint32_t thread;        /* only its instructions, and no switches; 0: those of all threads */
	int tells;              /* the format tells threads apart, or has no need to */
	unsigned what;          /* then, a set of VISIT_WRITERS, VISIT_FLAGS and VISIT_MEMORY */
	void (*begin)(void *arg, struct replay *r);     /* before the first span; or NULL */
	void (*take)(void *arg, const struct insns_span *s);
	void (*map)(void *arg, const struct ws_rec_map *m);     /* a file is mapped executable; or NULL */
	/* after the last span, also before a fault, while the memory of the program can be read; or NULL */
	void (*end)(void *arg, struct replay *r);
	void *arg;
	/* what the user should know: a file has no names, or threads are not told apart; or NULL */
	void (*complain)(const char *text);
};

/*
 * Gives all spans to take. 0; or -1 with *f, after all spans before the fault. *early is set if the
 * capture ends before its program. If the thread that is wanted executes nothing there, this is a fault.
 */
int insns_run(const struct insns *q, struct ws_early *early, struct fault *f);

enum branch_kind {
	BRANCH_NONE, BRANCH_COND, BRANCH_JUMP, BRANCH_JUMP_IND, BRANCH_CALL, BRANCH_CALL_IND, BRANCH_RETURN,
	BRANCH_KINDS
};
extern const char *const branch_name[BRANCH_KINDS];

/* An instruction as the formats see it; kept for each fact, by its id. */
struct insns_kind {
	uint8_t kind;           /* enum branch_kind, and 1 more: 0 is not known yet */
	uint8_t per;            /* references of an iteration of a string instruction */
	uint8_t repeats;        /* it is a string instruction with a repeat prefix */
	uint8_t syscall;
	uint8_t gathers;                /* its references are elements at places of their own */
	uint64_t target;        /* of a direct branch */
};
struct insns_kinds {
	struct insns_kind *k;   /* owned */
	size_t n;
};
void insns_decode(const struct fact *f, struct insns_kind *k);
const struct insns_kind *insns_kind_new(struct insns_kinds *t, const struct fact *f);

/* The pointer is valid until the next call for another instruction. */
static inline const struct insns_kind *
insns_kind(struct insns_kinds *t, const struct fact *f)
{
	return f->id < t->n && t->k[f->id].kind ? &t->k[f->id] : insns_kind_new(t, f);
}

/* Grows a zeroed table that is indexed by the ids of facts, so that it has element `id`. */
void *insns_table(void *p, size_t *n, uint32_t id, size_t size);

#endif
