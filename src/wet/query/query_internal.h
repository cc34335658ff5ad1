/* Internal to queries. */
#ifndef TM_WET_QUERY_QUERY_INTERNAL_H
#define TM_WET_QUERY_QUERY_INTERNAL_H

#include "base/buf.h"
#include "cfg/control.h"
#include "cfg/source.h"
#include "format/wetfile/wetfile.h"
#include "replay/itrace/itrace.h"
#include "wet/query/query.h"

#define QWINDOW (UINT64_C(1) << 23)     /* instances in memory for what goes backward, and up to a run more, if nobody says */
#define QGROUP  8u                      /* windows of these, as long as their counts take less than so much: */
#define QCOUNTS (UINT64_C(8) << 20)
#define QKEEP   (UINT64_C(512) << 20)   /* bytes of states that a visit keeps */
#define QSTEP   (UINT64_C(1) << 22)     /* instances from one to the next */
#define QRSP    4u

/*
 * Sets of lanes of registers, a bit each: word 0 has general registers, flags
 * and what has a single lane, the others masks and vectors.
 */
#define QLANES 4u
struct qlanes { uint64_t w[QLANES]; };

/* An instruction of a path, as slices see it: no lanes of QRSP but with QUERY_RSP */
struct qinsn {
	uint64_t def, use;              /* word 0 of its lanes */
	const struct qwide *wide;       /* the others; NULL: it has none there */
	uint32_t id;
	uint16_t ref, nref;
	uint16_t brief;                 /* instead of ref, where a run's words are only its references */
	uint8_t loads, stores;          /* it may */
	uint8_t late;                   /* its references are not known before it runs */
};
struct qwide { struct qlanes def, use; };

/* A run of a visit, or the beginning of one */
struct qpath {
	const struct fact_at *at;
	uint32_t n, number;
	uint32_t *id;                   /* n; owned.  NULL: a signal */
	struct qinsn *insn;             /* owned; NULL: not needed yet */
	struct qwide *wide;             /* owned */
	struct qwide all;               /* what any of them defines and uses */
	uint16_t *ref;                  /* references of insn; owned */
	uint32_t nref;
	uint32_t nword;                 /* of a run, without those that only its last instruction has */
	uint32_t count;                 /* runs in the window that a survey is in */
	const struct control_path *control;     /* q->control's; NULL: not needed yet */
	uint64_t mask, nmask;           /* the last runs: so many had these members, which are not counted yet */
};

struct qcount { uint32_t path, n; };    /* path: of those of the survey */
struct qstmts { uint32_t *id; uint32_t n; };

/* Instances from n on: a short stretch of the run; `group` of them are what goes backward has in memory */
struct qwin {
	uint64_t n;
	struct qcount *count;           /* runs of paths in it; owned */
	size_t ncount;
	struct buf state;               /* control_save at its begin, if state.n */
};

#define QCACHE 8192u

/* What answers: capture.c of captures, files.c of .wet files.  As the functions of query.h of these names. */
struct query_ops {
	int (*survey)(struct query *q, int slices);
	int (*know)(struct query *q, uint32_t id);
	void (*source)(struct query *q, uint32_t id, const char **file, const char **func, int *line);
	int (*position)(struct query *q, uint32_t id, uint64_t instance, uint64_t *n);
	int (*flow)(struct query *q, uint64_t from, uint64_t count, int backward, query_path_fn *fn, void *arg);
	int (*insns)(struct query *q, uint32_t id, uint64_t from, uint64_t to, unsigned want,
	    query_insn_fn *fn, void *arg);
	int (*insn_at)(struct query *q, uint32_t id, uint64_t instance, unsigned want, query_insn_fn *fn, void *arg);
	int (*slice)(struct query *q, struct query_slice *s);
	int (*deps)(struct query *q, const struct query_slice *s, query_dep_fn *fn, void *arg);
	void (*close)(struct query *q);         /* also what was opened only in part */
};
extern const struct query_ops query_capture_ops;

struct query {
	const struct query_ops *ops;
	struct run *run;                /* of a .wet file, but for those of kind replay */
	struct slicer *slicer;          /* of the run; owned */
	struct qreplay *replay;         /* of a .wet file of kind replay; ops->close frees these */
	char *file;                     /* owned */
	struct query_fault fault;
	struct ws_early early;          /* once it is known */
	struct visit *v;
	struct visit_kept *kept;        /* states for the next visit; owned */
	unsigned what;                  /* it was opened for */
	struct wcode code;
	struct control *control;        /* for this visit; owned; NULL: not needed yet */
	int surveyed, coded;
	struct wsource *source;         /* of a capture; NULL: names come out of the .wet file */
	int looked;                     /* source has seen all statements */
	struct query_stmt *stmt;        /* by id - 1; owned */
	uint64_t *named;                /* what statements are called, by id - 1, ascending; owned; NULL: by their ids */
	uint32_t *hash;                 /* by pc; ids, 0 ends */
	size_t nstmt, capstmt, nhash;
	struct qpath **path;            /* of this visit; owned */
	struct qpath **slot;            /* by at and n */
	size_t npath, cappath, nslot;
	struct qpath *cache[QCACHE];
	struct qwin *win;
	size_t nwin, capwin, ncount;    /* ncount: of all */
	unsigned group;
	struct qstmts *surveyed_path;   /* statements of the survey's paths; owned, and so are they */
	size_t nsurveyed;
	uint32_t *times;                /* how often each of these paths has statement timesid; owned */
	uint32_t timesid;
	uint64_t length, window;        /* instances, of a group */
	int rsp;                        /* insn of paths is made with it */
	uint64_t *member;               /* a bit for each position; NORESERVE memory */
	uint64_t *parent;               /* of a run; owned */
	size_t capparent;
};

/* Functions that return int: -1 and q->fault is set. */
int query_store_bad(struct query *q, const struct fault *f);    /* -1 */
int query_store_open(struct query *q, int fd);  /* a .wet file; q closes fd from now on, after -1 as well */
int query_run_open(struct query *q, struct wetfile *w);         /* *w and its descriptor are the caller's still after -1 */
int query_replay_open(struct query *q, struct wetfile *w);
int query_bad(struct query *q, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int query_nomem(struct query *q);

/* capture.c, and the other parts of query_capture_ops */
int qcap_open(struct query *q);
int qcap_survey(struct query *q, int slices);
int qcap_know(struct query *q, uint32_t id);
int qcap_position(struct query *q, uint32_t id, uint64_t instance, uint64_t *n);
int qcap_flow(struct query *q, uint64_t from, uint64_t count, int backward, query_path_fn *fn, void *arg);
int qcap_insns(struct query *q, uint32_t id, uint64_t from, uint64_t to, unsigned want, query_insn_fn *fn, void *arg);
int qcap_insn_at(struct query *q, uint32_t id, uint64_t instance, unsigned want, query_insn_fn *fn, void *arg);
int qcap_slice(struct query *q, struct query_slice *s);
int qcap_deps(struct query *q, const struct query_slice *s, query_dep_fn *fn, void *arg);
int query_replay_bad(struct query *q);                          /* what the visit says */
int query_visit(struct query *q, unsigned what);                /* opened for that; where it is then: anywhere */
void query_unvisit(struct query *q);                            /* there is no visit any more */
void query_keep(struct query *q);                               /* the visit keeps states, as many as windows want: without, going to an instance takes longer */
int query_goto(struct query *q, uint64_t n);                    /* the visit is at position n: 1, or 0: there is none */
int query_batch(struct query *q, struct visit_batch *b);        /* 1, 0 at the end */

/* capture_paths.c: the path of run r, only n instructions of it; NULL: fault is set */
struct qpath *query_path_make(struct query *q, const struct fact_at *at, uint32_t n);
int query_path_insns(struct query *q, struct qpath *p);         /* p->insn is made */
void query_paths_drop(struct query *q);                         /* and q->control, which knows the visit's */
uint32_t query_stmt_of(struct query *q, const struct fact *f);  /* its id, made if there is none; 0: no memory */

static inline struct qpath *
query_path(struct query *q, const struct fact_at *at, uint32_t n)
{
	struct qpath *p = q->cache[((uintptr_t)at / 16 ^ n) % QCACHE];

	return p && p->at == at && p->n == n ? p : query_path_make(q, at, n);
}

/* capture_paths.c: lanes of register reg, to what is in l */
void query_lanes(struct qlanes *l, unsigned reg, unsigned lanes);

static inline int
query_meets(const struct qlanes *a, const struct qlanes *b)
{
	return ((a->w[0] & b->w[0]) | (a->w[1] & b->w[1]) | (a->w[2] & b->w[2]) | (a->w[3] & b->w[3])) != 0;
}

static inline void
query_replace(struct qlanes *l, const struct qlanes *gone, const struct qlanes *come)
{
	for (unsigned i = 0; i < QLANES; i++)
		l->w[i] = (l->w[i] & ~gone->w[i]) | come->w[i];
}

/* capture_survey.c */
size_t query_window(const struct query *q, uint64_t n);         /* the one that has position n */
static inline size_t query_group(const struct query *q, size_t k) { return k - k % q->group; }        /* the first of those that k is of */

/* capture_counts.c */
int query_count_window(struct query *q, struct qpath **touched, size_t n);      /* what was executed in the last window: runs of these paths */
int query_count_over(struct query *q);                          /* the survey is over: executions of statements */
void query_count_forget(struct query *q);
int query_counts(struct query *q, size_t k, uint64_t **count);  /* *count: executions of each statement before window k; malloc */
int query_find(struct query *q, uint32_t id, uint64_t *instance, size_t *k);    /* window k has it, as execution *instance from 0: 1, or 0: there is none */

/* capture_backward.c, capture_forward.c */
int query_backward(struct query *q, struct query_slice *s);
int query_forward(struct query *q, struct query_slice *s);

/* q->control for the visit that there is, with the state at the beginning of window k: 0, or -1 */
int query_control(struct query *q, size_t k);

/* The path's, of q->control; NULL: fault is set */
static inline const struct control_path *
query_control_path(struct query *q, struct qpath *p)
{
	if (!p->control && (p->control = control_path(q->control, p->at, p->n)) == NULL)
		query_nomem(q);
	return p->control;
}

static inline int query_is_member(const struct query *q, uint64_t n) { return q->member[n / 64] >> n % 64 & 1; }
static inline void query_member(struct query *q, uint64_t n) { q->member[n / 64] |= UINT64_C(1) << n % 64; }

/* Members of positions n to n + 63, and to be */
static inline uint64_t
query_members(const struct query *q, uint64_t n)
{
	const uint64_t *m = q->member + n / 64;

	return m[0] >> n % 64 | m[1] << 1 << (63 - n % 64);
}

static inline void
query_members_are(struct query *q, uint64_t n, uint64_t mask)
{
	uint64_t *m = q->member + n / 64;

	m[0] |= mask << n % 64;
	m[1] |= mask >> 1 >> (63 - n % 64);
}

/* A run of a path had these members: counted for a slice now or later; all are when it is over.  capture_paths.c */
void query_count_members(struct query_slice *s, struct qpath *p);
void query_runs_over(struct query *q, struct query_slice *s);

static inline void
query_run_members(struct query_slice *s, struct qpath *p, uint64_t mask)
{
	if (p->mask != mask) {
		query_count_members(s, p);
		p->mask = mask;
	}
	p->nmask++;
}

/* The value of an instruction as its port says; its words to *val (or *flags) */
static inline uint32_t
query_value(const struct query_stmt *s, const uint64_t *val, const uint64_t **at, uint64_t *flags)
{
	*at = val + s->port.val;
	if (s->port.nval != WPORT_FLAGS)
		return s->port.nval;
	*flags = fact_rflags(**at);
	*at = flags;
	return 1;
}

/* Control flow on its way to who asked for it */
struct qflow {
	struct query *q;
	query_path_fn *fn;
	void *arg;
	uint64_t left;                  /* statements that are still wanted */
};

/* What g means of a path, or as much of that as is wanted: 1: enough */
static inline int
query_give(struct qflow *f, struct query_path g, int backward)
{
	uint32_t n = g.to - g.from;

	if (n > f->left) {
		n = (uint32_t)f->left;
		if (backward)
			g.from = g.to - n;
		else
			g.to = g.from + n;
	}
	f->left -= n;
	return (n && f->fn(f->arg, &g) != 0) || f->left == 0;
}

#endif
