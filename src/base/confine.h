/*
 * Confinement of a process that is about to execute instructions from a file. The kernel then lets
 * it compute, use memory, read and write the descriptors that are open, ask when a file was
 * changed, and little else. It cannot open, make, remove or rename a file, start a program or a
 * process, connect to another process or send it a signal. A helper does what it still needs of
 * that (helper.h).
 *
 * The memory that it may fill is bounded, too, and when the system runs out of memory, this process
 * is killed first.
 *
 * TRACEMILL_CONFINE=no in the environment turns the confinement off, for systems that do not allow
 * it. TRACEMILL_MEMORY=bytes replaces the default bound of three quarters of the machine's memory.
 */
#ifndef TM_BASE_CONFINE_H
#define TM_BASE_CONFINE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct sock_filter;

/*
 * Confines this process, all its threads, and the processes that it forks from now on. A second
 * call does nothing. `forget`, if it is not NULL, runs in the forked helper and frees what the
 * helper does not need. 0, or -1 with a message in *why.
 */
int confine_process(void (*forget)(void *arg), void *arg, const char **why);

/*
 * To be called before confine_process: n processes share the bound of memory; this process may go
 * on stopping, changing and killing process pid, which it traces.
 */
void confine_jobs(unsigned n);
void confine_tracee(pid_t pid);

/* NULL, or the message that the bound of memory was reached. */
const char *confine_memory_exceeded(void);

/* Ends a forked process that shares its parent's files: no output is finished in the parent's name. */
_Noreturn void confine_exit(void);

/*
 * A filter for a process that is to execute instructions under ptrace: it allows only the system
 * calls that change the process's own memory; any other kills it. f has room for CONFINE_MEMORY_MAX
 * instructions. Returns their number.
 */
#define CONFINE_MEMORY_MAX 32
size_t confine_memory_only(struct sock_filter *f);

#endif
