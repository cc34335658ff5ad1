/* State of the analysis of loops, shared by its files. */
#ifndef TM_SIM_PARALLEL_INTERNAL_H
#define TM_SIM_PARALLEL_INTERNAL_H

#include "base/hash.h"
#include "sim/parallel.h"

/*
 * Clocks.  The first NMODELS are those of the models when all loops are parallel; the last one counts the
 * instructions as they were executed.
 */
enum { CLOCK_SERIAL = PARALLEL_NMODELS, NCLOCKS };

/* An invocation of a loop, and one of its iterations.  They live while a last access of memory needs them. */
struct nest_invocation {
	struct nest_iteration *parent;  /* the iteration that contains it */
	uint64_t at[NCLOCKS];           /* its begin, in the time of the parent */
	uint32_t level;                 /* number of loops around it; 0: the program, which is no loop */
	uint32_t loop;
	uint32_t refs;                  /* its iterations that still live */
};

struct nest_iteration {
	struct nest_invocation *in;
	/* After its end, its begin in the time of the invocation: with all loops parallel, and with this one alone. */
	uint64_t at[NCLOCKS], alone[PARALLEL_NMODELS];
	uint64_t number;                /* from 0 */
	uint64_t refs;                  /* invocations in it, accesses, and 1 while it is active */
};

/* The iteration of the loop at `level` must not begin earlier than `least` - (the time of whoever has this). */
struct nest_need {
	uint32_t level;
	int64_t least[PARALLEL_NMODELS];
};

struct nest_needs {
	struct nest_need *v;            /* owned */
	size_t n, cap;
};

/* A loop that is active. */
struct nest_level {
	struct nest_invocation *in;
	struct nest_iteration *now;
	uint64_t zero[NCLOCKS];         /* the time of the iteration is the number of instructions - zero */
	uint64_t entered;               /* instructions before it */
	uint64_t end[PARALLEL_NMODELS], endalone[PARALLEL_NMODELS];     /* end of the latest iteration so far */
	/* What its current iteration needs if it alone is parallel, and the dependence (+ 1) that says so. */
	uint64_t alone[PARALLEL_NMODELS];
	uint32_t why[PARALLEL_NMODELS];
	struct nest_needs needs, past;  /* relative to the iteration, to the invocation */
	int again;                      /* the loop is active at an outer level, too */
};

/* The last access of some bytes. */
struct access {
	struct nest_iteration *in;
	uint64_t at[NCLOCKS];
	uint64_t pc;
	uint32_t refs;                  /* bytes whose last access it is; of a free one: the next free one */
};

#define ACCESS_CHUNK 65536u
#define ACCESS_PAGE  4096u

struct access_page {
	uint64_t number;
	/* by byte: the last write, and the last read after it; 0: none */
	uint32_t write[ACCESS_PAGE], read[ACCESS_PAGE];
};

struct parallel {
	uint64_t ninsn;
	uint64_t pc;                    /* of the current instruction */
	int failed;

	struct nest_level *level;       /* owned; level[0] is the program */
	size_t nlevel, caplevel;

	struct parallel_loop *loop;     /* owned */
	uint32_t *active;               /* by loop: active invocations; owned */
	size_t nloop, caploop, capactive;
	struct hash loops;
	struct parallel_dep *dep;       /* owned */
	size_t ndep, capdep;
	struct hash deps;

	struct access **chunk;          /* of ACCESS_CHUNK each; owned */
	size_t nchunk, capchunk;
	uint32_t naccess, freeaccess;   /* access 0 is not used */
	struct access_page **page;      /* owned */
	size_t npage, cappage;
	struct hash pages;
	struct access_page *last;       /* the page of the last access, or NULL */
};

/* parallel.c: a nest of loops */

void nest_unref(struct nest_iteration *i);

/* An access of now's instruction depends on the earlier one a. */
void nest_depend(struct parallel *p, const struct access *a, enum parallel_kind kind);

/* parallel_memory.c: the last accesses of memory */

void memory_read(struct parallel *p, uint64_t addr, unsigned size);
void memory_write(struct parallel *p, uint64_t addr, unsigned size);
void memory_free(struct parallel *p);

#endif
