/* JSON text (RFC 8259) for --json: commas, indentation and quoting.  Numbers have all their digits. */
#ifndef TM_BASE_JSON_H
#define TM_BASE_JSON_H

#include <stdint.h>

#include "base/out.h"

#define JSON_DEPTH 16           /* the most objects and arrays in each other */

struct json {
	struct out *out;
	unsigned depth;
	char close[JSON_DEPTH];         /* what ends them */
	int any;                        /* is there something in the innermost one? */
};

/* Begins the outermost object, which json_end ends.  out is borrowed. */
void json_begin(struct json *j, struct out *out);

/* key: in an object; NULL in an array.  What a function begins, json_end ends. */
void json_object(struct json *j, const char *key);
void json_array(struct json *j, const char *key);
void json_end(struct json *j);

void json_u64(struct json *j, const char *key, uint64_t v);
void json_number(struct json *j, const char *key, double v);    /* null unless it is finite */
/* s: bytes that are not UTF-8 become U+FFFD; NULL: null */
void json_string(struct json *j, const char *key, const char *s);

#endif
