/*
 * A capture replayed by the processor itself: wsnative FILE.ws [OUTPUT].  A
 * process gets the memory and the registers of the capture and runs under
 * ptrace; each system call must be the captured one with the same registers,
 * is not made, and has its captured effects.  What the program wrote to
 * descriptor 1 goes to OUTPUT.
 */
#include <asm/prctl.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "replay/native/native.h"
#include "format/ws/runs.h"

static struct native n;
static struct ws_reader *reader;
static struct ws_rec rec;       /* the next trigger, or END */
static unsigned long triggers;
static int output = -1;

__attribute__((format(printf, 1, 2))) _Noreturn static void
bad(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	printf("trigger %lu, record %llu: ", triggers, (unsigned long long)ws_rec_no(reader));
	vprintf(fmt, ap);
	putchar('\n');
	native_close(&n);
	exit(1);
}

static void
bad_native(void)
{
	bad("%s", n.err);
}

/* The effects up to the next trigger, which is then in rec */
static void
effects(void)
{
	for (;;) {
		if (ws_next(reader, &rec) != 1)
			bad("%s", ws_fault(reader)->err);
		switch (rec.kind) {
		case WS_KEY:
			ws_skip_key(reader);
			break;
		case WS_NOTE: case WS_TIME:
			break;
		default:
			switch (native_effect(&n, &rec)) {
			case 0:
				break;
			case 1:
				return;
			default:
				bad_native();
			}
		}
	}
}

static void
stopped(int *status)
{
	while (tracee_wait(&n.t, status) == EINTR)
		;
	if (!WIFSTOPPED(*status))
		bad("the program is gone");
}

/* The system call at which it stands is not made. */
static void
not_made(struct user_regs_struct *g)
{
	int status;

	g->orig_rax = UINT64_MAX;
	tracee_setregs(&n.t, g);
	tracee_resume(&n.t, PTRACE_SYSCALL, 0);
	stopped(&status);
}

/* That which the kernel answered with a signal */
static int
on_refused(struct user_regs_struct *g)
{
	struct ws_regs w;

	if (rec.kind != WS_SIG || rec.u.sig.sig != SIGSYS || rec.u.sig.at.rip != g->rip)
		return 0;
	tracee_from_user(&w, g, g->orig_rax);
	not_made(g);
	tracee_to_user(g, &w);
	tracee_setregs(&n.t, g);
	return 1;
}

/* The system call at which it stands; 0 if it was the last */
static int
on_call(struct user_regs_struct *g)
{
	struct ws_rec_sys s = rec.u.sys;
	struct ws_regs w;

	tracee_from_user(&w, g, g->orig_rax);
	if (rec.kind != WS_SYS || !native_is_call(&w, &s))
		bad("system call %lld at 0x%llx, the capture has another: %s %llu at 0x%llx",
		    (long long)g->orig_rax, g->rip - 2,
		    ws_kind_name(rec.kind), (unsigned long long)s.nr, (unsigned long long)s.pc);
	if (s.nr == SYS_write && s.arg[0] == 1 && (int64_t)s.ret > 0 && output >= 0) {
		uint8_t *p = malloc(s.ret);

		if (!p || tracee_read(&n.t, s.arg[1], p, s.ret) != s.ret ||
		    write(output, p, s.ret) != (ssize_t)s.ret)
			bad("cannot write");
		free(p);
	}
	triggers++;
	not_made(g);
	native_call_result(&w, &s);
	tracee_to_user(g, &w);
	tracee_setregs(&n.t, g);
	effects();
	return s.nr != SYS_exit_group && (s.nr != SYS_exit || rec.kind != WS_END);
}

/* An instruction that gives what the capture says */
static int
on_trap(struct user_regs_struct *g)
{
	struct ws_regs w;
	uint8_t b[NATIVE_INSN] = {0};

	tracee_read(&n.t, g->rip, b, sizeof(b));
	tracee_from_user(&w, g, g->rax);
	if (native_emulate(&w, b, &rec))
		return 0;
	triggers++;
	tracee_to_user(g, &w);
	tracee_setregs(&n.t, g);
	effects();
	return 1;
}

/* Does it stand where the captured signal came?  Then it goes to the handler. */
static int
on_signal(void)
{
	struct user_regs_struct g;
	struct ws_regs w;

	if (tracee_regs(&n.t, &g))
		return 0;
	tracee_from_user(&w, &g, g.rax);
	if (!ws_comes_at(&rec.u.sig, &w))
		return 0;
	if (native_state(&n, &rec.u.sig.to, rec.u.sig.xsave, rec.u.sig.nxsave))
		bad_native();
	triggers++;
	effects();
	return 1;
}

static int
ended(void)
{
	return rec.kind == WS_END;
}

/* Where nothing makes rdtsc fault, from instruction to instruction up to it */
static int
to_tsc(struct user_regs_struct *g)
{
	struct tracee_decode_random d;
	uint8_t b[3] = {0};
	int status;

	for (;;) {
		tracee_regs(&n.t, g);
		tracee_read(&n.t, g->rip, b, sizeof(b));
		if (!tracee_decode_tsc(b, sizeof(b), &d))
			return on_trap(g);
		tracee_resume(&n.t, PTRACE_SINGLESTEP, 0);
		stopped(&status);
		if (WSTOPSIG(status) != SIGTRAP)
			bad("signal %d at 0x%llx", WSTOPSIG(status), g->rip);
	}
}

static void
replay(void)
{
	struct user_regs_struct g;
	uint64_t stop = 0;              /* address of our breakpoint */
	uint8_t kept = 0;
	int status, sig;

	for (;;) {
		if (rec.kind == WS_SIG && on_signal()) {
			if (ended())
				return;
			continue;
		}
		if (rec.kind == WS_SIG && !stop) {
			stop = rec.u.sig.at.rip;
			tracee_read(&n.t, stop, &kept, 1);
			tracee_write(&n.t, stop, "\xcc", 1);
		}
		if (ended() && rec.u.end.how != WS_KILLED)
			return;
		if (rec.kind == WS_TSC && !tracee_tsc_faults() && to_tsc(&g))
			continue;
		tracee_resume(&n.t, PTRACE_SYSCALL, 0);
		stopped(&status);
		sig = WSTOPSIG(status);
		tracee_regs(&n.t, &g);
		if (sig == (SIGTRAP | 0x80)) {
			if (stop && on_refused(&g)) {
				tracee_write(&n.t, stop, &kept, 1);
				stop = 0;
				continue;
			}
			if (ended() || !on_call(&g))
				return;
			continue;
		}
		if (sig == SIGSEGV && on_trap(&g))
			continue;
		if (!stop || (sig == SIGTRAP && g.rip != stop + 1))
			bad("signal %d at 0x%llx", sig, g.rip);
		tracee_write(&n.t, stop, &kept, 1);
		if (sig == SIGTRAP) {
			g.rip = stop;
			tracee_setregs(&n.t, &g);
		}
		if (on_signal()) {
			stop = 0;
			if (ended())
				return;
			continue;
		}
		if (sig != SIGTRAP)
			bad("signal %d at 0x%llx", sig, g.rip);
		tracee_resume(&n.t, PTRACE_SINGLESTEP, 0);
		stopped(&status);
		tracee_write(&n.t, stop, "\xcc", 1);
	}
}

int
main(int argc, char **argv)
{
	struct fault f;
	uint64_t ret = 0;
	size_t run;
	int fd;

	setenv("TRACEMILL_CONFINE", "no", 1);   /* the native process makes system calls */
	if (argc < 2 || (fd = ws_open_path(argv[1], &run)) < 0 || !(reader = ws_open_run(fd, run, &f)))
		return 2;
	if (argc > 2)
		output = open(argv[2], O_WRONLY | O_CREAT | O_TRUNC, 0666);
	if (native_open(&n) || native_call(&n, &ret, SYS_prctl, PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0) ||
	    ((ws_head(reader)->flags & WS_CPUID_RECORDS) &&
	    native_call(&n, &ret, SYS_arch_prctl, ARCH_SET_CPUID, 0, 0, 0, 0)))
		bad_native();
	if (ws_next(reader, &rec) != 1 || rec.kind != WS_START)
		bad("no start");
	if (native_state(&n, &rec.u.state.regs, rec.u.state.xsave, rec.u.state.nxsave))
		bad_native();
	effects();
	replay();
	native_close(&n);
	printf("%s %u\n", ws_how_name(rec.u.end.how), rec.u.end.status);
	return rec.kind != WS_END;
}
