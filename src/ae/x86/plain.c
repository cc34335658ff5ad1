/*
 * The plain copy: where a function runs untraced although its entry is
 * patched (other threads, handlers that interrupt traced code).  It has the
 * instructions under the patch and then jumps to the original code after them.
 * If something jumps back under the patch, it has the whole function.
 */
#include <ctype.h>
#include <string.h>
#include "ae/rewrite/emit.h"
#include "ae/rewrite/landing.h"
#include "ae/x86/emit_internal.h"

/* Instructions of fragment 0 that the patch covers, and a call that belongs to the last of them */
static uint32_t
x86_plain_covered(const struct afunc *fn)
{
	uint32_t n = 0;

	while (n < fn->nins && fn->ins[n].frag == 0 && (fn->ins[n].off < X86_PATCH || fn->ins[n - 1].in.tls))
		n++;
	return n;
}

static int
jumped_into(const struct afunc *fn)
{
	uint32_t i, n = x86_plain_covered(fn);

	for (i = 0; i < n; i++)
		if (fn->ins[i].leader)
			return 1;
	return 0;
}

/* Instruction i, or the next one that has a mark in the original: padding has none, and does nothing */
static uint32_t
x86_plain_marked(const struct afunc *fn, uint32_t i)
{
	while (i < fn->nins && fn->ins[i].pad)
		i++;
	return i;
}

static const struct landing_names plain_names = { 'B', 'R', 'G', 'q', 0 };

/*
 * A call returns to the original, for whose sake the unwinder has tables. r11 is free at a call.
 */
static void
x86_plain_call(struct buf *o, const struct file *f, uint32_t no, uint32_t i)
{
	const struct ainsn *a = &f->fn[no].ins[i];

	buf_printf(o, "\tleaq\t%u+.Lae_u%u_%u(%%rip), %%r11\n\tpushq\t%%r11\n\tjmp\t%s\n", a->in.len, no, i,
	    text_operands(f->m, f->text.st[a->stmt].s));
}

void
x86_fits(struct file *f, struct afunc *fn)
{
	uint32_t i, n = x86_plain_covered(fn), line = fn->nins ? f->text.st[fn->ins[0].stmt].line : 0;

	for (i = 0; i < n; i++) {
		const char *s = f->text.st[fn->ins[i].stmt].s;

		if (fn->ins[i].in.ctl == IC_CALLIND && !jumped_into(fn) && (strstr(s, "%rsp") || strstr(s, "%r11"))) {
			fn_fail(fn, line, "a call through the stack at its very start");
			return;
		}
		if (fn->ins[i].in.changes && !jumped_into(fn)) {
			fn_fail(fn, line, "a call for thread-local data at its very start");
			return;
		}
	}
	for (i = 0; i < n; i++)
		if (fn->ins[i].in.near) {
			fn_fail(fn, line, "a loop or jrcxz at its very start");
			return;
		}
	for (i = 0; i < n; i++)
		if (fn->ins[i].taken) {
			fn_fail(fn, line, "a code label used as a value at its very start");
			return;
		}
	/* jumps from the cold part under the patch would need a copy of that part too */
	for (i = fn_frag_end(fn); i < fn->nins; i++)
		if (fn->ins[i].target != NONE && fn->ins[i].target < n) {
			fn_fail(fn, line, "its cold part jumps to its very start");
			return;
		}
}

void
x86_plain_copy(struct buf *o, struct file *f, uint32_t no)
{
	struct afunc *fn = &f->fn[no];
	int whole = jumped_into(fn);
	uint32_t i, n = whole ? fn_frag_end(fn) : x86_plain_covered(fn);

	if (whole)
		landing_begin(o, f, no, 0, &plain_names);
	for (i = 0; i < n; i++) {
		const struct ainsn *a = &fn->ins[i];
		const char *s = f->text.st[a->stmt].s;

		if (whole && i)
			landing_between(o, f, no, fn->ins[i - 1].stmt + 1, a->stmt, &plain_names);
		if (whole && a->leader)
			buf_printf(o, ".Lae_q%u_%u:\n", no, i);
		if (a->pad)
			continue;
		if (!whole && (a->in.ctl == IC_CALL || a->in.ctl == IC_CALLIND) && !(i && fn->ins[i - 1].in.tls)) {
			x86_plain_call(o, f, no, i);
			return;
		}
		if ((a->in.ctl == IC_JUMP || a->in.ctl == IC_BRANCH) && a->target != NONE
		    && ((whole && a->target < n) || isdigit((unsigned char)*text_operands(f->m, s)))) {
			/*
			 * into the copy, or by a numeric label, which has no name from here: the original's
			 * mark
			 */
			if (whole && a->target < n)
				buf_printf(o, "\t%.*s.Lae_q%u_%u\n", (int)(text_operands(f->m, s) - s), s, no,
				    a->target);
			else
				buf_printf(o, "\t%.*s.Lae_u%u_%u\n", (int)(text_operands(f->m, s) - s), s, no,
				    x86_plain_marked(fn, a->target));
		} else
			buf_printf(o, "\t%s\n", s);
	}
	if (whole) {
		landing_end(o, f, no, 0, &plain_names);
		landing_tables(o, f, no, 1, &plain_names);
	}
	n = x86_plain_marked(fn, n);
	if (!whole && n < fn->nins && fn->ins[n].frag == 0)
		buf_printf(o, "\tjmp\t.Lae_u%u_%u\n", no, n);
}
