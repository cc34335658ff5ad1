/*
 * Displacements of code as absolute addresses, section "Converted code" of
 * ws(5): against a decoder made from the page, on all beginnings of
 * instructions and on random code; which of them Zydis says to be one.
 */
#include <stdlib.h>
#include <string.h>
#include <Zydis/Zydis.h>

#include "../check.h"
#include "../random.h"
#include "base/bytes.h"
#include "format/ws/ws_internal.h"

#define ADDR 0x7ffff7dd1000u


/* The k of the page */
static unsigned
precede(const uint8_t *p, size_t left)
{
	unsigned pre = p[0] >= 0x40 && p[0] <= 0x4f;
	const uint8_t *q = p + pre;

	if (p[0] == 0xe8 || p[0] == 0xe9)
		return 1;
	if (left < 3u + pre)
		return 0;
	if (p[0] == 0x0f && p[1] >= 0x80 && p[1] <= 0x8f)
		return 2;
	if (q[0] == 0x0f) {
		if ((q[1] >= 0x80 && q[1] <= 0x8f) || q[1] == 0xe8 || q[1] == 0xe9)
			return 0;
		return (q[2] & 0xc7) == 5 ? pre + 3 : 0;
	}
	if (q[0] == 0xe8 || q[0] == 0xe9 || (q[1] & 0xc7) != 5)
		return 0;
	return pre || memchr("\x80\x83\x89\x8b\x8d\xff", q[0], 6) ? pre + 2 : 0;
}

/* The page's way back */
static void
back(uint8_t *p, size_t n, uint64_t addr)
{
	size_t i = 0;

	while (i < n) {
		unsigned k = n - i < 3 && (p[i] & 0xfe) != 0xe8 ? 0 : precede(p + i, n - i);
		uint32_t v;

		if (!k || i + k + 4 > n) {
			i++;
			continue;
		}
		i += k;
		v = get_be32(p + i);
		if ((uint32_t)(v + (1u << 24)) < 1u << 25)
			v = ((v - (uint32_t)(addr + i + 4) + (1u << 24)) & ((1u << 25) - 1)) - (1u << 24);
		put_le32(p + i, v);
		i += 4;
	}
}

/* How many bytes precede a displacement of 32 bits that is relative to rip, by Zydis; 0: none does */
static unsigned
by_zydis(const ZydisDecoder *d, const uint8_t *p)
{
	ZydisDecodedInstruction z;
	ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];

	if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(d, p, 15, &z, op)))
		return 0;
	if (z.raw.imm[0].is_relative)
		return z.raw.imm[0].size == 32 ? z.raw.imm[0].offset : 0;
	return z.raw.disp.size == 32 && z.attributes & ZYDIS_ATTRIB_HAS_MODRM && z.raw.modrm.mod == 0 &&
	    z.raw.modrm.rm == 5 ? z.raw.disp.offset : 0;
}

/*
 * Is it one that the list of ws(5) leaves out: an opcode that is not common, or of three bytes, or
 * found without its prefix?
 */
static int
left_out(const uint8_t *p)
{
	static const uint8_t prefixes[] = { 0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65, 0x66, 0x67, 0xf0, 0xf2, 0xf3,
	    0xc4, 0xc5, 0x62, 0x8f };
	unsigned pre = (p[0] & 0xf0) == 0x40;

	p += pre;
	return memchr(prefixes, p[0], sizeof prefixes) || (p[0] & 0xf0) == 0x40 ||
	    (p[0] == 0x0f && (p[1] == 0x38 || p[1] == 0x3a || p[1] == 0x0f || (p[1] & 0xfe) == 0xe8))
	    || (p[0] == 0xc7 && p[1] == 0xf8) || (pre && (p[0] & 0xfe) == 0xe8) ||
	    (pre && p[0] == 0x0f && (p[1] & 0xf0) == 0x80)
	    || (!pre && p[0] != 0x0f && !memchr("\x80\x83\x89\x8b\x8d\xff", p[0], 6));
}

/* All starts of three bytes, and after a prefix: how the displacement after them is converted. */
static void
beginnings(void)
{
	ZydisDecoder d;
	unsigned long right = 0, other = 0, missed = 0, wrong = 0;
	uint8_t p[16], q[16];
	unsigned i, pre, k;

	ZydisDecoderInit(&d, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	for (pre = 0; pre < 3; pre++)
		for (i = 0; i < 1u << 24; i++) {
			/* what the third byte is matters to opcodes that begin with 0f only */
			unsigned r = pre > 0, ask = (i & 255) == 0x0f || i >> 16 == 0x45;

			if (pre && i >> 23)             /* 40 and 4c: the rest of them are alike */
				break;
			memset(p, 0x90, sizeof p);
			p[0] = pre == 2 ? 0x4c : 0x40;
			p[r] = (uint8_t)i;
			p[r + 1] = (uint8_t)(i >> 8);
			p[r + 2] = (uint8_t)(i >> 16);
			k = precede(p, 12);
			put_le32(p + (k ? k : 3 + r), 0x00123456);
			memcpy(q, p, sizeof p);
			/* nothing but the first place, as far as the bytes go */
			ws_x86_absolute(q, k ? k + 4 : 3 + r, ADDR);
			if (k) {
				uint32_t want = 0x00123456 + (uint32_t)ADDR + k + 4;

				want = ((want + (1u << 24)) & ((1u << 25) - 1)) - (1u << 24);
				wrong += get_be32(q + k) != want || memcmp(p, q, k) != 0;
				if (ask)
					by_zydis(&d, p) == k ? right++ : other++;
			} else {
				wrong += memcmp(p, q, 3) != 0;
				if (ask && !left_out(p) && by_zydis(&d, p) && missed++ < 5)
					printf("# missed: %02x %02x %02x %02x\n", p[0], p[1], p[2], p[3]);
			}
		}
	printf("# beginnings: %lu are converted, by Zydis %lu of them are relative to rip; %lu missed\n",
	    right + other, right, missed);
	CHECK("beginnings are converted as ws(5) says", wrong == 0);
	CHECK("by Zydis all that are relative to rip, but those that ws(5) leaves out", missed == 0 &&
	    right > 9000);
}

static void
fill(uint8_t *p, size_t n)
{
	static const uint8_t often[] = { 0xe8, 0xe9, 0x0f, 0x84, 0x48, 0x4c, 0x8b, 0x8d, 0x05, 0x0d, 0x3d,
	    0xff, 0x15, 0x25, 0x00, 0x00, 0xff, 0xff, 0x40 };

	while (n--)
		*p++ = rnd() % 3 ? often[rnd() % sizeof often] : (uint8_t)rnd();
}

static void
round_trips(void)
{
	uint8_t p[300], q[300], r[300];
	unsigned i, wrong = 0, other = 0, changed = 0;

	for (i = 0; i < 200000; i++) {
		size_t n = rnd() % (i % 2 ? 24 : sizeof p);
		uint64_t addr = rnd() >> rnd() % 64;

		fill(p, n);
		memcpy(q, p, n);
		ws_x86_absolute(q, n, addr);
		changed += memcmp(p, q, n) != 0;
		memcpy(r, q, n);
		ws_x86_relative(r, n, addr);
		wrong += memcmp(p, r, n) != 0;
		back(q, n, addr);
		other += memcmp(p, q, n) != 0;
		/* what a stranger wrote has a way back, too */
		memcpy(q, p, n);
		memcpy(r, p, n);
		ws_x86_relative(q, n, addr);
		back(r, n, addr);
		other += memcmp(q, r, n) != 0;
	}
	CHECK("random code is the same after both ways", wrong == 0 && changed > 100000);
	CHECK("and after the page's way back", other == 0);
}

/* Fixed bytes: a call, a load through rip with a prefix, a jump; the same after them is no part of any */
static void
fixed(void)
{
	static const uint8_t code[] = {
		0xe8, 0x10, 0x00, 0x00, 0x00, 0x48, 0x8b, 0x05, 0xf0, 0xff, 0xff, 0xff, 0x0f, 0x84, 0x00,
		    0x00, 0x00, 0x01, 0xb8, 0xe0, 0x34, 0x12, 0x00, 0x90,
		0x0f, 0x85, 0x00, 0x00, 0x00, 0x80
	}, want[] = {
		0xe8, 0x00, 0x00, 0x10, 0x15, 0x48, 0x8b, 0x05, 0x00, 0x00, 0x0f, 0xfc, 0x0f, 0x84, 0x01,
		    0x00, 0x00, 0x00, 0xb8, 0xe0, 0x34, 0x12, 0x00, 0x90,
		0x0f, 0x85, 0x80, 0x00, 0x00, 0x00
	};
	uint8_t p[sizeof code];

	memcpy(p, code, sizeof p);
	ws_x86_absolute(p, sizeof p, 0x401000 - 0x400000);
	CHECK("fixed bytes", memcmp(p, want, sizeof p) == 0);
	ws_x86_relative(p, sizeof p, 0x401000 - 0x400000);
	CHECK("and back", memcmp(p, code, sizeof p) == 0);
}

int
main(void)
{
	beginnings();
	round_trips();
	fixed();
	return check_end();
}
