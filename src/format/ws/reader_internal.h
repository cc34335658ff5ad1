/* Captures: internal to the reader. */
#ifndef TM_FORMAT_WS_READER_INTERNAL_H
#define TM_FORMAT_WS_READER_INTERNAL_H

#include "base/src.h"
#include "format/ws/ws_internal.h"

struct ws_reader {
	struct src src;
	struct fault fault;
	int failed, done;
	struct ws_held *held;
	uint64_t first;                 /* offset of the first group */
	uint64_t pos;                   /* of the next group or the index */

	struct ws_ghead now;            /* the group being read */
	uint8_t *room;                  /* owned: its streams */
	size_t nroom, caproom;
	struct ws_cur s[WS_NSTREAMS];
	const uint8_t *base[WS_NSTREAMS];
	const uint8_t *last[WS_NSTREAMS];       /* where the last record begins in each */
	uint64_t at[WS_NSTREAMS];       /* where each stream begins in the file */
	uint32_t left;                  /* records still to come from it */
	uint32_t triggers;              /* those that came */
	struct ws_past past;
	struct ws_flow flow;
	uint64_t nrec, ntrigger;        /* handed over, from the start of the file */

	struct ws_group *walked;        /* groups read so far, if all from the first: the index must say the same */
	size_t nwalked, capwalked;
	int strayed;                    /* somebody seeked */
	struct ws_group *group;         /* what ws_groups gives */
	size_t ngroup;
	int whole;                      /* from an index */
	struct buf again;               /* what the record of ws_return points to */
	struct ws_copy *copy;           /* of room, from before a mark was made in this group; counted; NULL: none */
};

void ws_copy_drop(struct ws_copy *c);   /* or NULL */
int ws_bad(struct ws_reader *r, uint64_t off, const char *fmt, ...) __attribute__((format(printf, 3, 4)));      /* -1 */
int ws_load(struct ws_reader *r);       /* the next group: 1, 0 at the end, -1 */
int ws_end(struct ws_reader *r);        /* the index, at pos: 0 or -1 */

#endif
