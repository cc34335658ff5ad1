/* Begins a capture in the middle of a run: the process has done anything before. */
#include <asm/prctl.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/bytes.h"
#include "gen/wscap/amid.h"
#include "gen/wscap/signal.h"
#include "gen/wscap/thread.h"
#include "gen/wscap/touch.h"

#ifndef PTRACE_GET_RSEQ_CONFIGURATION
#define PTRACE_GET_RSEQ_CONFIGURATION 0x420f
#endif
#ifndef PR_GET_TID_ADDRESS
#define PR_GET_TID_ADDRESS 40
#endif
#define RSEQ_UNREGISTER 1

enum { CALL_AGAIN_NEW = -4, CALL_AGAIN_MIN = -516, CALL_AGAIN_MAX = -512 };

/* In struct rseq: its critical section; and in struct rseq_cs: start, length and the address to go to. */
enum { RSEQ_CS = 8, CS_START = 8, CS_LENGTH = 16, CS_ABORT = 24, CS_SIZE = 32 };

int
amid_status(pid_t pid, const char *field, int base, uint64_t *v)
{
	char path[40], line[256];
	size_t n = strlen(field);
	int found = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%ld/status", (long)pid);
	f = fopen(path, "re");
	while (f && found && fgets(line, sizeof(line), f))
		if (!strncmp(line, field, n) && line[n] == ':') {
			*v = strtoull(line + n + 1, NULL, base);
			found = 0;
		}
	if (f)
		fclose(f);
	return found;
}

static long
amid_call(struct cap *c, long nr, uint64_t a, uint64_t b, uint64_t d, uint64_t e)
{
	long ret = -1;

	return tracee_call(&c->t, &ret, nr, a, b, d, e, 0, 0) ? -ESRCH : ret;
}

/*
 * The kernel writes to the memory of a restartable sequence whenever it likes: it is registered
 * again at the end of the capture.  A section that the process is in is aborted, as by any
 * interruption.
 */
static const char *
amid_rseq(struct cap *c, struct user_regs_struct *g)
{
	struct { uint64_t addr; uint32_t size, sig, flags, pad; } r;
	uint8_t b[8], none[8] = {0}, cs[CS_SIZE];
	uint64_t at;

	memset(&r, 0, sizeof(r));
	if (ptrace((enum __ptrace_request)PTRACE_GET_RSEQ_CONFIGURATION, c->t.pid, sizeof(r), &r) < 0 || !r.addr) {
		c->amid.early = 1;
		return NULL;
	}
	if (tracee_read(&c->t, r.addr + RSEQ_CS, b, 8) != 8)
		return "its restartable sequences cannot be read";
	at = get_le64(b);
	if (at) {
		if (tracee_read(&c->t, at, cs, sizeof(cs)) == sizeof(cs) &&
		    g->rip - get_le64(cs + CS_START) < get_le64(cs + CS_LENGTH)) {
			g->rip = get_le64(cs + CS_ABORT);
			g->orig_rax = UINT64_MAX;
			tracee_setregs(&c->t, g);
		}
		tracee_write(&c->t, r.addr + RSEQ_CS, none, 8);
	}
	if (amid_call(c, SYS_rseq, r.addr, r.size, RSEQ_UNREGISTER, r.sig))
		return "its restartable sequences (rseq) cannot be put aside";
	c->amid.rseq = r.addr;
	c->amid.rseqlen = r.size;
	c->amid.rseqsig = r.sig;
	return NULL;
}

/*
 * The C library ends a program in which a thread has them and the next one, which that begins, cannot register
 * them.  A thread that had none when the capture began, or that begins later, is told that it was done, and it is
 * done at the end of the capture.
 */
void
amid_rseq_put(struct cap *c, const struct call *k)
{
	c->amid.rseq = k->arg[0];
	c->amid.rseqlen = (uint32_t)k->arg[1];
	c->amid.rseqsig = (uint32_t)k->arg[3];
	c->amid.early = 0;
}

/* What the process does with signals, which only it can ask the kernel. */
static const char *
amid_signals(struct cap *c, const struct user_regs_struct *g)
{
	uint64_t ignored, caught, at = (g->rsp - 1024) & ~15ull;
	uint8_t kept[32], act[32];

	if (amid_status(c->t.pid, "SigIgn", 16, &ignored) || amid_status(c->t.pid, "SigCgt", 16, &caught))
		return "its signals are not known";
	if (caught && tracee_read(&c->t, at, kept, 32) != 32)
		return "its stack cannot be used";
	for (int i = 1; i <= 64; i++) {
		memset(act, 0, sizeof(act));
		act[0] = ignored >> (i - 1) & 1;
		if (caught >> (i - 1) & 1) {
			if (amid_call(c, SYS_rt_sigaction, (uint64_t)i, 0, at, 8) ||
			    tracee_read(&c->t, at, act, 32) != 32)
				return "its signal handlers are not known";
		}
		signal_action(c, i, act);
	}
	if (caught)
		tracee_write(&c->t, at, kept, 32);
	return NULL;
}

int
amid_again(const struct user_regs_struct *g)
{
	return (int64_t)g->orig_rax >= 0 && (int64_t)g->rax >= CALL_AGAIN_MIN && (int64_t)g->rax <= CALL_AGAIN_MAX &&
	    (int64_t)g->rax != -515;
}

int
amid_pending(const struct tracee *t)
{
	uint64_t own, shared, blocked;

	return ptrace(PTRACE_GETSIGMASK, t->pid, sizeof(blocked), &blocked) || tracee_pending(t, 0, NULL, &own) ||
	    tracee_pending(t, 1, NULL, &shared) || ((own | shared) & ~blocked);
}

/* These fail when the process is only stopped, signal(7): it is to make them again. */
int
amid_broken(const struct tracee *t, const struct user_regs_struct *g)
{
	if ((int64_t)g->rax != CALL_AGAIN_NEW || t->nheld)
		return 0;
	switch (g->orig_rax) {
	case SYS_epoll_wait: case SYS_epoll_pwait: case 441:    /* epoll_pwait2 */
	case SYS_semop: case SYS_semtimedop: case SYS_rt_sigtimedwait: case SYS_io_getevents:
		return !amid_pending(t);
	}
	return 0;
}

void
amid_repeat(struct tracee *t, struct user_regs_struct *g)
{
	g->rax = g->orig_rax;
	g->orig_rax = UINT64_MAX;
	g->rip -= 2;
	tracee_setregs(t, g);
}

/*
 * A call that the kernel goes on with knows the addresses of its first beginning: with other threads, its results go
 * elsewhere, and it begins anew, with its whole time.
 */
static int
amid_polls(const struct user_regs_struct *g)
{
	return g->orig_rax == SYS_poll && (int64_t)g->rax == CALL_AGAIN_MIN;
}

/* The word that the kernel clears when the thread ends. */
static const char *
amid_cleartid(struct cap *c, const struct user_regs_struct *g)
{
	uint64_t at = (g->rsp - 1024) & ~15ull;
	const char *why = NULL;
	uint8_t kept[8], now[8];

	if (tracee_read(&c->t, at, kept, 8) != 8)
		return "the stack of a thread cannot be used";
	if (amid_call(c, SYS_prctl, PR_GET_TID_ADDRESS, at, 0, 0) || tracee_read(&c->t, at, now, 8) != 8)
		why = "it has several threads, and this kernel does not tell what it writes when one ends";
	else
		c->cleartid = get_le64(now);
	tracee_write(&c->t, at, kept, 8);
	return why;
}

const char *
amid_own(struct cap *c, struct user_regs_struct *g)
{
	const char *why = tracee_regs(&c->t, g) ? "its registers cannot be read" : amid_rseq(c, g);

	if (!why && g->cs != TRACEE_CS_64)
		why = "one of its threads executes 32-bit code";
	if (why)
		return why;
	if (amid_broken(&c->t, g) || (c->th && amid_polls(g)))
		amid_repeat(&c->t, g);
	c->notsc = tracee_tsc_faults() && !amid_call(c, SYS_prctl, PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0);
	if (c->all->audit)
		c->nocpuid = !amid_call(c, SYS_arch_prctl, ARCH_SET_CPUID, 0, 0, 0);
	signal_mask(c);
	if (amid_again(g)) {
		c->in = *g;
		c->restart = RESTART_KERNEL;
	}
	return c->th ? amid_cleartid(c, g) : NULL;
}

/* The registers that the capture begins with: a call that the kernel will make again is made in the replay, too. */
static void
amid_state(struct cap *c, const struct user_regs_struct *g)
{
	struct user_regs_struct s = *g;

	if (c->restart) {
		s.rax = g->orig_rax;
		s.rip -= 2;
	}
	start_state(c, &s);
}

/* What wscap changes in the process, and learns from it. */
static const char *
amid_prepare(struct cap *c, struct user_regs_struct *g)
{
	const char *why = c->th ? amid_threads_leave(c) : NULL;

	if (!why)
		why = vdso_patch(c);
	if (!why)
		why = amid_own(c, g);
	if (why)
		return why;
	c->altstack = ALTSTACK_UNKNOWN;
	c->brk = ((uint64_t)amid_call(c, SYS_brk, 0, 0, 0, 0) + PAGE - 1) / PAGE * PAGE;
	why = amid_signals(c, g);
	return !why && c->th ? amid_threads_prepare(c) : why;
}

/* The address of the program interpreter. */
static uint64_t
amid_interp(pid_t pid)
{
	char path[40];
	uint64_t v[2] = {0, 0}, base = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%ld/auxv", (long)pid);
	f = fopen(path, "re");
	while (f && fread(v, sizeof(v), 1, f) == 1 && v[0])
		if (v[0] == 7)          /* AT_BASE */
			base = v[1];
	if (f)
		fclose(f);
	return base;
}

const char *
amid_check(pid_t pid)
{
	static char text[80];
	uint64_t n, process;

	if (amid_status(pid, "Threads", 10, &n) || amid_status(pid, "Tgid", 10, &process))
		return "there is no such process";
	if (process != (uint64_t)pid) {
		snprintf(text, sizeof(text), "it is a thread of process %llu", (unsigned long long)process);
		return text;
	}
	if (n > 1 && thread_is_zombie(pid))
		return "its first thread has ended, and others have not";
	if (!amid_status(pid, "Seccomp", 10, &n) && n)
		return "its system calls are filtered (seccomp), and wscap has to make some in its place";
	return NULL;
}

const char *
amid_begin(struct cap *c)
{
	struct user_regs_struct g;
	struct tracee_maps maps = {0};
	static char exe[4096];
	const char *why;

	if (tracee_regs(&c->t, &g))
		return "its registers cannot be read";
	if (g.cs != TRACEE_CS_64)
		return "it is a 32-bit program";
	if (tracee_maps(c->t.pid, &maps))
		return "its mappings cannot be read";
	vdso_free(&c->all->vdso);
	why = vdso_read(c, &maps, &c->all->vdso);
	c->t.site = find_site(c->t.pid, &c->t);
	if (!why)
		why = amid_prepare(c, &g);
	if (!why) {
		start_exe(c->t.pid, exe, sizeof(exe));
		image_begin(c);
		start_header(c, exe);
		amid_state(c, &g);
		start_memory(c, &maps, amid_interp(c->t.pid), exe);
		if (c->all->touch)
			touch_hide(c, 0, UINT64_MAX);
	}
	if (!why && c->th)
		amid_threads_settle(c);
	tracee_maps_free(&maps);
	return why;
}

/*
 * After calls in its place: the kernel looks again for what is to be done before the process goes
 * on, such as making an interrupted call again.
 */
void
amid_settle(struct tracee *t)
{
	ptrace(PTRACE_INTERRUPT, t->pid, NULL, NULL);
}

void
amid_restore(const struct cap *c, struct tracee *t)
{
	long ret;

	vdso_restore(c, t);
	if (c->amid.rseq)
		tracee_call(t, &ret, SYS_rseq, c->amid.rseq, c->amid.rseqlen, 0, c->amid.rseqsig, 0, 0);
}

void
amid_detach(struct tracee *t)
{
	struct user_regs_struct g;
	siginfo_t si;
	int status;

	if (tracee_regs(t, &g) || !amid_again(&g)) {
		tracee_resume(t, PTRACE_DETACH, 0);
		return;
	}
	amid_settle(t);
	if (!tracee_resume(t, PTRACE_CONT, 0)) {
		while (tracee_wait(t, &status))
			if (errno != EINTR)
				return;
		if (!WIFSTOPPED(status))
			return;
		/* a signal that came now is delivered, with its sender's information */
		if (status >> 16 == 0 && !ptrace(PTRACE_GETSIGINFO, t->pid, NULL, &si))
			tracee_resume(t, PTRACE_DETACH, WSTOPSIG(status));
		else
			tracee_resume(t, PTRACE_DETACH, 0);
	}
}
