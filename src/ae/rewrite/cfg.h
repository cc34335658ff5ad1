/* Control-flow graphs of the functions, and estimated frequencies of their blocks. */
#ifndef TM_AE_REWRITE_CFG_H
#define TM_AE_REWRITE_CFG_H

#include "ae/rewrite/file.h"

void cfg_build(struct file *f, uint32_t fn);    /* fills blk, g, blkof, tailout */
void cfg_free(struct afunc *fn);                /* frees them */

/* Estimated executions of a block for CFG_ONCE calls of its function. */
#define CFG_ONCE 64

#endif
