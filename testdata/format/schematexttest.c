/* The readable schema: figure 3, random units there and back, what is refused, cut and damaged texts. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../check.h"
#include "base/buf.h"
#include "format/schema/operation_internal.h"
#include "format/schema/text.h"

/* STEP sets what a step does not use first, then what it does. */
#pragma GCC diagnostic ignored "-Woverride-init"

#define NOADDR {.base = SCH_NOVAR, .index = SCH_NOVAR, .scale = 1, .sym = SCH_NOSYM}
#define STEP(o, ...) {.op = o, .dst = SCH_NOVAR, .sym = SCH_NOSYM, .m = NOADDR, __VA_ARGS__}
#define VAR(v) {.kind = SV_VAR, .var = v}
#define IMM(i) {.kind = SV_IMM, .imm = i}
#define SYM(s, i) {.kind = SV_SYM, .var = s, .imm = i}
#define N(a) (sizeof(a) / sizeof *(a))

static const char *
reg(void *arg, const struct sch_unit *u, int v)
{
	static const char *const some[] = {"R0", "R1", "R2", "rax", "hi", "lo", "x", NULL, "v8x"};

	(void)arg;
	return u->machine == 8 && v < (int)N(some) ? some[v] : NULL;
}

static const char *
mips(void *arg, const struct sch_unit *u, int v)
{
	static const char *const name[] = {
		"R0", "R1", "R2", "R3", "R4", "R5", "R6", "R7", "R8", "R9", "R10", "R11", "R12", "R13", "R14",
		"R15", "R16",
		"R17", "R18", "R19", "R20", "R21", "R22", "R23", "R24", "R25", "R26", "R27", "R28", "R29",
		"R30", "R31",
	};

	(void)arg;
	(void)u;
	return v < 32 ? name[v] : NULL;
}

static const char *
sym(void *arg, uint64_t addr, uint64_t *off)
{
	(void)arg;
	*off = addr & 15;
	return addr & 64 ? "odd \"name\" ; \n" : NULL;
}

static const char *
line(void *arg, uint64_t pc, int *no)
{
	(void)arg;
	*no = (int)(pc & 1023);
	return pc & 8 ? "dir/a b.c" : pc & 16 ? "\n" : NULL;
}

static const struct sch_names names = {reg, sym, line, NULL, 0}, figure = {mips, NULL, NULL, NULL, 0};

static uint64_t seed;
static uint8_t arena[8 << 20];
static size_t used;

static unsigned
rnd(unsigned n)         /* 0 .. n-1 */
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)((seed >> 33) % n);
}

static void *
mem(size_t n, size_t size)
{
	void *p = arena + used;

	used += (n * size + 15) & ~(size_t)15;
	if (used > sizeof arena)
		abort();
	memset(p, 0, n * size);
	return p;
}

static int64_t
rndnum(void)
{
	static const int64_t edge[] = {0, 1, -1, 4, -16, 255, INT64_MAX, INT64_MIN, INT32_MIN, UINT32_MAX};

	return rnd(2) ? edge[rnd(N(edge))] : (int64_t)((uint64_t)rnd(1u << 31) << rnd(40)) * (rnd(2) ? 1 :
	    -1);
}

static char *
rndname(int maynot)
{
	static const char *const some[] = {
		"main", "sub", "f.isra.0", "_start", "a-b+c", "dir/x.c", "", "@3", "*", "two words", "x;y",
		"quote\"\\", "\x01\xff\n", "7up", "&",
	};
	char *s = mem(40, 1);

	strcpy(s, some[rnd(maynot ? N(some) : 6)]);
	if (rnd(3))
		snprintf(s + strlen(s), 12, "_%u", rnd(1000));
	return s;
}

static void
rndval(struct op_value *v, const struct sch_unit *u, const struct sch_func *f)
{
	unsigned n = u->ncst + u->nfield;

	v->kind = (uint8_t)(n ? 1 + rnd(3) : 1 + rnd(2));
	if (v->kind == SV_VAR)
		v->var = (int32_t)rnd(f->nvar);
	else
		v->imm = rndnum();
	if (v->kind == SV_SYM)
		v->var = (int32_t)rnd(n);
}

static void
rndaddr(struct sch_addr *m, const struct sch_unit *u, const struct sch_func *f)
{
	unsigned n = u->ncst + u->nfield;

	if (rnd(3))
		m->base = (int16_t)rnd(f->nvar);
	if (rnd(3) == 0) {
		m->index = (int16_t)rnd(f->nvar);
		m->scale = (uint8_t)(1u << rnd(4));
	}
	if (n && rnd(3) == 0)
		m->sym = (int32_t)rnd(n);
	if (rnd(2))
		m->disp = rndnum();
	m->fs = rnd(8) == 0;
	m->narrow = rnd(8) == 0;
	if (m->index == SCH_NOVAR && !m->fs && !m->narrow)
		m->align = rnd(4) == 0;
}

static unsigned
rndwidth(void)
{
	return 1u << rnd(4);
}

/* Can it have short values? */
static int
rndshort(const struct sch_unit *u)
{
	return u->word == 8 && !u->big;
}

static void
rndmasked(struct op_step *s, const struct sch_func *f)
{
	do {
		unsigned how = rnd(MA_HOWS), indexed = how >= MA_INDEX4;

		s->cc = (uint8_t)MA_COND(rnd(2), how, indexed ? rndwidth() : 0);
		s->w = (uint8_t)rndwidth();
		s->n = 1 + rnd(indexed ? MA_MOST_INDEXED : MA_MOST);
		s->a = (struct op_value)VAR((int32_t)rnd(f->nvar));
		s->b = (struct op_value)IMM(0);
		s->m.align = 0;
		if (indexed) {
			s->b = (struct op_value)VAR((int32_t)rnd(f->nvar));
			s->m.index = SCH_NOVAR;
			s->m.scale = 1;
			s->m.narrow = 0;
		}
	} while (!sch_masked_valid(s, f->nvar));
}

static void
rndstep(struct op_step *s, const struct sch_unit *u, const struct sch_func *f)
{
	unsigned op = rnd(3) ? rnd(SO_NOPS) : SO_INST;
	const struct sch_opinfo *oi = &sch_opinfo[op];

	*s = (struct op_step)STEP((uint8_t)op, .n = 0);
	for (const char *c = oi->fields; *c; c++) {
		switch (*c) {
		case 'w':
			s->w = (uint8_t)rndwidth();
			s->cc = (uint8_t)rnd(oi->maxcc + 1u);
			break;
		case 'd':
			s->dst = (int16_t)rnd(f->nvar);
			break;
		case 'n':
			s->n = op == SO_CALLJ ? rnd(65536) : rnd(2) ? 4 : 1 + rnd(255);
			break;
		case 's':
			s->sym = (int32_t)rnd(u->nfunc);
			break;
		case 'm':
			rndaddr(&s->m, u, f);
			break;
		case 'a':
			rndval(&s->a, u, f);
			break;
		case 'b':
			rndval(&s->b, u, f);
			break;
		}
	}
	if (op == SO_ZEXT || op == SO_SEXT || op == SO_LOADRO)
		s->n = rndwidth();
	if (op == SO_LEA)
		s->w = rnd(2) ? 4 : 8;
	if (op == SO_UNKNOWN && ((s->cc == 3 && s->w == 8) || (s->cc == 4 && (s->w != 8 || !rndshort(u)))))
		s->cc = 0;
	if ((op == SO_BSWAP || op == SO_SETCC) && s->w <= 2)
		s->w = 4;
	if (op == SO_MASKED)
		rndmasked(s, f);
	if (op == SO_LINKED) {
		s->a = (struct op_value)SYM(rnd(u->ncst + u->nfield), 0);
		while (!sch_isset(u, s->n))
			s->n = s->n >> 1 & ~(u->sp < 32 ? 1u << u->sp : 0);
	}
}

static void
rndsuccs(struct sch_block *b, const struct sch_func *f, uint32_t no)
{
	int n = sch_nsucc(b->term);

	b->nsucc = n < 0 ? rnd(6) + (b->term == ST_TARGET) : (uint32_t)n;
	b->succ = mem(b->nsucc, sizeof *b->succ);
	for (uint32_t i = 0; i < b->nsucc; i++) {
		struct sch_succ *s = b->succ + i;

		/* the mark is that of the block's number, see rndblock */
		do
			s->block = rnd(3) && no + 1 < f->nblock ? no + 1 : rnd(f->nblock);
		while (b->term == ST_TARGET &&
		    (s->block % 4 != b->succ->block % 4 || s->block / 256 != b->succ->block / 256));
		if (b->term == ST_TARGET && (s->block % 4 > 1 || (s->block % 4 == 0 && s->block > 255))) {
			b->term = ST_NONE;
			b->nsucc = 0;
			return;
		}
		if (!f->nloop || rnd(2))
			continue;
		s->nev = 1 + rnd(3);
		s->ev = mem(s->nev, sizeof *s->ev);
		for (uint32_t k = 0; k < s->nev; k++)
			s->ev[k] = (struct sch_loopev){(uint8_t)rnd(3), rnd(f->nloop)};
	}
}

static void
rndblock(struct sch_block *b, const struct sch_unit *u, const struct sch_func *f, uint32_t no, uint32_t end)
{
	b->frag = rnd(4) ? 0 : rnd(f->nfrag);
	b->off = rnd(3) ? end : rnd(1000);
	b->mark = no % 4 == 0 && no < 256 ? 1 : no % 4 == 1 ? 2 : 0;
	b->nstep = rnd(4) ? rnd(8) : rnd(200);
	b->step = mem(b->nstep, sizeof *b->step);
	for (uint32_t i = 0; i < b->nstep; i++) {
		rndstep(b->step + i, u, f);
		if (i && rnd(4) == 0)
			b->step[i] = b->step[i - 1];
	}
	b->term = (uint8_t)rnd(ST_LANDING + 1);
	if (b->term == ST_COND)
		b->cc = (uint8_t)rnd(12);
	if (b->term == ST_SWITCH) {
		b->cc = (uint8_t)rnd(2);
		rndval(&b->target, u, f);
	}
	if (b->term == ST_TAIL)
		b->callee = rnd(u->nfunc);
	rndsuccs(b, f, no);
}

static void
rndfunc(struct sch_func *f, const struct sch_unit *u)
{
	uint32_t end = 0;

	f->name = rndname(1);
	f->flags = rnd(8) | (rndshort(u) && rnd(4) == 0 ? SF_SHORT : 0);
	f->nvar = u->nregs + (rnd(2) ? rnd(100) : 0);
	f->nfrag = 1 + rnd(3);
	f->frag = mem(f->nfrag, sizeof *f->frag);
	for (uint32_t i = 0; i < f->nfrag; i++)
		f->frag[i] = (struct sch_frag){(int32_t)rnd(u->ncst), rnd(2) ? rnd(1u << 31) * 2 :
		    0, 100000 + rnd(100)};
	f->nneed = rnd(4);
	f->need = mem(f->nneed, sizeof *f->need);
	for (uint32_t i = 0; i < f->nneed; i++)
		f->need[i] = (uint16_t)rnd(u->nregs);
	f->nblock = 1 + rnd(10) * (rnd(10) ? 1 : 30);
	f->nloop = rnd(4);
	f->loop = mem(f->nloop, sizeof *f->loop);
	for (uint32_t i = 0; i < f->nloop; i++)
		f->loop[i] = (struct sch_loop){rnd(f->nblock), (int32_t)rnd(f->nloop + 1) - 1};
	f->block = mem(f->nblock, sizeof *f->block);
	for (uint32_t i = 0; i < f->nblock; i++) {
		rndblock(f->block + i, u, f, i, end);
		end = f->block[i].off;
		for (uint32_t k = 0; k < f->block[i].nstep; k++)
			end += f->block[i].step[k].op == SO_INST ||
			    f->block[i].step[k].op == SO_REP ? f->block[i].step[k].n : 0;
		if (end > 50000)
			end = 0;
	}
}

static void
rndunit(struct sch_unit *u)
{
	used = 0;
	memset(u, 0, sizeof *u);
	u->source = rndname(1);
	u->machine = (uint16_t)(rnd(2) ? 8 : rnd(65536));
	u->word = rnd(2) ? 4 : 8;
	u->big = (uint8_t)rnd(2);
	u->push = (uint8_t)(rnd(2) ? 0 : rnd(256));
	u->nregs = 1 + rnd(40);
	u->sp = (uint16_t)rnd(u->nregs);
	u->nfunc = rnd(6);
	u->ncst = 1 + rnd(5);
	u->nfield = rnd(4);
	u->cst = mem(u->ncst, sizeof *u->cst);
	for (uint32_t i = 0; i < u->ncst; i++)
		u->cst[i] = u->word == 4 ? (uint32_t)rndnum() : (uint64_t)rndnum();
	u->field = mem(u->nfield, sizeof *u->field);
	for (uint32_t i = 0; i < u->nfield; i++) {
		u->field[i] = (struct sch_field){(int32_t)rnd(u->ncst), rnd(2) ? 0 :
		    rnd(1u << 31) * 2, 0, (uint8_t)rndwidth(), (uint8_t)rnd(2)};
		if (u->field[i].rip)
			u->field[i].end = rnd(1u << 31);
	}
	u->func = mem(u->nfunc, sizeof *u->func);
	for (uint32_t i = 0; i < u->nfunc; i++)
		rndfunc(u->func + i, u);
}

/* Exactly n bytes, so that a sanitizer sees reads after them; e: the encoding, if they parse. */
static int
parse(const char *s, size_t n, const struct sch_names *nm, struct sch_text *t, uint8_t **e, size_t *len)
{
	char *copy = malloc(n ? n : 1);
	struct sch_unit u;
	int r;

	memcpy(copy, s, n);
	memset(t, 0, sizeof *t);
	t->p = copy;
	t->n = n;
	r = sch_parse(t, nm, &u);
	*e = NULL;
	if (r > 0) {
		*e = sch_encode(&u, len);
		sch_free(&u);
		if (sch_parse(t, nm, &u) != 0)
			r = -1;
	}
	free(copy);
	t->p = NULL;
	return r;
}

static char *
text(const struct sch_unit *u, const struct sch_names *nm, size_t *n)
{
	struct buf b = BUF_INIT;

	sch_print(&b, u, nm);
	*n = b.n;
	buf_u8(&b, 0);
	return b.nomem ? NULL : (char *)b.p;
}

static int
there_and_back(const struct sch_unit *u, const struct sch_names *nm)
{
	size_t n, len, len2;
	uint8_t *e = sch_encode(u, &len), *e2;
	const char *what = "";
	struct sch_unit v;
	struct sch_text t;
	size_t at;
	char *s;
	int good;

	if (!e || sch_decode(e, len, &v, &what, &at) != (long)len) {
		printf("# the unit itself is not good: %s\n", what);
		free(e);
		return 0;
	}
	s = text(&v, nm, &n);
	good = parse(s, n, nm, &t, &e2, &len2) == 1 && len == len2 && memcmp(e, e2, len) == 0;
	if (!good)
		printf("# line %lu: %s\n", t.line, t.err);
	free(e2);
	free(s);
	sch_free(&v);
	free(e);
	return good;
}

static void
random_units(void)
{
	unsigned bad = 0;
	struct sch_unit u;

	for (unsigned i = 0; i < 1000 && bad < 3; i++) {
		seed = i;
		rndunit(&u);
		if (!there_and_back(&u, i % 3 ? &names : NULL)) {
			printf("# unit %u\n", i);
			bad++;
		}
	}
	CHECK("1000 random units printed and parsed are the same bytes and constants", bad == 0);
}

/* Cut off anywhere: one error with a line that is there, or what is missing does not matter */
static void
cuts(void)
{
	unsigned bad = 0;

	for (unsigned i = 0; i < 12; i++) {
		struct sch_unit u;
		size_t n, len, len2;
		uint8_t *e, *e2;
		unsigned long lines = 0;
		char *s;

		seed = 77000 + i;
		for (;;) {
			rndunit(&u);
			s = text(&u, &names, &n);
			if (u.nfunc && n > 1000 && n < 4000)
				break;
			free(s);
		}
		e = sch_encode(&u, &len);
		for (size_t k = 0; k < n; k++) {
			struct sch_text t;
			int r = parse(s, k, &names, &t, &e2, &len2);

			if (r == 0)             /* nothing but comments yet */
				bad += memchr(s, '\n', k) != NULL;
			else if (r < 0)
				bad += t.line < 1 || t.line > lines + 1 || !*t.err || strpbrk(t.err, "\r\n");
			else
				bad += len != len2 || memcmp(e, e2, len) != 0;
			lines += s[k] == '\n';
			free(e2);
		}
		free(s);
		free(e);
	}
	CHECK("cut off anywhere: an error in its line, or complete", bad == 0);
}

/* Bytes changed, lines moved: refused, or a good unit */
static void
damages(unsigned from, unsigned count)
{
	static const char some[] = "0123456789 %#*@&.:;()\"\\+-ISFv_ax\n\0\xff";
	unsigned bad = 0, good = 0;

	for (unsigned i = from; i < from + count; i++) {
		struct sch_unit u, v;
		struct sch_text t;
		size_t n, len, len2, at;
		const char *what;
		uint8_t *e, *e2;
		char *s;

		seed = i % 50 + 5000;
		for (;;) {
			rndunit(&u);
			s = text(&u, &names, &n);
			if (u.nfunc && n < 8000)
				break;
			free(s);
		}
		seed = i * 7919u;
		for (unsigned k = 1 + rnd(2); k; k--) {
			size_t a = rnd((unsigned)n), b = rnd((unsigned)n), c = rnd(40);

			if (rnd(3) == 0 && a + c < n && b + c < n)
				memmove(s + a, s + b, c);
			else
				s[a] = some[rnd(sizeof some - 1)];
		}
		if (parse(s, n, &names, &t, &e, &len) == 1) {
			good++;
			if (sch_decode(e, len, &v, &what, &at) == (long)len) {
				char *s2 = text(&v, &names, &n);

				bad += parse(s2, n, &names, &t, &e2, &len2) != 1 || len != len2 ||
				    memcmp(e, e2, len) != 0;
				free(e2);
				free(s2);
				sch_free(&v);
			} else
				bad++;
		}
		free(e);
		free(s);
	}
	printf("# %u of %u damaged texts are good units\n", good, count);
	CHECK("damaged texts: refused, or a unit that comes back", bad == 0 && good > 0);
}

static const char figure3[] =
	"start_unit matrix.c\n"
	"machine 8 %word(4)\n"
	"registers 34 R29\n"
	"symbol 0 0x400100 main\n"
	"symbol 1 0x400140 sub\n"
	"\n"
	"start_function main 4\n"
	"fragment #Smain 64\n"
	"loop 0 2\n"
	"\n"
	"start_block 0\n"
	"unknown_defn R29\n"
	"uneventful_inst 3\n"
	"compute_defn_2 R18 #I0 + #Ssub\n"
	"uneventful_inst 2\n"
	"end_block_jump 0 2 %loop_entry(2 0)\n"
	"\n"
	"start_block_target 1\n"
	"uneventful_inst 3\n"
	"call_inst sub\n"
	"uneventful_inst 3\n"
	"end_block 1 %loop_back(2 0)\n"
	"\n"
	"start_block 2\n"
	"end_block_cjump 2 3 1 %loop_exit(3 0)\n"
	"\n"
	"start_block_target 3\n"
	"end_block_return 3\n"
	"end_function main\n"
	"\n"
	"start_function sub 4\n"
	"fragment #Ssub 36\n"
	"loop 0 2\n"
	"\n"
	"start_block 0\n"
	"unknown_defn R4\n"
	"unknown_defn R29\n"
	"uneventful_inst 2\n"
	"end_block_jump 0 2 %loop_entry(2 0)\n"
	"\n"
	"start_block_target 1\n"
	"uneventful_inst\n"
	"store_inst 0(#R4)\n"
	"compute_defn_2 R4 #R4 + #I4\n"
	"uneventful_inst\n"
	"end_block 1 %loop_back(2 0)\n"
	"\n"
	"start_block 2\n"
	"end_block_cjump 2 3 1 %loop_exit(3 0)\n"
	"\n"
	"start_block_target 3\n"
	"end_block_return 3\n"
	"end_function sub\n"
	"\n"
	"end_unit matrix.c\n";

/* The code of figure 2 as steps */
static struct sch_unit *
figure2(void)
{
	static struct op_step main0[] = {
		STEP(SO_UNKNOWN, .w = 4, .dst = 29), STEP(SO_INST, .n = 4), STEP(SO_INST, .n = 4),
		    STEP(SO_INST, .n = 4),
		STEP(SO_INST, .n = 4), STEP(SO_ADD, .w = 4, .dst = 18, .a = IMM(0), .b = SYM(1, 0)),
		STEP(SO_INST, .n = 4), STEP(SO_INST, .n = 4), STEP(SO_INST, .n = 4),
	}, main1[] = {
		STEP(SO_INST, .n = 4), STEP(SO_INST, .n = 4), STEP(SO_INST, .n = 4), STEP(SO_INST, .n = 4),
		    STEP(SO_CALL, .sym = 1),
		STEP(SO_INST, .n = 4), STEP(SO_INST, .n = 4), STEP(SO_INST, .n = 4),
	}, sub0[] = {
		STEP(SO_UNKNOWN, .w = 4, .dst = 4), STEP(SO_UNKNOWN, .w = 4, .dst = 29),
		    STEP(SO_INST, .n = 4), STEP(SO_INST, .n = 4), STEP(SO_INST, .n = 4),
	}, sub1[] = {
		STEP(SO_INST, .n = 4), STEP(SO_INST, .n = 4),
		STEP(SO_STORE, .n = 4, .m = {.base = 4, .index = SCH_NOVAR, .scale = 1, .sym = SCH_NOSYM}),
		STEP(SO_INST, .n = 4), STEP(SO_ADD, .w = 4, .dst = 4, .a = VAR(4), .b = IMM(4)),
		    STEP(SO_INST, .n = 4),
	}, one[] = {STEP(SO_INST, .n = 4)};
	static struct sch_loopev in = {SL_ENTER, 0}, back = {SL_BACK, 0}, out = {SL_EXIT, 0};
	static struct sch_succ enter = {2, 1, &in}, again = {2, 1, &back},
	    either[] = {{1, 0, NULL}, {3, 1, &out}};
	static struct sch_block mainb[] = {
		{.nstep = N(main0), .step = main0, .term = ST_JUMP, .nsucc = 1, .succ = &enter},
		{.off = 28, .mark = 1, .nstep = N(main1), .step = main1, .term = ST_JUMP, .nsucc = 1,
		    .succ = &again},
		{.off = 56, .nstep = 1, .step = one, .term = ST_TARGET, .nsucc = 2, .succ = either},
		{.off = 60, .mark = 1, .nstep = 1, .step = one, .term = ST_RETURN},
	}, subb[] = {
		{.nstep = N(sub0), .step = sub0, .term = ST_JUMP, .nsucc = 1, .succ = &enter},
		{.off = 12, .mark = 1, .nstep = N(sub1), .step = sub1, .term = ST_JUMP, .nsucc = 1,
		    .succ = &again},
		{.off = 28, .nstep = 1, .step = one, .term = ST_TARGET, .nsucc = 2, .succ = either},
		{.off = 32, .mark = 1, .nstep = 1, .step = one, .term = ST_RETURN},
	};
	static struct sch_frag fmain = {0, 0, 64}, fsub = {1, 0, 36};
	static struct sch_loop loop = {2, -1};
	static char nmain[] = "main", nsub[] = "sub", src[] = "matrix.c";
	static struct sch_func func[] = {
		{nmain, 0, 1, 34, 0, 4, 1, &fmain, NULL, mainb, &loop},
		    {nsub, 0, 1, 34, 0, 4, 1, &fsub, NULL, subb, &loop},
	};
	static uint64_t cst[] = {0x400100, 0x400140};
	static struct sch_unit u = {.source = src, .machine = 8, .word = 4, .nregs = 34, .sp = 29, .nfunc = 2,
	    .func = func, .ncst = 2, .cst = cst};

	return &u;
}

static void
paper(void)
{
	size_t n;
	char *s = text(figure2(), &figure, &n);

	CHECK("figure 2 gives figure 3", strcmp(s, figure3) == 0);
	CHECK("and comes back", there_and_back(figure2(), &figure));
	free(s);
}

#define HEAD "start_unit a.c\nmachine 8 %word(4)\nregisters 34 R29\nsymbol 0 0x400000 f\nstart_function f 1\nfragment #Sf 100\n"
#define ALL(line) HEAD "start_block_target 0\n" line "\nend_block_return 0\nend_function f\nend_unit a.c\n"

static const struct { unsigned line; const char *err, *text; } refused[] = {
	{1, "'start_unit' expected before start_function", "start_function main 4\n"},
	{1, "name expected before the end of the line", "start_unit\n"},
	{3, "machine without %word(4) or %word(8)", "start_unit a.c\n\nmachine 8\n"},
	{2, "'machine' expected before registers", "start_unit a.c\nregisters 4 v0\n"},
	{3, "variable 34, but there are 34", "start_unit a.c\nmachine 8 %word(4)\nregisters 34 v34\n"},
	{4, "number larger than 4294967295", "start_unit a.c\nmachine 8 %word(4)\nregisters 34 R29\nsymbol 0 "
	    "0x100000000\n"},
	{4, "more blocks than the text has room for",
	    "start_unit a.c\nmachine 8 %word(4)\nregisters 34 R29\nstart_function f 4000000000\n"},
	{8, "the text ends before end_block", HEAD "start_block 0\nload_inst 0(#R4)"},
	{8, "unknown word 'loadinst'", ALL("loadinst 0(#R4)")},
	{8, "no register or variable: 'R99'", ALL("load_inst 0(#R99)")},
	{8, "variable 34, but there are 34", ALL("load_inst 0(#v34)")},
	{8, "constant out of range", ALL("load_inst 0(#F0)")},
	{8, "unknown symbol 'g'", ALL("load_inst 0(#Sg)")},
	{8, "')' expected before *3)", ALL("load_inst 0(#R4+#Sf*3)")},
	{8, "scale other than 1, 2, 4 or 8", ALL("load_inst 0(#R4*3)")},
	{8, "an address is base, index, constant, at most one of each", ALL("load_inst 0(#R4*4+#R4)")},
	{8, "number larger than 9223372036854775807", ALL("load_inst 9223372036854775808(#R4)")},
	{8, "%align with an index, %fs or %narrow", ALL("load_inst 0(#R4*4) %align")},
	{8, "length out of range: 0", ALL("load_inst:0 0(#R4)")},
	{8, "length out of range: 256", ALL("load_inst.256 0(#R4)")},
	{8, "':' cannot follow here", ALL("& load_inst:4 0(#R4)")},
	{8, "width other than 1, 2, 4 or 8", ALL("compute_defn_1.3 R4 #R5")},
	{8, "'%narrow' not understood", ALL("compute_defn_1 R4 #R5 %narrow")},
	{8, "operator expected", ALL("compute_defn_2 R4 #R5 plus #I4")},
	{8, "'#' expected before R5", ALL("compute_defn_1 R4 R5")},
	{8, "'%if(condition)' expected", ALL("compute_defn_0 R4 #R5")},
	{8, "unknown condition", ALL("compute_defn_0 R4 %if(maybe)")},
	{8, "width of a condition", ALL("compute_defn_0.2 R4 %if(lt)")},
	{8, "width of a byte swap", ALL("compute_defn_1.1 R4 bswap #R4")},
	{8, "width of an address computation", ALL("compute_addr.2 R4 0(#R4)")},
	{8, "width of a sign-extended value", ALL("unknown_defn.8 R4 sext32")},
	{8, "extended from 1, 2, 4 or 8 bytes: 'zext.1'", ALL("compute_defn_1 R4 zext #R4")},
	{8, "'&' before unknown_defn", ALL("& unknown_defn R4")},
	{8, "number larger than 64", ALL("uneventful_inst 65")},
	{8, "no instructions", ALL("uneventful_inst 0")},
	{8, "no function of this unit: 'g'", ALL("call_inst g")},
	{8, "function 1, but there are 1", ALL("call_inst @1")},
	{8, "name without its closing quote", ALL("call_inst \"g")},
	{8, "unknown character after \\", ALL("call_inst \"\\n\"")},
	{8, "'x' not understood", ALL("call_inst f x")},
	{8, "number larger than 65535", ALL("call_inst * %setjmp(65536)")},
	{8, "unknown string instruction", ALL("rep_inst.1 mov")},
	{8, "end of another block", ALL("end_block_return 1")},
	{8, "the last block cannot go on with the next", ALL("end_block 0")},
	{8, "block 1, but there are 1", ALL("end_block_jump 0 1")},
	{8, "number expected before the end of the line", ALL("end_block_cjump 0 0")},
	{8, "loop 0, but there are 0", ALL("end_block_return 0 %loop_exit(0 0)")},
	{8, "unknown end of a block: 'jmp'", ALL("end_block_jmp 0 0")},
	{8, "end of block without successors", ALL("end_block_switch 0")},
	{9, "'end_function' expected before end_block_return", ALL("end_block_jump 0 0")},
	{6, "constant expected: S or F", "start_unit a.c\nmachine 8 %word(4)\nregisters 34 R29\nsymbol 0 "
	    "0x400000 f\nstart_function f 1\nfragment #R4 100\n               "},
	{8, "loop 0 is in loop 1, but there are 1", HEAD "loop 0 0 1\nstart_block 0\n"},
	{7, "block outside its fragment: byte 101 of 100", HEAD "start_block 0 %at(101)\n        "},
	{7, "fragment 1, but there are 1", HEAD "start_block 0 %at(1 0)\n         "},
	{7, "block 0 expected", HEAD "start_block 1\n            "},
	{7, "a block's number has 1 or 2 bytes", HEAD "start_block_target.3 0\n        "},
	{8, "successor 0 is no start_block_target, or one of another size",
	    HEAD "start_block 0\nend_block_cjump 0 0 0\nend_function f\nend_unit a.c\n"},
	{9, "end of another function: 'g'", HEAD "start_block 0\nend_block_return 0\nend_function "
	    "g\nend_unit a.c\n"},
	{10, "end of another unit: 'b.c'", HEAD "start_block 0\nend_block_return 0\nend_function f\nend_unit "
	    "b.c\n"},
	{2, "the text ends before end_schema", "start_schema 01ab\n; nothing"},
	{1, "end_schema without start_schema", "end_schema\n"},
	{3, "text after end_schema", "start_schema 01ab\nend_schema\nstart_unit a.c\n"},
	{1, "'e' not understood", "start_schema 01 e\n"},
};

static void
errors(void)
{
	unsigned bad = 0;
	struct sch_text t;
	uint8_t *e;
	size_t len;

	CHECK("nothing wrong with the frame of the errors",
	    parse(ALL(""), sizeof ALL("") - 1, &figure, &t, &e, &len) == 1);
	free(e);
	for (size_t i = 0; i < N(refused); i++) {
		int r = parse(refused[i].text, strlen(refused[i].text), &figure, &t, &e, &len);

		if (r != -1 || t.line != refused[i].line || strcmp(t.err, refused[i].err) != 0) {
			printf("# %d: line %lu: %s\n# instead of line %u: %s\n", r, t.line, t.err,
			    refused[i].line, refused[i].err);
			bad++;
		}
		free(e);
	}
	CHECK("faults are found in their lines", bad == 0);
}

/* What a person may write that the printer does not */
static void
liberties(void)
{
	static const char *const same[][2] = {
		{"load_inst 16(#R4)", "load_inst 0x10(#R4) ; comment"},
		{"uneventful_inst 3", "\tuneventful_inst  2\t\n\n;\nuneventful_inst:4"},
		{"uneventful_inst:3:5:7", "uneventful_inst:3\nuneventful_inst:5:7\r"},
		{"compute_load R4 0(#R4)", "compute_load.4:4 v4 zext.4 0( #R4 )"},
		{"call_inst f", "call_inst \"f\""}, {"call_inst f", "call_inst @0"},
		    {"call_inst f", "call_inst \"\\x66\" ; \""},
		{"end_block_cjump 0 0 0 %loop_exit(0 0)", "end_block_switch 0 0 0 %loop_exit(0 0 1)"},
	};
	unsigned bad = 0;

	for (size_t i = 0; i < N(same); i++) {
		uint8_t *e[2];
		size_t n[2] = {0, 0};

		for (int k = 0; k < 2; k++) {
			char s[1000];
			struct sch_text t;
			int end = strncmp(same[i][k], "end", 3) == 0;

			snprintf(s, sizeof s, "%sloop 0 0\nstart_block_target 0\n%s\n%send_function "
			    "f\nend_unit a.c\n", HEAD,
			    same[i][k], end ? "" : "end_block_return 0\n");
			if (parse(s, strlen(s), &figure, &t, &e[k], &n[k]) != 1)
				printf("# line %lu: %s\n", t.line, t.err);
		}
		if (!e[0] || !e[1] || n[0] != n[1] || memcmp(e[0], e[1], n[0]) != 0) {
			printf("# %s\n", same[i][1]);
			bad++;
		}
		free(e[0]);
		free(e[1]);
	}
	CHECK("other ways to say the same", bad == 0);
}

int
main(int argc, char **argv)
{
	if (argc > 3 && strcmp(argv[1], "fuzz") == 0) {
		damages((unsigned)atoi(argv[2]), (unsigned)atoi(argv[3]));
		return check_end();
	}
	paper();
	errors();
	liberties();
	random_units();
	cuts();
	damages(0, 1500);
	return check_end();
}
