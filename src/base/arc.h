/*
 * Members of tar and zip archives, and compress(1) files, read by libarchive. The whole archive is
 * checked: what follows the member is read before the end of the member is reported.
 */
#ifndef TM_BASE_ARC_H
#define TM_BASE_ARC_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct arc;

/* Do these first n bytes of a file begin an archive or a compress(1) file? */
int arc_is(const uint8_t *p, size_t n);

/*
 * Reads bytes of the archive: their number, 0 at the end, or -1 with a message in *why, which lasts
 * as long as arg.
 */
typedef ssize_t arc_source(void *arg, void *p, size_t n, const char **why);

/*
 * Begins to read an archive. The first nhead bytes have been read already: they are in head, a
 * buffer of `size` bytes from malloc, which the arc takes over. member is borrowed; NULL means the
 * only member.
 */
struct arc *arc_new(arc_source *source, void *arg, uint8_t *head, size_t nhead, size_t size,
    const char *member);
void arc_free(struct arc *a);
ssize_t arc_read(struct arc *a, void *p, size_t n);     /* 1 to n bytes; 0 at the end; -1: see arc_error */
const char *arc_error(const struct arc *a);             /* after -1; owned by a */

#endif
