/* State of a source of references. */
#ifndef TM_REFS_INTERNAL_H
#define TM_REFS_INTERNAL_H

#include "ae/regen/libs.h"
#include "ae/regen/program.h"
#include "base/in.h"
#include "cfg/source.h"
#include "format/ae/exe.h"
#include "format/lackey/lackey.h"
#include "format/ref/ref.h"
#include "format/ws/runs.h"
#include "refs/refs.h"
#include "replay/guest/replay.h"

#define REFS_ROOM 8192u                 /* words of a batch, at most, where they are copied */

enum refs_kind { REFS_NONE, REFS_STREAM, REFS_LOG, REFS_TRACE, REFS_CAPTURE, REFS_PROGRAM };

struct refs {
	struct refs_source q;
	enum refs_kind kind;
	const char *path;               /* the file that a fault or a warning is about */
	int bad;                        /* there is a fault: it could not be opened */
	struct fault fault;
	char warning[WS_EARLY_TEXT + WS_OTHERS_TEXT + 160];

	refs_fn *take;
	void *arg;
	int ended;                      /* take or the range has ended the run */
	int status;                     /* what take returned then */
	uint64_t seen;                  /* instructions so far; where a range is found by counting */

	struct in *in;                  /* a stream, a log or a trace */
	struct ref_reader ref;
	struct lackey log;
	struct trace_reader trace;
	uint64_t room[REFS_ROOM];

	char *copy;                     /* owned: the path of an unpacked capture */
	struct replay *r;
	size_t ngiven;                  /* words of the batch that were given before the mappings changed */
	struct refs_loops *loops;       /* NULL: loop events are not wanted */
	struct wsource *source;         /* the files that the captured program mapped */
	struct areas *areas;            /* owned; or NULL */
	unsigned nmapped;               /* how often it has mapped one */

	struct exe exe;                 /* the program, or what the caller named for names */
	int has_exe;
	struct prog prog;
	int has_prog;
	struct libs libs;               /* its shared libraries */
	char *events;                   /* owned: the name of the event file at fault */
};

int refs_fail(struct refs *s, const struct fault *f);           /* -1 */
int refs_fail_text(struct refs *s, uint64_t off, const char *text);

/* Gives words to take; counted: the source knows no ranges. Nonzero: the run is over. */
int refs_give(struct refs *s, const uint64_t *w, size_t n);
int refs_give_counted(struct refs *s, const uint64_t *w, size_t n);

/* 0, or -1 after refs_fail */
int refs_open_capture(struct refs *s, const char *path);
int refs_run_capture(struct refs *s);
int refs_open_program(struct refs *s);
int refs_run_program(struct refs *s);
int refs_open_exe(struct refs *s, const char *path);

/*
 * loops.c: loop events of the capture at path, which is replayed for them.  NULL: no memory.  refs_loops_add
 * copies n words, with the events between them, to memory that is valid until the next call; refs_loops_end
 * gives those after the last word.  0, or -1: no memory.
 */
struct refs_loops *refs_loops_new(const char *path);
int refs_loops_add(struct refs_loops *l, const uint64_t *w, size_t n, const uint64_t **out, size_t *nout);
int refs_loops_end(struct refs_loops *l, const uint64_t **out, size_t *nout);
void refs_loops_free(struct refs_loops *l);

#endif
