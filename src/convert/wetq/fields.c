/* wetq: members of JSON objects that several answers have. */
#include <stdlib.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "convert/wetq/wetq.h"
#include "format/ref/ref.h"

void
fields_place(struct job *j, struct json *o, uint32_t id)
{
	const struct place *p = job_place(j, id);

	json_string(o, "file", p->file);
	json_string(o, "function", p->func);
	json_u64(o, "line", p->line > 0 ? (uint64_t)p->line : 0);
}

void
fields_statement(struct job *j, struct json *o, uint32_t id)
{
	json_u64(o, "statement", query_stmt_name(j->q, id));
	json_u64(o, "address", query_stmt(j->q, id)->pc);
	fields_place(j, o, id);
}

void
fields_value(struct json *o, const uint64_t *val, uint32_t n)
{
	struct buf b = BUF_INIT;

	if (n)
		put_number(&b, val, n);
	buf_u8(&b, 0);
	json_string(o, "value", n ? (const char *)b.p : NULL);
	buf_free(&b);
}

void
fields_reference(struct json *o, uint64_t ref)
{
	static const char *const kind[] = { [REF_LOAD] = "r", [REF_STORE] = "w", [REF_MODIFY] = "m" };
	unsigned k = ref_kind(ref);

	json_string(o, "kind", k < sizeof kind / sizeof *kind ? kind[k] : NULL);
	json_u64(o, "address", ref_addr(ref));
	json_u64(o, "size", ref_size(ref));
}

void
fields_references(struct json *o, const uint64_t *ref, size_t n)
{
	json_array(o, "references");
	for (size_t i = 0; i < n; i++) {
		json_object(o, NULL);
		fields_reference(o, ref[i]);
		json_end(o);
	}
	json_end(o);
}

void
fields_begin(struct fields *f, struct job *j, const char *list, uint32_t id)
{
	if (f->begun)
		return;
	f->begun = 1;
	json_begin(&f->o, j->out);
	if (id)
		fields_statement(j, &f->o, id);
	json_array(&f->o, list);
}

void
fields_source(struct json *o, const char *s, size_t n)
{
	char *text = s ? xstrndup(s, n) : NULL;

	json_string(o, "source", text);
	free(text);
}

void
fields_end(struct fields *f, struct job *j, const char *list, uint32_t id, int bad)
{
	if (j->json && !bad)
		fields_begin(f, j, list, id);
	if (!f->begun)
		return;
	json_end(&f->o);
	json_end(&f->o);
}
