/*
 * Unfinished files and folders: they are removed if the program ends, by exit() or a signal, before
 * they are done. Only the process that made them removes them, not its children.
 */
#ifndef TM_BASE_TEMP_H
#define TM_BASE_TEMP_H

#include <sys/types.h>

/*
 * For temp_file: a name in the folder of path, which begins like path and is not too long. The
 * caller frees it; NULL with errno.
 */
char *temp_name(const char *path);
/* Like mkstemp(3) and mkdtemp(3): the name ends in XXXXXX, which is filled in; -1 with errno. */
int temp_file(char *name, mode_t mode);         /* a descriptor, closed on exec; the umask is not applied */
int temp_folder(char *name);                    /* 0; only the user may access it */

/* sets the name that temp_commit() gives it; 0, or -1 with errno */
int temp_set_final(const char *name, const char *final);
int temp_commit(const char *name);              /* it is finished and gets that name; 0, or -1 with errno */
void temp_keep(const char *name);               /* it is done under its present name: takes it off the list */
void temp_remove(const char *name);             /* removes it now, a folder with its contents */

/* For helper.h: are there unfinished files of this process? Removes those that process pid has made. */
int temp_exists(void);
void temp_remove_process(pid_t pid);

/* A file in TMPDIR or /tmp that never has a name: a descriptor, or -1 with errno. */
int temp_unnamed(const char *tool);

#endif
