/* Emits what an instruction loads and stores into the stream of RP_VALUES with RP_MEMORY. */
#include <Zydis/Zydis.h>
#include "replay/cpu/emit_internal.h"

/* val = n bytes (1 2 4 8) at gs:[addr + off], zero-extended. */
static void
emit_loads_read(struct rp_tr *t, int val, int addr, unsigned off, unsigned n)
{
	host_e1(t, 0x65);
	if (n >= 4) {
		e_mem(t, n == 8, 0x8b, val, addr, -1, 1, off);
		return;
	}
	if ((val | addr) & 8)
		host_e1(t, 0x40u | ((unsigned)val >> 3) << 2 | (unsigned)addr >> 3);
	host_e1(t, 0x0f);
	host_e1(t, n == 2 ? 0xb7 : 0xb6);
	host_e1(t, 0x80u | ((unsigned)val & 7) << 3 | ((unsigned)addr & 7));
	host_e4(t, off);
}

/* Copies size bytes at gs:[addr + from] to the stream, from byte `at` of the words at word0 on. */
static void
emit_loads_copy(struct rp_tr *t, int addr, unsigned from, unsigned size, unsigned to)
{
	int val = addr == T0 ? T1 : T0;
	int64_t at = 8 * (int64_t)t->word0 + to;
	unsigned i, n;

	for (i = 0; i < size; i += n) {
		n = size - i >= 8 ? 8 : size - i >= 4 ? 4 : size - i >= 2 ? 2 : 1;
		emit_loads_read(t, val, addr, from + i, n);
		/* the rest of the last word is undefined */
		e_mem(t, i % 8 == 0, 0x89, val, OUT, -1, 1, at + i);
	}
}

static int
emit_loads_stores(const struct fact *f)
{
	unsigned i;

	for (i = 0; i < f->nref; i++)
		if (f->mem[i].store != FACT_NOMEM)
			return 1;
	return 0;
}

/* Is reference i a load that goes into no register? */
static int
emit_loads_apart(const struct fact *f, unsigned i)
{
	return f->mem[i].load != FACT_NOMEM && f->mem[i].load >= 8u * f->nval;
}

/* Sizes of the pieces of a reference: all but the last of an operand have REF_PIECE bytes. */
static unsigned
size_of(const struct x86_inst *in, unsigned i)
{
	unsigned store, left, k;
	int o;

	for (store = 0; store < 2; store++)
		for (o = 0; o < in->z.operand_count; o++) {
			const ZydisDecodedOperand *p = &in->op[o];

			if (p->type != ZYDIS_OPERAND_TYPE_MEMORY || p->mem.type == ZYDIS_MEMOP_TYPE_AGEN ||
			    x86_refkind(p) < 0 || (x86_refkind(p) == REF_STORE) != (int)store)
				continue;
			for (left = p->size / 8u; left; left -= k, i--) {
				k = left > REF_SIZEMAX ? REF_PIECE : left;
				if (i == 0)
					return k;
			}
		}
	return 0;
}

/* Only memory that the instruction itself may overwrite is read before it. */
void
rp_load_record(struct rp_tr *t, unsigned first, unsigned i, int reg)
{
	const struct fact *f = t->now;

	if (f == NULL || f->mem == NULL || i >= f->nref || !emit_loads_apart(f, i) || !emit_loads_stores(f))
		return;
	emit_loads_copy(t, reg, (i - first) * REF_PIECE, size_of(t->in, i), 8u * f->nref + f->mem[i].load);
}

void
rp_store_record(struct rp_tr *t)
{
	const struct fact *f = t->now;
	unsigned i;

	if (t->stored)
		rp_helper(t, rp_helper_stored, t->stored);
	if (f->mem == NULL)
		return;
	for (i = 0; i < f->nref; i++) {
		const struct fact_mem *m = &f->mem[i];
		int late = emit_loads_apart(f, i) && !emit_loads_stores(f);

		if (m->store == FACT_NOMEM && !late)
			continue;
		e_mem(t, 1, 0x8b, T0, OUT, -1, 1, 8 * (int64_t)(t->word0 + i));
		e_fold(t, T0, T0);
		emit_loads_copy(t, T0, 0, size_of(t->in, i), 8u * f->nref + (late ? m->load : m->store));
	}
	t->words += f->nmem;
	t->maxwords += f->nmem;
}
