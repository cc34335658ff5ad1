/* Columns of TEXT sections of wet(5). */
#ifndef TM_WET_FILE_TEXT_COLUMNS_H
#define TM_WET_FILE_TEXT_COLUMNS_H

#include <stdint.h>

enum text_col {
	/*
	 * Number of statements; of each, its SIZEs, then VALUES plus 1, or 0 for NO VALUES; at
	 * the end ORDER plus 1, or 0.
	 */
	TEXT_SIZE,
	TEXT_ID, TEXT_NPORT, TEXT_ADDR, TEXT_FILE, TEXT_FUNC, TEXT_LINE,        /* of each statement */
	TEXT_X, TEXT_TOKEN, TEXT_DEP, TEXT_INSTANCE,                            /* of dependences */
	TEXT_VX, TEXT_NWORD, TEXT_WORD,                                         /* of values */
	TEXT_STEP, TEXT_COUNT,                                                  /* of the order */
	TEXT_NCOL
};

#define TEXT_MOST ((size_t)1 << 21)     /* maximum values of a column in a section */
#define TEXT_PAST 4u                    /* statements that a list remembers */
/* tokens; for the first two, + k: the k-th remembered statement */
enum { TEXT_STRIDE = 0, TEXT_OTHER = 4, TEXT_NEW = 8 };

struct text_recent { uint64_t id, last, stride; int used; };
/* x: of the previous entry */
struct text_list { struct text_recent past[TEXT_PAST]; uint64_t x; };

/* Moves v, which was at index k, to the front. */
static inline void
text_list_to_front(struct text_list *l, unsigned k, struct text_recent v)
{
	for (; k > 0; k--)
		l->past[k] = l->past[k - 1];
	l->past[0] = v;
}

#endif
