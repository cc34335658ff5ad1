/* Pictures of bars: the strides of instructions, and how much faster loops could be. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/addrplot/addrplot.h"
#include "base/diag.h"
#include "base/mem.h"
#include "sim/parallel.h"
#include "sim/stride.h"

enum { LOOPS = 20, LEAST = 8, ROW = 40, NAME = 24 };

static void *
strides_begin(const struct plot_options *o, struct refs *s)
{
	struct stride *t = stride_new();

	(void)o;
	(void)s;
	if (!t)
		die("out of memory");
	return t;
}

static int
strides_take(void *strides, const uint64_t *w, size_t n)
{
	if (stride_take(strides, w, n) != 0)
		die("out of memory");
	return 0;
}

static uint64_t
strides_all(const struct stride *t)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < STRIDE_WIDTHS; i++)
		n += stride_counts(t)->width[i];
	return n;
}

static int
strides_empty(void *strides)
{
	return !strides_all(strides);
}

static void
strides_free(void *strides)
{
	stride_free(strides);
}

/* The least stride of a width that is not 0, as a person writes it: of 11 bits, +1k */
static void
print_stride(struct out *out, int width)
{
	int bits = width < 0 ? -width : width;

	out_printf(out, "'%c%d%.1s'", width < 0 ? '-' : '+', 1 << (bits - 1) % 10, &" kMGT"[(bits - 1) / 10]);
}

static void
strides_print(struct out *out, void *strides, const struct plot_options *o, struct refs *s)
{
	const struct stride_counts *c = stride_counts(strides);
	double all = (double)strides_all(strides) / 100;
	uint64_t rest = 0;
	int most = 4, step;

	(void)o;
	(void)s;
	/* those of a length that has less than a two-thousandth are left out, if no longer ones have more */
	for (int b = 1; b <= 48; b++)
		if ((double)(c->width[48 + b] + c->width[48 - b]) >= all / 20)
			most = b > most ? b : most;
	for (int b = most + 1; b <= 48; b++)
		rest += c->width[48 + b] + c->width[48 - b];
	step = most > 21 ? 10 : 3;
	out_str(out, "$strides << EOD\n");
	for (int b = -most; b <= most; b++)
		out_printf(out, "%d %.9g %.9g\n", b, (double)c->width[48 + b] / all, (double)c->constant[48 + b] / all);
	out_str(out, "EOD\n");
	plot_axes(out);
	out_str(out, "set xtics out nomirror (");
	for (int b = step == 3 ? 1 : 11; b <= most; b += step)
		for (int sign = -1; sign <= 1; sign += 2) {
			print_stride(out, sign * b);
			out_printf(out, " %d, ", sign * b);
		}
	out_printf(out, "'0' 0)\nset xrange [%d.5:%d.5]\nset yrange [0:*]\nset boxwidth 0.85\n"
	    "set style fill solid noborder\n", -most, most);
	out_str(out, "set xlabel 'stride: bytes from one access of an instruction to its next, "
	    "from this to before twice as many");
	if (rest)
		out_printf(out, " (%.2g%% are longer)", (double)rest / all);
	out_str(out, "'\nset ylabel 'percent of all strides'\n"
	    "set key outside top left horizontal Left reverse samplen 1\n");
	out_printf(out, "plot $strides using 1:2 with boxes lc rgb '%s' title 'another stride than the one before', "
	    "\\\n", plot_colour[5]);
	out_printf(out, "$strides using 1:3 with boxes lc rgb '%s' title 'the same: constant'\n", plot_colour[0]);
}

const struct picture strides_picture = {
	.name = "strides", .kinds = "data",
	.new = strides_begin, .take = strides_take, .empty = strides_empty, .print = strides_print,
	.free = strides_free,
};

static void *
loops_begin(const struct plot_options *o, struct refs *s)
{
	struct parallel *p = parallel_new();

	(void)o;
	(void)s;
	if (!p)
		die("out of memory");
	return p;
}

static int
loops_take(void *p, const uint64_t *w, size_t n)
{
	if (parallel_take(p, w, n) != 0)
		die("out of memory");
	return 0;
}

/* Whether there are loops is known at the end. */
static int
loops_empty(void *p)
{
	(void)p;
	return 0;
}

static void
loops_free(void *p)
{
	parallel_free(p);
}

/* Loops with many instructions first; of the same number, in the order of their invocations */
static int
loop_compare(const void *a, const void *b)
{
	const struct parallel_loop *x = *(const struct parallel_loop *const *)a;
	const struct parallel_loop *y = *(const struct parallel_loop *const *)b;

	return x->ninsn != y->ninsn ? (x->ninsn < y->ninsn) - (x->ninsn > y->ninsn) : (x > y) - (x < y);
}

static void
print_loop_name(struct out *out, struct refs *s, const struct parallel_loop *l, double all)
{
	char where[REFS_PLACE_TEXT], text[3 * NAME];
	struct refs_place p;

	refs_place(s, l->pc, &p);
	refs_place_text(s, l->pc, where);
	if (p.func)
		snprintf(text, sizeof text, "%.*s  %.*s  %.1f%%", NAME, p.func, NAME, where, 100 * (double)l->ninsn / all);
	else
		snprintf(text, sizeof text, "[%.*s]  %.*s  %.1f%%", NAME, p.object ? plot_file_name(p.object) : "?", NAME,
		    where, 100 * (double)l->ninsn / all);
	plot_tic(out, text);
}

static double
faster(uint64_t now, uint64_t then)
{
	return then ? (double)now / (double)then : 1;
}

static void
loops_rows(struct out *out, const struct parallel_loop **loop, size_t n)
{
	out_str(out, "$loops << EOD\n");
	for (size_t i = 0; i < n; i++)
		out_printf(out, "%zu %.4g %.4g\n", i, faster(loop[i]->ninsn, loop[i]->alone[PARALLEL_ALL]),
		    faster(loop[i]->ninsn, loop[i]->alone[PARALLEL_RENAMED]));
	out_str(out, "EOD\n");
}

/* The bars of a model, and the number at the end of each; the bars of renaming are below the others */
static void
print_bars(struct out *out, enum parallel_model m, const char *colour, const char *title)
{
	int column = m == PARALLEL_ALL ? 2 : 3;
	double middle = m == PARALLEL_ALL ? -0.2 : 0.2;

	out_printf(out, "%s$loops using (1):($1 + %g):(1):%d:($1 + %g):($1 + %g) with boxxyerror "
	    "lc rgb '%s' title '%s', \\\n",
	    m == PARALLEL_ALL ? "plot " : "", middle, column, middle - 0.18, middle + 0.18, colour, title);
	out_printf(out, "$loops using %d:($1 + %g):(label($%d)) with labels left offset 0.3, 0 font ',9' notitle",
	    column, middle, column);
}

static void
loops_print(struct out *out, void *parallel, const struct plot_options *o, struct refs *s)
{
	const struct parallel_loop **loop;
	struct parallel_result r;
	size_t n;

	if (parallel_end(parallel, &r) != 0)
		die("out of memory");
	if (!r.nloop)
		die("%s: has no loops, so there is nothing to draw", refs_path(s));
	loop = xcalloc(r.nloop, sizeof *loop);
	for (size_t i = 0; i < r.nloop; i++) {
		loop[i] = &r.loop[i];
		refs_code(s, r.loop[i].pc, 1);
	}
	plot_complain(s);
	qsort(loop, r.nloop, sizeof *loop, loop_compare);
	/* those that have a thousandth of the instructions */
	for (n = 1; n < r.nloop && n < LOOPS && n < o->height / ROW && loop[n]->ninsn >= r.ninsn / 1000;)
		n++;
	loops_rows(out, loop, n);
	plot_axes(out);
	out_str(out, "unset grid\nset grid xtics lt 1 lc rgb '#dddddd'\nset ytics nomirror scale 0 (");
	for (size_t i = 0; i < n; i++) {
		out_str(out, i ? ", " : "");
		print_loop_name(out, s, loop[i], (double)r.ninsn);
		out_printf(out, " %zu", i);
	}
	out_printf(out, ")\nset yrange [%zu.5:-0.5]\nset logscale x\nset xrange [1:*]\n"
	    "set offsets graph 0, graph 0.12, 0, 0\n", n < LEAST ? LEAST - 1 : n - 1);
	out_printf(out, "set xlabel \"times as fast, if the iterations of this loop run at the same time\\n"
	    "(all loops: the program is %.3g times as fast, with renaming %.3g)\"\n",
	    faster(r.ninsn, r.time[PARALLEL_ALL]), faster(r.ninsn, r.time[PARALLEL_RENAMED]));
	out_printf(out, "set ylabel 'the %zu of %zu loops with the most instructions; percent of all'\n", n,
	    r.nloop);
	out_str(out, "set style fill solid noborder\nset key outside top left horizontal Left reverse samplen 1\n"
	    "label(x) = x < 1000 ? sprintf('%.3g', x) : gprintf('%.1s%c', x)\n");
	print_bars(out, PARALLEL_ALL, plot_colour[0], "with all dependences");
	out_str(out, ", \\\n");
	print_bars(out, PARALLEL_RENAMED, plot_colour[4], "with renaming");
	out_str(out, "\n");
	free(loop);
}

const struct picture loops_picture = {
	.name = "loops", .kinds = "all", .names = 1, .loops = 1,
	.new = loops_begin, .take = loops_take, .empty = loops_empty, .print = loops_print, .free = loops_free,
};
