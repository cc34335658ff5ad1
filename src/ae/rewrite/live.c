/* Live registers and flags at the end of every block: a backward data flow, one word for each block. */
#include <stdlib.h>
#include "ae/machine/machine.h"
#include "ae/rewrite/emit.h"
#include "ae/rewrite/live.h"
#include "base/mem.h"


/* Sets *use to what an instruction uses before it writes it, *def to what it always overwrites. */
static void
live_transfer(const struct machine *m, const struct insn *in, int lands, uint64_t *use, uint64_t *def)
{
	*use = in->reads | (uint64_t)in->flreads << LIVE_FLAG0;
	*def = in->writes | (uint64_t)in->flwrites << LIVE_FLAG0;
	if (lands) {
		*use = 0;
		*def = m->clobbered | LIVE_FLAGS;
	} else if (in->ctl == IC_CALL || in->ctl == IC_CALLIND) {
		if (!in->changes)
			*use |= (m->arguments | m->saved) & ~*def;      /* a delay slot's own come first */
		*def |= machine_clobbers(m, in) | LIVE_FLAGS;
	} else if (in->ctl == IC_RETURN) {
		*use |= (m->results | m->saved) & ~*def;
	}
}

/* The registers and flags that are live where control leaves the function. */
static uint64_t
live_leaving(const struct machine *m, const struct ablock *k)
{
	return k->term == ST_TAIL || k->term == ST_TAILX || k->range ? m->arguments | m->saved : 0;
}

uint64_t *
live_out(const struct afunc *fn)
{
	uint64_t *gen = xcalloc(fn->nblk, sizeof *gen), *kill = xcalloc(fn->nblk, sizeof *kill);
	uint64_t *in = xcalloc(fn->nblk, sizeof *in), *out = xcalloc(fn->nblk, sizeof *out);
	uint64_t *r = xcalloc(fn->nblk, sizeof *r);
	uint32_t b, i;

	for (b = 0; b < fn->nblk; b++) {
		const struct ablock *k = &fn->blk[b];

		gen[b] = live_leaving(fn->m, k);
		for (i = k->last; i-- > k->first; ) {
			uint64_t use, def;

			live_transfer(fn->m, &fn->ins[i].in, fn->ins[i].lands, &use, &def);
			gen[b] = (gen[b] & ~def) | use;
			kill[b] |= def;
		}
	}
	graph_flow(fn->g, 1, 1, gen, kill, in, out);
	for (b = 0; b < fn->nblk; b++)
		r[b] = (out[b] | live_leaving(fn->m, &fn->blk[b]));
	free(gen);
	free(kill);
	free(in);
	free(out);
	return r;
}

uint64_t *
live_after(const struct afunc *fn)
{
	uint64_t *r = xcalloc(fn->nins + 1, sizeof *r), *out = live_out(fn);
	uint32_t b, i;

	for (b = 0; b < fn->nblk; b++)
		for (i = fn->blk[b].last; i-- > fn->blk[b].first; ) {
			uint64_t use, def;

			live_transfer(fn->m, &fn->ins[i].in, fn->ins[i].lands, &use, &def);
			r[i] = out[b];
			out[b] = (out[b] & ~def) | use;
		}
	free(out);
	return r;
}

uint8_t *
live_noflags(const struct afunc *fn)
{
	uint8_t *r = xcalloc(fn->nins + 1, 1);
	uint64_t *out = live_out(fn);
	uint32_t b, i;

	for (b = 0; b < fn->nblk; b++)
		for (i = fn->blk[b].last; i-- > fn->blk[b].first; ) {
			uint64_t use, def;

			live_transfer(fn->m, &fn->ins[i].in, fn->ins[i].lands, &use, &def);
			/* what is recorded of a branch is so before it uses the flags */
			r[i] = !((fn->ins[i].in.ctl == IC_BRANCH ? out[b] | use : out[b]) & LIVE_FLAGS);
			out[b] = (out[b] & ~def) | use;
		}
	free(out);
	return r;
}

void
live_check(const struct file *f, struct afunc *fn)
{
	uint64_t *live = live_out(fn);
	uint32_t at = 0;
	const char *why;

	if (fn->m->emit->check && !fn->why && (why = fn->m->emit->check(fn, live, &at)) != NULL)
		fn_fail(fn, f->text.st[fn->ins[at].stmt].line, why);
	free(live);
}
