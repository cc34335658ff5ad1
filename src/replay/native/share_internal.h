/* Files that are mapped shared.  Internal to native processes. */
#ifndef TM_REPLAY_NATIVE_SHARE_INTERNAL_H
#define TM_REPLAY_NATIVE_SHARE_INTERNAL_H

#include "replay/native/native.h"

int native_share(struct native *n, const struct ws_rec_map *m, uint64_t *ret);  /* m is mapped; *ret as mmap gives it.  0, -1 */
void native_unshare(struct native *n, uint64_t addr, uint64_t len);             /* what was there is gone */
void native_reshare(struct native *n, uint64_t addr, uint64_t len, uint32_t prot);
int native_shared_write(struct native *n, uint64_t addr, const uint8_t *p, size_t len);         /* though it is protected */

#endif
