/* wetq: why a line was not executed: the nearest branch that could have led there, and why it went elsewhere. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/num.h"
#include "convert/wetq/wetq.h"

#define BRANCHES 64u            /* that are looked at */

/* The addresses of a line; the first `begins` are those where it begins */
struct code { uint64_t *pc, *entry; size_t n, begins, cap, capentry; };

static void
whynot_add(void *arg, uint64_t pc, uint64_t function, int begins)
{
	struct code *c = arg;
	size_t at;

	c->pc = mem_xgrow(c->pc, &c->cap, c->n + 1, sizeof *c->pc);
	c->entry = mem_xgrow(c->entry, &c->capentry, c->n + 1, sizeof *c->entry);
	at = begins ? c->begins++ : c->n;
	c->pc[c->n] = c->pc[at];
	c->entry[c->n++] = c->entry[at];
	c->pc[at] = pc;
	c->entry[at] = function;
}

static uint32_t
whynot_statement(struct job *j, uint64_t pc)
{
	for (uint32_t id = query_nstmt(j->q); id > 0; id--)
		if (query_stmt(j->q, id)->pc == pc && query_stmt(j->q, id)->count)
			return id;
	return 0;
}

/* How often the line was executed: that of its statements that was executed most often, as in a point */
static uint64_t
whynot_times(struct job *j, const struct code *c)
{
	uint64_t most = 0;

	for (size_t i = 0; i < c->n; i++) {
		uint32_t id = whynot_statement(j, c->pc[i]);

		if (id && query_stmt(j->q, id)->count > most)
			most = query_stmt(j->q, id)->count;
	}
	return most;
}

struct branch { uint32_t id, steps; uint64_t n; };      /* n: the position of its last instance */

/* The nearest one; of several, the one that was executed last */
static int
whynot_order(const void *a, const void *b)
{
	const struct branch *p = a, *q = b;

	if (p->steps != q->steps)
		return p->steps < q->steps ? -1 : 1;
	return p->n > q->n ? -1 : p->n < q->n;
}

static void
whynot_json(struct job *j, const char *line, const struct branch *b, size_t n)
{
	struct json o;

	json_begin(&o, j->out);
	json_string(&o, "line", line);
	json_array(&o, "branches");
	for (size_t i = 0; i < n && i < j->most; i++) {
		const struct place *p = job_place(j, b[i].id);

		json_object(&o, NULL);
		json_u64(&o, "statement", query_stmt_name(j->q, b[i].id));
		json_u64(&o, "instance", query_stmt(j->q, b[i].id)->count - 1);
		json_u64(&o, "steps", b[i].steps);
		json_string(&o, "file", p->file);
		json_string(&o, "function", p->func);
		json_u64(&o, "line", p->line > 0 ? (uint64_t)p->line : 0);
		json_end(&o);
	}
	json_end(&o);
	json_end(&o);
}

/* What is said of the nearest branch, and where the values came from that it depends on */
static int
whynot_text(struct job *j, const char *line, const struct branch *b)
{
	const struct place *p = job_place(j, b->id);
	const uint64_t count = query_stmt(j->q, b->id)->count;
	char point[64];

	if (!j->most)
		return 0;
	put_str(j, line);
	out_str(j->out, " was not executed: ");
	put_source(j, p->file, p->line);
	out_str(j->out, " ");
	put_str(j, p->func);
	out_printf(j->out, " (%" PRIu64 "#%" PRIu64 ") went elsewhere", query_stmt_name(j->q, b->id), count - 1);
	if (count > 1)
		out_printf(j->out, ", as all %" PRIu64 " times", count);
	out_str(j->out, "\n");
	snprintf(point, sizeof point, "%" PRIu64 "#%" PRIu64, query_stmt_name(j->q, b->id), count - 1);
	if (j->most != UINT64_MAX && --j->most == 0)
		return 0;
	return job_why(j, point);
}

/* Finds the branches for these addresses: their number, or -1. */
static int
whynot_find(struct job *j, const uint64_t *pc, size_t n, struct branch *b)
{
	struct query_branch found[BRANCHES];
	int got = query_whynot(j->q, pc, n, found, BRANCHES), k = 0;

	for (int i = 0; i < got; i++) {
		b[k] = (struct branch){ whynot_statement(j, found[i].pc), found[i].steps, 0 };
		if (!b[k].id)
			continue;
		if (query_position(j->q, b[k].id, query_stmt(j->q, b[k].id)->count - 1, &b[k].n) < 0)
			return -1;
		k++;
	}
	if (k > 0)
		qsort(b, (size_t)k, sizeof *b, whynot_order);
	return got < 0 ? -1 : k;
}

int
job_whynot(struct job *j, const char *line)
{
	const char *colon = strrchr(line, ':');
	struct branch b[BRANCHES];
	struct code c = { 0 };
	uint64_t v, times;
	char *name;
	int bad, n = 0;

	if (!colon || colon == line || num_u64(colon + 1, 1, INT32_MAX, &v) != 0)
		return job_none(j, "%.200s: whynot takes FILE:LINE", line);
	if (job_survey(j, 1) != 0)
		return -1;
	name = xstrdup(line);
	name[colon - line] = '\0';
	bad = query_line(j->q, name, (int)v, whynot_add, &c) != 0 ? job_bad(j) : 0;
	free(name);
	if (!bad && !c.n)
		bad = job_none(j, "%.200s: no code of this line is known", line);
	/* a compiler computes parts of a line before a branch or a loop that the line is in: they do not tell of it */
	if (c.begins)
		c.n = c.begins;
	if (!bad && (times = whynot_times(j, &c)) != 0)
		bad = times == 1 ? job_none(j, "%.200s was executed, once: why tells more", line) :
		    job_none(j, "%.200s was executed, %" PRIu64 " times: why tells more", line, times);
	if (!bad && (n = whynot_find(j, c.pc, c.n, b)) == 0)
		n = whynot_find(j, c.entry, c.n, b);    /* nothing of its function was executed */
	if (!bad && n < 0)
		bad = job_bad(j);
	if (!bad && n == 0)
		bad = job_none(j, "%.200s: no branch or call that was executed leads there directly", line);
	if (!bad && j->json)
		whynot_json(j, line, b, (size_t)n);
	else if (!bad)
		bad = whynot_text(j, line, b);
	free(c.pc);
	free(c.entry);
	return bad;
}
