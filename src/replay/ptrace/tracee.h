/*
 * A process of ours under ptrace on x86-64: launching it, its registers and
 * memory, system calls on its behalf.  It is seized, so that it can be
 * stopped by job control, and killed when its tracer dies.
 *
 * Functions that return int give 0, or an errno as a positive number; ESRCH
 * means that the process is gone (or was killed): wait for it.
 */
#ifndef TM_REPLAY_PTRACE_TRACEE_H
#define TM_REPLAY_PTRACE_TRACEE_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

#include "format/ws/ws.h"

#define TRACEE_HELD 64

struct tracee {
	pid_t pid;
	int mem;                        /* /proc/PID/mem */
	uint64_t site;                  /* a `syscall` instruction of the process; 0: one is written where it stands */
	siginfo_t held[TRACEE_HELD];    /* signals that came in between, oldest first; the process has not seen them */
	unsigned nheld;
};

/*
 * Launch argv (argv[0] is looked up in PATH).  It stands behind its execve,
 * before the first instruction, in a syscall-exit stop.  On failure nothing is
 * left of it; *atexec says whether execve failed rather than we.
 */
int tracee_start(struct tracee *t, char *const argv[], int *atexec);
void tracee_close(struct tracee *t);            /* our descriptors; the process is not touched */

int tracee_resume(struct tracee *t, int how, int sig);          /* how: PTRACE_SYSCALL, PTRACE_CONT, ... */
int tracee_wait(struct tracee *t, int *status);                 /* EINTR: a signal of ours came */
int tracee_regs(struct tracee *t, struct user_regs_struct *g);
int tracee_setregs(struct tracee *t, const struct user_regs_struct *g);
int tracee_xsave(struct tracee *t, void *p, size_t *n);         /* in: room; out: bytes of the image */
void tracee_hold(struct tracee *t, const siginfo_t *si);

/* Registers of a capture.  rax as given: while a system call is made it is in orig_rax */
void tracee_from_user(struct ws_regs *w, const struct user_regs_struct *g, uint64_t rax);
void tracee_to_user(struct user_regs_struct *g, const struct ws_regs *w);

/*
 * A system call in the process's name, from any stop but a syscall-entry
 * stop; registers are as before.  Its result (-errno as the kernel gives it)
 * goes to *ret.
 */
int tracee_call(struct tracee *t, long *ret, long nr, uint64_t a, uint64_t b, uint64_t c, uint64_t d,
    uint64_t e, uint64_t f);

/* From a syscall-entry stop with the registers g: the call is not made; the process stands before the instruction again. */
int tracee_uncall(struct tracee *t, const struct user_regs_struct *g);

/* How many bytes could be copied: what lies behind them is not mapped.  Protection does not matter. */
size_t tracee_read(struct tracee *t, uint64_t addr, void *p, size_t n);
size_t tracee_readable(struct tracee *t, uint64_t addr, void *p, size_t n);     /* only what the process itself may read */
size_t tracee_write(struct tracee *t, uint64_t addr, const void *p, size_t n);
size_t tracee_string(struct tracee *t, uint64_t addr, char *p, size_t room);    /* length; room at most, then without NUL */

/*
 * Does rdtsc fault in a process that asks for it?  There are kernels, of guests
 * that are paged by their host among them, which promise it and do not keep it.
 */
int tracee_tsc_faults(void);
int tracee_watches(void);               /* do debug registers stop a process?  Where they do not, they can be written all the same */

/* An instruction whose result the processor makes up */
#define TRACEE_TSC 0x100u       /* insn: rdtsc, rdtscp, which tracee_make_random does not make */
struct tracee_random {
	uint32_t insn;                  /* enum ws_random, or TRACEE_TSC */
	unsigned reg, size, len;        /* the general register it writes, how many bytes of it; its own bytes */
};
int tracee_random(const uint8_t *b, size_t n, struct tracee_random *d);         /* -1: b is none; TRACEE_TSC is none */
int tracee_tsc(const uint8_t *b, size_t n, struct tracee_random *d);            /* -1: b is not TRACEE_TSC */
void tracee_make_random(const struct tracee_random *d, struct ws_rec_rand *rec);        /* executes one */
void tracee_give_random(const struct tracee_random *d, const struct ws_rec_rand *rec, struct ws_regs *w);      /* it is over */

struct tracee_map {
	uint64_t lo, hi, offset, dev, ino;
	int prot, shared;
	size_t name;                    /* offset into tracee_maps.text */
};

struct tracee_maps {
	struct tracee_map *map;         /* ascending; owned */
	size_t n, cap;
	char *text;                     /* owned */
};

int tracee_maps(pid_t pid, struct tracee_maps *m);              /* /proc/PID/maps; m zeroed or from an earlier call */
int tracee_maps_open(pid_t pid);                                /* a descriptor of that file, for: -1 with errno */
int tracee_maps_of(int fd, struct tracee_maps *m);
void tracee_maps_free(struct tracee_maps *m);

#endif
