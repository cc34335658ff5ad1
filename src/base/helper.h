/*
 * A second process does what a confined one (confine.h) may no longer do itself: give a finished
 * file its name, remove unfinished files (temp.h), make temporary files, and open files of the
 * sorts that the tool allows, for reading. It does nothing else.
 *
 * The helper is forked when the process is confined. It then has the list of unfinished files, so
 * that a request only chooses among them. When the confined process is gone, the helper removes its
 * unfinished files and ends.
 */
#ifndef TM_BASE_HELPER_H
#define TM_BASE_HELPER_H

enum helper_allow {
	HELPER_ELF = 1,         /* open ELF executables and libraries */
	HELPER_TEXT = 2,        /* open any regular file, except in /proc and the like */
	HELPER_TEMP = 4         /* make temporary files */
};
/* For a tool's main(): what the tool needs once it is confined. The helper refuses everything else. */
void helper_allow(unsigned what);

/* open(path, O_RDONLY), through the helper once there is one: a descriptor, or -1 with errno. */
int helper_open(const char *path, enum helper_allow what);

/*
 * The same for a file that is read again later: its descriptor is kept, so that the next call needs
 * no helper.
 */
int helper_keep_open(const char *path);

/*
 * Internal to base. Forks the helper if it will have something to do; 0, or -1 with errno. `forget`
 * frees what the helper does not need.
 */
int helper_start(void (*forget)(void *arg), void *arg);
enum helper_op { HELPER_DONE = 16, HELPER_REMOVE, HELPER_REMOVE_ALL };
int helper_running(void);       /* is there a helper? */
/* 0 or a descriptor; -1 with errno. May be called in a signal handler. */
int helper_request(unsigned op, const char *path);

#endif
