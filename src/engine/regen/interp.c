/*
 * The interpreter: regen.h.  One long switch, because that is what it is.
 *
 * Frames lie in a large region of their own, one behind the other: FRAME
 * words of bookkeeping, then the variables.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/bytes.h"
#include "code.h"
#include "format/ref.h"
#include "msg.h"
#include "regen.h"

#define MASK48 UINT64_C(0xffffffffffff)
#define STACK_WANT ((size_t)16 << 30)   /* bytes; taken when used */
#define STACK_LEAST ((size_t)1 << 20)

enum { F_RET, F_FUNC, F_PREV, F_RSP, FRAME };  /* F_PREV: words back to the caller's variables */

struct regen {
	struct code c;
	uint64_t count[RK_NKINDS];
	struct ae_state s;
	uint64_t *stack;
	size_t nstack;                  /* words */
};

struct regen *
regen_new(const struct prog *g, int count, const char **err)
{
	struct regen *r = calloc(1, sizeof *r);
	size_t n;

	if (!r) {
		*err = "out of memory";
		return NULL;
	}
	if (code_lower(&r->c, g, count) != 0) {
		*err = r->c.err;
		regen_free(r);
		return NULL;
	}
	for (n = STACK_WANT; n >= STACK_LEAST; n /= 2) {
		void *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

		if (p != MAP_FAILED) {
			r->stack = p;
			r->nstack = n / 8;
			return r;
		}
	}
	*err = "no memory for a stack";
	regen_free(r);
	return NULL;
}

void
regen_free(struct regen *r)
{
	if (!r)
		return;
	if (r->stack)
		munmap(r->stack, r->nstack * 8);
	code_free(&r->c);
	free(r);
}

const uint64_t *
regen_counts(const struct regen *r)
{
	return r->count;
}

struct ae_state *
regen_state(struct regen *r)
{
	return &r->s;
}

/* What is in registers while the switch runs, for the parts that are not in it */
struct ctx {
	struct regen *r;
	struct feed *f;
	uint64_t *p;
	const uint8_t *e;
	uint64_t *v;
	const struct iop *ip;
	int have;                       /* the next function's rsp is known: 1 by rule, 2 by an event */
	uint64_t next;
};

static const uint8_t *
need(struct ctx *x, uint64_t *p, const uint8_t *e, unsigned n, int item)
{
	if ((size_t)(x->r->s.eend - e) >= n)
		return e;
	return feed_more(x->f, p, e, n, item);
}

/* A frame for function fn; its variables are 0 but for rsp */
static uint64_t *
push(struct ctx *x, uint32_t fn, uint64_t rsp, uint32_t ret, size_t used)
{
	const struct ifunc *t = x->r->c.fn + fn;
	uint64_t *v = x->v + used + FRAME;

	if ((size_t)(v - x->r->stack) + t->nslot + 1 > x->r->nstack)
		feed_fault(x->f, x->p, x->e, msg_deep);
	memset(v, 0, t->nslot * sizeof *v);
	v[F_RET - FRAME] = ret;
	v[F_FUNC - FRAME] = fn;
	v[F_PREV - FRAME] = used + FRAME;
	v[F_RSP - FRAME] = rsp;
	v[t->sp] = rsp;
	return v;
}

/* Words that the frame at v uses */
static size_t
used(const struct regen *r, const uint64_t *v)
{
	return v == r->stack + FRAME ? 1 : r->c.fn[v[F_FUNC - FRAME]].nslot;
}

/* Leave frames until one stands at an unknown call with this rsp. */
static void
unwind(struct ctx *x, uint64_t rsp, const uint8_t *at)
{
	const struct iop *op = x->r->c.op;
	uint64_t *v = x->v;
	const struct iop *ip = x->ip;

	while (ip->op != CO_SEQROOT) {
		if (ip->op == CO_SEQ && v[ip->a] == rsp) {
			x->v = v;
			x->ip = ip;
			x->have = 0;
			return;
		}
		ip = op + v[F_RET - FRAME];
		v -= v[F_PREV - FRAME];
	}
	feed_fault(x->f, x->p, at, msg_noframe);
}

/* ... until one has this setjmp site, with this rsp there */
static void
land(struct ctx *x, uint64_t rsp, unsigned no, const uint8_t *at)
{
	const struct code *c = &x->r->c;
	const struct iop *ip = x->ip;
	uint64_t *v = x->v;

	while (ip->op != CO_SEQROOT) {
		const struct ifunc *fn = c->fn + v[F_FUNC - FRAME];

		for (uint32_t i = 0; i < fn->nsite; i++) {
			const struct isite *s = c->site + fn->site + i;

			if (s->no != no)
				continue;
			if (v[s->slot] != rsp && !(ip->op == CO_SEQJ && ip->x == no && v[fn->sp] == rsp))
				continue;
			v[s->slot] = rsp;
			v[fn->sp] = rsp;
			x->v = v;
			x->ip = c->op + s->ip;
			return;
		}
		ip = c->op + v[F_RET - FRAME];
		v -= v[F_PREV - FRAME];
	}
	feed_fault(x->f, x->p, at, msg_noframe);
}

/* A stack pointer or register at run items */
static uint64_t
word(const struct code *c, const uint8_t *e)
{
	return c->g->word == 8 && !c->g->big ? get_le64(e) : get_order(e, c->g->word, c->g->big);
}

/* A function whose number is at e is entered from the run sequence at ip. */
static void
enter(struct ctx *x)
{
	const struct code *c = &x->r->c;
	uint32_t i = (uint32_t)x->e[1] * EV_NFUNC0 + x->e[0] - 1;
	const struct ifunc *fn;

	if (i >= c->g->nno || c->g->byno[i] < 0)
		feed_fault(x->f, x->p, x->e, msg_nofunc);
	if (!x->have)
		feed_fault(x->f, x->p, x->e, msg_norsp);
	x->e += 2;
	i = (uint32_t)c->g->byno[i];
	fn = c->fn + i;
	x->v = push(x, i, x->next, (uint32_t)(x->ip - c->op), used(x->r, x->v));
	for (uint32_t k = 0; k < fn->nneed; k++) {
		x->e = need(x, x->p, x->e, c->g->word, 0);
		x->v[fn->need[k]] = word(c, x->e);
		x->e += c->g->word;
	}
	x->r->count[RK_NEED] += fn->nneed * c->g->word;
	x->ip = c->op + fn->ip;
}

/* Run items at x->ip, which is a SEQ, SEQJ or SEQROOT, until control is somewhere else. */
static void
run_items(struct ctx *x)
{
	const struct code *c = &x->r->c;
	uint64_t *count = x->r->count + RK_ITEM;
	unsigned w = c->g->word;

	for (;;) {
		const struct iop *here = x->ip;
		const uint8_t *at;

		x->e = need(x, x->p, x->e, 1, x->have != 2);
		if (x->have == 2 && (*x->e == EV_RETURN || *x->e > EV_NFUNC0))
			feed_fault(x->f, x->p, x->e, msg_noentry);
		switch (*x->e) {
		case EV_RETURN:
			if (here->op != CO_SEQ)
				feed_fault(x->f, x->p, x->e, here->op == CO_SEQJ ? msg_jreturn : msg_rootreturn);
			x->e++;
			x->ip++;
			*count += 1;
			return;
		case EV_ENTER:
			x->e = need(x, x->p, x->e, 1 + w, 0);
			x->next = word(c, x->e + 1);
			x->have = 2;
			x->e += 1 + w;
			*count += 1 + w;
			break;
		case EV_UNWIND:
			x->e = need(x, x->p, x->e, 1 + w, 0);
			at = x->e;
			x->e += 1 + w;
			*count += 1 + w;
			unwind(x, word(c, at + 1), at);
			break;
		case EV_LAND:
			x->e = need(x, x->p, x->e, 3 + w, 0);
			at = x->e;
			x->e += 3 + w;
			*count += 3 + w;
			land(x, word(c, at + 1), (unsigned)get_order(at + 1 + w, 2, c->g->big), at);
			return;
		default:
			x->e = need(x, x->p, x->e, 2, 0);
			*count += 2;
			enter(x);
			return;
		}
	}
}

static int
cond(unsigned cc, uint64_t a, uint64_t b)
{
	switch (cc) {
	case SC_EQ:
		return a == b;
	case SC_NE:
		return a != b;
	case SC_LT:
		return (int64_t)a < (int64_t)b;
	case SC_LE:
		return (int64_t)a <= (int64_t)b;
	case SC_GT:
		return (int64_t)a > (int64_t)b;
	case SC_GE:
		return (int64_t)a >= (int64_t)b;
	case SC_LTU:
		return a < b;
	case SC_LEU:
		return a <= b;
	case SC_GTU:
		return a > b;
	case SC_GEU:
		return a >= b;
	case SC_NEG:
		return (int64_t)(a - b) < 0;
	default:
		return (int64_t)(a - b) >= 0;
	}
}

static void
unknown(struct ctx *x, const struct iop *o, int big)
{
	uint64_t v;

	x->e = need(x, x->p - o->x, x->e, o->w, 0);
	v = get_order(x->e, o->w, big);
	x->e += o->w;
	if (o->sh == 1 || o->sh == 3) {
		unsigned sh = 64 - 8u * o->w;

		v = (uint64_t)((int64_t)(v << sh) >> sh);
		if (o->sh == 3)
			v = (uint32_t)v;
	} else if (o->sh == 2)
		v = code_result(o->w, x->v[o->d], v);
	x->v[o->d] = v;
}

static void
loadro(struct ctx *x, const struct iop *o)
{
	const struct prog_source *s = &x->r->c.g->src;
	unsigned sh = 64 - 8u * o->n;
	uint8_t b[8];
	uint64_t v;

	if (!s->rodata || !s->rodata(s->arg, x->v[o->a], b, o->n))
		feed_fault(x->f, x->p - o->x, x->e, msg_noimage);
	v = get_order(b, o->n, o->b);
	if (o->sh)
		v = (uint64_t)((int64_t)(v << sh) >> sh);
	x->v[o->d] = code_result(o->w, x->v[o->d], v);
}

static void
rep(struct ctx *x, const struct iop *o)
{
	struct ae_pos q = {x->p, x->e};
	uint64_t *v = x->v, n;

	n = feed_rep(x->f, &q, o->k, o->sh, o->w, v[PROG_RCX], v[PROG_RSI], v[PROG_RDI]);
	x->p = q.p;
	x->e = q.e;
	v[PROG_RCX] -= n;
	if (o->sh == SR_MOVS || o->sh == SR_LODS || o->sh == SR_CMPS)
		v[PROG_RSI] += n * o->w;
	if (o->sh != SR_LODS)
		v[PROG_RDI] += n * o->w;
}

static uint32_t
lookup(struct ctx *x, const struct iop *o, uint64_t key)
{
	const struct code *c = &x->r->c;
	const struct iswitch *s = c->sw + o->x;

	for (uint32_t h = code_hash(key);; h++) {
		uint32_t k = s->first + (h & s->mask);

		if (!c->swto[k]) {
			if (o->sh)
				return UINT32_MAX;      /* out of the function */
			feed_fault(x->f, x->p, x->e, o->op == CO_TARGET ? msg_target : msg_noswitch);
		}
		if (c->swkey[k] == key)
			return c->swto[k] - 1;
	}
}

#define ADDR2(o) (v[(o)->a] + (v[(o)->b] << (o)->sh) + (o)->imm)
#define ADDRG(o, n) ((((n) & 2 ? (uint32_t)ADDR2(o) : ADDR2(o))) + ((n) & 1 ? x.r->s.fs : 0))
#define SAVE() (x.p = p, x.e = e, x.v = v, x.ip = o)
#define LOAD() (p = x.p, e = x.e, v = x.v, o = x.ip)

/* Events of the instruction o; later references of its template are not there yet */
#define NEED(k) do { if ((size_t)(r->s.eend - e) < (k)) e = feed_more(f, p - o->x, e, k, 0); } while (0)

static void
interpret(struct regen *r, struct feed *f)
{
	struct ctx x = {.r = r, .f = f, .p = r->s.buf, .e = r->s.eend, .v = r->stack + FRAME, .ip = r->c.op};
	const struct iop *const code = r->c.op, *o;
	const uint64_t *const tab = r->c.tab;
	uint64_t *const full = r->s.buf + (AE_BATCH - CODE_ROOM - CODE_PAD);
	uint64_t *p, *v;
	const uint8_t *e;
	uint32_t to;

	LOAD();
	for (;; o++) {
		switch ((enum code_op)o->op) {
		case CO_REFS: {
			const uint64_t *t = tab + o->x;
			unsigned n = o->n;

			if (p > full)
				p = feed_flush(f, p);
			for (unsigned i = 0; i < n; i += 4)
				memcpy(p + i, t + i, 32);
			p += n;
			break;
		}
		case CO_R1:
			*(p - o->x) = ((v[o->a] + o->imm) & MASK48) | o->k;
			break;
		case CO_R2:
			*(p - o->x) = (ADDR2(o) & MASK48) | o->k;
			break;
		case CO_RG:
			*(p - o->x) = (ADDRG(o, o->n) & MASK48) | o->k;
			break;
		case CO_RA:
			*(p - o->x) = ((v[o->a] + o->imm) & (MASK48 - 3)) | o->k;
			break;
		case CO_UNK8:
			NEED(8);
			v[o->d] = ae_get(e, 8);
			e += 8;
			break;
		case CO_UNK4:
			NEED(4);
			v[o->d] = o->sh == 3 ? (uint32_t)ae_get(e, 4) : ae_get(e, 4);
			e += 4;
			break;
		case CO_UNK1:
			NEED(1);
			v[o->d] = *e++;
			break;
		case CO_UNKG:
			SAVE();
			unknown(&x, o, 0);
			e = x.e;
			break;
		case CO_UNK8B:
			NEED(8);
			v[o->d] = get_be64(e);
			e += 8;
			break;
		case CO_UNK4B:
			NEED(4);
			v[o->d] = get_be32(e);
			e += 4;
			break;
		case CO_UNKGB:
			SAVE();
			unknown(&x, o, 1);
			e = x.e;
			break;
		case CO_MOV:
			v[o->d] = v[o->a];
			break;
		case CO_MOVI:
			v[o->d] = o->imm;
			break;
		case CO_LEA1:
			v[o->d] = v[o->a] + o->imm;
			break;
		case CO_LEA2:
			v[o->d] = ADDR2(o);
			break;
		case CO_LEAG:
			v[o->d] = code_result(o->w, v[o->d], ADDRG(o, o->n));
			break;
		case CO_ADD8:
			v[o->d] = v[o->a] + v[o->b];
			break;
		case CO_SUB8:
			v[o->d] = v[o->a] - v[o->b];
			break;
		case CO_AND8:
			v[o->d] = v[o->a] & v[o->b];
			break;
		case CO_AND8I:
			v[o->d] = v[o->a] & o->imm;
			break;
		case CO_SHL8I:
			v[o->d] = v[o->a] << o->imm;
			break;
		case CO_ADD4:
			v[o->d] = (uint32_t)(v[o->a] + v[o->b]);
			break;
		case CO_ADD4I:
			v[o->d] = (uint32_t)(v[o->a] + o->imm);
			break;
		case CO_SUB4:
			v[o->d] = (uint32_t)(v[o->a] - v[o->b]);
			break;
		case CO_AND4I:
			v[o->d] = (uint32_t)(v[o->a] & o->imm);
			break;
		case CO_SHL4I:
			v[o->d] = (uint32_t)(v[o->a] << o->imm);
			break;
		case CO_SX48:
			v[o->d] = (uint64_t)(int32_t)v[o->a];
			break;
		case CO_ALU:
			v[o->d] = code_result(o->w, v[o->d], code_alu(o->n, o->w, o->sh, v[o->a], v[o->b]));
			break;
		case CO_LOADRO:
			SAVE();
			loadro(&x, o);
			break;
		case CO_FLAGS:
			v[o->d + 1] = v[o->b] << o->sh;
			v[o->d] = v[o->a] << o->sh;
			break;
		case CO_FLAGSI:
			v[o->d] = v[o->a] << o->sh;
			v[o->d + 1] = o->imm;
			break;
		case CO_FLAGSAND:
			v[o->d] = (v[o->a] & v[o->b]) << o->sh;
			v[o->d + 1] = 0;
			break;
		case CO_SETCC:
			v[o->d] = code_result(1, v[o->d], (uint64_t)cond(o->sh, v[o->b], v[o->b + 1]));
			break;
		case CO_SETCC8:
			v[o->d] = (uint64_t)cond(o->sh, v[o->b], v[o->b + 1]);
			break;
		case CO_CMOV:
			v[o->d] = code_result(o->w, v[o->d], cond(o->sh, v[o->b], v[o->b + 1]) ? v[o->a] : v[o->d]);
			break;
		case CO_REP:
			SAVE();
			rep(&x, o);
			p = x.p;
			e = x.e;
			break;
		case CO_JUMP:
			o = code + o->x - 1;
			break;
		case CO_BRANCH:
			if (e == r->s.eend)
				e = feed_more(f, p, e, 1, 0);
			if (*e > 1)
				feed_fault(f, p, e, msg_branch);
			o = code + (*e++ ? o->x : o->imm) - 1;
			break;
		case CO_COND:
			o = code + (cond(o->sh, v[o->a], v[o->a + 1]) ? o->x : o->imm) - 1;
			break;
		case CO_SWITCH:
			SAVE();
			if ((to = lookup(&x, o, v[o->a])) == UINT32_MAX)
				goto tail;
			o = code + to - 1;
			break;
		case CO_TARGET:
			if ((size_t)(r->s.eend - e) < o->w)
				e = feed_more(f, p, e, o->w, 0);
			SAVE();
			o = code + lookup(&x, o, ae_get(e, o->w)) - 1;
			break;
		case CO_MARK:
			NEED(o->w);
			if (ae_get(e, o->w) != o->imm)
				feed_fault(f, p, e, msg_mark);
			e += o->w;
			break;
		case CO_COUNT:
			NEED(o->n);
			r->count[o->a] += o->n;
			break;
		case CO_CALL: {
			const struct ifunc *fn = r->c.fn + o->x;
			uint64_t *w;

			SAVE();
			w = push(&x, o->x, v[fn->sp] - o->imm, (uint32_t)(o + 1 - code), r->c.fn[v[F_FUNC - FRAME]].nslot);
			for (uint32_t i = 0; i < fn->nneed; i++)
				w[fn->need[i]] = v[fn->need[i]];
			v = w;
			o = code + fn->ip - 1;
			break;
		}
		case CO_TAIL: {
			const struct ifunc *fn = r->c.fn + o->x;
			uint64_t arg[PROG_MAXNEED], *old = v, ret = v[F_RET - FRAME], prev = v[F_PREV - FRAME];

			for (uint32_t i = 0; i < fn->nneed; i++)
				arg[i] = v[fn->need[i]];
			SAVE();
			x.v = v - prev;
			v = push(&x, o->x, old[fn->sp], (uint32_t)ret, prev - FRAME);
			for (uint32_t i = 0; i < fn->nneed; i++)
				v[fn->need[i]] = arg[i];
			o = code + fn->ip - 1;
			break;
		}
		case CO_UNKNOWN:
			x.have = 1;
			x.next = v[o->a] - o->imm;
			break;
		case CO_SEQ:
		case CO_SEQJ:
		case CO_SEQROOT:
			SAVE();
			run_items(&x);
			LOAD();
			o--;
			break;
		case CO_TAILX:
		tail:
			x.have = 1;
			x.next = v[F_RSP - FRAME];
			o = code + v[F_RET - FRAME] - 1;
			v -= v[F_PREV - FRAME];
			break;
		case CO_RETURN:
			x.have = 0;
			o = code + v[F_RET - FRAME] - 1;
			v -= v[F_PREV - FRAME];
			break;
		case CO_NEVER:
			feed_trap(f, p, e, msg_never);
		case CO_NOPS:
			break;
		}
	}
}

int
regen_run(struct regen *r, struct feed *f)
{
	memset(r->stack, 0, FRAME * sizeof *r->stack);
	memset(r->count, 0, sizeof r->count);
	if (setjmp(f->out) == 0)
		interpret(r, f);
	return f->err ? -1 : f->status;
}
