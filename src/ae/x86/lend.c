/*
 * r15 where the compiler has not reserved it. In a twin it is the event pointer, and the program's value is in the thread's
 * state (X86_LENT). Outside traced code it is in r15 itself, as the program has it: so what unwinds, jumps back by
 * longjmp or changes stacks needs to know nothing of this.
 *
 * An instruction of the twin that names r15 is written with a register that is free there, which has the value for a
 * moment. If none is free, r15 has it: the event pointer is then where it is outside traced code, and
 * whoever interrupts the instruction finds it there.
 */
#include <stdio.h>
#include <string.h>
#include "ae/x86/emit_internal.h"
#include "base/mem.h"
#include "isa/x86/lift.h"

#define R15 BIT(X86_R15)

/* The number of the register whose name begins at s, if it is one of r8 to r15, and the length of that number; else -1 */
static int
numbered(const char *s, size_t *n)
{
	int r;

	if (s[0] != '%' || s[1] != 'r' || s[2] < '1' || s[2] > '9')
		return -1;
	*n = s[2] == '1' && s[3] >= '0' && s[3] <= '5' ? 2 : 1;
	r = *n == 2 ? 10 + s[3] - '0' : s[2] - '0';
	return r >= 8 ? r : -1;
}

char *
lend_rename(const char *s, unsigned a, unsigned b)
{
	char *r = xcalloc(2 * strlen(s) + 1, 1), *p = r;
	size_t n;

	while (*s) {
		int v = numbered(s, &n);

		if (v >= 0 && ((unsigned)v == a || (unsigned)v == b)) {
			p += sprintf(p, "%%r%u", (unsigned)v == a ? b : a);
			s += 2 + n;
		} else {
			*p++ = *s++;
		}
	}
	return r;
}

int
lend_names(const struct twin *t, const char *s)
{
	return t->after && strstr(s, "%r15") != NULL;
}

void
lend_load(struct buf *o, int r)
{
	buf_printf(o, "\tmovq\t%%gs:%d, %%%s\n", X86_LENT, x86_regname(r, 8));
}

void
lend_text(struct buf *o, const char *s, int r)
{
	const char *p;

	for (; (p = strstr(s, "%r15")) != NULL; s = p) {
		int size = 8;

		buf_printf(o, "%.*s", (int)(p - s), s);
		p += 4;
		switch (*p) {
		case 'b': size = 1; p++; break;
		case 'w': size = 2; p++; break;
		case 'd': size = 4; p++; break;
		default: break;
		}
		buf_printf(o, "%%%s", x86_regname(r, size));
	}
	buf_str(o, s);
}

/* The instruction with r15, which has the program's value meanwhile */
static void
lend_swapped(struct buf *o, const char *s, int writes)
{
	buf_printf(o, "\tmovq\t%%r15, %%gs:%d\n", X86_PTR);
	lend_load(o, X86_R15);
	buf_printf(o, "\t%s\n", s);
	if (writes)
		buf_printf(o, "\tmovq\t%%r15, %%gs:%d\n", X86_LENT);
	buf_printf(o, "\tmovq\t%%gs:%d, %%r15\n\tmovq\t$0, %%gs:%d\n", X86_PTR, X86_PTR);
}

/* push, pop, and what moves r15 from or to another register: these can name its place instead. 0: it is none of them */
static int
lend_moved(struct buf *o, const char *s)
{
	static const char *const from[] = { "pushq\t%r15", "popq\t%r15", "movq\t%r15, %", "movl\t%r15d, %" };
	const char *p = strchr(s, ',');
	size_t k;

	for (k = 0; k < sizeof from / sizeof from[0]; k++) {
		size_t n = strlen(from[k]), at = (size_t)(strchr(from[k], '%') - from[k]);

		if (strncmp(s, from[k], n) != 0 || (k < 2 ? s[n] != '\0' : s[n] == 'x' || s[n] == 'm' || strstr(s + n, "r15")))
			continue;
		buf_printf(o, "\t%.*s%%gs:%d%s\n", (int)at, s, X86_LENT, k < 2 ? "" : p);
		return 1;
	}
	if (strncmp(s, "movq\t%r", 8) == 0 && p && strcmp(p, ", %r15") == 0 && strncmp(s + 5, "%r15", 4) != 0) {
		buf_printf(o, "\t%.*s, %%gs:%d\n", (int)(p - s), s, X86_LENT);
		return 1;
	}
	return 0;
}

/* A register that instruction i may have instead of r15, or -1 */
static int
lend_scratch(const struct twin *t, uint32_t i, uint64_t writes)
{
	const struct insn *in = &t->fn->ins[i].in;
	const char *s = twin_text(t, &t->fn->ins[i]);
	uint64_t no = in->reads | BIT(X86_RSP) | R15, dead = ~(no | in->writes | t->after[i]);
	int r;

	for (r = 0; r < X86_NREG; r++)
		if (dead >> r & 1)
			return r;
	/* a load has its result only when it has used the address */
	for (r = 0; r < X86_NREG; r++)
		if (strncmp(s, "mov", 3) == 0 && !(writes & R15) && (in->writes & ~no) >> r & 1)
			return r;
	return -1;
}

void
lend_insn(struct twin *t, uint32_t i, const char *s)
{
	uint64_t writes = t->fn->ins[i].in.writes;
	int r;

	if (lend_moved(t->o, s))
		return;
	r = lend_scratch(t, i, writes);
	if (r < 0) {
		lend_swapped(t->o, s, (writes & R15) != 0);
		return;
	}
	lend_load(t->o, r);
	buf_str(t->o, "\t");
	lend_text(t->o, s, r);
	buf_str(t->o, "\n");
	if (writes & R15)
		buf_printf(t->o, "\tmovq\t%%%s, %%gs:%d\n", x86_regname(r, 8), X86_LENT);
}

static uint64_t
lend_spare(const struct twin *t)
{
	return t->spare & (BIT(X86_NREG) - 1) & ~(BIT(X86_RSP) | R15);
}

int
lend_carrier(struct twin *t)
{
	uint64_t spare = lend_spare(t);
	int r = 0;

	while (r < X86_NREG && !(spare >> r & 1))
		r++;
	if (r == X86_NREG) {
		r = X86_RAX;
		buf_printf(t->o, "\tmovq\t%%rax, %%gs:%d\n", X86_KEEP);
	}
	lend_load(t->o, r);
	return r;
}

void
lend_done(struct twin *t)
{
	if (!lend_spare(t))
		buf_printf(t->o, "\tmovq\t%%gs:%d, %%rax\n", X86_KEEP);
}
