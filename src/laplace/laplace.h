/*
 * What the kernel trace of Laplace says of memory, laplace(5): tasks, their
 * address spaces, and which page of memory each virtual page is.
 *
 * A canonical page number stands for one page of memory as long as that
 * lives, and is never given to another one.  The kernel's own memory has the
 * numbers of its virtual pages (< LAP_PAGES); all others come behind.
 *
 * Memory: a node for each run of pages that lie together in an address space
 * and in memory, a record for each task, address space and file that was
 * mapped and not deleted.
 */
#ifndef TM_LAPLACE_LAPLACE_H
#define TM_LAPLACE_LAPLACE_H

#include <stddef.h>
#include <stdint.h>

#include "format/laplace/laplace.h"

#define LAP_TLB     512u
#define LAP_EPOCHS  4096u       /* in the 12 bits of a tag that no page number has */

struct lap_node;
struct lap_proc;

/* An address space.  tlb: pages looked up lately; tag: page and epoch, so that all become invalid at once */
struct lap_space {
	uint64_t id;
	struct lap_node *root;
	struct lap_proc *proc;          /* whose it is; NULL: no task's yet */
	uint64_t ntask;
	uint64_t epoch;                 /* 1 to LAP_EPOCHS - 1 */
	struct { uint64_t tag, canon; } tlb[LAP_TLB];
	uint64_t none[LAP_TLB];         /* tags of pages that are not mapped */
};

/* Tasks that share, or shared one after the other, an address space.  Freed with its last task. */
struct lap_proc {
	uint64_t pid;                   /* of its first task */
	uint64_t ntask;
	struct lap_space *space;        /* or NULL */
	void *user;                     /* the caller's; NULL at first */
};

struct lap_task {
	uint64_t pid;
	struct lap_space *space;        /* NULL: none */
	struct lap_proc *proc;
	void *user;                     /* the caller's, of this task in this process; NULL at first */
};

struct lap_model;

struct lap_model *lap_model_new(void);  /* NULL: no memory */
void lap_model_free(struct lap_model *m);

/*
 * The event takes place.  *owner: the task whose record it is, NULL if no task
 * runs that it could be; valid until the next call, as is a task that ended, and
 * its process.
 * 0, or -1 and nothing has happened: see lap_model_error.
 */
int lap_model_event(struct lap_model *m, const struct lap_event *e, struct lap_task **owner);

struct lap_task *lap_model_running(const struct lap_model *m);  /* NULL: none */
struct lap_space *lap_model_space(struct lap_model *m, uint64_t id);    /* NULL: nobody announced it */

/* What was wrong: static text, the number it is about; fatal: memory or numbers ran out, there is no going on */
struct lap_wrong {
	const char *what;
	uint64_t num;
	int hasnum, fatal;
};
const struct lap_wrong *lap_model_error(const struct lap_model *m);

/* Canonical number of a page.  1; 0: the page is not mapped; -1: see lap_model_error (fatal) */
int lap_model_find(struct lap_model *m, struct lap_space *s, uint64_t page, uint64_t *canon);

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

/* For tests: nodes, files, spaces and tasks that there are */
struct lap_sizes {
	size_t nodes, files, spaces, tasks;
};
struct lap_sizes lap_model_sizes(const struct lap_model *m);

#endif
