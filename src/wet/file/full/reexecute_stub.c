/*
 * Generates code for one instruction: loads its registers from load_state, re-encodes the
 * instruction with load_state.mem as its memory operand and another register for rsp, and
 * stores what it defines.
 */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <Zydis/Zydis.h>

#include "isa/x86/limits.h"
#include "isa/x86/operand.h"
#include "wet/file/full/reexecute.h"

#define PIECE ((size_t)1 << 20)         /* bytes of a mapped piece of code */
#define PIECES 1024u                    /* maximum number of pieces */
#define CODE 1024u                      /* maximum bytes of code for one instruction */

struct emit {
	uint8_t *p;
	const struct x86_inst *in;
	unsigned gpr, vec, mask;        /* registers that the instruction names */
	unsigned gdef, vdef, mdef;      /* those of them that it writes */
	int high, fp;                   /* it uses ah, bh, ch or dh; it uses mxcsr */
	int st, rsp;                    /* host registers for load_state's address and for the guest's rsp */
	uint8_t b[ZYDIS_MAX_INSTRUCTION_LENGTH];
	ZyanUSize len;
};

/* Does the instruction only compute from registers and memory? */
static int
reexecute_computes(const struct x86_inst *in)
{
	switch (in->z.mnemonic) {
	case ZYDIS_MNEMONIC_LEA:
		return 1;
	case ZYDIS_MNEMONIC_CLI: case ZYDIS_MNEMONIC_STI: case ZYDIS_MNEMONIC_CLD: case ZYDIS_MNEMONIC_STD:
	case ZYDIS_MNEMONIC_SALC:
	/* it would store this process's mxcsr */
	case ZYDIS_MNEMONIC_STMXCSR: case ZYDIS_MNEMONIC_VSTMXCSR:
	case ZYDIS_MNEMONIC_VP2INTERSECTD: case ZYDIS_MNEMONIC_VP2INTERSECTQ:
		return 0;
	default:
		break;
	}
	switch (in->z.meta.category) {
	case ZYDIS_CATEGORY_ADOX_ADCX: case ZYDIS_CATEGORY_AES: case ZYDIS_CATEGORY_AVX:
	case ZYDIS_CATEGORY_AVX2: case ZYDIS_CATEGORY_AVX512: case ZYDIS_CATEGORY_AVX512_BITALG:
	case ZYDIS_CATEGORY_AVX512_VBMI: case ZYDIS_CATEGORY_BINARY: case ZYDIS_CATEGORY_BITBYTE:
	case ZYDIS_CATEGORY_BLEND: case ZYDIS_CATEGORY_BMI1: case ZYDIS_CATEGORY_BMI2:
	case ZYDIS_CATEGORY_BROADCAST: case ZYDIS_CATEGORY_CMOV: case ZYDIS_CATEGORY_COMPRESS:
	case ZYDIS_CATEGORY_CONFLICT: case ZYDIS_CATEGORY_CONVERT: case ZYDIS_CATEGORY_DATAXFER:
	case ZYDIS_CATEGORY_EXPAND: case ZYDIS_CATEGORY_FLAGOP: case ZYDIS_CATEGORY_FP16:
	case ZYDIS_CATEGORY_GFNI: case ZYDIS_CATEGORY_IFMA: case ZYDIS_CATEGORY_KMASK:
	case ZYDIS_CATEGORY_LOGICAL: case ZYDIS_CATEGORY_LOGICAL_FP: case ZYDIS_CATEGORY_LZCNT:
	case ZYDIS_CATEGORY_PCLMULQDQ: case ZYDIS_CATEGORY_ROTATE: case ZYDIS_CATEGORY_SEMAPHORE:
	case ZYDIS_CATEGORY_SETCC: case ZYDIS_CATEGORY_SHA: case ZYDIS_CATEGORY_SHIFT:
	case ZYDIS_CATEGORY_SSE: case ZYDIS_CATEGORY_STTNI: case ZYDIS_CATEGORY_VAES:
	case ZYDIS_CATEGORY_VBMI2: case ZYDIS_CATEGORY_VEX: case ZYDIS_CATEGORY_VFMA:
	case ZYDIS_CATEGORY_VPCLMULQDQ:
		break;
	default:
		return 0;
	}
	return !(in->z.attributes & ZYDIS_ATTRIB_IS_PRIVILEGED) &&
	    in->z.meta.branch_type == ZYDIS_BRANCH_TYPE_NONE && !x86_refuse(in) && !x86_trap_before(in) &&
	    !x86_trap_after(in) && !x86_approximates(in) &&
	    (in->z.encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY ||
		in->z.encoding == ZYDIS_INSTRUCTION_ENCODING_VEX ||
		in->z.encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX);
}

static int
reexecute_name(unsigned *set, unsigned *def, unsigned n, const ZydisDecodedOperand *o)
{
	*set |= 1u << n;
	if (o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
		*def |= 1u << n;
	return 0;
}

/* Adds the registers of an operand; -1: it names one that is not allowed. */
static int
reg_operand(struct emit *e, const ZydisDecodedOperand *o)
{
	ZydisRegister r = o->reg.value;

	switch (ZydisRegisterGetClass(r)) {
	case ZYDIS_REGCLASS_GPR8: case ZYDIS_REGCLASS_GPR16: case ZYDIS_REGCLASS_GPR32:
	case ZYDIS_REGCLASS_GPR64:
		e->high |= x86_highbyte(r);
		if (x86_gpr(r) == X86_RSP && o->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN)
			return -1;
		return reexecute_name(&e->gpr, &e->gdef, (unsigned)x86_gpr(r), o);
	case ZYDIS_REGCLASS_XMM: case ZYDIS_REGCLASS_YMM: case ZYDIS_REGCLASS_ZMM:
		return reexecute_name(&e->vec, &e->vdef, (unsigned)ZydisRegisterGetId(r), o);
	case ZYDIS_REGCLASS_MASK:
		return reexecute_name(&e->mask, &e->mdef, (unsigned)(r - ZYDIS_REGISTER_K0), o);
	case ZYDIS_REGCLASS_FLAGS:
		return 0;
	default:
		e->fp = 1;
		return r == ZYDIS_REGISTER_MXCSR && o->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN ? 0 : -1;
	}
}

/* Adds everything that the instruction names; -1: it must not be executed. */
static int
reexecute_names(struct emit *e)
{
	const struct x86_inst *in = e->in;
	int nmem = 0;

	for (int i = 0; i < in->z.operand_count; i++) {
		const ZydisDecodedOperand *o = &in->op[i];

		if (o->type == ZYDIS_OPERAND_TYPE_REGISTER) {
			if (reg_operand(e, o) != 0)
				return -1;
		} else if (o->type == ZYDIS_OPERAND_TYPE_MEMORY) {
			if (nmem++ || i != in->mem || o->size > 512 || o->size % 8)
				return -1;
			if (o->mem.type == ZYDIS_MEMOP_TYPE_AGEN && o->mem.base != ZYDIS_REGISTER_RIP) {
				if (x86_gpr(o->mem.base) >= 0)
					e->gpr |= 1u << x86_gpr(o->mem.base);
				if (x86_gpr(o->mem.index) >= 0)
					e->gpr |= 1u << x86_gpr(o->mem.index);
			} else if (o->mem.type != ZYDIS_MEMOP_TYPE_MEM || o->size < 8)
				return -1;
			/* the bit number of a bit string in memory changes the address */
			else if (in->z.meta.category == ZYDIS_CATEGORY_BITBYTE &&
			    in->op[1].type == ZYDIS_OPERAND_TYPE_REGISTER)
				return -1;
		} else if (o->type != ZYDIS_OPERAND_TYPE_IMMEDIATE || o->imm.is_relative)
			return -1;
	}
	return 0;
}

/*
 * Picks two registers that the instruction does not name; with ah and the like, r8 to r15
 * cannot be encoded.
 */
static int
reexecute_spare(struct emit *e)
{
	static const uint8_t order[] = { X86_RDI, X86_RSI, X86_RBX, X86_RBP, X86_R8, X86_R9, X86_R10, X86_R11,
		X86_R13, X86_R14, X86_R15 };
	size_t n = e->high ? 4 : sizeof order;

	e->st = e->rsp = -1;
	for (size_t i = 0; i < n; i++)
		if (!(e->gpr >> order[i] & 1)) {
			if (e->st < 0)
				e->st = order[i];
			else if (e->rsp < 0 && (!e->high || order[i] == X86_RBX))   /* bl needs no prefix */
				e->rsp = order[i];
		}
	return e->st < 0 || (e->gpr >> X86_RSP & 1 && e->rsp < 0) ? -1 : 0;
}

static ZydisRegister
reexecute_renamed(const struct emit *e, ZydisRegister r)
{
	if (x86_gpr(r) != X86_RSP || x86_highbyte(r))
		return r;
	return ZydisRegisterEncode(ZydisRegisterGetClass(r),
	    (ZyanU8)(ZydisRegisterGetClass(r) == ZYDIS_REGCLASS_GPR8 && e->rsp >= 4 ? e->rsp + 4 : e->rsp));
}

/* Decodes the re-encoded instruction to verify it. */
static int
reexecute_right(const struct emit *e)
{
	struct x86_inst t;
	int mem = e->in->mem;

	if (x86_inst_decode(&t, e->b, e->len, 0, 0) != 0 || t.z.length != e->len ||
	    t.z.mnemonic != e->in->z.mnemonic || t.mem != mem ||
	    t.z.operand_count != e->in->z.operand_count || t.z.encoding != e->in->z.encoding)
		return 0;
	for (int i = 0; i < t.z.operand_count; i++) {
		const ZydisDecodedOperand *o = &t.op[i], *was = &e->in->op[i];

		if (o->type != was->type || o->size != was->size)
			return 0;
		if (o->type == ZYDIS_OPERAND_TYPE_REGISTER &&
		    o->reg.value != reexecute_renamed(e, was->reg.value))
			return 0;
		if (o->type == ZYDIS_OPERAND_TYPE_IMMEDIATE && o->imm.value.u != was->imm.value.u)
			return 0;
	}
	return mem < 0 || t.op[mem].mem.type == ZYDIS_MEMOP_TYPE_AGEN ||
	    (x86_gpr(t.op[mem].mem.base) == e->st && t.op[mem].mem.base >= ZYDIS_REGISTER_RAX &&
		t.op[mem].mem.index == ZYDIS_REGISTER_NONE && t.op[mem].mem.disp.value == 0 &&
		t.op[mem].mem.segment != ZYDIS_REGISTER_FS && t.op[mem].mem.segment != ZYDIS_REGISTER_GS &&
		t.op[mem].size <= 512);
}

static int
reexecute_again(struct emit *e)
{
	const struct x86_inst *in = e->in;
	ZydisEncoderRequest q;

	if (!ZYAN_SUCCESS(ZydisEncoderDecodedInstructionToEncoderRequest(&in->z, in->op,
	    in->z.operand_count_visible, &q)))
		return -1;
	q.prefixes &= ZYDIS_ATTRIB_HAS_LOCK;
	for (int i = 0; i < q.operand_count; i++) {
		ZydisEncoderOperand *o = &q.operands[i];

		if (o->type == ZYDIS_OPERAND_TYPE_REGISTER)
			o->reg.value = reexecute_renamed(e, o->reg.value);
		else if (o->type == ZYDIS_OPERAND_TYPE_MEMORY &&
		    in->op[i].mem.type == ZYDIS_MEMOP_TYPE_AGEN) {
			o->mem.base = reexecute_renamed(e, o->mem.base);
			o->mem.index = reexecute_renamed(e, o->mem.index);
		} else if (o->type == ZYDIS_OPERAND_TYPE_MEMORY) {
			o->mem.base = ZYDIS_REGISTER_RAX + (ZydisRegister)e->st;
			o->mem.index = ZYDIS_REGISTER_NONE;
			o->mem.scale = 0;
			o->mem.displacement = 0;
			q.address_size_hint = ZYDIS_ADDRESS_SIZE_HINT_NONE;
		}
	}
	e->len = sizeof e->b;
	return ZYAN_SUCCESS(ZydisEncoderEncodeInstruction(&q, e->b, &e->len)) && reexecute_right(e) ? 0 : -1;
}

static void
reexecute_put(struct emit *e, const char *bytes, size_t n)
{
	memcpy(e->p, bytes, n);
	e->p += n;
}

#define PUT(e, s) reexecute_put(e, s, sizeof (s) - 1)

/* ModRM with a displacement from load_state. */
static void
reexecute_place(struct emit *e, unsigned reg, size_t at)
{
	uint32_t disp = (uint32_t)at;

	*e->p++ = (uint8_t)(0x80 | (reg & 7) << 3 | ((unsigned)e->st & 7));
	memcpy(e->p, &disp, 4);
	e->p += 4;
}

static void
reexecute_general(struct emit *e, unsigned op, unsigned reg, size_t at)
{
	*e->p++ = (uint8_t)(0x48 | (reg & 8) >> 1 | (unsigned)e->st >> 3);
	*e->p++ = (uint8_t)op;
	reexecute_place(e, reg, at);
}

/* movups, vmovups: opcode 0x10 loads, 0x11 stores the register. */
static void
reexecute_vector(struct emit *e, unsigned op, unsigned reg, size_t at)
{
	unsigned b = (unsigned)e->st >> 3;

	switch (e->in->z.encoding) {
	case ZYDIS_INSTRUCTION_ENCODING_LEGACY:
		*e->p++ = (uint8_t)(0x40 | (reg & 8) >> 1 | b);
		*e->p++ = 0x0f;
		break;
	case ZYDIS_INSTRUCTION_ENCODING_VEX:
		*e->p++ = 0xc4;
		*e->p++ = (uint8_t)((reg & 8 ? 0 : 0x80) | 0x40 | (b ? 0 : 0x20) | 1);
		*e->p++ = 0x7c;
		break;
	default:
		*e->p++ = 0x62;
		*e->p++ = (uint8_t)((reg & 8 ? 0 : 0x80) | 0x40 | (b ? 0 : 0x20) | (reg & 16 ? 0 : 0x10) | 1);
		*e->p++ = 0x7c;
		*e->p++ = 0x48;
	}
	*e->p++ = (uint8_t)op;
	reexecute_place(e, reg, at);
}

/* kmovq, or kmovw on processors without it. */
static void
reexecute_mask(struct emit *e, unsigned op, unsigned reg)
{
	*e->p++ = 0xc4;
	*e->p++ = (uint8_t)(0xc0 | (e->st >> 3 ? 0 : 0x20) | 1);
	*e->p++ = __builtin_cpu_supports("avx512bw") ? 0xf8 : 0x78;
	*e->p++ = (uint8_t)op;
	reexecute_place(e, reg, offsetof(struct load_state, mask) + 8 * reg);
}

static size_t
gpr_at(unsigned i)
{
	return offsetof(struct load_state, r) + 8 * i;
}

static void
reexecute_before(struct emit *e, int flags)
{
	if (e->st != X86_RDI) { /* mov st, rdi */
		*e->p++ = (uint8_t)(0x48 | (unsigned)e->st >> 3);
		*e->p++ = 0x89;
		*e->p++ = (uint8_t)(0xc0 | X86_RDI << 3 | ((unsigned)e->st & 7));
	}
	if (flags) {
		reexecute_general(e, 0x8b, X86_RAX, offsetof(struct load_state, flags));
		PUT(e, "\x04\x7f\x9e");         /* add al, 7f; sahf */
	}
	for (unsigned i = 0; i < 32; i++)
		if (e->vec >> i & 1)
			reexecute_vector(e, 0x10, i, offsetof(struct load_state, vec) + 64 * i);
	for (unsigned i = 0; i < 8; i++)
		if (e->mask >> i & 1)
			reexecute_mask(e, 0x90, i);
	for (unsigned i = 0; i < 16; i++)
		if (e->gpr >> i & 1)
			reexecute_general(e, 0x8b, i == X86_RSP ? (unsigned)e->rsp : i, gpr_at(i));
}

static void
reexecute_after(struct emit *e, int flags)
{
	for (unsigned i = 0; i < 16; i++)
		if (e->gdef >> i & 1)
			reexecute_general(e, 0x89, i == X86_RSP ? (unsigned)e->rsp : i, gpr_at(i));
	if (flags) {
		PUT(e, "\x9f\x0f\x90\xc0\x0f\xb7\xc0");        /* lahf; seto al; movzx eax, ax */
		reexecute_general(e, 0x89, X86_RAX, offsetof(struct load_state, flags));
	}
	for (unsigned i = 0; i < 32; i++) {
		size_t at = offsetof(struct load_state, vec) + 64 * i;

		if (!(e->vdef >> i & 1))
			continue;
		reexecute_vector(e, 0x11, i, at);
		if (e->in->z.encoding == ZYDIS_INSTRUCTION_ENCODING_VEX)
			for (unsigned k = 32; k < 64; k += 8) {
				reexecute_general(e, 0xc7, 0, at + k);  /* mov qword, 0 */
				PUT(e, "\0\0\0\0");
			}
	}
	for (unsigned i = 0; i < 8; i++)
		if (e->mdef >> i & 1)
			reexecute_mask(e, 0x91, i);
	if (e->vec && e->in->z.encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY)
		PUT(e, "\xc5\xf8\x77");         /* vzeroupper */
	PUT(e, "\xc3");
}

/* Changes the protection of these pages only: changing a whole piece may take the kernel long. */
static int
reexecute_protect(const uint8_t *from, const uint8_t *to, int prot)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), first = (uintptr_t)from / page * page;

	return mprotect((void *)first, (uintptr_t)to - first, prot);
}

int
load_ready(struct load *l)
{
	if (l->fresh && reexecute_protect(l->fresh, l->code, PROT_READ | PROT_EXEC) != 0)
		return -1;
	l->fresh = NULL;
	return 0;
}

/* Makes room for the code of one instruction.  Writable code is not executable, and vice versa. */
static int
reexecute_room(struct load *l)
{
	uint8_t *p;

	if (l->code && (size_t)(l->codeend - l->code) >= CODE) {
		if (!l->fresh && reexecute_protect(l->code, l->code + 1, PROT_READ | PROT_WRITE) != 0)
			return -1;
		if (!l->fresh)
			l->fresh = l->code;
		return 0;
	}
	if (l->ncode == PIECES || load_ready(l) != 0)
		return -1;
	p = mmap(NULL, PIECE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		return -1;
	memcpy(p, &l->piece, sizeof l->piece);
	l->piece = p;
	l->ncode++;
	l->code = l->fresh = p + 64;
	l->codeend = p + PIECE;
	return 0;
}

void
load_free_code(struct load *l)
{
	for (uint8_t *p = l->piece, *before; p; p = before) {
		memcpy(&before, p, sizeof before);
		munmap(p, PIECE);
	}
}

int
load_stub(struct load *l, struct load_stmt *s, const struct x86_inst *in, const struct fact *f)
{
	struct emit e = { .in = in };
	int uses = 0, defs = 0;

	if (!reexecute_computes(in) || reexecute_names(&e) != 0 || reexecute_spare(&e) != 0 ||
	    reexecute_again(&e) != 0)
		return 1;
	if (reexecute_room(l) != 0)
		return -1;
	for (unsigned i = 0; i < f->nuse; i++)
		uses |= f->use[i].reg == FACT_FLAGS;
	for (unsigned i = 0; i < f->ndef; i++)
		defs |= f->def[i].reg == FACT_FLAGS;
	e.p = l->code;
	reexecute_before(&e, uses || defs);
	reexecute_put(&e, (const char *)e.b, e.len);
	reexecute_after(&e, defs);
	s->code = l->code;
	s->fp = e.vec || e.fp;
	l->code = e.p;
	return 0;
}
