/*
 * What is known of memory when statements are executed again: bytes that were
 * stored or loaded since the segment began.  Writer and readers know the same.
 */
#ifndef TM_WET_FILE_FULL_LOADS_MEMORY_H
#define TM_WET_FILE_FULL_LOADS_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#define LOADMEM_PAGE 4096u
#define LOADMEM_MOST 65536u             /* pages; when there would be more, all is forgotten */

struct loadmem_page {
	uint64_t num;
	uint32_t slot;                  /* of the hash table */
	uint64_t known[LOADMEM_PAGE / 64];      /* a bit for each byte */
	uint8_t b[LOADMEM_PAGE];
};

struct loadmem {
	struct loadmem_page **page;     /* those in use come first; owned */
	uint32_t *hash;                 /* 2 * LOADMEM_MOST of them: index plus 1; owned */
	struct loadmem_page *last;      /* asked for the last time; NULL */
	size_t npage, have;
	int nomem;                      /* what is known may be too little from now on */
};

void loadmem_free(struct loadmem *m);
void loadmem_clear(struct loadmem *m);
int loadmem_get(struct loadmem *m, uint64_t addr, void *to, size_t n);          /* 1: all n bytes, at most 64, are known */
void loadmem_put(struct loadmem *m, uint64_t addr, const void *from, size_t n);         /* at most 64 */
void loadmem_forget(struct loadmem *m, uint64_t addr, uint64_t n);

#endif
