/* Part of x86test.c: what the effects of an instruction say, and whether the processor agrees. */

struct tally { unsigned long values, conditions; };

enum { BAD_REGS = 1, BAD_MEM = 2, BAD_CC = 4, BAD_CTL = 8, BAD_PAIR = 16, BAD_FACTS = 32, BAD_FAULT = 64 };

static int
condition(uint64_t f, unsigned cc)
{
	int lt = !(f & SF) != !(f & OF), z = (f & ZF) != 0, c = (f & CF) != 0;

	switch (cc) {
	case SC_EQ: return z;
	case SC_NE: return !z;
	case SC_LT: return lt;
	case SC_LE: return lt || z;
	case SC_GT: return !lt && !z;
	case SC_GE: return !lt;
	case SC_LTU: return c;
	case SC_LEU: return c || z;
	case SC_GTU: return !c && !z;
	case SC_GEU: return !c;
	case SC_NEG: return (f & SF) != 0;
	default: return !(f & SF);
	}
}

/* How the lifter numbers flags: CF 0, OF 1, PF 2, AF 4, ZF 6, SF 7 */
static uint64_t
flags_of(unsigned bits)
{
	return (bits & 0xd5) | (bits & 2 ? OF : 0);
}

/*
 * Is byte k of the memory one that is stored to?  1: yes, and *j is which byte of MEM; 2: by
 * another reference
 */
static int
stored(const struct insn *in, const struct eval *e0, uint32_t k, unsigned *j, uint64_t count)
{
	int i;

	for (i = 0; i < in->nref; i++) {
		uint64_t at = address_of(e0, &in->ref[i].m) - MEM, n = in->ref[i].n * (in->rep ? count : 1);

		if (in->ref[i].op != SO_STORE && in->ref[i].op != SO_MODIFY)
			continue;
		*j = (unsigned)(k - at);
		if (k >= at && k < at + n)
			return i == in->mref && !in->rep ? 1 : 2;
	}
	return 0;
}

static int
memory_agrees(const struct xcase *c, const struct result *r, const struct eval *e0, const struct eval *e)
{
	uint64_t count = c->in[X86_RCX] - r->r[X86_RCX];
	uint32_t k;
	unsigned j;

	for (k = 0; k < NMEM; k++)
		switch (stored(&c->insn, e0, k, &j, count)) {
		case 0:
			if (r->mem[k] != c->mem[k])
				return 0;
			break;
		case 1:
			if (!(e->unknown >> EFF_MEM & 1) && r->mem[k] != (uint8_t)(e->v[EFF_MEM] >> 8 * j))
				return 0;
			break;
		default:
			break;
		}
	return 1;
}

/* rsi and rdi go forward by what rcx counts, as SO_REP says */
static int
repeated(const struct xcase *c, const struct result *r)
{
	uint64_t count = c->in[X86_RCX] - r->r[X86_RCX];
	int i, which = c->insn.eff[0].s.cc;

	for (i = 0; i < c->insn.neff; i++) {
		const struct op_step *s = &c->insn.eff[i].s;

		if (s->op == SO_REP && s->dst != X86_RCX && r->r[s->dst] - c->in[s->dst] != count * s->w)
			return 0;
		if (s->op == SO_REP && s->dst == X86_RCX && s->n != c->insn.len)
			return 0;
	}
	return count <= c->in[X86_RCX] && (which == SR_CMPS || which == SR_SCAS || !r->r[X86_RCX]);
}

/* Where control goes */
static int
control_agrees(const struct xcase *c, const struct result *r, const struct eval *e0)
{
	const struct insn *in = &c->insn;
	uint64_t target = where() + in->len + 8u;
	int taken = in->ctl != IC_NONE;

	if (in->ctl == IC_BRANCH && (e0->known & EFF_ALLCC) && in->cc != INSN_NOCC)
		taken = holds(e0, in->cc);
	else if (in->ctl == IC_BRANCH)
		taken = r->taken;
	if (in->setsdst == 1 && e0->v[in->tgt] != target)
		return 0;
	if (in->setsdst == 2 && (in->nref == 0 || in->ref[0].n != 8 ||
	    get_le64(c->mem + (address_of(e0, &in->ref[0].m) - MEM)) != target))
		return 0;
	if ((in->ctl == IC_CALL || in->ctl == IC_CALLIND) && r->r[X86_RSP] != c->in[X86_RSP] - 8)
		return 0;
	return r->taken == taken;
}

/* What an instruction reads and writes, once as masks and once as effects and references */
static int
facts_fit(const struct insn *in)
{
	uint64_t from = in->reads | UINT64_C(1) << EFF_MEM | (in->flreads ? UINT64_C(1) << EFF_FLAGS : 0),
	    written = 0;
	int k;

	if (in->vreads & ~in->reads || (in->ctl == IC_BRANCH && !in->flreads))
		return 0;
	for (k = 0; k < in->nref; k++) {
		const struct sch_addr *m = &in->ref[k].m;

		if ((m->base != SCH_NOVAR && !(in->reads >> m->base & 1)) ||
		    (m->index != SCH_NOVAR && !(in->reads >> m->index & 1)))
			return 0;
	}
	for (k = 0; k < in->neff; k++) {
		const struct op_step *s = &in->eff[k].s;

		if ((s->a.kind == SV_VAR && !(from >> s->a.var & 1)) ||
		    (s->b.kind == SV_VAR && !(from >> s->b.var & 1))
		    || ((s->op == SO_CMOV || s->op == SO_SETCC) && !(from >> EFF_FLAGS & 1))
		    || ((s->op == SO_CMOV || s->w < 4) && s->dst < EFF_NREG && !(from >> s->dst & 1)))
			return 0;
		from |= UINT64_C(1) << s->dst;
		if (s->dst < EFF_NREG)
			written |= UINT64_C(1) << s->dst;
	}
	return in->ctl || written == in->writes;
}

/* One run of it: bits of what is wrong */
static unsigned
check_one(const struct xcase *c, const struct result *r, int flags_known, struct tally *t)
{
	const struct insn *in = &c->insn;
	struct eval e = { .known = flags_known ? EFF_ALLCC : 0 }, e0;
	unsigned bad = 0, k;
	int i;

	memcpy(e.v, c->in, sizeof c->in);
	memcpy(e.field, c->field, sizeof e.field);
	compare_values(&e, 1, c->a, c->c);
	e.unknown = flags_known ? 0 : UINT64_C(1) << EFF_FLAGS;
	for (i = 0; i < in->nref; i++)
		if (!in->rep && address_of(&e, &in->ref[i].m) - MEM > NMEM - in->ref[i].n)
			return BAD_MEM;
	for (k = 0; in->mref >= 0 && k < in->ref[in->mref].n && k < 8; k++)
		e.v[EFF_MEM] |= (uint64_t)c->mem[address_of(&e, &in->ref[in->mref].m) - MEM + k] << 8 * k;
	e0 = e;
	for (i = 0; i < in->neff; i++) {
		const struct op_step *s = &in->eff[i].s;

		step(&e, &in->eff[i], r->r);
		if (s->op == SO_UNKNOWN && s->dst < EFF_NREG && s->w == 4 && r->r[s->dst] >> 32)
			bad |= BAD_REGS;
	}
	for (i = 0; i < EFF_NREG; i++) {
		bad |= (i != X86_RSP || !in->ctl) && e.v[i] != r->r[i] ? BAD_REGS : 0;
		t->values += in->writes >> i & 1 && !(e.unknown >> i & 1);
	}
	for (k = 0; k < 12; k++)
		if (e.known >> k & 1) {
			bad |= holds(&e, k) != condition(r->flags, k) ? BAD_CC : 0;
			t->conditions++;
		}
	if (in->rep && !repeated(c, r))
		bad |= BAD_REGS;
	return bad | (memory_agrees(c, r, &e0, &e) ? 0 : BAD_MEM) | (control_agrees(c, r, &e0) ? 0 : BAD_CTL)
	    | (facts_fit(in) ? 0 : BAD_FACTS);
}

/* What is undefined may depend on anything */
static int
undefined(const struct xcase *c)
{
	ZydisMnemonic m = c->z.mnemonic;

	return m == ZYDIS_MNEMONIC_SHLD || m == ZYDIS_MNEMONIC_SHRD;
}

/* Run c[0], and c[1], which differs in what the instruction does not read: bits of what is wrong */
static unsigned
check_pair(struct xcase *c, struct result *r, struct tally *t)
{
	const struct insn *in = &c->insn;
	uint64_t undef = c->z.cpu_flags ? c->z.cpu_flags->undefined : 0;
	unsigned bad, i;

	if (c->z.meta.category == ZYDIS_CATEGORY_SHIFT || c->z.meta.category == ZYDIS_CATEGORY_ROTATE)
		undef |= OF | AF;       /* of more than one bit */
	if (execute(c, r))
		return BAD_FAULT;
	bad = check_one(c, r, 1, t);
	c[1] = c[0];
	for (i = 0; i < 16; i++)
		if (!(in->reads >> i & 1) && (i != X86_RSP || !in->ctl))
			c[1].in[i] = random_value();
	c[1].flags ^= rnd() & ALLF & ~flags_of(in->flreads);
	if (execute(c + 1, r + 1))
		return bad | BAD_FAULT;
	bad |= check_one(c + 1, r + 1, 0, t);
	if (undefined(c))
		return bad;
	for (i = 0; i < 16; i++)
		if (in->writes >> i & 1 && r[0].r[i] != r[1].r[i])
			bad |= BAD_PAIR;
	if (memcmp(r[0].mem, r[1].mem, NMEM) != 0 || r[0].taken != r[1].taken
	    || ((r[0].flags ^ r[1].flags) & flags_of(in->flwrites) & ~undef))
		bad |= BAD_PAIR;
	return bad;
}

static void
show(const struct xcase *c)
{
	unsigned i;

	for (i = 0; i < c->insn.len; i++)
		printf(" %02x", c->b[i]);
	printf(" %s: %s\n", ZydisMnemonicGetString(c->z.mnemonic), say_insn(&c->insn, NULL));
}
