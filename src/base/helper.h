/*
 * A second process that does for a confined one (confine.h) what that may no
 * longer do itself, and nothing else: give a finished file its name, remove
 * unfinished ones (temp.h), make temporary files, and open files for reading,
 * of the sorts that the tool allows.
 *
 * The helper is forked when the process is confined, and has by then the list
 * of unfinished files, so that what the confined process asks for is a choice
 * among them.  When that process is gone, the helper removes what is left of
 * them and ends.
 */
#ifndef TM_BASE_HELPER_H
#define TM_BASE_HELPER_H

enum helper_may {
	HELPER_ELF = 1,         /* open executables and libraries */
	HELPER_TEXT = 2,        /* open any regular file, but of /proc and its like */
	HELPER_TEMP = 4         /* make temporary files */
};
void helper_may(unsigned what);         /* for a tool's main(): what it needs once it is confined; nothing else is done */

/*
 * open(path, O_RDONLY), with the helper once there is one: a descriptor, or -1
 * with errno.
 */
int helper_open(const char *path, enum helper_may what);

/*
 * The same for a file that is read again later: it is held open, so that the
 * next call needs no helper.
 */
int helper_hold(const char *path);

/* Between base's files: forks it if it has something to do, 0 or -1 with errno; `forget` frees what the helper has no use for */
int helper_start(void (*forget)(void *arg), void *arg);
enum helper_op { HELPER_DONE = 16, HELPER_REMOVE, HELPER_REMOVE_ALL };
int helper_on(void);                                    /* is there one? */
int helper_ask(unsigned op, const char *path);          /* 0 or a descriptor; -1 with errno.  May be called in a signal handler. */

#endif
