/* wetq: slices, as instances, as statements and as a graph. */
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/mem.h"
#include "format/ref.h"
#include "wetq.h"

#define ROOM 512u

struct list { struct job *j; uint64_t left; };

/* id#instance pc, =value, r address size and so on */
static int
line(void *arg, const struct query_insn *e)
{
	static const char kind[] = "irwm";
	struct list *l = arg;
	struct out *o = l->j->out;
	uint8_t *p = out_room(o, ROOM + 16 * e->nval);
	size_t n = put_dec(p, e->id);

	if (l->left-- == 0)
		return 1;
	p[n++] = '#';
	n += put_dec(p + n, e->instance);
	p[n++] = ' ';
	n += put_hex(p + n, query_stmt(l->j->q, e->id)->pc);
	if (e->nval) {
		p[n++] = ' ';
		p[n++] = '=';
		n += put_value(p + n, e->val, e->nval);
	}
	for (size_t i = 0; i < e->nref; i++) {
		out_used(o, n);
		p = out_room(o, ROOM);
		n = 0;
		p[n++] = ' ';
		p[n++] = (uint8_t)kind[ref_kind(e->ref[i]) & 3];
		p[n++] = ':';
		n += put_hex(p + n, ref_addr(e->ref[i]));
		p[n++] = '/';
		n += put_dec(p + n, ref_size(e->ref[i]));
	}
	p[n++] = '\n';
	out_used(o, n);
	return 0;
}

/* id, instances in the slice, all there are, pc, where */
static void
statements(struct job *j, const uint64_t *count)
{
	for (uint32_t id = 1; id <= query_nstmt(j->q); id++) {
		uint8_t *p;
		size_t n;

		if (!count[id - 1])
			continue;
		p = out_room(j->out, ROOM);
		n = put_dec(p, id);
		p[n++] = ' ';
		n += put_dec(p + n, count[id - 1]);
		p[n++] = ' ';
		n += put_dec(p + n, query_stmt(j->q, id)->count);
		p[n++] = ' ';
		n += put_hex(p + n, query_stmt(j->q, id)->pc);
		out_used(j->out, n);
		put_where(j, id);
	}
}

void
job_slice(struct job *j, const char *point)
{
	struct list l = { j, j->most };
	struct query_slice s = { .n = job_point(j, point, 1), .how = j->how, .fn = j->counts ? NULL : line, .arg = &l };

	s.count = xcalloc(query_nstmt(j->q) + 1u, sizeof *s.count);
	if (query_slice(j->q, &s) != 0)
		job_bad(j);
	if (j->counts)
		statements(j, s.count);
	free(s.count);
}
void job_dot(struct job *j, const char *p) { (void)j; (void)p; }
void job_annotate(struct job *j, const char *p) { (void)j; (void)p; }
