/*
 * Backward slices from every address, and the cheapest set of definitions to
 * record: a minimum vertex cut between the values that cannot be computed and
 * the addresses, branches and arguments that need them.
 */
#include <stdlib.h>
#include <string.h>
#include "ae/machine/machine.h"
#include "ae/rewrite/cfg.h"
#include "ae/rewrite/emit.h"
#include "ae/rewrite/frame.h"
#include "ae/rewrite/live.h"
#include "ae/rewrite/reach.h"
#include "base/mem.h"
#include "cfg/cut.h"

#define ROUNDS 4                /* most rounds for the registers that recursive functions need */

struct ctx {
	struct file *f;
	struct afunc *fn;
	struct slice *s;
	struct cut *cut;
	struct reach r;
	uint32_t *work, nwork;  /* definitions whose inputs have to be followed */
	size_t capwork;
	/* vertices of branches (by block) and of what calls want */
	uint32_t *vblock, *vcall;
	size_t ncall, capcall;
	uint32_t *call;
	int marking;            /* second phase: mark what has to be computed */
};

static uint64_t
mem_vars(const struct sch_addr *m)
{
	return (m->base != SCH_NOVAR ? BIT(m->base) : 0) | (m->index != SCH_NOVAR ? BIT(m->index) : 0);
}

/* registers and flags as a mask; a slot's variable or NONE */
struct inputs { uint64_t regs; uint32_t slot; };

static int
add_input(const struct afunc *fn, uint32_t i, const struct op_value *v, struct inputs *in)
{
	const struct insn *x = &fn->ins[i].in;

	if (v->kind != SV_VAR)
		return 1;
	if (v->var != (int32_t)machine_mem(fn->m))
		in->regs |= BIT(v->var);
	else if (fn->slot[i] >= 0)
		in->slot = machine_slot0(fn->m) + (uint32_t)fn->slot[i];
	else if (fn->slot[i] == ROMEM)
		in->regs |= mem_vars(&x->ref[x->mref].m);
	else
		return 0;
	return 1;
}

/* The inputs of effect k of instruction i; 0 if it cannot be computed. */
static int
slice_inputs(const struct afunc *fn, uint32_t i, unsigned k, struct inputs *in)
{
	const struct op_step *s = &fn->ins[i].in.eff[k].s;

	in->regs = 0;
	in->slot = NONE;
	if (s->op == SO_REP)
		return 1;
	if (s->op == SO_UNKNOWN || !add_input(fn, i, &s->a, in) || !add_input(fn, i, &s->b, in))
		return 0;
	if (s->op == SO_LEA)
		in->regs |= mem_vars(&s->m);
	/* a narrow result keeps a part of the old value; a slot is always written as a whole */
	if (s->dst < fn->m->nreg && (s->w < 4 || s->op == SO_CMOV))
		in->regs |= BIT(s->dst);
	if (s->dst == (int16_t)machine_mem(fn->m) && s->op == SO_CMOV && fn->slot[i] >= 0)
		in->slot = machine_slot0(fn->m) + (uint32_t)fn->slot[i];
	if (s->op == SO_SETCC || s->op == SO_CMOV)
		in->regs |= BIT(machine_flags(fn->m));
	return 1;
}

struct ccquery { struct ctx *c; uint8_t cc; int bad; };

static void
check_cc(void *arg, uint32_t d)
{
	struct ccquery *q = arg;
	const struct ctx *c = q->c;
	const struct def *f = &c->s->def[d];
	const struct insn_effect *e;
	struct inputs in;

	if (f->ins == DEF_ENTRY || f->eff == DEF_CALL) {
		q->bad = 1;
		return;
	}
	e = &c->fn->ins[f->ins].in.eff[f->eff];
	if (!(e->ccmask >> q->cc & 1))
		q->bad = 1;
	/* here no cut makes sure that flags, which cannot be recorded, are computed */
	if (c->f->paper && (!slice_inputs(c->fn, f->ins, f->eff, &in) || (in.regs & c->fn->m->norecord)))
		q->bad = 1;
}

/* Can condition cc at (b, i, k) be evaluated from the definitions of the flags? */
static int
cc_good(struct ctx *c, uint32_t b, uint32_t i, unsigned k, uint8_t cc)
{
	struct ccquery q = { c, cc, cc == INSN_NOCC };

	if (!q.bad)
		reach_each(&c->r, b, i, k, machine_flags(c->fn->m), check_cc, &q);
	return !q.bad;
}

struct widthquery { struct ctx *c; unsigned n; int bad; };

/* Bytes of its slot that definition d writes. */
static void
check_width(void *arg, uint32_t d)
{
	struct widthquery *q = arg;
	const struct ctx *c = q->c;
	const struct def *f = &c->s->def[d];
	const struct insn *in;

	if (f->ins == DEF_ENTRY || f->eff == DEF_CALL) {
		q->bad = 1;
		return;
	}
	in = &c->fn->ins[f->ins].in;
	if (in->ref[in->mref].n < q->n || (c->fn->m->big && in->ref[in->mref].n != q->n))
		q->bad = 1;             /* more is read than was written, or the high part of it */
}

/* Does effect k of instruction i read no more of its slot than the last store wrote? */
static int
width_good(struct ctx *c, uint32_t i, unsigned k, uint32_t slot)
{
	const struct insn *in = &c->fn->ins[i].in;
	struct widthquery q = { c, in->ref[in->mref].n, 0 };

	reach_each(&c->r, c->fn->blkof[i], i, k, slot, check_width, &q);
	return !q.bad;
}

/* Can definition d be computed from its inputs? */
static int
slice_computable(struct ctx *c, const struct def *d, struct inputs *in)
{
	const struct insn_effect *e;

	in->regs = 0;
	in->slot = NONE;
	if (d->ins == DEF_ENTRY)
		return !c->f->paper &&
		    (d->var == c->fn->m->sp || (d->var < c->fn->m->nreg && (c->fn->need >> d->var & 1)));
	if (d->eff == DEF_CALL || !slice_inputs(c->fn, d->ins, d->eff, in))
		return 0;
	/* a register that cannot be recorded is recorded where it is moved to */
	if (c->f->paper && (in->regs & c->fn->m->norecord))
		return 0;
	e = &c->fn->ins[d->ins].in.eff[d->eff];
	if (in->slot != NONE && !width_good(c, d->ins, d->eff, in->slot))
		return 0;
	if (e->s.op == SO_SETCC || e->s.op == SO_CMOV)
		return cc_good(c, c->fn->blkof[d->ins], d->ins, d->eff, e->s.cc);
	return 1;
}

static int64_t
def_cost(struct ctx *c, const struct def *d)
{
	uint8_t ext;

	/* flags and slots are not recorded, but values computed from them can be */
	if (d->var >= c->fn->m->nreg || (c->fn->m->norecord >> d->var & 1))
		return CUT_INF;
	/* in the middle of a macro */
	if (d->ins != DEF_ENTRY && c->fn->ins[d->ins].more && d->eff != DEF_CALL)
		return CUT_INF;
	if (d->ins == DEF_ENTRY)        /* a little cheaper than elsewhere: callers may know it */
		return CFG_ONCE * c->fn->m->word;
	/* an entry of a jump table is known by its index, and the twin may have others */
	return (int64_t)c->fn->blk[c->fn->blkof[d->ins]].freq * (def_bytes(c->fn, d, &ext) + 1) *
	    (c->fn->ins[d->ins].part ? 64 : 1);
}

static uint32_t
def_vertex(struct ctx *c, uint32_t d)
{
	struct def *f = &c->s->def[d];

	if (f->vertex == NONE) {
		f->vertex = cut_vertex(c->cut, def_cost(c, f));
		c->work = mem_xgrow(c->work, &c->capwork, c->nwork + 1, sizeof *c->work);
		c->work[c->nwork++] = d;
	}
	return f->vertex;
}

struct usage { struct ctx *c; uint32_t to; };

/* First phase: adds an edge to vertex u->to (NONE: to the sink). Second phase: marks d as needed. */
static void
slice_use(void *arg, uint32_t d)
{
	struct usage *u = arg;
	struct ctx *c = u->c;
	uint32_t to = u->to;
	struct def *f = &c->s->def[d];

	if (!c->marking) {
		uint32_t v = def_vertex(c, d);

		if (to == NONE)
			cut_sink(c->cut, v);
		else
			cut_edge(c->cut, v, to);
	} else if (f->fate == DF_UNUSED) {
		struct inputs in;

		f->fate = (c->f->paper ? !slice_computable(c, f, &in) : cut_taken(c->cut, f->vertex)) ?
		    DF_RECORD : DF_COMPUTE;
		if (f->fate == DF_COMPUTE) {
			c->work = mem_xgrow(c->work, &c->capwork, c->nwork + 1, sizeof *c->work);
			c->work[c->nwork++] = d;
		}
	}
}

static void
use_vars(struct ctx *c, uint32_t b, uint32_t i, unsigned k, uint64_t vars, uint32_t to)
{
	struct usage u = { c, to };
	unsigned v;

	for (v = 0; v < NREGVAR(c->fn->m); v++)
		if (vars >> v & 1)
			reach_each(&c->r, b, i, k, v, slice_use, &u);
}

/* Follows the inputs of every definition on the work list. */
static void
slice_drain(struct ctx *c)
{
	while (c->nwork) {
		uint32_t d = c->work[--c->nwork];
		struct def *f = &c->s->def[d];
		struct inputs in;

		if (!slice_computable(c, f, &in)) {
			if (!c->marking)
				cut_source(c->cut, f->vertex);
			continue;
		}
		if (f->ins == DEF_ENTRY)
			continue;
		use_vars(c, c->fn->blkof[f->ins], f->ins, f->eff, in.regs, f->vertex);
		if (in.slot != NONE)
			reach_each(&c->r, c->fn->blkof[f->ins], f->ins, f->eff, in.slot, slice_use,
			    &(struct usage){ c, f->vertex });
	}
}

/* Registers needed by the references of instruction a. */
static uint64_t
address_vars(const struct machine *mach, const struct ainsn *a)
{
	uint64_t m = 0;
	int k;

	for (k = 0; k < a->in.nref; k++)
		m |= mem_vars(&a->in.ref[k].m);
	if (a->in.rep)
		m |= BIT(a->in.tgt);
	if (a->in.ctl == IC_CALL || a->in.ctl == IC_CALLIND)
		m |= BIT(mach->sp);
	return m;
}

/* Register v is wanted at call i, where it costs `cost` if it is not known: is it? (After the cut.) */
static int
wanted(struct ctx *c, uint32_t b, uint32_t i, unsigned v, int64_t cost)
{
	unsigned k = c->fn->ins[i].in.neff;     /* after the effects of the instruction itself */

	if (!c->marking) {
		c->call = mem_xgrow(c->call, &c->capcall, c->ncall + 1, sizeof *c->call);
		c->call[c->ncall] = cut_vertex(c->cut, (int64_t)c->fn->blk[b].freq * cost);
		cut_sink(c->cut, c->call[c->ncall]);
		use_vars(c, b, i, k, BIT(v), c->call[c->ncall++]);
	} else if (cut_taken(c->cut, c->call[c->ncall++])) {
		return 0;
	} else {
		use_vars(c, b, i, k, BIT(v), NONE);
	}
	return 1;
}

static void
known_call(struct ctx *c, uint32_t b, uint32_t i, uint32_t callee)
{
	uint64_t need = c->f->fn[callee].need;
	unsigned v;

	for (v = 0; v < c->fn->m->nreg; v++)
		if (need >> v & 1 && !wanted(c, b, i, v, 9))
			c->s->callrec[i] |= BIT(v);
}

/*
 * A call of what may be a function of another file. What it needs is not known here, but the first argument is often a
 * pointer, and one that other calls have, too. So it is wanted, but costs less than at a known call. Names that
 * begin so are the C library's.
 */
static void
linked_call(struct ctx *c, uint32_t b, uint32_t i)
{
	static const char *const reserved[] = { "mem", "str", "_" };
	size_t n, k;
	const char *s = insn_target(c->f, &c->fn->ins[i], &n);

	for (k = 0; k < sizeof reserved / sizeof reserved[0]; k++)
		if (strncmp(s, reserved[k], strlen(reserved[k])) == 0)
			return;
	wanted(c, b, i, c->fn->m->argument, 3);
}

static void
slice_terminator(struct ctx *c, uint32_t b)
{
	struct ablock *k = &c->fn->blk[b];
	uint32_t i = k->last - 1;
	const uint64_t flags = BIT(machine_flags(c->fn->m));
	const struct ainsn *a;

	if (k->term == ST_TAIL || k->term == ST_TAILX) {
		/* the block of a conditional tail jump is after that of its branch */
		uint32_t at = k->last - 1, blk = c->fn->blkof[at];

		use_vars(c, blk, at, c->fn->ins[at].in.neff, BIT(c->fn->m->sp), NONE);
		if (k->term == ST_TAIL)
			known_call(c, blk, at, k->callee);
		return;
	}
	if (k->first == k->last)
		return;
	a = &c->fn->ins[i];
	if (k->term == ST_SWITCH && a->in.setsdst == 1)
		use_vars(c, b, i, 0, BIT(a->in.tgt), NONE);
	if (k->term != ST_BRANCH || c->f->paper)
		return;
	if (!c->marking) {
		c->vblock[b] = NONE;
		if (!cc_good(c, b, i, a->in.neff, k->cc))       /* a branch may compare by itself */
			return;
		c->vblock[b] = cut_vertex(c->cut, (int64_t)k->freq * 2);
		cut_sink(c->cut, c->vblock[b]);
		use_vars(c, b, i, a->in.neff, flags, c->vblock[b]);
	} else if (c->vblock[b] == NONE || cut_taken(c->cut, c->vblock[b])) {
		c->s->recbranch[b] = 1;
	} else {
		use_vars(c, b, i, a->in.neff, flags, NONE);
	}
}

/*
 * Visits everything that must be known: the same walk builds the graph and, after the cut, marks
 * the slice.
 */
static void
slice_demands(struct ctx *c)
{
	uint32_t b, i;

	c->ncall = 0;
	for (b = 0; b < c->fn->nblk; b++) {
		struct ablock *k = &c->fn->blk[b];

		if (c->fn->g->rpo[b] == NO_NODE)
			continue;
		for (i = k->first; i < k->last; i++) {
			const struct ainsn *a = &c->fn->ins[i];

			use_vars(c, b, i, 0, address_vars(c->fn->m, a), NONE);
			if (callee_if_traced(c->f, a) != NONE)
				known_call(c, b, i, a->callee);
			else if (emit_linked(c->f, c->fn, i))
				linked_call(c, b, i);
		}
		slice_terminator(c, b);
	}
	slice_drain(c);
}

struct knownquery { struct ctx *c; int bad; };

static void
known_definition(void *arg, uint32_t d)
{
	struct knownquery *q = arg;
	struct ctx *c = q->c;

	if (q->bad || c->s->def[d].fate != DF_UNUSED)
		return;
	c->s->def[d].fate = DF_COMPUTE;
	c->work = mem_xgrow(c->work, &c->capwork, c->nwork + 1, sizeof *c->work);
	c->work[c->nwork++] = d;
}

/* Is register v known at the end of instruction i of block b, or can it be computed without another event? Then it is. */
static int
slice_known(struct ctx *c, uint32_t b, uint32_t i, unsigned v)
{
	struct knownquery q = { c, 0 };
	uint32_t k;

	c->nwork = 0;
	reach_each(&c->r, b, i, c->fn->ins[i].in.neff, v, known_definition, &q);
	for (k = 0; k < c->nwork && !q.bad; k++) {
		const struct def *f = &c->s->def[c->work[k]];
		struct inputs in;
		unsigned r;

		q.bad = !slice_computable(c, f, &in);
		if (q.bad || f->ins == DEF_ENTRY)
			continue;
		for (r = 0; r < NREGVAR(c->fn->m); r++)
			if (in.regs >> r & 1)
				reach_each(&c->r, c->fn->blkof[f->ins], f->ins, f->eff, r, known_definition, &q);
		if (in.slot != NONE)
			reach_each(&c->r, c->fn->blkof[f->ins], f->ins, f->eff, in.slot, known_definition, &q);
	}
	for (k = 0; k < c->nwork && q.bad; k++)
		c->s->def[c->work[k]].fate = DF_UNUSED;
	c->nwork = 0;
	return !q.bad;
}

/* What callees in other files may need, as far as it costs nothing: who they are, and what they need, is known when it is linked. */
static void
slice_calls(struct ctx *c)
{
	uint64_t args = c->fn->m->arguments;
	uint32_t b, i;
	unsigned v;

	for (b = 0; b < c->fn->nblk; b++)
		for (i = c->fn->blk[b].first; i < c->fn->blk[b].last && c->fn->g->rpo[b] != NO_NODE; i++)
			for (v = 0; v < c->fn->m->nreg && emit_linked(c->f, c->fn, i); v++)
				if (args >> v & 1 && slice_known(c, b, i, v))
					c->s->known[i] |= BIT(v);
}

/* Can every definition that is to be recorded be recorded? */
static int
slice_recordable(struct ctx *c)
{
	uint32_t d;

	for (d = 0; d < c->s->ndef; d++)
		if (c->s->def[d].fate == DF_RECORD && def_cost(c, &c->s->def[d]) >= CUT_INF)
			return 0;
	return 1;
}

/* Slices one function, or fails it; returns the registers whose entry values must be recorded. last: all needs are final. */
static uint64_t
slice_function(struct file *f, struct afunc *fn, int last)
{
	struct ctx c = { .f = f, .fn = fn };
	uint64_t entry = 0;
	unsigned v;

	if (!fn->slot)
		frame_slots(f, fn);
	if (!fn->noflags)
		fn->noflags = live_noflags(fn);
	slice_free(fn->slice);
	fn->slice = c.s = xcalloc(1, sizeof *c.s);
	c.s->recbranch = xcalloc(fn->nblk, 1);
	c.s->callrec = xcalloc(fn->nins, sizeof *c.s->callrec);
	c.s->known = xcalloc(fn->nins, sizeof *c.s->known);
	c.vblock = xcalloc(fn->nblk, sizeof *c.vblock);
	c.cut = cut_new();
	reach_find(&c.r, fn, c.s);
	slice_demands(&c);
	v = cut_solve(c.cut) < 0;
	c.marking = 1;
	if (!v)
		slice_demands(&c);
	if (v || !slice_recordable(&c))
		fn_fail(fn, 0, "an address depends on a value inside a macro");
	for (v = 0; v < fn->m->nreg; v++)
		if (c.s->def[v].fate == DF_RECORD)
			entry |= BIT(v);
	if (last && !fn->why)
		slice_calls(&c);
	reach_free(&c.r);
	free(c.work);
	free(c.vblock);
	free(c.call);
	cut_free(c.cut);
	return entry;
}

/* A function that calls one that leaves by a tail jump to an unknown callee may do so, too. */
static void
spread_tailout(struct file *f)
{
	int changed = 1;
	size_t i, b;

	while (changed) {
		changed = 0;
		for (i = 0; i < f->nfn; i++)
			for (b = 0; !f->fn[i].why && !f->fn[i].tailout && b < f->fn[i].nblk; b++)
				if (f->fn[i].blk[b].term == ST_TAIL && f->fn[f->fn[i].blk[b].callee].tailout)
					changed = f->fn[i].tailout = 1;
	}
}

int
slice_file(struct file *f)
{
	int round, changed = 1, late = 0;
	size_t i;

	spread_tailout(f);
	/* in most files callers come after callees; recursion takes further rounds */
	for (round = 0; round < ROUNDS && changed; round++) {
		changed = 0;
		for (i = 0; i < f->nfn; i++) {
			uint64_t entry;

			if (f->fn[i].why)
				continue;
			entry = slice_function(f, &f->fn[i], 0);
			late |= f->fn[i].why != NULL;
			if (f->paper)           /* callers provide nothing */
				continue;
			changed |= (entry & ~f->fn[i].need) != 0;
			f->fn[i].need |= entry;
		}
	}
	/* the needs are final; a function records whatever else it lacks */
	for (i = 0; i < f->nfn; i++) {
		uint64_t entry;

		if (f->fn[i].why)
			continue;
		entry = slice_function(f, &f->fn[i], 1);
		late |= f->fn[i].why != NULL;
		f->fn[i].slice->entryrec = entry;
	}
	return late;
}

void
slice_free(struct slice *s)
{
	if (!s)
		return;
	free(s->def);
	free(s->first);
	free(s->recbranch);
	free(s->callrec);
	free(s->known);
	free(s);
}
