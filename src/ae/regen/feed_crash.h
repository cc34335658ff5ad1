/* Internal to feed.c: where an access to memory ended the program. */
#ifndef TM_AE_REGEN_FEED_CRASH_H
#define TM_AE_REGEN_FEED_CRASH_H

#include "ae/regen/feed.h"

/* From p on, the access that ended the program is searched, if the end record says that there was one. */
void feed_crashed(struct feed *f, const uint64_t *p);

/*
 * Of the n references at `from`, those to be delivered now, in f->crash: the ones after the last instruction
 * wait, and all of them if f->unsure. If the access is found, f->exact is set, and they are the last ones. If
 * too many wait, that is the end, too.
 */
const uint64_t *feed_search(struct feed *f, const uint64_t *from, size_t *n);

/* From now on, events may be none. */
void feed_unsure(struct feed *f);

/* The references that wait and are certain */
const uint64_t *feed_waiting(const struct feed *f, size_t *n);

#endif
