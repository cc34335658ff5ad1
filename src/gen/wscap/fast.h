/*
 * The recorder: system calls recorded inside the captured process, without stopping it.
 *
 * A `syscall` instruction that is executed often is replaced by a jump to a stub, and the stub jumps to the
 * recorder (fast_core.c), which the process has in memory of its own, shared with us.  The recorder makes the
 * call in place, and writes what it returned and what the kernel wrote into a buffer, from which records of
 * the capture are made at the next stop, before anything else.  Calls that need more than that, and those at
 * other places, stop the process by Syscall User Dispatch: a byte in the shared memory says whether the
 * kernel stops calls that the recorder does not make.
 *
 * Several threads share it: one of them runs at a time, and it loses its turn only at a place of the program.
 *
 * The capture knows nothing of it.  Wherever the process stops, its registers are made what they would be
 * without the recorder, before anyone looks at them, and made to lead back into the stub when it continues.
 */
#ifndef TM_GEN_WSCAP_FAST_H
#define TM_GEN_WSCAP_FAST_H

#include <asm/unistd.h>
#include <stddef.h>
#include <stdint.h>

#ifndef FAST_INLINE             /* the recorder has its own */
#define FAST_INLINE static inline
#endif

#define FAST_CODE   0x4000     /* offset of struct fast_area in the mapping: the code is before it */
#define FAST_STACK  0xd000     /* end of the recorder's stack */
#define FAST_RING   0xd000     /* offset of the buffer */
#define FAST_ROOM   (1u << 20)       /* bytes of the buffer */
#define FAST_SIZE   (FAST_RING + FAST_ROOM + 4096)      /* with a page for code of ours */
#define FAST_CALLS  512u        /* numbers of system calls that it knows */
#define FAST_FILES  256u        /* descriptors that it may write to or read from */
#define FAST_MOST   (256u << 10) /* bytes that a call may return */
#define FAST_GUARDS 1024u       /* ranges of memory whose mappings it leaves alone */
#define FAST_CPUIDS 128u        /* answers of cpuid that it knows */
#define FAST_KEEP   1u          /* in a guard's lo: the range must stay mapped, but may be protected */
#define FAST_PROTECTS 32u       /* calls of mprotect that it makes at once */
#define FAST_NAME   512u        /* bytes of the name of a mapped file, at most */
#define FAST_TSC    1u
#define FAST_CPUID  2u
#define FAST_NOLEAF UINT32_MAX  /* instead of a leaf: they are zero */
/* Why it stops after a call: others write to its memory; what was mapped must be looked at before it is used. */
#define FAST_SHARED 1u
#define FAST_AFTER  2u
/* Where contents of mappings are to be read: in the process, or in the file, which is steady. */
#define FAST_IN_MEMORY 1u
#define FAST_IN_FILE   2u
/*
 * Of a descriptor, with FAST_WRITES and FAST_READS: such a call does not wait for anybody else; its file was told; it is of
 * no file whose places are told.
 */
#define FAST_STEADY 1u
#define FAST_TOLD   8u
#define FAST_OTHER  16u

/* What a call writes: as in format/ws/syscall.def. */
enum fast_how { FAST_NONE, FAST_RET, FAST_FIX, FAST_ARG };
/* What must hold for a call to be made by the recorder. */
enum fast_if {
	FAST_KNOWN = 1,                 /* it may be made at all */
	FAST_WRITES = 2,                /* argument 0 is a descriptor that may be written to */
	FAST_READS = 4,                 /* or read from */
	FAST_CLOSES = 8,                /* it is forgotten */
	FAST_SOME = 16,                 /* fast_may_some */
	FAST_CLOCK = 32,                /* the vdso can answer it */
	FAST_GIVEN = 128,               /* what argument 1 points to is kept: an action, not of SIGSYS, or a set */
	FAST_MAPS = 256,                /* fast_may_map */
	FAST_DUPS = 512,                /* argument 1 becomes another descriptor */
	FAST_WAITS = 4096,              /* it may wait for others, also for another thread, which could not run then */
	FAST_DENIED = 8192,             /* it is not made: it fails with ENOSYS */
	FAST_SETS_FS = 32768            /* it is to set the base of fs */
};
struct fast_call {
	uint16_t when;
	struct { uint8_t how, arg, b; uint16_t n; } w[2];
};

/*
 * A record in the buffer, of rdtsc if nr is UINT64_MAX: then arg is ecx, and whether it counts.  Pieces of
 * memory follow it, each with a head and padded to 8 bytes.
 */
struct fast_rec {
	uint32_t size;                  /* with all that follows */
	uint32_t hash;
	uint64_t nr, pc, arg[6], ret;
};
struct fast_piece {
	uint64_t addr, n;               /* addr FAST_KEPT: what the call was given */
};
#define FAST_KEPT UINT64_MAX
#define FAST_KEPT_MOST 32u      /* an action; a set of signals has 8 bytes */
#define FAST_FILE (UINT64_MAX - 1)      /* addr: device, inode and name of the file that a call maps, or reads from now on */
#define FAST_AT   (UINT64_MAX - 2)      /* addr: where in that file it reads */
#define FAST_OLD  (UINT64_MAX - 3)      /* as FAST_FILE: what is mapped may be written to before it is read in the file */
#define FAST_READ 4096u         /* bytes of a read whose place in the file is told, at least */

struct fast_protect {           /* arguments and result of a call */
	uint64_t lo, n, prot;
	int64_t ret;
};

/* Shared between the process and us.  Whatever the program does to it, we must survive. */
struct fast_area {
	uint8_t selector;               /* 0: the kernel lets all calls pass; 1: only the recorder's */
	uint8_t slow;                   /* the recorder shall make no call itself */
	uint8_t fsgsbase;               /* the bases of fs and gs can be read by instructions */
	uint8_t made;                   /* the present call has been made */
	uint8_t note;                   /* it shall stop after a call: FAST_SHARED, FAST_AFTER */
	uint8_t grant;                  /* we have done what must be done before the present call: it shall make it */
	uint8_t looking;                /* the recorder makes a call for itself */
	uint8_t tsc;                    /* it is no call, but rdtsc or rdtscp: FAST_TSC; or cpuid: FAST_CPUID */
	uint8_t held;                   /* of a mapped file, not all contents were read */
	uint8_t mapped;                 /* the buffer has mappings of files, whose contents are still to be read */
	uint8_t stored;                 /* there is a store, which may have what is read */
	uint8_t threads;                /* others have to wait until it gives the turn away: threads, or processes */
	uint8_t file[FAST_FILES];       /* FAST_WRITES, FAST_READS, FAST_STEADY, _TOLD, _OTHER for each descriptor */
	uint64_t head;                  /* bytes of complete records in the buffer */
	uint64_t begun;                 /* head at the beginning of the present call */
	uint64_t before;                /* bytes of the pieces that its record has had before it was made */
	uint64_t fsbase, gsbase;
	uint64_t r[16], flags;          /* registers at the call; r[1], r[11] as `syscall` leaves them */
	uint64_t arg[6];                /* its arguments */
	uint64_t ret, back;             /* result; where the stub continues */
	/*
	 * what cpuid answers, as in the capture's header; the leaf whose answers those have that are not known; what
	 * it has answered
	 */
	uint32_t ncpuid, last, answer[4];
	struct { uint32_t leaf, sub, answer[4]; } cpuid[FAST_CPUIDS];
	uint64_t clock;                 /* address of the vdso's clock_gettime; 0: none */
	uint64_t tsc_scale, tsc_since, tsc_first;       /* struct tsc_clock; scale 0: rdtsc does not fault */
	uint64_t time[2], kept;         /* for that */
	uint64_t steady[2];             /* device and inode of a file that we can open, and that nobody writes to; 0: none */
	/*
	 * While the loader maps a program's libraries, it executes nothing of them: they are mapped without the right to it,
	 * all are looked at in one stop, and get it then.  That is done only with files that nobody has written to since
	 * late_before, a time in seconds; 0: it is not done.
	 */
	uint64_t late_before;
	uint64_t given;                 /* the third argument of the present call */
	uint64_t nlate;
	struct fast_protect late[FAST_PROTECTS];
	uint8_t withheld;               /* the present call maps code without the right to execute it */
	/*
	 * code, memory that is shared, the recorder's, and that of files that is not read yet (FAST_KEEP): calls
	 * that change mappings there stop the process
	 */
	uint64_t shown, nshown;         /* where what a call is given may be: the rest may be hidden */
	uint64_t nguard;
	struct { uint64_t lo, hi; } guard[FAST_GUARDS];
	struct fast_call call[FAST_CALLS];
	struct fast_protect protect[FAST_PROTECTS];
};

/* Does a call change mappings in a way that the recorder can record?  *lo, *hi: what it replaces. */
FAST_INLINE int
fast_may_map(uint64_t nr, const uint64_t *arg, uint64_t *lo, uint64_t *hi)
{
	/* MAP_PRIVATE; and MAP_FIXED, _ANONYMOUS, _DENYWRITE, _EXECUTABLE, _NORESERVE, _POPULATE, _STACK */
	const uint64_t private = 2, flags = 0x10 | 0x20 | 0x800 | 0x1000 | 0x4000 | 0x8000 | 0x20000;
	const uint64_t fixed = 0x10;

	*lo = arg[0];
	*hi = arg[0] + ((arg[1] + 4095) & ~(uint64_t)4095);
	if (*hi < *lo)
		return 0;
	if (nr != __NR_mmap)
		return nr == __NR_munmap || arg[2] <= 3;        /* PROT_READ | PROT_WRITE: code is searched before it is executed */
	if (!(arg[3] & fixed))
		*lo = *hi = 0;
	return arg[3] == (private | (arg[3] & flags)) && arg[2] <= 7;
}

/*
 * May a call that the recorder makes with some arguments be made with these?  fcntl, ioctl: what has no memory, and the most
 * frequent one (TCGETS).  futex: it wakes others (FUTEX_WAKE, with or without PRIVATE), which writes nothing.  prctl: it gives a
 * mapping a name (PR_SET_VMA, _ANON_NAME).  prlimit64: it only tells a limit.  madvise: advice that changes no contents
 * (MADV_NORMAL, _RANDOM, _SEQUENTIAL, _WILLNEED, _DONTFORK, _MERGEABLE, _UNMERGEABLE, _HUGEPAGE, _NOHUGEPAGE, _DONTDUMP, _DODUMP).
 */
FAST_INLINE int
fast_may_some(uint64_t nr, const uint64_t *arg)
{
	if (nr == __NR_fcntl)
		return arg[1] <= 4 || arg[1] == 1030;   /* not: F_GETLK and others that have memory; F_DUPFD_CLOEXEC */
	if (nr == __NR_ioctl)
		return arg[1] == 0x5401;
	if (nr == __NR_futex)
		return (arg[1] & 0xffffff7f) == 1;
	if (nr == __NR_prctl)
		return arg[0] == 0x53564d41 && !arg[1];
	if (nr == __NR_prlimit64)
		return !arg[2];
	if (nr == __NR_madvise)
		return arg[2] < 32 && 0x3f40fu >> arg[2] & 1;
	return nr != __NR_arch_prctl || arg[0] == 0x1002;       /* ARCH_SET_FS */
}

/* The code of the recorder, to be copied; places in it are offsets from the beginning. */
extern const uint8_t fast_code_begin[] __asm__("__start_wscap_recorder");
extern const uint8_t fast_code_end[] __asm__("__stop_wscap_recorder");
extern const uint8_t fast_entry[], fast_timed[], fast_made[], fast_asked[], fast_noted[];
/* bytes from fast_timed on where a `syscall` has returned to that the kernel lets pass */
#define FAST_PASSES ((uint64_t)(fast_made - fast_timed) + 1)
extern const uint8_t fast_goes_on[];    /* where it continues after a call, to the program */
extern const uint8_t fast_late[];       /* the same, if there is memory that gets the right to be executed first */
extern const uint8_t fast_tsc[], fast_tscp[], fast_full[];
extern const uint8_t fast_cpuid[], fast_cpuid_end[];
extern const uint8_t fast_protects[];
/* the end of what comes before area.begun is set */
extern const uint8_t fast_started[], fast_tsc_started[];
/* the end of what comes before all registers of the program, except rbx and rdx, are in the area */
extern const uint8_t fast_cpuid_started[];

/* What we know of a process with a recorder. */

#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH 59
#endif
#define SUD_ON 1
#define SUD_OFF 0

#define FAST_TEXTS 16u
#define FAST_SEEN  256u
#define FAST_STUB  64u          /* bytes of a stub, at most */
#define FAST_WINDOW 256u        /* a jump of five bytes reaches so many with three bytes that trap */
#define FAST_MOVED 4u           /* instructions that are moved, at most */

struct cap;
struct call;
struct hold_file;
struct mapped_file;
struct tracee;
struct user_regs_struct;

struct fast_text {                      /* stubs for a mapping with code */
	uint64_t lo, hi;                /* the code */
	uint64_t at, size;              /* the stubs in the process */
	uint8_t *p;                     /* and here */
	int32_t jump;                   /* distance from after the jump to the first stub of its window */
};

struct fast_site {                      /* a `syscall`, a rdtsc or a cpuid that is replaced by a jump */
	uint64_t addr, stub;
	uint8_t was[8];
	uint8_t in;                     /* the jump is written */
	uint8_t len, size;              /* bytes of the instruction itself, and of the stub */
	uint8_t tsc;                    /* it is rdtsc or rdtscp: FAST_TSC; or cpuid: FAST_CPUID */
	uint8_t n, nmoved;              /* bytes that were moved, with that one; instructions, without it */
	uint8_t from[FAST_MOVED], to[FAST_MOVED];       /* their offsets from addr, and in the stub */
};

struct fast {
	int never;                      /* this process must not have one, or no longer */
	int on;                         /* the jumps are written, and only the recorder's calls do not stop */
	int paused;                     /* they are not for a while */
	int lent;                       /* it is that of the parent, whose memory the process has: fast_lend.c */
	int calling;                    /* a call is about to be made under ptrace */
	int halted;                     /* it has stopped for a signal, at an instruction: it can run others first */
	int granted;                    /* it was told to make a call that it had not made, and has made none since */
	uint64_t guarded;               /* the version of the regions that the guards are of */
	int mapped;                     /* code was mapped, in which there may be known places */
	unsigned slow, made;            /* calls that stopped the process, and that did not, since a while */
	unsigned shown;                 /* how often the program has read where its memory is */
	unsigned hot;                   /* how often a place makes calls before it is changed */
	struct fast_area *a;            /* our view of the shared memory; NULL: there is none */
	uint8_t *p;
	uint64_t core;                  /* its address in the process */
	uint64_t tail;                  /* bytes of the buffer that were read */
	int fd;                         /* the memory that is shared; if there is a recorder */
	uint64_t last, lastaddr;        /* its last page: offset, and where the process has it; lastaddr 0: it has no more */
	struct fast_text text[FAST_TEXTS];
	size_t ntext;
	struct fast_site *site;         /* owned */
	size_t nsite, capsite;
	struct { uint64_t pc; unsigned n; } seen[FAST_SEEN];
	struct hold_file *from[FAST_FILES];     /* borrowed: what is read, of a descriptor that has FAST_TOLD; NULL: it cannot be told */
};

/* where a label of the recorder's code is in the process */
static inline uint64_t
fast_place(const struct fast *f, const uint8_t *label)
{
	return f->core + (uint64_t)(label - fast_code_begin);
}

/* fast.c, fast_hot.c, fast_stop.c, fast_view.c: what the rest of wscap calls; each does nothing if there is no recorder */

/* At a stop, before anything else: 1: it is done with, continue with the signal *sig. */
int fast_stopped(struct cap *c, int status, int *sig);
int fast_resume(struct cap *c);         /* before the process continues: how, for ptrace */
/* At the entry of a call, before it: 1: it was cancelled and will be made again. */
int fast_enter(struct cap *c, const struct call *k);
void fast_left(struct cap *c, const struct call *k);    /* after a call was recorded */
/* While it is on: replaces the `syscall` at pc, in code that makes some calls: 0; -1: not now, or never. */
int fast_place_add(struct cap *c, uint64_t pc);
/* A program begins to run, and makes many calls from the start on. */
void fast_start(struct cap *c);
void fast_code_mapped(struct cap *c);   /* where known places may be */
/* rdtsc at addr has stopped the process, and is done */
void fast_tsc_made(struct cap *c, uint64_t addr);
/* the same for cpuid, which a program executes often at its beginning */
void fast_cpuid_made(struct cap *c, uint64_t addr);
void fast_hide(const struct cap *c, uint64_t addr, uint8_t *p, size_t n);       /* the program's own bytes */
int fast_covers(const struct cap *c, uint64_t addr);    /* a jump is written there */
/* The process is being killed: 1: at a system call; 0: at g, which is corrected. */
int fast_dead(struct cap *c, struct user_regs_struct *g);
/* The thread that is loaded has begun, and stands: the kernel shall stop its calls, too. */
void fast_thread(struct cap *c);
/* The same thread runs untraced from now on, others as well, and the recorder will end: it shall not. */
void fast_untell(struct cap *c);
/* The turn of the thread that runs is to end: it stops at its next call. */
void fast_hurry(struct cap *c);
void fast_pause(struct cap *c);         /* from a place of the program: the jumps go, until calls are frequent again */
int fast_leave(struct cap *c);          /* the same; 0: it is not at a place of the program */
/* What the recorder writes may be read only when the process has stopped. */
int fast_waits(const struct cap *c);
/* Others write to its memory from now on: it stops after the call that it may be in, and at the next one. */
void fast_share_begun(struct cap *c);
void fast_off(struct cap *c);           /* from any stop: all is as without a recorder, for ever */
void fast_end(struct cap *c);           /* the same, and its memory is removed; not at a syscall-entry stop */
void fast_free(struct cap *c);          /* the process is gone, or its memory */
/* Does the process have system call filters that we have not? They may kill it for a call that we make for it. */
int fast_filtered(const struct cap *c);

/* fast_hot.c, for fast.c and the other way round */
int fast_looks(struct cap *c, const struct call *k);    /* does the call read where the process's memory is? */
struct fast *fast_of(struct cap *c);    /* that of a process, which may be new */
void fast_switch(struct cap *c, int on);        /* turns it on or off, with the process at a place of the program */

/* fast_view.c */
/* does the process execute the recorder, or the vdso for it? */
int fast_busy(const struct fast *f, const struct user_regs_struct *g);
int fast_inside(const struct fast *f, const struct user_regs_struct *g);        /* or is it on the way there? */
/* the program's registers at the call that the recorder is in; rip is after it */
void fast_view(const struct fast *f, struct user_regs_struct *g);
/* from a stub to the program, for rip after the call; 0: it is not there */
uint64_t fast_outside(const struct fast *f, uint64_t rip);

/* fast_map.c: the recorder shall make the call k itself after all: 1: what must be done before it is done */
int fast_grant(struct cap *c, const struct call *k);
/* a program begins: its libraries may be mapped without the right to be executed, until all are mapped */
void fast_late_begin(const struct cap *c);
int fast_is_late(const struct fast *f, uint64_t addr);  /* is it in memory that has that right to come? */
void fast_late_end(struct cap *c);      /* it gets it now.  The process stands, and not at the entry of a call */

/* fast_ring.c */
void fast_drain(struct cap *c);         /* records what is in the buffer */
void fast_table(const struct cap *c, struct fast_area *a);      /* which calls the recorder makes */
unsigned fast_knows(const struct fast *f, const struct call *k); /* its enum fast_if; 0: it never makes this call */
/* May the call k wait for another thread, so that it must not make it?  knows: fast_knows */
int fast_may_wait(const struct fast *f, const struct call *k, unsigned knows);

/* fast_lend.c: k, a child of vfork, uses the memory of its lender */
void fast_lend(struct cap *k);          /* it stands at its beginning: it has the recorder now, if its lender had one */
void fast_return(struct cap *k);        /* it has executed a program, or ended */
/* Is there a recorder in the memory of c, its own or a parent's?  Then it makes n calls of mprotect at once: 0 or -1. */
int fast_protect_may(const struct cap *c);
int fast_protect(struct cap *c, struct fast_protect *p, size_t n);
/* It stands, and not at the entry of a call: the recorder goes back to its parent. */
void fast_give_back(struct cap *k);
int fast_lent_makes(uint64_t nr);       /* does it make this call for such a child? */
/* Of a process whose stack pointer is sp: tells the recorder which memory a call may be given. */
void fast_shown(const struct cap *c, uint64_t sp);

/* fast_learn.c: places in files that are used again and again */
void fast_learn(const struct cap *c, uint64_t addr);    /* a place was added as it was used */
/*
 * Adds those of files that are mapped: were there any?  anew: also those that the recorder was asked for before, of which it
 * knows nothing any more.
 */
int fast_learned(struct cap *c, int anew);
void fast_learn_keep(struct hold_file *f);      /* the store keeps them; frees them */

/* fast_site.c */
#define FAST_BYTES 32u          /* of the code at a place: more than a jump replaces */
struct fast_place {
	uint64_t addr;
	const uint8_t *b;               /* borrowed: the program's bytes there, FAST_BYTES; NULL: they are to be read */
};
int fast_add_site(struct cap *c, const struct fast_place *p);   /* 0 or -1 */
/* ascending, of one mapping: as far as it can be done */
void fast_add_sites(struct cap *c, const struct fast_place *p, size_t n);
void fast_jumps(struct cap *c, int in);         /* writes all jumps, or the program's bytes */
void fast_forget(struct cap *c, uint64_t lo, uint64_t hi);      /* gives up places in [lo, hi) */
/* whose bytes, or whose stub, contain addr; NULL: none */
struct fast_site *fast_site_of(const struct fast *f, uint64_t addr);
struct fast_site *fast_site_in(const struct fast *f, uint64_t addr);
/* the stubs for the mapping that contains addr: NULL: none yet */
struct fast_text *fast_text_of(struct fast *f, uint64_t addr);
/* makes them, and memory for the recorder if there is none; NULL: it cannot be done */
struct fast_text *fast_text_add(struct cap *c, uint64_t addr);
#endif
