/*
 * The name of what an instruction has in memory or in a register, in the words of the source: a variable, a member or
 * an element of one, or what a pointer points to.  Pointers may have any value, so that they tell nothing unless the
 * source line is about them.
 */
#include <ctype.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "format/debug/debug.h"

#define DEPTH 16u               /* of parts in each other */
#define POINTERS 3u             /* that are followed, one after the other */
#define MEMBERS 100000u         /* of types that are looked at for one name */
#define INLINED 32u             /* functions that are inlined in each other at a place */
#define NAMES 256u              /* of a function that are told from each other */
#define FARTHEST (1u << 24)     /* the largest index of an element by a pointer */
#define WIDEST 400u             /* bytes of a name */

struct naming {
	const struct debug_frame *f;
	const char *line;
	size_t len;
	uint64_t addr, size;
	const char *function;           /* its variables are looked at; NULL: the innermost one */
	const char *seen[NAMES];        /* names of the innermost function */
	unsigned nseen, members;
	struct debug_name *to;
	unsigned reg, found;            /* of debug_name_register */
};

static int
name_is_letter(int c)
{
	return isalnum(c) || c == '_';
}

/* Does the line go on with this text at byte i, blanks apart? */
static int
name_is_at(const struct naming *x, size_t i, const char *text)
{
	const char *s = text;

	for (; *s && i < x->len; i++) {
		if (isspace((unsigned char)x->line[i]) && s > text && (!name_is_letter((unsigned char)s[-1]) ||
		    !name_is_letter((unsigned char)*s)))
			continue;
		if (x->line[i] != *s)
			return 0;
		s++;
	}
	return !*s && (!name_is_letter((unsigned char)s[-1]) || i == x->len || !name_is_letter((unsigned char)x->line[i]));
}

/* Does the line have this name?  A name of a member comes after a dot or an arrow, others do not. */
static int
name_in_line(const struct naming *x, const char *name, int member)
{
	if (!x->line || !*name)
		return 0;
	for (size_t i = 0; i < x->len; i++) {
		size_t k = i;

		if (x->line[i] != *name || (i && name_is_letter((unsigned char)x->line[i - 1])) || !name_is_at(x, i, name))
			continue;
		while (k && isspace((unsigned char)x->line[k - 1]))
			k--;
		if (member == (k && (x->line[k - 1] == '.' || (k > 1 && x->line[k - 1] == '>' && x->line[k - 2] == '-'))))
			return 1;
	}
	return 0;
}

/* A member, where it is and how large; bits: how many it has of these bytes, from bit `bit` of them on, 0: all */
struct part { Dwarf_Die die, type; const char *name; uint64_t off, size; unsigned bit, bits; };

static int
name_member(struct naming *x, Dwarf_Die *die, struct part *m)
{
	Dwarf_Attribute a;
	Dwarf_Word off = 0;
	uint64_t bit;
	int tag = dwarf_tag(die);

	x->members++;
	*m = (struct part){ .die = *die };
	if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) || dwarf_attr(die, DW_AT_external, &a) ||
	    !dwarf_attr_integrate(die, DW_AT_type, &a) || !dwarf_formref_die(&a, &m->type))
		return 0;
	if (dwarf_hasattr(die, DW_AT_bit_size)) {
		if (!debug_bits(die, &m->type, &bit, &m->bits))
			return 0;
		m->off = bit / 8;
		m->bit = bit % 8;
		m->size = (m->bit + m->bits + 7) / 8;
		m->name = dwarf_diename(die);
		return 1;
	}
	if (dwarf_attr(die, DW_AT_data_member_location, &a) && dwarf_formudata(&a, &off) != 0)
		return 0;
	m->off = off;
	m->size = debug_size(&m->type);
	m->name = tag == DW_TAG_member ? dwarf_diename(die) : NULL;
	return 1;
}

static int
name_is_structure(int tag)
{
	return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}

/*
 * Does the member have all of the bytes at off?  One of bits: some of them, as the others are written back as they
 * were; of several such members the line tells which one.
 */
static int
name_fits(const struct naming *x, const struct part *m, uint64_t off)
{
	if (m->bits)
		return m->name && x->size <= 8 && off < m->off + m->size && m->off < off + x->size;
	return off >= m->off && off - m->off <= m->size && x->size <= m->size - (off - m->off);
}

/* The member that has the bytes at off: 1, or 0: none, or several */
static int
name_choose(struct naming *x, Dwarf_Die *type, uint64_t off, struct part *to)
{
	struct part m;
	Dwarf_Die die;
	int fit = 0, said = 0;

	if (dwarf_child(type, &die) != 0)
		return 0;
	do {
		int is;

		if (!name_member(x, &die, &m) || !name_fits(x, &m, off))
			continue;
		is = m.name && name_in_line(x, m.name, 1);
		if (is > said || (is == said && !fit))
			*to = m;
		fit = is > said ? 1 : fit + (is == said);
		said = is > said ? is : said;
	} while (x->members < MEMBERS && debug_next(&die) == 0);
	return fit == 1;
}

/* The element of an array that has the bytes: adds its indices; 1 with its type, else 0 */
static int
name_element(struct naming *x, Dwarf_Die *type, uint64_t *off, uint64_t all, struct buf *b, Dwarf_Die *to)
{
	uint64_t dim[4], row, size;
	unsigned ndim, known = debug_dimensions(type, dim, &ndim) == 0;
	size_t was = b->n;
	Dwarf_Attribute a;

	if (!dwarf_attr_integrate(type, DW_AT_type, &a) || !dwarf_formref_die(&a, to) || (size = debug_size(to)) == 0)
		return 0;
	if (!known) {           /* of one dimension without a size: what is there has one */
		ndim = 1;
		dim[0] = all / size;
	}
	for (unsigned i = 0; i < ndim; i++) {
		row = size;
		for (unsigned k = i + 1; k < ndim; k++)
			if (__builtin_mul_overflow(row, dim[k], &row))
				row = 0;
		if (!row || *off / row >= dim[i] || x->size > row - *off % row) {
			b->n = i && row ? b->n : was;
			return 0;
		}
		buf_printf(b, "[%" PRIu64 "]", *off / row);
		*off %= row;
	}
	return 1;
}

/* The value of a member of bits, of a structure at `at` */
static void
name_bits(struct naming *x, struct part *m, uint64_t at)
{
	struct debug_variable v = { .name = "", .type = &m->type, .size = m->size, .bit = (uint8_t)m->bit,
	    .bits = (uint8_t)m->bits };

	at += m->off;
	x->to->part = at < x->addr || at + m->size > x->addr + x->size;
	if (x->to->part)
		return;
	v.place.n = 1;
	v.place.piece[0] = (struct debug_piece){ .where = DEBUG_MEMORY, .addr = at };
	debug_print(x->f, &v, &x->to->value);
}

/*
 * Adds the name of the part that has all of the bytes, of an object of this type at `at`, and says whether it is
 * just those.
 */
static void
name_part(struct naming *x, Dwarf_Die type, uint64_t at, uint64_t size, struct buf *b)
{
	struct debug_variable v = { .name = "", .type = &type };
	Dwarf_Die to, next;
	uint64_t off = x->addr - at;
	struct part m;

	for (unsigned i = 0; i < DEPTH; i++) {
		int tag = debug_bare(&type, &to);

		if (name_is_structure(tag)) {
			if (!name_choose(x, &to, off, &m))
				break;
			if (m.name)
				buf_printf(b, ".%.100s", m.name);
			if (m.bits) {
				name_bits(x, &m, x->addr - off);
				return;
			}
			off -= m.off;
			type = m.type;
			size = m.size;
			continue;
		}
		if (tag == DW_TAG_array_type) {
			if (!name_element(x, &to, &off, size, b, &next))
				break;
			type = next;
			size = debug_size(&type);
			continue;
		}
		x->to->part = off != 0 || size != x->size ||
		    (tag != DW_TAG_base_type && tag != DW_TAG_enumeration_type && tag != DW_TAG_pointer_type);
		if (x->to->part)
			return;
		v.size = size;
		v.place.n = 1;
		v.place.piece[0] = (struct debug_piece){ .where = DEBUG_MEMORY, .addr = x->addr };
		debug_print(x->f, &v, &x->to->value);
		return;
	}
	x->to->part = 1;
}

static int
name_has(const struct naming *x, uint64_t at, uint64_t size)
{
	return x->addr >= at && x->addr - at < size && x->size <= size - (x->addr - at);
}

static int
name_seen(const struct naming *x, const char *name)
{
	for (unsigned i = 0; i < x->nseen; i++)
		if (strcmp(x->seen[i], name) == 0)
			return 1;
	return 0;
}

/*
 * What is stored of a reference of C++ is an address, which has the name &b: b is what is there.  1: it is one, and these
 * are all of its bytes
 */
static int
name_address(struct naming *x, const struct debug_variable *v)
{
	Dwarf_Die of;
	int tag = debug_bare(v->type, &of);
	uint64_t to;

	if ((tag != DW_TAG_reference_type && tag != DW_TAG_rvalue_reference_type) || !debug_number(x->f, v, &to) ||
	    (x->size && x->size != v->size))
		return 0;
	buf_printf(&x->to->name, "&%s", v->name);
	buf_printf(&x->to->value, "0x%" PRIx64, to);
	return 1;
}

/* A variable that has the bytes.  One with the name of another one in a block in it cannot be said. */
static int
name_variable(void *arg, const struct debug_variable *v)
{
	struct naming *x = arg;
	int hidden = name_seen(x, v->name);

	if (x->nseen == NAMES || strlen(v->name) > WIDEST)
		return 0;
	x->seen[x->nseen++] = v->name;
	if (hidden || v->place.n != 1 || v->place.piece[0].where != DEBUG_MEMORY || !v->type || !v->size ||
	    !name_has(x, v->place.piece[0].addr, v->size))
		return 0;
	x->to->local = !x->function;
	if (!x->function && name_address(x, v))
		return 1;
	if (x->function)
		buf_printf(&x->to->name, "%.100s::", x->function);
	buf_str(&x->to->name, v->name);
	name_part(x, *(Dwarf_Die *)v->type, v->place.piece[0].addr, v->size, &x->to->name);
	return 1;
}

static int
name_global(void *arg, const struct debug_variable *v)
{
	struct naming *x = arg;

	if (v->place.n != 1 || v->place.piece[0].where != DEBUG_MEMORY || !v->type || !v->size ||
	    strlen(v->name) > WIDEST || !name_has(x, v->place.piece[0].addr, v->size))
		return 0;
	buf_printf(&x->to->name, "%s%s", name_seen(x, v->name) ? "::" : "", v->name);
	name_part(x, *(Dwarf_Die *)v->type, v->place.piece[0].addr, v->size, &x->to->name);
	return 1;
}

/* The name of what `name` points to, from what is said of its part */
static void
name_through(struct naming *x, const char *name, Dwarf_Die *type, uint64_t at, uint64_t size)
{
	struct buf b = BUF_INIT, *to = &x->to->name;

	name_part(x, *type, at, size, &b);
	buf_u8(&b, 0);
	if (b.nomem)
		;
	else if (b.p[0] == '.')
		buf_printf(to, "%s->%s", name, (const char *)b.p + 1);
	else if (b.p[0] == '[')
		buf_printf(to, "(*%s)%s", name, (const char *)b.p);
	else
		buf_printf(to, "*%s", name);
	buf_free(&b);
}

static int name_follow_members(struct naming *x, const char *prefix, Dwarf_Die *type, uint64_t at, unsigned depth);

/* Does the pointer, of a type without its names, point to the bytes, or lead there? */
static int
name_follow(struct naming *x, const char *name, Dwarf_Die *type, uint64_t v, unsigned depth)
{
	char with[WIDEST + 128];
	Dwarf_Attribute a;
	Dwarf_Die to, of;
	uint64_t size, k;
	int tag, index;

	if (strlen(name) > WIDEST || !dwarf_attr_integrate(type, DW_AT_type, &a) || !dwarf_formref_die(&a, &to) ||
	    (size = debug_size(&to)) == 0)
		return 0;
	snprintf(with, sizeof with, "%s[", name);
	index = name_in_line(x, with, 0);
	if (!index && name_has(x, v, size)) {
		name_through(x, name, &to, v, size);
		return 1;
	}
	if (index && x->addr >= v && (k = (x->addr - v) / size) < FARTHEST && name_has(x, v + k * size, size)) {
		buf_printf(&x->to->name, "%s[%" PRIu64 "]", name, k);
		name_part(x, to, v + k * size, size, &x->to->name);
		return 1;
	}
	tag = debug_bare(&to, &of);
	if (index || depth == POINTERS || !name_is_structure(tag))
		return 0;
	snprintf(with, sizeof with, "%s->", name);
	return name_follow_members(x, with, &of, v, depth + 1);
}

/* The same for the pointers that are members, and are in the line */
static int
name_follow_members(struct naming *x, const char *prefix, Dwarf_Die *type, uint64_t at, unsigned depth)
{
	char name[2 * WIDEST + 8];
	struct part m;
	Dwarf_Die die, of;
	uint8_t p[8];
	int got = 0;

	if (depth > DEPTH || dwarf_child(type, &die) != 0)
		return 0;
	do {
		int tag;

		if (!name_member(x, &die, &m) || m.bits || !m.name || strlen(prefix) + strlen(m.name) > WIDEST)
			continue;
		snprintf(name, sizeof name, "%.400s%.400s", prefix, m.name);
		if (!name_in_line(x, name, 0))
			continue;
		tag = debug_bare(&m.type, &of);
		if (tag == DW_TAG_pointer_type && m.size == 8 && x->f->m->read(x->f->m->arg, at + m.off, p, 8) == 0) {
			got = name_follow(x, name, &of, get_le64(p), depth);
		} else if (name_is_structure(tag)) {
			strcat(name, ".");
			got = name_follow_members(x, name, &of, at + m.off, depth + 1);
		}
	} while (!got && x->members < MEMBERS && debug_next(&die) == 0);
	return got;
}

/* What a reference of C++ stands for, in the words of the variable itself */
static int
name_reference(struct naming *x, const char *name, Dwarf_Die *type, uint64_t at)
{
	char prefix[WIDEST + 2];
	Dwarf_Attribute a;
	Dwarf_Die to, of;

	if (!dwarf_attr_integrate(type, DW_AT_type, &a) || !dwarf_formref_die(&a, &to))
		return 0;
	if (name_has(x, at, debug_size(&to))) {
		buf_str(&x->to->name, name);
		name_part(x, to, at, debug_size(&to), &x->to->name);
		return 1;
	}
	snprintf(prefix, sizeof prefix, "%s.", name);
	return name_is_structure(debug_bare(&to, &of)) ? name_follow_members(x, prefix, &of, at, 0) : 0;
}

/* Is the line about this variable?  A namespace is not in it, and members of C++ without `this->`. */
static int
name_is_meant(const struct naming *x, const char *name)
{
	const char *last = name;

	for (const char *s = name; (s = strstr(s, "::")) != NULL;)
		last = s += 2;
	return name_in_line(x, last, 0) || (x->line && strcmp(name, "this") == 0);
}

/* A pointer that the line has, or something with pointers in it */
static int
name_pointer(void *arg, const struct debug_variable *v)
{
	struct naming *x = arg;
	const struct debug_piece *p = &v->place.piece[0];
	char prefix[WIDEST + 2];
	Dwarf_Die of;
	uint64_t to;
	int tag;

	if (!v->type || strlen(v->name) > WIDEST || !name_is_meant(x, v->name) || name_seen(x, v->name) ||
	    x->nseen == NAMES)
		return 0;
	x->seen[x->nseen++] = v->name;
	tag = debug_bare(v->type, &of);
	if (tag == DW_TAG_pointer_type && debug_number(x->f, v, &to))
		return name_follow(x, v->name, &of, to, 0);
	if ((tag == DW_TAG_reference_type || tag == DW_TAG_rvalue_reference_type) && debug_number(x->f, v, &to))
		return name_reference(x, v->name, &of, to);
	if (!name_is_structure(tag) || v->place.n != 1 || p->where != DEBUG_MEMORY)
		return 0;
	snprintf(prefix, sizeof prefix, "%s.", v->name);
	return name_follow_members(x, prefix, &of, p->addr, 0);
}

/* A function whose variables were not looked at: of one that was called again, only the last call can be said. */
static int
name_is_new(const char **was, unsigned *n, const char *name)
{
	for (unsigned i = 0; i < *n; i++)
		if (strcmp(was[i], name) == 0)
			return 0;
	if (*n == NAMES)
		return 0;
	was[(*n)++] = name;
	return 1;
}

/* Variables of the functions that have not returned but for the innermost one */
static int
name_outer(struct naming *x, const struct debug_frame *frame, size_t n)
{
	const char *was[NAMES];
	struct debug_function fn[INLINED];
	unsigned nwas = 0;

	for (size_t i = 0; i < n; i++) {
		size_t k = debug_functions(&frame[i], fn, INLINED);

		for (size_t l = 0; l < k; l++) {
			if (!fn[l].name || !name_is_new(was, &nwas, fn[l].name) || (i == 0 && l == 0))
				continue;
			x->function = fn[l].name;
			x->nseen = 0;
			x->f = &frame[i];
			if (debug_variables(&frame[i], &fn[l], name_variable, x))
				return 1;
		}
	}
	return 0;
}

int
debug_name_memory(const struct debug_frame *frame, size_t n, const char *line, size_t len, uint64_t addr, uint64_t size,
    struct debug_name *to)
{
	struct naming x = { .f = frame, .line = line, .len = len, .addr = addr, .size = size, .to = to };
	struct debug_function fn[INLINED];
	int got, is;

	*to = (struct debug_name){ .name = BUF_INIT, .value = BUF_INIT };
	if (!n || !size)
		return 0;
	is = debug_functions(frame, fn, INLINED) > 0;
	got = (is && debug_variables(frame, fn, name_variable, &x)) || debug_globals(frame, name_global, &x);
	x.nseen = 0;
	if (!got && is && debug_variables(frame, fn, name_pointer, &x))
		got = to->local = 1;
	got = got || debug_globals(frame, name_pointer, &x) ||
	    name_outer(&x, frame, n);
	if (got && !to->name.nomem && !to->value.nomem)
		return 1;
	buf_free(&to->name);
	buf_free(&to->value);
	return 0;
}

/* One in the register is chosen, or the one in the line if there are several. */
static int
name_in_register(void *arg, const struct debug_variable *v)
{
	struct naming *x = arg;
	unsigned is = name_in_line(x, v->name, 0) ? 2 : 1;
	int hidden = name_seen(x, v->name);

	if (x->nseen == NAMES || strlen(v->name) > WIDEST)
		return 0;
	x->seen[x->nseen++] = v->name;
	if (hidden || v->place.n != 1 || v->place.piece[0].where != DEBUG_REGISTER || v->place.piece[0].addr != x->reg ||
	    !v->type || is < x->found)
		return 0;
	buf_free(&x->to->name);
	buf_free(&x->to->value);
	if (is == x->found || x->found == 3) {
		x->found = is == 2 ? 3 : 1;     /* several */
		return 0;
	}
	x->found = is;
	x->to->local = 1;
	if (name_address(x, v))
		return 0;
	buf_str(&x->to->name, v->name);
	debug_print(x->f, v, &x->to->value);
	return 0;
}

int
debug_name_register(const struct debug_frame *f, const char *line, size_t len, unsigned reg, struct debug_name *to)
{
	struct naming x = { .f = f, .line = line, .len = len, .reg = reg, .to = to };
	struct debug_function fn[INLINED];

	*to = (struct debug_name){ .name = BUF_INIT, .value = BUF_INIT };
	if (debug_functions(f, fn, INLINED) == 0)
		return 0;
	(void)debug_variables(f, fn, name_in_register, &x);
	if (to->name.n && to->value.n && !to->name.nomem && !to->value.nomem)
		return 1;
	buf_free(&to->name);
	buf_free(&to->value);
	return 0;
}
