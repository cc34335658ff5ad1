/* Writable memory that is compared, as others than the process write to it: calls, children, other processes. */
#ifndef TM_GEN_WSCAP_SHARE_H
#define TM_GEN_WSCAP_SHARE_H

#include <stddef.h>
#include <stdint.h>

struct cap;

/* Memory that processes share, as it was: ascending pieces of CHUNK bytes at most. */
struct common {
	struct kept { uint64_t addr; size_t n; uint8_t *p; } *piece;   /* p: owned; NULL: all zero */
	size_t n, cap;
};

/* exists.c */
#define EXISTS_PAGES 8192u
struct exists {                         /* what is known of some pages; all zero at first, for one pass over memory */
	uint64_t lo, hi;
	uint8_t page[EXISTS_PAGES];     /* bit 0: it exists */
	int asked, unknown;
};
/* the first page from lo on that may exist, in shared memory without a file; elsewhere, lo.  hi: there is none. */
uint64_t exists_next(struct cap *c, struct exists *e, uint64_t lo, uint64_t hi);

/* compare.c: finds what changed in all writable memory */
void compare_before(struct cap *c);
/* memory at addr has changed to p, and this is recorded already */
void compare_known(struct cap *c, uint64_t addr, const uint8_t *p, size_t n);
/* records the changes; tell: also warns.  Returns the number of bytes that changed. */
size_t compare_after(struct cap *c, int tell);

/* records what other processes wrote since the last time, and expects that they write more */
void compare_shared(struct cap *c);
void common_free(struct common *m);

/* share.c: memory that processes share */

/* c has mapped [lo, hi), or may write there now: do other processes have the same memory? */
void share_mapped(struct cap *c, uint64_t lo, uint64_t hi);
/* after a call of c: compare_shared, unless nobody can have written; finds out whether it is the last that has the memory */
void share_compare(struct cap *c);
/*
 * c is at a call that makes another process: saves what both will have.  1: the call will be made again, as memory that
 * nobody has used can only be told at another place.
 */
int share_before(struct cap *c, uint64_t flags);
/* is c a child in the memory of its parent, which waits for it, and shares none with others? */
int share_borrows(const struct cap *c);

#endif
