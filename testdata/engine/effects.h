/*
 * For tests of lifters: what an instruction's facts (isa/insn.h) say,
 * in words, and as values that can be compared with a machine's.  The test
 * includes ../check.h, isa/insn.h and ae/regen/code.h before, and
 * says in EFF_NREG how many registers the machine has, in EFF_WORD the bytes of one.
 */
#define EFF_FLAGS EFF_NREG
#define EFF_MEM   (EFF_NREG + 1)
#define EFF_ALLCC 0xfffu

static char eff_text[1024];

static void
say(const char *s, long long n)
{
	size_t len = strlen(eff_text);

	snprintf(eff_text + len, sizeof eff_text - len, s, n);
}

static void
say_mask(const char *what, uint64_t m)
{
	int r, first = 1;

	if (!m)
		return;
	say(what, 0);
	for (r = 0; r < 64; r++)
		if (m >> r & 1) {
			say(first ? "%lld" : ",%lld", r);
			first = 0;
		}
}

static void
say_val(const struct op_value *v)
{
	if (v->kind == SV_VAR)
		say(v->var == EFF_MEM ? "mem" : v->var == EFF_FLAGS ? "flags" : "R%lld", v->var);
	else if (v->kind == SV_IMM)
		say(v->imm > 9 || v->imm < -9 ? "%#llx" : "%lld", v->imm);
	else
		say("field%lld", v->var);
}

static void
say_addr(const struct sch_addr *m)
{
	say(m->align ? "[~3&" : "[", 0);
	if (m->fs)
		say("tp", 0);
	if (m->base != SCH_NOVAR)
		say("R%lld", m->base);
	if (m->index != SCH_NOVAR)
		say("+R%lld", m->index);
	if (m->index != SCH_NOVAR && m->scale != 1)
		say("*%lld", m->scale);
	if (m->sym != SCH_NOSYM)
		say("+field%lld", m->sym);
	if (m->disp)
		say("%+lld", m->disp);
	say(m->narrow ? "]narrow" : "]", 0);
}

static void
say_effect(const struct insn_effect *e)
{
	static const char *const ops[SO_NOPS] = {
		[SO_UNKNOWN] = "?", [SO_MOV] = "", [SO_LEA] = "&", [SO_ADD] = "+", [SO_SUB] = "-",
		[SO_AND] = "&",
		[SO_OR] = "|", [SO_XOR] = "^", [SO_SHL] = "<<", [SO_SHR] = ">>", [SO_SAR] = ">>s",
		[SO_ROL] = "rol",
		[SO_ROR] = "ror", [SO_MUL] = "*", [SO_NOT] = "~", [SO_NEG] = "neg ", [SO_BSWAP] = "bswap ",
		[SO_ZEXT] = "zext", [SO_SEXT] = "sext", [SO_FLAGS_SUB] = "-", [SO_FLAGS_RES] = "",
		[SO_FLAGS_AND] = "&",
		[SO_SETCC] = "cc", [SO_CMOV] = "cmov", [SO_REP] = "rep"
	};
	const struct op_step *s = &e->s;
	struct op_value dst = { SV_VAR, s->dst, 0 };
	int binary = (s->op >= SO_ADD && s->op <= SO_MUL) || s->op == SO_FLAGS_SUB || s->op == SO_FLAGS_AND;

	say("; ", 0);
	say_val(&dst);
	say("=", 0);
	if (binary)
		say_val(&s->a);
	say(ops[s->op] ? ops[s->op] : "BAD", 0);
	if (s->op == SO_SETCC || s->op == SO_CMOV)
		say("%lld ", s->cc);
	if (s->op == SO_ZEXT || s->op == SO_SEXT)
		say("%lld ", s->n);
	if (s->op == SO_LEA)
		say_addr(&s->m);
	else if (s->op != SO_SETCC && s->op != SO_UNKNOWN && s->op != SO_REP)
		say_val(binary ? &s->b : &s->a);
	if (s->w != EFF_WORD)
		say(" w%lld", s->w);
	if (s->op >= SO_FLAGS_SUB && s->op <= SO_FLAGS_AND && e->ccmask != EFF_ALLCC)
		say(" cc%llx", e->ccmask);
}

/* Facts in words; why: what the lifter returned */
static const char *
say_insn(const struct insn *in, const char *why)
{
	static const char *const ctl[] = { "", "jump", "branch", "switch", "call", "callind", "return",
	    "stop" };
	static const char *const refs[] = { "; load%lld", "; store%lld", "; modify%lld", "; gotload%lld" };
	const struct insn_mask *m = &in->mask;
	int i;

	if (why)
		return why;
	eff_text[0] = '\0';
	say_mask("r", in->reads);
	say_mask(" w", in->writes);
	say_mask(" v", in->vreads);
	if (in->flreads)
		say(" fr%llx", in->flreads);
	if (in->flwrites)
		say(" fw%llx", in->flwrites);
	for (i = 0; i < in->nref; i++) {
		int op = in->ref[i].op;

		if (op == SO_MASKED) {
			say("; cc%lld ", in->ref[i].cc);
			say("width %lld ", in->ref[i].w);
			say("masked %lld", in->ref[i].n);
			say_addr(&in->ref[i].m);
			say(m->vector ? " by vector %lld" : " by k%lld", m->reg);
			say(m->nindex ? " index %lld" : "", m->index);
			continue;
		}
		say(op >= SO_LOAD && op <= SO_GOTLOAD ? refs[op - SO_LOAD] : "; BAD%lld", in->ref[i].n);
		say_addr(&in->ref[i].m);
		say(in->mref == i ? "" : "-", 0);
	}
	for (i = 0; i < in->neff; i++)
		say_effect(&in->eff[i]);
	if (in->rep)
		say("; rep%lld", in->rep);
	if (in->ctl) {
		say("; ", 0);
		say(ctl[in->ctl], 0);
		if (in->ctl == IC_BRANCH)
			say(" cc%lld", in->cc);
		if (in->setsdst == 2)
			say(" to what is loaded", 0);
		else if (in->setsdst)
			say(" to R%lld", in->tgt);
		say(in->slot ? " slot%lld" : "", in->slot);
	}
	say(in->pcrel ? "; pcrel" : "", 0);
	for (i = 0; i < in->nfield; i++) {
		say(" (field at %lld,", in->field[i].off);
		say(" %lld bytes)", in->field[i].size);
	}
	return eff_text;
}

/* Values.  What is unknown has the machine's. */
struct eval {
	uint64_t v[INSN_MAXREG + 2];
	uint64_t unknown;       /* variables that are not known */
	uint64_t field[2];      /* what the fields of the instruction stand for */
	uint64_t tp;            /* the thread pointer */
	unsigned known;         /* conditions that are known */
	/* the last comparison: signs of a-b, signed and unsigned; a-b is negative as it stands */
	int cmp, ucmp, neg;
};

static uint64_t
address_of(const struct eval *e, const struct sch_addr *m)
{
	uint64_t a = (uint64_t)m->disp;

	if (m->base != SCH_NOVAR)
		a += e->v[m->base];
	if (m->index != SCH_NOVAR)
		a += e->v[m->index] * m->scale;
	if (m->sym != SCH_NOSYM)
		a += e->field[m->sym];
	if (m->narrow)
		a &= 0xffffffff;
	if (m->fs)
		a += e->tp;
	return m->align ? a & ~UINT64_C(3) : a;
}

static uint64_t
value_of(const struct eval *e, const struct op_value *v, int *known)
{
	if (v->kind == SV_VAR && e->unknown >> v->var & 1)
		*known = 0;
	return v->kind == SV_VAR ? e->v[v->var] : v->kind == SV_SYM ? e->field[v->var] : (uint64_t)v->imm;
}

static int
holds(const struct eval *e, unsigned cc)
{
	switch (cc) {
	case SC_EQ: return e->cmp == 0;
	case SC_NE: return e->cmp != 0;
	case SC_LT: return e->cmp < 0;
	case SC_LE: return e->cmp <= 0;
	case SC_GT: return e->cmp > 0;
	case SC_GE: return e->cmp >= 0;
	case SC_LTU: return e->ucmp < 0;
	case SC_LEU: return e->ucmp <= 0;
	case SC_GTU: return e->ucmp > 0;
	case SC_GEU: return e->ucmp >= 0;
	case SC_NEG: return e->neg;
	default: return !e->neg;
	}
}

static void
compare_values(struct eval *e, unsigned w, uint64_t a, uint64_t b)
{
	unsigned sh = 64 - 8 * w;
	int64_t sa = (int64_t)(a << sh), sb = (int64_t)(b << sh);

	a <<= sh;
	b <<= sh;
	e->cmp = sa < sb ? -1 : sa > sb;
	e->ucmp = a < b ? -1 : a > b;
	e->neg = (int64_t)(a - b) < 0;
}

/* One effect; got: the machine's registers after the instruction */
static void
step(struct eval *e, const struct insn_effect *f, const uint64_t *got)
{
	const struct op_step *s = &f->s;
	uint64_t bit = UINT64_C(1) << s->dst, *d = &e->v[s->dst], a, b;
	int known = s->op != SO_UNKNOWN && s->op != SO_REP;

	a = value_of(e, &s->a, &known);
	b = value_of(e, &s->b, &known);
	if (s->op == SO_SETCC || s->op == SO_CMOV)
		known &= e->known >> s->cc & 1;
	if (s->w < 4 || s->op == SO_CMOV)
		known &= !(e->unknown & bit);
	e->unknown &= ~bit;
	if (s->dst == EFF_FLAGS)
		e->known = known ? f->ccmask : 0;
	if (!known) {
		e->unknown |= bit;
		if (s->dst < EFF_NREG)
			*d = got[s->dst];
	} else if (s->op == SO_FLAGS_SUB)
		compare_values(e, s->w, a, b);
	else if (s->op == SO_FLAGS_RES)
		compare_values(e, s->w, a, 0);
	else if (s->op == SO_FLAGS_AND)
		compare_values(e, s->w, a & b, 0);
	else if (s->op == SO_SETCC)
		*d = code_result(s->w, *d, (uint64_t)holds(e, s->cc));
	else if (s->op == SO_CMOV)
		*d = code_result(s->w, *d, holds(e, s->cc) ? a : *d);
	else if (s->op == SO_LEA)
		*d = code_result(s->w, *d, address_of(e, &s->m));
	else
		*d = code_result(s->w, *d, code_alu(s->op, s->w, s->n, a, b));
}
