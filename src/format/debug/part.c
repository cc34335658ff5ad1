/* Parts of a variable by what comes after its name in C: .member, ->member, [index], and * in front of it. */
#include <ctype.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "format/debug/debug.h"

#define DEPTH 16u               /* of members without a name, and of what a class inherits */
#define MEMBERS 100000u         /* that are looked at for one name */

struct part {
	const struct debug_frame *f;
	struct debug_variable *v;
	Dwarf_Die *type;                /* what v->type points to */
	unsigned dims;                  /* of an array that were indexed: v is a row of it */
	unsigned seen;
	char *why;
	size_t whylen;
};

#define BAD(x, ...) (snprintf((x)->why, (x)->whylen, __VA_ARGS__), -1)

/* Leaves `size` bytes from byte off on of the variable. */
static int
part_narrow(struct part *x, uint64_t off, uint64_t size)
{
	struct debug_variable *v = x->v;
	uint64_t at = 0;

	for (unsigned i = 0; i < v->place.n; i++) {
		struct debug_piece p = v->place.piece[i];
		uint64_t n = p.size ? p.size : v->size > at ? v->size - at : 0;

		if (off >= at && off - at <= n && size <= n - (off - at)) {
			p.off += off - at;
			p.size = 0;
			v->place.n = 1;
			v->place.piece[0] = p;
			v->size = size;
			return 0;
		}
		at += n;
	}
	return BAD(x, "is in several places");
}

/* Follows a pointer or a reference, to the element with this index. */
static int
part_follow(struct part *x, int64_t index)
{
	Dwarf_Attribute a;
	Dwarf_Die of;
	uint64_t to, size;
	int tag = debug_bare(x->type, &of);

	if (x->dims || (tag != DW_TAG_pointer_type && tag != DW_TAG_reference_type && tag != DW_TAG_rvalue_reference_type))
		return BAD(x, "is no pointer");
	if (!debug_number(x->f, x->v, &to))
		return BAD(x, "is a pointer whose value is not known there");
	if (!dwarf_attr_integrate(&of, DW_AT_type, &a) || !dwarf_formref_die(&a, x->type) ||
	    (size = debug_size(x->type)) == 0)
		return BAD(x, "points to something whose type is not known");
	x->v->size = size;
	x->v->place.n = 1;
	x->v->place.piece[0] = (struct debug_piece){ .where = DEBUG_MEMORY, .addr = to + (uint64_t)index * size };
	return 0;
}

/* Finds a member, also of a member without a name and of what is inherited: 1 with its entry, byte and bits, or 0 */
static int
part_find(struct part *x, Dwarf_Die *in, const char *name, size_t len, unsigned depth, Dwarf_Die *type, uint64_t *off,
    struct debug_variable *bits)
{
	Dwarf_Attribute a;
	Dwarf_Die die, of;

	if (depth == DEPTH || dwarf_child(in, &die) != 0)
		return 0;
	do {
		int tag = dwarf_tag(&die), bare;
		const char *s = tag == DW_TAG_member ? dwarf_diename(&die) : NULL;
		Dwarf_Word at = 0;
		uint64_t bit;
		unsigned n = 0;

		if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) || dwarf_attr(&die, DW_AT_external, &a) ||
		    !dwarf_attr_integrate(&die, DW_AT_type, &a) || !dwarf_formref_die(&a, type))
			continue;
		if (debug_bits(&die, type, &bit, &n))
			at = bit / 8;
		else if (dwarf_attr(&die, DW_AT_data_member_location, &a) && dwarf_formudata(&a, &at) != 0)
			continue;
		if (s && strlen(s) == len && memcmp(s, name, len) == 0) {
			*off += at;
			bits->bits = (uint8_t)n;
			bits->bit = n ? bit % 8 : 0;
			bits->size = n ? (bits->bit + n + 7) / 8 : debug_size(type);
			return 1;
		}
		bare = debug_bare(type, &of);
		if (!s && (bare == DW_TAG_structure_type || bare == DW_TAG_class_type || bare == DW_TAG_union_type) &&
		    part_find(x, &of, name, len, depth + 1, type, off, bits)) {
			*off += at;
			return 1;
		}
	} while (x->seen++ < MEMBERS && debug_next(&die) == 0);
	return 0;
}

static int
part_member(struct part *x, const char *name, size_t len)
{
	struct debug_variable bits = { 0 };
	Dwarf_Die of, type;
	uint64_t off = 0;
	int tag = debug_bare(x->type, &of);

	if ((tag == DW_TAG_pointer_type || tag == DW_TAG_reference_type || tag == DW_TAG_rvalue_reference_type)) {
		if (part_follow(x, 0) != 0)
			return -1;
		tag = debug_bare(x->type, &of);
	}
	if (x->dims || x->v->bits ||
	    (tag != DW_TAG_structure_type && tag != DW_TAG_class_type && tag != DW_TAG_union_type))
		return BAD(x, "has no members");
	if (!part_find(x, &of, name, len, 0, &type, &off, &bits))
		return BAD(x, "has no member %.*s", len < 100 ? (int)len : 100, name);
	if (part_narrow(x, off, bits.size) != 0)
		return -1;
	*x->type = type;
	x->v->bits = bits.bits;
	x->v->bit = bits.bit;
	return 0;
}

static int
part_index(struct part *x, int64_t index)
{
	uint64_t dim[4], size;
	unsigned ndim;
	Dwarf_Attribute a;
	Dwarf_Die of, element;

	if (debug_bare(x->type, &of) != DW_TAG_array_type)
		return part_follow(x, index);
	if (!dwarf_attr_integrate(&of, DW_AT_type, &a) || !dwarf_formref_die(&a, &element) ||
	    (size = debug_size(&element)) == 0 || debug_dimensions(&of, dim, &ndim) != 0)
		return BAD(x, "is an array whose size is not known");
	if (index < 0 || (uint64_t)index >= dim[x->dims])
		return BAD(x, "has no element %" PRId64 ", but %" PRIu64, index, dim[x->dims]);
	for (unsigned i = x->dims + 1; i < ndim; i++)
		if (__builtin_mul_overflow(size, dim[i], &size))
			return BAD(x, "is an array whose size is not known");
	if ((uint64_t)index > UINT64_MAX / size || part_narrow(x, (uint64_t)index * size, size) != 0)
		return BAD(x, "is an array that is not all in one place");
	if (++x->dims == ndim) {
		x->dims = 0;
		*x->type = element;
	}
	return 0;
}

/* One step of the path, which it goes on in: 0, or -1 */
static int
part_step(struct part *x, const char **path)
{
	const char *s = *path;
	size_t n = 0;
	uint64_t v;
	char number[24];

	if (*s == '[') {
		int minus = s[1] == '-';

		s += 1 + minus;
		n = strspn(s, "0123456789");
		if (n == 0 || n >= sizeof number || s[n] != ']')
			return BAD(x, "has no such index: %.60s", *path);
		memcpy(number, s, n);
		number[n] = '\0';
		if (num_u64(number, 0, INT32_MAX, &v) != 0)
			return BAD(x, "has no such index: %.60s", *path);
		*path = s + n + 1;
		return part_index(x, minus ? -(int64_t)v : (int64_t)v);
	}
	s += *s == '.' ? 1 : strncmp(s, "->", 2) == 0 ? 2 : 0;
	while (isalnum((unsigned char)s[n]) || s[n] == '_' || s[n] == '$')
		n++;
	if (s == *path || n == 0)
		return BAD(x, "is followed by %.60s", *path);
	*path = s + n;
	return part_member(x, s, n);
}

int
debug_part(const struct debug_frame *f, struct debug_variable *v, void *type, const char *path, unsigned stars,
    char *why, size_t len)
{
	struct part x = { .f = f, .v = v, .type = type, .why = why, .whylen = len };

	*why = '\0';
	if (!*path && !stars)
		return 0;
	if (!v->type)
		return BAD(&x, "is of an unknown type");
	if (v->type != type)
		*x.type = *(Dwarf_Die *)v->type;
	v->type = x.type;
	while (*path)
		if (part_step(&x, &path) != 0)
			return -1;
	for (; stars > 0; stars--)
		if (part_follow(&x, 0) != 0)
			return -1;
	return 0;
}
