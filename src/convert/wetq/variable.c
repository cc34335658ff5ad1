/* wetq: where a variable, or a part of one, is at a point: p->next, a[3], main::item, *p. */
#include <ctype.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "convert/wetq/state.h"

struct find {
	struct job *j;
	const char *path;               /* what comes after the name */
	char *name, *function, *local;  /* name: owned; if it is FUNCTION::LOCAL: these, owned */
	unsigned stars;
	const struct debug_frame *f;    /* whose variables are looked at */
	const struct debug_function *in;        /* and of which function; NULL: of none */
	struct state_found *found;
	char lost[300];                 /* why it is nowhere */
	int outer, is, one;             /* outer: the function is not the innermost one; is: there is one; one: look for more */
};

static int
variable_is_letter(int c)
{
	return isalnum(c) || c == '_' || c == '$' || c >= 128;
}

int
variable_is(const char *s)
{
	size_t n = 0;

	while (s[n] == '*')
		n++;
	if (!variable_is_letter((unsigned char)s[n]) && s[n] != ':')
		return 0;
	if (s[n] >= '0' && s[n] <= '9')
		return 0;
	for (; s[n] && s[n] != '@'; n++)
		if (s[n] == '#' || s[n] == '+')
			return 0;
		else if (s[n] == ':' && s[++n] != ':')
			return 0;
	return 1;
}

/* Divides the text of a variable, up to an @: 0, or -1: it is none */
static int
variable_parse(struct find *t, const char *s)
{
	size_t n = 0, last = 0;

	for (; *s == '*'; s++)
		t->stars++;
	for (;; n++) {
		if (s[n] == ':' && s[n + 1] == ':')
			last = n++;
		else if (!variable_is_letter((unsigned char)s[n]))
			break;
	}
	t->name = xstrdup(s);
	t->name[n] = '\0';
	t->path = s + n;
	if (last) {
		t->function = xstrdup(t->name);
		t->function[last] = '\0';
		t->local = t->name + last + 2;
	}
	return n && (!last || t->local[0]) ? 0 : -1;
}

/* Is it the name, or its end after what it is in? */
static int
variable_has_name(const char *name, const char *want)
{
	size_t n = strlen(name), k = strlen(want);

	return n >= k && strcmp(name + n - k, want) == 0 && (n == k || (n > k + 1 && name[n - k - 1] == ':'));
}

static int
variable_fits(const struct find *t, const struct debug_variable *v)
{
	if (!t->in)
		return variable_has_name(v->name, strncmp(t->name, "::", 2) == 0 ? t->name + 2 : t->name);
	if (t->function)
		return t->in->name && strcmp(v->name, t->local) == 0 && variable_has_name(t->in->name, t->function);
	return strcmp(v->name, t->name) == 0;
}

/* Sets where it is, which is in one place, or t->lost. */
static void
variable_place(struct find *t, const struct debug_variable *v, struct state_found *to)
{
	const struct debug_piece *p = v->place.piece;
	const char *why = NULL;

	if (v->place.n != 1 || p->where == DEBUG_UNKNOWN)
		why = "is in several places, or where is not known";
	else if (p->where == DEBUG_MEMORY && v->size)
		*to = (struct state_found){ p->addr + p->off, v->size };
	else if (p->where == DEBUG_REGISTER && t->outer)
		why = "is in a register of a function that has called another one";
	else if (p->where == DEBUG_REGISTER && (p->addr < 16 || (p->addr >= DEBUG_XMM0 && p->addr < DEBUG_XMM0 + 16)))
		*to = (struct state_found){ p->addr < 16 ? state_from_dwarf(p->addr) : FACT_VECTOR + p->addr - DEBUG_XMM0, 0 };
	else
		why = p->where == DEBUG_GONE ? "is optimized out there" : "is nowhere, its value is computed";
	if (why)
		snprintf(t->lost, sizeof t->lost, "%s", why);
}

static int
variable_look(void *arg, const struct debug_variable *v)
{
	struct find *t = arg;
	struct debug_variable part = *v;
	struct state_found at = { 0 };
	Dwarf_Die type;

	if (!variable_fits(t, v))
		return 0;
	if (debug_part(t->f, &part, &type, t->path, t->stars, t->lost, sizeof t->lost) == 0)
		variable_place(t, &part, &at);
	if (t->is && (at.addr != t->found->addr || at.size != t->found->size)) {
		snprintf(t->lost, sizeof t->lost, "is one of several variables: at *0x%llx and *0x%llx",
		    (unsigned long long)t->found->addr, (unsigned long long)at.addr);
		return 1;
	}
	t->is = 1;
	*t->found = at;
	return !t->one || t->lost[0];
}

/* Looks in the functions that have not returned, and in the source files of these. */
static void
variable_in_scope(struct find *t, const struct debug_frame *frame, size_t n)
{
	struct debug_function fn[NINLINED];

	for (size_t i = 0; i < n && !t->is; i++) {
		size_t k = debug_functions(&frame[i], fn, NINLINED);

		t->f = &frame[i];
		t->outer = i > 0;
		for (size_t l = 0; l < k && !t->is; l++) {
			t->in = &fn[l];
			(void)debug_variables(t->f, t->in, variable_look, t);
		}
	}
	t->in = NULL;
	t->outer = 0;
	for (size_t i = 0; i < n && !t->is; i++) {
		t->f = &frame[i];
		(void)debug_globals(t->f, variable_look, t);
	}
}

/* Looks in all files of the program: there must be only one of this name. */
static void
variable_anywhere(struct find *t, const struct debug_frame *frame)
{
	const struct debug_machine *m = frame->m;
	struct debug_frame f = { .m = m, .thread = frame->thread };
	size_t at = 0;

	t->in = NULL;
	t->one = 1;
	t->f = &f;
	while (!t->lost[0] && m->next && m->next(m->arg, &at, &f.x, &f.bias))
		(void)debug_file_globals(&f, variable_look, t);
	t->f = NULL;
}

struct search { struct find *t; int scope, all; };

static int
variable_search(void *arg, const struct query_state *s)
{
	struct search *a = arg;
	struct debug_frame *frame = xcalloc(DEBUG_FRAMES, sizeof *frame);
	uint8_t xmm[256];
	size_t n = state_frames(s, frame, xmm);

	if (a->scope)
		variable_in_scope(a->t, frame, n);
	if (a->all && !a->t->is)
		variable_anywhere(a->t, frame);
	free(frame);
	return 0;
}

static int
variable_do(struct job *j, const char *name, uint64_t n, int scope, int all, struct state_found *found)
{
	struct find t = { .j = j, .found = found };
	struct search a = { .t = &t, .scope = scope, .all = all };
	int got;

	*found = (struct state_found){ 0 };
	if (variable_parse(&t, name) != 0)
		got = 0;
	else if (query_state(j->q, n, variable_search, &a) != 0)
		got = job_bad(j);
	else
		got = t.lost[0] ? job_none(j, "%.100s: it %s", name, t.lost) : t.is;
	free(t.name);
	free(t.function);
	return got;
}

int
variable_here(struct job *j, const char *name, uint64_t n, struct state_found *found)
{
	return variable_do(j, name, n, 1, 0, found);
}

int
variable_global(struct job *j, const char *name, uint64_t n, struct state_found *found)
{
	return variable_do(j, name, n, 0, 1, found);
}
