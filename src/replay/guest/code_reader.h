/* The code of a replayed program, as cfg/code.h reads it. */
#ifndef TM_REPLAY_GUEST_CODE_READER_H
#define TM_REPLAY_GUEST_CODE_READER_H

#include "cfg/code.h"
#include "replay/guest/replay.h"

/* wcode_read_fn of a replay: arg is a struct wcode_replay */
struct wcode_replay {
	struct replay *r;
	uint64_t lo, hi;                /* a mapping, and may it be executed; lo = hi: none */
	int exec;
};
size_t wcode_read_replay(void *arg, uint64_t addr, void *p, size_t n, int exec);
void wcode_remapped(struct wcode_replay *r);      /* mappings may be others now */

#endif
