/*
 * CODE sections of wet(5): statements, with what the model (model.h) has to
 * know of them, and paths, which are sequences of statements.
 */
#ifndef TM_WET_FILE_FULL_CODE_H
#define TM_WET_FILE_FULL_CODE_H

#include "wet/model/column.h"

#define STORE_PATH    256u              /* statements of a path */
#define STORE_MEM     64u               /* ports for memory of a statement */
#define STORE_STMTS   (1u << 26)        /* statements, strings, paths that a reader takes */
#define STORE_QUICK   (1u << 17)        /* values in a block, if they are to be found quickly */
#define STORE_SEGMENT (1u << 25)        /* statements executed in a segment, words of values */

enum store_ctl {                        /* what a statement means for control dependence */
	STORE_BRANCH = 1,               /* a region begins, that ends at region end `pdom` */
	STORE_JOIN = 2,                 /* region end `join` is here */
	STORE_CALL = 4, STORE_RETURN = 8,
	STORE_TAIL = 16,                /* it goes to another function */
	STORE_CONDTAIL = 32,            /* it does if the next statement is at `target` */
	STORE_ENDS = 64                 /* a path that has it ends with it */
};

struct store_stmt {                     /* [i] has id i + 1 */
	uint64_t addr, target;
	uint32_t join, pdom;            /* numbers that ends of regions have */
	uint32_t nuse, nmem, ndef;      /* registers used, ports for memory, registers defined */
	uint32_t reg;                   /* the first of its nuse + ndef in store_code.reg */
	uint32_t file, func;            /* indices into string */
	uint64_t line;
	uint8_t nval, ctl;              /* words of its value, at most 8 */
	uint8_t len, b[15];             /* its instruction, if store_code.bytes */
};

struct store_path {
	uint32_t first, n;              /* statements in store_code.seq */
	uint32_t slot, nslot;           /* its ports for memory, numbered over all paths */
};

struct store_code {
	struct store_stmt *stmt;        /* owned, as all these */
	uint16_t *reg;                  /* register << 5 | lanes, as fact.h has them */
	char **string;                  /* as words of wettext(5); owned each */
	struct store_path *path;
	uint32_t *seq;                  /* statements (ids less 1) of paths */
	size_t nstmt, nreg, nstring, npath, nseq;
	size_t capstmt, capreg, capstring, cappath, capseq;
	uint32_t nslot;
	int bytes;                      /* CODE has the instructions */
	uint32_t *hash;                 /* of strings; the writer's */
	size_t nhash;
};

void store_code_free(struct store_code *c);

/* Additions: 0 (or an index), -1 without memory */
int store_string(struct store_code *c, const char *s, uint32_t *index);         /* found, or added */
int store_stmt(struct store_code *c, const struct store_stmt *s, const uint16_t *reg);  /* its nuse + ndef registers */
int store_path(struct store_code *c, const uint32_t *stmt, uint32_t n);         /* 1 to STORE_PATH */

/* Strings from number `from` on as a column; and added to c.  0, or -1 (r->err) */
int store_strings_put(const struct store_code *c, size_t from, struct vc_work *w, int level, struct buf *b);
int store_strings_get(struct store_code *c, struct col_reader *r);

/* What was added since `from` was a copy of c's counts, as a section */
struct store_mark { size_t nstmt, nstring, npath; };
struct store_mark store_mark(const struct store_code *c);
int store_code_put(const struct store_code *c, const struct store_mark *from, struct vc_work *w, int level, struct buf *b);
int store_code_get(struct store_code *c, struct vc_work *w, const uint8_t *p, size_t n, const char **err);   /* added to c.  0, or -1 */

#endif
