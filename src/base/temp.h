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

int temp_becomes(const char *name, const char *final); /* the name that temp_done() gives it; 0, or -1 with errno */
int temp_done(const char *name);                /* it is finished: it gets that name; 0, or -1 with errno */
void temp_keep(const char *name);               /* it is done, or has another name: forget it */
void temp_remove(const char *name);             /* now; a folder with all that is in it */

/* For helper.h: are there any of ours?  Remove those that a process has made */
int temp_any(void);
void temp_remove_of(pid_t pid);

/* A file in TMPDIR or /tmp that never shows a name: a descriptor, or -1 with errno */
int temp_nameless(const char *tool);

#endif
