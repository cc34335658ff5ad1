/* Names of functions as their source has them. See symbol.h. */
#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "format/ae/symbol.h"

/* A symbol of a few bytes can stand for a name of any length, as it may refer to parts of itself that do so, too. */
#define SYMBOL_MAX 4096u
#define NAME_MAX_BYTES 16384u

struct made { char *p; size_t n; jmp_buf full; };

static void
symbol_part(const char *s, size_t n, void *arg)
{
	struct made *m = arg;

	/* the demangler cannot be told to stop; with a callback it holds no memory that would be lost */
	if (n > NAME_MAX_BYTES - 1 - m->n)
		longjmp(m->full, 1);
	memcpy(m->p + m->n, s, n);
	m->n += n;
}

static int
symbol_demangle(const char *symbol, int options, struct made *m)
{
	if (setjmp(m->full))
		return 0;
	m->n = 0;
	if (rust_demangle_callback(symbol, options, symbol_part, m))
		return 1;
	m->n = 0;
	return cplus_demangle_v3_callback(symbol, options, symbol_part, m);
}

char *
symbol_source(const char *symbol, int full)
{
	char room[NAME_MAX_BYTES], *s = NULL;
	struct made m = { .p = room };

	if (symbol[0] != '_' || (symbol[1] != 'Z' && symbol[1] != 'R') || strnlen(symbol, SYMBOL_MAX) == SYMBOL_MAX)
		return NULL;
	if (symbol_demangle(symbol, full ? DMGL_PARAMS | DMGL_ANSI | DMGL_RET_DROP : DMGL_NO_OPTS, &m) && m.n)
		s = strndup(room, m.n);
	return s;
}

/* Is `name` these n bytes, or the end of them after "::"? */
static int
symbol_ends(const char *source, size_t n, const char *name)
{
	size_t len = strlen(name);

	return len && len <= n && memcmp(source + n - len, name, len) == 0 &&
	    (len == n || (n - len > 2 && memcmp(source + n - len - 2, "::", 2) == 0));
}

/* The length of a name without arguments of templates at its end */
static size_t
symbol_without_arguments(const char *source, size_t n)
{
	size_t i = n, depth = 0;

	if (!n || source[n - 1] != '>')
		return n;
	while (i-- > 0) {
		if (source[i] == '>' && (i == 0 || source[i - 1] != '-'))
			depth++;
		if (source[i] == '<' && --depth == 0)
			return i && source[i - 1] == ' ' ? i - 1 : i;
	}
	return n;
}

int
symbol_source_is(const char *source, const char *name)
{
	size_t n = strlen(source);

	return symbol_ends(source, n, name) || symbol_ends(source, symbol_without_arguments(source, n), name);
}

/* Can the symbol have this name in its source?  Symbols have what follows the last "::" as it is, if it is a word. */
static int
symbol_has_word(const char *symbol, const char *name)
{
	const char *s = strrchr(name, ':'), *word = s ? s + 1 : name;

	return word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789")] ||
	    strncmp(word, "operator", strlen("operator")) == 0 || strstr(symbol, word) != NULL;
}

int
symbol_is(const char *symbol, const char *name)
{
	char *s;
	int is = strcmp(symbol, name) == 0;

	if (!is && !symbol_has_word(symbol, name))
		return 0;
	for (int full = 0; !is && full <= (strchr(name, '(') != NULL); full++)
		if ((s = symbol_source(symbol, full)) != NULL) {
			is = symbol_source_is(s, name);
			free(s);
		}
	return is;
}
