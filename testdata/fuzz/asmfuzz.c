/*
 * Assembly as aerw reads it: the first byte says the machine.  Statements are in order and within
 * the text; functions and tables are found.
 */
#include "ae/rewrite/file.h"
#include "fuzz.h"

static void
names(const struct text *t)
{
	static const char *const directives[] = { ".type", ".size", ".section", ".set", ".quad" };

	for (size_t i = 0; i < t->n; i++) {
		const struct stmt *s = &t->st[i];
		const char *p = s->s;
		size_t k;

		if (!p || (i && s->line < s[-1].line))
			abort();
		while ((p = text_symbol(t->m, p, &k)) != NULL) {
			if (!k || p + k > s->s + strlen(s->s))
				abort();
			p += k;
		}
		if (s->kind == ST_INSN && text_operands(t->m, s->s) > s->s + strlen(s->s))
			abort();
		for (size_t d = 0; s->kind == ST_DIRECTIVE &&
		    d < sizeof directives / sizeof directives[0]; d++)
			text_directive(s->s, directives[d]);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static const char *const machines[] = { "x86-64", "mipsel", "mips" };
	struct file f;
	char *p;

	if (n == 0 || memchr(data, 0, n))
		return 0;
	memset(&f, 0, sizeof f);
	f.m = machine_byname(machines[data[0] % 3]);
	if (!f.m)
		abort();
	p = malloc(n);
	memcpy(p, data + 1, n - 1);
	p[n - 1] = 0;
	text_parse(&f.text, f.m, p, n - 1);
	names(&f.text);
	file_recover(&f);
	file_tables(&f);
	file_free(&f);
	free(p);
	return 0;
}
