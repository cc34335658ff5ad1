/* wetq: names of variables that instances read, wrote or computed. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "convert/wetq/name.h"
#include "convert/wetq/state.h"
#include "format/ae/symbol.h"
#include "format/ref/ref.h"

uint64_t
names_reference(const struct query_insn *e, unsigned kind)
{
	uint64_t ref = 0;
	unsigned n = 0;

	for (size_t i = 0; i < e->nref; i++)
		if (ref_kind(e->ref[i]) == kind || ref_kind(e->ref[i]) == REF_MODIFY) {
			ref = e->ref[i];
			n++;
		}
	return n == 1 ? ref : 0;
}

static void
names_add(struct names *t, const struct name *m)
{
	t->name = mem_xgrow(t->name, &t->cap, t->n + 1, sizeof *t->name);
	t->name[t->n++] = *m;
}

void
names_ask_read(struct names *t, uint64_t n, uint32_t id, uint64_t ref)
{
	names_add(t, &(struct name){ .n = n, .id = id, .ref = ref });
}

/* A variable may be in memory from the store on, and in a register before. */
void
names_ask_write(struct names *t, uint64_t n, uint32_t id, uint64_t ref)
{
	names_add(t, &(struct name){ .n = n + 1, .id = id, .ref = ref, .after = 1 });
}

void
names_ask_value(struct names *t, uint64_t n, uint32_t id)
{
	names_add(t, &(struct name){ .n = n + 1, .id = id, .after = 1 });
}

void
names_ask(struct names *t, uint64_t n, uint32_t id, uint64_t reads, uint64_t writes)
{
	const struct wport *p = &query_stmt(t->j->q, id)->port;

	if (p->role & WPORT_CALL)
		return;
	if (writes)
		names_ask_write(t, n, id, writes);
	else if (reads && p->role & WPORT_COPY)
		names_ask_read(t, n, id, reads);
	else if (p->nval && !(p->role & WPORT_OFFLAGS))
		names_ask_value(t, n, id);
}

struct refs { uint64_t reads, writes; };

static int
name_refs(void *arg, const struct query_insn *e)
{
	struct refs *r = arg;

	r->reads = names_reference(e, REF_LOAD);
	r->writes = names_reference(e, REF_STORE);
	return 0;
}

int
names_ask_instance(struct names *t, uint32_t id, uint64_t instance)
{
	struct refs r = { 0 };
	uint64_t n;

	if (!query_has_state(t->j->q) || place_is_system(job_place(t->j, id)))
		return 0;
	if (query_insn_at(t->j->q, id, instance, QUERY_REFS, name_refs, &r) < 0 ||
	    query_position(t->j->q, id, instance, &n) != 1)
		return job_bad(t->j);
	names_ask(t, n, id, r.reads, r.writes);
	return 0;
}

/* The names that are wanted, n of them in the order of positions; next: the next one */
struct moment { struct names *t; size_t *order, n, next; };

static int
name_by_position(const struct names *t, size_t a, size_t b)
{
	return t->name[a].n != t->name[b].n ? t->name[a].n < t->name[b].n : a < b;
}

/* Orders names by position; a heap, as qsort has no argument for them. */
static void
name_sift(const struct names *t, size_t *order, size_t i, size_t n)
{
	size_t k, was = order[i];

	for (; (k = 2 * i + 1) < n; i = k) {
		if (k + 1 < n && name_by_position(t, order[k], order[k + 1]))
			k++;
		if (!name_by_position(t, was, order[k]))
			break;
		order[i] = order[k];
	}
	order[i] = was;
}

static void
name_sort(const struct names *t, size_t *order, size_t n)
{
	for (size_t i = n / 2; i-- > 0;)
		name_sift(t, order, i, n);
	for (size_t i = n; i-- > 1;) {
		size_t was = order[0];

		order[0] = order[i];
		order[i] = was;
		name_sift(t, order, 0, i);
	}
}

static char *
name_string(struct buf *b)
{
	char *s;

	if (!b->n) {
		buf_free(b);
		return NULL;
	}
	buf_u8(b, 0);
	s = b->nomem ? NULL : xstrdup((const char *)b->p);
	buf_free(b);
	return s;
}

/* What follows an instruction may be of another function, where one was inlined: then its name is said. */
static void
name_qualify(const struct debug_frame *frame, const struct place *p, struct debug_name *d)
{
	struct debug_function fn;
	struct buf b = BUF_INIT;

	if (!d->local || debug_functions(frame, &fn, 1) != 1 || !fn.name ||
	    (p->func && symbol_source_is(p->func, fn.name)))
		return;
	buf_printf(&b, "%.100s::", fn.name);
	buf_add(&b, d->name.p, d->name.n);
	if (strchr("*(&", d->name.p[0]) || (d->name.n > 6 && memcmp(d->name.p, "this->", 6) == 0))
		b.n = 0;
	buf_free(&d->name);
	d->name = b;
}

static void
name_look(const struct names *t, struct name *m, const struct debug_frame *frame, size_t n)
{
	const struct query_stmt *s = query_stmt(t->j->q, m->id);
	const char *line = NULL;
	struct debug_name d;
	size_t len = 0;
	int got;

	/* after a jump, or in the handler of a signal, names would be those of another place */
	if (m->after && frame[0].reg[DEBUG_RIP] != s->pc + s->len)
		return;
	if (!place_is_system(job_place(t->j, m->id)))
		line = texts_line(t->texts, m->id, &len);
	if (m->ref)
		got = debug_name_memory(frame, n, line, len, ref_addr(m->ref), ref_size(m->ref), &d);
	else if (s->port.reg < 16)
		got = debug_name_register(frame, line, len, state_to_dwarf(s->port.reg), &d);
	else if (s->port.reg >= FACT_VECTOR && s->port.reg < FACT_VECTOR + 16)
		got = debug_name_register(frame, line, len, DEBUG_XMM0 + s->port.reg - FACT_VECTOR, &d);
	else
		return;
	if (!got)
		return;
	name_qualify(frame, job_place(t->j, m->id), &d);
	m->name = name_string(&d.name);
	m->value = name_string(&d.value);
	m->part = d.part;
}

static int
name_moment(void *arg, const struct query_state *s)
{
	struct moment *w = arg;
	struct names *t = w->t;
	struct debug_frame *frame = xcalloc(DEBUG_FRAMES, sizeof *frame);
	uint8_t xmm[256];
	size_t n = state_frames(s, frame, xmm);

	for (; w->next < w->n && t->name[w->order[w->next]].n <= s->n; w->next++)
		if (t->name[w->order[w->next]].n == s->n)
			name_look(t, &t->name[w->order[w->next]], frame, n);
	free(frame);
	return 0;
}

void
names_find(struct names *t)
{
	size_t all = t->n - t->found, k = 0;
	struct moment w = { .t = t };
	uint64_t *n;

	if (!all || !query_has_state(t->j->q)) {
		t->found = t->n;
		return;
	}
	w.order = xcalloc(all, sizeof *w.order);
	n = xcalloc(all, sizeof *n);
	for (size_t i = 0; i < all; i++)
		w.order[i] = t->found + i;
	name_sort(t, w.order, all);
	/* after the last instance there is nothing */
	for (size_t i = 0; i < all; i++) {
		uint64_t at = t->name[w.order[i]].n;

		if (at && at <= query_length(t->j->q) && (!k || n[k - 1] != at))
			n[k++] = at;
	}
	w.n = all;
	if (k)
		(void)query_states(t->j->q, n, k, name_moment, &w);
	t->found = t->n;
	free(w.order);
	free(n);
}

const struct name *
names_first(const struct names *t, size_t i, size_t n)
{
	for (; n > 0; i++, n--)
		if (t->name[i].name)
			return &t->name[i];
	return NULL;
}

void
names_free(struct names *t)
{
	for (size_t i = 0; i < t->n; i++) {
		free(t->name[i].name);
		free(t->name[i].value);
	}
	free(t->name);
	*t = (struct names){ .j = t->j, .texts = t->texts };
}

void
name_text(const struct name *m, struct buf *b)
{
	if (!m)
		return;
	buf_str(b, m->part ? "part of " : "");
	text_str(b, m->name);
}

void
name_json(const struct name *m, struct json *o)
{
	json_string(o, m && m->part ? "variable_part" : "variable", m ? m->name : NULL);
	json_string(o, "variable_value", m ? m->value : NULL);
}
