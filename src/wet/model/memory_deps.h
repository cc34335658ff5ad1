/*
 * Writers of the memory that a statement reads, coded as in DEP sections of
 * wet(5).  Each memory port of each path has a history of the statements that
 * were its last writers, with the distance of the instance: how many instances
 * of the writing statement ago it was.
 */
#ifndef TM_WET_MODEL_MEMORY_DEPS_H
#define TM_WET_MODEL_MEMORY_DEPS_H

#include "wet/file/full/code.h"

#define MEMDEP_PAST 4u                  /* writing statements in a history */
#define MEMDEP_SUBS 8u                  /* places in a list of writers that have a history of their own */
#define MEMDEP_KEYS (MEMDEP_SUBS + 1u)  /* keys of a port: 0 for a single writer, 1 + place in a list */

enum memdep_token {
	MEMDEP_SAME = 0,                /* + k: statement k of the history, at its last distance */
	MEMDEP_STRIDE = 4,              /* + k: statement k, its last instance plus its last stride */
	MEMDEP_FAR = 8,                 /* + k: statement k, at a distance that is given */
	MEMDEP_NONE = 12,               /* no writer */
	MEMDEP_NEW,                     /* a statement and a distance that are given */
	MEMDEP_MANY                     /* several writers: their number is given, each has a token */
};

/* A writing statement: its last instance, distance and stride, all modulo 2^32.  id 0: unused */
struct memdep_past { uint32_t id, last, far, stride; };
struct memdep_port { struct memdep_past past[MEMDEP_PAST]; };   /* the most recent first */

struct memdep {
	struct memdep_port *port;       /* history of single writers, for each port; owned */
	struct memdep_port **sub;       /* for each port NULL, or MEMDEP_SUBS histories of lists; owned */
	size_t nport, cap;
};

/* makes room for nport ports.  0, or -1 without memory */
int memdep_room(struct memdep *m, size_t nport);
void memdep_reset(struct memdep *m);                    /* a segment begins: histories are empty */
void memdep_free(struct memdep *m);

/*
 * Sorts the n tokens of a segment by port, those of a port in order of time.  key[i] is the key of
 * token i, place[i] becomes its place.  0, or -1 without memory.
 */
int memdep_order(size_t nport, const uint64_t *key, size_t n, uint32_t *place);

/* The history of a key (port * MEMDEP_KEYS + a key of the port); NULL without memory */
struct memdep_port *memdep_past(struct memdep *m, uint64_t key);

/*
 * Returns the token for writer who and updates the history.  *far: the distance, which follows
 * MEMDEP_FAR and MEMDEP_NEW.  count: executions of each statement (id less 1) before the path.
 */
unsigned memdep_put(struct memdep_port *p, uint64_t who, const uint32_t *count, uint32_t *far);
/* The reverse; id and far are those that follow the token.  0: the token is not valid here */
uint64_t memdep_get(struct memdep_port *p, unsigned token, uint32_t id, uint32_t far, const uint32_t *count);

#endif
