/* Internal to captures: the reader's list of kept files. */
#ifndef TM_FORMAT_WS_KEPT_INTERNAL_H
#define TM_FORMAT_WS_KEPT_INTERNAL_H

#include "base/src.h"
#include "format/ws/kept.h"
#include "format/ws/ws_internal.h"

#define WS_KEPT_HEAD 64u

struct ws_kept_at {
	struct ws_kept kept;            /* path is owned */
	uint64_t off;                   /* of the packed bytes in the file */
	uint64_t crc;                   /* of them */
	size_t npath;
	int zstd;
};

/* A zeroed one is empty. */
struct ws_kept_list {
	struct ws_kept_at *v;           /* owned */
	size_t n, cap;
	int seen;                       /* there is one, perhaps a damaged one */
};

/* a kept file whose head is at off; returns its bytes in the capture, or 0: see *f */
uint64_t ws_kept_read(struct ws_kept_list *t, struct src *src, uint64_t off, struct fault *f);
void ws_kept_free(struct ws_kept_list *t);

/* runs.c */
const struct ws_kept_list *ws_runs_kept(const struct ws_runs *t);
#endif
