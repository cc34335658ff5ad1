/*
 * Memory of translated code.  It is mapped twice, once to be written (rp_w) and once to be
 * executed, so no mapping is both writable and executable.
 *
 * Only a shared mapping can be mapped twice, but a process and its forked children must not
 * write into each other's code.  A child therefore gets a copy in its place.  The parent makes
 * the copy before it forks, because its own code may change afterwards.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <Zydis/Zydis.h>
#include "replay/cpu/emit_internal.h"

ptrdiff_t rp_rw;

static struct rp_core *mine;            /* the core whose memory it is: one core per process */
/* the copy for a child, during fork; NULL: there was no memory for it */
static uint8_t *copy;
static char said[120];

static uint8_t *
codememory_shared(void)
{
	uint8_t *p = mmap(NULL, RP_CODE, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

/* Maps the memory at rw a second time, executable, at rx (NULL: anywhere).  Returns NULL on failure. */
static uint8_t *
codememory_twice(uint8_t *rw, uint8_t *rx)
{
	uint8_t *p = mremap(rw, 0, RP_CODE, MREMAP_MAYMOVE | (rx ? MREMAP_FIXED : 0), rx);

	if (p == MAP_FAILED)
		return NULL;
	if (mprotect(p, RP_CODE, PROT_READ | PROT_EXEC) == 0)
		return p;
	munmap(p, RP_CODE);
	return NULL;
}

static void
codememory_prepare(void)
{
	if (mine && (copy = codememory_shared()) != NULL)
		memcpy(copy, mine->code + rp_rw, (size_t)(mine->cp - mine->code));
}

static void
codememory_parent(void)
{
	if (mine && copy)
		munmap(copy, RP_CODE);
	copy = NULL;
}

static void
codememory_child(void)
{
	uint8_t *rw;

	if (!mine)
		return;
	rw = mine->code + rp_rw;
	if (!copy || mremap(copy, RP_CODE, RP_CODE, MREMAP_MAYMOVE | MREMAP_FIXED, rw) != rw ||
	    codememory_twice(rw, mine->code) != mine->code) {
		munmap(rw, RP_CODE);    /* no memory is better than sharing the parent's */
		munmap(mine->code, RP_CODE);
		mine->lost = 1;
	}
	copy = NULL;
}

const char *
rp_code_new(struct rp_core *c)
{
	static int forks;
	uint8_t *rw;

	if (mine)
		return "there is a core already";
	rw = codememory_shared();
	c->code = rw ? codememory_twice(rw, NULL) : NULL;
	if (!forks && c->code && pthread_atfork(codememory_prepare, codememory_parent, codememory_child) == 0)
		forks = 1;
	if (c->code && forks) {
		rp_rw = rw - c->code;
		mine = c;
		return NULL;
	}
	snprintf(said, sizeof said,
	    errno == ENOMEM ? "no address space for translated code, which needs %u MB twice (ulimit -v)" :
	    "no memory for translated code (%u MB) that may be executed: %s", RP_CODE >> 20, strerror(errno));
	if (rw)
		munmap(rw, RP_CODE);
	return said;
}

void
rp_code_free(struct rp_core *c)
{
	if (c->code && !c->lost) {
		munmap(c->code + rp_rw, RP_CODE);
		munmap(c->code, RP_CODE);
	}
	if (mine == c)
		mine = NULL;
}
