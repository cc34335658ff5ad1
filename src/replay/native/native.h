/*
 * A captured program in a process of its own, run by the processor itself: the
 * process gets the capture's memory and registers, and what the capture says
 * at its triggers.  Its system calls are not made, and could not be: the
 * process has a filter that leaves it those that change its memory.  It stands under ptrace;
 * the caller runs and steps it (tracee.h).
 *
 * Functions that return int give 0, or -1 with n->err.
 */
#ifndef TM_REPLAY_NATIVE_NATIVE_H
#define TM_REPLAY_NATIVE_NATIVE_H

#include "format/ws/ws.h"
#include "replay/ptrace/tracee.h"

#define NATIVE_UNSEEN UINT64_C(0x10100)  /* RF, TF in rflags: of stepping, not of the program */

struct native_share { uint64_t addr, len, dev, ino, offset; uint32_t prot; };

struct native {
	struct tracee t;
	struct native_share *share;     /* files that are mapped shared; owned */
	size_t nshare, capshare;
	int maps;                       /* /proc/PID/maps */
	uint8_t state[WS_XSAVE_MAX];    /* scratch */
	char err[160];
};

int native_open(struct native *n);      /* a process with nothing in it */
void native_close(struct native *n);    /* it is killed */
int native_clear(struct native *n);     /* nothing is mapped any more */
int native_call(struct native *n, uint64_t *ret, long nr, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e);

/* MAP, UNMAP, PROT, MOVE, MEM take place; 1: the record is none of these */
int native_effect(struct native *n, const struct ws_rec *rec);
int native_write(struct native *n, uint64_t addr, const uint8_t *p, size_t len);        /* p NULL: zeros */
int native_state(struct native *n, const struct ws_regs *w, const uint8_t *xsave, size_t nxsave);      /* nxsave 0: unchanged */

/* Behind a `syscall` instruction with the registers at the call: is it this one? */
int native_is_call(const struct ws_regs *at, const struct ws_rec_sys *s);
void native_did_call(struct ws_regs *w, const struct ws_rec_sys *s);    /* registers afterwards; w: those at the call */

/* TSC, CPUID, RAND: registers behind the instruction b (NATIVE_INSN bytes), if it is the captured one; else -1 and w is untouched */
#define NATIVE_INSN 8u
int native_answer(struct ws_regs *w, const uint8_t *b, const struct ws_rec *rec);

#endif
