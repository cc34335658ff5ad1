/* System calls: records what they write, by the table format/ws/syscall.def. */
#include <asm/prctl.h>
#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "base/bytes.h"
#include "gen/wscap/amid.h"
#include "gen/wscap/fast.h"
#include "gen/wscap/signal.h"
#include "gen/wscap/thread.h"
#include "gen/wscap/touch.h"

enum how { W_NONE, W_FIX, W_RET, W_ARG, W_LEN, W_IOV, W_MSG, W_SET, W_BITS, W_SPC, W_COMPARE, W_DENY, W_STOP };

/* Functions that the table names: by numbers, for with addresses the loader would have to write to all of it. */
#define SPECIAL(X) X(arch_prctl) X(brk) X(clone) X(exec) X(exit) X(fcntl) X(futex) X(getsockopt) X(ioctl) X(ipc) \
    X(madvise) X(mincore) X(mmap) X(modify_ldt) X(mprotect) X(mremap) X(msgrcv) X(munmap) X(prctl) X(recvmmsg) \
    X(seccomp) X(shmat) X(shmdt) X(sigaction) X(sigreturn)
#define NUMBER(f) SPECIAL_##f,
#define FUNCTION(f) sys_##f,
enum { SPECIAL(NUMBER) };
static void (*const special[])(struct cap *c, const struct call *k) = { SPECIAL(FUNCTION) };

struct writes { uint8_t how, arg, b, special; uint16_t n; };

#define NONE            {.how = W_NONE}
#define FIX(a, m)       {.how = W_FIX, .arg = a, .n = m}
#define RET(a, m)       {.how = W_RET, .arg = a, .n = m}
#define ARG(a, i, m)    {.how = W_ARG, .arg = a, .b = i, .n = m}
#define LEN(a, i)       {.how = W_LEN, .arg = a, .b = i}
#define IOV(a, i)       {.how = W_IOV, .arg = a, .b = i}
#define MSG(a)          {.how = W_MSG, .arg = a}
#define SET(a)          {.how = W_SET, .arg = a}
#define BITS(a, i)      {.how = W_BITS, .arg = a, .b = i}
#define SPC(f)          {.how = W_SPC, .special = SPECIAL_##f}
#define COMPARE         {.how = W_COMPARE}
#define DENY            {.how = W_DENY}
#define STOP            {.how = W_STOP}

#define WRITES 4                /* memory ranges that a line of the table can name */
static const struct { int known; struct writes w[WRITES]; } table[] = {
#define S(nr, name, ...) [nr] = {1, {__VA_ARGS__}},
#include "format/ws/syscall.def"
#undef S
};
#define NTABLE (sizeof(table) / sizeof(table[0]))

#define LEN_MAX 65536u          /* maximum length of an address or an option */
#define COUNT_MAX (1u << 24)

static const struct writes unknown[WRITES] = {COMPARE};

static const struct writes *
writes_of(uint64_t nr)
{
	return nr < NTABLE && table[nr].known ? table[nr].w : unknown;
}

static int
call_is_restart(int64_t ret)
{
	return ret == -512 || ret == -513 || ret == -514 || ret == -516;
}

static void
call_of(struct call *k, const struct user_regs_struct *g, int64_t ret)
{
	*k = (struct call){g->orig_rax, {g->rdi, g->rsi, g->rdx, g->r10, g->r8, g->r9}, ret};
}

static uint64_t
call_word32(struct cap *c, uint64_t addr)
{
	uint8_t b[4];

	return addr && tracee_read(&c->t, addr, b, 4) == 4 ? get_le32(b) : 0;
}

static uint64_t
call_limited(uint64_t n, uint64_t most)
{
	return n < most ? n : most;
}

/* A call that fails as not all of n bytes at addr can be written may have written those before. */
static uint64_t
call_faulted(const struct cap *c, uint64_t addr, uint64_t n)
{
	return call_limited(region_writable(&c->reg, addr, n), COUNT_MAX);
}

static void
put_writes(struct cap *c, const struct writes *w, const struct call *k)
{
	uint64_t at = k->arg[w->arg], n = 0;

	switch (w->how) {
	case W_FIX:
		n = w->n;
		break;
	case W_RET:
		if (k->ret > 0)
			n = (uint64_t)k->ret * w->n;
		else if (k->ret == -EFAULT && w->arg < 5)       /* the size is the next argument */
			n = call_faulted(c, at, call_limited(k->arg[w->arg + 1], COUNT_MAX) * w->n);
		break;
	case W_ARG:
		n = call_limited(k->arg[w->b], COUNT_MAX) * w->n;
		break;
	case W_LEN:
		n = call_limited(call_word32(c, k->arg[w->b]), LEN_MAX);
		if (k->arg[w->b])
			put_mem(c, k->arg[w->b], 4);
		break;
	case W_SET:
		n = (call_limited(k->arg[0], 1u << 20) + 63) / 64 * 8;
		break;
	case W_BITS:
		n = (call_limited(k->arg[w->b], COUNT_MAX) + 63) / 64 * 8;
		break;
	case W_IOV:
		if (k->ret > 0 || k->ret == -EFAULT)
			put_iov(c, at, k->arg[w->b], k->ret > 0 ? (uint64_t)k->ret : COUNT_MAX);
		return;
	case W_MSG:
		if (k->ret >= 0 || k->ret == -EFAULT)
			put_msg(c, at, k->ret >= 0 ? (uint64_t)k->ret : COUNT_MAX);
		return;
	case W_SPC:
		special[w->special](c, k);
		return;
	default:
		return;
	}
	if (at && n && !stored_call(c, k, at, n))
		put_mem(c, at, n);
}

int
call_is_at(struct cap *c, uint64_t pc)
{
	uint64_t *seen = &c->pcs[pc / 2 % 64];
	uint8_t b[2];

	if (*seen == pc)
		return 1;
	if (tracee_read(&c->t, pc, b, 2) != 2)
		return 0;
	fast_hide(c, pc, b, 2);
	if (b[0] != 0x0f || b[1] != 0x05)
		return 0;
	*seen = pc;
	return 1;
}

static int
call_clones(uint64_t nr)
{
	return nr == SYS_clone || nr == SYS_clone3 || nr == SYS_vfork || nr == SYS_fork;
}

/* Calls whose effect on memory is recorded as mappings. */
static int
call_maps(uint64_t nr)
{
	switch (nr) {
	case SYS_mmap: case SYS_munmap: case SYS_mremap: case SYS_brk: case SYS_madvise: case SYS_shmat:
	case SYS_shmdt:
	case SYS_execve: case SYS_execveat: case SYS_rt_sigreturn:
		return 1;
	}
	return 0;
}

/* Cancels the call, which returns ret. */
static void
call_pretend(struct cap *c, long ret)
{
	struct user_regs_struct g = c->in;

	g.orig_rax = UINT64_MAX;
	c->denied = !tracee_setregs(&c->t, &g);
	c->pretended = ret;
}

/* A new process or thread.  0, or -1: the capture ends here. */
static int
prepare_clone(struct cap *c, const struct call *k)
{
	uint64_t flags = clone_flags(c, k);

	if (flags & CLONE_THREAD && !c->all->touch)
		return 0;
	if ((flags & (CLONE_VM | CLONE_VFORK)) == CLONE_VM) {
		cap_stop(c, flags & CLONE_THREAD ? "it starts a thread, which cannot be captured with --first-touch" :
		    "it starts a process that shares its memory for good");
		return -1;
	}
	/* until it executes a program, the child writes into the captured program's memory */
	c->borrow = borrow_may(c, flags);
	if (flags & CLONE_VM)
		compare_before(c);
	else if (!c->sharing)
		compare_shared(c);
	c->saved = 0;
	return 0;
}

static void
prepare_sigaction(struct cap *c, const struct call *k)
{
	memset(c->newact, 0, sizeof(c->newact));
	if (k->arg[1])
		tracee_read(&c->t, k->arg[1], c->newact, sizeof(c->newact));
}

/* MADV_FREE lets the kernel take pages at an unknown later time; MADV_DONTNEED takes them now. */
static void
prepare_madvise(struct cap *c, const struct call *k)
{
	struct user_regs_struct g = c->in;

	c->oldadvice = 0;
	if (k->arg[2] != MADV_FREE)
		return;
	c->oldadvice = k->arg[2] + 1;
	g.rdx = MADV_DONTNEED;
	tracee_setregs(&c->t, &g);
}

/* Prepares for the call, or changes it.  -1: the capture ends here. */
static int
call_prepare(struct cap *c, const struct call *k, const struct writes *w)
{
	if (w->how == W_STOP) {
		cap_stop(c, "it makes a system call that cannot be captured");
		return -1;
	}
	if (w->how == W_DENY)
		call_pretend(c, -ENOSYS);
	if (w->how == W_COMPARE || !call_known(k)) {
		compare_before(c);
	} else if (c->all->audit && !call_maps(k->nr)) {
		compare_before(c);
		c->compare = COMPARE_CHECKS;
	}
	switch (k->nr) {
	case SYS_exit:
	case SYS_exit_group:
		put_sys(c, &c->in, 0);
		break;
	case SYS_rt_sigaction:
		prepare_sigaction(c, k);
		break;
	case SYS_madvise:
		prepare_madvise(c, k);
		break;
	case SYS_rseq:
		if (c->amid.early && !k->arg[2]) {
			amid_rseq_put(c, k);
			call_pretend(c, 0);
		}
		break;
	case SYS_prctl:
		if (k->arg[0] == PR_SET_TSC && c->notsc)
			call_pretend(c, 0);
		break;
	case SYS_arch_prctl:
		if (k->arg[0] == ARCH_SET_CPUID && c->nocpuid)
			call_pretend(c, -ENODEV);
		break;
	case SYS_sched_setaffinity:
		pin_chosen(c, k);
		break;
	case SYS_clone:
	case SYS_clone3:
	case SYS_vfork:
	case SYS_fork:
		return prepare_clone(c, k);
	}
	return 0;
}

/* The process has gone back to before the call `in`: where it stands, rcx and r11 are those of after it. */
static void
call_retry(struct cap *c)
{
	c->inside = 0;
	c->restart = RESTART_OURS;
}

int
call_enter(struct cap *c)
{
	struct user_regs_struct g;
	struct call k;

	if (tracee_regs(&c->t, &g))
		return 0;
	c->inside = 1;
	c->behind = 0;
	if (c->restart == RESTART_KERNEL && g.rip == c->in.rip &&
	    (g.orig_rax == c->in.orig_rax || g.orig_rax == SYS_restart_syscall)) {
		c->restart = RESTART_NOT;
		if (c->th && g.orig_rax != SYS_restart_syscall) {
			call_of(&k, &g, 0);
			aside_enter(c, &k, 1);
		}
		signals_send(c);
		return 0;
	}
	c->restart = RESTART_NOT;
	c->compare = COMPARE_NOT;
	c->denied = 0;
	c->in = g;
	call_of(&k, &g, 0);
	if (c->all->failed)
		return cap_stop(c, NULL), -1;
	if (!call_is_at(c, g.rip - 2)) {
		cap_stop(c, "it makes a 32-bit system call");
		return -1;
	}
	if (signals_due(c) && !tracee_cancel_call(&c->t, &c->in)) {     /* they came before it, and may change what it does */
		call_retry(c);
		signals_send(c);
		return 0;
	}
	if (fast_enter(c, &k) || (touch_hides(c) && touch_call(c, &k))) {
		call_retry(c);
		return 0;
	}
	if (call_clones(k.nr) && share_before(c, clone_flags(c, &k))) {
		call_retry(c);
		return 0;
	}
	if (aside_before(c, &k) || (c->th && aside_enter(c, &k, 0))) {
		call_retry(c);
		return 0;
	}
	hold_call(c, &k);
	if (call_prepare(c, &k, writes_of(k.nr)) < 0)
		return -1;
	share_call(c);
	signals_send(c);
	return 0;
}

void
call_leave(struct cap *c)
{
	const struct writes *w = writes_of(c->in.orig_rax);
	struct call k;

	if (tracee_regs(&c->t, &c->out))
		return;                 /* it is being killed: it ends at this call */
	c->inside = 0;
	c->hold.final = 0;
	if (call_is_restart((int64_t)c->out.rax) && c->in.orig_rax != SYS_rt_sigreturn && !c->denied) {
		c->restart = RESTART_KERNEL;
		if (c->th)
			aside_leave(c, 0);
		return;
	}
	if (c->th)
		aside_leave(c, 1);
	if (c->denied) {
		c->out.rax = (uint64_t)c->pretended;
		c->out.orig_rax = c->in.orig_rax;
		tracee_setregs(&c->t, &c->out);
	}
	if (c->oldadvice && c->in.orig_rax == SYS_madvise) {
		c->out.rdx = c->oldadvice - 1;
		tracee_setregs(&c->t, &c->out);
	}
	call_of(&k, &c->in, (int64_t)c->out.rax);
	if (touch_hides(c) && touch_again(c, &k)) {
		call_retry(c);
		return;
	}
	if (k.nr == SYS_sched_getaffinity)
		pin_asked(c, &k);
	put_sys(c, &c->in, c->out.rax);
	c->all->until.ncalls++;
	if (k.nr == SYS_rt_sigprocmask || k.nr == SYS_rt_sigreturn)
		signal_mask(c);
	if (call_clones(k.nr))
		fork_adopt(c);
	for (int i = 0; i < WRITES; i++)
		put_writes(c, &w[i], &k);
	file_call(c, &k);
	if (c->compare)
		compare_after(c,
		    c->all->audit && w->how != W_COMPARE && !call_clones(k.nr) && call_known(&k));
	if (share_any(c))
		share_compare(c);
	if (call_clones(k.nr))
		random_restore(c);
	c->borrow = 0;
	if (k.nr == SYS_sigaltstack)
		borrow_altstack(c, &k);
	if (k.nr == SYS_set_tid_address)
		c->cleartid = k.arg[0];
	c->behind = 1;
	c->unsure = k.nr == SYS_rt_sigreturn && !amid_pending(&c->t);
	c->turn.called = 1;
	if (c->th)
		c->th->called = 1;
	fast_left(c, &k);
}
