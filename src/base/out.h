/*
 * Output that is known to have been written. For the tools: any failure ends the program with one
 * line and the trouble status (a broken pipe silently).
 *
 * The rule for all outputs: a regular file is written under a temporary name in its folder, and
 * out_close() renames it. So half an output is never visible, and a file of that name stays until
 * then. The tools refuse one that they read: it may be all that there is of a run, and what is made
 * of it has less. Anything else that exists (devices, pipes) is written to directly, as
 * are standard output and names like /dev/stdout. Symbolic links are followed, also to a file that
 * does not exist yet. A program that exits before out_close() (die, a signal) leaves no temporary
 * file, and flushes standard output.
 */
#ifndef TM_BASE_OUT_H
#define TM_BASE_OUT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/fault.h"

struct out;

#define OUT_ROOM (256u << 10)   /* the most that out_reserve() can return */

struct out *out_open(const char *path);                 /* NULL or "-": standard output */
/* mode of a new file, before the umask; out_open uses 0666 */
struct out *out_create(const char *path, mode_t mode);
/* writes directly to a descriptor, which out_close() closes; name: for diagnostics */
struct out *out_of_fd(int fd, const char *name);
/*
 * An output will have this name, or NULL: if a file has it, opening that for reading, by any name, ends the program
 * from now on. opt.h does so for -o, before anything is read.
 */
void out_replaces(const char *path);
/* 0666, less the bits for group or others if they may not read the input file */
mode_t out_mode_of(const char *input);
/* for writing by other means; out_close() closes it */
int out_fd(const struct out *o);
const char *out_name(const struct out *o);              /* for diagnostics; owned by o */
/* Before binary output: ends the program if it would go to a terminal.  what: "a reference stream" */
void out_binary(const struct out *o, const char *what);
void out_write(struct out *o, const void *p, size_t n);
void out_str(struct out *o, const char *s);
void out_printf(struct out *o, const char *fmt, ...) __attribute__((format(printf, 2, 3), nonnull(2)));

/* n <= OUT_ROOM writable bytes in the buffer; out_commit says how many of them were filled. */
uint8_t *out_reserve(struct out *o, size_t n);
void out_commit(struct out *o, size_t n);

void out_flush(struct out *o);
void out_clear_buffer(struct out *o);   /* drops what is in the buffer */

/*
 * For a file that is useful before it is finished: it gets its final name now and keeps it,
 * whatever ends the program. 1; 0 if it is written to directly and has no other name; -1 with
 * errno, and an old file of that name is unchanged.
 */
int out_publish(struct out *o);

void out_close(struct out *o);  /* writes, checks, renames, frees: the end of every tool */
void out_discard(struct out *o);   /* After bad input: flushes standard output, or removes the file; frees. */

/*
 * The end of a tool that made its output of the input `path`. f: what is wrong with it, which ends the
 * program after out_discard; NULL: closes o, and warns of the input, unless warning is NULL.
 */
void out_end(struct out *o, const char *path, const struct fault *f, const char *warning);

#endif
