/*
 * Input of every filter: standard input or a file, which may be compressed
 * (gzip, bzip2, xz, zstd, compress) or the member of a tar or zip archive;
 * recognised by content.  Memory is constant.  Offsets are those of the
 * decompressed data.
 *
 * An archive must hold one file, or the path says which: `archive.tar//member`.
 *
 * Errors stick and show only after every byte before them was handed over:
 * at a short read, ask in_error().
 */
#ifndef TM_BASE_IN_H
#define TM_BASE_IN_H

#include <stddef.h>
#include <stdint.h>

struct in;

#define IN_PEEK (256u << 10)    /* the most that in_peek() grants */

/* NULL or "-": standard input.  Never NULL: a file that cannot be opened is an error at the first read. */
struct in *in_open(const char *path);
struct in *in_mem(const void *p, size_t n, const char *name);   /* borrows p; its bytes as they are */
void in_close(struct in *in);

const char *in_name(const struct in *in);       /* for diagnostics; owned by in */
uint64_t in_off(const struct in *in);           /* bytes consumed: offset of the next byte; of a file that was not opened DIAG_NOOFF (diag.h) */
int in_sealed(const struct in *in);             /* is there a check sum that only reading to the end looks at? */
const char *in_error(const struct in *in);      /* NULL, or what went wrong; meaningful after a short read */

/* Up to n bytes; fewer only at the end of the input or an error */
size_t in_read(struct in *in, void *p, size_t n);

/*
 * The next bytes where they lie: at least `want` (<= IN_PEEK) unless the input
 * ends; *have says how many, often more.  Valid until the next call; in_skip
 * consumes.  Does not wait for more than `want` on a pipe.
 */
const uint8_t *in_peek(struct in *in, size_t want, size_t *have);
void in_skip(struct in *in, size_t n);          /* n <= *have of the last in_peek */

/*
 * The next line where it lies, of less than `most` bytes (most: a power of two
 * from 256 to IN_PEEK); its newline to *nl, or NULL there: none in the *have
 * bytes, which are `most` of them, or all that is left.  in_skip consumes.
 */
const uint8_t *in_line(struct in *in, size_t most, size_t *have, const uint8_t **nl);

#endif
