/*
 * wsstep program [argument ...]: runs it step by step with ptrace, in the
 * conditions of a capture (no vdso, no rseq), and writes the address of each
 * instruction to the file pcs, one a line; those that follow on themselves
 * (repeated string instructions) once.  It exits as the program does.
 */
#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "answer.h"

static pid_t pid;

static uint64_t
peek(uint64_t addr)
{
	return (uint64_t)ptrace(PTRACE_PEEKDATA, pid, addr, NULL);
}

/* Hides the vdso from the program: replaces its auxiliary entry. */
static void
hide_vdso(uint64_t sp)
{
	sp += 8 * (peek(sp) + 2);               /* argc, arguments, NULL */
	while (peek(sp))
		sp += 8;
	for (sp += 8; peek(sp) != AT_NULL; sp += 16)
		if (peek(sp) == AT_SYSINFO_EHDR)
			ptrace(PTRACE_POKEDATA, pid, sp, AT_IGNORE);
}

/* rseq fails as on a kernel that has none; 1 if this was it */
static int
deny(struct user_regs_struct *g)
{
	if (g->rax != SYS_rseq || (peek(g->rip) & 0xffff) != 0x050f)
		return 0;
	g->rip += 2;
	g->rcx = g->rip;
	g->r11 = g->eflags;
	g->rax = (uint64_t)-ENOSYS;
	g->orig_rax = UINT64_MAX;
	ptrace(PTRACE_SETREGS, pid, NULL, g);
	return 1;
}

static int
done_for(struct user_regs_struct *g)
{
	uint64_t b = peek(g->rip);

	return answer(g, (const uint8_t *)&b) && ptrace(PTRACE_SETREGS, pid, NULL, g) == 0;
}

int
main(int argc, char **argv)
{
	struct user_regs_struct g;
	uint64_t last = 0;
	int status, sig = 0;
	FILE *out = fopen("pcs", "w");

	if (argc < 2 || !out)
		return 125;
	pid = fork();
	if (pid == 0) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execvp(argv[1], argv + 1);
		_exit(126);
	}
	waitpid(pid, &status, 0);
	ptrace(PTRACE_GETREGS, pid, NULL, &g);
	hide_vdso(g.rsp);
	while (WIFSTOPPED(status)) {
		ptrace(PTRACE_GETREGS, pid, NULL, &g);
		if (g.rip != last)
			fprintf(out, "0x%llx\n", (unsigned long long)g.rip);
		last = g.rip;
		if (deny(&g) || done_for(&g))
			continue;
		ptrace(PTRACE_SINGLESTEP, pid, NULL, sig);
		if (waitpid(pid, &status, 0) != pid)
			return 125;
		sig = WIFSTOPPED(status) && WSTOPSIG(status) != SIGTRAP ? WSTOPSIG(status) : 0;
	}
	if (fclose(out) != 0)
		return 125;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
