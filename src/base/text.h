/* Text that comes from a file, for a terminal or a page: characters that can be shown, and no others. */
#ifndef TM_BASE_TEXT_H
#define TM_BASE_TEXT_H

#include <stddef.h>
#include <stdint.h>

struct buf;
struct out;

/* The bytes, 1 to 4, of the UTF-8 character at s, of n > 0 bytes, and the character (RFC 3629); 0: it is none. */
size_t text_utf8(const unsigned char *s, size_t n, uint32_t *c);

/*
 * The same; 0 also if it must not be shown as it is: a control character other than a tab, or one that changes the
 * order of what is shown or has no width.
 */
size_t text_character(const char *s, size_t n);

/* Each of n bytes of text that is of no such character becomes '?'. */
void text_clean(char *s, size_t n);

/* Appends text, so cleaned. */
void text_add(struct buf *b, const char *s, size_t n);
void text_str(struct buf *b, const char *s);            /* without the final NUL; NULL: "?" */

/* Writes text, so cleaned. */
void text_put(struct out *o, const char *s);

#endif
