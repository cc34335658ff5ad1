/* Data of the model, shared by its files: ranges, files, hash tables. */
#ifndef TM_LAPLACE_LAPLACE_INTERNAL_H
#define TM_LAPLACE_LAPLACE_INTERNAL_H

#include "laplace/laplace.h"

/*
 * Pages [lo, hi) of an address space.  They are canonical numbers from base on, or pages of a
 * file from base on.
 */
struct lap_node {
	uint64_t lo, hi, base;
	struct lap_file *file;          /* NULL: canonical numbers */
	struct lap_node *left, *right;
	uint32_t rank;                  /* priority in the treap: a parent's is not smaller */
};

/*
 * A file, or a segment of shared memory.  Its pages get canonical numbers on first use, for a
 * whole part at once; parts ascend and do not overlap.
 */
#define LAP_PART (UINT64_C(1) << 20)    /* pages of a part */
struct lap_part {
	uint64_t lo, hi, base;
};
struct lap_file {
	uint64_t key[3];
	struct lap_part *part;          /* owned */
	size_t npart, cap;
	size_t nnode;                   /* number of its mappings */
	int bound;                      /* 1: the key still refers to it */
};

/* Hash table: a key of three numbers to a pointer. */
struct lap_slot {
	uint64_t key[3];
	void *p;                        /* NULL: the slot is free */
};
struct lap_table {
	struct lap_slot *slot;          /* owned; size is a power of two */
	size_t n, size;
};
/* NULL: the key is not there */
void *lap_table_get(const struct lap_table *t, uint64_t a, uint64_t b, uint64_t c);
/* makes room, so that the next put cannot fail: 0, or -1: no memory */
int lap_table_room(struct lap_table *t);
/* the key must be new */
void lap_table_put(struct lap_table *t, uint64_t a, uint64_t b, uint64_t c, void *p);
void lap_table_del(struct lap_table *t, uint64_t a, uint64_t b, uint64_t c);    /* the key must be there */

struct lap_model {
	struct lap_table spaces, tasks, files;
	struct lap_node *spare;         /* free nodes, linked by left */
	size_t nspare, nnode, nfile;
	uint64_t next;                  /* the next canonical number */
	uint32_t seed;
	struct lap_task *running, *dead;        /* dead: ended in the last event, freed in the next */
	struct lap_proc *deadproc;
	struct lap_wrong wrong;
};

int lap_bad_num(struct lap_model *m, const char *what, uint64_t num);   /* sets m->wrong; returns -1 */
/* as lap_bad_num, for a fatal error */
int lap_fatal(struct lap_model *m, const char *what);

/*
 * range.c: mapped ranges of an address space.  Before functions that say how many nodes they
 * need, call lap_reserve; then they cannot fail.
 */
int lap_reserve(struct lap_model *m, size_t n);         /* reserves n nodes: 0, or -1 */
/* the first node that ends after page, or NULL */
struct lap_node *lap_range_after(const struct lap_space *s, uint64_t page);
/* unmaps [lo, hi); needs 2 nodes */
void lap_range_unmap(struct lap_model *m, struct lap_space *s, uint64_t lo, uint64_t hi);
/* Maps [what.lo, what.hi) to what.base of what.file, after unmapping it; needs 3 nodes. */
void lap_range_map(struct lap_model *m, struct lap_space *s, struct lap_node what);
/* drops cached look-ups of [lo, hi) */
void lap_range_invalidate(struct lap_space *s, uint64_t lo, uint64_t hi);
/*
 * Copies the mappings of [lo, hi) to pages from `at` on, which are not mapped.  0, or -1 with
 * `to` unchanged.
 */
int lap_range_copy(struct lap_model *m, struct lap_space *from, uint64_t lo, uint64_t hi,
    struct lap_space *to, uint64_t at);

/* file.c: files and their numbers */

/* n new canonical numbers: 0, or -1 */
int lap_numbers(struct lap_model *m, uint64_t n, uint64_t *base);
/* creates it if it does not exist; NULL: no memory */
struct lap_file *lap_file_get(struct lap_model *m, uint64_t a, uint64_t b, uint64_t c);
/* the canonical number of a page of the file: 0, or -1 */
int lap_file_page(struct lap_model *m, struct lap_file *f, uint64_t page, uint64_t *canon);
/* the file is deleted: its key may be reused */
void lap_file_unbind(struct lap_model *m, uint64_t a, uint64_t b, uint64_t c);
/* Truncates the file before page.  0, or -1. */
int lap_file_truncate(struct lap_model *m, uint64_t a, uint64_t b, uint64_t c, uint64_t page);
/* frees it if it has no key and no mappings */
void lap_file_drop(struct lap_model *m, struct lap_file *f);

/* task.c: tasks, processes, address spaces.  NULL and -1 set m->wrong. */
struct lap_task *lap_task_get(struct lap_model *m, uint64_t pid);       /* an error if it was not announced */
struct lap_task *lap_task_announce(struct lap_model *m, uint64_t pid);  /* creates it if it does not exist */
struct lap_space *lap_space_get(struct lap_model *m, uint64_t id);      /* an error if it was not announced */
/* creates it if it does not exist */
struct lap_space *lap_space_announce(struct lap_model *m, uint64_t id);
void lap_space_end(struct lap_model *m, struct lap_space *s);           /* ends it, with its mappings */
/* t uses s from now on: 0, or -1 */
int lap_task_assign(struct lap_model *m, struct lap_task *t, struct lap_space *s);
/* t executes another program: unmaps its memory */
void lap_task_exec(struct lap_model *m, struct lap_task *t);
void lap_task_exit(struct lap_model *m, struct lap_task *t);    /* t ends; it is freed by the next event */
/* frees what the last event ended */
void lap_free_dead(struct lap_model *m);

#endif
