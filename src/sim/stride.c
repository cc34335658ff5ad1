/* Strides of the accesses of each instruction. */
#include <stdlib.h>

#include "base/buf.h"
#include "base/hash.h"
#include "format/ref/ref.h"
#include "sim/stride.h"

enum { NEAR = 4096 };
#define ADDRESS  UINT64_C(0xffffffffffff)
#define NO_FETCH UINT64_MAX

struct stride {
	struct hash hash;
	struct stride_slot *slot;       /* owned */
	size_t n, cap;
	uint32_t near[NEAR];            /* slots that were used lately, by their keys: index plus 1 */
	uint64_t pc;                    /* of the last fetch */
	struct stride_counts counts;
};

struct stride *
stride_new(void)
{
	struct stride *s = calloc(1, sizeof *s);

	if (s)
		s->pc = NO_FETCH;
	return s;
}

void
stride_free(struct stride *s)
{
	if (!s)
		return;
	hash_free(&s->hash);
	free(s->slot);
	free(s);
}

/* The loads and stores of one instruction are not in each other's way. */
static inline size_t
near_of(uint64_t key)
{
	return (key ^ key >> 42) % NEAR;
}

/* The slot of a key: a new one has no accesses. NULL: no memory */
static struct stride_slot *
slot_find(struct stride *s, uint64_t key)
{
	uint32_t h = hash_number(key), at = h, i;

	while ((i = hash_find(&s->hash, h, &at)) != HASH_NONE && s->slot[i].key != key)
		;
	if (i == HASH_NONE) {
		if (s->n >= HASH_NONE - 1 || buf_grow(&s->slot, &s->cap, s->n + 1, sizeof *s->slot) != 0 ||
		    hash_add(&s->hash, h, (uint32_t)s->n) != 0)
			return NULL;
		s->slot[i = (uint32_t)s->n++] = (struct stride_slot){ .key = key };
	}
	s->near[near_of(key)] = i + 1;
	return &s->slot[i];
}

static inline struct stride_slot *
slot_of(struct stride *s, uint64_t key)
{
	uint32_t k = s->near[near_of(key)];

	return k && s->slot[k - 1].key == key ? &s->slot[k - 1] : slot_find(s, key);
}

/* The next access of a slot that has one is at addr: returns the stride. */
static inline int64_t
stride_count(struct stride *s, const struct stride_slot *t, int64_t addr)
{
	struct stride_counts *c = &s->counts;
	int64_t d = addr - t->last;
	unsigned width = stride_width(d);

	c->width[width]++;
	c->constant[width] += t->n > 1 && d == t->stride;
	c->same_line += addr >> STRIDE_SAME_LINE == t->last >> STRIDE_SAME_LINE;
	if (d >= -STRIDE_NEAR && d <= STRIDE_NEAR)
		c->near[STRIDE_NEAR + d]++;
	return d;
}

static inline void
slot_access(struct stride *s, struct stride_slot *t, int64_t addr)
{
	if (!t->n) {
		t->first = addr;
	} else {
		t->stride = stride_count(s, t, addr);
		if (t->n == 1)
			t->second = t->stride;
	}
	t->last = addr;
	t->n++;
}

int
stride_take(struct stride *s, const uint64_t *w, size_t n)
{
	uint64_t pc = s->pc;

	for (size_t i = 0; i < n; i++) {
		unsigned kind = ref_kind(w[i]);
		struct stride_slot *t;

		if (kind == REF_INST)
			pc = w[i] & ADDRESS;
		if (kind == REF_INST || kind >= REF_NACCESS || pc == NO_FETCH)
			continue;
		if (!(t = slot_of(s, pc | (uint64_t)kind << 48)))
			return -1;
		slot_access(s, t, (int64_t)ref_addr(w[i]));
	}
	s->pc = pc;
	return 0;
}

const struct stride_counts *
stride_counts(const struct stride *s)
{
	return &s->counts;
}

const struct stride_slot *
stride_slots(const struct stride *s, size_t *n)
{
	*n = s->n;
	return s->slot;
}

void
stride_add(struct stride *s, const struct stride_counts *c)
{
	for (unsigned i = 0; i < STRIDE_WIDTHS; i++) {
		s->counts.width[i] += c->width[i];
		s->counts.constant[i] += c->constant[i];
	}
	for (unsigned i = 0; i <= 2 * STRIDE_NEAR; i++)
		s->counts.near[i] += c->near[i];
	s->counts.same_line += c->same_line;
}

int
stride_join(struct stride *s, const struct stride_slot *next)
{
	struct stride_slot *t = slot_of(s, next->key);
	int64_t d;

	if (!t)
		return -1;
	if (!t->n) {
		*t = *next;
		return 0;
	}
	d = stride_count(s, t, next->first);
	/* the first stride of the next part has one before it now */
	if (next->n > 1)
		s->counts.constant[stride_width(d)] += next->second == d;
	if (t->n == 1)
		t->second = d;
	t->stride = next->n > 1 ? next->stride : d;
	t->last = next->last;
	t->n += next->n;
	return 0;
}
