/* Internal to the model of memory. */
#ifndef TM_LAPLACE_LAPLACE_INTERNAL_H
#define TM_LAPLACE_LAPLACE_INTERNAL_H

#include "laplace/laplace.h"

/* Pages [lo, hi) of an address space: numbers from base on, or pages of a file from base on */
struct lap_node {
	uint64_t lo, hi, base;
	struct lap_file *file;          /* NULL: numbers */
	struct lap_node *left, *right;
	uint32_t rank;                  /* of the treap: a parent's is not smaller */
};

/*
 * A file, or a segment of shared memory.  Its pages get numbers when they are
 * first needed, a part of it at once; parts ascend and do not overlap.
 */
#define LAP_PART (UINT64_C(1) << 20)    /* pages */
struct lap_part {
	uint64_t lo, hi, base;
};
struct lap_file {
	uint64_t key[3];
	struct lap_part *part;          /* owned */
	size_t npart, cap;
	size_t nnode;                   /* mappings of it */
	int bound;                      /* the key still means it */
};

/* Hash table: three numbers to a pointer */
struct lap_slot {
	uint64_t key[3];
	void *p;                        /* NULL: free */
};
struct lap_table {
	struct lap_slot *slot;          /* owned; size is a power of two */
	size_t n, size;
};
void *lap_table_get(const struct lap_table *t, uint64_t a, uint64_t b, uint64_t c);
int lap_table_room(struct lap_table *t);                /* so that the next put cannot fail: 0 or -1 */
void lap_table_put(struct lap_table *t, uint64_t a, uint64_t b, uint64_t c, void *p);   /* a key that is not there */
void lap_table_del(struct lap_table *t, uint64_t a, uint64_t b, uint64_t c);

struct lap_model {
	struct lap_table spaces, tasks, files;
	struct lap_node *spare;         /* free nodes, by left */
	size_t nspare, nnode, nfile;
	uint64_t next;                  /* the next canonical number */
	uint32_t seed;
	struct lap_task *running, *dead;        /* dead: of the last event, to be freed */
	struct lap_proc *deadproc;
	struct lap_wrong wrong;
};

int lap_bad_num(struct lap_model *m, const char *what, uint64_t num);   /* -1 */
int lap_fatal(struct lap_model *m, const char *what);                   /* -1 */

/* range.c: pages of a space.  Those that can need nodes want lap_reserve first; then they cannot fail. */
int lap_reserve(struct lap_model *m, size_t n);         /* nodes: 0 or -1 */
struct lap_node *lap_from(const struct lap_space *s, uint64_t page);    /* the first node that ends behind page, or NULL */
void lap_clear(struct lap_model *m, struct lap_space *s, uint64_t lo, uint64_t hi);     /* 2 nodes */
void lap_put(struct lap_model *m, struct lap_space *s, struct lap_node what);           /* lo, hi, base, file; clears first; 3 nodes */
void lap_forget(struct lap_space *s, uint64_t lo, uint64_t hi);         /* what was looked up */
int lap_copy(struct lap_model *m, struct lap_space *from, uint64_t lo, uint64_t hi, struct lap_space *to, uint64_t at);
	/* what is mapped, to pages from `at` on, where nothing is: 0 or -1 with `to` as it was */

/* file.c: files and their numbers */
int lap_numbers(struct lap_model *m, uint64_t n, uint64_t *base);       /* n fresh ones: 0 or -1 */
struct lap_file *lap_file_get(struct lap_model *m, uint64_t a, uint64_t b, uint64_t c); /* made if there is none; NULL: no memory */
int lap_file_page(struct lap_model *m, struct lap_file *f, uint64_t page, uint64_t *canon);
void lap_file_unbind(struct lap_model *m, uint64_t a, uint64_t b, uint64_t c);          /* deleted */
int lap_file_cut(struct lap_model *m, uint64_t a, uint64_t b, uint64_t c, uint64_t page);       /* pages from there on are gone */
void lap_file_drop(struct lap_model *m, struct lap_file *f);            /* frees it if nothing needs it */

/* task.c: tasks, processes, spaces; NULL and -1 with m->wrong */
struct lap_task *lap_task_get(struct lap_model *m, uint64_t pid);       /* announced, or an error */
struct lap_task *lap_task_announce(struct lap_model *m, uint64_t pid);  /* made if there is none */
struct lap_space *lap_space_get(struct lap_model *m, uint64_t id);      /* announced, or an error */
struct lap_space *lap_space_announce(struct lap_model *m, uint64_t id);
void lap_space_end(struct lap_model *m, struct lap_space *s);           /* with all that is mapped */
int lap_task_assign(struct lap_model *m, struct lap_task *t, struct lap_space *s);
void lap_task_exec(struct lap_model *m, struct lap_task *t);
void lap_task_exit(struct lap_model *m, struct lap_task *t);
void lap_bury(struct lap_model *m);                                     /* what the last event ended */

#endif
