/*
 * Hash tables with open addressing; at most half of the slots are in use.  A zeroed table is empty.
 *
 * A struct hash has the indices of elements, which its user keeps in an array and compares.  Each
 * slot also has the element's hash, so that the table grows without the keys, and few elements with
 * another key are compared:
 *
 *	uint32_t h = hash_number(key), at = h, i;
 *
 *	while ((i = hash_find(&t, h, &at)) != HASH_NONE && v[i].key != key)
 *		;
 *
 * A struct hash_set has numbers themselves.
 */
#ifndef TM_BASE_HASH_H
#define TM_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#define HASH_NONE UINT32_MAX

struct hash_slot { uint32_t hash, number; };            /* number: plus 1; 0: free */

struct hash {
	struct hash_slot *slot;                         /* owned */
	size_t n, nslot;
};

static inline uint32_t
hash_number(uint64_t v)
{
	return (uint32_t)(v * UINT64_C(0x9e3779b97f4a7c15) >> 32);
}

uint32_t hash_bytes(const char *s, size_t n);

/* The next element with hash h from slot *at on, which is h for the first; HASH_NONE: there is no other */
static inline uint32_t
hash_find(const struct hash *t, uint32_t h, uint32_t *at)
{
	if (t->nslot)
		for (;; ++*at) {
			const struct hash_slot *s = &t->slot[*at & (t->nslot - 1)];

			if (!s->number)
				break;
			if (s->hash == h) {
				++*at;
				return s->number - 1;
			}
		}
	return HASH_NONE;
}

int hash_add(struct hash *t, uint32_t h, uint32_t number);      /* which is not HASH_NONE; -1: no memory */
void hash_xadd(struct hash *t, uint32_t h, uint32_t number);    /* as the allocators of mem.h: exits */
void hash_free(struct hash *t);

struct hash_set {
	uint64_t *slot;                                 /* owned; 0: free */
	size_t n, nslot;
};

/* v is not 0.  1: it is new; 0; -1: no memory */
int hash_set_add(struct hash_set *s, uint64_t v);
int hash_set_has(const struct hash_set *s, uint64_t v);
void hash_set_clear(struct hash_set *s);        /* keeps the room */
void hash_set_free(struct hash_set *s);

#endif
