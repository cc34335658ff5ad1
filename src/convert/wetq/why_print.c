/* wetq: prints where a value came from, as text or JSON. */
#include "base/buf.h"
#include "base/json.h"
#include "base/text.h"
#include "convert/wetq/why.h"

#define LINES 24u               /* that are printed without -n */

/* Is a node printed? Of libraries only what the program has a value from, unless there is nothing else */
static int
why_shown(const struct why *w, const struct why_node *n)
{
	return w->all || n == w->node || !w->place[n->place].system || !w->place[w->node[n->up].place].system;
}

/* How many places are printed: with -n, what is said of the others takes lines, too, but not the only one. */
static uint64_t
why_places(const struct why *w)
{
	uint64_t left = w->j->most;

	if (left == UINT64_MAX)
		return LINES;
	if (!w->j->json && w->c.cut && left > 1)
		left--;
	return !w->j->json && w->nshown > left && left > 1 ? left - 1 : left;
}

/* Chooses what is printed: the nearest places; sets their depth and what they are below. */
static void
why_choose(struct why *w)
{
	uint64_t most;

	w->all = 1;
	for (size_t i = 0; i < w->nnode && !w->j->all; i++)
		w->all &= w->place[w->node[i].place].system;
	for (size_t i = 0; i < w->nnode; i++)
		w->nshown += (uint64_t)why_shown(w, &w->node[i]);
	most = why_places(w);
	for (size_t i = 0; i < w->nnode; i++) {
		struct why_node *n = &w->node[i], *up = &w->node[n->up];

		/* one that is not printed passes on what it is below */
		n->below = i == 0 ? 0 : up->shown ? n->up : up->below;
		if (!why_shown(w, n) || w->nprinted == most)
			continue;
		n->shown = 1;
		w->nprinted++;
		n->depth = i ? w->node[n->below].depth + 1 : 0;
	}
}

static void
why_value(struct why *w, const struct why_node *n, struct buf *b)
{
	unsigned role = chain_role(&w->c, &w->c.member[n->member]);
	const struct chain_member *m = n->value ? &w->c.member[n->value - 1] : NULL;

	if (m && m->nval && !(role & WPORT_OFFLAGS && n->value - 1 == n->member))
		put_number(b, w->c.word + m->val, m->nval);
}

/* The place that control came from: not if that is the same one */
static const struct place *
why_parent(struct why *w, const struct why_node *n)
{
	uint32_t on = chain_parent(&w->c, &w->c.member[n->member]);

	if (!on || place_is_system(job_place(w->j, on)) || why_place(w, on) == n->place)
		return NULL;
	return job_place(w->j, on);
}

static const struct name *
why_name(const struct why *w, const struct why_node *n)
{
	return names_first(&w->names, n->name, n->nname);
}

/* Asks for the names of what a node stored; or else of what it loaded or computed. */
static void
why_ask(struct why *w, struct why_node *n)
{
	const struct chain_member *m = &w->c.member[n->member];

	n->name = w->names.n;
	/* a value that is stored on the same line is that of the variable there */
	for (uint32_t t = n->from; t && chain_is_copy(&w->c, &w->c.member[w->todo[t - 1].member]); t = w->todo[t - 1].up) {
		const struct chain_member *k = &w->c.member[w->todo[t - 1].member];

		if (k->writes && chain_same_line(&w->c, k->id, m->id))
			names_ask_write(&w->names, k->n, k->id, k->writes);
	}
	names_ask(&w->names, m->n, m->id, m->reads, m->writes);
	n->nname = w->names.n - n->name;
}

/* What is said of a node, without its source */
static void
why_words(struct why *w, const struct why_node *n, struct buf *b)
{
	const struct chain_member *m = &w->c.member[n->member];
	const struct place *on = why_parent(w, n);
	struct buf value = BUF_INIT;

	for (unsigned i = 0; i < n->depth; i++)
		buf_str(b, "  ");
	why_value(w, n, &value);
	chain_words(w->j, m->id, m->instance, why_name(w, n), &value, b);
	buf_free(&value);
	if (n->times > 1)
		buf_printf(b, ", %u times", n->times);
	if (on) {
		buf_str(b, query_stmt(w->j->q, m->on)->port.role & WPORT_CALL ? ", called at " : ", if ");
		put_place(b, on);
	}
}

/* The source line of a node, without the blanks before it; NULL: unknown */
static const char *
why_source(struct why *w, struct texts *t, const struct why_node *n, size_t *len)
{
	const char *s = w->place[n->place].system ? NULL : texts_line(t, w->c.member[n->member].id, len);

	for (; s && *len && (*s == ' ' || *s == '\t'); s++)
		--*len;
	return s && *len ? s : NULL;
}

#define WIDEST 60u              /* columns before the source */

/* Prints a node and those below it. */
static void
why_print_node(struct why *w, struct texts *t, uint32_t i, size_t width)
{
	struct buf b = BUF_INIT;
	const char *s;
	size_t len;

	why_words(w, &w->node[i], &b);
	if ((s = why_source(w, t, &w->node[i], &len)) != NULL) {
		buf_str(&b, "  ");
		while (b.n < width + 2)
			buf_u8(&b, ' ');
		text_add(&b, s, len);
	}
	out_write(w->j->out, b.p, b.n);
	out_str(w->j->out, "\n");
	buf_free(&b);
	for (uint32_t k = i + 1; k < w->nnode; k++)
		if (w->node[k].shown && w->node[k].below == i)
			why_print_node(w, t, k, width);
}

static void
why_text(struct why *w, struct texts *t)
{
	uint64_t left = w->j->most - w->nprinted;
	size_t width = 0;

	for (uint32_t i = 0; i < w->nnode; i++) {
		struct buf b = BUF_INIT;

		if (w->node[i].shown)
			why_words(w, &w->node[i], &b);
		width = b.n > width && b.n <= WIDEST ? b.n : width;
		buf_free(&b);
	}
	if (w->nprinted)
		why_print_node(w, t, 0, width);
	if (w->nshown > w->nprinted && left) {
		out_printf(w->j->out, "and %llu more: -n %llu\n",
		    (unsigned long long)(w->nshown - w->nprinted),
		    (unsigned long long)w->nshown + (w->c.cut != 0));
		left--;
	}
	if (w->c.cut && left)
		out_printf(w->j->out, "what is before the last %u instances was not looked at\n", CHAIN_INSTANCES);
}

static void
why_json_node(struct why *w, struct texts *t, struct json *o, uint32_t i)
{
	const struct why_node *n = &w->node[i];
	const struct chain_member *m = &w->c.member[n->member];
	const struct place *p = job_place(w->j, m->id), *on = why_parent(w, n);
	struct buf b = BUF_INIT;
	const char *s;
	size_t len = 0;

	json_object(o, NULL);
	buf_printf(&b, "%llu#%llu", (unsigned long long)query_stmt_name(w->j->q, m->id),
	    (unsigned long long)m->instance);
	buf_u8(&b, 0);
	json_string(o, "point", (const char *)b.p);
	json_string(o, "file", p->file);
	json_u64(o, "line", p->line > 0 ? (uint64_t)p->line : 0);
	json_string(o, "function", p->func);
	json_u64(o, "depth", n->depth);
	json_u64(o, "times", n->times);
	b.n = 0;
	why_value(w, n, &b);
	buf_u8(&b, 0);
	json_string(o, "value", b.n > 1 ? (const char *)b.p : NULL);
	name_json(why_name(w, n), o);
	if (on) {
		json_object(o, query_stmt(w->j->q, m->on)->port.role & WPORT_CALL ? "called" : "if");
		json_string(o, "file", on->file);
		json_u64(o, "line", (uint64_t)on->line);
		json_end(o);
	}
	b.n = 0;
	if ((s = why_source(w, t, n, &len)) != NULL)
		buf_add(&b, s, len);
	buf_u8(&b, 0);
	json_string(o, "source", s ? (const char *)b.p : NULL);
	json_end(o);
	buf_free(&b);
	for (uint32_t k = i + 1; k < w->nnode; k++)
		if (w->node[k].shown && w->node[k].below == i)
			why_json_node(w, t, o, k);
}

static void
why_json(struct why *w, struct texts *t)
{
	struct json o;

	json_begin(&o, w->j->out);
	json_u64(&o, "instances", w->c.nmember);
	json_u64(&o, "complete", !w->c.cut);
	json_u64(&o, "places", w->nshown);
	json_array(&o, "nodes");
	if (w->nprinted)
		why_json_node(w, t, &o, 0);
	json_end(&o);
	json_end(&o);
}

int
why_print(struct why *w)
{
	struct texts *t = w->names.texts;

	why_choose(w);
	for (size_t i = 0; i < w->nnode; i++)
		if (w->node[i].shown && !w->place[w->node[i].place].system)
			why_ask(w, &w->node[i]);
	for (size_t i = 0; i < w->nnode; i++)
		if (w->node[i].shown && w->node[i].value &&
		    chain_know(&w->c, &w->c.member[w->node[i].value - 1]) != 0)
			return -1;
	names_find(&w->names);
	if (w->j->json)
		why_json(w, t);
	else
		why_text(w, t);
	return 0;
}
