/*
 * Files, functions and lines of a captured program's instructions, read from the files that it
 * mapped, if they still exist.
 */
#ifndef TM_CFG_SOURCE_H
#define TM_CFG_SOURCE_H

#include <time.h>

#include "format/ws/ws.h"

struct wsource;

/*
 * capture: the path of the capture, of which files that it keeps are used before others; it is opened as
 * ws_keep_open_path does.  NULL: there is none.  Returns NULL without memory.
 */
struct wsource *wsource_new(const char *capture);
void wsource_free(struct wsource *s);

/* A file is mapped executable.  0, or -1 without memory */
int wsource_map(struct wsource *s, const struct ws_rec_map *m);

int wsource_in_main(const struct wsource *s, uint64_t pc);      /* is it in the program, not in a library? */

/*
 * The address of a function in the mapping, by the symbol tables of the file, or by those under /usr/lib/debug; of several
 * functions with the name, it is the first in a table.  0: it has no such function, or wsource_complaint says why not
 */
uint64_t wsource_symbol(struct wsource *s, const struct ws_rec_map *m, const char *symbol);

/*
 * The n bytes of code at pc were executed.  A file that has other bytes there is not the one that
 * was mapped, and is not used.  Pass all code before the first wsource_find.
 */
void wsource_code(struct wsource *s, uint64_t pc, const uint8_t *code, size_t n);

/*
 * A message about a file that code was executed from but that cannot be used; each file once.
 * NULL: no more.  Valid until the next call.
 */
const char *wsource_complaint(struct wsource *s);

/* Modification time of the file that contains pc; 0: unknown */
struct timespec wsource_changed(struct wsource *s, uint64_t pc);

/*
 * From now on, the function of code is the innermost one that is inlined there, if any, and its name is without types of
 * parameters.
 */
void wsource_inlined(struct wsource *s);

/*
 * File, function and line of the n bytes of code at pc; NULL, NULL, 0 where they are not known: by the file's
 * debugging information or symbols, by those under /usr/lib/debug, or by the functions that it exports.
 * Strings live as long as s.
 */
void wsource_find(struct wsource *s, uint64_t pc, const uint8_t *code, size_t n, const char **file,
    const char **func, int *line);
/* The same for code that wsource_code was told of already */
void wsource_place(struct wsource *s, uint64_t pc, const char **file, const char **func, int *line);

/*
 * 0: the file that pc is in has no lines of a source file with this name (without folders); the place of pc then need
 * not be asked for.  After wsource_code
 */
int wsource_may_have(struct wsource *s, uint64_t pc, const char *name);

/* Is pc, of code that wsource_code was told of, in a function that has this name among others? */
int wsource_in_function(struct wsource *s, uint64_t pc, const char *name);
int wsource_has_function(struct wsource *s, const char *name);  /* has one of the files that are used? */

/*
 * The next variable with this name, from *at on, which becomes the place after it: 1 with its address in the
 * program and its size, or 0: no more.  Begin with *at = { 0 }.
 */
struct wsource_at { size_t module, symbol; };
int wsource_variable(struct wsource *s, const char *name, struct wsource_at *at, uint64_t *addr,
    uint64_t *size);

/*
 * The address in the program of an address in the next file whose path, or the end of whose path after a
 * slash, is `module`, from number *at on, which becomes the number after it: 1, or 0: no more.  Begin
 * with *at = 0.
 */
int wsource_address(struct wsource *s, const char *module, uint64_t addr, size_t *at, uint64_t *pc);

/*
 * The file that pc was mapped from, and the address of pc in it, after wsource_code: 0, or -1: there is none, or it
 * cannot be used.  Valid as long as s
 */
struct exe;
int wsource_file(struct wsource *s, uint64_t pc, struct exe **x, uint64_t *addr);

/* The next file that can be used, from *at on, and what to add to its addresses: 1, or 0: no more; begin with 0 */
int wsource_next(struct wsource *s, size_t *at, struct exe **x, uint64_t *bias);

/*
 * Calls fn with the addresses of a line of the source file whose path, or the end of whose path after a slash, is
 * `name`, with that of the function that each is in, or 0, and with whether the line begins there: other addresses
 * have code of it that was moved.
 */
typedef void wsource_line_fn(void *arg, uint64_t pc, uint64_t function, int begins);
void wsource_line(struct wsource *s, const char *name, int line, wsource_line_fn *fn, void *arg);

/* The path of the file that pc was mapped from; NULL: of none */
const char *wsource_object(const struct wsource *s, uint64_t pc);

#endif
