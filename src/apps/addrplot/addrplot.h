/* Types and functions shared by the files of addrplot. */
#ifndef TM_APPS_ADDRPLOT_H
#define TM_APPS_ADDRPLOT_H

#include "base/out.h"

struct plot_options {
	unsigned kinds;                 /* the set of the kinds of references that are drawn, and its name */
	const char *kinds_name;
};

/* map.c: addresses over time, in bounded memory */
struct map;
struct map *map_new(unsigned kinds);
int map_take(void *map, const uint64_t *w, size_t n);           /* refs_fn */
int map_empty(const struct map *m);
void map_print(struct out *out, struct map *m, const struct plot_options *o);
void map_free(struct map *m);

#endif
