/* The shadow of a visit's memory: which instance last wrote each byte.  Used in this folder only. */
#ifndef TM_REPLAY_ITRACE_LAST_WRITER_H
#define TM_REPLAY_ITRACE_LAST_WRITER_H

#include "base/hash.h"
#include "replay/cpu/cpu.h"
#include "replay/itrace/itrace.h"

#define SHADOW_CACHE 256u               /* entries of the cache of mappings */
#define SHADOW_PAGE  4096u              /* bytes of memory, and bytes of their shadow */

/* A mapping, made by instance `writer`: that is the writer of bytes that no instance has written since. */
struct shadow_area { uint64_t addr, end, writer; };

/*
 * A word of the shadow is the writer of 8 bytes of memory; or VISIT_MANY with the index of an
 * entry with the writers of the 8 bytes; or 0: the area's writer.
 */
struct wshadow {
	uint64_t (*bytes)[8];           /* mapped with MAP_NORESERVE; entry 0 is not used */
	uint32_t nbytes, free;          /* free: list linked through the first word, 0 ends it */
	struct shadow_area *area;       /* ascending, not overlapping; owned */
	size_t narea, caparea;
	struct { uint64_t page, writer; } cache[SHADOW_CACHE];  /* of wshadow_mapping_writer: page + 1 */
	struct hash_set pages;          /* that have words; + 1 */
	uint64_t lastpage;              /* the last page that was noted, + 1 */
	struct visit_piece *piece;      /* of the current batch; owned */
	size_t npiece, cappiece;
	int on, nomem;
};

int wshadow_init(struct wshadow *s);    /* 0, or -1: no memory */
void wshadow_free(struct wshadow *s);
void wshadow_clear(struct wshadow *s);  /* no instance has written anything */

/* these functions set s->nomem when memory runs out */

/* a writer, or VISIT_MANY and pieces */
uint64_t wshadow_read(struct wshadow *s, uint64_t addr, uint64_t n);
/* the writer of memory that no instance has written since it was mapped */
uint64_t wshadow_mapping_writer(struct wshadow *s, uint64_t addr);
/* `writer` wrote n bytes at addr */
void wshadow_write(struct wshadow *s, uint64_t addr, uint64_t n, uint64_t writer);
/* `writer` mapped memory, whose former writers are forgotten */
void wshadow_map(struct wshadow *s, uint64_t addr, uint64_t len, uint64_t writer);
void wshadow_unmap(struct wshadow *s, uint64_t addr, uint64_t len);
void wshadow_move(struct wshadow *s, const struct ws_rec_move *m, uint64_t writer);
void wshadow_note_new_page(struct wshadow *s, uint64_t page);   /* notes a page that has words */
/* calls fn with all writers, some of them repeatedly */
void wshadow_each(struct wshadow *s, visit_writer_fn *fn, void *arg);
/* joined with the previous piece if their writers are equal */
void wshadow_piece(struct wshadow *s, size_t first, uint64_t writer, unsigned off, unsigned len);

/* The shadow is in pieces of as many bytes of memory, mapped on demand: these, or NULL */
#define SHADOW_PIECE (UINT64_C(1) << 30)
extern uint8_t *wshadow_in[(UINT64_C(1) << 46) / SHADOW_PIECE];
uint8_t *wshadow_new_piece(uint64_t addr);      /* maps the piece of addr */

/* The shadow word of addr.  Those of one piece are adjacent. */
static inline uint64_t *
wshadow_at(uint64_t addr)
{
	uint8_t *p = wshadow_in[(addr & rp_mask) / SHADOW_PIECE];

	if (__builtin_expect(!p, 0))
		p = wshadow_new_piece(addr);
	return (uint64_t *)(void *)(p + (addr & (SHADOW_PIECE - 8)));
}

/* Notes the page of a word that is about to change from 0. */
static inline void
wshadow_note(struct wshadow *s, uint64_t addr)
{
	uint64_t page = (addr & rp_mask) / SHADOW_PAGE + 1;

	if (page != s->lastpage)
		wshadow_note_new_page(s, page);
}

#endif
