/*
 * Runtime library of traced programs: what its parts share.
 *
 * core*.c, core*.S (aert.o) are in every traced program; wrap*.c (libaert.a)
 * each stand for one libc function (ld --wrap) and are linked only when the
 * program refers to it.  All of it is hidden from the program.
 *
 * What differs between machines is in src/ae/runtime/MACHINE/: asm.S, sys.h
 * (see call.h) and machine.h, which has
 *
 *   AE_MAP AE_GUARD AE_SIDELEN AE_PAGE   where memory is, and pages no smaller than the kernel's
 *   AE_ELF AE_NSIG                       ELF's number of the machine; the highest signal
 *   AE_KEEP_POINTER                      a declaration: the event pointer stays the interrupted code's
 *   all through a file AE_SAFLAGS                           flags of an action that libc adds and the
 *   program sees struct ae_set, struct ae_kact        the kernel's set of signals and struct sigaction
 *   kact_make, kact_restorer             what the kernel is to get; what the program is to see
 *   context_pc _sp _pointer _set_pointer registers of the code that a signal interrupted
 *   context_access                      the access that faulted
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
 * address of the program changes: the event buffer, a guard after it (no group of events is
 * longer), the side stack, the signal stack, a page that fork wipes, scratch. Before the buffer is
 * room for the head of a chunk, so that both are written at once.
 */
#define AE_HEAD   16
#define AE_START  ((uintptr_t)AE_MAP)
#define AE_BUF    (AE_START + AE_HEAD)
#define AE_END    (AE_START + 0x200000)
#define AE_BUFLEN (AE_END - AE_BUF)
#define AE_SIDE   (AE_END + AE_GUARD)
#define AE_ALT    (AE_SIDE + AE_SIDELEN + 0x10000)
#define AE_ALTLEN ((uintptr_t)0x10000)
#define AE_KIN    (AE_ALT + AE_ALTLEN)
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
extern uint8_t *__ae_ptr;       /* the current event pointer while control is outside traced code, else 0 */
extern uintptr_t ae_fs;         /* thread pointer of the traced thread */
extern uintptr_t ae_side_top;   /* end of the last entry of the side stack */
extern uintptr_t ae_side_end;   /* no entry is pushed from here on */
extern int ae_rec;              /* there is an event file to record into */
extern int ae_live;             /* ... and what is recorded belongs to it: no region was left */
extern int ae_kept;             /* outside a region: the buffer has events that belong to the file, and nobody writes more */
extern int ae_pending;          /* a region begins with the next traced function that untraced code calls */
extern int ae_armed;            /* ... with the first call of AE_FROM's function */
extern uintptr_t ae_first_thunk;        /* of that function */
void ae_first(void);            /* its entry jumps here */
extern int ae_depth;            /* running handlers that interrupted traced code */
extern uintptr_t ae_shard[AE_NSHARD][64 / sizeof(uintptr_t)];
void __ae_leave(void);
void ae_tramp(int, siginfo_t *, void *);

/* core/state.c: process-wide state */
extern int ae_on;               /* tracing was set up; remains 1 when recording stops */
extern uint8_t *ae_mid;         /* live event pointer of the interrupted code while ae_depth > 0 */
extern uint64_t ae_nhandler;    /* handlers run untraced */
extern uint64_t ae_total;       /* event bytes written */
extern uint64_t ae_limit;       /* most event bytes in a file */
int ae_ismain(void);
enum ae_kin ae_kin(void);
void ae_kin_init(void);
struct ae_set ae_block(void);   /* blocks all signals, takes the lock; returns the old mask */
void ae_unblock(struct ae_set mask);
void ae_lock_init(void);
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
int ae_file_header(const char *parent, uint64_t parentpos);
int ae_file_chunk(const uint8_t *p, size_t n);
/*
 * writes a chunk of the full buffer: the AE_HEAD bytes before p are free; padded to whole pages of
 * the file
 */
int ae_file_full(uint8_t *p, size_t n);
/* at an exec and at the limit, pc is the process id */
int ae_file_end(enum ae_reason why, int sig, uintptr_t pc);
/* what faulted, for the end record; tail: bytes at the end of the events of which not all need be events */
void ae_file_fault(enum ae_access access, uint64_t addr, unsigned tail);
uint64_t ae_file_size(void);
int ae_file_cut(uint64_t size);                 /* truncates to an earlier size; nonzero if that fails */
int ae_file_kind(void);                         /* S_IFMT bits */
const char *ae_file_path(void);
void ae_file_close(void);

/* core/rec.c: recording */
void ae_flush(void);                            /* traced thread, outside traced code: writes all events */
/* the buffer is full: writes it, keeps what follows live; returns the new event pointer */
uint8_t *ae_full(uint8_t *live);
/* tail: bytes from live on to be written, too */
void ae_finish(enum ae_reason why, int sig, uintptr_t pc, uint8_t *live, size_t tail);
/* ends the recording at the present place of the traced thread; does nothing in a vfork child */
void ae_end(enum ae_reason why);
void ae_rec_open(int live);                     /* the file is open: starts recording, or waits for a region */
void ae_rec_leave(void);                        /* the region ends here; outside traced code */
void ae_rec_shut(void);                         /* stops recording, without a message at the end */
void ae_give_up(const char *why, uint8_t *live);        /* stops recording, with a message */
void ae_lost(void);                             /* from __ae_back and __ae_land: a handler did not return */

/* core/proc.c */
int ae_fork_before(void);
void ae_fork_child(int traced);
int ae_leave_before(enum ae_reason why);        /* returns a token for ae_leave_failed */
void ae_leave_failed(int token);
int ae_exec_before(void);
void ae_exec_failed(int token);

/* core/sig.c */
void ae_sig_init(void);
/* what the trampoline is to call, and enum ae_how bits */
sighandler_t ae_dispatch(int sig, siginfo_t *si, void *uc, uintptr_t *how);
void ae_ask(enum ae_reason why, int sig);       /* from another thread: makes the traced one finish */
int ae_sigaction(int sig, const struct sigaction *act, struct sigaction *old);  /* 0 or an error number */
int ae_sigmask(int how, const sigset_t *set, sigset_t *old);                    /* 0 or an error number */
int ae_sigaltstack(const stack_t *ss, stack_t *old);
const sigset_t *ae_mask_strip(const sigset_t *set, sigset_t *copy);             /* a mask without SIGSEGV */
/* before an exec: sets the mask that the program believes in; 0: undoes it */
void ae_segv_real(int really);

/* core/map.c: the executable itself */
size_t ae_buildid(uint8_t id[32]);
int ae_traceable(void);                         /* are there traced functions */
int ae_patch(uintptr_t page);                   /* makes every entry jump to its thunk; 0 or -1 */
int ae_arm(const char *name);                   /* before ae_patch: AE_FROM; 0 or -1: no such traced function */
int ae_intext(uintptr_t pc);                    /* is pc in traced code */

#pragma GCC visibility pop

/* core/region.c: what the program calls, see tracemill.h */
void __ae_start(void);
void __ae_stop(void);
#endif
