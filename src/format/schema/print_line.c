/* Printer of the readable schema: the parts of a line. */
#include <string.h>

#include "format/schema/operation_internal.h"
#include "format/schema/print_internal.h"
#include "format/schema/word_internal.h"

const struct sch_word sch_word[SO_NOPS] = {
#define WORD(name, word, oper) [SO_##name] = {word, oper},
#include "format/schema/word.def"
#undef WORD
};

const char *const sch_ccword[SCH_NCC] = { "eq", "ne", "lt", "le", "gt", "ge", "ltu", "leu", "gtu", "geu",
	"neg", "nneg" };
const char *const sch_repword[5] = {"movs", "stos", "lods", "cmps", "scas"};
const char *const sch_maskedword[MA_HOWS] = {
	"runs", "runs_top", "packed", "folded", "index4", "index4_top", "index8", "index8_top"
};
const char *const sch_extword[5] = {"", "sext", "merge", "sext32", "short"};
const char *const sch_loopword[3] = {"loop_entry", "loop_back", "loop_exit"};
const char *const sch_flagword[SCH_NFLAG] = {"tail_out", "setjmp", "no_entry", "library", "short_need"};

void
print_put(struct printer *p, const char *s)
{
	buf_str(p->out, s);
}

static void
print_dec(struct printer *p, uint64_t v)
{
	char t[24], *s = t + sizeof t;

	*--s = 0;
	do
		*--s = (char)('0' + v % 10);
	while (v /= 10);
	print_put(p, s);
}

static void
print_sdec(struct printer *p, int64_t v)
{
	if (v < 0)
		print_put(p, "-");
	print_dec(p, v < 0 ? -(uint64_t)v : (uint64_t)v);
}

void
print_num(struct printer *p, uint64_t v)
{
	print_put(p, " ");
	print_dec(p, v);
}

void
print_name(struct printer *p, const char *s)
{
	int good = *s != 0;

	for (const char *c = s; *c; c++)
		good &= sch_plainchar((unsigned char)*c, c == s);
	if (good) {
		print_put(p, s);
		return;
	}
	print_put(p, "\"");
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;

		if (c < 0x20 || c >= 0x7f) {
			buf_printf(p->out, "\\x%02x", c);
		} else {
			if (c == '"' || c == '\\')
				print_put(p, "\\");
			buf_u8(p->out, c);
		}
	}
	print_put(p, "\"");
}

void
print_var(struct printer *p, int v)
{
	const char *s = p->nm && p->nm->reg && v < (int)p->u->nregs ? p->nm->reg(p->nm->arg, p->u, v) : NULL;

	print_put(p, s ? s : "v");
	if (!s)
		print_dec(p, (uint64_t)v);
}

/* A constant; the number added to it is only for the comment. */
void
print_constant(struct printer *p, int32_t k, int64_t add)
{
	const struct sch_unit *u = p->u;

	if ((uint32_t)k >= u->ncst) {
		print_put(p, "#F");
		print_dec(p, (uint32_t)k - u->ncst);
	} else {
		print_put(p, "#S");
		if (p->cname[k] >= 0) {
			print_put(p, u->func[p->cname[k]].name);
			return;
		}
		print_dec(p, (uint32_t)k);
	}
	p->hint = k;
	p->add = (uint64_t)add;
}

void
print_value(struct printer *p, const struct op_value *v)
{
	switch (v->kind) {
	case SV_VAR:
		print_put(p, "#");
		print_var(p, v->var);
		break;
	case SV_IMM:
		print_put(p, "#I");
		print_sdec(p, v->imm);
		break;
	case SV_SYM:
		print_constant(p, v->var, v->imm);
		if (v->imm > 0)
			print_put(p, "+");
		if (v->imm)
			print_sdec(p, v->imm);
		break;
	}
}

/* An address as in the paper, 0(#R4), then the parts that are not in the sum. */
static void
print_address(struct printer *p, const struct sch_addr *m)
{
	const char *plus = "";

	print_sdec(p, m->disp);
	print_put(p, "(");
	if (m->base != SCH_NOVAR) {
		print_put(p, "#");
		print_var(p, m->base);
		plus = "+";
	}
	if (m->index != SCH_NOVAR) {
		print_put(p, plus);
		print_put(p, "#");
		print_var(p, m->index);
		print_put(p, "*");
		print_dec(p, m->scale);
		plus = "+";
	}
	if (m->sym != SCH_NOSYM) {
		print_put(p, plus);
		print_constant(p, m->sym, m->disp);
	}
	print_put(p, ")");
	print_put(p, m->narrow ? " %narrow" : "");
	print_put(p, m->align ? " %align" : "");
	print_put(p, m->fs ? " %fs" : "");
}

/* ` ; 0x401020 name+4` */
void
print_comment(struct printer *p, uint64_t addr)
{
	uint64_t off = 0;
	const char *s = p->nm && p->nm->sym ? p->nm->sym(p->nm->arg, addr, &off) : NULL;

	buf_printf(p->out, " ; 0x%llx", (unsigned long long)addr);
	if (!s)
		return;
	print_put(p, " ");
	for (; *s; s++)
		buf_u8(p->out, *s >= 0x20 && *s < 0x7f ? (uint8_t)*s : '?');
	if (off)
		buf_printf(p->out, "+%llu", (unsigned long long)off);
}

void
print_endline(struct printer *p)
{
	if (p->hint != SCH_NOSYM && ((uint32_t)p->hint < p->u->ncst || (p->nm && p->nm->resolved)))
		print_comment(p, p->u->cst[p->hint] + p->add);
	p->hint = SCH_NOSYM;
	print_put(p, "\n");
}

/* The name of a function, or its number if the name is ambiguous. */
void
print_callee(struct printer *p, uint32_t k)
{
	print_put(p, " ");
	if (!p->twice[k]) {
		print_name(p, p->u->func[k].name);
		return;
	}
	print_put(p, "@");
	print_dec(p, k);
}

static void
print_operation(struct printer *p, const struct op_step *s)
{
	if (*sch_word[s->op].oper) {
		print_put(p, " ");
		print_put(p, sch_word[s->op].oper);
	}
	if (s->op == SO_ZEXT || s->op == SO_SEXT) {
		print_put(p, ".");
		print_dec(p, s->n);
	}
}

/* Prints what follows the word of an operation if its fields do not describe that. */
static void
print_special(struct printer *p, const struct op_step *s)
{
	switch (s->op) {
	case SO_UNKNOWN:
		print_put(p, s->cc ? " " : "");
		print_put(p, sch_extword[s->cc]);
		break;
	case SO_LOADRO:
		if (s->n == s->w && !s->cc)
			break;
		print_put(p, s->cc ? " sext." : " zext.");
		print_dec(p, s->n);
		break;
	case SO_CALL:
		print_callee(p, (uint32_t)s->sym);
		break;
	case SO_CALLX:
		print_put(p, " *");
		break;
	case SO_CALLJ:
		buf_printf(p->out, " * %%setjmp(%u)", s->n);
		break;
	case SO_LINKED:
		buf_printf(p->out, " * %%linked(0x%x)", s->n);
		break;
	case SO_REP:
		print_put(p, " ");
		print_put(p, sch_repword[s->cc]);
		break;
	case SO_MASKED:
		print_put(p, MA_STORE(s->cc) ? " store " : " load ");
		print_put(p, sch_maskedword[MA_HOW(s->cc)]);
		if (MA_SHIFT(s->cc))
			buf_printf(p->out, "*%u", 1u << MA_SHIFT(s->cc));
		buf_printf(p->out, " %u", s->n);
		break;
	}
}

void
print_suffix(struct printer *p, char c, unsigned n, unsigned usual)
{
	if (n == usual)
		return;
	buf_u8(p->out, (uint8_t)c);
	print_dec(p, n);
}

/* One step; len: length of its instruction, 0 if it has none of its own. */
void
print_step(struct printer *p, const struct op_step *s, unsigned len)
{
	const char *fields = sch_opinfo[s->op].fields;

	print_put(p, sch_fetches(s->op) && !len ? "& " : "");
	print_put(p, sch_word[s->op].word);
	if (strchr(fields, 'w'))
		print_suffix(p, '.', s->w, p->u->word);
	else if (s->op <= SO_GOTLOAD)
		print_suffix(p, '.', s->n, p->u->word);
	if (s->op == SO_REP)
		len = s->n;
	print_suffix(p, ':', len ? len : SCH_INSTLEN, SCH_INSTLEN);
	if (strchr(fields, 'd')) {
		print_put(p, " ");
		print_var(p, s->dst);
	}
	print_special(p, s);
	if (strchr(fields, 'a') && !strchr(fields, 'b'))
		print_operation(p, s);
	if (strchr(fields, 'a')) {
		print_put(p, " ");
		print_value(p, &s->a);
	}
	if (strchr(fields, 'b')) {
		print_operation(p, s);
		print_put(p, " ");
		print_value(p, &s->b);
	}
	if (strchr(fields, 'm')) {
		print_put(p, " ");
		print_address(p, &s->m);
	}
	if (s->op == SO_SETCC || s->op == SO_CMOV)
		buf_printf(p->out, " %%if(%s)", sch_ccword[s->cc]);
	print_endline(p);
}
