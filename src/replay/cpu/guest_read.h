/* What the core's files share about reading guest memory that may not be there. */
#ifndef TM_REPLAY_CPU_GUEST_READ_H
#define TM_REPLAY_CPU_GUEST_READ_H

#include <setjmp.h>

extern sigjmp_buf rp_probe;
extern volatile int rp_probing;

#endif
