/*
 * Jump tables, as compilers write them for switches.  The jump takes its target
 * from a table of addresses, or of differences to the table's own address; a
 * comparison before it bounds the number of entries.
 */
#include <string.h>
#include <Zydis/Zydis.h>

#include "base/hash.h"
#include "cfg/code.h"
#include "isa/x86/decode.h"

#define BACK 32u                        /* instructions searched backward from the jump */
#define FAR  1024u                      /* the same for a base, on all paths: compilers move it out of loops */
#define MOST 4096u                      /* maximum entries of a table */

struct scan {
	struct wcode *c;
	uint32_t at;                    /* the current node */
	int taken;                      /* the path follows its jump */
	ZydisDecodedInstruction z;
	ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
	unsigned steps;                 /* instructions searched so far */
	int nomem;
};

struct table {
	uint64_t base;
	unsigned size, n;               /* bytes of an entry; entries */
	ZydisRegister index;            /* the register that selects the entry */
};

static int
table_decode(struct scan *s)
{
	const struct wcode_node *v = &s->c->node[s->at];

	return x86_decode(&s->z, s->op, v->b, v->len, s->c->amd) == 0;
}

/* The next instruction, from i on in the chain of ends, that goes on to pc; CODE_EXIT: there is none */
static uint32_t
table_before(const struct wcode *c, uint64_t pc, uint32_t i, int calls)
{
	for (; i != CODE_EXIT; i = c->node[i].enext)
		if (c->node[i].pc + c->node[i].len == pc &&
		    (c->node[i].kind == CODE_PLAIN || c->node[i].kind == CODE_COND ||
			(calls && c->node[i].kind == CODE_CALL)))
			break;
	return i;
}

/* The next jump, from i on in the chain of targets, that leads to pc; CODE_EXIT: there is none */
static uint32_t
table_jump_to(const struct wcode *c, uint64_t pc, uint32_t i)
{
	while (i != CODE_EXIT && c->node[i].target != pc)
		i = c->node[i].tnext;
	return i;
}

/* Moves to the instruction before in memory, or else to a jump that leads here.  0: there is none */
static int
table_back(struct scan *s)
{
	const struct wcode *c = s->c;
	uint64_t pc = c->node[s->at].pc;
	size_t h = wcode_bucket(c, pc);
	uint32_t i = table_before(c, pc, c->ends[h], 0);

	s->taken = i == CODE_EXIT;
	if (i == CODE_EXIT)
		i = table_jump_to(c, pc, c->targets[h]);
	if (i == CODE_EXIT || ++s->steps > BACK)
		return 0;
	s->at = i;
	return table_decode(s);
}

static ZydisRegister
table_whole(ZydisRegister r)
{
	return ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, r);
}

/* Does it write register r (in any width)? */
static int
table_writes(const struct scan *s, ZydisRegister r)
{
	for (int i = 0; i < s->z.operand_count; i++)
		if (s->op[i].type == ZYDIS_OPERAND_TYPE_REGISTER &&
		    s->op[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE &&
		    table_whole(s->op[i].reg.value) == r)
			return 1;
	return 0;
}

static int
is_lea_rip(const struct scan *s, uint64_t *addr)
{
	const struct wcode_node *v = &s->c->node[s->at];

	if (s->z.mnemonic != ZYDIS_MNEMONIC_LEA || s->op[1].mem.base != ZYDIS_REGISTER_RIP)
		return 0;
	*addr = v->pc + v->len + (uint64_t)s->op[1].mem.disp.value;
	return 1;
}

/* Searches backward for the comparison that bounds the index, and sets t->n. */
static int
table_bound(struct scan *s, struct table *t)
{
	int plus = -1;

	do {
		ZydisMnemonic m = s->z.mnemonic;

		if (m == ZYDIS_MNEMONIC_JNBE || m == ZYDIS_MNEMONIC_JBE)
			plus = (m == ZYDIS_MNEMONIC_JNBE) != s->taken ? 1 : -1;
		else if (m == ZYDIS_MNEMONIC_JNB || m == ZYDIS_MNEMONIC_JB)
			plus = (m == ZYDIS_MNEMONIC_JNB) != s->taken ? 0 : -1;
		else if (m == ZYDIS_MNEMONIC_AND && s->op[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE &&
		    table_writes(s, t->index)) {
			t->n = (unsigned)s->op[1].imm.value.u + 1;
			return s->op[1].imm.value.u < MOST;
		} else if ((m == ZYDIS_MNEMONIC_CMP || m == ZYDIS_MNEMONIC_SUB) &&
		    s->op[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE && plus >= 0) {
			if (s->op[1].imm.value.u >= MOST)
				return 0;
			t->n = (unsigned)s->op[1].imm.value.u + (unsigned)plus;
			return t->n != 0;
		} else if (s->z.meta.category == ZYDIS_CATEGORY_COND_BR)
			plus = -1;
	} while (table_back(s));
	return 0;
}

/* A breadth-first search backward, over all ways that lead to a jump */
struct search {
	struct scan s;
	struct hash_set seen;
	uint32_t list[FAR];             /* nodes, each once */
	size_t n;
};

static int
search_add(struct search *b, uint32_t v)
{
	int e = b->n < FAR ? hash_set_add(&b->seen, (uint64_t)v + 1) : 0;

	if (e > 0)
		b->list[b->n++] = v;
	return e < 0 ? -1 : 0;
}

/* Adds what is executed before node v.  A function is not left through its entry. */
static int
search_add_before(struct search *b, uint32_t v)
{
	const struct wcode *c = b->s.c;
	uint64_t pc = c->node[v].pc;
	size_t h = wcode_bucket(c, pc);

	if (wcode_is_entry(c, pc))
		return 0;
	for (uint32_t i = c->ends[h]; (i = table_before(c, pc, i, 1)) != CODE_EXIT; i = c->node[i].enext)
		if (search_add(b, i) != 0)
			return -1;
	for (uint32_t i = c->targets[h]; (i = table_jump_to(c, pc, i)) != CODE_EXIT; i = c->node[i].tnext)
		if (search_add(b, i) != 0)
			return -1;
	return 0;
}

/*
 * Searches for the address that is loaded into register r.  strict: not beyond another value of r; else
 * also beyond one, which may have been reloaded from the stack.  1: found
 */
static int
search_base(struct search *b, ZydisRegister r, int strict, uint64_t *addr)
{
	uint32_t from = b->s.at;

	b->n = 0;
	hash_set_free(&b->seen);
	if (search_add_before(b, from) != 0)
		return -1;
	for (size_t i = 0; i < b->n; i++) {
		b->s.at = b->list[i];
		if (!table_decode(&b->s))
			continue;
		if (is_lea_rip(&b->s, addr) && table_whole(b->s.op[0].reg.value) == r)
			return 1;
		if (!(strict && table_writes(&b->s, r)) && search_add_before(b, b->list[i]) != 0)
			return -1;
	}
	b->s.at = from;
	return 0;
}

/* Finds the address that is loaded into the base register of m, or into an index that is not scaled. */
static int
table_base(struct scan *s, const ZydisDecodedOperandMem *m, uint64_t *addr)
{
	struct search b = { .s = *s };
	ZydisRegister base = table_whole(m->base), index = table_whole(m->index);
	int found = search_base(&b, base, 1, addr);

	if (found == 0 && m->scale == 1)
		found = search_base(&b, index, 1, addr);
	if (found == 0)
		found = search_base(&b, base, 0, addr);
	hash_set_free(&b.seen);
	s->nomem |= found < 0;
	return found > 0;
}

/* A table of addresses; memory operand m is an entry. */
static int
table_addresses(struct scan *s, ZydisDecodedOperandMem m, struct table *t)
{
	uint64_t a = 0;

	if (m.index == ZYDIS_REGISTER_NONE || m.scale != 8)
		return 0;
	t->size = 8;
	t->index = table_whole(m.index);
	if (m.base != ZYDIS_REGISTER_NONE && !table_base(s, &m, &a))
		return 0;
	t->base = a + (uint64_t)m.disp.value;
	return table_back(s) && table_bound(s, t);
}

/* A table of differences; the current instruction adds one to an address. */
static int
table_differences(struct scan *s, struct table *t)
{
	t->size = 4;
	while (table_back(s) && s->z.meta.category != ZYDIS_CATEGORY_COND_BR) {
		ZydisDecodedOperandMem m = s->op[1].mem;

		if ((s->z.mnemonic != ZYDIS_MNEMONIC_MOVSXD && s->z.mnemonic != ZYDIS_MNEMONIC_MOV) ||
		    s->op[1].type != ZYDIS_OPERAND_TYPE_MEMORY || s->op[1].size != 32 ||
		    m.index == ZYDIS_REGISTER_NONE || m.disp.value)
			continue;
		t->index = table_whole(m.index);
		return table_base(s, &m, &t->base) && table_back(s) && table_bound(s, t);
	}
	return 0;
}

static int
table_find(struct scan *s, struct table *t)
{
	ZydisRegister r;

	if (!table_decode(s))
		return 0;
	if (s->op[0].type == ZYDIS_OPERAND_TYPE_MEMORY)
		return table_addresses(s, s->op[0].mem, t);
	if (s->op[0].type != ZYDIS_OPERAND_TYPE_REGISTER)
		return 0;
	for (r = table_whole(s->op[0].reg.value);
	    table_back(s) && s->z.meta.category != ZYDIS_CATEGORY_COND_BR;) {
		if (!table_writes(s, r))
			continue;
		if (s->z.mnemonic == ZYDIS_MNEMONIC_ADD && s->op[1].type == ZYDIS_OPERAND_TYPE_REGISTER)
			return table_differences(s, t);
		return s->z.mnemonic == ZYDIS_MNEMONIC_MOV && s->op[1].type == ZYDIS_OPERAND_TYPE_MEMORY &&
		    table_addresses(s, s->op[1].mem, t);
	}
	return 0;
}

/* The target in entry i; 0: there is no code */
static uint64_t
table_entry(struct wcode *c, const struct table *t, unsigned i)
{
	uint64_t to = 0, at = t->base + (uint64_t)i * t->size;
	uint8_t b[8] = { 0 };

	if (c->read(c->arg, at, b, t->size, 0) != t->size)
		return 0;
	for (unsigned k = t->size; k-- > 0;)
		to = to << 8 | b[k];
	if (t->size == 4)
		to = t->base + (uint64_t)(int64_t)(int32_t)to;
	if (wcode_find(c, to) == CODE_EXIT && (c->read(c->arg, to, b, 2, 1) != 2 || (!b[0] && !b[1])))
		return 0;
	return to;
}

int
wcode_table(struct wcode *c, uint32_t v)
{
	struct scan s = { .c = c, .at = v };
	struct table t = { 0 };

	if (!table_find(&s, &t))
		return s.nomem ? -1 : 0;
	for (unsigned i = 0; i < t.n; i++)
		if (!table_entry(c, &t, i))
			return 0;
	for (unsigned i = 0; i < t.n; i++) {
		uint64_t to = table_entry(c, &t, i);

		if (wcode_add_edge(c, v, to) != 0)
			return -1;
	}
	if (c->kept)
		c->kept(c->keptarg, t.base, (size_t)t.n * t.size);
	c->node[v].flags |= CODE_TABLE;
	return 0;
}
