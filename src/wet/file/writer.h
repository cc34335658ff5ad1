/* What the writers of .wet files share, whatever their kind. */
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

/* The file being written */
struct store_out {
	struct wetfile_writer *w;       /* borrowed */
	const struct store_opts *o;
	struct vc_work *work;           /* owned */
	struct store_stats stats;
	struct store_fault *f;          /* the caller's */
	struct buf b;                   /* a section in the making */
};

int store_fail(struct store_fault *f, int input, const char *fmt, ...) __attribute__((format(printf, 3, 4)));   /* -1 */
int store_nomem(struct store_fault *f);         /* -1 */
int store_badreplay(struct store_fault *f, const struct replay_fault *r);       /* -1 */
int store_out_init(struct store_out *t, struct wetfile_writer *w, const struct store_opts *o, struct store_fault *f);
void store_out_free(struct store_out *t);
int store_section(struct store_out *t, enum wetfile_tag tag, uint32_t segment, enum store_part part);   /* b, which is empty then */

/* A segment in the making */
struct segment {
	struct col path, val, dep[DEP_NCOL], key[DEP_NKEYED];
	struct col byval, bykey;        /* values or tokens in the order of the file, and which they are: memory kept for the next */
	uint32_t *rank;                 /* executions of each path in it; owned */
	size_t caprank, nrank;
	uint64_t n, exc;                /* statements; where the last exception was */
};

/* An instance with any number of references: the first ones, the last ones (waddr_many), and those that do not go on as expected */
struct addr_many { uint64_t n, first[WADDR_PERIOD], ring[2 * WADDR_PERIOD]; size_t miss, nmiss; };
struct addr_miss { uint64_t k, by; };

/* Addresses: of a segment in the making, in order of time: references of statements that have always as many; the other instances */
struct store_addr {
	struct waddr tab;
	struct waddr_model model;
	struct col ref;
	struct col val;                 /* kind loads: words of values; other kinds have them in the segment */
	struct addr_many *many;         /* owned; so is miss */
	struct addr_miss *miss;
	size_t nmany, capmany, nmiss, capmiss;
	uint64_t n;                     /* references */
	size_t done;                    /* statements that are in the file */
};

/* Kind loads: what is stored, and what comes out else than it should */
struct store_load {
	struct load l;
	struct col at, kind, word;      /* exceptions: statements since the last one, LOAD_DEFINED and so on, words */
	struct col told;                /* how often the words of each statement are told in the segment */
	struct col lost;                /* memory that records change: behind how many runs of the batch, address, length */
	size_t nlost;                   /* so far done */
	uint64_t w[LOAD_WORDS];         /* of the last statement, a string instruction that may go on, */
	uint32_t string;                /* number plus 1; 0: none */
	uint64_t last;                  /* where that was */
	uint64_t nval;                  /* words of values in the segment */
	uint64_t sum, before;           /* over values, and without those of the last statement */
	int wrong;                      /* there was one in this batch */
};

struct trie { uint32_t stmt, child, next, path; };      /* path + 1, 0: none */

/* A port for memory of the path that is executed: n writers from `first` in many */
struct memport { uint32_t first, n; };

struct store_cap {
	struct store_out out;
	struct visit *visit;            /* of the pass that there is; owned */
	struct wcode code;
	struct stmts stmts;
	struct who who;
	struct store_code tab;
	struct store_mark mark;         /* what of it is in the file */
	struct model model;
	struct memdep dep;
	struct segment seg;
	struct store_addr addr;
	struct buf key;                 /* the state before the segment */
	uint32_t nseg;
	uint32_t *count;                /* executions of each statement before this path; owned */
	struct trie *trie;              /* owned; [0] is none, as the root is `begin` */
	uint32_t *begin;                /* of each statement: the node of the paths that begin with it, or 0; owned */
	size_t ntrie, captrie;
	uint32_t node, npath, path[STORE_PATH];         /* the path that is executed */
	uint64_t lastpc;
	uint32_t rest;                  /* statements of the last atom that are still to come */
	int over;                       /* its last statement ends it */
	struct memport mem[STORE_PATH * STORE_MEM];
	size_t nmem;
	struct col many;                /* writers */
	struct col list;                /* numbers of instances */
	struct col raw;                 /* those that the string instruction has read */
	uint64_t *parent;               /* of a run; owned */
	size_t capparent;
	uint64_t last;                  /* instance */
	uint64_t string;                /* instance of the string instruction that may go on; 0 */
	unsigned what;                  /* of the visit */
	struct store_load *load;        /* kind loads: owned; or NULL */
};

int store_statement(struct store_cap *c, const struct visit_batch *b, const struct visit_run *r, uint32_t i, uint32_t s);
int store_string_again(struct store_cap *c, const struct visit_batch *b, const struct visit_run *r, uint32_t s);
int store_path_end(struct store_cap *c);
int store_segment(struct store_cap *c);         /* what there is of it is written */
void segment_free(struct segment *s);

/* passes.c: the code that is executed, its statements and what is mapped; tab: all statements are put into c->tab */
struct wsource;
int store_first_pass(struct store_cap *c, const char *capture, struct wsource *src, int tab);
struct visit *store_again(struct store_cap *c, const char *capture);    /* for the second pass; NULL: see the fault */
void store_passed(struct store_cap *c);         /* behind it */
void store_cap_free(struct store_cap *c);

/* addresses_encoder.c: statements, the next in order; the references of an instance, again: more of the last; the section */
int store_addr_stmt(struct store_cap *c, const struct fact *f, const struct wport *p);
int store_addr_refs(struct store_cap *c, uint32_t s, const uint64_t *ref, uint32_t n, int again);
int store_addr_section(struct store_cap *c);
void store_addr_free(struct store_addr *a);

/* loads_encoder.c */
int store_load_new(struct store_cap *c);
void store_load_free(struct store_load *t);
int store_load_add(struct store_cap *c, uint32_t s);            /* statement s is new */
void store_load_begin(struct store_cap *c, struct visit *v);    /* registers are those of the visit; and in c->key */
void store_load_statement(struct store_cap *c, const struct visit_batch *b, const struct visit_insn *e, uint32_t s, int again);
void store_load_run(struct store_cap *c, size_t run);           /* run `run` of a batch comes */
void store_load_batch(struct store_cap *c, struct visit *v);    /* behind a batch: if anything was wrong, registers are made right */
int store_load_val(struct store_cap *c);                        /* the VAL section */

/* labels_encoder.c: the labels that o->arch says of the capture's nstmt statements, as sections */
int store_arch(struct store_out *out, const char *capture, size_t nstmt);

/* table.c: statement s of stmts as one of the file, with its source */
int store_tab(struct store_cap *c, uint32_t s, struct wsource *src);

#endif
