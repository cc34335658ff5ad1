/* Computations of a schema, as isa/operation.h defines them. */
#include "ae/regen/code.h"

static uint64_t
alu_low(unsigned w, uint64_t v)
{
	return w == 8 ? v : v & ((UINT64_C(1) << 8 * w) - 1);
}

static uint64_t
alu_sext(unsigned w, uint64_t v)
{
	unsigned sh = 64 - 8 * w;

	return (uint64_t)((int64_t)(v << sh) >> sh);
}

static uint64_t
alu_bswap(unsigned w, uint64_t v)
{
	uint64_t r = 0;

	while (w--) {
		r = r << 8 | (v & 0xff);
		v >>= 8;
	}
	return r;
}

/* v, of w bytes. */
static uint64_t
alu_rotl(unsigned w, uint64_t v, unsigned n)
{
	unsigned bits = 8 * w;

	n %= bits;
	return n ? v << n | v >> (bits - n) : v;
}

uint64_t
code_alu(unsigned op, unsigned w, unsigned n, uint64_t a, uint64_t b)
{
	unsigned count = b & (w == 8 ? 63 : 31), bits = 8 * w;

	switch (op) {
	case SO_MOV:
		return a;
	case SO_ADD:
		return a + b;
	case SO_SUB:
		return a - b;
	case SO_AND:
		return a & b;
	case SO_OR:
		return a | b;
	case SO_XOR:
		return a ^ b;
	case SO_SHL:
		return a << count;
	case SO_SHR:
		return alu_low(w, a) >> count;
	case SO_SAR:
		return (uint64_t)((int64_t)alu_sext(w, a) >> count);
	case SO_ROL:
		return alu_rotl(w, alu_low(w, a), count);
	case SO_ROR:
		return alu_rotl(w, alu_low(w, a), bits - count % bits);
	case SO_MUL:
		return a * b;
	case SO_NOT:
		return ~a;
	case SO_NEG:
		return 0 - a;
	case SO_BSWAP:
		return alu_bswap(w, a);
	case SO_ZEXT:
		return alu_low(n, a);
	default:        /* SO_SEXT */
		return alu_sext(n, a);
	}
}

uint64_t
code_result(unsigned w, uint64_t old, uint64_t v)
{
	return w == 8 ? v : w == 4 ? alu_low(4, v) : (old & ~alu_low(w, UINT64_MAX)) | alu_low(w, v);
}
