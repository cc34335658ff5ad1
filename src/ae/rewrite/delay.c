/*
 * Delay slots. A branch, jump or call with a delay slot transfers control after the next
 * instruction. From here on that instruction has the transfer, so that blocks, definitions and
 * references are in the order in which they happen. The slot of a branch that annuls it when it is
 * not taken becomes a block on the taken side.
 */
#include "ae/rewrite/file.h"

/* Why a transfer and its slot cannot be reordered, or NULL. */
static const char *
bad_slot(const struct afunc *fn, uint32_t i)
{
	const struct ainsn *a = &fn->ins[i], *s = &fn->ins[i + 1];

	if (i + 1 == fn->nins || s->frag != a->frag || s->off != a->off + a->in.len)
		return "a delay slot outside the function";
	if (s->in.ctl != IC_NONE || s->in.slot)
		return "a transfer of control in a delay slot";
	if (s->leader || s->taken)
		return "a jump to a delay slot";
	if (a->in.setsdst == 1 && (s->in.writes >> a->in.tgt & 1))
		return "a delay slot that changes the register it jumps to";
	if ((a->in.ctl == IC_CALL || a->in.ctl == IC_CALLIND) &&
	    ((s->in.reads | s->in.writes) & a->in.writes))
		return "a delay slot that uses the return address";
	return NULL;
}

static void
hand_over(const struct machine *m, struct ainsn *a, struct ainsn *s)
{
	int k;

	s->in.ctl = a->in.ctl;
	s->in.cc = a->in.cc;
	/* the slot's own comparison would conflict with the branch's */
	for (k = 0; k < s->in.neff; k++)
		if (s->in.eff[k].s.dst == (int)machine_flags(m))
			s->in.cc = INSN_NOCC;
	s->in.setsdst = a->in.setsdst;
	s->in.tgt = a->in.tgt;
	s->target = a->target;
	s->callee = a->callee;
	s->table = a->table;
	s->twice = a->twice;
	a->in.ctl = IC_NONE;
	a->in.setsdst = 0;
	a->target = a->callee = a->table = NONE;
	a->twice = 0;
}

static void
delay_annulled(struct afunc *fn, uint32_t i)
{
	struct ainsn *a = &fn->ins[i], *s = &fn->ins[i + 1];

	s->in.ctl = IC_JUMP;
	s->target = a->target;
	s->callee = a->callee;
	s->leader = 1;
	a->target = i + 1;
	a->callee = NONE;
	if (i + 2 < fn->nins)
		fn->ins[i + 2].leader = 1;
}

void
delay_slots(struct file *f)
{
	uint32_t no, i;

	for (no = 0; no < f->nfn; no++) {
		struct afunc *fn = &f->fn[no];

		for (i = 0; i < fn->nins && !fn->why; i++) {
			struct ainsn *a = &fn->ins[i];
			const char *why;

			if (!a->in.slot)
				continue;
			why = bad_slot(fn, i);
			if (why) {
				fn_fail(fn, f->text.st[a->stmt].line, why);
				break;
			}
			a->delayed = 1;
			fn->ins[i + 1].isslot = a->in.slot;
			if (a->in.slot == 2)
				delay_annulled(fn, i);
			else
				hand_over(f->m, a, &fn->ins[i + 1]);
			i++;
		}
	}
}
