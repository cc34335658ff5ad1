/*
 * A child process under ptrace on x86-64: launches it, accesses its registers and memory, and
 * makes system calls on its behalf.  It is seized, so that job control can stop it, and it is
 * killed when its tracer dies.
 *
 * Functions that return int return 0 or a positive errno.  ESRCH means that the process is gone
 * (or was killed): wait for it.
 */
#ifndef TM_REPLAY_PTRACE_TRACEE_H
#define TM_REPLAY_PTRACE_TRACEE_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

#include "format/ws/ws.h"

#define TRACEE_OPTIONS (PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEEXEC | PTRACE_O_TRACEFORK | \
	PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXIT)
#define TRACEE_CS_64 0x33       /* the code segment of 64-bit programs */
#define TRACEE_HELD 64          /* signals held at most */

struct tracee {
	pid_t pid;
	int mem;                        /* descriptor of /proc/PID/mem */
	/* address of a `syscall` instruction in the process; 0: one is written where it stands */
	uint64_t site;
	siginfo_t held[TRACEE_HELD];    /* signals that came in between, oldest first; not delivered yet */
	unsigned nheld;
	int gone, status;               /* it ended amid a call on its behalf, with this wait status */
	int lost;                       /* it was killed in one, and had these registers before: */
	struct user_regs_struct had;
	int known;                      /* since it stopped, its registers were read, and not changed: */
	struct user_regs_struct now;
};

/*
 * Launches argv; argv[0] is looked up in PATH.  The process stands after its execve, before its
 * first instruction, in a syscall-exit stop.  fixed: without random addresses, if the system allows
 * that.  On failure no process is left, and *atexec says
 * whether execve failed rather than the tracer.
 */
int tracee_start(struct tracee *t, char *const argv[], int fixed, int *atexec);
void tracee_close(struct tracee *t);            /* closes our descriptors; does not touch the process */

void tracee_stopped(struct tracee *t);          /* it has run, and stopped, without the two functions after this one */
int tracee_resume(struct tracee *t, int how, int sig);          /* how: PTRACE_SYSCALL, PTRACE_CONT, ... */
int tracee_wait(struct tracee *t, int *status);                 /* EINTR: the tracer received a signal */
int tracee_regs(struct tracee *t, struct user_regs_struct *g);  /* the process must be stopped */
int tracee_setregs(struct tracee *t, const struct user_regs_struct *g);
int tracee_xsave(struct tracee *t, void *p, size_t *n);         /* *n in: room; out: bytes of the image */
int tracee_sent(const siginfo_t *si);           /* may this process have sent it, by tgkill? */
/*
 * The signals that are pending for t, or for all its process, and for which `is` is not 0, if it is not NULL: a set of
 * number - 1.  0, or -1: not all are known
 */
int tracee_pending(const struct tracee *t, int shared, int (*is)(const siginfo_t *si), uint64_t *set);
void tracee_hold(struct tracee *t, const siginfo_t *si);        /* appends a signal to `held` */

/*
 * Conversion to and from the registers of a capture.  rax is a parameter, as during a system
 * call its value is in orig_rax.
 */
void tracee_from_user(struct ws_regs *w, const struct user_regs_struct *g, uint64_t rax);
void tracee_to_user(struct user_regs_struct *g, const struct ws_regs *w);

/*
 * Makes a system call on the process's behalf, from any stop but a syscall-entry stop; the
 * registers do not change.  Its result (-errno on failure) is in *ret.
 */
int tracee_call(struct tracee *t, long *ret, long nr, uint64_t a, uint64_t b, uint64_t c, uint64_t d,
    uint64_t e, uint64_t f);

/* From such a stop: the process executes code from the registers `from` on, up to an int3; its registers do not change. */
int tracee_run(struct tracee *t, const struct user_regs_struct *from);

/*
 * From a syscall-entry stop with the registers g: cancels the call; the process stands before
 * the instruction again.
 */
int tracee_cancel_call(struct tracee *t, const struct user_regs_struct *g);

/* Returns how many bytes were copied; the memory after them is not mapped.  Protection does not matter. */
size_t tracee_read(struct tracee *t, uint64_t addr, void *p, size_t n);
/* only memory that the process itself may read */
size_t tracee_readable(struct tracee *t, uint64_t addr, void *p, size_t n);
/* returns how many bytes were written; ignores protection */
size_t tracee_write(struct tracee *t, uint64_t addr, const void *p, size_t n);
/*
 * Between these two, small pieces that are read and written by ascending address take two system calls for each page.
 * The process must not run in between, and whether a piece could be written is not known; they may be nested.
 */
void tracee_batch(struct tracee *t);
void tracee_batch_end(struct tracee *t);
/* returns the length; `room` if no NUL is within room bytes */
size_t tracee_string(struct tracee *t, uint64_t addr, char *p, size_t room);

/*
 * Does rdtsc fault in a process that asks for it? Some kernels promise it and do not keep it,
 * such as those of guests that are paged by their host.
 */
int tracee_tsc_faults(void);
/* Do debug registers stop a process? Where they do not, they can be written nevertheless. */
int tracee_has_watchpoints(void);

/* An instruction whose result the processor makes up. */
#define TRACEE_TSC 0x100u       /* insn: rdtsc or rdtscp, which tracee_execute_random does not execute */
#define TRACEE_CPUID 0x101u     /* insn: cpuid, the same */
struct tracee_decode_random {
	uint32_t insn;                  /* enum ws_random, TRACEE_TSC or TRACEE_CPUID */
	/* the general register it writes, how many bytes of it; length of the instruction */
	unsigned reg, size, len;
};
/* -1: b is none; TRACEE_TSC counts as none */
int tracee_decode_random(const uint8_t *b, size_t n, struct tracee_decode_random *d);
/* -1: b is neither rdtsc nor rdtscp */
int tracee_decode_tsc(const uint8_t *b, size_t n, struct tracee_decode_random *d);
/* executes one here */
void tracee_execute_random(const struct tracee_decode_random *d, struct ws_rec_rand *rec);
/* sets the registers after it */
void tracee_set_random(const struct tracee_decode_random *d, const struct ws_rec_rand *rec,
    struct ws_regs *w);

struct tracee_map {
	uint64_t lo, hi, offset, dev, ino;
	int prot, shared;
	size_t name;                    /* offset into tracee_maps.text */
};

struct tracee_maps {
	struct tracee_map *map;         /* ascending; owned, freed by tracee_maps_free */
	size_t n, cap;
	char *text;                     /* owned */
};

/* reads /proc/PID/maps; m is zeroed or from an earlier call */
int tracee_maps(pid_t pid, struct tracee_maps *m);
int tracee_maps_of(int fd, struct tracee_maps *m);      /* reads that file again through a descriptor of it */
/* opens /proc/PID/NAME, with flags of open(2): a descriptor, or -1 with errno */
int tracee_open(pid_t pid, const char *name, int flags);
void tracee_maps_free(struct tracee_maps *m);

#endif
