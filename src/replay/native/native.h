/*
 * A captured program in a process of its own, executed by the processor itself: the process
 * gets the capture's memory and registers, and the effects that the capture has at its
 * triggers.  Its system calls are not executed: a filter allows only those that change its
 * memory.  The process stands under ptrace; the caller runs and steps it (tracee.h).
 *
 * Functions that return int return 0, or -1 with n->err.
 */
#ifndef TM_REPLAY_NATIVE_NATIVE_H
#define TM_REPLAY_NATIVE_NATIVE_H

#include "format/ws/ws.h"
#include "replay/ptrace/tracee.h"

#define NATIVE_UNSEEN UINT64_C(0x10100) /* RF and TF in rflags: set by stepping, not by the program */

struct native_share { uint64_t addr, len, dev, ino, offset; uint32_t prot; };

struct native {
	struct tracee t;
	struct native_share *share;     /* shared file mappings; owned */
	size_t nshare, capshare;
	int maps;                       /* descriptor of /proc/PID/maps */
	uint8_t state[WS_XSAVE_MAX];    /* scratch */
	char err[160];
};

int native_open(struct native *n);      /* starts an empty process */
void native_close(struct native *n);    /* kills it */
int native_clear(struct native *n);     /* unmaps everything */
/* a system call in the process; *ret: its result */
int native_call(struct native *n, uint64_t *ret, long nr, uint64_t a, uint64_t b, uint64_t c,
    uint64_t d, uint64_t e);

/* Applies MAP, UNMAP, PROT, MOVE, MEM. 1: any other record. */
int native_effect(struct native *n, const struct ws_rec *rec);
int native_write(struct native *n, uint64_t addr, const uint8_t *p, size_t len);        /* p NULL: zeros */
/* sets the registers; nxsave 0: vector registers stay */
int native_state(struct native *n, const struct ws_regs *w, const uint8_t *xsave, size_t nxsave);

/* Registers at a `syscall` instruction: is it the captured call? */
int native_is_call(const struct ws_regs *at, const struct ws_rec_sys *s);
/* computes the registers after the call from those at it */
void native_call_result(struct ws_regs *w, const struct ws_rec_sys *s);

/*
 * TSC, CPUID, RAND: sets w to the registers after the instruction with the bytes b (NATIVE_INSN
 * of them), if it is the captured one.  Otherwise returns -1 and leaves w unchanged.
 */
#define NATIVE_INSN 8u
int native_emulate(struct ws_regs *w, const uint8_t *b, const struct ws_rec *rec);

#endif
