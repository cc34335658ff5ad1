/* Standard input that is read several times.  For the tools. */
#ifndef TM_BASE_SPOOL_H
#define TM_BASE_SPOOL_H

/*
 * Copies all of standard input to a temporary file without a name, in TMPDIR
 * or /tmp; by what path it can be opened as often as needed while the program
 * runs.  The caller frees that.
 */
char *spool_stdin(void);

#endif
