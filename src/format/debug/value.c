/* Values of variables as text, like those of gdb. */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/text.h"
#include "format/debug/debug.h"
#include "format/debug/scalar_internal.h"

#define DEPTH 16u               /* of types in each other */
#define LARGEST 65536u          /* bytes of a value */
#define LARGEST_TEXT (1u << 20)

/* The bytes of a value, and how much of it is known */
struct value {
	const struct debug_frame *f;
	const struct debug_variable *v;
	uint8_t p[LARGEST];
	enum debug_where lost[LARGEST]; /* DEBUG_MEMORY: the byte is known */
	unsigned parts;                 /* that were printed: types can contain themselves */
	size_t end;                     /* where the text must not go on */
};

/* Copies the size bytes of a piece; returns where they are if they are not known. */
static enum debug_where
fetch_piece(const struct debug_frame *f, const struct debug_piece *p, uint8_t *to, size_t size)
{
	uint8_t b[16] = { 0 };

	switch (p->where) {
	case DEBUG_MEMORY:
		return f->m->read(f->m->arg, p->addr + p->off, to, size) == 0 ? DEBUG_MEMORY : DEBUG_UNKNOWN;
	case DEBUG_REGISTER:
		if (p->addr >= DEBUG_XMM0 && p->addr < DEBUG_XMM0 + 16 && f->xmm)
			memcpy(b, f->xmm + 16 * (p->addr - DEBUG_XMM0), 16);
		else if (p->addr < DEBUG_NREG && f->known >> p->addr & 1)
			memcpy(b, &f->reg[p->addr], 8);
		else
			return DEBUG_UNKNOWN;
		if (p->addr < DEBUG_NREG && size + p->off > 8)
			return DEBUG_UNKNOWN;
		break;
	case DEBUG_NUMBER:
		memcpy(b, &p->addr, 8);
		if (p->addr >> 63)      /* only a constant of the source is longer */
			memset(b + 8, 0xff, 8);
		break;
	case DEBUG_BYTES:
		if (p->off > p->addr || size > p->addr - p->off)
			return DEBUG_UNKNOWN;
		memcpy(to, p->p + p->off, size);
		return DEBUG_MEMORY;
	default:
		return p->where;
	}
	if (size > sizeof b || p->off > sizeof b - size)
		return DEBUG_UNKNOWN;
	memcpy(to, b + p->off, size);
	return DEBUG_MEMORY;
}

static void
fetch(struct value *x, size_t size)
{
	const struct debug_place *p = &x->v->place;
	size_t at = 0;

	memset(x->p, 0, size);
	for (unsigned i = 0; i < p->n && at < size; i++) {
		size_t n = p->piece[i].size && p->piece[i].size < size - at ? (size_t)p->piece[i].size : size - at;
		enum debug_where lost = fetch_piece(x->f, &p->piece[i], x->p + at, n);

		for (size_t k = 0; k < n; k++)
			x->lost[at + k] = lost;
		at += n;
	}
	for (; at < size; at++)
		x->lost[at] = DEBUG_GONE;
}

/* The type without its names and qualifiers: its tag, or 0 */
static int
bare(Dwarf_Die *type, Dwarf_Die *to)
{
	Dwarf_Attribute a;

	*to = *type;
	for (unsigned i = 0; i < DEPTH; i++) {
		int tag = dwarf_tag(to);

		if (tag != DW_TAG_typedef && tag != DW_TAG_const_type && tag != DW_TAG_volatile_type &&
		    tag != DW_TAG_restrict_type && tag != DW_TAG_atomic_type)
			return tag > 0 ? tag : 0;
		if (!dwarf_attr_integrate(to, DW_AT_type, &a) || !dwarf_formref_die(&a, to))
			return 0;
	}
	return 0;
}

/* Does libdw find the end of this type?  Names of names, and bounds of arrays, may go round in circles. */
static int
sound(Dwarf_Die *type)
{
	Dwarf_Die to = *type, next, die, index;
	Dwarf_Attribute a;

	for (unsigned i = 0; i < DEPTH; i++) {
		int tag = bare(&to, &next), got;

		if (!tag)
			return 0;
		if (tag == DW_TAG_array_type && (got = dwarf_child(&next, &die)) == 0) {
			do
				if (dwarf_attr_integrate(&die, DW_AT_type, &a) &&
				    (!dwarf_formref_die(&a, &index) || !bare(&index, &index)))
					return 0;
			while ((got = debug_next(&die)) == 0);
			if (got < 0)
				return 0;
		}
		if (tag != DW_TAG_array_type && tag != DW_TAG_enumeration_type && tag != DW_TAG_subrange_type)
			return 1;
		if (dwarf_hasattr(&next, DW_AT_byte_size) || !dwarf_attr_integrate(&next, DW_AT_type, &a))
			return 1;
		if (!dwarf_formref_die(&a, &to))
			return 0;
	}
	return 0;
}

uint64_t
debug_size(void *type)
{
	Dwarf_Word size;

	return sound(type) && dwarf_aggregate_size(type, &size) == 0 ? size : 0;
}

static int
bare_of(Dwarf_Die *die, Dwarf_Die *to)
{
	Dwarf_Attribute a;
	Dwarf_Die type;

	return dwarf_attr_integrate(die, DW_AT_type, &a) && dwarf_formref_die(&a, &type) ? bare(&type, to) : 0;
}

static int
is_char(Dwarf_Die *type)
{
	Dwarf_Attribute a;
	Dwarf_Word encoding;

	return dwarf_tag(type) == DW_TAG_base_type && dwarf_bytesize(type) == 1 && dwarf_attr(type, DW_AT_encoding, &a) &&
	    dwarf_formudata(&a, &encoding) == 0 && (encoding == DW_ATE_signed_char || encoding == DW_ATE_unsigned_char);
}

static void
put_pointer(const struct debug_frame *f, struct buf *b, Dwarf_Die *type, uint64_t v)
{
	Dwarf_Die to;
	int tag = bare_of(type, &to);
	uint8_t s[DEBUG_ELEMENTS + 1];
	struct exe *x;
	uint64_t addr, off;
	const char *name;
	size_t n = 0;

	buf_printf(b, "0x%" PRIx64, v);
	if (tag == DW_TAG_subroutine_type) {
		if (f->m->file(f->m->arg, v, &x, &addr) != 0 || (name = exe_name(x, addr, 0)) == NULL)
			return;
		buf_printf(b, " <%s", name);
		if (exe_func(x, addr, &off) && off)
			buf_printf(b, "+%" PRIu64, off);
		buf_u8(b, '>');
		return;
	}
	if (tag != DW_TAG_base_type || !is_char(&to))
		return;
	while (n < sizeof s && f->m->read(f->m->arg, v + n, s + n, 1) == 0 && s[n++])
		;
	if (n && (n == sizeof s || !s[n - 1])) {
		buf_u8(b, ' ');
		scalar_string(b, s, n);
	}
}

/* Was as much printed as any value needs? */
static int
full(const struct value *x, const struct buf *b)
{
	return x->parts > 2 * LARGEST || b->n > x->end;
}

static void put_value(struct value *x, struct buf *b, Dwarf_Die *type, size_t at, size_t end, unsigned depth);

/* Elements of an array: 0, or -1: their number is not known */
static int
count_elements(Dwarf_Die *type, uint64_t dim[4], unsigned *ndim)
{
	Dwarf_Attribute a;
	Dwarf_Word n;
	Dwarf_Die die;

	*ndim = 0;
	if (dwarf_child(type, &die) != 0)
		return -1;
	do {
		if (dwarf_tag(&die) != DW_TAG_subrange_type)
			continue;
		if (*ndim == 4)
			return -1;
		if (dwarf_attr(&die, DW_AT_count, &a) && dwarf_formudata(&a, &n) == 0)
			dim[(*ndim)++] = n;
		else if (dwarf_attr(&die, DW_AT_upper_bound, &a) && dwarf_whatform(&a) != DW_FORM_exprloc &&
		    dwarf_formudata(&a, &n) == 0)
			dim[(*ndim)++] = n + 1;
		else
			return -1;
	} while (debug_next(&die) == 0);
	return *ndim ? 0 : -1;
}

static void
put_elements(struct value *x, struct buf *b, Dwarf_Die *type, const uint64_t *dim, unsigned ndim, size_t at,
    size_t size, unsigned depth)
{
	size_t row = size;
	uint64_t k;

	if (ndim == 1 && is_char(type) && x->lost[at] == DEBUG_MEMORY) {
		scalar_string(b, x->p + at, dim[0]);
		return;
	}
	for (unsigned i = 1; i < ndim; i++)
		row *= dim[i];
	buf_u8(b, '{');
	for (k = 0; k < dim[0] && k < DEBUG_ELEMENTS; k++) {
		if (k)
			buf_str(b, ", ");
		if (ndim > 1)
			put_elements(x, b, type, dim + 1, ndim - 1, at + k * row, size, depth);
		else
			put_value(x, b, type, at + k * size, at + (k + 1) * size, depth + 1);
	}
	buf_str(b, k < dim[0] ? "...}" : "}");
}

static void
put_array(struct value *x, struct buf *b, Dwarf_Die *type, size_t at, size_t end, unsigned depth)
{
	uint64_t dim[4], all = 1;
	unsigned ndim;
	uint64_t size;
	Dwarf_Die of;

	if (count_elements(type, dim, &ndim) != 0 || !bare_of(type, &of) || (size = debug_size(&of)) == 0) {
		buf_str(b, "{...}");
		return;
	}
	for (unsigned i = 0; i < ndim; i++)
		if (!dim[i] || __builtin_mul_overflow(all, dim[i], &all)) {
			buf_str(b, "{}");
			return;
		}
	if (__builtin_mul_overflow(all, size, &all) || all > end - at)
		buf_str(b, "{...}");
	else
		put_elements(x, b, &of, dim, ndim, at, size, depth);
}

int
debug_bits(void *member, void *type, uint64_t *bit, unsigned *bits)
{
	Dwarf_Attribute a;
	Dwarf_Word n, off = 0, up, size;

	if (!dwarf_attr(member, DW_AT_bit_size, &a) || dwarf_formudata(&a, &n) != 0 || !n || n > 64)
		return 0;
	*bits = (unsigned)n;
	if (dwarf_attr(member, DW_AT_data_bit_offset, &a)) {
		*bit = 0;
		return dwarf_formudata(&a, bit) == 0;
	}
	/* before version 4: from the highest bit of a unit down to the highest one of the member */
	if (dwarf_attr(member, DW_AT_data_member_location, &a) && dwarf_formudata(&a, &off) != 0)
		return 0;
	if (!dwarf_attr(member, DW_AT_byte_size, &a) || dwarf_formudata(&a, &size) != 0)
		size = debug_size(type);
	if (!dwarf_attr(member, DW_AT_bit_offset, &a) || dwarf_formudata(&a, &up) != 0 || !size || size > 16 ||
	    up > 8 * size || n > 8 * size - up || off > UINT64_MAX / 16)
		return 0;
	*bit = 8 * (off + size) - up - n;
	return 1;
}

/* Says why bytes are not known: 1, or 0: they are known */
static int
put_lost(struct value *x, struct buf *b, size_t at, size_t end)
{
	for (; at < end; at++)
		if (x->lost[at] != DEBUG_MEMORY) {
			buf_str(b, x->lost[at] == DEBUG_GONE ? "<optimized out>" :
			    x->lost[at] == DEBUG_SYNTHETIC ? "(synthetic pointer)" : "<not known>");
			return 1;
		}
	return 0;
}

/* The value of `bits` bits, from bit `bit` of what is at `at` on */
static void
put_bits(struct value *x, struct buf *b, Dwarf_Die *type, uint64_t bit, unsigned bits, size_t at, size_t end)
{
	size_t byte = (size_t)(bit / 8), n = (size_t)(bit % 8 + bits + 7) / 8;
	Dwarf_Word encoding = DW_ATE_unsigned;
	Dwarf_Attribute a;
	uint8_t w[8];
	uint64_t v;

	if (bit / 8 >= end - at || n > end - at - byte) {
		buf_u8(b, '?');
		return;
	}
	if (put_lost(x, b, at + byte, at + byte + n))
		return;
	v = scalar_uint(x->p + at + byte, n) >> bit % 8;
	if (n > 8)
		v |= (uint64_t)x->p[at + byte + 8] << (64 - bit % 8);
	if (bits < 64)
		v &= (UINT64_C(1) << bits) - 1;
	if (dwarf_attr(type, DW_AT_encoding, &a))
		(void)dwarf_formudata(&a, &encoding);
	if ((encoding == DW_ATE_signed || encoding == DW_ATE_signed_char) && bits < 64 && v >> (bits - 1))
		v |= ~UINT64_C(0) << bits;
	put_le64(w, v);
	if (dwarf_tag(type) == DW_TAG_enumeration_type)
		scalar_enumeration(b, type, w, 8);
	else
		scalar_base(b, type, w, debug_size(type) < 8 ? debug_size(type) : 8);
}

static void
put_members(struct value *x, struct buf *b, Dwarf_Die *type, size_t at, size_t end, unsigned depth)
{
	Dwarf_Attribute a;
	Dwarf_Die die, of;
	uint64_t bit;
	unsigned bits;
	int first = 1;

	buf_u8(b, '{');
	if (dwarf_child(type, &die) == 0)
		do {
			int tag = dwarf_tag(&die);
			Dwarf_Word off = 0, size;
			const char *name = dwarf_diename(&die);

			if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) || !bare_of(&die, &of) ||
			    dwarf_attr(&die, DW_AT_external, &a))
				continue;
			if (dwarf_attr(&die, DW_AT_data_member_location, &a) && dwarf_formudata(&a, &off) != 0)
				continue;
			buf_str(b, first ? "" : ", ");
			first = 0;
			if (tag == DW_TAG_inheritance)
				buf_printf(b, "<%.4096s> = ", dwarf_diename(&of) ? dwarf_diename(&of) : "?");
			else if (name)
				buf_printf(b, "%.4096s = ", name);
			if (debug_bits(&die, &of, &bit, &bits)) {
				put_bits(x, b, &of, bit, bits, at, end);
				continue;
			}
			size = debug_size(&of);
			if (off > end - at || size > end - at - off)
				buf_str(b, "?");
			else
				put_value(x, b, &of, at + off, at + off + size, depth + 1);
		} while (!full(x, b) && debug_next(&die) == 0);
	buf_u8(b, '}');
}

/* A value of a type, from byte at to end */
static void
put_value(struct value *x, struct buf *b, Dwarf_Die *type, size_t at, size_t end, unsigned depth)
{
	Dwarf_Die to;
	int tag = bare(type, &to);

	x->parts++;
	if (depth == DEPTH || full(x, b)) {
		buf_str(b, "{...}");
		return;
	}
	switch (tag) {
	case DW_TAG_structure_type: case DW_TAG_class_type: case DW_TAG_union_type:
		put_members(x, b, &to, at, end, depth);
		return;
	case DW_TAG_array_type:
		put_array(x, b, &to, at, end, depth);
		return;
	default:
		break;
	}
	if (put_lost(x, b, at, end))
		return;
	if (tag == DW_TAG_base_type)
		scalar_base(b, &to, x->p + at, end - at);
	else if (tag == DW_TAG_enumeration_type)
		scalar_enumeration(b, &to, x->p + at, end - at);
	else if (tag == DW_TAG_pointer_type)
		put_pointer(x->f, b, &to, scalar_uint(x->p + at, end - at));
	else if (tag == DW_TAG_reference_type || tag == DW_TAG_rvalue_reference_type)
		buf_printf(b, "@0x%" PRIx64, scalar_uint(x->p + at, end - at));
	else
		buf_str(b, "?");
}

void
debug_print(const struct debug_frame *f, const struct debug_variable *v, struct buf *b)
{
	struct value *x;
	size_t from = b->n;
	Dwarf_Die of;
	int all = 1;

	for (unsigned i = 0; i < v->place.n; i++)
		all &= v->place.piece[i].where == DEBUG_GONE;
	if (all) {
		buf_str(b, "<optimized out>");
		return;
	}
	if (!v->type || !v->size || v->size > LARGEST || (x = malloc(sizeof *x)) == NULL) {
		buf_str(b, v->size > LARGEST ? "{...}" : "?");
		return;
	}
	x->f = f;
	x->v = v;
	x->parts = 0;
	x->end = b->n + LARGEST_TEXT;
	fetch(x, v->size);
	if (!v->bits)
		put_value(x, b, v->type, 0, v->size, 0);
	else if (bare(v->type, &of))
		put_bits(x, b, &of, v->bit, v->bits, 0, v->size);
	/* names of members and of enumerators are as a stranger's file has them */
	if (!b->nomem && b->n > from)
		text_clean((char *)b->p + from, b->n - from);
	free(x);
}

int
debug_bare(void *type, void *to)
{
	return bare(type, to);
}

int
debug_dimensions(void *type, uint64_t dim[4], unsigned *ndim)
{
	return count_elements(type, dim, ndim);
}

int
debug_number(const struct debug_frame *f, const struct debug_variable *v, uint64_t *n)
{
	Dwarf_Die to;
	int tag = v->type ? bare(v->type, &to) : 0;
	uint8_t p[8];

	if ((tag != DW_TAG_base_type && tag != DW_TAG_enumeration_type && tag != DW_TAG_pointer_type &&
	    tag != DW_TAG_reference_type && tag != DW_TAG_rvalue_reference_type) || !v->size || v->bits ||
	    v->size > 8 || v->place.n != 1 || fetch_piece(f, &v->place.piece[0], p, v->size) != DEBUG_MEMORY)
		return 0;
	*n = scalar_uint(p, v->size);
	return 1;
}
