/* Unnamed temporary files, in TMPDIR or /tmp. For the tools: failure ends the program. */
#ifndef TM_BASE_SPOOL_H
#define TM_BASE_SPOOL_H

#include <stddef.h>

int spool_open(void);                                   /* a descriptor, which the caller closes */
void spool_write(int fd, const void *p, size_t n);      /* writes all n bytes */

/*
 * Copies all of standard input to such a file. Returns a path by which it can be opened as often as
 * needed while the program runs; the caller frees it.
 */
char *spool_stdin(void);

#endif
