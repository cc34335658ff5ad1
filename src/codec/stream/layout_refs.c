/*
 * Value streams: references of ref(5) as columns. A word is a tag, bits 48 to 63, and an address.
 * Instruction fetches have their own columns. Other words are predicted from the fetch that they
 * follow: how many there are (which depends on where the program continues), their tags, their
 * addresses.
 */
#include "codec/stream/layout.h"

#define ADDR ((1ull << 48) - 1)

enum { C_PC, C_SIZE, C_COUNT, C_TAG, C_ADDR };

static int
is_inst(uint64_t w)
{
	return w >> 56 == 0;
}

/* The key of the j-th word after a fetch at pc, j from 0. */
static uint64_t
word_key(uint64_t pc, uint64_t j)
{
	return pc | j << 48;
}

static int
count_keys(struct vs_block *b)
{
	const uint64_t *pc = b->v[C_PC];
	size_t n = b->ninst;
	uint64_t *k;

	if (vs_reserve(&b->k[C_COUNT], &b->kcap[C_COUNT], n + 1) != 0)
		return -1;
	k = b->k[C_COUNT];
	for (size_t i = 0; i <= n; i++)
		k[i] = (i ? pc[i - 1] : 0) + (i < n ? pc[i] << 16 : 0);
	return 0;
}

static int
word_keys(struct vs_block *b)
{
	const uint64_t *count = b->v[C_COUNT];
	uint64_t left = b->n - b->ninst, *k;

	if (vs_reserve(&b->k[C_TAG], &b->kcap[C_TAG], left) != 0)
		return -1;
	k = b->k[C_TAG];
	for (size_t i = 0; i <= b->ninst; i++) {
		uint64_t pc = i ? b->v[C_PC][i - 1] : 0;

		if (count[i] > left)
			return 1;
		left -= count[i];
		for (uint64_t j = 0; j < count[i]; j++)
			*k++ = word_key(pc, j);
	}
	return left != 0;
}

int
vs_ref_shape(struct vs_block *b, unsigned c)
{
	static const uint8_t width[VS_REFCOLS] = { 8, 1, 4, 2, 8 };
	struct vc_col *col = &b->col[c];
	int bad;

	if (b->ninst > b->n)
		return 1;
	col->width = width[c];
	switch (c) {
	case C_PC:
		col->n = b->ninst;
		col->key = NULL;
		break;
	case C_SIZE:
		col->n = b->ninst;
		col->key = b->v[C_PC];
		break;
	case C_COUNT:
		col->n = b->ninst + 1;
		if (count_keys(b) != 0)
			return -1;
		col->key = b->k[C_COUNT];
		break;
	case C_TAG:
		col->n = b->n - b->ninst;
		bad = word_keys(b);
		if (bad)
			return bad;
		col->key = b->k[C_TAG];
		break;
	default:
		col->n = b->n - b->ninst;
		col->key = b->k[C_TAG];
	}
	return 0;
}

/* Allocates all columns first, because their lengths depend on each other. */
int
vs_ref_split(struct vs_block *b)
{
	size_t i, j = 0, k = 0;

	b->ninst = 0;
	for (i = 0; i < b->n; i++)
		b->ninst += is_inst(b->word[i]);
	if (vs_reserve(&b->v[C_PC], &b->cap[C_PC], b->ninst) != 0 ||
	    vs_reserve(&b->v[C_SIZE], &b->cap[C_SIZE], b->ninst) != 0 ||
	    vs_reserve(&b->v[C_COUNT], &b->cap[C_COUNT], b->ninst + 1) != 0 ||
	    vs_reserve(&b->v[C_TAG], &b->cap[C_TAG], b->n - b->ninst) != 0 ||
	    vs_reserve(&b->v[C_ADDR], &b->cap[C_ADDR], b->n - b->ninst) != 0)
		return -1;
	b->v[C_COUNT][0] = 0;
	for (i = 0; i < b->n; i++) {
		uint64_t w = b->word[i];

		if (is_inst(w)) {
			b->v[C_PC][j] = w & ADDR;
			b->v[C_SIZE][j++] = w >> 48;
			b->v[C_COUNT][j] = 0;
		} else {
			b->v[C_COUNT][j]++;
			b->v[C_TAG][k] = w >> 48;
			b->v[C_ADDR][k++] = w & ADDR;
		}
	}
	for (unsigned c = 0; c < VS_REFCOLS; c++)
		if (vs_prepare_column(&(struct vs_layout){ .ref = 1 }, b, c) != 0)
			return -1;
	return 0;
}

int
vs_ref_join(struct vs_block *b)
{
	uint64_t *w;
	size_t k = 0;

	if (vs_reserve(&b->word, &b->wordcap, b->n) != 0)
		return -1;
	w = b->word;
	for (size_t i = 0; i <= b->ninst; i++) {
		if (i) {
			if (b->v[C_PC][i - 1] > ADDR)
				return 1;
			*w++ = b->v[C_PC][i - 1] | b->v[C_SIZE][i - 1] << 48;
		}
		for (uint64_t j = b->v[C_COUNT][i]; j; j--, k++) {
			if (b->v[C_ADDR][k] > ADDR || b->v[C_TAG][k] < 256)
				return 1;
			*w++ = b->v[C_ADDR][k] | b->v[C_TAG][k] << 48;
		}
	}
	return 0;
}
