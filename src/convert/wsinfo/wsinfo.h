/* Functions shared by the files of wsinfo. */
#ifndef TM_CONVERT_WSINFO_H
#define TM_CONVERT_WSINFO_H

#include "base/out.h"
#include "format/ws/ws.h"

struct tally;                           /* counts over a capture */

/* The caller frees it with tally_free.  tally_rec counts a record. */
struct tally *tally_new(void);
void tally_free(struct tally *t);
void tally_rec(struct tally *t, const struct ws_reader *r, const struct ws_rec *rec);
/* whole: the capture was read to its end; bytes: of the file, as far as it was read. */
void tally_print(struct tally *t, struct out *o, const struct ws_header *h, uint64_t bytes, int whole);

/* runs.c: prints the runs of a capture of several processes; 0, or -1: see *f */
int runs_print(struct out *o, int fd, struct fault *f);

/* blocks.c: of the file at fd, pages that it has once, blocks of a store that are missing, files that it keeps */
void blocks_print(struct out *o, int fd);

void list_rec(struct out *o, uint64_t n, const struct ws_rec *rec);     /* prints a record as a line */
void print_word(struct out *o, const char *s);          /* quotes s if the shell needs that */

#endif
