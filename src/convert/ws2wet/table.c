/* ws2wet: maps an instance of the run to its statement and instance number. */
#include <sys/mman.h>

#include "base/diag.h"
#include "convert/ws2wet/ws2wet.h"

/* in place of an atom: a number of instances that are not in the text */
#define GAP  0xffffffffu
#define SAME 0xfffffffeu                /* an instance that counts as the previous one: a signal */
#define GAP_MAX 255u

static void *
ws2wet_table_room(uint64_t n)
{
	void *p = mmap(NULL, (n + 2) * 8, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		die("no memory for %llu statements", (unsigned long long)n);
	return p;
}

void
table_new(struct table *t, uint64_t base, uint64_t n)
{
	*t = (struct table){ .ent = ws2wet_table_room(n), .idx = ws2wet_table_room(n / 32 + 1),
		.base = base, .most = n };
}

void
table_free(struct table *t)
{
	if (t->ent)
		munmap(t->ent, (t->most + 2) * 8);
	if (t->idx)
		munmap(t->idx, (t->most / 32 + 3) * 8);
	*t = (struct table){ 0 };
}

static void
ws2wet_table_add(struct table *t, uint32_t atom, uint32_t v, uint32_t len)
{
	uint64_t first = (t->end + 31) / 32;

	if (t->end + len > t->most)
		die("the replay differs from the one before");
	for (uint64_t i = first; i * 32 < t->end + len; i++)
		t->idx[i] = t->n << 8 | (i * 32 - t->end);
	t->ent[t->n++] = (uint64_t)atom << 32 | v;
	t->end += len;
}

void
table_atom(struct table *t, uint32_t atom, uint32_t instance, uint32_t len)
{
	ws2wet_table_add(t, atom, instance, len);
}

void
table_gap(struct table *t, uint64_t n)
{
	while (n) {
		uint32_t k = n < GAP_MAX ? (uint32_t)n : GAP_MAX;

		/* gaps often come in many short pieces: extend the last one */
		if (t->n && t->ent[t->n - 1] >> 32 == GAP && (uint32_t)t->ent[t->n - 1] + k <= GAP_MAX) {
			uint64_t start = t->end - (uint32_t)t->ent[t->n - 1];

			t->n--;
			t->end = start;
			k += (uint32_t)t->ent[t->n];
			n += (uint32_t)t->ent[t->n];
		}
		ws2wet_table_add(t, GAP, k, k);
		n -= k;
	}
}

void
table_repeat(struct table *t)
{
	ws2wet_table_add(t, SAME, 1, 1);
}

uint64_t
table_lookup(const struct job *j, uint64_t n)
{
	const struct table *t = &j->table;
	uint64_t i, e;
	uint32_t off;

	if (n <= t->base || n - t->base > t->end)
		return 0;
	for (n -= t->base + 1;; n--) {
		i = t->idx[n / 32] >> 8;
		off = (uint32_t)(t->idx[n / 32] & 255) + (uint32_t)(n % 32);
		for (;; i++) {
			uint32_t a, len;

			e = t->ent[i];
			a = (uint32_t)(e >> 32);
			len = a == GAP ? (uint32_t)e : a == SAME ? 1 : j->stmts.atom[a].len;
			if (off < len)
				break;
			off -= len;
		}
		if (e >> 32 == GAP)
			return 0;
		if (e >> 32 != SAME)
			return (uint64_t)j->stmts.stmt[j->stmts.atomstmt[
			    j->stmts.atom[e >> 32].first + off]].id << 32 | (uint32_t)e;
		if (n == 0)
			return 0;
	}
}
