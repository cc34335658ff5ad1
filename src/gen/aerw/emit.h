/* Writing the rewritten assembly. */
#ifndef TM_AERW_EMIT_H
#define TM_AERW_EMIT_H

#include "../../base/out.h"
#include "file.h"

/*
 * The original text with marks, then for each traced function its twin, its
 * thunk, a plain copy of its first instructions and its entry in the table,
 * and the schema of the file.
 */
void emit_file(struct out *o, struct file *f);

/* The parts, each in a file of its own */
void emit_fits(struct file *f, struct afunc *fn);       /* fails the function if its entry cannot be patched */
void emit_twin(struct out *o, struct file *f, uint32_t no);
void emit_plain(struct out *o, struct file *f, uint32_t no);

/* Labels: 'o' fragment 0, 'c' fragment 1 of function no; 'f' twin, 'h' thunk, 'x' fast entry, 'p' plain copy, 'n' table entry */
#define LBL ".Lae_%c%u"

#define PATCH 5         /* bytes of a jump over an entry */

#endif
