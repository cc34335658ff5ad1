/*
 * Records the results of rdrand, rdseed and rdpid, which cannot be made to fault, and of rdtsc
 * where the kernel cannot make it fault: finds the instructions in memory that becomes
 * executable, and stops at them.  Debug registers can watch four addresses, whatever is there.
 * At others a breakpoint is written, but only where an instruction is certain to be: where
 * decoding from the start of a function, known from .eh_frame_hdr or symbols, reaches it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <unistd.h>
#include <elf.h>
#include <x86intrin.h>

#include "base/bytes.h"
#include "base/diag.h"
#include "base/mem.h"
#include "base/search.h"
#include "gen/wscap/fast.h"
#include "gen/wscap/wscap.h"
#include "isa/x86/decode.h"

#define LONGEST 8u              /* bytes of such an instruction, with meaningful prefixes */
#define FUNCTION (256u << 10)   /* maximum bytes of a function that are decoded */
#define BREAKPOINT 0xcc

/* The functions of a file, by ascending address. */
struct functions {
	int fd;
	Elf64_Phdr ph[64];
	unsigned nph;
	uint64_t at, n, vaddr;          /* offset of the table in the file; entries; base of its addresses */
	uint64_t symbols, nsymbols;     /* offset and number of symbols in the file */
	uint8_t table[1 << 12];         /* a part of the table in memory: entries from `first` on */
	uint64_t first, nfirst;
	uint64_t start, decoded;        /* a function, and where an instruction of it begins */
};

/* Statically linked programs have no .eh_frame_hdr: uses their symbols. */
static void
find_symbols(struct functions *f, const Elf64_Ehdr *e)
{
	Elf64_Shdr s;

	for (unsigned i = 0; i < e->e_shnum && e->e_shentsize == sizeof(s); i++)
		if (pread(f->fd, &s, sizeof(s), (off_t)(e->e_shoff + i * sizeof(s))) == sizeof(s) &&
		    s.sh_type == SHT_SYMTAB) {
			f->symbols = s.sh_offset;
			f->nsymbols = s.sh_size / sizeof(Elf64_Sym);
		}
}

static int
functions_open(struct functions *f, const char *path)
{
	Elf64_Ehdr e;
	uint8_t h[12];

	f->fd = path[0] == '/' ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	if (f->fd < 0 || pread(f->fd, &e, sizeof(e), 0) != sizeof(e) || memcmp(e.e_ident, ELFMAG, SELFMAG) ||
	    e.e_machine != EM_X86_64 || e.e_phentsize != sizeof(f->ph[0]) || e.e_phnum > 64)
		return -1;
	f->nph = e.e_phnum;
	if (pread(f->fd, f->ph, f->nph * sizeof(f->ph[0]), (off_t)e.e_phoff) !=
	    (ssize_t)(f->nph * sizeof(f->ph[0])))
		return -1;
	for (unsigned i = 0; i < f->nph; i++)
		if (f->ph[i].p_type == PT_GNU_EH_FRAME &&
		    pread(f->fd, h, 12, (off_t)f->ph[i].p_offset) == 12 && h[0] == 1 && h[1] == 0x1b &&
		    h[2] == 3 && h[3] == 0x3b) {
			f->at = f->ph[i].p_offset + 12;
			f->n = get_le32(h + 8);
			f->vaddr = f->ph[i].p_vaddr;
		}
	if (!f->n)
		find_symbols(f, &e);
	return 0;
}

static uint64_t
function_at(struct functions *f, uint64_t i)
{
	if (i - f->first >= f->nfirst) {
		const uint64_t part = sizeof(f->table) / 8;
		ssize_t got;

		f->first = i / part * part;
		got = pread(f->fd, f->table, sizeof(f->table), (off_t)(f->at + 8 * f->first));
		f->nfirst = got > 0 ? (uint64_t)got / 8 : 0;
		if (i - f->first >= f->nfirst)
			return UINT64_MAX;
	}
	return f->vaddr + (uint64_t)(int32_t)get_le32(f->table + 8 * (i - f->first));
}

/*
 * Start of the function that contains addr, by symbols.  Labels of assembly code have neither
 * type nor size: the last one before addr is also the start of an instruction.
 */
static uint64_t
symbol_start(const struct functions *f, uint64_t addr)
{
	Elf64_Sym s[256];
	uint64_t best = UINT64_MAX, label = UINT64_MAX;

	for (uint64_t i = 0; i < f->nsymbols; i += 256) {
		size_t n = f->nsymbols - i < 256 ? (size_t)(f->nsymbols - i) : 256;

		if (pread(f->fd, s, n * sizeof(s[0]), (off_t)(f->symbols + i * sizeof(s[0]))) !=
		    (ssize_t)(n * sizeof(s[0])))
			break;
		for (size_t k = 0; k < n; k++) {
			if (s[k].st_shndx == SHN_UNDEF || s[k].st_shndx >= SHN_LORESERVE ||
			    s[k].st_value > addr)
				continue;
			if (ELF64_ST_TYPE(s[k].st_info) == STT_FUNC && addr - s[k].st_value < s[k].st_size)
				best = s[k].st_value;
			if (ELF64_ST_TYPE(s[k].st_info) == STT_NOTYPE &&
			    (label > addr || s[k].st_value > label))
				label = s[k].st_value;
		}
	}
	return best != UINT64_MAX ? best : label;
}

static uint64_t
function_start(struct functions *f, uint64_t addr)
{
	size_t i;

	if (!f->n)
		return symbol_start(f, addr);
	LOWER_BOUND(i, f->n, function_at(f, i) <= addr);
	return function_at(f, i ? i - 1 : 0);
}

/*
 * Is there an instruction of len bytes at offset off of the file? -1: no, the instructions of
 * its function are at other offsets.
 */
static int
is_instruction(struct functions *f, uint64_t off, unsigned len)
{
	static uint8_t code[FUNCTION];
	uint64_t addr, start, at = 0, from;
	ZydisDecodedInstruction z;
	ssize_t got;
	unsigned i;

	for (i = 0; i < f->nph; i++)
		if (f->ph[i].p_type == PT_LOAD && off >= f->ph[i].p_offset &&
		    off - f->ph[i].p_offset < f->ph[i].p_filesz)
			break;
	if (i == f->nph)
		return 0;
	addr = off - f->ph[i].p_offset + f->ph[i].p_vaddr;
	start = function_start(f, addr);
	if (start > addr || addr - start > FUNCTION - ZYDIS_MAX_INSTRUCTION_LENGTH || off < addr - start)
		return 0;
	/* a large function may have many such places */
	from = f->start == start && f->decoded <= addr ? f->decoded : start;
	/* to the end of an instruction that contains these bytes */
	got = pread(f->fd, code, addr - from + ZYDIS_MAX_INSTRUCTION_LENGTH, (off_t)(off - (addr - from)));
	if (got < (ssize_t)(addr - from + len))
		return 0;
	while (at < addr - from) {
		if (x86_decode(&z, NULL, code + at, (size_t)got - at, x86_amd_here()) != 0)
			return 0;
		at += z.length;
	}
	f->start = start;
	f->decoded = from + at;
	return at == addr - from ? 1 : -1;
}

static int
random_watch(struct cap *c, int slot, uint64_t addr)
{
	unsigned long on = 0;
	const size_t reg = offsetof(struct user, u_debugreg);

	for (size_t i = 0; i < c->nsite; i++)
		if (c->site[i].slot >= 0)
			on |= 1ul << 2 * c->site[i].slot;
	if (addr)
		on |= 1ul << 2 * slot;
	else
		on &= ~(1ul << 2 * slot);
	if (ptrace(PTRACE_POKEUSER, c->t.pid, reg + 7 * sizeof(long), on & ~(1ul << 2 * slot)) ||
	    ptrace(PTRACE_POKEUSER, c->t.pid, reg + (size_t)slot * sizeof(long), addr))
		return -1;
	return ptrace(PTRACE_POKEUSER, c->t.pid, reg + 7 * sizeof(long), on) ? -1 : 0;
}

static int
random_plant(struct cap *c, struct site *s)
{
	uint8_t trap = BREAKPOINT;

	s->slot = -1;
	return s->sure && tracee_read(&c->t, s->addr, &s->was, 1) == 1 &&
	    tracee_write(&c->t, s->addr, &trap, 1) == 1 ? 0 : -1;
}

static int
free_slot(const struct cap *c)
{
	unsigned used = tracee_has_watchpoints() ? 0 : ~0u;

	for (size_t i = 0; i < c->nsite; i++)
		if (c->site[i].slot >= 0)
			used |= 1u << c->site[i].slot;
	for (int k = 0; k < NDEBUG_REGS; k++)
		if (!(used >> k & 1))
			return k;
	return -1;
}

/* Frees a debug register by writing a breakpoint at its place; -1: not possible. */
static int
give_way(struct cap *c)
{
	for (size_t i = 0; i < c->nsite; i++) {
		int slot = c->site[i].slot;

		if (slot >= 0 && c->site[i].sure && !fast_covers(c, c->site[i].addr) && random_plant(c, &c->site[i]) == 0)
			return slot;
	}
	return -1;
}

static int
random_cover(struct cap *c, struct site *s)
{
	int slot = free_slot(c);

	if (slot < 0 && !s->sure)
		slot = give_way(c);
	s->slot = (int8_t)slot;
	if (slot >= 0 && random_watch(c, slot, s->addr) == 0)
		return 0;
	return random_plant(c, s);
}

static void
random_unsaid(struct cap *c, const struct site *s, const char *name)
{
	char text[256];

	if (c->unsaid)
		return;
	c->unsaid = 1;
	snprintf(text, sizeof(text),
	    "%s at 0x%llx (%.150s) cannot be stopped at: a replay ends where it is executed",
	    s->d.insn == TRACEE_TSC ? "rdtsc" : ws_random_name(s->d.insn), (unsigned long long)s->addr,
	    name[0] ? name : "no file");
	warn("%s", text);
	put_note(c, text);
}

static void
random_add(struct cap *c, struct site *s, const char *name)
{
	for (size_t i = 0; i < c->nsite; i++)
		if (c->site[i].addr == s->addr)
			return;
	if (random_cover(c, s)) {
		random_unsaid(c, s, name);
		return;
	}
	c->site = mem_xgrow(c->site, &c->capsite, c->nsite + 1, sizeof(*c->site));
	c->site[c->nsite++] = *s;
}

int
random_point(struct cap *c, uint64_t addr)
{
	struct site s = {.addr = addr, .d = {.insn = POINT}, .sure = 1};

	for (size_t i = 0; i < c->nsite; i++)
		if (c->site[i].addr == addr)
			return c->site[i].d.insn == POINT ? 0 : -1;
	if (random_plant(c, &s))
		return -1;
	c->site = mem_xgrow(c->site, &c->capsite, c->nsite + 1, sizeof(*c->site));
	c->site[c->nsite++] = s;
	return 0;
}

/* The program is at a point, before its instruction. */
static void
random_point_hit(struct cap *c, struct site *s, struct user_regs_struct *g)
{
	int sig;

	g->rip = s->addr;
	g->orig_rax = UINT64_MAX;
	tracee_setregs(&c->t, g);
	c->behind = 0;
	if (point_hit(c, s, &sig)) {
		c->placed = 1;
		point_end(c->all);
	} else if (sig && !c->hasended) {
		c->later = sig;
	}
}

/* 0f c7 is at p[i]; prefixes before it usually belong to it. */
static int
random_begins(const uint8_t *p, size_t i, size_t n, struct tracee_decode_random *d, size_t *from)
{
	for (*from = i > 2 ? i - 2 : 0; *from <= i; ++*from)
		if (!tracee_decode_random(p + *from, n - *from, d) && *from + d->len == i + 3)
			return 1;
	return 0;
}

/* The first two bytes of rdtsc, rdtscp, or rdrand and the like, from p[i] on; n: there are none. */
static size_t
random_next(const uint8_t *p, size_t i, size_t n)
{
	const __m128i first = _mm_set1_epi8(0x0f), tsc = _mm_set1_epi8(0x31), tscp = _mm_set1_epi8(0x01),
	    random = _mm_set1_epi8((char)0xc7);

	for (; i + 17 <= n; i += 16) {
		__m128i a = _mm_loadu_si128((const __m128i *)(const void *)(p + i));
		__m128i b = _mm_loadu_si128((const __m128i *)(const void *)(p + i + 1));
		__m128i is = _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(b, tsc), _mm_cmpeq_epi8(b, tscp)),
		    _mm_cmpeq_epi8(b, random));
		unsigned at = (unsigned)_mm_movemask_epi8(_mm_and_si128(_mm_cmpeq_epi8(a, first), is));

		if (at)
			return i + (unsigned)__builtin_ctz(at);
	}
	for (; i + 2 <= n; i++)
		if (p[i] == 0x0f && (p[i + 1] == 0x31 || p[i + 1] == 0x01 || p[i + 1] == 0xc7))
			return i;
	return n;
}

void
random_scan(struct cap *c, const struct region *r, const char *name)
{
	uint8_t *p = c->all->scratch;
	struct functions f = {.fd = -1};
	int opened = 0, is;

	if (!(r->prot & PROT_EXEC) || r->prot & PROT_WRITE || r->shared || name[0] == '[')
		return;
	for (uint64_t at = r->lo; at < r->hi; at += CHUNK - LONGEST) {
		size_t n = hold_read(c, at, p, r->hi - at < CHUNK ? (size_t)(r->hi - at) : CHUNK), from;

		for (size_t i = 0; i + 3 <= n; i++) {
			struct site s = {0};
			const uint8_t *q;

			from = i = random_next(p, i, n);
			if (i + 3 > n)
				break;
			q = p + i;
			if ((c->notsc || tracee_decode_tsc(q, n - i, &s.d)) &&
			    (q[1] != 0xc7 || q[2] < 0xf0 || !random_begins(p, i, n, &s.d, &from)))
				continue;
			s.addr = at + from;
			if (!opened++)
				(void)functions_open(&f, name);
			is = is_instruction(&f, s.addr - r->lo + r->offset, s.d.len);
			/*
			 * constants often contain the two bytes of rdtsc; uncertain places are
			 * watched only while a debug register is free
			 */
			if (is < 0 && (s.d.insn == TRACEE_TSC || free_slot(c) < 0))
				continue;
			s.sure = is > 0;
			random_add(c, &s, name);
		}
		if (n < CHUNK)
			break;
	}
	if (f.fd >= 0)
		close(f.fd);
}

static void
put_back(const struct site *s, struct tracee *t)
{
	if (s->slot < 0)
		tracee_write(t, s->addr, &s->was, 1);
}

void
random_remove(struct cap *c, uint64_t lo, uint64_t hi, int there)
{
	for (size_t i = 0; i < c->nsite; i++) {
		struct site *s = &c->site[i];

		if (s->addr < lo || s->addr >= hi)
			continue;
		if (s->slot >= 0)
			(void)random_watch(c, s->slot, 0);
		else if (there)
			put_back(s, &c->t);
		*s = c->site[--c->nsite];
		i--;
	}
}

int
random_trap(struct cap *c, const siginfo_t *si)
{
	struct user_regs_struct g;
	struct ws_rec r = {.kind = WS_RAND};
	struct ws_regs w;

	if (tracee_regs(&c->t, &g))
		return 0;
	for (size_t i = 0; i < c->nsite; i++) {
		struct site *s = &c->site[i];

		if (s->slot >= 0 ? si->si_code != TRAP_HWBKPT || g.rip != s->addr :
			si->si_code == TRAP_HWBKPT || g.rip != s->addr + 1)
			continue;
		if (s->d.insn == POINT) {
			random_point_hit(c, s, &g);
			return 1;
		}
		g.rip = s->addr;
		if (s->d.insn == TRACEE_TSC) {
			if (!put_tsc(c, &g, s->d.len))
				fast_tsc_made(c, s->addr);
		} else {
			tracee_from_user(&w, &g, g.rax);
			tracee_execute_random(&s->d, &r.u.rand);
			tracee_set_random(&s->d, &r.u.rand, &w);
			tracee_to_user(&g, &w);
			put_emulated(c, &r, &g);
		}
		return 1;
	}
	return 0;
}

uint64_t
random_trapped(const struct cap *c, uint64_t rip)
{
	for (size_t i = 0; i < c->nsite; i++)
		if (c->site[i].slot < 0 && c->site[i].d.insn != POINT && rip == c->site[i].addr + 1)
			return rip - 1;
	return rip;
}

void
random_hide(const struct cap *c, uint64_t addr, uint8_t *p, size_t n)
{
	for (size_t i = 0; i < c->nsite; i++)
		if (c->site[i].slot < 0 && c->site[i].addr - addr < n)
			p[c->site[i].addr - addr] = c->site[i].was;
	fast_hide(c, addr, p, n);
}

void
random_child(const struct cap *c, struct tracee *t)
{
	for (size_t i = 0; i < c->nsite; i++)
		put_back(&c->site[i], t);
}

void
random_restore(struct cap *c)
{
	const uint8_t trap = BREAKPOINT;

	for (size_t i = 0; i < c->nsite; i++)
		if (c->site[i].slot < 0 && !fast_covers(c, c->site[i].addr))
			tracee_write(&c->t, c->site[i].addr, &trap, 1);
}

void
random_lend(struct cap *c, uint64_t addr, int away)
{
	const uint8_t trap = BREAKPOINT;

	for (size_t i = 0; i < c->nsite; i++) {
		const struct site *s = &c->site[i];

		if (s->addr != addr)
			continue;
		if (s->slot >= 0)
			(void)random_watch(c, s->slot, away ? 0 : addr);
		else if (!away)
			tracee_write(&c->t, addr, &trap, 1);
	}
}

void
random_fork(struct cap *c)
{
	for (size_t i = 0; i < c->nsite; i++)
		if (c->site[i].slot >= 0)
			(void)random_watch(c, c->site[i].slot, c->site[i].addr);
}

void
random_off(struct cap *c)
{
	random_remove(c, 0, UINT64_MAX, 1);
}
