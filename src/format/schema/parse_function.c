/* Parser of the readable schema: a function. */
#include <stdlib.h>
#include <string.h>

#include "format/schema/operation_internal.h"
#include "format/schema/parse_internal.h"
#include "format/schema/word_internal.h"

#define BLOCKTEXT 24    /* fewest bytes of a block's text */

static void
parse_fragment(struct parser *p)
{
	struct sch_frag *r = GROW(p, p->f.frag, p->capfrag, p->f.nfrag);

	if (!r)
		return;
	p->f.frag = r;
	r += p->f.nfrag++;
	memset(r, 0, sizeof *r);
	lex_expect(&p->l, "#");
	r->sym = parse_const(p, p->u.ncst);
	if (lex_accept_char(&p->l, '+'))
		r->off = (uint32_t)lex_num(&p->l, UINT32_MAX);
	r->size = (uint32_t)lex_num(&p->l, INT32_MAX);
}

static void
parse_loop(struct parser *p)
{
	struct sch_loop *r = GROW(p, p->f.loop, p->caploop, p->f.nloop);

	if (!r)
		return;
	p->f.loop = r;
	if (lex_num(&p->l, UINT32_MAX) != p->f.nloop)
		lex_fail(&p->l, "loop %u expected", p->f.nloop);
	r += p->f.nloop++;
	r->header = parse_blockno(p);
	r->parent = -1;
	if (lex_at_number(&p->l))
		r->parent = (int32_t)lex_num(&p->l, INT32_MAX - 1);
}

static void
parse_need(struct parser *p)
{
	do {
		uint16_t *r = GROW(p, p->f.need, p->capneed, p->f.nneed);

		if (!r)
			return;
		p->f.need = r;
		r[p->f.nneed++] = (uint16_t)parse_var(p, p->u.nregs);
	} while (!lex_end(&p->l));
}

static void
parse_flags(struct parser *p)
{
	do {
		unsigned i = 0;

		while (i < SCH_NFLAG && !lex_accept(&p->l, sch_flagword[i]))
			i++;
		if (i == SCH_NFLAG || p->f.flags >> i & 1)
			lex_fail(&p->l, "no flag of a function, or twice the same");
		p->f.flags |= 1u << i;
		if (p->f.flags & SF_SHORT && (p->u.word != 8 || p->u.big))
			lex_fail(&p->l, "width of a short value");
	} while (!lex_end(&p->l));
}

/* Parses the lines before the first block; *rest: the text after start_block in the line that ends them. */
static size_t
parse_head(struct parser *p, const char **rest)
{
	struct lex *l = &p->l;
	size_t n;

	while (parse_line(p, "start_block")) {
		if (lex_accept(l, "flags"))
			parse_flags(p);
		else if (lex_accept(l, "variables")) {
			p->f.nvar = (uint32_t)lex_num(l, SCH_MAXVAR);
			if (!l->bad && p->f.nvar < p->u.nregs)
				lex_fail(l, "fewer variables than registers");
		} else if (lex_accept(l, "fragment"))
			parse_fragment(p);
		else if (lex_accept(l, "need"))
			parse_need(p);
		else if (lex_accept(l, "loop"))
			parse_loop(p);
		else {
			n = lex_word(l, rest);
			if (parse_has_prefix("start_block", *rest, &n)) {
				*rest += 11;
				return n;
			}
			lex_fail(l, "unknown word '%.*s'", n < 40 ? (int)n : 40, *rest);
		}
		parse_end_line(p);
	}
	return 0;
}

static void
check_loops(struct parser *p)
{
	for (uint32_t i = 0; i < p->f.nloop && !p->l.bad; i++)
		if (p->f.loop[i].parent >= (int32_t)p->f.nloop)
			lex_fail(&p->l, "loop %u is in loop %d, but there are %u", i, p->f.loop[i].parent,
			    p->f.nloop);
}

/* A mark decides the successor: all successors must have one, of the same size. */
static void
check_targets(struct parser *p)
{
	for (uint32_t i = 0; i < p->f.nblock && !p->l.bad; i++) {
		const struct sch_block *b = p->f.block + i;
		unsigned mark = b->nsucc ? p->f.block[b->succ->block].mark : 0;

		for (uint32_t j = 0; b->term == ST_TARGET && j < b->nsucc; j++) {
			if (mark == 0 || p->f.block[b->succ[j].block].mark != mark) {
				p->l.t->line = p->endline[i];
				lex_fail(&p->l,
				    "successor %u is no start_block_target, or one of another size",
				    b->succ[j].block);
				break;
			}
		}
	}
}

static void
parse_blocks(struct parser *p)
{
	struct lex *l = &p->l;
	const char *rest = "";
	size_t n = parse_head(p, &rest);
	uint64_t off = 0;

	check_loops(p);
	for (p->blockno = 0; !l->bad && p->blockno < p->f.nblock; p->blockno++) {
		struct sch_block *b = p->f.block + p->blockno;

		if (p->blockno) {
			b->frag = b[-1].frag;
			if (!parse_line(p, "the last block"))
				break;
			n = lex_word(l, &rest);
			if (!parse_has_prefix("start_block", rest, &n)) {
				lex_fail(l, "block %u expected", p->blockno);
				break;
			}
			rest += 11;
		}
		parse_block(p, b, rest, n, &off);
		p->endline[p->blockno] = l->t->line;
	}
	check_targets(p);
}

static void
parse_define(struct parser *p)
{
	char *s = strdup(p->f.name);
	int32_t i = lex_intern(&p->l, &p->funcs, s);
	struct lex_name *e = p->funcs.name + i;

	if (i < 0) {
		lex_fail(&p->l, "out of memory");
		return;
	}
	e->twice |= e->value >= 0;
	e->value = (int32_t)p->u.nfunc;
}

/* At the end of the function: its tables join its blocks. */
static void
parse_finish(struct parser *p, struct sch_func *f)
{
	void *frag = f->frag, *need = f->need, *loop = f->loop;

	f->frag = parse_alloc(p, frag, f->nfrag, sizeof *f->frag);
	f->need = parse_alloc(p, need, f->nneed, sizeof *f->need);
	f->loop = parse_alloc(p, loop, f->nloop, sizeof *f->loop);
	free(frag);
	free(need);
	free(loop);
	if (!p->l.bad)
		p->u.func[p->u.nfunc++] = *f;
}

/* Parses what follows start_function. */
void
parse_func(struct parser *p)
{
	struct lex *l = &p->l;
	struct sch_func *f = GROW(p, p->u.func, p->capfunc, p->u.nfunc);

	if (!f)
		return;
	p->u.func = f;
	f = &p->f;
	memset(f, 0, sizeof *f);
	p->capfrag = p->capneed = p->caploop = 0;
	p->gen = 0;
	f->name = parse_name(p);
	f->nvar = p->u.nregs;
	f->nblock = (uint32_t)lex_num(l, UINT32_MAX);
	if (!l->bad && f->nblock == 0)
		lex_fail(l, "function without blocks");
	if (!l->bad && f->nblock > (l->t->n - l->t->off) / BLOCKTEXT)
		lex_fail(l, "more blocks than the text has room for");
	parse_end_line(p);
	f->block = parse_alloc(p, NULL, f->nblock, sizeof *f->block);
	p->seen = l->bad ? NULL : calloc(f->nblock, sizeof *p->seen);
	p->pos = l->bad ? NULL : calloc(f->nblock, sizeof *p->pos);
	p->endline = l->bad ? NULL : calloc(f->nblock, sizeof *p->endline);
	if (!p->seen || !p->pos || !p->endline)
		lex_fail(l, "out of memory");
	if (!l->bad)
		parse_blocks(p);
	free(p->seen);
	free(p->pos);
	free(p->endline);
	if (parse_line(p, "end_function")) {
		lex_expect(l, "end_function");
		parse_expect_name(p, "function", f->name);
		parse_end_line(p);
	}
	if (!l->bad)
		parse_define(p);
	parse_finish(p, f);
}
