/* Evaluates expressions of DWARF: where a variable is, or what its value is. */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <string.h>

#include "base/search.h"
#include "format/debug/debug.h"

#define DEPTH 64u               /* of the stack */
#define NESTED 16u              /* expressions in each other */
#define STEPS 1000000u
#define SEARCH 4096u            /* steps that looking for a function is worth */

enum { UNSIGNED, SIGNED, FLOAT };       /* FLOAT: the bytes are moved, but nothing is computed from them */

/* A value on the stack: of a type of `size` bytes, or (8, UNSIGNED) the generic one */
struct item { uint64_t v; uint8_t size, sign; };

struct evaluation {
	const struct debug_frame *f;
	struct debug_limit *l;
	Dwarf_Attribute *attr;
	struct item s[DEPTH];
	unsigned n;
	int gone;                       /* it needs what a register had before, which nobody tells */
	struct debug_piece now;         /* what a piece would be of; where DEBUG_MEMORY: at the top of the stack */
};

int
debug_take(struct debug_limit *l, unsigned n)
{
	if (n > STEPS - l->steps)
		return -1;
	l->steps += n;
	return 0;
}

static uint64_t
wrap(uint64_t v, unsigned size, int sign)
{
	unsigned bits = size * 8;

	if (bits == 0 || bits >= 64)
		return v;
	v &= (UINT64_C(1) << bits) - 1;
	return sign == SIGNED && v >> (bits - 1) ? v | ~UINT64_C(0) << bits : v;
}

static int
push(struct evaluation *e, uint64_t v, unsigned size, int sign)
{
	if (e->n == DEPTH)
		return -1;
	e->s[e->n++] = (struct item){ wrap(v, size, sign), (uint8_t)size, (uint8_t)sign };
	return 0;
}

static int
push_plain(struct evaluation *e, uint64_t v)
{
	return push(e, v, 8, 0);
}

static int
push_register(struct evaluation *e, uint64_t reg, uint64_t off)
{
	if (reg >= DEBUG_NREG || !(e->f->known >> reg & 1))
		return -1;
	return push_plain(e, e->f->reg[reg] + off);
}

/* The frame base of the function that was called */
static int
push_frame_base(struct evaluation *e, uint64_t off)
{
	struct debug_place p;
	Dwarf_Attribute a;
	Dwarf_Die die;

	if (debug_take(e->l, SEARCH) != 0 || debug_subprogram(e->f, &die) != 0 ||
	    !dwarf_attr_integrate(&die, DW_AT_frame_base, &a))
		return -1;
	debug_attribute(e->f, e->l, &a, &p);
	if (p.n != 1)
		return -1;
	if (p.piece[0].where == DEBUG_REGISTER)         /* as clang has it */
		return push_register(e, p.piece[0].addr, off);
	return p.piece[0].where == DEBUG_MEMORY || p.piece[0].where == DEBUG_NUMBER ?
	    push_plain(e, p.piece[0].addr + off) : -1;
}

static int
push_memory(struct evaluation *e, unsigned size)
{
	uint8_t b[8] = { 0 };
	uint64_t v = 0;

	if (!e->n || size > 8 || size == 0 || e->f->m->read(e->f->m->arg, e->s[e->n - 1].v, b, size) != 0)
		return -1;
	for (unsigned i = size; i-- > 0;)
		v = v << 8 | b[i];
	e->n--;
	return push_plain(e, v);
}

/* Size and sign of the base type that an operation names; 0: it is the generic one */
static int
base_type(struct evaluation *e, const Dwarf_Op *op, unsigned *size, int *sign)
{
	Dwarf_Attribute a;
	Dwarf_Word encoding;
	Dwarf_Die die;
	int bytes;

	*size = 8;
	*sign = 0;
	if ((op->atom == DW_OP_convert || op->atom == DW_OP_GNU_convert) && op->number == 0)
		return 0;
	if (!e->attr || dwarf_getlocation_die(e->attr, op, &die) != 0 || (bytes = dwarf_bytesize(&die)) < 1 || bytes > 8 ||
	    !dwarf_attr(&die, DW_AT_encoding, &a) || dwarf_formudata(&a, &encoding) != 0)
		return -1;
	*size = (unsigned)bytes;
	*sign = encoding == DW_ATE_float ? FLOAT : encoding == DW_ATE_signed || encoding == DW_ATE_signed_char ? SIGNED :
	    UNSIGNED;
	return encoding == DW_ATE_complex_float ? -1 : 0;
}

/* The first bytes of a register that is used as one of this type */
static int
push_typed_register(struct evaluation *e, uint64_t reg, unsigned size, int sign)
{
	uint64_t v = 0;

	if (reg < DEBUG_XMM0) {
		if (push_register(e, reg, 0) != 0)
			return -1;
		return push(e, e->s[--e->n].v, size, sign);
	}
	if (reg >= DEBUG_XMM0 + 16 || !e->f->xmm)
		return -1;
	memcpy(&v, e->f->xmm + 16 * (reg - DEBUG_XMM0), 8);
	return push(e, v, size, sign);
}

static int
push_constant(struct evaluation *e, const Dwarf_Op *op)
{
	/* libdw has checked that the block, a byte with its length and so many others, is there */
	const uint8_t *block = (const uint8_t *)(uintptr_t)op->number2;
	uint64_t v = 0;
	unsigned size;
	int sign;

	if (base_type(e, op, &size, &sign) != 0 || block[0] > 8)
		return -1;
	for (size_t i = block[0]; i > 0; i--)
		v = v << 8 | block[i];
	return push(e, v, size, sign);
}

/* What a register had when the function was entered, as its caller says */
static int
push_entry_value(struct evaluation *e, const Dwarf_Op *op)
{
	Dwarf_Attribute inner;
	Dwarf_Op *ops;
	size_t n;
	uint64_t v, reg;

	if (!e->attr || dwarf_getlocation_attr(e->attr, op, &inner) != 0 || dwarf_getlocation(&inner, &ops, &n) != 0 ||
	    n != 1)
		return -1;
	if (ops->atom >= DW_OP_reg0 && ops->atom <= DW_OP_reg31)
		reg = ops->atom - DW_OP_reg0;
	else if (ops->atom == DW_OP_regx)
		reg = ops->number;
	else if (ops->atom == DW_OP_regval_type || ops->atom == DW_OP_GNU_regval_type)
		reg = ops->number;
	else
		return -1;
	if (debug_take(e->l, SEARCH) != 0)
		return -1;
	e->gone = debug_entry_value(e->f, e->l, (unsigned)reg, &v) != 0;
	return e->gone ? -1 : push_plain(e, v);
}

static int
stack_operation(struct evaluation *e, const Dwarf_Op *op)
{
	struct item x, *s = e->s;
	uint64_t k = op->atom == DW_OP_over ? 1 : op->number;

	switch (op->atom) {
	case DW_OP_drop:
		if (!e->n)
			return -1;
		e->n--;
		return 0;
	case DW_OP_dup:
		return e->n ? push(e, s[e->n - 1].v, s[e->n - 1].size, s[e->n - 1].sign) : -1;
	case DW_OP_over: case DW_OP_pick:
		return k < e->n ? push(e, s[e->n - 1 - k].v, s[e->n - 1 - k].size, s[e->n - 1 - k].sign) : -1;
	case DW_OP_swap:
		if (e->n < 2)
			return -1;
		x = s[e->n - 1];
		s[e->n - 1] = s[e->n - 2];
		s[e->n - 2] = x;
		return 0;
	default:        /* DW_OP_rot */
		if (e->n < 3)
			return -1;
		x = s[e->n - 1];
		s[e->n - 1] = s[e->n - 2];
		s[e->n - 2] = s[e->n - 3];
		s[e->n - 3] = x;
		return 0;
	}
}

static int
unary(struct evaluation *e, const Dwarf_Op *op)
{
	struct item *x = e->n ? &e->s[e->n - 1] : NULL;

	if (!x || x->sign == FLOAT)
		return -1;
	switch (op->atom) {
	case DW_OP_abs: x->v = (int64_t)wrap(x->v, x->size, 1) < 0 ? -x->v : x->v; break;
	case DW_OP_neg: x->v = -x->v; break;
	case DW_OP_not: x->v = ~x->v; break;
	default: x->v += op->number; break;     /* DW_OP_plus_uconst */
	}
	x->v = wrap(x->v, x->size, x->sign);
	return 0;
}

static int
less(const struct item *x, const struct item *y)
{
	/* the generic type is compared as a signed one */
	if (x->sign || x->size == 8)
		return (int64_t)wrap(x->v, x->size, 1) < (int64_t)wrap(y->v, x->size, 1);
	return x->v < y->v;
}

static int
binary(struct evaluation *e, const Dwarf_Op *op)
{
	struct item x, y;
	uint64_t v;
	int64_t a, b;

	if (e->n < 2 || e->s[e->n - 1].sign == FLOAT || e->s[e->n - 2].sign == FLOAT)
		return -1;
	y = e->s[--e->n];
	x = e->s[--e->n];
	a = (int64_t)wrap(x.v, x.size, 1);
	b = (int64_t)wrap(y.v, x.size, 1);
	switch (op->atom) {
	case DW_OP_and: v = x.v & y.v; break;
	case DW_OP_or: v = x.v | y.v; break;
	case DW_OP_xor: v = x.v ^ y.v; break;
	case DW_OP_plus: v = x.v + y.v; break;
	case DW_OP_minus: v = x.v - y.v; break;
	case DW_OP_mul: v = x.v * y.v; break;
	case DW_OP_div:
		if (!b || (a == INT64_MIN && b == -1))
			return -1;
		v = x.sign || x.size == 8 ? (uint64_t)(a / b) : x.v / y.v;
		break;
	case DW_OP_mod:
		if (!b || (x.sign && a == INT64_MIN && b == -1))
			return -1;
		v = x.sign ? (uint64_t)(a % b) : x.v % y.v;
		break;
	case DW_OP_shl: v = y.v < 64 ? x.v << y.v : 0; break;
	case DW_OP_shr: v = y.v < 64 ? wrap(x.v, x.size, 0) >> y.v : 0; break;
	case DW_OP_shra: v = (uint64_t)(a >> (y.v < 63 ? y.v : 63)); break;
	case DW_OP_eq: return push_plain(e, x.v == y.v);
	case DW_OP_ne: return push_plain(e, x.v != y.v);
	case DW_OP_lt: return push_plain(e, (uint64_t)less(&x, &y));
	case DW_OP_gt: return push_plain(e, (uint64_t)less(&y, &x));
	case DW_OP_le: return push_plain(e, (uint64_t)!less(&y, &x));
	case DW_OP_ge: return push_plain(e, (uint64_t)!less(&x, &y));
	default: return -1;
	}
	return push(e, v, x.size, x.sign);
}

/* A thread-local variable: its offset in the file's block becomes its address. */
static int
push_thread_local(struct evaluation *e)
{
	uint64_t addr;

	return !e->n || debug_thread_local(e->f, e->s[--e->n].v, &addr) != 0 ? -1 : push_plain(e, addr);
}

/* An operation that puts something on the stack, or is of a type */
static int
other(struct evaluation *e, const Dwarf_Op *op)
{
	Dwarf_Attribute a;
	Dwarf_Addr addr;
	unsigned size;
	int sign;

	switch (op->atom) {
	case DW_OP_addr:
		return push_plain(e, op->number + e->f->bias);
	case DW_OP_addrx: case DW_OP_GNU_addr_index:
		return !e->attr || dwarf_getlocation_attr(e->attr, op, &a) != 0 || dwarf_formaddr(&a, &addr) != 0 ? -1 :
		    push_plain(e, addr + e->f->bias);
	case DW_OP_fbreg:
		return push_frame_base(e, op->number);
	case DW_OP_call_frame_cfa:
		return e->f->has_cfa ? push_plain(e, e->f->cfa) : -1;
	case DW_OP_bregx:
		return push_register(e, op->number, op->number2);
	case DW_OP_form_tls_address: case DW_OP_GNU_push_tls_address:
		return push_thread_local(e);
	case DW_OP_deref:
		return push_memory(e, 8);
	case DW_OP_deref_size:
		return push_memory(e, op->number <= 8 ? (unsigned)op->number : 0);
	case DW_OP_entry_value: case DW_OP_GNU_entry_value:
		return push_entry_value(e, op);
	case DW_OP_GNU_parameter_ref:
		e->gone = 1;
		return -1;
	case DW_OP_const_type: case DW_OP_GNU_const_type:
		return push_constant(e, op);
	case DW_OP_regval_type: case DW_OP_GNU_regval_type:
		return base_type(e, op, &size, &sign) != 0 ? -1 : push_typed_register(e, op->number, size, sign);
	case DW_OP_deref_type: case DW_OP_GNU_deref_type:
		if (base_type(e, op, &size, &sign) != 0 || push_memory(e, size) != 0)
			return -1;
		break;
	case DW_OP_convert: case DW_OP_GNU_convert: case DW_OP_reinterpret: case DW_OP_GNU_reinterpret:
		if (!e->n || base_type(e, op, &size, &sign) != 0)
			return -1;
		if ((op->atom == DW_OP_convert || op->atom == DW_OP_GNU_convert) &&
		    (sign == FLOAT) != (e->s[e->n - 1].sign == FLOAT))
			return -1;
		break;
	default:
		return -1;
	}
	e->n--;
	return push(e, e->s[e->n].v, size, sign);
}

static int
operation(struct evaluation *e, const Dwarf_Op *op)
{
	if (op->atom >= DW_OP_lit0 && op->atom <= DW_OP_lit31)
		return push_plain(e, op->atom - DW_OP_lit0);
	if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31)
		return push_register(e, op->atom - DW_OP_breg0, op->number);
	switch (op->atom) {
	case DW_OP_const1u: case DW_OP_const1s: case DW_OP_const2u: case DW_OP_const2s: case DW_OP_const4u:
	case DW_OP_const4s: case DW_OP_const8u: case DW_OP_const8s: case DW_OP_constu: case DW_OP_consts:
		return push_plain(e, op->number);
	case DW_OP_dup: case DW_OP_drop: case DW_OP_over: case DW_OP_pick: case DW_OP_swap: case DW_OP_rot:
		return stack_operation(e, op);
	case DW_OP_abs: case DW_OP_neg: case DW_OP_not: case DW_OP_plus_uconst:
		return unary(e, op);
	case DW_OP_nop:
		return 0;
	default:
		if ((op->atom >= DW_OP_and && op->atom <= DW_OP_xor) || (op->atom >= DW_OP_eq && op->atom <= DW_OP_ne))
			return binary(e, op);
		return other(e, op);
	}
}

/* The index of the operation at a place in the expression that a jump names; n: there is none */
static size_t
jump(const Dwarf_Op *ops, size_t n, size_t i)
{
	uint64_t to = ops[i].offset + 3 + (uint64_t)(int64_t)(int16_t)ops[i].number;

	LOWER_BOUND(i, n, ops[i].offset < to);
	return i < n && ops[i].offset == to ? i : n;
}

/* Adds a piece of `size` bytes, from byte `off` of where it is. */
static int
add_piece(struct evaluation *e, struct debug_place *p, uint64_t size, uint64_t off)
{
	struct debug_piece now = e->now;

	if (p->n == DEBUG_PIECES)
		return -1;
	if (now.where == DEBUG_MEMORY) {
		if (e->n)
			now.addr = e->s[--e->n].v;
		else
			now.where = DEBUG_GONE;
	}
	now.size = size;
	now.off = off;
	p->piece[p->n++] = now;
	e->now = (struct debug_piece){ .where = DEBUG_MEMORY };
	return 0;
}

/* An operation that says where something is, or -1: it is another one */
static int
location(struct evaluation *e, const Dwarf_Op *op, struct debug_place *p)
{
	Dwarf_Block block;

	if (op->atom >= DW_OP_reg0 && op->atom <= DW_OP_reg31) {
		e->now = (struct debug_piece){ .where = DEBUG_REGISTER, .addr = op->atom - DW_OP_reg0 };
		return 0;
	}
	switch (op->atom) {
	case DW_OP_regx:
		e->now = (struct debug_piece){ .where = DEBUG_REGISTER, .addr = op->number };
		return 0;
	case DW_OP_stack_value:
		if (!e->n)
			return -2;
		e->now = (struct debug_piece){ .where = DEBUG_NUMBER, .addr = e->s[--e->n].v };
		return 0;
	case DW_OP_implicit_value:
		if (!e->attr || dwarf_getlocation_implicit_value(e->attr, op, &block) != 0)
			return -2;
		/* its size is that of the value, which must not be larger */
		e->now = (struct debug_piece){ .where = DEBUG_BYTES, .p = block.data, .addr = block.length };
		return 0;
	case DW_OP_implicit_pointer: case DW_OP_GNU_implicit_pointer:
		e->now = (struct debug_piece){ .where = DEBUG_SYNTHETIC };
		return 0;
	case DW_OP_piece:
		return add_piece(e, p, op->number, 0) != 0 ? -2 : 0;
	case DW_OP_bit_piece:
		if (op->number % 8 || op->number2 % 8)
			return -2;
		return add_piece(e, p, op->number / 8, op->number2 / 8) != 0 ? -2 : 0;
	default:
		return -1;
	}
}

static int
evaluate(struct evaluation *e, const Dwarf_Op *ops, size_t nops, struct debug_place *p)
{
	for (size_t i = 0; i < nops; i++) {
		int got;

		if (debug_take(e->l, 1) != 0)
			return -1;
		if (ops[i].atom == DW_OP_bra || ops[i].atom == DW_OP_skip) {
			if (ops[i].atom == DW_OP_bra && (!e->n || !e->s[--e->n].v))
				continue;
			i = jump(ops, nops, i) - 1;
			continue;
		}
		got = location(e, &ops[i], p);
		if (got == -2 || (got == -1 && operation(e, &ops[i]) != 0))
			return -1;
	}
	return 0;
}

void
debug_evaluate(const struct debug_frame *f, struct debug_limit *l, void *attr, const void *ops, size_t nops,
    struct debug_place *p)
{
	struct evaluation e = { .f = f, .l = l, .attr = attr, .now = { .where = DEBUG_MEMORY } };

	p->n = 0;
	if (nops == 0)
		p->piece[p->n++] = (struct debug_piece){ .where = DEBUG_GONE };
	else if (l->depth++ == NESTED || evaluate(&e, ops, nops, p) != 0) {
		p->n = 1;
		p->piece[0] = (struct debug_piece){ .where = e.gone ? DEBUG_GONE : DEBUG_UNKNOWN };
	} else if (p->n == 0)
		(void)add_piece(&e, p, 0, 0);
	if (nops)
		l->depth--;
}

int
debug_compute(const struct debug_frame *f, const void *ops, size_t nops, const uint64_t *first, uint64_t *v)
{
	struct debug_limit l = { 0, 0 };
	struct evaluation e = { .f = f, .l = &l, .now = { .where = DEBUG_MEMORY } };
	struct debug_place p = { .n = 0 };

	if (first)
		(void)push_plain(&e, *first);
	if (evaluate(&e, ops, nops, &p) != 0 || p.n)
		return -1;
	if (e.now.where == DEBUG_NUMBER)
		*v = e.now.addr;
	else if (e.now.where == DEBUG_MEMORY && e.n)
		*v = e.s[e.n - 1].v;
	else if (e.now.where == DEBUG_REGISTER && e.now.addr < DEBUG_NREG && f->known >> e.now.addr & 1)
		*v = f->reg[e.now.addr];
	else
		return -1;
	return 0;
}

void
debug_attribute(const struct debug_frame *f, struct debug_limit *l, void *attr, struct debug_place *p)
{
	Dwarf_Op *ops;
	size_t n;
	int got = dwarf_getlocation_addr(attr, f->pc, &ops, &n, 1);

	if (got == 1)
		debug_evaluate(f, l, attr, ops, n, p);
	else {
		p->n = 1;
		p->piece[0] = (struct debug_piece){ .where = DEBUG_GONE };
	}
}
