/* Shared by the files of addrconv. */
#ifndef TM_CONVERT_ADDRCONV_H
#define TM_CONVERT_ADDRCONV_H

#include "base/out.h"
#include "format/ref/ref.h"
#include "refs/options.h"
#include "sim/hierarchy.h"

#define RANGES_MAX 16

struct range { uint64_t from, to; };    /* to: not in it */
struct ranges {
	struct range r[RANGES_MAX];
	unsigned n;                     /* 0: everything */
};

/* functions.c: the functions whose references are wanted. */
struct functions {
	const char *name[RANGES_MAX];   /* borrowed */
	unsigned n;                     /* 0: everything */
	struct refs *refs;              /* what knows where functions are */
	uint64_t *known;                /* owned: a cache of answers; see functions_have */
	unsigned nmapped;               /* files, when they were given */
	int seen;                       /* an instruction of one of them came */
};

/* Is the instruction of this word, a fetch, in one of them? */
int functions_have(struct functions *a, uint64_t w);

/*
 * After the run: warns of files without names and if nothing was in the functions, and ends the tool without its output
 * if there is no such function. part: only the beginning of the run was seen. In that of a capture, this is but a warning, as a
 * file that was mapped later may have the function.
 */
void functions_check(struct functions *a, struct out *o, int part);

/* Which references are wanted. */
struct filter {
	unsigned drop;                  /* set of kinds */
	struct ranges data, code;       /* addresses of loads, stores and modifies; of instructions */
	struct functions functions;     /* of instructions */
	uint64_t window, every;         /* of each `every` instructions, the first `window`; every 0: all */
	uint64_t task;                  /* the only one; UINT64_MAX: all */
	struct hier *cache;             /* data that hit in it are dropped; NULL */
	int missed;                     /* set by its function when a word misses */
	uint64_t seen;                  /* instructions so far */
	int here, mine;                 /* the instruction is wanted; the task is */
	int tasks, met;                 /* events of tasks came; one of the task that is wanted did */
};

struct conv;

/*
 * A format of the output. What is made from references alone is written by trace_put. What needs the
 * instructions of a capture has run, which opens c->source.path itself and writes to c->out; it returns only if
 * all went well.
 */
struct conv_format {
	const char *name;
	enum trace_format trace;        /* TRACE_ANY: it has run */
	void (*run)(struct conv *c);
	const char *loses;              /* what it cannot express, for --list */
};
extern const struct conv_format conv_format[];
extern const unsigned conv_nformat;
const struct conv_format *conv_find(const char *name);         /* NULL: unknown */
void conv_list(void);                                           /* prints them */

struct conv {
	const struct conv_format *to;
	struct refs_source source;
	struct filter filter;
	int filters;                    /* is there any filter beside source.from and to? */
	uint64_t interval;              /* instructions of a basic-block vector; 0: as many as usual */
	struct refs_words words;
	struct out *out;
	/* the output of references */
	struct trace_writer writer;
	size_t room;                    /* words that fit in the output's buffer */
	int begun;                      /* the head has been written */
	int spool;                      /* a file that is copied to the output in the end; -1: none */
	int64_t patch;                  /* where in the output the head is, to be written again; -1: nowhere */
	uint64_t nbyte;                 /* written, or in the spool, without the head */
};

/* insns.c: the formats made of instructions */
void conv_champsim(struct conv *c);
void conv_drmemtrace(struct conv *c);
void conv_branches(struct conv *c);
void conv_cvp(struct conv *c);
void conv_cbp2025(struct conv *c);
void conv_bt9(struct conv *c);
void conv_elastic(struct conv *c);
void conv_bbv(struct conv *c);
void conv_callgrind(struct conv *c);
void conv_folded(struct conv *c);

/* Is there a filter beside those of kinds and of a task? */
int filter_selects(const struct filter *f);

/* Keeps the words that are wanted, in place or in another array; returns their number. */
size_t filter_words(struct filter *f, uint64_t *to, const uint64_t *w, size_t n);

void sink_open(struct conv *c);         /* opens the output, before the source */
void sink_put(struct conv *c, const uint64_t *w, size_t n);
void sink_end(struct conv *c, int bad); /* after the last word, or those before a fault; the output stays open */

#endif
