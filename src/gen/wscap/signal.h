/* Signals, the places where they are delivered, and instructions that are stopped at. */
#ifndef TM_GEN_WSCAP_SIGNAL_H
#define TM_GEN_WSCAP_SIGNAL_H

#include "gen/wscap/wscap.h"

/* signal.c */
/* the program has this action for sig, in the kernel's format, from now on */
void signal_action(struct cap *c, int sig, const uint8_t act[32]);
void signal_mask(struct cap *c);        /* the program's signal mask has changed */
/* at a signal-delivery stop: returns the signal to continue with (0: none) */
int on_signal(struct cap *c, int sig);
/* the process is at a place that must not be seen: returns the signal to continue with */
int signal_wait(struct cap *c, const siginfo_t *si);
int signal_is_fault(const siginfo_t *si);               /* did an instruction cause it? */
void signal_deadly(struct cap *c, int sig);             /* at the stop before the end by sig */
/* the capture ends here: records where, if that is amid computing */
void signal_leave(struct cap *c);
/*
 * wscap has caused sig, SIGILL, SIGTRAP, SIGBUS, SIGSEGV or SIGSYS.  If that was blocked or ignored, the kernel has unblocked it
 * and reset its action: restores both.
 */
void signal_forced(struct cap *c, int sig);
void signal_place(struct cap *c);       /* records the present place */
int signals_due(const struct cap *c);   /* are some held that have not been sent again, and would be delivered at once? */
void signals_send(struct cap *c);       /* sends them again: they arrive when the process continues, or at its call's end */
/*
 * Of those that were sent again, some are not pending any more: the kernel drops one where another of its number is pending,
 * and one that comes amid a call made on behalf of the process is held again.  They are to be sent again; it is stopped.
 */
void signals_lost(struct cap *c);
/* are some on their way, for which a place will be found? the search for another one would put them off */
int signals_sent(const struct cap *c);
void signals_force(struct cap *c);      /* held signals have waited long enough */

/* runs a program that is not at a system call to a place that can be found again: 0, a signal, or -1: it ended */
int signal_find_place(struct cap *c);
/* is the program where a system call ended? */
int signal_after_call(struct cap *c);

/* place.c: the place of an asynchronous signal */

/* Runs to the next stop, which is not that of an interruption by us: its status; 0: it cannot run; -1: it has ended. */
int place_run(struct cap *c, int how);
/* runs some steps: 0; a signal that came instead; -1: the program ended */
int place_search(struct cap *c);
/* The same for longer, at the end of a capture: to a system call, or until much was written. */
int place_search_far(struct cap *c);
/* adds stack and words to the signal record s; sp: rsp at the signal */
void place_record(struct cap *c, struct ws_rec_sig *s, uint64_t sp);

/* lately.c: memory that the program has changed lately */
int lately_begin(struct cap *c);        /* since now: 1; or since before: 0.  c is stopped */
int lately_long(struct cap *c);         /* has it run for long enough since then, to have changed something? */
/* up to `most` addresses, an even number, of words that have changed since then: how many; 0 if it has not begun */
size_t lately_end(struct cap *c, uint64_t *addr, size_t most);
void lately_forget(struct cap *c);      /* no longer since then */
void lately_again(struct cap *c);       /* others have run: since now, for signals that wait; or no longer */
void lately_free(struct cap *c);

/* random.c: rdrand, rdseed, rdpid */

/* searches a region that has become executable */
void random_scan(struct cap *c, const struct region *r, const char *name);
/* Forgets instructions in [lo, hi); there: the memory stays, and the program's own bytes are restored. */
void random_remove(struct cap *c, uint64_t lo, uint64_t hi, int there);
/* signal.c: continues with g after an instruction whose result is recorded by r: 0, or -1: the process was killed before it. */
int put_emulated(struct cap *c, const struct ws_rec *r, struct user_regs_struct *g);
/*
 * tsc.c: rdtsc has faulted: is it known by now how the time becomes what it tells? That takes some milliseconds from the
 * first time on.
 */
int tsc_scaled(struct tree *a);
/* tsc.c: as put_emulated, for rdtsc, or rdtscp if len is 3, at g */
int put_tsc(struct cap *c, struct user_regs_struct *g, unsigned len);

/* The memory of [lo, hi) is at `to` now: without breakpoints. */
void random_moved(struct cap *c, uint64_t lo, uint64_t hi, uint64_t to);
/* 1: it was such an instruction, and was emulated */
int random_trap(struct cap *c, const siginfo_t *si);
/* the address of such an instruction, if the process has executed its breakpoint and no more; else rip */
uint64_t random_trapped(const struct cap *c, uint64_t rip);
/* replaces breakpoints in a copy of memory by the program's bytes */
void random_hide(const struct cap *c, uint64_t addr, uint8_t *p, size_t n);
/* removes breakpoints from another process that shares or copied the memory, and runs untraced */
void random_child(const struct cap *c, struct tracee *t);
/* restores the breakpoints after random_child, if memory was shared */
void random_restore(struct cap *c);
/* the recorder takes care of rdtsc at addr, or no longer */
void random_lend(struct cap *c, uint64_t addr, int away);
void random_fork(struct cap *c);                /* sets the debug registers of a new process */
void random_off(struct cap *c);                                 /* the program continues untraced */

#define POINT 0x200u            /* insn of a site: a place of --from or --to, or where libraries are loaded */
int random_point(struct cap *c, uint64_t addr);         /* writes a breakpoint: 0 or -1 */
#define PAUSE 0x201u            /* a `pause` or a jump, in a loop that waits: spin.c */
void random_pause(struct cap *c, uint64_t addr, unsigned len);  /* stops there, if that can be */
void random_pauses(struct cap *c, int on);              /* at all of them, or at none for now */

#endif
