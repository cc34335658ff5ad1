/*
 * Memory as a packer of events knows it: what the program was seen to load or store, in the rest what its files have there,
 * or zeros. It may be wrong: other code writes memory, too.
 */
#ifndef TM_AE_PACK_RECALL_H
#define TM_AE_PACK_RECALL_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/bytes.h"

#define RECALL_PAGE  4096u
#define RECALL_CACHE 1024u      /* pages that are found at once */
#define RECALL_MOST  (1u << 17) /* pages; when there are more, all are forgotten */

/* Fills in a page at addr. */
typedef void recall_fill(void *arg, uint64_t addr, uint8_t page[RECALL_PAGE]);

struct recall {
	struct { uint64_t no; uint8_t *p; } cache[RECALL_CACHE];
	uint64_t *key;                  /* number of the page + 1, or 0: a hash table */
	uint8_t **page;
	uint32_t n, mask;
	uint8_t none[RECALL_PAGE];      /* instead of pages for which there is no memory */
	recall_fill *fill;
	void *arg;
	int big, failed;                /* failed: there was no memory */
};

int recall_init(struct recall *m, int big, recall_fill *fill, void *arg);       /* 0 or -1 */
void recall_free(struct recall *m);
uint8_t *recall_find(struct recall *m, uint64_t no);    /* page number `no`, through the cache */

static inline uint8_t *
recall_page(struct recall *m, uint64_t no)
{
	unsigned i = no % RECALL_CACHE;

	return m->cache[i].no == no + 1 ? m->cache[i].p : recall_find(m, no);
}

/* n bytes, of any number of pages */
void recall_read(struct recall *m, uint64_t addr, uint8_t *b, size_t n);
void recall_write(struct recall *m, uint64_t addr, const uint8_t *b, size_t n);

/* A number of n bytes, 1 to 8 */
static inline uint64_t
recall_load(struct recall *m, uint64_t addr, unsigned n)
{
	unsigned at = addr % RECALL_PAGE;
	uint8_t b[8];
	const uint8_t *p;

	if (at + n <= RECALL_PAGE)
		p = recall_page(m, addr / RECALL_PAGE) + at;
	else {
		recall_read(m, addr, b, n);
		p = b;
	}
	if (n == 8 && !m->big)
		return get_le64(p);
	if (n == 4 && !m->big)
		return get_le32(p);
	return get_order(p, n, m->big);
}

static inline void
recall_store(struct recall *m, uint64_t addr, unsigned n, uint64_t v)
{
	unsigned at = addr % RECALL_PAGE;
	uint8_t b[8], *p;

	if (at + n <= RECALL_PAGE && !m->big) {
		p = recall_page(m, addr / RECALL_PAGE) + at;
		if (n == 8)
			put_le64(p, v);
		else if (n == 4)
			put_le32(p, (uint32_t)v);
		else
			for (unsigned i = 0; i < n; i++)
				p[i] = (uint8_t)(v >> 8 * i);
		return;
	}
	for (unsigned i = 0; i < n; i++)
		b[m->big ? n - 1 - i : i] = (uint8_t)(v >> 8 * i);
	recall_write(m, addr, b, n);
}

#endif
