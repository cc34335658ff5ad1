/* Partial results of counters of instructions, and adding them up. */
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/mem.h"
#include "format/ref/ref.h"
#include "refs/places_internal.h"

/* The index of a text, each of which is kept once; SIZE_MAX: of NULL */
static size_t
text_add(struct places *m, const char *s)
{
	uint32_t h, at, i;

	if (!s)
		return SIZE_MAX;
	at = h = hash_bytes(s, strlen(s));
	while ((i = hash_find(&m->texts, h, &at)) != HASH_NONE && strcmp(m->text[i], s) != 0)
		;
	if (i != HASH_NONE)
		return i;
	m->text = mem_xgrow(m->text, &m->roomtext, m->ntext + 1, sizeof *m->text);
	m->text[m->ntext] = xstrdup(s);
	hash_xadd(&m->texts, h, (uint32_t)m->ntext);
	return m->ntext++;
}

int
places_put(struct places *m, struct refs *s, struct words *w)
{
	struct { uint64_t func, object, file, line; } *name;

	if (m->n >= PLACES_MOST)
		return -1;
	name = xcalloc(m->n, sizeof *name);
	for (size_t i = 0; i < m->n; i++) {
		struct refs_place p = { 0 };

		if (m->place[i].size)
			refs_place(s, m->place[i].pc, &p);
		name[i].func = text_add(m, p.func) + 1;
		name[i].object = text_add(m, p.object) + 1;
		name[i].file = text_add(m, p.file) + 1;
		name[i].line = p.line > 0 ? (uint64_t)p.line : 0;
	}
	words_put(w, m->ntext);
	for (size_t i = 0; i < m->ntext; i++)
		words_put_text(w, m->text[i]);
	words_put(w, m->n);
	for (size_t i = 0; i < m->n; i++) {
		words_put(w, m->place[i].pc);
		words_put(w, m->place[i].size);
		for (int k = 0; k < PLACES_COUNTS; k++)
			words_put(w, m->place[i].n[k]);
		words_put(w, name[i].func);
		words_put(w, name[i].object);
		words_put(w, name[i].file);
		words_put(w, name[i].line);
	}
	words_put_sum(w);
	free(name);
	return 0;
}

/* The texts of a file: their indices in m; *n: how many */
static size_t *
get_texts(struct places *m, struct words *w, uint64_t *n)
{
	char *s = xmalloc(WORDS_TEXT + 1);
	size_t *at = NULL, room = 0;

	*n = words_get(w);
	for (uint64_t i = 0; i < *n; i++) {
		words_get_text(w, s);
		if (m->ntext >= HASH_NONE - 1)
			words_bad(w, 8, "too many names");
		at = mem_xgrow(at, &room, i + 1, sizeof *at);
		at[i] = text_add(m, s);
	}
	free(s);
	return at;
}

static const char *
get_text(const struct places *m, struct words *w, const size_t *text, uint64_t n)
{
	uint64_t i = words_get(w);

	if (i > n)
		words_bad(w, 8, "no such name");
	return i ? m->text[text[i - 1]] : NULL;
}

static void
name_set(struct places *m, size_t i, const struct refs_place *p)
{
	m->name = mem_xgrow(m->name, &m->roomname, m->n, sizeof *m->name);
	memset(m->name + m->nname, 0, (m->n - m->nname) * sizeof *m->name);
	m->nname = m->n;
	if (p->func || p->object || p->file)
		m->name[i] = *p;
}

static void
get_place(struct places *m, struct words *w, const size_t *text, uint64_t ntext)
{
	uint64_t pc = words_get(w), size = words_get(w), line;
	size_t i;
	struct refs_place p;

	if (pc != (uint64_t)((int64_t)(pc << 16) >> 16) || size > REF_SIZEMAX)
		words_bad(w, 16, "no such instruction");
	i = size ? places_index(m, pc, (unsigned)size) : 0;
	if (m->n >= PLACES_MOST)
		words_bad(w, 16, "too many instructions");
	for (int k = 0; k < PLACES_COUNTS; k++)
		m->place[i].n[k] += words_get(w);
	p.func = get_text(m, w, text, ntext);
	p.object = get_text(m, w, text, ntext);
	p.file = get_text(m, w, text, ntext);
	line = words_get(w);
	if (line > INT32_MAX)
		words_bad(w, 8, "no such line");
	p.line = (int)line;
	if (size)
		name_set(m, i, &p);
}

void
places_get(struct places *m, struct words *w)
{
	uint64_t ntext, n;
	size_t *text = get_texts(m, w, &ntext);

	n = words_get(w);
	for (uint64_t i = 0; i < n; i++)
		get_place(m, w, text, ntext);
	words_check(w);
	free(text);
}
