/* Shared by the files that translate Intel syntax: operands. */
#ifndef TM_AE_X86_INTEL_INTERNAL_H
#define TM_AE_X86_INTEL_INTERNAL_H

#include <stddef.h>
#include "base/buf.h"

/* REG_VECTOR: those of MMX, AVX-512's masks and tiles, too */
enum intel_regkind { REG_NONE, REG_GENERAL, REG_SEGMENT, REG_X87, REG_VECTOR, REG_IP, REG_OTHER };

struct intel_reg {
	enum intel_regkind kind;
	unsigned bytes;
	char name[8];           /* in lower case */
};

/* OP_BARE: a symbol or number that nothing is said about: the target of a jump, or what is there in memory */
enum intel_opkind { OP_REG, OP_MEMORY, OP_IMMEDIATE, OP_BARE, OP_ROUNDING };

struct intel_operand {
	enum intel_opkind kind;
	unsigned bytes;         /* of the register, or as PTR says; 0: unknown */
	struct intel_reg reg;   /* OP_REG */
	int number;             /* OP_BARE: a number */
	int broadcast;          /* memory: {1toN} */
	struct buf s;           /* in AT&T syntax, without $ or * */
};

/* The register of this name. */
struct intel_reg intel_register(const char *s, size_t n);
int intel_word(const char *s, size_t n, const char *word);      /* is it this word, in any case? */
size_t intel_symbol(const char *s);                             /* characters of a symbol at s, with its @modifier */
/*
 * Parses the operand at *s, and one for a rounding mode written after it without a comma; *s is then at the comma or the end.
 * The number of operands, 1 or 2; 0: not understood.
 */
unsigned intel_operand(const char **s, struct intel_operand o[2]);

#endif
