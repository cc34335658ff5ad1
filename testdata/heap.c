/*
 * Linked to every test program: memory that is freed stays with the process.  Tests make and free large buffers thousands of times,
 * and the kernel's pages for them took most of their time.
 */
#include <limits.h>
#include <malloc.h>

__attribute__((constructor)) static void
heap_stays(void)
{
	mallopt(M_MMAP_THRESHOLD, INT_MAX);
	mallopt(M_TRIM_THRESHOLD, INT_MAX);
	mallopt(M_TOP_PAD, 1 << 20);
	mallopt(M_ARENA_MAX, 1);
}
