/* Who last wrote each byte of memory: the shadow of a visit.  Between its files only. */
#ifndef TM_REPLAY_ITRACE_LAST_WRITER_H
#define TM_REPLAY_ITRACE_LAST_WRITER_H

#include "replay/cpu/cpu.h"
#include "replay/itrace/itrace.h"

#define SHADOW_CACHE 256u
#define SHADOW_PAGE  4096u              /* bytes of memory, and as many of the shadow */

/* From addr on, what no instance has written since was written by `writer`, which made the mapping */
struct shadow_area { uint64_t addr, end, writer; };

/*
 * A word of the shadow for 8 bytes of memory: their writer; or with
 * VISIT_MANY the number of 8 words with that of each byte; 0: as the area says.
 */
struct wshadow {
	uint64_t (*bytes)[8];           /* NORESERVE memory; entry 0 is not used */
	uint32_t nbytes, free;          /* free: list by the first word, 0 ends */
	struct shadow_area *area;       /* ascending, not overlapping; owned */
	size_t narea, caparea;
	struct { uint64_t page, writer; } cache[SHADOW_CACHE];  /* page + 1 */
	uint64_t *page;                 /* those that have words, + 1: hash table; owned */
	size_t npage, nslot;
	uint64_t lastpage;              /* the last one that was noted, + 1 */
	struct visit_piece *piece;      /* of this batch; owned */
	size_t npiece, cappiece;
	int on, nomem;
};

int wshadow_init(struct wshadow *s);    /* 0; -1: no room */
void wshadow_free(struct wshadow *s);
void wshadow_clear(struct wshadow *s);   /* nobody has written anything */

/* sets nomem */
uint64_t wshadow_read(struct wshadow *s, uint64_t addr, uint64_t n);    /* a writer, or VISIT_MANY and pieces */
uint64_t wshadow_unwritten(struct wshadow *s, uint64_t addr);    /* who has written what no instance has since */
void wshadow_write(struct wshadow *s, uint64_t addr, uint64_t n, uint64_t writer);
void wshadow_map(struct wshadow *s, uint64_t addr, uint64_t len, uint64_t writer);
void wshadow_unmap(struct wshadow *s, uint64_t addr, uint64_t len);
void wshadow_move(struct wshadow *s, const struct ws_rec_move *m, uint64_t writer);
void wshadow_note_late(struct wshadow *s, uint64_t page);
void wshadow_each(struct wshadow *s, visit_writer_fn *fn, void *arg);    /* all writers, some of them often */
void wshadow_piece(struct wshadow *s, size_t first, uint64_t writer, unsigned off, unsigned len);       /* joined with the one before if they agree */

#define SHADOW_LOW 0x10000u             /* there is none below: programs have no memory there, if the system is as it should be */

/*
 * Where the word for addr is.  A sanitizer that has that place gets the
 * shadow elsewhere, in pieces (which are not adjacent) made as they are used.
 */
#ifdef __SANITIZE_ADDRESS__
#define SHADOW_PIECE (UINT64_C(1) << 30)
uint64_t *wshadow_at(uint64_t addr);
#else
#define SHADOW_PIECE (RP_MASK + UINT64_C(1))
static inline uint64_t *
wshadow_at(uint64_t addr)
{
	return (uint64_t *)(uintptr_t)(addr & RP_MASK & ~UINT64_C(7));
}
#endif

/* A word that was 0 is to be another */
static inline void
wshadow_note(struct wshadow *s, uint64_t addr)
{
	uint64_t page = (addr & RP_MASK) / SHADOW_PAGE + 1;

	if (page != s->lastpage)
		wshadow_note_late(s, page);
}

#endif
