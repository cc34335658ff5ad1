/* Text, wettext(5), out of .wet files. */
#ifndef TM_WET_PRINT_PRINT_H
#define TM_WET_PRINT_PRINT_H

#include "format/wetfile/wetfile.h"

typedef int store_text_fn(void *arg, const void *p, size_t n);         /* not 0 ends it */

/*
 * The text of a file of kind full, by as many passes as lists of at most
 * `budget` bytes (and one statement's at least) need.  Of a file that was cut
 * off: that of its whole segments, and then -1.  0, or -1: see *f.
 */
int store_print(const struct wetfile *f, uint64_t budget, store_text_fn *put, void *arg, struct fault *fault);

/* The same of a file of kind paper */
int paper_print(const struct wetfile *f, uint64_t budget, store_text_fn *put, void *arg, struct fault *fault);

/* The text of a file of kind text; of one that was cut off, that of its whole sections, and then -1 */
int store_print_text(const struct wetfile *f, store_text_fn *put, void *arg, struct fault *fault);

/*
 * What such a text says, in its order, without being text.  A text of sections RAW says nothing: -1.
 */
enum store_text_kind {
	/* a: ID, b: use ports, c: address, d: line, file and func as words of wettext(5) */
	STORE_TEXT_BLOCK,
	STORE_TEXT_SIZE,                /* a: of the next port */
	STORE_TEXT_DEP,                 /* a: X, b: ID, c: instance */
	STORE_TEXT_VALUES,              /* a: how many; STORE_TEXT_NONE: no values */
	STORE_TEXT_NONE,
	STORE_TEXT_VALUE,               /* a: X, n words */
	STORE_TEXT_ORDER,               /* a: steps */
	STORE_TEXT_STEP                 /* a: ID, b: COUNT */
};
struct store_text_event {
	enum store_text_kind kind;
	unsigned n;
	uint64_t a, b, c, d;
	const uint64_t *word;
	const char *file, *func;        /* until the next event */
};
typedef int store_event_fn(void *arg, const struct store_text_event *e);        /* not 0 ends it */

/* 0, or -1: see *f, unless the function ended it.  Of a file that was cut off: what there is, and then -1 */
int store_text_events(const struct wetfile *w, store_event_fn *fn, void *arg, struct fault *f);

#endif
