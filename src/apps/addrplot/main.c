/*
 * addrplot: draw addresses and functions over time, misses, working sets and loops, by gnuplot
 *
 * It writes a program for gnuplot, which has the data, and nothing that comes from a file but numbers.
 */
#include <inttypes.h>
#include <string.h>

#include "apps/addrplot/addrplot.h"
#include "base/diag.h"
#include "base/num.h"
#include "base/opt.h"
#include "format/ref/ref.h"
#include "refs/options.h"

enum { TITLE = 256, SIZE };

static const struct picture *const pictures[] = {
	&map_picture, &functions_picture, &misses_picture, &distances_picture, &working_picture, &strides_picture,
	&loops_picture,
};
#define PICTURES "map, functions, misses, distances, workingset, strides, loops and curves"

static const struct opt addrplot_opts[] = {
	{ 'p', "picture", "PICTURE", "map, functions, misses, distances, workingset, strides, loops or curves (map)" },
	{ 'f', "format", "FORMAT", "what gnuplot is to make: png (the default) or svg" },
	{ 'k', "kinds", "KINDS", "data (the default; not of functions), instructions or all" },
	REFS_OPT_EXECUTABLE("functions"),
	{ SIZE, "size", "WIDTHxHEIGHT", "make it so large, in pixels (1200x800)" },
	{ TITLE, "title", "TEXT", "write TEXT above the picture" },
	OPT_RANGE,
	OPT_OUTPUT,
	{ 0 },
};

static const struct opt_tool addrplot_tool = {
	.does = "Draws a reference trace: writes a program for gnuplot, which makes the picture.",
	.synopsis = "[options] [source]\n[options] program [ae.out]\n-p curves [options] [curve.csv ...]",
	.example = "wscap -o ls.ws ls; addrplot ls.ws | gnuplot >ls.png",
	.opt = addrplot_opts,
};

struct options {
	struct refs_source source;
	struct plot_options plot;
	struct refs_words words;
	const char *title;
	const struct picture *picture;  /* NULL: curves */
	int svg;
};

static void
option_picture(struct options *o)
{
	o->picture = NULL;
	if (!strcmp(optarg, "curves"))
		return;
	for (size_t i = 0; i < sizeof pictures / sizeof pictures[0]; i++)
		if (!strcmp(optarg, pictures[i]->name))
			o->picture = pictures[i];
	if (!o->picture)
		opt_wrong("not a picture; there are %s", PICTURES);
}

static void
option_size(struct options *o)
{
	char *height = strchr(optarg, 'x');

	if (height)
		*height++ = '\0';
	if (!height || num_u64(optarg, 200, 10000, &o->plot.width) != 0 ||
	    num_u64(height, 200, 10000, &o->plot.height) != 0) {
		if (height)
			height[-1] = 'x';
		opt_wrong("not WIDTHxHEIGHT, from 200 to 10000 pixels each");
	}
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
		if (ref_set(optarg, &o->plot.kinds) != 0)
			opt_wrong("there are data, instructions and all");
		o->plot.kinds_name = optarg;
		break;
	case SIZE:
		option_size(o);
		break;
	case TITLE:
		o->title = optarg;
		break;
	default:
		refs_option(c, &o->source, &o->words);
	}
}

static void
print_head(struct out *out, const struct options *o)
{
	out_printf(out, o->svg ? "set terminal svg size %" PRIu64 ",%" PRIu64 " dynamic font 'sans,12' noenhanced\n" :
	    "set terminal pngcairo size %" PRIu64 ",%" PRIu64 " font 'sans,11' noenhanced\n", o->plot.width,
	    o->plot.height);
	if (o->title) {
		out_str(out, "set title ");
		plot_quoted(out, o->title, SIZE_MAX);
		out_str(out, " font 'sans,14'\n");
	}
}

static void
addrplot_run(struct options *o)
{
	const struct picture *p = o->picture;
	struct refs *s = refs_open(&o->source);
	struct out *out = out_open(o->words.outname);
	void *picture = p->new(&o->plot, s);
	struct fault f;
	int got = refs_run(s, p->take, picture, &f);

	if (p->empty(picture)) {
		out_discard(out);
		if (got == REFS_BAD)
			die_fault(refs_path(s), &f);
		if (refs_warning(s))
			warn("%s: %s", refs_path(s), refs_warning(s));
		die("%s: has no such references (%s), so there is nothing to draw", refs_path(s),
		    o->plot.kinds_name);
	}
	print_head(out, o);
	p->print(out, picture, &o->plot, s);
	out_end(out, refs_path(s), got == REFS_BAD ? &f : NULL, refs_warning(s));
	p->free(picture);
	refs_close(s);
}

static void
addrplot_curves(struct options *o, char **path)
{
	struct out *out = out_open(o->words.outname);

	if (o->plot.kinds_name || o->source.exe || o->source.from || o->source.to != REFS_END)
		die_usage("-k, -e and -n are not for curves");
	print_head(out, o);
	csv_print(out, path);
	out_close(out);
}

int
main(int argc, char **argv)
{
	struct options o = { .source.to = REFS_END, .picture = &map_picture,
		.plot = { .width = 1200, .height = 800 } };
	const char *wrong;
	int c;

	diag_init(argv[0], 1);
	while ((c = opt_next(&addrplot_tool, argc, argv)) != -1)
		addrplot_option(&o, c);
	if (!o.picture) {
		opt_operands(argc, argv, 0, CSV_CURVES);
		addrplot_curves(&o, argv + optind);
		return 0;
	}
	if (!o.plot.kinds_name) {
		o.plot.kinds_name = o.picture->kinds;
		ref_set(o.plot.kinds_name, &o.plot.kinds);
	}
	if ((wrong = refs_operands(&o.source, &o.words, argc, argv)) != NULL)
		die_usage("%s", wrong);
	o.source.names = o.picture->names;
	o.source.areas = o.picture->areas;
	o.source.loops = o.picture->loops;
	refs_begin(&o.source);
	addrplot_run(&o);
	return 0;
}
