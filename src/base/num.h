/* Numbers from people and files, strictly: the whole string, no sign, no blanks, no overflow. */
#ifndef TM_BASE_NUM_H
#define TM_BASE_NUM_H

#include <stddef.h>
#include <stdint.h>

/* Decimal, or hexadecimal behind 0x; min <= value <= max.  0, or -1 and *v is untouched. */
int num_u64(const char *s, uint64_t min, uint64_t max, uint64_t *v);

/* As num_u64, with an optional suffix k, M or G (powers of 1024) */
int num_size(const char *s, uint64_t min, uint64_t max, uint64_t *v);

/* Hexadecimal digits only (no 0x): how many of the n bytes at s were digits; 0 for none or more than 16 */
size_t num_hex(const char *s, size_t n, uint64_t *v);

/* Decimal digits only: how many of the n bytes at s were digits; 0 for none or overflow */
size_t num_dec(const char *s, size_t n, uint64_t *v);

/* `from:to`, each of which may be left out and keeps its value then: from <= to < max.  0, or -1 */
int num_range(const char *s, uint64_t max, uint64_t *from, uint64_t *to);

#endif
