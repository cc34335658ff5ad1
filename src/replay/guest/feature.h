/* Does this processor have the features that the captured program could use? */
#ifndef TM_REPLAY_GUEST_FEATURE_H
#define TM_REPLAY_GUEST_FEATURE_H

#include <stddef.h>

#include "format/ws/ws.h"

/* Returns 0, or -1 with the missing features and the capture's processor in err (n bytes). */
int feature_check(const struct ws_header *h, char *err, size_t n);

#endif
