/*
 * Files, functions and lines of a captured program's instructions, out of the files that it
 * mapped, as far as they are still there.
 */
#ifndef TM_CFG_SOURCE_H
#define TM_CFG_SOURCE_H

#include <time.h>

#include "format/ws/ws.h"

struct wsource;

struct wsource *wsource_new(void);              /* NULL: no memory */
void wsource_free(struct wsource *s);

/* A file is mapped executable.  0, or -1 without memory */
int wsource_map(struct wsource *s, const struct ws_rec_map *m);

int wsource_in_main(const struct wsource *s, uint64_t pc);      /* is it in the program, not in a library? */

/* Where the function lies that the mapping has; 0: nowhere */
uint64_t wsource_symbol(struct wsource *s, const struct ws_rec_map *m, const char *symbol);

/*
 * The n bytes of code at pc were executed.  A file that has others there is not the one that was mapped, and nothing of it is
 * used: all code comes before the first wsource_find.
 */
void wsource_code(struct wsource *s, uint64_t pc, const uint8_t *code, size_t n);

/*
 * What is wrong with a file of which code was executed, in words, each once; NULL: no more.
 * Until the next call
 */
const char *wsource_complaint(struct wsource *s);

/* When the file was changed last that pc is from; 0: unknown */
struct timespec wsource_changed(struct wsource *s, uint64_t pc);

/*
 * File, function and line of the n bytes of code at pc; NULL, NULL, 0 where they are not known.
 * Strings live as long as s.
 */
void wsource_find(struct wsource *s, uint64_t pc, const uint8_t *code, size_t n, const char **file,
    const char **func, int *line);

#endif
