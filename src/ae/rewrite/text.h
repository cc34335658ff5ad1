/* Assembly text (as gcc writes it) as a list of statements. */
#ifndef TM_AE_REWRITE_TEXT_H
#define TM_AE_REWRITE_TEXT_H

#include <stddef.h>
#include <stdint.h>
#include "ae/machine/machine.h"
#include "base/buf.h"

enum stmt_kind { ST_TEXT, ST_LABEL, ST_DIRECTIVE, ST_INSN };

struct stmt {
	uint8_t kind;
	uint8_t inasm;          /* inline assembly, not the compiler's code */
	/* the compiler's comment (-fverbose-asm) says that the memory operand is a spill slot */
	uint8_t spill;
	/* it stays in another syntax than the rest, which is number `foreign` of the machine's dialect; 0: no */
	uint8_t foreign;
	/*
	 * It is in a block that the assembler repeats (.rept, .irp) or defines (.macro), up to .endr or .endm: only the assembler
	 * knows how often it is there, and with which words. Its kind is ST_TEXT then, but that of the block's first is not changed.
	 */
	uint8_t block;
	uint32_t line;          /* line number in the input, from 1 */
	const char *src;        /* source file, srclen bytes in the buffer, NULL if unknown, ... */
	int srclen;
	uint32_t srcline;       /* ... and its line */
	/* the statement without surrounding blanks; a label without its colon; ST_TEXT: the whole line, outside blocks */
	char *s;
};

enum stmt_block { BLOCK_NONE, BLOCK_BEGIN, BLOCK_INSIDE, BLOCK_LABEL, BLOCK_END };

#define TEXT_NESTED 8   /* blocks in blocks, of which only the assembler knows more */

/* The name of a macro, in the text */
struct macro { const char *name; size_t n; };

struct text {
	const struct machine *m;
	struct stmt *st;
	size_t n, cap;
	char *buf;              /* owns the statements that dialect.c has written; the others are in the input */
	const char *src;        /* for statements to come */
	int srclen;
	uint32_t srcline;
	/* the block that is being read, if depth is not 0, and the beginnings of those inside it */
	struct { size_t first[TEXT_NESTED]; unsigned depth; int macro; } open;
	struct macro *macro;    /* all that are defined somewhere */
	size_t nmacro, capmacro;
	int anymacro;           /* others may be, with names that are not known here */
};

/*
 * Splits the n bytes at p, which are modified and must outlive t. A statement that consists of an
 * instruction prefix alone is joined with the next one. Comments inside lines are dropped; lines
 * that are only a comment are kept, because #APP and #NO_APP mean something to the assembler.
 * Instructions between .rept and .endr are there as often as it says, if that is a number and they are only repeated, also
 * by a .rept inside.
 */
void text_parse(struct text *t, const struct machine *m, char *p, size_t n);
void text_free(struct text *t);

int text_symchar(int c);                                /* may it be in a symbol? */
/* The next symbol at or after s (not a register, number or @modifier): its length in *n; NULL for none. */
const char *text_symbol(const struct machine *m, const char *s, size_t *n);
/* after prefixes and mnemonic; "" for none */
const char *text_operands(const struct machine *m, const char *insn);
/* The first symbol among the operands of an instruction that is no constant of x86-64 ($sym): that of its memory operand */
const char *text_place(const struct machine *m, const char *insn, size_t *n);
/* Writes a statement as the assembler is to read it, on one line, without its end. */
void text_write(struct buf *o, const struct machine *m, const struct stmt *st);
/* If directive s is `name`, its arguments, else NULL. */
const char *text_directive(const char *s, const char *name);
/* The name that directive s (.macro) defines, *n characters; NULL: it is another directive. */
const char *text_macro(const char *s, size_t *n);
/* May statement s use a macro? What that is at another place, only the assembler knows. */
int text_uses_macro(const struct text *t, const char *s);
/* Is s a directive that repeats what follows (.rept, .irp or the like)? */
int text_repeats(const char *s);

#endif
