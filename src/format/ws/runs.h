/*
 * Captures of several processes, ws(5).  A run is what one process does from its beginning, or from
 * its execve, to its end or its next execve.  The bytes of each run are a capture of their own; the
 * file has those of all runs in pieces, as they were written.  Runs are numbered from 1, in the order
 * in which they began.
 */
#ifndef TM_FORMAT_WS_RUNS_H
#define TM_FORMAT_WS_RUNS_H

#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"
#include "format/ws/ws.h"

#define WS_RUNS_MAX 1000000u

/* how a run began: WS_VFORK: with the memory of its parent, which waited; WS_EXEC: of the same process */
enum ws_began { WS_FIRST, WS_FORK, WS_VFORK, WS_EXEC, WS_NBEGANS };

struct ws_run {
	uint32_t began;                 /* enum ws_began */
	uint32_t parent;                /* number of the run that began it; 0: none, for WS_FIRST only */
	uint64_t pid;                   /* 0: not known */
	uint64_t trigger;               /* triggers of that run before the call that began this one */
	uint64_t start, end;            /* nanoseconds since the first run began; end WS_UNKNOWN: it has none */
};

const char *ws_began_name(unsigned began);      /* "first", ...; began < WS_NBEGANS */

/* The runs of a file.  A file that has only one, and so no list of runs, has run 1. */
struct ws_runs;

/*
 * NULL: see *f.  A file that is cut off or damaged has the runs before that place; *whole is 0 then.
 * Borrows fd.  Of a pipe: one run.
 */
struct ws_runs *ws_runs_read(int fd, int *whole, struct fault *f);
struct ws_runs *ws_runs_read_mem(const void *p, size_t n, int *whole, struct fault *f);
void ws_runs_free(struct ws_runs *t);
size_t ws_runs_count(const struct ws_runs *t);
const struct ws_run *ws_runs_get(const struct ws_runs *t, size_t n);    /* n from 1 to the count */
uint64_t ws_runs_bytes(const struct ws_runs *t, size_t n);              /* of its capture */

/* gives write the bytes of a run of fd (0: the main one): 0, or -1: see *f */
int ws_run_copy(int fd, size_t n, ws_write_fn *write, void *arg, struct fault *f);

/* The run that stands for the file: the last program that the first process executed. */
size_t ws_runs_main(const struct ws_runs *t);

/* Opens one of the runs; n 0: the main one.  As ws_open, which is the same with n 0. */
struct ws_reader *ws_open_run(int fd, size_t n, struct fault *f);
struct ws_reader *ws_open_mem_run(const void *p, size_t n, size_t run, struct fault *f);
size_t ws_run_number(const struct ws_reader *r);        /* of the run that is read */

/*
 * FILE:N names run N of FILE, unless there is a file of that name.  Opens a file by such a name, or by its
 * own: a descriptor, or -1 with errno; *run is the number, or 0.  NULL and "-" are standard input,
 * whose descriptor is 0 itself.
 */
int ws_open_path(const char *path, size_t *run);
int ws_keep_open_path(const char *path, size_t *run);   /* by helper_keep_open (base/helper.h) */

/* the number of runs, if path is a capture of several and names none of them; else 0 */
size_t ws_runs_of_path(const char *path);
/* The same, and the main one and how to name another, as a line for people. */
#define WS_OTHERS_TEXT 200u
int ws_others(const char *path, char text[WS_OTHERS_TEXT]);

/*
 * Writer.  The first run is written as it comes, so a file with a single run is as if there were no
 * list.  Runs give their bytes by a ws_write_fn, whose argument is the result of ws_runs_begin; what
 * they gave is kept until it is flushed.  Errors are those of `write`: 0 or an errno, and they stick.
 */
struct ws_runs_writer;
struct ws_run_writer;
struct ws_runs_writer *ws_runs_create(ws_write_fn *write, void *arg);   /* NULL: no memory */
/* its number is one more than that of the last one; run->end is ignored.  NULL: an error */
struct ws_run_writer *ws_runs_begin(struct ws_runs_writer *w, const struct ws_run *run);
uint32_t ws_run_writer_number(const struct ws_run_writer *p);
int ws_run_write(void *run, const void *p, size_t n);
int ws_run_flush(struct ws_run_writer *p);
int ws_run_end(struct ws_run_writer *p, uint64_t when);         /* frees p */
int ws_runs_finish(struct ws_runs_writer *w);           /* all runs have ended */
void ws_runs_close(struct ws_runs_writer *w);           /* frees w and runs that have not ended */

#endif
