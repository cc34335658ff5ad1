/* The interpreter: one long switch. */

#include "ae/regen/interp_internal.h"
#include "base/bytes.h"

#define MASK48 UINT64_C(0xffffffffffff)

static void
interp_unknown(struct ctx *x, const struct iop *o, int big)
{
	uint64_t v;

	x->e = interp_need(x, x->p - o->x, x->e, o->w, 0);
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

/* The rest of a short value, of which four bytes are in its variable. */
static void
interp_short(struct ctx *x, const struct iop *o)
{
	uint8_t b[EV_SHORTMAX];
	uint32_t first = (uint32_t)x->v[o->d];
	unsigned n = ev_shortlen(first) - 4;

	x->e = interp_need(x, x->p - o->x, x->e, n, 0);
	put_le32(b, first);
	memcpy(b + 4, x->e, n);
	if (!ev_short(b, x->v + o->d))
		feed_fault(x->f, x->p - o->x, x->e, msg_short);
	x->e += n;
	if (x->r->c->where) {
		x->r->count[RK_VALUE] += n;
		x->r->c->where[o->k].bytes += n;
	}
}

static void
interp_loadro(struct ctx *x, const struct iop *o)
{
	unsigned sh = 64 - 8u * o->n;
	uint8_t b[8];
	uint64_t v;

	if (!prog_rodata(x->r->c->g, (uint32_t)o->k, x->v[o->a], b, o->n))
		feed_fault(x->f, x->p - o->x, x->e, msg_noimage);
	v = get_order(b, o->n, o->b);
	if (o->sh)
		v = (uint64_t)((int64_t)(v << sh) >> sh);
	x->v[o->d] = code_result(o->w, x->v[o->d], v);
}

static void
interp_rep(struct ctx *x, const struct iop *o)
{
	struct ae_pos q = {x->p, x->e};
	uint64_t *v = x->v, n;

	n = feed_rep(x->f, &q, o->k, o->sh, o->w, v[PROG_RCX], v[PROG_RSI], v[PROG_RDI]);
	x->p = q.p;
	x->e = q.e;
	if (x->r->model)
		x->r->model->string(x->r->model->program, o->sh, o->w, n, v[PROG_RSI], v[PROG_RDI]);
	v[PROG_RCX] -= n;
	if (o->sh == SR_MOVS || o->sh == SR_LODS || o->sh == SR_CMPS)
		v[PROG_RSI] += n * o->w;
	if (o->sh != SR_LODS)
		v[PROG_RDI] += n * o->w;
	if (x->r->model) {
		x->r->model->reg[PROG_RCX] = v[PROG_RCX];
		x->r->model->reg[PROG_RSI] = v[PROG_RSI];
		x->r->model->reg[PROG_RDI] = v[PROG_RDI];
	}
}

static uint32_t
interp_lookup(struct ctx *x, const struct iop *o, uint64_t key)
{
	const struct code *c = x->r->c;
	const struct iswitch *s = c->sw + o->x;

	for (uint32_t h = code_hash(key);; h++) {
		uint32_t k = s->first + (h & s->mask);

		if (!c->swto[k]) {
			if (o->sh && !prog_inside(s->pf, key))
				return UINT32_MAX;
			feed_fault(x->f, x->p, x->e, o->op == CO_TARGET ? msg_target : msg_noswitch);
		}
		if (c->swkey[k] == key)
			return c->swto[k] - 1;
	}
}

/* Control is here again when the regeneration is resumed. */
static _Noreturn void
interp_wait(struct ctx *x)
{
	x->r->at = *x;
	x->r->atop = (size_t)(x->ip - x->r->c->op);
	longjmp(x->f->out, 1);
}

_Noreturn void
interp_point(struct ctx *x, uint64_t point)
{
	uint64_t number = point & ~(EV_POINT | EV_BIRTH);

	if (number <= x->r->passed)
		feed_fault(x->f, x->p, x->e, msg_backwards);
	x->r->passed = number;
	x->p = feed_flush(x->f, x->p, x->e);
	x->r->point = point;
	interp_wait(x);
}

void
interp_event(struct ctx *x, struct regen_ask *a)
{
	const struct regen_model *m = x->r->model;
	const uint8_t *e;

	a->sp = x->v == x->r->stack + FRAME ? 0 : x->v[x->r->c->fn[x->v[F_FUNC - FRAME]].sp];
	x->f->at = NULL;
	e = m->event(m->arg, a, x->e, &x->r->s.eend);
	if (!e)
		interp_wait(x);
	x->e = e;
	if (a->kind != RK_ITEM && a->kind != RK_NEED) {
		x->r->count[a->kind] += a->n;
		x->r->c->where[a->site].events++;
		x->r->c->where[a->site].bytes += a->n;
	}
}

#define ADDR2(o) (v[(o)->a] + (v[(o)->b] << (o)->sh) + (o)->imm)
#define ADDRG(o, n) ((((n) & 2 ? (uint32_t)ADDR2(o) : ADDR2(o))) + ((n) & 1 ? x.r->s.fs : 0))
#define SAVE() (x.p = p, x.e = e, x.v = v, x.ip = o)
/* the code may have moved, if functions of a library were added */
#define LOAD() (p = x.p, e = x.e, v = x.v, o = x.ip, code = r->c->op, tab = r->c->tab)

/* Reads the events of instruction o; later references of its template are not written yet. */
#define NEED(k) do { if ((size_t)(r->s.eend - e) < (k)) e = feed_more(f, p - o->x, e, k, 0); } while (0)

void
interp_run(struct regen *r, struct feed *f)
{
	struct ctx x = {.r = r, .f = f, .p = r->s.buf, .e = r->s.eend, .v = r->stack + FRAME, .ip = r->c->op};
	const struct iop *code, *o;
	const uint64_t *tab;
	uint64_t *const full = r->s.buf + (AE_BATCH - CODE_ROOM - CODE_PAD);
	uint64_t *p, *v;
	const uint8_t *e;
	uint32_t to;

	if (r->at.r) {
		x = r->at;
		x.ip = r->c->op + r->atop;
	}
	x.f = f;
	LOAD();
	for (;; o++) {
		switch ((enum code_op)o->op) {
		case CO_REFS: {
			const uint64_t *t = tab + o->x;
			unsigned n = o->n;

			if (p > full)
				p = feed_flush(f, p, e);
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
		case CO_UNKS:
			NEED(4);
			v[o->d] = get_le32(e);
			e += 4;
			if (v[o->d] >> 31) {
				SAVE();
				interp_short(&x, o);
				e = x.e;
			}
			break;
		case CO_UNKG:
			SAVE();
			interp_unknown(&x, o, 0);
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
			interp_unknown(&x, o, 1);
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
			interp_loadro(&x, o);
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
			v[o->d] = code_result(1, v[o->d], (uint64_t)code_cond(o->sh, v[o->b], v[o->b + 1]));
			break;
		case CO_SETCC8:
			v[o->d] = (uint64_t)code_cond(o->sh, v[o->b], v[o->b + 1]);
			break;
		case CO_CMOV:
			v[o->d] = code_result(o->w, v[o->d], code_cond(o->sh, v[o->b], v[o->b + 1]) ?
			    v[o->a] : v[o->d]);
			break;
		case CO_REP:
			SAVE();
			interp_rep(&x, o);
			p = x.p;
			e = x.e;
			break;
		case CO_MASKED:
			p = feed_masked(f, p, e, o->sh, o->w, o->n, v[o->d], v + o->a, v + o->b);
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
			o = code + (code_cond(o->sh, v[o->a], v[o->a + 1]) ? o->x : o->imm) - 1;
			break;
		case CO_SWITCH:
			SAVE();
			if ((to = interp_lookup(&x, o, v[o->a])) == UINT32_MAX)
				goto tail;
			o = code + to - 1;
			break;
		case CO_TARGET:
			if ((size_t)(r->s.eend - e) < o->w)
				e = feed_more(f, p, e, o->w, 0);
			SAVE();
			o = code + interp_lookup(&x, o, ae_get(e, o->w)) - 1;
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
			r->c->where[o->k].events++;
			r->c->where[o->k].bytes += o->n;
			break;
		case CO_MODEL:
			r->model->run(r->model->program, (uint32_t)o->imm, p - o->x);
			break;
		case CO_SYNC:
			r->model->reg[o->d] = v[o->a];
			break;
		case CO_EVENT: {
			struct regen_ask a = {.kind = (enum regen_kind)o->a, .n = o->n, .site = (uint32_t)o->k,
			    .reg = o->d, .how = o->sh, .keep = o->b & 1, .alone = o->b >> 1};

			SAVE();
			interp_event(&x, &a);
			e = x.e;
			break;
		}
		case CO_CALL: {
			const struct ifunc *fn = r->c->fn + o->x;
			uint64_t *w;

			SAVE();
			w = interp_push(&x, o->x, v[fn->sp] - o->imm, (uint32_t)(o + 1 - code),
			    r->c->fn[v[F_FUNC - FRAME]].nslot);
			for (uint32_t i = 0; i < fn->nneed; i++)
				w[fn->need[i]] = v[fn->need[i]];
			v = w;
			o = code + fn->ip - 1;
			break;
		}
		case CO_TAIL: {
			const struct ifunc *fn = r->c->fn + o->x;
			uint64_t arg[PROG_MAXNEED], *old = v, ret = v[F_RET - FRAME],
			    prev = v[F_PREV - FRAME];

			for (uint32_t i = 0; i < fn->nneed; i++)
				arg[i] = v[fn->need[i]];
			SAVE();
			x.v = v - prev;
			v = interp_push(&x, o->x, old[fn->sp], (uint32_t)ret, prev - FRAME);
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
			interp_items(&x);
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
		case CO_BEGIN:
			SAVE();
			interp_begin(&x);
			LOAD();
			break;
		case CO_END:
			SAVE();
			interp_end(&x);
			LOAD();
			o--;
			break;
		case CO_LANDING:
			break;
		case CO_NEVER:
			feed_trap(f, p, e, msg_never);
		case CO_NOPS:
			break;
		}
	}
}
