/* Internal to the formats of traces: lines, arrays, records of drmemtrace. */
#ifndef TM_FORMAT_TRACE_INTERNAL_H
#define TM_FORMAT_TRACE_INTERNAL_H

#include "format/trace/trace.h"

/*
 * Reads the line at p, which has a newline, in that format: appends its words to w, and returns what
 * follows it; or NULL, with r->err. *w is advanced.
 */
typedef const uint8_t *trace_line_fn(struct trace_reader *r, const uint8_t *p, uint64_t **w);
trace_line_fn *trace_line_of(enum trace_format f);
/* The same for one line: 1, or 0 with r->err. */
int trace_line(struct trace_reader *r, enum trace_format f, const uint8_t *p, uint64_t w[TRACE_MARGIN]);

/*
 * Reads lines from *at to end that are as trace_put writes them, with this separator, until one is not: at most
 * max, a word each. Their number; *at moves past them.
 */
size_t trace_plain(const uint8_t **at, const uint8_t *end, uint8_t separator, uint64_t *w, size_t max);

int trace_npy_is(const uint8_t *p, size_t n);
int trace_npy_open(struct trace_reader *r);
long trace_npy_read(struct trace_reader *r, uint64_t *w, size_t max);

int trace_drmem_is(const uint8_t *p, size_t n);
int trace_drmem_open(struct trace_reader *r);
long trace_drmem_read(struct trace_reader *r, uint64_t *w, size_t max);
uint8_t *trace_put_drmem(struct trace_writer *t, uint8_t *d, const uint64_t *w, size_t n);     /* what follows */

int trace_fail(struct trace_reader *r, uint64_t off, const char *err);  /* -1 */

#endif
