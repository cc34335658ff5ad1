/* Between the files of questions only: those about .wet files. */
#ifndef TM_WET_QUERY_FULL_INTERNAL_H
#define TM_WET_QUERY_FULL_INTERNAL_H

#include "wet/file/file.h"
#include "wet/file/full/reader.h"
#include "wet/query/query_internal.h"

/* Words of wettext(5) as they were; NULL: unknown */
struct qnames { char **s; size_t n; };

int qnames_make(struct qnames *t, const struct store_code *c);  /* 0, or -1 without memory */
void qnames_free(struct qnames *t);
void qnames_find(const struct qnames *t, const struct store_stmt *s, const char **file, const char **func, int *line);

/* The file, fd, of which q takes care from now on, whatever comes of it.  0, or -1 and q->fault */
int query_store_open(struct query *q, int fd);
int query_store_bad(struct query *q, const struct fault *f);    /* -1 */
/* With such a query: the file, and nbit bits of q->member, if there are any, are no more */
void query_store_close(struct query *q, struct wetfile *w, uint64_t nbit);
int query_temporary(struct query *q);           /* a descriptor of a file without a name, in TMPDIR; or -1 */

/* Kinds, the file being open and *w the caller's until these return 0 (which take it over, and fd) */
int query_replay_open(struct query *q, struct wetfile *w);
int query_text_open(struct query *q, struct wetfile *w);
int query_full_open(struct query *q, struct wetfile *w);
int query_paper_open(struct query *q, struct wetfile *w);

/*
 * What these have in common.  Of c: q->stmt, but for counts, and the ids of c->seq.  Instances have numbers, statement by
 * statement: first[id - 1] is that of instance 0; they are members of slices by these.
 */
void query_store_stmts(struct query *q, const struct store_code *c, uint32_t *id);
int query_store_members(struct query *q, uint64_t n, uint64_t *nbit);   /* q->member is there for n instances, and empty */
int query_store_any(const struct query *q, uint64_t at, uint64_t end);  /* is one of [at, end) a member? */
uint32_t query_store_whose(const struct query *q, const uint64_t *first, uint64_t number);
int query_store_insn_at(struct query *q, uint32_t id, uint64_t instance, unsigned want, query_insn_fn *fn, void *arg);

struct qexec { uint32_t id, n; };       /* executions of a statement */

/* A segment of a file of kind full or loads */
struct qseg {
	uint64_t n;                     /* statements before it */
	struct qexec *count;           /* executions of statements in it, by id; owned */
	size_t ncount;
};

struct qfull {
	struct wetfile w;
	struct store_read r;
	struct qnames names;
	struct qseg *seg;               /* r.nsegment of them; owned */
	uint32_t *id;                   /* of r.code.seq; owned */
	uint64_t *first;                /* number of each statement's instance 0, counting all instances statement by statement; owned */
	size_t at;                      /* the segment whose paths, values and so on r has, plus 1 */
	unsigned have;                  /* which of them: enum store_want */
	uint64_t nbit;                  /* of q->member; 0: there are none */
};

int qfull_bad(struct query *q);                 /* what r says: -1 */
int qfull_segment(struct query *q, size_t k, unsigned want);    /* STORE_DEPS: from its beginning, r.count as it is there */
size_t qfull_find(const struct query *q, uint64_t n);           /* the segment of position n */
void qfull_counts(struct query *q, size_t k);                   /* r.count as before segment k */
const struct qexec *qfull_count(const struct qseg *g, uint32_t id);    /* NULL: it is not executed there */

/* full_flow.c, full_slice.c: parts of what answers */
int qfull_position(struct query *q, uint32_t id, uint64_t instance, uint64_t *n);
int qfull_flow(struct query *q, uint64_t from, uint64_t count, int backward, query_path_fn *fn, void *arg);
int qfull_insns(struct query *q, uint32_t id, uint64_t from, uint64_t to, unsigned want, query_insn_fn *fn, void *arg);
int qfull_slice(struct query *q, struct query_slice *s);
int qfull_deps(struct query *q, const struct query_slice *s, query_dep_fn *fn, void *arg);

#endif
