/*
 * addrplot: draw addresses over time, misses or reuse distances, by gnuplot.
 *
 * It writes a program for gnuplot, which has the data, and nothing that comes from a file but numbers.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/addrplot/addrplot.h"
#include "apps/addrplot/curve.h"
#include "base/diag.h"
#include "base/helper.h"
#include "base/num.h"
#include "base/opt.h"
#include "base/progress.h"
#include "base/src.h"
#include "format/ref/ref.h"
#include "refs/refs.h"

enum { TITLE = 256 };
enum picture { MAP, MISSES, DISTANCES, NPICTURE };

static const struct opt addrplot_opts[] = {
	{ 'p', "picture", "PICTURE", "map (the default), misses or distances" },
	{ 'f', "format", "FORMAT", "what gnuplot is to make: png (the default) or svg" },
	{ 'k', "kinds", "KINDS", "data (the default), instructions or all" },
	{ TITLE, "title", "TEXT", "write TEXT above the picture" },
	OPT_RANGE,
	OPT_OUTPUT,
	{ 0 },
};

static const struct opt_tool addrplot_tool = {
	.does = "Draws a reference trace: writes a program for gnuplot, which makes the picture.",
	.synopsis = "[options] [source]\n[options] program [ae.out]",
	.example = "wscap -o ls.ws ls; addrplot ls.ws | gnuplot >ls.png",
	.opt = addrplot_opts,
};

struct options {
	struct refs_source source;
	struct plot_options plot;
	const char *outname, *title;
	enum picture picture;
	int svg;
};

static void
option_picture(struct options *o)
{
	static const char *const name[] = { "map", "misses", "distances" };

	for (int i = 0; i < NPICTURE; i++)
		if (!strcmp(optarg, name[i])) {
			o->picture = (enum picture)i;
			return;
		}
	opt_wrong("not a picture; there are map, misses and distances");
}

static void
option_kinds(struct options *o, const char *name)
{
	if (ref_set(name, &o->plot.kinds) != 0)
		opt_wrong("there are data, instructions and all");
	o->plot.kinds_name = name;
}

static void
addrplot_option(struct options *o, int c)
{
	switch (c) {
	case 'p':
		option_picture(o);
		break;
	case 'f':
		o->svg = !strcmp(optarg, "svg");
		if (!o->svg && strcmp(optarg, "png") != 0)
			opt_wrong("not a format; there are png and svg");
		break;
	case 'k':
		option_kinds(o, optarg);
		break;
	case TITLE:
		o->title = optarg;
		break;
	case 'n':
		if (num_range(optarg, REFS_END, &o->source.from, &o->source.to) != 0)
			opt_wrong(OPT_BAD_RANGE);
		break;
	default:
		o->outname = optarg;
	}
}

/* A text in quotes, of which gnuplot sees only the end: quotes are doubled, control characters left out. */
static void
print_quoted(struct out *out, const char *s)
{
	out_str(out, "'");
	for (; *s; s++)
		if (*s == '\'')
			out_str(out, "''");
		else if ((unsigned char)*s >= ' ' && *s != 0x7f)
			out_write(out, s, 1);
	out_str(out, "'");
}

static void
print_head(struct out *out, const struct options *o)
{
	out_str(out, o->svg ? "set terminal svg size 1200,800 dynamic font 'sans,12' noenhanced\n" :
	    "set terminal pngcairo size 1200,800 font 'sans,11' noenhanced\n");
	if (o->title) {
		out_str(out, "set title ");
		print_quoted(out, o->title);
		out_str(out, " font 'sans,14'\n");
	}
}

static void
print_reuse(struct out *out, const struct options *o, const struct reuse *r)
{
	struct reuse_counts c;

	reuse_counts(r, &c);
	(o->picture == MISSES ? curve_print : distances_print)(out, &c, &o->plot);
}

static int
addrplot_take_reuse(void *r, const uint64_t *w, size_t n)
{
	if (reuse_take(r, w, n) != 0)
		die("out of memory");
	return 0;
}

static void
addrplot_run(struct options *o)
{
	struct refs *s = refs_open(&o->source);
	struct out *out = out_open(o->outname);
	struct map *m = o->picture == MAP ? map_new(o->plot.kinds) : NULL;
	struct reuse *r = m ? NULL : reuse_new(CURVE_SHIFT, o->plot.kinds);
	struct reuse_counts c = { .accesses = 0 };
	struct fault f;
	int got;

	if (!m && !r)
		die("out of memory");
	got = refs_run(s, m ? map_take : addrplot_take_reuse, m ? (void *)m : (void *)r, &f);
	if (r)
		reuse_counts(r, &c);
	if (m ? map_empty(m) : !c.accesses) {
		out_discard(out);
		if (got == REFS_BAD)
			die_fault(refs_path(s), &f);
		die("%s: has no such references (%s), so there is nothing to draw", refs_path(s),
		    o->plot.kinds_name);
	}
	print_head(out, o);
	if (m)
		map_print(out, m, &o->plot);
	else
		print_reuse(out, o, r);
	out_end(out, refs_path(s), got == REFS_BAD ? &f : NULL, refs_warning(s));
	if (m)
		map_free(m);
	reuse_free(r);
	refs_close(s);
}

int
main(int argc, char **argv)
{
	struct options o = { .source.to = REFS_END };
	int c;

	diag_init(argv[0], 1);
	option_kinds(&o, "data");
	while ((c = opt_next(&addrplot_tool, argc, argv)) != -1)
		addrplot_option(&o, c);
	opt_operands(argc, argv, 0, 2);
	o.source.path = argv[optind];
	o.source.events = argc - optind > 1 ? argv[optind + 1] : NULL;
	helper_allow(0);
	progress_start(src_name(o.source.path));
	progress_limit(o.source.to);
	addrplot_run(&o);
	return 0;
}
