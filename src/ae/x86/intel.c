/*
 * The assembler's Intel syntax (-masm=intel), a statement at a time, in AT&T syntax. Where that has names of its own for an
 * instruction, or a suffix for the size of its operands, there are several ways to write it: dialect.h says how one is chosen.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "ae/machine/machine.h"
#include "ae/rewrite/text.h"
#include "ae/x86/intel_internal.h"
#include "base/mem.h"

#define MOSTOPS 8
#define MOSTWAYS 6

struct intel {
	char name[32];          /* mnemonic, in lower case */
	struct intel_operand op[MOSTOPS];
	unsigned nop;
	/* the ways to write the mnemonic */
	char way[MOSTWAYS][40];
	unsigned nway;
};

enum { SYNTAX_ATT, SYNTAX_NOPREFIX, SYNTAX_PREFIX, SYNTAX_NAKED };

static const char *const intel_begin[] = { ".att_syntax prefix", ".intel_syntax noprefix", ".intel_syntax prefix",
	".att_syntax noprefix" };

static int
intel_after(const char *s)
{
	const char *a = text_directive(s, ".intel_syntax");

	if (a)
		return strcmp(a, "noprefix") == 0 ? SYNTAX_NOPREFIX : SYNTAX_PREFIX;
	a = text_directive(s, ".att_syntax");
	return !a ? -1 : strcmp(a, "noprefix") == 0 ? SYNTAX_NAKED : SYNTAX_ATT;
}

static int
intel_listed(const char *const *list, const char *s)
{
	for (; *list; list++)
		if (strcmp(*list, s) == 0)
			return 1;
	return 0;
}

static void
intel_way(struct intel *in, const char *name, const char *suffix)
{
	char *to = in->way[in->nway];
	size_t n = strlen(name), m = strlen(suffix);
	unsigned i;

	if (in->nway == MOSTWAYS || n + m >= sizeof in->way[0])
		return;
	memcpy(to, name, n);
	memcpy(to + n, suffix, m + 1);
	for (i = 0; i < in->nway; i++)
		if (strcmp(in->way[i], to) == 0)
			return;
	in->nway++;
}

/* The suffix for operands of this many bytes; "" for none */
static const char *
intel_suffix(unsigned bytes)
{
	return bytes == 1 ? "b" : bytes == 2 ? "w" : bytes == 4 ? "l" : bytes == 8 ? "q" : "";
}

/* The operand in memory, or NULL */
static const struct intel_operand *
intel_memory(const struct intel *in)
{
	unsigned i;

	for (i = 0; i < in->nop; i++)
		if (in->op[i].kind == OP_MEMORY)
			return &in->op[i];
	return NULL;
}

/* Is there a register of this kind? cl as a count does not say how long the operands are. */
static int
intel_has(const struct intel *in, enum intel_regkind kind)
{
	static const char *const shifts[] = { "sal", "sar", "shl", "shr", "rol", "ror", "rcl", "rcr", NULL };
	unsigned i, n = intel_listed(shifts, in->name) && in->nop ? 1 : in->nop;

	for (i = 0; i < n; i++)
		if (in->op[i].kind == OP_REG && in->op[i].reg.kind == kind)
			return 1;
	return 0;
}

/* Other names: those that are the same for all operands */
static void
intel_renamed(struct intel *in)
{
	static const char *const names[][2] = {
		{ "cbw", "cbtw" }, { "cwde", "cwtl" }, { "cdqe", "cltq" }, { "cwd", "cwtd" }, { "cdq", "cltd" }, { "cqo", "cqto" },
		{ "retf", "lret" },
	};
	static const char *const strings[] = { "movsd", "stosd", "lodsd", "scasd", "cmpsd", "insd", "outsd", NULL };
	char name[sizeof in->name];
	size_t i;

	for (i = 0; i < sizeof names / sizeof *names; i++)
		if (strcmp(in->name, names[i][0]) == 0)
			intel_way(in, names[i][1], "");
	if (intel_listed(strings, in->name) && !intel_has(in, REG_VECTOR)) {
		memcpy(name, in->name, sizeof name);
		name[strlen(name) - 1] = 'l';
		intel_way(in, name, "");
	}
}

/* movsx and its like have both sizes as suffixes. */
static void
intel_extended(struct intel *in)
{
	const char *from, *to;
	char suffix[4];

	if (in->nop != 2 || (strcmp(in->name, "movzx") != 0 && strcmp(in->name, "movsx") != 0 && strcmp(in->name, "movsxd") != 0))
		return;
	from = intel_suffix(in->op[1].bytes);
	to = intel_suffix(in->op[0].bytes);
	if (!*from || !*to)
		return;
	suffix[0] = *from;
	suffix[1] = *to;
	suffix[2] = '\0';
	intel_way(in, in->name[3] == 'z' ? "movz" : "movs", suffix);
}

/* The x87's: a suffix for floating point is another one, and with two registers AT&T's names are exchanged (as(1), i386-Bugs). */
static void
intel_x87(struct intel *in)
{
	static const char *const floats[] = { "fld", "fst", "fstp", "fadd", "fmul", "fsub", "fsubr", "fdiv", "fdivr", "fcom",
		"fcomp", NULL };
	static const char *const ints[] = { "fild", "fist", "fistp", "fisttp", "fiadd", "fimul", "fisub", "fisubr", "fidiv",
		"fidivr", "ficom", "ficomp", NULL };
	static const char *const swapped[][2] = { { "fsub", "fsubr" }, { "fdiv", "fdivr" }, { "fsubp", "fsubrp" },
		{ "fdivp", "fdivrp" } };
	const struct intel_operand *m = intel_memory(in);
	size_t i;

	if (m && intel_listed(floats, in->name))
		intel_way(in, in->name, m->bytes == 4 ? "s" : m->bytes == 8 ? "l" : m->bytes == 10 ? "t" : "");
	if (m && intel_listed(ints, in->name))
		intel_way(in, in->name, m->bytes == 2 ? "s" : m->bytes == 4 ? "l" : m->bytes == 8 ? "ll" : "");
	if (m || (in->nop && (strcmp(in->op[0].s.p ? (char *)in->op[0].s.p : "", "%st") == 0)))
		return;
	for (i = 0; i < sizeof swapped / sizeof *swapped; i++) {
		if (strcmp(in->name, swapped[i][0]) == 0)
			intel_way(in, swapped[i][1], "");
		if (strcmp(in->name, swapped[i][1]) == 0)
			intel_way(in, swapped[i][0], "");
	}
}

/* Instructions whose operand in memory may have several sizes, whatever the register */
static void
intel_sized(struct intel *in)
{
	static const char *const integer[] = { "cvtsi2ss", "cvtsi2sd", "vcvtsi2ss", "vcvtsi2sd", "vcvtusi2ss", "vcvtusi2sd",
		"vcvtsi2sh", "vcvtusi2sh", NULL };
	static const char *const narrowing[] = { "vcvtpd2ps", "vcvtpd2dq", "vcvttpd2dq", "vcvtpd2udq", "vcvttpd2udq", "vcvtqq2ps",
		"vcvtuqq2ps", "vcvtneps2bf16", "vfpclassps", "vfpclasspd", "vfpclassph", "vcvtpd2ph", "vcvtqq2ph", "vcvtuqq2ph",
		"vcvtdq2ph", "vcvtudq2ph", "vcvtps2phx", NULL };
	const struct intel_operand *m = intel_memory(in);

	if (m && (intel_listed(integer, in->name) || strcmp(in->name, "crc32") == 0))
		intel_way(in, in->name, intel_suffix(m->bytes));
	if (m && !m->broadcast && intel_listed(narrowing, in->name))
		intel_way(in, in->name, m->bytes == 16 ? "x" : m->bytes == 32 ? "y" : m->bytes == 64 ? "z" : "");
}

/* All ways to write the mnemonic, what is most likely first */
static void
intel_ways(struct intel *in, int jump)
{
	static const char *const unsized[] = { "ldmxcsr", "stmxcsr", "vldmxcsr", "vstmxcsr", "fldcw", "fnstcw", "fstcw", "fnstsw",
		"fstsw", "fldenv", "fnstenv", "fstenv", "clflush", "clflushopt", "clwb", "cmpxchg16b", "cmpxchg8b", NULL };
	const struct intel_operand *m = intel_memory(in);
	const char *suffix = m && !jump ? intel_suffix(m->bytes) : "";

	intel_renamed(in);
	intel_extended(in);
	if (*in->name == 'f')
		intel_x87(in);
	else
		intel_sized(in);
	if (strncmp(in->name, "set", 3) == 0 || intel_listed(unsized, in->name) || intel_has(in, REG_GENERAL) ||
	    intel_has(in, REG_VECTOR))
		intel_way(in, in->name, "");
	intel_way(in, in->name, suffix);
	intel_way(in, in->name, "");
}

/* Words before the mnemonic: *s is at the mnemonic then. */
static void
intel_prefixes(const char **s, struct buf *o)
{
	static const char *const words[] = { "lock", "rep", "repe", "repz", "repne", "repnz", "notrack", "bnd", "data16", "addr32",
		"cs", "ds", "es", "fs", "gs", "ss", "rex64", "xacquire", "xrelease", NULL };
	const char *p, *data;

	if (**s == '.' && (data = strrchr(*s, ';')) != NULL) {  /* such as are written as data: text.c */
		buf_add(o, *s, (size_t)(data + 1 - *s));
		buf_u8(o, ' ');
		*s = data + 1;
	}
	for (;; *s = p) {
		char word[12] = "";
		size_t n, i;

		while (isspace((unsigned char)**s))
			++*s;
		n = **s == '{' ? strcspn(*s, "}") + 1 : strcspn(*s, " \t");
		if (n > strlen(*s))
			n = strlen(*s);
		for (i = 0; n < sizeof word && i < n; i++)
			word[i] = (char)tolower((unsigned char)(*s)[i]);
		for (p = *s + n; isspace((unsigned char)*p); p++)
			;
		if (!*p || (**s != '{' && !intel_listed(words, word)))
			return;
		if (**s == '{')
			buf_add(o, *s, n);
		else
			buf_str(o, word);
		buf_u8(o, ' ');
	}
}

/* Parses mnemonic and operands; 0: not understood. */
static int
intel_parse(struct intel *in, const char *s)
{
	size_t n = 0;

	while (isalnum((unsigned char)s[n]) || s[n] == '_')
		n++;
	if (!n || n >= sizeof in->name || (s[n] && !isspace((unsigned char)s[n])))
		return 0;
	while (n--)
		in->name[n] = (char)tolower((unsigned char)s[n]);
	s += strlen(in->name);
	while (isspace((unsigned char)*s))
		s++;
	while (*s) {
		unsigned got;

		if (in->nop + 2 > MOSTOPS || !(got = intel_operand(&s, &in->op[in->nop])))
			return 0;
		in->nop += got;
		if (*s == ',' && !*++s)
			return 0;
	}
	return 1;
}

/* Does the instruction jump to its operand? */
static int
intel_jumps(const struct intel *in)
{
	return in->nop == 1 && (*in->name == 'j' || strcmp(in->name, "call") == 0 || strncmp(in->name, "loop", 4) == 0 ||
	    strcmp(in->name, "xbegin") == 0);
}

/* Writes an operand; `value`: a symbol that is nothing else is a number's name. */
static void
intel_print(struct buf *o, const struct intel_operand *p, int jump, int value)
{
	if (jump && p->kind != OP_BARE)
		buf_u8(o, '*');
	if (!jump && (p->kind == OP_IMMEDIATE || (p->kind == OP_BARE && (p->number || value))))
		buf_u8(o, '$');
	buf_add(o, p->s.p, p->s.n);
}

/* Writes the n-th way to write the instruction; 0: there is none. */
static int
intel_write(struct buf *o, struct intel *in, unsigned n)
{
	static const char *const forward[] = { "enter", "bound", "invlpga", "invlpgb", "monitor", "monitorx", "mwait", "mwaitx",
		"tpause", "umwait", "pvalidate", "rmpadjust", "rmpupdate", NULL };
	int jump = intel_jumps(in), bare = 0, same = intel_listed(forward, in->name);
	unsigned i;

	intel_ways(in, jump);
	for (i = 0; i < in->nop; i++)
		bare |= !jump && in->op[i].kind == OP_BARE && !in->op[i].number;
	if (n >= in->nway << bare)
		return 0;
	buf_str(o, in->way[n % in->nway]);
	for (i = 0; i < in->nop; i++) {
		buf_str(o, i ? ", " : "\t");
		intel_print(o, &in->op[same ? i : in->nop - 1 - i], jump, n >= in->nway);
	}
	return 1;
}

/* A directive is the same, but for names of registers in those of call frames. */
static char *
intel_directive(const char *s, int syntax, unsigned n)
{
	struct buf o = BUF_INIT;
	size_t len;

	if (n)
		return NULL;
	if (syntax != SYNTAX_NOPREFIX || strncmp(s, ".cfi_", 5) != 0 || strchr(s, '"'))
		return xstrdup(s);
	while (*s) {
		len = intel_symbol(s);
		if (intel_register(s, len).kind)
			buf_u8(&o, '%');
		len = len ? len : 1;
		buf_add(&o, s, len);
		s += len;
	}
	buf_u8(&o, 0);
	return (char *)o.p;
}

/* Is s a directive, or does it set a symbol?  A prefix that is written as data has an instruction after it. */
static int
intel_isdirective(const char *s)
{
	size_t n = intel_symbol(s);

	while (isspace((unsigned char)s[n]))
		n++;
	return s[n] == '=' || (*s == '.' && (strchr(s, '"') || !strchr(s, ';')));
}

static char *
intel_translate(const char *s, int syntax, unsigned n)
{
	struct buf o = BUF_INIT;
	struct intel in;
	unsigned i;
	int ok;

	if (syntax == SYNTAX_NAKED)
		return NULL;
	if (intel_isdirective(s))
		return intel_directive(s, syntax, n);
	memset(&in, 0, sizeof in);
	intel_prefixes(&s, &o);
	ok = intel_parse(&in, s) && intel_write(&o, &in, n);
	for (i = 0; i < MOSTOPS; i++)
		buf_free(&in.op[i].s);
	buf_u8(&o, 0);
	if (!ok || o.nomem) {
		buf_free(&o);
		return NULL;
	}
	return (char *)o.p;
}

const struct dialect x86_intel = {
	.after = intel_after,
	.begin = intel_begin,
	.translate = intel_translate,
	.untranslated = "not translated from Intel syntax exactly",
	.different = "its Intel syntax is not translated exactly"
};
