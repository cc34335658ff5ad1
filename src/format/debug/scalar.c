/* Numbers, characters, strings and enumerators as text, like those of gdb. */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "format/debug/debug.h"
#include "format/debug/scalar_internal.h"

uint64_t
scalar_uint(const uint8_t *p, size_t n)
{
	uint64_t v = 0;

	for (size_t i = n < 8 ? n : 8; i-- > 0;)
		v = v << 8 | p[i];
	return v;
}

int64_t
scalar_int(const uint8_t *p, size_t n)
{
	uint64_t v = scalar_uint(p, n);

	return n && n < 8 && v >> (8 * n - 1) ? (int64_t)(v | ~UINT64_C(0) << 8 * n) : (int64_t)v;
}

static void
put_char(struct buf *b, uint8_t c, char quote)
{
	static const char from[] = "\a\b\t\n\v\f\r\033", to[] = "abtnvfre";
	const char *s = c ? strchr(from, c) : NULL;

	if (s)
		buf_printf(b, "\\%c", to[s - from]);
	else if (c == (uint8_t)quote || c == '\\')
		buf_printf(b, "\\%c", c);
	else if (c < ' ' || c >= 127)
		buf_printf(b, "\\%03o", c);
	else
		buf_u8(b, c);
}

void
scalar_string(struct buf *b, const uint8_t *p, size_t n)
{
	size_t k = 0;

	buf_u8(b, '"');
	for (; k < n && k < DEBUG_ELEMENTS && p[k]; k++)
		put_char(b, p[k], '"');
	buf_str(b, k == DEBUG_ELEMENTS && k < n && p[k] ? "\"..." : "\"");
}

static void
put_double(struct buf *b, double v, int digits)
{
	uint64_t w;

	memcpy(&w, &v, sizeof w);
	if (isnan(v))
		buf_printf(b, "%snan(0x%" PRIx64 ")", w >> 63 ? "-" : "", w & ((UINT64_C(1) << 52) - 1));
	else if (isinf(v))
		buf_str(b, v < 0 ? "-inf" : "inf");
	else
		buf_printf(b, "%.*g", digits, v);
}

static void
put_float(struct buf *b, const uint8_t *p, size_t n)
{
	long double l = 0;
	double d;
	float s;

	if (n == 4) {
		memcpy(&s, p, 4);
		if (isnan(s))
			buf_printf(b, "%snan(0x%x)", p[3] >> 7 ? "-" : "", (unsigned)(scalar_uint(p, 4) & 0x7fffff));
		else
			put_double(b, s, 9);
	} else if (n == 8) {
		memcpy(&d, p, 8);
		put_double(b, d, 17);
	} else {
		memcpy(&l, p, 10);
		buf_printf(b, "%.18Lg", l);
	}
}

/* An integer of 16 bytes, decimal as the others */
static void
put_long(struct buf *b, const uint8_t *p, int sign)
{
	__extension__ unsigned __int128 v = (unsigned __int128)scalar_uint(p + 8, 8) << 64 | scalar_uint(p, 8);
	char s[48];
	size_t n = sizeof s;

	if (sign && v >> 127) {
		buf_u8(b, '-');
		v = -v;
	}
	do
		s[--n] = (char)('0' + (int)(v % 10));
	while ((v /= 10) != 0);
	buf_add(b, s + n, sizeof s - n);
}

void
scalar_base(struct buf *b, Dwarf_Die *type, const uint8_t *p, size_t n)
{
	Dwarf_Attribute a;
	Dwarf_Word encoding = 0;

	if (dwarf_attr(type, DW_AT_encoding, &a))
		(void)dwarf_formudata(&a, &encoding);
	switch (encoding) {
	case DW_ATE_float:
		if (n == 4 || n == 8 || n == 16) {
			put_float(b, p, n);
			return;
		}
		break;
	case DW_ATE_boolean:
		if (scalar_uint(p, n) <= 1) {
			buf_str(b, scalar_uint(p, n) ? "true" : "false");
			return;
		}
		break;
	case DW_ATE_signed_char: case DW_ATE_unsigned_char:
		if (n != 1)
			break;
		buf_printf(b, "%d '", encoding == DW_ATE_signed_char ? (int)(int8_t)p[0] : p[0]);
		put_char(b, p[0], '\'');
		buf_u8(b, '\'');
		return;
	default:
		break;
	}
	if (n == 16)
		put_long(b, p, encoding == DW_ATE_signed);
	else if (encoding == DW_ATE_signed || encoding == DW_ATE_signed_char)
		buf_printf(b, "%" PRId64, scalar_int(p, n));
	else
		buf_printf(b, "%" PRIu64, scalar_uint(p, n));
}

void
scalar_enumeration(struct buf *b, Dwarf_Die *type, const uint8_t *p, size_t n)
{
	Dwarf_Attribute a;
	Dwarf_Die die;
	Dwarf_Sword v;
	const char *name = NULL;
	uint64_t rest = scalar_uint(p, n);
	size_t begin = b->n;
	int flags = 1;

	if (dwarf_child(type, &die) == 0)
		do {
			if (dwarf_tag(&die) != DW_TAG_enumerator || !dwarf_attr(&die, DW_AT_const_value, &a) ||
			    dwarf_formsdata(&a, &v) != 0)
				continue;
			flags &= v >= 0 && !((uint64_t)v & ((uint64_t)v - 1));
			if (!name && (v == scalar_int(p, n) || (uint64_t)v == scalar_uint(p, n)))
				name = dwarf_diename(&die);
		} while (debug_next(&die) == 0);
	if (name) {
		buf_str(b, name);
		return;
	}
	buf_u8(b, '(');
	if (flags && rest && dwarf_child(type, &die) == 0)
		do {
			if (dwarf_tag(&die) != DW_TAG_enumerator || !dwarf_attr(&die, DW_AT_const_value, &a) ||
			    dwarf_formsdata(&a, &v) != 0 || !v || !(rest & (uint64_t)v))
				continue;
			rest &= ~(uint64_t)v;
			buf_printf(b, "%s%.4096s", b->n > begin + 1 ? " | " : "", dwarf_diename(&die));
		} while (debug_next(&die) == 0);
	if (flags && !rest && scalar_uint(p, n)) {
		buf_u8(b, ')');
		return;
	}
	b->n = begin;
	buf_printf(b, "%" PRId64, scalar_int(p, n));
}
