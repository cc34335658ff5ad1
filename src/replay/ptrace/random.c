/*
 * Emulates rdrand, rdseed and rdpid, whose results the processor makes up, for a traced
 * process; finds rdtsc.
 */
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>
#include <x86intrin.h>

#include "replay/ptrace/tracee.h"

/* Lets tests choose the other way: see TRACEMILL_TRAPS in tracemill(7). */
static int
without_traps(void)
{
	const char *s = getenv("TRACEMILL_TRAPS");

	return s && !strcmp(s, "no");
}

/* A property of the processor, which is probed once in a process.  *known: 0 not yet, 1 no, 2 yes. */
static int
probe(int *known, int (*answer)(void))
{
	if (without_traps())
		return 0;
	if (!*known)
		*known = 1 + answer();
	return *known - 1;
}

static volatile sig_atomic_t tsc_faulted;

/* The instruction is executed again, and does not fault any more. */
static void
tsc_fault(int sig)
{
	(void)sig;
	tsc_faulted = 1;
	prctl(PR_SET_TSC, PR_TSC_ENABLE);
}

static int
tsc_answer(void)
{
	struct sigaction sa, was;
	sigset_t set, before;

	memset(&sa, 0, sizeof(sa));
	sa.sa_handler = tsc_fault;
	sigemptyset(&set);
	sigaddset(&set, SIGSEGV);
	if (sigaction(SIGSEGV, &sa, &was))
		return 0;
	sigprocmask(SIG_UNBLOCK, &set, &before);
	if (prctl(PR_SET_TSC, PR_TSC_SIGSEGV) == 0) {
		(void)__rdtsc();
		prctl(PR_SET_TSC, PR_TSC_ENABLE);
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	sigaction(SIGSEGV, &was, NULL);
	return tsc_faulted;
}

int
tracee_tsc_faults(void)
{
	static int known;

	return probe(&known, tsc_answer);
}

static void __attribute__((noinline))
tracee_watched(void)
{
	__asm__ volatile("");
}

/*
 * The child, which has our memory: what it calls must not touch what threads have for themselves.  It may be
 * stopped when its parent is killed.
 */
static int
watch_attempt(void *parent)
{
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == *(pid_t *)parent &&
	    ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0 && kill(getpid(), SIGSTOP) == 0)
		tracee_watched();
	kill(getpid(), SIGKILL);
	return 0;
}

static int
watch_answer(void)
{
	const size_t reg = offsetof(struct user, u_debugreg);
	static uint8_t stack[16 << 10] __attribute__((aligned(16)));
	int status, stopped;
	pid_t parent = getpid(), pid = clone(watch_attempt, stack + sizeof(stack), CLONE_VM | SIGCHLD, &parent);

	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
		return 0;
	stopped = ptrace(PTRACE_POKEUSER, pid, reg, (unsigned long)tracee_watched) == 0 &&
	    ptrace(PTRACE_POKEUSER, pid, reg + 7 * sizeof(long), 1ul) == 0 &&
	    ptrace(PTRACE_CONT, pid, NULL, NULL) == 0 && waitpid(pid, &status, 0) == pid &&
	    WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP;
	if (WIFSTOPPED(status)) {
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
	}
	return stopped;
}

int
tracee_has_watchpoints(void)
{
	static int known;

	return probe(&known, watch_answer);
}

int
tracee_decode_tsc(const uint8_t *b, size_t n, struct tracee_decode_random *d)
{
	if (n < 2 || b[0] != 0x0f || (b[1] != 0x31 && (n < 3 || b[1] != 0x01 || b[2] != 0xf9)))
		return -1;
	*d = (struct tracee_decode_random){.insn = TRACEE_TSC, .len = b[1] == 0x31 ? 2 : 3};
	return 0;
}

int
tracee_decode_random(const uint8_t *b, size_t n, struct tracee_decode_random *d)
{
	size_t i = 0;
	unsigned rex = 0, modrm;
	int narrow = 0, rep = 0;

	for (; i < n && (b[i] == 0x66 || b[i] == 0xf3); i++) {
		narrow |= b[i] == 0x66;
		rep |= b[i] == 0xf3;
	}
	if (i < n && (b[i] & 0xf0) == 0x40)
		rex = b[i++];
	if (n - i < 3 || b[i] != 0x0f || b[i + 1] != 0xc7 || b[i + 2] < 0xf0)
		return -1;
	modrm = b[i + 2];
	if (rep && modrm < 0xf8)
		return -1;
	d->insn = rep ? WS_RDPID : modrm < 0xf8 ? WS_RDRAND : WS_RDSEED;
	d->reg = (modrm & 7) | (rex & 1) << 3;
	d->size = rep || rex & 8 ? 8 : narrow ? 2 : 4;
	d->len = (unsigned)i + 3;
	return 0;
}

void
tracee_execute_random(const struct tracee_decode_random *d, struct ws_rec_rand *rec)
{
	uint64_t v = 0;
	uint8_t ok = 1;

	/* encoded by hand: an assembler may not know the instructions */
	if (d->insn == WS_RDPID)
		__asm__ volatile(".byte 0xf3, 0x0f, 0xc7, 0xf8" : "=a"(v));
	else if (d->insn == WS_RDSEED)
		__asm__ volatile(".byte 0x48, 0x0f, 0xc7, 0xf8; setc %1" : "=a"(v), "=q"(ok) :: "cc");
	else
		__asm__ volatile(".byte 0x48, 0x0f, 0xc7, 0xf0; setc %1" : "=a"(v), "=q"(ok) :: "cc");
	rec->insn = d->insn;
	rec->failed = !ok;
	rec->value = !ok ? 0 : d->size == 8 ? v : v & ((UINT64_C(1) << 8 * d->size) - 1);
}

void
tracee_set_random(const struct tracee_decode_random *d, const struct ws_rec_rand *rec, struct ws_regs *w)
{
	uint64_t *r = &w->r[d->reg];

	*r = d->size == 2 ? (*r & ~UINT64_C(0xffff)) | rec->value : rec->value;
	if (d->insn != WS_RDPID)        /* rdrand and rdseed clear OF SF ZF AF PF */
		w->rflags = (w->rflags & ~UINT64_C(0x8d5)) | !rec->failed;
	w->rip += d->len;
}
