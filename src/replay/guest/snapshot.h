/* States of a replay kept in memory, to go back to. */
#ifndef TM_REPLAY_GUEST_SNAPSHOT_H
#define TM_REPLAY_GUEST_SNAPSHOT_H

#include "replay/cpu/cpu.h"
#include "replay/guest/memory.h"
#include "replay/guest/replay.h"

struct snap_page;                       /* shared by those in which it is the same, counted */
struct snap_at { uint64_t addr; struct snap_page *page; };

struct snap {
	uint64_t n;                     /* instances before it */
	struct rp_run x;
	uint8_t xsave[RP_XSAVE];
	struct ws_mark *mark;
	int after_sig, keyed, uncounted;
	uint64_t triggers, broke, from, latest;
	struct mem_area *area;
	size_t narea;
	struct snap_at *page;           /* by ascending address; all others are zero; owned */
	size_t npage, cappage;
	uint64_t bytes;                 /* that it took */
};

/*
 * Where the replay is, between two instructions; what is as it was in `base`
 * (NULL: none) takes no memory.  pagemap: of /proc/self/pagemap.  NULL: not
 * here, or not in `most` bytes, or no memory.
 */
struct snap *snap_take(struct replay *r, const struct snap *base, int pagemap, uint64_t most);
int snap_return(struct replay *r, const struct snap *s, int pagemap);   /* 0, or REPLAY_BAD */
uint64_t snap_free(struct snap *s);                     /* how many bytes that gave back */

#endif
