/*
 * Confinement of a process that is about to execute instructions which a file
 * holds: from then on the kernel lets it compute, use memory, read and write
 * the descriptors that are open, ask when a file was changed, and little else.
 * It opens, makes, removes and renames no file, starts no program and no
 * process, connects to nobody and signals nobody.  What it still needs of
 * that, a helper does (helper.h).
 *
 * The memory that it may fill is bounded, too, and when the system runs out of
 * memory, it is the first to go.
 *
 * TRACEMILL_CONFINE=no in the environment leaves the confinement out, for
 * systems that do not allow it; TRACEMILL_MEMORY=bytes is another bound than
 * three quarters of the machine's memory.
 */
#ifndef TM_BASE_CONFINE_H
#define TM_BASE_CONFINE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct sock_filter;

/*
 * Confines this process, all its threads, and what it forks from now on; a
 * second time is nothing.  `forget` frees what the helper, which is forked,
 * need not have; NULL: nothing.  0; -1: *why says in words what is amiss.
 */
int confine_process(void (*forget)(void *arg), void *arg, const char **why);

/* Before that: so many processes share the bound of memory; this process, traced by ours, goes on being stopped, changed and killed */
void confine_jobs(unsigned n);
void confine_tracee(pid_t pid);

/* Was the bound of memory reached?  NULL, or that in words */
const char *confine_full(void);

/* The end of a forked process that shares its parent's files and must finish nothing in its name */
_Noreturn void confine_end(void);

/*
 * A filter for a process that is to execute instructions under ptrace: room
 * for 32 instructions, returns how many there are.  Of system calls only those
 * that change its memory are left, and any other kills it.
 */
#define CONFINE_MEMORY_MAX 32
size_t confine_memory_only(struct sock_filter *f);

#endif
