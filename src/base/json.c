/* JSON text */
#include "base/json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* The length of the UTF-8 character at s; 0: there is none.  RFC 3629: no surrogates, no long forms. */
static size_t
json_character(const unsigned char *s)
{
	static const struct { unsigned char lo, hi, second_lo, second_hi, n; } form[] = {
		{ 0x01, 0x7f, 0, 0, 1 }, { 0xc2, 0xdf, 0x80, 0xbf, 2 },
		{ 0xe0, 0xe0, 0xa0, 0xbf, 3 }, { 0xe1, 0xec, 0x80, 0xbf, 3 }, { 0xed, 0xed, 0x80, 0x9f, 3 },
		{ 0xee, 0xef, 0x80, 0xbf, 3 },
		{ 0xf0, 0xf0, 0x90, 0xbf, 4 }, { 0xf1, 0xf3, 0x80, 0xbf, 4 }, { 0xf4, 0xf4, 0x80, 0x8f, 4 },
	};

	for (size_t i = 0; i < sizeof form / sizeof *form; i++) {
		size_t n = form[i].n;

		if (s[0] < form[i].lo || s[0] > form[i].hi)
			continue;
		if (n > 1 && (s[1] < form[i].second_lo || s[1] > form[i].second_hi))
			return 0;
		for (size_t k = 2; k < n; k++)
			if (s[k] < 0x80 || s[k] > 0xbf)
				return 0;
		return n;
	}
	return 0;
}

static void
json_quote(struct json *j, const char *s)
{
	const unsigned char *p = (const unsigned char *)s;
	size_t n;

	out_str(j->out, "\"");
	for (; *p; p += n ? n : 1) {
		n = json_character(p);
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
	out_str(j->out, "\n");
	for (unsigned i = 0; i < j->depth; i++)
		out_str(j->out, "  ");
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
	out_printf(j->out, "%llu", (unsigned long long)v);
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
