/* wetq: writes numbers and places as text. */
#include <string.h>

#include "base/digits.h"
#include "base/text.h"
#include "convert/wetq/name.h"
#include "format/wettext/wettext.h"

size_t
put_dec(uint8_t *p, uint64_t v)
{
	return digits_dec(p, v);
}

size_t
put_hex(uint8_t *p, uint64_t v)
{
	return digits_hex(p, v, 1);
}

size_t
put_value(uint8_t *p, const uint64_t *word, uint32_t n)
{
	size_t k;

	while (n > 1 && !word[n - 1])
		n--;
	k = digits_hex(p, word[n - 1], 1);
	while (--n)
		k += digits_hex(p + k, word[n - 1], 16);
	return k;
}

void
put_number(struct buf *b, const uint64_t *word, uint32_t n)
{
	uint8_t s[16 * 64 + 1];

	if (n == 1 && *word <= UINT32_MAX)
		buf_printf(b, "%u", (unsigned)*word);
	else if (n == 1 && (int64_t)*word < 0 && (int64_t)*word >= INT32_MIN)
		buf_printf(b, "%d", (int)(int64_t)*word);
	else {
		buf_str(b, "0x");
		buf_add(b, s, put_value(s, word, n > 64 ? 64 : n));
	}
}

void
put_place(struct buf *b, const struct place *p)
{
	text_str(b, p->file);
	buf_printf(b, ":%d", p->line);
}

void
put_text(struct job *j, const char *s, size_t n)
{
	struct buf b = BUF_INIT;

	text_add(&b, s, n);
	out_write(j->out, b.p, b.n);
	buf_free(&b);
}

void
put_str(struct job *j, const char *s)
{
	put_text(j, s ? s : "?", s ? strlen(s) : 1);
}

void
put_source(struct job *j, const char *file, int line)
{
	put_str(j, file);
	out_printf(j->out, ":%d", line);
}

void
put_where(struct job *j, uint32_t id)
{
	put_named(j, id, NULL);
}

void
put_named(struct job *j, uint32_t id, const struct name *m)
{
	struct buf b = BUF_INIT;
	const char *file, *func;
	uint8_t name[16384];
	size_t n = 0;
	int line;

	query_source(j->q, id, &file, &func, &line);
	name[n++] = ' ';
	n += wettext_put_name(name + n, sizeof name / 2 - 64, file);
	name[n++] = ' ';
	n += wettext_put_name(name + n, sizeof name / 2, func);
	name[n++] = ' ';
	n += put_dec(name + n, (uint64_t)line);
	out_write(j->out, name, n);
	if (m) {
		buf_u8(&b, ' ');
		name_text(m, &b);
		if (m->value)
			buf_printf(&b, " = %s", m->value);
	}
	buf_u8(&b, '\n');
	out_write(j->out, b.p, b.n);
	buf_free(&b);
}
