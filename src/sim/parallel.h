/*
 * The parallelism of loops: how much faster would a program run if the iterations of its loops ran at
 * the same time, and what keeps them from it?  ("Abstract Execution", section 5: pp; Larus, Loop-Level
 * Parallelism in Numeric and Symbolic Programs, IEEE Transactions on Parallel and Distributed Systems,
 * 1993.)
 *
 * The input is a reference stream with loop events, ref(5).  An instruction takes one unit of time, and
 * there is a processor for each iteration.  All iterations of a loop begin together, except that an
 * iteration begins later if it would otherwise refer to memory before the reference of an earlier
 * iteration that it depends on.  Iterations are not stretched: only their begin is delayed.
 *
 * A dependence is carried by the one loop whose invocation contains both references, in different
 * iterations, while every loop around it is in the same iteration.  Flow: a read of what was written;
 * anti: a write to what was read; output: a write to what was written.  Of each byte, the last write and the
 * last read since then are known.
 *
 * Memory: 8 bytes for each byte in the pages that are referred to, 48 bytes for each access that is still the
 * last one of a byte, and 80 to 144 bytes for each iteration with such an access.
 */
#ifndef TM_SIM_PARALLEL_H
#define TM_SIM_PARALLEL_H

#include <stddef.h>
#include <stdint.h>

enum parallel_kind { PARALLEL_FLOW, PARALLEL_ANTI, PARALLEL_OUTPUT, PARALLEL_NKINDS };

/*
 * Which dependences delay iterations.  Flow only: what is left when each iteration has memory of its own
 * for what it writes first (privatization, renaming).
 */
enum parallel_model { PARALLEL_RENAMED, PARALLEL_ALL, PARALLEL_NMODELS };

struct parallel_loop {
	uint64_t pc;                    /* first instruction of its header */
	uint64_t invocations, iterations;
	/* Of invocations that are not within another one of the same loop (recursion): */
	uint64_t ninsn;                 /* instructions, with calls and inner loops */
	uint64_t alone[PARALLEL_NMODELS];       /* time of these, if this loop is parallel and no other */
	uint64_t delayed[PARALLEL_NMODELS];     /* iterations that begin later than the first, if it alone is parallel */
	uint64_t ndep[PARALLEL_NKINDS]; /* dependences that it carries */
};

/* The dependences between two instructions that a loop carries. */
struct parallel_dep {
	uint32_t loop;                  /* index of the loop */
	enum parallel_kind kind;
	uint64_t from, to;              /* the instructions: of the earlier reference, of the later one */
	uint64_t n;
	uint64_t nearest, farthest;     /* distance in iterations, at least 1 */
	uint64_t decided[PARALLEL_NMODELS];     /* delayed iterations whose begin it decided */
};

struct parallel_result {
	uint64_t ninsn;                 /* instructions of the program */
	uint64_t time[PARALLEL_NMODELS];        /* if all loops are parallel */
	const struct parallel_loop *loop;       /* in the order of their first invocation */
	size_t nloop;
	const struct parallel_dep *dep;         /* in the order in which they were found */
	size_t ndep;
};

struct parallel;

struct parallel *parallel_new(void);    /* NULL: no memory */
void parallel_free(struct parallel *p);

/*
 * The next n words, which are valid.  0; -1: no memory, or more than 2^32 - 1 accesses are the last one of a
 * byte: the analysis cannot continue.  A back edge of a loop that is not active enters it; other events that do
 * not fit are ignored, and so are task events.
 */
int parallel_take(struct parallel *p, const uint64_t *w, size_t n);

/* Ends all loops.  The result is valid until parallel_free; nothing may be taken afterwards. */
int parallel_end(struct parallel *p, struct parallel_result *r);        /* 0; -1: no memory */

#endif
