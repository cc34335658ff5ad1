/* wetq: parses names of statements and points. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "base/num.h"
#include "convert/wetq/wetq.h"

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

static int
wetq_point_none(struct job *j, const char *what, const char *s)
{
	j->fault = (struct fault){ .off = UINT64_MAX, .rec = UINT64_MAX };
	snprintf(j->fault.err, sizeof j->fault.err, "no %s %.200s", what, s);
	return -1;
}

/* Parses the first n bytes of s as a statement. */
static int
wetq_point_statement(struct job *j, const char *s, size_t n, uint32_t *id)
{
	char b[32];
	uint64_t v;

	if (n >= sizeof b)
		return wetq_point_none(j, "statement", s);
	memcpy(b, s, n);
	b[n] = '\0';
	if (num_u64(b, 0, UINT64_MAX, &v) != 0)
		return wetq_point_none(j, "statement", s);
	if (strncmp(b, "0x", 2) != 0) {
		int got = (*id = query_find_stmt(j->q, v)) != 0 ? query_has_stmt(j->q, *id) : 0;

		return got < 0 ? job_bad(j) : got ? 0 : wetq_point_none(j, "statement", b);
	}
	if (job_survey(j, 0) != 0)
		return -1;
	for (*id = 1; *id <= query_nstmt(j->q); ++*id)
		if (query_stmt(j->q, *id)->pc == v)
			return 0;
	return wetq_point_none(j, "statement", b);
}

int
job_range(struct job *j, const char *s, struct range *r)
{
	size_t n = strcspn(s, "#");
	char b[32];
	const char *to;

	*r = (struct range){ .to = UINT64_MAX };
	if (wetq_point_statement(j, s, n, &r->id) != 0)
		return -1;
	if (!s[n++])
		return 0;
	to = strchr(s + n, '-');
	if (!to) {
		r->one = 1;
		return num_u64(s + n, 0, UINT64_MAX, &r->from) != 0 ? wetq_point_none(j, "instance", s) : 0;
	}
	if ((size_t)(to - s) - n >= sizeof b)
		return wetq_point_none(j, "instances", s);
	memcpy(b, s + n, (size_t)(to - s) - n);
	b[(size_t)(to - s) - n] = '\0';
	if (num_u64(b, 0, UINT64_MAX, &r->from) != 0 || num_u64(to + 1, r->from, UINT64_MAX, &r->to) != 0)
		return wetq_point_none(j, "instances", s);
	return 0;
}

int
job_point(struct job *j, const char *s, int slices, uint64_t *n)
{
	const char *mark = strchr(s, '#');
	uint64_t instance;
	uint32_t id;
	int got;

	if (job_survey(j, slices) != 0)
		return -1;
	if (s[0] == '@')
		return num_u64(s + 1, 1, query_length(j->q), n) != 0 ? wetq_point_none(j, "instance", s) : 0;
	if (mark && num_u64(mark + 1, 0, UINT64_MAX, &instance) != 0)
		return wetq_point_none(j, "instance", s);
	if (wetq_point_statement(j, s, mark ? (size_t)(mark - s) : strlen(s), &id) != 0)
		return -1;
	if (!mark) {
		if (query_stmt(j->q, id)->count == 0)
			return wetq_point_none(j, "instance", s);
		instance = query_stmt(j->q, id)->count - 1;
		warn("%s: %s: its last instance, %" PRIu64 "#%" PRIu64, j->path, s, query_stmt_name(j->q, id),
		    instance);
	}
	got = query_position(j->q, id, instance, n);
	return got < 0 ? job_bad(j) : got ? 0 : wetq_point_none(j, "instance", s);
}
