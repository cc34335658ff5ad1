/* wetq: who was the last to write a variable, a register or memory. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "convert/wetq/state.h"

struct who { struct job *j; uint32_t id; uint64_t instance; struct buf value; };

static int
who_member(void *arg, const struct query_insn *e)
{
	struct who *w = arg;

	w->id = e->id;
	w->instance = e->instance;
	if (e->nval && !(query_stmt(w->j->q, e->id)->port.role & WPORT_OFFLAGS))
		put_number(&w->value, e->val, e->nval);
	buf_u8(&w->value, 0);
	return 1;
}

int
job_who(struct job *j, const char *what)
{
	struct who w = { .j = j, .value = BUF_INIT };
	struct query_slice s = { .flags = QUERY_DATA | QUERY_STEP, .fn = who_member, .arg = &w };
	const char *value;
	struct json o;
	int bad;

	if (!strchr(what, '@') && !variable_is(what) && what[0] != '*')
		return job_none(j, "%.200s: who takes VARIABLE[@POINT] or *ADDRESS[:LENGTH][@POINT]", what);
	j->quiet = 1;
	if (job_point(j, what, 1, &s.n) != 0)
		return -1;
	s.count = xcalloc(query_nstmt(j->q) + 1u, sizeof *s.count);
	bad = query_slice(j->q, &s) != 0 ? job_bad(j) : 0;
	value = w.value.n > 1 ? (const char *)w.value.p : NULL;
	if (!bad && w.id && j->json) {
		const struct place *p = job_place(j, w.id);

		json_begin(&o, j->out);
		json_u64(&o, "statement", query_stmt_name(j->q, w.id));
		json_u64(&o, "instance", w.instance);
		json_string(&o, "value", value);
		json_string(&o, "file", p->file);
		json_string(&o, "function", p->func);
		json_u64(&o, "line", p->line > 0 ? (uint64_t)p->line : 0);
		json_end(&o);
	} else if (!bad && w.id) {
		out_printf(j->out, "%llu#%llu", (unsigned long long)query_stmt_name(j->q, w.id),
		    (unsigned long long)w.instance);
		if (value)
			out_printf(j->out, " =%s", value);
		put_where(j, w.id);
	}
	buf_free(&w.value);
	free(s.count);
	return bad;
}
