/* Between the files that write .wet files. */
#ifndef TM_ENGINE_WET_STOREPRIV_H
#define TM_ENGINE_WET_STOREPRIV_H

#include "engine/wet/control.h"
#include "engine/wet/memdep.h"
#include "engine/wet/model.h"
#include "engine/wet/store.h"
#include "engine/wet/storeread.h"
#include "engine/wet/stmts.h"
#include "engine/wet/who.h"

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
	uint32_t *rank;                 /* executions of each path in it; owned */
	size_t caprank, nrank;
	uint64_t n, exc;                /* statements; where the last exception was */
};

struct trie { uint32_t stmt, child, next, path; };      /* path + 1, 0: none */

/* A port for memory of the path that is executed: n writers from `first` in many */
struct memport { uint32_t first, n; };

struct store_cap {
	struct store_out out;
	struct wcode code;
	struct stmts stmts;
	struct who who;
	struct store_code tab;
	struct store_mark mark;         /* what of it is in the file */
	struct model model;
	struct memdep dep;
	struct segment seg;
	struct buf key;                 /* the state before the segment */
	uint32_t nseg;
	uint32_t *count;                /* executions of each statement before this path; owned */
	struct trie *trie;              /* owned; [0] is the root */
	size_t ntrie, captrie;
	uint32_t node, npath, path[STORE_PATH];         /* the path that is executed */
	uint64_t lastpc;
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
};

int store_statement(struct store_cap *c, const struct visit_batch *b, const struct visit_run *r, uint32_t i, uint32_t s);
int store_string_again(struct store_cap *c, const struct visit_batch *b, const struct visit_run *r, uint32_t s);
int store_path_end(struct store_cap *c);
int store_segment(struct store_cap *c);         /* what there is of it is written */
void segment_free(struct segment *s);

/* storecap.c: the code that is executed, its statements and what is mapped; tab: all statements are put into c->tab */
struct wsource;
int store_first_pass(struct store_cap *c, const char *capture, struct wsource *src, int tab);
void store_cap_free(struct store_cap *c);

/* archput.c: the labels that o->arch says of the capture's nstmt statements, as sections */
int store_arch(struct store_out *out, const char *capture, size_t nstmt);

/* storetab.c: statement s of stmts as one of the file, with its source */
int store_tab(struct store_cap *c, uint32_t s, struct wsource *src);

#endif
