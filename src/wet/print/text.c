/* Reproduces the text that a .wet file of kind text was made from. */
#include <stdlib.h>
#include <string.h>

#include "format/wettext/wettext.h"
#include "wet/file/full/code.h"
#include "wet/file/text/columns.h"
#include "wet/print/print.h"

struct print {
	const struct wetfile *file;
	struct fault *fault;
	store_text_fn *put;             /* receives text; NULL if there is event */
	store_event_fn *event;          /* receives events */
	void *arg;
	size_t sec;                     /* the next section to be read */
	struct vc_work *work;
	struct store_code tab;          /* strings only */
	struct col col[TEXT_NCOL];
	size_t pos[TEXT_NCOL];          /* the next value of each column */
	struct buf in, out;
	uint64_t id, addr, line;        /* of the previous statement */
	uint64_t step;                  /* the id after the last one of the previous step */
	struct text_list list;
};

static int
print_text_bad(struct print *p, const char *err)
{
	size_t i = p->sec ? p->sec - 1 : 0;

	fault_set(p->fault, i < p->file->nsection ? p->file->section[i].off : p->file->size, i, "%s",
	    err ? err : "no memory");
	return -1;
}

static int
print_text_flush(struct print *p)
{
	int e;

	if (p->out.nomem)
		return print_text_bad(p, NULL);
	e = p->put(p->arg, p->out.p, p->out.n);
	p->out.n = 0;
	return e;
}

static int
print_text_load(struct print *p)
{
	struct col_reader r;

	if (p->sec == p->file->nsection) {
		*p->fault = p->file->fault;
		if (p->file->whole)
			fault_set(p->fault, p->file->size, p->sec, "sections are missing");
		return -1;
	}
	if (wetfile_load(p->file, p->sec++, &p->in, p->fault) != 0)
		return -1;
	if (p->file->section[p->sec - 1].tag != WETFILE_TXT ||
	    p->file->section[p->sec - 1].segment != p->sec - 1)
		return print_text_bad(p, "a section that does not belong here");
	r = (struct col_reader){ .p = p->in.p, .end = p->in.p + p->in.n, .w = p->work };
	if (store_strings_decode(&p->tab, &r) != 0)
		return print_text_bad(p, r.err);
	for (unsigned i = 0; i < TEXT_NCOL; i++) {
		if (p->pos[i] != p->col[i].n)
			return print_text_bad(p, "a column has more values than are needed");
		p->pos[i] = 0;
		if (col_get_upto(&r, &p->col[i], TEXT_MOST, UINT64_MAX, NULL) != 0)
			return print_text_bad(p, r.err);
	}
	return r.p != r.end ? print_text_bad(p, "bytes after the last column") : 0;
}

/* Reads the next value of a column, from the next section if necessary.  0, or -1 */
static int
print_text_get(struct print *p, enum text_col c, uint64_t *v)
{
	if (p->pos[c] == p->col[c].n && print_text_load(p) != 0)
		return -1;
	if (p->pos[c] == p->col[c].n)
		return print_text_bad(p, "a column has fewer values than are needed");
	*v = p->col[c].v[p->pos[c]++];
	return 0;
}

/* Writes an event as text and returns its length.  STORE_TEXT_BLOCK is not written here. */
static size_t
as_text(struct print *p, const struct store_text_event *e)
{
	uint8_t *to = wettext_room(&p->out);

	switch (e->kind) {
	case STORE_TEXT_SIZE: return wettext_put_size(to, e->a);
	case STORE_TEXT_DEP: return wettext_put_dep(to, e->a, e->b, e->c);
	case STORE_TEXT_VALUES: return wettext_put_values(to, e->a);
	case STORE_TEXT_NONE: return wettext_put_novalues(to);
	case STORE_TEXT_VALUE: return wettext_put_value(to, e->a, e->word, e->n);
	case STORE_TEXT_ORDER: return wettext_put_order(to, e->a);
	case STORE_TEXT_STEP: return wettext_put_step(to, e->a, e->b);
	default: return 0;
	}
}

/* Hands over an event, or its text, which is collected until there is enough. */
static int
print_text_say(struct print *p, const struct store_text_event *e)
{
	size_t n;

	if (p->event)
		return p->event(p->arg, e) != 0 ? -1 : 0;
	if (e->kind == STORE_TEXT_BLOCK)
		buf_printf(&p->out, "%llu %llu %llx %s %s %llu\n", (unsigned long long)e->a,
		    (unsigned long long)e->b, (unsigned long long)e->c, e->file, e->func,
		    (unsigned long long)e->d);
	n = as_text(p, e);
	if (p->out.nomem)
		return print_text_bad(p, NULL);
	p->out.n += n;
	return p->out.n > 1u << 15 ? print_text_flush(p) : 0;
}

static int
print_text_block(struct print *p, uint64_t *nport)
{
	uint64_t id, addr, file, func, line;

	if (print_text_get(p, TEXT_ID, &id) != 0 || print_text_get(p, TEXT_NPORT, nport) != 0 ||
	    print_text_get(p, TEXT_ADDR, &addr) != 0 || print_text_get(p, TEXT_FILE, &file) != 0 ||
	    print_text_get(p, TEXT_FUNC, &func) != 0 || print_text_get(p, TEXT_LINE, &line) != 0)
		return -1;
	if (*nport == 0 || *nport > WETTEXT_PORTS || file >= p->tab.nstring || func >= p->tab.nstring)
		return print_text_bad(p, "a statement is not as statements are");
	p->id += col_zag(id);
	p->addr += col_zag(addr);
	p->line += col_zag(line);
	return print_text_say(p, &(struct store_text_event){
		.kind = STORE_TEXT_BLOCK, .a = p->id, .b = *nport, .c = p->addr, .d = p->line,
		.file = p->tab.string[file], .func = p->tab.string[func] });
}

static int
print_text_dep(struct print *p)
{
	struct text_list *l = &p->list;
	struct text_recent v = { .stride = 1, .used = 1 };
	uint64_t x, t, n, id;
	unsigned k = TEXT_PAST - 1;

	if (print_text_get(p, TEXT_X, &x) != 0 || print_text_get(p, TEXT_TOKEN, &t) != 0)
		return -1;
	l->x += col_zag(x) + 1;
	if (t > TEXT_NEW)
		return print_text_bad(p, "an unknown token");
	if (t == TEXT_NEW) {
		if (print_text_get(p, TEXT_DEP, &id) != 0 || print_text_get(p, TEXT_INSTANCE, &n) != 0)
			return -1;
		v.id = p->id + col_zag(id);
		v.last = l->x + col_zag(n);
	} else {
		k = (unsigned)t % TEXT_PAST;
		v = l->past[k];
		if (!v.used)
			return print_text_bad(p, "a statement of which nothing was said");
		if (t >= TEXT_OTHER) {
			if (print_text_get(p, TEXT_INSTANCE, &n) != 0)
				return -1;
			v.stride = col_zag(n);
		}
		v.last += v.stride;
	}
	text_list_to_front(l, k, v);
	return print_text_say(p, &(struct store_text_event){
		.kind = STORE_TEXT_DEP, .a = l->x, .b = v.id, .c = v.last });
}

static int
print_text_value(struct print *p)
{
	uint64_t x, n, word[WETTEXT_WORDS];

	if (print_text_get(p, TEXT_VX, &x) != 0 || print_text_get(p, TEXT_NWORD, &n) != 0)
		return -1;
	if (n == 0 || n > WETTEXT_WORDS)
		return print_text_bad(p, "a value is not as values are");
	for (uint64_t i = 0; i < n; i++)
		if (print_text_get(p, TEXT_WORD, &word[i]) != 0)
			return -1;
	p->list.x += x + 1;
	return print_text_say(p, &(struct store_text_event){
		.kind = STORE_TEXT_VALUE, .a = p->list.x, .n = (unsigned)n, .word = word });
}

static int
print_text_step(struct print *p)
{
	uint64_t id, n;

	if (print_text_get(p, TEXT_STEP, &id) != 0 || print_text_get(p, TEXT_COUNT, &n) != 0)
		return -1;
	id = p->step + col_zag(id);
	p->step = id + n;
	return print_text_say(p, &(struct store_text_event){ .kind = STORE_TEXT_STEP, .a = id, .b = n });
}

/* Calls `one` for each of the n entries of a list. */
static int
print_text_list(struct print *p, uint64_t n, int (*one)(struct print *))
{
	p->list = (struct text_list){ .x = UINT64_MAX };
	for (; n; n--)
		if (one(p) != 0)
			return -1;
	return 0;
}

static int
print_text_statement(struct print *p)
{
	uint64_t nport, n;

	if (print_text_block(p, &nport) != 0)
		return -1;
	for (; nport; nport--)
		if (print_text_get(p, TEXT_SIZE, &n) != 0 ||
		    print_text_say(p, &(struct store_text_event){ .kind = STORE_TEXT_SIZE, .a = n }) != 0 ||
		    print_text_list(p, n, print_text_dep) != 0)
			return -1;
	if (print_text_get(p, TEXT_SIZE, &n) != 0)
		return -1;
	if (n == 0)
		return print_text_say(p, &(struct store_text_event){ .kind = STORE_TEXT_NONE });
	return print_text_say(p, &(struct store_text_event){ .kind = STORE_TEXT_VALUES, .a = n - 1 }) != 0 ||
	    print_text_list(p, n - 1, print_text_value) != 0 ? -1 : 0;
}

static int
print_text_text(struct print *p)
{
	uint64_t n;

	if (print_text_get(p, TEXT_SIZE, &n) != 0)
		return -1;
	if (!p->event)
		p->out.n += wettext_put_count(wettext_room(&p->out), n);
	for (; n; n--)
		if (print_text_statement(p) != 0)
			return -1;
	if (print_text_get(p, TEXT_SIZE, &n) != 0)
		return -1;
	if (n &&
	    (print_text_say(p, &(struct store_text_event){ .kind = STORE_TEXT_ORDER, .a = n - 1 }) != 0 ||
		print_text_list(p, n - 1, print_text_step) != 0))
		return -1;
	for (unsigned i = 0; i < TEXT_NCOL; i++)
		if (p->pos[i] != p->col[i].n)
			return print_text_bad(p, "a column has more values than are needed");
	return p->sec != p->file->nsection ? print_text_bad(p, "sections after the text") : 0;
}

static int
print_text_raw(struct print *p)
{
	for (; p->sec < p->file->nsection; ) {
		struct col_reader r;
		struct col *c = &p->col[0];

		if (wetfile_load(p->file, p->sec++, &p->in, p->fault) != 0)
			return -1;
		if (p->file->section[p->sec - 1].tag != WETFILE_RAW ||
		    p->file->section[p->sec - 1].segment != p->sec - 1)
			return print_text_bad(p, "a section that does not belong here");
		r = (struct col_reader){ .p = p->in.p, .end = p->in.p + p->in.n, .w = p->work };
		if (col_get_upto(&r, c, TEXT_MOST, 255, NULL) != 0)
			return print_text_bad(p, r.err);
		if (r.p != r.end)
			return print_text_bad(p, "bytes after the last column");
		for (size_t i = 0; i < c->n; i++)
			buf_u8(&p->out, (uint8_t)c->v[i]);
		if (print_text_flush(p) != 0)
			return -1;
	}
	return 0;
}

static int
print_text_print(const struct wetfile *f, struct print what, struct fault *fault)
{
	struct print *p = calloc(1, sizeof *p);
	int e, israw = f->nsection && f->section[0].tag == WETFILE_RAW;

	if (!p || (what.work = vc_work_new(1)) == NULL) {
		free(p);
		fault->err[0] = '\0';
		return fault_nomem(fault);
	}
	*p = what;
	p->file = f;
	p->fault = fault;
	if (israw && p->event)
		e = print_text_bad(p, "the text is not written as ws2wet writes it: there are no statements");
	else
		e = israw ? print_text_raw(p) : print_text_text(p);
	if (p->out.n && !p->out.nomem && p->put(p->arg, p->out.p, p->out.n) != 0)
		e = -1;
	if (!e && !f->whole) {
		*fault = f->fault;
		e = -1;
	}
	vc_work_free(p->work);
	store_code_free(&p->tab);
	for (unsigned i = 0; i < TEXT_NCOL; i++)
		col_free(&p->col[i]);
	buf_free(&p->in);
	buf_free(&p->out);
	free(p);
	return e ? -1 : 0;
}

int
store_print_text(const struct wetfile *f, store_text_fn *put, void *arg, struct fault *fault)
{
	return print_text_print(f, (struct print){ .put = put, .arg = arg }, fault);
}

int
store_text_events(const struct wetfile *w, store_event_fn *fn, void *arg, struct fault *f)
{
	return print_text_print(w, (struct print){ .event = fn, .arg = arg }, f);
}
