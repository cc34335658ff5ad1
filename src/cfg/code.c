/* Static code of a run: instructions, and recursive descent from those that were executed. */
#include <stdlib.h>
#include <string.h>
#include <Zydis/Zydis.h>

#include "base/buf.h"
#include "base/populate.h"
#include "cfg/code.h"
#include "isa/x86/decode.h"

void
wcode_init(struct wcode *c, wcode_read_fn *read, void *arg)
{
	*c = (struct wcode){ .read = read, .arg = arg };
}

void
wcode_free(struct wcode *c)
{
	free(c->node);
	free(c->hash);
	free(c->ends);
	free(c->targets);
	free(c->edge);
	hash_set_free(&c->entry);
	hash_set_free(&c->edges);
	hash_set_free(&c->back);
	free(c->todo);
	free(c->indirect);
	adjacency_free(&c->succ);
	*c = (struct wcode){ 0 };
}

uint32_t
wcode_find(const struct wcode *c, uint64_t pc)
{
	uint32_t i = c->nhash ? c->hash[wcode_bucket(c, pc)] : CODE_EXIT;

	while (i != CODE_EXIT && c->node[i].pc != pc)
		i = c->node[i].hnext;
	return i;
}

int
wcode_is_entry(const struct wcode *c, uint64_t pc)
{
	return hash_set_has(&c->entry, pc);
}

static void
code_chain(struct wcode *c, uint32_t i)
{
	struct wcode_node *v = &c->node[i];
	uint32_t *h = &c->hash[wcode_bucket(c, v->pc)], *e = &c->ends[wcode_bucket(c, v->pc + v->len)];

	v->hnext = *h;
	*h = i;
	v->enext = *e;
	*e = i;
	if (v->kind == CODE_COND || v->kind == CODE_JUMP) {
		uint32_t *t = &c->targets[wcode_bucket(c, v->target)];

		v->tnext = *t;
		*t = i;
	}
}

static int
code_rehash(struct wcode *c)
{
	size_t n = c->nhash ? c->nhash * 4 : 4096;      /* three tables are made anew each time */
	uint32_t **const table[] = { &c->hash, &c->ends, &c->targets };
	uint32_t *new[3];

	for (int i = 0; i < 3; i++)
		new[i] = malloc(n * sizeof *new[i]);
	if (!new[0] || !new[1] || !new[2]) {
		for (int i = 0; i < 3; i++)
			free(new[i]);
		return -1;
	}
	for (int i = 0; i < 3; i++) {
		populate(new[i], n * sizeof *new[i]);
		memset(new[i], 0xff, n * sizeof *new[i]);
		free(*table[i]);
		*table[i] = new[i];
	}
	c->nhash = n;
	for (uint32_t i = 0; i < c->n; i++)
		code_chain(c, i);
	return 0;
}

/* Sets the kind of an instruction's transfer of control, and its target. */
static void
code_classify(struct wcode_node *v, const ZydisDecodedInstruction *z)
{
	int relative = z->raw.imm[0].size && z->raw.imm[0].is_relative,
	    modrm = z->attributes & ZYDIS_ATTRIB_HAS_MODRM && z->raw.modrm.mod == 0;

	if (relative)
		v->target = x86_target(z, v->pc + v->len);
	switch (z->meta.category) {
	case ZYDIS_CATEGORY_COND_BR:
		v->kind = relative ? CODE_COND : CODE_PLAIN;
		break;
	case ZYDIS_CATEGORY_UNCOND_BR:
		v->kind = relative ? CODE_JUMP : CODE_INDIRECT;
		if (!relative && modrm &&
		    (z->raw.modrm.rm == 5 ||
			(z->raw.modrm.rm == 4 && z->raw.sib.base == 5 && z->raw.sib.index == 4)))
			v->flags |= CODE_SLOT;
		break;
	case ZYDIS_CATEGORY_CALL:
		v->kind = CODE_CALL;
		break;
	case ZYDIS_CATEGORY_RET:
		v->kind = CODE_RETURN;
		break;
	case ZYDIS_CATEGORY_SYSCALL:
		v->kind = z->mnemonic == ZYDIS_MNEMONIC_SYSCALL ? CODE_SYSCALL : CODE_STOP;
		break;
	default:
		switch (z->mnemonic) {
		case ZYDIS_MNEMONIC_UD0: case ZYDIS_MNEMONIC_UD1: case ZYDIS_MNEMONIC_UD2:
		case ZYDIS_MNEMONIC_HLT: case ZYDIS_MNEMONIC_INT3: case ZYDIS_MNEMONIC_INT1:
		case ZYDIS_MNEMONIC_INT:
			v->kind = CODE_STOP;
			break;
		default:
			v->kind = CODE_PLAIN;
		}
	}
	if (v->kind != CODE_COND && v->kind != CODE_JUMP && v->kind != CODE_CALL)
		v->target = 0;
}

/* Adds a node for the instruction at pc.  CODE_EXIT: it is no instruction or, if *nomem, no memory */
static uint32_t
code_add(struct wcode *c, uint64_t pc, const uint8_t *b, size_t n, int *nomem)
{
	ZydisDecodedInstruction z;
	struct wcode_node v = { .pc = pc, .pdom = CODE_EXIT };

	/* two zero bytes: memory that the capture does not contain */
	if (n < 1 || (n > 1 && !b[0] && !b[1]) || x86_decode(&z, NULL, b, n, c->amd) != 0)
		return CODE_EXIT;
	v.len = z.length;
	memcpy(v.b, b, z.length);
	code_classify(&v, &z);
	*nomem = c->n >= CODE_EXIT - 1 || buf_grow(&c->node, &c->cap, c->n + 1, sizeof *c->node) < 0 ||
	    (c->n >= c->nhash && code_rehash(c) != 0);
	if (*nomem)
		return CODE_EXIT;
	c->node[c->n] = v;
	code_chain(c, (uint32_t)c->n);
	return (uint32_t)c->n++;
}

static int
code_queue(struct wcode *c, uint64_t pc)
{
	if (buf_grow(&c->todo, &c->captodo, c->ntodo + 1, sizeof *c->todo) < 0)
		return -1;
	c->todo[c->ntodo++] = pc;
	return 0;
}

static int
code_push(struct wcode *c, uint64_t pc)
{
	return wcode_find(c, pc) == CODE_EXIT ? code_queue(c, pc) : 0;
}

static int
code_add_indirect(struct wcode *c, uint32_t v)
{
	if (buf_grow(&c->indirect, &c->capindirect, c->nindirect + 1, sizeof *c->indirect) < 0)
		return -1;
	c->indirect[c->nindirect++] = v;
	return 0;
}

/* Queues the successors of node i within its function. */
static int
code_follow(struct wcode *c, uint32_t i)
{
	const struct wcode_node v = c->node[i];
	int e = 0;

	if (v.kind != CODE_JUMP && v.kind != CODE_INDIRECT && v.kind != CODE_RETURN && v.kind != CODE_STOP)
		e = code_push(c, v.pc + v.len);
	if (e == 0 && (v.kind == CODE_COND || v.kind == CODE_JUMP) && !wcode_is_entry(c, v.target))
		e = code_push(c, v.target);
	if (e == 0 && v.kind == CODE_INDIRECT && !(v.flags & (CODE_SLOT | CODE_TABLE)))
		e = code_add_indirect(c, i);
	return e;
}

int
wcode_insn(struct wcode *c, uint64_t pc, const uint8_t *b, size_t n)
{
	uint32_t v = c->nhash ? c->hash[wcode_bucket(c, pc)] : CODE_EXIT;
	int nomem = 0;

	while (v != CODE_EXIT &&
	    (c->node[v].pc != pc || c->node[v].len != n || memcmp(c->node[v].b, b, n) != 0))
		v = c->node[v].hnext;
	if (v == CODE_EXIT && (v = code_add(c, pc, b, n, &nomem)) == CODE_EXIT)
		return nomem ? -1 : 0;
	if (c->node[v].flags & CODE_RUN)
		return 0;
	c->node[v].flags |= CODE_RUN;
	if (c->node[v].kind == CODE_CALL && hash_set_add(&c->entry, c->node[v].target) < 0)
		return -1;
	return code_queue(c, pc);
}

int
wcode_add_edge(struct wcode *c, uint32_t from, uint64_t to)
{
	int e = hash_set_add(&c->edges, ((uint64_t)from + 1) * UINT64_C(0x9e3779b97f4a7c15) ^ to);

	if (e <= 0)
		return e;
	if (buf_grow(&c->edge, &c->capedge, c->nedge + 1, sizeof *c->edge) < 0)
		return -1;
	c->edge[c->nedge++] = (struct wcode_edge){ to, from };
	return code_push(c, to);
}

int
wcode_went(struct wcode *c, uint64_t from, uint64_t to)
{
	uint32_t v = wcode_find(c, from);
	size_t known;

	if (v == CODE_EXIT)
		return 0;
	if (c->node[v].kind == CODE_CALL || c->node[v].flags & CODE_SLOT)
		return hash_set_add(&c->entry, to) < 0 ? -1 : 0;
	if (c->node[v].kind == CODE_RETURN)
		return hash_set_add(&c->back, to) < 0 ? -1 : 0;
	if (c->node[v].kind != CODE_INDIRECT)
		return 0;
	known = c->nedge;
	if (wcode_add_edge(c, v, to) != 0)
		return -1;
	if (c->nedge != known)          /* a new target: the table is incomplete or was not found yet */
		c->node[v].flags &= (uint8_t)~CODE_TABLE;
	return 0;
}

/* Follows the code from the addresses in todo. */
static int
code_descend(struct wcode *c)
{
	int nomem = 0;

	while (c->ntodo) {
		uint64_t pc = c->todo[--c->ntodo];
		uint32_t v = wcode_find(c, pc);
		uint8_t b[15];

		if (v == CODE_EXIT) {
			v = code_add(c, pc, b, c->read(c->arg, pc, b, sizeof b, 1), &nomem);
			if (nomem)
				return -1;
			if (v == CODE_EXIT)
				continue;
			if (c->kept)
				c->kept(c->keptarg, pc, c->node[v].len);
		}
		if (code_follow(c, v) != 0)
			return -1;
	}
	return 0;
}

/*
 * Jump tables come last: the way to a jump has to be known.  What they lead to may lead to further ones.  A jump without
 * one is not tried again by the next call: there may be a call for each record of a capture.
 */
int
wcode_descend(struct wcode *c)
{
	do {
		size_t n = 0;

		if (code_descend(c) != 0)
			return -1;
		for (size_t i = 0; i < c->nindirect; i++) {
			uint32_t v = c->indirect[i];

			if (wcode_table(c, v) != 0)
				return -1;
			if (!(c->node[v].flags & CODE_TABLE))
				c->indirect[n++] = v;
		}
		c->nindirect = n;
	} while (c->ntodo);
	c->nindirect = 0;
	return 0;
}
