/* Another register for that of the event pointer, in twins. */
#ifndef TM_AE_REWRITE_RENAME_H
#define TM_AE_REWRITE_RENAME_H

#include "ae/rewrite/file.h"

/*
 * Exchanges the machine's buffer register of function fn, which has its graph but no slice yet, for one that it uses less, if there is
 * one. The machine is one whose register is lent.
 */
void rename_buffer(struct file *f, struct afunc *fn);

#endif
