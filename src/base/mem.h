/* Allocators for the tools: out of memory (or a size that overflows) ends the program with one line. */
#ifndef TM_BASE_MEM_H
#define TM_BASE_MEM_H

#include <stddef.h>

void *xmalloc(size_t n);
void *xcalloc(size_t n, size_t size);                   /* zeroed */
void *xrealloc(void *p, size_t n);
void *xreallocarray(void *p, size_t n, size_t size);    /* exits if n * size overflows */
char *xstrdup(const char *s);
char *xstrndup(const char *s, size_t n);
char *xasprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/*
 * Makes room for at least `need` elements of `size` bytes in the array p that has room for *cap, by
 * doubling. Returns the array and updates *cap.
 */
void *mem_xgrow(void *p, size_t *cap, size_t need, size_t size);

#endif
