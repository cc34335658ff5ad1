/* Internal to queries of captures: the dependences of the members of a backward slice. */
#ifndef TM_WET_QUERY_CAPTURE_EDGES_INTERNAL_H
#define TM_WET_QUERY_CAPTURE_EDGES_INTERNAL_H

#include "wet/model/byteset.h"
#include "wet/query/capture_internal.h"

#define QEDGES_BUCKETS 4096u

/* Keys: a register, with a mask of lanes; 64 bytes of memory, with a mask of bytes; a position */
enum qedges_kind { QEDGES_REGISTER, QEDGES_MEMORY, QEDGES_POSITION, QEDGES_NKIND };

struct qwant {
	uint64_t key, mask;             /* mask 0: unused */
	uint32_t member;                /* who wants it */
	uint32_t next;                  /* of the same bucket, or of those unused; index plus 1 */
	uint16_t port;                  /* by which use port */
	uint8_t leaf;                   /* who wrote it does not become a member for that */
};

struct qmember { uint32_t id; uint64_t instance; };

struct qedges {
	struct query_slice *s;
	struct qmember *member;         /* all owned */
	size_t nmember, capmember;
	struct qwant *want;
	size_t nwant, capwant, left;    /* left: what is still wanted */
	uint32_t unused, head[QEDGES_NKIND][QEDGES_BUCKETS];
	struct qwant *hit;              /* what wanted something of the instance that is looked at */
	size_t nhit, caphit;
};

/* An instance that the scan reached; refs: all of its references */
struct qfound {
	const struct fact *fact;
	uint64_t n, instance;
	uint32_t id;
	const uint64_t *ref;
	size_t nref;
};

void qedges_init(struct qedges *g, struct query_slice *s);
void qedges_free(struct qedges *g);

/* The functions below return -1 without memory, else 0 unless they say more. */

/* wants these bytes, for statement 0 */
int qedges_bytes(struct qedges *g, uint64_t addr, uint64_t n);
int qedges_lanes(struct qedges *g, unsigned reg);       /* wants all of a register, for statement 0 */
/* reports who depends on this instance; 1: it is a member, 0: it is not */
int qedges_found(struct qedges *g, const struct qfound *e);
/* wants what this member uses; parent: its control parent, or 0 */
int qedges_follow(struct qedges *g, const struct qfound *e, const struct wport *port, uint64_t parent);
/* the instance at n, which may be 0 for none, wrote memory or a register besides what its statement says */
int qedges_written(struct qedges *g, uint64_t addr, uint64_t len, uint64_t n);
int qedges_register(struct qedges *g, unsigned reg, uint64_t n);
/* n bytes were moved */
int qedges_moved(struct qedges *g, uint64_t from, uint64_t to, uint64_t n);
/* a signal at position n, which counts as the instance before it */
int qedges_signal(struct qedges *g, const struct fact *f, uint64_t n);

#endif
