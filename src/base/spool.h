/* Temporary files without a name, in TMPDIR or /tmp.  For the tools: failure ends the program. */
#ifndef TM_BASE_SPOOL_H
#define TM_BASE_SPOOL_H

#include <stddef.h>

int spool_open(void);                                   /* a descriptor, the caller's */
void spool_write(int fd, const void *p, size_t n);      /* all of it */

/*
 * Copies all of standard input to such a file; by what path it can be opened
 * as often as needed while the program runs.  The caller frees that.
 */
char *spool_stdin(void);

#endif
