/* Operands in the assembler's Intel syntax, in AT&T syntax. */
#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "ae/rewrite/text.h"
#include "ae/x86/intel_internal.h"

/* What a sum of terms says */
struct sum {
	struct buf sym;         /* symbols and what is not understood, with signs */
	uint64_t num;
	const char *only;       /* the number as it is written, if the sum has no other term */
	size_t nonly;
	unsigned nterm, nnum;
	struct intel_reg base, index, seg;
	unsigned long scale;
	unsigned bytes;         /* as PTR says */
	int brackets, ptr, offset;
};

int
intel_word(const char *s, size_t n, const char *word)
{
	return strlen(word) == n && strncasecmp(s, word, n) == 0;
}

/* Is s a number below `most`? */
static int
below(const char *s, unsigned most)
{
	return isdigit((unsigned char)*s) && (s[1] == '\0' || (*s != '0' && isdigit((unsigned char)s[1]) && s[2] == '\0')) &&
	    strtoul(s, NULL, 10) < most;
}

/* Sets *r if its name is `prefix` and a number below `most`. */
static int
numbered(struct intel_reg *r, const char *prefix, unsigned most, enum intel_regkind kind, unsigned bytes)
{
	size_t n = strlen(prefix);

	if (strncmp(r->name, prefix, n) != 0 || !below(r->name + n, most))
		return 0;
	r->kind = kind;
	r->bytes = bytes;
	return 1;
}

/* The general registers: r8d and the like, and those that have names */
static void
general(struct intel_reg *r)
{
	static const char names[4][20][4] = {
		{ "al", "cl", "dl", "bl", "ah", "ch", "dh", "bh", "spl", "bpl", "sil", "dil" },
		{ "ax", "cx", "dx", "bx", "sp", "bp", "si", "di" },
		{ "eax", "ecx", "edx", "ebx", "esp", "ebp", "esi", "edi", "eiz" },
		{ "rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", "riz" },
	};
	static const char suffix[] = "bwd";
	char digits[4] = "";
	unsigned k, i;
	size_t n = strlen(r->name);
	const char *at;

	for (k = 0; k < 4; k++)
		for (i = 0; i < 20 && *names[k][i]; i++)
			if (strcmp(names[k][i], r->name) == 0) {
				r->kind = REG_GENERAL;
				r->bytes = 1u << k;
				return;
			}
	if (numbered(r, "r", 16, REG_GENERAL, 8)) {
		if (strtoul(r->name + 1, NULL, 10) < 8)
			r->kind = REG_NONE;
		return;
	}
	if (*r->name != 'r' || n < 3 || n > 4 || !(at = strchr(suffix, r->name[n - 1])))
		return;
	memcpy(digits, r->name + 1, n - 2);
	if (below(digits, 16) && strtoul(digits, NULL, 10) >= 8) {
		r->kind = REG_GENERAL;
		r->bytes = 1u << (at - suffix);
	}
}

struct intel_reg
intel_register(const char *s, size_t n)
{
	static const char segments[][3] = { "cs", "ds", "es", "fs", "gs", "ss" };
	struct intel_reg r = { REG_NONE, 0, "" };
	size_t i;

	if (n < 2 || n >= sizeof r.name)
		return r;
	for (i = 0; i < n; i++)
		r.name[i] = (char)tolower((unsigned char)s[i]);
	general(&r);
	if (r.kind || numbered(&r, "xmm", 32, REG_VECTOR, 16) || numbered(&r, "ymm", 32, REG_VECTOR, 32) ||
	    numbered(&r, "zmm", 32, REG_VECTOR, 64) || numbered(&r, "mm", 8, REG_VECTOR, 8) ||
	    numbered(&r, "k", 8, REG_VECTOR, 0) || numbered(&r, "tmm", 8, REG_VECTOR, 0) ||
	    numbered(&r, "bnd", 4, REG_OTHER, 0) || numbered(&r, "cr", 16, REG_OTHER, 0) ||
	    numbered(&r, "dr", 16, REG_OTHER, 0))
		return r;
	for (i = 0; i < sizeof segments / sizeof *segments; i++)
		if (strcmp(r.name, segments[i]) == 0)
			r.kind = REG_SEGMENT;
	if (strcmp(r.name, "st") == 0)
		r.kind = REG_X87;
	if (strcmp(r.name, "rip") == 0 || strcmp(r.name, "eip") == 0)
		r.kind = REG_IP;
	return r;
}

size_t
intel_symbol(const char *s)
{
	size_t n = 0;

	if (*s == '"') {
		for (n = 1; s[n] && s[n] != '"'; n++)
			n += s[n] == '\\' && s[n + 1];
		n += s[n] == '"';
	}
	while (text_symchar((unsigned char)s[n]) || (n && s[n] == '@'))
		n++;
	return n;
}

static const char *
blanks(const char *s)
{
	while (isspace((unsigned char)*s))
		s++;
	return s;
}

/* Bytes of SIZE PTR at s, of which *n characters are read; -1: it is no such thing. */
static int
pointer(const char *s, size_t *n)
{
	static const struct { char name[8]; uint8_t bytes; } sizes[] = {
		{ "byte", 1 }, { "word", 2 }, { "dword", 4 }, { "fword", 6 }, { "qword", 8 }, { "tbyte", 10 }, { "mmword", 8 },
		{ "oword", 16 }, { "xmmword", 16 }, { "ymmword", 32 }, { "zmmword", 64 },
	};
	size_t len = intel_symbol(s), i;
	const char *p = blanks(s + len);

	if (!intel_word(p, intel_symbol(p), "ptr"))
		return -1;
	*n = (size_t)(p + 3 - s);
	for (i = 0; i < sizeof sizes / sizeof *sizes; i++)
		if (intel_word(s, len, sizes[i].name))
			return sizes[i].bytes;
	return -1;
}

/* Adds a term that is no register. */
static void
sum_symbol(struct sum *m, const char *s, size_t n, int minus)
{
	if (minus || m->sym.n)
		buf_u8(&m->sym, minus ? '-' : '+');
	buf_add(&m->sym, s, n);
	m->nterm++;
}

/* Adds a register; scale 0: none is written. 0: an address has no such thing. */
static int
sum_register(struct sum *m, struct intel_reg r, unsigned long scale)
{
	struct intel_reg was = m->base;

	m->nterm++;
	if ((r.kind != REG_GENERAL && r.kind != REG_VECTOR && r.kind != REG_IP) || (r.kind == REG_IP && scale))
		return 0;
	if (!scale && r.kind != REG_VECTOR && !was.kind) {
		m->base = r;
		return 1;
	}
	if (m->index.kind)
		return 0;
	/* the stack pointer is no index */
	if (!scale && (strcmp(r.name, "rsp") == 0 || strcmp(r.name, "esp") == 0)) {
		m->base = r;
		r = was;
	}
	m->index = r;
	m->scale = scale ? scale : 1;
	return m->index.kind != REG_IP;
}

/* A number n at *s, `*`, and a register: *s is after them; 0: no such thing. */
static int
scaled(const char **s, const char *end, unsigned long n, struct intel_reg *r)
{
	const char *p = blanks(end);
	size_t len;

	if (*p != '*')
		return 0;
	p = blanks(p + 1);
	p += *p == '%';
	len = intel_symbol(p);
	*r = intel_register(p, len);
	*s = p + len;
	return r->kind != REG_NONE && n != 0;
}

/* A number, or a number and a register; or something like 1f */
static int
sum_number(struct sum *m, const char **s, int minus)
{
	size_t n = intel_symbol(*s);
	struct intel_reg r;
	char *end;
	uint64_t v = strtoull(*s, &end, 0);

	if (end == *s + n && *blanks(end) == '*')
		return scaled(s, end, v, &r) && !minus && sum_register(m, r, v);
	if (end != *s + n)
		sum_symbol(m, *s, n, minus);
	else {
		m->num += minus ? -v : v;
		m->only = *s;
		m->nonly = n;
		m->nterm++;
		m->nnum++;
	}
	*s += n;
	return 1;
}

/* A register, and its scale after a `*` */
static int
sum_scale(struct sum *m, const char **s, struct intel_reg r)
{
	const char *p = blanks(*s);
	char *end;
	unsigned long v;

	if (*p != '*')
		return sum_register(m, r, 0);
	p = blanks(p + 1);
	v = isdigit((unsigned char)*p) ? strtoul(p, &end, 10) : 0;
	if (!v || intel_symbol(p) != (size_t)(end - p))
		return 0;
	*s = end;
	return sum_register(m, r, v);
}

/* A word: 0 not understood, 1 a term, 2 said of the term after it */
static int
sum_word(struct sum *m, const char **s, int minus)
{
	int percent = **s == '%', bytes;
	const char *w = *s + percent, *after;
	size_t n = intel_symbol(w), len;
	struct intel_reg r = intel_register(w, n);

	after = blanks(w + n);
	if (r.kind == REG_SEGMENT && *after == ':') {
		m->seg = r;
		*s = after + 1;
		return minus ? 0 : 2;
	}
	if (r.kind || percent) {
		*s = w + n;
		return !minus && r.kind && sum_scale(m, s, r);
	}
	if ((bytes = pointer(w, &len)) >= 0) {
		m->bytes = (unsigned)bytes;
		m->ptr = 1;
		*s = w + len;
		return minus ? 0 : 2;
	}
	if (intel_word(w, n, "offset") || (intel_word(w, n, "flat") && *after == ':')) {
		m->offset |= intel_word(w, n, "offset");
		*s = after + (*after == ':');
		return minus ? 0 : 2;
	}
	if (*after == '*' || *after == '/')
		return 0;
	sum_symbol(m, w, n, minus);
	*s = w + n;
	return 1;
}

/* Length of what is in parentheses at s, which may have no register; 0: not understood */
static size_t
parenthesised(const char *s)
{
	size_t n = 0, len;
	int depth = 0;

	do {
		depth += (s[n] == '(') - (s[n] == ')');
		len = intel_symbol(s + n);
		if (!s[n] || strchr("[]{},%;", s[n]) || (len && intel_register(s + n, len).kind))
			return 0;
		n += len ? len : 1;
	} while (depth);
	return n;
}

/* Terms up to what cannot be one. 0: not understood. `depth`: of brackets that are open. */
static int
sum_terms(struct sum *m, const char **s, int depth)
{
	int minus = 0, first = 1, more;
	size_t n;

	for (;; first = 0) {
		*s = blanks(*s);
		/* a prefix, as PTR, has its term after it; between terms is a sign or a bracket */
		for (more = first; **s == '+' || **s == '-'; *s = blanks(*s + 1)) {
			minus ^= **s == '-';
			more = 1;
		}
		if (**s == '[') {
			m->brackets = 1;
			++*s;
			if (minus || depth > 7 || !sum_terms(m, s, depth + 1) || **s != ']')
				return 0;
			++*s;
			continue;
		}
		if (!more)
			return 1;
		if (isdigit((unsigned char)**s))
			more = sum_number(m, s, minus);
		else if (**s == '(' && (n = parenthesised(*s)) != 0) {
			sum_symbol(m, *s, n, minus);
			*s += n;
			more = 1;
		} else
			more = (**s == '%' || intel_symbol(*s)) ? sum_word(m, s, minus) : 0;
		if (!more)
			return 0;
		if (more == 2)
			return depth < 8 && sum_terms(m, s, depth + 1);
		minus = 0;
	}
}

/* The displacement, or an immediate: `always` if it is 0, too */
static void
sum_value(const struct sum *m, struct buf *o, int always)
{
	buf_add(o, m->sym.p, m->sym.n);
	if (m->nnum == 1 && m->nterm == 1 && (always || m->num)) {
		if (m->num != strtoull(m->only, NULL, 0))
			buf_u8(o, '-');
		buf_add(o, m->only, m->nonly);
	} else if (m->num || (always && !m->sym.n))
		buf_printf(o, m->sym.n && (int64_t)m->num >= 0 ? "+%lld" : "%lld", (long long)m->num);
}

static void
sum_memory(const struct sum *m, struct buf *o)
{
	int regs = m->base.kind || m->index.kind;

	if (m->seg.kind)
		buf_printf(o, "%%%s:", m->seg.name);
	sum_value(m, o, !regs);
	if (!regs)
		return;
	buf_u8(o, '(');
	if (m->base.kind)
		buf_printf(o, "%%%s", m->base.name);
	if (m->index.kind)
		buf_printf(o, ",%%%s,%lu", m->index.name, m->scale);
	buf_u8(o, ')');
}

/* What the terms are */
static int
sum_operand(const struct sum *m, struct intel_operand *o)
{
	int regs = m->base.kind || m->index.kind, bare = !m->brackets && !m->ptr && !m->seg.kind;

	if (!m->nterm || m->sym.nomem || (regs && !m->brackets))
		return 0;
	if (bare) {
		o->kind = m->offset ? OP_IMMEDIATE : OP_BARE;
		o->number = !m->sym.n;
		sum_value(m, &o->s, 1);
		return 1;
	}
	o->kind = OP_MEMORY;
	o->bytes = m->bytes;
	sum_memory(m, &o->s);
	return !m->offset;
}

/* A register that is an operand: *s is after it. */
static int
operand_register(const char **s, struct intel_operand *o)
{
	const char *w = *s + (**s == '%');
	size_t n = intel_symbol(w);
	struct intel_reg r = intel_register(w, n);
	const char *after = blanks(w + n);

	if (!r.kind || r.kind == REG_IP || (*after && !strchr(",{(", *after)))
		return 0;
	o->kind = OP_REG;
	o->reg = r;
	o->bytes = r.bytes;
	buf_printf(&o->s, "%%%s", r.name);
	if (*after == '(') {
		const char *digit = blanks(after + 1), *end = blanks(digit + (*digit != '\0'));

		if (r.kind != REG_X87 || *digit < '0' || *digit > '7' || *end != ')')
			return 0;
		buf_printf(&o->s, "(%c)", *digit);
		after = end + 1;
	}
	*s = after;
	return 1;
}

/* What is in braces, n characters at s, after an operand: 1; a rounding mode: 2; neither: 0 */
static int
decoration(const char *s, size_t n, struct intel_operand *o)
{
	struct intel_reg r;
	size_t i;

	s += *s == '%' && n;
	n -= s[-1] == '%';
	r = intel_register(s, n);
	for (i = 0; i < n; i++)
		if (!isalnum((unsigned char)s[i]) && s[i] != '-')
			return 0;
	if (n >= 3 && strncasecmp(s + n - 3, "sae", 3) == 0)
		return 2;
	if (r.kind == REG_VECTOR && *r.name == 'k')
		buf_printf(&o->s, "{%%%s}", r.name);
	else if (intel_word(s, n, "z") || (n > 3 && strncasecmp(s, "1to", 3) == 0)) {
		o->broadcast |= n > 3;
		buf_printf(&o->s, "{%.*s}", (int)n, s);
	} else
		return 0;
	return 1;
}

/* Decorations of o[0]: 0 not understood, else the number of operands. */
static unsigned
decorations(const char **s, struct intel_operand o[2], unsigned n)
{
	for (*s = blanks(*s); **s == '{'; *s = blanks(*s)) {
		const char *in = blanks(*s + 1), *end = strchr(in, '}'), *last = end;
		int kind;

		while (last && last > in && isspace((unsigned char)last[-1]))
			last--;
		if (!end || n == 2 || !(kind = decoration(in, (size_t)(last - in), &o[0])))
			return 0;
		*s = end + 1;
		if (kind == 1)
			continue;
		n++;
		o[n - 1].kind = OP_ROUNDING;
		buf_printf(&o[n - 1].s, "{%.*s}", (int)(last - in), in);
		if (n == 1)
			break;
	}
	*s = blanks(*s);
	return n;
}

unsigned
intel_operand(const char **s, struct intel_operand o[2])
{
	struct sum m;
	int known;

	*s = blanks(*s);
	if (**s == '{') {       /* a rounding mode alone */
		unsigned n = decorations(s, o, 0);

		return **s && **s != ',' ? 0 : n;
	}
	if (!operand_register(s, &o[0])) {
		memset(&m, 0, sizeof m);
		buf_free(&o[0].s);
		known = sum_terms(&m, s, 0) && sum_operand(&m, &o[0]);
		buf_free(&m.sym);
		if (!known)
			return 0;
	}
	if (!decorations(s, o, 1) || (**s && **s != ','))
		return 0;
	return o[1].s.n ? 2 : 1;
}
