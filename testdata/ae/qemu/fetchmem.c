/*
 * fetchmem: a QEMU user-mode plugin that writes every instruction fetch and
 * memory access of given code as a reference stream (ref(5)) or as lackey text.
 *
 *   qemu-x86_64 -plugin libfetchmem.so,out=FILE[,fmt=text][,lo=HEX,hi=HEX] prog
 *
 * An oracle that shares no code with the rest of the project, for the guests
 * x86-64, mipsel and mips.  lo and hi (any number of pairs) select the
 * instructions whose addresses lie in [lo, hi).  A forked child writes FILE.PID.
 * QEMU reports wide accesses in pieces of at most 8 bytes and a
 * read-modify-write as a load and a store; as the end of an instruction is
 * known here, they are joined to what ref(5) calls one reference.
 *
 * On MIPS QEMU 7.2 reports
 *   lwl lwr   a load of the addressed byte and one of the aligned word;
 *   swl swr   a store for each byte;
 *   sc        a load and a store, of which ref(5) has the store (nothing at
 *             all if the address is not that of the last ll);
 *   a branch-likely that is not taken: a fetch of its delay slot, which was not
 *             executed (unless the translator knows that: bnel $2,$2).
 * The instruction word tells which.  One thing cannot be told: whether a slot that refers to no memory was executed
 * when the branch leads to just behind it.
 *
 * Debian does not package qemu-plugin.h: what is used of it (plugin interface
 * version 1, QEMU 4.2 to 8.x) is declared below.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct qemu_info {              /* the part that is used */
	const char *target_name;
};
struct qemu_plugin_tb;
struct qemu_plugin_insn;
enum { CB_NO_REGS };
enum { MEM_R = 1, MEM_W, MEM_RW };

void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t, void (*)(uint64_t, struct qemu_plugin_tb *));
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *, void (*)(unsigned, void *), int, void *);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *, void (*)(unsigned, uint32_t, uint64_t, void *), int, int, void *);
void qemu_plugin_register_atexit_cb(uint64_t, void (*)(uint64_t, void *), void *);
void qemu_plugin_register_vcpu_syscall_cb(uint64_t, void (*)(uint64_t, unsigned, int64_t, uint64_t, uint64_t,
    uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t));
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *, size_t);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *);
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *);
unsigned qemu_plugin_mem_size_shift(uint32_t);
bool qemu_plugin_mem_is_store(uint32_t);

#define EXPORT __attribute__((visibility("default")))
EXPORT int qemu_plugin_version = 1;
EXPORT int qemu_plugin_install(uint64_t, const struct qemu_info *, int, char **);

enum { INST, LOAD, STORE, MODIFY };
#define MAXRANGE 64
#define MAXACC 256      /* pieces of one instruction; fxrstor of 512 bytes has 64 */

static struct { uint64_t lo, hi; } range[MAXRANGE];
static unsigned nrange;
static bool text;
static FILE *out;
static const char *outname;

/* What a MIPS instruction is: bits of an instruction's identity, above its address (48 bits) and its size (8) */
enum { PART = 1, COND = 2, LIKELY = 4 };        /* lwl lwr swl swr; sc; branch-likely */
static enum { OTHER, MIPSEL, MIPSEB } guest;

/* The identity of the instruction being executed, if it is a wanted one */
static uint64_t current;

/* The fetch of the slot of a branch-likely waits for what is executed next; `after` is the address behind the slot */
static bool waiting;
static uint64_t after;

static struct acc { uint64_t addr; unsigned size, kind; } acc[MAXACC];
static unsigned nacc;

static uint64_t pc_of(uint64_t id) { return id & 0xffffffffffff; }
static unsigned size_of(uint64_t id) { return id >> 48 & 0xff; }
static unsigned what_of(uint64_t id) { return (unsigned)(id >> 56); }

static unsigned
what(const struct qemu_plugin_insn *in)
{
	const unsigned char *b = qemu_plugin_insn_data(in);
	unsigned op;

	if (guest == OTHER)
		return 0;
	op = b[guest == MIPSEL ? 3 : 0] >> 2;
	switch (op) {
	case 042: case 046: case 052: case 056:
		return PART;
	case 070:
		return COND;
	case 024: case 025: case 026: case 027:
		return LIKELY;
	case 001:       /* bltzl bgezl bltzall bgezall */
		return (b[guest == MIPSEL ? 2 : 1] & 0x0e) == 0x02 ? LIKELY : 0;
	case 021:       /* bc1fl bc1tl */
		return (b[guest == MIPSEL ? 3 : 0] & 3) == 1 && (b[guest == MIPSEL ? 2 : 1] & 0xe2) == 2 ? LIKELY : 0;
	}
	return 0;
}

static void
put(unsigned kind, uint64_t addr, unsigned size)
{
	static const char *const name[] = { "I ", " L", " S", " M" };
	uint64_t w = (addr & 0xffffffffffff) | (uint64_t)size << 48 | (uint64_t)kind << 56;
	unsigned char b[8];

	if (text) {
		fprintf(out, "%s %08llx,%u\n", name[kind], (unsigned long long)addr, size);
		return;
	}
	for (int i = 0; i < 8; i++)
		b[i] = (unsigned char)(w >> 8 * i);
	fwrite_unlocked(b, 1, 8, out);
}

/* What MIPS instructions do in pieces, as ref(5) has it */
static void
mips_pieces(void)
{
	if (nacc == 0)
		return;
	if (what_of(current) & PART) {
		acc[0].addr &= ~(uint64_t)3;
		acc[0].size = 4;
		nacc = 1;
	} else if (what_of(current) & COND)
		acc[0] = acc[--nacc];
}

/* The accesses of the instruction that just ended, joined; the one at pc is executed next */
static void
flush(uint64_t pc)
{
	unsigned n = 0;

	if (waiting && (pc != after || nacc > 0))
		put(INST, pc_of(current), size_of(current));
	waiting = false;
	mips_pieces();
	for (unsigned i = 0; i < nacc; i++) {
		struct acc *p = n ? &acc[n - 1] : NULL;

		if (p && p->kind == acc[i].kind && p->addr + p->size == acc[i].addr)
			p->size += acc[i].size;         /* the next piece */
		else
			acc[n++] = acc[i];
	}
	for (unsigned i = 0; i < n; i++) {
		if (i + 1 < n && acc[i].kind == LOAD && acc[i + 1].kind == STORE &&
		    acc[i].addr == acc[i + 1].addr && acc[i].size == acc[i + 1].size) {
			put(MODIFY, acc[i].addr, acc[i].size);
			i++;
		} else
			put(acc[i].kind, acc[i].addr, acc[i].size);
	}
	nacc = 0;
}

static void
exec_cb(unsigned cpu, void *data)
{
	uint64_t w = (uintptr_t)data, last = current;

	(void)cpu;
	flush(pc_of(w));
	current = w;
	if (what_of(last) & LIKELY && pc_of(w) == pc_of(last) + 4) {
		waiting = true;
		after = pc_of(w) + 4;
	} else
		put(INST, pc_of(w), size_of(w));
}

/* Code that is not wanted, at the address `data` */
static void
leave_cb(unsigned cpu, void *data)
{
	(void)cpu;
	flush((uintptr_t)data);
	current = 0;
}

static void
mem_cb(unsigned cpu, uint32_t info, uint64_t addr, void *data)
{
	(void)cpu;
	/* When an instruction ends its translation block, QEMU 7.2 goes on calling for the accesses that helper functions
	   make for later instructions nobody asked about */
	if ((uintptr_t)data != current)
		return;
	if (nacc == MAXACC) {
		fprintf(stderr, "fetchmem: an instruction with more than %d accesses\n", MAXACC);
		abort();
	}
	acc[nacc].addr = addr;
	acc[nacc].size = 1u << qemu_plugin_mem_size_shift(info);
	acc[nacc++].kind = qemu_plugin_mem_is_store(info) ? STORE : LOAD;
}

static bool
wanted(uint64_t pc)
{
	for (unsigned i = 0; i < nrange; i++)
		if (pc >= range[i].lo && pc < range[i].hi)
			return true;
	return nrange == 0;
}

static void
trans_cb(uint64_t id, struct qemu_plugin_tb *tb)
{
	size_t n = qemu_plugin_tb_n_insns(tb);
	bool inside = true;

	(void)id;
	for (size_t i = 0; i < n; i++) {
		struct qemu_plugin_insn *in = qemu_plugin_tb_get_insn(tb, i);
		uint64_t pc = qemu_plugin_insn_vaddr(in);
		void *id_of = (void *)(uintptr_t)(pc | (uint64_t)qemu_plugin_insn_size(in) << 48 | (uint64_t)what(in) << 56);

		if (wanted(pc)) {
			qemu_plugin_register_vcpu_insn_exec_cb(in, exec_cb, CB_NO_REGS, id_of);
			qemu_plugin_register_vcpu_mem_cb(in, mem_cb, CB_NO_REGS, MEM_RW, id_of);
			inside = true;
		} else if (inside) {
			qemu_plugin_register_vcpu_insn_exec_cb(in, leave_cb, CB_NO_REGS, (void *)(uintptr_t)pc);
			inside = false;
		}
	}
}

static void
exit_cb(uint64_t id, void *data)
{
	(void)id;
	(void)data;
	flush(0);
	if (fclose(out) != 0) {
		perror("fetchmem");
		_exit(1);
	}
}

static bool
open_out(const char *name)
{
	out = fopen(name, "wb");
	if (!out)
		return false;
	setvbuf(out, NULL, _IOFBF, 1 << 20);
	if (!text)
		fwrite("\x89TMREF\r\n\1\0\20\0\0\0\0\0", 1, 16, out);
	return true;
}

/* What was buffered is in the parent's file: sys_cb saw to it */
static void
child(void)
{
	char name[4096];

	fclose(out);
	snprintf(name, sizeof(name), "%s.%ld", outname, (long)getpid());
	if (!open_out(name)) {
		perror(name);
		_exit(1);
	}
}

/*
 * A program that ends by a signal never gets to exit_cb: before a system call
 * that may be its last, or fork, everything has to be in the file.
 */
static void
sys_cb(uint64_t id, unsigned cpu, int64_t num, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e,
    uint64_t f, uint64_t g, uint64_t h)
{
	(void)id, (void)cpu, (void)a, (void)b, (void)c, (void)d, (void)e, (void)f, (void)g, (void)h;
	/* clone fork vfork execve kill tkill tgkill */
	static const int64_t x86[] = { 56, 57, 58, 59, 62, 200, 234 }, mips[] = { 4120, 4002, 4435, 4011, 4037, 4236, 4266 };

	for (unsigned i = 0; i < 7; i++)
		if (num == (guest == OTHER ? x86 : mips)[i]) {
			flush(0);
			fflush(out);
		}
}

EXPORT int
qemu_plugin_install(uint64_t id, const struct qemu_info *info, int argc, char **argv)
{
	guest = strcmp(info->target_name, "mipsel") == 0 ? MIPSEL : strcmp(info->target_name, "mips") == 0 ? MIPSEB : OTHER;
	for (int i = 0; i < argc; i++) {
		const char *v = strchr(argv[i], '=');

		if (!v)
			return -1;
		v++;
		if (strncmp(argv[i], "out=", 4) == 0)
			outname = v;
		else if (strncmp(argv[i], "fmt=", 4) == 0)
			text = strcmp(v, "text") == 0;
		else if (strncmp(argv[i], "lo=", 3) == 0 && nrange < MAXRANGE)
			range[nrange].lo = strtoull(v, NULL, 16);
		else if (strncmp(argv[i], "hi=", 3) == 0 && nrange < MAXRANGE)
			range[nrange++].hi = strtoull(v, NULL, 16);
		else
			return -1;
	}
	if (!outname || !(outname = strdup(outname)) || !open_out(outname) || pthread_atfork(NULL, NULL, child) != 0) {
		fprintf(stderr, "fetchmem: cannot write the file of out=\n");
		return -1;
	}
	qemu_plugin_register_vcpu_tb_trans_cb(id, trans_cb);
	qemu_plugin_register_vcpu_syscall_cb(id, sys_cb);
	qemu_plugin_register_atexit_cb(id, exit_cb, NULL);
	return 0;
}
