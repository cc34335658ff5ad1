/*
 * Runtime library of traced programs: what its parts share.
 *
 * core*.c, core*.S (aert.o) are in every traced program, lib (aelib.o) in traced shared libraries; wrap*.c (libaert.a)
 * each stand for one libc function (ld --wrap) and are linked only when the
 * program refers to it.  All of it is hidden from the program.
 *
 * What differs between machines is in src/ae/runtime/MACHINE/: asm.S, sys.h
 * (see call.h) and machine.h, which has
 *
 *   AE_MAP AE_GUARD AE_SIDELEN AE_PAGE   where memory is, and pages no smaller than the kernel's
 *   AE_THREADS                           1: every thread is recorded, 0: the first one only
 *   AE_LIBRARIES                         1: shared libraries are traced
 *   AE_HANDLERS                          1: handlers that interrupt traced code are recorded; then also
 *   context_stack                        the alternate stack, as it was at the signal
 *   AE_NREG context_regs                 registers that a handler must not change: copies them
 *   context_return                       makes the handler return to ae_handled_return
 *   machine_near machine_set             the block that this thread, or one that made it, was given; gives it one
 *   machine_length                       is told the bytes of section aetext of this file
 *   AE_ADD                               adds to a number that other threads may change
 *   AE_ELF AE_NSIG                       ELF's number of the machine; the highest signal
 *   AE_KEEP_POINTER                      a declaration: the event pointer stays the interrupted code's
 *   all through a file AE_SAFLAGS                           flags of an action that libc adds and the
 *   program sees struct ae_set, struct ae_kact        the kernel's set of signals and struct sigaction
 *   kact_make, kact_restorer             what the kernel is to get; what the program is to see
 *   context_pc _sp _pointer _set_pointer registers of the code that a signal interrupted
 *   context_access                      the access that faulted
 *   AE_LINKS                             1: there are struct ae_site and ae_entries; then also
 *   entry_patched                        where the jump of entry_patch leads
 *   site_target site_iscall site_link    where the instructions of a struct ae_site lead; changes them
 *   AE_PATCHLEN entry_patch entry_sync   bytes of a jump; make an entry jump to its thunk; entries were
 *   changed
 */
#ifndef TM_AE_RUNTIME_AERT_H
#define TM_AE_RUNTIME_AERT_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE     /* registers of a signal context, stack_t */
#endif

#include <signal.h>
#include <stddef.h>
#include <stdint.h>

/* the access that faulted, as in the end record */
enum ae_access { AE_NOACCESS, AE_SOME, AE_READ, AE_WRITE };

#include "machine.h"

#pragma GCC visibility push(hidden)

/*
 * All memory of the runtime is at a fixed address, far from the program's memory, so that no
 * address of the program changes. Each recorded thread has a block: the event buffer, a guard after it
 * (no group of events is longer), its state and side stack, its signal stack. After that of the first thread
 * are a page that fork wipes, and scratch. Before the events in the buffer is room for the head of a chunk, so
 * that both are written at once.
 */
#define AE_START  ((uintptr_t)AE_MAP)
#define AE_SIDE   (AE_BUFLEN + AE_GUARD)                /* in a block */
#define AE_ALT    (AE_SIDE + AE_SIDELEN + 0x10000)
#define AE_ALTLEN ((uintptr_t)0x10000)
#define AE_BLOCKLEN (AE_ALT + AE_ALTLEN)
#define AE_SELFLEN 1024                                 /* of the state, at the beginning of the side stack */
#define AE_KIN    (AE_START + AE_BLOCKLEN)
#define AE_SCRATCH (AE_KIN + AE_PAGE)
#define AE_SCRATCHLEN ((uintptr_t)0x10000)
#define AE_MAPLEN (AE_SCRATCH + AE_SCRATCHLEN - AE_START)
#define AE_PATHMAX 4160

#define AE_NSHARD 64                            /* counters of thread entries, one cache line each */

/* most bytes after the event pointer that are kept at a fault: there are the events of the group that it interrupted */
#define AE_TAIL 1024

/* why a recording ends, as in the end record */
enum ae_reason { AE_EXIT, AE_SIGNAL, AE_EXEC, AE_STOPPED, AE_LIMITED };

/* how a handler is to be called */
enum ae_how {
	AE_PLAIN = 1,           /* untraced: it interrupted traced code */
	/* without SA_SIGINFO: on machines where that means other arguments, those are passed */
	AE_OLD = 2
};

/* role of the process in the recording */
enum ae_kin { AE_SELF, AE_VFORK, AE_FORKED };

/* a thread's stream as the file has it when nothing more is recorded: ae.out(5) */
enum ae_left { AE_LEFT, AE_OUTSIDE, AE_INSIDE, AE_GONE };

enum ae_stage { AE_FREE, AE_MADE, AE_BEGUN };

#define AE_NFRAME 32
#define AE_NLEVEL 8             /* handlers that interrupt each other, and are recorded */

/* What the runtime knows of a thread. asm.S of the machine knows where the first fields are. */
struct ae_thread {
	uintptr_t side_top;             /* end of the last entry of the side stack */
	uintptr_t fs;                   /* thread pointer, by which it is known */
	uint8_t *volatile ptr;          /* the current event pointer while control is outside traced code, else 0 */
	uintptr_t side_end;             /* no entry is pushed from here on */
	uintptr_t s[4];                 /* registers that traced code keeps for a moment */
	int cb;                         /* the first byte: untraced code has called back since it was entered */
	/* not 0: what is recorded belongs to the file: no region was left. 2: a handler that interrupted traced code runs */
	int live;
	/* outside a region: the buffer has events that belong to the file, and nobody writes more */
	int kept;
	int pending;                    /* a region begins with the next traced function that untraced code calls */
	int depth;                      /* running handlers that interrupted traced code, and are not recorded */
	uint8_t *mid;                   /* live event pointer of the interrupted code while depth or held > 0 */
	uint8_t *buf;                   /* where events begin */
	struct ae_thread *self;
	void *start, *arg;              /* what it is to run */
	/* the program's value of the event pointer's register, where a compiler has not reserved that: while traced code runs */
	uintptr_t lent;
	/* of a stream of handlers: what they interrupt, a thread or another such stream; else NULL */
	struct ae_thread *below;
	uintptr_t low, span;            /* ... where the stack of the one that runs is */
	struct ae_thread *next;
	/* what only C knows */
	enum ae_stage stage;
	uint32_t number;                /* in the file, from 1 */
	uintptr_t birth;                /* the point at which it was made */
	int tid;
	uint64_t total;                 /* event bytes written */
	volatile int asked;             /* another thread wants to know its event pointer: see rec.c */
	uint8_t *volatile shown;        /* the answer */
	/* recorded handlers, see core/handler.c */
	struct ae_thread *handler;      /* the stream of those that interrupt this one; NULL: there were none */
	struct ae_thread *volatile over;        /* ... while one runs */
	struct ae_thread *ret;          /* of a stream of handlers: what gs pointed to before */
	volatile int held;              /* it is interrupted, or the runtime works: mid is its event pointer */
	unsigned level;                 /* how many are below it */
	uintptr_t reg[AE_NREG];         /* of what it interrupted */
	/* ... and its register of the event pointer, where the context shows the program's value instead; else 0 */
	uintptr_t pointer;
	uintptr_t plain[AE_NREG];       /* of traced code that a handler which is not recorded interrupted, there */
	int segv_blocked;               /* the program blocked SIGSEGV */
	int segv_pending;               /* a SIGSEGV was sent while it was blocked */
	int segv_shut;                  /* the kernel blocks it, too, around an exec */
	int nframe;
	uintptr_t frame[AE_NFRAME];     /* running handlers that block SIGSEGV: their signal frames */
};
_Static_assert(sizeof(struct ae_thread) <= AE_SELFLEN, "the state is too long");

/* action that the program installed */
struct ae_act { sighandler_t handler; unsigned long flags; struct ae_set mask; };

struct ae_scratch {
	char name[AE_PATHMAX];          /* of the event file, absolute */
	char parent[AE_PATHMAX];        /* of the parent's, in a forked child */
	char path[AE_PATHMAX];          /* being assembled */
	char pattern[AE_PATHMAX];       /* AE_OUT, absolute, with its %p and %n */
	uint8_t header[8192];
	uint8_t behind[4096];           /* the bytes that the padding of a chunk overwrites */
};
#define ae_scratch ((struct ae_scratch *)AE_SCRATCH)

/* asm.S of the machine */
extern int ae_rec;              /* there is an event file to record into */
extern int ae_open;             /* a region was begun and not ended: threads that begin are recorded */
extern int ae_armed;            /* a region begins with the first call of AE_FROM's function */
extern uintptr_t ae_first_thunk;        /* of that function */
void ae_first(void);            /* its entry jumps here */
extern uintptr_t ae_shard[AE_NSHARD][64 / sizeof(uintptr_t)];
void __ae_leave(void);
void ae_sync(void);             /* such a point: what other threads did before is seen from here on */
void *ae_thread_main(void *t);  /* what a new thread runs: ae_thread_begin, then t->start(t->arg) */
void ae_tramp(int, siginfo_t *, void *);
void ae_handled_return(void);   /* where recorded handlers return to: calls ae_handled */

/* core/state.c: process-wide state */
extern int ae_on;               /* tracing was set up; remains 1 when recording stops */
extern uint64_t ae_nhandler;    /* handlers run untraced */
extern uint64_t ae_total;       /* event bytes written */
extern uint64_t ae_limit;       /* most event bytes in a file */
enum ae_kin ae_kin(void);
int ae_forked(void);            /* is it AE_FORKED? Without a system call, where the kernel wipes pages */
void ae_kin_init(void);
struct ae_set ae_block(void);   /* blocks all signals, takes the lock; returns the old mask */
void ae_unblock(struct ae_set mask);
void ae_lock_init(void);
/* keeps all other threads from writing until ae_lock_leave(0): the file is closed, but that may be undone */
void ae_lock_leave(int leaves);
uint64_t ae_nthread(void);

/* core/say.c: one line on standard error, if that is still the same file as at the start */
void ae_say_init(void);
void ae_say(const char *const *part);           /* NULL-terminated list of strings */
const char *ae_dec(char *buf, uint64_t v);      /* decimal in buf (24 bytes) */
const char *ae_strerror(int err, char *buf);    /* buf: 40 bytes */
#define AE_SAY(...) ae_say((const char *const []){ "ae: ", __VA_ARGS__, "\n", NULL })

/* core/file.c: the event file.  Callers hold the lock (ae_block). */
/* 0 or an error number; path is absolute; fresh: it must not exist yet */
int ae_file_create(const char *path, int fresh);
int ae_file_mine(const char *path);             /* does it hold what this process recorded before an exec? */
/* fs: the thread pointer; parent_thread: number of the parent's thread that forked */
int ae_file_header(uintptr_t fs, const char *parent, uint64_t parentpos, uint32_t parent_thread);
#define AE_HEAD(number) ((number) == 1 ? 16u : 24u)
/*
 * writes a chunk of a thread's events: the AE_HEAD bytes before p are free; full: of a full buffer, padded to
 * whole pages of the file
 */
int ae_file_chunk(uint32_t number, uint8_t *p, size_t n, int full);
int ae_file_begins(const struct ae_thread *t);
int ae_file_ends(uint32_t number, enum ae_left how, uint64_t total);
struct ae_module;
int ae_file_module(const struct ae_module *m);
/* at an exec and at the limit, pc is the process id; number: of the thread that ends it, or 0 */
int ae_file_end(enum ae_reason why, int sig, uintptr_t pc, uint32_t number);
/* what faulted, for the end record; tail: bytes at the end of the events of which not all need be events */
void ae_file_fault(enum ae_access access, uint64_t addr, unsigned tail);
uint64_t ae_file_size(void);
int ae_file_cut(uint64_t size);                 /* truncates to an earlier size; nonzero if that fails */
int ae_file_kind(void);                         /* S_IFMT bits */
const char *ae_file_path(void);
void ae_file_close(void);

/* core/thread.c: the recorded threads */
extern struct ae_thread *ae_threads;            /* all blocks; callers hold the lock */
extern uint32_t ae_nnumber;                     /* numbers given to threads */
/* the next number in the order of synchronisation, ae.out(5); 0: no second thread was made */
extern uintptr_t ae_order;
void ae_thread_first(void);                     /* the first block was mapped: gives it to this thread */
struct ae_thread *ae_thread_new(void);          /* a block for a thread that does not run yet; NULL: no room */
void ae_thread_unmake(struct ae_thread *t);     /* it will not run */
void ae_thread_begin(struct ae_thread *t);      /* in the thread */
/* from __ae_enter, in a thread without a block: gives it one; 0: it is not recorded */
int ae_thread_enter(void);
/* makes s->handler, in the thread that s belongs to */
void ae_thread_handler(struct ae_thread *s);
int ae_thread_gone(const struct ae_thread *t);
void ae_thread_alone(struct ae_thread *t);      /* after a fork: there is no other */

/* core/rec.c: recording */
void ae_flush(struct ae_thread *t);             /* this thread, outside traced code: writes all events */
/* the buffer is full: writes it, keeps what follows live; returns the new event pointer */
uint8_t *ae_full(struct ae_thread *t, uint8_t *live);
/* a thread that is gone: writes the rest of its stream; callers hold the lock */
void ae_rec_gone(struct ae_thread *t);
/* the ends of the streams of all others, in order to close the file; 0, an error number, or -1: the limit */
int ae_rec_others(const struct ae_thread *me);
void ae_rec_fail(int err);                      /* the file cannot be written: says so, and goes on without it */
/* writes what is in the buffer, which is kept: for a file that is closed; like ae_rec_others */
int ae_rec_part(struct ae_thread *t);
/* where it is; this thread or a stopped one */
uint8_t *ae_rec_at(const struct ae_thread *t);
/* tail: bytes from live on to be written, too */
void ae_finish(enum ae_reason why, int sig, uintptr_t pc, uint8_t *live, size_t tail);
/* ends the recording at the present place of the traced thread; does nothing in a vfork child */
void ae_end(enum ae_reason why);
void ae_rec_open(int live);                     /* the file is open: starts recording, or waits for a region */
void ae_rec_leave(struct ae_thread *t);         /* the region ends here; outside traced code */
void ae_rec_shut(void);                         /* stops recording, without a message at the end */
/* ends the recording where t and what it interrupted are, with a message; the caller sets t->ptr and the like */
void ae_rec_give_up(struct ae_thread *t, const char *why);

/* core/handler.c: handlers that interrupt traced code */
/* t, whose event pointer is live, was interrupted at `context`: the handler will be recorded. 0: it cannot be */
int ae_handler_begin(struct ae_thread *t, void *context, uint8_t *live);
void ae_handled(void *context);                 /* it returned */
/* one that is not recorded returned; what ae_tramp then sets: the event pointer outside traced code, and its register */
void ae_plain_handled(const void *context, uintptr_t kept[2]);
void ae_lost(void);                             /* from asm.S: a handler did not return */

/* core/proc.c */
int ae_fork_before(void);
void ae_fork_child(int traced);
int ae_leave_before(enum ae_reason why);        /* returns a token for ae_leave_failed */
void ae_leave_failed(int token);
int ae_exec_before(void);
void ae_exec_failed(int token);

/* core/sig.c */
void ae_sig_init(void);
/*
 * what the trampoline is to call, and enum ae_how bits; with AE_PLAIN on a machine with AE_LENDS, how[1] is what the context's
 * register of the event pointer is to have afterwards
 */
sighandler_t ae_dispatch(int sig, siginfo_t *si, void *uc, uintptr_t *how);
void ae_sig_thread(struct ae_thread *t, struct ae_set *mask);  /* this thread begins; mask is to become its own */
void ae_sig_answer(void);                       /* this thread waits for the lock: it may have been asked */
int ae_sigaction(int sig, const struct sigaction *act, struct sigaction *old);  /* 0 or an error number */
int ae_sigmask(int how, const sigset_t *set, sigset_t *old);                    /* 0 or an error number */
int ae_sigaltstack(const stack_t *ss, stack_t *old);
const sigset_t *ae_mask_strip(const sigset_t *set, sigset_t *copy);             /* a mask without SIGSEGV */
/* before an exec: sets the mask that the program believes in; 0: undoes it */
void ae_segv_real(int really);

/* made by aerw; the third word is AE_OBJECTS, perhaps with AE_INLIB, first, later the number */
struct ae_fn { uintptr_t entry, thunk, number; };

/* made by aerw: places of traced code that leave for what may be a traced function of another file (x86_site) */
struct ae_site { int32_t code; uint16_t known, length; };

/*
 * made by aerw, before the thunk of a function: its struct ae_fn, and where to enter it from traced code, all relative to the
 * thunk. jump: its number is recorded; call: only what it needs; twin: nothing. need: the registers that these are,
 * and AE_TAILOUT.
 */
struct ae_entries { int32_t fn, jump, call, twin; uint64_t need; };
#define AE_TAILOUT 0x10000

/* A file with traced functions: the executable, or a shared library, which has this in itself (lib/join.c) */
struct ae_module {
	uintptr_t version;              /* AE_LIBRARY */
	const char *path;               /* of a library, as the loader has it */
	struct ae_fn *fn, *fnend;
	const char *text, *textend;     /* section aetext */
	const struct ae_site *site, *siteend;
	const void *ehdr;               /* its ELF header; NULL: not loaded */
	void **core;                    /* where a library wants the addresses of the functions of core.def */
	uintptr_t context;              /* a file of a library calls makecontext and the like */
	uintptr_t first;                /* the number of its first function, from 0 */
};
/* The version of this, and of core.def: a library and the program that uses it may be of different versions of aecc */
#define AE_LIBRARY 4
#define AE_MAXFN (256u * 252)                   /* functions that have numbers */
#define AE_NMODULE 256                          /* files at a time */

/* core/module.c: the sections aetext of all files, the executable's first; the end is NULL if there are no libraries */
struct ae_range { uintptr_t begin, size; };
extern struct ae_range ae_range[AE_NMODULE];
extern struct ae_range *ae_range_end;

/* core/map.c: files with traced functions */
extern struct ae_module ae_self;                /* the executable */
size_t ae_buildid(const struct ae_module *m, uint8_t id[32]);
uintptr_t ae_base(const struct ae_module *m);   /* where it was loaded, less the addresses it was linked for */
int ae_traceable(void);                         /* makes ae_self; has the executable traced functions? */
/* The version of what generated code expects of the runtime: EMIT_OBJECTS of src/ae/rewrite/emit.h */
#define AE_OBJECTS 3
#define AE_INLIB 256                            /* added for functions that are traced in shared libraries only */
#define AE_LENT 512                             /* ... for functions of compilers that use the event pointer's register */
extern int ae_lent;                             /* the executable's functions are such */
int ae_current(const struct ae_module *m);      /* are all traced functions of this version? */
/* are all functions as the executable's, with the register reserved, or all without? */
int ae_alike(const struct ae_module *m);
/* numbers the functions and makes every entry jump to its thunk; 0 or -1; page: the kernel's, which is remembered */
int ae_patch(struct ae_module *m, uintptr_t page);
int ae_arm(const char *name);                   /* before ae_patch: AE_FROM; 0 or -1: no such traced function */
int ae_intext(uintptr_t pc);                    /* is pc in traced code */

/* core/module.c: shared libraries */
int ae_module_again(void);                      /* tells a new file of all of them; 0 or an error number */
int ae_module_wait(void);                       /* at the end of the program: is there one whose end is to come? */

#pragma GCC visibility pop

/* What a library calls before its constructors, and after its destructors. 0: the program is not recorded */
int __ae_join(struct ae_module *m);
void __ae_part(struct ae_module *m);

/* core/region.c: what the program calls, see tracemill.h */
void __ae_start(void);
void __ae_stop(void);
#endif
