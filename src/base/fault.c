/* Faults of files: formats the message. See fault.h. */
#include "base/fault.h"

#include <stdarg.h>
#include <stdio.h>

void
fault_set(struct fault *f, uint64_t off, uint64_t rec, const char *fmt, ...)
{
	va_list ap;

	f->off = off;
	f->rec = rec;
	f->line = 0;
	f->output = 0;
	va_start(ap, fmt);
	vsnprintf(f->err, sizeof f->err, fmt, ap);
	va_end(ap);
}

int
fault_nomem(struct fault *f)
{
	if (!f->err[0])
		fault_set(f, UINT64_MAX, UINT64_MAX, "no memory");
	return -1;
}
