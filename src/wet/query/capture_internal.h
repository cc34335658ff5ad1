/*
 * Internal to queries of captures.  The run is replayed as an itrace: batches
 * of runs of instructions, where each run follows a path.  A survey divides it
 * into windows, so that backward queries need only one group of windows in
 * memory at a time.
 */
#ifndef TM_WET_QUERY_CAPTURE_INTERNAL_H
#define TM_WET_QUERY_CAPTURE_INTERNAL_H

#include "base/buf.h"
#include "base/hash.h"
#include "cfg/control.h"
#include "cfg/source.h"
#include "replay/itrace/itrace.h"
#include "wet/query/lanes.h"
#include "wet/query/query_internal.h"

#define QWINDOW (UINT64_C(1) << 23)     /* instances in memory for backward queries, plus up to one run */
#define QGROUP  8u                      /* windows in a group, which has QWINDOW instances */
#define QMAXCOUNTS (UINT64_C(8) << 20)  /* with more counts than this, windows are merged */
#define QSTATES (UINT64_C(512) << 20)   /* cache of replay states, in bytes */
#define QSTATE_STEP (UINT64_C(1) << 22) /* instances from one state to the next */

/* An instruction of a path, for slices: it has the lanes that qcap_follows. */
struct qinsn {
	uint64_t def, use;              /* word 0 of the lanes that it defines and uses */
	const struct qwide *wide;       /* all words; NULL: it has no lanes in words 1 and up */
	uint32_t id;
	uint16_t ref, nref;             /* index of its references in the words of a run; their number */
	uint16_t brief;                 /* the index if only references are recorded (qrec.brief) */
	uint8_t loads, stores;          /* it may load, may store */
	uint8_t dynamic;                /* its references are known only after it ran */
};
/* The path of a run of instructions, or of the beginning of one */
struct qpath {
	const struct fact_at *at;
	uint32_t n, number;             /* instructions; index in cap->path */
	uint32_t *id;                   /* n statements; owned.  NULL: a signal */
	struct qinsn *insn;             /* n instructions; owned; NULL: not made yet */
	struct qwide *wide;             /* n lane sets, for insn[].wide; owned */
	struct qwide all;               /* lanes that any instruction defines and uses */
	uint16_t *ref;                  /* indices of all references in the words of a run; owned */
	uint32_t nref;
	uint32_t nword;                 /* words of a run, without those whose number varies */
	uint32_t count;                 /* runs in the current window of a survey, or passed over by a slice */
	const struct control_path *control;     /* made by cap->control; NULL: not made yet */
	uint64_t mask, nmask;           /* the last nmask runs, not counted yet, had `mask` in the slice */
};

struct qcount { uint32_t path, n; };    /* n runs of a path, by index in surveyed_path */
struct qstmts { uint32_t *id; uint32_t n; };

/* A window: the instances from n on */
struct qwin {
	uint64_t n;
	struct qcount *count;           /* runs of paths in it; owned */
	size_t ncount;
	struct buf state;               /* state of control dependence at its beginning; empty: unknown */
};

#define QCACHE 8192u
#define QFOLLOW ((unsigned)(QUERY_RSP | QUERY_THIN | QUERY_CONTROL))

/* The backend of captures */
struct qcap {
	struct query *q;
	struct visit *trace;
	struct visit_kept *states;      /* cached states for the next visit; owned */
	unsigned what;                  /* options of the trace: enum visit_what */
	struct wcode code;
	struct control *control;        /* for this trace; owned; NULL: not made yet */
	int surveyed;                   /* all statements and windows are known */
	int killed;                     /* surveyed: the signal that ended the program, or 0 */
	int coded;                      /* code is complete, too, as slices need it */
	struct wsource *source;
	int looked;                     /* source has seen all statements */
	struct hash by_pc;              /* finds statements: id - 1 */
	size_t capstmt;
	struct qpath **path;            /* paths of this trace; owned */
	struct hash by_run;             /* finds paths by at and n: their numbers */
	size_t npath, cappath;
	struct qpath *cache[QCACHE];
	struct qwin *win;
	size_t nwin, capwin, ncount;    /* ncount: counts of all windows */
	unsigned group;                 /* windows in a group */
	uint64_t window;                /* instances in a group */
	struct qstmts *surveyed_path;   /* statements of the survey's paths; owned, each id as well */
	size_t nsurveyed;
	uint32_t *times;                /* how often each of these paths has statement timesid; owned */
	uint32_t timesid;
	uint32_t foundid;               /* the instance that qcap_insn_at found last: its statement, 0: none */
	uint64_t foundinstance, foundn; /* its number and its position */
	unsigned follow;                /* flags of slices that qpath.insn was made for: QFOLLOW */
	uint64_t *parent;               /* control parents of a run; owned */
	size_t capparent;
};

/* Functions that return int return -1 on failure, as those of query_internal.h. */

/* The operations of struct query_ops */
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
int qcap_writer(struct query *q, uint64_t n, uint64_t addr, uint64_t len, struct query_edge *e);
/* capture_output.c */
int qcap_output(struct query *q, int fd, uint64_t byte, uint64_t *n, uint64_t *addr);
int qcap_variable(struct query *q, const char *name, struct wsource_at *at, uint64_t *addr, uint64_t *size);
int qcap_address(struct query *q, const char *module, uint64_t addr, size_t *at, uint64_t *pc);
int qcap_killed(struct query *q);
/* capture_state.c */
int qcap_states(struct query *q, const uint64_t *n, size_t count, query_state_fn *fn, void *arg);
int qcap_place(struct query *q, uint64_t pc, struct debug_frame *f);
/* capture_whynot.c */
int qcap_whynot(struct query *q, const uint64_t *pc, size_t n, struct query_branch *b, size_t most);
int qcap_line(struct query *q, const char *name, int line, query_line_fn *fn, void *arg);
int qcap_deps(struct query *q, const struct query_slice *s, query_dep_fn *fn, void *arg);

/* capture.c */
int qcap_replay_fail(struct qcap *cap);                 /* takes over the fault of the trace; -1 */
int qcap_fail_at(struct qcap *cap, const struct fault *f);      /* takes over a fault; -1 */
void qcap_look(struct qcap *cap);                       /* makes cap->source see all statements */
int qcap_open_trace(struct qcap *cap, unsigned what);   /* opens it unless open; its position is undefined */
void qcap_close_trace(struct qcap *cap);
/* makes the trace cache states, so that qcap_seek is faster */
void qcap_cache_states(struct qcap *cap);
/* makes the slice empty, and paths for its flags */
int qcap_slice_begin(struct query *q, struct query_slice *s);
/* moves the trace to position n: 1, or 0: the run ends before it */
int qcap_seek(struct qcap *cap, uint64_t n);
int qcap_next_batch(struct qcap *cap, struct visit_batch *b);   /* 1, 0 at the end */

/* capture_paths.c: finds or makes the path of n instructions at `at`; NULL: a failure */
struct qpath *qcap_make_path(struct qcap *cap, const struct fact_at *at, uint32_t n);
int qcap_make_insns(struct qcap *cap, struct qpath *p);         /* makes p->insn */
/* frees cap->control as well, since it refers to the trace */
void qcap_free_paths(struct qcap *cap);
/* finds or makes a statement; 0: a failure */
uint32_t qcap_stmt_id(struct qcap *cap, const struct fact *f);

static inline struct qpath *
qcap_path(struct qcap *cap, const struct fact_at *at, uint32_t n)
{
	struct qpath *p = cap->cache[((uintptr_t)at / 16 ^ n) % QCACHE];

	return p && p->at == at && p->n == n ? p : qcap_make_path(cap, at, n);
}

/* Does a slice with these flags follow use port i + 1 of an instruction, a register? */
static inline int
qcap_follows(unsigned flags, const struct fact *f, unsigned i, const struct wport *p)
{
	return !(flags & QUERY_CONTROL) && (f->use[i].reg != QRSP || flags & QUERY_RSP) &&
	    !(flags & QUERY_THIN && p && p->addrs >> i & 1);
}

/* The flags of a slice that hold for instance n */
static inline unsigned
qcap_flags_of(const struct query_slice *s, uint64_t n)
{
	return n == s->n && s->flags & QUERY_ADDRESS ? s->flags & ~(unsigned)QUERY_THIN : s->flags;
}

/* capture_survey.c: the window that contains position n */
size_t qcap_find_window(const struct qcap *cap, uint64_t n);

/* The first window of the group that contains window k */
static inline size_t
qcap_group_start(const struct qcap *cap, size_t k)
{
	return k - k % cap->group;
}

/* capture_counts.c */
/* stores the counts of the last window, which has runs of these n paths */
int qcap_count_window(struct qcap *cap, struct qpath **touched, size_t n);
int qcap_finish_counts(struct qcap *cap);               /* after the survey: counts of all statements */
void qcap_clear_counts(struct qcap *cap);
/* sets *count to the executions of each statement before window k; malloc */
int qcap_counts_before(struct qcap *cap, size_t k, uint64_t **count);

/*
 * Sets *k to the window of an instance, and *instance to its number counted from the beginning of
 * that window.  1, or 0: no such instance
 */
int qcap_find_instance(struct qcap *cap, uint32_t id, uint64_t *instance, size_t *k);

/* capture_backward.c, capture_forward.c */
int qcap_slice_backward(struct qcap *cap, struct query_slice *s);
int qcap_slice_forward(struct qcap *cap, struct query_slice *s);

/* loads into cap->control the state at the beginning of window k, the first of its group: 0, or -1 */
int qcap_load_control(struct qcap *cap, size_t k);

/* The path in the form that cap->control needs; NULL: a failure */
static inline const struct control_path *
qcap_control_path(struct qcap *cap, struct qpath *p)
{
	if (!p->control)
		p->control = control_path(cap->control, p->at, p->n);
	return p->control;
}

/*
 * Counts the members of runs.  Consecutive runs of a path with the same members
 * are counted together: qcap_flush_run adds them to s->count.  capture_paths.c
 */
void qcap_flush_run(struct query_slice *s, struct qpath *p);
void qcap_flush_counts(struct qcap *cap, struct query_slice *s);        /* after the slice: all paths */

static inline void
qcap_count_run(struct query_slice *s, struct qpath *p, uint64_t mask)
{
	if (p->mask != mask) {
		qcap_flush_run(s, p);
		p->mask = mask;
	}
	p->nmask++;
}

/* Sets *at to the words of a statement's value, which may be *flags; returns their number. */
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

/* Reports an instance of a slice, whose words are at val: not 0: enough */
static inline int
qcap_report(const struct query *q, const struct query_slice *slice, struct query_insn *e, const uint64_t *val)
{
	const struct query_stmt *s = &q->stmt[e->id - 1];
	uint64_t flags;

	if (s->port.nval)
		e->nval = qcap_value(s, val, &e->val, &flags);
	return slice->fn(slice->arg, e) != 0;
}

#endif
