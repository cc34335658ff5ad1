/* The shared libraries of a run, opened as the events name them: see regen_libraries. */
#ifndef TM_AE_REGEN_LIBS_H
#define TM_AE_REGEN_LIBS_H

#include "ae/regen/regen.h"
#include "format/ae/exe.h"

struct libs_one {
	char *path;                     /* owned */
	uint64_t base;                  /* its addresses are by this more than in the file */
	struct exe exe;
};

struct libs {
	struct libs_one **lib;          /* in the order in which the events needed them */
	size_t n;
	char err[256];                  /* the last message */
};

void libs_free(struct libs *l);         /* after the program that they were added to */

/* A regen_library; arg is a struct libs. */
int libs_add(void *arg, struct prog *g, const struct ev_module *m, const char **err);

/* The library that has pc in its image; NULL: none */
struct libs_one *libs_at(const struct libs *l, uint64_t pc);

#endif
