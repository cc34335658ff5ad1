/* Memory that the program has at several addresses.  For memory.c only. */
#ifndef TM_REPLAY_GUEST_MEMORY_SHARED_H
#define TM_REPLAY_GUEST_MEMORY_SHARED_H

#include "replay/guest/memory.h"

int memshare_is(const struct ws_rec_map *m);            /* a file that is mapped shared */

/* Who has the beginning of map already, or NULL; *len, that of map: as far as that goes */
const struct mem_area *memshare_twin(const struct mem *m, const struct ws_rec_map *map, uint64_t *len);

/* a, which is mapped here, becomes twin's memory, or a new object (NULL).  0, -1 with errno */
int memshare_map(struct mem *m, struct mem_area *a, const struct mem_area *twin);
int memshare_again(const struct mem *m);                /* all objects anew, empty: their areas are mapped here, and do not share yet */
int memshare_other(const struct mem *m, uint64_t addr, size_t *i, uint64_t *other);     /* mem_twin */
void memshare_free(const struct mem *m);

#endif
