/*
 * Codes the events of a traced program, each by what a model of the program foresees (follow.h): as binary decisions, whose
 * probabilities are mixed from several contexts. Encoder and decoder pass through the same states: tables, contexts and
 * their order are part of the format of packed event files.
 */
#ifndef TM_AE_PACK_CODER_H
#define TM_AE_PACK_CODER_H

#include "ae/pack/follow.h"
#include "codec/column/range.h"

struct coder_site;

struct coder {
	struct range range;
	int dec;                        /* it decodes */
	int failed;                     /* out of memory */
	uint8_t *out;                   /* owned: what was encoded */
	size_t cap;
	uint32_t *counter;              /* owned, like the following */
	uint64_t *follows;              /* the value that followed in a context */
	int32_t (*weight)[8];
	struct coder_site *site;
	uint32_t nsite;
	uint32_t hits, turns;           /* outcomes of the last predictions of values, of branches */
	struct { uint64_t entry; uint32_t number; } *func;      /* the program's functions by hash of their entries */
	uint32_t maskfunc, nno;


};

int coder_init(struct coder *c);          /* 0 or -1 */
void coder_release(struct coder *c);

/* Encodes from here on, into c->out; coder_end returns the number of bytes. */
void coder_encode(struct coder *c);
size_t coder_end(struct coder *c);
void coder_decode(struct coder *c, const uint8_t *p, size_t n);

/*
 * The bytes of an event, at b, in at most 16 bytes: they are read, or written. Returns their number. f learns them.
 */
unsigned coder_event(struct coder *c, struct follow *f, const struct regen_ask *a, uint8_t *b);

#endif
