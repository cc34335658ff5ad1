/* State and functions shared by the files of wscap: processes under ptrace, and their capture. */
#ifndef TM_GEN_WSCAP_WSCAP_H
#define TM_GEN_WSCAP_WSCAP_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/user.h>
#include <time.h>

#include "base/out.h"
#include "format/ws/runs.h"
#include "format/ws/store.h"
#include "format/ws/ws.h"
#include "gen/wscap/hold.h"
#include "gen/wscap/share.h"
#include "replay/ptrace/tracee.h"

#define PAGE 4096u
#define CHUNK (64u << 10)               /* bytes of scratch */
#define GROUP (192u << 10)              /* bytes of memory in a group of the capture */

/* A range of the program's memory: a mapping, or a part of one. */
struct region {
	uint64_t lo, hi;
	uint64_t offset, dev, ino;      /* of its file; ino 0: no file */
	int prot;
	uint8_t shared, wasw;           /* wasw: it was writable at some time */
	uint8_t stack;
	uint8_t foreign;                /* another captured process writes to it */
	uint8_t zeros;                  /* pages that do not exist are zero: it has no file */
	uint8_t learned;                /* number of the known places of its file that the recorder was asked for */
};

struct regions {
	struct region *p;               /* by ascending address, not overlapping; owned */
	size_t n, cap;
	uint64_t version;               /* another one after each change, and in each list */
};

#define FORCED 5                /* signals that wscap causes in a process */
#define NDEBUG_REGS 4           /* debug registers with addresses: DR0 to DR3 */
struct site {                           /* an instruction whose result the processor makes up */
	uint64_t addr;
	struct tracee_decode_random d;
	uint8_t sure;                   /* it is certainly an instruction, not data */
	/* the debug register that watches it; -1: a breakpoint is written there */
	int8_t slot;
	uint8_t was;                    /* the byte that the breakpoint replaces */
};

/* spin.c: the breakpoints in loops that wait */
struct spin {
	/* there are none now; the thread with the turn may have executed such an instruction since what was recorded last */
	int unwatched, passed;
	unsigned alone;                 /* of that thread, while no other could run */
	unsigned spins;                 /* turns in a row that ended at one */
	unsigned round;                 /* of them, since the process got its own turn */
};

#define SHADOW_ZERO SIZE_MAX

struct shadow {                         /* a copy of writable memory */
	struct range { uint64_t addr, n; size_t at; } *range;   /* at SHADOW_ZERO: nobody had touched it */
	size_t n, cap;
	uint8_t *p;                     /* owned */
	size_t size, room;
};

#define NFILES 64               /* descriptors whose files are remembered */

struct file {
	int known;
	uint64_t dev, ino;              /* ino 0: no file */
	int memory;                     /* it is the program's memory in /proc */
	mode_t type;                    /* S_IFREG and the like; 0: not known */
};

#define VDSO_FUNCTIONS 6u       /* functions of the vDSO that are replaced */
/* The vDSO of processes that run before they are captured. */
struct vdso {
	uint64_t addr, lo, hi, site;    /* its code, and a `syscall` instruction in `now` */
	uint64_t start[VDSO_FUNCTIONS]; /* addresses of the functions; 0: it has none of that name */
	size_t n;                       /* bytes; 0: there is none */
	uint8_t *was, *now;             /* owned */
};

struct cap;
#define NBUCKETS 256u

/* All processes, and the file that they are captured in. */

/* A place of --from or --to. */
#define WHERE_PLACES 64         /* addresses at most */
#define WHERE_BEGIN "\x0f\x1f\x84\0TMb1"        /* TRACEMILL_BEGIN, TRACEMILL_END of tracemill.h */
#define WHERE_END "\x0f\x1f\x84\0TMe1"
struct where {
	enum { WHERE_NONE, WHERE_NAME, WHERE_ADDRESS, WHERE_MODULE, WHERE_MARK, WHERE_SIGNAL } kind;
	const char *text, *name;        /* as given; the name of the function or module */
	uint64_t addr;
	uint64_t n;                     /* the nth time */
	uint8_t mark[8];
	int sig;
};
struct found {
	uint64_t addr[WHERE_PLACES];
	int indirect[WHERE_PLACES];     /* the address is that of the resolver of an indirect function */
	size_t n;
};

/* When the capture is to end, if that is before the program. */
struct until {
	uint64_t calls, ncalls;         /* after so many system calls; 0: no limit */
	uint64_t time;                  /* after so many nanoseconds; 0: no limit */
	char why[64];
	timer_t timer;
	int ticks;                      /* the timer was made */
};

/* --pin: the processors that wscap may use, and the one that it uses, as sets of `n` bytes in the kernel's format. */
enum pinned { PIN_NOT, PIN_BOUND, PIN_FREE };   /* of a process: not by wscap; to that processor; let go for a while */
struct pin {
	int on;
	size_t n;
	uint8_t all[1024], one[1024];
	unsigned soon;                  /* ticks until which a new process is looked at */
	pid_t tid;                      /* the thread that was looked at, at the time `looked`: */
	uint64_t looked, waited, own;   /* how long it had waited for the processor, and wscap used it: nanoseconds */
};

/* What a capture that began amid a run has put aside in the process, or in one of its threads. */
struct amid {
	uint64_t rseq;                  /* its restartable sequences; 0: none */
	uint32_t rseqlen, rseqsig;
	int early;                      /* it was about to register them, perhaps */
	int vdso;                       /* its vDSO is replaced */
};

/* overdue.c: a wait whose time was over goes on until the thread has the turn */
struct overdue {
	int state;
	uint64_t mask;                  /* what it blocks */
	struct user_regs_struct was;    /* its registers at the end of the call */
};

/* A copy of a process, which does not run: its memory is read from it. */
struct image {
	struct tracee t;                /* pid 0: it has ended, or there was none */
	int pagemap;
	struct pages { uint64_t lo, hi; } *p;   /* what is to be read; owned */
	size_t n, cap, at;
};

/* Features of the processor that --cpu leaves: all, and those of the psABI's levels x86-64 and x86-64-v2. */
enum cpu_level { CPU_NATIVE, CPU_BASELINE, CPU_V2 };

/*
 * What rdtsc tells where it faults in captured processes, once it has done so often: the time of CLOCK_MONOTONIC_RAW, in
 * ticks.  So the recorder in a process can tell it, too.
 */
struct tsc_clock {
	uint64_t began, at;             /* that time, and what rdtsc told then, when it faulted first; 0: it has not */
	uint64_t since, first;          /* the same when the scale was found */
	uint64_t scale;                 /* ticks in a nanosecond, times 2^32; 0: not yet, and what rdtsc tells is its own */
};

struct tree {
	struct ws_runs_writer *runs;
	struct ws_store *store;         /* option --store, or NULL */
	struct ws_pages_writer *pages;
	struct stored *stored;          /* pages of files that are read once; owned, or NULL */
	struct hold_files *held;        /* files that are mapped; owned, or NULL */
	int nohold;                     /* this kernel does not tell which of their pages were touched */
	int plain;                      /* what is recorded are mapped files, which are not compressed */
	uint64_t taken;                 /* bytes of memory that were recorded, without those */
	int copying;                    /* the memory that is recorded is that of a new process */
	struct out *dest;               /* the capture file */
	int fd;                         /* its descriptor */
	const char *path;               /* its path, for messages */
	enum ws_level level;
	int audit, touch, random;       /* options --audit, --first-touch, --aslr */
	struct ws_keeper *keeper;       /* option --names, or NULL */
	int alone;                      /* option --first: children are not captured */
	struct pin pin;
	int recorder;                   /* option --recorder */
	int norecorder;                 /* the kernel cannot do it */
	int mdwe;                       /* a process cannot make memory executable any more: prctl(PR_SET_MDWE) */
	int failed;                     /* writing the capture failed */
	char why[280];                  /* and why */
	struct timespec began;
	struct cap *bucket[NBUCKETS];   /* processes that are traced, by their ids */
	size_t ncap;
	uint64_t nleft;                 /* times that one has left its memory: it ended, or executed a program */
	uint64_t nran;                  /* times that the turn came to another process */
	struct turns turns;             /* of processes that share memory */
	int strays;                     /* there were processes that run on without being captured */
	int outside;                    /* it was said that some memory others write to is not recorded */
	struct thread *thread[NBUCKETS];        /* of processes with several, by their ids: thread.h */
	size_t nthreads;
	struct stopped {                /* new processes that stopped before their parent told of them */
		pid_t pid;
		int status;
	} *early;                       /* owned */
	size_t nearly, capearly;
	pid_t first;                    /* the process that was started; 0 when it has ended */
	int status;                     /* with this wait status */
	int leaving;                    /* wscap ends before the other processes */
	int attached;                   /* option --pid */
	struct cap *imaged;             /* the process whose memory is being read from a copy of it; or NULL */
	int settled;                    /* the capture is in its file */
	const char *over;               /* why, if that was asked for */
	struct vdso vdso;
	struct until until;
	struct where from, to;          /* options --from, --to */
	struct found found, load;       /* in the program; where it loads libraries */
	uint64_t nseen;                 /* times that it came to the place that is waited for */
	int waiting;                    /* for --from */
	int early_calls;                /* system calls that are watched while waiting */
	pid_t main;                     /* the process that regions are of */
	long options;                   /* of ptrace */
	enum cpu_level cpu;             /* option --cpu */
	struct ws_cpuid cpuid[WS_CPUID_MAX];    /* what cpuid answers, for headers: ascending */
	size_t ncpuid;
	struct tsc_clock tsc;
	void *gap;                      /* never used: memory that would be dearer than what comes next */
	uint8_t *scratch;               /* CHUNK bytes */
	uint8_t *xsave;                 /* WS_XSAVE_MAX bytes */
};

/* A process that is captured. */
struct cap {
	struct tracee t;                /* its only thread, or the one that has the turn */
	pid_t pid;                      /* of the process */
	struct threads *th;             /* thread.h; NULL: it never had several */
	struct { uint64_t at; unsigned n, tried; } rooms;       /* for results of calls of threads, which aside.c made early */
	uint64_t cleartid;              /* the kernel clears this word when the thread ends; 0: none */
	struct fast *fast;              /* the recorder in the process: fast.h; owned, or NULL */
	struct tree *all;
	struct cap *next;               /* in its bucket */
	struct ws_writer *w;            /* NULL: nothing is recorded, or no longer */
	struct ws_run_writer *run;      /* its present run; NULL with w */
	struct cap *borrower;           /* the child that uses this process's memory until its execve or end */
	struct cap *lender;             /* this process is such a child, of that one */
	/* mappings of the lender as its child left them; valid if `lent` */
	struct regions after;
	int lent;
	char *args;                     /* arguments, each with its NUL; owned */
	size_t nargs;                   /* bytes */
	uint64_t ldev, lino;            /* the program interpreter's file; lino 0: none, or not known */
	int traced;                     /* it is still under ptrace */
	enum pinned pinned;
	unsigned nstops, calm;          /* stops since the last tick; ticks in a row with few, while others could run */
	size_t since;                   /* bytes of memory in the current group */
	int dirty;                      /* something was recorded since the last cut */
	int twice;                      /* the warning that memory is mapped twice was printed */
	int listen;                     /* the program is stopped by job control */
	int dispatched;                 /* user dispatch is in effect, for the recorder */
	struct amid amid;
	struct image image;
	int notsc, nocpuid;             /* rdtsc, cpuid fault; otherwise breakpoints stop at them */
	int translates;                 /* it reads code that it maps, and executes what it makes of it: valgrind */
	int inside;                     /* between the two stops of a system call */
	/* the call `in` was interrupted, and the kernel may restart it; or wscap has led the process back to it */
	enum { RESTART_NOT, RESTART_KERNEL, RESTART_OURS } restart;
	/* the program is directly after a system call, with the registers `out` */
	int behind;
	/*
	 * ... which was the return from a handler, and no signal was pending: one that comes later may find the same registers
	 * after a pass of a loop
	 */
	int unsure;
	int placed;                     /* it is where the region ends, which is recorded */
	int later;                      /* a signal that came at a point, and is to be dealt with */
	uint64_t again, againsp;        /* a point that is met again, as a signal came first; and rsp there */
	/* the shadow was made for the current call: WRITES as it may write anywhere, CHECKS to check the table */
	enum { COMPARE_NOT, COMPARE_WRITES, COMPARE_CHECKS } compare;
	int denied;                     /* the current call is cancelled, and returns: */
	long pretended;
	struct user_regs_struct in, out;
	struct overdue overdue;
	uint8_t newact[32];             /* the new action of the current rt_sigaction */
	uint64_t oldadvice;             /* the original advice + 1 of the current madvise; 0: unchanged */
	uint64_t handler[65], actflags[65];
	uint64_t sent;                  /* held signals that were sent again, as a set of number - 1 */
	int ended, hasended;            /* its wait status, if it ended during a single step or the like */
	clockid_t clock;                /* the CPU time of process clockof */
	pid_t clockof;
	uint64_t cputime;               /* CPU time of the program at the last trigger, in nanoseconds */
	uint64_t brk;                   /* the program break, rounded up to pages */
	struct regions reg;
	struct hold hold;
	/* --first-touch: memory that the program has not accessed yet; a child of vfork: of its parent's */
	struct regions hidden;
	unsigned borrow;                /* the present call makes such a child, from which mappings of so many bytes are hidden; 0: none */
	uint64_t altstack, altsize;     /* the stack for signals, or ALTSTACK_UNKNOWN */
	struct site *site;              /* owned */
	size_t nsite, capsite;
	struct spin spin;
	int unsaid;                     /* the warning that one is not recorded was printed */
	uint64_t mask;                  /* signals that the program blocks */
	uint8_t forced[FORCED][32];     /* its actions for signals that wscap causes, in the kernel's format */
	struct shadow shadow;
	struct common common;           /* memory that other processes can write, as of the last call */
	int sharing;                    /* memory is shared with other processes */
	int outside;                    /* ... with the kernel, a device or a process that is not captured */
	uint64_t alone;                 /* `nleft` of the tree when it was last seen whether it still is */
	int saved;                      /* `common` was, for a child that is about to be made */
	int writes;                     /* it may write to memory of others, or could */
	struct turn turn;               /* it runs one at a time with them */
	uint64_t ran;                   /* `nran` of the tree when it was last compared while the others waited; or 0 */
	int fresh;                      /* it was not saved in `common` when that began */
	struct file file[NFILES];
	uint64_t pcs[64];               /* known `syscall` instructions */
	uint8_t stack[WS_SIGSTACK];     /* the stack at a signal */
	struct lately *lately;          /* NULL: no signal has waited yet; owned */
	uint64_t place[WS_SIGWORDS];    /* addresses that the program wrote before it */
	size_t nplace;
	uint8_t words[WS_SIGWORDS * WS_SIGWORD];
};

/* The current system call. */
struct call {
	uint64_t nr, arg[6];
	int64_t ret;
};

/* start.c */

/*
 * Writes header, START and initial memory of c->run; the program is after execve.  NULL, or why it cannot
 * be captured.
 */
const char *cap_begin(struct cap *c);
/* why nothing of the program can be replayed: its run ends where it begins; or NULL */
const char *start_unfit(struct cap *c);
/* creates the writer and writes the header; exe: the program's path */
void start_header(struct cap *c, const char *exe);
void start_state(struct cap *c, const struct user_regs_struct *g);      /* writes START */
/* What every run has, of one that ends before its capture could begin: header and START. */
void start_nothing(struct cap *c);
/* the kind of a mapping; exe: the program's path */
uint32_t start_type(const struct cap *c, const struct tracee_map *m, const char *name, const char *exe);
void start_exe(pid_t pid, char *exe, size_t room);      /* the program's path */

/* Ends wscap if a capture of this path would replace the process's program, or what has the other name, or "" */
void start_keep_apart(const char *path, pid_t pid, const char *name);
void start_hide_vdso(struct cap *c);    /* the program is after execve; also keeps it apart */
/* writes the mappings and their contents; interp: the address of the interpreter, 0: none */
void start_memory(struct cap *c, const struct tracee_maps *maps, uint64_t interp, const char *exe);

/* until.c */
void until_begin(struct tree *a);
void until_end(struct tree *a);
int until_over(struct tree *a);         /* is the capture to end now? sets a->over */

/* cpuid.c */

int cpuid_level(const char *name, enum cpu_level *to);  /* -1: there is none of that name */
/* ascending; returns the number of entries */
size_t cpuid_table(struct ws_cpuid *t, size_t max, enum cpu_level level);
/* the processor's name from the table of n entries */
void cpuid_brand(const struct ws_cpuid *t, size_t n, char brand[49]);
/* The process is at a cpuid, with registers g: answers it, and continues. */
void put_cpuid(struct cap *c, struct user_regs_struct *g);

/* put.c: records */
uint64_t put_cputime(struct cap *c);    /* of the process, with all its threads, in nanoseconds; 0: it is not known */
void wscap_put(struct cap *c, const struct ws_rec *r);
void put_untimed(struct cap *c, const struct ws_rec *r);        /* without the time since the last trigger */
void put_note(struct cap *c, const char *text);
/* writing has failed, with this errno, or as the writer of c says if it is 0: nothing more is recorded */
void put_failed(struct cap *c, int err);
void put_cut(struct cap *c);            /* writes what was recorded so far */
/* contents of memory, as far as it is mapped */
void put_mem(struct cap *c, uint64_t addr, uint64_t n);
void put_bytes(struct cap *c, uint64_t addr, const uint8_t *p, size_t n);      /* without the time; n may be 0 */
void put_zero(struct cap *c, uint64_t addr, uint64_t n);        /* n bytes at addr became zero */
void put_pages(struct cap *c, uint64_t lo, uint64_t hi);                /* pages that are not all zero */
/* what the first n bytes of scratch, whole pages, have that is not zero is at addr */
void put_scratch(struct cap *c, uint64_t addr, size_t n);
/* type: a WS_ constant of the mapping's kind */
void put_map(struct cap *c, const struct region *r, uint32_t type, const char *name);
void put_range(struct cap *c, enum ws_kind kind, uint64_t addr, uint64_t len, int prot);
/* g: registers at the call; ret: its result */
void put_sys(struct cap *c, const struct user_regs_struct *g, uint64_t ret);
/* reads c->xsave; returns its bytes */
size_t get_xsave(struct cap *c);

/* A file that the process maps or reads, as it was then. */
struct mapped_file {
	uint64_t dev, ino;
	const char *name;
};

/* stored.c: pages that are written once */

/* path NULL: no store; exits if it cannot be opened */
void stored_open(struct tree *a, const char *path);
void stored_close(struct tree *a, const char *path);
int stored_wanted(const struct cap *c);
/* n bytes, whole pages that are not all zero, are at addr */
void stored_put(struct cap *c, uint64_t addr, const uint8_t *p, size_t n);
void stored_ref(struct cap *c, uint64_t addr, const struct ws_pages_ref *ref);   /* the pages of ref are there */
/* stored_file.c: as hold_map, with a store: the contents are recorded, or 0 */
int stored_map(struct cap *c, const struct region *r, uint64_t lo, const char *name, int fresh);
/* a file that the process reads; NULL: the store is not to be asked about it */
struct hold_file *stored_file(struct cap *c, const struct mapped_file *file);
/*
 * Records n bytes at p, which were read to addr, from this place in the file f, or NULL: whole pages of it are in the store.
 */
void stored_read(struct cap *c, struct hold_file *f, uint64_t place, uint64_t addr, const uint8_t *p, size_t n);
/* The same of the n bytes at addr that a call has read; 0: the caller has to do it. */
int stored_call(struct cap *c, const struct call *k, uint64_t addr, uint64_t n);
/*
 * Pages of files that do not change are read once.  stored_note: what stored_put records is that of n bytes of a file,
 * at addr; place NULL: all of it was recorded.  stored_again: records the same at addr, or returns 0: it is not known.
 */
struct stored_place { uint64_t dev, ino, offset; size_t n; };
void stored_note(struct cap *c, uint64_t addr, const struct stored_place *place);
int stored_again(struct cap *c, uint64_t addr, const struct stored_place *place);

/* region.c: the program's mappings; exits when memory runs out */
void region_set(struct regions *g, const struct region *r);             /* replaces what was there */
void region_cut(struct regions *g, uint64_t lo, uint64_t hi);   /* removes [lo, hi) */
/* changes the protection of [lo, hi) */
void region_prot(struct regions *g, uint64_t lo, uint64_t hi, int prot);
void region_move(struct regions *g, uint64_t from, uint64_t oldlen, uint64_t to, uint64_t newlen);
/* index of the first region that ends after addr; g->n: none */
size_t region_at(const struct regions *g, uint64_t addr);
/* how many of the n bytes at addr the program can write before one that it cannot */
uint64_t region_writable(const struct regions *g, uint64_t addr, uint64_t n);

/* call.c: system calls */
int call_enter(struct cap *c);          /* 0, or -1: the capture ends here */
void call_leave(struct cap *c);
/* is a `syscall` instruction at pc? int 0x80 has other numbers and registers */
int call_is_at(struct cap *c, uint64_t pc);

/* maps.c: calls that change mappings.  special.c: other calls that need a function. */
#define CALLS X(mmap) X(mprotect) X(munmap) X(brk) X(mremap) X(madvise) X(shmat) X(shmdt) \
	X(sigaction) X(sigreturn) X(ioctl) X(ipc) X(mincore) X(msgrcv) X(recvmmsg) X(clone) X(fcntl) X(prctl) \
	X(arch_prctl) X(futex) X(getsockopt) X(exec) X(exit) X(modify_ldt) X(seccomp)
#define X(f) void sys_##f(struct cap *c, const struct call *k);
CALLS
#undef X
/* file: what was mapped; NULL: that of the call's descriptor now */
void maps_map(struct cap *c, const struct call *k, const struct mapped_file *file);
/* n bytes were written to the buffers of an iovec array */
void put_iov(struct cap *c, uint64_t iov, uint64_t count, uint64_t n);
int call_known(const struct call *k);   /* is it known what its request or command writes, if it has one? */
void put_msg(struct cap *c, uint64_t msg, uint64_t n);  /* n bytes were received into a struct msghdr */

/* file.c */

/* records what a call changes in mapped files, and follows open files */
void file_call(struct cap *c, const struct call *k);
int file_memory(struct cap *c, const struct call *k);    /* does it write to a file that is memory of a process? */
int file_written(const struct call *k); /* the descriptor that the call writes to; -1: none */
/* FAST_WRITES, FAST_READS: may the recorder write to a descriptor, or read from it? */
unsigned file_fast(struct cap *c, int fd);
long long file_place(const struct cap *c, int fd);     /* where its next read begins; -1 */
void file_name(const struct cap *c, int fd, char *name, size_t room);  /* of a descriptor's file, cut off at room - 1 bytes */
/* Is a descriptor's file a regular one?  Then its device and inode are in *f; the name is not. */
int file_regular(struct cap *c, int fd, struct mapped_file *f);
/* does a descriptor of its show where a process has its memory, or what is there? */
int file_shows_memory(const struct cap *c, int fd);

/* schedule.c: threads of a process; c->th is not NULL unless said otherwise */

struct thread;
void sched_ready(struct thread *t);     /* t has stopped, and waits for the turn */
/* gives the turn, which nobody has, to a thread that waits for it, and runs that.  0: there is none */
int sched_next(struct cap *c);
/* A stop was handled; 1: the turn has gone to another thread, and c has been continued. */
int sched_stopped(struct cap *c, int sig);
void sched_begin(struct cap *c);        /* the thread that came to the place of --from gets the turn; c->th may be NULL */
/* Something has happened to a thread; its process, if it has several.  *handled: that is all. */
struct cap *sched_event(struct tree *a, pid_t pid, int status, int *handled);
int sched_tick(struct cap *c);          /* some time has passed; 1: tell it again */
int sched_due(const struct cap *c);     /* is the turn of the thread that has it over? */
int sched_interrupted(struct cap *c);   /* at a stop because of sched_tick; the signal to continue with */
int sched_state(pid_t tid);             /* R, S and the like, as in /proc; 0: not known */
int sched_sleeps(pid_t tid);            /* does it wait in a call? */
int sched_watching(const struct tree *a);       /* may a thread wait in a call, while others could run? */
void sched_watch(struct tree *a);       /* looks whether it does */

/* overdue.c: waits for a futex that end before the others had their turn; t is the thread, l its state, in the call's registers */

/* Does it stand, with this status, at the end of such a wait? */
int overdue_is(const struct cap *c, struct tracee *t, const struct user_regs_struct *in, int status);
void overdue_begin(struct cap *c, struct tracee *t, struct overdue *l, int dispatched);   /* then: it waits on */
int overdue_event(struct tracee *t, struct overdue *l, int status);       /* it has stopped or ended: 1: that is dealt with */
int overdue_end(struct tracee *t, struct overdue *l, int status);         /* it is to stand: the status, or how it is now */

/* thread.c */
uint64_t thread_cleartid(struct cap *c, uint64_t flags);        /* of the clone that c is in; c->th may be NULL */
void threads_free(struct cap *c);       /* forgets them; c->th may be NULL */
void threads_interrupt(struct cap *c);  /* those that run will stop */
/* all but the one with the turn are about to run untraced; shared: as for child_allow */
void threads_release(struct cap *c, int shared);
void threads_go(struct cap *c);         /* they run */
/* child.c: processes that run untraced */
void child_allow(const struct cap *c, struct tracee *t, int shared);
void child_deliver(struct tracee *t, pid_t process);    /* to a thread of the process */
void child_free(struct cap *c, pid_t pid);              /* releases a new process, which runs untraced */
void child_free_stray(const struct tree *a, pid_t pid);         /* the same for one whose parent is gone */
uint64_t clone_flags(struct cap *c, const struct call *k);      /* flags of clone, clone3, fork or vfork */
/* releases the program itself; from any stop but a syscall-entry stop */
void cap_release(struct cap *c);
uint64_t find_site(pid_t pid, struct tracee *t);        /* a `syscall` instruction in its vdso; 0: none */

/* pin.c: the processors that processes run on */

void pin_begin(struct tree *a);         /* binds wscap */
void pin_end(struct tree *a);
void pin_first(struct cap *c);          /* the first process, which stands */
void pin_begun(const struct cap *c, pid_t tid);         /* a new process or thread */
void pin_release(const struct cap *c, pid_t tid);       /* a thread of c, or a child of it, is not captured */
void pin_stray(const struct tree *a, pid_t pid);        /* nor is this process, whose parent is gone */
void pin_chosen(struct cap *c, const struct call *k);   /* c is about to choose processors by sched_setaffinity */
void pin_asked(struct cap *c, const struct call *k);    /* c has called sched_getaffinity: it is told what it could use */
int pin_tick(struct tree *a);           /* some time has passed; 1: tell it again soon */

/* fork.c: children that are captured */

void child_capture(struct cap *c, pid_t pid);           /* a new process; c is in the call that makes it */
/* c no longer uses the memory of another process: gives back what it knows of it */
void fork_return(struct cap *c);
void fork_adopt(struct cap *c);         /* records what a child did to the mappings */

/* exec.c: a process executes a program */

/* reads the arguments of the process: 0 or -1 */
int exec_args(struct cap *c);
/* the actions of a new program; ignored: a set of number - 1, which stay so */
void exec_actions(struct cap *c, uint64_t ignored);
void exec_leave(struct cap *c);         /* at the stop in execve: ends a run and begins another */
void exec_rights(struct cap *c);        /* warns if it should have had more privileges */

/* tree.c: all processes */

struct cap *tree_add(struct tree *a, struct cap *c);    /* c has its id; returns c */
struct cap *tree_find(const struct tree *a, pid_t pid);
void tree_remove(struct cap *c);                        /* frees c */
void tree_stopped(struct cap *c, int status);           /* handles a stop, and continues it */
void tree_resume(struct cap *c, int sig);               /* continues it, with this signal */
int tree_reap(struct cap *c);   /* has it ended while a call was made on its behalf? Then its run ends, and c is freed */
uint64_t tree_now(const struct tree *a);                /* nanoseconds since the first process began */
/* begins a run: 0 or -1 */
int tree_begin(struct cap *c, struct cap *parent, enum ws_began began);
/* waits until a process stops, a new one or another that tree_run does not know: 0, or -1: it is gone */
int tree_first_stop(struct tree *a, pid_t pid);
/* the capture of c ends here, and why; in front of `why` is the name of the process if it is not the only one */
void tree_warn(const struct cap *c, const char *text, const char *why);
void tree_early(struct tree *a, pid_t pid, int status);         /* a new process stopped, before its parent told */
void tree_interrupt(struct tree *a);    /* the capture of all processes is to end */
int tree_run(struct tree *a);           /* runs all processes to their end: the wait status of the first one */

/* run.c */

/* from now on, our signals go to the program, or are ignored */
void cap_signals(pid_t pid);
void cap_signals_first_gone(void);      /* the program has ended: they end wscap */
void cap_signals_back(void);            /* restores our signal actions */
int cap_told(void);                     /* has a signal come that ends wscap? */
void cap_tick(struct tree *a);          /* does what is due after some time */
int cap_stop_at(struct cap *c, int status);             /* handles a stop; returns the signal to continue with */
void cap_finish(struct cap *c, enum ws_how how, unsigned status);       /* ends the run */
/* Ends the records; reports a failure, but does not exit. */
void cap_warn_stop(struct cap *c, const char *why);
/* At a syscall-entry stop: ends the capture, not the program.  why NULL: writing failed. */
void cap_stop(struct cap *c, const char *why);
/* on: checks held signals every few milliseconds */
void cap_set_timer(int on);

#endif
