/*
 * Calls through a register that can only hold the address of one function of the file (seed 001,
 * figure 3: `call_inst sub` for a jal through R18).
 */
#include <stdlib.h>
#include <string.h>
#include "ae/rewrite/file.h"
#include "base/mem.h"

struct search {
	const struct file *f;
	const struct afunc *fn;
	unsigned reg;
	uint32_t found;         /* the defining instruction, or NONE so far */
	int many;               /* several definitions reach, or the value at entry does */
	int twice;              /* one that reaches has the address of a function that returns twice */
	uint8_t *seen;          /* blocks searched from their ends */
	uint32_t *todo, ntodo;
};

/* Does instruction a change register r? */
static int
callee_changes(const struct machine *m, const struct ainsn *a, unsigned r)
{
	if (a->in.writes >> r & 1)
		return 1;
	return (a->in.ctl == IC_CALL || a->in.ctl == IC_CALLIND || a->lands) && (a->twice || (m->clobbered >> r & 1));
}

/*
 * Finds the last change before instruction `end` of block b; if there is none, the predecessors
 * have to be searched.
 */
static void
callee_search(struct search *s, uint32_t b, uint32_t end)
{
	const struct graph *g = s->fn->g;
	uint32_t i;

	for (i = end; i-- > s->fn->blk[b].first; )
		if (callee_changes(s->f->m, &s->fn->ins[i], s->reg)) {
			s->twice |= s->fn->ins[i].twiceaddr;
			s->many |= s->found != NONE && s->found != i;
			s->found = i;
			return;
		}
	if (b == 0)
		s->many = 1;
	for (i = g->pred.at[b]; i < g->pred.at[b + 1]; i++)
		if (!s->seen[g->pred.to[i]]) {
			s->seen[g->pred.to[i]] = 1;
			s->todo[s->ntodo++] = g->pred.to[i];
		}
}

/* The only instruction that can set the register used by the call at i, or NONE. */
static uint32_t
callee_definition(struct search *s, uint32_t i)
{
	memset(s->seen, 0, s->fn->nblk);
	s->found = NONE;
	s->many = 0;
	s->twice = 0;
	s->ntodo = 0;
	s->reg = (unsigned)s->fn->ins[i].in.tgt;
	callee_search(s, s->fn->blkof[i], s->fn->ins[i].isslot ? i - 1 : i);
	while (s->ntodo && (!s->many || s->fn->twiceaddr)) {
		uint32_t b = s->todo[--s->ntodo];

		callee_search(s, b, s->fn->blk[b].last);
	}
	return s->many ? NONE : s->found;
}

/* The function whose address instruction a puts into register r, or NONE. */
static uint32_t
address_in(const struct file *f, const struct afunc *fn, const struct ainsn *a, unsigned r)
{
	const char *s = text_operands(f->m, f->text.st[a->stmt].s);
	const struct insn_effect *e = a->in.neff ? &a->in.eff[a->in.neff - 1] : NULL;
	const struct sym *y;
	size_t n;
	int whole;

	if (!e || e->s.dst != (int)r || a->more || a->in.ctl == IC_CALL || a->in.ctl == IC_CALLIND)
		return NONE;
	whole = (e->s.op == SO_MOV && e->s.a.kind == SV_SYM) ||
	    (e->s.op == SO_LEA && e->s.m.sym != SCH_NOSYM && e->s.m.base == SCH_NOVAR && e->s.m.index == SCH_NOVAR);
	if (!whole && !(e->s.op == SO_ADD && e->s.b.kind == SV_SYM))
		return NONE;
	s = text_symbol(f->m, s, &n);
	if (!s || s[n] == '+' || s[n] == '-' || s[n] == '@')
		return NONE;
	/* of what is added to something, only the low half of an address (%lo) makes that of the symbol */
	if (!whole && s[-1] != '(')
		return NONE;
	y = symtab_find(&f->sym, s, n);
	return text_symbol(f->m, s + n, &n) ? NONE : callee_known(f, fn, y);
}

/*
 * Calls of functions that return twice, by their addresses in registers: -mforce-indirect-call.  Where such an address may go
 * elsewhere the function cannot be traced, because a second return would be none of a call that is known to have them.
 */
static void
callee_twice(struct search *s, struct afunc *fn)
{
	uint8_t *used = xcalloc(fn->nins + 1, 1);
	const char *why = NULL;
	uint32_t i, def, line = 0;

	for (i = 0; i < fn->nins && !why; i++) {
		struct ainsn *a = &fn->ins[i];

		if (a->in.ctl != IC_CALLIND || a->in.setsdst != 1 || fn->g->rpo[fn->blkof[i]] == NO_NODE)
			continue;
		def = callee_definition(s, i);
		if (def != NONE && fn->ins[def].twiceaddr) {
			a->twice = used[def] = 1;
		} else if (s->twice) {
			line = s->f->text.st[a->stmt].line;
			why = "a call of one of several functions, some of which return twice";
		}
	}
	for (i = 0; i < fn->nins && !why; i++)
		if (fn->ins[i].twiceaddr && !used[i] && fn->g->rpo[fn->blkof[i]] != NO_NODE) {
			line = s->f->text.st[fn->ins[i].stmt].line;
			why = "the address of a function that returns twice";
		}
	free(used);
	if (why)
		fn_fail(fn, line, why);
}

void
callee_find(struct file *f)
{
	uint32_t no, i, def;

	for (no = 0; no < f->nfn; no++) {
		struct afunc *fn = &f->fn[no];
		struct search s = { .f = f, .fn = fn };

		if (fn->why)
			continue;
		s.seen = xcalloc(fn->nblk, sizeof *s.seen);
		s.todo = xcalloc(fn->nblk, sizeof *s.todo);
		if (fn->twiceaddr)
			callee_twice(&s, fn);
		for (i = 0; i < fn->nins; i++) {
			struct ainsn *a = &fn->ins[i];

			if (a->in.ctl != IC_CALLIND || a->in.setsdst != 1 || a->callee != NONE || a->twice
			    || fn->g->rpo[fn->blkof[i]] == NO_NODE)
				continue;
			def = callee_definition(&s, i);
			if (def != NONE)
				a->callee = address_in(f, fn, &fn->ins[def], s.reg);
		}
		free(s.seen);
		free(s.todo);
	}
}
