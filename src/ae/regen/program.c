/* The model of a traced program; see program.h. */
#include "ae/regen/program.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "base/bytes.h"
#include "base/search.h"
#include "format/ae/events.h"

#define NOFUNCS (256u * EV_NFUNC0)

static int
program_fail(struct prog *g, const char *what)
{
	if (!g->err)
		g->err = what;
	return -1;
}

uint64_t
prog_pc(const struct prog_func *f, uint32_t frag, uint32_t off)
{
	const struct sch_frag *r = f->f->frag + frag;

	return f->u->cst[r->sym] + r->off + off;
}

int
prog_isaddr(const struct sch_unit *u, int32_t sym)
{
	return sym != SCH_NOSYM && ((uint32_t)sym < u->ncst || u->field[(uint32_t)sym - u->ncst].rip);
}

void
prog_move(struct prog *g, uint64_t base)
{
	uint64_t by = base - g->loaded;

	if (!by)
		return;
	for (uint32_t i = 0; i < g->nunit; i++)
		for (uint32_t k = 0; k < g->unit[i].ncst + g->unit[i].nfield; k++)
			if (prog_isaddr(g->unit + i, (int32_t)k))
				g->unit[i].cst[k] += by;
	for (uint32_t i = 0; i < g->nfunc; i++)
		g->func[i].entry += by;
	if (g->src.relocate)
		g->src.relocate(g->src.arg, base);
	g->loaded = base;
}

int
prog_rodata(const struct prog *g, uint64_t addr, void *buf, size_t n)
{
	return g->src.rodata && g->src.rodata(g->src.arg, addr - g->loaded, buf, n);
}

int
prog_gotload(const struct prog *g, uint64_t pc)
{
	uint8_t c = 0, modrm = 0;

	pc -= g->loaded;
	if (g->machine != EM_X86_64)
		return 1;
	/* after the prefixes: operand and address size, segments, repetition, REX */
	for (int i = 0; i < 14; i++, pc++) {
		if (!g->src.image || !g->src.image(g->src.arg, pc, &c, 1))
			return 1;
		if (c != 0x66 && c != 0x67 && c != 0x2e && c != 0x3e && c != 0x64 && c != 0x65 && c != 0xf2 &&
		    c != 0xf3 && (c & 0xf0) != 0x40)
			break;
	}
	/*
	 * the linker leaves lea, an immediate operand (register direct) or a direct call or jump; anything
	 * else still loads
	 */
	if (c == 0x8d || c == 0xe8 || c == 0xe9)
		return 0;
	if (c == 0x0f)
		pc++;
	return !g->src.image(g->src.arg, pc + 1, &modrm, 1) || (modrm & 0xc7) == 0x05;
}

int
prog_const(const struct sch_unit *u, const struct sch_addr *m, uint64_t *imm)
{
	*imm = (uint64_t)m->disp + (m->sym == SCH_NOSYM ? 0 : u->cst[m->sym]);
	if (m->base != SCH_NOVAR || m->index != SCH_NOVAR || m->fs)
		return 0;
	if (m->narrow)
		*imm = (uint32_t)*imm;
	if (m->align)
		*imm &= ~UINT64_C(3);
	return 1;
}

uint64_t
prog_value(const struct sch_unit *u, const struct op_value *v)
{
	return (uint64_t)v->imm + (v->kind == SV_SYM ? u->cst[v->var] : 0);
}

/*
 * Does the block give no reference and take no event (also ST_TARGET takes none: it reads the marks
 * of its successors)? Then it must not be in a cycle of such blocks.
 */
static int
block_is_silent(const struct sch_block *b)
{
	for (uint32_t i = 0; i < b->nstep; i++) {
		switch (b->step[i].op) {
		case SO_INST:
		case SO_REP:
		case SO_UNKNOWN:
		case SO_CALLX:
		case SO_CALLJ:
			return 0;
		}
	}
	return b->mark == 0 && b->term != ST_BRANCH;
}

/* Removes silent blocks that no silent block leads to, until none is left. */
static int
check_cycles(struct prog *g, const struct sch_func *f)
{
	uint32_t *into = calloc(f->nblock, sizeof *into), *todo = calloc(f->nblock, sizeof *todo);
	uint32_t n = 0, left = 0;

	if (!into || !todo)
		program_fail(g, "out of memory");
	for (uint32_t i = 0; !g->err && i < f->nblock; i++) {
		if (!block_is_silent(f->block + i))
			continue;
		left++;
		for (uint32_t j = 0; j < f->block[i].nsucc; j++)
			into[f->block[i].succ[j].block]++;
	}
	for (uint32_t i = 0; !g->err && i < f->nblock; i++)
		if (block_is_silent(f->block + i) && into[i] == 0)
			todo[n++] = i;
	while (n) {
		const struct sch_block *b = f->block + todo[--n];

		left--;
		for (uint32_t j = 0; j < b->nsucc; j++) {
			uint32_t k = b->succ[j].block;

			if (--into[k] == 0 && block_is_silent(f->block + k))
				todo[n++] = k;
		}
	}
	if (left)
		program_fail(g, "a loop without instructions");
	free(into);
	free(todo);
	return g->err ? -1 : 0;
}

static int
program_fetches(const struct sch_block *b, uint32_t nstep)
{
	for (uint32_t i = 0; i < nstep; i++)
		if (b->step[i].op == SO_INST)
			return 1;
	return 0;
}

/* Checks the relations that regeneration needs to make progress, which the decoder cannot check. */
static int
check_func(struct prog *g, const struct sch_unit *u, const struct sch_func *f)
{
	uint64_t seen[BITS_WORDS(65536)] = {0};

	if (f->nfrag == 0)
		return program_fail(g, "function without code");
	if (f->nneed > PROG_MAXNEED)
		return program_fail(g, "too many registers at entry");
	for (uint32_t i = 0; i < f->nneed; i++) {
		uint16_t r = f->need[i];

		if (r == u->sp || bit_get(seen, r))
			return program_fail(g, "register given twice at entry");
		bit_set(seen, r);
	}
	memset(seen, 0, sizeof seen);
	for (uint32_t i = 0; i < f->nblock; i++) {
		const struct sch_block *b = f->block + i;

		for (uint32_t j = 0; j < b->nstep; j++) {
			const struct op_step *s = b->step + j;

			if (s->op == SO_REP &&
			    (u->nregs <= PROG_RDI || u->machine != EM_X86_64 || u->word != 8 || u->big))
				return program_fail(g, "string instruction without its registers");
			if (s->op == SO_CALL && !program_fetches(b, j))
				return program_fail(g, "call without an instruction");
			if (s->op != SO_CALLJ)
				continue;
			if (s->n == EV_CAUGHT)
				return program_fail(g, "setjmp site out of range");
			if (bit_get(seen, s->n))
				return program_fail(g, "setjmp site defined twice");
			bit_set(seen, s->n);
			if (!(f->flags & SF_SETJMP))
				return program_fail(g, "setjmp in a function that is said to have none");
		}
		if (b->term == ST_LANDING && prog_lastcall(b) == b->nstep)
			return program_fail(g, "an exception of a call that is not there");
		for (uint32_t j = 0; j < b->nsucc; j++)
			if (b->succ[j].nev > PROG_MAXEV)
				return program_fail(g, "too many loops at an edge");
		if (b->term == ST_TAIL && !program_fetches(b, b->nstep))
			return program_fail(g, "call without an instruction");
		if ((b->term == ST_TAILX || (b->term == ST_SWITCH && b->cc) ||
			(b->term == ST_TAIL && u->func[b->callee].flags & SF_TAILOUT)) &&
		    !(f->flags & SF_TAILOUT))
			return program_fail(g, "jump out of a function that is said to have none");
	}
	return check_cycles(g, f);
}

uint32_t
prog_lastcall(const struct sch_block *b)
{
	uint32_t i = b->nstep;

	while (i-- > 0)
		if (b->step[i].op == SO_CALL || b->step[i].op == SO_CALLX || b->step[i].op == SO_CALLJ)
			return i;
	return b->nstep;
}

/* All units must be for one machine, since their functions call each other. */
static int
check_machine(struct prog *g, const struct sch_unit *u)
{
	if (g->nunit == 0) {
		g->machine = u->machine;
		g->word = u->word;
		g->big = u->big;
		g->push = u->push;
	}
	if (u->machine != g->machine || u->word != g->word || u->big != g->big || u->push != g->push)
		return program_fail(g, "units for different machines");
	return 0;
}

static int
add_unit(struct prog *g, const struct sch_unit *u)
{
	struct sch_unit *un = realloc(g->unit, (g->nunit + 1) * sizeof *un);
	uint32_t *base = un ? realloc(g->base, (g->nunit + 1) * sizeof *base) : NULL;

	if (un)
		g->unit = un;
	if (base)
		g->base = base;
	if (!un || !base)
		return program_fail(g, "out of memory");
	un[g->nunit] = *u;
	base[g->nunit++] = g->nfunc;
	if (u->nfunc > INT32_MAX - g->nfunc)
		return program_fail(g, "too many functions");
	g->nfunc += u->nfunc;
	for (uint32_t i = 0; i < u->nfunc; i++)
		if (check_func(g, u, u->func + i) != 0)
			return -1;
	return 0;
}

static int
read_units(struct prog *g)
{
	const struct prog_source *s = &g->src;

	while (g->erroff < s->nschema) {
		struct sch_unit u;
		const char *what;
		size_t at = 0;
		long n = sch_decode(s->schema + g->erroff, s->nschema - g->erroff, &u, &what, &at);

		if (n < 0) {
			g->erroff += at;
			return program_fail(g, what);
		}
		if (u.nfield && (!s->image || sch_resolve(&u, s->image, s->arg) != 0)) {
			sch_free(&u);
			return program_fail(g, "code of the executable is not where the schema says");
		}
		if (check_machine(g, &u) != 0 || add_unit(g, &u) != 0) {
			if (g->nunit == 0 || g->unit[g->nunit - 1].mem != u.mem)
				sch_free(&u);
			return -1;
		}
		g->erroff += (size_t)n;
	}
	return 0;
}

static int
cmp_entry(const void *a, const void *b)
{
	const struct prog_func *p = *(struct prog_func *const *)a, *q = *(struct prog_func *const *)b;

	if (p->entry != q->entry)
		return p->entry < q->entry ? -1 : 1;
	return p < q ? -1 : p > q;
}

/* Matches the entries of aefn, which have addresses, with the functions. */
static void
program_number(struct prog *g, struct prog_func **sorted)
{
	for (uint32_t i = 0; i < g->nno; i++) {
		uint64_t entry = get_order(g->src.fn + (size_t)i * 3 * g->word, g->word, g->big);
		size_t k;

		LOWER_BOUND(k, g->nfunc, sorted[k]->entry < entry);
		while (k < g->nfunc && sorted[k]->entry == entry && sorted[k]->f->flags & SF_NOENTRY)
			k++;
		g->byno[i] = k < g->nfunc && sorted[k]->entry == entry ? (int32_t)(sorted[k] - g->func) : -1;
	}
}

static int
list_functions(struct prog *g)
{
	struct prog_func **sorted;
	size_t nno = g->nunit ? g->src.nfn / (3u * g->word) : 0;
	uint32_t k = 0;

	g->nno = nno < NOFUNCS ? (uint32_t)nno : NOFUNCS;
	g->func = calloc((size_t)g->nfunc + 1, sizeof *g->func);
	g->byno = calloc((size_t)g->nno + 1, sizeof *g->byno);
	sorted = calloc((size_t)g->nfunc + 1, sizeof *sorted);
	if (!g->func || !g->byno || !sorted) {
		free(sorted);
		return program_fail(g, "out of memory");
	}
	for (uint32_t i = 0; i < g->nunit; i++) {
		for (uint32_t j = 0; j < g->unit[i].nfunc; j++, k++) {
			struct prog_func *f = g->func + k;

			*f = (struct prog_func){g->unit + i, g->unit[i].func + j, i, j, 0};
			f->entry = prog_pc(f, f->f->block[0].frag, f->f->block[0].off);
			sorted[k] = f;
		}
	}
	if (k)
		qsort(sorted, k, sizeof *sorted, cmp_entry);
	program_number(g, sorted);
	free(sorted);
	return 0;
}

int
prog_load(struct prog *g, const struct prog_source *src)
{
	memset(g, 0, sizeof *g);
	g->src = *src;
	if (read_units(g) != 0)
		return -1;
	return list_functions(g);
}

void
prog_free(struct prog *g)
{
	for (uint32_t i = 0; i < g->nunit; i++)
		sch_free(g->unit + i);
	free(g->unit);
	free(g->base);
	free(g->func);
	free(g->byno);
	memset(g, 0, sizeof *g);
}
