/* Internal to captures: the set of executable memory ranges, as the writer tracks it. */
#ifndef TM_FORMAT_WS_EXECUTABLE_INTERNAL_H
#define TM_FORMAT_WS_EXECUTABLE_INTERNAL_H

#include <stddef.h>
#include <stdint.h>

#include "format/ws/ws.h"

struct ws_exec {                        /* disjoint, ascending; ends are the last addresses */
	struct ws_exec_range {
		uint64_t first, last;
	} *v;                           /* owned */
	size_t n, cap;
};

/* applies a MAP, UNMAP, MOVE or PROT; 0, or -1 without memory */
int ws_exec_step(struct ws_exec *x, const struct ws_rec *rec);
int ws_exec_at(const struct ws_exec *x, uint64_t addr);

#endif
