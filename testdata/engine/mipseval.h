/* Part of mipstest.c: what the effects of an instruction say, and whether a machine agrees. */

static int
read_cases(uint32_t (*got)[C_WORDS], uint32_t n)
{
	uint32_t i, k;
	uint8_t p[4];

	for (i = 0; i < n; i++)
		for (k = 0; k < C_WORDS; k++) {
			if (fread(p, 1, 4, stdin) != 4)
				return 0;
			got[i][k] = big ? (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 |
			    p[3]
			    : (uint32_t)p[3] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[1] << 8 | p[0];
		}
	return getchar() == EOF;
}

/* Byte k of memory that is kept as words */
static uint32_t
byte_at(const uint32_t *mem, uint32_t k)
{
	return mem[k / 4] >> 8 * (big ? 3 - k % 4 : k % 4) & 255;
}

/* What an instruction reads and writes, once as masks and once as effects and references */
static int
consistent(const struct insn *in)
{
	uint64_t from = in->reads | UINT64_C(1) << MIPS_FLAGS | UINT64_C(1) << MIPS_MEM, written = 0,
	    addr = 0;
	int k;

	for (k = 0; k < in->nref; k++) {
		if (in->ref[k].m.base != SCH_NOVAR)
			addr |= UINT64_C(1) << in->ref[k].m.base;
		if (in->ref[k].m.index != SCH_NOVAR)
			addr |= UINT64_C(1) << in->ref[k].m.index;
	}
	for (k = 0; k < in->neff; k++) {
		const struct op_step *s = &in->eff[k].s;

		if ((s->a.kind == SV_VAR && !(from >> s->a.var & 1)) ||
		    (s->b.kind == SV_VAR && !(from >> s->b.var & 1))
		    || (s->op == SO_CMOV && !(from >> s->dst & 1)) || s->dst == MIPS_ZERO)
			return 0;
		from |= UINT64_C(1) << s->dst;
		if (s->dst < NREG)
			written |= UINT64_C(1) << s->dst;
	}
	return written == in->writes && !((in->reads | in->writes) & 1) && !(in->vreads & ~in->reads)
	    && (in->nref == 0 || (in->vreads | addr) == in->reads);
}

/* Memory after case i; ref: its reference, at byte `at` of the memory */
static int
check_memory(const struct mcase *c, const struct eval *e, const uint32_t *got, const struct op_step *ref,
    uint32_t at)
{
	uint32_t k;

	for (k = 0; k < 4 * MEMWORDS; k++) {
		uint32_t was = byte_at(c->mem, k), is = byte_at(got + C_MEM, k);

		if (ref && ref->op == SO_STORE && k >= at && k < at + ref->n) {
			uint32_t j = big ? ref->n - 1 - (k - at) : k - at;

			if (c->insn.mref >= 0 && !(e->unknown >> MIPS_MEM & 1) &&
			    is != (e->v[MIPS_MEM] >> 8 * j & 255))
				return 0;
		} else if (is != was)
			return 0;
	}
	return 1;
}

/* lwl and lwr: every byte of the result is old or from the word that is referred to */
static int
check_part(const struct mcase *c, const uint32_t *got, uint32_t at)
{
	int r = mips_t(c->w), k, j, ok, any = 0;

	for (k = 0; r && k < 4; k++) {
		uint32_t is = got[C_OUT + r] >> 8 * k & 255;

		ok = is == (c->in[r] >> 8 * k & 255);
		for (j = 0; j < 4; j++)
			if (is == byte_at(c->mem, at + (uint32_t)j))
				ok = any = 1;
		if (!ok)
			return 0;
	}
	return !r || any;
}

/* Case i: bits of what is wrong, as compare() names them */
static unsigned
check_case(const struct mcase *c, const uint32_t *got, uint32_t i, uint32_t *known)
{
	const struct insn *in = &c->insn;
	struct eval e = { .tp = TP };
	const struct op_step *ref = in->nref ? &in->ref[0] : NULL;
	uint64_t after[NREG];
	uint32_t at = 0, k;
	unsigned bad = 0;
	int r, taken = 1;

	for (r = 0; r < NREG; r++) {
		e.v[r] = c->in[r];
		after[r] = got[C_OUT + r];
	}
	if (ref) {
		at = (uint32_t)address_of(&e, &ref->m) - (CASES + 4 * (C_WORDS * i + C_MEM));
		if (address_of(&e, &ref->m) >> 32 || at > 4 * MEMWORDS - ref->n)
			return 2;
		for (k = 0; k < ref->n; k++)
			e.v[MIPS_MEM] |= (uint64_t)byte_at(c->mem, at + k) << 8 * (big ? ref->n - 1 - k : k);
	}
	for (r = 0; r < in->neff; r++)
		step(&e, &in->eff[r], after);
	for (r = 1; r < NREG; r++)
		if (r != MIPS_S7 && e.v[r] != got[C_OUT + r])
			bad |= 1;
		else if (in->writes >> r & 1 && !(e.unknown >> r & 1))
			++*known;
	if (!check_memory(c, &e, got, ref, at) || (c->op->meaning == M_LOADPART && !check_part(c, got, at)))
		bad |= 2;
	if (in->ctl == IC_NONE)
		taken = 0;
	else if (in->ctl == IC_BRANCH)
		taken = in->cc == INSN_NOCC ? got[C_SKIP] != 0 : holds(&e, in->cc);
	if ((got[C_SKIP] != 0) != taken || (got[C_SLOT] != 0) != (in->slot == 2 && !taken))
		bad |= 4;
	*known += in->ctl == IC_BRANCH && in->cc != INSN_NOCC;
	return bad | (consistent(in) ? 0 : 16);
}

/* Two cases that differ in what is not read have the same results */
static int
check_pair(const struct mcase *a, const uint32_t *x, const struct mcase *b, const uint32_t *y)
{
	int r, based = strchr(a->op->operands, 'b') != NULL, n = a->op->meaning == M_MUL ? MIPS_HI : NREG;

	for (r = 1; r < n; r++)         /* what mul leaves in HI and LO is unpredictable */
		if (r != MIPS_S7 && a->insn.writes >> r & 1 && x[C_OUT + r] != y[C_OUT + r] &&
		    !(based && r == mips_s(a->w)))
			return 0;
	for (r = 0; r < MEMWORDS; r++)
		if (x[C_MEM + r] != y[C_MEM + r] && !(based && mips_t(b->w) == mips_s(b->w)))
			return 0;
	return x[C_SKIP] == y[C_SKIP] && x[C_SLOT] == y[C_SLOT];
}
