/* What the kernel, the processor and the limits of this process allow. Where possible, this is tried. */
#include <asm/prctl.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "apps/tracemill/tracemill.h"
#include "base/confine.h"
#include "base/memwatch.h"
#include "replay/ptrace/tracee.h"

#define GIB (UINT64_C(1) << 30)

/* The number that a file begins with; -1: there is no such file, or it has none ("max") */
static long long
file_number(const char *path)
{
	FILE *f = fopen(path, "re");
	long long v;

	if (!f)
		return -1;
	if (fscanf(f, "%lld", &v) != 1)
		v = -1;
	fclose(f);
	return v;
}

/* Does something in a child of its own, as it cannot be undone: its result */
static int
in_child(int (*attempt)(void))
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0)
		_exit(attempt());
	return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void
system_ptrace(void)
{
	char *argv[] = { (char *)"true", NULL };
	long long scope = file_number("/proc/sys/kernel/yama/ptrace_scope");
	struct tracee t = { 0 };
	int atexec, status, err = tracee_start(&t, argv, 0, &atexec);

	if (!err) {
		kill(t.pid, SIGKILL);
		waitpid(t.pid, &status, 0);
		tracee_close(&t);
		doctor_say(GOOD, "ptrace", "wscap can trace its own children%s",
		    scope == 1 ? " (yama/ptrace_scope 1 refuses others only)" : "");
	} else if (atexec) {
		doctor_say(LIMITED, "ptrace", "not tried: true: %s", strerror(err));
	} else if (scope >= 2) {
		doctor_say(MISSING, "ptrace",
		    "%s: /proc/sys/kernel/yama/ptrace_scope is %lld, so %s: wscap does not work",
		    strerror(err), scope,
		    scope == 2 ? "only root may trace" : "nobody may trace until the next start");
	} else {
		doctor_say(MISSING, "ptrace",
		    "%s: wscap does not work; a container may need more rights, such as docker's "
		    "--cap-add SYS_PTRACE",
		    strerror(err));
	}
}

static int
confine_attempt(void)
{
	const char *why;

	return confine_process(NULL, NULL, &why) != 0;
}

static void
system_confine(void)
{
	const char *s = getenv("TRACEMILL_CONFINE");

	if (s && !strcmp(s, "no"))
		doctor_say(LIMITED, "confinement",
		    "off, as TRACEMILL_CONFINE=no says: a capture needs the same trust as a program");
	else if (in_child(confine_attempt) == 0)
		doctor_say(GOOD, "confinement",
		    "captures are executed under a filter of system calls (seccomp)");
	else
		doctor_say(MISSING, "confinement",
		    "the kernel takes no filter of system calls (seccomp): captures are executed "
		    "with TRACEMILL_CONFINE=no only");
}

static int
cpuid_attempt(void)
{
	return syscall(SYS_arch_prctl, ARCH_SET_CPUID, 0) != 0;
}

static int
fixed_attempt(void)
{
	int was = personality(0xffffffff);

	return was < 0 || personality((unsigned long)was | ADDR_NO_RANDOMIZE) < 0;
}

static void
system_traps(void)
{
	if (tracee_tsc_faults())
		doctor_say(GOOD, "rdtsc", "faults where wscap wants it to");
	else
		doctor_say(LIMITED, "rdtsc",
		    "does not fault: wscap stops at those that it finds in the code (wscap(1), BUGS)");
	if (tracee_has_watchpoints())
		doctor_say(GOOD, "debug registers", "stop a traced program");
	else
		doctor_say(LIMITED, "debug registers",
		    "stop nothing: wscap writes breakpoints into the code for rdrand and the like");
	if (in_child(cpuid_attempt) == 0)
		doctor_say(GOOD, "cpuid", "faults where wscap --audit and --cpu want it to");
	else
		doctor_say(LIMITED, "cpuid",
		    "does not fault: wscap stops at those that it finds in the code (wscap(1), BUGS)");
}

static void
system_processor(void)
{
	char line[256], model[200] = "";
	FILE *f = fopen("/proc/cpuinfo", "re");
	const char *colon;

	while (f && !*model && fgets(line, sizeof line, f))
		if (!strncmp(line, "model name", 10) && (colon = strchr(line, ':')))
			snprintf(model, sizeof model, "%.*s, ", (int)strcspn(colon + 2, "\n"), colon + 2);
	if (f)
		fclose(f);
	doctor_say(GOOD, "processor", "%s%s: captures made here need the same where they are replayed", model,
	    __builtin_cpu_supports("avx512f") ? "AVX-512" : __builtin_cpu_supports("avx2") ? "AVX2" :
	    __builtin_cpu_supports("avx") ? "AVX" : "SSE");
}

static void
system_random(void)
{
	if (file_number("/proc/sys/kernel/randomize_va_space") == 0)
		doctor_say(GOOD, "address space", "is not randomized: two runs have the same addresses");
	else if (in_child(fixed_attempt) == 0)
		doctor_say(GOOD, "address space",
		    "is randomized: wscap switches that off for the programs that it runs");
	else
		doctor_say(LIMITED, "address space",
		    "is randomized, and wscap may not switch that off: two runs have other addresses");
}

void
system_kernel(void)
{
	system_ptrace();
	system_confine();
	system_traps();
	system_processor();
	system_random();
}

static void
system_disk(const char *name, const char *folder)
{
	struct statvfs s;

	if (statvfs(folder, &s) != 0) {
		doctor_say(LIMITED, name, "%s: %s", folder, strerror(errno));
	} else {
		uint64_t room = (uint64_t)s.f_bavail * s.f_frsize;

		doctor_say(room < GIB ? LIMITED : GOOD, name, "%s has room for %.1f GB%s", folder,
		    (double)room / 1e9, room < GIB ? ": events and text of long runs are larger" : "");
	}
}

/* What the control groups of a container leave; 0: they say nothing */
static uint64_t
group_memory(void)
{
	long long v = file_number("/sys/fs/cgroup/memory.max");

	if (v < 0)
		v = file_number("/sys/fs/cgroup/memory/memory.limit_in_bytes");
	return v < 0 ? 0 : (uint64_t)v;
}

static void
system_memory(void)
{
	uint64_t all = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t group = group_memory(), bound;

	if (memwatch_bound(&bound) != 0)
		doctor_say(MISSING, "memory",
		    "TRACEMILL_MEMORY is %.40s, which is no number of bytes: captures are not executed",
		    getenv("TRACEMILL_MEMORY"));
	else if (group && group < bound)
		doctor_say(LIMITED, "memory",
		    "a replay may fill %.1f GB, but its control group has %.1f GB: set TRACEMILL_MEMORY",
		    (double)bound / 1e9, (double)group / 1e9);
	else if (bound > all)
		doctor_say(LIMITED, "memory", "TRACEMILL_MEMORY is %.1f GB, but the machine has %.1f GB",
		    (double)bound / 1e9, (double)all / 1e9);
	else
		doctor_say(bound < GIB ? LIMITED : GOOD, "memory", "a replay may fill %.1f GB%s",
		    (double)bound / 1e9, bound < GIB ? ": large programs fill more" : "");
}

/* The limits of the shell that end tools early */
static void
system_shell(void)
{
	static const struct { int limit; char letter; const char *what; } limits[] = {
		{ RLIMIT_AS, 'v', "of address space: a replay maps what the program had mapped, and more" },
		{ RLIMIT_FSIZE, 'f', "in a file: longer captures, events and output end with an error" },
		{ RLIMIT_CPU, 't', "seconds of the processor: longer runs are killed" },
	};
	int some = 0;

	for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
		struct rlimit r;

		if (getrlimit((unsigned)limits[i].limit, &r) != 0 || r.rlim_cur == RLIM_INFINITY)
			continue;
		some = 1;
		doctor_say(LIMITED, "limits", "ulimit -%c: %llu %s%s", limits[i].letter,
		    (unsigned long long)r.rlim_cur, limits[i].limit == RLIMIT_CPU ? "" : "bytes ",
		    limits[i].what);
	}
	if (!some)
		doctor_say(GOOD, "limits", "the shell limits no address space, files or processor time");
}

void
system_limits(const char *folder)
{
	system_memory();
	system_shell();
	system_disk("this folder", ".");
	system_disk("temporary files", folder);
}
