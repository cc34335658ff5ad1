/* Internal to the reader of wettext(5): statements, the window of input. */
#ifndef TM_FORMAT_WETTEXT_WETTEXT_INTERNAL_H
#define TM_FORMAT_WETTEXT_WETTEXT_INTERNAL_H

#include "format/wettext/wettext.h"

#define PIECE 4096u                     /* entries returned at once */

enum state { COUNT, BLOCK, PORT, DEPS, HEADER, VALUES, TRAILER, STEPS, OVER, FAILED };

/* A statement, or an id that was referred to. */
struct stmt {
	uint64_t id;
	uint64_t count;                 /* executions: exact, or a lower bound */
	uint64_t steps;                 /* from the trailer */
	uint64_t most, at;              /* the highest instance plus 1 that was referred to, and its line */
	uint8_t used;                   /* 0: the slot is free */
	uint8_t known, exact;           /* there is a block; count is exact */
};

struct wettext {
	struct in *in;
	unsigned how;
	enum state state;
	uint64_t line, nblock, blocks;  /* lines consumed; blocks by the first line, and so far */
	uint64_t last;                  /* x of the last entry of the list, plus 1 */
	int canonical;
	const uint8_t *p, *end, *start; /* the window: its unread part */
	int whole;                      /* it holds the end of the input */
	struct wettext_rec rec;
	char name[WETTEXT_LINE];        /* file and function */
	struct stmt *stmt;              /* hash table; owned */
	size_t nstmt, nslot;
	struct stmt *cur, *cached;      /* the block's; of the last reference */
	union {
		struct wettext_dep dep[PIECE];
		struct wettext_value value[PIECE];
		struct wettext_step step[PIECE];
	} u;
	uint64_t word[PIECE * WETTEXT_WORDS];
	struct fault fault;
};

/* Stops the reader with a message for that line: WETTEXT_BAD. */
int wettext_fail(struct wettext *r, uint64_t line, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* In check.c: the statement, new or not; NULL: no memory. */
struct stmt *wettext_stmt(struct wettext *r, uint64_t id);

/* Checks: 0, or WETTEXT_BAD. */
/* a dependence on it, in the present line */
int wettext_refer(struct wettext *r, uint64_t id, uint64_t instance);
int wettext_in_order(struct wettext *r, uint64_t x, int once);                  /* the next entry of a list */
int wettext_stepped(struct wettext *r, const struct wettext_step *s);
/* at the end: everything that was referred to exists */
int wettext_check(struct wettext *r, int ordered);

#endif
