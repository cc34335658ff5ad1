/*
 * Model of the memory of a machine traced by Laplace, laplace(5): tasks, their address spaces,
 * and the page of memory of each virtual page.
 *
 * A canonical page number stands for one page of memory as long as that page lives, and is
 * never reused.  The kernel's own memory has the numbers of its virtual pages (< LAP_PAGES);
 * all others are higher.
 *
 * The model takes one node for each run of pages that are contiguous both in an address space
 * and in memory, and one record for each task, each address space, and each file that was
 * mapped and is not deleted.
 */
#ifndef TM_LAPLACE_LAPLACE_H
#define TM_LAPLACE_LAPLACE_H

#include <stddef.h>
#include <stdint.h>

#include "format/laplace/laplace.h"

/* entries of the cache of page look-ups in each address space */
#define LAP_TLB     512u
#define LAP_EPOCHS  4096u       /* values of the 12 bits of a tag that no page number uses */

struct lap_node;
struct lap_proc;

/*
 * An address space.  tlb caches recent look-ups.  A tag is a page and an epoch, so that a new
 * epoch invalidates all of them at once.
 */
struct lap_space {
	uint64_t id;
	struct lap_node *root;
	struct lap_proc *proc;          /* its process; NULL: no task has used it yet */
	uint64_t ntask;
	uint64_t epoch;                 /* 1 to LAP_EPOCHS - 1 */
	struct { uint64_t tag, canon; } tlb[LAP_TLB];
	uint64_t none[LAP_TLB];         /* tags of pages that are known not to be mapped */
};

/*
 * A process: tasks that share an address space, or took it over from each other.  It is freed
 * with its last task.
 */
struct lap_proc {
	uint64_t pid;                   /* of its first task */
	uint64_t ntask;
	struct lap_space *space;        /* or NULL */
	void *user;                     /* for the caller; initially NULL */
};

struct lap_task {
	uint64_t pid;
	struct lap_space *space;        /* NULL: none */
	struct lap_proc *proc;
	void *user;                     /* for the caller, of this task in this process; initially NULL */
};

struct lap_model;

struct lap_model *lap_model_new(void);  /* NULL: no memory; the caller frees it with lap_model_free */
void lap_model_free(struct lap_model *m);

/*
 * Applies the event.  *owner is the task that it belongs to, or NULL if no running task
 * qualifies.  *owner, a task that ended and its process stay valid until the next call.
 * Returns 0, or -1 without any effect: see lap_model_error.
 */
int lap_model_event(struct lap_model *m, const struct lap_event *e, struct lap_task **owner);

struct lap_task *lap_model_running(const struct lap_model *m);  /* NULL: none */
struct lap_space *lap_model_space(struct lap_model *m, uint64_t id);    /* NULL: it was not announced */

/*
 * The last error: a static text, and the number that it is about.  fatal: memory or numbers ran
 * out, and the model cannot continue.
 */
struct lap_wrong {
	const char *what;
	uint64_t num;
	int hasnum, fatal;
};
const struct lap_wrong *lap_model_error(const struct lap_model *m);

/* Finds the canonical number of a page.  1; 0: the page is not mapped; -1: see lap_model_error (fatal). */
int lap_model_find(struct lap_model *m, struct lap_space *s, uint64_t page, uint64_t *canon);

/* As lap_model_find, with the cache of look-ups. */
static inline int
lap_model_page(struct lap_model *m, struct lap_space *s, uint64_t page, uint64_t *canon)
{
	uint64_t tag = page | s->epoch << 52;
	size_t i = page % LAP_TLB;

	if (s->tlb[i].tag == tag) {
		*canon = s->tlb[i].canon;
		return 1;
	}
	if (s->none[i] == tag)
		return 0;
	return lap_model_find(m, s, page, canon);
}

/* For tests: the numbers of nodes, files, spaces and tasks. */
struct lap_sizes {
	size_t nodes, files, spaces, tasks;
};
struct lap_sizes lap_model_sizes(const struct lap_model *m);

#endif
