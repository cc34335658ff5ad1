/* Effects of system calls that a capture does not record, because a replay can compute them. */
#include <asm/prctl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/bytes.h"
#include "replay/guest/replay_internal.h"

#define IOV_MOST 1024u          /* buffers of an iovec array at most: UIO_MAXIOV of the kernel */
#define NAME_MOST 4096u         /* bytes of a file name at most: PATH_MAX */

size_t
drive_read(struct replay *r, uint64_t addr, void *p, size_t n)
{
	n = mem_read(&r->mem, addr, p, n);
	if (n && r->watch.read && r->watch.read(r->watch.arg, addr, n) != 0)
		return 0;
	return n;
}

static uint64_t
syscalls_word(struct replay *r, uint64_t addr)
{
	uint8_t b[8] = { 0 };

	drive_read(r, addr, b, 8);
	return get_le64(b);
}

static void
syscalls_output_bytes(struct replay *r, uint64_t fd, uint64_t addr, uint64_t n)
{
	uint8_t b[4096];

	if (!r->output && !r->watch.read)
		return;
	while (n) {
		size_t k = n < sizeof b ? n : sizeof b;

		k = drive_read(r, addr, b, k);
		if (!k)
			return;
		if (r->output)
			r->output(r->outputarg, (int)fd, b, k);
		addr += k;
		n -= k;
	}
}

static void
syscalls_output_iov(struct replay *r, uint64_t fd, uint64_t iov, uint64_t niov, uint64_t n)
{
	if (!r->output && !r->watch.read)
		return;
	for (uint64_t i = 0; i < niov && i < IOV_MOST && n; i++) {
		uint64_t base = syscalls_word(r, iov + 16 * i), len = syscalls_word(r, iov + 16 * i + 8);

		if (len > n)
			len = n;
		syscalls_output_bytes(r, fd, base, len);
		n -= len;
	}
}

/* The program wrote s->ret bytes: passes them to the output callback. */
static void
syscalls_output(struct replay *r, const struct ws_rec_sys *s)
{
	switch (s->nr) {
	case SYS_write:
	case SYS_pwrite64:
	case SYS_sendto:
		syscalls_output_bytes(r, s->arg[0], s->arg[1], s->ret);
		return;
	case SYS_writev:
	case SYS_pwritev:
	case SYS_pwritev2:
		syscalls_output_iov(r, s->arg[0], s->arg[1], s->arg[2], s->ret);
		return;
	case SYS_sendmsg:
		syscalls_output_iov(r, s->arg[0], syscalls_word(r, s->arg[1] + 16),
		    syscalls_word(r, s->arg[1] + 24), s->ret);
		return;
	}
}

/*
 * Reports file names as read: trimming keeps them for readers of the capture, though the
 * program may never read them.
 */
static void
syscalls_read_name(struct replay *r, const struct ws_rec_sys *s)
{
	uint64_t addr;
	uint8_t b[64];
	size_t n = 0;

	switch (s->nr) {
	case SYS_open: case SYS_creat: case SYS_unlink: case SYS_truncate:
		addr = s->arg[0];
		break;
	case SYS_openat: case SYS_openat2: case SYS_unlinkat:
		addr = s->arg[1];
		break;
	default:
		return;
	}
	for (uint64_t left = NAME_MOST; left && (n == 0 || !memchr(b, 0, n)); left -= n, addr += n) {
		n = sizeof b - addr % sizeof b;
		if (n > left)
			n = (size_t)left;
		n = drive_read(r, addr, b, n);
		if (!n)
			return;
	}
}

int
drive_sys(struct replay *r, const struct ws_rec_sys *s)
{
	r->x.cpu.r[WS_RAX] = s->ret;
	if (r->watch.read && (int64_t)s->ret >= 0)
		syscalls_read_name(r, s);
	if (s->nr == SYS_arch_prctl && s->ret == 0) {
		if (s->arg[0] == ARCH_SET_FS)
			r->x.cpu.fsbase = s->arg[1];
		else if (s->arg[0] == ARCH_SET_GS)
			r->x.cpu.gsbase = s->arg[1];
	} else if ((int64_t)s->ret > 0) {
		syscalls_output(r, s);
	}
	return r->ended == REPLAY_BAD ? REPLAY_BAD : 0;
}
