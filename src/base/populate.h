/* Memory that will all be used: its pages are made by one call, which costs a tenth of a fault for each. */
#ifndef TM_BASE_POPULATE_H
#define TM_BASE_POPULATE_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23  /* Linux 5.14; before, it fails, and the pages are made one by one */
#endif

/* The n bytes at p are mapped and writable; what is in them stays.  Nothing happens if it cannot be. */
static inline void
populate(void *p, size_t n)
{
	size_t within = (uintptr_t)p % 4096;
	int saved = errno;

	if (n)
		(void)madvise((char *)p - within, n + within, MADV_POPULATE_WRITE);
	errno = saved;
}

#endif
