/* Liveness of registers and flags. */
#ifndef TM_AERW_LIVE_H
#define TM_AERW_LIVE_H

#include "file.h"

#define LIVE_FLAGS 0xff0000u    /* the condition flags' bits in a set; below them the registers' */

/* Registers and flags whose values may still be used behind each block: nblk sets, freed by the caller */
uint32_t *live_out(const struct afunc *fn);

/* Fails the function if flags are live across an indirect jump, whose translation needs them. */
void live_check(const struct file *f, struct afunc *fn);

#endif
