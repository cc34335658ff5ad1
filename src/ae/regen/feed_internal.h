/* Shared by the files of feed.h. */
#ifndef TM_AE_REGEN_FEED_INTERNAL_H
#define TM_AE_REGEN_FEED_INTERNAL_H

#include <sys/types.h>

#include "ae/regen/feed.h"

/* feed_open.c; both set f->err and f->status, and return -1 */

/* what is wrong at byte off of g's file; g NULL: of no file */
int feed_fail(struct feed *f, const struct feed_seg *g, uint64_t off, const char *what);
/* A fault reported by the event reader. If the input itself has an error, that is reported instead. */
int feed_unread(struct feed *f, const struct feed_seg *g);

/* feed_crash.c: where an access to memory ended the program */

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

/* tasks.c: several threads */

/* Can the file be read again from where it is now, *start? */
int tasks_again(const char *file, off_t *start);
/* Are there several threads, as far as it can be known before they are read? */
int tasks_several(const struct feed_job *j, int again);
/* They are asked for where they cannot be read: -1 */
int tasks_cannot(struct feed *f, const struct feed_job *j);

/* What is said of a thread remains when the next one is read: what, and where in the file */
struct tasks_said {
	const char *err;
	uint64_t erroff, bytes;
	uint32_t fatal;
	int exact, limited, running, status;
};
void tasks_keep(struct tasks_said *k, const struct feed *f, int all);
void tasks_restore(struct feed *f, const struct tasks_said *k);

#endif
