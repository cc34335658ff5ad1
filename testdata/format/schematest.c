/* Schema units: decode(encode(x)) is x, fixed bytes, every truncation, every changed byte. */
#include <stdlib.h>
#include <string.h>

#include "../check.h"
#include "base/bytes.h"
#include "format/schema/schema.h"

/* STEP sets what a step does not use first, then what it does. */
#pragma GCC diagnostic ignored "-Woverride-init"

#define NOADDR {.base = SCH_NOVAR, .index = SCH_NOVAR, .scale = 1, .sym = SCH_NOSYM}
#define STEP(o, ...) {.op = o, .dst = SCH_NOVAR, .sym = SCH_NOSYM, .m = NOADDR, __VA_ARGS__}
#define VAR(v) {.kind = SV_VAR, .var = v}
#define IMM(i) {.kind = SV_IMM, .imm = i}
#define SYM(s, i) {.kind = SV_SYM, .var = s, .imm = i}

/* One of everything */
static struct op_step all[] = {
	STEP(SO_INST, .n = 1), STEP(SO_INST, .n = 11), STEP(SO_INST, .n = 5), STEP(SO_INST, .n = 12),
	    STEP(SO_INST, .n = 3),
	STEP(SO_LOAD, .n = 8, .m = {.base = 4, .index = SCH_NOVAR, .scale = 1, .sym = SCH_NOSYM, .disp = -8}),
	STEP(SO_STORE, .n = 255, .m = {.base = 16, .index = 2, .scale = 8, .fs = 1, .narrow = 1, .sym = 2,
	    .disp = INT64_MIN}),
	STEP(SO_MODIFY, .n = 4, .m = {.base = SCH_NOVAR, .index = 1, .scale = 4, .sym = SCH_NOSYM}),
	STEP(SO_GOTLOAD, .n = 8, .m = {.base = SCH_NOVAR, .index = SCH_NOVAR, .scale = 1, .sym = 0}),
	STEP(SO_UNKNOWN, .w = 2, .cc = 3, .dst = 0), STEP(SO_MOV, .w = 8, .dst = 17, .a = SYM(1, -1)),
	STEP(SO_LEA, .w = 4, .dst = 3, .m = {.base = 1, .index = SCH_NOVAR, .scale = 1, .sym = SCH_NOSYM}),
	STEP(SO_ADD, .w = 1, .dst = 1, .a = VAR(1), .b = IMM(INT64_MAX)),
	    STEP(SO_ROR, .w = 2, .dst = 1, .a = IMM(-1), .b = VAR(17)),
	STEP(SO_MUL, .w = 4, .dst = 1, .a = VAR(0), .b = VAR(0)), STEP(SO_NOT, .w = 8, .dst = 1, .a = VAR(0)),
	STEP(SO_BSWAP, .w = 4, .dst = 1, .a = VAR(0)), STEP(SO_ZEXT, .w = 4, .n = 1, .dst = 1, .a = VAR(0)),
	STEP(SO_SEXT, .w = 8, .n = 4, .dst = 1, .a = VAR(0)),
	STEP(SO_LOADRO, .w = 8, .n = 4, .cc = 1, .dst = 1,
	    .m = {.base = SCH_NOVAR, .index = 0, .scale = 2, .sym = 1}),
	STEP(SO_FLAGS_SUB, .w = 4, .a = VAR(0), .b = IMM(100)), STEP(SO_FLAGS_RES, .w = 1, .a = VAR(0)),
	STEP(SO_FLAGS_AND, .w = 8, .a = VAR(0), .b = VAR(1)), STEP(SO_SETCC, .w = 1, .cc = SC_NNEG, .dst = 2),
	STEP(SO_SETCC, .w = 8, .cc = SC_LTU, .dst = 2), STEP(SO_SETCC, .w = 4, .cc = SC_LT, .dst = 2),
	STEP(SO_LOAD, .n = 4, .m = {.base = 4, .index = SCH_NOVAR, .scale = 1, .align = 1, .sym = 0,
	    .disp = 3}),
	STEP(SO_STORE, .n = 4, .m = {.base = SCH_NOVAR, .index = SCH_NOVAR, .scale = 1, .align = 1,
	    .sym = SCH_NOSYM}),
	STEP(SO_CMOV, .w = 4, .cc = SC_GEU, .dst = 2, .a = VAR(3)), STEP(SO_CALL, .sym = 1),
	    STEP(SO_CALLX, .n = 0),
	STEP(SO_LINKED, .n = 0xc1, .a = SYM(1, 0)), STEP(SO_LINKED, .n = 0, .a = SYM(0, 0)),
	STEP(SO_MASKED, .w = 4, .n = 16, .cc = MA_COND(1, MA_RUNS, 0), .a = VAR(17), .b = IMM(0),
	    .m = {.base = 1, .index = 2, .scale = 4, .sym = SCH_NOSYM, .disp = 64}),
	STEP(SO_MASKED, .w = 8, .n = 4, .cc = MA_COND(0, MA_INDEX4_TOP, 8), .a = VAR(8), .b = VAR(16),
	    .m = {.base = 3, .index = SCH_NOVAR, .scale = 1, .sym = 1}),
	STEP(SO_CALLJ, .n = 65535), STEP(SO_REP, .n = 3, .w = 8, .cc = SR_SCAS),
};

static struct op_step one[] = {STEP(SO_INST, .n = 2)};
static struct sch_loopev ev[] = {{SL_EXIT, 1}, {SL_ENTER, 0}, {SL_BACK, 1}};
static struct sch_succ succ[] = {{1, 3, ev}, {0, 0, NULL}, {5, 1, ev}, {2, 0, NULL}};
static struct sch_succ numbered[] = {{7, 0, NULL}, {8, 1, ev}, {7, 0, NULL}}, wide[] = {{9, 0, NULL}};
static struct sch_block block[] = {
	{.nstep = sizeof all / sizeof *all, .step = all, .term = ST_COND, .cc = SC_LT, .nsucc = 2,
	    .succ = succ},
	{.frag = 1, .off = 7, .nstep = 1, .step = one, .term = ST_SWITCH, .target = VAR(16), .nsucc = 4,
	    .succ = succ},
	{.off = 40, .term = ST_BRANCH, .nsucc = 2, .succ = succ + 1},
	{.off = 50, .nstep = 1, .step = one, .term = ST_TAIL, .callee = 1},
	{.off = 52, .nstep = 1, .step = one, .term = ST_TAILX},
	{.off = 54, .nstep = 1, .step = one, .term = ST_JUMP, .nsucc = 1, .succ = succ + 1},
	{.off = 56, .term = ST_NONE},
	{.frag = 1, .off = 20, .mark = 1, .term = ST_TARGET, .nsucc = 3, .succ = numbered},
	{.off = 60, .mark = 1, .nstep = 1, .step = one, .term = ST_TARGET, .nsucc = 1, .succ = wide},
	{.off = 62, .mark = 2, .term = ST_RETURN},
};
static struct sch_block leaf[] = {{.nstep = 1, .step = one, .term = ST_RETURN}};
static struct sch_frag frag[] = {{0, 0, 1000}, {1, 16, 30}};
static uint16_t need[] = {7, 0};
static struct sch_loop loop[] = {{1, -1}, {2, 0}};
static char main_[] = "main", leaf_[] = "leaf.isra.0", file_[] = "dir/a.c";
static struct sch_func func[] = {
	{main_, SF_TAILOUT | SF_SETJMP, 2, 18, 2, 10, 2, frag, need, block, loop},
	{leaf_, SF_NOENTRY, 1, 16, 0, 1, 0, frag, NULL, leaf, NULL},
};
static uint64_t cst[] = {0x401000, 0xfffffffffffffff0}, cst4[] = {0x401000, 0xfffffff0};
static struct sch_field field[] = {{0, 3, 7, 4, 1}};
static struct sch_unit unit[] = {
	{file_, 62, 8, 0, 8, 16, 4, 2, func, 2, cst, 1, field, NULL},
	{file_, 8, 4, 0, 0, 16, 4, 2, func, 2, cst4, 1, field, NULL},
	{file_, 65535, 4, 1, 255, 16, 4, 2, func, 2, cst4, 1, field, NULL},
	{file_, 0, 8, 1, 0, 16, 4, 2, func, 2, cst, 1, field, NULL},
};

static int
same_steps(const struct sch_block *a, const struct sch_block *b)
{
	for (uint32_t i = 0; i < a->nstep; i++) {
		const struct op_step *s = a->step + i, *t = b->step + i;

		if (s->op != t->op || s->w != t->w || s->cc != t->cc || s->dst != t->dst || s->n != t->n ||
		    s->sym != t->sym ||
		    s->a.kind != t->a.kind || s->a.var != t->a.var || s->a.imm != t->a.imm ||
		    s->b.kind != t->b.kind ||
		    s->b.var != t->b.var || s->b.imm != t->b.imm || s->m.base != t->m.base ||
		    s->m.index != t->m.index ||
		    s->m.scale != t->m.scale || s->m.fs != t->m.fs || s->m.narrow != t->m.narrow ||
		    s->m.align != t->m.align || s->m.sym != t->m.sym ||
		    s->m.disp != t->m.disp) {
			printf("# step %u (operation %u)\n", i, s->op);
			return 0;
		}
	}
	return a->nstep == b->nstep;
}

static int
same_blocks(const struct sch_func *f, const struct sch_func *g)
{
	for (uint32_t i = 0; i < f->nblock; i++) {
		const struct sch_block *a = f->block + i, *b = g->block + i;

		if (a->frag != b->frag || a->off != b->off || a->term != b->term || a->cc != b->cc ||
		    a->mark != b->mark || a->callee != b->callee ||
		    a->nsucc != b->nsucc || a->target.kind != b->target.kind ||
		    a->target.var != b->target.var || !same_steps(a, b))
			return 0;
		for (uint32_t j = 0; j < a->nsucc; j++) {
			const struct sch_succ *s = a->succ + j, *t = b->succ + j;

			if (s->block != t->block || s->nev != t->nev)
				return 0;
			for (uint32_t k = 0; k < s->nev; k++)
				if (s->ev[k].kind != t->ev[k].kind || s->ev[k].loop != t->ev[k].loop)
					return 0;
		}
	}
	return 1;
}

static int
same(const struct sch_unit *a, const struct sch_unit *b)
{
	if (strcmp(a->source, b->source) || a->machine != b->machine || a->word != b->word ||
	    a->big != b->big || a->push != b->push ||
	    a->nregs != b->nregs || a->sp != b->sp || a->nfunc != b->nfunc ||
	    a->ncst != b->ncst || a->nfield != b->nfield || memcmp(a->cst, b->cst, a->ncst * sizeof *a->cst))
		return 0;
	for (uint32_t i = 0; i < a->nfunc; i++) {
		const struct sch_func *f = a->func + i, *g = b->func + i;

		if (strcmp(f->name, g->name) || f->flags != g->flags || f->nfrag != g->nfrag ||
		    f->nvar != g->nvar ||
		    f->nneed != g->nneed || f->nblock != g->nblock || f->nloop != g->nloop ||
		    !same_blocks(f, g) ||
		    memcmp(f->frag, g->frag, f->nfrag * sizeof *f->frag) ||
		    (f->nneed && memcmp(f->need, g->need, f->nneed * sizeof *f->need)) ||
		    (f->nloop && memcmp(f->loop, g->loop, f->nloop * sizeof *f->loop)))
			return 0;
	}
	return 1;
}

/* A copy of exactly n bytes, so that a sanitizer sees reads after them. */
static long
decode(const uint8_t *p, size_t n, struct sch_unit *v)
{
	uint8_t *q = malloc(n ? n : 1);
	const char *err;
	size_t off;
	long r;

	memcpy(q, p, n);
	r = sch_decode(q, n, v, &err, &off);
	free(q);
	return r;
}

static int
rd(void *arg, uint64_t addr, void *buf, size_t n)
{
	const struct sch_unit *u = arg;
	uint8_t *b = buf;

	if (!arg || addr != 0x401003 || n != 4)
		return 0;
	memset(b, 0xff, 4);
	b[u->big ? 3 : 0] = 0xfe;
	return 1;
}

static void
mutations(const uint8_t *p, size_t n)
{
	uint8_t *q = malloc(n);
	unsigned canonical = 1, cut = 1, seen = 1;
	struct sch_unit v;

	for (size_t i = 0; i < n; i++) {
		for (unsigned x = 1; x < 256; x++) {
			memcpy(q, p, n);
			q[i] ^= (uint8_t)x;
			seen &= decode(q, n, &v) < 0;
			/* the length and the number of constants are what sealing goes by */
			if (i < 8 || i >= 16)
				sch_update_checksum(q);
			if (decode(q, n, &v) > 0) {
				size_t len;
				uint8_t *e = sch_encode(&v, &len);

				canonical &= len == n && memcmp(e, q, n) == 0;
				free(e);
				sch_free(&v);
			}
		}
	}
	CHECK("a changed byte: refused", seen);
	CHECK("a changed byte, sealed: refused, or the one encoding of another unit", canonical);
	for (size_t i = 1; i < n; i++) {
		memcpy(q, p, n);
		cut &= decode(q, i, &v) < 0;
		if (i >= sch_body(get_le32(p + 12))) {
			put_le32(q + 8, (uint32_t)i);
			sch_update_checksum(q);
			cut &= decode(q, i, &v) < 0;
		}
	}
	CHECK("cut off anywhere: refused, whatever length it says", cut);
	free(q);
}

/* The example of ae-schema(5); written to standard output if `show` */
static void
vector(int show)
{
	static const uint8_t want[] = {
		'A', 'E', 'S', 'C', 3, 0, 8, 0, 69, 0, 0, 0, 1, 0, 0, 0, 0x4a, 0x5b, 0xc0, 0x51,
		0, 0x10, 0x40, 0, 0, 0, 0, 0, 0, 0x10, 0x40, 0, 0, 0, 0, 0,
		/* name, registers, rsp, machine, push, fields, functions */
		3, 'a', '.', 'c', 16, 4, 62, 8, 0, 1,
		/* name, flags, variables, fragments, needs, loops, blocks */
		1, 'f', 0, 16, 1, 1, 0, 1,
		0, 0, 6, 7,                             /* fragment of 6 bytes; rdi is needed */
		/* block: offset, steps: 4 and 2 bytes, load 4 from -8(rdi) ... */
		0, 0, 4, 0x66, 0x01, 0x81, 7, 15, 4,
		0x4c, 5,                                /* ... 2 bytes; return */
	};
	struct op_step s[] = {
		STEP(SO_INST, .n = 4), STEP(SO_INST, .n = 2),
		STEP(SO_LOAD, .n = 4, .m = {.base = 7, .index = SCH_NOVAR, .scale = 1, .sym = SCH_NOSYM,
		    .disp = -8}),
		STEP(SO_INST, .n = 2),
	};
	struct sch_block b = {.nstep = 4, .step = s, .term = ST_RETURN};
	struct sch_frag fr = {0, 0, 6};
	uint16_t rdi = 7;
	char name[] = "f", src[] = "a.c";
	struct sch_func f = {name, 0, 1, 16, 1, 1, 0, &fr, &rdi, &b, NULL};
	struct sch_unit u = {src, 62, 8, 0, 8, 16, 4, 1, &f, 1, cst, 0, NULL, NULL};
	size_t n;
	uint8_t *p = sch_encode(&u, &n);

	if (show) {
		fwrite(p, 1, n, stdout);
		free(p);
		return;
	}
	CHECK("fixed bytes", n == sizeof want && memcmp(p, want, n) == 0);
	free(p);
}

/* What the encoder lets through and the decoder must not */
static void
refused(void)
{
	static struct op_step aligned[] = {STEP(SO_LOAD, .n = 4,
	    .m = {.base = 1, .index = 2, .scale = 1, .align = 1, .sym = SCH_NOSYM})};
	struct sch_succ two[] = {{1, 0, NULL}, {2, 0, NULL}};
	struct sch_block b[] = {
		{.term = ST_TARGET, .nsucc = 2, .succ = two}, {.mark = 1, .term = ST_RETURN},
		    {.mark = 1, .term = ST_RETURN},
	}, *many = calloc(257, sizeof *many);
	struct sch_func f = {main_, 0, 1, 16, 0, 3, 0, frag, NULL, b, NULL};
	struct sch_unit u = {file_, 8, 4, 1, 0, 16, 4, 1, &f, 1, cst4, 0, NULL, NULL}, v;
	size_t n;
	uint8_t *p = sch_encode(&u, &n);

	CHECK("successors with marks", decode(p, n, &v) == (long)n && (sch_free(&v), 1));
	p[SCH_HEADER + 4] = 1;
	sch_update_checksum(p);
	CHECK("a constant larger than a word", decode(p, n, &v) < 0);
	free(p);
	b[2].mark = 2;
	p = sch_encode(&u, &n);
	CHECK("marks of two sizes", decode(p, n, &v) < 0);
	free(p);
	b[1].mark = b[2].mark = 0;
	p = sch_encode(&u, &n);
	CHECK("no marks", decode(p, n, &v) < 0);
	free(p);
	b[0].nsucc = 0;
	p = sch_encode(&u, &n);
	CHECK("no successors", decode(p, n, &v) < 0);
	free(p);
	for (int i = 0; i < 257; i++)
		many[i] = (struct sch_block){.mark = i > 254 ? 1 : 0, .term = ST_RETURN};
	f.block = many;
	f.nblock = 256;
	p = sch_encode(&u, &n);
	CHECK("256 blocks have numbers of a byte", decode(p, n, &v) == (long)n && (sch_free(&v), 1));
	free(p);
	f.nblock = 257;
	p = sch_encode(&u, &n);
	CHECK("257 do not", decode(p, n, &v) < 0);
	free(p);
	many[256].mark = 2;
	p = sch_encode(&u, &n);
	CHECK("but of two", decode(p, n, &v) == (long)n && (sch_free(&v), 1));
	free(p);
	many[0] = (struct sch_block){.nstep = 1, .step = aligned, .term = ST_RETURN};
	CHECK("aligned addresses have no index", sch_encode(&u, &n) == NULL);
	free(many);
}

static void
roundtrip(const struct sch_unit *u)
{
	uint8_t *p, *e, *two;
	struct sch_unit v;
	size_t n, len;

	printf("# machine %u, words of %u bytes, %s first\n", u->machine, u->word, u->big ? "high" : "low");
	p = sch_encode(u, &n);
	CHECK("decoded", decode(p, n, &v) == (long)n);
	CHECK("the same unit", same(u, &v));
	e = sch_encode(&v, &len);
	CHECK("the same bytes", len == n && memcmp(e, p, n) == 0);
	CHECK("a constant from the code", sch_resolve(&v, rd, &v) == 0 && v.cst[2] == 0x401000 + 7 - 2);
	CHECK("code that is not there", sch_resolve(&v, rd, NULL) == -1);
	sch_free(&v);
	CHECK("nothing", decode(p, 0, &v) == 0);
	two = malloc(2 * n);
	memcpy(two, p, n);
	memcpy(two + n, p, n);
	CHECK("two units", decode(two, 2 * n, &v) == (long)n && (sch_free(&v), 1));
	mutations(p, n);
	free(two);
	free(e);
	free(p);
}

int
main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "example") == 0) {
		vector(1);
		return 0;
	}
	for (size_t i = 0; i < sizeof unit / sizeof *unit; i++)
		roundtrip(unit + i);
	vector(0);
	refused();
	return check_end();
}
