/* Liveness of registers and flags. */
#ifndef TM_AE_REWRITE_LIVE_H
#define TM_AE_REWRITE_LIVE_H

#include "ae/rewrite/file.h"

#define LIVE_FLAG0 48
/* the condition flags' bits in a set, above those of registers */
#define LIVE_FLAGS (UINT64_C(0xff) << LIVE_FLAG0)

/* Registers and flags that may still be used after each block: nblk sets, which the caller frees. */
uint64_t *live_out(const struct afunc *fn);

/* The same after each instruction: nins sets, which the caller frees. */
uint64_t *live_after(const struct afunc *fn);

/* By instruction: is no flag live after it? The caller frees it. */
uint8_t *live_noflags(const struct afunc *fn);

/* Fails the function if instrumented code would change a register that is live (struct emitter's check). */
void live_check(const struct file *f, struct afunc *fn);

#endif
