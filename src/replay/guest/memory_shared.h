/* Memory that the program has mapped at several addresses.  Used by memory.c only. */
#ifndef TM_REPLAY_GUEST_MEMORY_SHARED_H
#define TM_REPLAY_GUEST_MEMORY_SHARED_H

#include "replay/guest/memory.h"

int memshare_is(const struct ws_rec_map *m);            /* is it a shared file mapping? */

/*
 * Finds the area that already has the beginning of map, or NULL.  Reduces *len, the length of
 * map, to the part to which the answer applies.
 */
const struct mem_area *memshare_find(const struct mem *m, const struct ws_rec_map *map, uint64_t *len);

/* Makes a, which is mapped, the same memory as twin, or a new object (twin NULL). 0, or -1 with errno. */
int memshare_map(struct mem *m, struct mem_area *a, const struct mem_area *twin);
/* Creates all objects anew, empty; their areas are mapped here, but not shared yet. */
int memshare_recreate(const struct mem *m);
int memshare_alias(const struct mem *m, uint64_t addr, size_t *i, uint64_t *other);     /* as mem_alias */
void memshare_free(const struct mem *m);

#endif
