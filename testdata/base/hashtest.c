/* base/hash.h against plain searches: few hashes for many keys, growing, numbers that are there already. */
#include <string.h>

#include "../check.h"
#include "../random.h"
#include "base/hash.h"

#define MANY 5000u

static uint64_t key[MANY];

/* The first of key[0 .. n - 1] that is k, or HASH_NONE */
static uint32_t
plain_find(uint32_t n, uint64_t k)
{
	for (uint32_t i = 0; i < n; i++)
		if (key[i] == k)
			return i;
	return HASH_NONE;
}

static uint32_t
table_find(const struct hash *t, uint64_t k, uint64_t hashes)
{
	uint32_t h = (uint32_t)(hash_number(k) % hashes), at = h, i;

	while ((i = hash_find(t, h, &at)) != HASH_NONE && key[i] != k)
		;
	return i;
}

/* Are all keys found, and others not?  So many different hashes; so many of a hash are in a row, also around the end. */
static int
table(uint32_t many, uint64_t hashes)
{
	struct hash t = { 0 };
	uint32_t n = 0;
	int good = table_find(&t, 1, hashes) == HASH_NONE;

	while (n < many && good) {
		uint64_t k = rnd_below(many * 2);

		good = table_find(&t, k, hashes) == plain_find(n, k);
		if (table_find(&t, k, hashes) != HASH_NONE)
			continue;
		key[n] = k;
		good &= hash_add(&t, (uint32_t)(hash_number(k) % hashes), n++) == 0;
	}
	good &= t.n == n && t.nslot >= 2 * t.n;
	for (uint64_t k = 0; k < many * 2; k++)
		good &= table_find(&t, k, hashes) == plain_find(n, k);
	hash_free(&t);
	return good && !t.slot && table_find(&t, 1, hashes) == HASH_NONE;
}

/* Of equal hashes each element comes once */
static int
equal_hashes(void)
{
	struct hash t = { 0 };
	uint32_t at = UINT32_MAX - 1, i;
	uint64_t seen = 0;

	for (i = 0; i < 40; i++)
		if (hash_add(&t, i % 2 ? UINT32_MAX - 1 : UINT32_MAX, i) != 0)
			return 0;
	while ((i = hash_find(&t, UINT32_MAX - 1, &at)) != HASH_NONE)
		if (i >= 40 || i % 2 == 0 || seen >> i & 1)
			return 0;
		else
			seen |= UINT64_C(1) << i;
	hash_free(&t);
	return seen == UINT64_C(0xaaaaaaaaaa);
}

static int
set(void)
{
	struct hash_set s = { 0 };
	uint32_t n = 0;
	int good = !hash_set_has(&s, 1) && !hash_set_has(&s, 0);

	while (n < MANY && good) {
		uint64_t k = (rnd_below(MANY * 2) + 1) << 40;
		int new = plain_find(n, k) == HASH_NONE;

		good = hash_set_has(&s, k) == !new && hash_set_add(&s, k) == new && hash_set_has(&s, k);
		if (new)
			key[n++] = k;
	}
	good &= s.n == n && !hash_set_has(&s, 0);
	hash_set_free(&s);
	return good && !hash_set_has(&s, key[0]);
}

int
main(void)
{
	CHECK("keys with hashes of their own", table(MANY, UINT64_C(1) << 32));
	CHECK("hundreds of keys of a hash", table(2000, 5));
	CHECK("equal hashes, around the end", equal_hashes());
	CHECK("a set of numbers", set());
	CHECK("a string's hash is of its bytes", hash_bytes("abc", 3) == hash_bytes("abcd", 3) &&
	    hash_bytes("abc", 3) != hash_bytes("abd", 3) && hash_bytes("", 0) != hash_bytes("", 1));
	return check_end();
}
