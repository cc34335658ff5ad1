/* What system calls do that a capture does not say: it can be computed. */
#include <asm/prctl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/bytes.h"
#include "engine/replay/drive.h"

#define OUT_AT_ONCE (64u << 10)
#define IOV_MOST    1024u
#define FLAGS_USER  0x50dd5u            /* what sigreturn takes from the frame: AC RF OF DF TF SF ZF AF PF CF */
#define X86_MAGIC1  0x46505853u         /* of an extended state in a signal frame */
#define FX_SIZE     512u
#define FX_SW       464u                /* bytes for software: the kernel's notes on the state */

size_t
drive_read(struct replay *r, uint64_t addr, void *p, size_t n)
{
	n = mem_read(&r->mem, addr, p, n);
	if (n && r->watch.read && r->watch.read(r->watch.arg, addr, n) != 0)
		return 0;
	return n;
}

static uint64_t
word(struct replay *r, uint64_t addr)
{
	uint8_t b[8] = { 0 };

	drive_read(r, addr, b, 8);
	return get_le64(b);
}

static void
give(struct replay *r, uint64_t fd, uint64_t addr, uint64_t n)
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
give_iov(struct replay *r, uint64_t fd, uint64_t iov, uint64_t niov, uint64_t n)
{
	if (!r->output && !r->watch.read)
		return;
	for (uint64_t i = 0; i < niov && i < IOV_MOST && n; i++) {
		uint64_t base = word(r, iov + 16 * i), len = word(r, iov + 16 * i + 8);

		if (len > n)
			len = n;
		give(r, fd, base, len);
		n -= len;
	}
}

/* What the program wrote: s->ret bytes */
static void
output(struct replay *r, const struct ws_rec_sys *s)
{
	switch (s->nr) {
	case SYS_write:
	case SYS_pwrite64:
	case SYS_sendto:
		give(r, s->arg[0], s->arg[1], s->ret);
		return;
	case SYS_writev:
	case SYS_pwritev:
	case SYS_pwritev2:
		give_iov(r, s->arg[0], s->arg[1], s->arg[2], s->ret);
		return;
	case SYS_sendmsg:
		give_iov(r, s->arg[0], word(r, s->arg[1] + 16), word(r, s->arg[1] + 24), s->ret);
		return;
	}
}

/* The extended state in a signal frame, at addr: as the kernel restores it */
static int
restore_state(struct replay *r, uint64_t addr)
{
	uint8_t b[RP_XSAVE];
	size_t n = FX_SIZE;

	if (!addr)
		return drive_xsave(r, NULL, 0);
	if (drive_read(r, addr, b, FX_SIZE) != FX_SIZE)
		return drive_bad(r, "rt_sigreturn to a frame that is not there");
	if (get_le32(b + FX_SW) == X86_MAGIC1) {
		n = get_le32(b + FX_SW + 16);
		if (n < FX_SIZE + 64 || n > sizeof b || drive_read(r, addr, b, n) != n)
			return drive_bad(r, "rt_sigreturn to a frame whose state has %zu bytes", n);
	} else {
		memset(b + FX_SIZE, 0, 64);
		b[FX_SIZE] = 3;
		n = FX_SIZE + 64;
	}
	memset(b + FX_SW, 0, FX_SIZE - FX_SW);
	return drive_xsave(r, b, n);
}

/* Registers come from the frame that rsp points into */
static int
sigreturn(struct replay *r, const struct ws_rec_sys *s)
{
	/* in the order of struct sigcontext: r8 .. r15, rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp, rip, flags */
	static const uint8_t order[16] = { 8, 9, 10, 11, 12, 13, 14, 15, WS_RDI, WS_RSI, WS_RBP, WS_RBX, WS_RDX, WS_RAX, WS_RCX, WS_RSP };
	uint8_t b[8 * 24];
	uint64_t frame = r->x.cpu.r[WS_RSP] + 40;       /* behind uc_flags, uc_link, uc_stack */
	uint64_t *flags = &r->x.cpu.rflags;

	if (drive_read(r, frame, b, sizeof b) != sizeof b)
		return drive_bad(r, "rt_sigreturn without a frame at 0x%llx", (unsigned long long)frame);
	for (int i = 0; i < 16; i++)
		r->x.cpu.r[order[i]] = get_le64(b + 8 * i);
	r->x.cpu.rip = get_le64(b + 8 * 16);
	*flags = (*flags & ~(uint64_t)FLAGS_USER) | (get_le64(b + 8 * 17) & FLAGS_USER);
	if (r->x.cpu.r[WS_RAX] != s->ret)
		return drive_drift(r, "rt_sigreturn gives 0x%llx, not 0x%llx", (unsigned long long)r->x.cpu.r[WS_RAX],
		    (unsigned long long)s->ret);
	return restore_state(r, get_le64(b + 8 * 23));
}

int
drive_sys(struct replay *r, const struct ws_rec_sys *s)
{
	if (s->nr == SYS_rt_sigreturn)
		return sigreturn(r, s);
	r->x.cpu.r[WS_RAX] = s->ret;
	if (s->nr == SYS_arch_prctl && s->ret == 0) {
		if (s->arg[0] == ARCH_SET_FS)
			r->x.cpu.fsbase = s->arg[1];
		else if (s->arg[0] == ARCH_SET_GS)
			r->x.cpu.gsbase = s->arg[1];
	} else if ((int64_t)s->ret > 0) {
		output(r, s);
	}
	return r->ended == REPLAY_BAD ? REPLAY_BAD : 0;
}
