/*
 * wetoracle FILE.ws TABLES [--main]: the text of wettext(5) of a capture that
 * is not trimmed, made the slow way: the processor itself runs the program,
 * instruction by instruction under ptrace; every byte of registers and memory
 * has its writer; regions are looked for backward through the history of each
 * call; post-dominators are sets.  TABLES: lines `from to`, what jump tables
 * hold.  --main: only instructions of the program itself (of
 * what others do, only calls and returns are followed).  File names are ?.
 */
#include <asm/prctl.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "replay/native/native.h"
#include "replay/guest/replay.h"
#include "visitstate.h"
#include "wetoracle_uses.h"

#define MAXN   400000u
#define HASH   65536u
#define NODES  20000u
#define PAGE   4096u

/* An instance.  Its writers are in dep: port << 48 | who, in order */
struct inst {
	uint32_t stmt, k, parent;
	uint64_t rsp;                   /* afterwards */
	size_t dep, ndep;
	uint64_t val[8];
	int jumped;                     /* --main: from elsewhere into the program, as longjmp does */
	int sig;                        /* before it: 1 a signal came, 2 a handler returned */
	uint64_t sigrsp;
};
struct stmt { uint64_t pc; struct insn in; uint8_t b[15]; int nval, valreg, nmem, any; uint32_t id, count; };
struct node { uint64_t pc, target; int kind, ran, back, branch, ends; unsigned len, nsucc, succ[300],
    pdom; uint64_t *set; };
enum { PLAIN, COND, JUMP, INDIRECT, CALL, RET, SYS, STOP };

static struct native n;
static struct ws_reader *reader;
static struct ws_rec rec;
static struct inst *inst;
static uint32_t ninst;
static struct stmt *stmt;
static uint32_t nstmt;
static uint64_t *dep;
static size_t ndep, capdep;
static uint64_t regw[NREG][64];
static struct page { uint64_t no, w[PAGE]; struct page *next; } *pages[HASH];
static struct node *node;
static unsigned nnode;
static uint64_t entry[NODES], edge[NODES][2];
static unsigned nentry, nedge;
static ZydisDecoder decoder;
static uint64_t fsbase, lo = 0, hi = UINT64_MAX;        /* lo, hi: the program itself */
static int main_only;

__attribute__((format(printf, 1, 2))) _Noreturn static void
bad(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fprintf(stderr, "wetoracle: instance %u: ", ninst);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
	native_close(&n);
	exit(2);
}

static uint64_t *
mem_at(uint64_t a)
{
	struct page **pp = &pages[a / PAGE % HASH], *p;

	for (p = *pp; p && p->no != a / PAGE; p = p->next)
		;
	if (!p) {
		if ((p = calloc(1, sizeof *p)) == NULL)
			bad("no memory");
		p->no = a / PAGE;
		p->next = *pp;
		*pp = p;
	}
	return &p->w[a % PAGE];
}

static void
mem_set(uint64_t a, uint64_t len, uint64_t w)
{
	while (len--)
		*mem_at(a++) = w;
}

/* The records up to the next trigger take place: instance ninst did it (0: before the first) */
static void
effects(void)
{
	for (;;) {
		if (ws_next(reader, &rec) != 1)
			bad("%s", ws_fault(reader)->err);
		if (rec.kind == WS_NOTE)
			continue;
		if (rec.kind == WS_KEY) {
			ws_skip_key(reader);
			continue;
		}
		if (rec.kind == WS_MEM)
			mem_set(rec.u.mem.addr, rec.u.mem.n, ninst);
		if (rec.kind == WS_MAP && rec.u.map.len < (64u << 20))
			mem_set(rec.u.map.addr, rec.u.map.len, ninst);
		if (rec.kind == WS_MAP && rec.u.map.type == WS_EXE && main_only) {
			lo = rec.u.map.addr < lo ? rec.u.map.addr : lo;
			hi = rec.u.map.addr + rec.u.map.len > hi ? rec.u.map.addr + rec.u.map.len : hi;
		}
		if (rec.kind == WS_UNMAP && rec.u.range.len < (64u << 20))
			mem_set(rec.u.range.addr, rec.u.range.len, 0);
		if (rec.kind == WS_MOVE)
			bad("memory moves");
		if (rec.kind == WS_TIME)
			continue;
		switch (native_effect(&n, &rec)) {
		case 0: break;
		case 1: return;
		default: bad("%s", n.err);
		}
	}
}

static void
depends(unsigned port, uint64_t who)
{
	if (ndep == capdep && (dep = realloc(dep,
	    (capdep = capdep ? capdep * 2 : 1 << 20) * sizeof *dep)) == NULL)
		bad("no memory");
	dep[ndep++] = (uint64_t)port << 48 | who;
	inst[ninst].ndep++;
}

static int
latest(const void *a, const void *b)
{
	uint64_t p = *(const uint64_t *)a, q = *(const uint64_t *)b;

	return p > q ? -1 : p < q;
}

/* The bytes' writers, each once, the latest first */
static void
port(unsigned p, uint64_t *w, size_t k)
{
	qsort(w, k, sizeof *w, latest);
	for (size_t i = 0; i < k; i++)
		if (w[i] && (i == 0 || w[i] != w[i - 1]))
			depends(p, w[i]);
}

static void
choose_value(struct stmt *s)
{
	static const int string[] = { 0, 1, 6, 7 };
	const char *m = ZydisMnemonicGetString(s->in.z.mnemonic);
	int quiet = !strncmp(m, "push", 4) || !strncmp(m, "pop", 3) || !strcmp(m, "call") ||
	    !strcmp(m, "ret") || !strcmp(m, "leave");

	s->valreg = -1;
	for (int k = 0; k < 4 && s->in.string && s->valreg < 0; k++)
		for (int i = 0; i < s->in.ndef; i++)
			if (s->in.def[i].reg == string[k])
				s->valreg = string[k];
	for (int i = 0; i < s->in.ndef && s->valreg < 0; i++)
		if ((s->in.def[i].reg < 16 && !(quiet && s->in.def[i].reg == 4)) || s->in.def[i].reg >= KMASK)
			s->valreg = s->in.def[i].reg;
	s->nval = s->valreg < 0 ? 0 : 1;
	for (int i = 0; i < s->in.ndef; i++) {
		if (s->valreg < 0 && s->in.def[i].reg == FLAGS && s->in.def[i].bytes != 0x400) {
			int other = 0;

			/* rsp of popf has a value, so there is none of the flags */
			for (int k = 0; k < s->in.ndef; k++)
				other |= s->in.def[k].reg < 16;
			if (!other) {
				s->valreg = FLAGS;
				s->nval = 1;
			}
		}
		if (s->valreg >= VEC && s->in.def[i].reg == s->valreg) {
			unsigned width = s->in.z.encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY ? 16 :
			    s->in.z.avx.vector_length / 8u;

			s->nval = !(s->in.def[i].bytes & ~UINT64_C(0xff)) ? 1 : width < 16 ? 2 :
			    (int)width / 8;
		}
	}
}

/* Of the flags, what is the program's: that it is stepped shows in them now and then */
static void
regs(struct user_regs_struct *g)
{
	tracee_regs(&n.t, g);
	g->eflags &= ~NATIVE_UNSEEN;
}

static uint32_t
stmt_at(uint64_t pc)
{
	static uint32_t first[HASH], next[MAXN];
	uint8_t b[15];
	size_t k = tracee_read(&n.t, pc, b, 15);
	struct stmt *s;

	for (uint32_t i = first[pc % HASH]; i; i = next[i])
		if (stmt[i].pc == pc && !memcmp(stmt[i].b, b, stmt[i].in.z.length))
			return i;
	s = &stmt[++nstmt];
	s->pc = pc;
	if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, b, k, &s->in.z, s->in.op)))
		bad("no instruction at 0x%llx", (unsigned long long)pc);
	memcpy(s->b, b, s->in.z.length);
	uses(&s->in);
	choose_value(s);
	next[nstmt] = first[pc % HASH];
	first[pc % HASH] = nstmt;
	for (int i = 0; i < s->in.z.operand_count; i++)
		if (s->in.op[i].type == ZYDIS_OPERAND_TYPE_MEMORY &&
		    s->in.op[i].mem.type != ZYDIS_MEMOP_TYPE_AGEN &&
		    s->in.op[i].actions & ZYDIS_OPERAND_ACTION_MASK_READ &&
		    !is_nop(&s->in) && strncmp(ZydisMnemonicGetString(s->in.z.mnemonic), "prefetch", 8))
			s->nmem++;
	s->any = s->in.string;
	if (s->any && s->nmem)
		s->nmem = 1;
	return nstmt;
}

static void
values(const struct stmt *s, const struct user_regs_struct *g, uint64_t *v)
{
	struct ws_regs w;
	uint8_t b[64];
	size_t k = sizeof n.state;

	tracee_from_user(&w, g, g->rax);
	if (s->valreg == FLAGS)
		v[0] = g->eflags & 0x8d5;
	else if (s->valreg >= 0 && s->valreg < 16)
		v[0] = w.r[s->valreg];
	else if (s->valreg >= VEC) {
		tracee_xsave(&n.t, n.state, &k);
		vector(n.state, (unsigned)(s->valreg - VEC), b);
		memcpy(v, b, 64);
	}
}

/* A signal arrives, or its handler is over: what that sets was set by the instruction before */
static int
arrives(const struct user_regs_struct *g)
{
	struct ws_regs w;

	tracee_from_user(&w, g, g->rax);
	if (rec.kind != WS_SIG || !ws_same(&w, &rec.u.sig.at))
		return 0;
	inst[ninst + 1].sig = rec.u.sig.sig ? 1 : 2;
	inst[ninst + 1].sigrsp = rec.u.sig.to.r[4];
	for (int r = 0; r < NREG; r++)
		if (r < FSBASE || (r >= X87 && rec.u.sig.nxsave))
			for (int i = 0; i < 64; i++)
				regw[r][i] = ninst;
	if (native_state(&n, &rec.u.sig.to, rec.u.sig.xsave, rec.u.sig.nxsave))
		bad("%s", n.err);
	effects();
	return 1;
}

static void
wait_step(struct user_regs_struct *g)
{
	int status;

	tracee_resume(&n.t, PTRACE_SINGLESTEP, 0);
	while (tracee_wait(&n.t, &status) == EINTR)
		;
	if (!WIFSTOPPED(status) || (WSTOPSIG(status) != SIGTRAP && WSTOPSIG(status) != SIGSEGV))
		bad("the program stops with 0x%x", (unsigned)status);
	regs(g);
}

/* The flags that a pushf has stored at a are the program's */
static void
unseen_in_memory(uint64_t a)
{
	uint8_t b[2];

	if (tracee_read(&n.t, a, b, 2) != 2)
		bad("no memory at 0x%llx", (unsigned long long)a);
	b[1] &= (uint8_t)~(NATIVE_UNSEEN >> 8);
	tracee_write(&n.t, a, b, 2);
}

/* Runs it; 0: the program is over */
static int
execute(const struct stmt *s, struct user_regs_struct *g)
{
	struct ws_regs w;

	tracee_from_user(&w, g, g->rax);
	if (s->b[0] == 0x0f && s->b[1] == 0x05) {
		struct ws_rec_sys c = rec.u.sys;

		w.rip += 2;
		w.r[1] = w.rip;
		w.r[11] = w.rflags;
		if (rec.kind != WS_SYS || c.nr != w.r[0])
			bad("system call %llu", (unsigned long long)w.r[0]);
		native_call_result(&w, &c);
		if (c.nr == SYS_arch_prctl && c.arg[0] == ARCH_SET_FS)
			regw[FSBASE][0] = ninst;
		tracee_to_user(g, &w);
		g->orig_rax = UINT64_MAX;
		tracee_setregs(&n.t, g);
		effects();
		return c.nr != SYS_exit_group && c.nr != SYS_exit;
	}
	if (s->b[0] == 0x0f && (s->b[1] == 0x31 || (s->b[1] == 0xa2 && rec.kind == WS_CPUID))) {
		if (native_emulate(&w, s->b, &rec))
			bad("time");
		tracee_to_user(g, &w);
		tracee_setregs(&n.t, g);
		effects();
		return 1;
	}
	/* some of its results depend on the processor that it ran on */
	if (s->in.z.mnemonic == ZYDIS_MNEMONIC_CPUID) {
		struct ws_cpuid c = ws_cpuid_find(ws_head(reader)->cpuid, ws_head(reader)->ncpuid, (uint32_t)w.r[WS_RAX],
		    (uint32_t)w.r[WS_RCX]);

		w.r[WS_RAX] = c.eax;
		w.r[WS_RBX] = c.ebx;
		w.r[WS_RCX] = c.ecx;
		w.r[WS_RDX] = c.edx;
		w.rip += s->in.z.length;
		tracee_to_user(g, &w);
		tracee_setregs(&n.t, g);
		return 1;
	}
	wait_step(g);
	if (s->in.z.mnemonic == ZYDIS_MNEMONIC_PUSHF || s->in.z.mnemonic == ZYDIS_MNEMONIC_PUSHFQ)
		unseen_in_memory(g->rsp);
	return 1;
}

/* One instance, all repetitions of a string instruction */
static int
one(struct user_regs_struct *g)
{
	struct memref m[8];
	uint32_t si = stmt_at(g->rip);
	struct stmt *s = &stmt[si];
	struct inst *e = &inst[++ninst];
	static uint64_t w[1 << 20];
	size_t k, nw = 0;
	int more = 1, nm;
	unsigned p = 1;

	if (ninst + 2 >= MAXN)
		bad("too long");
	e->stmt = si;
	e->k = s->count++;
	e->dep = ndep;
	if (!s->id && s->pc >= lo && s->pc < hi)
		s->id = UINT32_MAX;
	for (int i = 0; i < s->in.nuse; i++, p++) {
		for (k = 0, nw = 0; k < 64; k++)
			if (s->in.use[i].bytes >> k & 1)
				w[nw++] = regw[s->in.use[i].reg][k];
		port(p, w, nw);
	}
	nw = 0;
	do {
		struct ws_regs r;
		int none;

		tracee_from_user(&r, g, g->rax);
		none = s->in.string && s->in.z.attributes & (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE |
		    ZYDIS_ATTRIB_HAS_REPNE) && r.r[1] == 0;
		if ((nm = references(&s->in, r.r, s->pc + s->in.z.length, fsbase, m)) < 0)
			bad("%s at 0x%llx is not for me", ZydisMnemonicGetString(s->in.z.mnemonic),
			    (unsigned long long)s->pc);
		for (int i = 0; i < nm && !none; i++) {
			for (k = 0; k < m[i].size && m[i].reads; k++)
				w[nw++] = *mem_at(m[i].addr + k);
			if (m[i].reads && !s->any) {
				port(p++, w, nw);
				nw = 0;
			}
		}
		for (int i = 0; i < nm && !none; i++)
			if (m[i].writes)
				mem_set(m[i].addr, m[i].size, ninst);
		more = execute(s, g);
		fsbase = g->fs_base;
	} while (s->in.string && g->rip == s->pc);
	if (s->any)
		port(p, w, nw);
	for (int i = 0; i < s->in.ndef; i++)
		for (k = 0; k < 64; k++)
			if (s->in.def[i].bytes >> k & 1)
				regw[s->in.def[i].reg][k] = ninst;
	values(s, g, e->val);
	e->rsp = g->rsp;
	return more;
}

static unsigned
node_at(uint64_t pc)
{
	for (unsigned i = 0; i < nnode; i++)
		if (node[i].pc == pc)
			return i;
	return NODES;
}

static int
is_entry(uint64_t pc)
{
	for (unsigned i = 0; i < nentry; i++)
		if (entry[i] == pc)
			return 1;
	return 0;
}

/* A node for each address that is reached from pc */
static void
descend(uint64_t pc, int ran)
{
	static uint64_t todo[NODES * 4];
	unsigned ntodo = 0;

	for (todo[ntodo++] = pc; ntodo && pc >= lo && pc < hi;) {
		uint64_t at = todo[--ntodo];
		unsigned i = node_at(at);
		uint8_t b[15];
		ZydisDecodedInstruction z;
		ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
		struct node *v;

		if (i < NODES) {
			node[i].ran |= ran && at == pc;
			continue;
		}
		if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, b, tracee_read(&n.t, at, b, 15), &z,
		    op)) || (!b[0] && !b[1]))
			continue;
		if (nnode == NODES)
			bad("too much code");
		v = &node[nnode++];
		*v = (struct node){ .pc = at, .len = z.length, .ran = ran && at == pc };
		switch (z.meta.category) {
		case ZYDIS_CATEGORY_COND_BR: v->kind = COND; break;
		case ZYDIS_CATEGORY_UNCOND_BR: v->kind = op[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE ? JUMP :
		    INDIRECT; break;
		case ZYDIS_CATEGORY_CALL: v->kind = CALL; break;
		case ZYDIS_CATEGORY_RET: v->kind = RET; break;
		case ZYDIS_CATEGORY_SYSCALL: v->kind = SYS; break;
		default: v->kind = z.mnemonic == ZYDIS_MNEMONIC_UD2 || z.mnemonic == ZYDIS_MNEMONIC_HLT ||
		    z.mnemonic == ZYDIS_MNEMONIC_INT3 ? STOP : PLAIN;
		}
		if (op[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE && op[0].imm.is_relative)
			v->target = at + z.length + (uint64_t)op[0].imm.value.s;
		if (v->kind == INDIRECT && op[0].type == ZYDIS_OPERAND_TYPE_MEMORY &&
		    (op[0].mem.base == ZYDIS_REGISTER_RIP ||
		    (op[0].mem.base == ZYDIS_REGISTER_NONE && op[0].mem.index == ZYDIS_REGISTER_NONE)))
			v->target = 1;
		if (v->kind == COND || v->kind == JUMP)
			todo[ntodo++] = v->target;
		if (v->kind != JUMP && v->kind != INDIRECT && v->kind != RET && v->kind != STOP)
			todo[ntodo++] = at + z.length;
		for (unsigned k = 0; v->kind == INDIRECT && k < nedge; k++)
			if (edge[k][0] == at)
				todo[ntodo++] = edge[k][1];
	}
}

static void
goes_to(struct node *v, unsigned to)
{
	for (unsigned i = 0; i < v->nsucc; i++)
		if (v->succ[i] == to)
			return;
	v->succ[v->nsucc++] = to;
}

/* Another function: an entry, but not that of the function that pc is in */
static int
leaves(uint64_t pc, uint64_t to)
{
	uint64_t own = 0;

	for (unsigned i = 0; i < nentry; i++)
		if (entry[i] <= pc && entry[i] > own)
			own = entry[i];
	return is_entry(to) && own != to;
}

static int
tails(const struct node *v, uint64_t to)
{
	if (v->kind == COND || v->kind == JUMP)
		return to == v->target && leaves(v->pc, to);
	if (v->kind != INDIRECT)
		return 0;
	if (v->target)
		return 1;
	for (unsigned i = 0; i < nedge; i++)
		if (edge[i][0] == v->pc && is_entry(edge[i][1]))
			return 1;
	return 0;
}

static void
successors(void)
{
	for (unsigned i = 0; i < nnode; i++) {
		struct node *v = &node[i];
		unsigned next = node_at(v->pc + v->len), tables = 0;

		switch (v->kind) {
		case COND: goes_to(v, next); /* fallthrough */
		case JUMP: goes_to(v, tails(v, v->target) ? NODES : node_at(v->target)); break;
		case CALL: goes_to(v, v->ran && !v->back ? NODES : next); break;
		case SYS: goes_to(v, v->ran && next < NODES && !node[next].ran ? NODES : next); break;
		case RET: case STOP: goes_to(v, NODES); break;
		case INDIRECT:
			for (unsigned k = 0; k < nedge && !tails(v, 0); k++)
				if (edge[k][0] == v->pc) {
					goes_to(v, node_at(edge[k][1]));
					tables = 1;
				}
			if (!tables)
				goes_to(v, NODES);
			break;
		default: goes_to(v, next);
		}
		v->branch = v->nsucc > 1;
	}
}

/* Nodes that one comes to from i, node[].ends of them is stamped */
static int
walk(unsigned i, int stamp, unsigned *seen)
{
	unsigned n = 0;

	node[i].ends = stamp;
	seen[n++] = i;
	for (unsigned k = 0; k < n; k++)
		for (unsigned e = 0; e < node[seen[k]].nsucc; e++) {
			unsigned to = node[seen[k]].succ[e];

			if (to == NODES)
				return -1;
			if (node[to].ends != stamp) {
				node[to].ends = stamp;
				seen[n++] = to;
			}
		}
	return (int)n;
}

/* Of nodes that lead to each other and nowhere else, the first one leads to the exit */
static void
endless(void)
{
	static unsigned seen[NODES], other[NODES];
	int stamp = 0;

	for (unsigned i = 0; i < nnode; i++) {
		int n = walk(i, ++stamp, seen), first = 1;

		for (int k = 0; k < n && first; k++)
			first = node[seen[k]].pc >= node[i].pc;
		if (n < 0 || !first)
			continue;
		for (int k = 0; k < n && first; k++)
			first = walk(seen[k], ++stamp, other) == n;
		if (first)
			goes_to(&node[i], NODES);
	}
}

/* set: the nodes on every path from here to the exit, which is in no set. */
static void
postdominators(void)
{
	size_t words = nnode / 64 + 1;
	uint64_t *t = malloc(words * 8);
	int change = 1;

	for (unsigned i = 0; i < nnode; i++) {
		node[i].set = malloc(words * 8);
		memset(node[i].set, 255, words * 8);
	}
	while (change) {
		change = 0;
		for (unsigned i = nnode; i-- > 0;) {
			memset(t, 255, words * 8);
			for (unsigned k = 0; k < node[i].nsucc; k++)
				for (size_t q = 0; q < words; q++)
					t[q] &= node[i].succ[k] == NODES ? 0 : node[node[i].succ[k]].set[q];
			t[i / 64] |= UINT64_C(1) << i % 64;
			change |= memcmp(t, node[i].set, words * 8) != 0;
			memcpy(node[i].set, t, words * 8);
		}
	}
	for (unsigned i = 0; i < nnode; i++) {          /* the nearest one has the largest set */
		size_t most = 0;

		node[i].pdom = NODES;
		for (unsigned k = 0; k < nnode; k++) {
			size_t c = 0;

			if (k == i || !(node[i].set[k / 64] >> k % 64 & 1) || !node[i].branch)
				continue;
			for (size_t q = 0; q < words; q++)
				c += (size_t)__builtin_popcountll(node[k].set[q]);
			if (c > most) {
				most = c;
				node[i].pdom = k;
			}
		}
	}
	free(t);
}

/* A call: its history */
struct frame { uint64_t slot; uint32_t parent, *at; size_t n, cap; int sig; };

/* The last branch of the frame whose region has not ended when node v runs. */
static uint32_t
region(const struct frame *f, const unsigned *nodeof, unsigned v)
{
	static uint32_t stamp[NODES + 1], now;

	now++;
	stamp[v] = now;
	for (size_t i = f->n; i-- > 0;) {
		unsigned u = nodeof[f->at[i]];

		if (inst[f->at[i]].jumped)
			return f->at[i];
		if (u < NODES && node[u].branch && stamp[node[u].pdom] != now)
			return f->at[i];
		if (u < NODES)
			stamp[u] = now;
		stamp[NODES] = 0;
	}
	return f->parent;
}

static void
parents(void)
{
	static struct frame frame[10000];
	unsigned *nodeof = calloc(ninst + 2, sizeof *nodeof);
	unsigned nf = 1;

	frame[0].slot = UINT64_MAX;
	for (uint32_t i = 1; i <= ninst; i++)
		nodeof[i] = node_at(stmt[inst[i].stmt].pc);
	for (uint32_t i = 1; i <= ninst; i++) {
		struct node *v = &node[nodeof[i]];
		struct frame *f;
		uint64_t to = i < ninst ? stmt[inst[i + 1].stmt].pc : 0;

		if (inst[i].sig == 1)
			frame[nf++] = (struct frame){ .slot = inst[i].sigrsp + 8, .parent = i - 1, .sig = 1 };
		if (inst[i].sig == 2) {
			while (nf > 1 && !frame[nf - 1].sig)
				nf--;
			nf--;
		}
		f = &frame[nf - 1];
		inst[i].parent = region(f, nodeof, nodeof[i]);
		if (f->n == f->cap)
			f->at = realloc(f->at, (f->cap = f->cap ? f->cap * 2 : 16) * sizeof *f->at);
		f->at[f->n++] = i;
		inst[i].jumped = nodeof[i] == NODES && to >= lo && to < hi &&
		    stmt[inst[i].stmt].in.op[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
		    stmt[inst[i].stmt].in.z.meta.category == ZYDIS_CATEGORY_UNCOND_BR;
		if (inst[i + 1].sig != 1 && tails(v, to)) {
			f->parent = v->kind == COND ? i : inst[i].parent;
			f->n = 0;
		}
		if (stmt[inst[i].stmt].in.z.meta.category == ZYDIS_CATEGORY_CALL)
			frame[nf++] = (struct frame){ .slot = inst[i].rsp, .parent = i };
		else
			while (nf > 1 && inst[i].rsp > frame[nf - 1].slot)
				nf--;
		if (nf > 9990)
			bad("deep");
	}
	free(nodeof);
}

static void
graph(void)
{
	for (uint32_t i = 1; i <= ninst; i++) {
		const struct stmt *s = &stmt[inst[i].stmt];
		uint64_t to = i < ninst ? stmt[inst[i + 1].stmt].pc : 0;
		int call = s->in.z.meta.category == ZYDIS_CATEGORY_CALL,
		    direct = s->in.op[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;

		if (i < ninst && inst[i + 1].sig && !(call && direct))
			continue;
		if (call && direct)
			to = s->pc + s->in.z.length + (uint64_t)s->in.op[0].imm.value.s;
		if ((call || (s->in.z.meta.category == ZYDIS_CATEGORY_UNCOND_BR &&
		    s->in.op[0].type == ZYDIS_OPERAND_TYPE_MEMORY &&
		    s->in.op[0].mem.base == ZYDIS_REGISTER_RIP)) &&
		    to && !is_entry(to) && nentry < NODES)
			entry[nentry++] = to;
	}
	for (uint32_t i = 1; i <= nstmt; i++)
		descend(stmt[i].pc, 1);
	for (uint32_t i = 1; i < ninst; i++)
		if (stmt[inst[i].stmt].in.z.meta.category == ZYDIS_CATEGORY_RET && !inst[i + 1].sig)
			for (unsigned k = 0; k < nnode; k++)
				node[k].back |= node[k].pc + node[k].len == stmt[inst[i + 1].stmt].pc;
	successors();
	endless();
	postdominators();
}

static void
print_line(uint32_t x, uint32_t who)
{
	printf("    %u:%u %u\n", x, stmt[inst[who].stmt].id, inst[who].k);
}

/* By statements; an inverted list of instances for each */
static void
print(void)
{
	uint32_t *head = calloc(nstmt + 1, 4), *tail = calloc(nstmt + 1, 4), *next = calloc(ninst + 2, 4),
	    id = 0, order = 0, last = 0;

	for (uint32_t i = 1; i <= ninst; i++) {
		struct stmt *s = &stmt[inst[i].stmt];

		if (s->id == UINT32_MAX)
			s->id = ++id;
		if (tail[inst[i].stmt])
			next[tail[inst[i].stmt]] = i;
		else
			head[inst[i].stmt] = i;
		tail[inst[i].stmt] = i;
	}
	printf("%u\n", id);
	for (uint32_t w = 1; w <= id; w++) {
		uint32_t si = 0;
		struct stmt *s;

		for (si = 1; stmt[si].id != w; si++)
			;
		s = &stmt[si];
		printf("%u %d %llx ? ? 0\n", w, 1 + s->in.nuse + s->nmem, (unsigned long long)s->pc);
		for (int p = 0; p < 1 + s->in.nuse + s->nmem; p++) {
			for (int pass = 0; pass < 2; pass++) {
				uint32_t count = 0;

				for (uint32_t i = head[si]; i; i = next[i]) {
					uint64_t before = 0;

					if (p == 0 && inst[i].parent && stmt[inst[inst[i].parent].stmt].id &&
					    ++count && pass)
						print_line(inst[i].k, inst[i].parent);
					for (size_t d = inst[i].dep; p &&
					    d < inst[i].dep + inst[i].ndep; d++) {
						uint32_t who = (uint32_t)dep[d];

						if ((int)(dep[d] >> 48) != p || !stmt[inst[who].stmt].id ||
						    who == before)
							continue;
						before = who;
						count++;
						if (pass)
							print_line(inst[i].k, who);
					}
				}
				if (!pass)
					printf("SIZE %u\n", count);
			}
		}
		if (!s->nval) {
			printf("NO VALUES\n");
			continue;
		}
		printf("VALUES %u\n", s->count);
		for (uint32_t i = head[si]; i; i = next[i]) {
			int k = s->nval;

			while (k > 1 && !inst[i].val[k - 1])
				k--;
			printf("    %u:%llx", inst[i].k, (unsigned long long)inst[i].val[k - 1]);
			while (k-- > 1)
				printf("%016llx", (unsigned long long)inst[i].val[k - 1]);
			printf("\n");
		}
	}
	for (int pass = 0; pass < 2; pass++) {
		uint32_t count = 0, from = 0;

		for (uint32_t i = 1; i <= ninst + 1; i++) {
			uint32_t w = i <= ninst ? stmt[inst[i].stmt].id : 0;

			if (i <= ninst && !w)
				continue;
			if (count && w != last + 1) {
				if (pass)
					printf("%u %u\n", from, count);
				order++;
				count = 0;
			}
			if (!count++)
				from = w;
			last = w;
		}
		if (!pass)
			printf("ORDER %u\n", order);
	}
}

static void
read_tables(const char *path)
{
	FILE *f = fopen(path, "r");
	unsigned long long a, b;

	while (f && nedge < NODES && fscanf(f, "%llx %llx", &a, &b) == 2) {
		edge[nedge][0] = a;
		edge[nedge++][1] = b;
	}
	if (f)
		fclose(f);
}

int
main(int argc, char **argv)
{
	struct user_regs_struct g;
	struct fault f;
	uint64_t ret = 0;
	int fd;

	setenv("TRACEMILL_CONFINE", "no", 1);   /* the native process makes system calls */
	if (argc < 3 || (fd = open(argv[1], O_RDONLY)) < 0 || !(reader = ws_open(fd, &f)))
		return 2;
	read_tables(argv[2]);
	if (argc > 3) {
		main_only = 1;
		lo = UINT64_MAX;
		hi = 0;
	}
	inst = calloc(MAXN, sizeof *inst);
	stmt = calloc(NODES, sizeof *stmt);
	node = calloc(NODES + 1, sizeof *node);
	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	if (!inst || !stmt || !node || native_open(&n))
		return 2;
	if (native_call(&n, &ret, SYS_prctl, PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0))
		bad("%s", n.err);
	if (ws_next(reader, &rec) != 1 || rec.kind != WS_START ||
	    native_state(&n, &rec.u.state.regs, rec.u.state.xsave, rec.u.state.nxsave))
		bad("no start");
	effects();
	regs(&g);
	do {
		regs(&g);
		while (arrives(&g))
			regs(&g);
		fsbase = g.fs_base;
	} while (one(&g));
	graph();
	parents();
	print();
	native_close(&n);
	return 0;
}
