/* Miss-ratio curves that addrmrc wrote as CSV: of samples, of merged parts, of several runs in one picture. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "apps/addrplot/addrplot.h"
#include "base/diag.h"
#include "base/in.h"
#include "base/num.h"

enum { ROOM = 256, NAME = 40 };

struct csv {
	struct in *in;
	uint64_t line;                  /* from 1 */
	int error;                      /* does it have errors? */
	char text[ROOM];
};

_Noreturn static void
csv_bad(const struct csv *c, const char *why)
{
	struct fault f = { .line = 0 };

	fault_set(&f, DIAG_NOOFF, DIAG_NOREC, "%s", why);
	f.line = c->line;
	die_fault(in_name(c->in), &f);
}

/* The next line, without its end; 0: there is none */
static int
csv_line(struct csv *c)
{
	const uint8_t *nl, *p;
	size_t n;

	p = in_line(c->in, ROOM, &n, &nl);
	c->line++;
	if (!n && in_error(c->in) && c->line == 1)
		die("%s: %s", in_name(c->in), in_error(c->in));
	if (!n && in_error(c->in))
		csv_bad(c, in_error(c->in));
	if (!n)
		return 0;
	if (!nl && n >= ROOM)
		csv_bad(c, "too long: no curve of addrmrc -f csv");
	/* the number at its end may have lost digits */
	if (!nl && c->line > 1)
		csv_bad(c, "the line is cut off");
	n = nl ? (size_t)(nl - p) : n;
	memcpy(c->text, p, n);
	c->text[n] = '\0';
	in_skip(c->in, n + (nl != NULL));
	return 1;
}

/* A number from 0 to 1, of digits */
static double
csv_ratio(const struct csv *c, const char *s)
{
	char *end;
	double v = s ? strtod(s, &end) : -1;

	if (!s || !*s || *end || s[strspn(s, "0123456789.")] || v > 1)
		csv_bad(c, "not a line of a curve: bytes,lines,misses,ratio");
	return v;
}

static void
csv_curve(struct out *out, struct csv *c, const char *path, size_t i)
{
	uint64_t points = 0;

	*c = (struct csv){ .in = in_open(path) };
	if (!csv_line(c))
		csv_bad(c, "empty: no curve of addrmrc -f csv");
	c->error = !strcmp(c->text, "bytes,lines,misses,ratio,error");
	if (!c->error && strcmp(c->text, "bytes,lines,misses,ratio") != 0)
		csv_bad(c, "no curve of addrmrc -f csv: it does not begin with bytes,lines,misses,ratio");
	out_printf(out, "$curve%zu << EOD\n", i);
	for (; csv_line(c); points++) {
		char *rest = c->text, *bytes = strsep(&rest, ",");
		const char *ratio, *error;
		uint64_t size;
		double r, e;

		strsep(&rest, ",");
		strsep(&rest, ",");
		ratio = strsep(&rest, ",");
		error = strsep(&rest, ",");
		if (num_u64(bytes, 1, UINT64_MAX, &size) != 0 || rest || (error != NULL) != c->error)
			csv_bad(c, "not a line of a curve: bytes,lines,misses,ratio");
		r = 100 * csv_ratio(c, ratio);
		e = c->error ? 100 * csv_ratio(c, error) : 0;
		out_printf(out, "%" PRIu64 " %.9g %.9g %.9g\n", size, r, r > e ? r - e : 0, r + e);
	}
	out_str(out, "EOD\n");
	if (!points)
		csv_bad(c, "a curve without points");
	in_close(c->in);
}

/* A name for a curve: of its file, without .csv */
static void
print_name(struct out *out, const char *path)
{
	const char *name = path ? plot_file_name(path) : "standard input", *dot = strstr(name, ".csv");

	plot_quoted(out, name, dot && !dot[4] && dot - name < NAME ? (size_t)(dot - name) : NAME);
}

void
csv_print(struct out *out, char **path)
{
	struct csv c;
	int error[CSV_CURVES] = { 0 };
	size_t n = 0;

	do {
		csv_curve(out, &c, path[n], n);
		error[n] = c.error;
		n++;
	} while (n < CSV_CURVES && path[n - 1] && path[n]);
	plot_axes(out);
	out_str(out, "set grid xtics ytics lt 1 lc rgb '#dddddd'\nset logscale x 2\nset format x '%.0b%BB'\n"
	    "set xlabel 'size of the cache (LRU)'\nset ylabel 'misses of all accesses, percent'\nset yrange [0:*]\n"
	    "set key outside top left horizontal Left reverse samplen 2\nplot ");
	for (size_t i = 0; i < n; i++) {
		if (error[i])
			out_printf(out, "$curve%zu using 1:3:4 with filledcurves fs solid 0.25 noborder "
			    "lc rgb '%s' notitle, \\\n", i, plot_colour[i]);
		out_printf(out, "$curve%zu using 1:2 with linespoints lw 2 pt 7 ps 0.5 lc rgb '%s' title ", i,
		    plot_colour[i]);
		print_name(out, path[0] ? path[i] : NULL);
		out_str(out, i + 1 < n ? ", \\\n" : "\n");
	}
}
