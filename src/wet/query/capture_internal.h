/*
 * Internal to queries of captures.  The run is replayed, and recorded as an
 * itrace: batches of runs of instructions, each run along a path.  A survey
 * cuts it into windows, so that what goes backward has one group of windows
 * in memory at a time.
 */
#ifndef TM_WET_QUERY_CAPTURE_INTERNAL_H
#define TM_WET_QUERY_CAPTURE_INTERNAL_H

#include "base/buf.h"
#include "base/hash.h"
#include "cfg/control.h"
#include "cfg/source.h"
#include "replay/itrace/itrace.h"
#include "wet/query/query_internal.h"

#define QWINDOW (UINT64_C(1) << 23)     /* instances in memory for backward questions, and up to a run more */
#define QGROUP  8u                      /* windows for that; fewer and longer ones if there are more than */
#define QMAXCOUNTS (UINT64_C(8) << 20)  /* this number of counts */
#define QSTATES (UINT64_C(512) << 20)   /* bytes of states that a trace caches */
#define QSTATE_STEP (UINT64_C(1) << 22) /* instances from one to the next */

/*
 * Sets of lanes of registers, a bit each: word 0 has general registers, flags
 * and what has a single lane, the others masks and vectors.
 */
#define QLANES 4u
struct qlanes { uint64_t w[QLANES]; };

/* An instruction of a path, as slices see it: lanes of QRSP only with QUERY_RSP */
struct qinsn {
	uint64_t def, use;              /* word 0 of its lanes */
	const struct qwide *wide;       /* the others; NULL: it has none there */
	uint32_t id;
	uint16_t ref, nref;
	uint16_t brief;                 /* instead of ref, where only references of a run are recorded */
	uint8_t loads, stores;          /* whether it may */
	uint8_t dynamic;                   /* its references are known only after it ran */
};
struct qwide { struct qlanes def, use; };

/* The path of a run of instructions, or of the beginning of one */
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
	const struct control_path *control;     /* cap->control's; NULL: not needed yet */
	uint64_t mask, nmask;           /* the last nmask runs had `mask` in the slice, not counted yet */
};

struct qcount { uint32_t path, n; };    /* path: of those of the survey */
struct qstmts { uint32_t *id; uint32_t n; };

/* A window: instances from n on; `group` of them are in memory for backward questions */
struct qwin {
	uint64_t n;
	struct qcount *count;           /* runs of paths in it; owned */
	size_t ncount;
	struct buf state;               /* control_save at its beginning, if state.n */
};

#define QCACHE 8192u

/* The backend of captures */
struct qcap {
	struct query *q;
	struct visit *trace;
	struct visit_kept *states;        /* states for the next visit; owned */
	unsigned what;                  /* it was opened for */
	struct wcode code;
	struct control *control;        /* for this visit; owned; NULL: not needed yet */
	int surveyed, coded;            /* all statements are known; code is, for slices */
	struct wsource *source;
	int looked;                     /* source has seen all statements */
	struct hash by_pc;              /* statements: ids - 1 */
	size_t capstmt;
	struct qpath **path;            /* of this visit; owned */
	struct hash by_run;             /* paths, by at and n: their numbers */
	size_t npath, cappath;
	struct qpath *cache[QCACHE];
	struct qwin *win;
	size_t nwin, capwin, ncount;    /* ncount: of all */
	unsigned group;
	uint64_t window;                /* instances, of a group */
	struct qstmts *surveyed_path;   /* statements of the survey's paths; owned, and so are they */
	size_t nsurveyed;
	uint32_t *times;                /* how often each of these paths has statement timesid; owned */
	uint32_t timesid;
	int rsp;                        /* insn of paths is made with it */
	uint64_t *parent;               /* of a run; owned */
	size_t capparent;
};

/* Functions that return int: -1 and the fault of cap->q is set. */

/* capture.c, and the other operations of captures, as struct query_ops has them */
int qcap_open(struct query *q);                         /* makes q->cap */
void qcap_close(struct query *q);
const struct ws_early *qcap_early(struct query *q);
void qcap_set_window(struct query *q, uint64_t n);
int qcap_survey(struct query *q, int slices);
int qcap_has_stmt(struct query *q, uint32_t id);
int qcap_position(struct query *q, uint32_t id, uint64_t instance, uint64_t *n);
int qcap_flow(struct query *q, uint64_t from, uint64_t count, int backward, query_path_fn *fn, void *arg);
int qcap_insns(struct query *q, uint32_t id, uint64_t from, uint64_t to, unsigned fields,
    query_insn_fn *fn, void *arg);
int qcap_insn_at(struct query *q, uint32_t id, uint64_t instance, unsigned fields,
    query_insn_fn *fn, void *arg);
int qcap_slice(struct query *q, struct query_slice *s);
int qcap_deps(struct query *q, const struct query_slice *s, query_dep_fn *fn, void *arg);

int qcap_replay_fail(struct qcap *cap);                 /* the fault of the trace: -1 */
int qcap_open_trace(struct qcap *cap, unsigned what);   /* for `what`; its position is undefined */
void qcap_close_trace(struct qcap *cap);
/* the trace caches states, which makes qcap_seek faster */
void qcap_cache_states(struct qcap *cap);
/* the trace goes to position n: 1, or 0: the end comes first */
int qcap_seek(struct qcap *cap, uint64_t n);
int qcap_next_batch(struct qcap *cap, struct visit_batch *b);   /* 1, 0 at the end */

/* capture_paths.c: the path of n instructions at `at`; NULL: the fault is set */
struct qpath *qcap_make_path(struct qcap *cap, const struct fact_at *at, uint32_t n);
int qcap_make_insns(struct qcap *cap, struct qpath *p);         /* p->insn */
/* and cap->control, which refers to the trace */
void qcap_free_paths(struct qcap *cap);
/* a new one unless known; 0: the fault is set */
uint32_t qcap_stmt_id(struct qcap *cap, const struct fact *f);

static inline struct qpath *
qcap_path(struct qcap *cap, const struct fact_at *at, uint32_t n)
{
	struct qpath *p = cap->cache[((uintptr_t)at / 16 ^ n) % QCACHE];

	return p && p->at == at && p->n == n ? p : qcap_make_path(cap, at, n);
}

/* capture_paths.c: adds lanes of register reg */
void lanes_add(struct qlanes *l, unsigned reg, unsigned lanes);

static inline int
lanes_meet(const struct qlanes *a, const struct qlanes *b)
{
	return ((a->w[0] & b->w[0]) | (a->w[1] & b->w[1]) | (a->w[2] & b->w[2]) | (a->w[3] & b->w[3])) != 0;
}

static inline void
lanes_replace(struct qlanes *l, const struct qlanes *gone, const struct qlanes *come)
{
	for (unsigned i = 0; i < QLANES; i++)
		l->w[i] = (l->w[i] & ~gone->w[i]) | come->w[i];
}

/* capture_survey.c: the window of position n */
size_t qcap_find_window(const struct qcap *cap, uint64_t n);

/* The first window of the group that k is of */
static inline size_t
qcap_group_start(const struct qcap *cap, size_t k)
{
	return k - k % cap->group;
}

/* capture_counts.c */
/* the last window had runs of these */
int qcap_count_window(struct qcap *cap, struct qpath **touched, size_t n);
int qcap_finish_counts(struct qcap *cap);               /* after the survey: executions of statements */
void qcap_clear_counts(struct qcap *cap);
/* of each statement before window k; malloc */
int qcap_counts_before(struct qcap *cap, size_t k, uint64_t **count);

/* The window of an instance, which is *instance in it then: 1, or 0: no such instance */
int qcap_find_instance(struct qcap *cap, uint32_t id, uint64_t *instance, size_t *k);

/* capture_backward.c, capture_forward.c */
int qcap_slice_backward(struct qcap *cap, struct query_slice *s);
int qcap_slice_forward(struct qcap *cap, struct query_slice *s);

/* cap->control gets the state at the beginning of window k: 0, or -1 */
int qcap_load_control(struct qcap *cap, size_t k);

/* The path, prepared for cap->control; NULL: the fault is set */
static inline const struct control_path *
qcap_control_path(struct qcap *cap, struct qpath *p)
{
	if (!p->control && (p->control = control_path(cap->control, p->at, p->n)) == NULL)
		query_nomem(cap->q);
	return p->control;
}

/*
 * What the slice has of a run of a path is counted with that of its next runs,
 * as long as it is the same.  capture_paths.c
 */
void qcap_flush_run(struct query_slice *s, struct qpath *p);
void qcap_flush_counts(struct qcap *cap, struct query_slice *s);        /* after the slice: of all paths */

static inline void
qcap_count_run(struct query_slice *s, struct qpath *p, uint64_t mask)
{
	if (p->mask != mask) {
		qcap_flush_run(s, p);
		p->mask = mask;
	}
	p->nmask++;
}

/* The value of an instruction as its port says; *at: its words, which may be *flags */
static inline uint32_t
qcap_value(const struct query_stmt *s, const uint64_t *val, const uint64_t **at, uint64_t *flags)
{
	*at = val + s->port.val;
	if (s->port.nval != WPORT_FLAGS)
		return s->port.nval;
	*flags = fact_rflags(**at);
	*at = flags;
	return 1;
}

#endif
