/* Where a register's value comes from: the only instruction that can have set it. See origin.h. */
#include <stdlib.h>
#include <string.h>
#include "ae/rewrite/origin.h"
#include "base/mem.h"

void
origin_begin(struct origin *s, const struct afunc *fn)
{
	memset(s, 0, sizeof *s);
	s->fn = fn;
	s->seen = xcalloc(fn->nblk, sizeof *s->seen);
	s->todo = xcalloc(fn->nblk, sizeof *s->todo);
}

void
origin_end(struct origin *s)
{
	free(s->seen);
	free(s->todo);
}

int
origin_changes(const struct machine *m, const struct ainsn *a, unsigned r)
{
	if (a->in.writes >> r & 1)
		return 1;
	return (a->in.ctl == IC_CALL || a->in.ctl == IC_CALLIND || a->lands) &&
	    (a->twice || (machine_clobbers(m, &a->in) >> r & 1));
}

/*
 * Finds the last change before instruction `end` of block b; if there is none, the predecessors
 * have to be searched.
 */
static void
origin_search(struct origin *s, uint32_t b, uint32_t end)
{
	const struct graph *g = s->fn->g;
	uint32_t i;

	for (i = end; i-- > s->fn->blk[b].first; )
		if (origin_changes(s->fn->m, &s->fn->ins[i], s->reg)) {
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

uint32_t
origin_find(struct origin *s, uint32_t i, unsigned reg)
{
	memset(s->seen, 0, s->fn->nblk);
	s->found = NONE;
	s->many = 0;
	s->twice = 0;
	s->ntodo = 0;
	s->reg = reg;
	origin_search(s, s->fn->blkof[i], i);
	while (s->ntodo && (!s->many || s->fn->twiceaddr)) {
		uint32_t b = s->todo[--s->ntodo];

		origin_search(s, b, s->fn->blk[b].last);
	}
	return s->many ? NONE : s->found;
}

const struct sym *
origin_address(const struct file *f, const struct ainsn *a, unsigned r)
{
	const struct insn_effect *e = a->in.neff ? &a->in.eff[a->in.neff - 1] : NULL;
	const char *s;
	size_t n;

	if (!e || e->s.dst != (int)r || a->more || a->nth || a->in.ctl != IC_NONE || e->s.op != SO_LEA || e->s.w != 8 ||
	    e->s.m.sym == SCH_NOSYM || e->s.m.base != SCH_NOVAR || e->s.m.index != SCH_NOVAR)
		return NULL;
	s = text_place(f->m, f->text.st[a->stmt].s, &n);
	if (!s || s[n] == '+' || s[n] == '-' || s[n] == '@')
		return NULL;
	return symtab_find(&f->sym, s, n);
}
