/*
 * Lines of the text formats. Each is parsed from its first byte on, up to its newline: digits and
 * words end before that, so no parser looks at the next line.
 */
#include <string.h>

#include "format/ref/ref.h"
#include "format/trace/trace_internal.h"

static const uint8_t digit[256] = {
	['0'] = 1, ['1'] = 2, ['2'] = 3, ['3'] = 4, ['4'] = 5, ['5'] = 6, ['6'] = 7, ['7'] = 8, ['8'] = 9, ['9'] = 10,
	['a'] = 11, ['b'] = 12, ['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16,
	['A'] = 11, ['B'] = 12, ['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16,
};      /* value + 1; 0 is not a digit */

static const uint8_t *
line_bad(struct trace_reader *r, const char *err)
{
	r->err = err;
	return NULL;
}

/* The end of a line of which nothing else matters. */
static const uint8_t *
line_rest(const uint8_t *p)
{
	if (*p == '\r')
		p++;
	return *p == '\n' ? p + 1 : (const uint8_t *)rawmemchr(p, '\n') + 1;
}

/* The line must end here. */
static const uint8_t *
line_end(struct trace_reader *r, const uint8_t *p)
{
	while (*p == ' ' || *p == '\t' || *p == '\r')
		p++;
	return *p == '\n' ? p + 1 : line_bad(r, "something follows the reference");
}

static const uint8_t *
line_blank(const uint8_t *p)
{
	while (*p == ' ' || *p == '\t')
		p++;
	return p;
}

static inline const uint8_t *
line_hex(struct trace_reader *r, const uint8_t *p, uint64_t *v)
{
	const uint8_t *from = p;
	uint64_t a = 0;
	unsigned d;

	/* with 1 too much in each digit, which is taken back at once */
	for (; (d = digit[*p]) != 0; p++)
		a = (a << 4) + d;
	if (p == from)
		return line_bad(r, "no address");
	*v = a - (UINT64_C(0x1111111111111111) >> (p - from < 16 ? 64 - 4 * (p - from) : 0));
	/* zeros may come before more than 16 digits */
	while (p - from > 16)
		if (*from++ != '0')
			return line_bad(r, "address out of range");
	return p;
}

/* An address: hexadecimal, with or without 0x. */
static inline const uint8_t *
line_address(struct trace_reader *r, const uint8_t *p, uint64_t *addr)
{
	if (p[0] == '0' && (p[1] == 'x' || p[1] == 'X'))
		p += 2;
	p = line_hex(r, p, addr);
	if (p && *addr + (UINT64_C(1) << 47) >= UINT64_C(1) << 48)
		return line_bad(r, "address out of range");
	return p;
}

static const uint8_t *
line_0x(struct trace_reader *r, const uint8_t *p, uint64_t *addr)
{
	return p[0] == '0' && p[1] == 'x' ? line_address(r, p, addr) : line_bad(r, "no address");
}

static inline const uint8_t *
line_dec(struct trace_reader *r, const uint8_t *p, uint64_t *v)
{
	const uint8_t *from = p;

	for (*v = 0; *p >= '0' && *p <= '9' && p - from < 19; p++)
		*v = *v * 10 + (unsigned)(*p - '0');
	return p > from ? p : line_bad(r, "no number");
}

/* Does the line go on with this word?  Its length, or 0. */
static size_t
line_word(const uint8_t *p, const char *word)
{
	size_t n = 0;

	while (word[n] && p[n] == (uint8_t)word[n])
		n++;
	return word[n] ? 0 : n;
}

static int
line_letter(uint8_t c)
{
	return (c >= 'a' && c <= 'z') || c == 'R' || c == 'W';
}

/* The kind that a name means: of ref(5), R or W; -1. *p is after it. */
static inline int
line_kind(const uint8_t **p)
{
	/* 1 more than the first kind whose name begins with the letter that has these bits */
	static const uint8_t first[32] = {
		['i' & 31] = REF_INST + 1, ['l' & 31] = REF_LOAD + 1, ['s' & 31] = REF_STORE + 1,
		['m' & 31] = REF_MODIFY + 1, ['e' & 31] = REF_ENTER + 1, ['b' & 31] = REF_BACK + 1,
		['t' & 31] = REF_TASK + 1,
	};
	const uint8_t *from = *p;
	int kind = first[*from & 31] - 1;
	size_t n;

	if (*from == 'R' || *from == 'W') {
		kind = *from == 'R' ? REF_LOAD : REF_STORE;
		n = 1;
	} else {
		if (kind == REF_ENTER && from[1] == 'x')
			kind = REF_EXIT;
		n = kind < 0 ? 0 : line_word(from, ref_kind_name((unsigned)kind));
	}
	*p = from + n;
	return n && !line_letter(from[n]) ? kind : -1;
}

/* Appends a word, whose size must suit its kind. */
static int
line_add(struct trace_reader *r, uint64_t **w, unsigned kind, uint64_t addr, uint64_t size)
{
	if (size > REF_SIZEMAX || (kind < REF_ENTER) != (size != 0)) {
		r->err = "the kind does not have this size";
		return -1;
	}
	*(*w)++ = ref_make(kind, addr, (unsigned)size);
	return 0;
}

static const uint8_t *
line_text(struct trace_reader *r, const uint8_t *p, uint64_t **w)
{
	int kind = line_kind(&p);
	uint64_t addr, size = 0;

	if (kind < 0 || *p++ != ' ')
		return line_bad(r, "unknown kind");
	if (!(p = line_0x(r, p, &addr)))
		return NULL;
	if (kind < REF_ENTER && (*p++ != ' ' || !(p = line_dec(r, p, &size))))
		return line_bad(r, "no size");
	if (line_add(r, w, (unsigned)kind, addr, size) != 0)
		return NULL;
	return line_end(r, p);
}

static const uint8_t *
line_din(struct trace_reader *r, const uint8_t *p, uint64_t **w)
{
	static const uint8_t kind[] = { REF_LOAD, REF_STORE, REF_INST };
	unsigned label = *p - (unsigned)'0';
	uint64_t addr;

	if (label > 4 || (p[1] != ' ' && p[1] != '\t'))
		return line_bad(r, "no label from 0 to 4");
	p = line_address(r, line_blank(p + 1), &addr);
	if (!p)
		return NULL;
	/* 3 is an access of unknown kind, 4 empties the cache: neither is a reference */
	if (label <= 2)
		*(*w)++ = ref_make(kind[label], addr, r->size);
	if (*p != ' ' && *p != '\t' && *p != '\r' && *p != '\n')
		return line_bad(r, "not an address");
	return line_rest(p);
}

/* 0xip: R 0xaddr: an instruction that is another than that of the line before is a fetch. */
static const uint8_t *
line_pinatrace(struct trace_reader *r, const uint8_t *p, uint64_t **w)
{
	uint64_t pc, addr;
	unsigned kind;

	if (*p == '#')
		return line_rest(p);
	if (!(p = line_0x(r, p, &pc)))
		return NULL;
	if (p[0] != ':' || p[1] != ' ' || (p[2] != 'R' && p[2] != 'W') || p[3] != ' ')
		return line_bad(r, "not an instruction's R or W");
	kind = p[2] == 'R' ? REF_LOAD : REF_STORE;
	p = line_0x(r, line_blank(p + 4), &addr);
	if (!p)
		return NULL;
	if (pc != r->pc)
		*(*w)++ = ref_make(REF_INST, pc, r->size);
	r->pc = pc;
	*(*w)++ = ref_make(kind, addr, r->size);
	return line_end(r, p);
}

static const uint8_t *
line_ramulator2(struct trace_reader *r, const uint8_t *p, uint64_t **w)
{
	unsigned kind = *p == 'L' ? REF_LOAD : REF_STORE;
	uint64_t addr;

	if (!line_word(p, "LD ") && !line_word(p, "ST "))
		return line_bad(r, "neither LD nor ST");
	p = line_0x(r, p + 3, &addr);
	if (!p)
		return NULL;
	*(*w)++ = ref_make(kind, addr, r->size);
	return line_end(r, p);
}

static const uint8_t *
line_ramulator(struct trace_reader *r, const uint8_t *p, uint64_t **w)
{
	uint64_t addr;

	p = line_0x(r, p, &addr);
	if (!p)
		return NULL;
	if (p[0] != ' ' || (p[1] != 'R' && p[1] != 'W'))
		return line_bad(r, "neither R nor W");
	*(*w)++ = ref_make(p[1] == 'R' ? REF_LOAD : REF_STORE, addr, r->size);
	return line_end(r, p + 2);
}

/* 0xaddr READ cycle */
static const uint8_t *
line_dramsim3(struct trace_reader *r, const uint8_t *p, uint64_t **w)
{
	uint64_t addr, cycle;
	size_t k;
	int store;

	p = line_0x(r, p, &addr);
	if (!p)
		return NULL;
	p = line_blank(p);
	store = *p == 'W';
	k = line_word(p, store ? "WRITE " : "READ ");
	if (!k)
		return line_bad(r, "neither READ nor WRITE");
	p = line_dec(r, line_blank(p + k), &cycle);
	if (!p)
		return line_bad(r, "no cycle");
	*(*w)++ = ref_make(store ? REF_STORE : REF_LOAD, addr, r->size);
	return line_end(r, p);
}

/* The accesses after the text of an instruction: `, load, 0xaddr` or `, store, 0xaddr`, and what device it was. */
static const uint8_t *
line_qemu_accesses(struct trace_reader *r, const uint8_t *p, uint64_t **w)
{
	uint64_t addr, *most = *w + TRACE_MARGIN - 2;

	while (p[0] == ',' && p[1] == ' ') {
		size_t load = line_word(p, ", load, "), store = line_word(p, ", store, ");

		if (!load && !store) {
			for (p += 2; *p != ',' && *p != '\n';)
				p++;
			continue;
		}
		p = line_0x(r, p + load + store, &addr);
		if (!p || *w >= most)
			return p ? line_bad(r, "more accesses than an instruction can have") : NULL;
		*(*w)++ = ref_make(load ? REF_LOAD : REF_STORE, addr, r->size);
	}
	return line_end(r, p);
}

/* execlog: cpu, 0xpc, 0xopcode, "text"[, load, 0xaddr[, device]]... */
static const uint8_t *
line_qemu(struct trace_reader *r, const uint8_t *p, uint64_t **w)
{
	uint64_t cpu, pc, code;
	const uint8_t *q;

	if (!(p = line_dec(r, p, &cpu)))
		return line_bad(r, "no number of a processor");
	if (!line_word(p, ", 0x") || !(p = line_address(r, p + 2, &pc)))
		return line_bad(r, "no address of an instruction");
	if (!line_word(p, ", 0x") || !(p = line_hex(r, p + 4, &code)) || !line_word(p, ", \""))
		return line_bad(r, "no code of an instruction");
	for (q = p += 3; *q != '"' && *q != '\n';)
		q++;
	if (*q != '"')
		return line_bad(r, "the text of the instruction does not end");
	*(*w)++ = ref_make(REF_INST, pc, r->size);
	return line_qemu_accesses(r, q + 1, w);
}

/* The first line names the columns; others than ours are skipped in each line. */
static const uint8_t *
line_csv_head(struct trace_reader *r, const uint8_t *p)
{
	static const char *const name[TRACE_NCOLUMNS] = { "kind", "address", "size" };
	unsigned found = 0;

	for (;;) {
		size_t n = strcspn((const char *)p, ",\r\n");

		if (r->ncolumn == (int)sizeof r->column)
			return line_bad(r, "more than 16 columns");
		r->column[r->ncolumn] = -1;
		for (int c = 0; c < TRACE_NCOLUMNS; c++)
			if (strlen(name[c]) == n && memcmp(name[c], p, n) == 0 && !(found >> c & 1)) {
				r->column[r->ncolumn] = (int8_t)c;
				found |= 1u << c;
			}
		r->ncolumn++;
		p += n;
		if (*p != ',')
			break;
		p++;
	}
	if ((found & 3) != 3)
		return line_bad(r, "the first line names no columns kind and address");
	return line_end(r, p);
}

static const uint8_t *
line_csv_field(struct trace_reader *r, const uint8_t *p, int column, uint64_t v[TRACE_NCOLUMNS])
{
	int kind;

	switch (column) {
	case TRACE_KIND:
		kind = line_kind(&p);
		v[TRACE_KIND] = (unsigned)kind;
		return kind < 0 ? line_bad(r, "unknown kind") : p;
	case TRACE_ADDRESS:
		return line_0x(r, p, &v[TRACE_ADDRESS]);
	case TRACE_BYTES:
		p = line_dec(r, p, &v[TRACE_BYTES]);
		return p ? p : line_bad(r, "no size");
	}
	while (*p != ',' && *p != '\n')
		p++;
	return p;
}

static const uint8_t *
line_csv(struct trace_reader *r, const uint8_t *p, uint64_t **w)
{
	uint64_t v[TRACE_NCOLUMNS] = { 0, 0, UINT64_MAX };

	if (!r->ncolumn)
		return line_csv_head(r, p);
	for (int i = 0; i < r->ncolumn; i++) {
		if (i && *p++ != ',')
			return line_bad(r, "too few columns");
		if (!(p = line_csv_field(r, p, r->column[i], v)))
			return NULL;
	}
	if (v[TRACE_BYTES] == UINT64_MAX)
		v[TRACE_BYTES] = v[TRACE_KIND] < REF_ENTER ? r->size : 0;
	if (line_add(r, w, (unsigned)v[TRACE_KIND], v[TRACE_ADDRESS], v[TRACE_BYTES]) != 0)
		return NULL;
	return line_end(r, p);
}

trace_line_fn *
trace_line_of(enum trace_format f)
{
	static trace_line_fn *const fn[TRACE_NFORMATS] = {
		[TRACE_TEXT] = line_text, [TRACE_DIN] = line_din, [TRACE_CSV] = line_csv,
		[TRACE_PINATRACE] = line_pinatrace, [TRACE_RAMULATOR] = line_ramulator,
		[TRACE_RAMULATOR2] = line_ramulator2, [TRACE_DRAMSIM3] = line_dramsim3, [TRACE_QEMU] = line_qemu,
	};

	return fn[f];
}

int
trace_line(struct trace_reader *r, enum trace_format f, const uint8_t *p, uint64_t w[TRACE_MARGIN])
{
	return trace_line_of(f)(r, p, &w) != NULL;
}
