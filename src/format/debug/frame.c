/* Finds the callers of a function by call frame information, as debuggers and exceptions do. */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdlib.h>

#include "format/debug/debug.h"

/* The rules at a frame's place; the caller frees them.  NULL: there are none */
static Dwarf_Frame *
frame_rules(const struct debug_frame *f)
{
	Dwarf_Frame *r = NULL;
	Dwarf_CFI *c;
	Dwarf_Die unit;

	if (!f->x)
		return NULL;
	if (!f->x->cfi)
		f->x->cfi = dwarf_getcfi_elf(f->x->elf);
	if (f->x->cfi && dwarf_cfi_addrframe(f->x->cfi, f->pc, &r) == 0)
		return r;
	/* .debug_frame, of this file or of one that it was split off to */
	c = exe_unit(f->x, f->pc, &unit) == 0 ? dwarf_getcfi(dwarf_cu_getdwarf(unit.cu)) : NULL;
	return c && dwarf_cfi_addrframe(c, f->pc, &r) == 0 ? r : NULL;
}

void
debug_locate(struct debug_frame *f, int inner)
{
	uint64_t pc = f->reg[DEBUG_RIP] - !inner, addr, cfa;
	Dwarf_Frame *r;
	Dwarf_Op *ops;
	size_t n;

	f->x = NULL;
	f->has_cfa = 0;
	if (f->m->file(f->m->arg, pc, &f->x, &addr) != 0) {
		f->x = NULL;
		return;
	}
	f->pc = addr;
	f->bias = pc - addr;
	if ((r = frame_rules(f)) == NULL)
		return;
	if (dwarf_frame_cfa(r, &ops, &n) == 0 && debug_compute(f, ops, n, NULL, &cfa) == 0) {
		f->cfa = cfa;
		f->has_cfa = 1;
	}
	free(r);
}

/* Is it a register that a function leaves as it was, unless its rules say otherwise? */
static int
frame_keeps(int reg)
{
	return reg == DEBUG_RBX || reg == DEBUG_RBP || (reg >= DEBUG_R12 && reg < DEBUG_RIP);
}

/* The register of the caller: 0, or -1: not known */
static int
frame_register(const struct debug_frame *f, Dwarf_Frame *r, int reg, uint64_t *v)
{
	Dwarf_Op mem[3], *ops;
	struct debug_limit l = { 0, 0 };
	struct debug_place p;
	uint8_t b[8];
	size_t n;

	if (dwarf_frame_register(r, reg, mem, &ops, &n) != 0)
		return -1;
	if (n == 0) {                           /* nothing is said of it, or that it keeps its value */
		if (reg == DEBUG_RSP && ops == NULL) {
			*v = f->cfa;
			return 0;
		}
		if (!frame_keeps(reg) || !(f->known >> reg & 1))
			return -1;
		*v = f->reg[reg];
		return 0;
	}
	debug_evaluate(f, &l, NULL, ops, n, &p);
	if (p.n != 1)
		return -1;
	if (p.piece[0].where == DEBUG_NUMBER) {
		*v = p.piece[0].addr;
		return 0;
	}
	if (p.piece[0].where == DEBUG_REGISTER) {
		if (p.piece[0].addr >= DEBUG_NREG || !(f->known >> p.piece[0].addr & 1))
			return -1;
		*v = f->reg[p.piece[0].addr];
		return 0;
	}
	if (p.piece[0].where != DEBUG_MEMORY || f->m->read(f->m->arg, p.piece[0].addr, b, sizeof b) != 0)
		return -1;
	*v = 0;
	for (int i = 7; i >= 0; i--)
		*v = *v << 8 | b[i];
	return 0;
}

/* Makes the caller of f: 1, or 0: f has none, or it is not known.  *inner: the caller was interrupted by a signal */
static int
frame_caller(const struct debug_frame *f, struct debug_frame *up, int *inner)
{
	Dwarf_Frame *r = f->has_cfa ? frame_rules(f) : NULL;
	Dwarf_Addr start, end;
	bool signal = false;
	int ra;

	if (!r)
		return 0;
	*up = (struct debug_frame){ .m = f->m, .thread = f->thread };
	ra = dwarf_frame_info(r, &start, &end, &signal);
	*inner = signal;
	for (int i = 0; i < DEBUG_NREG; i++)
		if (frame_register(f, r, i, &up->reg[i]) == 0)
			up->known |= 1u << i;
	free(r);
	if (ra < 0 || ra >= DEBUG_NREG || !(up->known >> ra & 1) || !up->reg[ra])
		return 0;
	up->reg[DEBUG_RIP] = up->reg[ra];
	up->known |= 1u << DEBUG_RIP;
	/* each caller's frame is above: else the rules are not those of this code */
	return signal || up->reg[DEBUG_RSP] > f->reg[DEBUG_RSP];
}

size_t
debug_unwind(struct debug_frame *frame, size_t most)
{
	size_t n = 1;
	int inner = 1;

	if (!most)
		return 0;
	debug_locate(&frame[0], 1);
	while (n < most && frame_caller(&frame[n - 1], &frame[n], &inner)) {
		debug_locate(&frame[n], inner);
		frame[n - 1].up = &frame[n];
		n++;
	}
	return n;
}
