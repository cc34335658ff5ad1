/* wetq: parses names of statements and points. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/mem.h"
#include "base/num.h"
#include "convert/wetq/state.h"

int
job_bad(struct job *j)
{
	j->fault = *query_fault(j->q);
	return -1;
}

int
job_survey(struct job *j, int slices)
{
	return query_survey(j->q, slices) != 0 ? job_bad(j) : 0;
}

unsigned
job_warn_sources(struct job *j)
{
	const char *what;
	unsigned n = 0;

	for (; (what = query_source_warning(j->q)) != NULL; n++)
		warn("%s: %s", j->path, what);
	return n;
}

int
job_none(struct job *j, const char *fmt, ...)
{
	va_list ap;

	j->fault = (struct fault){ .off = UINT64_MAX, .rec = UINT64_MAX };
	va_start(ap, fmt);
	vsnprintf(j->fault.err, sizeof j->fault.err, fmt, ap);
	va_end(ap);
	return -1;
}

/* Parses a statement: its number, its address or a name. */
static int
point_statement(struct job *j, const char *s, uint32_t *id)
{
	uint64_t v;

	if (!*s || num_u64(s, 0, UINT64_MAX, &v) != 0) {
		if (*s >= '0' && *s <= '9' && !strpbrk(s, ":+"))
			return job_none(j, "no statement %.200s", s);
		return job_survey(j, 0) != 0 ? -1 : job_named(j, s, id);
	}
	if (strncmp(s, "0x", 2) != 0) {
		int got = (*id = query_find_stmt(j->q, v)) != 0 ? query_has_stmt(j->q, *id) : 0;

		return got < 0 ? job_bad(j) : got ? 0 : job_none(j, "no statement %s", s);
	}
	if (job_survey(j, 0) != 0)
		return -1;
	for (*id = 1; *id <= query_nstmt(j->q); ++*id)
		if (query_stmt(j->q, *id)->pc == v)
			return 0;
	return job_none(j, "no statement %s", s);
}

/* Parses a statement and finds what comes after its #, which is in s: NULL: nothing */
static int
point_parts(struct job *j, const char *s, uint32_t *id, const char **instance)
{
	const char *mark = strrchr(s, '#');
	char *name = xstrdup(s);
	int bad;

	if (mark)
		name[mark - s] = '\0';
	*instance = mark ? mark + 1 : NULL;
	bad = point_statement(j, name, id);
	free(name);
	return bad;
}

int
job_range(struct job *j, const char *s, struct range *r)
{
	const char *from, *to;
	char b[32];

	*r = (struct range){ .to = UINT64_MAX };
	if (point_parts(j, s, &r->id, &from) != 0)
		return -1;
	if (!from)
		return 0;
	to = strchr(from, '-');
	if (!to) {
		r->one = 1;
		return num_u64(from, 0, UINT64_MAX, &r->from) != 0 ? job_none(j, "no instance %.200s", s) : 0;
	}
	if ((size_t)(to - from) >= sizeof b)
		return job_none(j, "no instances %.200s", s);
	memcpy(b, from, (size_t)(to - from));
	b[to - from] = '\0';
	if (num_u64(b, 0, UINT64_MAX, &r->from) != 0 || num_u64(to + 1, r->from, UINT64_MAX, &r->to) != 0)
		return job_none(j, "no instances %.200s", s);
	return 0;
}

/* An instance of a statement: #N, #first, #last, or nothing */
static int
point_instance(struct job *j, const char *s, uint64_t *n)
{
	uint64_t instance = 0, count;
	const char *which;
	uint32_t id;
	int got;

	if (point_parts(j, s, &id, &which) != 0)
		return -1;
	count = query_stmt(j->q, id)->count;
	if (which && strcmp(which, "first") != 0 && strcmp(which, "last") != 0 &&
	    num_u64(which, 0, UINT64_MAX, &instance) != 0)
		return job_none(j, "no instance %.200s", s);
	if (!which || strcmp(which, "last") == 0) {
		if (count == 0)
			return job_none(j, "no instance %.200s", s);
		instance = count - 1;
	}
	if (!which && !j->quiet)
		warn("%s: %s: its last instance, %" PRIu64 "#%" PRIu64, j->path, s, query_stmt_name(j->q, id),
		    instance);
	got = query_position(j->q, id, instance, n);
	if (got == 0 && (s[0] < '0' || s[0] > '9'))
		return job_none(j, "no instance %.200s: there are %" PRIu64, s, count);
	return got < 0 ? job_bad(j) : got ? 0 : job_none(j, "no instance %.200s", s);
}

/* Who wrote these bytes last before position n? */
static int
point_writer(struct job *j, const char *s, uint64_t addr, uint64_t len, uint64_t *n)
{
	struct query_edge e;
	int got = query_writer(j->q, *n, addr, len, &e);

	if (got < 0)
		return job_bad(j);
	if (got == 0)
		return job_none(j, "%.160s: nobody wrote that before: it was there when the program began or mapped it", s);
	if (!j->quiet)
		warn("%s: %s: %" PRIu64 "#%" PRIu64, j->path, s, query_stmt_name(j->q, e.on), e.oninstance);
	*n = e.onn;
	return 0;
}

/* A byte of what was written to a descriptor */
static int
point_output(struct job *j, const char *s, int fd, const char *byte, uint64_t *n)
{
	uint64_t k, addr, call;
	struct query_edge e;
	int got;

	if (num_u64(byte, 0, UINT64_MAX, &k) != 0)
		return job_none(j, "%.200s: no number of a byte", s);
	got = query_output(j->q, fd, k, n, &addr);
	if (got < 0)
		return job_bad(j);
	if (got == 0)
		return job_none(j, "%.200s: so many bytes were not written there", s);
	call = *n;
	got = query_writer(j->q, call, addr, 1, &e);
	if (got < 0)
		return job_bad(j);
	if (got == 0)
		warn("%s: %s: written by @%" PRIu64 " from 0x%" PRIx64 ", where it was when the program began or mapped it",
		    j->path, s, call, addr);
	else
		warn("%s: %s: written by @%" PRIu64 " from 0x%" PRIx64 ", stored there by %" PRIu64 "#%" PRIu64, j->path, s,
		    call, addr, query_stmt_name(j->q, e.on), e.oninstance);
	*n = got ? e.onn : call;
	return 0;
}

/* A point in time that is not an instance of a named statement.  at: what comes after @; NULL: the end */
static int
point_when(struct job *j, const char *at, uint64_t *n)
{
	if (!at) {
		*n = query_length(j->q) + 1;
		return 0;
	}
	return job_point(j, at, 1, n);
}

/* *ADDRESS[:LENGTH][@POINT] */
static int
point_memory(struct job *j, const char *s, uint64_t *n)
{
	const char *at = strchr(s, '@'), *colon;
	char *name = xstrdup(s + 1);
	uint64_t addr, len = 1;
	int bad = 0;

	if (at)
		name[at - s - 1] = '\0';
	if ((colon = strchr(name, ':')) != NULL) {
		bad = num_u64(colon + 1, 1, 4096, &len) != 0;
		name[colon - name] = '\0';
	}
	bad = bad || num_u64(name, 0, UINT64_MAX, &addr) != 0;
	free(name);
	if (bad)
		return job_none(j, "%.200s: no address", s);
	return point_when(j, at ? at + 1 : NULL, n) != 0 ? -1 : point_writer(j, s, addr, len, n);
}

/* A variable without parts, and of no function, by the symbols of the program: 1, 0: there is none, or -1 */
static int
point_symbol(struct job *j, const char *s, const char *name, struct state_found *f)
{
	struct wsource_at place = { 0 };
	uint64_t addr, size;
	int got = query_variable(j->q, name, &place, &f->addr, &f->size);

	if (got <= 0)
		return got < 0 ? job_bad(j) : 0;
	if (query_variable(j->q, name, &place, &addr, &size) == 1)
		return job_none(j, "%.160s: several variables: at *0x%" PRIx64 " and *0x%" PRIx64, s, f->addr, addr);
	if (!f->size || f->size > UINT32_MAX)
		return job_none(j, "%.200s: its size is not known", s);
	return 1;
}

/* Where a variable is: 1, 0: there is none, or -1.  here: at the point *n, else anywhere and at the end of the run */
static int
point_find(struct job *j, const char *s, const char *name, int here, uint64_t n, struct state_found *f)
{
	int got;

	if (here && (got = variable_here(j, name, n, f)) != 0)
		return got;
	if ((got = point_symbol(j, s, name, f)) != 0)
		return got;
	return query_length(j->q) ? variable_global(j, name, here ? n : query_length(j->q), f) : 0;
}

/* VARIABLE[@POINT] */
static int
point_variable(struct job *j, const char *s, uint64_t *n)
{
	const char *at = strchr(s, '@');
	char *name = xstrdup(s);
	struct state_found f;
	int got;

	if (at)
		name[at - s] = '\0';
	/* a file that has no registers does not tell where variables are either */
	got = query_has_state(j->q) ? point_when(j, at ? at + 1 : NULL, n) : 0;
	if (got == 0)
		got = point_find(j, s, name, at && query_has_state(j->q), *n, &f);
	free(name);
	if (got == 0)
		return job_none(j, "%.200s: no such function was executed, and there is no such variable%s", s,
		    at ? "" : "; a local one is VARIABLE@POINT");
	return got < 0 ? -1 : point_writer(j, s, f.addr, f.size, n);
}

static int
point_last_of(void *arg, const struct query_path *p)
{
	*(uint32_t *)arg = p->id[p->to - 1];
	return 1;
}

/* The last instance of the run: a signal may have the last position. */
static int
point_end(struct job *j, uint64_t *n)
{
	uint32_t id = 0;

	if (query_flow(j->q, query_length(j->q), 1, 1, point_last_of, &id) != 0)
		return job_bad(j);
	if (!id)
		return job_none(j, "nothing was executed");
	return query_position(j->q, id, query_stmt(j->q, id)->count - 1, n) < 0 ? job_bad(j) : 0;
}

static int
point_killed(struct job *j, uint64_t *n)
{
	int got = query_killed(j->q);

	if (got < 0)
		return job_bad(j);
	return got ? point_end(j, n) : job_none(j, "crash: the program was not killed by a signal");
}

int
job_point(struct job *j, const char *s, int slices, uint64_t *n)
{
	uint64_t fd;
	char *end;

	if (job_survey(j, slices || strpbrk(s, "*@:")) != 0)
		return -1;
	if (s[0] == '@')
		return num_u64(s + 1, 1, query_length(j->q), n) != 0 ? job_none(j, "no instance %.200s", s) :
		    0;
	if (strcmp(s, "crash") == 0)
		return point_killed(j, n);
	if (strcmp(s, "end") == 0)
		return point_end(j, n);
	if (s[0] == '*' && !variable_is(s))
		return point_memory(j, s, n);
	if (strncmp(s, "out:", 4) == 0)
		return point_output(j, s, 1, s + 4, n);
	if (strncmp(s, "fd", 2) == 0 && (fd = strtoul(s + 2, &end, 10), end > s + 2) && *end == ':' && fd <=
	    INT32_MAX)
		return point_output(j, s, (int)fd, end + 1, n);
	if (strchr(s, '@') || (variable_is(s) && !job_is_function(j, s)))
		return job_survey(j, 1) != 0 ? -1 : point_variable(j, s, n);
	return point_instance(j, s, n);
}
