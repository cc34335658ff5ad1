/*
 * Output that is known to have been written.  For the tools: any failure ends
 * the program with one line and the trouble status (a broken pipe silently).
 *
 * The rule for all outputs: a regular file is written under a temporary name in
 * its folder and renamed by out_close(), so nobody finds half an output, and
 * what had the name before stays until then.  It may be the input.  Anything
 * else that exists (devices, pipes) is written through, as are standard output
 * and the like of /dev/stdout.  A symbolic link is followed, also to where
 * nothing is yet.  A program that exits before out_close() (die, a signal)
 * leaves no temporary file, and delivers what standard output was given.
 */
#ifndef TM_BASE_OUT_H
#define TM_BASE_OUT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct out;

#define OUT_ROOM (256u << 10)   /* the most that out_room() grants */

struct out *out_open(const char *path);                 /* NULL or "-": standard output */
struct out *out_create(const char *path, mode_t mode);  /* mode of a new file, before the umask: 0666 for out_open */
mode_t out_mode_of(const char *input);                  /* 0666, less what others may not read if input is a file that they may not */
int out_fd(const struct out *o);                        /* to write by other means than these; out_close() closes it */
const char *out_name(const struct out *o);              /* for diagnostics; owned by o */
void out_write(struct out *o, const void *p, size_t n);
void out_str(struct out *o, const char *s);
void out_printf(struct out *o, const char *fmt, ...) __attribute__((format(printf, 2, 3), nonnull(2)));

/* n <= OUT_ROOM writable bytes in the buffer; out_used says how many of them were filled */
uint8_t *out_room(struct out *o, size_t n);
void out_used(struct out *o, size_t n);

void out_flush(struct out *o);
void out_forget(struct out *o);                         /* what is in the buffer */

/*
 * For a file that is of use before it is finished: it has its name from now on, and keeps it whatever ends the program.
 * 1; 0: it is written through, and has no other name; -1 with errno: what had the name still has it.
 */
int out_settle(struct out *o);

void out_close(struct out *o);  /* write, check, rename, free: the end of every tool */
void out_drop(struct out *o);   /* after bad data: standard output gets what there is, a file is removed; frees */

#endif
