/* Internal to the reader of captures: its state. */
#ifndef TM_FORMAT_WS_READER_INTERNAL_H
#define TM_FORMAT_WS_READER_INTERNAL_H

#include "base/src.h"
#include "format/ws/ws_internal.h"

struct ws_runs;

struct ws_reader {
	struct src src;
	struct ws_runs *runs;           /* owned; NULL: the file has one run */
	size_t run;                     /* the number of the one that is read */
	struct fault fault;
	int failed, done;
	struct ws_header_copy *held;
	uint64_t first;                 /* offset of the first group */
	uint64_t pos;                   /* offset of the next group or the index */

	struct ws_ghead now;            /* the group being read */
	uint8_t *room;                  /* owned: the group's streams */
	size_t nroom, caproom;
	struct ws_cur s[WS_NSTREAMS];
	const uint8_t *base[WS_NSTREAMS];
	const uint8_t *last[WS_NSTREAMS];       /* start of the last record in each stream */
	uint64_t at[WS_NSTREAMS];       /* offset of each stream in the file */
	uint64_t page;                  /* the last record is a MEM of pages: the first one plus 1; else 0 */
	uint32_t left;                  /* records not returned yet */
	uint32_t triggers;              /* triggers returned */
	struct ws_history past;
	struct ws_check_order flow;
	uint64_t nrec, ntrigger;        /* returned, counted from the start of the file */

	/* groups read so far, if all from the first on: the index must agree */
	struct ws_group *walked;
	size_t nwalked, capwalked;
	int strayed;                    /* the caller has used ws_seek_group or ws_mark_return */
	struct ws_group *group;         /* the result of ws_groups */
	size_t ngroup;
	int whole;                      /* it is from an index */
	struct buf again;               /* the bytes of ws_mark_return's record */
	/* copy of room, made with the first mark in this group; reference-counted; NULL: no mark */
	struct ws_copy *copy;
};

void ws_copy_drop(struct ws_copy *c);   /* c may be NULL */
/* -1 */
int ws_bad(struct ws_reader *r, uint64_t off, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
int ws_load_group(struct ws_reader *r); /* the next group: 1, 0 at the end, -1 */
int ws_read_end(struct ws_reader *r);   /* reads the index, at pos: 0 or -1 */

#endif
