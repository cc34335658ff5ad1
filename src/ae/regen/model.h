/*
 * A model that follows a program while its references are regenerated, and that provides the events: what a packer of
 * event files is, see ae/pack.
 */
#ifndef TM_AE_REGEN_MODEL_H
#define TM_AE_REGEN_MODEL_H

#include <stddef.h>
#include <stdint.h>

#include "ae/regen/program.h"
#include "ae/regen/regen.h"

#define REGEN_MEM 0xff                  /* not a register: what the instruction loads or stores */
#define REGEN_ANY SIZE_MAX

/* An event that is read next */
struct regen_ask {
	enum regen_kind kind;
	unsigned n;                     /* its bytes; 0: an item, whose length its first byte says */
	uint32_t site;                  /* number of the place, as of regen_sites */
	/* a value: the register that becomes it, or REGEN_MEM; an entry value: the register */
	uint16_t reg;
	uint8_t how;                    /* a value: how it is extended; a branch: its condition; a string instruction: which */
	uint8_t keep;                   /* its bytes are read once more by the next event */
	uint8_t alone;                  /* a value that is of no instruction, or of one that the model does not execute */
	unsigned more;                  /* an item: bytes of registers that follow it */
	uint64_t sp;                    /* the stack pointer of the frame */
};

struct regen_model {
	void *arg;
	uint64_t *reg;                  /* the registers as the model knows them; the regeneration corrects them */
	/*
	 * While the program is lowered: the instruction at pc is executed here, nref references of it are in the schema.
	 * Returns the number that `run` gets when it is executed, or 0; *cc: the condition, if it is a branch.
	 */
	uint32_t (*insn)(void *arg, const struct prog *g, const struct prog_func *f, uint64_t pc, unsigned nref, uint8_t *cc);
	void (*run)(void *arg, uint32_t no, const uint64_t *refs);
	/* a string instruction (enum sch_rep), n elements of w bytes */
	void (*string)(void *arg, unsigned how, unsigned w, uint64_t n, uint64_t rsi, uint64_t rdi);
	/* bytes of events at hand, which begin at *e; REGEN_ANY: as many as are needed */
	size_t (*hand)(void *arg, const uint8_t **e);
	/* Where the bytes of the event are, of which e is the first one that was not read, and their end; NULL: it has none */
	const uint8_t *(*event)(void *arg, const struct regen_ask *a, const uint8_t *e, const uint8_t **end);
	void *program;                  /* arg of insn, run and string */
};

#endif
