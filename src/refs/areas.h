/*
 * The areas of a program's memory that have names: of files that it mapped, its heap, its stack.  An address
 * that was mapped several times is in the area that was mapped last.
 */
#ifndef TM_REFS_AREAS_H
#define TM_REFS_AREAS_H

#include <stddef.h>
#include <stdint.h>

enum areas_kind {
	AREAS_NONE,                     /* nothing is known of it */
	AREAS_PROGRAM,
	AREAS_LIBRARY,                  /* another file with code */
	AREAS_FILE,
	AREAS_HEAP,
	AREAS_STACK,
	AREAS_ANON,                     /* mapped, but from no file */
	AREAS_NKINDS
};

/* Addresses are as in ref(5), without the bits above the lower 48. */
struct area {
	uint64_t first, last;
	enum areas_kind kind;
	const char *name;               /* a path, or "[heap]" and the like */
};

struct areas;

struct areas *areas_new(void);          /* NULL: no memory */
void areas_free(struct areas *a);

/*
 * What is mapped next; with code, a file is a library. -1: no memory. areas_move: the area that is at `from`
 * is at `to`, too.
 */
int areas_map(struct areas *a, uint64_t first, uint64_t last, enum areas_kind kind, const char *name,
    int code);
int areas_move(struct areas *a, uint64_t from, uint64_t to, uint64_t n);

/* By ascending address; neighbours with the same name are one. Valid until the next areas_map. */
const struct area *areas_list(struct areas *a, size_t *n);
const struct area *areas_find(struct areas *a, uint64_t addr);  /* NULL: there is none */
const char *areas_kind_name(enum areas_kind kind);              /* "program", ... */

/* The areas of a capture: all that the program mapped during its whole run; none if it cannot be read. */
struct areas *areas_of_capture(const char *path);

#endif
