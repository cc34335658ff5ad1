/* Statements of another syntax, translated into the one that the rewriter knows. */
#ifndef TM_AE_REWRITE_DIALECT_H
#define TM_AE_REWRITE_DIALECT_H

#include "ae/rewrite/text.h"

/*
 * Translates t where directives say that the machine's dialect follows, and drops these directives. The assembler `as` with
 * its further arguments makes the same object of the text afterwards as before, or this returns why not, a static message:
 * then t is as it was, and nothing of the file can be traced. A statement that has no translation is marked as foreign.
 */
const char *dialect_translate(struct text *t, const char *as, char *const *args);

#endif
