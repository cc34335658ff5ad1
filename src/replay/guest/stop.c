/* What it means for a replay that the processor stopped. */
#include <signal.h>

#include "replay/guest/replay_internal.h"

static int
stop_unexpected(struct replay *r, const char *what)
{
	switch (r->next.kind) {
	case WS_END:
		if (r->next.u.end.icount == WS_UNKNOWN)
			return drive_finish(r);
		return drive_drift(r, "%s, where the program ended at instruction %llu", what,
		    (unsigned long long)r->next.u.end.icount);
	case WS_SYS:
		return drive_drift(r, "%s, where the program had its next system call at 0x%llx", what,
		    (unsigned long long)r->next.u.sys.pc);
	default:
		return drive_drift(r, "%s, where the program had a %s", what, ws_kind_name(r->next.kind));
	}
}

static int
not_recorded(struct replay *r)
{
	return drive_bad(r, "cannot be replayed: %s, whose result was not recorded here",
	    ws_random_name(r->x.insn - RP_RDRAND));
}

static void
cpuid_by_table(struct replay *r)
{
	uint64_t *g = r->x.cpu.r;
	struct ws_cpuid c = ws_cpuid_find(r->head->cpuid, r->head->ncpuid, (uint32_t)g[WS_RAX],
	    (uint32_t)g[WS_RCX]);

	g[WS_RAX] = c.eax;
	g[WS_RBX] = c.ebx;
	g[WS_RCX] = c.ecx;
	g[WS_RDX] = c.edx;
}

static const char *
signal_name(int sig)
{
	switch (sig) {
	case SIGSEGV: return "SIGSEGV";
	case SIGBUS: return "SIGBUS";
	case SIGFPE: return "SIGFPE";
	case SIGILL: return "SIGILL";
	case SIGTRAP: return "SIGTRAP";
	default: return "a signal";
	}
}

/* the page of the vsyscall ABI of old programs, which the system emulates */
#define VSYSCALL UINT64_C(0xffffffffff600000)

static int
stop_faulted(struct replay *r)
{
	if (!r->cut && r->next.kind == WS_END && r->next.u.end.how == WS_KILLED)
		return drive_finish(r);
	if (r->x.cpu.rip >> 12 == VSYSCALL >> 12)
		return drive_bad(r,
		    "cannot be replayed: a call into the vsyscall page, which is not recorded");
	if (r->x.sig == SIGSEGV)
		return drive_drift(r, "SIGSEGV at ...%011llx, which the program had not",
		    (unsigned long long)(r->x.addr & rp_mask));
	return drive_drift(r, "%s, which the program had not", signal_name(r->x.sig));
}

/* The signal comes here: replay_apply_here delivers it. */
static int
stop_trapped(struct replay *r)
{
	if (r->cut)
		return REPLAY_OK;
	if (r->next.kind == WS_END && r->next.u.end.how == WS_KILLED)
		return drive_finish(r);
	if (r->next.kind == WS_SIG && (int)r->next.u.sig.sig == r->x.sig && drive_signal_here(r) == 1)
		return REPLAY_OK;
	return drive_drift(r, "%s, which the program had not", signal_name(r->x.sig));
}

/* Did the program ask the kernel for a SIGSYS instead of this call (PR_SET_SYSCALL_USER_DISPATCH)?  It comes here. */
static int
syscall_refused(struct replay *r)
{
	struct rp_cpu *c = &r->x.cpu;

	if (r->next.kind != WS_SIG || r->next.u.sig.sig != SIGSYS)
		return 0;
	c->r[WS_RCX] = c->rip;
	c->r[11] = c->rflags;
	return drive_signal_here(r) == 1;
}

int
drive_stopped(struct replay *r, enum rp_stop stop)
{
	switch (stop) {
	case RP_SYSCALL:
		if (syscall_refused(r))
			return REPLAY_OK;
		return r->next.kind != WS_SYS ? stop_unexpected(r, "a system call") :
		    drive_trigger_apply(r) ? REPLAY_BAD : REPLAY_OK;
	case RP_TSC:
		return r->next.kind != WS_TSC ? stop_unexpected(r, "rdtsc") :
		    drive_trigger_apply(r) ? REPLAY_BAD : REPLAY_OK;
	case RP_CPUID:
		if (!(r->head->flags & WS_CPUID_RECORDS)) {
			cpuid_by_table(r);
			return REPLAY_OK;
		}
		return r->next.kind != WS_CPUID ? stop_unexpected(r, "cpuid") :
		    drive_trigger_apply(r) ? REPLAY_BAD : REPLAY_OK;
	case RP_RAND:
		return r->next.kind != WS_RAND ? not_recorded(r) :
		    drive_trigger_apply(r) ? REPLAY_BAD : REPLAY_OK;
	case RP_BAD:
		return drive_bad(r, "cannot be replayed: %s", r->x.why);
	case RP_FAULT:
		return stop_faulted(r);
	case RP_TRAP:
		return stop_trapped(r);
	case RP_NOMEM:
		return drive_bad(r, "no memory");
	default:
		return REPLAY_OK;       /* a breakpoint or a limit: replay_apply_here checks */
	}
}
