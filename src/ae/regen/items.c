/* Run sequences of the interpreter: which functions run, and which frames are left. */
#include "ae/regen/interp_internal.h"
#include "base/bytes.h"

/* Words of the frame at v. */
static size_t
items_used(const struct regen *r, const uint64_t *v)
{
	return v == r->stack + FRAME ? 1 : r->c->fn[v[F_FUNC - FRAME]].nslot;
}

/*
 * A frame is left: where its caller continues. The call of a watched function ends if that, or who it jumped
 * to, is left by an unwinding.
 */
static const struct iop *
items_back(struct ctx *x, const struct iop *ip, const uint64_t *v, int *over)
{
	const struct iop *op = x->r->c->op;
	uint64_t ret = v[F_RET - FRAME];

	if (!x->r->watch)
		return op + ret;
	*over |= ip == op + CODE_SEQ || ret == CODE_END;
	return op + (ret == CODE_END ? x->r->back : ret);
}

/* Leaves frames until one is at an unknown call with this rsp; all of them if that is 0, because a region ends. */
static void
items_unwind(struct ctx *x, uint64_t rsp, const uint8_t *at)
{
	uint64_t *v = x->v;
	const struct iop *ip = x->ip;
	int over = 0;

	while (ip->op != CO_SEQROOT) {
		if (ip->op == CO_SEQ && v[ip->a] == rsp) {
			if (over)
				feed_stop(x->f, x->p);
			x->v = v;
			x->ip = ip;
			x->have = 0;
			return;
		}
		ip = items_back(x, ip, v, &over);
		v -= v[F_PREV - FRAME];
	}
	if (rsp != 0)
		feed_fault(x->f, x->p, at, msg_noframe);
	if (over)
		feed_stop(x->f, x->p);
	x->v = v;
	x->ip = ip;
	x->have = 0;
}

/* ... until one has this setjmp site, with this rsp. */
static void
items_land(struct ctx *x, uint64_t rsp, unsigned no, const uint8_t *at)
{
	const struct code *c = x->r->c;
	const struct iop *ip = x->ip;
	uint64_t *v = x->v;
	int over = 0;

	while (ip->op != CO_SEQROOT) {
		const struct ifunc *fn = c->fn + v[F_FUNC - FRAME];

		for (uint32_t i = 0; i < fn->nsite; i++) {
			const struct isite *s = c->site + fn->site + i;

			if (s->no != no)
				continue;
			if (v[s->slot] != rsp && !(ip->op == CO_SEQJ && ip->x == no && v[fn->sp] == rsp))
				continue;
			if (over)
				feed_stop(x->f, x->p);
			v[s->slot] = rsp;
			v[fn->sp] = rsp;
			x->v = v;
			x->ip = c->op + s->ip;
			return;
		}
		ip = items_back(x, ip, v, &over);
		v -= v[F_PREV - FRAME];
	}
	feed_fault(x->f, x->p, at, msg_noframe);
}

/*
 * ... until one has this stack pointer in it, and is at a call whose exceptions land in it: each frame ends where rsp was at
 * its entry.
 */
static void
items_caught(struct ctx *x, uint64_t rsp, const uint8_t *at)
{
	const struct iop *op = x->r->c->op, *ip = x->ip;
	uint64_t *v = x->v;
	int over = 0;

	while (ip->op != CO_SEQROOT) {
		const struct iop *after = ip == op + CODE_SEQ ? op + x->r->back : ip;

		over |= ip == op + CODE_SEQ;
		if (after->op == CO_SEQ || after->op == CO_SEQJ)
			after++;
		if (after->op == CO_LANDING && v[F_RSP - FRAME] >= rsp) {
			if (over)
				feed_stop(x->f, x->p);
			v[x->r->c->fn[v[F_FUNC - FRAME]].sp] = rsp;
			x->v = v;
			x->ip = op + after->x;
			x->have = 0;
			return;
		}
		ip = items_back(x, ip, v, &over);
		v -= v[F_PREV - FRAME];
	}
	feed_fault(x->f, x->p, at, msg_noframe);
}

/* A stack pointer or register among run items. */
static uint64_t
items_word(const struct code *c, const uint8_t *e)
{
	return c->g->word == 8 && !c->g->big ? get_le64(e) : get_order(e, c->g->word, c->g->big);
}

/* A function that is not known yet may be of a library, which is added then. */
static void
items_library(struct ctx *x, uint32_t number)
{
	const struct ev_module *m = feed_module(x->f, number);
	struct regen *r = x->r;
	const char *err = msg_nofunc;
	uint32_t first = r->g->nfunc;
	size_t at = (size_t)(x->ip - r->c->op);

	if (!m || !r->library || prog_added(r->g, number))
		feed_fault(x->f, x->p, x->e, m && !r->library ? msg_library : msg_nofunc);
	if (r->library(r->libraryarg, r->g, m, &err) != 0)
		feed_fault(x->f, x->p, x->e, err);
	if (code_lower_more(r->c, first, r->watched) != 0)
		feed_fault(x->f, x->p, x->e, r->c->err);
	if (r->g->byno[number] < 0)
		feed_fault(x->f, x->p, x->e, msg_nofunc);
	x->ip = r->c->op + at;
}

/* Register k of those that function fn needs: how many bytes of events it took */
static unsigned
items_register(struct ctx *x, const struct ifunc *fn, uint32_t k)
{
	const struct code *c = x->r->c;
	unsigned n = fn->isshort ? 4 : c->g->word;

	if (x->r->model) {
		struct regen_ask a = {.kind = RK_NEED, .n = n, .site = fn->where + k, .reg = fn->need[k],
		    .how = fn->isshort ? 4 : 0};

		interp_event(x, &a);
	}
	x->e = interp_need(x, x->p, x->e, n, 0);
	if (fn->isshort) {
		n = ev_shortlen(get_le32(x->e));
		x->e = interp_need(x, x->p, x->e, n, 0);
		if (!ev_short(x->e, x->v + fn->need[k]))
			feed_fault(x->f, x->p, x->e, msg_short);
	} else
		x->v[fn->need[k]] = items_word(c, x->e);
	x->e += n;
	return n;
}

/* Enters the function whose number is at e, from the run sequence at ip. */
static void
items_enter(struct ctx *x)
{
	const struct code *c = x->r->c;
	uint32_t i = (uint32_t)x->e[1] * EV_NFUNC0 + x->e[0] - 1;
	const struct ifunc *fn;
	unsigned n;

	if (i >= c->g->nno || c->g->byno[i] < 0)
		items_library(x, i);
	if (!x->have)
		feed_fault(x->f, x->p, x->e, msg_norsp);
	x->e += 2;
	i = (uint32_t)c->g->byno[i];
	fn = c->fn + i;
	x->v = interp_push(x, i, x->next, (uint32_t)(x->ip - c->op), items_used(x->r, x->v));
	n = 0;
	for (uint32_t k = 0; k < fn->nneed; k++)
		n += items_register(x, fn, k);
	x->r->count[RK_NEED] += n;
	if (c->where) {
		c->where[fn->where].events += fn->nneed;
		c->where[fn->where].bytes += n;
	}
	x->ip = c->op + fn->ip;
}

/* An item of n bytes was read at a run sequence. */
static void
items_count(struct ctx *x, const struct iop *at, unsigned n)
{
	struct regen_site *where = x->r->c->where;

	x->r->count[RK_ITEM] += n;
	if (where) {
		where[at->k].events++;
		where[at->k].bytes += n;
	}
}

/* Bytes of the registers of function fn at e, of which n bytes are at hand: more than n if they are not all there, or damaged */
static size_t
items_registers(const struct code *c, const struct ifunc *fn, const uint8_t *e, size_t n)
{
	size_t all = 0;
	uint64_t v;

	if (!fn->isshort)
		return (size_t)fn->nneed * c->g->word;
	for (uint32_t k = 0; k < fn->nneed; k++) {
		unsigned len = n - all < 4 ? 4 : ev_shortlen(get_le32(e + all));

		if (len > n - all || !ev_short(e + all, &v))
			return n + 1;
		all += len;
	}
	return all;
}

/*
 * With a model: all bytes of the next item and its registers are provided, or none. The model may tell how many bytes of
 * events are at hand: then an item that is not whole is none.
 */
static void
items_ask(struct ctx *x, const struct iop *at)
{
	const struct code *c = x->r->c;
	const struct regen_model *m = x->r->model;
	struct regen_ask a = {.kind = RK_ITEM, .site = (uint32_t)at->k};
	size_t n = m->hand(m->arg, &x->e);
	unsigned w = c->g->word;
	uint32_t i;

	if (n == 0)
		interp_event(x, &a);    /* waits */
	if (n == REGEN_ANY) {
		interp_event(x, &a);
		return;
	}
	a.n = *x->e == EV_RETURN ? 1 : *x->e == EV_ENTER || *x->e == EV_UNWIND ? 1 + w : *x->e == EV_LAND ? 3 + w : 2;
	a.more = 0;
	if (a.n == 2 && n >= 2) {
		i = (uint32_t)x->e[1] * EV_NFUNC0 + x->e[0] - 1;
		if (i >= c->g->nno || c->g->byno[i] < 0)
			items_library(x, i);
		a.more = (unsigned)items_registers(c, c->fn + c->g->byno[i], x->e + 2, n - 2);
	}
	interp_event(x, &a);
}

void
interp_items(struct ctx *x)
{
	const struct code *c = x->r->c;
	unsigned w = c->g->word;

	for (;;) {
		const struct iop *here = x->ip;
		const uint8_t *at;
		unsigned no;

		if (x->r->model) {
			items_ask(x, here);
			here = x->ip;
		}
		x->e = interp_need(x, x->p, x->e, 1, x->have != 2);
		if (x->have == 2 && (*x->e == EV_RETURN || *x->e > EV_NFUNC0))
			feed_fault(x->f, x->p, x->e, msg_noentry);
		switch (*x->e) {
		case EV_RETURN:
			if (here->op != CO_SEQ)
				feed_fault(x->f, x->p, x->e, here->op == CO_SEQJ ? msg_jreturn :
				    msg_rootreturn);
			x->e++;
			x->ip++;
			items_count(x, here, 1);
			return;
		case EV_ENTER:
			x->e = interp_need(x, x->p, x->e, 1 + w, 0);
			x->next = items_word(c, x->e + 1);
			x->have = 2;
			x->e += 1 + w;
			items_count(x, here, 1 + w);
			break;
		case EV_UNWIND:
			x->e = interp_need(x, x->p, x->e, 1 + w, 0);
			at = x->e;
			x->e += 1 + w;
			items_count(x, here, 1 + w);
			if (w == 8 && items_word(c, at + 1) & EV_POINT) {
				if (x->r->points && !feed_before(x->f))
					interp_point(x, items_word(c, at + 1));
				break;
			}
			items_unwind(x, items_word(c, at + 1), at);
			break;
		case EV_LAND:
			x->e = interp_need(x, x->p, x->e, 3 + w, 0);
			at = x->e;
			x->e += 3 + w;
			items_count(x, here, 3 + w);
			no = (unsigned)get_order(at + 1 + w, 2, c->g->big);
			if (no == EV_CAUGHT)
				items_caught(x, items_word(c, at + 1), at);
			else
				items_land(x, items_word(c, at + 1), no, at);
			return;
		default:
			x->e = interp_need(x, x->p, x->e, 2, 0);
			items_count(x, here, 2);
			items_enter(x);
			return;
		}
	}
}

void
interp_begin(struct ctx *x)
{
	struct regen *r = x->r;

	if (r->called)
		return;
	r->called = 1;
	r->back = (uint32_t)x->v[F_RET - FRAME];
	x->v[F_RET - FRAME] = CODE_END;
	x->p = feed_flush(x->f, x->p, x->e);
	feed_unmute(x->f);
}

void
interp_end(struct ctx *x)
{
	struct iop *op = x->r->c->op;
	unsigned after = op[x->r->back].op;

	if (x->ip != op + CODE_END || !x->have || (after != CO_SEQ && after != CO_SEQJ && after != CO_SEQROOT))
		feed_stop(x->f, x->p);
	op[CODE_SEQ] = op[x->r->back];
	x->ip = op + CODE_SEQ;
}
