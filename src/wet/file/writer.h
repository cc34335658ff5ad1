/* State and functions shared by the writers of .wet files of all kinds. */
#ifndef TM_WET_FILE_WRITER_H
#define TM_WET_FILE_WRITER_H

#include "cfg/control.h"
#include "replay/itrace/itrace.h"
#include "wet/file/file.h"
#include "wet/file/full/addresses.h"
#include "wet/file/full/reader.h"
#include "wet/file/full/reexecute.h"
#include "wet/model/instances.h"
#include "wet/model/memory_deps.h"
#include "wet/model/model.h"
#include "wet/model/statements.h"

/* The file that is being written. */
struct store_out {
	struct wetfile_writer *w;       /* borrowed */
	const struct store_opts *o;
	struct vc_work *work;           /* owned */
	struct store_stats stats;
	struct fault *f;                /* owned by the caller */
	struct buf b;                   /* the section that is being made; with threads, its last bytes */
	unsigned threads;               /* that code blocks of columns */
	int started;
	struct par *pool;               /* owned; NULL: one thread, or not started */
	struct vc_work *works[STORE_THREADS];   /* of the pool's threads; owned */
	struct store_job *first, *last; /* those of the pool, in order; owned */
	size_t queued;                  /* their values */
	struct buf section;             /* the bytes of jobs that are done, of a section that is not yet written */
};

/* Functions that return int give -1 on failure: memory ran out unless the fault has a message. */

/* sets *f; returns -1 */
int store_fail(struct fault *f, int input, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
int store_fail_replay(struct fault *f, const struct fault *r);  /* -1 */
int store_out_init(struct store_out *t, struct wetfile_writer *w, const struct store_opts *o,
    struct fault *f, unsigned threads);
void store_out_free(struct store_out *t);

/* appends a column to the section.  key: as col_put's */
int store_col(struct store_out *t, const struct col *c, const struct col *key);
/* the same, at another compression level than the file's */
int store_col_level(struct store_out *t, const struct col *c, const struct col *key, int level);
/* the same as store_col in blocks of `block` values, at most VC_MAX */
int store_col_blocks(struct store_out *t, const struct col *c, const struct col *key, size_t block);

/* appends those of many numbers that are not 0, in two columns: which, and the numbers */
int store_sparse(struct store_out *t, const uint32_t *n, size_t many, int level);
/* ends the section and empties b; with threads, the section is written later */
int store_section(struct store_out *t, enum wetfile_tag tag, uint32_t segment, enum store_part part);
int store_drain(struct store_out *t);           /* all sections are written after this */
int store_finish(struct store_out *t, const struct ws_early *early);    /* ends the file.  early: NULL, or its end */

/* The segment that is being made. */
struct segment {
	struct col path, val, dep[DEP_NCOL], key[DEP_NKEYED];
	/* Values or tokens in the order of the file, and their keys; kept to reuse the memory. */
	struct col byval, bykey;
	uint32_t *rank;                 /* executions of each path in it; owned */
	size_t caprank, nrank;
	uint64_t n, exc;                /* statements; position of the last exception */
};

/*
 * An instance with a variable number of references: the first ones, the last ones (waddr_update_many),
 * and its exceptions.
 */
struct addr_many { uint64_t n, first[WADDR_PERIOD], ring[2 * WADDR_PERIOD]; size_t miss, nmiss; };
struct addr_miss { uint64_t k, by; };

/*
 * Addresses of the segment that is being made, by time: references of statements with a fixed
 * number of them; instances of the others.
 */
struct store_addr {
	struct waddr tab;
	struct waddr_model model;
	struct col ref;
	/* kind loads: words of values; other kinds have them in the segment */
	struct col val;
	struct addr_many *many;         /* owned, as miss */
	struct addr_miss *miss;
	size_t nmany, capmany, nmiss, capmiss;
	uint64_t n;                     /* number of references */
	size_t done;                    /* statements that are in the file */
};

/* Kind loads: what is stored, and the exceptions. */
struct store_load {
	struct load l;
	/* Exceptions: statements since the previous one, kinds (LOAD_DEFINED etc.), words. */
	struct col at, kind, word;
	struct col told;                /* how often the words of each statement are stored in the segment */
	/* Memory that records change: after how many runs of the batch, address, length. */
	struct col lost;
	size_t nlost;                   /* entries of lost that are done */
	/* words of the last statement, if that is a string instruction that may continue, */
	uint64_t w[LOAD_WORDS];
	uint32_t string;                /* its number plus 1; 0: none */
	uint64_t last;                  /* position of the last exception */
	uint64_t nval;                  /* words of values in the segment */
	uint64_t sum, before;           /* checksum of values, with and without those of the last statement */
	int wrong;                      /* this batch had an exception */
};

struct trie { uint32_t stmt, child, next, path; };      /* path: number + 1, 0: none */

/* A memory port of the current path: n writers from `first` in many. */
struct memport { uint32_t first, n; };

struct store_cap {
	struct store_out out;
	struct visit *visit;            /* of the current pass; owned */
	struct wcode code;
	struct stmts stmts;
	struct who who;
	struct store_code tab;
	struct store_mark mark;         /* the part of tab that is in the file */
	struct model model;
	struct memdep dep;
	struct segment seg;
	struct store_addr addr;
	struct buf key;                 /* the state before the segment */
	uint32_t nseg;
	uint32_t *count;                /* executions of each statement before this path; owned */
	struct trie *trie;              /* paths as a trie; owned; [0] is unused, as the root is `begin` */
	/* for each statement, the node of the paths that begin with it, or 0; owned */
	uint32_t *begin;
	size_t ntrie, captrie;
	uint32_t node, npath, path[STORE_PATH];         /* the current path */
	uint64_t lastpc;
	uint32_t rest;                  /* statements of the last atom that are still to come */
	int over;                       /* the last statement ends the path */
	struct memport mem[STORE_PATH * STORE_MEM];
	size_t nmem;
	struct col many;                /* writers */
	struct col list;                /* instances */
	struct col raw;                 /* writers of what the string instruction has read */
	uint64_t *parent;               /* of each instruction of a run: its control parent; owned */
	size_t capparent;
	uint64_t last;                  /* the last instance */
	uint64_t string;                /* instance of the string instruction that may continue; 0: none */
	unsigned what;                  /* options of the visit */
	struct store_load *load;        /* kind loads only, else NULL; owned */
};

/* writes instruction i of run r, which is statement s: 0, or -1 */
int store_statement(struct store_cap *c, const struct visit_batch *b, const struct visit_run *r,
    uint32_t i, uint32_t s);
/* a string instruction continues: 0, or -1 */
int store_string_again(struct store_cap *c, const struct visit_batch *b,
    const struct visit_run *r, uint32_t s);
int store_path_end(struct store_cap *c);        /* the current path ends: 0, or -1 */
int store_segment(struct store_cap *c);         /* writes the current segment */
void segment_free(struct segment *s);

/* passes.c: the first pass collects the code, its statements and what is mapped; tab: also fills c->tab. */
struct wsource;
int store_first_pass(struct store_cap *c, const char *capture, struct wsource *src, int tab);
/* opens the visit of the second pass; NULL: see the fault */
struct visit *store_second_pass_open(struct store_cap *c, const char *capture);
void store_second_pass_close(struct store_cap *c);      /* call it after the second pass */
void store_cap_free(struct store_cap *c);

/*
 * addresses_encoder.c: adds a statement, in order; adds references of an instance (again: of
 * the last one); writes the section.
 */
int store_addr_stmt(struct store_cap *c, const struct fact *f, const struct wport *p);
int store_addr_refs(struct store_cap *c, uint32_t s, const uint64_t *ref, uint32_t n, int again);
int store_addr_section(struct store_cap *c);
void store_addr_free(struct store_addr *a);

/* loads_encoder.c */
int store_load_new(struct store_cap *c);
void store_load_free(struct store_load *t);
int store_load_add(struct store_cap *c, uint32_t s);            /* statement s is new */
/* takes the registers of the visit, and stores them in c->key */
void store_load_begin(struct store_cap *c, struct visit *v);
void store_load_statement(struct store_cap *c, const struct visit_batch *b, const struct visit_insn *e,
    uint32_t s, int again);
void store_load_run(struct store_cap *c, size_t run);           /* call it before run `run` of a batch */
/* call it after a batch: corrects registers if there was an exception */
void store_load_batch(struct store_cap *c, struct visit *v);
int store_load_val(struct store_cap *c);                        /* writes the VAL section */

/* labels_encoder.c: computes the labels of o->arch for the capture's nstmt statements, and writes them. */
int store_arch(struct store_out *out, const char *capture, size_t nstmt);

/* table.c: adds statement s of stmts to the file's, with its source */
int store_statement_add(struct store_cap *c, uint32_t s, struct wsource *src);

#endif
