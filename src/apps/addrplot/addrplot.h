/* Types and functions shared by the files of addrplot. */
#ifndef TM_APPS_ADDRPLOT_H
#define TM_APPS_ADDRPLOT_H

#include "base/out.h"
#include "refs/refs.h"

struct plot_options {
	unsigned kinds;                 /* the set of the kinds of references that are drawn, and its name */
	const char *kinds_name;
	uint64_t width, height;         /* pixels */
};

/* A picture: what it is of, and who makes it */
struct picture {
	const char *name;
	const char *kinds;              /* the set of kinds, if the user says nothing */
	int names, areas, loops;        /* what it needs of its source: as in struct refs_source */
	/* s: the source, for what a picture asks it while references come */
	void *(*new)(const struct plot_options *o, struct refs *s);
	refs_fn *take;
	int (*empty)(void *p);          /* is there nothing to draw? */
	void (*print)(struct out *out, void *p, const struct plot_options *o, struct refs *s);
	void (*free)(void *p);
};
extern const struct picture map_picture, functions_picture, misses_picture, distances_picture,
    working_picture, strides_picture, loops_picture;

/*
 * plot.c: what pictures have in common.  A text in quotes, in which gnuplot sees no more than its end: what
 * comes from a file or a user has quotes doubled, and is printable; of a long name, the first `most` characters.
 */
void plot_quoted(struct out *out, const char *s, size_t most);
void plot_tic(struct out *out, const char *s);          /* the text of a tic, which is a format, too */
#define PLOT_SIZE 24
const char *plot_size(char buf[PLOT_SIZE], uint64_t bytes);     /* what a person reads: 136k */
void plot_axes(struct out *out);        /* left and bottom, with light lines at the tics of y */
/* Colours that are told apart by people who see no red or no green (Okabe and Ito) */
#define PLOT_COLOURS 7
extern const char *const plot_colour[PLOT_COLOURS];
const char *plot_file_name(const char *path);           /* without its folder */
/* warns of files whose functions are not known */
void plot_complain(struct refs *s);

/* csv.c: curves that addrmrc wrote as CSV; files, of which the last is NULL */
#define CSV_CURVES 7
void csv_print(struct out *out, char **path);

#endif
