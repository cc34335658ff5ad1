/* Parser of the readable schema: a block and its end. */
#include <string.h>

#include "format/schema/parse_internal.h"
#include "format/schema/word_internal.h"

uint32_t
parse_blockno(struct parser *p)
{
	uint32_t b = (uint32_t)lex_num(&p->l, UINT32_MAX);

	if (!p->l.bad && b >= p->f.nblock)
		lex_fail(&p->l, "block %u, but there are %u", b, p->f.nblock);
	return p->l.bad ? 0 : b;
}

static void
loop_event(struct parser *p, unsigned kind)
{
	struct lex *l = &p->l;
	struct parse_ev *e;
	uint32_t b, loop, at = 0;

	lex_expect(l, "(");
	b = parse_blockno(p);
	loop = (uint32_t)lex_num(l, UINT32_MAX);
	if (!l->bad && loop >= p->f.nloop)
		lex_fail(l, "loop %u, but there are %u", loop, p->f.nloop);
	if (!l->bad && p->seen[b] == p->gen)
		at = p->pos[b];
	else
		lex_fail(l, "no successor %u", b);
	if (lex_at_number(l)) {
		at = (uint32_t)lex_num(l, UINT32_MAX);
		if (!l->bad && (at >= p->nsucc || p->succ[at].block != b))
			lex_fail(l, "successor %u is not block %u", at, b);
	}
	lex_expect(l, ")");
	e = GROW(p, p->ev, p->capev, p->nev);
	if (!e)
		return;
	p->ev = e;
	e[p->nev++] = (struct parse_ev){at, {(uint8_t)kind, loop}};
}

static void
parse_successor(struct parser *p, uint32_t b)
{
	struct sch_succ *s = GROW(p, p->succ, p->capsucc, p->nsucc);

	if (!s)
		return;
	p->succ = s;
	s[p->nsucc] = (struct sch_succ){.block = b};
	if (p->seen[b] != p->gen) {
		p->seen[b] = p->gen;
		p->pos[b] = p->nsucc;
	}
	p->nsucc++;
}

/* Gives every successor its loop events, in the order of the text. */
static void
share_events(struct parser *p)
{
	struct sch_loopev *ev = parse_alloc(p, NULL, p->nev, sizeof *ev);

	if (!ev)
		return;
	for (uint32_t i = 0; i < p->nev; i++)
		p->succ[p->ev[i].at].nev++;
	for (uint32_t i = 0; i < p->nsucc; i++) {
		p->succ[i].ev = ev;
		ev += p->succ[i].nev;
		p->succ[i].nev = 0;
	}
	for (uint32_t i = 0; i < p->nev; i++) {
		struct sch_succ *s = p->succ + p->ev[i].at;

		s->ev[s->nev++] = p->ev[i].ev;
	}
}

/* Parses what may follow the successors; event: the enum sch_term that a cjump becomes with it. */
static void
parse_annotations(struct parser *p, struct sch_block *b)
{
	struct lex *l = &p->l;
	int cc;

	while (!lex_end(l)) {
		if (b->term == ST_TARGET && lex_accept(l, "%event"))
			b->term = ST_BRANCH;
		else if (b->term == ST_TARGET && (cc = parse_cc(p)) >= 0) {
			b->term = ST_COND;
			b->cc = (uint8_t)cc;
		} else if (b->term == ST_SWITCH && !b->cc && lex_accept(l, "%else(*)"))
			b->cc = 1;
		else if (lex_accept(l, "%loop_entry"))
			loop_event(p, SL_ENTER);
		else if (lex_accept(l, "%loop_back"))
			loop_event(p, SL_BACK);
		else if (lex_accept(l, "%loop_exit"))
			loop_event(p, SL_EXIT);
		else
			parse_end_line(p);
	}
}

static void
end_switch(struct parser *p, struct sch_block *b)
{
	b->term = ST_TARGET;
	if (!lex_end(&p->l) && *p->l.p == '#') {
		b->term = ST_SWITCH;
		parse_val(p, &b->target);
	}
	while (lex_at_number(&p->l))
		parse_successor(p, parse_blockno(p));
	if (b->term == ST_TARGET && p->nsucc == 0)
		lex_fail(&p->l, "end of block without successors");
}

/* The successors, according to the word after end_block_. */
static void
end_to(struct parser *p, struct sch_block *b, const char *word, size_t n)
{
	struct lex *l = &p->l;

#define IS(s) (n == sizeof s - 1 && memcmp(word, s, n) == 0)
	if (IS("jump")) {
		b->term = ST_JUMP;
		parse_successor(p, parse_blockno(p));
	} else if (IS("cjump")) {
		uint32_t no = parse_blockno(p), yes = parse_blockno(p);

		b->term = ST_TARGET;
		parse_successor(p, no);
		parse_successor(p, yes);
	} else if (IS("switch")) {
		end_switch(p, b);
	} else if (IS("landing")) {
		b->term = ST_LANDING;
		parse_successor(p, parse_blockno(p));
		parse_successor(p, parse_blockno(p));
	} else if (IS("return")) {
		b->term = ST_RETURN;
	} else if (IS("call")) {
		b->term = ST_TAILX;
		if (!lex_accept(l, "*")) {
			b->term = ST_TAIL;
			b->callee = (uint32_t)parse_callee(p);
		}
	} else if (IS("never")) {
		b->term = ST_NONE;
	} else
		lex_fail(l, "unknown end of a block: '%.*s'", n < 40 ? (int)n : 40, word);
#undef IS
}

static void
end_block(struct parser *p, struct sch_block *b, const char *word, size_t n, int own)
{
	int next = n == 0, plain = next || (n == 6 && memcmp(word, "_never", 6) == 0), swap;
	unsigned len = SCH_INSTLEN;
	struct lex *l = &p->l;

	p->gen++;
	if (plain && !own)
		lex_fail(l, "'&' before the end of a block that is no instruction");
	if (!plain && own) {
		lex_suffix(l, ':', &len);
		parse_fetch(p, len);
	}
	if (lex_num(l, UINT32_MAX) != p->blockno)
		lex_fail(l, "end of another block");
	if (!next) {
		end_to(p, b, word + 1, n - 1);
	} else if (p->blockno + 1 < p->f.nblock) {
		b->term = ST_JUMP;
		parse_successor(p, p->blockno + 1);
	} else
		lex_fail(l, "the last block cannot go on with the next");
	swap = n == 6 && memcmp(word, "_cjump", 6) == 0;
	parse_annotations(p, b);
	share_events(p);
	b->step = parse_alloc(p, p->step, p->nstep, sizeof *p->step);
	b->nstep = p->nstep;
	b->succ = parse_alloc(p, p->succ, p->nsucc, sizeof *p->succ);
	b->nsucc = p->nsucc;
	if (swap && b->succ) {
		struct sch_succ t = b->succ[0];

		b->succ[0] = b->succ[1];
		b->succ[1] = t;
	}
}

/* The block's offset: after the block before it, unless the text gives another one. */
static void
parse_place(struct parser *p, struct sch_block *b, uint64_t off)
{
	struct lex *l = &p->l;

	if (lex_accept(l, "%at")) {
		lex_expect(l, "(");
		off = lex_num(l, UINT32_MAX);
		if (lex_at_number(l)) {
			b->frag = (uint32_t)off;
			off = lex_num(l, UINT32_MAX);
		}
		lex_expect(l, ")");
	}
	if (!l->bad && b->frag >= p->f.nfrag)
		lex_fail(l, "fragment %u, but there are %u", b->frag, p->f.nfrag);
	if (!l->bad && off > p->f.frag[b->frag].size)
		lex_fail(l, "block outside its fragment: byte %llu of %u", (unsigned long long)off,
		    p->f.frag[b->frag].size);
	b->off = (uint32_t)off;
}

/* Parses the block whose first line has begun with start_block. */
void
parse_block(struct parser *p, struct sch_block *b, const char *rest, size_t n, uint64_t *off)
{
	struct lex *l = &p->l;
	unsigned mark = 0;

	if (n == 7 && memcmp(rest, "_target", 7) == 0) {
		mark = 1;
		if (lex_suffix(l, '.', &mark) && mark != 1 && mark != 2)
			lex_fail(l, "a block's number has 1 or 2 bytes");
	} else if (n)
		lex_fail(l, "unknown start of a block");
	b->mark = (uint8_t)mark;
	if (lex_num(l, UINT32_MAX) != p->blockno)
		lex_fail(l, "block %u expected", p->blockno);
	if (!l->bad && mark && p->blockno >> 8 * mark)
		lex_fail(l, "block %u has no number of %u byte%s", p->blockno, mark, mark == 1 ? "" : "s");
	parse_place(p, b, *off);
	parse_end_line(p);
	p->nstep = p->nsucc = p->nev = 0;
	while (parse_line(p, "end_block")) {
		int own = !lex_accept(l, "&");
		const char *word;
		size_t k = lex_word(l, &word);

		if (parse_has_prefix("end_block", word, &k)) {
			end_block(p, b, word + 9, k, own);
			break;
		}
		if (!parse_step(p, word, k, own))
			lex_fail(l, "unknown word '%.*s'", k < 40 ? (int)k : 40, word);
		parse_end_line(p);
	}
	*off = b->off;
	for (uint32_t i = 0; i < p->nstep; i++)
		if (p->step[i].op == SO_INST || p->step[i].op == SO_REP)
			*off += p->step[i].n;
}
