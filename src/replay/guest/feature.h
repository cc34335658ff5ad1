/* Does this processor have what the captured program could use? */
#ifndef TM_REPLAY_GUEST_FEATURE_H
#define TM_REPLAY_GUEST_FEATURE_H

#include <stddef.h>

#include "format/ws/ws.h"

/* 0; -1: err (n bytes) names everything that lacks, and the processor of the capture */
int feature_check(const struct ws_header *h, char *err, size_t n);

#endif
