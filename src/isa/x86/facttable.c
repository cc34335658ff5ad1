/* Tables of facts, which grow with the program; facts live in pieces of memory that are never moved. */
#include <stdlib.h>
#include <string.h>
#include "isa/x86/fact.h"

#define PIECE 65536u
#define HEAD  16u               /* bytes before the facts of a piece */

struct fact_piece { struct fact_piece *before; };

/* Hash of an address. Neighbours stay neighbours, because code is usually looked up in order. */
static size_t
fact_table_place(uint64_t pc, size_t n)
{
	return (size_t)(pc ^ pc >> 24) & (n - 1);
}

static size_t
fact_table_hash(uint64_t v, size_t n)
{
	return (size_t)((v * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & (n - 1);
}

/* Hash of a block, from the numbers of its instructions. */
static uint64_t
fact_table_sum(const struct fact *const *f, unsigned n)
{
	uint64_t h = n;

	for (unsigned i = 0; i < n; i++)
		h = h * 31 + f[i]->id;
	return h;
}

void *
facts_alloc(struct facts *t, size_t n)
{
	void *p;

	n = (n + 15) & ~(size_t)15;
	if (n > t->left) {
		struct fact_piece *q = malloc(PIECE);

		if (q == NULL)
			return NULL;
		q->before = t->piece;
		t->piece = q;
		t->left = PIECE - HEAD;
	}
	p = (char *)t->piece + PIECE - t->left;
	t->left -= n;
	return p;
}

/* Doubles the buckets once there are as many facts as buckets; -1 without memory. */
static int
more_facts(struct facts *t)
{
	size_t n = t->nbucket ? t->nbucket * 2 : 4096;
	struct fact **to;

	if (t->n < t->nbucket)
		return 0;
	if ((to = calloc(n, sizeof(struct fact *))) == NULL)
		return -1;
	for (size_t i = 0; i < t->nbucket; i++)
		for (struct fact *f = t->insn[i], *next; f; f = next) {
			struct fact **head = &to[fact_table_place(f->pc, n)];

			next = f->hnext;
			f->hnext = *head;
			*head = f;
		}
	free(t->insn);
	t->insn = to;
	t->nbucket = n;
	return 0;
}

static int
more_blocks(struct facts *t)
{
	size_t n = t->nblockbucket ? t->nblockbucket * 2 : 4096;
	struct fact_block **to;

	if (t->nblock < t->nblockbucket)
		return 0;
	if ((to = calloc(n, sizeof(struct fact_block *))) == NULL)
		return -1;
	for (size_t i = 0; i < t->nblockbucket; i++)
		for (struct fact_block *b = t->block[i], *next; b; b = next) {
			struct fact_block **head = &to[fact_table_hash(fact_table_sum(b->f, b->n), n)];

			next = b->hnext;
			b->hnext = *head;
			*head = b;
		}
	free(t->block);
	t->block = to;
	t->nblockbucket = n;
	return 0;
}

struct fact **
facts_bucket(struct facts *t, uint64_t pc)
{
	return more_facts(t) == 0 ? &t->insn[fact_table_place(pc, t->nbucket)] : NULL;
}

struct fact_block *
fact_block_get(struct facts *t, const struct fact *const *f, const uint8_t *idx, unsigned n, int bare)
{
	struct fact_block **head, *b;

	if (more_blocks(t) != 0)
		return NULL;
	head = &t->block[fact_table_hash(fact_table_sum(f, n), t->nblockbucket)];
	for (b = *head; b; b = b->hnext)
		if (b->n == n && b->bare == bare && memcmp(b->f, f, n * sizeof *f) == 0 && !b->idx == !idx &&
		    (!idx || memcmp(b->idx, idx, n) == 0))
			return b;
	if ((b = facts_alloc(t, sizeof *b + n * sizeof *f + n)) == NULL)
		return NULL;
	t->nblock++;
	b->n = n;
	b->bare = bare;
	b->plan = NULL;
	memcpy(b->f, f, n * sizeof *f);
	b->idx = idx ? memcpy(&b->f[n], idx, n) : NULL;
	b->hnext = *head;
	return *head = b;
}

void
facts_free(struct facts *t)
{
	if (t == NULL)
		return;
	for (size_t i = 0; i < t->nblockbucket; i++)
		for (struct fact_block *b = t->block[i]; b; b = b->hnext)
			free(b->plan);
	while (t->piece) {
		struct fact_piece *p = t->piece;

		t->piece = p->before;
		free(p);
	}
	free(t->insn);
	free(t->block);
	free(t);
}
