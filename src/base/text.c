/* Text of files: which of its characters can be shown. */
#include "base/text.h"

#include <string.h>

#include "base/buf.h"
#include "base/out.h"

/* The bytes of a character that begins like this, by its first byte; 0: none does */
static size_t
text_length(uint8_t c)
{
	return c < 0x80 ? 1 : c >= 0xc2 && c < 0xe0 ? 2 : (c & 0xf0) == 0xe0 ? 3 : c >= 0xf0 && c < 0xf5 ? 4 : 0;
}

size_t
text_utf8(const unsigned char *s, size_t n, uint32_t *c)
{
	/* the least character that needs so many bytes */
	static const uint32_t least[] = { 0, 0, 0, 0x800, 0x10000 };
	size_t k = text_length(s[0]);

	if (!k || k > n)
		return 0;
	*c = k > 1 ? s[0] & (0xffu >> (k + 1)) : s[0];
	for (size_t i = 1; i < k; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		*c = *c << 6 | (s[i] & 0x3f);
	}
	return *c < least[k] || *c > 0x10ffff || (*c >= 0xd800 && *c < 0xe000) ? 0 : k;
}

size_t
text_character(const char *s, size_t n)
{
	uint32_t c;
	size_t k = text_utf8((const unsigned char *)s, n, &c);

	if (!k || (c < ' ' && c != '\t') || (c >= 0x7f && c < 0xa0))
		return 0;
	/* those that change the direction of text, or have no width */
	if (c == 0x61c || (c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f) ||
	    c == 0xfeff)
		return 0;
	return k;
}

void
text_clean(char *s, size_t n)
{
	for (size_t i = 0, k; i < n; i += k ? k : 1)
		if ((k = text_character(s + i, n - i)) == 0)
			s[i] = '?';
}

void
text_add(struct buf *b, const char *s, size_t n)
{
	size_t from = b->n;

	buf_add(b, s, n);
	if (n && !b->nomem)
		text_clean((char *)b->p + from, n);
}

void
text_str(struct buf *b, const char *s)
{
	text_add(b, s ? s : "?", s ? strlen(s) : 1);
}

void
text_put(struct out *o, const char *s)
{
	for (size_t left = strlen(s), k; left; s += k, left -= k) {
		k = text_character(s, left);
		out_write(o, k ? s : "?", k ? k : 1);
		k += !k;
	}
}
