/* The recorder in a process: when it is put there, and when it must go. */
#include <elf.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"
#include "gen/wscap/fast.h"
#include "gen/wscap/thread.h"
#include "isa/x86/maker.h"

#define HOT 16u                 /* calls at a place before it is changed */
#define MILD 6u                 /* the same, if the recorder is in the process */
#define SHY  4u                 /* so many times HOT, after the program has read where its memory is */
#define RARE 65536u             /* that is enough */
#define WARM 1u                 /* or even near */
#define FEW 3u                  /* of any place in code that has no stubs yet, if the recorder is on */
#define SLOW 64u                /* calls that it does not make before it is seen whether it is worth it */

/* Tells the kernel to stop calls of this thread, or no longer: 0 or -1. */
static int
fast_tell(struct cap *c, int on)
{
	const struct fast *f = c->fast;
	long ret = -1;

	if (c->dispatched == on)
		return 0;
	if (on && tracee_call(&c->t, &ret, SYS_prctl, PR_SET_SYSCALL_USER_DISPATCH, SUD_ON, fast_place(f, fast_made), 1,
		f->core + FAST_CODE + offsetof(struct fast_area, selector), 0))
		ret = -1;
	else if (!on)
		tracee_call(&c->t, &ret, SYS_prctl, PR_SET_SYSCALL_USER_DISPATCH, SUD_OFF, 0, 0, 0, 0);
	if (!on || !ret)
		c->dispatched = on;
	return ret ? -1 : 0;
}

/* Turns it on or off, with the process at a place of the program. */
static void
fast_switch(struct cap *c, int on)
{
	struct fast *f = c->fast;

	if (!f->a || f->on == on || (on && fast_tell(c, 1)))
		return;
	fast_jumps(c, on);
	f->on = on;
	f->paused = 0;
	f->calling = 0;
	f->a->selector = f->a->note = 0;
}

void
fast_pause(struct cap *c)
{
	struct fast *f = c->fast;

	if (!f || !f->on)
		return;
	fast_switch(c, 0);
	f->paused = 1;
}

void
fast_share_begun(struct cap *c)
{
	if (!c->fast || !c->fast->on)
		return;
	c->fast->a->slow = 1;
	c->fast->a->note |= FAST_SHARED;
}

void
fast_hurry(struct cap *c)
{
	if (c->fast && c->fast->on)
		c->fast->a->slow = 1;
}

void
fast_thread(struct cap *c)
{
	c->dispatched = 0;              /* a thread does not get it from its creator */
	if (c->fast && c->fast->a && !c->fast->never)
		fast_tell(c, 1);
}

void
fast_untell(struct cap *c)
{
	if (c->fast)
		fast_tell(c, 0);
}

int
fast_waits(const struct cap *c)
{
	return c->fast && c->fast->on && c->fast->a->note & FAST_AFTER;
}

void
fast_off(struct cap *c)
{
	if (!c->fast)
		c->fast = xcalloc(1, sizeof(*c->fast));
	fast_switch(c, 0);
	c->fast->never = 1;
}

/* Does the kernel look at the recorder's memory when other threads make calls?  Those cannot be told now. */
static int
fast_others(const struct cap *c)
{
	for (const struct thread *t = c->th ? c->th->all : NULL; t; t = t->next)
		if (t != c->th->turn && t->state != THREAD_DYING && t->own.dispatched)
			return 1;
	return 0;
}

/* Removes its memory, unless other threads need it: then all their calls pass. */
static void
fast_unmap(struct cap *c)
{
	struct fast *f = c->fast;
	long ret;

	fast_tell(c, 0);
	if (fast_others(c))
		return;
	if (f->a)
		tracee_call(&c->t, &ret, SYS_munmap, f->core, FAST_SIZE, 0, 0, 0, 0);
	for (size_t i = 0; i < f->ntext; i++)
		if (f->text[i].p)
			tracee_call(&c->t, &ret, SYS_munmap, f->text[i].at, f->text[i].size, 0, 0, 0, 0);
}

void
fast_free(struct cap *c)
{
	struct fast *f = c->fast;

	c->dispatched = 0;
	if (!f)
		return;
	if (f->p)
		munmap(f->p, FAST_SIZE);
	for (size_t i = 0; i < f->ntext; i++)
		if (f->text[i].p)
			munmap(f->text[i].p, f->text[i].size);
	free(f->site);
	free(f);
	c->fast = NULL;
}

void
fast_end(struct cap *c)
{
	if (!c->fast)
		return;
	fast_off(c);
	fast_unmap(c);
	fast_free(c);
	fast_off(c);
}

/* Does [lo, hi) touch the recorder's memory? */
static int
fast_touches(const struct fast *f, uint64_t lo, uint64_t hi)
{
	if (f->a && lo < f->core + FAST_SIZE && hi > f->core)
		return 1;
	for (size_t i = 0; i < f->ntext; i++)
		if (f->text[i].p && lo < f->text[i].at + f->text[i].size && hi > f->text[i].at)
			return 1;
	return 0;
}

/* The call changes mappings in [lo, hi): 1: it will be made again. */
static int
fast_changes(struct cap *c, uint64_t lo, uint64_t hi)
{
	struct fast *f = c->fast;

	hi = (hi + PAGE - 1) / PAGE * PAGE;
	fast_forget(c, lo, hi);
	for (size_t i = 0; i < f->ntext; i++)   /* what is mapped there may be something else soon */
		if (f->text[i].lo < hi && f->text[i].hi > lo)
			f->text[i].hi = f->text[i].lo;
	if (f->a->clock && lo <= f->a->clock && hi > f->a->clock)
		f->a->clock = 0;
	if (!fast_touches(f, lo, hi))
		return 0;
	if (fast_others(c)) {
		cap_stop(c, "it maps memory where the recorder is, and has several threads; see --recorder");
		return 1;
	}
	if (tracee_cancel_call(&c->t, &c->in))
		return 0;
	c->inside = 0;
	fast_end(c);
	return 1;
}

static struct fast *
fast_of(struct cap *c)
{
	if (c->fast)
		return c->fast;
	c->fast = xcalloc(1, sizeof(*c->fast));
	c->fast->hot = HOT;
	c->fast->never = !c->all->recorder || c->all->norecorder || c->all->audit || c->all->touch;
	return c->fast;
}

/* The recorder must not be in a process that has made this call: 1: it is gone, the call will be made again. */
static int
fast_quit(struct cap *c)
{
	if (!c->fast->a) {
		fast_off(c);
		return 0;
	}
	if (tracee_cancel_call(&c->t, &c->in))
		return 0;
	c->inside = 0;
	fast_end(c);
	return 1;
}

/* The process makes another one, or a thread. */
static int
fast_clones(struct cap *c, uint64_t flags)
{
	if (flags & CLONE_THREAD)
		return 0;
	if (flags & CLONE_FILES || (flags & CLONE_VM && !(flags & CLONE_VFORK)))
		return fast_quit(c);
	fast_pause(c);          /* the child has the memory with the jumps, but not that of the recorder */
	return 0;
}

/* May the recorder no longer be in a process that has made this call? */
static int
fast_ends(const struct call *k)
{
	switch (k->nr) {
	case SYS_prctl:
		return k->arg[0] == PR_SET_SECCOMP || k->arg[0] == PR_SET_SYSCALL_USER_DISPATCH;
	/* while one of the program waits to be unblocked, the kernel does not tell that it has dispatched a call */
	case SYS_kill: case SYS_tkill: case SYS_rt_sigqueueinfo:
		return k->arg[1] == SIGSYS;
	case SYS_tgkill: case SYS_rt_tgsigqueueinfo:
		return k->arg[2] == SIGSYS;
	case SYS_setrlimit:
		return k->arg[0] == RLIMIT_AS;
	case SYS_prlimit64:
		return k->arg[1] == RLIMIT_AS && k->arg[2];
	case SYS_shmat:
		return k->arg[1] != 0;  /* the kernel does not map over the recorder, but the program may */
	case SYS_seccomp: case SYS_modify_ldt: case SYS_set_thread_area: case SYS_mlockall:
		return 1;
	}
	return 0;
}

/*
 * The program is about to read where its memory is: the recorder's is not to be there, for now.  Rooms of threads are
 * seen (aside.c), and so it may be while there are others.
 */
static int
fast_shows(struct cap *c, const struct call *k)
{
	unsigned hot = c->fast->hot < RARE ? SHY * c->fast->hot : RARE;
	int fd = -1;

	switch (k->nr) {
	case SYS_read: case SYS_pread64: case SYS_readv: case SYS_preadv: case SYS_preadv2: case SYS_splice:
		fd = (int)k->arg[0];
		break;
	case SYS_sendfile:
		fd = (int)k->arg[1];
	}
	if (fd < 0 || !c->fast->a || fast_others(c) || !file_shows_memory(c, fd) || !fast_quit(c))
		return 0;
	c->fast->never = 0;
	c->fast->hot = hot;
	return 1;
}

int
fast_enter(struct cap *c, const struct call *k)
{
	struct fast *f;

	if (!c->all->recorder)
		return 0;
	f = fast_of(c);
	if (f->never)
		return 0;
	if (k->nr == SYS_clone || k->nr == SYS_clone3 || k->nr == SYS_vfork || k->nr == SYS_fork)
		return fast_clones(c, clone_flags(c, k));
	if (fast_ends(k))
		return fast_quit(c);
	if (fast_shows(c, k))
		return 1;
	if (!f->a)
		return 0;
	switch (k->nr) {
	case SYS_mmap:
		if (!(k->arg[3] & (MAP_FIXED | MAP_FIXED_NOREPLACE)))
			return 0;
		return fast_changes(c, k->arg[0], k->arg[0] + k->arg[1]);
	case SYS_munmap: case SYS_mprotect: case SYS_pkey_mprotect: case SYS_madvise:
		return fast_changes(c, k->arg[0], k->arg[0] + k->arg[1]);
	case SYS_mremap:
		if (fast_changes(c, k->arg[0], k->arg[0] + k->arg[1]))
			return 1;
		return k->arg[3] & MREMAP_FIXED ? fast_changes(c, k->arg[4], k->arg[4] + k->arg[2]) : 0;
	case SYS_dup2: case SYS_dup3:
		if (k->arg[1] < FAST_FILES)
			f->a->file[k->arg[1]] = 0;
		return 0;
	case SYS_close:
		if (k->arg[0] < FAST_FILES)
			f->a->file[k->arg[0]] = 0;
		return 0;
	case SYS_close_range:
		memset(f->a->file, 0, sizeof(f->a->file));
	}
	return 0;
}

/* The address of a function of the vdso, by ours, which is the same; 0: none. */
static uint64_t
fast_vdso(struct cap *c, const char *name)
{
	const uint8_t *base = (const uint8_t *)getauxval(AT_SYSINFO_EHDR); /* NOLINT */
	const Elf64_Ehdr *e = (const Elf64_Ehdr *)base;
	const Elf64_Shdr *sh;
	size_t r = region_at(&c->reg, c->t.site);

	if (!base || !c->t.site || r == c->reg.n || c->reg.p[r].lo > c->t.site)
		return 0;
	sh = (const Elf64_Shdr *)(base + e->e_shoff);
	for (unsigned i = 0; i < e->e_shnum; i++) {
		const Elf64_Sym *s = (const Elf64_Sym *)(base + sh[i].sh_offset);
		const char *text = (const char *)base + sh[sh[i].sh_type == SHT_DYNSYM ? sh[i].sh_link : 0].sh_offset;

		for (size_t k = 0; sh[i].sh_type == SHT_DYNSYM && k < sh[i].sh_size / sizeof(*s); k++)
			if (!strcmp(text + s[k].st_name, name))
				return c->reg.p[r].lo + s[k].st_value;
	}
	return 0;
}

/* Can the vdso tell the time without a system call? */
static int
fast_clock(void)
{
	static int can = -1;
	char name[32] = "";
	int fd;

	if (can >= 0)
		return can;
	fd = open("/sys/devices/system/clocksource/clocksource0/current_clocksource", O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && read(fd, name, sizeof(name) - 1) < 0)
		name[0] = 0;
	if (fd >= 0)
		close(fd);
	can = !strcmp(name, "tsc\n") || !strcmp(name, "kvm-clock\n");
	return can;
}

int
fast_filtered(const struct cap *c)
{
	static uint64_t ours = UINT64_MAX;
	uint64_t its = 0, mode = 0;

	if (ours == UINT64_MAX) {
		ours = 0;
		amid_status(getpid(), "Seccomp_filters", 10, &ours);
	}
	amid_status(c->t.pid, "Seccomp_filters", 10, &its);
	amid_status(c->t.pid, "Seccomp", 10, &mode);
	return its != ours || mode == SECCOMP_MODE_STRICT;
}

/* Is its memory limited? What the recorder needs of it would count. */
static int
fast_limited(const struct cap *c)
{
	static const char field[] = "Max address space", no[] = "unlimited";
	char path[40], line[256];
	struct rlimit r;
	int limited = 1;
	FILE *f;

	if (!prlimit(c->t.pid, RLIMIT_AS, NULL, &r))
		return r.rlim_cur != RLIM_INFINITY;
	/* it is another user's: that takes a right that root in a container may not have */
	snprintf(path, sizeof(path), "/proc/%ld/limits", (long)c->t.pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, field, sizeof(field) - 1))
			limited = strncmp(line + sizeof(field) - 1 + strspn(line + sizeof(field) - 1, " "), no, sizeof(no) - 1) != 0;
	if (f)
		fclose(f);
	return limited;
}

/* What cpuid answers, by the header's table; not if that is too large. */
static void
fast_cpuids(const struct cap *c, struct fast_area *a)
{
	const struct ws_cpuid *t = c->all->cpuid;
	size_t n = c->all->ncpuid;

	a->ncpuid = n <= FAST_CPUIDS ? (uint32_t)n : 0;
	for (uint32_t i = 0; i < a->ncpuid; i++) {
		a->cpuid[i].leaf = t[i].leaf;
		a->cpuid[i].sub = t[i].sub;
		a->cpuid[i].answer[0] = t[i].eax;
		a->cpuid[i].answer[1] = t[i].ebx;
		a->cpuid[i].answer[2] = t[i].ecx;
		a->cpuid[i].answer[3] = t[i].edx;
	}
	a->last = n && t[0].leaf == 0 && !x86_amd(t[0].ebx, t[0].edx, t[0].ecx) ? t[0].eax : FAST_NOLEAF;
}

/* Puts the recorder into the process, near addr: 0; -1: there can be none; 1: not near addr. */
static int
fast_begin_in(struct cap *c, uint64_t addr)
{
	struct fast *f = c->fast;
	size_t n = (size_t)(fast_code_end - fast_code_begin);

	if (fast_filtered(c) || fast_limited(c))
		return -1;
	if (n > FAST_CODE || sizeof(struct fast_area) > FAST_STACK - FAST_CODE - 4096)
		return -1;
	if (!fast_text_add(c, addr))
		return c->all->norecorder ? -1 : 1;
	memcpy(f->p, fast_code_begin, n);
	f->a = (struct fast_area *)(f->p + FAST_CODE);
	f->a->fsgsbase = (getauxval(AT_HWCAP2) & 2) != 0;
	fast_table(c, f->a);
	fast_cpuids(c, f->a);
	f->a->clock = !c->notsc && fast_clock() ? fast_vdso(c, "__vdso_clock_gettime") : 0;
	return 0;
}

/* How often was a call made at pc? */
static unsigned
fast_count(struct fast *f, uint64_t pc)
{
	size_t i = pc / 2 % FAST_SEEN;

	if (f->seen[i].pc != pc) {
		f->seen[i].pc = pc;
		f->seen[i].n = 0;
	}
	return ++f->seen[i].n;
}

/* The recorder costs calls that it does not make: stops if they are most. */
static void
fast_weigh(struct cap *c)
{
	struct fast *f = c->fast;

	if (f->slow < SLOW)
		return;
	if (2 * f->made < f->slow) {    /* each saves two stops, or costs one more */
		fast_switch(c, 0);
		f->paused = 0;
		f->hot *= 2;
		memset(f->seen, 0, sizeof(f->seen));
	}
	f->slow = f->made = 0;
}

/* The recorder is in the process from now on, if it was not, near pc: 0 or -1. */
static int
fast_put(struct cap *c, uint64_t pc)
{
	struct fast *f = c->fast;
	int err = f->a ? 0 : fast_begin_in(c, pc);

	if (err < 0)
		fast_end(c);
	else if (err)
		f->seen[pc / 2 % FAST_SEEN].n = 0;
	else if (!f->on)
		fast_learned(c);
	return err ? -1 : 0;
}

void
fast_start(struct cap *c)
{
	struct user_regs_struct g;

	/* one that is linked statically may make few */
	if (c->lino && c->all->recorder && !fast_of(c)->never && !tracee_regs(&c->t, &g) && !fast_put(c, g.rip))
		fast_switch(c, 1);
}

void
fast_code_mapped(struct cap *c)
{
	if (c->fast)
		c->fast->mapped = 1;
}

/* Adds a place that was used. */
static int
fast_add_used(struct cap *c, uint64_t addr)
{
	if (fast_add_site(c, addr))
		return -1;
	fast_learn(c, addr);
	return 0;
}

/* The place pc is used: has it replaced if that happens often. */
static void
fast_used(struct cap *c, uint64_t pc)
{
	struct fast *f = c->fast;

	struct fast_text *t = f->on || f->paused ? fast_text_of(f, pc) : NULL;

	if (fast_count(f, pc) < (t ? WARM : f->on || f->paused ? MILD : f->hot) || fast_put(c, pc))
		return;
	if (!fast_site_of(f, pc) && fast_add_used(c, pc))
		f->seen[pc / 2 % FAST_SEEN].n = 0;
	else if (!f->on)
		fast_switch(c, 1);
	else
		fast_jumps(c, 1);
}

int
fast_place_add(struct cap *c, uint64_t pc)
{
	struct fast *f = c->fast;
	size_t i = region_at(&c->reg, pc);

	/* stubs for other code take as long as a few calls */
	if (fast_site_of(f, pc) || i == c->reg.n ||
	    (!fast_text_of(f, pc) && fast_count(f, c->reg.p[i].lo) < FEW) || fast_add_used(c, pc))
		return -1;
	fast_jumps(c, 1);
	return 0;
}

void
fast_left(struct cap *c, const struct call *k)
{
	unsigned knows;
	struct fast *f;

	if (!c->all->recorder || fast_of(c)->never)
		return;
	f = c->fast;
	if (f->a && k->nr == SYS_mmap && !(k->arg[3] & MAP_ANONYMOUS))
		memset(f->a->file, 0, sizeof(f->a->file));
	if (f->on)
		fast_weigh(c);
	if (!(knows = fast_knows(k)) || (int64_t)c->out.rax <= -512)
		return;
	if (f->a && knows & (FAST_READS | FAST_WRITES) && k->arg[0] < FAST_FILES && k->ret >= 0)
		f->a->file[k->arg[0]] = (uint8_t)file_fast(c, (int)k->arg[0]);
	if (!fast_may_wait(f, k, knows))
		fast_used(c, c->in.rip - 2);
}

void
fast_tsc_made(struct cap *c, uint64_t addr)
{
	if (c->all->recorder && !fast_of(c)->never && !c->notsc)
		fast_used(c, addr);
}

void
fast_cpuid_made(struct cap *c, uint64_t addr)
{
	uint64_t all[FAST_SEEN];
	struct fast_text *t;
	struct fast *f;
	size_t n = 0;

	if (!c->all->recorder || fast_of(c)->never || c->all->ncpuid > FAST_CPUIDS)
		return;
	f = c->fast;
	/* the loader has many of them, each of which stops the process, and makes calls after that */
	if ((f->a && !fast_text_of(f, addr) && fast_count(f, addr) < MILD) || fast_put(c, addr) ||
	    !(t = fast_text_add(c, addr)))
		return;
	for (size_t i = 0; i < c->nsite && n < FAST_SEEN; i++)
		if (c->site[i].d.insn == TRACEE_CPUID && (c->site[i].sure || c->site[i].addr == addr) &&
		    c->site[i].addr >= t->lo && c->site[i].addr < t->hi)
			all[n++] = c->site[i].addr;
	fast_add_sites(c, all, n);
	for (size_t i = 0; i < n; i++)
		if (fast_site_of(f, all[i]))
			fast_learn(c, all[i]);
	if (f->on)
		fast_jumps(c, 1);
	else
		fast_switch(c, 1);
}
