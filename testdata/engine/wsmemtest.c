/*
 * Memory of a replayed program: mappings that come, split, move and go, and what they hold; two
 * that collide; a huge one
 */
#include <string.h>
#include <sys/mman.h>

#include "../check.h"
#include "replay/guest/memory.h"

#define P 4096u

static struct mem m;
static uint64_t told;

static void
changed(void *arg, uint64_t addr, uint64_t len)
{
	(void)arg;
	(void)addr;
	told += len;
}

static int
map(uint64_t addr, uint64_t pages, const char *name)
{
	struct ws_rec_map r = { .addr = addr, .len = pages * P, .prot = 3, .name = name, .offset = 0x10000 };

	return mem_map(&m, &r);
}

static int
put(uint64_t addr, const void *p, size_t n)
{
	return mem_write(&m, &(struct ws_rec_mem){ .addr = addr, .p = p, .n = n });
}

/* The areas are exactly these: pairs of first and one past the last page, relative to base */
static int
areas(uint64_t base, size_t n, const unsigned *pages)
{
	if (m.n != n)
		return 0;
	for (size_t i = 0; i < n; i++)
		if (m.area[i].m.addr != base + pages[2 * i] * (uint64_t)P ||
		    m.area[i].m.addr + m.area[i].m.len != base + pages[2 * i + 1] * (uint64_t)P)
			return 0;
	return 1;
}

static void
test_split(void)
{
	const uint64_t a = 0x7f1234560000;
	char b[16] = "";

	CHECK("map", map(a, 16, "/lib/x") == 0);
	CHECK("write over a page's end", put(a + P - 4, "abcdefgh", 8) == 0);
	CHECK("read it", mem_read(&m, a + P - 4, b, 8) == 8 && memcmp(b, "abcdefgh", 8) == 0);
	CHECK("unmap the middle", mem_unmap(&m, a + 4 * P, 2 * P) == 0);
	CHECK("two are left", areas(a, 2, (unsigned[]){ 0, 4, 6, 16 }));
	CHECK("the second's offset", m.area[1].m.offset == 0x10000 + 6 * P);
	CHECK("the hole is none's", mem_find(&m, a + 4 * P) == NULL && mem_find(&m, a + 6 * P - 1) == NULL);
	CHECK("reading stops there", mem_read(&m, a + 4 * P - 3, b, 8) == 3);
	CHECK("writing there fails", put(a + 4 * P - 3, "abcdefgh", 8) == -1);
	CHECK("map over the hole and around", map(a + 3 * P, 4, NULL) == 0);
	CHECK("three", areas(a, 3, (unsigned[]){ 0, 3, 3, 7, 7, 16 }));
	CHECK("protect", mem_protect(&m, a + 8 * P, P, 5) == 0 && m.n == 5 &&
	    mem_find(&m, a + 8 * P)->m.prot == 5);
	CHECK("unmap all, and around", mem_unmap(&m, a - 4 * P, 64 * P) == 0 && m.n == 0);
}

static void
test_move(void)
{
	const uint64_t a = 0x555500000000, b = 0x7f0000000000, c2 = 0x7f1000000000;
	char c[8] = "";

	CHECK("map", map(a, 4, "") == 0 && put(a, "first", 5) == 0 && put(a + 2 * P, "third", 5) == 0);
	CHECK("move and grow", mem_move(&m, &(struct ws_rec_move){ a, 4 * P, b, 8 * P }) == 0);
	CHECK("areas", areas(b, 1, (unsigned[]){ 0, 8 }));
	CHECK("contents go along", mem_read(&m, b + 2 * P, c, 5) == 5 && memcmp(c, "third", 5) == 0);
	CHECK("zero behind", mem_read(&m, b + 7 * P, c, 1) == 1 && c[0] == 0);
	CHECK("a part moves", mem_move(&m, &(struct ws_rec_move){ b + 2 * P, P, a, P }) == 0 && m.n == 3);
	CHECK("its contents", mem_read(&m, a, c, 5) == 5 && memcmp(c, "third", 5) == 0);
	CHECK("grow in place", mem_move(&m, &(struct ws_rec_move){ a, P, a, 3 * P }) == 0 &&
	    mem_find(&m, a + 2 * P));
	CHECK("shrink in place", mem_move(&m, &(struct ws_rec_move){ a, 3 * P, a, P }) == 0 &&
	    !mem_find(&m, a + P));
	for (unsigned i = 1; i < 9; i++)
		if (put(a + (i - 1) * P, "z", 1) != 0 ||
		    mem_move(&m, &(struct ws_rec_move){ a, i * P, c2, (i + 1) * P }) != 0 ||
		    mem_move(&m, &(struct ws_rec_move){ c2, (i + 1) * P, a, (i + 1) * P }) != 0)
			CHECK("back and forth, growing", 0);
	CHECK("all pages went along", mem_read(&m, a + 7 * P, c, 1) == 1 && c[0] == 'z');
	CHECK("shrink again", mem_move(&m, &(struct ws_rec_move){ a, 9 * P, c2, P }) == 0 &&
	    !mem_find(&m, a) && mem_find(&m, c2));
	CHECK("once more", mem_move(&m, &(struct ws_rec_move){ c2, P, a, P }) == 0);
	CHECK("nothing to move", mem_move(&m, &(struct ws_rec_move){ a + P, P, b, P }) == -1);
	CHECK("onto itself", mem_move(&m, &(struct ws_rec_move){ b, 2 * P, b + P, 2 * P }) == -1);
}

#define GB (UINT64_C(1) << 30)

static void
test_odd(void)
{
	const uint64_t a = 0x10000000000, b = 0x600000000000;
	char c = 1, two[2];

	CHECK("not whole pages", mem_unmap(&m, a + 1, P) == -1 && mem_unmap(&m, a, 17) == -1 &&
	    mem_unmap(&m, a, 0) == -1);
	CHECK("8 TiB that are not used", map(a, UINT64_C(1) << 31, "") == 0);
	CHECK("used at its end", put(a + (UINT64_C(1) << 43) - 1, "x", 1) == 0);
	CHECK("what lies at the same place here is refused", map(a + rp_mask + 1, 1, "") == -1 &&
	    strstr(m.err, "taken by 0x80000000000 bytes at 0x10000000000"));
	CHECK("over the end of the window", map(rp_mask + 1 - P, 2, "") == -1);
	CHECK("zeroing gives back", put(a, "y", 1) == 0 && put(a, NULL, 1 << 20) == 0 &&
	    mem_read(&m, a, &c, 1) == 1 && c == 0);
	CHECK("what was not touched is closed", rp_closed(a + (UINT64_C(1) << 42)) && !rp_closed(a) &&
	    !rp_closed(a + (UINT64_C(1) << 43) - 1));
	CHECK("a part is unmapped, what is around it opens", mem_unmap(&m, a + GB + P, 3 * GB) == 0 &&
	    !rp_closed(a + GB) && !rp_closed(a + 2 * GB) && !rp_closed(a + 4 * GB) && rp_closed(a + 5 * GB) &&
	    put(a + GB, "z", 1) == 0 && put(a + 4 * GB + P, "z", 1) == 0 && put(a + 2 * GB, "z", 1) == -1);
	CHECK("moved, and touched there", mem_move(&m, &(struct ws_rec_move){ a + 8 * GB, 2 * GB, b, 2 * GB }) == 0 &&
	    !rp_closed(b + GB) && put(b + GB, "z", 1) == 0 && mem_read(&m, b + GB - 1, two, 2) == 2 && !two[0] &&
	    two[1] == 'z' && mem_unmap(&m, b, 2 * GB) == 0);
	CHECK("unmap", mem_unmap(&m, a, UINT64_C(1) << 43) == 0 && !rp_closed(a + 5 * GB));
}

static void
test_many(void)
{
	int good = 1;

	for (unsigned i = 0; i < 5000; i++)
		good &= map(0x600000000000 + (uint64_t)(i * 7919 % 5000) * 2 * P, 1, "") == 0;
	CHECK("5000 mappings", good);
	for (unsigned i = 0; i < 5000; i++) {
		const struct mem_area *a = mem_find(&m, 0x600000000000 + (uint64_t)i * 2 * P + 17);

		good &= a && a->m.addr == 0x600000000000 + (uint64_t)i * 2 * P;
	}
	CHECK("each is found", good);
}

int
main(void)
{
	struct rp_core *core = rp_core_new();   /* chooses the window, and opens what is touched of large areas */

	if (!core) {
		fprintf(stderr, "%s\n", rp_core_why());
		return 2;
	}
	m.changed = changed;
	test_split();
	test_move();
	test_odd();
	test_many();
	CHECK("whoever keeps code is told", told > 0);
	mem_free(&m);
	CHECK("all of it is gone", mmap(rp_host(0x555500000000), P, PROT_READ,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) ==
	    rp_host(0x555500000000));
	rp_core_free(core);
	return check_end();
}
