/*
 * The text of a .wet file, wettext(5), whatever kind the file is of: the lists
 * of some statements at a time, as many as a budget of memory allows, then the
 * order of all.
 */
#ifndef TM_WET_PRINT_LISTS_H
#define TM_WET_PRINT_LISTS_H

#include "base/buf.h"
#include "wet/file/full/code.h"
#include "wet/print/print.h"

struct list_unit;

struct list {
	/* The file, said by who prints.  Functions that return int: 0, or -1 and *fault */
	const struct store_code *code;
	void *from;                                             /* their first argument */
	uint64_t (*count)(void *from, uint32_t s);              /* executions of statement s */
	/* list_use and list_values of the statements in `only`, in all segments */
	int (*fill)(void *from, struct list *l);
	/* list_path of each path executed, in order; called twice */
	int (*steps)(void *from, struct list *l);
	struct fault *fault;
	/* the file is: without a statement, it is not what is left of another */
	int whole;
	store_text_fn *put;
	void *arg;

	/* Between the functions below */
	struct buf b;
	uint8_t *only;                  /* a 1 for each statement of this batch; owned */
	uint32_t lo, hi;                /* which these are */
	struct list_unit *unit;         /* of its ports, then its values; owned */
	uint32_t *first;                /* of each statement from lo: its first unit; owned */
	uint64_t id, n, nline;          /* the line of the order in the making */
	int counting;
};

/* all of it.  0, or -1: *fault says why, unless put did not want any more */
int list_print(struct list *l, uint64_t budget);

/*
 * At port `port`, instance x of statement s depends on these n, the latest first (list is a
 * struct list).  0, or -1 without memory
 */
int list_use(void *list, uint32_t s, uint32_t x, uint32_t port, const uint64_t *who, size_t n);
/* where its values belong: nval words for each instance */
uint64_t *list_values(const struct list *l, uint32_t s);
int list_path(struct list *l, uint32_t path);

#endif
