/* Prints .wet files as text, wettext(5). */
#ifndef TM_WET_PRINT_PRINT_H
#define TM_WET_PRINT_PRINT_H

#include "format/wetfile/wetfile.h"

typedef int store_text_fn(void *arg, const void *p, size_t n);  /* not 0: printing ends */

/*
 * Prints a file of kind full or loads.  Lists take at most `budget` bytes of
 * memory, or those of one statement; the file is read as often as that needs.
 * If the file is cut off, its whole segments are printed, then -1 is returned.
 * 0, or -1: see *fault.
 */
int store_print(const struct wetfile *f, uint64_t budget, store_text_fn *put, void *arg, struct fault *fault);

/* The same for a file of kind paper */
int paper_print(const struct wetfile *f, uint64_t budget, store_text_fn *put, void *arg, struct fault *fault);

/* Prints a file of kind text; if it is cut off, its whole sections, and then returns -1. */
int store_print_text(const struct wetfile *f, store_text_fn *put, void *arg, struct fault *fault);

/*
 * A file of kind text as a sequence of events, in the order of the text.  Text that is stored in
 * RAW sections has no events: store_text_events returns -1.
 */
enum store_text_kind {
	/* a: ID, b: use ports, c: address, d: line, file and func as words of wettext(5) */
	STORE_TEXT_BLOCK,
	STORE_TEXT_SIZE,                /* the next port begins; a: number of its dependences */
	STORE_TEXT_DEP,                 /* a: X, b: ID, c: instance */
	STORE_TEXT_VALUES,              /* a: number of values */
	STORE_TEXT_NONE,                /* instead of STORE_TEXT_VALUES: the statement has no values */
	STORE_TEXT_VALUE,               /* a: X, n words */
	STORE_TEXT_ORDER,               /* a: number of steps */
	STORE_TEXT_STEP                 /* a: ID, b: COUNT */
};
struct store_text_event {
	enum store_text_kind kind;
	unsigned n;
	uint64_t a, b, c, d;
	const uint64_t *word;
	const char *file, *func;        /* valid until the next event */
};
typedef int store_event_fn(void *arg, const struct store_text_event *e);        /* not 0: reading ends */

/*
 * 0, or -1: see *f, unless fn returned not 0.  If the file is cut off, the events that there are,
 * and then -1.
 */
int store_text_events(const struct wetfile *w, store_event_fn *fn, void *arg, struct fault *f);

#endif
