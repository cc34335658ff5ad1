/* Numbers from people and files, strictly: the whole string, no sign, no blanks, no overflow. */
#ifndef TM_BASE_NUM_H
#define TM_BASE_NUM_H

#include <stddef.h>
#include <stdint.h>

/* Decimal, or hexadecimal after 0x; min <= value <= max. 0, or -1 and *v is unchanged. */
int num_u64(const char *s, uint64_t min, uint64_t max, uint64_t *v);

/* Like num_u64, with an optional suffix k, M or G (powers of 1024). */
int num_size(const char *s, uint64_t min, uint64_t max, uint64_t *v);

/* Hexadecimal digits without 0x: how many of the n bytes at s are digits; 0 if none or more than 16 are. */
size_t num_hex(const char *s, size_t n, uint64_t *v);

/* Decimal digits: how many of the n bytes at s are digits; 0 if there are none, or on overflow. */
size_t num_dec(const char *s, size_t n, uint64_t *v);

/* `from:to`, where a side that is left out keeps its value: from <= to < max. 0, or -1. */
int num_range(const char *s, uint64_t max, uint64_t *from, uint64_t *to);

#endif
