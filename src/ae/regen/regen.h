/*
 * Regeneration without a compiler: an interpreter of schemas. It gives the same references as the
 * files that aec writes, at a tenth of their speed.
 */
#ifndef TM_AE_REGEN_REGEN_H
#define TM_AE_REGEN_REGEN_H

#include "ae/regen/feed.h"
#include "ae/regen/program.h"

struct regen;

/* Kinds of events, for statistics on the bytes of an event file. */
enum regen_kind {
	RK_BRANCH,      /* directions of branches */
	RK_BLOCK,       /* numbers of blocks */
	RK_VALUE,       /* values of the slices */
	RK_NEED,        /* registers at the entry of functions */
	RK_ITEM,        /* run items, without those registers */
	RK_STRING,      /* counts of string instructions */
	RK_NKINDS
};

/*
 * A program ready to run, or NULL with a static message in *err. g is borrowed. count: count events
 * by kind. watch: NULL, or for each function of g whether only the first call of it, or of another such,
 * is wanted: its references from its first instruction until it has returned. prog_move may be called for g.
 */
struct regen *regen_new(struct prog *g, int count, const uint8_t *watch, const char **err);
void regen_free(struct regen *r);

/*
 * Where the program's shared libraries come from: `add` opens the one that the events name, and adds it to g by
 * prog_add_exe. 0, or -1 with a message in *err, which lives as long as the regeneration. Without this, functions of
 * libraries are unknown ones. It may call regen_watch if the program has more functions now.
 */
typedef int regen_library(void *arg, struct prog *g, const struct ev_module *m, const char **err);
void regen_libraries(struct regen *r, regen_library *add, void *arg);
void regen_watch(struct regen *r, const uint8_t *watch);

/* Bytes of events read so far, by kind, if they are counted; including those of a forked child's parents. */
const uint64_t *regen_counts(const struct regen *r);

/* Where in the program events of a kind are recorded, and how many were read */
struct regen_site {
	uint64_t pc;            /* of the instruction; at the entry of a function its first; 0: untraced code */
	enum regen_kind kind;
	uint64_t events, bytes;
};

/* All places, if events are counted; several may have one pc and kind. They live as long as r. */
const struct regen_site *regen_sites(const struct regen *r, size_t *n);

/* Was a watched function called in the last run? */
int regen_called(const struct regen *r);

/* The state to be passed to feed_open before regen_run. */
struct ae_state *regen_state(struct regen *r);

/*
 * Recreates the trace of the opened feed into its sink. 0; the sink's value if that is not 0; -1
 * with f->err; or AE_STOPPED with f->err.
 */
int regen_run(struct regen *r, struct feed *f);

/* The same, with r for its first argument: what a feed_job runs */
int regen_thread(void *r, struct feed *f);

/*
 * From now on m (model.h), which is borrowed, follows the program and provides the events. regen_resume regenerates until
 * it has no more of them, or until the end, as regen_run.
 */
struct regen_model;
void regen_follow(struct regen *r, const struct regen_model *m);
int regen_resume(struct regen *r, struct feed *f);

/*
 * Another regeneration of the program, for another thread of the run at the same time: its code is that of `of`, which must
 * live longer. NULL with a message in *err. regen_resume regenerates it up to the next point in the order of synchronisation,
 * of which regen_point returns the word as in the events; 0: that was the end.
 */
struct regen *regen_also(const struct regen *of, const char **err);
uint64_t regen_point(const struct regen *r);
void regen_points(struct regen *r);             /* the same with r itself, before it runs */

/*
 * As feed_tasks, with r for the first thread: but the references of all threads come in an order in which they can have
 * run (merge.c). Where another thread goes on, its number comes first. j->task is 0, j->run is not called.
 */
int regen_merge(struct regen *r, struct feed *f, const struct feed_job *j);

/* The message of aec and ae2addr about a function that the events name but that has no schema. */
extern const char regen_nofunc[];

#endif
