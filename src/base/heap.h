/* The heap of a process that fills hundreds of megabytes. */
#ifndef TM_BASE_HEAP_H
#define TM_BASE_HEAP_H

/*
 * Called before anything large is allocated and before threads are started: the heap's first 512 MB
 * may be large pages, and what is freed stays in it for the next use, by any thread.  The kernel takes
 * much longer to give memory page by page.
 */
void heap_large(void);

#endif
