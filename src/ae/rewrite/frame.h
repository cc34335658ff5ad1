/*
 * Stack slots as registers. If no address in a function's frame is ever computed as a value,
 * nothing else can access the frame: then a value stored at a fixed offset and loaded again is
 * known, and a spilled register needs no event. In other functions that holds for the slots of
 * gcc's register allocator, which -fverbose-asm names (%sfp): no pointer leads to them.
 */
#ifndef TM_AE_REWRITE_FRAME_H
#define TM_AE_REWRITE_FRAME_H

#include "ae/rewrite/file.h"

#define MAXSLOT 200
#define NOSLOT (-1)
#define ROMEM (-2)              /* constant memory */

/* Fills in fn->slot (for each instruction: the slot that ref[mref] is, NOSLOT or ROMEM) and fn->nslot. */
void frame_slots(const struct file *f, struct afunc *fn);

#endif
