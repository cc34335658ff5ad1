/* JSON text */
#include "base/json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/digits.h"
#include "base/text.h"

static void
json_quote(struct json *j, const char *s)
{
	const unsigned char *p = (const unsigned char *)s, *end = p + strlen(s);
	uint32_t c;
	size_t n;

	out_str(j->out, "\"");
	for (; p < end; p += n ? n : 1) {
		n = text_utf8(p, (size_t)(end - p), &c);
		if (!n)
			out_str(j->out, "\\ufffd");
		else if (*p == '"' || *p == '\\')
			out_printf(j->out, "\\%c", *p);
		else if (*p < 0x20)
			out_printf(j->out, "\\u%04x", *p);
		else
			out_write(j->out, p, n);
	}
	out_str(j->out, "\"");
}

static void
json_line(struct json *j)
{
	uint8_t *p = out_reserve(j->out, 1 + 2 * JSON_DEPTH);

	*p = '\n';
	memset(p + 1, ' ', 2 * (size_t)j->depth);
	out_commit(j->out, 1 + 2 * (size_t)j->depth);
}

static void
json_place(struct json *j, const char *key)
{
	if (j->any)
		out_str(j->out, ",");
	json_line(j);
	if (key) {
		json_quote(j, key);
		out_str(j->out, ": ");
	}
	j->any = 1;
}

static void
json_open(struct json *j, const char *bracket, char close)
{
	out_str(j->out, bracket);
	j->close[j->depth++] = close;
	j->any = 0;
}

void
json_begin(struct json *j, struct out *out)
{
	*j = (struct json){ .out = out };
	json_open(j, "{", '}');
}

void
json_object(struct json *j, const char *key)
{
	json_place(j, key);
	json_open(j, "{", '}');
}

void
json_array(struct json *j, const char *key)
{
	json_place(j, key);
	json_open(j, "[", ']');
}

void
json_end(struct json *j)
{
	j->depth--;
	if (j->any)
		json_line(j);
	out_printf(j->out, j->depth ? "%c" : "%c\n", j->close[j->depth]);
	j->any = 1;
}

void
json_u64(struct json *j, const char *key, uint64_t v)
{
	json_place(j, key);
	out_commit(j->out, digits_dec(out_reserve(j->out, 20), v));
}

void
json_number(struct json *j, const char *key, double v)
{
	char text[32];

	json_place(j, key);
	snprintf(text, sizeof text, "%.15g", v);
	if (isfinite(v) && strtod(text, NULL) != v)
		snprintf(text, sizeof text, "%.17g", v);
	out_str(j->out, isfinite(v) ? text : "null");
}

void
json_string(struct json *j, const char *key, const char *s)
{
	json_place(j, key);
	if (s)
		json_quote(j, s);
	else
		out_str(j->out, "null");
}
