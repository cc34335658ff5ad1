/* Text, wettext(5), out of .wet files. */
#ifndef TM_ENGINE_WET_STOREPRINT_H
#define TM_ENGINE_WET_STOREPRINT_H

#include "format/wetfile.h"

typedef int store_text_fn(void *arg, const void *p, size_t n);         /* not 0 ends it */

/*
 * The text of a file of kind full, by as many passes as lists of at most
 * `budget` bytes (and one statement's at least) need.  Of a file that was cut
 * off: that of its whole segments, and then -1.  0, or -1: see *f.
 */
int store_print(const struct wetfile *f, uint64_t budget, store_text_fn *put, void *arg, struct wetfile_fault *fault);

/* The same of a file of kind paper */
int paper_print(const struct wetfile *f, uint64_t budget, store_text_fn *put, void *arg, struct wetfile_fault *fault);

/* The text of a file of kind text; of one that was cut off, that of its whole sections, and then -1 */
int store_print_text(const struct wetfile *f, store_text_fn *put, void *arg, struct wetfile_fault *fault);

#endif
