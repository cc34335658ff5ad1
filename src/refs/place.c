/* Functions and lines of instructions. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "refs/refs_internal.h"

int
refs_named(const struct refs *s)
{
	return s->source || s->has_exe;
}

void
refs_code(struct refs *s, uint64_t pc, unsigned n)
{
	uint8_t code[REF_SIZEMAX];

	/* what is unmapped by now cannot be compared, but the build ids of its file can */
	if (s->source)
		wsource_code(s->source, pc, code,
		    n <= sizeof code && replay_read(s->r, pc, code, n) == n ? n : sizeof code);
}

const char *
refs_complaint(struct refs *s)
{
	return s->source ? wsource_complaint(s->source) : NULL;
}

/* The file of the program that has pc, which becomes the address there; NULL: none */
static struct exe *
refs_file(struct refs *s, uint64_t *pc)
{
	struct libs_one *lib;
	uint8_t b;

	if (s->has_exe && exe_image(&s->exe, *pc - s->prog.loaded, &b, 1)) {
		*pc -= s->prog.loaded;
		return &s->exe;
	}
	if ((lib = libs_at(&s->libs, *pc)) == NULL)
		return NULL;
	*pc -= lib->base;
	return &lib->exe;
}

void
refs_place(struct refs *s, uint64_t pc, struct refs_place *p)
{
	struct exe *x;

	*p = (struct refs_place){ 0 };
	if (s->source) {
		p->object = wsource_object(s->source, pc);
		wsource_place(s->source, pc, &p->file, &p->func, &p->line);
	} else if ((x = refs_file(s, &pc)) != NULL) {
		p->func = exe_name(x, pc, EXE_FULL);
		p->file = exe_short_line(x, pc, &p->line);
	}
}

const char *
refs_place_text(struct refs *s, uint64_t pc, char text[REFS_PLACE_TEXT])
{
	struct refs_place p;
	const char *slash;

	refs_place(s, pc, &p);
	slash = p.file ? strrchr(p.file, '/') : NULL;
	if (p.file && p.line)
		snprintf(text, REFS_PLACE_TEXT, "%s:%d", slash ? slash + 1 : p.file, p.line);
	else
		snprintf(text, REFS_PLACE_TEXT, "0x%llx", (unsigned long long)pc);
	text_clean(text, strlen(text));
	return text;
}

int
refs_in_function(struct refs *s, uint64_t pc, unsigned n, const char *name)
{
	struct exe *x;

	refs_code(s, pc, n);
	if (s->source)
		return wsource_in_function(s->source, pc, name);
	x = refs_file(s, &pc);
	return x && exe_in_function(x, pc, name);
}

int
refs_has_function(struct refs *s, const char *name)
{
	return s->source ? wsource_has_function(s->source, name) : s->has_exe && exe_has_function(&s->exe, name);
}

unsigned
refs_nmapped(const struct refs *s)
{
	return s->nmapped;
}

struct areas *
refs_areas(const struct refs *s)
{
	return s->areas;
}
