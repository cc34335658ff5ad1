/*
 * Tables of CODE sections of wet(5): statements, with what the dependence model (model.h) needs
 * to know of them, and paths, which are sequences of statements.
 */
#ifndef TM_WET_FILE_FULL_CODE_H
#define TM_WET_FILE_FULL_CODE_H

#include "base/hash.h"
#include "wet/model/column.h"

#define STORE_PATH    256u              /* maximum statements of a path */
#define STORE_MEM     64u               /* maximum memory ports of a statement */
#define STORE_STMTS   (1u << 26)        /* limit of a reader: statements, strings, paths */
#define STORE_QUICK   (1u << 17)        /* values in a block, if single statements must be found quickly */
#define STORE_SEGMENT (1u << 25)        /* limit of a segment: statements executed, words of values */

enum store_ctl {                        /* role of a statement in control dependence */
	STORE_BRANCH = 1,               /* a region begins, which ends at region end `pdom` */
	STORE_JOIN = 2,                 /* region end `join` is before this statement */
	STORE_CALL = 4, STORE_RETURN = 8,
	STORE_TAIL = 16,                /* it jumps to another function */
	STORE_CONDTAIL = 32,            /* as STORE_TAIL, if the next statement is at `target` */
	STORE_ENDS = 64                 /* it ends each path that contains it */
};

struct store_stmt {                     /* [i] has id i + 1 */
	uint64_t addr, target;
	uint32_t join, pdom;            /* numbers of region ends */
	uint32_t nuse, nmem, ndef;      /* registers used, memory ports, registers defined */
	uint32_t reg;                   /* index in store_code.reg of its nuse + ndef registers */
	uint32_t file, func;            /* indices in string */
	uint64_t line;
	uint64_t addrs;                 /* registers that only form addresses: struct wport */
	uint8_t nval, ctl, role;        /* words of its value, at most 8; ctl: enum store_ctl; role: enum wport_role */
	uint8_t len, b[15];             /* its instruction bytes, if store_code.bytes */
};

struct store_path {
	uint32_t first, n;              /* its statements are seq[first] to seq[first + n - 1] */
	uint32_t slot, nslot;           /* its memory ports, numbered over all paths */
};

struct store_count { uint32_t id, n; };         /* a statement's executions */

struct store_code {
	struct store_stmt *stmt;        /* owned, as all arrays here */
	uint16_t *reg;                  /* register << 5 | lanes, as fact.h has them */
	char **string;                  /* in the format of wettext(5); each is owned */
	struct store_path *path;
	uint32_t *seq;                  /* statements (id - 1) of the paths */
	size_t nstmt, nreg, nstring, npath, nseq;
	size_t capstmt, capreg, capstring, cappath, capseq;
	uint32_t nslot;
	int bytes;                      /* CODE has the instruction bytes */
	int roles;                      /* roles are known: some statement has role or addrs */
	struct hash by_string;          /* for the writer */
};

void store_code_free(struct store_code *c);

/* Append a string, a statement, a path.  0 (or an index), or -1: no memory. */
int store_string(struct store_code *c, const char *s, uint32_t *index);         /* finds or appends it */
/* reg: its nuse + ndef registers */
int store_stmt(struct store_code *c, const struct store_stmt *s, const uint16_t *reg);
int store_path(struct store_code *c, const uint32_t *stmt, uint32_t n);         /* n: 1 to STORE_PATH */

/* Write the strings from number `from` on as a column; append them to c.  0, or -1 (r->err). */
struct store_out;               /* writer.h */
int store_strings_encode(const struct store_code *c, size_t from, struct store_out *o, int level);
int store_strings_decode(struct store_code *c, struct col_reader *r);

/* Write what was added since the mark `from` as a section; append a section to c. */
struct store_mark { size_t nstmt, nstring, npath; };
struct store_mark store_mark(const struct store_code *c);       /* the present sizes */
int store_code_encode(const struct store_code *c, const struct store_mark *from, struct store_out *o, int level);
int store_code_decode(struct store_code *c, struct col_reader *r);      /* 0, or -1 and r->err */

#endif
