/* Loops that wait: the jump that closes one. */
#ifndef TM_GEN_WSCAP_SPIN_H
#define TM_GEN_WSCAP_SPIN_H

#include <Zydis/Zydis.h>

#include "gen/wscap/wscap.h"

#define PAUSE_BYTES 2u
#define PAUSE_BYTE  0xf3u       /* the first */

#define LOOP_JUMPS 8u           /* jumps that are remembered */

/* What the last instructions of a thread were, which are executed one by one; all zero at first. */
struct spin_loop {
	struct { uint64_t addr, r[16]; } jump[LOOP_JUMPS];      /* taken backward, with these registers then */
	size_t n;
	uint32_t used;                  /* registers by which memory was read */
	int reads;                      /* some was read */
	uint64_t last, to;              /* the instruction before is a jump to there; or 0 */
	unsigned lastlen;
	uint64_t dest;                  /* it may have written there, where these bytes were; or 0 */
	uint8_t had[8];
	uint64_t found;                 /* the jump that closes a loop that waits; 0: there is none */
	unsigned len;                   /* its bytes */
};

/* spin_loop.c */

/* The thread, with registers g, is about to execute this instruction. */
void spin_loop_step(struct spin_loop *l, struct cap *c, const struct user_regs_struct *g, const ZydisDecodedInstruction *z,
    const ZydisDecodedOperand *op);
/* where the instruction of s, a `pause` or a jump, goes on with these flags */
uint64_t spin_after(struct cap *c, const struct site *s, uint64_t flags);

#endif
