/* Shared file mappings of a native process. */
#ifndef TM_REPLAY_NATIVE_SHARE_INTERNAL_H
#define TM_REPLAY_NATIVE_SHARE_INTERNAL_H

#include "replay/native/native.h"

/* maps m; *ret is the result of mmap. 0, or -1 */
int native_share(struct native *n, const struct ws_rec_map *m, uint64_t *ret);
/* forgets shared mappings that were there */
void native_unshare(struct native *n, uint64_t addr, uint64_t len);
/* the protection has changed */
void native_reshare(struct native *n, uint64_t addr, uint64_t len, uint32_t prot);
/* also writes protected memory */
int native_shared_write(struct native *n, uint64_t addr, const uint8_t *p, size_t len);

#endif
