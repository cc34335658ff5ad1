/* State of the verifier, shared by its files. */
#ifndef TM_REPLAY_VERIFY_VERIFY_INTERNAL_H
#define TM_REPLAY_VERIFY_VERIFY_INTERNAL_H

#include <Zydis/Zydis.h>

#include "replay/native/native.h"
#include "replay/verify/verify.h"

#define MOST_REFS 256u          /* references of one instruction at most */

enum loose { EXACT, BOUNDED, KINDS };   /* what is known: everything; bounds; kinds */

/* The references that an instruction should make. */
struct expect {
	/* EXACT: all words, the fetch first; else the fetch and the whole operand */
	uint64_t w[MOST_REFS];
	size_t n;
	enum loose loose;
	uint64_t lo, hi;                /* not EXACT: the operand's bytes */
	int kind;                       /* not EXACT: the operand's kind */
};

struct insn {
	ZydisDecodedInstruction z;
	ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
	uint8_t b[16];
	struct ws_regs at;              /* native registers before it */
	int string, counted;            /* it is repeated; its count was not 0 */
};

struct blocks {                         /* the replay in blocks */
	int fd;
	pid_t pid;
	struct verify_batch b;
	size_t at, cap;                 /* position in b.w, allocated words */
	int got;                        /* enum replay_got after the batch */
	char err[280];
};

struct verify {
	struct replay *r;
	struct native n;
	struct verify_opts o;
	struct insn in;                 /* the native side's next instruction */
	struct expect e;
	int opening, silent;            /* records go straight to the native side; records are ignored */
	int have, acted;                /* `in` is filled in; a trigger has taken effect */
	int extra;                      /* the count ran out: one more fetch */
	int fresh;                      /* the native side is where the replay is */
	int amd;                        /* the capture is of an AMD processor */
	int ended;
	struct blocks k;
	int pagemap[2];                 /* pagemap descriptors: ours, the native side's */
	struct verify_counts c;
	struct verify_diff diff;
	struct fault at;                /* where in the capture the fault is; its err is not used */
	char err[300];
};

/* decode.c: decodes the instruction at in->b. -1: no instruction.  amd: as for x86_decode. */
int verify_decode(struct insn *in, int amd);
void verify_expect(struct expect *e, const struct insn *in);    /* fills in e for the instruction in->z */
/* NULL: as expected, else the difference, in buf */
const char *verify_refs(const struct expect *e, const uint64_t *w, size_t n, char *buf, size_t size);

/* state.c: the first difference in words, or NULL.  A fault of the verifier itself is in v->err. */
const char *verify_regs(const struct ws_regs *native, const struct ws_regs *replay, int norip,
    char *buf, size_t size);
const char *verify_vectors(struct verify *v, char *buf, size_t size);   /* compares vector registers */
const char *verify_memory(struct verify *v, char *buf, size_t size);    /* compares all memory */
int verify_pagemaps(struct verify *v);                  /* call it while pagemaps can be opened: 0, -1 */
/* gives the native side the memory of the replay: 0, or -1 with v->err */
int verify_copy_memory(struct verify *v);

/* blocks.c: starts the replay in blocks, from where r is up to `to` */
int blocks_start(struct blocks *k, struct replay *r, uint64_t to);
/* fetches the next batch: 1; 0: there is none; -1: failed, see k->err */
int blocks_next(struct blocks *k);
void blocks_stop(struct blocks *k);     /* ends the child */

#endif
