/* The counters of instructions. */
#ifndef TM_REFS_PLACES_INTERNAL_H
#define TM_REFS_PLACES_INTERNAL_H

#include "base/hash.h"
#include "refs/places.h"

#define PLACES_NEAR 2048

struct place {
	uint64_t pc;
	unsigned size;                  /* 0: there was no fetch before */
	uint64_t n[PLACES_COUNTS];
};

struct places {
	struct hash hash;
	struct place *place;            /* owned; the first is for all that are too many */
	size_t n, cap;
	size_t near[PLACES_NEAR];       /* the last instruction of each hash */
	int checked;
	/* after places_get: */
	struct refs_place *name;        /* owned; of the first nname of place */
	size_t nname, roomname;
	struct hash texts;
	char **text;                    /* owned; what name borrows, each once */
	size_t ntext, roomtext;
};

/* The place of an instruction, made if it is new and there are not too many; 0: that of all others */
size_t places_index(struct places *m, uint64_t pc, unsigned size);

#endif
