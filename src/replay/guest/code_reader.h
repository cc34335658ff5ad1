/* Lets cfg/code.h read the code of a replayed program. */
#ifndef TM_REPLAY_GUEST_CODE_READER_H
#define TM_REPLAY_GUEST_CODE_READER_H

#include "cfg/code.h"
#include "replay/guest/replay.h"

/* State of wcode_read_replay, the wcode_read_fn of a replay. */
struct wcode_replay {
	struct replay *r;
	/* the mapping that was read last, and is it executable; lo = hi: none */
	uint64_t lo, hi;
	int exec;
};
/*
 * Copies up to n bytes at addr to p; exec: only from executable mappings.  Returns the number
 * of bytes copied.
 */
size_t wcode_read_replay(void *arg, uint64_t addr, void *p, size_t n, int exec);
void wcode_replay_invalidate(struct wcode_replay *r);   /* call it when mappings have changed */

#endif
