/*
 * The vDSO of a process that was not started by wscap.  Its functions read the clock from memory that
 * the kernel changes at any time.  While the process is captured they are replaced by system calls,
 * and all other code of the vDSO by instructions that fault: a process that returns into the middle
 * of a function, from the handler of a signal, must not run it unseen.
 */
#include <errno.h>
#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "gen/wscap/amid.h"
#include "gen/wscap/signal.h"
#include "gen/wscap/wscap.h"

#define VDSO_MAX (64u << 10)
#define VDSO_STEPS 100000u      /* single steps until the process has left the vDSO */
#define RET 0xc3
#define HLT 0xf4                /* faults in a program, at its own address */

/* Functions that are replaced; getrandom may ask for the size of a state, which is answered by ENOSYS. */
static const struct vdso_function {
	const char *name;
	uint32_t nr;
	int state;
} vdso_functions[VDSO_FUNCTIONS] = {
	{ "__vdso_clock_gettime", SYS_clock_gettime, 0 },
	{ "__vdso_clock_getres", SYS_clock_getres, 0 },
	{ "__vdso_gettimeofday", SYS_gettimeofday, 0 },
	{ "__vdso_time", SYS_time, 0 },
	{ "__vdso_getcpu", SYS_getcpu, 0 },
	{ "__vdso_getrandom", SYS_getrandom, 1 },
};

/* The code that replaces a function: returns its bytes, at most 32. */
static size_t
vdso_code(const struct vdso_function *f, uint8_t *p)
{
	/* mov $-38,%rax; cmp $-1,%r8; jne over; ret */
	static const uint8_t state[] = { 0x48, 0xc7, 0xc0, 0xda, 0xff, 0xff, 0xff, 0x49, 0x83, 0xf8, 0xff, 0x75, 1, 0xc3 };
	size_t n = 0;

	if (f->state) {
		memcpy(p, state, sizeof(state));
		n = sizeof(state);
	}
	p[n] = 0xb8;                    /* mov $nr,%eax; syscall; ret */
	put_le32(p + n + 1, f->nr);
	p[n + 5] = 0x0f;
	p[n + 6] = 0x05;
	p[n + 7] = 0xc3;
	return n + 8;
}

/* Sets from and to, offsets of the code. */
static int
vdso_text(Elf *e, size_t n, size_t *from, size_t *to)
{
	size_t names;
	GElf_Shdr sh;

	if (elf_getshdrstrndx(e, &names))
		return -1;
	for (Elf_Scn *s = NULL; (s = elf_nextscn(e, s)) != NULL;) {
		const char *name = gelf_getshdr(s, &sh) ? elf_strptr(e, names, sh.sh_name) : NULL;

		if (!name || strcmp(name, ".text") || sh.sh_offset > n || sh.sh_size > n - sh.sh_offset)
			continue;
		*from = sh.sh_offset;
		*to = sh.sh_offset + sh.sh_size;
		return 0;
	}
	return -1;
}

/* Writes the code for each function into p, the new text: 0, or -1 if there is no room. */
static int
vdso_functions_write(Elf *e, Elf_Scn *s, const GElf_Shdr *sh, struct vdso *v, size_t from, size_t to)
{
	Elf_Data *d = elf_getdata(s, NULL);
	GElf_Sym y;

	for (size_t i = 0; d && sh->sh_entsize && i < sh->sh_size / sh->sh_entsize; i++) {
		const char *name = gelf_getsym(d, (int)i, &y) ? elf_strptr(e, sh->sh_link, y.st_name) : NULL;

		for (size_t k = 0; name && k < VDSO_FUNCTIONS; k++) {
			uint8_t code[32];
			size_t n = vdso_code(&vdso_functions[k], code);

			if (strcmp(name, vdso_functions[k].name))
				continue;
			if (y.st_value < from || y.st_value + n > to || y.st_size < n)
				return -1;
			memcpy(v->now + y.st_value, code, n);
			v->start[k] = v->addr + y.st_value;
			v->site = v->addr + y.st_value + n - 3;
		}
	}
	return 0;
}

/* Makes v->now from v->was. */
static const char *
vdso_change(struct vdso *v)
{
	static const char strange[] = "its vDSO has an unknown form";
	const char *why = strange;
	size_t from, to;
	GElf_Shdr sh;
	Elf *e;

	elf_version(EV_CURRENT);
	e = elf_memory((char *)v->was, v->n);
	if (!e)
		return strange;
	if (!vdso_text(e, v->n, &from, &to)) {
		memset(v->now + from, HLT, to - from);
		v->lo = v->addr + from;
		v->hi = v->addr + to;
		why = NULL;
		for (Elf_Scn *s = NULL; !why && (s = elf_nextscn(e, s)) != NULL;)
			if (gelf_getshdr(s, &sh) && sh.sh_type == SHT_DYNSYM &&
			    vdso_functions_write(e, s, &sh, v, from, to))
				why = strange;
	}
	elf_end(e);
	return !why && !v->site ? strange : why;
}

const char *
vdso_read(struct cap *c, const struct tracee_maps *m, struct vdso *v)
{
	memset(v, 0, sizeof(*v));
	for (size_t i = 0; i < m->n; i++) {
		size_t n = (size_t)(m->map[i].hi - m->map[i].lo);

		if (strcmp(m->text + m->map[i].name, "[vdso]"))
			continue;
		if (n > VDSO_MAX)
			return "its vDSO is too large";
		v->addr = m->map[i].lo;
		v->n = n;
		v->was = xmalloc(n);
		v->now = xmalloc(n);
		if (tracee_read(&c->t, v->addr, v->was, n) != n)
			return "its vDSO cannot be read";
		memcpy(v->now, v->was, n);
		return vdso_change(v);
	}
	return NULL;
}

void
vdso_free(struct vdso *v)
{
	free(v->was);
	free(v->now);
	memset(v, 0, sizeof(*v));
}

int
vdso_has(const struct vdso *v, uint64_t addr)
{
	return addr >= v->lo && addr < v->hi;
}

/* The thread may be in the vDSO: runs it to the end of that function. */
const char *
vdso_leave(struct cap *c, const struct vdso *v)
{
	struct user_regs_struct g;
	siginfo_t si;
	int status;

	for (unsigned i = 0; i < VDSO_STEPS; i++) {
		if (tracee_regs(&c->t, &g))
			return "its registers cannot be read";
		if (!vdso_has(v, g.rip))
			return NULL;
		status = place_run(c, PTRACE_SINGLESTEP);
		if (status <= 0)
			return "it has ended";
		if (status >> 8 != SIGTRAP && status >> 16 == 0 && !ptrace(PTRACE_GETSIGINFO, c->t.pid, NULL, &si))
			tracee_hold(&c->t, &si);
	}
	return "it does not leave its vDSO";
}

const char *
vdso_patch(struct cap *c)
{
	struct vdso *v = &c->all->vdso;
	const char *why;

	if (!v->n)
		return NULL;
	why = vdso_leave(c, v);
	if (why)
		return why;
	c->t.site = v->site;
	c->amid.vdso = 1;
	return tracee_write(&c->t, v->addr, v->now, v->n) == v->n ? NULL : "its vDSO cannot be written";
}

/* The process may be in one of our functions: it goes to the beginning of the original one, or returns. */
static void
vdso_go_back(const struct vdso *v, struct tracee *t)
{
	struct user_regs_struct g;
	uint64_t start = 0;
	uint8_t b[8];

	if (tracee_regs(t, &g) || !vdso_has(v, g.rip) || v->now[g.rip - v->addr] == HLT)
		return;
	for (size_t k = 0; k < VDSO_FUNCTIONS; k++)
		if (v->start[k] && v->start[k] <= g.rip && v->start[k] > start)
			start = v->start[k];
	if (v->now[g.rip - v->addr] == RET && !amid_again(&g)) {
		if (tracee_read(t, g.rsp, b, 8) != 8)
			return;
		g.rip = get_le64(b);
		g.rsp += 8;
	} else {
		g.rip = start;
	}
	g.orig_rax = UINT64_MAX;
	tracee_setregs(t, &g);
}

void
vdso_restore(const struct cap *c, struct tracee *t)
{
	const struct vdso *v = &c->all->vdso;

	if (!c->amid.vdso)
		return;
	vdso_go_back(v, t);
	tracee_write(t, v->lo, v->was + (v->lo - v->addr), v->hi - v->lo);
	t->site = find_site(t->pid, t);
}
