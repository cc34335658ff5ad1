/* Allocators that exit: see mem.h. */
#include "base/mem.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/diag.h"

static void *
mem_need(void *p)
{
	if (!p)
		die("out of memory");
	return p;
}

void *
xmalloc(size_t n)
{
	return mem_need(malloc(n ? n : 1));
}

void *
xcalloc(size_t n, size_t size)
{
	return mem_need(calloc(n ? n : 1, size ? size : 1));
}

void *
xrealloc(void *p, size_t n)
{
	return mem_need(realloc(p, n ? n : 1));
}

void *
xreallocarray(void *p, size_t n, size_t size)
{
	if (size && n > SIZE_MAX / size)
		die("out of memory");
	return xrealloc(p, n * size);
}

char *
xstrndup(const char *s, size_t n)
{
	char *d;

	n = strnlen(s, n);
	d = xmalloc(n + 1);
	memcpy(d, s, n);
	d[n] = '\0';
	return d;
}

char *
xstrdup(const char *s)
{
	return xstrndup(s, strlen(s));
}

char *
xasprintf(const char *fmt, ...)
{
	va_list ap;
	char *s;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n < 0)
		die("out of memory");
	s = xmalloc((size_t)n + 1);
	va_start(ap, fmt);
	vsnprintf(s, (size_t)n + 1, fmt, ap);
	va_end(ap);
	return s;
}

void *
mem_xgrow(void *p, size_t *cap, size_t need, size_t size)
{
	if (buf_grow(&p, cap, need, size) < 0)
		die("out of memory");
	return p;
}
