/* Internal to the verifier. */
#ifndef TM_REPLAY_VERIFY_VERIFY_INTERNAL_H
#define TM_REPLAY_VERIFY_VERIFY_INTERNAL_H

#include <Zydis/Zydis.h>

#include "replay/native/native.h"
#include "replay/verify/verify.h"

#define MOST_REFS 256u          /* of one instruction */

enum loose { EXACT, BOUNDED, KINDS };   /* how much is known: all; bounds only; kinds only */

/* What an instruction should refer to */
struct expect {
	uint64_t w[MOST_REFS];          /* EXACT: the words, the fetch first; else the fetch and the operand as a whole */
	size_t n;
	enum loose loose;
	uint64_t lo, hi;                /* not EXACT: the operand's bytes */
	int kind;                       /* ... and its kind */
};

struct insn {
	ZydisDecodedInstruction z;
	ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
	uint8_t b[16];
	struct ws_regs at;              /* native registers before it */
	int string, counted;            /* repeated; its count was not 0 */
};

struct blocks {                         /* the other replay */
	int fd;
	pid_t pid;
	struct verify_batch b;
	size_t at, cap;                 /* of b.w */
	int got;                        /* enum replay_got behind the batch */
	char err[240];
};

struct verify {
	struct replay *r;
	struct native n;
	struct verify_opts o;
	struct insn in;                 /* the instruction that the native side stands before */
	struct expect e;
	int opening, silent;            /* records go straight to the native side; are not for it */
	int have, acted;                /* in is filled in; a trigger did its work */
	int extra;                      /* the count ran out: one more fetch */
	int fresh;                      /* the native side is where the replay is */
	int amd;                        /* the capture is of an AMD processor */
	int ended;
	struct blocks k;
	int pagemap[2];                 /* which pages there are: ours, the native side's */
	struct verify_counts c;
	struct verify_diff diff;
	char err[300];
};

/* decode.c: what the instruction refers to, from its bytes and the registers before it; -1: no instruction; amd: as x86_decode has it */
int verify_decode(struct insn *in, int amd);
void verify_expect(struct expect *e, const struct insn *in);
const char *verify_refs(const struct expect *e, const uint64_t *w, size_t n, char *buf, size_t size);   /* NULL: as expected */

/* state.c: the first difference in words, or NULL; a fault of ours is in *err */
const char *verify_regs(const struct ws_regs *native, const struct ws_regs *replay, int norip, char *buf, size_t size);
const char *verify_vectors(struct verify *v, char *buf, size_t size);
const char *verify_memory(struct verify *v, char *buf, size_t size);
int verify_pagemaps(struct verify *v);                  /* opened while that is possible: 0, -1 */
int verify_copy(struct verify *v);                      /* the native side gets what the replay has: 0, -1 with v->err */

/* blocks.c: the replay in blocks, from where r is up to `to` */
int blocks_start(struct blocks *k, struct replay *r, uint64_t to);
int blocks_next(struct blocks *k);                      /* the next batch: 1; 0 there is none; -1 it failed: k->err */
void blocks_stop(struct blocks *k);

#endif
