/* Reading guest memory that may not be mapped: a fault while rp_probing is set jumps to rp_probe. */
#ifndef TM_REPLAY_CPU_GUEST_READ_H
#define TM_REPLAY_CPU_GUEST_READ_H

#include <setjmp.h>

extern sigjmp_buf rp_probe;
extern volatile int rp_probing;

#endif
