/* Settings of malloc for a process that fills hundreds of megabytes. */
#include "base/heap.h"

#include <limits.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#define PAGE ((size_t)2 << 20)          /* a large page */
#define HEAP ((size_t)512 << 20)        /* bytes of the heap that may be such pages */
#define ALONE (32 << 20)                /* what is larger is no part of the heap */

void
heap_large(void)
{
	char *p;
	size_t before;

	mallopt(M_ARENA_MAX, 1);
	mallopt(M_MMAP_THRESHOLD, ALONE);
	mallopt(M_TRIM_THRESHOLD, INT_MAX);
	mallopt(M_TOP_PAD, (int)HEAP);
	p = malloc(ALONE / 2);
	mallopt(M_TOP_PAD, (int)PAGE);
	before = (PAGE - (uintptr_t)p % PAGE) % PAGE;
	if (p)
		(void)madvise(p + before, (HEAP - before) / PAGE * PAGE, MADV_HUGEPAGE);
	free(p);
}
