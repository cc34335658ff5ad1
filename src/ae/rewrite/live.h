/* Liveness of registers and flags. */
#ifndef TM_AE_REWRITE_LIVE_H
#define TM_AE_REWRITE_LIVE_H

#include "ae/rewrite/file.h"

#define LIVE_FLAG0 48
#define LIVE_FLAGS (UINT64_C(0xff) << LIVE_FLAG0)       /* the condition flags' bits in a set; below them the registers' */

/* Registers and flags whose values may still be used behind each block: nblk sets, freed by the caller */
uint64_t *live_out(const struct afunc *fn);

/* Fails the function if flags are live across an indirect jump, whose translation needs them. */
void live_check(const struct file *f, struct afunc *fn);

#endif
