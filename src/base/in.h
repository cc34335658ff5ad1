/*
 * Input of every filter: standard input or a file, which may be compressed (gzip, bzip2, xz, zstd,
 * compress) or the member of a tar or zip archive. The format is recognized by content. Memory is
 * constant. Offsets are those of the decompressed data.
 *
 * An archive must hold one file, or the path names one: `archive.tar//member`.
 *
 * An error is reported only after all bytes before it were delivered, and from then on by every
 * read: after a short read, ask in_error().
 */
#ifndef TM_BASE_IN_H
#define TM_BASE_IN_H

#include <stddef.h>
#include <stdint.h>

struct in;

#define IN_PEEK (256u << 10)    /* the most that in_peek() can return */

/* NULL, "-" and the like: standard input (src.h).  Never NULL: a file that cannot be opened is an error at the first read. */
struct in *in_open(const char *path);
/* Reads from a descriptor, which in_close closes; compression is not recognized. name: for diagnostics */
struct in *in_of_fd(int fd, const char *name);
/*
 * A file that is only open while it is read, so that there may be thousands of them; compression is not
 * recognized. At least `want` bytes can be peeked at. in_forget frees the buffer; the next read fills it again.
 */
struct in *in_brief(const char *path, size_t want);
void in_forget(struct in *in);
struct in *in_mem(const void *p, size_t n, const char *name);   /* borrows p; never decompresses */
void in_close(struct in *in);

const char *in_name(const struct in *in);       /* for diagnostics; owned by in */
/* Offset of the next byte; DIAG_NOOFF (diag.h) of a file that was not opened. */
uint64_t in_off(const struct in *in);
/* Is there a check sum that is verified only at the end of the input? */
int in_has_checksum(const struct in *in);
const char *in_error(const struct in *in);      /* NULL, or the message; meaningful after a short read */

/* Reads up to n bytes; fewer only at the end of the input or at an error. */
size_t in_read(struct in *in, void *p, size_t n);
/* Passes over up to n bytes, without reading most of them if the input is a plain file; as in_read */
size_t in_pass(struct in *in, size_t n);

/*
 * The next bytes, in the buffer: at least `want` (<= IN_PEEK) unless the input ends; *have is their
 * number, often more. Valid until the next call; in_skip consumes them. On a pipe it waits for no
 * more than `want` bytes.
 */
const uint8_t *in_peek(struct in *in, size_t want, size_t *have);
void in_skip(struct in *in, size_t n);          /* n <= *have of the last in_peek */

/*
 * The next line, in the buffer. *nl is its newline, or NULL if the *have bytes have none: then they
 * are `most` bytes, or all that is left. most is a power of two from 256 to IN_PEEK; a line is
 * shorter than that. in_skip consumes.
 */
const uint8_t *in_line(struct in *in, size_t most, size_t *have, const uint8_t **nl);

#endif
