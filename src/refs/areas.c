/* Areas of memory that have names: painted one over the other, in an array by address. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/search.h"
#include "base/src.h"
#include "format/ws/ws.h"
#include "refs/areas.h"

#define ADDRESS UINT64_C(0xffffffffffff)

/* A name, once for all areas that have it */
struct label { char *text; enum areas_kind kind; };

struct areas {
	struct area *area;              /* owned; by address, none overlap */
	size_t n, cap;
	struct label *label;            /* owned, as the texts */
	size_t nlabel, caplabel;
};

const char *
areas_kind_name(enum areas_kind kind)
{
	static const char *const name[AREAS_NKINDS] = { [AREAS_NONE] = "unknown", [AREAS_PROGRAM] = "program",
		[AREAS_LIBRARY] = "library", [AREAS_FILE] = "file", [AREAS_HEAP] = "heap", [AREAS_STACK] = "stack",
		[AREAS_ANON] = "anonymous" };

	return name[kind];
}

struct areas *
areas_new(void)
{
	return calloc(1, sizeof(struct areas));
}

void
areas_free(struct areas *a)
{
	if (!a)
		return;
	for (size_t i = 0; i < a->nlabel; i++)
		free(a->label[i].text);
	free(a->label);
	free(a->area);
	free(a);
}

/* A file that has code is a library for all of its areas. NULL: no memory */
static struct label *
label_of(struct areas *a, const char *text, enum areas_kind kind, int code)
{
	struct label *l;
	size_t i;

	for (i = a->nlabel; i-- > 0;)
		if (a->label[i].kind == kind || (kind == AREAS_FILE && a->label[i].kind == AREAS_LIBRARY))
			if (!strcmp(a->label[i].text, text))
				break;
	if (i == SIZE_MAX) {
		if (buf_grow(&a->label, &a->caplabel, a->nlabel + 1, sizeof *l) != 0 ||
		    !(a->label[i = a->nlabel].text = strdup(text)))
			return NULL;
		a->label[a->nlabel++].kind = kind;
	}
	l = &a->label[i];
	if (code && l->kind == AREAS_FILE) {
		l->kind = AREAS_LIBRARY;
		for (size_t k = 0; k < a->n; k++)
			if (a->area[k].name == l->text)
				a->area[k].kind = AREAS_LIBRARY;
	}
	return l;
}

/* The first area that ends at or above addr */
static size_t
areas_at(const struct areas *a, uint64_t addr)
{
	size_t i;

	LOWER_BOUND(i, a->n, a->area[i].last < addr);
	return i;
}

/* Replaces areas i to before end by the m areas of v. */
static int
areas_replace(struct areas *a, size_t i, size_t end, const struct area *v, size_t m)
{
	if (buf_grow(&a->area, &a->cap, a->n + m, sizeof *a->area) != 0)
		return -1;
	memmove(&a->area[i + m], &a->area[end], (a->n - end) * sizeof *v);
	memcpy(&a->area[i], v, m * sizeof *v);
	a->n = a->n - (end - i) + m;
	return 0;
}

static int
areas_paint(struct areas *a, struct area new)
{
	size_t i = areas_at(a, new.first), end = i, m = 0;
	struct area v[4];

	/* what is left of those that it covers, and those that it continues */
	if (i < a->n && a->area[i].first < new.first) {
		v[m] = a->area[i];
		v[m++].last = new.first - 1;
	} else if (i && a->area[i - 1].last + 1 == new.first) {
		v[m++] = a->area[--i];
	}
	if (m && v[m - 1].last + 1 == new.first && v[m - 1].name == new.name)
		v[m - 1].last = new.last;
	else
		v[m++] = new;
	while (end < a->n && a->area[end].last <= new.last)
		end++;
	if (end < a->n && (a->area[end].first <= new.last || a->area[end].first == new.last + 1)) {
		struct area rest = a->area[end++];

		if (rest.first <= new.last)
			rest.first = new.last + 1;
		if (rest.name == v[m - 1].name)
			v[m - 1].last = rest.last;
		else
			v[m++] = rest;
	}
	return areas_replace(a, i, end, v, m);
}

int
areas_map(struct areas *a, uint64_t first, uint64_t last, enum areas_kind kind, const char *name, int code)
{
	struct label *l = label_of(a, name, kind, code);
	uint64_t from = first & ADDRESS, to = last & ADDRESS;

	if (!l)
		return -1;
	/* no area goes beyond the last address */
	return from > to ? 0 : areas_paint(a, (struct area){ from, to, l->kind, l->text });
}

int
areas_move(struct areas *a, uint64_t from, uint64_t to, uint64_t n)
{
	const struct area *x = areas_find(a, from);
	struct area new;

	if (!x || !n)
		return 0;
	new = *x;
	new.first = to & ADDRESS;
	new.last = (to + n - 1) & ADDRESS;
	return new.first > new.last ? 0 : areas_paint(a, new);
}

const struct area *
areas_list(struct areas *a, size_t *n)
{
	*n = a->n;
	return a->area;
}

const struct area *
areas_find(struct areas *a, uint64_t addr)
{
	size_t i = areas_at(a, addr &= ADDRESS);

	return i < a->n && a->area[i].first <= addr ? &a->area[i] : NULL;
}

static int
capture_map(struct areas *a, const struct ws_rec_map *m)
{
	static const enum areas_kind kind[WS_NMAPS] = { [WS_ANON] = AREAS_ANON, [WS_FILE] = AREAS_FILE,
		[WS_EXE] = AREAS_PROGRAM, [WS_INTERP] = AREAS_LIBRARY, [WS_STACK] = AREAS_STACK, [WS_HEAP] = AREAS_HEAP,
		[WS_VDSO] = AREAS_LIBRARY };

	const struct area *before = m->type == WS_ANON && m->addr ? areas_find(a, m->addr - 1) : NULL;

	/* the end of a file's data, which it has no contents for (.bss) */
	if (before && (before->kind == AREAS_PROGRAM || before->kind == AREAS_LIBRARY))
		return areas_map(a, m->addr, m->addr + (m->len - 1), before->kind, before->name, 0);
	/* a library may be mapped whole first, to be read, and then its code; it has a build id then */
	return areas_map(a, m->addr, m->addr + (m->len - 1), kind[m->type], *m->name ? m->name : "[anonymous]",
	    m->nid || (m->prot & 4));
}

/* 0, or -1: no memory */
static int
capture_rec(struct areas *a, struct ws_reader *r, const struct ws_rec *rec)
{
	if (rec->kind == WS_KEY)
		return ws_skip_key(r) == 1 ? 0 : -1;
	if (rec->kind == WS_MAP)
		return capture_map(a, &rec->u.map);
	if (rec->kind == WS_MOVE)
		return areas_move(a, rec->u.move.from, rec->u.move.to, rec->u.move.newlen);
	return 0;
}

struct areas *
areas_of_capture(const char *path)
{
	struct areas *a = areas_new();
	int fd = src_open(path);
	struct fault f;
	struct ws_reader *r = fd < 0 ? NULL : ws_open(fd, &f);
	struct ws_rec rec;

	/* what is wrong with the file is found by its replay */
	while (a && r && ws_next(r, &rec) == 1)
		if (capture_rec(a, r, &rec) != 0)
			break;
	if (r)
		ws_close(r);
	if (fd >= 0)
		close(fd);
	return a;
}
