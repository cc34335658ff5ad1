/*
 * The lines are a stack, the one accessed last on top.  Its first REUSE_TOP lines are an array, which
 * has most accesses of most programs.  The others have positions in a bitmap: a line gets the next
 * position when it falls out of the array, so a line is below all that have higher positions.  A
 * binary indexed tree counts the bits of blocks of the bitmap (Olken, 1981, has a balanced tree).
 * When all positions were used, the lines get new ones, without gaps and in the same order.
 *
 * The array does not depend on the rest. So a batch of references goes through it first, and the
 * slots of the lines that have to be looked up are on their way from memory meanwhile.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/buf.h"
#include "format/ref/ref.h"
#include "sim/reuse.h"

#define REUSE_TOP   8u
#define QUEUE       128u
#define FEWEST_BITS (1u << 14)
#define BLOCK_SHIFT 8u                  /* bits of a block of the bitmap: 256 */
#define BLOCK_WORDS (1u << (BLOCK_SHIFT - 6))
#define NOWHERE     UINT64_MAX          /* the position of a line in the array */

struct slot { uint64_t key, pos; };     /* key: the number of the line, plus 1; 0: free */
struct move { uint64_t in, out; };      /* keys: to the array, and from it to the bitmap; out 0: none */

struct reuse {
	unsigned shift, kinds;
	uint64_t accesses, weight;      /* weight: what each access counts */

	uint64_t top[REUSE_TOP];        /* keys; 0: none yet */
	uint64_t distance;              /* of the last access to a line that was not in the array */
	uint64_t *first;                /* lines in the order of their first accesses; NULL: not kept */
	size_t roomfirst;
	struct move queue[QUEUE];
	size_t nqueue;
	uint64_t found[QUEUE];          /* distances that are counted when the queue is done: they are on their way, too */
	size_t nfound;

	struct slot *slot;              /* at most half of them are in use */
	size_t nslot, nline;

	uint64_t *bits, *tree;          /* tree[b], b from 1 on */
	uint64_t nbits, next, live;     /* positions; the next one; bits that are set */

	uint64_t *hist;
	size_t nhist, roomhist;         /* nhist: the largest distance, plus 1 */
};

/* Zeroed, in large pages where there are any: accesses are at random places */
static void *
large_calloc(size_t n, size_t size)
{
	char *p = calloc(n, size);
	size_t page = (size_t)1 << 21, bytes = n * size, from = -(uintptr_t)p % page;

	/* that much memory is not touched by calloc */
	if (p && bytes > 2 * page)
		madvise(p + from, (bytes - from) / page * page, MADV_HUGEPAGE);
	return p;
}

struct reuse *
reuse_new(unsigned shift, unsigned kinds)
{
	struct reuse *r = calloc(1, sizeof *r);

	if (!r)
		return NULL;
	r->shift = shift;
	r->kinds = kinds;
	r->weight = 1;
	r->nslot = 1024;
	r->nbits = FEWEST_BITS;
	r->roomhist = 1024;
	r->slot = calloc(r->nslot, sizeof *r->slot);
	r->bits = calloc(r->nbits / 64, sizeof *r->bits);
	r->tree = calloc((r->nbits >> BLOCK_SHIFT) + 1, sizeof *r->tree);
	r->hist = calloc(r->roomhist, sizeof *r->hist);
	if (r->slot && r->bits && r->tree && r->hist)
		return r;
	reuse_free(r);
	return NULL;
}

void
reuse_free(struct reuse *r)
{
	if (!r)
		return;
	free(r->slot);
	free(r->bits);
	free(r->tree);
	free(r->hist);
	free(r->first);
	free(r);
}

/* The instruction is not on every processor that this runs on, and the library function is slow */
static inline unsigned
ones(uint64_t v)
{
	v -= v >> 1 & UINT64_C(0x5555555555555555);
	v = (v & UINT64_C(0x3333333333333333)) + (v >> 2 & UINT64_C(0x3333333333333333));
	v = (v + (v >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
	return (unsigned)(v * UINT64_C(0x0101010101010101) >> 56);
}

static inline size_t
slot_first(const struct reuse *r, uint64_t key)
{
	return (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (r->nslot - 1);
}

/* The slot of key, or the free one where it belongs */
static inline struct slot *
slot_of(const struct reuse *r, uint64_t key)
{
	size_t i = slot_first(r, key);

	while (r->slot[i].key != key && r->slot[i].key)
		i = (i + 1) & (r->nslot - 1);
	return &r->slot[i];
}

static int
slots_grow(struct reuse *r)
{
	struct slot *old = r->slot;
	size_t n = r->nslot;
	struct slot *more = large_calloc(n, 2 * sizeof *more);

	if (!more)
		return -1;
	r->slot = more;
	r->nslot = 2 * n;
	for (size_t i = 0; i < n; i++)
		if (old[i].key)
			*slot_of(r, old[i].key) = old[i];
	free(old);
	return 0;
}

/* The set bits of the block before position pos, which is in it */
static inline uint64_t
block_before(const struct reuse *r, uint64_t pos)
{
	uint64_t w = pos >> 6, n = ones(r->bits[w] & ((UINT64_C(1) << (pos & 63)) - 1));

	while (w & (BLOCK_WORDS - 1))
		n += ones(r->bits[--w]);
	return n;
}

/* The set bits before position pos */
static inline uint64_t
bits_before(const struct reuse *r, uint64_t pos)
{
	uint64_t n = block_before(r, pos);

	for (uint64_t b = pos >> BLOCK_SHIFT; b; b &= b - 1)
		n += r->tree[b];
	return n;
}

/* Turns the bit at pos to the other value; by: 1, or -1 modulo 2^64 */
static inline void
bits_turn(struct reuse *r, uint64_t pos, uint64_t by)
{
	uint64_t nblock = r->nbits >> BLOCK_SHIFT;

	r->bits[pos >> 6] ^= UINT64_C(1) << (pos & 63);
	for (uint64_t b = (pos >> BLOCK_SHIFT) + 1; b <= nblock; b += b & -b)
		r->tree[b] += by;
	r->live += by;
}

/* Each line in the bitmap gets the number of set bits before it; the tree holds their sums meanwhile */
static void
number_again(struct reuse *r)
{
	uint64_t nblock = r->nbits >> BLOCK_SHIFT, sum = 0;

	for (uint64_t b = 0; b < nblock; b++) {
		r->tree[b] = sum;
		for (unsigned k = 0; k < BLOCK_WORDS; k++)
			sum += ones(r->bits[b * BLOCK_WORDS + k]);
	}
	for (size_t i = 0; i < r->nslot; i++) {
		struct slot *s = &r->slot[i];

		if (s->key && s->pos != NOWHERE)
			s->pos = r->tree[s->pos >> BLOCK_SHIFT] + block_before(r, s->pos);
	}
}

/* The bitmap of the first r->live positions, and its tree */
static void
bits_fill(struct reuse *r)
{
	uint64_t nblock = r->nbits >> BLOCK_SHIFT, left = r->live;

	memset(r->bits, 0, r->nbits / 8);
	memset(r->tree, 0, (nblock + 1) * sizeof *r->tree);
	memset(r->bits, 0xff, left / 64 * 8);
	if (left & 63)
		r->bits[left / 64] = (UINT64_C(1) << (left & 63)) - 1;
	for (uint64_t b = 1; b <= nblock; b++) {
		uint64_t up = b + (b & -b), here = left < 1u << BLOCK_SHIFT ? left : 1u << BLOCK_SHIFT;

		left -= here;
		r->tree[b] += here;
		if (up <= nblock)
			r->tree[up] += r->tree[b];
	}
}

/* All positions were used: new ones, at most a quarter of them at once */
static int
positions_compact(struct reuse *r)
{
	uint64_t nbits = r->nbits;
	uint64_t *bits, *tree;

	while (nbits < 4 * r->live)
		nbits *= 2;
	number_again(r);
	if (nbits != r->nbits) {
		bits = malloc(nbits / 8);
		tree = malloc(((nbits >> BLOCK_SHIFT) + 1) * sizeof *tree);
		if (!bits || !tree) {
			free(bits);
			free(tree);
			return -1;
		}
		free(r->bits);
		free(r->tree);
		r->bits = bits;
		r->tree = tree;
		r->nbits = nbits;
	}
	bits_fill(r);
	r->next = r->live;
	return 0;
}

static int
first_add(struct reuse *r, uint64_t key)
{
	if (buf_grow(&r->first, &r->roomfirst, r->nline + 1, sizeof *r->first) != 0)
		return -1;
	r->first[r->nline] = key - 1;
	return 0;
}

static int
hist_count(struct reuse *r, uint64_t d, uint64_t by)
{
	size_t old = r->roomhist;

	if (d >= old) {
		if (buf_grow(&r->hist, &r->roomhist, (size_t)d + 1, sizeof *r->hist) != 0)
			return -1;
		memset(r->hist + old, 0, (r->roomhist - old) * sizeof *r->hist);
	}
	r->hist[d] += by;
	if (d >= r->nhist)
		r->nhist = (size_t)d + 1;
	return 0;
}

/* A line comes to the array: from the bitmap, which has its distance, or for the first time */
static int
line_in(struct reuse *r, uint64_t key)
{
	struct slot *s = slot_of(r, key);
	uint64_t d;

	if (!s->key) {
		s->key = key;
		s->pos = NOWHERE;
		r->distance = REUSE_FIRST;
		if (r->first && first_add(r, key) != 0)
			return -1;
		return ++r->nline * 2 > r->nslot ? slots_grow(r) : 0;
	}
	d = REUSE_TOP + r->live - 1 - bits_before(r, s->pos);
	bits_turn(r, s->pos, UINT64_MAX);
	s->pos = NOWHERE;
	r->distance = d;
	__builtin_prefetch(&r->hist[d < r->roomhist ? d : 0], 1);
	r->found[r->nfound++] = d;
	return 0;
}

static int
line_out(struct reuse *r, uint64_t key)
{
	if (r->next == r->nbits && positions_compact(r) != 0)
		return -1;
	slot_of(r, key)->pos = r->next;
	bits_turn(r, r->next++, 1);
	return 0;
}

int
reuse_flush(struct reuse *r)
{
	size_t n = r->nqueue;

	r->nqueue = r->nfound = 0;
	for (size_t i = 0; i < n; i++) {
		const struct move *m = &r->queue[i];

		if (line_in(r, m->in) != 0 || (m->out && line_out(r, m->out) != 0))
			return -1;
	}
	for (size_t i = 0; i < r->nfound && r->weight; i++)
		if (hist_count(r, r->found[i], r->weight) != 0)
			return -1;
	return 0;
}

static inline int
line_access(struct reuse *r, uint64_t key)
{
	uint64_t last = key;

	r->accesses += r->weight;
	for (size_t d = 0; d < REUSE_TOP; d++) {
		uint64_t k = r->top[d];

		r->top[d] = last;
		if (k == key) {
			r->hist[d] += r->weight;
			if (d >= r->nhist)
				r->nhist = d + 1;
			return 0;
		}
		last = k;
	}
	__builtin_prefetch(&r->slot[slot_first(r, key)]);
	r->queue[r->nqueue++] = (struct move){ .in = key, .out = last };
	return r->nqueue == QUEUE ? reuse_flush(r) : 0;
}

int
reuse_access(struct reuse *r, uint64_t line)
{
	return line_access(r, line + 1);
}

int
reuse_take(struct reuse *r, const uint64_t *w, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t first, last;

		if (!(r->kinds >> ref_kind(w[i]) & 1))
			continue;
		reuse_lines_of(w[i], r->shift, &first, &last);
		if (line_access(r, first + 1) != 0)
			return -1;
		while (first < last)
			if (line_access(r, ++first + 1) != 0)
				return -1;
	}
	return reuse_flush(r);
}

void
reuse_counts(const struct reuse *r, struct reuse_counts *c)
{
	*c = (struct reuse_counts){ .accesses = r->accesses, .lines = r->nline, .hist = r->hist, .n = r->nhist };
}

/* The keys of all lines, the one accessed last at the end; the queue is empty */
static void
stack_copy(const struct reuse *r, uint64_t *key)
{
	size_t n = (size_t)r->live;

	for (size_t i = 0; i < r->nslot; i++)
		if (r->slot[i].key && r->slot[i].pos != NOWHERE)
			key[bits_before(r, r->slot[i].pos)] = r->slot[i].key;
	for (size_t d = REUSE_TOP; d-- > 0;)
		if (r->top[d])
			key[n++] = r->top[d];
}

/* All lines are forgotten, and nothing that was counted */
static void
lines_forget(struct reuse *r)
{
	memset(r->top, 0, sizeof r->top);
	memset(r->slot, 0, r->nslot * sizeof *r->slot);
	r->nline = 0;
	r->live = r->next = 0;
	bits_fill(r);
}

static void
hist_halve(struct reuse *r)
{
	for (size_t d = 0; d < r->nhist; d++) {
		uint64_t n = r->hist[d];

		r->hist[d] = 0;
		r->hist[d / 2] += n;
	}
	r->nhist = (r->nhist + 1) / 2;
}

int
reuse_halve(struct reuse *r, int (*keep)(void *, uint64_t), void *arg)
{
	uint64_t weight = r->weight, *key = malloc((r->nline + 1) * sizeof *key);
	size_t n = r->nline;
	int bad = 0;

	if (!key)
		return -1;
	stack_copy(r, key);
	lines_forget(r);
	r->weight = 0;
	for (size_t i = 0; i < n && !bad; i++)
		bad = keep(arg, key[i] - 1) && line_access(r, key[i]) != 0;
	free(key);
	if (bad || reuse_flush(r) != 0)
		return -1;
	hist_halve(r);
	r->weight = 2 * weight;
	return 0;
}

int
reuse_keep_firsts(struct reuse *r)
{
	return buf_grow(&r->first, &r->roomfirst, 1024, sizeof *r->first);
}

const uint64_t *
reuse_firsts(const struct reuse *r)
{
	return r->first;
}

void
reuse_stack(const struct reuse *r, uint64_t *line)
{
	stack_copy(r, line);
	for (size_t i = 0; i < r->nline; i++)
		line[i]--;
}

int
reuse_touch(struct reuse *r, uint64_t line, int counts, uint64_t *distance)
{
	uint64_t d = 0, weight = r->weight;
	int bad;

	while (d < REUSE_TOP && r->top[d] != line + 1)
		d++;
	r->weight = counts ? weight : 0;
	bad = line_access(r, line + 1) != 0 || reuse_flush(r) != 0;
	r->weight = weight;
	*distance = d < REUSE_TOP ? d : r->distance;
	return bad ? -1 : 0;
}

int
reuse_add(struct reuse *r, uint64_t distance, uint64_t n)
{
	r->accesses += n;
	return hist_count(r, distance, n);
}
