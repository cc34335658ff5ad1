/* Walks through the events of a thread and codes them, in pieces: a regeneration whose events come from or go to a coder. */
#ifndef TM_AE_PACK_WALK_H
#define TM_AE_PACK_WALK_H

#include "ae/pack/coder.h"
#include "ae/regen/libs.h"


#define WALK_QUIET (UINT64_C(1) << 30)  /* references without an event: then it ends */

struct walk {
	uint32_t task;                  /* the thread */
	struct coder *code;              /* borrowed: of all threads */
	struct prog prog;
	struct libs libs;
	struct follow follow;
	struct regen *r;                /* owned */
	struct regen_model model;
	struct feed feed;
	int over;                       /* no more events are walked through */
	/* events at hand, or those decoded */
	uint8_t *buf;                   /* owned */
	size_t cap, at, end;            /* at: the next one; end: of the bytes in buf */
	size_t pending;                 /* bytes of the last event */
	int kept;                       /* ... which are read once more */
	size_t want;                    /* decoding: bytes of events to be decoded */
};

/*
 * For thread `task` of a run of x; the n bytes at head are what feed_blank wants. NULL with a message in *err, which is
 * walk_nomem if there was no memory. walk_learn:
 * there is more of that now.
 */
extern const char walk_nomem[];
struct walk *walk_new(struct exe *x, struct coder *c, struct recall *m, const uint8_t *head, size_t n, uint32_t task,
    const char **err);
void walk_learn(struct walk *w, const uint8_t *head, size_t n);
void walk_free(struct walk *w);

/*
 * Encodes n more bytes, as far as they are whole events: returns how many bytes were coded, with those that were left before.
 * walk_left: how many are left now; they come first in the next.
 */
size_t walk_encode(struct walk *w, const uint8_t *p, size_t n);
size_t walk_left(const struct walk *w);

/* Decodes n bytes, which are in w->buf from its beginning; -1 if that is impossible. */
int walk_decode(struct walk *w, size_t n);

#endif
