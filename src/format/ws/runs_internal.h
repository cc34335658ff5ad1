/* Internal to captures of several processes: what writer and reader share. */
#ifndef TM_FORMAT_WS_RUNS_INTERNAL_H
#define TM_FORMAT_WS_RUNS_INTERNAL_H

#include "base/bytes.h"
#include "base/src.h"
#include "format/ws/runs.h"
#include "format/ws/ws_internal.h"

#define WS_PIECE_HEAD   24u
#define WS_PIECE_MAX    (1u << 26)      /* bytes of a piece */
#define WS_PIECE_ENOUGH (1u << 18)      /* bytes that are written without waiting for more */
#define WS_ENTRY_MAX    128u            /* bytes of an entry's body */

enum { WS_RUN_BEGINS, WS_RUN_ENDS, WS_RUNS_END };       /* kinds of entries */

/* Where the capture of a run is. */
struct ws_part {
	struct src_piece *piece;        /* owned */
	size_t n, cap;
	uint64_t bytes;
};

/* 1: src is a single capture, without a list of runs; it may be cut off then */
int ws_runs_single(struct src *src, uint64_t first);
struct ws_runs *ws_runs_scan(struct src *src, struct fault *f);
const struct ws_part *ws_runs_part(const struct ws_runs *t, size_t n);
const struct fault *ws_runs_fault(const struct ws_runs *t);     /* where it is cut off or damaged; NULL: whole */

#endif
