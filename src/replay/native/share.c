/* Shared file mappings of a natively executed capture: all mappings of a file are the same memory. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "base/buf.h"
#include "replay/native/share_internal.h"

static int
native_overlaps(const struct native_share *s, uint64_t addr, uint64_t len)
{
	return s->addr < addr + len && addr < s->addr + s->len;
}

void
native_unshare(struct native *n, uint64_t addr, uint64_t len)
{
	for (size_t i = 0; i < n->nshare; i++)
		if (native_overlaps(&n->share[i], addr, len))
			n->share[i--] = n->share[--n->nshare];
}

void
native_reshare(struct native *n, uint64_t addr, uint64_t len, uint32_t prot)
{
	for (size_t i = 0; i < n->nshare; i++)
		if (native_overlaps(&n->share[i], addr, len))
			n->share[i].prot = prot;
}

static const struct native_share *
native_twin(const struct native *n, const struct ws_rec_map *m)
{
	for (size_t i = 0; i < n->nshare; i++) {
		const struct native_share *s = &n->share[i];

		if (s->dev == m->dev && s->ino == m->ino && m->offset >= s->offset &&
		    m->offset - s->offset < s->len && m->len <= s->len - (m->offset - s->offset))
			return s;
	}
	return NULL;
}

int
native_share(struct native *n, const struct ws_rec_map *m, uint64_t *ret)
{
	const struct native_share *s;
	uint64_t done = 0;

	if (buf_grow(&n->share, &n->capshare, n->nshare + 1, sizeof(*n->share)) < 0)
		return -1;
	s = native_twin(n, m);
	if (s && (native_call(n, ret, SYS_mremap, s->addr + (m->offset - s->offset), 0, m->len,
		MREMAP_MAYMOVE | MREMAP_FIXED, m->addr) ||
		native_call(n, &done, SYS_mprotect, m->addr, m->len, m->prot, 0, 0) || done))
		return -1;
	if (!s &&
	    native_call(n, ret, SYS_mmap, m->addr, m->len, m->prot,
		MAP_FIXED | MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, UINT64_MAX))
		return -1;
	n->share[n->nshare++] = (struct native_share){ m->addr, m->len, m->dev, m->ino, m->offset, m->prot };
	return 0;
}

/* Makes writable no more than is written: a mapping may be large, and this is called for each page of it. */
int
native_shared_write(struct native *n, uint64_t addr, const uint8_t *p, size_t len)
{
	uint64_t lo = addr & ~UINT64_C(4095), size = ((addr + len + 4095) & ~UINT64_C(4095)) - lo;

	for (size_t i = 0; i < n->nshare; i++) {
		const struct native_share *s = &n->share[i];
		uint64_t ret = 0;
		size_t k;

		if (addr < s->addr || addr - s->addr >= s->len)
			continue;
		if (native_call(n, &ret, SYS_mprotect, lo, size, PROT_READ | PROT_WRITE, 0, 0) || ret)
			return -1;
		k = tracee_write(&n->t, addr, p, len);
		if (native_call(n, &ret, SYS_mprotect, lo, size, s->prot, 0, 0) || ret)
			return -1;
		return k == len ? 0 : -1;
	}
	return -1;
}
