/* A page of HTML about where a value came from: its steps, and the parts that are the same in all pages. */
#ifndef TM_CONVERT_WETQ_HTML_H
#define TM_CONVERT_WETQ_HTML_H

#include "base/buf.h"

extern const char html_begin[], html_script[];

/*
 * Appends text as HTML: what has a meaning there is escaped, and what is no UTF-8, or changes the order of what is
 * shown, becomes U+FFFD.  At most `most` bytes of s are used.
 */
void html_text(struct buf *b, const char *s, size_t n, size_t most);

#endif
