/* A listing of what is recorded where. */
#ifndef TM_AERW_LIST_H
#define TM_AERW_LIST_H

#include "ae/rewrite/file.h"
#include "base/out.h"

/*
 * Lines of tab-separated fields: function, fragment, byte offset in it, bytes, kind (branch,
 * value, result, argument, return), instruction.
 */
void list_file(struct out *out, const struct file *f);

#endif
