/* Internal to the decoder of schema units: a position in the unit, and functions that read numbers there. */
#ifndef TM_FORMAT_SCHEMA_DECODER_INTERNAL_H
#define TM_FORMAT_SCHEMA_DECODER_INTERNAL_H

#include <stddef.h>
#include <stdint.h>

#include "format/schema/schema.h"

struct rd {
	const uint8_t *base;
	size_t off, end;
	const char *err;        /* first error; after it everything reads as 0 */
	size_t erroff;
	struct sch_unit *u;
	struct sch_func *f;
};

void rd_fail(struct rd *r, const char *what);
/* zeroed memory for n elements; the caller has bounded n */
void *rd_alloc(struct rd *r, size_t n, size_t size);
unsigned rd_byte(struct rd *r);
uint64_t rd_unsigned(struct rd *r);
int64_t rd_signed(struct rd *r);
uint32_t rd_max(struct rd *r, uint64_t max, const char *what);          /* a number of at most max */
/* an index of a table of n elements */
uint32_t rd_index(struct rd *r, uint64_t n, const char *what);
/* a number of elements; `per` elements take at least one byte */
uint32_t rd_count(struct rd *r, unsigned per);
uint64_t rd_ncst(const struct rd *r);           /* constants of both kinds */

/* In decoder_steps.c. */
void rd_val(struct rd *r, struct op_value *v);
void rd_steps(struct rd *r, struct sch_block *b);

#endif
