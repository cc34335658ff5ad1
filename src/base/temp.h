/*
 * Files and folders that are unfinished: they are removed when the program
 * ends before they are done, be it by exit() or by a signal.  Only the process
 * that made them removes them, not its children.
 */
#ifndef TM_BASE_TEMP_H
#define TM_BASE_TEMP_H

#include <sys/types.h>

/* Like mkstemp(3) and mkdtemp(3), whose template name ends in XXXXXX and is filled in; -1 with errno */
int temp_file(char *name, mode_t mode);         /* a descriptor, closed on exec; the mode is given as it is */
int temp_folder(char *name);                    /* 0; only the user can look into it */

void temp_keep(const char *name);               /* it is done, or has another name: forget it */
void temp_remove(const char *name);             /* now; a folder with all that is in it */

/* A file in TMPDIR or /tmp that never shows a name: a descriptor, or -1 with errno */
int temp_nameless(const char *tool);

#endif
