/*
 * Writes the text of a .wet file, wettext(5), from any kind of file.  The lists
 * of statements are made in batches that fit in a budget of memory, one pass
 * over the file for each batch; the order comes last.
 */
#ifndef TM_WET_PRINT_LISTS_H
#define TM_WET_PRINT_LISTS_H

#include "base/buf.h"
#include "wet/file/full/code.h"
#include "wet/print/print.h"

struct list_unit;

struct list {
	/* Set by the caller of list_print.  Functions that return int: 0, or -1 and *fault is set */
	const struct store_code *code;
	void *from;                                             /* first argument of the functions */
	uint64_t (*count)(void *from, uint32_t s);              /* executions of statement s */
	/* reads all segments: calls list_use and fills list_values for the statements in `only` */
	int (*fill)(void *from, struct list *l);
	/* calls list_path for each path executed, in order; called twice */
	int (*steps)(void *from, struct list *l);
	struct fault *fault;
	store_text_fn *put;
	void *arg;

	/* Internal to lists.c, except lo, hi and only */
	struct buf b;
	uint8_t *only;                  /* 1 for each statement of this batch, else 0; owned */
	uint32_t lo, hi;                /* the batch is statements [lo, hi) */
	struct list_unit *unit;         /* for each statement: its ports in order, then its values; owned */
	uint32_t *first;                /* for each statement from lo: index of its first unit; owned */
	uint64_t id, n;                 /* the current line of the order: n statements from this id on */
	uint64_t nline;                 /* lines of the order */
	int counting;                   /* the first pass over the order: lines are only counted */
};

/*
 * Prints all of file f, unless it could not be opened (bad); then *fault is what is wrong with the file.
 * 0, or -1: *fault says why, unless put returned not 0
 */
int list_print(struct list *l, const struct wetfile *f, int bad, uint64_t budget, struct fault *fault);

/*
 * Adds a dependence: instance x of statement s depends at port `port` on the n instances in who,
 * the latest first.  list is a struct list.  0, or -1 without memory
 */
int list_use(void *list, uint32_t s, uint32_t x, uint32_t port, const uint64_t *who, size_t n);
/* the values of statement s, nval words for each instance, to be filled in */
uint64_t *list_values(const struct list *l, uint32_t s);
int list_path(struct list *l, uint32_t path);           /* adds the statements of a path to the order */

#endif
