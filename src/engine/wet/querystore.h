/* Between the files of questions only: those about .wet files. */
#ifndef TM_ENGINE_WET_QUERYSTORE_H
#define TM_ENGINE_WET_QUERYSTORE_H

#include "engine/wet/querypriv.h"
#include "engine/wet/store.h"
#include "engine/wet/storeread.h"

/* Words of wettext(5) as they were; NULL: unknown */
struct qnames { char **s; size_t n; };

int qnames_make(struct qnames *t, const struct store_code *c);  /* 0, or -1 without memory */
void qnames_free(struct qnames *t);
void qnames_find(const struct qnames *t, const struct store_stmt *s, const char **file, const char **func, int *line);

/* The file, fd, of which q takes care from now on, whatever comes of it.  0, or -1 and q->fault */
int query_store_open(struct query *q, int fd);
int query_store_bad(struct query *q, const struct wetfile_fault *f);    /* -1 */
int query_temporary(struct query *q);           /* a descriptor of a file without a name, in TMPDIR; or -1 */

/* Kinds, the file being open and *w the caller's until these return 0 (which take it over, and fd) */
int query_replay_open(struct query *q, struct wetfile *w);

#endif
