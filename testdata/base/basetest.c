/* Numbers, bytes, buffers and input windows of src/base. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "../check.h"
#include "base/buf.h"
#include "base/bytes.h"
#include "base/in.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/pool.h"

static void
numbers(void)
{
	static const char *const bad[] = {
		"", " 1", "1 ", "-1", "+1", "0x", "x1", "1k", "18446744073709551616", "0x10000000000000000",
		"1e3", "0b1", "1\n"
	};
	uint64_t v = 7;
	size_t i;
	int n = 0;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		n += num_u64(bad[i], 0, UINT64_MAX, &v) == -1;
	CHECK("num_u64 refuses what is no number", n == (int)i && v == 7);
	CHECK("num_u64 takes the largest", !num_u64("18446744073709551615", 0, UINT64_MAX, &v) &&
	    v == UINT64_MAX);
	CHECK("num_u64 takes hexadecimal", !num_u64("0xfFff", 0, UINT64_MAX, &v) && v == 0xffff);
	CHECK("num_u64 keeps to its bounds", num_u64("4", 5, 9, &v) && num_u64("10", 5, 9, &v) &&
	    !num_u64("9", 5, 9, &v));
	CHECK("num_size knows k, M, G", !num_size("3k", 0, UINT64_MAX, &v) && v == 3072 &&
	    !num_size("1G", 0, UINT64_MAX, &v) && v == 1u << 30);
	CHECK("num_size refuses overflow and trailers", num_size("17179869184G", 0, UINT64_MAX, &v) &&
	    num_size("1kk", 0, UINT64_MAX, &v) && num_size("k", 0, UINT64_MAX, &v));
	CHECK("num_hex stops at the first other byte", num_hex("12fG", 4, &v) == 3 && v == 0x12f);
	CHECK("num_hex refuses 17 digits", num_hex("11111111111111111", 17, &v) == 0);
	CHECK("num_dec refuses overflow", num_dec("18446744073709551616", 20, &v) == 0);
}

static void
bytes(void)
{
	static const uint8_t x[8] = { 0x81, 0x02, 0x03, 0x84, 0x05, 0x06, 0x07, 0x88 };
	uint8_t y[8];

	CHECK("get_le*", get_le16(x) == 0x0281 && get_le32(x) == 0x84030281 &&
	    get_le64(x) == 0x8807060584030281);
	CHECK("get_be*", get_be16(x) == 0x8102 && get_be32(x) == 0x81020384 &&
	    get_be64(x) == 0x8102038405060788);
	CHECK("get_le of 0 and 3 bytes", get_le(x, 0) == 0 && get_le(x, 3) == 0x030281);
	put_le64(y, get_le64(x));
	CHECK("put_le64", !memcmp(x, y, 8));
	put_be64(y, get_be64(x));
	CHECK("put_be64", !memcmp(x, y, 8));
}

static void
buffers(void)
{
	struct buf b = BUF_INIT;
	size_t i;
	int good = 1;

	for (i = 0; i < 100000; i++)
		buf_le32(&b, (uint32_t)i);
	for (i = 0; i < 100000; i++)
		good &= get_le32(b.p + 4 * i) == i;
	CHECK("buf grows and keeps", good && b.n == 400000 && !b.nomem);
	CHECK("buf without memory says so", !buf_reserve(&b, SIZE_MAX / 2 + 1) && b.nomem && b.n == 400000);
	buf_u8(&b, 1);
	CHECK("and takes nothing more", b.n == 400000);
	buf_free(&b);
	buf_printf(&b, "%s-%d", "x", 5);
	CHECK("buf_printf", b.n == 3 && !memcmp(b.p, "x-5", 3));
	buf_free(&b);
}

/* Windows of every size over a known text */
static void
windows(void)
{
	static uint8_t text[3000];
	struct in *in;
	size_t i, have, want, pos;
	int good = 1;

	for (i = 0; i < sizeof(text); i++)
		text[i] = (uint8_t)(i * 7 + i / 256);
	for (want = 1; want < 700; want += 13) {
		in = in_mem(text, sizeof(text), "text");
		for (pos = 0; pos < sizeof(text); pos += i) {
			const uint8_t *p = in_peek(in, want, &have);

			good &= have >= want || pos + have == sizeof(text);
			i = have < want ? have : want;
			good &= !memcmp(p, text + pos, i) && in_off(in) == pos;
			in_skip(in, i);
		}
		in_peek(in, 1, &have);
		good &= !have && !in_error(in);
		in_close(in);
	}
	CHECK("in_peek over memory", good);
}

static atomic_int let_go;

static void
pool_waits(void *arg, unsigned thread, void *job)
{
	(void)arg, (void)thread, (void)job;
	while (!let_go)
		;
}

static void
pool_lets_go(void *arg, unsigned thread, void *job)
{
	(void)arg, (void)thread, (void)job;
	let_go = 1;
}

/* Jobs in order, and one beside them, which is waited for before them. */
static void
jobs(void)
{
	int one, two;
	struct pool_beside b = { .work = pool_lets_go };
	struct par *p = pool_new(2, pool_waits, NULL);

	pool_submit(p, &one);
	pool_submit(p, &two);
	CHECK("a job is not done that waits", !pool_is_done(p));
	let_go = 2;     /* they may have taken all threads */
	pool_beside(p, &b);
	pool_beside_wait(p, &b);
	CHECK("a job beside others is done by itself", pool_beside_is_done(p, &b) && let_go == 1);
	CHECK("the others come in order", pool_wait(p) == &one && pool_wait(p) == &two && !pool_wait(p));
	pool_free(p);
}

int
main(void)
{
	size_t cap = 0;
	int *p = NULL, *q;

	numbers();
	bytes();
	buffers();
	windows();
	jobs();
	p = mem_xgrow(p, &cap, 17, sizeof(*p));
	CHECK("xgrow doubles", cap == 32);
	q = mem_xgrow(p, &cap, 32, sizeof(*p));
	CHECK("xgrow leaves what is enough", q == p && cap == 32);
	free(q);
	return check_end();
}
