/* What a file of ours is that a tool was given in place of another one, for its message. */
#ifndef TM_FORMAT_KIND_H
#define TM_FORMAT_KIND_H

#include <stddef.h>
#include <stdint.h>

struct kind {
	const char *magic, *what, *use; /* the first 8 bytes; "a capture"; what to do with it, as a sentence */
};

/* By its first bytes.  NULL: it is none of them */
const struct kind *kind_of(const uint8_t *p, size_t n);

/*
 * "a capture, not WANTED: what to do with it" in text, with that of a capture as the format says that is wanted; 0:
 * p is of no file of ours.
 */
int kind_foreign(char *text, size_t room, const uint8_t *p, size_t n, const char *wanted, const char *capture);

#endif
