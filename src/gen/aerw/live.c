/* Live registers and flags at the end of every block: a backward data flow over one word. */
#include <stdlib.h>
#include "../../base/mem.h"
#include "../../engine/x86/lift.h"
#include "live.h"

#define CALLEE_SAVED (0xffffu & ~X86_CLOBBERED)
#define ARGUMENTS ((1u << X86_RDI | 1u << X86_RSI | 1u << X86_RDX | 1u << X86_RCX | 1u << X86_R8 | 1u << X86_R9 \
	| 1u << X86_RAX | 1u << X86_R10) | CALLEE_SAVED)        /* rax counts vector arguments, r10 is the static chain */

/* What an instruction uses before and surely overwrites */
static void
transfer(const struct insn *in, uint64_t *use, uint64_t *def)
{
	*use = in->reads | (uint64_t)in->flreads << 16;
	*def = in->writes | (uint64_t)in->flwrites << 16;
	if (in->ctl == IC_CALL || in->ctl == IC_CALLIND) {
		*use |= ARGUMENTS;
		*def |= X86_CLOBBERED | LIVE_FLAGS;
	} else if (in->ctl == IC_RETURN) {
		*use |= X86_RESULTS | CALLEE_SAVED;
	}
}

/* What is live where control leaves the function */
static uint64_t
leaving(const struct ablock *k)
{
	return k->term == ST_TAIL || k->term == ST_TAILX || k->range ? ARGUMENTS : 0;
}

uint32_t *
live_out(const struct afunc *fn)
{
	uint64_t *gen = xcalloc(fn->nblk, sizeof *gen), *kill = xcalloc(fn->nblk, sizeof *kill);
	uint64_t *in = xcalloc(fn->nblk, sizeof *in), *out = xcalloc(fn->nblk, sizeof *out);
	uint32_t *r = xcalloc(fn->nblk, sizeof *r), b, i;

	for (b = 0; b < fn->nblk; b++) {
		const struct ablock *k = &fn->blk[b];

		gen[b] = leaving(k);
		for (i = k->last; i-- > k->first; ) {
			uint64_t use, def;

			transfer(&fn->ins[i].in, &use, &def);
			gen[b] = (gen[b] & ~def) | use;
			kill[b] |= def;
		}
	}
	graph_flow(fn->g, 1, 1, gen, kill, in, out);
	for (b = 0; b < fn->nblk; b++)
		r[b] = (uint32_t)(out[b] | leaving(&fn->blk[b]));
	free(gen);
	free(kill);
	free(in);
	free(out);
	return r;
}

void
live_check(const struct file *f, struct afunc *fn)
{
	uint32_t *live = live_out(fn), b;

	for (b = 0; b < fn->nblk; b++)
		if (fn->blk[b].term == ST_SWITCH && (live[b] & LIVE_FLAGS))
			fn_fail(fn, f->text.st[fn->ins[fn->blk[b].last - 1].stmt].line, "flags are used behind an indirect jump");
	free(live);
}
