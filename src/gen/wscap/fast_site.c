/* Places where the recorder is called: the jumps that replace `syscall`, and the stubs that they lead to. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <Zydis/Zydis.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "gen/wscap/fast.h"
#include "gen/wscap/signal.h"
#include "gen/wscap/wscap.h"
#include "isa/x86/decode.h"

/*
 * The bytes of a jump, after the first two, may be where the program has another instruction, and jumps to
 * it.  All of them therefore trap if they are executed, and it goes on in the stub: 0xcc is int3, and 0x60
 * is no instruction.  That leaves 256 places for each stub; the second distance is for programs at low
 * addresses.
 */
#define JUMP_DOWN ((int32_t)0xcccccc00)
#define JUMP_UP   0x60cccc00
#define JUMP 5u                 /* bytes of a jump */
#define HEAD 28u                /* bytes of a stub up to the moved instructions, and what site_pad adds */

/* Adds a system call to the code for fast_run. */
static uint8_t *
run_call(uint8_t *p, uint32_t nr, uint64_t a, uint64_t b, uint64_t d, uint64_t e)
{
	static const uint8_t load[4][2] = {{0x48, 0xbf}, {0x48, 0xbe}, {0x48, 0xba}, {0x49, 0xba}};     /* rdi, rsi, rdx, r10 */
	static const uint8_t make[5] = {0x0f, 0x05, 0x49, 0x09, 0xc4};  /* syscall; or %rax, %r12 */
	const uint64_t arg[4] = {a, b, d, e};

	*p++ = 0xb8;                    /* eax */
	put_le32(p, nr);
	p += 4;
	for (int i = 0; i < 4; i++, p += 10) {
		memcpy(p, load[i], 2);
		put_le64(p + 2, arg[i]);
	}
	memcpy(p, make, sizeof(make));
	return p + sizeof(make);
}

static uint8_t *
run_r8(uint8_t *p, uint64_t v)
{
	p[0] = 0x49;
	p[1] = 0xb8;
	put_le64(p + 2, v);
	return p + 10;
}

/* Its end: a call that user dispatch stops.  r8 has the address of the selector. */
static uint8_t *
run_end(uint8_t *p)
{
	/* movb $1, (%r8); mov $39, %eax (getpid); syscall; ud2 */
	static const uint8_t end[13] = {0x41, 0xc6, 0x00, 0x01, 0xb8, SYS_getpid, 0, 0, 0, 0x0f, 0x05, 0x0f, 0x0b};

	memcpy(p, end, sizeof(end));
	return p + sizeof(end) - 2;
}

/* Waits for the end of fast_run: a fault in *si; signals in between are held.  0 or -1. */
static int
run_wait(struct cap *c, siginfo_t *si)
{
	for (;;) {
		int status, err;

		if (tracee_resume(&c->t, PTRACE_CONT, 0))
			return -1;
		while ((err = tracee_wait(&c->t, &status)) == EINTR)
			;
		if (err)
			return -1;
		if (!WIFSTOPPED(status)) {
			c->t.gone = 1;
			c->t.status = status;
			return -1;
		}
		if (status >> 16 || ptrace(PTRACE_GETSIGINFO, c->t.pid, NULL, si))
			continue;
		if (signal_is_fault(si))
			return 0;
		tracee_hold(&c->t, si);
	}
}

/*
 * Several calls of the process with one stop: the code at addr, to where it ends.  The registers are as before then.
 * 0; -1: it came elsewhere, or what the calls returned is not 0, or `returns`.
 */
static int
fast_run(struct cap *c, uint64_t addr, uint64_t end, uint64_t selector, uint64_t returns)
{
	struct user_regs_struct old, g;
	siginfo_t si;

	if (tracee_regs(&c->t, &old))
		return -1;
	g = old;
	g.rip = addr;
	g.r8 = selector;
	g.r9 = g.r12 = 0;
	g.orig_rax = UINT64_MAX;
	if (tracee_setregs(&c->t, &g) || run_wait(c, &si))
		return -1;
	if (tracee_regs(&c->t, &g) || tracee_setregs(&c->t, &old))
		return -1;
	return si.si_signo == SIGSYS && g.rip == end && g.r12 == returns ? 0 : -1;
}

/*
 * What is to be done when n bytes of descriptor fd, which we have at p, are mapped at addr: [lo, hi) is for data, and then user
 * dispatch begins; a child does not get it.  0 or -1.
 */
static int
share_settle(struct cap *c, uint64_t addr, uint8_t *p, uint64_t n, uint64_t lo, uint64_t hi, long fd)
{
	struct fast *f = c->fast;
	uint64_t core = hi > lo ? addr + lo - FAST_CODE : f->core;
	uint8_t *to = p, *selector = hi > lo ? p + lo : (uint8_t *)f->a;
	int err;

	if (hi > lo)
		to = run_call(to, SYS_mprotect, addr + lo, hi - lo, PROT_READ | PROT_WRITE, 0);
	to = run_call(to, SYS_madvise, addr, n, MADV_DONTFORK, 0);
	to = run_call(to, SYS_close, (uint64_t)fd, 0, 0, 0);
	if (hi > lo) {
		to = run_call(to, SYS_prctl, PR_SET_SYSCALL_USER_DISPATCH, SUD_ON,
		    core + (uint64_t)(fast_timed - fast_code_begin), FAST_PASSES);
		c->dispatched = 1;
	}
	to = run_end(to);
	err = fast_run(c, addr, addr + (uint64_t)(to - p), core + FAST_CODE, 0);
	*selector = 0;
	signal_forced(c, SIGSYS);
	memset(p, 0, (size_t)(to + 2 - p));
	return err;
}

/*
 * Maps n more bytes of the memory that the process shares with us at addr, by one stop: our view, or NULL.  They begin with
 * what was the last page of it; mremap of a size of 0 makes a second mapping.
 */
static uint8_t *
share_more(struct cap *c, uint64_t addr, uint64_t n)
{
	struct fast *f = c->fast;
	uint8_t *p, *to, *differs;
	int err;

	if (!f->p || !f->lastaddr || ftruncate(f->fd, (off_t)(f->last + n)))
		return NULL;
	p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED, f->fd, (off_t)f->last);
	if (p == MAP_FAILED)
		return NULL;
	/* only where nothing is: cmp %rax, %rdi; jne */
	to = run_call(p, SYS_mmap, addr, n, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE | MAP_NORESERVE);
	memcpy(to, (const uint8_t[]){0x48, 0x39, 0xc7, 0x75}, 4);
	differs = to + 4;
	to = run_r8(to + 5, addr);
	to = run_call(to, SYS_mremap, f->lastaddr, 0, n, MREMAP_MAYMOVE | MREMAP_FIXED);
	to = run_r8(to, f->core + FAST_CODE);
	*differs = (uint8_t)(to - differs - 1);
	to = run_end(to);
	err = fast_run(c, f->lastaddr, f->lastaddr + (uint64_t)(to - p), f->core + FAST_CODE, addr);
	f->a->selector = 0;
	signal_forced(c, SIGSYS);
	memset(p, 0, (size_t)(to + 2 - p));
	if (err) {
		munmap(p, n);
		f->lastaddr = 0;
		return NULL;
	}
	f->last += n - PAGE;
	f->lastaddr = addr + n - PAGE;
	return p;
}

/*
 * Maps n bytes of fresh memory shared with us at addr, all executable but [lo, hi): our view, or NULL.  If there are such, more
 * can be mapped by share_more, which begins with the last page.
 */
static uint8_t *
fast_share(struct cap *c, uint64_t addr, uint64_t n, uint64_t lo, uint64_t hi)
{
	struct user_regs_struct g;
	static const uint8_t name[16] = "recorder";
	uint8_t kept[16], *p = MAP_FAILED;
	long fd = -1, ret = -1, at = 0;
	char path[48];
	uint64_t spot;
	int ours;

	if (tracee_regs(&c->t, &g))
		return NULL;
	spot = (g.rsp - 1024) & ~15ull;
	if (tracee_read(&c->t, spot, kept, 16) != 16 || tracee_write(&c->t, spot, name, 16) != 16)
		return NULL;
	if (tracee_call(&c->t, &fd, SYS_memfd_create, spot, MFD_CLOEXEC, 0, 0, 0, 0))
		fd = -1;
	tracee_write(&c->t, spot, kept, 16);
	if (fd < 0)
		return NULL;
	snprintf(path, sizeof(path), "/proc/%ld/fd/%ld", (long)c->t.pid, fd);
	ours = open(path, O_RDWR | O_CLOEXEC);
	if (ours >= 0) {
		if (!ftruncate(ours, (off_t)n))
			p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED, ours, 0);
	}
	if (p != MAP_FAILED && !tracee_call(&c->t, &at, SYS_mmap, addr, n, PROT_READ | PROT_EXEC,
		MAP_SHARED | MAP_FIXED_NOREPLACE, (uint64_t)fd, 0) && (uint64_t)at == addr &&
	    !share_settle(c, addr, p, n, lo, hi, fd)) {
		if (hi > lo) {
			c->fast->fd = ours;
			c->fast->last = n - PAGE;
			c->fast->lastaddr = addr + n - PAGE;
		} else {
			close(ours);
		}
		return p;
	}
	if (ours >= 0)
		close(ours);
	if (hi > lo && c->dispatched) {
		c->all->norecorder = 1; /* this kernel has no user dispatch */
		tracee_call(&c->t, &ret, SYS_prctl, PR_SET_SYSCALL_USER_DISPATCH, SUD_OFF, 0, 0, 0, 0);
		c->dispatched = 0;
	}
	if ((uint64_t)at == addr)
		tracee_call(&c->t, &ret, SYS_munmap, addr, n, 0, 0, 0, 0);
	if (p != MAP_FAILED)
		munmap(p, n);
	tracee_call(&c->t, &ret, SYS_close, (uint64_t)fd, 0, 0, 0, 0, 0);
	return NULL;
}

struct fast_text *
fast_text_of(struct fast *f, uint64_t addr)
{
	for (size_t i = 0; i < f->ntext; i++)
		if (f->text[i].lo <= addr && f->text[i].hi >= addr + JUMP)
			return &f->text[i];
	return NULL;
}

struct fast_text *
fast_text_add(struct cap *c, uint64_t addr)
{
	struct fast *f = c->fast;
	struct fast_text *t = fast_text_of(f, addr);
	/*
	 * the first one comes with the recorder, which is above it: libraries are mapped below the loader, and so are
	 * their stubs
	 */
	uint64_t core = f->p ? 0 : FAST_SIZE;
	uint8_t *p;
	size_t i;

	if (t)
		return t->p ? t : NULL;
	t = &f->text[f->ntext];
	i = region_at(&c->reg, addr);
	if (f->ntext == FAST_TEXTS || i == c->reg.n || c->reg.p[i].lo > addr || c->reg.p[i].hi < addr + JUMP)
		return NULL;
	*t = (struct fast_text){.lo = c->reg.p[i].lo, .hi = c->reg.p[i].hi};
	if (c->reg.p[i].shared || c->reg.p[i].stack || !(c->reg.p[i].prot & PROT_EXEC) ||
	    c->reg.p[i].prot & PROT_WRITE || t->hi - t->lo > (256u << 20))
		return NULL;
	t->jump = t->lo > 0x40000000u ? JUMP_DOWN : JUMP_UP;
	t->at = (t->lo + JUMP + (uint64_t)(int64_t)t->jump) / PAGE * PAGE;
	t->size = (t->hi + JUMP + (uint64_t)(int64_t)t->jump + FAST_WINDOW + PAGE) / PAGE * PAGE - t->at;
	if (!core)
		t->size += PAGE;        /* with which that of the next one begins */
	p = share_more(c, t->at, t->size);
	if (!p)
		p = fast_share(c, t->at, t->size + core, core ? t->size + FAST_CODE : 0, core ? t->size + core - PAGE : 0);
	f->ntext++;
	f->guarded = 0;
	if (!p)
		return NULL;
	t->p = p;
	if (core) {
		f->p = p + t->size;
		f->core = t->at + t->size;
	}
	return t;
}

/* Does it use memory at a distance from its own address? */
static int
site_near(const ZydisDecodedInstruction *z)
{
	return z->attributes & ZYDIS_ATTRIB_HAS_MODRM && z->raw.modrm.mod == 0 && z->raw.modrm.rm == 5 &&
	    z->raw.disp.size == 32;
}

/* May it be moved to another address?  *ends: nothing is executed after it. */
static int
site_movable(const ZydisDecodedInstruction *z, int *ends)
{
	*ends = z->meta.category == ZYDIS_CATEGORY_RET;
	if ((z->attributes & ZYDIS_ATTRIB_IS_RELATIVE && !site_near(z)) || z->attributes & ZYDIS_ATTRIB_IS_PRIVILEGED)
		return 0;
	switch (z->meta.category) {
	case ZYDIS_CATEGORY_BINARY: case ZYDIS_CATEGORY_DATAXFER: case ZYDIS_CATEGORY_LOGICAL:
	case ZYDIS_CATEGORY_CMOV: case ZYDIS_CATEGORY_POP: case ZYDIS_CATEGORY_PUSH: case ZYDIS_CATEGORY_SHIFT:
	case ZYDIS_CATEGORY_NOP: case ZYDIS_CATEGORY_WIDENOP: case ZYDIS_CATEGORY_SETCC:
	case ZYDIS_CATEGORY_CONVERT: case ZYDIS_CATEGORY_MISC:
		return z->mnemonic != ZYDIS_MNEMONIC_PUSHFQ && z->mnemonic != ZYDIS_MNEMONIC_CPUID;
	case ZYDIS_CATEGORY_RET:
		return z->mnemonic == ZYDIS_MNEMONIC_RET && z->length == 1;
	default:
		return 0;
	}
}

/*
 * Adds a jump to the stub, as far as it may go: opcode 0xe9, or the second byte of a conditional one.
 * Returns its length.
 */
static unsigned
site_branch(const struct fast_site *s, uint8_t *stub, unsigned at, uint8_t opcode, uint64_t to)
{
	unsigned n = opcode == 0xe9 ? 5 : 6;

	if (n == 6)
		stub[at] = 0x0f;
	stub[at + n - 5] = opcode;
	put_le32(stub + at + n - 4, (uint32_t)(to - (s->stub + at + n)));
	return n;
}

/* Moves the instruction at b to offset `at` of the stub: the bytes there, or 0: it cannot be moved. */
static unsigned
site_move(const struct fast_site *s, const ZydisDecodedInstruction *z, const uint8_t *b, uint8_t *stub,
    unsigned at, int *ends)
{
	uint64_t next = s->addr + s->n + z->length;
	int near = z->length == 2 && (b[0] & 0xf0) == 0x70;
	int far = z->length == 6 && b[0] == 0x0f && (b[1] & 0xf0) == 0x80;

	/* a short branch becomes 4 bytes longer */
	if (at + z->length + 4 + JUMP > FAST_STUB)
		return 0;
	if (near)
		return site_branch(s, stub, at, (uint8_t)(b[0] + 0x10), next + (uint64_t)(int64_t)(int8_t)b[1]);
	if (far)
		return site_branch(s, stub, at, b[1], next + (uint64_t)(int64_t)(int32_t)get_le32(b + 2));
	if ((z->length == 2 && b[0] == 0xeb) || (z->length == 5 && b[0] == 0xe9)) {
		*ends = 1;
		return site_branch(s, stub, at, 0xe9, next +
		    (uint64_t)(b[0] == 0xeb ? (int64_t)(int8_t)b[1] : (int64_t)(int32_t)get_le32(b + 1)));
	}
	if (!site_movable(z, ends))
		return 0;
	memcpy(stub + at, b, z->length);
	if (site_near(z)) {
		int64_t disp = (int32_t)get_le32(b + z->raw.disp.offset) + (int64_t)(next - (s->stub + at + z->length));

		if (disp != (int32_t)disp)
			return 0;
		put_le32(stub + at + z->raw.disp.offset, (uint32_t)disp);
	}
	return z->length;
}

/* Bytes before the address in a stub: it is aligned, as the program may have set the flag AC. */
static unsigned
site_pad(const struct fast_site *s)
{
	return (unsigned)(-(s->stub + HEAD) & 7);
}

/* Decodes what must be moved: 0, or -1: it cannot be.  b: the program's bytes at the place. */
static int
site_decode(struct fast_site *s, const uint8_t *b, size_t n, uint8_t *stub)
{
	ZydisDecodedInstruction z;
	unsigned at = HEAD + site_pad(s), k;
	int ends = 0;

	for (s->n = s->len; s->n < JUMP && !ends; s->n = (uint8_t)(s->n + z.length)) {
		if (s->nmoved == FAST_MOVED || x86_decode(&z, NULL, b + s->n, n - s->n, x86_amd_here()) ||
		    (k = site_move(s, &z, b + s->n, stub, at, &ends)) == 0)
			return -1;
		s->from[s->nmoved] = s->n;
		s->to[s->nmoved++] = (uint8_t)at;
		at += k;
	}
	if (!ends)
		at += site_branch(s, stub, at, 0xe9, s->addr + s->n);
	s->size = (uint8_t)at;
	return 0;
}

/*
 * lea moved(%rip), %r11; lea after(%rip), %rcx; jmp *entry(%rip); with rax and rdx for rdtsc; with rbx, and nothing
 * instead of rcx, for cpuid
 */
static void
site_head(const struct fast_site *s, uint8_t *stub, uint64_t core)
{
	static const uint8_t call[20] = {
		0x4c, 0x8d, 0x1d, 0, 0, 0, 0, 0x48, 0x8d, 0x0d, 0, 0, 0, 0, 0xff, 0x25,
	}, tsc[20] = {
		0x48, 0x8d, 0x05, 0, 0, 0, 0, 0x48, 0x8d, 0x15, 0, 0, 0, 0, 0xff, 0x25,
	}, cpuid[20] = {
		0x48, 0x8d, 0x1d, 0, 0, 0, 0, 0x0f, 0x1f, 0x80, 0, 0, 0, 0, 0xff, 0x25,
	};
	const uint8_t *entry = s->tsc == FAST_CPUID ? fast_cpuid : !s->tsc ? fast_entry : s->len == 2 ? fast_tsc : fast_tscp;

	memcpy(stub, s->tsc == FAST_CPUID ? cpuid : s->tsc ? tsc : call, sizeof(call));
	put_le32(stub + 3, HEAD - 7 + site_pad(s));
	put_le32(stub + 16, site_pad(s));
	if (s->tsc != FAST_CPUID)
		put_le32(stub + 10, (uint32_t)(s->addr + s->len - (s->stub + 14)));
	put_le64(stub + 20 + site_pad(s), core + (uint64_t)(entry - fast_code_begin));
}

static int
site_free(const struct fast *f, const struct fast_site *s)
{
	for (size_t i = 0; i < f->nsite; i++)
		if (f->site[i].stub - s->stub < s->size || s->stub - f->site[i].stub < f->site[i].size)
			return 0;
	return 1;
}

/* Is a breakpoint of random.c, or another place, within the bytes that are moved? */
static int
site_overlaps(const struct cap *c, const struct fast_site *s)
{
	const struct fast *f = c->fast;

	for (size_t i = 0; i < c->nsite; i++)
		if (c->site[i].addr - s->addr < s->n && (!s->tsc || c->site[i].addr != s->addr))
			return 1;
	for (size_t i = 0; i < f->nsite; i++)
		if (f->site[i].addr - s->addr < s->n || s->addr - f->site[i].addr < f->site[i].n)
			return 1;
	return 0;
}

/* Is it one of the instructions that the recorder is for?  b: the program's bytes. */
static int
site_known(struct fast_site *s, const uint8_t *b)
{
	s->tsc = b[0] == 0x0f && (b[1] == 0x31 || (b[1] == 0x01 && b[2] == 0xf9)) ? FAST_TSC :
	    b[0] == 0x0f && b[1] == 0xa2 ? FAST_CPUID : 0;
	s->len = s->tsc && b[1] == 0x01 ? 3 : 2;
	return s->tsc || (b[0] == 0x0f && b[1] == 0x05);
}

int
fast_add_site(struct cap *c, const struct fast_place *p)
{
	struct fast *f = c->fast;
	struct fast_site s = {.addr = p->addr};
	struct fast_text *t;
	uint64_t first, addr = p->addr;
	uint8_t b[FAST_BYTES], stub[FAST_STUB] = {0};
	size_t n = sizeof(b);

	if (p->b) {
		memcpy(b, p->b, n);
	} else {
		n = tracee_read(&c->t, addr, b, n);
		random_hide(c, addr, b, n);
	}
	if (n < JUMP || !site_known(&s, b) || (s.tsc == FAST_TSC && c->notsc && !c->all->tsc.scale) ||
	    (s.tsc == FAST_CPUID && (c->nocpuid || c->all->ncpuid > FAST_CPUIDS)) || !(t = fast_text_add(c, addr)))
		return -1;
	first = addr + JUMP + (uint64_t)(int64_t)t->jump;
	/* many functions that only make a call have 16 bytes, less than a stub */
	for (s.stub = first; s.stub < first + FAST_WINDOW; s.stub += 8) {
		s.nmoved = 0;
		if (site_decode(&s, b, n, stub))
			return -1;
		if (site_free(f, &s))
			break;
	}
	if (s.stub == first + FAST_WINDOW || site_overlaps(c, &s))
		return -1;
	memcpy(s.was, b, sizeof(s.was));
	site_head(&s, stub, f->core);
	memcpy(t->p + (s.stub - t->at), stub, s.size);
	f->site = mem_xgrow(f->site, &f->capsite, f->nsite + 1, sizeof(*f->site));
	f->site[f->nsite++] = s;
	if (s.tsc == FAST_TSC && c->notsc) {
		f->a->tsc_since = c->all->tsc.since;
		f->a->tsc_first = c->all->tsc.first;
		f->a->tsc_scale = c->all->tsc.scale;
	}
	return 0;
}

static void
site_jump(struct cap *c, struct fast_site *s, int in)
{
	uint8_t b[JUMP] = {0xe9};

	if (s->in == in)
		return;
	put_le32(b + 1, (uint32_t)(s->stub - (s->addr + JUMP)));
	if (s->tsc && in)
		random_lend(c, s->addr, 1);
	tracee_write(&c->t, s->addr, in ? b : s->was, JUMP);
	s->in = (uint8_t)in;
	if (s->tsc && !in)
		random_lend(c, s->addr, 0);
}

static int
site_order(const void *a, const void *b)
{
	const struct fast_site *p = a, *q = b;

	return p->addr < q->addr ? -1 : p->addr > q->addr;
}

void
fast_jumps(struct cap *c, int in)
{
	struct fast *f = c->fast;

	/* those of a page are written together */
	if (f->nsite)
		qsort(f->site, f->nsite, sizeof(*f->site), site_order);
	tracee_batch(&c->t);
	for (size_t i = 0; i < f->nsite; i++)
		site_jump(c, &f->site[i], in);
	tracee_batch_end(&c->t);
}

void
fast_add_sites(struct cap *c, const struct fast_place *p, size_t n)
{
	if (!n || !fast_text_add(c, p[0].addr))
		return;
	tracee_batch(&c->t);
	for (size_t i = 0; i < n; i++)
		if (!fast_site_of(c->fast, p[i].addr))
			(void)fast_add_site(c, &p[i]);
	tracee_batch_end(&c->t);
}

void
fast_forget(struct cap *c, uint64_t lo, uint64_t hi)
{
	struct fast *f = c->fast;

	for (size_t i = 0; i < f->nsite; i++) {
		struct fast_site *s = &f->site[i];

		if (s->addr + JUMP <= lo || s->addr >= hi)
			continue;
		site_jump(c, s, 0);
		*s = f->site[--f->nsite];
		i--;
	}
}

struct fast_site *
fast_site_of(const struct fast *f, uint64_t addr)
{
	for (size_t i = 0; i < f->nsite; i++)
		if (addr - f->site[i].addr < JUMP)
			return &f->site[i];
	return NULL;
}

struct fast_site *
fast_site_in(const struct fast *f, uint64_t addr)
{
	for (size_t i = 0; i < f->nsite; i++)
		if (addr - f->site[i].stub < f->site[i].size)
			return &f->site[i];
	return NULL;
}

int
fast_covers(const struct cap *c, uint64_t addr)
{
	const struct fast_site *s = c->fast ? fast_site_of(c->fast, addr) : NULL;

	return s && s->in;
}

void
fast_hide(const struct cap *c, uint64_t addr, uint8_t *p, size_t n)
{
	for (size_t i = 0; c->fast && i < c->fast->nsite; i++) {
		const struct fast_site *s = &c->fast->site[i];

		if (!s->in || (s->addr - addr >= n && addr - s->addr >= JUMP))
			continue;
		for (unsigned k = 0; k < JUMP; k++)
			if (s->addr + k - addr < n)
				p[s->addr + k - addr] = s->was[k];
	}
}
