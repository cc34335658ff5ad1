/*
 * What a profile of a run has: how often each instruction was executed, and the calls.
 *
 * Calls are matched with their returns by the stack pointer: a frame is the address of its return
 * address, and ends as soon as the stack pointer is above it. So longjmp, exceptions and handlers
 * of signals end what they leave. A jump into another function is a call from there that ends
 * together with the call of the function that jumped.
 */
#ifndef TM_INSNS_PROFILE_H
#define TM_INSNS_PROFILE_H

#include "base/hash.h"
#include "cfg/source.h"
#include "insns/insns.h"

#define PROFILE_NONE UINT32_MAX
#define PROFILE_DEEPEST 500u    /* functions of a chain of calls; what is deeper counts for the last one */

/* An instruction; they are numbered as their facts. does 0: there is none of this number. */
struct profile_insn {
	uint64_t pc, count;
	uint32_t func;
	uint8_t does, sp;               /* internal to profile.c */
};

/* A function, or what is between the functions of a file: then name is NULL. */
struct profile_func {
	uint64_t pc;                    /* its first instruction that was executed */
	const char *name, *object;      /* strings of struct wsource */
};

/* Calls of a function from one instruction. */
struct profile_edge {
	uint32_t site, func;            /* site: PROFILE_NONE: not known */
	uint64_t calls, cost;           /* instructions until they returned */
};

/* A function that was called by a chain of functions; parent < itself; node 0 is where the run begins. */
struct profile_node {
	uint32_t parent, func, depth;
	uint64_t self;                  /* instructions that it executed itself */
};

struct profile_frame {
	uint64_t sp, start;             /* address of the return address; instructions of the thread before it */
	uint32_t edge, node;            /* edge PROFILE_NONE: it was not called */
};

/* The calls of a thread */
struct profile_calls {
	struct profile_frame *frame;    /* owned */
	size_t nframe, capframe;
	uint64_t sp;                    /* of the call that was executed last */
	/* instructions so far: while it runs, those of other threads; else its own */
	uint64_t away;
	uint32_t site;                  /* the instruction that was executed last, if `does` */
	uint8_t pending;
};

/* A thread, and its calls while it does not run */
struct profile_thread {
	uint32_t thread;                /* its number */
	struct profile_calls calls;
};

struct profile {
	struct profile_insn *insn;      /* all arrays are owned */
	size_t ninsn;
	struct profile_func *func;
	size_t nfunc, capfunc;
	struct profile_edge *edge;
	size_t nedge, capedge;
	struct profile_node *node;
	size_t nnode, capnode;
	uint64_t total;                 /* instructions */
	char *command;                  /* the arguments of the program; owned */
	struct wsource *source;

	/* internal to profile.c */
	struct hash by_name, by_call, by_parent, by_thread;
	struct profile_calls now;       /* of the thread that runs */
	uint64_t since;                 /* instructions before the top node became that */
	struct profile_thread *other;   /* owned */
	size_t nother, capother;
	uint32_t thread;                /* that runs; 0: it is not known yet */
};

/* As insns_run, for the instructions q->from to q->to; q's functions are ignored. */
int profile_run(struct profile *p, const struct insns *q, struct ws_early *early, struct fault *f);
void profile_free(struct profile *p);

#endif
