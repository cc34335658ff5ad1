/* A .wet file of kind paper as text, wettext(5). */
#include <stdlib.h>

#include "wet/file/paper/reader.h"
#include "wet/print/lists.h"

static uint64_t
print_paper_count(void *from, uint32_t s)
{
	return paper_count(from, s);
}

static int
print_paper_value(void *list, uint32_t s, unsigned j, const uint32_t *x, const uint64_t *word, size_t n)
{
	const struct list *l = list;
	unsigned nval = l->code->stmt[s].nval;
	uint64_t *slot = list_values(l, s);

	for (size_t i = 0; i < n; i++)
		slot[(uint64_t)x[i] * nval + j] = word[i];
	return 0;
}

static int
print_paper_fill(void *from, struct list *l)
{
	struct paper_read *r = from;
	int e = 0;

	for (size_t k = 0; k < r->nsegment && !e; k++)
		e = paper_read_values(r, k, l->only, print_paper_value, l) != 0 ||
		    paper_read_edges(r, k, l->only, list_use, l) != 0;
	return e ? -1 : 0;
}

static int
print_paper_steps(void *from, struct list *l)
{
	struct paper_read *r = from;
	int e = 0;

	for (uint64_t t = 0; t < r->ntime && !e; t++)
		e = list_path(l, r->seq[t]);
	return e;
}

int
paper_print(const struct wetfile *f, uint64_t budget, store_text_fn *put, void *arg, struct fault *fault)
{
	struct paper_read *r = calloc(1, sizeof *r);
	struct list l = {
		.from = r, .count = print_paper_count, .fill = print_paper_fill, .steps = print_paper_steps,
		.put = put, .arg = arg
	};
	int e;

	fault->err[0] = '\0';
	if (!r)
		return fault_nomem(fault);
	l.code = &r->code;
	l.fault = &r->fault;
	e = list_print(&l, f, paper_read_open(r, f) != 0, budget, fault);
	paper_read_close(r);
	free(r);
	return e;
}
