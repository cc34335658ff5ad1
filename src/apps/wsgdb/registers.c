/* Registers as gdb numbers them: the target description, and their values. */
#include <cpuid.h>
#include <string.h>

#include "apps/wsgdb/wsgdb.h"
#include "base/bytes.h"

/* Offsets in a processor state, XSAVE's standard format */
enum { X_CW, X_SW = 2, X_TW = 4, X_OP = 6, X_IP = 8, X_DP = 16, X_MXCSR = 24, X_ST = 32, X_XMM = 160, X_BV = 512 };
enum { C_X87, C_SSE, C_AVX, C_MASK = 5, C_ZMM, C_ZMM16, C_PKRU = 9 };   /* components of a processor state */

/* Where the value is. */
enum where {
	GENERAL, RIP, EFLAGS, SEGMENT, ST, X87, MXCSR, XMM, NONE, BASE, YMMH, MASK, ZMMH, XMM16, YMM16H, ZMM16H,
	PKRU
};

#define WIDEST 32u              /* bytes of a register at most */

/* `count` registers: name, or name followed by first, first + 1, ... and then `tail` */
struct row {
	const char *feature;            /* the registers of a feature follow one another */
	unsigned need;                  /* bits of xcr0 that there must be */
	const char *name, *tail;
	unsigned first, count, bits;
	const char *type, *group;       /* group: or NULL */
	enum where where;
};

static const struct row row[] = {
#define GPR(name, type) { "core", 0, name, NULL, 0, 1, 64, type, NULL, GENERAL }
	GPR("rax", "int64"), GPR("rbx", "int64"), GPR("rcx", "int64"), GPR("rdx", "int64"),
	GPR("rsi", "int64"), GPR("rdi", "int64"), GPR("rbp", "data_ptr"), GPR("rsp", "data_ptr"),
	{ "core", 0, "r", "", 8, 8, 64, "int64", NULL, GENERAL },
	{ "core", 0, "rip", NULL, 0, 1, 64, "code_ptr", NULL, RIP },
	{ "core", 0, "eflags", NULL, 0, 1, 32, "i386_eflags", NULL, EFLAGS },
#define SEG(name) { "core", 0, name, NULL, 0, 1, 32, "int32", NULL, SEGMENT }
	SEG("cs"), SEG("ss"), SEG("ds"), SEG("es"), SEG("fs"), SEG("gs"),
	{ "core", 0, "st", "", 0, 8, 80, "i387_ext", NULL, ST },
#define FPU(name) { "core", 0, name, NULL, 0, 1, 32, "int", "float", X87 }
	FPU("fctrl"), FPU("fstat"), FPU("ftag"), FPU("fiseg"), FPU("fioff"), FPU("foseg"), FPU("fooff"),
	FPU("fop"),
	{ "sse", 0, "xmm", "", 0, 16, 128, "vec128", NULL, XMM },
	{ "sse", 0, "mxcsr", NULL, 0, 1, 32, "i386_mxcsr", "vector", MXCSR },
	{ "linux", 0, "orig_rax", NULL, 0, 1, 64, "int", NULL, NONE },
	{ "segments", 0, "fs_base", NULL, 0, 1, 64, "int", NULL, BASE },
	{ "segments", 0, "gs_base", NULL, 0, 1, 64, "int", NULL, BASE },
	{ "avx", 4, "ymm", "h", 0, 16, 128, "uint128", NULL, YMMH },
	{ "avx512", 0xe0, "k", "", 0, 8, 64, "uint64", NULL, MASK },
	{ "avx512", 0xe0, "zmm", "h", 0, 16, 256, "v2ui128", NULL, ZMMH },
	{ "avx512", 0xe0, "xmm", "", 16, 16, 128, "vec128", NULL, XMM16 },
	{ "avx512", 0xe0, "ymm", "h", 16, 16, 128, "uint128", NULL, YMM16H },
	{ "avx512", 0xe0, "zmm", "h", 16, 16, 256, "v2ui128", NULL, ZMM16H },
	{ "pkeys", 0x200, "pkru", NULL, 0, 1, 32, "uint32", NULL, PKRU },
};
#define NROW (sizeof row / sizeof *row)

/* The types that a feature defines, as gdb's own descriptions have them. */
static const struct { const char *feature, *types; } types[] = {
	{ "core", "<flags id=\"i386_eflags\" size=\"4\">"
	    "<field name=\"\" start=\"22\" end=\"31\"/>"
	    "<field name=\"CF\" start=\"0\" end=\"0\"/><field name=\"\" start=\"1\" end=\"1\"/>"
	    "<field name=\"PF\" start=\"2\" end=\"2\"/><field name=\"AF\" start=\"4\" end=\"4\"/>"
	    "<field name=\"ZF\" start=\"6\" end=\"6\"/><field name=\"SF\" start=\"7\" end=\"7\"/>"
	    "<field name=\"TF\" start=\"8\" end=\"8\"/><field name=\"IF\" start=\"9\" end=\"9\"/>"
	    "<field name=\"DF\" start=\"10\" end=\"10\"/><field name=\"OF\" start=\"11\" end=\"11\"/>"
	    "<field name=\"NT\" start=\"14\" end=\"14\"/><field name=\"RF\" start=\"16\" end=\"16\"/>"
	    "<field name=\"VM\" start=\"17\" end=\"17\"/><field name=\"AC\" start=\"18\" end=\"18\"/>"
	    "<field name=\"VIF\" start=\"19\" end=\"19\"/><field name=\"VIP\" start=\"20\" end=\"20\"/>"
	    "<field name=\"ID\" start=\"21\" end=\"21\"/></flags>\n" },
#define VEC128 "<vector id=\"v8bf16\" type=\"bfloat16\" count=\"8\"/>" \
	    "<vector id=\"v4f\" type=\"ieee_single\" count=\"4\"/>" \
	    "<vector id=\"v2d\" type=\"ieee_double\" count=\"2\"/>" \
	    "<vector id=\"v16i8\" type=\"int8\" count=\"16\"/><vector id=\"v8i16\" type=\"int16\" count=\"8\"/>" \
	    "<vector id=\"v4i32\" type=\"int32\" count=\"4\"/><vector id=\"v2i64\" type=\"int64\" count=\"2\"/>" \
	    "<union id=\"vec128\">" \
	    "<field name=\"v8_bfloat16\" type=\"v8bf16\"/><field name=\"v4_float\" type=\"v4f\"/>" \
	    "<field name=\"v2_double\" type=\"v2d\"/><field name=\"v16_int8\" type=\"v16i8\"/>" \
	    "<field name=\"v8_int16\" type=\"v8i16\"/><field name=\"v4_int32\" type=\"v4i32\"/>" \
	    "<field name=\"v2_int64\" type=\"v2i64\"/><field name=\"uint128\" type=\"uint128\"/></union>\n"
	{ "sse", VEC128 "<flags id=\"i386_mxcsr\" size=\"4\">"
	    "<field name=\"IE\" start=\"0\" end=\"0\"/><field name=\"DE\" start=\"1\" end=\"1\"/>"
	    "<field name=\"ZE\" start=\"2\" end=\"2\"/><field name=\"OE\" start=\"3\" end=\"3\"/>"
	    "<field name=\"UE\" start=\"4\" end=\"4\"/><field name=\"PE\" start=\"5\" end=\"5\"/>"
	    "<field name=\"DAZ\" start=\"6\" end=\"6\"/><field name=\"IM\" start=\"7\" end=\"7\"/>"
	    "<field name=\"DM\" start=\"8\" end=\"8\"/><field name=\"ZM\" start=\"9\" end=\"9\"/>"
	    "<field name=\"OM\" start=\"10\" end=\"10\"/><field name=\"UM\" start=\"11\" end=\"11\"/>"
	    "<field name=\"PM\" start=\"12\" end=\"12\"/><field name=\"FZ\" start=\"15\" end=\"15\"/>"
	    "</flags>\n" },
	{ "avx512", VEC128 "<vector id=\"v2ui128\" type=\"uint128\" count=\"2\"/>\n" },
};

static int
has_row(struct server *s, const struct row *r)
{
	return (replay_header(history_replay(s->h))->xcr0 & r->need) == r->need;
}

static void
describe_register(struct buf *b, const struct row *r, unsigned i)
{
	buf_printf(b, "<reg name=\"%s", r->name);
	if (r->tail)
		buf_printf(b, "%u%s", r->first + i, r->tail);
	buf_printf(b, "\" bitsize=\"%u\" type=\"%s\"", r->bits, r->type);
	if (r->group)
		buf_printf(b, " group=\"%s\"", r->group);
	buf_str(b, "/>\n");
}

void
registers_describe(struct server *s, struct buf *b)
{
	const char *now = "";

	buf_str(b, "<?xml version=\"1.0\"?>\n<!DOCTYPE target SYSTEM \"gdb-target.dtd\">\n<target version=\"1.0\">\n"
	    "<architecture>i386:x86-64</architecture>\n<osabi>GNU/Linux</osabi>\n");
	for (const struct row *r = row; r < row + NROW; r++) {
		if (!has_row(s, r))
			continue;
		if (strcmp(now, r->feature) != 0) {
			if (*now)
				buf_str(b, "</feature>\n");
			now = r->feature;
			buf_printf(b, "<feature name=\"org.gnu.gdb.i386.%s\">\n", now);
			for (size_t i = 0; i < sizeof types / sizeof *types; i++)
				if (strcmp(types[i].feature, now) == 0)
					buf_str(b, types[i].types);
		}
		for (unsigned i = 0; i < r->count; i++)
			describe_register(b, r, i);
	}
	buf_str(b, "</feature>\n</target>\n");
}

/*
 * Where a component begins in the replay's image, which this processor saved: it says where.
 * NULL: it is in its initial state, zero.
 */
static const uint8_t *
component(const uint8_t *x, unsigned c)
{
	uint32_t size = 0, off = 0, ecx, edx;

	if (!(get_le64(x + X_BV) >> c & 1))
		return NULL;
	__cpuid_count(13, c, size, off, ecx, edx);
	return off >= 576 && off <= 16384 && size <= 16384 - off ? x + off : NULL;
}

/* The two bits that the x87 tag word has for a register: valid, zero, special, empty */
static unsigned
x87_tag(const uint8_t *st)
{
	unsigned exponent = get_le16(st + 8) & 0x7fff;
	uint64_t significand = get_le64(st);

	if (exponent == 0x7fff)
		return 2;
	if (exponent == 0)
		return significand ? 2 : 1;
	return significand >> 63 ? 0 : 2;
}

static uint32_t
x87_value(const uint8_t *x, unsigned i)
{
	unsigned top, tags = 0;

	if (!(x[X_BV] & 1))
		return i == 0 ? 0x37f : i == 2 ? 0xffff : 0;
	switch (i) {
	case 0: return get_le16(x + X_CW);
	case 1: return get_le16(x + X_SW);
	case 2:
		top = get_le16(x + X_SW) >> 11 & 7;
		for (unsigned k = 0; k < 8; k++)
			tags |= (x[X_TW] >> k & 1 ? x87_tag(x + X_ST + 16 * ((k - top) & 7)) : 3) << (2 * k);
		return tags;
	case 3: return get_le16(x + X_IP + 4);
	case 4: return get_le32(x + X_IP);
	case 5: return get_le16(x + X_DP + 4);
	case 6: return get_le32(x + X_DP);
	default: return get_le16(x + X_OP) & 0x7ff;
	}
}

static void
copy(uint8_t *v, const uint8_t *p, size_t n)
{
	if (p)
		memcpy(v, p, n);
}

/* The registers of a thread */
struct of_thread {
	struct ws_regs g;
	const uint8_t *x;               /* its processor state */
};

/* Register i of a row; `order` counts the rows of this kind before it. */
static void
value(const struct of_thread *t, const struct row *r, unsigned order, unsigned i, uint8_t v[WIDEST])
{
	/* rbx and rcx are in the other order, and so on; r8 to r15 follow */
	static const uint8_t general[8] = { WS_RAX, WS_RBX, WS_RCX, WS_RDX, WS_RSI, WS_RDI, WS_RBP, WS_RSP };
	static const uint8_t segment[6] = { 0x33, 0x2b, 0, 0, 0, 0 };   /* of every 64-bit process */
	const struct ws_regs *g = &t->g;
	const uint8_t *x = t->x, *c;

	memset(v, 0, WIDEST);
	switch (r->where) {
	case GENERAL: put_le64(v, g->r[order < 8 ? general[order] : 8 + i]); break;
	case RIP: put_le64(v, g->rip); break;
	case EFLAGS: put_le32(v, (uint32_t)g->rflags); break;
	case SEGMENT: put_le32(v, segment[order]); break;
	case ST: copy(v, x[X_BV] & 1 ? x + X_ST + 16 * i : NULL, 10); break;
	case X87: put_le32(v, x87_value(x, order)); break;
	case MXCSR: put_le32(v, get_le32(x + X_MXCSR)); break;
	case XMM: copy(v, x[X_BV] & 2 ? x + X_XMM + 16 * i : NULL, 16); break;
	case NONE: put_le64(v, UINT64_MAX); break;
	case BASE: put_le64(v, order ? g->gsbase : g->fsbase); break;
	case YMMH: copy(v, (c = component(x, C_AVX)) ? c + 16 * i : NULL, 16); break;
	case MASK: copy(v, (c = component(x, C_MASK)) ? c + 8 * i : NULL, 8); break;
	case ZMMH: copy(v, (c = component(x, C_ZMM)) ? c + 32 * i : NULL, 32); break;
	case XMM16: copy(v, (c = component(x, C_ZMM16)) ? c + 64 * i : NULL, 16); break;
	case YMM16H: copy(v, (c = component(x, C_ZMM16)) ? c + 64 * i + 16 : NULL, 16); break;
	case ZMM16H: copy(v, (c = component(x, C_ZMM16)) ? c + 64 * i + 32 : NULL, 32); break;
	case PKRU: copy(v, component(x, C_PKRU), 4); break;
	}
}

/* Appends register `number`, or all of them (UINT64_MAX).  How many there are */
static uint64_t
registers_append(struct server *s, uint64_t number, struct buf *b)
{
	uint64_t at = 0;
	unsigned order = 0;
	uint8_t v[WIDEST];
	struct of_thread t;

	t.x = thread_registers(s, s->general, &t.g);
	if (!t.x)                       /* it has ended meanwhile */
		t.x = thread_registers(s, replay_thread(history_replay(s->h)), &t.g);
	for (const struct row *r = row; r < row + NROW; r++) {
		order = r > row && r[-1].where == r->where ? order + r[-1].count : 0;
		if (!has_row(s, r))
			continue;
		for (unsigned i = 0; i < r->count; i++, at++)
			if (number == UINT64_MAX || number == at) {
				value(&t, r, order, i, v);
				packet_hex(b, v, r->bits / 8);
			}
	}
	return at;
}

void
registers_all(struct server *s, struct buf *b)
{
	(void)registers_append(s, UINT64_MAX, b);
}

int
registers_one(struct server *s, uint64_t number, struct buf *b)
{
	return number != UINT64_MAX && number < registers_append(s, number, b) ? 0 : -1;
}

void
registers_expedite(struct server *s, struct buf *b)
{
	static const unsigned expedited[] = { 6, 7, 16 };

	for (size_t i = 0; i < sizeof expedited / sizeof *expedited; i++) {
		buf_printf(b, "%02x:", expedited[i]);
		(void)registers_one(s, expedited[i], b);
		buf_u8(b, ';');
	}
}
