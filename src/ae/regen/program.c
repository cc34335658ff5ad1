/* The model of a traced program; see program.h. */
#include "ae/regen/program.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "base/bytes.h"
#include "base/search.h"
#include "format/ae/events.h"

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
prog_inside(const struct prog_func *f, uint64_t pc)
{
	for (uint32_t k = 0; k < f->f->nfrag; k++) {
		uint64_t off = pc - prog_pc(f, k, 0);

		if (off < f->f->frag[k].size && (k || off))
			return 1;
	}
	return 0;
}

int
prog_isaddr(const struct sch_unit *u, int32_t sym)
{
	return sym != SCH_NOSYM && ((uint32_t)sym < u->ncst || u->field[(uint32_t)sym - u->ncst].rip);
}

/* The units' and functions' addresses become those of a file that is loaded by `by` further up. */
static void
program_shift(struct prog *g, uint32_t unit, uint32_t unitend, uint32_t func, uint32_t funcend, uint64_t by)
{
	for (uint32_t i = unit; i < unitend; i++)
		for (uint32_t k = 0; k < g->unit[i].ncst + g->unit[i].nfield; k++)
			if (prog_isaddr(g->unit + i, (int32_t)k))
				g->unit[i].cst[k] += by;
	for (uint32_t i = func; i < funcend; i++)
		g->func[i].entry += by;
}

void
prog_move(struct prog *g, uint64_t base)
{
	uint64_t by = base - g->loaded;

	if (!by)
		return;
	program_shift(g, 0, g->ownunits, 0, g->ownfuncs, by);
	if (g->src.relocate)
		g->src.relocate(g->src.arg, base);
	g->loaded = base;
}

int
prog_rodata(const struct prog *g, uint32_t lib, uint64_t addr, void *buf, size_t n)
{
	const struct prog_source *s = lib ? &g->lib[lib - 1].src : &g->src;

	return s->rodata && s->rodata(s->arg, addr - (lib ? g->lib[lib - 1].loaded : g->loaded), buf, n);
}

int
prog_gotload(const struct prog *g, const struct prog_func *f, uint64_t pc)
{
	const struct prog_source *s = f->lib ? &g->lib[f->lib - 1].src : &g->src;
	uint8_t c = 0, modrm = 0;

	pc -= f->lib ? g->lib[f->lib - 1].loaded : g->loaded;
	if (g->machine != EM_X86_64)
		return 1;
	/* after the prefixes: operand and address size, segments, repetition, REX */
	for (int i = 0; i < 14; i++, pc++) {
		if (!s->image || !s->image(s->arg, pc, &c, 1))
			return 1;
		if (c != 0x66 && c != 0x67 && c != 0x2e && c != 0x3e && c != 0x64 && c != 0x65 && c != 0xf2 &&
		    c != 0xf3 && (c & 0xf0) != 0x40)
			break;
	}
	/*
	 * the linker leaves lea, an immediate operand (register direct), a direct call or jump or a nop; anything
	 * else still loads, as instructions with two bytes of operation, with VEX or with EVEX, which it never changes,
	 * and calls and jumps through memory
	 */
	if (c == 0x90)
		return -1;
	if (c == 0x8d || c == 0xe8 || c == 0xe9)
		return 0;
	if (c == 0x0f || c == 0xc4 || c == 0xc5 || c == 0x62)
		return 1;
	return !s->image(s->arg, pc + 1, &modrm, 1) || (modrm & 0xc7) == 0x05 || c == 0xff;
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
		case SO_LINKED:
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

/*
 * A function may jump to another only after an instruction, lest two of them do nothing but that for ever. The block of a
 * conditional jump to another function has none; that is in the block before it.
 */
static int
check_tails(struct prog *g, const struct sch_func *f)
{
	uint32_t *todo = calloc(f->nblock + 1, sizeof *todo), n = 0;
	uint64_t *seen = calloc(BITS_WORDS(f->nblock + 1), sizeof *seen);

	if (!todo || !seen)
		program_fail(g, "out of memory");
	else if (f->nblock)
		todo[n++] = 0;
	while (!g->err && n) {
		const struct sch_block *b = f->block + todo[--n];

		if (program_fetches(b, b->nstep))
			continue;
		if (b->term == ST_TAIL)
			program_fail(g, "call without an instruction");
		for (uint32_t j = 0; j < b->nsucc; j++) {
			uint32_t k = b->succ[j].block;

			if (bit_get(seen, k))
				continue;
			bit_set(seen, k);
			todo[n++] = k;
		}
	}
	free(todo);
	free(seen);
	return g->err ? -1 : 0;
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
			if ((s->op == SO_CALL || s->op == SO_LINKED) && !program_fetches(b, j))
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
		if ((b->term == ST_TAILX || (b->term == ST_SWITCH && b->cc) ||
			(b->term == ST_TAIL && u->func[b->callee].flags & SF_TAILOUT)) &&
		    !(f->flags & SF_TAILOUT))
			return program_fail(g, "jump out of a function that is said to have none");
	}
	return check_tails(g, f) != 0 ? -1 : check_cycles(g, f);
}

struct op_step
prog_need(const struct sch_unit *u, const struct sch_func *f, uint32_t i)
{
	return (struct op_step){ .op = SO_UNKNOWN, .w = u->word, .cc = f->flags & SF_SHORT ? 4 : 0, .dst = (int16_t)f->need[i] };
}

uint32_t
prog_lastcall(const struct sch_block *b)
{
	uint32_t i = b->nstep;

	while (i-- > 0)
		if (prog_iscall(b->step + i))
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
read_units(struct prog *g, const struct prog_source *s)
{
	g->erroff = 0;
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

/* Matches the entries of a file's aefn, which have addresses, with its n functions; byno is of its numbers. */
static void
program_number(struct prog *g, const struct prog_source *s, struct prog_func **sorted, uint32_t n,
    int32_t *byno, uint32_t nno)
{
	for (uint32_t i = 0; i < nno; i++) {
		uint64_t entry = get_order(s->fn + (size_t)i * 3 * g->word, g->word, g->big);
		size_t k;

		LOWER_BOUND(k, n, sorted[k]->entry < entry);
		while (k < n && sorted[k]->entry == entry && sorted[k]->f->flags & SF_NOENTRY)
			k++;
		byno[i] = k < n && sorted[k]->entry == entry ? (int32_t)(sorted[k] - g->func) : -1;
		if (byno[i] >= 0)
			sorted[k]->numbered = 1;
	}
}

/* The function that the call s of a file's unit u comes to, if it is one of that file that is entered without a run sequence; or NULL */
static const struct prog_func *
linked_callee(const struct prog *g, const struct sch_unit *u, const struct op_step *s, struct prog_func **sorted, uint32_t n)
{
	uint64_t entry = prog_value(u, &s->a);
	size_t k;

	LOWER_BOUND(k, n, sorted[k]->entry < entry);
	for (; k < n && sorted[k]->entry == entry; k++)
		if (sorted[k]->numbered)
			return sorted[k]->f->flags & SF_TAILOUT || (sorted[k]->f->flags & SF_LIBRARY && !g->nlib) ? NULL : sorted[k];
	return NULL;
}

/* Calls between the units of a file: the runtime has decided in the same way (ae_link). */
static void
program_link(struct prog *g, uint32_t unit, struct prog_func **sorted, uint32_t n)
{
	for (uint32_t i = unit; i < g->nunit; i++)
		for (uint32_t j = 0; j < g->unit[i].nfunc; j++) {
			const struct sch_func *f = g->unit[i].func + j;

			for (uint32_t b = 0; b < f->nblock; b++)
				for (uint32_t k = 0; k < f->block[b].nstep; k++) {
					struct op_step *s = f->block[b].step + k;
					const struct prog_func *to;

					if (s->op != SO_LINKED)
						continue;
					to = linked_callee(g, g->unit + i, s, sorted, n);
					s->cc = 0;
					s->sym = to ? (int32_t)(to - g->func) : SCH_NOSYM;
					for (uint32_t r = 0; to && r < to->f->nneed; r++)
						s->cc |= to->f->need[r] >= 32 || !(s->n >> to->f->need[r] & 1);
				}
		}
}

/* Room for the functions of the units and for nno numbers, of which the new ones have no function */
static int
room_for_functions(struct prog *g, uint32_t nno)
{
	struct prog_func *func = realloc(g->func, ((size_t)g->nfunc + 1) * sizeof *func);
	int32_t *byno = realloc(g->byno, ((size_t)(nno > g->nno ? nno : g->nno) + 1) * sizeof *byno);

	if (func)
		g->func = func;
	if (byno)
		g->byno = byno;
	if (!func || !byno)
		return program_fail(g, "out of memory");
	for (; g->nno < nno; g->nno++)
		byno[g->nno] = -1;
	return 0;
}

/* The functions of the units from `unit` on, which are those of a file, get their places in func and their numbers. */
static int
list_functions(struct prog *g, const struct prog_source *s, uint32_t unit, struct prog_numbers no)
{
	uint32_t first = unit < g->nunit ? g->base[unit] : g->nfunc, k = first;
	struct prog_func **sorted;

	if (room_for_functions(g, no.first + no.n) != 0)
		return -1;
	sorted = calloc((size_t)(g->nfunc - first) + 1, sizeof *sorted);
	if (!sorted)
		return program_fail(g, "out of memory");
	for (uint32_t i = 0; i < first; i++)            /* the units may have moved */
		g->func[i].u = g->unit + g->func[i].unit;
	for (uint32_t i = unit; i < g->nunit; i++) {
		for (uint32_t j = 0; j < g->unit[i].nfunc; j++, k++) {
			struct prog_func *f = g->func + k;

			*f = (struct prog_func){g->unit + i, g->unit[i].func + j, i, j, g->nlib, 0, 0};
			f->entry = prog_pc(f, f->f->block[0].frag, f->f->block[0].off);
			sorted[k - first] = f;
		}
	}
	if (k > first)
		qsort(sorted, k - first, sizeof *sorted, cmp_entry);
	program_number(g, s, sorted, k - first, g->byno + no.first, no.n);
	program_link(g, unit, sorted, k - first);
	free(sorted);
	return 0;
}

int
prog_load(struct prog *g, const struct prog_source *src)
{
	struct prog_numbers no = { 0, 0 };
	size_t n;

	memset(g, 0, sizeof *g);
	g->src = *src;
	if (read_units(g, src) != 0)
		return -1;
	n = g->nunit ? src->nfn / (3u * g->word) : 0;
	no.n = n < EV_NFUNCS ? (uint32_t)n : EV_NFUNCS;
	g->ownunits = g->nunit;
	g->ownfuncs = g->nfunc;
	return list_functions(g, src, 0, no);
}

int
prog_added(const struct prog *g, uint32_t number)
{
	for (uint32_t i = 0; i < g->nlib; i++)
		if (number - g->lib[i].no.first < g->lib[i].no.n)
			return 1;
	return 0;
}

/* Do the numbers overlap others? */
static int
numbers_taken(const struct prog *g, struct prog_numbers no)
{
	for (uint32_t i = 0; i < g->nlib; i++)
		if (no.first - g->lib[i].no.first < g->lib[i].no.n || g->lib[i].no.first - no.first < no.n)
			return 1;
	return no.first < g->src.nfn / (3u * g->word);
}

int
prog_add(struct prog *g, const struct prog_source *src, struct prog_numbers no, uint64_t base)
{
	struct prog_lib *lib = realloc(g->lib, (g->nlib + 1) * sizeof *lib);
	uint32_t unit = g->nunit, func = g->nfunc;

	if (!lib)
		return program_fail(g, "out of memory");
	g->lib = lib;
	if (src->nfn / (3u * g->word) != no.n || numbers_taken(g, no))
		return program_fail(g, "other functions than those that the events name");
	lib[g->nlib++] = (struct prog_lib){ *src, no, base };
	if (no.n > EV_NFUNCS - no.first)
		no.n = EV_NFUNCS - no.first;
	if (read_units(g, src) != 0 || list_functions(g, src, unit, no) != 0)
		return -1;
	program_shift(g, unit, g->nunit, func, g->nfunc, base);
	if (src->relocate)
		src->relocate(src->arg, base);
	return 0;
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
	free(g->lib);
	memset(g, 0, sizeof *g);
}
