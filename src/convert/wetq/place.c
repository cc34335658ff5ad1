/* wetq: statements by where they are: a line, a function, an address of a file. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/mem.h"
#include "base/num.h"
#include "convert/wetq/wetq.h"
#include "format/ae/symbol.h"

#define CANDIDATES 5u           /* that a message names */

struct places { struct place *place; uint8_t *known; };         /* by id - 1; known: place was asked for */

const struct place *
job_place(struct job *j, uint32_t id)
{
	uint32_t n = query_nstmt(j->q);
	struct place *p;

	if (!j->places) {
		j->places = xcalloc(1, sizeof *j->places);
		j->places->place = xcalloc(n + 1u, sizeof *j->places->place);
		j->places->known = xcalloc(n + 1u, sizeof *j->places->known);
	}
	p = &j->places->place[id - 1];
	if (!j->places->known[id - 1]) {
		j->places->known[id - 1] = 1;
		query_source(j->q, id, &p->file, &p->func, &p->line);
	}
	return p;
}

void
job_places_free(struct job *j)
{
	if (j->places) {
		free(j->places->place);
		free(j->places->known);
	}
	free(j->places);
	j->places = NULL;
}

int
place_is_system(const struct place *p)
{
	return !p->file || !p->line || strncmp(p->file, "./", 2) == 0;
}

/* Is `name` this path, or its end after a slash? */
static int
place_is_file(const char *path, const char *name, size_t n)
{
	size_t len = path ? strlen(path) : 0;

	return path && len >= n && memcmp(path + len - n, name, n) == 0 && (len == n || path[len - n - 1] ==
	    '/');
}

/*
 * The place of a statement if it can be in this file of n bytes, or NULL: debugging information of libraries that
 * have no such file is not read.
 */
static const struct place *
place_in_file(struct job *j, uint32_t id, const char *file, size_t n)
{
	const char *slash = memrchr(file, '/', n);
	const struct place *p;
	char base[256];
	size_t len = slash ? n - (size_t)(slash + 1 - file) : n;

	if (len < sizeof base) {
		memcpy(base, file + n - len, len);
		base[len] = '\0';
		if (!query_may_have_source(j->q, id, base))
			return NULL;
	}
	p = job_place(j, id);
	return place_is_file(p->file, file, n) ? p : NULL;
}

/* Names in a message, as many as fit */
struct names { char text[200]; size_t n; unsigned count; };

static void
place_add(struct names *t, const char *file, const char *what, long line)
{
	int k;

	if (t->count++ >= CANDIDATES)
		return;
	k = what ? snprintf(t->text + t->n, sizeof t->text - t->n, "%s%s:%s", t->n ? ", " : "", file ? file :
	    "?", what) :
	    snprintf(t->text + t->n, sizeof t->text - t->n, "%s%s:%ld", t->n ? ", " : "", file, line);
	if (k > 0 && t->n + (size_t)k < sizeof t->text)
		t->n += (size_t)k;
	else
		t->text[t->n] = '\0';
}

static unsigned
place_rank(const struct query_stmt *s)
{
	unsigned role = s->port.role;

	if (role & WPORT_RESULT)
		return role & WPORT_COPY && s->port.nval ? 2 : 3;
	return role & WPORT_CONSTANT ? 1 : 0;
}

/* Does statement a stand for its line rather than b?  wetq(1) has the rule. */
static int
place_better(const struct query_stmt *a, const struct query_stmt *b)
{
	if (place_rank(a) != place_rank(b))
		return place_rank(a) > place_rank(b);
	return a->count != b->count ? a->count > b->count : a->pc > b->pc;
}

/* The lines of the file before and after, of which statements were executed */
static int
place_no_line(struct job *j, const char *file, size_t n, int line)
{
	int before = 0, after = 0, known = 0;

	for (uint32_t id = 1; id <= query_nstmt(j->q); id++) {
		const struct place *p = place_in_file(j, id, file, n);

		if (!p || !p->line)
			continue;
		known = 1;
		if (p->line < line && p->line > before)
			before = p->line;
		if (p->line > line && (!after || p->line < after))
			after = p->line;
	}
	if (!known)
		return job_none(j, "no statement of a file %.*s was executed, or its lines are not known",
		    (int)n, file);
	if (before && after)
		return job_none(j, "nothing of %.*s:%d was executed; of lines %d and %d something was",
		    (int)n, file, line,
		    before, after);
	return job_none(j, "nothing of %.*s:%d was executed; of line %d something was", (int)n, file, line,
	    before ? before : after);
}

static int
place_line(struct job *j, const char *file, size_t n, int line, uint32_t *id)
{
	const char *path = NULL;
	struct names t = { .n = 0 };
	unsigned count = 0;

	*id = 0;
	for (uint32_t i = 1; i <= query_nstmt(j->q); i++) {
		const struct place *p = place_in_file(j, i, file, n);

		if (!p || p->line != line || !query_stmt(j->q, i)->count)
			continue;
		if (!path || (strcmp(p->file, path) != 0 && t.count < CANDIDATES)) {
			path = p->file;
			place_add(&t, path, NULL, line);
		}
		count++;
		if (!*id || place_better(query_stmt(j->q, i), query_stmt(j->q, *id)))
			*id = i;
	}
	if (!*id)
		return place_no_line(j, file, n, line);
	if (t.count > 1)
		return job_none(j, "%.*s:%d: several files: %s", (int)n, file, line, t.text);
	if (count > 1)
		warn("%s: %.*s:%d: statement %" PRIu64 ", of %u", j->path, (int)n, file, line,
		    query_stmt_name(j->q, *id), count);
	return 0;
}

/* A symbol of C++ or Rust, as other tools print it, for which places have the name in the source. */
static char *
place_wanted(const char *func)
{
	char *source = symbol_source(func, 0);

	return source ? source : xstrdup(func);
}

/* How well a function's name in the source fits what was asked for: 3: is it; 2: ends so; 1: of a library, ends so; 0 */
static int
place_fits(const struct place *p, const char *func)
{
	if (!p || !p->func || !symbol_source_is(p->func, func))
		return 0;
	return strcmp(p->func, func) == 0 ? 3 : place_is_system(p) ? 1 : 2;
}

/* Are these different functions? Libraries have several of one name that mean the same. */
static int
place_differs(const struct place *a, const struct place *b)
{
	return !place_is_system(a) && !place_is_system(b) &&
	    (strcmp(a->func, b->func) != 0 || strcmp(a->file, b->file) != 0);
}

/*
 * The statement of a function that was executed first, which is its entry, or the first of it where it was
 * inlined first.  file: of n bytes; n 0: any
 */
static int
place_function(struct job *j, const char *file, size_t n, const char *func, uint32_t *id)
{
	struct names t = { .n = 0 };
	const struct place *first = NULL, *last = NULL;
	char *wanted = place_wanted(func);
	int best = 0;

	*id = 0;
	for (uint32_t i = 1; i <= query_nstmt(j->q); i++) {
		const struct place *p = n ? place_in_file(j, i, file, n) : job_place(j, i);
		int fits = place_fits(p, wanted);

		if (!fits || fits < best)
			continue;
		if (fits > best) {
			best = fits;
			first = last = p;
			*id = i;
			t = (struct names){ .n = 0 };
			place_add(&t, p->file, p->func, 0);
		} else if (place_differs(first, p) && place_differs(last, p)) {
			last = p;
			place_add(&t, p->file, p->func, 0);
		}
	}
	free(wanted);
	if (!*id)
		return job_none(j, "no function %.*s%s%.200s was executed, or its name is not known", (int)n,
		    file,
		    n ? ":" : "", func);
	if (t.count > 1)
		return job_none(j, "%s: several functions: %s", func, t.text);
	return 0;
}

static int
place_address(struct job *j, const char *module, uint64_t off, const char *name, uint32_t *id)
{
	uint64_t pc = 0, other;
	size_t at = 0;
	int got = query_address(j->q, module, off, &at, &pc);

	if (got < 0)
		return job_bad(j);
	if (!got)
		return job_none(j, "%s: no mapped file has this name and this address", name);
	while (query_address(j->q, module, off, &at, &other) == 1)
		if (other != pc)
			return job_none(j, "%s: several files: say more of its path", name);
	for (*id = 1; *id <= query_nstmt(j->q); ++*id)
		if (query_stmt(j->q, *id)->pc == pc)
			return 0;
	return job_none(j, "%s: nothing was executed there", name);
}

/* The last colon that is not of a "::", after a file; NULL: there is none */
static const char *
place_colon(const char *name)
{
	const char *colon = NULL;

	for (const char *s = name; (s = strchr(s, ':')) != NULL; s++)
		if (s[1] == ':')
			s++;
		else
			colon = s;
	return colon;
}

int
job_named(struct job *j, const char *name, uint32_t *id)
{
	const char *colon = place_colon(name), *plus = strstr(name, "+0x");
	uint64_t v;

	if (plus && plus > name && num_u64(plus + 1, 0, UINT64_MAX, &v) == 0) {
		char *module = xstrdup(name);
		int bad;

		module[plus - name] = '\0';
		bad = place_address(j, module, v, name, id);
		free(module);
		return bad;
	}
	if (colon && colon > name && num_u64(colon + 1, 1, INT32_MAX, &v) == 0)
		return place_line(j, name, (size_t)(colon - name), (int)v, id);
	if (colon && colon > name && colon[1])
		return place_function(j, name, (size_t)(colon - name), colon + 1, id);
	return place_function(j, name, 0, name, id);
}

int
job_is_function(struct job *j, const char *name)
{
	char *wanted = place_wanted(name);
	int is = 0;

	for (uint32_t id = 1; !is && id <= query_nstmt(j->q); id++)
		is = place_fits(job_place(j, id), wanted) > 0;
	free(wanted);
	return is;
}
