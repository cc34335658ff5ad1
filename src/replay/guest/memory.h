/*
 * Memory of a replayed program, where cpu.h says that it lies: readable and
 * writable whatever its protection there.  `changed` is told of memory that
 * came, went or was zeroed by the system; not of what is written, for the core
 * sees that by itself.
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
	struct mem_name *name;          /* shared between areas, counted */
	uint32_t obj;                   /* of a file that is mapped shared: areas of the same object are the same memory; 0: none */
	uint64_t at;                    /* where in the object it begins */
};

struct mem {
	struct mem_area *area;          /* by ascending address, never overlapping; owned */
	size_t n, cap, last;            /* last: where the last look-up ended */
	uint32_t nobj;                  /* objects so far */
	void (*changed)(void *arg, uint64_t addr, uint64_t len);        /* or NULL */
	void *arg;
	char err[160];                  /* after -1 */
};

/* All but mem_read: 0, or -1 with m->err */
int mem_map(struct mem *m, const struct ws_rec_map *map);       /* reads as zero; replaces what was there */
int mem_unmap(struct mem *m, uint64_t addr, uint64_t len);
int mem_move(struct mem *m, const struct ws_rec_move *v);
int mem_protect(struct mem *m, uint64_t addr, uint64_t len, uint32_t prot);
int mem_write(struct mem *m, const struct ws_rec_mem *w);

size_t mem_read(struct mem *m, uint64_t addr, void *p, size_t n);       /* how many of the n bytes are mapped, and were copied */
const struct mem_area *mem_find(struct mem *m, uint64_t addr);          /* the area that addr is in, or NULL */
int mem_twin(const struct mem *m, uint64_t addr, size_t *i, uint64_t *other);   /* another address of the memory at addr (folded or not): 1; *i is 0 before the first call */
size_t mem_from(const struct mem *m, uint64_t addr);                    /* index of the first area that ends behind addr */

/* The mappings alone, for going back to them: what is mapped then and now keeps its contents, other memory reads as zero */
int mem_copy(struct mem *m, struct mem_area **area, size_t *n);         /* *area: mem_drop */
int mem_become(struct mem *m, const struct mem_area *area, size_t n);
void mem_drop(struct mem_area *area, size_t n);

void mem_free(struct mem *m);                                           /* unmaps everything */

#endif
