/*
 * Stack slots as registers.  In a function whose frame nobody else can see
 * (no address in it is ever computed as a value), what is stored at a fixed
 * offset and loaded again is known: a spilled register needs no event.  In
 * other functions that holds for the slots that gcc's register allocator owns,
 * which -fverbose-asm names (%sfp): no pointer leads to them.
 */
#ifndef TM_AE_REWRITE_FRAME_H
#define TM_AE_REWRITE_FRAME_H

#include "ae/rewrite/file.h"

#define MAXSLOT 200
#define NOSLOT (-1)
#define ROMEM (-2)              /* constant memory */

/* Fills fn->slot (by instruction: the slot that ref[mref] is, NOSLOT or ROMEM) and fn->nslot. */
void frame_slots(const struct file *f, struct afunc *fn);

#endif
