/* Parts of wscap: a program under ptrace, and what is written down of it. */
#ifndef TM_GEN_WSCAP_WSCAP_H
#define TM_GEN_WSCAP_WSCAP_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/user.h>

#include "base/out.h"
#include "format/ws/ws.h"
#include "replay/ptrace/tracee.h"

#define PAGE 4096u
#define CHUNK (64u << 10)               /* bytes of scratch */
#define GROUP (256u << 10)              /* bytes of memory in a group of the capture */

/* A stretch of the program's memory, one mapping or part of one */
struct region {
	uint64_t lo, hi;
	uint64_t offset, dev, ino;      /* of its file; ino 0: none */
	int prot;
	uint8_t shared, wasw;           /* it could be written at some time */
	uint8_t stack;
};

struct regions {
	struct region *p;               /* ascending, apart; owned */
	size_t n, cap;
};

#define NDEBUG_REGS 4
struct site {                           /* an instruction whose result the processor makes up */
	uint64_t addr;
	struct tracee_random d;
	uint8_t sure;                   /* it is an instruction, and no data */
	int8_t slot;                    /* the debug register that watches it; -1: a breakpoint was written there */
	uint8_t was;                    /* instead of this byte */
};

struct shadow {                         /* writable memory as it was */
	struct range { uint64_t addr; size_t n, at; } *range;
	size_t n, cap;
	uint8_t *p;                     /* owned */
	size_t size, room;
};

#define NFILES 64               /* descriptors whose files are remembered */

struct file {
	int known;
	uint64_t dev, ino;              /* ino 0: no file */
	int memory;                     /* it is the program's memory, as /proc has it */
};

struct cap {
	struct tracee t;
	struct ws_writer *w;            /* NULL: nothing is recorded, or not any more */
	struct out *dest;               /* the file, */
	int fd;                         /* which is written by this */
	const char *path;               /* of it; for messages */
	enum ws_level level;
	int audit, touch;               /* --audit, --first-touch */
	int traced;                     /* ptrace still holds it */
	int failed;                     /* the capture could not be written */
	int asked;                      /* someone wanted to end us, and that ended the program */
	size_t since;                   /* bytes of memory in the group */
	int dirty;                      /* something was recorded since the last cut */
	int twice;                      /* it was said that memory is mapped twice */
	int listen;                     /* it is stopped by job control */
	int notsc, nocpuid;             /* rdtsc, cpuid fault; else rdtsc is stopped at */
	int inside;                     /* between the two stops of a system call */
	int restart;                    /* the call `in` was interrupted, and the kernel may begin it anew */
	int behind;                     /* it stands right behind a system call, with the registers `out` */
	int compare;                    /* the shadow was made for the call in progress */
	int denied;                     /* the call in progress is not made, and gives: */
	long pretended;
	struct user_regs_struct in, out;
	uint8_t newact[32];             /* the new action of the rt_sigaction in progress */
	uint64_t oldadvice;             /* of the madvise in progress, + 1; 0: as it is */
	uint64_t handler[65], actflags[65];
	uint64_t sent;                  /* held signals that were sent again, by number - 1 */
	int ended, hasended;            /* its wait status, when a step of ours was its end */
	uint64_t cputime;               /* of the program, at the last trigger; nanoseconds */
	uint64_t brk;                   /* rounded up to pages */
	struct regions reg;
	struct regions hidden;          /* --first-touch: what the program did not reach for yet */
	struct site *site;              /* owned */
	size_t nsite, capsite;
	int unsaid;                     /* it was said that one is not recorded */
	uint64_t mask;                  /* signals that the program blocks */
	uint8_t segv[32], trap[32];     /* its actions for SIGSEGV and SIGTRAP, as the kernel takes them */
	struct shadow shadow;
	struct shadow common;           /* memory that children can write, as it was after the last call */
	int sharing;                    /* there is such memory, and there were children */
	struct file file[NFILES];
	uint64_t pcs[64];               /* `syscall` instructions that were looked at */
	struct ws_cpuid cpuid[WS_CPUID_MAX];
	size_t ncpuid;                  /* what cpuid said so far */
	uint8_t *scratch;               /* CHUNK bytes */
	uint8_t *xsave;                 /* WS_XSAVE_MAX bytes */
	uint8_t stack[WS_SIGSTACK];     /* where a signal came */
	uint64_t place[WS_SIGWORDS];    /* what the program wrote right before that */
	size_t nplace;
	uint8_t words[WS_SIGWORDS * WS_SIGWORD];
};

/* A system call in progress */
struct call {
	uint64_t nr, arg[6];
	int64_t ret;
};

/* start.c */
void cap_begin(struct cap *c, char *const argv[]);      /* header, START, first memory; the program stands behind execve */

/* cpuid.c */
size_t cpuid_table(struct ws_cpuid *t, size_t max);     /* ascending; how many */
void cpuid_brand(const struct ws_cpuid *t, size_t n, char brand[49]);
void cpuid_answer(struct cap *c, struct ws_cpuid *d);   /* what the instruction gives for d->leaf, d->sub */

/* put.c: records */
void wscap_put(struct cap *c, const struct ws_rec *r);
void put_note(struct cap *c, const char *text);
void put_mem(struct cap *c, uint64_t addr, uint64_t n);                 /* what memory holds; as far as it is mapped */
void put_zero(struct cap *c, uint64_t addr, uint64_t n);
void put_pages(struct cap *c, uint64_t lo, uint64_t hi);                /* those that are not all zero */
void put_map(struct cap *c, const struct region *r, uint32_t type, const char *name);
void put_range(struct cap *c, enum ws_kind kind, uint64_t addr, uint64_t len, int prot);
void put_sys(struct cap *c, const struct user_regs_struct *g, uint64_t ret);
size_t get_xsave(struct cap *c);                                        /* bytes now in c->xsave */

/* region.c: the program's mappings; out of memory ends everything */
void region_set(struct regions *g, const struct region *r);             /* replaces what was there */
void region_cut(struct regions *g, uint64_t lo, uint64_t hi);
void region_prot(struct regions *g, uint64_t lo, uint64_t hi, int prot);
void region_move(struct regions *g, uint64_t from, uint64_t oldlen, uint64_t to, uint64_t newlen);
size_t region_at(const struct regions *g, uint64_t addr);               /* first that ends behind addr; g->n: none */

/* call.c: system calls */
int call_enter(struct cap *c);          /* 0; or -1: the capture ends here */
void call_leave(struct cap *c);

/* maps.c: calls that change mappings; special.c: the others that need a function */
#define CALLS X(mmap) X(mprotect) X(munmap) X(brk) X(mremap) X(madvise) X(shmat) X(shmdt) \
	X(sigaction) X(sigreturn) X(ioctl) X(mincore) X(msgrcv) X(recvmmsg) X(clone) X(fcntl) X(prctl) \
	X(arch_prctl) X(futex) X(exec) X(exit)
#define X(f) void sys_##f(struct cap *c, const struct call *k);
CALLS
#undef X
void put_iov(struct cap *c, uint64_t iov, uint64_t count, uint64_t n);
int ioctl_known(const struct call *k);
void put_msg(struct cap *c, uint64_t msg, uint64_t n);

/* compare.c: what changed in all writable memory */
void compare_before(struct cap *c);
void compare_known(struct cap *c, uint64_t addr, const uint8_t *p, size_t n);   /* that this changed is known: memory there is p now */
size_t compare_after(struct cap *c, int tell);          /* records it; tell: says so.  Bytes that changed */

void compare_shared(struct cap *c);                     /* before the first child and after each call: what children wrote since */

/* file.c */
void file_call(struct cap *c, const struct call *k);    /* what a call changes in mapped files, and in which files are open */

/* signal.c */
void signal_mask(struct cap *c);        /* the program's changed */
int on_signal(struct cap *c, int sig);  /* at a signal-delivery stop: with what signal to go on (0: none) */
void signal_deadly(struct cap *c, int sig);             /* in the stop before the end by sig */
void signals_send(struct cap *c);       /* at a syscall-entry stop: those held are to be seen at the call's end */
void signals_force(struct cap *c);      /* those held have waited long enough */

/* place.c: the place of an asynchronous signal */
int place_search(struct cap *c);        /* goes on for some steps: 0; a signal that came instead; -1: it ended */
void place_tell(struct cap *c, struct ws_rec_sig *s, uint64_t sp);

/* random.c: rdrand, rdseed, rdpid */
void random_scan(struct cap *c, const struct region *r, const char *name);      /* what can be executed now */
void random_cut(struct cap *c, uint64_t lo, uint64_t hi, int there);    /* not there any more, or, if `there`, with the program's own bytes */
/* signal.c: what rdtsc, or rdtscp where len is 3, gives: to g, and recorded */
void put_tsc(struct cap *c, struct user_regs_struct *g, unsigned len);

int random_trap(struct cap *c, const siginfo_t *si);            /* 1: it was one, and is done */
void random_hide(const struct cap *c, uint64_t addr, uint8_t *p, size_t n);     /* memory as the program has it */
void random_child(const struct cap *c, struct tracee *t);       /* another process that has our memory runs without us */
void random_again(struct cap *c);                               /* ... and had it in common with the program */
void random_off(struct cap *c);                                 /* the program goes on without us */

/* child.c: other processes, and ours without us */
void child_free(struct cap *c, pid_t pid);              /* a new process: to run as if we were not there */
uint64_t clone_flags(struct cap *c, const struct call *k);
void cap_release(struct cap *c);                        /* the program itself goes on alone; from any stop but a syscall-entry stop */
uint64_t find_site(pid_t pid, struct tracee *t);        /* a `syscall` instruction in its vdso; 0: none */

/* touch.c: --first-touch */
void touch_hide(struct cap *c, uint64_t lo, uint64_t hi);
int touch_fault(struct cap *c, uint64_t addr);          /* 1 if that was ours */
void touch_all(struct cap *c);                          /* everything that is hidden is given back */
int touch_call(struct cap *c, const struct call *k);    /* at the call's entry; 1: it will be made again, with what it uses given back */
int touch_again(struct cap *c, const struct call *k);   /* at its end; 1: it failed because of us, and will be made again */
void touch_protected(struct cap *c, uint64_t lo, uint64_t hi);  /* the program changed the protection: hide it again */

/* run.c */
void cap_signals(struct cap *c);                        /* from now on our signals are for the program, or for none */
int cap_run(struct cap *c);                             /* to the program's end: its wait status */
void cap_stop(struct cap *c, const char *why);          /* at a syscall-entry stop: the record ends here, the program does not; why NULL: it failed */
void cap_hurry(int on);                                 /* look at held signals every few milliseconds */

#endif
