/*
 * The member of a tar or zip archive, and what compress(1) made, by
 * libarchive.  The end is that of the whole archive: what follows the member
 * is read and checked before it shows.
 */
#ifndef TM_BASE_ARC_H
#define TM_BASE_ARC_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct arc;

int arc_is(const uint8_t *p, size_t n);         /* by the first n bytes */

/* Reads the archive's bytes: their number, 0 at the end, -1 with what went wrong (which lasts as long as arg) */
typedef ssize_t arc_source(void *arg, void *p, size_t n, const char **why);

/* head: nhead bytes that were read already, at the start of size bytes from malloc; becomes the arc's.  member (borrowed): NULL, the only one. */
struct arc *arc_new(arc_source *source, void *arg, uint8_t *head, size_t nhead, size_t size, const char *member);
void arc_free(struct arc *a);
ssize_t arc_read(struct arc *a, void *p, size_t n);     /* 1 to n bytes; 0 at the end; -1: see arc_error */
const char *arc_error(const struct arc *a);             /* after -1; owned by a */

#endif
