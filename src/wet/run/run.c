/* Runs out of .wet files: what all kinds have in common. */
#include "wet/run/run.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/search.h"

int
run_fail(struct run *r, const char *err)
{
	fault_set(&r->fault, UINT64_MAX, UINT64_MAX, "%s", err);
	return -1;
}

static int
run_is_octal(char c, char most)
{
	return c >= '0' && c <= most;
}

/* Replaces the octal escapes of a word of wettext(5), in place. */
static void
run_unescape(char *s)
{
	char *to = s;

	for (; *s; s++) {
		if (s[0] == '\\' && run_is_octal(s[1], '3') && run_is_octal(s[2], '7') &&
		    run_is_octal(s[3], '7')) {
			*to++ = (char)((s[1] - '0') << 6 | (s[2] - '0') << 3 | (s[3] - '0'));
			s += 3;
		} else
			*to++ = *s;
	}
	*to = '\0';
}

int
run_names_make(struct run_names *t, const struct store_code *c)
{
	if ((t->s = calloc(c->nstring + 1, sizeof *t->s)) == NULL)
		return -1;
	for (t->n = 0; t->n < c->nstring; t->n++) {
		if (strcmp(c->string[t->n], "?") == 0)
			continue;
		if ((t->s[t->n] = strdup(c->string[t->n])) == NULL)
			return -1;
		run_unescape(t->s[t->n]);
	}
	return 0;
}

void
run_names_free(struct run_names *t)
{
	for (size_t i = 0; i < t->n; i++)
		free(t->s[i]);
	free(t->s);
	*t = (struct run_names){ 0 };
}

void
run_names_find(const struct run_names *t, const struct store_stmt *s, const char **file, const char **func,
    int *line)
{
	*file = t->s[s->file];
	*func = t->s[s->func];
	*line = s->line <= INT32_MAX ? (int)s->line : 0;
}

/* Makes r->total and r->first from the counts of the segments. */
static int
run_number_instances(struct run *r)
{
	uint64_t n = 0;

	r->total = calloc(r->code->nstmt + 1, sizeof *r->total);
	r->first = calloc(r->code->nstmt + 1, sizeof *r->first);
	if (!r->total || !r->first || run_names_make(&r->names, r->code) != 0)
		return -1;
	for (size_t k = 0; k < r->nseg; k++)
		for (size_t i = 0; i < r->seg[k].ncount; i++)
			r->total[r->seg[k].count[i].id - 1] += r->seg[k].count[i].n;
	for (size_t s = 0; s < r->code->nstmt; s++) {
		r->first[s] = n;
		n += r->total[s];
	}
	r->first[r->code->nstmt] = n;
	return 0;
}

static struct run *
run_new(unsigned kind)
{
	switch (kind) {
	case WETFILE_TEXT: return run_text_new();
	case WETFILE_PAPER: return run_paper_new();
	default: return run_full_new();
	}
}

struct run *
run_open(const struct wetfile *w, struct fault *fault)
{
	struct run *r = run_new(w->kind);

	fault->err[0] = '\0';
	if (!r)
		return NULL;
	r->w = *w;
	if (r->ops->open(r) == 0 && run_number_instances(r) == 0)
		return r;
	*fault = r->fault;
	r->w.section = NULL;            /* the caller keeps *w */
	run_close(r);
	return NULL;
}

void
run_close(struct run *r)
{
	r->ops->close(r);
	for (size_t k = 0; r->seg && k < r->nseg; k++)
		free(r->seg[k].count);
	free(r->seg);
	free(r->stmt_name);
	free(r->total);
	free(r->first);
	run_names_free(&r->names);
	if (r->w.section) {
		close(r->w.fd);
		wetfile_close(&r->w);
	}
	free(r);
}

int
run_set_segment(struct run *r, size_t k, const uint32_t *n)
{
	struct run_segment *g = &r->seg[k];
	size_t have = 0;

	for (size_t s = 0; s < r->code->nstmt; s++)
		have += n[s] != 0;
	if ((g->count = malloc((have + 1) * sizeof *g->count)) == NULL)
		return -1;
	g[1].n = g->n;
	for (size_t s = 0; s < r->code->nstmt; s++)
		if (n[s]) {
			g->count[g->ncount++] = (struct store_count){ (uint32_t)s + 1, n[s] };
			g[1].n += n[s];
		}
	return 0;
}

uint32_t
run_count(const struct run *r, size_t k, uint32_t id)
{
	const struct run_segment *g = &r->seg[k];
	size_t i;

	LOWER_BOUND(i, g->ncount, g->count[i].id < id);
	return i < g->ncount && g->count[i].id == id ? g->count[i].n : 0;
}

void
run_counts_before(const struct run *r, size_t k, uint32_t *count)
{
	memset(count, 0, r->code->nstmt * sizeof *count);
	for (size_t i = 0; i < k; i++)
		for (size_t j = 0; j < r->seg[i].ncount; j++)
			count[r->seg[i].count[j].id - 1] += r->seg[i].count[j].n;
}

size_t
run_find_segment(const struct run *r, uint64_t n)
{
	size_t i;

	LOWER_BOUND(i, r->nseg, r->seg[i].n < n);
	return i ? i - 1 : 0;
}
