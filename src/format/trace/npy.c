/*
 * NumPy's file format, version 1 to 3: a header that is a Python dictionary, then the elements. What is
 * read is an array of one dimension, of words of ref(5) or of a structured type of unsigned integers.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/num.h"
#include "format/ref/ref.h"
#include "format/trace/trace_internal.h"

static const char npy_magic[] = "\x93NUMPY";

int
trace_npy_is(const uint8_t *p, size_t n)
{
	return n >= 10 && memcmp(p, npy_magic, 6) == 0;
}

void
trace_put_npy_header(uint8_t dst[TRACE_NPY_HEADER], uint64_t n)
{
	char text[TRACE_NPY_HEADER - 10 + 1];
	int k = snprintf(text, sizeof text, "{'descr': [('address', '<u8'), ('size', '|u1'), ('kind', '|u1')], "
	    "'fortran_order': False, 'shape': (%llu,), }", (unsigned long long)n);

	memcpy(dst, npy_magic, 6);
	dst[6] = 1;
	dst[7] = 0;
	put_le16(dst + 8, sizeof text - 1);
	memset(dst + 10, ' ', sizeof text - 1);
	memcpy(dst + 10, text, (size_t)k);
	dst[TRACE_NPY_HEADER - 1] = '\n';
}

/* What follows the key in the dictionary, or NULL. */
static const char *
npy_value(const char *s, const char *key)
{
	const char *p = strstr(s, key);

	if (!p)
		return NULL;
	p += strlen(key);
	while (*p == ' ' || *p == ':')
		p++;
	return p;
}

/* `'text'` at *p into t; the text's length, or 0. */
static size_t
npy_string(const char **p, char *t, size_t room)
{
	const char *end;
	size_t n;

	while (**p == ' ')
		++*p;
	end = **p == '\'' ? strchr(*p + 1, '\'') : NULL;
	n = end ? (size_t)(end - *p) - 1 : 0;
	if (!n || n >= room)
		return 0;
	memcpy(t, *p + 1, n);
	t[n] = '\0';
	*p = end + 1;
	return n;
}

/* The bytes of a type of unsigned integers, little-endian; 0: another type. */
static uint32_t
npy_bytes(const char *t)
{
	uint64_t n;

	if ((t[0] != '<' && t[0] != '|') || t[1] != 'u' || num_u64(t + 2, 1, 8, &n) != 0 || (n & (n - 1)) != 0)
		return 0;
	return (uint32_t)n;
}

/* ('name', 'type'), ... ]: 0, or -1 */
static int
npy_fields(struct trace_reader *r, const char *p)
{
	static const char *const column[TRACE_NCOLUMNS] = { "kind", "address", "size" };
	char name[64], type[16];
	uint32_t bytes;

	while (*p != ']') {
		if (*p++ != '(' || !npy_string(&p, name, sizeof name) || *p++ != ',' || !npy_string(&p, type, sizeof type) ||
		    *p++ != ')' || (bytes = npy_bytes(type)) == 0)
			return -1;
		for (int c = 0; c < TRACE_NCOLUMNS; c++)
			if (strcmp(name, column[c]) == 0) {
				r->field[c].off = r->item;
				r->field[c].bytes = bytes;
			}
		r->item += bytes;
		while (*p == ',' || *p == ' ')
			p++;
	}
	return r->field[TRACE_ADDRESS].bytes && r->field[TRACE_KIND].bytes && r->item <= 4096 ? 0 : -1;
}

static const char *
npy_parse(struct trace_reader *r, const char *s)
{
	const char *descr = npy_value(s, "'descr'"), *order = npy_value(s, "'fortran_order'");
	const char *shape = npy_value(s, "'shape'");
	char type[16], *end;

	if (!descr || !order || !shape)
		return "the array's header is not one";
	if (*descr == '\'') {
		r->words = npy_string(&descr, type, sizeof type) && strcmp(type, "<u8") == 0;
		r->item = 8;
	}
	if (!r->words && (*descr != '[' || npy_fields(r, descr + 1) != 0))
		return "the array has neither columns of unsigned integers, address and kind among them, nor words of ref(5)";
	if (*shape != '(' || !isdigit((unsigned char)shape[1]))
		return "the array's header is not one";
	r->left = strtoull(shape + 1, &end, 10);
	while (*end == ',' || *end == ' ')
		end++;
	return *end == ')' ? NULL : "the array has more than one dimension";
}

int
trace_npy_open(struct trace_reader *r)
{
	const uint8_t *p;
	size_t n, head, len;
	const char *err;
	char *s;

	p = in_peek(r->in, 12, &n);
	head = n >= 12 && p[6] > 1 ? 12 : 10;
	if (n < 12 || !trace_npy_is(p, n) || p[6] < 1 || p[6] > 3)
		return trace_fail(r, 0, "not an array of NumPy, or of an unknown version");
	len = head == 12 ? get_le32(p + 8) : get_le16(p + 8);
	if (len > IN_PEEK - head)
		return trace_fail(r, 8, "impossible length of the header");
	p = in_peek(r->in, head + len, &n);
	if (n < head + len)
		return trace_fail(r, n, "truncated header");
	s = strndup((const char *)p + head, len);
	err = s ? npy_parse(r, s) : "no memory";
	free(s);
	if (err)
		return trace_fail(r, head, err);
	in_skip(r->in, head + len);
	return 0;
}

static uint64_t
npy_field(const struct trace_reader *r, const uint8_t *p, int column, uint64_t none)
{
	return r->field[column].bytes ? get_le(p + r->field[column].off, r->field[column].bytes) : none;
}

/* The word of an element; UINT64_MAX: there is none, and what is wrong is in r->err. */
static uint64_t
npy_word(struct trace_reader *r, const uint8_t *p)
{
	uint64_t w, kind, addr, size;

	if (r->words) {
		w = get_le64(p);
	} else {
		kind = npy_field(r, p, TRACE_KIND, 0);
		addr = npy_field(r, p, TRACE_ADDRESS, 0);
		size = npy_field(r, p, TRACE_BYTES, kind < REF_ENTER ? r->size : 0);
		if (addr + (UINT64_C(1) << 47) >= UINT64_C(1) << 48) {
			r->err = "address out of range";
			return UINT64_MAX;
		}
		if (kind >= REF_NKINDS || size > REF_SIZEMAX)
			return r->err = "unknown kind or size", UINT64_MAX;
		w = ref_make((unsigned)kind, addr, (unsigned)size);
	}
	if (ref_valid(w))
		return w;
	r->err = "not a reference: unknown kind, or a size that the kind does not have";
	return UINT64_MAX;
}

/* Elements as trace_put writes them, of which all are valid; returns how many of the n are. */
static size_t
npy_own(const uint8_t *p, uint64_t *w, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++, p += TRACE_NPY_ITEM) {
		uint64_t addr = get_le64(p);

		w[i] = (addr & 0xffffffffffffu) | (uint64_t)get_le16(p + 8) << 48;
		if (ref_addr(w[i]) != addr || !ref_valid(w[i]))
			break;
	}
	return i;
}

static int
npy_is_own(const struct trace_reader *r)
{
	return !r->words && r->item == TRACE_NPY_ITEM && r->field[TRACE_ADDRESS].off == 0 && r->field[TRACE_ADDRESS].bytes == 8 &&
	    r->field[TRACE_BYTES].off == 8 && r->field[TRACE_BYTES].bytes == 1 && r->field[TRACE_KIND].off == 9;
}

long
trace_npy_read(struct trace_reader *r, uint64_t *w, size_t max)
{
	uint64_t off = in_off(r->in);
	const uint8_t *p;
	size_t n, i = 0;

	if (r->failed)
		return -1;
	if (!r->left)
		return 0;
	p = in_peek(r->in, r->item, &n);
	if (n < r->item)
		return trace_fail(r, off + n, "truncated array");
	n /= r->item;
	n = n < max ? n : max;
	n = n < r->left ? n : (size_t)r->left;
	if (npy_is_own(r))
		i = npy_own(p, w, n);
	for (p += i * r->item; i < n; i++, p += r->item)
		if ((w[i] = npy_word(r, p)) == UINT64_MAX)
			break;
	in_skip(r->in, i * r->item);
	r->left -= i;
	r->nrec += i;
	return i ? (long)i : trace_fail(r, off, r->err);
}
