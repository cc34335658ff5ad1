/*
 * The known memory when statements are executed again: bytes that were stored or loaded since
 * the segment began.  Writer and reader know the same bytes.
 */
#ifndef TM_WET_FILE_FULL_LOADS_MEMORY_H
#define TM_WET_FILE_FULL_LOADS_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#define LOADMEM_PAGE 4096u              /* bytes */
#define LOADMEM_MOST 65536u             /* maximum number of pages; one more, and all are forgotten */

struct loadmem_page {
	uint64_t num;
	uint32_t slot;                  /* slot in the hash table */
	uint64_t known[LOADMEM_PAGE / 64];      /* a bit for each byte */
	uint8_t b[LOADMEM_PAGE];
};

struct loadmem {
	struct loadmem_page **page;     /* pages in use come first; owned */
	uint32_t *hash;                 /* 2 * LOADMEM_MOST slots: index plus 1; owned */
	struct loadmem_page *last;      /* page of the last access, or NULL */
	size_t npage, have;
	int nomem;                      /* memory ran out: known bytes may be missing from now on */
};

void loadmem_free(struct loadmem *m);
void loadmem_clear(struct loadmem *m);  /* no byte is known */
/* copies n <= 64 bytes; 1: all of them are known */
int loadmem_read(struct loadmem *m, uint64_t addr, void *to, size_t n);
void loadmem_write(struct loadmem *m, uint64_t addr, const void *from, size_t n);       /* n <= 64 */
void loadmem_forget(struct loadmem *m, uint64_t addr, uint64_t n);      /* [addr, addr + n) is not known */

#endif
