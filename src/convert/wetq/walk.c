/*
 * wetq: goes from a value to those that it was made of, and on, by commands on standard input, one on a line.  Where
 * one has been is a list of positions in the run; the slice in memory is made anew if it does not have one of them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/src.h"
#include "convert/wetq/chain.h"
#include "convert/wetq/name.h"

#define CAUSES 64u              /* that are listed, at most */
#define CONTEXT 2               /* lines before and after */
#define LONGEST 200             /* bytes of a line that are shown */

/* What a number leads to */
struct choice { uint64_t n, instance; uint32_t id; size_t name, nname; };

struct walk {
	struct job *j;
	struct chain c;
	int begun;                      /* there is a chain */
	struct texts *texts;
	uint32_t at;                    /* a member */
	uint64_t *way;                  /* positions, the last one is this one; owned */
	size_t nway, capway;
	struct choice choice[CAUSES];
	size_t nchoice;
};

/* Makes the instance at position n the current one: 0, or -1 */
static int
walk_find(struct walk *w, uint64_t n)
{
	if (w->begun)
		for (size_t i = 0; i < w->c.nmember; i++)
			if (w->c.member[i].n == n) {
				w->at = (uint32_t)i;
				return 0;
			}
	if (w->begun)
		chain_free(&w->c);
	chain_init(&w->c, w->j);
	w->begun = 1;
	w->at = 0;
	if (chain_slice(&w->c, w->c.flags, n) != 0)
		return -1;
	return w->c.nmember ? 0 : job_none(w->j, "no instance @%llu", (unsigned long long)n);
}

static void
walk_line(struct walk *w, uint32_t id, int line, int here)
{
	size_t n = 0;
	const char *s = texts_line_of(w->texts, id, line, &n);

	if (s) {
		out_printf(w->j->out, "  %c%6d  ", here ? '>' : ' ', line);
		put_text(w->j, s, n > LONGEST ? LONGEST : n);
		out_str(w->j->out, "\n");
	}
}

/* A choice, or (number 0) the current instance */
static void
walk_print(struct walk *w, const struct names *t, const struct choice *o, size_t number)
{
	const struct chain_member *m = chain_find(&w->c, o->id, o->instance);
	struct buf value = BUF_INIT, b = BUF_INIT;
	size_t n = 0;
	const char *s = number && !place_is_system(job_place(w->j, o->id)) ? texts_line(w->texts, o->id, &n) : NULL;

	if (m)
		chain_value(&w->c, m, &value);
	if (number)
		buf_printf(&b, "%3zu ", number);
	chain_words(w->j, o->id, o->instance, names_first(t, o->name, o->nname), &value, &b);
	for (; s && n && (*s == ' ' || *s == '\t'); s++)
		n--;
	out_write(w->j->out, b.p, b.n);
	if (s) {
		out_str(w->j->out, "  ");
		put_text(w->j, s, n > LONGEST ? LONGEST : n);
	}
	out_str(w->j->out, "\n");
	buf_free(&value);
	buf_free(&b);
}

/* Shows where one is, and what that was made of. */
static void
walk_show(struct walk *w)
{
	struct names t = { .j = w->j, .texts = w->texts };
	struct chain_member *m = &w->c.member[w->at];
	struct choice here = { .n = m->n, .id = m->id, .instance = m->instance };
	struct chain_cause cause[CAUSES];
	const struct place *p = job_place(w->j, m->id);
	uint32_t on = w->c.parents ? chain_parent(&w->c, m) : 0;

	w->nchoice = chain_causes(&w->c, w->at, 0, cause, CAUSES);
	chain_ask(&w->c, &t, w->at, 0);
	here.nname = t.n;
	for (size_t i = 0; i < w->nchoice; i++) {
		const struct chain_member *k = &w->c.member[cause[i].member];

		w->choice[i] = (struct choice){ .n = k->n, .id = k->id, .instance = k->instance, .name = t.n };
		chain_ask(&w->c, &t, cause[i].member, cause[i].via);
		w->choice[i].nname = t.n - w->choice[i].name;
	}
	names_find(&t);
	walk_print(w, &t, &here, 0);
	for (int i = p->line - CONTEXT; i <= p->line + CONTEXT && !place_is_system(p); i++)
		walk_line(w, m->id, i, i == p->line);
	for (size_t i = 0; i < w->nchoice; i++)
		walk_print(w, &t, &w->choice[i], i + 1);
	if (!w->nchoice)
		out_str(w->j->out, "made of nothing that is known\n");
	if (on && !place_is_system(job_place(w->j, on))) {
		out_str(w->j->out, query_stmt(w->j->q, on)->port.role & WPORT_CALL ? "  c called at " : "  c if ");
		put_source(w->j, job_place(w->j, on)->file, job_place(w->j, on)->line);
		out_str(w->j->out, "\n");
	}
	names_free(&t);
}

static int
walk_go(struct walk *w, uint64_t n)
{
	if (walk_find(w, n) != 0)
		return -1;
	w->way = mem_xgrow(w->way, &w->capway, w->nway + 1, sizeof *w->way);
	w->way[w->nway++] = n;
	walk_show(w);
	return 0;
}

static int
walk_back(struct walk *w)
{
	if (w->nway < 2) {
		out_str(w->j->out, "this is where the walk began\n");
		return 0;
	}
	if (walk_find(w, w->way[w->nway - 2]) != 0)
		return -1;
	w->nway--;
	walk_show(w);
	return 0;
}

/* The next instance of the statement, or the one before */
static int
walk_other(struct walk *w, int after)
{
	const struct chain_member *m = &w->c.member[w->at];
	uint64_t instance = m->instance, n;
	int got = 0;

	if (after || instance)
		got = query_position(w->j->q, m->id, after ? instance + 1 : instance - 1, &n);
	if (got < 0)
		return job_bad(w->j);
	if (got)
		return walk_go(w, n);
	out_printf(w->j->out, "this is the %s instance\n", after ? "last" : "first");
	return 0;
}

static int
walk_control(struct walk *w)
{
	struct chain_member *m = &w->c.member[w->at];
	uint64_t n = m->onn;

	if (!w->c.parents || !chain_parent(&w->c, m)) {
		out_str(w->j->out, "no branch or call is known that this was executed for\n");
		return 0;
	}
	if (!n && query_position(w->j->q, m->on, m->oninstance, &n) != 1)
		return job_bad(w->j);
	return walk_go(w, n);
}

static int
walk_uses(struct walk *w)
{
	struct names t = { .j = w->j, .texts = w->texts };
	struct use *use = NULL;
	size_t n = 0;
	int bad = uses_find(w->j, w->c.member[w->at].n, CAUSES, &use, &n);

	w->nchoice = 0;
	for (size_t i = 0; i < n && !bad; i++) {
		struct choice *o = &w->choice[w->nchoice];

		*o = (struct choice){ .id = use[i].id, .instance = use[i].instance, .name = t.n };
		if (i && o->id == o[-1].id && o->instance == o[-1].instance)
			continue;
		if (query_position(w->j->q, o->id, o->instance, &o->n) != 1)
			bad = job_bad(w->j);
		else
			bad = names_ask_instance(&t, o->id, o->instance);
		o->nname = t.n - o->name;
		w->nchoice++;
	}
	names_find(&t);
	if (!n && !bad)
		out_str(w->j->out, "nothing used it\n");
	for (size_t i = 0; i < w->nchoice && !bad; i++)
		walk_print(w, &t, &w->choice[i], i + 1);
	names_free(&t);
	free(use);
	return bad;
}

/* Obeys a command: 0; 1: it is the last one; -1: the job's fault */
static int
walk_command(struct walk *w, const char *s)
{
	uint64_t k;

	if (num_u64(s, 1, w->nchoice, &k) == 0)
		return walk_go(w, w->choice[k - 1].n);
	if (!*s) {
		walk_show(w);
		return 0;
	}
	switch (s[1] ? 0 : s[0]) {
	case 'b': return walk_back(w);
	case 'n': return walk_other(w, 1);
	case 'p': return walk_other(w, 0);
	case 'c': return walk_control(w);
	case 'u': return walk_uses(w);
	case 'q': return 1;
	default:
		out_printf(w->j->out, "%s%.40s: NUMBER go there, b back, n next instance, p previous instance, c control, "
		    "u uses, q quit\n", s[0] >= '0' && s[0] <= '9' ? "no " : "not a command: ", s);
		return 0;
	}
}

static int
walk_lines(struct walk *w)
{
	char *line = NULL;
	size_t cap = 0;
	int got = 0, asks = isatty(STDIN_FILENO);

	src_opened(STDIN_FILENO);
	while (!got) {
		char *s;
		ssize_t n;

		if (asks)
			out_str(w->j->out, "> ");
		out_flush(w->j->out);
		if ((n = getline(&line, &cap, stdin)) <= 0)
			break;
		for (s = line; *s == ' ' || *s == '\t'; s++)
			;
		while (n > s - line && strchr(" \t\r\n", line[n - 1]))
			line[--n] = '\0';
		got = walk_command(w, s);
		if (got == 0)
			out_str(w->j->out, "\n");
	}
	free(line);
	if (ferror(stdin))
		die_sys("standard input");
	return got < 0 ? -1 : 0;
}

int
job_walk(struct job *j, const char *point)
{
	struct walk w = { .j = j };
	uint64_t n;
	int bad;

	j->quiet = 1;
	if (j->many)
		return job_none(j, "walk reads commands itself: not with -i");
	if (job_point(j, point, 1, &n) != 0)
		return -1;
	w.texts = texts_new(j);
	bad = walk_go(&w, n);
	if (!bad) {
		out_str(j->out, "\n");
		bad = walk_lines(&w);
	}
	if (w.begun)
		chain_free(&w.c);
	texts_free(w.texts);
	free(w.way);
	return bad;
}
