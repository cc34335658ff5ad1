/* Targets of jumps and calls, and code labels that are used as values. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "ae/rewrite/file.h"

static const char *const twice[] = { "setjmp", "_setjmp", "__setjmp", "sigsetjmp", "_sigsetjmp",
	"__sigsetjmp", "savectx", "vfork", "getcontext", "_ITM_beginTransaction" };
/* what ae_start() of tracemill.h calls */
static const char starts[] = "__ae_start";
static const char *const contexts[] = { "makecontext", "swapcontext", "setcontext" };

#define COUNT(a) (sizeof (a) / sizeof (a)[0])

static int
target_listed(const char *const *list, size_t n, const char *s, size_t len)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (strlen(list[i]) == len && memcmp(list[i], s, len) == 0)
			return 1;
	return 0;
}

const char *
insn_target(const struct file *f, const struct ainsn *a, size_t *n)
{
	const char *s = text_operands(f->m, f->text.st[a->stmt].s), *p = strrchr(s, ',');

	if (p)                  /* the last operand */
		for (s = p + 1; isblank((unsigned char)*s); s++)
			;
	for (p = s; text_symchar((unsigned char)*p); p++)
		;
	*n = (size_t)(p - s);
	if (*n && (*p == '\0' || strcmp(p, "@PLT") == 0))
		return s;
	return NULL;
}

/* The instruction of numeric label s (1b, 2f), seen from statement at. */
static uint32_t
target_numeric(const struct file *f, const struct afunc *fn, const char *s, size_t n, uint32_t at)
{
	int back = s[n - 1] == 'b';
	uint32_t i, k;

	for (i = at; i < f->text.n && i != UINT32_MAX; i += back ? -1u : 1u) {
		const struct stmt *st = &f->text.st[i];

		if (st->kind != ST_LABEL || strlen(st->s) != n - 1 || memcmp(st->s, s, n - 1) != 0)
			continue;
		for (k = 0; k < fn->nins; k++)
			if (fn->ins[k].stmt > i && !fn->ins[k].pad && !fn->ins[k].nth)
				return f->labelat[i] == NONE ? NONE :
				    fn_at(fn, fn->ins[k].frag, f->labelat[i]);
		return NONE;
	}
	return NONE;
}

uint32_t
callee_known(const struct file *f, const struct afunc *fn, const struct sym *y)
{
	return y && y->where == 1 && y->func != NONE && !y->weak && !y->seton && f->fn[y->func].unit == fn->unit &&
	    !f->fn[y->func].library ? y->func : NONE;
}

uint32_t
callee_if_traced(const struct file *f, const struct ainsn *a)
{
	return (a->in.ctl == IC_CALL || a->in.ctl == IC_CALLIND) && a->callee != NONE &&
	    !f->fn[a->callee].why ? a->callee : NONE;
}

/*
 * The target of the jump at k if the assembler made it inside a statement: in the statement, or
 * right after it.
 */
static uint32_t
target_inner(const struct afunc *fn, uint32_t k)
{
	const struct ainsn *a = &fn->ins[k];
	uint32_t first = k - a->nth, end, to;

	if (!a->in.jump || !(a->nth || a->more))
		return NONE;
	for (end = k; fn->ins[end].more; end++)
		;
	to = fn_at(fn, a->frag, (uint32_t)((int64_t)a->off + a->in.jump));
	return to != NONE && to >= first && to <= end + 1 ? to : NONE;
}

/* Is symbol y the end of the function, or after the padding there? */
static int
target_end(const struct file *f, const struct afunc *fn, const struct ainsn *a, const struct sym *y)
{
	return !a->in.slot && a->frag == y->frag && f->labelat[y->stmt] != NONE && f->labelat[y->stmt] >= fn->frag[y->frag].size;
}

/* Does another function begin at label y? */
static int
target_begins(const struct file *f, const struct sym *y)
{
	size_t i;

	for (i = y->stmt; i < f->text.n && f->text.st[i].kind != ST_INSN; i++) {
		const char *s = f->text.st[i].s;
		const struct sym *z = f->text.st[i].kind == ST_LABEL ? symtab_find(&f->sym, s, strlen(s)) : NULL;

		if (z && z->func != NONE)
			return 1;
	}
	return 0;
}

/*
 * A jump to the end of the function: clang has them after calls that do not return, so that control does not come
 * there; if it does, regeneration says so. If it may come there, it leaves the function.
 */
static void
target_leaves(const struct file *f, struct ainsn *a, const struct sym *y)
{
	if (a->in.ctl == IC_JUMP && !f->text.st[a->stmt].inasm && !target_begins(f, y))
		a->in.ctl = IC_STOP;
}

static void
target_direct(struct file *f, struct afunc *fn, uint32_t self, struct ainsn *a)
{
	uint32_t line = f->text.st[a->stmt].line;
	const struct sym *y;
	const char *s;
	size_t n;

	a->target = target_inner(fn, (uint32_t)(a - fn->ins));
	if (a->target != NONE) {
		fn->ins[a->target].leader = 1;
		return;
	}
	s = insn_target(f, a, &n);
	if (!s) {
		fn_fail(fn, line, "jump or call to an expression");
		return;
	}
	if (isdigit((unsigned char)*s)) {
		a->target = target_numeric(f, fn, s, n, a->stmt);
		a->target += a->target != NONE && fn->ins[a->target].lands;
		if (a->target == NONE || a->in.ctl == IC_CALL)
			fn_fail(fn, line, "jump to a label that is not in the function");
		else
			fn->ins[a->target].leader = 1;
		return;
	}
	a->twice = (uint8_t)(a->in.ctl == IC_CALL && target_listed(twice, COUNT(twice), s, n));
	y = symtab_find(&f->sym, s, n);
	if (!y || y->where != 1)
		return;
	if (y->func != NONE) {
		/* in a shared library, what is called through the PLT may be another file's function of this name */
		a->callee = s[n] == '@' ? NONE : callee_known(f, fn, y);
	} else if (y->fn != self || a->in.ctl == IC_CALL) {
		fn_fail(fn, line, "jump or call into another function");
		fn_fail(&f->fn[y->fn], line, "another function jumps or calls into it");
	} else if (y->ins >= fn->nins || fn->ins[y->ins].frag != y->frag) {
		if (target_end(f, fn, a, y))
			target_leaves(f, a, y);
		else
			fn_fail(fn, line, "jump past the end of the function");
	} else if (fn->ins[y->ins].lands) {
		fn_fail(fn, line, "jump to a landing pad");
	} else {
		a->target = y->ins;
		fn->ins[a->target].leader = 1;
	}
}

/* Code labels among the operands of other instructions. */
static void
target_operands(struct file *f, struct afunc *fn, uint32_t self, struct ainsn *a)
{
	const char *s = text_operands(f->m, f->text.st[a->stmt].s);
	uint32_t line = f->text.st[a->stmt].line;
	size_t n, k;

	if (a->calls && (a->in.ctl == IC_CALLIND || a->in.ctl == IC_SWITCH)) {
		const struct sym *y = symtab_find(&f->sym, a->calls, strlen(a->calls));

		a->twice = (uint8_t)(a->in.ctl == IC_CALLIND &&
		    target_listed(twice, COUNT(twice), a->calls, strlen(a->calls)));
		a->callee = callee_known(f, fn, y);
	}
	/* -fno-plt: call *setjmp@GOTPCREL(%rip) */
	if (a->in.ctl == IC_CALLIND && *s == '*' && (s = text_symbol(f->m, s, &n)) != NULL && s[n] == '@')
		a->twice |= (uint8_t)target_listed(twice, COUNT(twice), s, n);
	/* of the instruction, not of a symbol: 0(%rip) */
	for (k = 0; k < a->in.nfield; k++)
		if (a->in.field[k].rip && !text_place(f->m, f->text.st[a->stmt].s, &n))
			fn_fail(fn, line, "operand relative to the location counter");
	s = text_operands(f->m, f->text.st[a->stmt].s);
	for (; (s = text_symbol(f->m, s, &n)) != NULL; s += n) {
		struct sym *y = symtab_find(&f->sym, s, n);

		/* the upper half of an address is not yet one */
		if (a->in.ctl == IC_NONE && target_listed(twice, COUNT(twice), s, n) && !(y && y->where) &&
		    !(s - f->text.st[a->stmt].s > 4 && strncmp(s - 4, "%hi(", 4) == 0))
			fn->twiceaddr = a->twiceaddr = 1;
		if (n == 1 && *s == '.') {
			fn_fail(fn, line, "operand relative to the location counter");
			return;
		}
		if (y && y->where == 1 && y->func == NONE) {
			if (y->fn != self || y->ins >= fn->nins) {
				fn_fail(fn, line, "code label of another function as operand");
				fn_fail(&f->fn[y->fn], line, "another function uses its code label");
				return;
			}
			fn->ins[y->ins].leader = fn->ins[y->ins].taken = 1;
			fn->codetaken = fn->labelread = 1;
		}
		/* jmp *.Ltable(,%reg,8); a table that can be written is read, as other memory is: the twin's copy would stay as it was */
		if (a->in.ctl == IC_SWITCH && a->in.setsdst == 2 && y && y->table != NONE) {
			const struct jtable *t = &f->tab[y->table];
			const struct sch_addr *m = &a->in.ref[0].m;

			if (y->readonly && !y->weak && t->absolute && !t->mixed && t->func == self && m->base == SCH_NOVAR &&
			    m->scale == f->m->word && (s[n] == '(' && s[-1] == '*'))
				a->table = y->table;
		}
	}
	/* `1f` as a value */
	for (s = text_operands(f->m, f->text.st[a->stmt].s); *s; s++)
		if (isdigit((unsigned char)*s) && (s[1] == 'b' || s[1] == 'f') &&
		    !text_symchar((unsigned char)s[2]) &&
		    (s == f->text.st[a->stmt].s || !text_symchar((unsigned char)s[-1])))
			fn_fail(fn, line, "numeric label as operand");
}

/* Is instruction k a part of a macro that jumps, so that its operand is a target? */
static int
in_jump(const struct afunc *fn, uint32_t k)
{
	k -= fn->ins[k].nth;
	do {
		if (fn->ins[k].in.ctl == IC_JUMP || fn->ins[k].in.ctl == IC_BRANCH ||
		    fn->ins[k].in.ctl == IC_CALL)
			return 1;
	} while (fn->ins[k++].more);
	return 0;
}

/*
 * The first instruction that keeps the stack pointer in memory, NONE if there is none. A function that keeps the address of a
 * label as well is __builtin_setjmp's, and another one jumps there.
 */
static uint32_t
keeps_stack(const struct afunc *fn)
{
	uint32_t i;

	for (i = 0; i < fn->nins; i++) {
		const struct insn *in = &fn->ins[i].in;

		if (in->nref && in->ref[in->nref - 1].op == SO_STORE && in->vreads & in->reads & BIT(fn->m->sp) &&
		    !(in->writes & BIT(fn->m->sp)))
			return i;
	}
	return NONE;
}

/* clang marks __builtin_setjmp by a comment. */
static int
marked_setjmp(const struct file *f, const struct afunc *fn)
{
	static const char mark[] = "#EH_SjLj_Setup";
	uint32_t i, frag;

	for (frag = 0; frag < fn->nfrag; frag++)
		for (i = fn->ins[fn->frag[frag].first].stmt; i < f->text.n; i++) {
			const struct stmt *st = &f->text.st[i];

			if (st->kind == ST_TEXT && strncmp(st->s, mark, sizeof mark - 1) == 0)
				return 1;
			if (st->kind == ST_DIRECTIVE && (text_directive(st->s, ".cfi_endproc") || text_directive(st->s, ".size")))
				break;
		}
	return 0;
}

static void
labels_used(const struct file *f, struct afunc *fn)
{
	uint32_t i;

	/* a jump that is not its own uses it: __builtin_longjmp, a computed goto through a thunk of -mindirect-branch */
	if (fn->codetaken && !fn->hasswitch)
		fn_fail(fn, 0, "code label as a value without an indirect jump");
	else if (fn->labelread && marked_setjmp(f, fn))
		fn_fail(fn, 0, "__builtin_setjmp");
	else if (fn->labelread && (i = keeps_stack(fn)) != NONE)
		fn_fail(fn, f->text.st[fn->ins[i].stmt].line, "the stack pointer is kept beside a code label");
}

/* Does the file refer weakly to a function that it does not define? Names of C++ do not count: nothing of these is replaced weakly. */
static int
refers_weakly(const struct file *f)
{
	size_t i;

	for (i = 0; i < f->text.n; i++)
		if (f->text.st[i].kind == ST_DIRECTIVE && text_directive(f->text.st[i].s, ".weakref"))
			return 1;
	for (i = 0; i < f->sym.n; i++) {
		const struct sym *y = f->sym.sym[i];

		if (y->weak && !y->where && !y->nset && strncmp(y->name, "_Z", 2) != 0)
			return 1;
	}
	return 0;
}

void
file_targets(struct file *f)
{
	uint32_t i, k;

	file_tables(f);
	f->weakly = refers_weakly(f);
	for (i = 0; i < COUNT(contexts); i++)
		f->context |= symtab_find(&f->sym, contexts[i], strlen(contexts[i])) != NULL;
	f->waits = symtab_find(&f->sym, starts, strlen(starts)) != NULL;
	for (i = 0; i < f->nfn; i++) {
		struct afunc *fn = &f->fn[i];

		for (k = 0; k < fn->nins && !fn->why; k++) {
			struct ainsn *a = &fn->ins[k];
			const char *s = f->text.st[a->stmt].s;

			if (a->pad)
				continue;
			if (a->in.ctl == IC_JUMP || a->in.ctl == IC_BRANCH || a->in.ctl == IC_CALL)
				target_direct(f, fn, i, a);
			else if (!in_jump(fn, k))
				target_operands(f, fn, i, a);
			fn->hasswitch |= a->in.ctl == IC_SWITCH;
			for (size_t c = 0; c < COUNT(contexts); c++)
				f->context |= strstr(s, contexts[c]) != NULL;
			f->waits |= strstr(s, starts) != NULL;
		}
	}
	for (i = 0; i < f->nfn; i++)
		if (!f->fn[i].why)
			returns_find(&f->fn[i]);
	for (i = 0; i < f->nfn; i++)
		labels_used(f, &f->fn[i]);
}
