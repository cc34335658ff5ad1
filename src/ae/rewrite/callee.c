/*
 * Calls through a register that can only hold the address of one function of the file (seed 001,
 * figure 3: `call_inst sub` for a jal through R18).
 */
#include <stdlib.h>
#include <string.h>
#include "ae/rewrite/origin.h"
#include "base/mem.h"

/* The only instruction that can set the register used by the call at i, or NONE. */
static uint32_t
callee_definition(struct origin *s, uint32_t i)
{
	const struct ainsn *a = &s->fn->ins[i];

	return origin_find(s, a->isslot ? i - 1 : i, (unsigned)a->in.tgt);
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
callee_twice(const struct file *f, struct origin *s, struct afunc *fn)
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
			line = f->text.st[a->stmt].line;
			why = "a call of one of several functions, some of which return twice";
		}
	}
	for (i = 0; i < fn->nins && !why; i++)
		if (fn->ins[i].twiceaddr && !used[i] && fn->g->rpo[fn->blkof[i]] != NO_NODE) {
			line = f->text.st[fn->ins[i].stmt].line;
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
		struct origin s;

		if (fn->why)
			continue;
		origin_begin(&s, fn);
		if (fn->twiceaddr)
			callee_twice(f, &s, fn);
		for (i = 0; i < fn->nins; i++) {
			struct ainsn *a = &fn->ins[i];

			if (a->in.ctl != IC_CALLIND || a->in.setsdst != 1 || a->callee != NONE || a->twice
			    || fn->g->rpo[fn->blkof[i]] == NO_NODE)
				continue;
			def = callee_definition(&s, i);
			if (def != NONE)
				a->callee = address_in(f, fn, &fn->ins[def], s.reg);
		}
		origin_end(&s);
	}
}
