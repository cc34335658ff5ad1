/*
 * Memory of a replayed program at the host addresses of cpu.h.  It is readable and writable
 * whatever its protection in the guest is.  The callback `changed` reports memory that the
 * system mapped, unmapped or zeroed.  It does not report writes, which the core detects itself.
 */
#ifndef TM_REPLAY_GUEST_MEMORY_H
#define TM_REPLAY_GUEST_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include "format/ws/ws.h"
#include "replay/cpu/cpu.h"

#define MEM_PAGE 4096u

struct mem_name;

struct mem_area {
	struct ws_rec_map m;            /* its strings are in `name` */
	struct mem_name *name;          /* shared between areas, reference counted */
	/*
	 * Object of a shared file mapping: areas with the same object are the same memory. 0:
	 * not shared.
	 */
	uint32_t obj;
	uint64_t at;                    /* the area's offset in the object */
};

struct mem {
	struct mem_area *area;          /* by ascending address, never overlapping; owned */
	size_t n, cap, last;            /* last: index found by the last look-up */
	uint32_t nobj;                  /* objects so far */
	void (*changed)(void *arg, uint64_t addr, uint64_t len);        /* or NULL */
	void *arg;
	char err[160];                  /* set when a function returns -1 */
};

/* The functions return 0, or -1 with m->err, unless they say otherwise. */

/* replaces what was mapped there; reads as zero */
int mem_map(struct mem *m, const struct ws_rec_map *map);
int mem_unmap(struct mem *m, uint64_t addr, uint64_t len);
int mem_move(struct mem *m, const struct ws_rec_move *v);       /* mremap */
int mem_protect(struct mem *m, uint64_t addr, uint64_t len, uint32_t prot);
int mem_write(struct mem *m, const struct ws_rec_mem *w);

/* returns how many of the n bytes are mapped and were copied */
size_t mem_read(struct mem *m, uint64_t addr, void *p, size_t n);
/* the area that contains addr, or NULL */
const struct mem_area *mem_find(struct mem *m, uint64_t addr);
/*
 * Enumerates the other addresses of the memory at addr (folded or not): 1 with *other, 0: no
 * more.  *i is 0 in the first call.
 */
int mem_alias(const struct mem *m, uint64_t addr, size_t *i, uint64_t *other);
/* index of the first area that ends after addr */
size_t mem_from(const struct mem *m, uint64_t addr);

/*
 * mem_copy saves the list of mappings, mem_restore restores it: what is mapped in both keeps its
 * contents, other memory reads as zero.  The caller frees *area with mem_copy_free.
 */
int mem_copy(struct mem *m, struct mem_area **area, size_t *n);
int mem_restore(struct mem *m, const struct mem_area *area, size_t n);
void mem_copy_free(struct mem_area *area, size_t n); /* frees a list of mem_copy */

void mem_free(struct mem *m);                                           /* unmaps everything */

#endif
