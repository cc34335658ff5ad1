/*
 * Functions over time: which part of its time a program spends in which function.
 *
 * A function is known by the first of its instructions that is executed, so that the grid has a row for each;
 * the names are looked up again at the end, when it is known which files are those that were captured.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/addrplot/addrplot.h"
#include "apps/addrplot/grid.h"
#include "base/diag.h"
#include "base/mem.h"
#include "format/ref/ref.h"

enum { ROWS = 30, ROW = 20, NEAR = 4096, NAME = 30 };

struct function {
	const char *name, *object;      /* borrowed; NULL: not known */
	uint64_t pc;                    /* its first instruction that is executed */
	uint64_t n;
};
struct code { uint64_t pc; uint32_t function; };

struct functions {
	unsigned kinds;
	struct refs *refs;
	unsigned nmapped;               /* files, when the instructions were given functions */
	struct hash hash, codehash;
	struct function *function;      /* owned */
	size_t n, cap;
	struct code *code;              /* owned: instructions */
	size_t ncode, capcode;
	uint32_t near[NEAR];            /* instructions that were executed lately: index plus 1 */
	uint32_t present;               /* the function of the last fetch, plus 1; 0: there was none */
	struct grid grid;
};

static void *
functions_new(const struct plot_options *o, struct refs *s)
{
	struct functions *f = xcalloc(1, sizeof *f);

	f->kinds = o->kinds;
	f->refs = s;
	f->grid.fixed = 1;
	return f;
}

static void
functions_free(void *functions)
{
	struct functions *f = functions;

	hash_free(&f->hash);
	hash_free(&f->codehash);
	grid_free(&f->grid);
	free(f->function);
	free(f->code);
	free(f);
}

static int
functions_empty(void *functions)
{
	return !((struct functions *)functions)->grid.ncell;
}

/* The function that pc is in; code without a name is that of its file. */
static uint32_t
function_of(struct functions *f, uint64_t pc, unsigned size)
{
	struct refs_place p;
	uint32_t h, at, i;

	refs_code(f->refs, pc, size);
	refs_place(f->refs, pc, &p);
	at = h = hash_number((uint64_t)(uintptr_t)(p.func ? p.func : p.object));
	while ((i = hash_find(&f->hash, h, &at)) != HASH_NONE &&
	    (f->function[i].name != p.func || f->function[i].object != p.object))
		;
	if (i != HASH_NONE)
		return i;
	if (f->n >= HASH_NONE - 1)
		die("more than %zu functions", f->n);
	f->function = mem_xgrow(f->function, &f->cap, f->n + 1, sizeof *f->function);
	f->function[f->n] = (struct function){ .name = p.func, .object = p.object, .pc = pc };
	hash_xadd(&f->hash, h, (uint32_t)f->n);
	return (uint32_t)f->n++;
}

static uint32_t
code_find(struct functions *f, uint64_t pc, unsigned size)
{
	uint32_t h = hash_number(pc), at = h, i;

	while ((i = hash_find(&f->codehash, h, &at)) != HASH_NONE && f->code[i].pc != pc)
		;
	if (i == HASH_NONE) {
		if (f->ncode >= HASH_NONE - 1)
			die("more than %zu instructions", f->ncode);
		f->code = mem_xgrow(f->code, &f->capcode, f->ncode + 1, sizeof *f->code);
		f->code[f->ncode] = (struct code){ pc, function_of(f, pc, size) };
		hash_xadd(&f->codehash, h, i = (uint32_t)f->ncode++);
	}
	f->near[pc % NEAR] = i + 1;
	return f->code[i].function;
}

/* Another file may be where one was: what is known of the code is forgotten. */
static void
functions_mapped(struct functions *f)
{
	f->nmapped = refs_nmapped(f->refs);
	hash_free(&f->codehash);
	f->codehash = (struct hash){ .n = 0 };
	f->ncode = 0;
	memset(f->near, 0, sizeof f->near);
}

static int
functions_take(void *functions, const uint64_t *w, size_t n)
{
	struct functions *f = functions;

	if (f->nmapped != refs_nmapped(f->refs))
		functions_mapped(f);
	for (size_t i = 0; i < n; i++) {
		unsigned kind = ref_kind(w[i]);

		if (kind >= REF_NACCESS)
			continue;
		grid_time(&f->grid, kind == REF_INST);
		if (kind == REF_INST) {
			uint64_t pc = ref_addr(w[i]);
			uint32_t k = f->near[pc % NEAR];

			f->present = 1 + (k && f->code[k - 1].pc == pc ? f->code[k - 1].function :
			    code_find(f, pc, ref_size(w[i])));
		}
		if (f->kinds >> kind & 1 && f->present) {
			f->function[f->present - 1].n++;
			grid_count(&f->grid, f->present - 1);
		}
	}
	return 0;
}

/*
 * The functions with the most references, at least a thousandth of all, in the order in which they began;
 * row[f]: that of f, and others last
 */
static size_t
rows_choose(const struct functions *f, size_t most, uint64_t all, uint32_t *row, uint32_t *of, uint64_t *others)
{
	size_t n = 0;

	/* the largest, by insertion: there are few */
	for (uint32_t i = 0; i < f->n; i++) {
		size_t k;

		if (f->function[i].n < all / 1000 || (n == most && f->function[i].n <= f->function[of[n - 1]].n))
			continue;
		n += n < most;
		for (k = n - 1; k && f->function[i].n > f->function[of[k - 1]].n; k--)
			of[k] = of[k - 1];
		of[k] = i;
	}
	*others = all;
	for (uint32_t i = 0; i < f->n; i++)
		row[i] = UINT32_MAX;
	for (size_t k = 0; k < n; k++) {
		row[of[k]] = 0;
		*others -= f->function[of[k]].n;
	}
	n = 0;
	for (uint32_t i = 0; i < f->n; i++)
		if (!row[i]) {
			of[n] = i;
			row[i] = (uint32_t)n++;
		} else {
			row[i] = ROWS;
		}
	return n;
}

static void
print_name(struct out *out, const struct functions *f, const struct function *g, double all)
{
	char text[NAME + 32];
	struct refs_place p;
	const char *object;

	refs_place(f->refs, g->pc, &p);
	object = p.object ? plot_file_name(p.object) : "?";
	if (p.func)
		snprintf(text, sizeof text, "%.*s", NAME, p.func);
	else
		snprintf(text, sizeof text, "[%.*s]", NAME - 2, object);
	snprintf(text + strlen(text), 16, "  %.1f%%", 100 * (double)g->n / all);
	plot_tic(out, text);
}

/* A line for each row of the picture: in each column, the part of its references, in percent */
static void
print_rows(struct out *out, const struct functions *f, const uint32_t *row, unsigned rows)
{
	const struct grid *g = &f->grid;
	double *cell = xcalloc((size_t)rows * GRID_COLUMNS, sizeof *cell), *sum = xcalloc(GRID_COLUMNS, sizeof *sum);

	for (size_t i = 0; i < g->ncell; i++) {
		uint32_t y = row[g->cell[i].row] < rows ? row[g->cell[i].row] : rows - 1;

		cell[y * GRID_COLUMNS + g->cell[i].column] += (double)g->cell[i].n;
		sum[g->cell[i].column] += (double)g->cell[i].n;
	}
	out_str(out, "$functions << EOD\n");
	for (unsigned y = 0; y < rows; y++) {
		for (uint32_t x = 0; x <= g->column; x++)
			if (cell[y * GRID_COLUMNS + x] > 0)
				out_printf(out, "%.3g ", 100 * cell[y * GRID_COLUMNS + x] / sum[x]);
			else
				out_str(out, "0 ");
		out_str(out, "\n");
	}
	out_str(out, "EOD\n");
	free(cell);
	free(sum);
}

static int
functions_known(const struct functions *f)
{
	for (size_t i = 0; i < f->n; i++)
		if (f->function[i].name || f->function[i].object)
			return 1;
	return 0;
}

static void
functions_print(struct out *out, void *functions, const struct plot_options *o, struct refs *s)
{
	struct functions *f = functions;
	uint32_t *row = xcalloc(f->n + 1, sizeof *row), of[ROWS];
	uint64_t others, all = 0;
	size_t n;
	unsigned rows;
	double unit = ldexp(1, (int)f->grid.tshift);

	if (!refs_named(s))
		warn("%s: has no names of functions; -e names the executable that has them", refs_path(s));
	else if (!functions_known(f))
		warn("%s: " REFS_ELSEWHERE, refs_path(s));
	plot_complain(s);
	for (size_t i = 0; i < f->n; i++)
		all += f->function[i].n;
	n = rows_choose(f, o->height / ROW < ROWS ? o->height / ROW : ROWS, all, row, of, &others);
	rows = (unsigned)n + (f->n > n);
	print_rows(out, f, row, rows);
	out_str(out, "set ytics out nomirror (");
	for (size_t k = 0; k < n; k++) {
		out_str(out, k ? ", " : "");
		print_name(out, f, &f->function[of[k]], (double)all);
		out_printf(out, " %zu", k);
	}
	if (f->n > n)
		out_printf(out, ", '%zu others  %.1f%%%%' %zu", f->n - n, 100 * (double)others / (double)all, n);
	out_printf(out, ")\nset yrange [%g:-0.5]\nset border 3\n", rows - 0.5);
	for (unsigned k = 1; k < rows; k++)
		out_printf(out, "set arrow from graph 0, first %g to graph 1, first %g nohead front "
		    "lc rgb '#ffffff'\n", k - 0.5, k - 0.5);
	out_printf(out, "set xlabel '%s so far'\nset format x '%%.0s%%c'\nset xtics out nomirror\n"
	    "set xrange [0:%.0f]\n", f->grid.by_accesses ? "accesses" : "instructions", unit * (f->grid.column + 1));
	out_printf(out, "set ylabel 'functions, in the order of their first execution'\n"
	    "set cblabel 'percent of the references (%s) at this time'\n", o->kinds_name);
	out_str(out, "set palette defined (0 '#e6eff7', 10 '#9cc3e0', 30 '#0072b2', 100 '#00263d')\n"
	    "set cbrange [0:100]\n");
	out_printf(out, "plot $functions matrix using ($1 * %.0f):2:($3 > 0 ? $3 : NaN) with image notitle\n", unit);
	free(row);
}

const struct picture functions_picture = {
	.name = "functions", .kinds = "instructions", .names = 1,
	.new = functions_new, .take = functions_take, .empty = functions_empty, .print = functions_print,
	.free = functions_free,
};
