/*
 * Printer of the readable schema: units, functions, blocks. The notation is in ae-schema(5);
 * parse.c is the inverse.
 */
#include "format/schema/text.h"

#include <stdlib.h>
#include <string.h>

#include "format/schema/print_internal.h"
#include "format/schema/word_internal.h"

#define LIST 16         /* most lengths in one uneventful_inst */

/* k instructions without any other effect. */
static void
print_uneventful(struct printer *p, const struct op_step *s, uint32_t k)
{
	while (k) {
		uint32_t same = 1, n;

		while (same < k && same < SCH_RUN && s[same].n == s->n)
			same++;
		print_put(p, sch_word[SO_INST].word);
		if (same == k || same >= 4) {
			n = same;
			print_suffix(p, ':', s->n, SCH_INSTLEN);
			if (same > 1)
				print_num(p, same);
		} else {
			n = k < LIST ? k : LIST;
			for (uint32_t i = 0; i < n; i++)
				buf_printf(p->out, ":%u", s[i].n);
		}
		print_endline(p);
		s += n;
		k -= n;
	}
}

static void
loop_event(struct printer *p, const struct sch_succ *s, uint32_t at)
{
	for (uint32_t i = 0; i < s->nev; i++) {
		buf_printf(p->out, " %%%s(%u %u", sch_loopword[s->ev[i].kind], s->block, s->ev[i].loop);
		if (p->seen[s->block] == p->gen && p->pos[s->block] != at)
			print_num(p, at);
		print_put(p, ")");
	}
}

/*
 * Successors, the way one is chosen, and loop events. A branch's fall-through comes first, as in
 * the paper.
 */
static void
print_succs(struct printer *p, const struct sch_block *b, int show)
{
	int swap = b->nsucc == 2 && b->term != ST_SWITCH && b->term != ST_LANDING;

	p->gen++;
	for (uint32_t i = 0; i < b->nsucc; i++) {
		const struct sch_succ *s = b->succ + (swap ? 1 - i : i);

		if (show)
			print_num(p, s->block);
		if (p->seen[s->block] != p->gen) {
			p->seen[s->block] = p->gen;
			p->pos[s->block] = i;
		}
	}
	if (b->term == ST_BRANCH)
		print_put(p, " %event");
	else if (b->term == ST_COND)
		buf_printf(p->out, " %%if(%s)", sch_ccword[b->cc]);
	else if (b->term == ST_SWITCH && b->cc)
		print_put(p, " %else(*)");
	for (uint32_t i = 0; i < b->nsucc; i++)
		loop_event(p, b->succ + (swap ? 1 - i : i), i);
}

/* Does the block only continue with the next one? */
static int
print_falls(const struct sch_block *b, uint32_t no)
{
	return b->term == ST_JUMP && b->succ->block == no + 1;
}

static void
block_end(struct printer *p, const struct sch_block *b, uint32_t no, unsigned len)
{
	static const char *const word[] = {
		[ST_NONE] = "never", [ST_JUMP] = "jump", [ST_BRANCH] = "cjump", [ST_COND] = "cjump",
		[ST_SWITCH] = "switch",
		[ST_RETURN] = "return", [ST_TAIL] = "call", [ST_TAILX] = "call", [ST_TARGET] = "cjump",
		[ST_LANDING] = "landing",
	};
	int more = b->term == ST_TARGET && b->nsucc != 2, plain = print_falls(b, no) || b->term == ST_NONE;

	print_put(p, plain || len ? "" : "& ");
	print_put(p, "end_block");
	if (!print_falls(b, no)) {
		print_put(p, "_");
		print_put(p, more ? "switch" : word[b->term]);
	}
	print_suffix(p, ':', len ? len : SCH_INSTLEN, SCH_INSTLEN);
	print_num(p, no);
	if (b->term == ST_SWITCH) {
		print_put(p, " ");
		print_value(p, &b->target);
	} else if (b->term == ST_TAIL)
		print_callee(p, b->callee);
	else if (b->term == ST_TAILX)
		print_put(p, " *");
	print_succs(p, b, !print_falls(b, no));
	print_endline(p);
}

/* The steps. Returns the length of the instruction that belongs to the end of the block, or 0. */
static unsigned
schema_print_steps(struct printer *p, const struct sch_block *b, uint32_t no)
{
	uint32_t i = 0;

	while (i < b->nstep) {
		uint32_t k = 0;
		unsigned len = 0;
		int end;

		while (i + k < b->nstep && b->step[i + k].op == SO_INST)
			k++;
		end = i + k == b->nstep;
		if (k && (end ? b->term != ST_NONE && !print_falls(b, no) : sch_fetches(b->step[i + k].op)))
			len = b->step[i + k - 1].n;
		print_uneventful(p, b->step + i, len ? k - 1 : k);
		if (end)
			return len;
		i += k;
		print_step(p, b->step + i++, len);
	}
	return 0;
}

static uint64_t
schema_print_block(struct printer *p, const struct sch_block *b, uint32_t no, const struct sch_block *prev,
    uint64_t off)
{
	const struct sch_frag *r = p->f->frag + b->frag;
	const char *file;
	int line;

	print_put(p, b->mark ? "\nstart_block_target" : "\nstart_block");
	print_suffix(p, '.', b->mark ? b->mark : 1, 1);
	print_num(p, no);
	if (b->frag != (prev ? prev->frag : 0))
		buf_printf(p->out, " %%at(%u %u)", b->frag, b->off);
	else if (b->off != off)
		buf_printf(p->out, " %%at(%u)", b->off);
	file = p->nm && p->nm->line ? p->nm->line(p->nm->arg, p->u->cst[r->sym] + r->off + b->off, &line) :
	    NULL;
	if (file && !strpbrk(file, "\r\n")) {
		const char *slash = strrchr(file, '/');

		buf_printf(p->out, " ; %s:%d", slash ? slash + 1 : file, line);
	}
	print_endline(p);
	block_end(p, b, no, schema_print_steps(p, b, no));
	off = b->off;
	for (uint32_t i = 0; i < b->nstep; i++)
		if (b->step[i].op == SO_INST || b->step[i].op == SO_REP)
			off += b->step[i].n;
	return off;
}

static void
schema_print_head(struct printer *p, const struct sch_func *f)
{
	print_put(p, "\nstart_function ");
	print_name(p, f->name);
	print_num(p, f->nblock);
	print_put(p, f->flags ? "\nflags" : "");
	for (unsigned i = 0; i < SCH_NFLAG; i++)
		if (f->flags >> i & 1)
			buf_printf(p->out, " %s", sch_flagword[i]);
	if (f->nvar > p->u->nregs)
		buf_printf(p->out, "\nvariables %u", f->nvar);
	for (uint32_t i = 0; i < f->nfrag; i++) {
		print_put(p, "\nfragment ");
		print_constant(p, f->frag[i].sym, 0);
		if (f->frag[i].off)
			buf_printf(p->out, "+%u", f->frag[i].off);
		print_num(p, f->frag[i].size);
	}
	print_put(p, f->nneed ? "\nneed" : "");
	for (uint32_t i = 0; i < f->nneed; i++) {
		print_put(p, " ");
		print_var(p, f->need[i]);
	}
	for (uint32_t i = 0; i < f->nloop; i++) {
		buf_printf(p->out, "\nloop %u %u", i, f->loop[i].header);
		if (f->loop[i].parent >= 0)
			print_num(p, (uint64_t)f->loop[i].parent);
	}
	p->hint = SCH_NOSYM;
	print_put(p, "\n");
}

static void
print_function(struct printer *p, const struct sch_func *f)
{
	const struct sch_block *prev = NULL;
	uint64_t off = 0;

	p->f = f;
	p->gen = 0;
	p->seen = calloc(f->nblock, sizeof *p->seen);
	p->pos = calloc(f->nblock, sizeof *p->pos);
	if (p->seen && p->pos) {
		schema_print_head(p, f);
		for (uint32_t i = 0; i < f->nblock; i++) {
			off = schema_print_block(p, f->block + i, i, prev, off);
			prev = f->block + i;
		}
		print_put(p, "end_function ");
		print_name(p, f->name);
		print_put(p, "\n");
	} else
		p->out->nomem = 1;
	free(p->seen);
	free(p->pos);
}

static void
print_constants(struct printer *p)
{
	const struct sch_unit *u = p->u;

	for (uint32_t i = 0; i < u->ncst; i++) {
		buf_printf(p->out, "symbol %u 0x%llx", i, (unsigned long long)u->cst[i]);
		if (p->cname[i] >= 0)
			buf_printf(p->out, " %s", u->func[p->cname[i]].name);
		print_put(p, "\n");
	}
	for (uint32_t i = 0; i < u->nfield; i++) {
		const struct sch_field *f = u->field + i;

		buf_printf(p->out, "field %u ", i);
		print_constant(p, f->sym, 0);
		p->hint = SCH_NOSYM;
		if (f->off)
			buf_printf(p->out, "+%u", f->off);
		print_num(p, f->size);
		if (f->rip)
			buf_printf(p->out, " %%end(%u)", f->end);
		if (p->nm && p->nm->resolved)
			print_comment(p, u->cst[u->ncst + i]);
		print_put(p, "\n");
	}
}

static int
cmp_name(const void *a, const void *b)
{
	return strcmp((*(struct sch_func *const *)a)->name, (*(struct sch_func *const *)b)->name);
}

/* Finds names that belong to one function only, and constants that are a function's address. */
static int
print_names(struct printer *p)
{
	const struct sch_unit *u = p->u;
	struct sch_func **f = calloc(u->nfunc + 1u, sizeof *f);

	p->twice = calloc(u->nfunc + 1u, 1);
	p->cname = calloc(u->ncst + 1u, sizeof *p->cname);
	if (!f || !p->twice || !p->cname) {
		free(f);
		return -1;
	}
	for (uint32_t i = 0; i < u->ncst; i++)
		p->cname[i] = -1;
	for (uint32_t i = 0; i < u->nfunc; i++)
		f[i] = u->func + i;
	qsort(f, u->nfunc, sizeof *f, cmp_name);
	for (uint32_t i = 1; i < u->nfunc; i++)
		if (strcmp(f[i]->name, f[i - 1]->name) == 0)
			p->twice[f[i] - u->func] = p->twice[f[i - 1] - u->func] = 1;
	for (uint32_t i = 0; i < u->nfunc; i++) {
		const struct sch_frag *r = u->func[i].frag;
		const char *c = u->func[i].name;
		int good = *c != 0 && !p->twice[i] && r->off == 0 && p->cname[r->sym] < 0;

		for (const char *s = c; *s; s++)
			good &= sch_plainchar((unsigned char)*s, s == c) && *s != '+' && *s != '-' &&
			    *s != '/';
		if (good)
			p->cname[r->sym] = (int32_t)i;
	}
	free(f);
	return 0;
}

void
sch_print(struct buf *out, const struct sch_unit *u, const struct sch_names *nm)
{
	struct printer p = {.out = out, .u = u, .nm = nm, .hint = SCH_NOSYM};

	if (print_names(&p) == 0) {
		print_put(&p, "start_unit ");
		print_name(&p, u->source);
		buf_printf(out, "\nmachine %u %%word(%u)", u->machine, u->word);
		if (u->push)
			buf_printf(out, " %%push(%u)", u->push);
		print_put(&p, u->big ? " %big" : "");
		buf_printf(out, "\nregisters %u ", u->nregs);
		print_var(&p, u->sp);
		print_put(&p, "\n");
		print_constants(&p);
		for (uint32_t i = 0; i < u->nfunc; i++)
			print_function(&p, u->func + i);
		print_put(&p, "\nend_unit ");
		print_name(&p, u->source);
		print_put(&p, "\n");
	} else
		out->nomem = 1;
	free(p.twice);
	free(p.cname);
}
