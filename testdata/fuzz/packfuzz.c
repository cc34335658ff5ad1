/*
 * Packed event files: the input is a byte, a number of 4 bytes, an executable of so many bytes, and a file. With an even first
 * byte it is a packed one: its check sums are mended, and it is to be unpacked, with a fault or not. With an odd one
 * it is an event file: what can be packed is to be the same when it was unpacked.
 */
#include "ae/pack/pack.h"
#include "base/buf.h"
#include "base/bytes.h"
#include "format/ae/events.h"
#include "fuzz.h"

#define MOST (32u << 20)        /* bytes that are unpacked */

static void
keep(void *arg, const void *p, size_t n)
{
	buf_add(arg, p, n);
}

static void
mend(uint8_t *p, size_t n)
{
	for (size_t at = 16; n - at >= 16 && at < n;) {
		size_t len = get_le32(p + at + 4), have = n - at - 16;

		if (len > have)
			return;
		put_le64(p + at + 8, ev_checksum(p + at + 16, len));
		at += 16 + len;
	}
}

/* Unpacks n bytes: 1, or 0 after a fault */
static int
unpacked(struct exe *x, const uint8_t *p, size_t n, struct buf *to)
{
	struct in *in = in_mem(p, n, "packed");
	void *u = unpack_new(in, x);
	static uint8_t b[4096];
	size_t got;
	int good;

	if (!u)
		exit(2);
	while (to->n < MOST && (got = unpack_read(u, b, sizeof b)) > 0)
		buf_add(to, b, got);
	good = unpack_fault(u) == NULL;
	if (!good && !*unpack_fault(u)->err)
		abort();
	unpack_free(u);
	in_close(in);
	return good;
}

static void
file(struct exe *x, int events, uint8_t *p, size_t n)
{
	struct buf packed = BUF_INIT, back = BUF_INIT;
	struct in *in;
	struct fault f;

	if (!events) {
		if (n >= 32)
			mend(p, n);
		unpacked(x, p, n, &back);
	} else {
		in = in_mem(p, n, "events");
		if (pack_file(in, x, keep, &packed, &f) == 0 &&
		    (!unpacked(x, packed.p, packed.n, &back) || back.n != n || memcmp(back.p, p, n) != 0))
			abort();
		in_close(in);
	}
	buf_free(&packed);
	buf_free(&back);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	size_t len = n < 5 ? n : get_le32(data + 1);
	struct exe x;
	uint8_t *elf, *rest;

	if (n < 5 || len > n - 5)
		return 0;
	elf = malloc(len + 1);
	rest = malloc(n - 5 - len + 1);
	if (!elf || !rest)
		exit(2);
	memcpy(elf, data + 5, len);
	memcpy(rest, data + 5 + len, n - 5 - len);
	if (exe_open_mem(&x, elf, len) == 0) {
		if (exe_need_schema(&x) == 0)
			file(&x, data[0] & 1, rest, n - 5 - len);
		exe_close(&x);
	}
	free(rest);
	return 0;
}
