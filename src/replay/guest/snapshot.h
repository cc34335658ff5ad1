/* Snapshots of a replay in memory, to go back to. */
#ifndef TM_REPLAY_GUEST_SNAPSHOT_H
#define TM_REPLAY_GUEST_SNAPSHOT_H

#include "replay/cpu/cpu.h"
#include "replay/guest/drive.h"
#include "replay/guest/replay.h"

struct snap_page;                       /* shared between snapshots, reference counted */
struct snap_at { uint64_t addr; struct snap_page *page; };

struct snap {
	uint64_t n;                     /* instances before it */
	struct rp_run x;
	uint8_t xsave[RP_XSAVE];
	struct ws_mark *mark;
	int after_sig, keyed, uncounted, exits;
	uint32_t thread;
	struct drive_parked parked;
	uint64_t triggers, broke, from, latest;
	struct mem_area *area;
	size_t narea;
	struct snap_at *page;           /* by ascending address; all other pages are zero; owned */
	size_t npage, cappage;
	uint64_t bytes;                 /* memory that the snapshot takes */
};

/*
 * Takes a snapshot between two instructions.  Pages that are as in `base` (NULL: none) are
 * shared with it.  pagemap: a descriptor of /proc/self/pagemap.  NULL: not possible here, more
 * than `most` bytes, or no memory.  The caller frees it with snap_free.
 */
struct snap *snap_take(struct replay *r, const struct snap *base, int pagemap, uint64_t most);
int snap_return(struct replay *r, const struct snap *s, int pagemap);   /* 0, or REPLAY_BAD */
uint64_t snap_free(struct snap *s);                     /* returns how many bytes were freed */

#endif
