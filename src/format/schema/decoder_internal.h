/* Decoding of schema units, between its two files: a place in the unit, and numbers from there. */
#ifndef TM_FORMAT_SCHEMA_DECODER_INTERNAL_H
#define TM_FORMAT_SCHEMA_DECODER_INTERNAL_H

#include <stddef.h>
#include <stdint.h>

#include "format/schema/schema.h"

struct rd {
	const uint8_t *base;
	size_t off, end;
	const char *err;        /* first error; everything reads as 0 after it */
	size_t erroff;
	struct sch_unit *u;
	struct sch_func *f;
};

void rd_fail(struct rd *r, const char *what);
void *rd_take(struct rd *r, size_t n, size_t size);     /* zeroed memory for n elements; n has been bounded by the caller */
unsigned rd_byte(struct rd *r);
uint64_t rd_u(struct rd *r);
int64_t rd_s(struct rd *r);
uint32_t rd_max(struct rd *r, uint64_t max, const char *what);          /* a number of at most max */
uint32_t rd_index(struct rd *r, uint64_t n, const char *what);          /* an index into a table of n elements */
uint32_t rd_count(struct rd *r, unsigned per);  /* a number of elements of at least one byte each; per: elements a byte can hold */
uint64_t rd_ncst(const struct rd *r);           /* constants of both kinds */

/* decoder_steps.c */
void rd_val(struct rd *r, struct sch_val *v);
void rd_steps(struct rd *r, struct sch_block *b);

#endif
