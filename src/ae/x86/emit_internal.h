/* Internal to the x86-64 emitter. */
#ifndef TM_AE_X86_EMIT_INTERNAL_H
#define TM_AE_X86_EMIT_INTERNAL_H

#include "ae/rewrite/emit.h"

#define X86_PATCH 5     /* bytes of a jump over an entry */

extern const struct machine machine_x86;

void x86_fits(struct file *f, struct afunc *fn);
void x86_plain_copy(struct buf *o, struct file *f, uint32_t no);

#endif
