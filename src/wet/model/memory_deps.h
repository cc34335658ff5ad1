/*
 * Who wrote what a statement reads of memory, as DEP sections of wet(5) say
 * it: of each port of each path, the statements that wrote for it lately, and
 * how far back, counted in their own instances.
 */
#ifndef TM_WET_MODEL_MEMORY_DEPS_H
#define TM_WET_MODEL_MEMORY_DEPS_H

#include "wet/file/full/code.h"

#define MEMDEP_PAST 4u                  /* statements that are remembered */
#define MEMDEP_SUBS 8u                  /* places of a list that are told apart */
#define MEMDEP_KEYS (MEMDEP_SUBS + 1u)  /* keys of a port: alone, and the places of a list */

enum memdep_token {
	MEMDEP_SAME = 0,                /* + k: the k-th of the past, as far back as then */
	MEMDEP_STRIDE = 4,              /* + k: as many instances on as the last time */
	MEMDEP_FAR = 8,                 /* + k: so far back */
	MEMDEP_NONE = 12,               /* nobody */
	MEMDEP_NEW,                     /* a statement, and how far back */
	MEMDEP_MANY                     /* so many writers, a token for each */
};

struct memdep_past { uint32_t id, last, far, stride; };         /* id 0: nothing yet; modulo 2^32 */
struct memdep_port { struct memdep_past past[MEMDEP_PAST]; };

struct memdep {
	struct memdep_port *port;       /* nport of them; owned */
	struct memdep_port **sub;       /* of each MEMDEP_SUBS, or NULL; owned */
	size_t nport, cap;
};

/* there are so many ports now.  0, or -1 without memory */
int memdep_room(struct memdep *m, size_t nport);
void memdep_reset(struct memdep *m);                    /* a segment begins */
void memdep_free(struct memdep *m);

/*
 * The n tokens of a segment in the order of their ports, those of one in order
 * of time: place[i] is that of token i, whose key is key[i].  0, or -1 without memory.
 */
int memdep_order(size_t nport, const uint64_t *key, size_t n, uint32_t *place);

/* The past of a key (port * MEMDEP_KEYS + place); NULL without memory */
struct memdep_port *memdep_past(struct memdep *m, uint64_t key);

/*
 * The token for writer who; *far: for MEMDEP_FAR and MEMDEP_NEW, how far back.  count: executions of each
 * statement, id less 1, before the path.
 */
unsigned memdep_put(struct memdep_port *p, uint64_t who, const uint32_t *count, uint32_t *far);
/* And back: id is that of MEMDEP_NEW.  0: there is no such instance */
uint64_t memdep_get(struct memdep_port *p, unsigned token, uint32_t id, uint32_t far, const uint32_t *count);

#endif
