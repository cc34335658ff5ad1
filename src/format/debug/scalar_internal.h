/* Values of n bytes, little-endian, as numbers and as text; for value.c. */
#ifndef TM_FORMAT_DEBUG_SCALAR_INTERNAL_H
#define TM_FORMAT_DEBUG_SCALAR_INTERNAL_H

#include <elfutils/libdw.h>
#include <stdint.h>

#include "base/buf.h"

uint64_t scalar_uint(const uint8_t *p, size_t n);       /* of more than 8 bytes, the first 8 */
int64_t scalar_int(const uint8_t *p, size_t n);

/* A string up to a zero byte, or to what is printed at most */
void scalar_string(struct buf *b, const uint8_t *p, size_t n);

/* A value of a base type, and of an enumeration: a name, or names with | between, or a number */
void scalar_base(struct buf *b, Dwarf_Die *type, const uint8_t *p, size_t n);
void scalar_enumeration(struct buf *b, Dwarf_Die *type, const uint8_t *p, size_t n);

#endif
