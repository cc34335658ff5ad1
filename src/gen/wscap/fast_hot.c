/* Where the recorder is put: into processes that make many calls, and at the places that make them. */
#include <elf.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "gen/wscap/amid.h"
#include "gen/wscap/fast.h"
#include "gen/wscap/signal.h"
#include "gen/wscap/thread.h"
#include "isa/x86/maker.h"

/* calls at a place before it is changed: FAST_HOT, or the process's own number; if the recorder is in the process; or near */
#define MILD 6u
#define WARM 1u
#define FEW 3u                  /* of any place in code that has no stubs yet, if the recorder is on */
#define SLOW 64u                /* calls that it does not make before it is seen whether it is worth it */

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
	f->a->stored = c->all->store != NULL;
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
		fast_learned(c, 1);
	return err ? -1 : 0;
}

void
fast_start(struct cap *c)
{
	struct user_regs_struct g;

	/* one that is linked statically may make few */
	if (c->lino && c->all->recorder && !fast_of(c)->never && !tracee_regs(&c->t, &g) && !fast_put(c, g.rip)) {
		fast_late_begin(c);
		fast_switch(c, 1);
	}
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
	if (fast_add_site(c, &(struct fast_place){.addr = addr}))
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

/* Stubs for other code take as long as a few stops there: were there less, with this one? */
static int
fast_few(struct cap *c, uint64_t addr)
{
	size_t i = region_at(&c->reg, addr);

	return i == c->reg.n || fast_count(c->fast, c->reg.p[i].lo) < FEW;
}

int
fast_place_add(struct cap *c, uint64_t pc)
{
	struct fast *f = c->fast;

	if (fast_site_of(f, pc) || (!fast_text_of(f, pc) && fast_few(c, pc)) || fast_add_used(c, pc))
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
	if (!(knows = fast_knows(f, k)) || (int64_t)c->out.rax <= -512)
		return;
	if (f->a && knows & (FAST_READS | FAST_WRITES) && k->arg[0] < FAST_FILES && k->ret >= 0)
		f->a->file[k->arg[0]] = (uint8_t)file_fast(c, (int)k->arg[0]);
	/* it reads on where its memory is */
	if (f->shown && !f->a && fast_looks(c, k))
		return;
	if (!fast_may_wait(f, k, knows))
		fast_used(c, c->in.rip - 2);
}

void
fast_tsc_made(struct cap *c, uint64_t addr)
{
	if (c->all->recorder && !fast_of(c)->never && (!c->notsc || tsc_scaled(c->all)))
		fast_used(c, addr);
}

void
fast_cpuid_made(struct cap *c, uint64_t addr)
{
	struct fast_place all[FAST_SEEN];
	struct fast_text *t;
	struct fast *f;
	size_t n = 0;

	if (!c->all->recorder || fast_of(c)->never || c->all->ncpuid > FAST_CPUIDS)
		return;
	f = c->fast;
	/* the loader has many of them, each of which stops the process, and makes calls after that; so have some libraries */
	if ((f->a && !fast_text_of(f, addr) && fast_few(c, addr)) || fast_put(c, addr) ||
	    !(t = fast_text_add(c, addr)))
		return;
	for (size_t i = 0; i < c->nsite && n < FAST_SEEN; i++)
		if (c->site[i].d.insn == TRACEE_CPUID && (c->site[i].sure || c->site[i].addr == addr) &&
		    c->site[i].addr >= t->lo && c->site[i].addr < t->hi)
			all[n++] = (struct fast_place){.addr = c->site[i].addr};
	fast_add_sites(c, all, n);
	for (size_t i = 0; i < n; i++)
		if (fast_site_of(f, all[i].addr))
			fast_learn(c, all[i].addr);
	if (f->on)
		fast_jumps(c, 1);
	else
		fast_switch(c, 1);
}
