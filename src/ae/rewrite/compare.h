/* Are the objects of two texts the same? */
#ifndef TM_AE_REWRITE_COMPARE_H
#define TM_AE_REWRITE_COMPARE_H

#include <stddef.h>
#include <stdint.h>

struct compare;

/*
 * Reads two objects, of which it closes the descriptors. Statement i of the texts, of n, is between the symbols MARKb<i> and
 * MARKe<i> (assemble.h), if it has them. NULL: one of them cannot be read.
 */
struct compare *compare_open(int one, int other, size_t n);
void compare_close(struct compare *c);
/* Have they the same sections, symbols and relocations? */
int compare_same(const struct compare *c);

/*
 * Statement i: are its bytes and relocations the same? CMP_PLACE: except for where in the object a relocation leads, or what it
 * adds; that and CMP_CONTENT may be the consequence of another statement's CMP_LENGTH.
 */
enum compare_result { CMP_SAME, CMP_PLACE, CMP_CONTENT, CMP_LENGTH };
enum compare_result compare_statement(const struct compare *c, size_t i);

#endif
