/* A .wet file of kind full or loads as text, wettext(5). */
#include "wet/print/print.h"

#include <stdlib.h>
#include <string.h>

#include "wet/file/full/reader.h"
#include "wet/print/lists.h"

static uint64_t
print_full_count(void *from, uint32_t s)
{
	return ((const struct store_read *)from)->total[s];
}

/* Copies the values that the batch's statements have in the current segment. */
static void
print_full_values(const struct store_read *r, const struct list *l)
{
	for (uint32_t s = l->lo; s < l->hi; s++) {
		const struct store_place *at = &r->place[s];
		unsigned n = r->code.stmt[s].nval;
		uint64_t *to = list_values(l, s) + (uint64_t)r->count[s] * n;

		for (uint64_t i = 0; i < at->n; i++)
			for (unsigned j = 0; j < n; j++)
				to[i * n + j] = r->vals.val.v[at->at + j * at->n + i];
	}
}

static int
print_full_fill(void *from, struct list *l)
{
	struct store_read *r = from;

	memset(r->count, 0, (r->code.nstmt + 1) * sizeof *r->count);
	for (size_t k = 0; k < r->nsegment; k++) {
		if (store_read_segment(r, k, STORE_DEPS | STORE_VALUES) != 0)
			return -1;
		print_full_values(r, l);
		for (size_t i = 0; i < r->path.n; i++)
			if (store_read_deps(r, i, l->only, list_use, l) != 0)
				return -1;
		if (r->exc != UINT64_MAX) {
			fault_set(&r->fault, r->file->section[r->sec].off, r->sec,
			    "a dependence after the last statement");
			return -1;
		}
	}
	return 0;
}

static int
print_full_steps(void *from, struct list *l)
{
	struct store_read *r = from;

	for (size_t k = 0; k < r->nsegment; k++) {
		if (store_read_segment(r, k, STORE_PATHS) != 0 ||
		    (l->counting && store_read_check(r, k) != 0))
			return -1;
		for (size_t i = 0; i < r->path.n; i++)
			if (list_path(l, (uint32_t)r->path.v[i]) != 0)
				return -1;
	}
	return 0;
}

int
store_print(const struct wetfile *f, uint64_t budget, store_text_fn *put, void *arg, struct fault *fault)
{
	struct store_read *r = calloc(1, sizeof *r);
	struct list l = {
		.from = r, .count = print_full_count, .fill = print_full_fill, .steps = print_full_steps,
		.put = put, .arg = arg
	};
	int e;

	fault->err[0] = '\0';
	if (!r)
		return fault_nomem(fault);
	l.code = &r->code;
	l.fault = &r->fault;
	e = list_print(&l, f, store_read_open(r, f) != 0, budget, fault);
	store_read_close(r);
	free(r);
	return e;
}
