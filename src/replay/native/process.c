/* The process of a natively executed capture, and its memory. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/confine.h"
#include "replay/native/native.h"
#include "replay/native/share_internal.h"

#define USER_END (1ull << 47)   /* end of user addresses of x86-64 Linux */
#define PAGE     4096u
#define SITES    100u           /* candidate addresses for the page with our `syscall` instruction, */
#define SITE(k)  (0x20000 + (k) * 0x13000010000ull)     /* one of which the program leaves free */

__attribute__((format(printf, 2, 3))) static int
native_bad(struct native *n, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(n->err, sizeof(n->err), fmt, ap);
	va_end(ap);
	return -1;
}

int
native_call(struct native *n, uint64_t *ret, long nr, uint64_t a, uint64_t b, uint64_t c,
    uint64_t d, uint64_t e)
{
	long got;
	int err = tracee_call(&n->t, &got, nr, a, b, c, d, e, 0);

	if (err)
		return native_bad(n, "cannot make a system call: %s", strerror(err));
	*ret = (uint64_t)got;
	return 0;
}

/* Does the page of our `syscall` instruction overlap [addr, addr+len)? */
static int
native_site_overlaps(const struct native *n, uint64_t addr, uint64_t len)
{
	return n->t.site && n->t.site + PAGE > addr && n->t.site < addr + len;
}

/* Finds another place for our `syscall` instruction, outside of [addr, addr+len). */
static int
new_site(struct native *n, uint64_t addr, uint64_t len)
{
	uint64_t old = n->t.site, ret = 0;

	for (unsigned k = 0; k < SITES; k++) {
		uint64_t at = SITE(k);

		if (at + PAGE > addr && at < addr + len)
			continue;
		if (native_call(n, &ret, SYS_mmap, at, PAGE, PROT_READ | PROT_EXEC,
		    MAP_FIXED_NOREPLACE | MAP_PRIVATE | MAP_ANONYMOUS, UINT64_MAX))
			return -1;
		if (ret != at)
			continue;
		if (tracee_write(&n->t, at, (const uint8_t *)"\x0f\x05", 2) != 2)
			break;
		n->t.site = at;
		return old ? native_call(n, &ret, SYS_munmap, old, PAGE, 0, 0, 0) : 0;
	}
	return native_bad(n, "cannot write into a process");
}

/* The program maps [addr, addr+len): moves our page away. */
static int
give_way(struct native *n, uint64_t addr, uint64_t len)
{
	return native_site_overlaps(n, addr, len) ? new_site(n, addr, len) : 0;
}

static int
native_unmap(struct native *n, uint64_t addr, uint64_t len)
{
	uint64_t ret = 0, end = addr + len;

	/* our page is there, and nothing of the program: unmap only what is beside it */
	if (native_site_overlaps(n, addr, len)) {
		if (n->t.site > addr && native_call(n, &ret, SYS_munmap, addr, n->t.site - addr, 0, 0, 0))
			return -1;
		addr = n->t.site + PAGE;
	}
	return addr < end ? native_call(n, &ret, SYS_munmap, addr, end - addr, 0, 0, 0) : 0;
}

int
native_clear(struct native *n)
{
	struct tracee_maps m = {0};
	int err = tracee_maps_of(n->maps, &m);

	n->nshare = 0;
	for (size_t i = 0; i < m.n && !err; i++)
		if (m.map[i].lo < USER_END)
			err = native_unmap(n, m.map[i].lo, m.map[i].hi - m.map[i].lo);
	tracee_maps_free(&m);
	return err ? native_bad(n, "cannot empty the process") : 0;
}

/* Installs the filter: from now on the process can change its memory and nothing else. */
static int
confine_it(struct native *n)
{
	struct sock_filter f[CONFINE_MEMORY_MAX];
	struct sock_fprog p = {.len = (unsigned short)confine_memory_only(f)};
	struct user_regs_struct g;
	const char *env = getenv("TRACEMILL_CONFINE");
	uint64_t at, ret = 1;

	if (env && !strcmp(env, "no"))
		return 0;
	if (tracee_regs(&n->t, &g))
		return native_bad(n, "the process is gone");
	at = g.rsp & ~UINT64_C(15);             /* the process does not need its stack any more */
	p.filter = (struct sock_filter *)(uintptr_t)(at + 16);
	if (tracee_write(&n->t, at, &p, sizeof(p)) != sizeof(p) ||
	    tracee_write(&n->t, at + 16, f, p.len * sizeof(*f)) != p.len * sizeof(*f))
		return native_bad(n, "cannot write into a process");
	if (native_call(n, &ret, SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    native_call(n, &ret, SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, at, 0, 0))
		return -1;
	return ret ? native_bad(n, "the process cannot be confined: %s", strerror(-(int)ret)) : 0;
}

int
native_open(struct native *n)
{
	char *argv[] = {"true", NULL};
	int atexec, err;

	memset(n, 0, sizeof(*n));
	n->maps = -1;
	err = tracee_start(&n->t, argv, 0, &atexec);
	if (err) {
		n->t.pid = 0;
		return native_bad(n, "cannot start a process: %s", strerror(err));
	}
	n->maps = tracee_open(n->t.pid, "maps", O_RDONLY);
	return new_site(n, 0, 0) || confine_it(n) ? -1 : native_clear(n);
}

void
native_close(struct native *n)
{
	int status;

	if (n->t.pid <= 0)
		return;
	kill(n->t.pid, SIGKILL);
	while (waitpid(n->t.pid, &status, __WALL) == n->t.pid && WIFSTOPPED(status))
		tracee_resume(&n->t, PTRACE_CONT, 0);   /* it stops once more, at its exit */
	tracee_close(&n->t);
	free(n->share);
	n->share = NULL;
	n->nshare = n->capshare = 0;
	if (n->maps >= 0)
		close(n->maps);
	n->t.pid = 0;
}

int
native_write(struct native *n, uint64_t addr, const uint8_t *p, size_t len)
{
	static const uint8_t zero[65536];

	for (size_t i = 0, k; i < len; i += k) {
		k = p ? len : len - i < sizeof(zero) ? len - i : sizeof(zero);
		if (tracee_write(&n->t, addr + i, p ? p : zero, k) != k &&
		    native_shared_write(n, addr + i, p ? p : zero, k))
			return native_bad(n, "memory that is not there: 0x%llx", (unsigned long long)addr);
	}
	return 0;
}

static int
native_move(struct native *n, const struct ws_rec_move *m)
{
	int flags = m->from == m->to ? 0 : MREMAP_MAYMOVE | MREMAP_FIXED;
	uint64_t ret = 0;

	if (give_way(n, m->to, m->newlen))
		return -1;
	if (native_call(n, &ret, SYS_mremap, m->from, m->oldlen, m->newlen, (uint64_t)flags, m->to))
		return -1;
	return ret == m->to ? 0 : native_bad(n, "cannot move memory to 0x%llx", (unsigned long long)m->to);
}

int
native_effect(struct native *n, const struct ws_rec *rec)
{
	const struct ws_rec_map *m = &rec->u.map;
	const struct ws_rec_range *g = &rec->u.range;
	uint64_t ret = 0;

	switch (rec->kind) {
	case WS_MAP:
		if (give_way(n, m->addr, m->len))
			return -1;
		native_unshare(n, m->addr, m->len);
		if ((m->flags & WS_SHARED) && m->ino && strcmp(m->name, "/dev/zero")) {
			if (native_share(n, m, &ret))
				return native_bad(n, "cannot share 0x%llx", (unsigned long long)m->addr);
		} else if (native_call(n, &ret, SYS_mmap, m->addr, m->len, m->prot,
		    MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
		    UINT64_MAX))
			return -1;
		return ret == m->addr ? 0 : native_bad(n, "cannot map 0x%llx", (unsigned long long)m->addr);
	case WS_UNMAP:
		native_unshare(n, g->addr, g->len);
		return native_unmap(n, g->addr, g->len);
	case WS_PROT:
		if (native_call(n, &ret, SYS_mprotect, g->addr, g->len, g->prot, 0, 0))
			return -1;
		native_reshare(n, g->addr, g->len, g->prot);
		return ret ? native_bad(n, "cannot protect 0x%llx", (unsigned long long)g->addr) : 0;
	case WS_MOVE:
		native_unshare(n, rec->u.move.from, rec->u.move.oldlen);
		native_unshare(n, rec->u.move.to, rec->u.move.newlen);
		return native_move(n, &rec->u.move);
	case WS_MEM:
		return native_write(n, rec->u.mem.addr, rec->u.mem.p, rec->u.mem.n);
	default:
		return 1;
	}
}

/*
 * The processor loads mxcsr even if the image says that the xmm registers are not in use; the
 * system's PTRACE_SETREGSET does so only if they are in use.
 */
static void
use_xmm(uint8_t *x)
{
	uint64_t in_use = get_le64(x + 512);

	if (in_use & 2 || get_le32(x + 24) == 0x1f80)
		return;
	memset(x + 160, 0, 256);
	put_le64(x + 512, in_use | 2);
}

static int
set_xsave(struct native *n, const uint8_t *p, size_t len)
{
	size_t k = sizeof(n->state);
	struct iovec v = {n->state, 0};

	if (tracee_xsave(&n->t, n->state, &k))
		return native_bad(n, "cannot get the processor's state");
	memset(n->state, 0, k);
	memcpy(n->state, p, len < k ? len : k);
	use_xmm(n->state);
	v.iov_len = k;
	if (ptrace(PTRACE_SETREGSET, n->t.pid, (void *)NT_X86_XSTATE, &v))
		return native_bad(n, "cannot set the processor's state: %s", strerror(errno));
	return 0;
}

int
native_state(struct native *n, const struct ws_regs *w, const uint8_t *xsave, size_t nxsave)
{
	struct user_regs_struct g;

	if (nxsave && set_xsave(n, xsave, nxsave))
		return -1;
	if (tracee_regs(&n->t, &g))
		return native_bad(n, "the program is gone");
	tracee_to_user(&g, w);
	return tracee_setregs(&n->t, &g) ? native_bad(n, "the registers cannot be set") : 0;
}
