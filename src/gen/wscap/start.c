/* Begins a capture: the program is after its execve. */
#include <asm/prctl.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/diag.h"
#include "base/mem.h"
#include "gen/wscap/amid.h"
#include "gen/wscap/fast.h"
#include "gen/wscap/signal.h"
#include "gen/wscap/touch.h"
#include "gen/wscap/wscap.h"

#define STACK_MOST (1ull << 30) /* bytes that a stack may grow to, at most */
#define XCR0_SSE 3u             /* x87 and SSE */
#define AUXV_MAX 64             /* entries of the auxiliary vector at most */

struct start {
	struct user_regs_struct regs;
	struct tracee_maps maps;
	/* Address of the name that execve was called with: that of a script, not of its interpreter. */
	uint64_t execfn;
	uint64_t interp, entry;         /* from the auxiliary vector: address of the loader; entry point */
	char exe[4096];
};

/*
 * Skips words on the stack from `at` to the next zero, such as the arguments: returns the
 * address after the zero.
 */
static uint64_t
start_skip_to_null(struct cap *c, uint64_t at)
{
	uint8_t b[PAGE];

	for (;;) {
		size_t n = tracee_read(&c->t, at, b, PAGE - at % PAGE) / 8 * 8, i;

		for (i = 0; i < n; i += 8)
			if (!get_le64(b + i))
				return at + i + 8;
		if (!n)
			return 0;
		at += n;
	}
}

/*
 * Hides the vdso from libc: its functions read the clock without a system call.  With --cpu, also what the system says
 * of instructions for rings and FS and GS.
 */
static void
start_auxv(struct cap *c, struct start *s)
{
	uint64_t at = start_skip_to_null(c, s->regs.rsp + 8);
	uint8_t b[16 * AUXV_MAX], ignore[8] = {AT_IGNORE};
	size_t n, i;

	at = at ? start_skip_to_null(c, at) : 0;
	n = at ? tracee_read(&c->t, at, b, sizeof(b)) : 0;
	for (i = 0; i + 16 <= n && get_le64(b + i) != AT_NULL; i += 16) {
		switch (get_le64(b + i)) {
		case AT_SYSINFO_EHDR:
			tracee_write(&c->t, at + i, ignore, 8);
			break;
		case AT_HWCAP2:
			if (c->all->cpu != CPU_NATIVE)
				tracee_write(&c->t, at + i, ignore, 8);
			break;
		case AT_BASE:
			s->interp = get_le64(b + i + 8);
			break;
		case AT_EXECFN:
			s->execfn = get_le64(b + i + 8);
			break;
		case AT_ENTRY:
			s->entry = get_le64(b + i + 8);
			break;
		}
	}
}

static int
is_first_program(const struct cap *c)
{
	return c->t.pid == c->all->first && !c->all->settled;
}

static int
is_file(const char *name, const struct stat *file)
{
	struct stat st;

	return !stat(name, &st) && st.st_ino == file->st_ino && st.st_dev == file->st_dev;
}

void
start_keep_apart(const char *path, pid_t pid, const char *name)
{
	struct stat to;
	char exe[40];

	snprintf(exe, sizeof(exe), "/proc/%ld/exe", (long)pid);
	if (!stat(path, &to) && (is_file(exe, &to) || is_file(name, &to)))
		die("%s: is the program itself", path);
}

/* Only of the first program: a later one may be called by a name that has another meaning here, as /dev/fd/3. */
static void
keep_apart(struct cap *c, const struct start *s)
{
	char name[4096];
	size_t n = s->execfn ? tracee_string(&c->t, s->execfn, name, sizeof(name)) : 0;

	start_keep_apart(c->all->path, c->t.pid, n && n < sizeof(name) ? name : "");
}

static long
start_call(struct cap *c, long nr, uint64_t a, uint64_t b)
{
	long ret = -1;

	if (tracee_call(&c->t, &ret, nr, a, b, 0, 0, 0, 0))
		return -ESRCH;
	return ret;
}

void
start_hide_vdso(struct cap *c)
{
	struct start s = {0};

	if (tracee_regs(&c->t, &s.regs))
		return;
	start_auxv(c, &s);
	if (is_first_program(c))
		keep_apart(c, &s);
}

static uint64_t
xcr0(void)
{
	uint32_t a, d;

	__asm__("xgetbv" : "=a"(a), "=d"(d) : "c"(0));
	return (uint64_t)d << 32 | a;
}

void
start_exe(pid_t pid, char *exe, size_t room)
{
	char path[40];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%ld/exe", (long)pid);
	n = readlink(path, exe, room - 1);
	exe[n > 0 ? n : 0] = 0;
}

void
start_header(struct cap *c, const char *exe)
{
	struct tree *a = c->all;
	struct ws_header h = {.machine = WS_X86_64, .page = PAGE, .line = WS_LINE};
	const char **argv = xcalloc(c->nargs + 1, sizeof(*argv));
	struct utsname u;
	struct timespec now;
	struct fault f;
	char brand[49];

	uname(&u);
	clock_gettime(CLOCK_REALTIME, &now);
	h.flags = WS_TIMES | (c->nocpuid ? WS_CPUID_RECORDS : 0u) | (a->touch ? WS_FIRST_TOUCH : 0u);
	if (!a->ncpuid)
		a->ncpuid = cpuid_table(a->cpuid, WS_CPUID_MAX, a->cpu);
	h.cpuid = a->cpuid;
	h.ncpuid = a->ncpuid;
	cpuid_brand(a->cpuid, h.ncpuid, brand);
	h.xcr0 = a->cpu == CPU_NATIVE ? xcr0() : XCR0_SSE;
	h.when = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
	h.version = TM_VERSION;
	h.brand = brand;
	h.kernel = u.release;
	h.exe = exe;
	h.argv = argv;
	for (size_t i = 0; i < c->nargs; i += strlen(c->args + i) + 1)
		argv[h.argc++] = c->args + i;
	c->w = ws_create(ws_run_write, c->run, &h, a->level, &f);
	free(argv);
	if (c->w)
		return;
	if (!a->failed)                 /* the program runs nevertheless */
		snprintf(a->why, sizeof(a->why), "%s", f.err);
	a->failed = 1;
}

/*
 * The lowest address to which the stack may grow.  The kernel keeps a gap to the mapping below
 * it, and so does this.
 */
static uint64_t
stack_end(struct cap *c, uint64_t lo, uint64_t hi, uint64_t below)
{
	uint64_t size = STACK_MOST, end;
	struct rlimit r;

	if (!prlimit(c->t.pid, RLIMIT_STACK, NULL, &r) && r.rlim_cur < size)
		size = r.rlim_cur;
	end = (hi - size) / PAGE * PAGE;
	if (end < below + (1u << 20))
		end = below + (1u << 20);
	return end < lo ? end : lo;
}

uint32_t
start_type(const struct cap *c, const struct tracee_map *m, const char *name, const char *exe)
{
	if (!strcmp(name, "[stack]"))
		return WS_STACK;
	if (!strcmp(name, "[heap]"))
		return WS_HEAP;
	if (!strcmp(name, "[vdso]"))
		return WS_VDSO;
	if (!m->ino)
		return WS_ANON;
	if (!strcmp(name, exe))
		return WS_EXE;
	return c->lino && m->ino == c->lino && m->dev == c->ldev ? WS_INTERP : WS_FILE;
}

/* A mapping, and its type; *below is the end of the one before it. */
static uint32_t
start_region(struct cap *c, const struct tracee_map *m, const char *name, const char *exe, uint64_t *below,
    struct region *r)
{
	uint32_t type = start_type(c, m, name, exe);

	*r = (struct region){.lo = m->lo, .hi = m->hi, .offset = m->offset, .dev = m->dev, .ino = m->ino,
	    .prot = m->prot, .shared = (uint8_t)m->shared};
	if (type == WS_STACK) {
		r->stack = 1;
		r->lo = stack_end(c, m->lo, m->hi, *below);
	}
	*below = m->hi;
	return type;
}

/* Records the contents of a mapping, or sees to that. */
static void
start_contents(struct cap *c, const struct region *r, uint32_t type, uint64_t lo, const char *name)
{
	if ((!c->all->touch || type == WS_STACK || (type == WS_VDSO && c->amid.vdso)) &&
	    !hold_map(c, r, lo, name, 0) &&
	    (r->ino || r->shared || type == WS_VDSO || !image_take(c, lo, r->hi)))
		put_pages(c, lo, r->hi);
	random_scan(c, r, name);
	share_outside(c, r, name);
}

enum { MAPS = 1, CONTENTS = 2 };

static void
start_pass(struct cap *c, const struct tracee_maps *maps, const char *exe, int what)
{
	uint64_t below = 0;

	for (size_t i = 0; i < maps->n; i++) {
		const struct tracee_map *m = &maps->map[i];
		const char *name = maps->text + m->name;
		struct region r;
		uint32_t type;

		if (!strncmp(name, "[vvar", 5) || !strcmp(name, "[vsyscall]"))
			continue;
		type = start_region(c, m, name, exe, &below, &r);
		if (what & MAPS) {
			region_set(&c->reg, &r);
			(void)hold_open(c, &r, name);
			put_map(c, &r, type, name);
		}
		if (what & CONTENTS)
			start_contents(c, &r, type, m->lo, name);
	}
}

void
start_memory(struct cap *c, const struct tracee_maps *maps, uint64_t interp, const char *exe)
{
	c->lino = 0;
	for (size_t i = 0; i < maps->n && interp; i++)
		if (maps->map[i].lo <= interp && maps->map[i].hi > interp) {
			c->ldev = maps->map[i].dev;
			c->lino = maps->map[i].ino;
		}
	if (!c->image.t.pid) {
		start_pass(c, maps, exe, MAPS | CONTENTS);
		return;
	}
	start_pass(c, maps, exe, MAPS);
	image_place(c);
	start_pass(c, maps, exe, CONTENTS);
}

void
start_state(struct cap *c, const struct user_regs_struct *g)
{
	struct ws_rec r = {.kind = WS_START};

	tracee_from_user(&r.u.state.regs, g, g->rax);
	r.u.state.nxsave = get_xsave(c);
	r.u.state.xsave = c->all->xsave;
	wscap_put(c, &r);
}

void
start_nothing(struct cap *c)
{
	struct user_regs_struct g = {0};
	char exe[4096];

	if (!c->run || c->w || c->all->failed)
		return;
	start_exe(c->pid, exe, sizeof(exe));
	start_header(c, exe);
	(void)tracee_regs(&c->t, &g);
	start_state(c, &g);
}

/* Where its heap begins and ends, as it has not used it yet: the kernel tells it, or the process is made to ask. */
static uint64_t
start_brk(struct cap *c)
{
	char text[1024];
	const char *p = NULL;
	uint64_t brk = 0;
	int fd = tracee_open(c->t.pid, "stat", O_RDONLY);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = 0;
	/* the second field is the program's name, in parentheses; the 47th is start_brk */
	p = strrchr(text, ')');
	for (int field = 2; p && field < 47; field++) {
		p = strchr(p, ' ');
		p += p != NULL;
	}
	if (p)
		brk = strtoull(p, NULL, 10);
	return brk ? brk : (uint64_t)start_call(c, SYS_brk, 0, 0);
}

/* May the process make any call?  The first program has no filter yet. */
static int
start_may_call(const struct cap *c)
{
	return is_first_program(c) || !fast_filtered(c);
}

/*
 * Makes rdtsc and cpuid fault.  The kernel keeps the former over execve: it is not asked again, because a filter that the
 * program had made might kill the process for that.
 */
static void
start_faults(struct cap *c)
{
	if (!c->notsc)
		c->notsc = tracee_tsc_faults() && start_may_call(c) && !start_call(c, SYS_prctl, PR_SET_TSC, PR_TSC_SIGSEGV);
	/*
	 * in a virtual machine this slows down every switch of processes several times, so it is stopped at where the
	 * code is known
	 */
	c->nocpuid = (c->all->audit || c->all->cpu != CPU_NATIVE) && start_may_call(c) &&
	    !start_call(c, SYS_arch_prctl, ARCH_SET_CPUID, 0);
}

const char *
start_unfit(struct cap *c)
{
	struct user_regs_struct g;

	return !tracee_regs(&c->t, &g) && g.cs != TRACEE_CS_64 ? "it is a 32-bit program" : NULL;
}

const char *
cap_begin(struct cap *c)
{
	static struct start s;
	const char *why = NULL;

	c->t.site = find_site(c->t.pid, &c->t);
	s.interp = s.entry = s.execfn = 0;
	if (tracee_regs(&c->t, &s.regs))
		return "its registers cannot be read";
	start_auxv(c, &s);
	if (is_first_program(c))
		keep_apart(c, &s);
	start_faults(c);
	c->brk = (start_brk(c) + PAGE - 1) / PAGE * PAGE;
	signal_mask(c);
	start_exe(c->t.pid, s.exe, sizeof(s.exe));
	c->translates = strstr(s.exe, "/valgrind/") != NULL;    /* where its tools are */
	start_header(c, s.exe);
	start_state(c, &s.regs);
	if (tracee_maps(c->t.pid, &s.maps))
		why = "its mappings cannot be read";
	else
		start_memory(c, &s.maps, s.interp, s.exe);
	if (!why && c->all->touch)
		touch_hide(c, 0, UINT64_MAX);
	tracee_maps_free(&s.maps);
	return why;
}
