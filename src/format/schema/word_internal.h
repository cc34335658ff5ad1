/* Internal to printer and parser of the readable schema: its words. */
#ifndef TM_FORMAT_SCHEMA_WORD_INTERNAL_H
#define TM_FORMAT_SCHEMA_WORD_INTERNAL_H

#include "format/schema/schema.h"

/* length of an instruction without one in the text, that of the paper's machine */
#define SCH_INSTLEN 4
/* most instructions of one uneventful_inst, so that a line of text takes little memory */
#define SCH_RUN     64

struct sch_word { const char *word, *oper; };
extern const struct sch_word sch_word[SO_NOPS];

/* Words for conditions, string instructions, extensions of an unknown value, masked accesses, loop events. */
#define SCH_NCC 12
extern const char *const sch_ccword[SCH_NCC], *const sch_repword[5], *const sch_extword[5],
    *const sch_maskedword[MA_HOWS], *const sch_loopword[3];

/* Names of the flags of a function, bit 0 first. */
#define SCH_NFLAG 5
extern const char *const sch_flagword[SCH_NFLAG];

/*
 * Does the line of the step stand for an instruction of its own? Its fetch is the SO_INST right
 * before the step; a line that begins with `&` has none.
 */
static inline int
sch_fetches(unsigned op)
{
	return op != SO_INST && op != SO_UNKNOWN && op != SO_REP;
}

/* A name that needs no quotes: letters, digits and _.$/+-, the first one no digit, + or - */
static inline int
sch_plainchar(int c, int first)
{
	if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.' || c == '$' || c == '/')
		return 1;
	return !first && ((c >= '0' && c <= '9') || c == '+' || c == '-');
}

#endif
