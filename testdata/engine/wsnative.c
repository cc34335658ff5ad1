/*
 * A capture replayed by the processor itself: wsnative FILE.ws [OUTPUT].  A
 * process gets the memory and the registers of the capture and runs under
 * ptrace; each system call must be the captured one with the same registers,
 * is not made, and has its captured effects.  What the program wrote to
 * descriptor 1 goes to OUTPUT.
 */
#include <asm/prctl.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
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

#include "engine/tracee/tracee.h"
#include "format/ws.h"

#define SITE 0x20000u           /* where our `syscall` instruction lies: no program is there */

static struct tracee t;
static struct ws_reader *reader;
static struct ws_rec rec;       /* the next trigger, or END */
static unsigned long triggers;
static int output = -1;
static uint8_t state[WS_XSAVE_MAX];

__attribute__((format(printf, 1, 2))) _Noreturn static void
bad(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	printf("trigger %lu, record %llu: ", triggers, (unsigned long long)ws_rec_no(reader));
	vprintf(fmt, ap);
	putchar('\n');
	if (t.pid > 0)
		kill(t.pid, SIGKILL);
	exit(1);
}

static uint64_t
call(long nr, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e)
{
	long ret;
	int err = tracee_call(&t, &ret, nr, a, b, c, d, e, 0);

	if (err)
		bad("cannot make a system call: %s", strerror(err));
	return (uint64_t)ret;
}

static void
to_user(struct user_regs_struct *g, const struct ws_regs *w)
{
	unsigned long long *const r[16] = {
		&g->rax, &g->rcx, &g->rdx, &g->rbx, &g->rsp, &g->rbp, &g->rsi, &g->rdi,
		&g->r8, &g->r9, &g->r10, &g->r11, &g->r12, &g->r13, &g->r14, &g->r15,
	};

	for (int i = 0; i < 16; i++)
		*r[i] = w->r[i];
	g->rip = w->rip;
	g->eflags = w->rflags;
	g->fs_base = w->fsbase;
	g->gs_base = w->gsbase;
	g->orig_rax = UINT64_MAX;
}

static void
from_user(struct ws_regs *w, const struct user_regs_struct *g, uint64_t rax)
{
	const uint64_t r[16] = {
		rax, g->rcx, g->rdx, g->rbx, g->rsp, g->rbp, g->rsi, g->rdi,
		g->r8, g->r9, g->r10, g->r11, g->r12, g->r13, g->r14, g->r15,
	};

	memcpy(w->r, r, sizeof(r));
	w->rip = g->rip;
	w->rflags = g->eflags;
	w->fsbase = g->fs_base;
	w->gsbase = g->gs_base;
}

static void
set_state(const uint8_t *p, size_t n)
{
	size_t k = sizeof(state);
	struct iovec v = {state, 0};

	if (!n)
		return;
	tracee_xsave(&t, state, &k);
	memset(state, 0, k);
	memcpy(state, p, n);
	v.iov_len = k;
	if (ptrace(PTRACE_SETREGSET, t.pid, (void *)NT_X86_XSTATE, &v))
		bad("cannot set the processor's state");
}

static void
put_memory(const struct ws_rec_mem *m)
{
	static const uint8_t zero[65536];

	for (size_t i = 0, k; i < m->n; i += k) {
		k = m->p ? m->n : m->n - i < sizeof(zero) ? m->n - i : sizeof(zero);
		if (tracee_write(&t, m->addr + i, m->p ? m->p : zero, k) != k)
			bad("memory that is not there: 0x%llx", (unsigned long long)m->addr);
	}
}

static void
put_move(const struct ws_rec_move *m)
{
	int flags = m->from == m->to ? 0 : MREMAP_MAYMOVE | MREMAP_FIXED;

	if (call(SYS_mremap, m->from, m->oldlen, m->newlen, (uint64_t)flags, m->to) != m->to)
		bad("cannot move memory");
}

/* The effects up to the next trigger, which is then in rec */
static void
effects(void)
{
	for (;;) {
		if (ws_next(reader, &rec) != 1)
			bad("%s", ws_fault(reader)->err);
		switch (rec.kind) {
		case WS_MAP:
			if (call(SYS_mmap, rec.u.map.addr, rec.u.map.len, rec.u.map.prot,
			    MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, UINT64_MAX) != rec.u.map.addr)
				bad("cannot map 0x%llx", (unsigned long long)rec.u.map.addr);
			break;
		case WS_UNMAP:
			call(SYS_munmap, rec.u.range.addr, rec.u.range.len, 0, 0, 0);
			break;
		case WS_PROT:
			if (call(SYS_mprotect, rec.u.range.addr, rec.u.range.len, rec.u.range.prot, 0, 0))
				bad("cannot protect 0x%llx", (unsigned long long)rec.u.range.addr);
			break;
		case WS_MOVE:
			put_move(&rec.u.move);
			break;
		case WS_MEM:
			put_memory(&rec.u.mem);
			break;
		case WS_KEY:
			ws_skip_key(reader);
			break;
		case WS_NOTE:
			break;
		default:
			return;
		}
	}
}

static void
stopped(int *status)
{
	while (tracee_wait(&t, status) == EINTR)
		;
	if (!WIFSTOPPED(*status))
		bad("the program is gone");
}

/* The system call at which it stands; 0 if it was the last */
static int
on_call(struct user_regs_struct *g)
{
	struct ws_rec_sys s = rec.u.sys;
	struct ws_regs w;
	int status;

	from_user(&w, g, g->orig_rax);
	if (rec.kind != WS_SYS || s.nr != g->orig_rax || s.pc != g->rip - 2 || s.hash != ws_hash(&w))
		bad("system call %lld at 0x%llx, the capture has another: %s %llu at 0x%llx", (long long)g->orig_rax, g->rip - 2,
		    ws_kind_name(rec.kind), (unsigned long long)s.nr, (unsigned long long)s.pc);
	if (s.nr == SYS_write && s.arg[0] == 1 && (int64_t)s.ret > 0 && output >= 0) {
		uint8_t *p = malloc(s.ret);

		if (!p || tracee_read(&t, s.arg[1], p, s.ret) != s.ret || write(output, p, s.ret) != (ssize_t)s.ret)
			bad("cannot write");
		free(p);
	}
	triggers++;
	if (s.nr == SYS_exit_group || s.nr == SYS_exit) {
		effects();
		return 0;
	}
	g->orig_rax = UINT64_MAX;
	tracee_setregs(&t, g);
	tracee_resume(&t, PTRACE_SYSCALL, 0);
	stopped(&status);
	tracee_regs(&t, g);
	g->rax = s.ret;
	if (s.nr == SYS_arch_prctl && !s.ret && s.arg[0] == ARCH_SET_FS)
		g->fs_base = s.arg[1];
	tracee_setregs(&t, g);
	effects();
	return 1;
}

/* An instruction that gives what the capture says */
static int
on_trap(struct user_regs_struct *g)
{
	uint8_t b[3] = {0};
	int tsc;

	tracee_read(&t, g->rip, b, 3);
	tsc = b[0] == 0x0f && (b[1] == 0x31 || (b[1] == 1 && b[2] == 0xf9));
	if (rec.kind == WS_TSC && tsc) {
		g->rax = (uint32_t)rec.u.tsc.value;
		g->rdx = rec.u.tsc.value >> 32;
		if (rec.u.tsc.has_aux)
			g->rcx = rec.u.tsc.aux;
		g->rip += b[1] == 1 ? 3 : 2;
	} else if (rec.kind == WS_CPUID && b[0] == 0x0f && b[1] == 0xa2 && (uint32_t)g->rax == rec.u.cpuid.leaf) {
		g->rax = rec.u.cpuid.eax;
		g->rbx = rec.u.cpuid.ebx;
		g->rcx = rec.u.cpuid.ecx;
		g->rdx = rec.u.cpuid.edx;
		g->rip += 2;
	} else {
		return 0;
	}
	triggers++;
	tracee_setregs(&t, g);
	effects();
	return 1;
}

/* Does it stand where the captured signal came?  Then it goes to the handler. */
static int
on_signal(void)
{
	const struct ws_regs *at = &rec.u.sig.at;
	struct user_regs_struct g;
	struct ws_regs w;

	if (tracee_regs(&t, &g))
		return 0;
	from_user(&w, &g, g.rax);
	if (memcmp(w.r, at->r, sizeof(w.r)) || w.rip != at->rip || (w.rflags ^ at->rflags) & WS_RFLAGS ||
	    w.fsbase != at->fsbase || w.gsbase != at->gsbase)
		return 0;
	to_user(&g, &rec.u.sig.to);
	set_state(rec.u.sig.xsave, rec.u.sig.nxsave);
	tracee_setregs(&t, &g);
	triggers++;
	effects();
	return 1;
}

static int
ended(void)
{
	return rec.kind == WS_END;
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
			tracee_read(&t, stop, &kept, 1);
			tracee_write(&t, stop, "\xcc", 1);
		}
		if (ended() && rec.u.end.how != WS_KILLED)
			return;
		tracee_resume(&t, PTRACE_SYSCALL, 0);
		stopped(&status);
		sig = WSTOPSIG(status);
		tracee_regs(&t, &g);
		if (sig == (SIGTRAP | 0x80)) {
			if (ended() || !on_call(&g))
				return;
			continue;
		}
		if (sig == SIGSEGV && on_trap(&g))
			continue;
		if (!stop || (sig == SIGTRAP && g.rip != stop + 1))
			bad("signal %d at 0x%llx", sig, g.rip);
		tracee_write(&t, stop, &kept, 1);
		if (sig == SIGTRAP) {
			g.rip = stop;
			tracee_setregs(&t, &g);
		}
		if (on_signal()) {
			stop = 0;
			if (ended())
				return;
			continue;
		}
		if (sig != SIGTRAP)
			bad("signal %d at 0x%llx", sig, g.rip);
		tracee_resume(&t, PTRACE_SINGLESTEP, 0);
		stopped(&status);
		tracee_write(&t, stop, "\xcc", 1);
	}
}

/* A process with nothing in it but our `syscall` instruction */
static void
empty(void)
{
	char *argv[] = {"true", NULL};
	struct tracee_maps m = {0};
	int atexec;

	if (tracee_start(&t, argv, &atexec) || tracee_maps(t.pid, &m))
		bad("cannot start a process");
	if (call(SYS_mmap, SITE, 4096, PROT_READ | PROT_EXEC, MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, UINT64_MAX) != SITE ||
	    tracee_write(&t, SITE, "\x0f\x05", 2) != 2)
		bad("cannot write into a process");
	t.site = SITE;
	for (size_t i = 0; i < m.n; i++)
		if (m.map[i].lo < 1ull << 47)
			call(SYS_munmap, m.map[i].lo, m.map[i].hi - m.map[i].lo, 0, 0, 0);
	tracee_maps_free(&m);
	call(SYS_prctl, PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0);
	if (ws_head(reader)->flags & WS_CPUID_RECORDS)
		call(SYS_arch_prctl, ARCH_SET_CPUID, 0, 0, 0, 0);
}

int
main(int argc, char **argv)
{
	struct user_regs_struct g;
	struct ws_fault f;
	int fd;

	if (argc < 2 || (fd = open(argv[1], O_RDONLY)) < 0 || !(reader = ws_open(fd, &f)))
		return 2;
	if (argc > 2)
		output = open(argv[2], O_WRONLY | O_CREAT | O_TRUNC, 0666);
	empty();
	if (ws_next(reader, &rec) != 1 || rec.kind != WS_START || tracee_regs(&t, &g))
		bad("no start");
	to_user(&g, &rec.u.state.regs);
	set_state(rec.u.state.xsave, rec.u.state.nxsave);
	tracee_setregs(&t, &g);
	effects();
	replay();
	kill(t.pid, SIGKILL);
	printf("%s %u\n", ws_how_name(rec.u.end.how), rec.u.end.status);
	return rec.kind != WS_END;
}
